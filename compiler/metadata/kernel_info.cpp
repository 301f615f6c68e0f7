#include "compiler/metadata/kernel_info.h"

#include <algorithm>

#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/ADT/StringExtras.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/DataLayout.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Metadata.h>
#include <llvm/IR/Module.h>

#include "compiler/builtins/builtins.h"
#include "compiler/passes/blocks.h"

namespace weft::compiler {
namespace {

std::string stringOperand(const llvm::Function& function, const char* name, unsigned index) {
  const llvm::MDNode* node = function.getMetadata(name);
  if (!node || index >= node->getNumOperands()) return {};
  const auto* text = llvm::dyn_cast<llvm::MDString>(node->getOperand(index));
  return text ? text->getString().str() : std::string();
}

uint64_t numberOperand(const llvm::MDNode* node, unsigned index) {
  if (!node || index >= node->getNumOperands()) return 0;
  const auto* number = llvm::mdconst::dyn_extract<llvm::ConstantInt>(node->getOperand(index));
  return number ? number->getZExtValue() : 0;
}

std::array<uint64_t, 3> sizeMetadata(const llvm::Function& function, const char* name) {
  const llvm::MDNode* node = function.getMetadata(name);
  if (!node) return {0, 0, 0};
  return {numberOperand(node, 0), numberOperand(node, 1), numberOperand(node, 2)};
}

AccessQualifier accessQualifier(const std::string& text) {
  if (text == "read_only") return AccessQualifier::read_only;
  if (text == "write_only") return AccessQualifier::write_only;
  if (text == "read_write") return AccessQualifier::read_write;
  return AccessQualifier::none;
}

uint8_t typeQualifiers(llvm::StringRef text) {
  const std::pair<llvm::StringRef, uint8_t> bits[] = {{"const", qualifier_const},
                                                      {"restrict", qualifier_restrict},
                                                      {"volatile", qualifier_volatile},
                                                      {"pipe", qualifier_pipe}};
  uint8_t qualifiers = 0;
  for (llvm::StringRef word : llvm::split(text, ' '))
    for (const auto& [name, bit] : bits)
      if (word == name) qualifiers |= bit;
  return qualifiers;
}

// SPIR's numbers, which Clang's metadata uses on every target.
AddressQualifier addressQualifier(uint64_t space) {
  constexpr AddressQualifier spaces[] = {AddressQualifier::private_, AddressQualifier::global,
                                         AddressQualifier::constant, AddressQualifier::local};
  return space < std::size(spaces) ? spaces[space] : AddressQualifier::private_;
}

ArgumentKind argumentKind(const ArgumentInfo& argument, llvm::StringRef base_type, bool pointer) {
  if (argument.type_qualifiers & qualifier_pipe) return ArgumentKind::pipe;
  if (base_type.starts_with("image") && base_type.ends_with("_t")) return ArgumentKind::image;
  if (base_type == "sampler_t") return ArgumentKind::sampler;
  if (base_type == "queue_t") return ArgumentKind::queue;
  if (!pointer) return ArgumentKind::value;
  switch (argument.address) {
    case AddressQualifier::global:
      return ArgumentKind::global_pointer;
    case AddressQualifier::constant:
      return ArgumentKind::constant_pointer;
    case AddressQualifier::local:
      return ArgumentKind::local_pointer;
    case AddressQualifier::private_:
      break;
  }
  return ArgumentKind::value;
}

// Of a block's kernel, about which there is no metadata.
ArgumentInfo readBlockArgument(const llvm::Argument& argument) {
  constexpr unsigned local_address_space = 3;
  constexpr uint32_t widest_vector = 128;
  ArgumentInfo info;
  info.size = 8;
  info.reads = info.writes = false;
  if (argument.getType()->getPointerAddressSpace() != local_address_space) {
    info.alignment = 8;
    return info;
  }
  info.kind = ArgumentKind::local_pointer;
  info.address = AddressQualifier::local;
  info.alignment = widest_vector;  // its type says nothing
  return info;
}

ArgumentInfo readArgument(const llvm::Argument& argument) {
  const llvm::Function& function = *argument.getParent();
  const llvm::DataLayout& layout = function.getParent()->getDataLayout();
  const unsigned index = argument.getArgNo();
  ArgumentInfo info;
  info.name = stringOperand(function, "kernel_arg_name", index);
  info.type_name = stringOperand(function, "kernel_arg_type", index);
  info.access = accessQualifier(stringOperand(function, "kernel_arg_access_qual", index));
  info.type_qualifiers = typeQualifiers(stringOperand(function, "kernel_arg_type_qual", index));
  info.address =
      addressQualifier(numberOperand(function.getMetadata("kernel_arg_addr_space"), index));
  llvm::Type* by_value = argument.getParamByValType();
  const bool pointer = argument.getType()->isPointerTy() && !by_value;
  info.kind = argumentKind(info, stringOperand(function, "kernel_arg_base_type", index), pointer);
  if (pointer) {
    info.size = 8;
    info.alignment = info.kind == ArgumentKind::local_pointer
                         ? static_cast<uint32_t>(argument.getParamAlign().valueOrOne().value())
                         : 8;
  } else {
    llvm::Type* type = by_value ? by_value : argument.getType();
    info.size = static_cast<uint32_t>(layout.getTypeAllocSize(type).getFixedValue());
    info.alignment = static_cast<uint32_t>(layout.getABITypeAlign(type).value());
    if (by_value && argument.getParamAlign())
      info.alignment =
          std::max(info.alignment, static_cast<uint32_t>(argument.getParamAlign()->value()));
  }
  info.reads = info.writes = info.kind != ArgumentKind::value;
  if (info.kind == ArgumentKind::image) {
    info.reads = info.access != AccessQualifier::write_only;
    info.writes = info.access != AccessQualifier::read_only;
  }
  return info;
}

std::string scalarName(const llvm::Type* type, bool is_signed) {
  if (type->isHalfTy()) return "half";
  if (type->isFloatTy()) return "float";
  if (type->isDoubleTy()) return "double";
  constexpr std::pair<unsigned, const char*> integers[] = {
      {8, "char"}, {16, "short"}, {32, "int"}, {64, "long"}};
  for (const auto& [bits, name] : integers)
    if (type->isIntegerTy(bits)) return is_signed ? name : std::string("u") + name;
  return {};
}

std::string vectorTypeHint(const llvm::Function& function) {
  const llvm::MDNode* node = function.getMetadata("vec_type_hint");
  if (!node || node->getNumOperands() < 2) return {};
  const auto* value = llvm::dyn_cast<llvm::ValueAsMetadata>(node->getOperand(0));
  if (!value) return {};
  const llvm::Type* type = value->getType();
  std::string name = scalarName(type->getScalarType(), numberOperand(node, 1) != 0);
  if (const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type))
    name += std::to_string(vector->getNumElements());
  return name;
}

std::string sizeAttribute(const char* name, const std::array<uint64_t, 3>& size) {
  return std::string(name) + "(" + std::to_string(size[0]) + "," + std::to_string(size[1]) + "," +
         std::to_string(size[2]) + ")";
}

// "Attributes are returned as those listed in the attribute-list, separated by a space."
std::string attributes(const llvm::Function& function, const KernelInfo& kernel) {
  std::vector<std::string> words;
  if (kernel.hinted_local_size[0])
    words.push_back(sizeAttribute("work_group_size_hint", kernel.hinted_local_size));
  if (kernel.required_local_size[0])
    words.push_back(sizeAttribute("reqd_work_group_size", kernel.required_local_size));
  const std::string hint = vectorTypeHint(function);
  if (!hint.empty()) words.push_back("vec_type_hint(" + hint + ")");
  if (const auto* node = function.getMetadata("intel_reqd_sub_group_size"))
    words.push_back("intel_reqd_sub_group_size(" + std::to_string(numberOperand(node, 0)) + ")");
  return llvm::join(words, " ");
}

}  // namespace

