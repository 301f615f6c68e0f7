// The dispatch table that every handle starts with, and extension functions by name.
#pragma once

namespace weft::api {

// Makes handles that are created from now on carry the table.
void installDispatch() noexcept;

// The address of an extension function, or nullptr.
void* extensionFunction(const char* name) noexcept;

}  // namespace weft::api
