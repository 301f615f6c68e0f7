#include "compiler/spirv/reader.h"

#include <cstring>

#include <llvm/Analysis/ConstantFolding.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include "compiler/builtins/builtins.h"
#include "compiler/spirv/checks.h"
#include "compiler/spirv/function_reader.h"
#include "core/pipe.h"
#include "core/spirv_features.h"

namespace weft::compiler::spirv {
namespace {

using spv::Capability;
using spv::Op;

// Clang's for spir64.
constexpr const char* triple = "spir64-unknown-unknown";
constexpr const char* layout =
    "e-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-n8:16:32:"
    "64";

uint64_t members(const llvm::Type& type) {
  if (const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(&type))
    return vector->getNumElements();
  return type.isArrayTy() ? type.getArrayNumElements() : type.getStructNumElements();
}

llvm::Constant* nullValue(llvm::Type* type) {
  const auto* opaque = llvm::dyn_cast<llvm::TargetExtType>(type);
  checked::demand(opaque ? opaque->hasProperty(llvm::TargetExtType::HasZeroInit)
                         : type->isFirstClassType() && type->isSized(),
                  "a null value of a type that has none");
  return llvm::Constant::getNullValue(type);
}

// What has to be declared before: its type, and the types and constants among its operands.
std::vector<Id> parts(const Instruction& instruction) {
  size_t first = 0, count = instruction.operands.size();
  switch (instruction.op) {
    case Op::OpTypeArray:
    case Op::OpTypeStruct:
    case Op::OpTypeFunction:
    case Op::OpConstantComposite:
    case Op::OpSpecConstantComposite:
      break;
    case Op::OpTypeVector:
    case Op::OpTypeSampledImage:
      count = 1;
      break;
    case Op::OpTypePointer:
    case Op::OpVariable:
      first = 1;
      break;
    case Op::OpSpecConstantOp: {
      first = 1;
      const auto operation = static_cast<Op>(instruction.operands[0]);
      if (operation == Op::OpCompositeExtract) count = 2;
      if (operation == Op::OpCompositeInsert || operation == Op::OpVectorShuffle) count = 3;
      break;
    }
    default:
      count = 0;
  }
  const std::span<const Id> operands = instruction.operands;
  std::vector<Id> found(1, instruction.type);
  if (count > first) {
    const auto taken = operands.first(std::min(count, operands.size())).subspan(first);
    found.insert(found.end(), taken.begin(), taken.end());
  }
  return found;
}

bool isFunctionEnd(const Instruction& instruction) { return instruction.op == Op::OpFunctionEnd; }

}  // namespace

Reader::Reader(const Instructions& instructions, const port::LanguageFeatures& features,
               std::span<const port::SpecializationConstant> constants, llvm::LLVMContext& context)
    : in_(instructions),
      features_(features),
      specialization_(constants),
      context_(context),
      module_(std::make_unique<llvm::Module>("spirv", context)),
      types_(context, instructions) {
  module_->setTargetTriple(triple);
  module_->setDataLayout(layout);
  for (const ExecutionMode& mode : in_.modes)
    if (mode.mode == spv::ExecutionMode::ContractionOff) may_contract_ = false;
}

std::unique_ptr<llvm::Module> Reader::read() {
  checkCapabilities();
  declareGlobals();
  declareFunctions();
  readFunctions();
  return std::move(module_);
}

// What is outside functions. Translators write some constants before those that they are made of,
// and before their types.
void Reader::declareGlobals() {
  std::vector<const Instruction*> globals;
  std::unordered_map<Id, const Instruction*> waiting;
  std::set<Id> forward;  // pointers, which structures do not wait for
  bool outside = true;
  for (const Instruction& instruction : in_.body) {
    if (instruction.op == Op::OpFunction) outside = false;
    if (outside) globals.push_back(&instruction);
    if (outside && instruction.result) waiting.emplace(instruction.result, &instruction);
    if (instruction.op == Op::OpTypeForwardPointer) forward.insert(instruction.operands.at(0));
    if (isFunctionEnd(instruction)) outside = true;
  }
  struct Visit {
    const Instruction* global;
    std::vector<Id> parts;  // that have not been looked at
  };
  std::vector<Visit> path;
  const auto enter = [&](const Instruction& global) {
    waiting.erase(global.result);
    path.push_back({&global, parts(global)});
    if (global.op == Op::OpTypeStruct)
      std::erase_if(path.back().parts, [&](Id part) { return forward.contains(part); });
  };
  for (const Instruction* global : globals) {
    if (!global->result || waiting.contains(global->result)) enter(*global);
    while (!path.empty()) {
      std::vector<Id>& left = path.back().parts;
      if (left.empty()) {
        declare(*path.back().global);
        path.pop_back();
        continue;
      }
      const auto needed = waiting.find(left.back());
      left.pop_back();
      if (needed != waiting.end()) enter(*needed->second);
    }
  }
}

void Reader::checkCapabilities() const {
  if (in_.addressing != spv::AddressingModel::Physical64)
    throw Failure("the module is for another addressing model than Physical64");
  for (const Capability capability : in_.capabilities)
    if (!takesSpirvCapability(features_, static_cast<uint32_t>(capability)))
      throw Failure("the device has no capability " +
                    std::to_string(static_cast<uint32_t>(capability)));
}

llvm::Value* Reader::value(Id id) const {
  const auto found = values_.find(id);
  return found == values_.end() ? nullptr : found->second;
}

Id Reader::typeOf(Id id) const {
  const auto found = types_of_.find(id);
  return found == types_of_.end() ? 0 : found->second;
}

uint64_t Reader::number(Id constant) const {
  const auto* number = llvm::dyn_cast_or_null<llvm::ConstantInt>(value(constant));
  if (!number) throw Failure("%" + std::to_string(constant) + " has to be a constant integer");
  return number->getZExtValue();
}

const uint32_t* Reader::sampler(Id id) const {
  const auto found = samplers_.find(id);
  return found == samplers_.end() ? nullptr : &found->second;
}

const spv::BuiltIn* Reader::builtinVariable(Id id) const {
  const auto found = builtin_variables_.find(id);
  return found == builtin_variables_.end() ? nullptr : &found->second;
}

llvm::Function* Reader::function(const std::string& name, llvm::FunctionType* type) {
  if (llvm::Function* known = module_->getFunction(name)) {
    if (known->getFunctionType() != type) throw Failure(name + " is used with two types");
    return known;
  }
  auto* function =
      llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, name, module_.get());
  function->setCallingConv(llvm::CallingConv::SPIR_FUNC);
  function->setConvergent();
  function->setDoesNotThrow();
  return function;
}

