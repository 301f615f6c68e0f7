// A compiler for a device with images.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "tests/compiler/fixture.h"
#include "tests/compiler/program.h"

namespace weft::test {

// Processors whose code uses vectors of 16, 8 and 4 lanes where this one has them, and which it
// runs.
inline std::vector<std::string> processors() {
  std::vector<std::string> result{"native"};
  if (__builtin_cpu_supports("avx2")) result.emplace_back("x86-64-v3");
  if (__builtin_cpu_supports("sse4.2")) result.emplace_back("x86-64-v2");
  return result;
}

class ImagesTest : public test::CompilerTest {
 protected:
  Program load(const std::string& source, const std::string& options = "-cl-std=CL3.0",
               const std::string& processor = "native") {
    port::CompileRequest job = request(source, options);
    job.target.cpu = processor;
    job.features.images = true;
    job.features.extensions.emplace_back("cl_khr_depth_images");
    for (const char* macro : {"__opencl_c_3d_image_writes", "__opencl_c_read_write_images"})
      job.features.feature_macros.emplace_back(macro);
    const auto result = compiler().build(job);
    if (!result.ok) throw std::runtime_error(result.log);
    return Program(result.image);
  }
};

}  // namespace weft::test
