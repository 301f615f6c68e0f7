// A compiler for a device with images.
#pragma once

#include <stdexcept>
#include <string>

#include "tests/compiler/fixture.h"
#include "tests/compiler/program.h"

namespace weft::test {

class ImagesTest : public test::CompilerTest {
 protected:
  Program load(const std::string& source, const std::string& options = "-cl-std=CL3.0") {
    port::CompileRequest job = request(source, options);
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
