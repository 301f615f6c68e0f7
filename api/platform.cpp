// Specification 4.1: querying platform info. Also clUnloadPlatformCompiler (5.8.7).
#include <ctime>

#include "api/checks.h"
#include "api/composition.h"
#include "api/entry.h"
#include "api/entry_points.h"
#include "api/extensions.h"
#include "api/tables.h"
#include "api/version.h"

namespace weft::api {
namespace {

// "Returns the resolution of the host timer in nanoseconds as used by clGetDeviceAndHostTimer."
cl_ulong hostTimerResolution() {
  timespec resolution{};
  clock_getres(CLOCK_MONOTONIC, &resolution);
  return static_cast<cl_ulong>(resolution.tv_sec) * 1'000'000'000u +
         static_cast<cl_ulong>(resolution.tv_nsec);
}

constexpr InfoRow<Platform> rows[] = {
    {CL_PLATFORM_PROFILE, [](const Platform&) { return "FULL_PROFILE"; }},
    {CL_PLATFORM_VERSION, [](const Platform&) { return versionText("OpenCL ", platform_version); }},
    {CL_PLATFORM_NUMERIC_VERSION, [](const Platform&) { return toClVersion(platform_version); }},
    {CL_PLATFORM_NAME, [](const Platform&) { return platform_name; }},
    {CL_PLATFORM_VENDOR, [](const Platform&) { return platform_vendor; }},
    {CL_PLATFORM_EXTENSIONS, [](const Platform& p) { return joined(platformExtensions(p)); }},
    {CL_PLATFORM_EXTENSIONS_WITH_VERSION,
     [](const Platform& p) { return withVersions(platformExtensions(p)); }},
    {CL_PLATFORM_HOST_TIMER_RESOLUTION, [](const Platform&) { return hostTimerResolution(); }},
    {CL_PLATFORM_ICD_SUFFIX_KHR, [](const Platform&) { return "WEFT"; }},
};

}  // namespace

constinit const InfoTable<Platform> platform_info = rows;

}  // namespace weft::api

using namespace weft;
using namespace weft::api;

cl_int CL_API_CALL clGetPlatformIDs(cl_uint num_entries, cl_platform_id* platforms,
                                    cl_uint* num_platforms) {
  return call([&] {
    require(!platforms || num_entries > 0, CL_INVALID_VALUE, "num_entries is zero");
    require(platforms || num_platforms, CL_INVALID_VALUE, "nothing to return");
    if (platforms) platforms[0] = platform().handle();
    if (num_platforms) *num_platforms = 1;
  });
}

cl_int CL_API_CALL clGetPlatformInfo(cl_platform_id platform, cl_platform_info param_name,
                                     size_t param_value_size, void* param_value,
                                     size_t* param_value_size_ret) {
  return call([&] {
    query(platform_info, toPlatform(platform), param_name, param_value_size, param_value,
          param_value_size_ret);
  });
}

// cl_weft_report.
cl_int CL_API_CALL clGetPlatformReportWEFT(cl_platform_id platform, size_t size, char* text,
                                           size_t* size_ret) {
  return call([&] { Answer(size, text, size_ret).put(toPlatform(platform).report()); });
}

// Allowing the compiler to be unloaded is a hint: the compiler is not in this process.
cl_int CL_API_CALL clUnloadPlatformCompiler(cl_platform_id platform) {
  return call([&] { toPlatform(platform); });
}

cl_int CL_API_CALL clUnloadCompiler() {
  return call([] {});
}