std::vector<KernelInfo> readKernels(const llvm::Module& module) {
  std::vector<KernelInfo> kernels;
  for (const llvm::Function& function : module) {
    if (function.isDeclaration() || function.getCallingConv() != llvm::CallingConv::SPIR_KERNEL)
      continue;
    KernelInfo kernel;
    kernel.name = function.getName().str();
    kernel.is_block = isBlockKernel(function);
    for (const llvm::Argument& argument : function.args())
      kernel.arguments.push_back(kernel.is_block ? readBlockArgument(argument)
                                                 : readArgument(argument));
    kernel.required_local_size = sizeMetadata(function, "reqd_work_group_size");
    kernel.hinted_local_size = sizeMetadata(function, "work_group_size_hint");
    kernel.required_sub_group_size =
        static_cast<uint32_t>(numberOperand(function.getMetadata("intel_reqd_sub_group_size"), 0));
    kernel.uniform_groups = function.getFnAttribute("uniform-work-group-size").getValueAsBool();
    kernel.attributes = attributes(function, kernel);
    kernels.push_back(std::move(kernel));
  }
  return kernels;
}

void readAccesses(const llvm::Module& module, std::vector<KernelInfo>& kernels) {
  for (KernelInfo& kernel : kernels) {
    const llvm::Function* function = module.getFunction(kernel.name);
    if (!function || function->arg_size() != kernel.arguments.size()) continue;
    for (const llvm::Argument& argument : function->args()) {
      if (!argument.getType()->isPointerTy() || argument.hasByValAttr()) continue;
      ArgumentInfo& info = kernel.arguments[argument.getArgNo()];
      // What the pointer leads to is the descriptor, not the image.
      if (info.kind == ArgumentKind::image) continue;
      info.reads = !argument.hasAttribute(llvm::Attribute::WriteOnly) &&
                   !argument.hasAttribute(llvm::Attribute::ReadNone);
      info.writes = !argument.onlyReadsMemory();
    }
  }
}

