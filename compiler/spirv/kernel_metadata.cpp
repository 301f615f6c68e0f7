// What Clang writes at an OpenCL kernel, from what SPIR-V says of an entry point.
#include <llvm/ADT/StringExtras.h>
#include <llvm/IR/IRBuilder.h>

#include "compiler/spirv/reader.h"

namespace weft::compiler::spirv {
namespace {

using spv::Op;

constexpr uint32_t by_value = 2, no_alias = 4, no_write = 6;

bool hasAttribute(const Instructions& in, Id parameter, uint32_t attribute) {
  for (const auto* decoration : in.decorations(parameter, spv::Decoration::FuncParamAttr))
    if (decoration->operands.at(0) == attribute) return true;
  return false;
}

// Translators from LLVM leave the source's type names in a string "kernel_arg_type.NAME.T,T,".
std::vector<std::string> sourceTypes(const Instructions& in, const std::string& kernel) {
  const std::string prefix = "kernel_arg_type." + kernel + ".";
  std::vector<std::string> names;
  for (const auto& [id, text] : in.strings) {
    if (!text.starts_with(prefix)) continue;
    for (llvm::StringRef name : llvm::split(llvm::StringRef(text).drop_front(prefix.size()), ','))
      if (!name.empty()) names.push_back(name.str());
  }
  return names;
}

class Description {
 public:
  Description(Reader& reader, llvm::Function& function)
      : in_(reader.instructions()), types_(reader.types()), function_(function) {}

  void arguments(const std::string& kernel, const Type& type, std::span<const Id> parameters) {
    const auto named = sourceTypes(in_, kernel);
    for (size_t i = 0; i < parameters.size(); ++i) {
      const std::string own = types_.name(type.members.at(i));
      const bool use = named.size() == parameters.size();
      add(parameters[i], types_.at(type.members[i]), own, use ? named[i] : own);
    }
    set("kernel_arg_addr_space", spaces_);
    set("kernel_arg_access_qual", access_);
    set("kernel_arg_type", names_);
    set("kernel_arg_base_type", base_names_);
    set("kernel_arg_type_qual", qualifiers_);
    set("kernel_arg_name", own_names_);
  }

  void mode(const ExecutionMode& mode, Reader& reader) {
    switch (mode.mode) {
      case spv::ExecutionMode::LocalSize:
        return set("reqd_work_group_size", numbers(mode.operands));
      case spv::ExecutionMode::LocalSizeHint:
        return set("work_group_size_hint", numbers(mode.operands));
      case spv::ExecutionMode::SubgroupSize:
        return set("intel_reqd_sub_group_size", numbers(mode.operands));
      case spv::ExecutionMode::LocalSizeId: {
        std::vector<uint32_t> sizes;
        for (const Id id : mode.operands) sizes.push_back(static_cast<uint32_t>(reader.number(id)));
        return set("reqd_work_group_size", numbers(sizes));
      }
      default:
        return;
    }
  }

 private:
  using Nodes = std::vector<llvm::Metadata*>;

  void add(Id parameter, const Type& type, const std::string& base, const std::string& name) {
    const bool value_behind = hasAttribute(in_, parameter, by_value);
    const bool pointer = type.op == Op::OpTypePointer && !value_behind;
    const bool pipe = type.op == Op::OpTypePipe;
    const bool image = type.op == Op::OpTypeImage || pipe;
    const uint32_t space = pointer ? addressSpace(type.storage) : image ? 1 : 0;
    spaces_.push_back(number(space));
    access_.push_back(text(image ? accessName(type.access) : "none"));
    base_names_.push_back(text(base));
    names_.push_back(text(name));
    std::vector<const char*> words;
    if (pointer && (space == 2 || hasAttribute(in_, parameter, no_write))) words.push_back("const");
    if (pointer && hasAttribute(in_, parameter, no_alias)) words.push_back("restrict");
    if (pointer && in_.decoration(parameter, spv::Decoration::Volatile))
      words.push_back("volatile");
    if (pipe) words.push_back("pipe");
    qualifiers_.push_back(text(llvm::join(words, " ")));
    const auto known = in_.names.find(parameter);
    own_names_.push_back(text(known == in_.names.end() ? "" : known->second));
  }

  static const char* accessName(spv::AccessQualifier access) {
    switch (access) {
      case spv::AccessQualifier::WriteOnly:
        return "write_only";
      case spv::AccessQualifier::ReadWrite:
        return "read_write";
      default:
        return "read_only";
    }
  }

  llvm::Metadata* number(uint32_t value) const {
    return llvm::ConstantAsMetadata::get(
        llvm::ConstantInt::get(llvm::Type::getInt32Ty(function_.getContext()), value));
  }
  llvm::Metadata* text(const std::string& value) const {
    return llvm::MDString::get(function_.getContext(), value);
  }
  Nodes numbers(const std::vector<uint32_t>& values) const {
    Nodes nodes;
    for (const uint32_t value : values) nodes.push_back(number(value));
    return nodes;
  }
  void set(const char* name, const Nodes& nodes) {
    function_.setMetadata(name, llvm::MDNode::get(function_.getContext(), nodes));
  }

  const Instructions& in_;
  Types& types_;
  llvm::Function& function_;
  Nodes spaces_, access_, names_, base_names_, qualifiers_, own_names_;
};

}  // namespace

void describeKernel(Reader& reader, const EntryPoint& entry, llvm::Function& function,
                    const Type& type, std::span<const Id> parameters) {
  Description description(reader, function);
  description.arguments(entry.name, type, parameters);
  for (const ExecutionMode& mode : reader.instructions().modes)
    if (mode.entry_point == entry.function) description.mode(mode, reader);
}

}  // namespace weft::compiler::spirv
