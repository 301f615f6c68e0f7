#include "tests/support/test_image.h"

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <span>

#include "gpu_test_kernels.h"

namespace weft::test {
namespace {

using enum ArgumentKind;

struct Row {
  const char* name;
  std::initializer_list<ArgumentKind> arguments;
};

const Row rows[] = {
    {"add_one", {global_pointer}},
    {"scale", {global_pointer, global_pointer, value}},
    {"move_bytes",
     {global_pointer, global_pointer, value, value, value, value, value, value, value}},
    {"busy", {value, global_pointer}},
    {"who", {value, global_pointer}},
    {"until_flag", {value, global_pointer, global_pointer}},
    {"wait_flag", {global_pointer}},
    {"set_flag", {global_pointer}},
    {"take_turns", {value, value, global_pointer, global_pointer}},
    {"float_state", {global_pointer}},
    {"local_memory", {global_pointer, local_pointer, local_pointer}},
    {"program_scope", {global_pointer}},
    {"record_fields", {global_pointer}},
    {"empty", {}},
    {"huge_context", {}},
};

// 64 KiB for each group, one after the other.
void describeSlices(ArgumentInfo& argument) {
  AccessStep group, bytes, offset;
  group.code = AccessCode::group_id;
  bytes.code = AccessCode::constant;
  bytes.value = 1 << 16;
  offset.code = AccessCode::multiply;
  offset.b = 1;
  argument.reads_known = argument.writes_known = true;
  argument.accesses = {{true, true, false, 2, 1 << 16, {group, bytes, offset}}};
}

KernelInfo describe(const Row& row) {
  KernelInfo info;
  info.name = info.symbol = row.name;
  for (const ArgumentKind kind : row.arguments) {
    ArgumentInfo argument;
    argument.kind = kind;
    argument.size = 8;
    argument.alignment = 8;
    info.arguments.push_back(argument);
  }
  if (info.name == "local_memory") {
    info.local_bytes = 40;
    info.lane_context_bytes = 16;
    info.arguments[2].alignment = 64;
  }
  if (info.name == "take_turns") describeSlices(info.arguments[3]);
  if (info.name == "huge_context") {
    info.symbol = "empty";
    info.lane_context_bytes = 1 << 20;  // more than any thread has for a group of 1024
  }
  return info;
}

std::string payload(port::TargetKind target) {
  if (target == port::TargetKind::nvptx) return {gpu_test_kernels, sizeof gpu_test_kernels - 1};
  const bool host = target == port::TargetKind::host_cpu;
  std::ifstream file(host ? WEFT_TEST_KERNELS : WEFT_TEST_SIMT_KERNELS, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace

Image testImage(const port::Target& target) {
  Image image;
  image.kind = ImageKind::executable;
  image.target = target;
  for (const Row& row : rows) image.kernels.push_back(describe(row));
  const std::string bytes = payload(target.kind);
  const auto view = std::as_bytes(std::span(bytes));
  image.payload.assign(view.begin(), view.end());
  return image;
}

bool hasTestImage(const port::Target& target) {
  if (target.kind == port::TargetKind::nvptx)
    return target.cpu.starts_with("sm_") && std::atoi(target.cpu.c_str() + 3) >= 80;
  return target.kind != port::TargetKind::amdgcn || target.cpu == "host";
}

uint32_t kernelIndex(std::string_view name) {
  for (uint32_t i = 0; i < std::size(rows); ++i)
    if (rows[i].name == name) return i;
  std::abort();  // a mistake in the test itself
}

}  // namespace weft::test
