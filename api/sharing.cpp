// OpenGL and EGL sharing (cl_khr_gl_sharing, cl_khr_egl_image and their kin): not supported, but
// loaders have functions for them, so the table has entries.
#include <CL/cl_egl.h>
#include <CL/cl_gl.h>

#include "api/checks.h"
#include "api/entry.h"

namespace weft::api {
namespace {

// "CL_INVALID_CONTEXT if context [...] was not created from a GL context."
cl_mem notFromGl(cl_context context) {
  toContext(context);
  throw Error(CL_INVALID_CONTEXT, "the context was not created from a GL context");
}

// "CL_INVALID_GL_OBJECT if there is no GL object associated with memobj."
void noGlObject(cl_mem memobj) {
  toMemObject(memobj);
  throw Error(CL_INVALID_GL_OBJECT);
}

void glCommand(cl_command_queue command_queue) {
  toQueue(command_queue);
  throw Error(CL_INVALID_CONTEXT, "the context was not created from a GL context");
}

// "If num_objects is 0 and mem_objects is NULL then the function does nothing and returns
// CL_SUCCESS."
void eglCommand(cl_command_queue command_queue, cl_uint count, const cl_mem* objects) {
  toQueue(command_queue);
  require((count == 0) == (objects == nullptr), CL_INVALID_VALUE);
  for (cl_uint i = 0; i < count; ++i) toMemObject(objects[i]);
  require(count == 0, CL_INVALID_EGL_OBJECT_KHR);
}

}  // namespace
}  // namespace weft::api

using namespace weft;
using namespace weft::api;

cl_mem CL_API_CALL clCreateFromGLBuffer(cl_context context, cl_mem_flags, cl_GLuint,
                                        cl_int* errcode_ret) {
  return create(errcode_ret, [&] { return notFromGl(context); });
}

cl_mem CL_API_CALL clCreateFromGLTexture(cl_context context, cl_mem_flags, cl_GLenum, cl_GLint,
                                         cl_GLuint, cl_int* errcode_ret) {
  return create(errcode_ret, [&] { return notFromGl(context); });
}

cl_mem CL_API_CALL clCreateFromGLTexture2D(cl_context context, cl_mem_flags, cl_GLenum, cl_GLint,
                                           cl_GLuint, cl_int* errcode_ret) {
  return create(errcode_ret, [&] { return notFromGl(context); });
}

cl_mem CL_API_CALL clCreateFromGLTexture3D(cl_context context, cl_mem_flags, cl_GLenum, cl_GLint,
                                           cl_GLuint, cl_int* errcode_ret) {
  return create(errcode_ret, [&] { return notFromGl(context); });
}

cl_mem CL_API_CALL clCreateFromGLRenderbuffer(cl_context context, cl_mem_flags, cl_GLuint,
                                              cl_int* errcode_ret) {
  return create(errcode_ret, [&] { return notFromGl(context); });
}

cl_int CL_API_CALL clGetGLObjectInfo(cl_mem memobj, cl_gl_object_type*, cl_GLuint*) {
  return call([&] { noGlObject(memobj); });
}

cl_int CL_API_CALL clGetGLTextureInfo(cl_mem memobj, cl_gl_texture_info, size_t, void*, size_t*) {
  return call([&] { noGlObject(memobj); });
}

cl_int CL_API_CALL clEnqueueAcquireGLObjects(cl_command_queue command_queue, cl_uint, const cl_mem*,
                                             cl_uint, const cl_event*, cl_event*) {
  return call([&] { glCommand(command_queue); });
}

cl_int CL_API_CALL clEnqueueReleaseGLObjects(cl_command_queue command_queue, cl_uint, const cl_mem*,
                                             cl_uint, const cl_event*, cl_event*) {
  return call([&] { glCommand(command_queue); });
}

cl_int CL_API_CALL clGetGLContextInfoKHR(const cl_context_properties*, cl_gl_context_info, size_t,
                                         void*, size_t*) {
  return call([] { throw Error(CL_INVALID_OPERATION, "no OpenGL sharing"); });
}

cl_event CL_API_CALL clCreateEventFromGLsyncKHR(cl_context context, cl_GLsync,
                                                cl_int* errcode_ret) {
  return create(errcode_ret, [&]() -> cl_event {
    notFromGl(context);
    return nullptr;
  });
}

cl_mem CL_API_CALL clCreateFromEGLImageKHR(cl_context context, CLeglDisplayKHR, CLeglImageKHR,
                                           cl_mem_flags, const cl_egl_image_properties_khr*,
                                           cl_int* errcode_ret) {
  return create(errcode_ret, [&]() -> cl_mem {
    toContext(context);
    throw Error(CL_INVALID_OPERATION, "no EGL sharing");
  });
}

cl_int CL_API_CALL clEnqueueAcquireEGLObjectsKHR(cl_command_queue command_queue,
                                                 cl_uint num_objects, const cl_mem* mem_objects,
                                                 cl_uint, const cl_event*, cl_event*) {
  return call([&] { eglCommand(command_queue, num_objects, mem_objects); });
}

cl_int CL_API_CALL clEnqueueReleaseEGLObjectsKHR(cl_command_queue command_queue,
                                                 cl_uint num_objects, const cl_mem* mem_objects,
                                                 cl_uint, const cl_event*, cl_event*) {
  return call([&] { eglCommand(command_queue, num_objects, mem_objects); });
}

cl_event CL_API_CALL clCreateEventFromEGLSyncKHR(cl_context context, CLeglSyncKHR, CLeglDisplayKHR,
                                                 cl_int* errcode_ret) {
  return create(errcode_ret, [&]() -> cl_event {
    toContext(context);
    throw Error(CL_INVALID_EGL_OBJECT_KHR, "no EGL sharing");
  });
}
