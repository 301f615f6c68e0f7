// Specification 5.6: shared virtual memory. No device has it.
#include "api/checks.h"
#include "api/entry.h"
#include "api/unsupported.h"

using namespace weft;
using namespace weft::api;

// "[...] otherwise, it will return a NULL pointer": among the reasons, "there are no devices in
// context that support SVM".
void* CL_API_CALL clSVMAlloc(cl_context context, cl_svm_mem_flags, size_t, cl_uint) {
  return create(nullptr, [&]() -> void* {
    toContext(context);
    return nullptr;
  });
}

// "If svm_pointer is NULL, no action occurs"; nothing else can come from clSVMAlloc.
void CL_API_CALL clSVMFree(cl_context, void*) {
  call([] {});
}

cl_int CL_API_CALL clEnqueueSVMFree(cl_command_queue command_queue, cl_uint, void*[],
                                    void(CL_CALLBACK*)(cl_command_queue, cl_uint, void*[], void*),
                                    void*, cl_uint, const cl_event*, cl_event*) {
  return call([&] { noSvm(toQueue(command_queue)); });
}

cl_int CL_API_CALL clEnqueueSVMMemcpy(cl_command_queue command_queue, cl_bool, void*, const void*,
                                      size_t, cl_uint, const cl_event*, cl_event*) {
  return call([&] { noSvm(toQueue(command_queue)); });
}

cl_int CL_API_CALL clEnqueueSVMMemFill(cl_command_queue command_queue, void*, const void*, size_t,
                                       size_t, cl_uint, const cl_event*, cl_event*) {
  return call([&] { noSvm(toQueue(command_queue)); });
}

cl_int CL_API_CALL clEnqueueSVMMap(cl_command_queue command_queue, cl_bool, cl_map_flags, void*,
                                   size_t, cl_uint, const cl_event*, cl_event*) {
  return call([&] { noSvm(toQueue(command_queue)); });
}

cl_int CL_API_CALL clEnqueueSVMUnmap(cl_command_queue command_queue, void*, cl_uint,
                                     const cl_event*, cl_event*) {
  return call([&] { noSvm(toQueue(command_queue)); });
}

cl_int CL_API_CALL clEnqueueSVMMigrateMem(cl_command_queue command_queue, cl_uint, const void**,
                                          const size_t*, cl_mem_migration_flags, cl_uint,
                                          const cl_event*, cl_event*) {
  return call([&] { noSvm(toQueue(command_queue)); });
}