void Reader::declare(const Instruction& instruction) {
  if (instruction.type) types_of_[instruction.result] = instruction.type;
  if (types_.declare(instruction, [this](Id length) { return number(length); })) return;
  if (declareConstant(instruction)) return;
  if (instruction.op == Op::OpVariable) return declareVariable(instruction);
  if (in_.saysNothing(instruction)) return;
  throw Failure("instruction " + std::to_string(static_cast<uint32_t>(instruction.op)) +
                " outside a function");
}

bool Reader::declareConstant(const Instruction& instruction) {
  llvm::Constant* constant = nullptr;
  switch (instruction.op) {
    case Op::OpConstantTrue:
    case Op::OpConstantFalse:
    case Op::OpConstant:
    case Op::OpSpecConstantTrue:
    case Op::OpSpecConstantFalse:
    case Op::OpSpecConstant:
      constant = scalarConstant(instruction);
      break;
    case Op::OpConstantComposite:
    case Op::OpSpecConstantComposite:
      constant = compositeConstant(instruction);
      break;
    case Op::OpConstantNull:
      constant = nullValue(types_.llvm(instruction.type));
      break;
    case Op::OpUndef:
      constant = llvm::UndefValue::get(types_.llvm(instruction.type));
      break;
    case Op::OpSpecConstantOp:
      constant = constantOperation(instruction);
      break;
    case Op::OpConstantPipeStorage:
      constant = pipeStorage(instruction);
      break;
    case Op::OpConstantSampler: {
      const auto& operands = instruction.operands;
      samplers_[instruction.result] =
          operands.at(0) << 1 | operands.at(1) | (operands.at(2) + 1) << 4;
      return true;
    }
    default:
      return false;
  }
  checked::ofType(constant, types_.llvm(instruction.type));
  values_[instruction.result] = constant;
  return true;
}

