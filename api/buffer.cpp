// Specification 5.2.1 (creating buffers) and 5.5 (querying, retaining, releasing memory objects).
#include <algorithm>

#include "api/checks.h"
#include "api/entry.h"
#include "api/memory_flags.h"
#include "api/properties.h"
#include "api/ranges.h"
#include "api/tables.h"
#include "scheduler/upload.h"

namespace weft::api {
namespace {

constexpr InfoRow<MemObject> rows[] = {
    {CL_MEM_TYPE, [](MemObject& m) { return m.type(); }},
    {CL_MEM_FLAGS, [](MemObject& m) { return m.flags(); }},
    {CL_MEM_SIZE, [](MemObject& m) { return m.size(); }},
    {CL_MEM_HOST_PTR, [](MemObject& m) { return m.hostPointer(); }},
    {CL_MEM_MAP_COUNT, [](MemObject& m) { return m.mapCount(); }},
    {CL_MEM_REFERENCE_COUNT, [](MemObject& m) { return cl_uint{m.handleReferences()}; }},
    {CL_MEM_CONTEXT, [](MemObject& m) { return m.context().handle(); }},
    {CL_MEM_ASSOCIATED_MEMOBJECT,
     [](MemObject& m) -> cl_mem { return m.parent() ? m.parent()->handle() : nullptr; }},
    // "Returns 0 if memobj is not a sub-buffer object."
    {CL_MEM_OFFSET,
     [](MemObject& m) { return m.type() == CL_MEM_OBJECT_BUFFER ? m.origin() : size_t{0}; }},
    {CL_MEM_USES_SVM_POINTER, [](MemObject& m) { return cl_bool{m.usesSvm()}; }},
    {CL_MEM_PROPERTIES, [](MemObject& m) { return m.properties(); }},
};

// "CL_INVALID_BUFFER_SIZE if size is zero [or] greater than CL_DEVICE_MAX_MEM_ALLOC_SIZE for all
// devices in context."
void checkSize(const Context& context, size_t size) {
  const auto fits = [&](const Ref<Device>& device) {
    return size <= device->capabilities().max_allocation_bytes;
  };
  require(size > 0 && std::any_of(context.devices().begin(), context.devices().end(), fits),
          CL_INVALID_BUFFER_SIZE);
}

cl_mem makeBuffer(cl_context context, const cl_mem_properties* properties, cl_mem_flags flags,
                  size_t size, void* host_ptr) {
  Context& owner = toContext(context);
  auto list = readProperties(properties, CL_INVALID_PROPERTY, [](auto, auto) {
    throw Error(CL_INVALID_PROPERTY, "unknown buffer property");
  });
  checkFlags(flags);
  checkSize(owner, size);
  checkHostPtr(owner, flags, host_ptr);
  // "CL_INVALID_BUFFER_SIZE if [...] CL_MEM_USE_HOST_PTR is set in flags and host_ptr is a pointer
  // returned by clSVMAlloc and size is greater than the size passed to clSVMAlloc."
  require(fitsSvm(owner, flags, host_ptr, size), CL_INVALID_BUFFER_SIZE,
          "larger than the SVM allocation");
  const Ref<Context> reference(&owner);
  if (flags & CL_MEM_COPY_HOST_PTR && !(flags & CL_MEM_ALLOC_HOST_PTR))
    if (Device* const device = deviceForContents(owner, size)) {
      auto buffer =
          make<Buffer>(reference, flags, size, host_ptr, list, MemObject::FirstContents::to_come);
      if (upload(*buffer, host_ptr, *device)) return give(std::move(buffer));
    }
  return give(make<Buffer>(reference, flags, size, host_ptr, std::move(list)));
}

const cl_buffer_region& checkSubRegion(const Buffer& parent, cl_buffer_create_type type,
                                       const void* info) {
  require(type == CL_BUFFER_CREATE_TYPE_REGION && info, CL_INVALID_VALUE);
  const auto& region = *static_cast<const cl_buffer_region*>(info);
  require(region.size > 0, CL_INVALID_BUFFER_SIZE);
  requireRange(region.origin, region.size, parent.size());
  // "CL_MISALIGNED_SUB_BUFFER_OFFSET if there are no devices in context associated with buffer for
  // which the origin [...] is aligned to the CL_DEVICE_MEM_BASE_ADDR_ALIGN value."
  const auto& devices = parent.context().devices();
  const auto aligned = [&](const Ref<Device>& device) {
    return region.origin % device->capabilities().base_address_alignment_bytes == 0;
  };
  require(std::any_of(devices.begin(), devices.end(), aligned), CL_MISALIGNED_SUB_BUFFER_OFFSET);
  return region;
}

}  // namespace

constinit const InfoTable<MemObject> memory_info = rows;

}  // namespace weft::api

using namespace weft;
using namespace weft::api;

cl_mem CL_API_CALL clCreateBuffer(cl_context context, cl_mem_flags flags, size_t size,
                                  void* host_ptr, cl_int* errcode_ret) {
  return create(errcode_ret, [&] { return makeBuffer(context, nullptr, flags, size, host_ptr); });
}

cl_mem CL_API_CALL clCreateBufferWithProperties(cl_context context,
                                                const cl_mem_properties* properties,
                                                cl_mem_flags flags, size_t size, void* host_ptr,
                                                cl_int* errcode_ret) {
  return create(errcode_ret,
                [&] { return makeBuffer(context, properties, flags, size, host_ptr); });
}

cl_mem CL_API_CALL clCreateSubBuffer(cl_mem buffer, cl_mem_flags flags,
                                     cl_buffer_create_type buffer_create_type,
                                     const void* buffer_create_info, cl_int* errcode_ret) {
  return create(errcode_ret, [&] {
    Buffer& parent = toBuffer(buffer);
    // "CL_INVALID_MEM_OBJECT if buffer [...] is a sub-buffer object."
    require(!parent.parent(), CL_INVALID_MEM_OBJECT, "a sub-buffer of a sub-buffer");
    const cl_mem_flags all_flags = inheritFlags(parent.flags(), flags);
    const auto& region = checkSubRegion(parent, buffer_create_type, buffer_create_info);
    return give(make<Buffer>(Ref<Buffer>(&parent), all_flags, region.origin, region.size));
  });
}

cl_int CL_API_CALL clRetainMemObject(cl_mem memobj) {
  return call([&] { toMemObject(memobj).retainHandle(); });
}

cl_int CL_API_CALL clReleaseMemObject(cl_mem memobj) {
  return call([&] { toMemObject(memobj).releaseHandle(); });
}

cl_int CL_API_CALL clGetMemObjectInfo(cl_mem memobj, cl_mem_info param_name,
                                      size_t param_value_size, void* param_value,
                                      size_t* param_value_size_ret) {
  return call([&] {
    query(memory_info, toMemObject(memobj), param_name, param_value_size, param_value,
          param_value_size_ret);
  });
}

cl_int CL_API_CALL clSetMemObjectDestructorCallback(cl_mem memobj,
                                                    MemObject::DestructorCallback pfn_notify,
                                                    void* user_data) {
  return call([&] {
    MemObject& target = toMemObject(memobj);
    require(pfn_notify != nullptr, CL_INVALID_VALUE);
    target.addDestructorCallback(pfn_notify, user_data);
  });
}