namespace {

// Sets a member of the kernels that may come to call a function, by themselves or through those
// that they enqueue.
void markThoseThatReach(const llvm::Module& module, llvm::StringRef name,
                        std::vector<KernelInfo>& kernels, bool KernelInfo::* mark) {
  const llvm::Function* target = module.getFunction(name);
  if (!target) return;
  llvm::SmallPtrSet<const llvm::Value*, 16> reached;
  llvm::SmallVector<const llvm::Value*, 16> waiting = {target};
  // Everything that uses a reached value reaches it, however it does.
  while (!waiting.empty()) {
    const llvm::Value* value = waiting.pop_back_val();
    if (!reached.insert(value).second) continue;
    for (const llvm::User* user : value->users()) {
      const auto* instruction = llvm::dyn_cast<llvm::Instruction>(user);
      waiting.push_back(instruction ? static_cast<const llvm::Value*>(instruction->getFunction())
                                    : user);
    }
  }
  for (KernelInfo& kernel : kernels)
    kernel.*mark = reached.contains(module.getFunction(kernel.name));
}

}  // namespace

void markPrintf(const llvm::Module& module, std::vector<KernelInfo>& kernels) {
  markThoseThatReach(module, "printf", kernels, &KernelInfo::uses_printf);
}

void markDeviceQueues(const llvm::Module& module, std::vector<KernelInfo>& kernels) {
  for (llvm::StringRef call : {device_queue_call, own_device_queue_call})
    markThoseThatReach(module, call, kernels, &KernelInfo::uses_device_queue);
}

uint64_t globalVariableBytes(const llvm::Module& module) {
  constexpr unsigned global_space = 1;
  uint64_t bytes = 0;
  for (const llvm::GlobalVariable& variable : module.globals())
    if (!variable.isDeclaration() && variable.getAddressSpace() == global_space)
      bytes += module.getDataLayout().getTypeAllocSize(variable.getValueType()).getFixedValue();
  return bytes;
}

}  // namespace weft::compiler