const port::SpecializationConstant* Reader::specialization(Id id) const {
  const Decoration* decoration = in_.decoration(id, spv::Decoration::SpecId);
  if (!decoration) return nullptr;
  for (const auto& constant : specialization_)
    if (constant.id == decoration->operands.at(0)) return &constant;
  return nullptr;
}

llvm::Constant* Reader::scalarConstant(const Instruction& instruction) {
  llvm::Type* type = types_.llvm(instruction.type);
  checked::demand(type->isIntegerTy() || type->isFloatingPointTy(),
                  "a constant of a type that has no numbers");
  const unsigned bits = type->getPrimitiveSizeInBits().getFixedValue();
  uint64_t value = instruction.op == Op::OpConstantTrue || instruction.op == Op::OpSpecConstantTrue;
  if (!instruction.operands.empty()) value = instruction.number(0, bits > 32 ? 2 : 1);
  if (const auto* given = specialization(instruction.result)) {
    value = 0;
    std::memcpy(&value, given->value.data(), std::min(given->value.size(), sizeof value));
    if (type->isIntegerTy(1)) value = value != 0;
  }
  const llvm::APInt number(64, value);
  if (type->isIntegerTy()) return llvm::ConstantInt::get(context_, number.trunc(bits));
  return llvm::ConstantFP::get(context_,
                               llvm::APFloat(type->getFltSemantics(), number.trunc(bits)));
}

llvm::Constant* Reader::compositeConstant(const Instruction& instruction) {
  llvm::Type* type = types_.llvm(instruction.type);
  std::vector<llvm::Constant*> elements;
  for (const Id element : instruction.operands) {
    auto* constant = llvm::dyn_cast_or_null<llvm::Constant>(value(element));
    if (!constant) throw Failure("a constant is made of what is none");
    checked::ofType(constant, checked::member(type, static_cast<unsigned>(elements.size())));
    elements.push_back(constant);
  }
  checked::demand(elements.size() == members(*type), "a constant without all of its members");
  if (type->isVectorTy()) return llvm::ConstantVector::get(elements);
  if (auto* array = llvm::dyn_cast<llvm::ArrayType>(type))
    return llvm::ConstantArray::get(array, elements);
  return llvm::ConstantStruct::get(llvm::cast<llvm::StructType>(type), elements);
}

// A pipe's memory as a pipe object has it, empty (core/pipe.h).
llvm::Constant* Reader::pipeStorage(const Instruction& instruction) {
  const uint32_t packet_bytes = instruction.operands.at(0), packets = instruction.operands.at(2);
  if (packet_bytes == 0 || packet_bytes > max_pipe_packet_bytes || packets == 0 ||
      packets > max_pipe_packets)
    throw Failure("a pipe of no possible size");
  const PipeHeader header = PipeHeader::of(packets);
  const auto* bytes = reinterpret_cast<const uint8_t*>(&header);
  llvm::Constant* parts[] = {
      llvm::ConstantDataArray::get(context_, llvm::ArrayRef(bytes, sizeof header)),
      llvm::ConstantAggregateZero::get(
          llvm::ArrayType::get(llvm::Type::getInt8Ty(context_), uint64_t{packet_bytes} * packets))};
  llvm::Constant* contents = llvm::ConstantStruct::getAnon(parts);
  auto* variable = new llvm::GlobalVariable(*module_, contents->getType(), /*isConstant=*/false,
                                            llvm::GlobalValue::InternalLinkage, contents, "pipe",
                                            nullptr, llvm::GlobalValue::NotThreadLocal,
                                            addressSpace(spv::StorageClass::CrossWorkgroup));
  variable->setAlignment(llvm::Align(sizeof header));
  return variable;
}

