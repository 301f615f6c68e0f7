// clCreateSampler, clCreateSamplerWithProperties, clGetSamplerInfo, clRetainSampler,
// clReleaseSampler.
#include "tests/conformance/image_fixture.h"

namespace weft::conformance {
namespace {

class SamplerTest : public ImageTest {
 protected:
  OwnedSampler make(const std::vector<cl_sampler_properties>& properties, cl_int* code) const {
    return OwnedSampler(cl.clCreateSamplerWithProperties(
        context, properties.empty() ? nullptr : properties.data(), code));
  }
  cl_int makeCode(const std::vector<cl_sampler_properties>& properties) const {
    cl_int code = 1;
    const OwnedSampler made = make(properties, &code);
    EXPECT_EQ(made == nullptr, code != CL_SUCCESS);
    return code;
  }
  template <class T>
  T ask(cl_sampler sampler, cl_sampler_info name) const {
    return info<T>(cl.clGetSamplerInfo, sampler, name);
  }
};

TEST_F(SamplerTest, AnswersQueries) {
  cl_int code = 1;
  const OwnedSampler made(
      cl.clCreateSampler(context, CL_FALSE, CL_ADDRESS_CLAMP_TO_EDGE, CL_FILTER_LINEAR, &code));
  ASSERT_EQ(code, CL_SUCCESS);
  EXPECT_EQ(ask<cl_bool>(made, CL_SAMPLER_NORMALIZED_COORDS), cl_bool{CL_FALSE});
  EXPECT_EQ(ask<cl_addressing_mode>(made, CL_SAMPLER_ADDRESSING_MODE),
            cl_addressing_mode{CL_ADDRESS_CLAMP_TO_EDGE});
  EXPECT_EQ(ask<cl_filter_mode>(made, CL_SAMPLER_FILTER_MODE), cl_filter_mode{CL_FILTER_LINEAR});
  EXPECT_EQ(ask<cl_context>(made, CL_SAMPLER_CONTEXT), cl_context(context));
  size_t size = 99;
  EXPECT_EQ(cl.clGetSamplerInfo(made, CL_SAMPLER_PROPERTIES, 0, nullptr, &size), CL_SUCCESS);
  EXPECT_EQ(size, 0u);
  EXPECT_EQ(cl.clGetSamplerInfo(made, 0, 0, nullptr, nullptr), CL_INVALID_VALUE);
}

TEST_F(SamplerTest, PropertiesAndDefaults) {
  cl_int code = 1;
  const OwnedSampler plain = make({}, &code);
  ASSERT_EQ(code, CL_SUCCESS);
  EXPECT_EQ(ask<cl_bool>(plain, CL_SAMPLER_NORMALIZED_COORDS), cl_bool{CL_TRUE});
  EXPECT_EQ(ask<cl_addressing_mode>(plain, CL_SAMPLER_ADDRESSING_MODE),
            cl_addressing_mode{CL_ADDRESS_CLAMP});
  EXPECT_EQ(ask<cl_filter_mode>(plain, CL_SAMPLER_FILTER_MODE), cl_filter_mode{CL_FILTER_NEAREST});
  const std::vector<cl_sampler_properties> given{CL_SAMPLER_FILTER_MODE, CL_FILTER_LINEAR, 0};
  const OwnedSampler made = make(given, &code);
  ASSERT_EQ(code, CL_SUCCESS);
  EXPECT_EQ(ask<cl_filter_mode>(made, CL_SAMPLER_FILTER_MODE), cl_filter_mode{CL_FILTER_LINEAR});
  std::vector<cl_sampler_properties> answer(3);
  EXPECT_EQ(cl.clGetSamplerInfo(made, CL_SAMPLER_PROPERTIES, 24, answer.data(), nullptr),
            CL_SUCCESS);
  EXPECT_EQ(answer, given);
}

TEST_F(SamplerTest, RefusesBadArguments) {
  EXPECT_EQ(makeCode({CL_SAMPLER_CONTEXT, 0, 0}), CL_INVALID_VALUE);
  EXPECT_EQ(makeCode({CL_SAMPLER_FILTER_MODE, CL_ADDRESS_CLAMP, 0}), CL_INVALID_VALUE);
  EXPECT_EQ(makeCode({CL_SAMPLER_ADDRESSING_MODE, cl_sampler_properties{1} << 40, 0}),
            CL_INVALID_VALUE);
  EXPECT_EQ(makeCode({CL_SAMPLER_NORMALIZED_COORDS, 2, 0}), CL_INVALID_VALUE);
  EXPECT_EQ(makeCode({CL_SAMPLER_NORMALIZED_COORDS, 1, CL_SAMPLER_NORMALIZED_COORDS, 1, 0}),
            CL_INVALID_VALUE);
  cl_int code = 1;
  EXPECT_EQ(cl.clCreateSampler(context, CL_TRUE, CL_ADDRESS_CLAMP, 0, &code), nullptr);
  EXPECT_EQ(code, CL_INVALID_VALUE);
  EXPECT_EQ(cl.clCreateSampler(nullptr, CL_TRUE, CL_ADDRESS_CLAMP, CL_FILTER_LINEAR, &code),
            nullptr);
  EXPECT_EQ(code, CL_INVALID_CONTEXT);
}

TEST_F(SamplerTest, CountsReferences) {
  cl_int code = 1;
  const OwnedSampler made = make({}, &code);
  EXPECT_EQ(cl.clRetainSampler(made), CL_SUCCESS);
  EXPECT_EQ(ask<cl_uint>(made, CL_SAMPLER_REFERENCE_COUNT), 2u);
  EXPECT_EQ(cl.clReleaseSampler(made), CL_SUCCESS);
  EXPECT_EQ(cl.clRetainSampler(nullptr), CL_INVALID_SAMPLER);
  EXPECT_EQ(cl.clReleaseSampler(foreign<cl_sampler>(cl_context(context))), CL_INVALID_SAMPLER);
}

}  // namespace
}  // namespace weft::conformance
