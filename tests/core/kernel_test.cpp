#include "core/kernel.h"

#include <gtest/gtest.h>

#include <cstring>

#include "doubles.h"
#include "tests/support/unit_sets.h"

namespace weft::test {
namespace {

class KernelTest : public ::testing::Test {
 protected:
  Ref<Kernel> kernel(const std::string& letters) {
    program = machine.built("k/" + letters);
    return make<Kernel>(program, "k");
  }
  Ref<Buffer> buffer(const Ref<Context>& context) {
    return make<Buffer>(context, CL_MEM_READ_WRITE, 64, nullptr, std::vector<cl_mem_properties>{});
  }
  Ref<Buffer> buffer() { return buffer(Ref<Context>(&program->context())); }

  Machine machine;
  Ref<Program> program;
};

cl_int set(const Ref<Kernel>& kernel, cl_uint index, size_t size, const void* value) {
  return codeOf([&] { kernel->setArgument(index, size, value); });
}

cl_int set(const Ref<Kernel>& kernel, cl_uint index, MemObject& object) {
  const cl_mem handle = object.handle();
  return set(kernel, index, sizeof handle, &handle);
}

TEST_F(KernelTest, NamesMustBeThere) {
  const auto program = machine.built("k/g");
  EXPECT_EQ(codeOf([&] { make<Kernel>(program, "other"); }), CL_INVALID_KERNEL_NAME);
  EXPECT_EQ(codeOf([&] { make<Kernel>(program, ""); }), CL_INVALID_KERNEL_NAME);
  const auto unbuilt = make<Program>(machine.context(), "k/g");
  EXPECT_EQ(codeOf([&] { make<Kernel>(unbuilt, "k"); }), CL_INVALID_PROGRAM_EXECUTABLE);
}

TEST_F(KernelTest, DefinitionsMustAgreeBetweenDevices) {
  const auto program = machine.built("unlike/g k/g");
  EXPECT_EQ(codeOf([&] { make<Kernel>(program, "unlike"); }), CL_INVALID_KERNEL_DEFINITION);
  const auto kernels = createKernels(*program);
  ASSERT_EQ(kernels.size(), 1u);
  EXPECT_EQ(kernels[0]->name(), "k");
}

TEST_F(KernelTest, AnExecutableForOneDeviceIsEnough) {
  const auto program = make<Program>(machine.context(), "k/g");
  const auto& devices = program->devices();
  program->buildFor({devices[1]}, "", {});
  const auto kernel = make<Kernel>(program, "k");
  EXPECT_EQ(kernel->devices().size(), 1u);
  EXPECT_EQ(kernel->on(*devices[0]), nullptr);
  ASSERT_NE(kernel->on(*devices[1]), nullptr);
  EXPECT_EQ(kernel->on(*devices[1])->info().name, "k");
}

TEST_F(KernelTest, SubDeviceUsesTheCodeOfItsParentUnlessItHasItsOwn) {
  const Ref<Device> root = machine.platform().devices()[0];
  const auto sub = [&] {
    return make<Device>(root, root->port().partition(test::singles(1)).front(),
                        std::vector<cl_device_partition_property>{});
  };
  const auto named = sub(), unnamed = sub();
  const auto program = make<Program>(machine.context({root, named}), "k/g");
  program->buildFor({root}, "", {});
  const auto kernel = make<Kernel>(program, "k");
  ASSERT_NE(kernel->on(*unnamed), nullptr);
  EXPECT_EQ(kernel->on(*unnamed)->device.get(), root.get());
  // What is built for a device is built for the sub-devices that the program names.
  ASSERT_NE(kernel->on(*named), nullptr);
  EXPECT_EQ(kernel->on(*named)->device.get(), named.get());
  EXPECT_EQ(program->build(*named)->status, CL_BUILD_SUCCESS);
}

TEST_F(KernelTest, AttachedKernelsForbidBuilding) {
  auto first = kernel("g");
  auto clone = make<Kernel>(*first);
  const auto rebuild = [&] {
    return codeOf([&] { program->buildFor(program->devices(), "", {}); });
  };
  EXPECT_EQ(rebuild(), CL_INVALID_OPERATION);
  first = nullptr;
  EXPECT_EQ(rebuild(), CL_INVALID_OPERATION);
  clone = nullptr;
  EXPECT_EQ(codeOf([&] { make<Kernel>(program, "other"); }), CL_INVALID_KERNEL_NAME);
  EXPECT_EQ(rebuild(), CL_SUCCESS) << "a kernel that was not made must not count";
}

TEST_F(KernelTest, KeepsTheModuleLoaded) {
  auto k = kernel("g");
  program = nullptr;
  EXPECT_EQ(machine.device(0).modules, 1);
  k = nullptr;
  EXPECT_EQ(machine.device(0).modules, 0);
}

TEST_F(KernelTest, IndexIsChecked) {
  const auto k = kernel("v");
  const int value = 1;
  EXPECT_EQ(set(k, 0, sizeof value, &value), CL_SUCCESS);
  EXPECT_EQ(set(k, 1, sizeof value, &value), CL_INVALID_ARG_INDEX);
  EXPECT_EQ(set(k, ~0u, sizeof value, &value), CL_INVALID_ARG_INDEX);
}

TEST_F(KernelTest, ValuesAreCopied) {
  const auto k = kernel("vw");
  int value = 42;
  float wide[16] = {1, 2, 3};
  EXPECT_EQ(set(k, 0, 3, &value), CL_INVALID_ARG_SIZE);
  EXPECT_EQ(set(k, 0, 8, &value), CL_INVALID_ARG_SIZE);
  EXPECT_EQ(set(k, 0, 4, nullptr), CL_INVALID_ARG_VALUE);
  EXPECT_EQ(set(k, 0, 4, &value), CL_SUCCESS);
  EXPECT_EQ(set(k, 1, sizeof wide, wide), CL_SUCCESS);
  value = 0;
  wide[1] = 0;
  const auto arguments = k->arguments();
  ASSERT_EQ(arguments.values.size(), 2u);
  ASSERT_EQ(arguments.values[0].bytes().size(), 4u);
  int copy;
  std::memcpy(&copy, arguments.values[0].bytes().data(), 4);
  EXPECT_EQ(copy, 42);
  ASSERT_EQ(arguments.values[1].bytes().size(), sizeof wide);
  float wide_copy[16];
  std::memcpy(wide_copy, arguments.values[1].bytes().data(), sizeof wide);
  EXPECT_EQ(wide_copy[1], 2);
}

TEST_F(KernelTest, LocalArgumentsHaveASizeAndNoValue) {
  const auto k = kernel("ll");
  const int value = 0;
  EXPECT_EQ(set(k, 0, 16, &value), CL_INVALID_ARG_VALUE);
  EXPECT_EQ(set(k, 0, 0, nullptr), CL_SUCCESS) << "of OpenCL 3.1";
  EXPECT_EQ(k->localArgumentBytes(), 0u);
  EXPECT_EQ(set(k, 0, 1, nullptr), CL_SUCCESS);
  EXPECT_EQ(k->localArgumentBytes(), 16u);
  EXPECT_EQ(set(k, 1, 20, nullptr), CL_SUCCESS);
  EXPECT_EQ(k->localArgumentBytes(), 48u);
  EXPECT_EQ(k->arguments().values[1].localBytes(), 20u);
}

TEST_F(KernelTest, BufferArguments) {
  const auto k = kernel("gc");
  const auto b = buffer();
  EXPECT_EQ(set(k, 0, *b), CL_SUCCESS);
  EXPECT_EQ(set(k, 1, *b), CL_SUCCESS);
  const cl_mem handle = b->handle();
  EXPECT_EQ(set(k, 0, sizeof(cl_mem) - 1, &handle), CL_INVALID_ARG_SIZE);
  EXPECT_EQ(set(k, 0, 0, nullptr), CL_INVALID_ARG_SIZE);
  auto* const other_kind = program->handle();
  EXPECT_EQ(set(k, 0, sizeof other_kind, &other_kind), CL_INVALID_MEM_OBJECT);
  EXPECT_EQ(set(k, 0, *buffer(machine.context())), CL_INVALID_MEM_OBJECT) << "another context";
  // A refused value changes nothing.
  EXPECT_EQ(k->arguments().values[0].memory(), b.get());
}

TEST_F(KernelTest, NullBuffers) {
  const auto k = kernel("gg");
  const auto b = buffer();
  set(k, 0, *b);
  const cl_mem null = nullptr;
  EXPECT_EQ(set(k, 0, sizeof null, &null), CL_SUCCESS);
  EXPECT_EQ(set(k, 1, sizeof null, nullptr), CL_SUCCESS);
  EXPECT_EQ(k->arguments().values[0].memory(), nullptr);
  EXPECT_EQ(k->arguments().values[1].memory(), nullptr);
}

TEST_F(KernelTest, KindsWithoutObjectsTakeNoValue) {
  const auto k = kernel("isqp");
  const auto b = buffer();
  const cl_mem handle = b->handle();
  EXPECT_EQ(set(k, 0, sizeof handle, &handle), CL_INVALID_MEM_OBJECT);
  EXPECT_EQ(set(k, 1, sizeof handle, nullptr), CL_INVALID_SAMPLER);
  EXPECT_EQ(set(k, 2, sizeof handle, &handle), CL_INVALID_DEVICE_QUEUE);
  EXPECT_EQ(set(k, 3, sizeof handle, &handle), CL_INVALID_MEM_OBJECT);
  for (cl_uint i = 0; i < 4; ++i) EXPECT_EQ(set(k, i, 1, &handle), CL_INVALID_ARG_SIZE) << i;
}

TEST_F(KernelTest, EveryArgumentMustBeSet) {
  const auto k = kernel("vg");
  EXPECT_EQ(codeOf([&] { k->arguments(); }), CL_INVALID_KERNEL_ARGS);
  const int value = 1;
  set(k, 0, 4, &value);
  EXPECT_EQ(codeOf([&] { k->arguments(); }), CL_INVALID_KERNEL_ARGS);
  set(k, 1, sizeof(cl_mem), nullptr);
  EXPECT_EQ(codeOf([&] { k->arguments(); }), CL_SUCCESS);
}

TEST_F(KernelTest, DoesNotHoldItsBuffers) {
  const auto k = kernel("g");
  auto b = buffer();
  bool destroyed = false;
  b->addDestructorCallback([](cl_mem, void* user) { *static_cast<bool*>(user) = true; },
                           &destroyed);
  set(k, 0, *b);
  auto launch = k->arguments();
  b = nullptr;
  EXPECT_FALSE(destroyed) << "a launch holds its buffers";
  launch = {};
  EXPECT_TRUE(destroyed);
  EXPECT_EQ(codeOf([&] { k->arguments(); }), CL_INVALID_KERNEL_ARGS);
  const auto other = buffer();
  EXPECT_EQ(set(k, 0, *other), CL_SUCCESS);
  EXPECT_EQ(k->arguments().values[0].memory(), other.get());
}

TEST_F(KernelTest, LaunchesKeepTheArgumentsTheyWereGiven) {
  const auto k = kernel("v");
  int value = 1;
  set(k, 0, 4, &value);
  const auto first = k->arguments();
  value = 2;
  set(k, 0, 4, &value);
  int copy;
  std::memcpy(&copy, first.values[0].bytes().data(), 4);
  EXPECT_EQ(copy, 1);
}

TEST_F(KernelTest, CloneCopiesTheArguments) {
  const auto k = kernel("vg");
  const auto b = buffer();
  int value = 1;
  set(k, 0, 4, &value);
  set(k, 1, *b);
  const auto clone = make<Kernel>(*k);
  value = 2;
  set(k, 0, 4, &value);
  const auto arguments = clone->arguments();
  int copy;
  std::memcpy(&copy, arguments.values[0].bytes().data(), 4);
  EXPECT_EQ(copy, 1);
  EXPECT_EQ(arguments.values[1].memory(), b.get());
  EXPECT_EQ(clone->handleReferences(), 1u);
}

}  // namespace
}  // namespace weft::test
