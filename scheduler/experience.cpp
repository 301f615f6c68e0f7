#include "scheduler/experience.h"

#include <algorithm>
#include <cstring>

#include "core/memory.h"
#include "scheduler/knowledge.h"

namespace weft {
namespace {

constexpr uint64_t most_blocks = 64;
constexpr size_t most_experiences = 4096;

using Table = std::map<LaunchShape, std::shared_ptr<Experience>>;

// Never destroyed: parts of kernels may end at any time.
Guarded<Table>& table() {
  static auto* const instance = new Guarded<Table>;
  return *instance;
}

template <class T>
void append(std::string& text, const T& value) {
  text.append(reinterpret_cast<const char*>(&value), sizeof value);
}

// All that a split depends on beside code and range.
std::string fingerprint(const ArgumentSet& arguments,
                        std::span<const partition::BoundArgument> bound) {
  std::string text;
  for (size_t i = 0; i < bound.size(); ++i) {
    const ArgumentValue& value = arguments.values[i];
    append(text, bound[i].storage);
    append(text, bound[i].origin);
    append(text, bound[i].size);
    text.push_back(static_cast<char>(bound[i].may_write * 2 + bound[i].shared_memory));
    append(text, value.localBytes());
    append(text, value.bytes().size());
    text.append(reinterpret_cast<const char*>(value.bytes().data()), value.bytes().size());
  }
  return text;
}

// Are all of the device's members processors of one coherent memory?
bool haveOneMemory(const Device& device) {
  return std::ranges::all_of(device.members(), [&](const Ref<Device>& member) {
    const port::Capabilities& each = member->capabilities();
    return each.device_class == port::DeviceClass::cpu &&
           each.memory_space == device.capabilities().memory_space;
  });
}

std::array<uint64_t, 3> three(const uint64_t* values) { return {values[0], values[1], values[2]}; }

}  // namespace

std::vector<partition::BoundArgument> bind(const ArgumentSet& arguments) {
  std::vector<partition::BoundArgument> bound(arguments.values.size());
  for (size_t i = 0; i < bound.size(); ++i) {
    const ArgumentValue& value = arguments.values[i];
    bound[i].shared_memory = value.shared() != nullptr;
    if (const MemObject* object = value.memory()) {
      bound[i] = {&object->storage(), object->origin(), object->size(), object->kernelMayWrite(),
                  false};
      // Whatever memory it is the application's view of, all members see it at once.
      bound[i].shared_memory = object->usesSvm();
    }
  }
  return bound;
}

LaunchShape::LaunchShape(const Device& on, const DeviceKernel& code,
                         const port::LaunchRecord& record)
    : device(&on),
      build(code.build.get()),
      kernel(code.index),
      dimensions(record.work_dim),
      global(three(record.global_size)),
      local(three(record.local_size)),
      offset(three(record.global_offset)) {}

Experience::Experience(const Device& device, const DeviceKernel& code) : build_(code.build) {
  const std::string& name = code.info().name;
  for (size_t i = 0; i < code.build->members.size(); ++i) {
    const DeviceBuild::MemberCode& member = code.build->members[i];
    const auto index = member.module ? member.image->find(name) : std::nullopt;
    if (index) members_.push_back({device.members()[i].get(), member.module.get(), *index});
  }
  for (const MemberKernel& member : members_) {
    const auto first = std::ranges::find_if(members_, [&](const MemberKernel& other) {
      return sameKind(*other.device, *member.device);
    });
    kinds_.push_back(static_cast<size_t>(first - members_.begin()));
  }
  const auto state = state_.lock();
  state->alone.resize(members_.size());
  state->verdict = partition::Verdict(members_.size());
  for (Cut& cut : state->cuts) {
    cut.homes.resize(state->verdict.ways());
    cut.unit_ns.resize(members_.size());
  }
}

std::shared_ptr<Experience> Experience::of(const LaunchShape& shape, const DeviceKernel& code) {
  const auto all = table().lock();
  if (all->size() > most_experiences)
    std::erase_if(*all, [](const auto& entry) { return entry.second->build_.expired(); });
  if (all->size() > most_experiences) all->clear();
  std::shared_ptr<Experience>& one = (*all)[shape];
  if (!one || one->build_.expired()) one = std::make_shared<Experience>(*shape.device, code);
  return one;
}

std::shared_ptr<const partition::Split> Experience::split(const DeviceKernel& code,
                                                          const port::LaunchRecord& record,
                                                          const ArgumentSet& arguments) {
  const std::vector<partition::BoundArgument> bound = bind(arguments);
  std::string print = fingerprint(arguments, bound);
  {
    const auto known = splits_.lock();
    const auto found = std::ranges::find(*known, print, &Known::arguments);
    if (found != known->end()) {
      std::rotate(found, found + 1, known->end());
      return known->back().split;
    }
  }
  auto split = std::make_shared<const partition::Split>(
      code.info(), record, arguments.values, bound, most_blocks, haveOneMemory(*code.device));
  const auto known = splits_.lock();
  if (known->size() >= most_splits) known->erase(known->begin());
  known->push_back({std::move(print), split});
  return split;
}

}  // namespace weft
