#include "core/program.h"

#include <gtest/gtest.h>

#include <future>
#include <thread>

#include "core/ports/native_images.h"
#include "doubles.h"

namespace weft::test {
namespace {

class ProgramTest : public ::testing::Test {
 protected:
  Ref<Program> source(const std::string& text) { return make<Program>(machine.context(), text); }
  std::shared_ptr<const DeviceBuild> build(const Ref<Program>& program, size_t device) {
    return program->builds()[device];
  }
  Ref<Program> compiled(const Ref<Context>& context, const std::string& text) {
    auto program = make<Program>(context, text);
    EXPECT_TRUE(program->compileFor(program->devices(), "", {}, {}));
    return program;
  }

  Machine machine;
};

// Waits for a build with a callback. The promise belongs to the callback, which may still be inside
// it when wait() returns.
struct Done {
  using Promise = std::promise<cl_program>;
  Promise* promise = new Promise;
  std::future<cl_program> future = promise->get_future();
  Program::Notify notify{[](cl_program program, void* user) {
                           const std::unique_ptr<Promise> own(static_cast<Promise*>(user));
                           own->set_value(program);
                         },
                         promise};
  cl_program wait() { return future.get(); }
};

TEST_F(ProgramTest, StartsWithNothing) {
  const auto program = source("k/g");
  EXPECT_EQ(program->devices().size(), 3u);
  for (size_t d = 0; d < 3; ++d) {
    EXPECT_EQ(build(program, d)->status, CL_BUILD_NONE);
    EXPECT_EQ(build(program, d)->binaryType(), cl_program_binary_type{CL_PROGRAM_BINARY_TYPE_NONE});
  }
  EXPECT_EQ(codeOf([&] { program->kernelNames(); }), CL_INVALID_PROGRAM_EXECUTABLE);
}

TEST_F(ProgramTest, EqualTargetsAreCompiledForOnceAndLoadedEach) {
  const auto program = source("a/g b/v");
  EXPECT_TRUE(program->buildFor(program->devices(), "-O", {}));
  EXPECT_EQ(machine.compiler().builds, 2);
  for (size_t d = 0; d < 3; ++d) {
    EXPECT_EQ(machine.device(d).modules, 1) << d;
    EXPECT_EQ(build(program, d)->status, CL_BUILD_SUCCESS);
    EXPECT_EQ(build(program, d)->options, "-O");
    EXPECT_EQ(build(program, d)->log, "a warning\n");
    EXPECT_EQ(build(program, d)->binaryType(),
              cl_program_binary_type{CL_PROGRAM_BINARY_TYPE_EXECUTABLE});
  }
  EXPECT_EQ(build(program, 0)->image, build(program, 1)->image);
  EXPECT_NE(build(program, 0)->module, build(program, 1)->module);
  EXPECT_EQ(build(program, 2)->image->target.cpu, "two");
  EXPECT_EQ(program->kernelNames(), (std::vector<std::string>{"a", "b"}));
}

TEST_F(ProgramTest, BuildsOnlyForTheDevicesNamed) {
  const auto program = source("k/g");
  EXPECT_TRUE(program->buildFor({program->devices()[2]}, "", {}));
  EXPECT_EQ(build(program, 0)->status, CL_BUILD_NONE);
  EXPECT_EQ(build(program, 2)->status, CL_BUILD_SUCCESS);
}

TEST_F(ProgramTest, ForeignDevicesAreRefused) {
  const auto devices = machine.platform().devices();
  const auto program = make<Program>(machine.context({devices[0]}), "k/g");
  EXPECT_EQ(codeOf([&] { program->build(*devices[1]); }), CL_INVALID_DEVICE);
  EXPECT_EQ(codeOf([&] { program->buildFor({devices[1]}, "", {}); }), CL_INVALID_DEVICE);
}

TEST_F(ProgramTest, FailureLeavesALog) {
  const auto program = source("k/g error");
  EXPECT_FALSE(program->buildFor(program->devices(), "", {}));
  EXPECT_EQ(build(program, 1)->status, CL_BUILD_ERROR);
  EXPECT_EQ(build(program, 1)->log, "1: error in: k/g error\n");
  EXPECT_FALSE(build(program, 1)->image);
}

TEST_F(ProgramTest, CompilerThatThrowsOrReturnsDamageIsAFailedBuild) {
  for (const char* word : {"throw", "junk"}) {
    const auto program = source(word);
    EXPECT_FALSE(program->buildFor(program->devices(), "", {})) << word;
    EXPECT_EQ(build(program, 0)->status, CL_BUILD_ERROR) << word;
    EXPECT_FALSE(build(program, 0)->log.empty()) << word;
  }
}

TEST_F(ProgramTest, ImageThatCannotBeLoadedIsAFailedBuild) {
  const auto program = source("k/g");
  EXPECT_FALSE(program->buildFor(program->devices(), "unloadable", {}));
  EXPECT_EQ(build(program, 0)->status, CL_BUILD_ERROR);
  EXPECT_NE(build(program, 0)->log.find("no room"), std::string::npos);
}

TEST_F(ProgramTest, UnknownOptionsAreNamedInTheLog) {
  const auto program = source("k/g");
  EXPECT_EQ(codeOf([&] { program->buildFor(program->devices(), "-bad", {}); }),
            CL_INVALID_BUILD_OPTIONS);
  EXPECT_EQ(build(program, 0)->log, "unknown option: -bad\n");
  EXPECT_EQ(codeOf([&] { program->compileFor(program->devices(), "-bad", {}, {}); }),
            CL_INVALID_COMPILER_OPTIONS);
  EXPECT_TRUE(program->buildFor(program->devices(), "", {}));
}

TEST_F(ProgramTest, ABuildReplacesTheLastOne) {
  const auto program = source("k/g");
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(program->buildFor(program->devices(), "", {}));
  EXPECT_EQ(machine.device(0).modules, 1);
}

TEST_F(ProgramTest, CallbackComesAfterTheStatusIsFinal) {
  const auto program = source("k/g");
  machine.compiler().close();
  Done done;
  EXPECT_TRUE(program->buildFor(program->devices(), "-x", done.notify));
  EXPECT_EQ(build(program, 0)->status, CL_BUILD_IN_PROGRESS);
  EXPECT_EQ(build(program, 0)->options, "-x");
  EXPECT_EQ(codeOf([&] { program->buildFor(program->devices(), "", {}); }), CL_INVALID_OPERATION);
  EXPECT_EQ(codeOf([&] { program->compileFor(program->devices(), "", {}, {}); }),
            CL_INVALID_OPERATION);
  EXPECT_EQ(codeOf([&] { make<Kernel>(program, "k"); }), CL_INVALID_PROGRAM_EXECUTABLE);
  machine.compiler().open();
  EXPECT_EQ(done.wait(), program->handle());
  EXPECT_EQ(build(program, 0)->status, CL_BUILD_SUCCESS);
  EXPECT_EQ(build(program, 2)->status, CL_BUILD_SUCCESS);
}

TEST_F(ProgramTest, CallbackComesAfterFailureToo) {
  for (const char* word : {"error", "throw"}) {
    const auto program = source(word);
    Done done;
    EXPECT_TRUE(program->buildFor(program->devices(), "", done.notify));
    done.wait();
    EXPECT_EQ(build(program, 0)->status, CL_BUILD_ERROR) << word;
  }
}

TEST_F(ProgramTest, CallbackMayBuildAgain) {
  const auto program = source("k/g");
  static std::promise<bool> promise;
  promise = {};
  auto future = promise.get_future();
  const auto again = [](cl_program handle, void*) {
    auto& program = fromHandle<Program>(handle);
    promise.set_value(program.buildFor(program.devices(), "-again", {}));
  };
  program->buildFor(program->devices(), "", {again, nullptr});
  EXPECT_TRUE(future.get());
  EXPECT_EQ(build(program, 0)->options, "-again");
}

TEST_F(ProgramTest, MayBeReleasedWhileItIsBuilt) {
  auto program = source("k/g");
  machine.compiler().close();
  Done done;
  program->buildFor(program->devices(), "", done.notify);
  program = nullptr;
  machine.compiler().open();
  done.wait();
}

TEST_F(ProgramTest, CompileAndLink) {
  const auto context = machine.context();
  const auto a = compiled(context, "a/g"), b = compiled(context, "b/v");
  EXPECT_EQ(machine.compiler().compiles, 4);
  EXPECT_EQ(build(a, 0)->binaryType(),
            cl_program_binary_type{CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT});
  EXPECT_FALSE(build(a, 0)->executable());
  const auto linked = make<Program>(context, context->devices());
  EXPECT_TRUE(linked->linkFrom({a, b}, "", {}));
  EXPECT_EQ(machine.compiler().links, 2);
  EXPECT_EQ(linked->kernelNames(), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(machine.device(1).modules, 1);
  EXPECT_EQ(codeOf([&] { linked->buildFor(linked->devices(), "", {}); }), CL_INVALID_OPERATION);
  EXPECT_EQ(codeOf([&] { linked->compileFor(linked->devices(), "", {}, {}); }),
            CL_INVALID_OPERATION);
}

TEST_F(ProgramTest, LibrariesLinkLikeObjects) {
  const auto context = machine.context();
  const auto library = make<Program>(context, context->devices());
  EXPECT_TRUE(library->linkFrom({compiled(context, "a/g")}, "-create-library", {}));
  EXPECT_EQ(build(library, 0)->binaryType(),
            cl_program_binary_type{CL_PROGRAM_BINARY_TYPE_LIBRARY});
  EXPECT_EQ(codeOf([&] { library->kernelNames(); }), CL_INVALID_PROGRAM_EXECUTABLE);
  const auto linked = make<Program>(context, context->devices());
  EXPECT_TRUE(linked->linkFrom({compiled(context, "b/g"), library}, "", {}));
  EXPECT_EQ(linked->kernelNames(), (std::vector<std::string>{"b", "a"}));
}

TEST_F(ProgramTest, LinkFailureLeavesALog) {
  const auto context = machine.context();
  const auto linked = make<Program>(context, context->devices());
  EXPECT_FALSE(linked->linkFrom({compiled(context, "a/g"), compiled(context, "a/g")}, "", {}));
  EXPECT_EQ(build(linked, 0)->status, CL_BUILD_ERROR);
  EXPECT_EQ(build(linked, 0)->log, "duplicate symbol: a\n");
}

TEST_F(ProgramTest, LinkRules) {
  const auto context = machine.context();
  const auto& devices = context->devices();
  const auto all = compiled(context, "a/g");
  const auto some = make<Program>(context, "b/g");
  some->compileFor({devices[0]}, "", {}, {});
  const auto link = [&](Program::Devices targets, std::vector<Ref<Program>> inputs) {
    return codeOf([&] { make<Program>(context, targets)->linkFrom(inputs, "", {}); });
  };
  EXPECT_EQ(link({devices[0]}, {all, some}), CL_SUCCESS);
  EXPECT_EQ(link(devices, {all, some}), CL_INVALID_OPERATION) << "one of two has it";
  EXPECT_EQ(link(devices, {some}), CL_SUCCESS) << "none has it for the others";
  EXPECT_EQ(link({devices[1]}, {some}), CL_INVALID_OPERATION) << "nothing at all to link";
  const auto executable = make<Program>(context, "c/g");
  executable->buildFor(devices, "", {});
  EXPECT_EQ(link(devices, {executable}), CL_INVALID_OPERATION) << "no object or library";
  EXPECT_EQ(link(devices, {all, executable}), CL_INVALID_OPERATION);
  EXPECT_EQ(codeOf([&] { make<Program>(context, devices)->linkFrom({all}, "-bad", {}); }),
            CL_INVALID_LINKER_OPTIONS);

  const auto pending = make<Program>(context, "d/g");
  machine.compiler().close();
  Done done;
  pending->compileFor(devices, "", {}, done.notify);
  EXPECT_EQ(link(devices, {all, pending}), CL_INVALID_OPERATION) << "still being compiled";
  machine.compiler().open();
  done.wait();
}

TEST_F(ProgramTest, LinkSkipsDevicesWithoutObjects) {
  const auto context = machine.context();
  const auto object = make<Program>(context, "a/g");
  object->compileFor({context->devices()[2]}, "", {}, {});
  const auto linked = make<Program>(context, context->devices());
  EXPECT_TRUE(linked->linkFrom({object}, "", {}));
  EXPECT_EQ(build(linked, 0)->status, CL_BUILD_NONE);
  EXPECT_TRUE(build(linked, 2)->executable());
}

TEST_F(ProgramTest, LinkKeepsApartWhatWasCompiledApart) {
  const auto context = machine.context();
  const auto object = make<Program>(context, "a/g");
  object->compileFor({context->devices()[0]}, "-first", {}, {});
  object->compileFor({context->devices()[1]}, "-second", {}, {});
  const auto linked = make<Program>(context, context->devices());
  EXPECT_TRUE(linked->linkFrom({object}, "", {}));
  EXPECT_EQ(machine.compiler().links, 2);
}

TEST_F(ProgramTest, HeadersReachTheCompiler) {
  const auto program = source("@h");
  EXPECT_FALSE(program->compileFor(program->devices(), "", {}, {}));
  EXPECT_TRUE(program->compileFor(program->devices(), "", {{"h", "k/g"}}, {}));
  EXPECT_EQ(build(program, 0)->image->kernels.at(0).name, "k");
}

TEST_F(ProgramTest, BinariesRoundTrip) {
  const auto context = machine.context();
  const auto built = make<Program>(context, "k/gv");
  built->buildFor(built->devices(), "", {});
  std::vector<Program::DeviceBinary> binaries;
  for (size_t d = 0; d < 3; ++d) {
    const Ref<Device> device = context->devices()[d];
    auto image = Program::decode(*device, writeImage(*build(built, d)->image));
    ASSERT_TRUE(image);
    binaries.push_back({device, image});
  }
  const auto program = make<Program>(context, std::move(binaries));
  EXPECT_EQ(build(program, 0)->status, CL_BUILD_NONE);
  EXPECT_EQ(build(program, 0)->binaryType(),
            cl_program_binary_type{CL_PROGRAM_BINARY_TYPE_EXECUTABLE});
  EXPECT_EQ(codeOf([&] { make<Kernel>(program, "k"); }), CL_INVALID_PROGRAM_EXECUTABLE);
  EXPECT_EQ(codeOf([&] { program->compileFor(program->devices(), "", {}, {}); }),
            CL_INVALID_OPERATION);
  const int builds = machine.compiler().builds;
  EXPECT_TRUE(program->buildFor(program->devices(), "", {}));
  EXPECT_EQ(machine.compiler().builds, builds);
  EXPECT_EQ(program->kernelNames(), std::vector<std::string>{"k"});
}

TEST_F(ProgramTest, ObjectBinariesAreLinkedByABuild) {
  const auto context = machine.context();
  const auto object = compiled(context, "k/g");
  const Ref<Device> device = context->devices()[0];
  const auto program =
      make<Program>(context, std::vector<Program::DeviceBinary>{{device, build(object, 0)->image}});
  EXPECT_EQ(program->devices().size(), 1u);
  EXPECT_TRUE(program->buildFor(program->devices(), "", {}));
  EXPECT_EQ(program->kernelNames(), std::vector<std::string>{"k"});
}

TEST_F(ProgramTest, BinaryThatCannotBeLoadedStaysABinary) {
  const auto context = machine.context();
  Image image;
  image.target = context->devices()[0]->port().target();
  image.options = "unloadable";
  const auto program =
      make<Program>(context, std::vector<Program::DeviceBinary>{
                                 {context->devices()[0], std::make_shared<const Image>(image)}});
  EXPECT_FALSE(program->buildFor(program->devices(), "", {}));
  EXPECT_EQ(build(program, 0)->status, CL_BUILD_ERROR);
  EXPECT_TRUE(build(program, 0)->image);
}

TEST_F(ProgramTest, BinariesAreTakenWithTwinsForImagesAndWithout) {
  using port::loads, port::Target, port::TargetKind;
  const Target ptx{TargetKind::nvptx, "sm_90", ""},
      twins{TargetKind::nvptx, "sm_90", "native_images"};
  EXPECT_TRUE(loads(ptx, ptx) && loads(ptx, twins) && loads(twins, ptx) && loads(twins, twins));
  EXPECT_FALSE(loads(ptx, {TargetKind::nvptx, "sm_80", "native_images"}));
  EXPECT_FALSE(loads(ptx, {TargetKind::nvptx, "sm_90", "native_images,more"}));
  // A driver that has no images compiles no module that reads them.
  const Target spirv{TargetKind::spirv, "1.2", "a,b"},
      sampling{TargetKind::spirv, "1.2", "a,native_images,b"};
  EXPECT_TRUE(loads(spirv, spirv) && loads(sampling, spirv) && loads(sampling, sampling));
  EXPECT_FALSE(loads(spirv, sampling));

  const auto context = machine.context();
  Image image;
  image.target = context->devices()[0]->port().target();
  port::addFeature(image.target.features, port::native_images_feature);
  EXPECT_TRUE(Program::decode(*context->devices()[0], writeImage(image)));
  EXPECT_FALSE(Program::decode(*context->devices()[2], writeImage(image)));
}

TEST_F(ProgramTest, BinariesOfOtherTargetsAndDamagedOnesAreRefused) {
  const auto context = machine.context();
  const auto built = make<Program>(context, "k/g");
  built->buildFor(built->devices(), "", {});
  const port::Bytes bytes = writeImage(*build(built, 0)->image);
  EXPECT_TRUE(Program::decode(*context->devices()[1], bytes));
  EXPECT_FALSE(Program::decode(*context->devices()[2], bytes));
  EXPECT_FALSE(Program::decode(*context->devices()[0], std::span(bytes).first(bytes.size() - 1)));
  EXPECT_FALSE(Program::decode(*context->devices()[0], {}));
}

TEST_F(ProgramTest, ManyThreadsBuildOneProgram) {
  const auto program = source("k/g");
  std::atomic<int> built{0}, refused{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 50; ++i) {
        const cl_int code = codeOf([&] { program->buildFor(program->devices(), "", {}); });
        ++(code == CL_SUCCESS ? built : refused);
        if (code != CL_SUCCESS) {
          EXPECT_EQ(code, CL_INVALID_OPERATION);
        }
        program->builds();
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_GE(built, 1);
  EXPECT_EQ(built + refused, 400);
  EXPECT_EQ(build(program, 0)->status, CL_BUILD_SUCCESS);
  EXPECT_EQ(machine.device(0).modules, 1);
}

}  // namespace
}  // namespace weft::test
