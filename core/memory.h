// cl_mem: memory objects. Specification 5.2 (buffers), 5.5 (queries, mapping).
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <vector>

#include "core/byte_rows.h"
#include "core/context.h"
#include "core/guarded.h"
#include "core/handle.h"
#include "core/host_share.h"
#include "core/pool.h"
#include "core/release_batch.h"
#include "core/weak.h"

namespace weft {

// Where the bytes of a root memory object are valid; the scheduler's, core only carries it.
class ResidencyState {
 public:
  virtual ~ResidencyState() = default;
  // The object's memory is being released, until this is destroyed.
  virtual void endsMemory() noexcept = 0;
};

enum class Placement : uint8_t {
  // Each memory space has its own.
  by_space,
  // Every device uses the host's bytes, at the host's address (shared virtual memory).
  in_place,
  // The same, and where the devices have such memory its pages move to whom uses them.
  managed,
};

// The bytes of a root memory object: at most one allocation per memory space, made on first use.
// Thread-safe. An allocation, once made, stays at its address until it is taken back or the Storage
// is destroyed.
class Storage {
 public:
  // `initialised_on_host`: the first contents are in host memory (CL_MEM_COPY_HOST_PTR or
  // CL_MEM_USE_HOST_PTR); otherwise they are undefined.
  Storage(Context& context, size_t bytes, void* use_host_ptr, bool initialised_on_host,
          Placement placement = Placement::by_space);
  ~Storage();

  size_t size() const { return bytes_; }
  bool initialisedOnHost() const { return initialised_on_host_; }
  // Nothing is ever stale anywhere, so residency has nothing to keep.
  bool inPlace() const { return placement_ != Placement::by_space; }
  // Throws CL_MEM_OBJECT_ALLOCATION_FAILURE when the device has no memory left.
  port::Memory& in(port::MemorySpace space);
  // Whose pages move, once the host's memory was allocated: a device of their group. Null: they
  // stay where they are.
  Device* managedBy() const { return managed_by_; }
  // nullptr when nothing was allocated there yet.
  port::Memory* find(port::MemorySpace space) const;
  // What was allocated there, if anything; never the host's. The caller knows that nobody uses it.
  std::unique_ptr<port::Memory> take(port::MemorySpace space);

  // Rows that are mapped for writing, each by one owner. Throws CL_INVALID_OPERATION for rows that
  // overlap those of another.
  void claimForWriting(const ByteRows& rows, const void* owner);
  void releaseClaim(const void* owner) noexcept;

  ResidencyState* residency() const { return residency_.get(); }
  // Called under the context's residency lock only.
  void setResidency(std::unique_ptr<ResidencyState> residency) {
    residency_ = std::move(residency);
  }

 private:
  struct Allocation {
    port::MemorySpace space;
    std::unique_ptr<port::Memory> memory;  // null while somebody makes it
  };

  struct WriteClaim {
    ByteRows rows;
    const void* owner;
  };

  void enter(port::MemorySpace space, std::unique_ptr<port::Memory> made) noexcept;
  std::unique_ptr<port::Memory> allocate(port::MemorySpace space);
  std::unique_ptr<port::Memory> allocateInPlace(port::Device* host);
  std::unique_ptr<port::Memory> allocateForCopies(const port::Device* host);
  std::unique_ptr<port::Memory> share(port::MemorySpace space, void* host) const;

  Context& context_;
  size_t bytes_;
  void* use_host_ptr_;
  bool initialised_on_host_;
  Placement placement_;
  Device* managed_by_ = nullptr;
  HostShare host_share_;                      // of what drivers made
  std::atomic<port::Memory*> host_{nullptr};  // the host space's, without taking the lock
  // Not held while an allocation is made, which may take a driver long.
  Guarded<std::vector<Allocation>> allocations_;
  std::condition_variable made_;
  Guarded<std::vector<WriteClaim>> write_claims_;
  std::unique_ptr<ResidencyState> residency_;
};

// One clEnqueueMap*. Copies are the same mapping. Specification 5.5.2.
struct Mapping {
  enum class State : uint8_t { pending, made, failed };

  void* pointer;
  ByteRows rows;
  cl_map_flags flags;
  std::shared_ptr<std::atomic<State>> shared = std::make_shared<std::atomic<State>>(State::pending);

  bool writes() const { return flags & (CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION); }
  State state() const { return shared->load(std::memory_order_acquire); }
  void become(State state) const { shared->store(state, std::memory_order_release); }
};

class Buffer;

// Thread-safe. Keeps its context alive, and a sub-buffer its parent.
class MemObject : public HandleObject<_cl_mem> {
 public:
  using DestructorCallback = void(CL_CALLBACK*)(cl_mem memory, void* user);

