#include <algorithm>

#include <llvm/ADT/StringSwitch.h>
#include <llvm/Demangle/Demangle.h>
#include <llvm/IR/InstrTypes.h>
#include <llvm/IR/Module.h>

#include "compiler/builtins/builtins.h"
#include "compiler/builtins/math_names.h"
#include "compiler/gpu/spirv/native_images.h"
#include "compiler/gpu/sub_groups.h"
#include "compiler/gpu/textures.h"
#include "compiler/passes/pixel_calls.h"
#include "compiler/passes/work_items.h"

namespace weft::compiler {
namespace {

using llvm::StringRef;

// Answered by the lowering to lanes or to the host, by name before the parameters.
constexpr llvm::StringLiteral lowered_later[] = {
    "_Z13get_global_idj",
    "_Z12get_local_idj",
    "_Z12get_group_idj",
    "_Z14get_num_groupsj",
    "_Z15get_global_sizej",
    "_Z14get_local_sizej",
    "_Z23get_enqueued_local_sizej",
    "_Z17get_global_offsetj",
    "_Z12get_work_dimv",
    "_Z19get_local_linear_idv",
    "_Z20get_global_linear_idv",
    "_Z7barrierj",
    "_Z18work_group_barrierj",
    "_Z18work_group_barrierj12memory_scope",
    "_Z17sub_group_barrierj",
    "_Z17sub_group_barrierj12memory_scope",
    "__weft_sub_group_meet",
    "__weft_sub_group_width",
    "__weft_sub_group_active",
    "__weft_lane_slot",
    "__weft_lanes",
    "__weft_lane",
    "__weft_members",
    "__weft_sub_group",
    "__weft_sub_groups",
    "__weft_here",
    "__weft_meet",
    "__weft_ballot",
    "__weft_shuffle",
    "__weft_shuffle_long",
    "__weft_runs",
    "__weft_idle_lanes_run",
    side_by_side_query,
    "__weft_host_services",
    "__to_global",
    "__to_local",
    "__to_private",
    "_Z9get_fencePU3AS4v",
    "_Z9get_fencePU3AS4Kv",
    "printf",
};

// What code generation itself may call.
constexpr llvm::StringLiteral host_symbols[] = {"memcpy", "memmove", "memset", "fma", "fmaf"};

bool isExpected(const llvm::Function& function) {
  const StringRef name = function.getName();
  return function.isIntrinsic() || name.starts_with(math_prefix) || name.starts_with("Sleef_") ||
         isLateMath(name) || name.starts_with(pixel_call_prefix) ||
         llvm::is_contained(lowered_later, name) || llvm::is_contained(host_symbols, name);
}

void replaceAll(std::string& text, StringRef from, StringRef to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

constexpr std::pair<llvm::StringLiteral, llvm::StringLiteral> spellings[] = {
    {"unsigned char", "uchar"},
    {"unsigned short", "ushort"},
    {"unsigned int", "uint"},
    {"unsigned long", "ulong"},
    {"signed char", "char"},
    {"_Float16", "half"},
    {"ocl_event", "event_t"},
    {"ocl_sampler", "sampler_t"},
    {"ocl_queue", "queue_t"},
    {" vector[2]", "2"},
    {" vector[3]", "3"},
    {" vector[4]", "4"},
    {" vector[8]", "8"},
    {" vector[16]", "16"},
    {"ocl_clkevent", "clk_event_t"},
    {"ocl_reserveid", "reserve_id_t"}};

// Longest first where one ends in another.
constexpr std::pair<llvm::StringLiteral, llvm::StringLiteral> qualifiers[] = {
    {" AS1", "global "},  {" AS2", "constant "},      {" AS3", "local "},
    {" AS4", "generic "}, {" volatile", "volatile "}, {" const", "const "}};

// "int const AS1*" -> "global const int*"
std::string spellParameter(std::string parameter) {
  for (const auto& [from, to] : spellings) replaceAll(parameter, from, to);
  if (StringRef(parameter).starts_with("ocl_image")) {
    // "ocl_image2d_ro" -> "image2d_t"
    parameter = parameter.substr(4);
    parameter = StringRef(parameter).rsplit('_').first.str() + "_t";
  }
  std::string prefix;
  for (const auto& [from, to] : qualifiers) {
    const size_t at = parameter.find(from);
    if (at == std::string::npos) continue;
    parameter.erase(at, from.size());
    prefix += to;
  }
  return prefix + parameter;
}

std::string spell(StringRef symbol) {
  if (const auto math = parseMathName(symbol))
    return (math->function + (math->is_double ? "(double" : "(float") +
            (math->width > 1 ? llvm::Twine(math->width) : "") + ")")
        .str();
  std::string demangled = llvm::demangle(symbol);
  const size_t open = demangled.find('(');
  if (open == std::string::npos) return demangled;
  StringRef parameters = StringRef(demangled).substr(open + 1);
  parameters.consume_back(")");
  std::string result = demangled.substr(0, open + 1);
  while (!parameters.empty()) {
    auto [first, rest] = parameters.split(", ");
    result += spellParameter(first.str()) + (rest.empty() ? "" : ", ");
    parameters = rest;
  }
  return result + ")";
}

std::vector<std::string> calledDeclarations(
    const llvm::Module& module, llvm::function_ref<bool(const llvm::Function&)> expected) {
  std::vector<std::string> names;
  for (const llvm::Function& function : module)
    if (function.isDeclaration() && !expected(function) &&
        llvm::any_of(function.users(),
                     [](const llvm::User* user) { return llvm::isa<llvm::CallBase>(user); }))
      names.push_back(spell(function.getName()));
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

}  // namespace

std::vector<std::string> unresolvedFunctions(const llvm::Module& module) {
  return calledDeclarations(module, isExpected);
}

std::vector<std::string> undefinedFunctions(const llvm::Module& module) {
  return calledDeclarations(module, [](const llvm::Function& function) {
    return function.isIntrinsic() || function.getName().starts_with("weft.std.") ||
           function.getName().starts_with(spirv_sub_group_prefix) ||
           function.getName().starts_with(spirv_sample_prefix) ||
           function.getName().starts_with(texture_read_prefix);
  });
}

}  // namespace weft::compiler
