#include "backends/cpu/module.h"

#include <algorithm>
#include <exception>
#include <numeric>
#include <thread>

#include "core/error.h"

namespace weft::cpu {

void KernelTiming::record(port::Nanoseconds elapsed, uint64_t items) noexcept {
  if (items == 0) return;
  const float sample = std::max(float(elapsed), 1.0f) / float(items);
  const float known = per_item_.load(std::memory_order_relaxed);
  per_item_.store(known < 0 ? sample : known + (sample - known) / 4, std::memory_order_relaxed);
  spent_.store(spent() + elapsed, std::memory_order_relaxed);
}

Module::Later::Later(const Image& from, DeferredCode left,
                     std::shared_ptr<const port::CodeMaker> by, size_t most)
    : code(std::move(left)), maker(std::move(by)), at_once(most) {
  image.target = from.target;
  image.options = from.options;
}

Module::Module(const Image& image, std::shared_ptr<const port::CodeMaker> maker, size_t at_once,
               TrialPolicy trials, std::shared_ptr<Background> background)
    : trials_(image, trials, std::move(background)) {
  require(image.kind == ImageKind::executable && image.target.kind == port::TargetKind::host_cpu,
          CL_INVALID_BINARY, "not an executable for the host's processor");
  for (const KernelInfo& info : image.kernels) kernels_.push_back(std::make_unique<Kernel>(info));
  if (auto deferred = readDeferred(image.payload)) {
    require(maker && deferred->part_of.size() == kernels_.size(), CL_INVALID_BINARY,
            "nobody makes its code");
    later_ = std::make_unique<Later>(image, std::move(*deferred), std::move(maker), at_once);
    return;
  }
  std::vector<uint32_t> all(kernels_.size());
  std::iota(all.begin(), all.end(), 0);
  add(image.payload, all);
  destroy_objects_ =
      reinterpret_cast<void (*)()>(libraries_.front()->find(port::destroy_objects_symbol));
}

// Throws unless `payload` has those kernels.
void Module::add(std::span<const std::byte> payload, std::span<const uint32_t> kernels) {
  auto library = std::make_unique<Library>(payload);
  std::vector<void*> symbols;
  for (const uint32_t kernel : kernels) {
    const std::string& name = kernels_[kernel]->info.symbol;
    symbols.push_back(library->find(name.c_str()));
    if (!symbols.back()) throw Error(CL_INVALID_BINARY, "no symbol " + name);
  }
  libraries_.push_back(std::move(library));
  for (size_t i = 0; i < kernels.size(); ++i)
    kernels_[kernels[i]]->entry.store(reinterpret_cast<port::CpuKernelEntry>(symbols[i]),
                                      std::memory_order_release);
}

port::CpuKernelEntry Module::makeEntry(uint32_t kernel) noexcept try {
  const std::scoped_lock lock(later_->making);
  auto& entry = kernels_[kernel]->entry;
  if (const auto made = entry.load(std::memory_order_relaxed)) return made;
  const std::vector<uint32_t> parts = wanted(later_->code.part_of[kernel]);
  std::vector<port::CompileResult> results(parts.size());
  const auto make = [&](size_t i) noexcept {
    try {
      results[i] = later_->maker->makePart(later_->image, later_->code, parts[i]);
    } catch (const std::exception&) {
      results[i].ok = false;
    }
  };
  {
    std::vector<std::jthread> others;
    try {
      for (size_t i = 1; i < parts.size(); ++i) others.emplace_back(make, i);
    } catch (const std::exception&) {  // no threads for those: they were not asked for
    }
    make(0);
  }
  for (size_t i = 0; i < parts.size(); ++i) try {
      const auto image = results[i].ok ? readImage(results[i].image) : std::nullopt;
      if (image) add(image->payload, kernelsOf(parts[i]));
    } catch (const std::exception&) {  // it has none, and is asked for again
    }
  return entry.load(std::memory_order_relaxed);
} catch (const std::exception&) {
  return nullptr;
}

// The part, and the more have been wanted before, the more of those that follow it and were not.
std::vector<uint32_t> Module::wanted(uint32_t part) const {
  std::vector<uint32_t> parts{part};
  const auto count = static_cast<uint32_t>(later_->code.parts.size());
  const size_t most = std::min(libraries_.size(), later_->at_once);
  for (uint32_t i = 1; i < count && parts.size() < most; ++i) {
    const uint32_t next = (part + i) % count;
    const std::vector<uint32_t> kernels = kernelsOf(next);
    if (!kernels.empty() && !kernels_[kernels.front()]->entry.load(std::memory_order_relaxed))
      parts.push_back(next);
  }
  return parts;
}

std::vector<uint32_t> Module::kernelsOf(uint32_t part) const {
  std::vector<uint32_t> kernels;
  for (uint32_t i = 0; i < kernels_.size(); ++i)
    if (later_->code.part_of[i] == part) kernels.push_back(i);
  return kernels;
}

std::optional<uint32_t> Module::find(const void* entry) const noexcept {
  for (size_t i = 0; i < kernels_.size(); ++i)
    if (reinterpret_cast<const void*>(kernels_[i]->entry.load(std::memory_order_relaxed)) == entry)
      return uint32_t(i);
  return std::nullopt;
}

Module::~Module() {
  if (destroy_objects_) destroy_objects_();
}

}  // namespace weft::cpu
