#include "core/program_objects.h"

#include <algorithm>
#include <optional>
#include <semaphore>

#include "core/error.h"
#include "core/reaper.h"

namespace weft {
namespace {

class WaitedFor final : public port::Operation {
 public:
  void started(port::Nanoseconds) noexcept override {}
  void finished(port::OperationStatus status, port::Nanoseconds,
                port::Nanoseconds) noexcept override {
    status_ = status;
    done_.release();
  }
  port::OperationStatus wait() {
    done_.acquire();
    return status_;
  }

 private:
  port::OperationStatus status_ = 0;
  std::binary_semaphore done_{0};
};

std::optional<uint32_t> findHidden(const Image& image, std::string_view name) {
  const auto found = std::ranges::find_if(image.kernels, [&](const KernelInfo& kernel) {
    return kernel.is_block && kernel.name == name;
  });
  if (found == image.kernels.end()) return std::nullopt;
  return static_cast<uint32_t>(found - image.kernels.begin());
}

// By one work-item, until it has ended.
port::OperationStatus run(port::Device& device, port::Module& module, uint32_t kernel) {
  const port::LaunchRecord record;
  WaitedFor operation;
  const std::unique_ptr<port::Stream> stream = device.createStream(port::Order::in_order);
  operation.work = port::Launch{&module, kernel, &record, {}, {}, nullptr};
  stream->submit(operation);
  stream->flush();
  return operation.wait();
}

// A module with objects to destroy.
class Objects final : public Object {
 public:
  Objects(const Device& device, uint32_t kernel) : device_(&device), kernel_(kernel) {}

  void destroyWith(std::unique_ptr<port::Module> module) noexcept {
    module_ = std::move(module);
    reap(this, [](Object* self) {
      auto* const objects = static_cast<Objects*>(self);
      objects->destroy();
      objects->release();
    });
  }

 private:
  // What a device that was lost cannot do is not missed.
  void destroy() noexcept try {
    run(device_->port(), *module_, kernel_);
    module_.reset();
  } catch (const std::exception&) {
  }

  const Ref<const Device> device_;
  const uint32_t kernel_;
  std::unique_ptr<port::Module> module_;
};

struct Unload {
  Ref<Objects> objects;
  void operator()(port::Module* module) const noexcept {
    objects->retain();
    objects->destroyWith(std::unique_ptr<port::Module>(module));
  }
};

}  // namespace

std::shared_ptr<port::Module> withObjects(const Device& device, const Image& image,
                                          std::unique_ptr<port::Module> module) {
  if (const auto construct = findHidden(image, port::construct_objects_symbol)) {
    const port::OperationStatus status = run(device.port(), *module, *construct);
    require(status >= 0, status, "constructing the program's objects failed");
  }
  const auto destroy = findHidden(image, port::destroy_objects_symbol);
  if (!destroy) return module;
  const Unload unload{Ref<Objects>::adopt(new Objects(device, *destroy))};
  return std::shared_ptr<port::Module>(module.release(), unload);
}

}  // namespace weft
