// Kernels that take long are tried in the form that the compiler's estimate decided against
// (KernelInfo::other_forms): how long lanes wait for others, for one, depends on the data. That
// form is made behind the program's back, when they have run for about as long as that takes; the
// faster one stays.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "backends/cpu/contest.h"
#include "backends/cpu/library.h"
#include "core/background.h"
#include "core/image.h"

namespace weft::cpu {

class Kernel;

enum class TrialPolicy : uint8_t { never, worthwhile, always };

// Of one module's kernels. Thread-safe.
class Trials {
 public:
  // Nothing is tried if the image has no forms, or if its kernels share variables. `always`: from
  // the first launch on, which waits for the form to be made.
  Trials(const Image& image, TrialPolicy policy, std::shared_ptr<Background> background);

  // Before each launch of the kernel: may begin or end a contest, which changes its entry.
  void consider(Kernel& kernel) noexcept;

  // Code that somebody else makes, and what came of it.
  struct Delivery {
    std::atomic<bool> done{false};
    std::unique_ptr<Library> library;
    KernelInfo info;
    port::CpuKernelEntry entry = nullptr;  // null: nothing
    port::Nanoseconds took = 0;
  };

 private:
  void ask(Kernel& kernel);
  void begin(Kernel& kernel, Delivery& delivery);

  const std::shared_ptr<const port::FormMaker> maker_;  // null: nothing is tried
  const TrialPolicy policy_;
  const std::shared_ptr<Background> background_;
  // So long kernels run, all threads together, before they are tried: what making lanes may take.
  const port::Nanoseconds worthwhile_;
  std::mutex mutex_;  // of all below, and of what kernels have of a trial
  std::vector<std::unique_ptr<Library>> libraries_;
  std::vector<std::unique_ptr<Contest>> contests_;  // launches may still look at them
};

}  // namespace weft::cpu
