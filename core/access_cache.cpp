#include "core/access_cache.h"

#include <algorithm>

#include "core/access_record.h"

namespace weft {

class AccessCache::Key {
 public:
  Key(const AccessCache& cache, const port::LaunchRecord& launch,
      std::span<const ArgumentValue> values) {
    add(launch.work_dim);
    for (const auto* three :
         {&launch.global_offset, &launch.global_size, &launch.local_size, &launch.group_count})
      for (const uint64_t value : *three) add(value);
    for (const AccessStep& step : cache.read_) {
      const auto bits = access::argumentBits(values, step);
      add(bits.has_value());
      add(static_cast<uint64_t>(bits.value_or(0)));
    }
    for (const ArgumentValue& value : values) {
      const MemObject* const object = value.memory();
      add(object ? object->size() : none);
    }
  }

  bool fits() const { return count_ <= words_.size(); }
  std::span<const uint64_t> words() const { return {words_.data(), count_}; }

 private:
  static constexpr uint64_t none = ~uint64_t{0};

  void add(uint64_t word) {
    if (count_ < words_.size()) words_[count_] = word;
    ++count_;
  }

  std::array<uint64_t, most_words> words_;
  size_t count_ = 0;
};

AccessCache::AccessCache(std::span<const ArgumentInfo> arguments) : arguments_(arguments) {
  for (const ArgumentInfo& argument : arguments)
    for (const AccessRecord& record : argument.accesses)
      for (const AccessStep& step : record.steps) {
        const auto reads_same = [&](const AccessStep& other) {
          return other.a == step.a && other.value == step.value && other.width == step.width;
        };
        if (step.code == AccessCode::argument && std::ranges::none_of(read_, reads_same))
          read_.push_back(step);
      }
}

Ref<const AccessCache::Entry> AccessCache::of(const port::LaunchRecord& launch,
                                              std::span<const ArgumentValue> values) const {
  const Key key(*this, launch, values);
  if (key.fits()) {
    const auto recent = recent_.lock();
    auto& entries = recent->entries;
    const auto found = std::ranges::find_if(entries, [&](const Ref<const Entry>& entry) {
      return entry && std::ranges::equal(entry->key, key.words());
    });
    if (found != entries.end()) {
      std::rotate(entries.begin(), found, found + 1);
      return entries.front();
    }
  }
  const auto entry = Ref<Entry>::adopt(new Entry);
  entry->touched = evaluate(launch, values);
  if (!key.fits()) return entry;
  entry->key.assign(key.words().begin(), key.words().end());
  Ref<const Entry> oldest = entry;  // freed without the lock
  recent_.with([&](Recent& recent) {
    std::swap(recent.entries.back(), oldest);
    std::ranges::rotate(recent.entries, recent.entries.end() - 1);
  });
  return entry;
}

AccessCache::TouchedList AccessCache::evaluate(const port::LaunchRecord& launch,
                                               std::span<const ArgumentValue> values) const {
  TouchedList list;
  std::vector<TouchedRange> ranges;
  const AccessEvaluation evaluation(launch, values);
  for (uint32_t i = 0; i < values.size(); ++i) {
    const MemObject* const object = values[i].memory();
    if (!object) continue;
    ranges.clear();
    evaluation.touched(arguments_[i], object->size(), ranges);
    if (ranges.empty()) ranges.push_back({0, 1, false, false});
    for (const TouchedRange& range : ranges) list.push_back({i, range});
  }
  return list;
}

}  // namespace weft
