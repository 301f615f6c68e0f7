#include "backends/level_zero/backend.h"

namespace weft::level_zero {
namespace {

class Absent final : public port::Backend {
 public:
  std::string_view name() const override { return "level_zero"; }
  std::vector<std::shared_ptr<port::Device>> discover(
      std::vector<port::Diagnostic>& diagnostics) override {
    diagnostics.push_back({"level_zero: built without the headers of Level Zero"});
    return {};
  }
};

}  // namespace

std::unique_ptr<port::Backend> makeBackend(const std::string&, Binaries) {
  return std::make_unique<Absent>();
}
std::unique_ptr<port::Backend> makeBackend(Binaries) { return std::make_unique<Absent>(); }

}  // namespace weft::level_zero
