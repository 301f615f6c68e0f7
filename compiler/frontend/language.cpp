#include "compiler/frontend/language.h"

#include <algorithm>
#include <set>
#include <string_view>

namespace weft::compiler {
namespace {

enum class Family : uint8_t { c1, c2, c3 };  // which OpenCL C the version's features follow

struct Standard {
  std::string_view option;
  std::string_view clang;
  Family family;
  unsigned version = 0;  // if it differs from what Clang has it for
};

// "If the -cl-std build option is not specified, the highest OpenCL C 1.x language version
// supported by each device is used."
constexpr Standard standards[] = {
    {"", "CL1.2", Family::c1},
    {"CL", "CL1.2", Family::c1},
    {"CL1.0", "CL1.0", Family::c1},
    {"CL1.1", "CL1.1", Family::c1},
    {"CL1.2", "CL1.2", Family::c1},
    {"CL2.0", "CL2.0", Family::c2},
    {"CL3.0", "CL3.0", Family::c3},
    // Clang 19 knows no 3.1, which is 3.0 with extensions of it made part of the language.
    {"CL3.1", "CL3.0", Family::c3, 310},
    {"CLC++", "CLC++1.0", Family::c2},
    {"CLC++1.0", "CLC++1.0", Family::c2},
    {"CLC++2021", "CLC++2021", Family::c3},
    {"clc++", "CLC++1.0", Family::c2},
    {"clc++2021", "CLC++2021", Family::c3},
};

// The names that Clang itself knows and has to be told of through -cl-ext; others are only macros.
constexpr std::string_view clang_extensions[] = {
#include "compiler/frontend/clang_extensions.def"
};

bool isClangs(std::string_view name) {
  return std::find(std::begin(clang_extensions), std::end(clang_extensions), name) !=
         std::end(clang_extensions);
}

// Feature macros that come with an extension, in any version of the language.
bool isOfExtension(std::string_view name) {
  return name.starts_with("__opencl_c_integer_dot_product_") ||
         name.starts_with("__opencl_c_ext_") || name.starts_with("__opencl_c_kernel_clock_");
}

const Standard& standardOf(const Options& options) {
  const auto* standard =
      std::find_if(std::begin(standards), std::end(standards),
                   [&](const Standard& s) { return s.option == options.standard; });
  return standard == std::end(standards) ? standards[0] : *standard;
}

void setMember(std::set<std::string>& names, const std::string& name, bool member) {
  if (member)
    names.insert(name);
  else
    names.erase(name);
}

}  // namespace

std::string languageError(const Options& options, const port::LanguageFeatures& features) {
  if (standardOf(options).version <= features.version) return {};
  return "error: the device has no OpenCL C of -cl-std=" + options.standard + "\n";
}

std::vector<std::string> languageArguments(const Options& options,
                                           const port::LanguageFeatures& features) {
  const Standard* standard = &standardOf(options);

  // Clang rejects sets in which an extension and its feature macro differ.
  std::set<std::string> names(features.extensions.begin(), features.extensions.end());
  std::set<std::string> macros(features.feature_macros.begin(), features.feature_macros.end());
  setMember(names, "cl_khr_fp64", features.fp64);
  setMember(names, "cl_khr_fp16", features.fp16);
  setMember(macros, "__opencl_c_fp64", features.fp64);
  setMember(macros, "__opencl_c_images", features.images);
  setMember(names, "cl_khr_3d_image_writes", macros.contains("__opencl_c_3d_image_writes"));

  std::vector<std::string> arguments = {"-cl-std=" + std::string(standard->clang)};
  std::string extensions = "-cl-ext=-all";
  std::vector<std::string> defines;
  const auto add = [&](const std::string& name, bool clang_knows) {
    if (clang_knows)
      extensions += ",+" + name;
    else
      defines.push_back(name);
  };
  for (const std::string& name : names) add(name, isClangs(name));
  if (standard->family == Family::c1)
    std::erase_if(macros, [](const std::string& name) { return !isOfExtension(name); });
  for (const std::string& name : macros)
    add(name, standard->family == Family::c3 && isClangs(name));
  arguments.push_back(extensions);
  for (const std::string& name : defines) arguments.insert(arguments.end(), {"-D", name + "=1"});
  if (standard->version) {
    const std::string version = std::to_string(standard->version);
    arguments.insert(arguments.end(),
                     {"-U", "__OPENCL_C_VERSION__", "-D", "__OPENCL_C_VERSION__=" + version, "-D",
                      "CL_VERSION_3_1=" + version});
  }
  if (!features.images) arguments.insert(arguments.end(), {"-U", "__IMAGE_SUPPORT__"});
  return arguments;
}

}  // namespace weft::compiler
