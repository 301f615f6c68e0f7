// Specification 5.7: sampler objects.
#include "core/sampler.h"

#include <CL/cl_ext.h>

#include <bit>

#include "api/checks.h"
#include "api/entry.h"
#include "api/image_description.h"
#include "api/properties.h"
#include "api/tables.h"

namespace weft::api {
namespace {

Sampler& toSampler(cl_sampler handle) { return fromHandle<Sampler>(handle); }

constexpr InfoRow<Sampler> rows[] = {
    {CL_SAMPLER_REFERENCE_COUNT, [](Sampler& s) { return cl_uint{s.handleReferences()}; }},
    {CL_SAMPLER_CONTEXT, [](Sampler& s) { return s.context().handle(); }},
    {CL_SAMPLER_NORMALIZED_COORDS, [](Sampler& s) { return s.state().normalized_coords; }},
    {CL_SAMPLER_ADDRESSING_MODE, [](Sampler& s) { return s.state().addressing_mode; }},
    {CL_SAMPLER_FILTER_MODE, [](Sampler& s) { return s.state().filter_mode; }},
    {CL_SAMPLER_MIP_FILTER_MODE_KHR, [](Sampler& s) { return s.state().level_filter_mode; }},
    {CL_SAMPLER_LOD_MIN_KHR, [](Sampler& s) { return s.state().least_level; }},
    {CL_SAMPLER_LOD_MAX_KHR, [](Sampler& s) { return s.state().greatest_level; }},
    {CL_SAMPLER_PROPERTIES, [](Sampler& s) { return s.properties(); }},
};

// A property that does not fit its member is no valid mode either.
cl_uint narrow(cl_sampler_properties value) {
  require(value <= ~cl_uint{0}, CL_INVALID_VALUE, "no such mode of a sampler");
  return static_cast<cl_uint>(value);
}

// Properties hold a number's bits.
cl_float toLevel(cl_sampler_properties value) { return std::bit_cast<cl_float>(narrow(value)); }

void apply(SamplerState& state, cl_sampler_properties name, cl_sampler_properties value) {
  switch (name) {
    case CL_SAMPLER_NORMALIZED_COORDS:
      state.normalized_coords = narrow(value);
      return;
    case CL_SAMPLER_ADDRESSING_MODE:
      state.addressing_mode = narrow(value);
      return;
    case CL_SAMPLER_FILTER_MODE:
      state.filter_mode = narrow(value);
      return;
    case CL_SAMPLER_MIP_FILTER_MODE_KHR:
      state.level_filter_mode = narrow(value);
      return;
    case CL_SAMPLER_LOD_MIN_KHR:
      state.least_level = toLevel(value);
      return;
    case CL_SAMPLER_LOD_MAX_KHR:
      state.greatest_level = toLevel(value);
      return;
    default:
      throw Error(CL_INVALID_VALUE, "unknown sampler property");
  }
}

}  // namespace

constinit const InfoTable<Sampler> sampler_info = rows;

}  // namespace weft::api

using namespace weft;
using namespace weft::api;

cl_sampler CL_API_CALL clCreateSampler(cl_context context, cl_bool normalized_coords,
                                       cl_addressing_mode addressing_mode,
                                       cl_filter_mode filter_mode, cl_int* errcode_ret) {
  return create(errcode_ret, [&] {
    Context& owner = toContext(context);
    requireImages(owner);
    SamplerState state;
    state.normalized_coords = normalized_coords;
    state.addressing_mode = addressing_mode;
    state.filter_mode = filter_mode;
    return give(make<Sampler>(Ref<Context>(&owner), state, std::vector<cl_sampler_properties>()));
  });
}

cl_sampler CL_API_CALL clCreateSamplerWithProperties(
    cl_context context, const cl_sampler_properties* sampler_properties, cl_int* errcode_ret) {
  return create(errcode_ret, [&] {
    Context& owner = toContext(context);
    requireImages(owner);
    SamplerState state;
    auto list = readProperties(sampler_properties, CL_INVALID_VALUE,
                               [&](auto name, auto value) { apply(state, name, value); });
    return give(make<Sampler>(Ref<Context>(&owner), state, std::move(list)));
  });
}

cl_int CL_API_CALL clRetainSampler(cl_sampler sampler) {
  return call([&] { toSampler(sampler).retainHandle(); });
}

cl_int CL_API_CALL clReleaseSampler(cl_sampler sampler) {
  return call([&] { toSampler(sampler).releaseHandle(); });
}

cl_int CL_API_CALL clGetSamplerInfo(cl_sampler sampler, cl_sampler_info param_name,
                                    size_t param_value_size, void* param_value,
                                    size_t* param_value_size_ret) {
  return call([&] {
    query(sampler_info, toSampler(sampler), param_name, param_value_size, param_value,
          param_value_size_ret);
  });
}
