// Optional features that no device has: each entry point exists and answers with its code.
#include <CL/cl_egl.h>

#include <functional>

#include "tests/conformance/fixture.h"

namespace weft::conformance {
namespace {

using Unsupported = CommandTest;

TEST_F(Unsupported, Pipes) {
  if (largestInfo<cl_bool>(CL_DEVICE_PIPE_SUPPORT)) GTEST_SKIP() << "pipes are supported";
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
  EXPECT_EQ(cl.clCreateFromEGLImageKHR(context, nullptr, nullptr, 0, nullptr, &code), nullptr);
  EXPECT_EQ(code, CL_INVALID_OPERATION);
  EXPECT_EQ(cl.clCreateEventFromEGLSyncKHR(context, nullptr, nullptr, &code), nullptr);
  EXPECT_EQ(code, CL_INVALID_EGL_OBJECT_KHR);
}

}  // namespace
}  // namespace weft::conformance
