// A kernel to measure, as data: its source, its arguments, the sizes it runs at, what a host
// computes instead, and how far from that a result may be.
#pragma once

#define CL_HPP_ENABLE_EXCEPTIONS
#define CL_HPP_TARGET_OPENCL_VERSION 300
#include <CL/opencl.hpp>
#include <cstddef>
#include <cstring>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

namespace weft::bench {

// Up to three sizes. As a local size, an empty one leaves the choice to the implementation.
using Range = std::vector<size_t>;
using Bytes = std::vector<std::byte>;
using Values = std::vector<double>;

// One argument of a kernel; made by the functions below.
struct Argument {
  // `inout` gets its first contents again before each run.
  enum class Kind { value, local, in, out, inout, image_in, image_out };
  Kind kind;
  Bytes bytes;                               // the value, or the first contents
  size_t local_bytes = 0;                    // of local memory, for each work-item of a group
  size_t width = 0;                          // of an image of 8-bit RGBA pixels
  Values (*decode)(const Bytes&) = nullptr;  // the contents as numbers
};

// One launch of a case. Where the range is empty it is the case's.
struct Step {
  const char* kernel;
  std::vector<std::pair<cl_uint, cl_int>> settings = {};  // arguments that differ in this step
  Range global = {};
  Range local = {};
};

// A case at one size. All kernels of its steps take the same arguments.
struct Problem {
  std::vector<Argument> arguments;
  Range global;
  size_t output;  // the argument that is compared with
  std::function<Values()> expected;
  std::vector<Step> steps = {};  // none: the kernel of the case's name once
};

struct Case {
  const char* name;
  std::string_view source;
  Problem (*problem)(size_t size);
  size_t size, small_size;    // what is measured; what a quick check uses
  double tolerance;           // |result - expected| / max(1, |expected|)
  std::vector<Range> locals;  // the first is the program's own default
  // The share of elements that may be farther off: where one rounding decides what follows.
  double outliers = 0;
};

template <class T>
Bytes bytesOf(const T* first, size_t count) {
  Bytes bytes(count * sizeof(T));
  std::memcpy(bytes.data(), first, bytes.size());
  return bytes;
}

template <class T>
Values decodeAs(const Bytes& bytes) {
  std::vector<T> typed(bytes.size() / sizeof(T));
  std::memcpy(typed.data(), bytes.data(), typed.size() * sizeof(T));
  return Values(typed.begin(), typed.end());
}

template <class T>
Argument value(const T& value) {
  return {Argument::Kind::value, bytesOf(&value, 1)};
}
template <class T>
Argument local(size_t elements_per_item) {
  return {Argument::Kind::local, {}, elements_per_item * sizeof(T)};
}
template <class T>
Argument buffer(Argument::Kind kind, const std::vector<T>& contents) {
  return {kind, bytesOf(contents.data(), contents.size()), 0, 0, decodeAs<T>};
}
template <class T>
Argument in(const std::vector<T>& contents) {
  return buffer(Argument::Kind::in, contents);
}
template <class T>
Argument inout(const std::vector<T>& contents) {
  return buffer(Argument::Kind::inout, contents);
}
template <class T>
Argument out(size_t count) {
  return buffer(Argument::Kind::out, std::vector<T>(count));
}
inline Argument imageIn(const std::vector<cl_uchar>& rgba, size_t width) {
  return {Argument::Kind::image_in, bytesOf(rgba.data(), rgba.size()), 0, width, nullptr};
}
inline Argument imageOut(size_t width, size_t height) {
  return {Argument::Kind::image_out, Bytes(4 * width * height), 0, width, decodeAs<cl_uchar>};
}

// Numbers that look random and are the same in every run.
std::vector<cl_uint> words(size_t count, cl_uint seed);
std::vector<cl_int> integers(size_t count, cl_uint seed, cl_int low, cl_int high);  // [low, high)
std::vector<float> uniform(size_t count, cl_uint seed, float low = 0, float high = 1);
std::vector<cl_uchar> pixels(size_t count, cl_uint seed);

// A size as the int that kernels take.
inline Argument count(size_t n) { return value(static_cast<cl_int>(n)); }

template <class F>
Values each(size_t count, F valueOf) {
  Values values(count);
  for (size_t i = 0; i < count; ++i) values[i] = static_cast<double>(valueOf(i));
  return values;
}

// Every case, in the order of its family's file.
const std::vector<Case>& cases();

}  // namespace weft::bench
