#include "core/platform.h"

namespace weft {

Platform::Platform(std::vector<std::unique_ptr<port::Backend>> backends,
                   std::unique_ptr<port::Compiler> compiler,
                   std::shared_ptr<const port::CodeMaker> code_maker)
    : backends_(std::move(backends)),
      compiler_(std::move(compiler)),
      code_maker_(std::move(code_maker)) {
  for (auto& backend : backends_) {
    auto found = backend->discover(diagnostics_);
    diagnostics_.push_back({std::string(backend->name()) + ": " + std::to_string(found.size()) +
                            (found.size() == 1 ? " device" : " devices")});
    for (auto& device : found) {
      if (compiler_->makes(device->target()))
        devices_.push_back(make<Device>(*this, std::move(device)));
      else
        diagnostics_.push_back({std::string(backend->name()) + ": " + device->capabilities().name +
                                " is not offered: there is no compiler for " +
                                device->target().cpu});
    }
  }
}

void Platform::add(Ref<Device> device, bool first) {
  devices_.insert(first ? devices_.begin() : devices_.end(), std::move(device));
}

std::string Platform::report() const {
  std::string text;
  const auto add = [&](std::string_view line) {
    text.append(text.empty() ? "" : "\n").append(line);
  };
  for (const port::Diagnostic& diagnostic : diagnostics_) add(diagnostic.message);
  for (const std::string& line : compiler_->report()) add(line);
  return text;
}

}  // namespace weft
