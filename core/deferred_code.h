// The payload of an executable for the CPU whose code is made part by part when it is wanted.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/ports/compiler.h"

namespace weft {

struct DeferredCode {
  std::vector<uint32_t> part_of;   // by Image::kernels: which part has its code
  std::vector<port::Bytes> parts;  // what the compiler makes it of
  bool linked = false;             // the image's options are those of a link
};

bool isDeferred(std::span<const std::byte> payload);
port::Bytes writeDeferred(const DeferredCode& code);
// nullopt for what writeDeferred did not write.
std::optional<DeferredCode> readDeferred(std::span<const std::byte> payload);

}  // namespace weft