llvm::GlobalVariable* Reader::namedBarrier() {
  constexpr unsigned words = 3;
  auto* type = llvm::ArrayType::get(llvm::Type::getInt32Ty(context_), words);
  auto* variable = new llvm::GlobalVariable(
      *module_, type, /*isConstant=*/false, llvm::GlobalValue::InternalLinkage,
      llvm::UndefValue::get(type), named_barrier_variable, nullptr,
      llvm::GlobalValue::NotThreadLocal, addressSpace(spv::StorageClass::Workgroup));
  variable->setAlignment(llvm::Align(sizeof(uint32_t)));
  return variable;
}

// The operation as in a function, which folds because everything it takes is constant.
llvm::Constant* Reader::constantOperation(const Instruction& instruction) {
  Instruction operation = instruction;
  operation.op = static_cast<Op>(instruction.operands.at(0));
  operation.operands.erase(operation.operands.begin());
  auto* type = llvm::FunctionType::get(llvm::Type::getVoidTy(context_), false);
  auto* scratch =
      llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage, "", module_.get());
  llvm::Value* result = FunctionReader(*this, *scratch).evaluate(operation);
  auto* constant = llvm::dyn_cast_or_null<llvm::Constant>(result);
  if (constant) scratch->eraseFromParent();
  if (!constant) throw Failure("a constant operation that cannot be evaluated");
  // A bitcast of a vector's elements, say, which operations with it would not look through.
  return llvm::ConstantFoldConstant(constant, module_->getDataLayout());
}

llvm::GlobalValue::LinkageTypes Reader::linkage(Id id, std::string& name) const {
  const Decoration* attributes = in_.decoration(id, spv::Decoration::LinkageAttributes);
  const auto named = in_.names.find(id);
  if (!attributes) {
    // Apart from kernels, builtin functions and LLVM's own, which are known by their names.
    name = named == in_.names.end() ? "" : "own." + named->second;
    return llvm::GlobalValue::InternalLinkage;
  }
  const Instruction words{Op::OpNop, 0, 0, attributes->operands};
  const auto [text, behind] = words.text(0);
  // Translators export a kernel's code under the name of the entry point that calls it.
  const bool taken = std::any_of(in_.entry_points.begin(), in_.entry_points.end(),
                                 [&](const EntryPoint& entry) { return entry.name == text; });
  if (taken) return llvm::GlobalValue::InternalLinkage;
  name = text;
  // LinkOnceODR, of SPV_KHR_linkonce_odr; LLVM's linkage of that name is lost in a module that does
  // not use it, which another one may.
  constexpr auto link_once = 2u;
  return words.operands.at(behind) == link_once ? llvm::GlobalValue::WeakODRLinkage
                                                : llvm::GlobalValue::ExternalLinkage;
}

void Reader::declareVariable(const Instruction& instruction) {
  if (const auto* builtin = in_.decoration(instruction.result, spv::Decoration::BuiltIn)) {
    builtin_variables_[instruction.result] = static_cast<spv::BuiltIn>(builtin->operands.at(0));
    return;
  }
  const Type& pointer = types_.at(instruction.type);
  if (pointer.op != Op::OpTypePointer) throw Failure("a variable that is not reached by a pointer");
  llvm::Type* type = checked::sized(types_.llvm(pointer.element));
  std::string name;
  const auto kind = linkage(instruction.result, name);
  llvm::Constant* initializer = nullptr;
  if (instruction.operands.size() > 1) {
    initializer = llvm::dyn_cast_or_null<llvm::Constant>(value(instruction.operands[1]));
    if (!initializer) throw Failure("a variable that starts with what is no constant");
    checked::ofType(initializer, type);
  }
  const Decoration* attributes =
      in_.decoration(instruction.result, spv::Decoration::LinkageAttributes);
  const bool imported =
      attributes && attributes->operands.back() == static_cast<uint32_t>(spv::LinkageType::Import);
  if (!initializer && !imported)
    initializer = pointer.storage == spv::StorageClass::Workgroup
                      ? static_cast<llvm::Constant*>(llvm::UndefValue::get(type))
                      : nullValue(type);
  const bool constant = pointer.storage == spv::StorageClass::UniformConstant;
  auto* variable =
      new llvm::GlobalVariable(*module_, type, constant, kind, initializer, name, nullptr,
                               llvm::GlobalValue::NotThreadLocal, addressSpace(pointer.storage));
  if (const auto* alignment = in_.decoration(instruction.result, spv::Decoration::Alignment))
    variable->setAlignment(checked::alignment(alignment->operands.at(0)));
  values_[instruction.result] = variable;
}

