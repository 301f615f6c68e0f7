// Who makes code that a compiler left for later (core/deferred_code.h).
#pragma once

#include <cstdint>

#include "core/deferred_code.h"
#include "core/image.h"

namespace weft::port {

// Thread-safe; each call blocks until its result is there, whose image is an executable.
class CodeMaker {
 public:
  virtual ~CodeMaker() = default;
  // The kernels of one part of `code`, which `image` left for later; the payload of `image` does
  // not matter.
  virtual CompileResult makePart(const Image& image, const DeferredCode& code,
                                 uint32_t part) const = 0;
  // The same as `image`, with all code.
  virtual CompileResult makeAll(const Image& image) const = 0;
};

}  // namespace weft::port
