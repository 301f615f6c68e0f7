// Optional features that no device has: each entry point exists and answers with its code.
#include <CL/cl_egl.h>

#include <functional>

#include "tests/conformance/fixture.h"

namespace weft::conformance {
namespace {

class Unsupported : public CommandTest {
 protected:
  cl_image_format format{CL_RGBA, CL_UNORM_INT8};
  cl_image_desc description{};
  size_t origin[3] = {0, 0, 0};
  size_t region[3] = {1, 1, 1};
};

class UnsupportedImages : public Unsupported {
 protected:
  void SetUp() override {
    if (deviceInfo<cl_bool>(CL_DEVICE_IMAGE_SUPPORT)) GTEST_SKIP() << "images are supported";
  }
};

TEST_F(UnsupportedImages, CreateNothing) {
  const std::function<void*(cl_context, cl_int*)> creators[] = {
      [&](auto c, auto e) { return cl.clCreateImage(c, 0, &format, &description, nullptr, e); },
      [&](auto c, auto e) {
        return cl.clCreateImageWithProperties(c, nullptr, 0, &format, &description, nullptr, e);
      },
      [&](auto c, auto e) { return cl.clCreateImage2D(c, 0, &format, 4, 4, 0, nullptr, e); },
      [&](auto c, auto e) { return cl.clCreateImage3D(c, 0, &format, 4, 4, 4, 0, 0, nullptr, e); },
      [&](auto c, auto e) {
        return cl.clCreateSampler(c, CL_TRUE, CL_ADDRESS_CLAMP, CL_FILTER_LINEAR, e);
      },
      [&](auto c, auto e) { return cl.clCreateSamplerWithProperties(c, nullptr, e); },
      [&](auto c, auto e) {
        return cl.clCreateFromEGLImageKHR(c, nullptr, nullptr, 0, nullptr, e);
      },
  };
  for (const auto& make : creators) {
    cl_int code = 1;
    EXPECT_EQ(make(context, &code), nullptr);
    EXPECT_EQ(code, CL_INVALID_OPERATION);
    EXPECT_EQ(make(nullptr, &code), nullptr);
    EXPECT_EQ(code, CL_INVALID_CONTEXT);
    EXPECT_EQ(make(context, nullptr), nullptr);
  }
}

TEST_F(UnsupportedImages, NoFormats) {
  cl_uint count = 99;
  EXPECT_EQ(cl.clGetSupportedImageFormats(context, CL_MEM_READ_ONLY, CL_MEM_OBJECT_IMAGE2D, 1,
                                          &format, &count),
            CL_SUCCESS);
  EXPECT_EQ(count, 0u);
  EXPECT_EQ(cl.clGetSupportedImageFormats(nullptr, CL_MEM_READ_ONLY, CL_MEM_OBJECT_IMAGE2D, 0,
                                          nullptr, &count),
            CL_INVALID_CONTEXT);
  EXPECT_EQ(cl.clGetSupportedImageFormats(context, CL_MEM_READ_ONLY, CL_MEM_OBJECT_BUFFER, 0,
                                          nullptr, &count),
            CL_INVALID_VALUE);
  EXPECT_EQ(cl.clGetSupportedImageFormats(context, CL_MEM_READ_ONLY, CL_MEM_OBJECT_IMAGE2D, 0,
                                          &format, &count),
            CL_INVALID_VALUE);
}

TEST_F(UnsupportedImages, NoCommands) {
  const cl_mem b = buffer;
  const std::function<cl_int(cl_command_queue)> commands[] = {
      [&](auto q) {
        return cl.clEnqueueReadImage(q, b, CL_TRUE, origin, region, 0, 0, host.data(), 0, nullptr,
                                     nullptr);
      },
      [&](auto q) {
        return cl.clEnqueueWriteImage(q, b, CL_TRUE, origin, region, 0, 0, host.data(), 0, nullptr,
                                      nullptr);
      },
      [&](auto q) {
        return cl.clEnqueueFillImage(q, b, host.data(), origin, region, 0, nullptr, nullptr);
      },
      [&](auto q) {
        return cl.clEnqueueCopyImage(q, b, b, origin, origin, region, 0, nullptr, nullptr);
      },
      [&](auto q) {
        return cl.clEnqueueCopyImageToBuffer(q, b, b, origin, region, 0, 0, nullptr, nullptr);
      },
      [&](auto q) {
        return cl.clEnqueueCopyBufferToImage(q, b, b, 0, origin, region, 0, nullptr, nullptr);
      },
      [&](auto q) {
        cl_int code = 1;
        size_t pitch = 0;
        EXPECT_EQ(cl.clEnqueueMapImage(q, b, CL_TRUE, CL_MAP_READ, origin, region, &pitch, nullptr,
                                       0, nullptr, nullptr, &code),
                  nullptr);
        return code;
      },
  };
  for (const auto& command : commands) {
    EXPECT_EQ(command(queue), CL_INVALID_OPERATION);
    EXPECT_EQ(command(nullptr), CL_INVALID_COMMAND_QUEUE);
  }
}

TEST_F(UnsupportedImages, NoQueries) {
  size_t size = 0;
  EXPECT_EQ(cl.clGetImageInfo(buffer, CL_IMAGE_WIDTH, 0, nullptr, &size), CL_INVALID_MEM_OBJECT);
  EXPECT_EQ(cl.clGetSamplerInfo(nullptr, CL_SAMPLER_CONTEXT, 0, nullptr, &size),
            CL_INVALID_SAMPLER);
  EXPECT_EQ(cl.clRetainSampler(nullptr), CL_INVALID_SAMPLER);
  EXPECT_EQ(cl.clReleaseSampler(foreign<cl_sampler>(cl_context(context))), CL_INVALID_SAMPLER);
}

class UnsupportedSvm : public Unsupported {
 protected:
  void SetUp() override {
    if (deviceInfo<cl_device_svm_capabilities>(CL_DEVICE_SVM_CAPABILITIES))
      GTEST_SKIP() << "shared virtual memory is supported";
  }
};

TEST_F(UnsupportedSvm, AllocatesNothing) {
  EXPECT_EQ(cl.clSVMAlloc(context, CL_MEM_READ_WRITE, 64, 0), nullptr);
  EXPECT_EQ(cl.clSVMAlloc(nullptr, CL_MEM_READ_WRITE, 64, 0), nullptr);
  cl.clSVMFree(context, nullptr);
}

TEST_F(UnsupportedSvm, NoCommands) {
  void* p = host.data();
  const void* list[] = {p};
  const std::function<cl_int(cl_command_queue)> commands[] = {
      [&](auto q) { return cl.clEnqueueSVMFree(q, 1, &p, nullptr, nullptr, 0, nullptr, nullptr); },
      [&](auto q) {
        return cl.clEnqueueSVMMemcpy(q, CL_TRUE, p, host.data() + 64, 1, 0, nullptr, nullptr);
      },
      [&](auto q) { return cl.clEnqueueSVMMemFill(q, p, p, 1, 1, 0, nullptr, nullptr); },
      [&](auto q) {
        return cl.clEnqueueSVMMap(q, CL_TRUE, CL_MAP_READ, p, 1, 0, nullptr, nullptr);
      },
      [&](auto q) { return cl.clEnqueueSVMUnmap(q, p, 0, nullptr, nullptr); },
      [&](auto q) {
        return cl.clEnqueueSVMMigrateMem(q, 1, list, nullptr, 0, 0, nullptr, nullptr);
      },
  };
  for (const auto& command : commands) {
    EXPECT_EQ(command(queue), CL_INVALID_OPERATION);
    EXPECT_EQ(command(nullptr), CL_INVALID_COMMAND_QUEUE);
  }
}

TEST_F(Unsupported, Pipes) {
  if (deviceInfo<cl_bool>(CL_DEVICE_PIPE_SUPPORT)) GTEST_SKIP() << "pipes are supported";
  cl_int code = 1;
  size_t size = 0;
  EXPECT_EQ(cl.clCreatePipe(context, 0, 4, 16, nullptr, &code), nullptr);
  EXPECT_EQ(code, CL_INVALID_OPERATION);
  EXPECT_EQ(cl.clCreatePipe(nullptr, 0, 4, 16, nullptr, &code), nullptr);
  EXPECT_EQ(code, CL_INVALID_CONTEXT);
  EXPECT_EQ(cl.clGetPipeInfo(buffer, CL_PIPE_PACKET_SIZE, 0, nullptr, &size),
            CL_INVALID_MEM_OBJECT);
}

TEST_F(Unsupported, OpenGl) {
  const std::function<void*(cl_context, cl_int*)> creators[] = {
      [](auto c, auto e) { return cl.clCreateFromGLBuffer(c, 0, 1, e); },
      [](auto c, auto e) { return cl.clCreateFromGLTexture(c, 0, 0, 0, 1, e); },
      [](auto c, auto e) { return cl.clCreateFromGLTexture2D(c, 0, 0, 0, 1, e); },
      [](auto c, auto e) { return cl.clCreateFromGLTexture3D(c, 0, 0, 0, 1, e); },
      [](auto c, auto e) { return cl.clCreateFromGLRenderbuffer(c, 0, 1, e); },
      [](auto c, auto e) { return cl.clCreateEventFromGLsyncKHR(c, nullptr, e); },
  };
  for (const auto& make : creators)
    for (const cl_context c : {cl_context(context), cl_context(nullptr)}) {
      cl_int code = 1;
      EXPECT_EQ(make(c, &code), nullptr);
      EXPECT_EQ(code, CL_INVALID_CONTEXT);
    }
  const cl_mem b = buffer;
  cl_gl_object_type type = 0;
  size_t size = 0;
  EXPECT_EQ(cl.clGetGLObjectInfo(b, &type, nullptr), CL_INVALID_GL_OBJECT);
  EXPECT_EQ(cl.clGetGLObjectInfo(nullptr, &type, nullptr), CL_INVALID_MEM_OBJECT);
  EXPECT_EQ(cl.clGetGLTextureInfo(b, 0, 0, nullptr, &size), CL_INVALID_GL_OBJECT);
  for (const auto acquire : {cl.clEnqueueAcquireGLObjects, cl.clEnqueueReleaseGLObjects}) {
    EXPECT_EQ(acquire(queue, 1, &b, 0, nullptr, nullptr), CL_INVALID_CONTEXT);
    EXPECT_EQ(acquire(nullptr, 1, &b, 0, nullptr, nullptr), CL_INVALID_COMMAND_QUEUE);
  }
  EXPECT_EQ(cl.clGetGLContextInfoKHR(nullptr, 0, 0, nullptr, &size), CL_INVALID_OPERATION);
}

TEST_F(Unsupported, Egl) {
  const cl_mem b = buffer;
  for (const auto acquire : {cl.clEnqueueAcquireEGLObjectsKHR, cl.clEnqueueReleaseEGLObjectsKHR}) {
    EXPECT_EQ(acquire(queue, 1, &b, 0, nullptr, nullptr), CL_INVALID_EGL_OBJECT_KHR);
    EXPECT_EQ(acquire(queue, 0, nullptr, 0, nullptr, nullptr), CL_SUCCESS);
    EXPECT_EQ(acquire(queue, 1, nullptr, 0, nullptr, nullptr), CL_INVALID_VALUE);
    EXPECT_EQ(acquire(nullptr, 0, nullptr, 0, nullptr, nullptr), CL_INVALID_COMMAND_QUEUE);
  }
  cl_int code = 1;
  EXPECT_EQ(cl.clCreateEventFromEGLSyncKHR(context, nullptr, nullptr, &code), nullptr);
  EXPECT_EQ(code, CL_INVALID_EGL_OBJECT_KHR);
}

}  // namespace
}  // namespace weft::conformance