void Reader::declareFunctions() {
  for (const Instruction& instruction : in_.body)
    if (instruction.op == Op::OpFunction) declareFunction(instruction);
}

// No program can set a generic pointer, but translators list what is enqueued as entry points, too.
bool Reader::isLaunchable(const Type& function) const {
  return std::none_of(function.members.begin(), function.members.end(), [&](Id parameter) {
    const Type& type = types_.at(parameter);
    return type.op == Op::OpTypePointer && type.storage == spv::StorageClass::Generic;
  });
}

void Reader::declareFunction(const Instruction& instruction) {
  types_of_[instruction.result] = instruction.type;
  const Type& type = types_.at(instruction.operands.at(1));
  if (type.op != Op::OpTypeFunction)
    throw Failure("a function of a type that is none of functions");
  std::string name;
  const auto kind = linkage(instruction.result, name);
  const EntryPoint* entry = nullptr;
  for (const EntryPoint& candidate : in_.entry_points)
    if (!entry && candidate.function == instruction.result && isLaunchable(type))
      entry = &candidate;
  auto* function_type = llvm::cast<llvm::FunctionType>(type.llvm);
  llvm::Function* made =
      llvm::Function::Create(function_type, entry ? llvm::GlobalValue::ExternalLinkage : kind,
                             entry ? entry->name : name, module_.get());
  made->setCallingConv(entry ? llvm::CallingConv::SPIR_KERNEL : llvm::CallingConv::SPIR_FUNC);
  made->setConvergent();
  made->setDoesNotThrow();
  constexpr uint32_t inline_bit = 1, never_inline_bit = 2;
  if (instruction.operands[0] & inline_bit) made->addFnAttr(llvm::Attribute::InlineHint);
  if (instruction.operands[0] & never_inline_bit) made->addFnAttr(llvm::Attribute::NoInline);
  values_[instruction.result] = made;
}

void Reader::readFunctions() {
  for (size_t i = 0; i < in_.body.size(); ++i) {
    if (in_.body[i].op != Op::OpFunction) continue;
    size_t end = i;
    while (end < in_.body.size() && !isFunctionEnd(in_.body[end])) ++end;
    if (end == in_.body.size()) throw Failure("a function has no end");
    auto* function = llvm::cast<llvm::Function>(values_.at(in_.body[i].result));
    const std::span<const Instruction> body(in_.body.data() + i, end - i);
    FunctionReader reader(*this, *function);
    reader.read(body);
    if (function->getCallingConv() == llvm::CallingConv::SPIR_KERNEL)
      describeKernels(body.front(), *function, reader.parameters());
    i = end;
  }
}

// A function may be an entry point under several names, each of which is a kernel.
void Reader::describeKernels(const Instruction& declared, llvm::Function& function,
                             std::span<const Id> parameters) {
  const Type& type = types_.at(declared.operands.at(1));
  for (const EntryPoint& entry : in_.entry_points) {
    if (entry.function != declared.result) continue;
    llvm::Function* kernel = &function;
    if (function.getName() != entry.name) {
      if (module_->getFunction(entry.name)) throw Failure("two kernels are called " + entry.name);
      llvm::ValueToValueMapTy values;
      kernel = llvm::CloneFunction(&function, values);
      kernel->setName(entry.name);
    }
    describeKernel(*this, entry, *kernel, type, parameters);
  }
}

}  // namespace weft::compiler::spirv
