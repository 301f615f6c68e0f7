#include "partition/common_capabilities.h"

#include <algorithm>
#include <string>

namespace weft::partition {
namespace {

using port::Capabilities;
using port::ImageLimits;

// Members of which the least counts, the most, or what all have.
constexpr size_t Capabilities::* least_sizes[] = {&Capabilities::max_work_group_size};
constexpr uint64_t Capabilities::* least_bytes[] = {
    &Capabilities::global_memory_bytes, &Capabilities::max_allocation_bytes,
    &Capabilities::local_memory_bytes, &Capabilities::constant_buffer_bytes,
    &Capabilities::printf_buffer_bytes};
constexpr uint32_t Capabilities::* least_counts[] = {
    &Capabilities::max_constant_arguments, &Capabilities::max_parameter_bytes,
    &Capabilities::max_sub_groups, &Capabilities::named_barriers};
constexpr bool Capabilities::* flags[] = {
    &Capabilities::fp64,   &Capabilities::fp16,           &Capabilities::denormals,
    &Capabilities::printf, &Capabilities::native_kernels, &Capabilities::host_unified_memory,
    &Capabilities::images, &Capabilities::pipes,          &Capabilities::rounds_divide_sqrt};
constexpr size_t ImageLimits::* least_pixels[] = {
    &ImageLimits::width_2d,  &ImageLimits::height_2d, &ImageLimits::width_3d,
    &ImageLimits::height_3d, &ImageLimits::depth_3d,  &ImageLimits::buffer_pixels,
    &ImageLimits::array_size};
constexpr uint32_t ImageLimits::* least_arguments[] = {
    &ImageLimits::read_arguments, &ImageLimits::write_arguments, &ImageLimits::read_write_arguments,
    &ImageLimits::samplers};
constexpr uint32_t ImageLimits::* most_alignments[] = {&ImageLimits::pitch_alignment,
                                                       &ImageLimits::base_address_alignment};

template <class T, class Members>
void least(T& all, const T& one, const Members& members) {
  for (const auto member : members) all.*member = std::min(all.*member, one.*member);
}

template <class T, class Members>
void most(T& all, const T& one, const Members& members) {
  for (const auto member : members) all.*member = std::max(all.*member, one.*member);
}

void keepNamesIn(std::vector<std::string>& names, const std::vector<std::string>& others) {
  std::erase_if(names, [&](const std::string& name) {
    return std::find(others.begin(), others.end(), name) == others.end();
  });
}

// A kernel's sub-groups are of one size, whoever runs it.
void dropSubGroups(Capabilities& all) {
  const auto of_sub_groups = [](const std::string& name) {
    return name.find("subgroup") != std::string::npos ||
           name.find("sub_group") != std::string::npos;
  };
  all.max_sub_groups = all.named_barriers = 0;
  all.sub_group_sizes.clear();
  std::erase_if(all.language_extensions, of_sub_groups);
  std::erase_if(all.language_features, of_sub_groups);
}

void restrict(Capabilities& all, const Capabilities& one) {
  all.compute_units += one.compute_units;
  least(all, one, least_sizes);
  least(all, one, least_bytes);
  least(all, one, least_counts);
  for (size_t d = 0; d < 3; ++d)
    all.max_work_item_sizes[d] = std::min(all.max_work_item_sizes[d], one.max_work_item_sizes[d]);
  all.preferred_work_group_multiple =
      std::max(all.preferred_work_group_multiple, one.preferred_work_group_multiple);
  all.base_address_alignment_bytes =
      std::max(all.base_address_alignment_bytes, one.base_address_alignment_bytes);
  all.timer_resolution_ns = std::max(all.timer_resolution_ns, one.timer_resolution_ns);
  for (const auto flag : flags) all.*flag = all.*flag && one.*flag;
  least(all.image_limits, one.image_limits, least_pixels);
  least(all.image_limits, one.image_limits, least_arguments);
  most(all.image_limits, one.image_limits, most_alignments);
  keepNamesIn(all.language_extensions, one.language_extensions);
  keepNamesIn(all.language_features, one.language_features);
  all.shared_memory &= one.shared_memory;
  if (all.sub_group_sizes != one.sub_group_sizes) dropSubGroups(all);
}

}  // namespace

Capabilities common(std::span<const Capabilities* const> members) {
  Capabilities all = *members.front();
  for (const Capabilities* one : members.subspan(1)) restrict(all, *one);
  if (!all.images) all.image_limits = {};
  // A kernel that enqueues others runs on one member, which a queue of all of them is not.
  all.device_queues = false;
  std::erase(all.language_features, "__opencl_c_device_enqueue");
  all.max_sub_devices = 0;
  all.units.clear();  // they are the members'
  return all;
}

}  // namespace weft::partition
