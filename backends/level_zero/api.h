// The entry points of the Level Zero loader that the backend uses, as a table filled at run time.
#pragma once

#include <string>
#include <vector>

#include <level_zero/ze_api.h>

#include "core/ports/device.h"

namespace weft::level_zero {

struct Api {
#define WEFT_ZE(member, function) decltype(&::function) member = nullptr;
#include "backends/level_zero/entry_points.def"
#undef WEFT_ZE
};

// Opens the loader and initialises it; never unloads it, because drivers keep threads. nullptr, and
// one line in `diagnostics`, where that does not work: then none of the other entry points may be
// called. `library`: the loader's name.
const Api* openLoader(const std::string& library, std::vector<port::Diagnostic>& diagnostics);

// "ZE_RESULT_ERROR_DEVICE_LOST" for people: the specification's name, or the number.
std::string describe(ze_result_t result);
// What a failed command ends with: always negative for a failure, 0 for success.
port::OperationStatus operationStatus(ze_result_t result);
// Throws the code that fits, with the result's name, unless `result` is success.
void check(ze_result_t result, const char* what);

}  // namespace weft::level_zero
