// Test support: how a launch of a compiled kernel may be divided.
#pragma once

#include "partition/split.h"
#include "tests/compiler/fixture.h"

namespace weft::test {

using partition::BoundArgument;
using partition::PartAccess;
using partition::Split;
using partition::SplitClass;

class SplitTest : public CompilerTest {
 protected:
  // The first kernel.
  KernelInfo kernelOf(const std::string& source) {
    port::CompileRequest asked = request(source, "-cl-std=CL3.0");
    asked.features.images = true;
    asked.features.extensions.push_back("cl_khr_int64_base_atomics");
    asked.features.feature_macros = {"__opencl_c_int64",
                                     "__opencl_c_fp64",
                                     "__opencl_c_program_scope_global_variables",
                                     "__opencl_c_generic_address_space",
                                     "__opencl_c_atomic_order_acq_rel",
                                     "__opencl_c_atomic_order_seq_cst",
                                     "__opencl_c_atomic_scope_device"};
    const port::CompileResult result = compiler().build(asked);
    EXPECT_TRUE(result.ok) << result.log;
    const auto image = readImage(result.image);
    if (!image || image->kernels.empty()) return {};
    return image->kernels.front();
  }

  static port::LaunchRecord line(uint64_t global, uint64_t local) {
    port::LaunchRecord launch;
    launch.global_size[0] = global;
    launch.local_size[0] = local;
    launch.group_count[0] = (global + local - 1) / local;
    return launch;
  }

  // In groups of 8 x 8.
  static port::LaunchRecord square(uint64_t side) {
    port::LaunchRecord launch;
    launch.work_dim = 2;
    launch.global_size[0] = launch.global_size[1] = side;
    launch.local_size[0] = launch.local_size[1] = 8;
    launch.group_count[0] = launch.group_count[1] = side / 8;
    return launch;
  }

  // Each pointer has a storage of its own unless `bound` says otherwise; values are all `number`.
  Split split(const port::LaunchRecord& launch, int32_t number = 0,
              std::vector<BoundArgument> bound = {}) {
    values_.assign(kernel_.arguments.size(), {});
    for (size_t i = 0; i < values_.size(); ++i) {
      const ArgumentInfo& argument = kernel_.arguments[i];
      if (argument.kind == ArgumentKind::value) values_[i].setBytes(&number, sizeof number);
      if (bound.size() > i) continue;
      const bool pointer = argument.kind == ArgumentKind::global_pointer ||
                           argument.kind == ArgumentKind::constant_pointer;
      bound.push_back(pointer ? BoundArgument{&storages_[i], 0, 1 << 20} : BoundArgument{});
    }
    launch_ = launch;
    return Split(kernel_, launch_, values_, bound, 16);
  }
  Split split(const std::string& source, const port::LaunchRecord& launch, int32_t number = 0,
              std::vector<BoundArgument> bound = {}) {
    kernel_ = kernelOf(source);
    return split(launch, number, std::move(bound));
  }

  char storages_[8] = {};
  KernelInfo kernel_;
  port::LaunchRecord launch_;
  std::vector<ArgumentValue> values_;
};

}  // namespace weft::test
