// cl_platform_id: the one platform, its devices and the compiler. Specification 4.1.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/background.h"
#include "core/device.h"
#include "core/handle.h"
#include "core/ports/code_maker.h"
#include "core/ports/compiler.h"

namespace weft {

// Made once by the composition root (api/) and never destroyed: handles into it may be used by
// static destructors of the application. Immutable, so free to use from any thread.
class Platform final : public HandleObject<_cl_platform_id> {
 public:
  Platform(std::vector<std::unique_ptr<port::Backend>> backends,
           std::unique_ptr<port::Compiler> compiler,
           std::shared_ptr<const port::CodeMaker> code_maker = nullptr);

  const std::vector<Ref<Device>>& devices() const { return devices_; }
  // One more device, first or last, and a line of the report. Before anybody else has the platform.
  void add(Ref<Device> device, bool first);
  void note(std::string line) { diagnostics_.push_back({std::move(line)}); }
  port::Compiler& compiler() const { return *compiler_; }
  // Who makes the code that the compiler leaves for later; null where it leaves none.
  const port::CodeMaker* codeMaker() const { return code_maker_.get(); }
  // What every backend found or missed, and the compiler's state: "subject: state" a line.
  std::string report() const;
  // For builds with a callback.
  Background& background() const { return background_; }

 private:
  std::vector<std::unique_ptr<port::Backend>> backends_;
  std::unique_ptr<port::Compiler> compiler_;
  std::shared_ptr<const port::CodeMaker> code_maker_;
  std::vector<port::Diagnostic> diagnostics_;
  std::vector<Ref<Device>> devices_;
  mutable Background background_;  // last: its work uses all of the above
};

}  // namespace weft
