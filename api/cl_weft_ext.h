/* Weft's own extensions to OpenCL. Plain C.
 *
 * Obtain a function with clGetExtensionFunctionAddressForPlatform where CL_PLATFORM_EXTENSIONS
 * names its extension. */
#ifndef CL_WEFT_EXT_H
#define CL_WEFT_EXT_H

#include <CL/cl.h>

#ifdef __cplusplus
extern "C" {
#endif

/* cl_weft_statistics: "clGetContextStatisticsWEFT" */
#define CL_WEFT_STATISTICS_EXTENSION_NAME "cl_weft_statistics"

/* What one device did for one context since the context was created. */
typedef struct {
  cl_ulong commands;  /* commands that ended on the device; transfers are counted apart */
  cl_ulong busy_ns;   /* nanoseconds for which it had any, what several did at once counted once;
                       * of one that nobody times from its submission until its end was noticed */
  cl_ulong bytes_in;  /* bytes that migration brought to the device's memory */
  cl_ulong bytes_out; /* bytes that migration took from the device's memory */
  cl_ulong transfers; /* transfers into the device's memory, which the runtime added by itself */
  cl_ulong evictions; /* memory objects whose memory on the device was given to others */
} cl_device_statistics_weft;

/* Fills `statistics` unless it is NULL, and stores the structure's size in `size_ret` unless that
 * is NULL. Thread-safe; the values are those of one moment.
 *   CL_INVALID_CONTEXT, CL_INVALID_DEVICE (not one of the context's), CL_INVALID_VALUE (`size` is
 *   too small for a non-NULL `statistics`). */
typedef cl_int(CL_API_CALL *clGetContextStatisticsWEFT_fn)(cl_context context, cl_device_id device,
                                                           size_t size,
                                                           cl_device_statistics_weft *statistics,
                                                           size_t *size_ret);

/* cl_weft_report: "clGetPlatformReportWEFT" */
#define CL_WEFT_REPORT_EXTENSION_NAME "cl_weft_report"

/* Text for people, one "subject: state" a line, such as what each backend found or missed and where
 * the kernel cache is. Size rules as for CL_PLATFORM_NAME.
 *   CL_INVALID_PLATFORM, CL_INVALID_VALUE (`size` is too small for a non-NULL `text`). */
typedef cl_int(CL_API_CALL *clGetPlatformReportWEFT_fn)(cl_platform_id platform, size_t size,
                                                        char *text, size_t *size_ret);

/* cl_weft_processors: queries of devices whose compute units are the host's processors. */
#define CL_WEFT_PROCESSORS_EXTENSION_NAME "cl_weft_processors"

/* cl_uint[]: the operating system's number of the processor that each compute unit is. */
#define CL_DEVICE_PROCESSORS_WEFT 0x10F000

/* cl_weft_unified_device: docs/extensions/cl_weft_unified_device.md. Of devices whose members run
 * one kernel together. */
#define CL_WEFT_UNIFIED_DEVICE_EXTENSION_NAME "cl_weft_unified_device"

/* cl_device_id[]: a unified device's members. */
#define CL_DEVICE_MEMBERS_WEFT 0x10F012

/* A queue's property: a cl_split_policy_weft. For queues of unified devices. Other values than AUTO
 * go before the environment's WEFT_UNIFIED_SPLIT. */
#define CL_QUEUE_SPLIT_POLICY_WEFT 0x10F013

typedef cl_uint cl_split_policy_weft;
#define CL_SPLIT_POLICY_AUTO_WEFT 0   /* where that is faster, or as WEFT_UNIFIED_SPLIT says */
#define CL_SPLIT_POLICY_NEVER_WEFT 1  /* all kernels run on the first member */
#define CL_SPLIT_POLICY_ALWAYS_WEFT 2 /* wherever two members have enough to do */

/* cl_event_part_weft[]: the parts in which a kernel that has ended was run, in the order of their
 * work-groups: one for what was given to a member whole, none for what could run on the first
 * member only, and with WEFT_CHECK_SPLIT=1. Of a command buffer those of all its kernels.
 * CL_PROFILING_INFO_NOT_AVAILABLE before the end. */
#define CL_EVENT_PARTS_WEFT 0x10F014

typedef struct {
  cl_device_id device;
  size_t first_group[3];
  size_t group_count[3];
} cl_event_part_weft;

typedef cl_uint cl_kernel_split_info_weft;
typedef cl_uint cl_split_class_weft;

/* cl_kernel_split_info_weft: the class, and in words why it is no better one (char[]; empty for
 * CL_SPLIT_CLASS_EXACT_WEFT). */
#define CL_KERNEL_SPLIT_CLASS_WEFT 0x10F010
#define CL_KERNEL_SPLIT_REASON_WEFT 0x10F011

/* cl_split_class_weft: one member runs all of it; the members write different bytes, which are
 * known; the members write into copies, which are merged. */
#define CL_SPLIT_CLASS_WHOLE_WEFT 0
#define CL_SPLIT_CLASS_EXACT_WEFT 1
#define CL_SPLIT_CLASS_MERGE_WEFT 2

/* How a launch of `kernel` with its current arguments over this range could be divided. Fails as
 * clEnqueueNDRangeKernel would, and with
 *   CL_INVALID_OPERATION (the queue's device is not a unified one), CL_INVALID_VALUE (`param_name`,
 *   or `param_value_size` is too small for a non-NULL `param_value`). */
typedef cl_int(CL_API_CALL *clGetKernelSplitInfoWEFT_fn)(
    cl_command_queue queue, cl_kernel kernel, cl_uint work_dim, const size_t *global_work_offset,
    const size_t *global_work_size, const size_t *local_work_size,
    cl_kernel_split_info_weft param_name, size_t param_value_size, void *param_value,
    size_t *param_value_size_ret);

#ifdef __cplusplus
}
#endif

#endif
