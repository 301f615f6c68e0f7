#include "backends/cpu/trials.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "backends/cpu/clock.h"
#include "backends/cpu/module.h"
#include "backends/cpu/scratch.h"

namespace weft::cpu {
namespace {

// About what lanes take to make for each byte of the code that there is, and vectors beside lanes.
constexpr port::Nanoseconds least_ns = 20'000'000, lanes_ns_per_byte = 4'000;
constexpr port::Nanoseconds vectors_to_lanes = 4;
// What the other form may have more of the stack than the usual one.
constexpr size_t more_stack_bytes = size_t(64) << 10;

bool isEligible(const KernelInfo& kernel) {
  constexpr auto ties = static_cast<uint32_t>(SplitHazard::program_variables) |
                        static_cast<uint32_t>(SplitHazard::waiting_atomics);
  return !kernel.uses_device_queue && !kernel.is_block && (kernel.split_hazards & ties) == 0;
}

void deliver(const port::FormMaker& maker, const std::string& kernel, port::CodeForm form,
             Trials::Delivery& delivery) noexcept {
  const port::Nanoseconds start = now();
  try {
    const port::CompileResult result = maker.make(kernel, form);
    auto image = result.ok ? readImage(result.image) : std::nullopt;
    const auto index = image ? image->find(kernel) : std::nullopt;
    if (index) {
      delivery.info = std::move(image->kernels[*index]);
      delivery.library = std::make_unique<Library>(image->payload);
      delivery.entry = reinterpret_cast<port::CpuKernelEntry>(
          delivery.library->find(delivery.info.symbol.c_str()));
    }
  } catch (const std::exception&) {  // there is none then
  }
  delivery.took = now() - start;
  delivery.done.store(true, std::memory_order_release);
}

}  // namespace

Trials::Trials(const Image& image, TrialPolicy policy, std::shared_ptr<Background> background)
    : maker_(image.global_variable_bytes == 0 && policy != TrialPolicy::never ? image.forms
                                                                              : nullptr),
      policy_(policy),
      background_(std::move(background)),
      worthwhile_(std::max(least_ns, lanes_ns_per_byte * image.payload.size() /
                                         std::max<size_t>(image.kernels.size(), 1))) {}

void Trials::consider(Kernel& kernel) noexcept try {
  if (Contest* const contest = kernel.contest.load(std::memory_order_acquire)) {
    if (contest->isOpen()) return;
    const std::scoped_lock lock(mutex_);
    if (kernel.contest.load(std::memory_order_relaxed) != contest) return;
    kernel.entry.store(contest->best(), std::memory_order_release);
    kernel.contest.store(nullptr, std::memory_order_release);
    return;
  }
  if (!maker_ || !kernel.has_trials.load(std::memory_order_relaxed)) return;
  const port::Nanoseconds worthwhile =
      std::max(worthwhile_, kernel.worthwhile.load(std::memory_order_relaxed));
  if (policy_ != TrialPolicy::always && kernel.timing.spent() < worthwhile) return;
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock || kernel.contest.load(std::memory_order_relaxed)) return;
  if (!kernel.delivery) ask(kernel);
  if (!kernel.delivery || !kernel.delivery->done.load(std::memory_order_acquire)) return;
  const auto delivery = std::exchange(kernel.delivery, nullptr);
  kernel.worthwhile.store(vectors_to_lanes * delivery->took, std::memory_order_relaxed);
  if (delivery->entry) begin(kernel, *delivery);
} catch (const std::exception&) {  // no memory for that
}

// Lanes first: their code is made in a moment.
void Trials::ask(Kernel& kernel) {
  const unsigned forms = isEligible(kernel.info) ? kernel.untried : 0;
  const auto lanes = static_cast<unsigned>(port::CodeForm::lanes);
  const unsigned form = (forms & lanes) ? lanes : forms;
  kernel.untried = static_cast<uint8_t>(forms & ~form);
  if (kernel.untried == 0) kernel.has_trials.store(form != 0, std::memory_order_relaxed);
  if (form == 0) return;
  kernel.delivery = std::make_shared<Delivery>();
  const auto work = [maker = maker_, name = kernel.info.name,
                     form = static_cast<port::CodeForm>(form),
                     delivery = kernel.delivery] { deliver(*maker, name, form, *delivery); };
  if (policy_ == TrialPolicy::always || !background_)
    work();
  else
    background_->run(work);
}

void Trials::begin(Kernel& kernel, Delivery& delivery) {
  const KernelInfo &usual = kernel.info, &other = delivery.info;
  const size_t most_stack = std::min(usual.stack_bytes + more_stack_bytes, kernel_stack_bytes);
  if (other.local_bytes != usual.local_bytes || other.stack_bytes > most_stack) return;
  contests_.push_back(
      std::make_unique<Contest>(kernel.entry.load(), delivery.entry, kernel.timing.estimate(1)));
  libraries_.push_back(std::move(delivery.library));
  kernel.context_bytes.store(std::max(kernel.context_bytes.load(), other.lane_context_bytes));
  kernel.contest.store(contests_.back().get(), std::memory_order_release);
}

}  // namespace weft::cpu
