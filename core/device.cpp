#include "core/device.h"

#include <algorithm>

#include "core/opencl_version.h"
#include "core/reaper.h"

namespace weft {
namespace {

port::LanguageFeatures describeLanguage(const port::Capabilities& capabilities) {
  port::LanguageFeatures features;
  features.fp64 = capabilities.fp64;
  features.fp16 = capabilities.fp16;
  features.extensions = {"cl_khr_global_int32_base_atomics", "cl_khr_global_int32_extended_atomics",
                         "cl_khr_local_int32_base_atomics", "cl_khr_local_int32_extended_atomics",
                         "cl_khr_byte_addressable_store"};
  if (capabilities.fp64) {
    features.extensions.emplace_back("cl_khr_fp64");
    features.feature_macros.emplace_back("__opencl_c_fp64");
  }
  if (capabilities.fp16) features.extensions.emplace_back("cl_khr_fp16");
  features.feature_macros.emplace_back("__opencl_c_int64");
  features.images = capabilities.images;
  if (capabilities.images) {
    for (const char* name : {"cl_khr_3d_image_writes", "cl_khr_depth_images",
                             "cl_khr_image2d_from_buffer", "cl_khr_srgb_image_writes"})
      features.extensions.emplace_back(name);
    for (const char* name :
         {"__opencl_c_images", "__opencl_c_3d_image_writes", "__opencl_c_read_write_images"})
      features.feature_macros.emplace_back(name);
  }
  const auto append = [](std::vector<std::string>& to, const std::vector<std::string>& names) {
    to.insert(to.end(), names.begin(), names.end());
  };
  append(features.extensions, capabilities.language_extensions);
  append(features.feature_macros, capabilities.language_features);
  features.version = deviceVersion(features);
  return features;
}

}  // namespace

Device::Device(Platform& platform, std::shared_ptr<port::Device> port)
    : platform_(platform),
      port_(std::move(port)),
      capabilities_(port_->capabilities()),
      features_(describeLanguage(capabilities_)),
      targets_{port_->target()} {}

Device::Device(Platform& platform, std::shared_ptr<port::Device> port,
               std::vector<Ref<Device>> members)
    : platform_(platform),
      port_(std::move(port)),
      capabilities_(port_->capabilities()),
      features_(describeLanguage(capabilities_)),
      members_(std::move(members)),
      targets_{port_->target()} {
  for (const Ref<Device>& member : members_)
    if (std::find(targets_.begin(), targets_.end(), member->port().target()) == targets_.end())
      targets_.push_back(member->port().target());
}

Device::Device(Ref<Device> parent, std::shared_ptr<port::Device> port,
               std::vector<cl_device_partition_property> partition_type)
    : platform_(parent->platform()),
      port_(std::move(port)),
      capabilities_(port_->capabilities()),
      parent_(std::move(parent)),
      partition_type_(std::move(partition_type)),
      features_(describeLanguage(capabilities_)),
      targets_{port_->target()} {}

void Device::dispose() noexcept {
  reap(this, [](Object* object) { delete static_cast<Device*>(object); });
}

}  // namespace weft
