// Which devices' compute units are processors of the host.
#pragma once

#include "core/ports/capabilities.h"

namespace weft::port {

// Units of other devices have no number that the system knows, and no memory moves nearer to them.
inline bool hasProcessors(const Capabilities& device) {
  return device.device_class == DeviceClass::cpu && !device.units.empty();
}

// Compute units of a GPU cannot be told what to run: its only parts are what shares a domain.
inline bool partsAreDomains(const Capabilities& device) {
  return device.device_class != DeviceClass::cpu;
}

}  // namespace weft::port
