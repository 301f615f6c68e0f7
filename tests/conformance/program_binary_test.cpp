// clCreateProgramWithBinary, CL_PROGRAM_BINARIES.
#include <cstring>
#include <random>

#include "tests/conformance/program_fixture.h"

namespace weft::conformance {
namespace {

class ProgramBinaryTest : public ProgramFixture {};

TEST_F(ProgramBinaryTest, RoundTripRuns) {
  const OwnedProgram source = built(scale_source);
  cl_int code = 1, loaded = 1;
  const OwnedProgram program = fromBinary(binary(source), &code, &loaded);
  ASSERT_EQ(code, CL_SUCCESS);
  EXPECT_EQ(loaded, CL_SUCCESS);
  EXPECT_EQ(status(program), CL_BUILD_NONE);
  EXPECT_EQ(binaryType(program), cl_program_binary_type{CL_PROGRAM_BINARY_TYPE_EXECUTABLE});
  EXPECT_EQ(cl.clCreateKernel(program, "scale", &code), nullptr);
  EXPECT_EQ(code, CL_INVALID_PROGRAM_EXECUTABLE) << "before it is built";
  ASSERT_EQ(build(program), CL_SUCCESS) << log(program);
  EXPECT_EQ(runScale(kernel(program, "scale"), 3), (std::vector<cl_int>{3, 6, 9, 12}));
  EXPECT_EQ(binary(program), binary(source));
}

// Clients that keep binaries do so by the driver's version; it has to change with what we take.
TEST_F(ProgramBinaryTest, TheDriversVersionSaysWhichOnesAreTaken) {
  const std::vector<unsigned char> bytes = binary(built(scale_source));
  uint32_t format = 0, abi = 0;
  ASSERT_GE(bytes.size(), 16u);
  std::memcpy(&format, bytes.data() + 8, 4);
  std::memcpy(&abi, bytes.data() + 12, 4);
  const auto version = deviceString(CL_DRIVER_VERSION);
  const auto taken = " (binaries " + std::to_string(abi) + '.' + std::to_string(format) + ')';
  EXPECT_TRUE(version.ends_with(taken)) << version;
  EXPECT_GT(version.size(), taken.size());
}

TEST_F(ProgramBinaryTest, ObjectsAndLibrariesRoundTrip) {
  const OwnedProgram object = compiled(scale_source);
  EXPECT_EQ(binaryType(object), cl_program_binary_type{CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT});
  cl_int code = 1;
  const OwnedProgram again = fromBinary(binary(object), &code);
  ASSERT_EQ(code, CL_SUCCESS);
  EXPECT_EQ(binaryType(again), cl_program_binary_type{CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT});
  const OwnedProgram linked = link({again}, nullptr, &code);
  ASSERT_EQ(code, CL_SUCCESS);
  EXPECT_EQ(runScale(kernel(linked, "scale"), 2), (std::vector<cl_int>{2, 4, 6, 8}));
  const OwnedProgram library = link({object}, "-create-library", &code);
  ASSERT_EQ(code, CL_SUCCESS);
  const OwnedProgram library_again = fromBinary(binary(library), &code);
  ASSERT_EQ(code, CL_SUCCESS);
  EXPECT_EQ(binaryType(library_again), cl_program_binary_type{CL_PROGRAM_BINARY_TYPE_LIBRARY});
}

TEST_F(ProgramBinaryTest, ChecksItsArguments) {
  const std::vector<unsigned char> bytes = binary(built(scale_source));
  const cl_device_id device = testDevice();
  const auto wrong = foreign<cl_device_id>(cl_context(context));
  const cl_device_id twice[] = {device, device};
  const size_t sizes[] = {bytes.size(), bytes.size()}, zero = 0;
  const unsigned char* pointers[] = {bytes.data(), bytes.data()};
  const unsigned char* null[] = {nullptr};
  cl_int loaded = 1;
  const auto code = [&](cl_context c, cl_uint count, const cl_device_id* devices,
                        const size_t* lengths, const unsigned char** binaries) {
    cl_int result = 1;
    loaded = 1;
    const OwnedProgram made(cl.clCreateProgramWithBinary(c, count, devices, lengths, binaries,
                                                         count == 1 ? &loaded : nullptr, &result));
    EXPECT_EQ(made != nullptr, result == CL_SUCCESS);
    return result;
  };
  EXPECT_EQ(code(context, 1, &device, sizes, pointers), CL_SUCCESS);
  EXPECT_EQ(code(nullptr, 1, &device, sizes, pointers), CL_INVALID_CONTEXT);
  EXPECT_EQ(code(context, 0, &device, sizes, pointers), CL_INVALID_VALUE);
  EXPECT_EQ(code(context, 1, nullptr, sizes, pointers), CL_INVALID_VALUE);
  EXPECT_EQ(code(context, 1, &device, nullptr, pointers), CL_INVALID_VALUE);
  EXPECT_EQ(code(context, 1, &device, sizes, nullptr), CL_INVALID_VALUE);
  EXPECT_EQ(code(context, 1, &device, &zero, pointers), CL_INVALID_VALUE);
  EXPECT_EQ(loaded, CL_INVALID_VALUE);
  EXPECT_EQ(code(context, 1, &device, sizes, null), CL_INVALID_VALUE);
  EXPECT_EQ(loaded, CL_INVALID_VALUE);
  EXPECT_EQ(code(context, 1, &wrong, sizes, pointers), CL_INVALID_DEVICE);
  EXPECT_EQ(code(context, 2, twice, sizes, pointers), CL_INVALID_VALUE);
}

TEST_F(ProgramBinaryTest, DamagedAndForeignBinariesAreRefused) {
  const std::vector<unsigned char> good = binary(built(scale_source));
  const auto refused = [&](const std::vector<unsigned char>& bytes) {
    cl_int code = 1, loaded = 1;
    const OwnedProgram made = fromBinary(bytes, &code, &loaded);
    return made == nullptr && code == CL_INVALID_BINARY && loaded == CL_INVALID_BINARY;
  };
  const std::string elf(
      "\x7f"
      "ELF\x02\x01\x01");
  EXPECT_TRUE(refused({elf.begin(), elf.end()}));
  EXPECT_TRUE(refused({1}));
  EXPECT_TRUE(refused(std::vector<unsigned char>(good.begin(), good.end() - 1)));
  auto longer = good;
  longer.push_back(0);
  EXPECT_TRUE(refused(longer));
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    auto damaged = good;
    damaged[random() % damaged.size()] ^= static_cast<unsigned char>(1 + random() % 255);
    EXPECT_TRUE(refused(damaged)) << round;
  }
}

TEST_F(ProgramBinaryTest, HasNoSourceToCompile) {
  cl_int code = 1;
  const OwnedProgram program = fromBinary(binary(built(scale_source)), &code);
  ASSERT_EQ(code, CL_SUCCESS);
  EXPECT_EQ(compile(program), CL_INVALID_OPERATION);
  char text[4] = {'x'};
  size_t size = 0;
  EXPECT_EQ(cl.clGetProgramInfo(program, CL_PROGRAM_SOURCE, sizeof text, text, &size), CL_SUCCESS);
  EXPECT_STREQ(text, "");
}

TEST_F(ProgramBinaryTest, NullEntriesAreSkipped) {
  const OwnedProgram program = built(scale_source);
  std::vector<unsigned char*> pointers(testDevices().size(), nullptr);
  const size_t bytes = pointers.size() * sizeof pointers[0];
  EXPECT_EQ(cl.clGetProgramInfo(program, CL_PROGRAM_BINARIES, bytes, pointers.data(), nullptr),
            CL_SUCCESS);
  EXPECT_EQ(cl.clGetProgramInfo(program, CL_PROGRAM_BINARIES, bytes - 1, pointers.data(), nullptr),
            CL_INVALID_VALUE);
  size_t size = 0;
  EXPECT_EQ(cl.clGetProgramInfo(program, CL_PROGRAM_BINARIES, 0, nullptr, &size), CL_SUCCESS);
  EXPECT_EQ(size, bytes);
}

}  // namespace
}  // namespace weft::conformance
