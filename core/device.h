// cl_device_id: a root device of the platform or a sub-device. Specification 4.2, 4.3.
#pragma once

#include <memory>
#include <vector>

#include "core/handle.h"
#include "core/ports/compiler.h"
#include "core/ports/device.h"

namespace weft {

class Platform;

// Immutable after construction, so free to use from any thread. Root devices live as long as the
// platform and ignore retain and release of their handle; sub-devices are counted and keep their
// parent alive.
class Device final : public HandleObject<_cl_device_id> {
 public:
  Device(Platform& platform, std::shared_ptr<port::Device> port);
  // A unified device: it runs one kernel on several devices at once. `port` is the first one's,
  // with the capabilities of the whole.
  Device(Platform& platform, std::shared_ptr<port::Device> port, std::vector<Ref<Device>> members);
  Device(Ref<Device> parent, std::shared_ptr<port::Device> port,
         std::vector<cl_device_partition_property> partition_type);

  Platform& platform() const { return platform_; }
  port::Device& port() const { return *port_; }
  const port::Capabilities& capabilities() const { return capabilities_; }
  const port::LanguageFeatures& features() const { return features_; }
  Device* parent() const { return parent_.get(); }
  // Of a unified device; empty otherwise. The first one's memory space and target are the device's
  // own.
  const std::vector<Ref<Device>>& members() const { return members_; }
  // What a program is compiled for to run here: the device's own target, then those of its members
  // that differ.
  const std::vector<port::Target>& targets() const { return targets_; }
  bool isRoot() const { return !parent_; }
  // The properties this sub-device was created with, 0-terminated; empty for a root device.
  const std::vector<cl_device_partition_property>& partitionType() const { return partition_type_; }

 private:
  void dispose() noexcept override;

  Platform& platform_;
  std::shared_ptr<port::Device> port_;
  const port::Capabilities& capabilities_;  // the port's; every command asks for them several times
  Ref<Device> parent_;
  std::vector<cl_device_partition_property> partition_type_;
  port::LanguageFeatures features_;
  std::vector<Ref<Device>> members_;
  std::vector<port::Target> targets_;
};

}  // namespace weft