  Context& context() const { return *context_; }
  cl_mem_object_type type() const { return type_; }
  cl_mem_flags flags() const { return flags_; }
  size_t size() const { return size_; }
  void* hostPointer() const { return host_ptr_; }  // CL_MEM_HOST_PTR
  const std::vector<cl_mem_properties>& properties() const { return properties_; }

  // What a sub-buffer or an image was made from, else nullptr.
  MemObject* parent() const { return parent_.get(); }
  // Where this object's first byte is in the storage.
  size_t origin() const { return origin_; }
  // Made with CL_MEM_USE_HOST_PTR on a pointer into shared virtual memory
  // (CL_MEM_USES_SVM_POINTER).
  bool usesSvm() const { return parent_ ? parent_->usesSvm() : static_cast<bool>(svm_); }

  // The storage of the root, shared by all that was made from it.
  Storage& storage() const { return *storage_; }

  // Of a command that has ended: gives the reference up, as a ReleaseBatch does while the
  // application has the object.
  static void giveUp(Ref<MemObject> reference) noexcept {
    if (reference && !reference->given_up_.load(std::memory_order_relaxed))
      ReleaseBatch::give(std::move(reference));
  }

  // What a kernel keeps of its arguments.
  const Weak<MemObject>& weak() const { return weak_.handle(); }

  bool kernelMayWrite() const { return !(flags_ & CL_MEM_READ_ONLY); }

  // Throws CL_INVALID_OPERATION when it is for writing what is mapped for writing already.
  void addMapping(const Mapping& mapping);
  // Takes it back, unless it is gone.
  void dropMapping(const Mapping& mapping) noexcept;
  // Its command failed: it is in nobody's way, but may still be unmapped.
  void failMapping(const Mapping& mapping) noexcept;
  // Removes and returns the oldest mapping at `pointer`, one that failed only where there is no
  // other; throws CL_INVALID_VALUE when there is none.
  Mapping removeMapping(void* pointer);
  // Of those that did not fail.
  cl_uint mapCount() const;

  // Called in reverse order of registration when the object is destroyed (specification 5.5.1).
  void addDestructorCallback(DestructorCallback callback, void* user);

  // Who says what a new object's bytes are; `to_come`: the caller brings them, before anybody else
  // has the object.
  enum class FirstContents : uint8_t { by_flags, on_host, to_come };

 protected:
  MemObject(Ref<Context> context, cl_mem_object_type type, cl_mem_flags flags, size_t size,
            void* host_ptr, std::vector<cl_mem_properties> properties,
            FirstContents contents = FirstContents::by_flags);
  // The bytes [offset, offset + size) of `parent`.
  MemObject(Ref<MemObject> parent, cl_mem_object_type type, cl_mem_flags flags, size_t offset,
            size_t size, std::vector<cl_mem_properties> properties = {});
  void onLastHandleReleased() noexcept override;
  void dispose() noexcept override;

 private:
  void destroy() noexcept;

  struct Destructor {
    DestructorCallback callback;
    void* user;
  };

  // Not in the line of the count, which each command writes.
  alignas(pool::line_bytes) Ref<Context> context_;
  Ref<MemObject> parent_;
  std::atomic<bool> given_up_{false};  // by the application
  cl_mem_object_type type_;
  cl_mem_flags flags_;
  size_t size_;
  size_t origin_ = 0;
  void* host_ptr_;
  std::vector<cl_mem_properties> properties_;
  Ref<Object> svm_;  // keeps the allocation that host_ptr_ points into
  std::unique_ptr<Storage> own_storage_;
  Storage* storage_;
  Guarded<std::vector<Mapping>> mappings_;
  Guarded<std::vector<Destructor>> destructors_;
  WeakSource<MemObject> weak_{*this};
};

class Buffer final : public MemObject {
 public:
  // Arguments are checked by api/. CL_MEM_COPY_HOST_PTR copies before returning. Throws
  // CL_MEM_OBJECT_ALLOCATION_FAILURE.
  Buffer(Ref<Context> context, cl_mem_flags flags, size_t size, void* host_ptr,
         std::vector<cl_mem_properties> properties,
         FirstContents contents = FirstContents::by_flags);
  // A sub-buffer: `flags` already has what it inherits (specification 5.2.3).
  Buffer(Ref<Buffer> parent, cl_mem_flags flags, size_t origin, size_t size);
};

}  // namespace weft
