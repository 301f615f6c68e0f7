// What drivers made of programs, kept between runs.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

#include "core/image.h"

namespace weft::port {

// Thread-safe. Whatever goes wrong, something is not found, or not kept.
class BinaryCache {
 public:
  virtual ~BinaryCache() = default;
  // `maker`: everything but `program` that a binary depends on.
  virtual std::optional<Bytes> find(std::string_view maker,
                                    std::span<const std::byte> program) const = 0;
  virtual void store(std::string_view maker, std::span<const std::byte> program,
                     Bytes binary) const = 0;
};

}  // namespace weft::port
