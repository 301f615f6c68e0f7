// Programs written in SPIR-V's assembly language.
#pragma once

#include <spirv-tools/libspirv.hpp>

#include "tests/e2e/fixture.h"

namespace weft::e2e {

// Of the newest version that a device has to take, if no other is named.
inline OwnedProgram programFromText(cl_context context, const std::string& text,
                                    spv_target_env version = SPV_ENV_UNIVERSAL_1_3) {
  const spvtools::SpirvTools tools(version);
  std::vector<uint32_t> words;
  EXPECT_TRUE(tools.Assemble(text, &words)) << text;
  cl_int code = 1;
  OwnedProgram program(
      cl.clCreateProgramWithIL(context, words.data(), words.size() * sizeof(uint32_t), &code));
  EXPECT_EQ(code, CL_SUCCESS);
  return program;
}

}  // namespace weft::e2e
