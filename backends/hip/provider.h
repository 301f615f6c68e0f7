// Who fills the table of entry points: the HIP runtime itself, or HIP over NVIDIA's driver.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "backends/hip/api.h"
#include "core/ports/device.h"

namespace weft::hip {

enum class Platform : uint8_t { amd, nvidia };

// An opened and initialised runtime, never unloaded: vendors' runtimes keep threads.
struct Provider {
  std::string name;  // "HIP runtime (libamdhip64.so.6)"
  Platform platform = Platform::amd;
  Api api{};
};

// WEFT_HIP_RUNTIME: the library to open in place of the system's; nullptr when it is not set.
const char* wishedHipRuntime();

// nullptr, and one line in `diagnostics`, when none of `libraries` (tried in order) can be used.
// An empty list stands for the usual names.
std::unique_ptr<Provider> openHipRuntime(std::vector<port::Diagnostic>& diagnostics,
                                         std::span<const std::string> libraries = {});
std::unique_ptr<Provider> openCudaDriver(std::vector<port::Diagnostic>& diagnostics,
                                         std::span<const std::string> libraries = {});

// One entry point: its name in the library, and where in the table its address belongs.
struct Symbol {
  const char* name;
  size_t offset;
  bool required = true;
};

// A shared library opened with local scope.
class Library {
 public:
  // Opens the first of `names` that the loader finds.
  static Library open(std::span<const std::string> names);

  explicit operator bool() const { return handle_ != nullptr; }
  const std::string& name() const { return name_; }
  const std::string& error() const { return error_; }
  void* find(const char* symbol) const;
  // Fills `table`; the name of the first required symbol that is missing, or nullptr.
  const char* resolve(std::span<const Symbol> symbols, void* table) const;

 private:
  void* handle_ = nullptr;
  std::string name_;
  std::string error_;
};

// "no device (100)": the runtime's words for a status.
std::string describe(const Api& api, Status status);

}  // namespace weft::hip
