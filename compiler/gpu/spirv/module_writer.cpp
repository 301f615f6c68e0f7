#include "compiler/gpu/spirv/module_writer.h"

#include <cstring>

#include <llvm/ADT/SmallPtrSet.h>

#include "compiler/gpu/spirv/function.h"
#include "core/ports/spirv_target.h"

namespace weft::compiler {
namespace emit {
namespace {

constexpr uint32_t version_1_2 = 0x00010200, version_1_3 = 0x00010300, no_generator = 0;
constexpr uint32_t opencl_c = 3, opencl_version = 300000;

class ModuleWriter final : public Surroundings {
 public:
  explicit ModuleWriter(const llvm::Module& module)
      : module_(module),
        types_(module.getDataLayout(),
               [this](const llvm::GlobalVariable& variable) { return variableId(variable); }) {}

  std::vector<uint32_t> write(const port::Target& target) {
    for (const llvm::Function& function : module_)
      if (!function.isDeclaration())
        functions_.append(FunctionWriter(function, types_, *this).write());
    for (const llvm::Function& function : module_)
      if (function.getCallingConv() == llvm::CallingConv::SPIR_KERNEL) addEntryPoint(function);
    // Drivers refuse it without a word, or crash.
    if (types_.capabilities().contains(spv::Capability::Float64) &&
        !llvm::StringRef(target.features).contains(port::spirv_double))
      refuse("double for a device without");
    return assemble();
  }

  Id functionId(const llvm::Function& function) override {
    Id& known = globals_[&function];
    if (!known) known = types_.newId();
    return known;
  }

  Id variableId(const llvm::GlobalVariable& variable) override {
    if (const auto known = globals_.find(&variable); known != globals_.end()) return known->second;
    const unsigned space = variable.getAddressSpace();
    const Id type = types_.pointerTo(space, variable.getValueType());
    std::vector<uint32_t> words{type, 0, static_cast<uint32_t>(storageClass(space))};
    if (space == global_space && variable.hasInitializer()) {
      // An initialiser is declared before its variable.
      if (!initialising_.insert(&variable).second)
        refuse("the variable " + variable.getName().str() + ", whose initialiser leads back to it");
      words.push_back(types_.constant(variable.getInitializer()));
      initialising_.erase(&variable);
    }
    words[1] = types_.newId();
    types_.declarations.add(spv::Op::OpVariable, words);
    if (variable.isConstant()) types_.decorate(words[1], spv::Decoration::Constant);
    if (variable.getAlign())
      types_.decorate(words[1], spv::Decoration::Alignment,
                      {static_cast<uint32_t>(variable.getAlign()->value())});
    return globals_[&variable] = words[1];
  }

  Id builtIn(spv::BuiltIn which, Id type) override {
    Id& known = built_ins_[which];
    if (known) return known;
    const auto input = static_cast<uint32_t>(spv::StorageClass::Input);
    Id& pointer = input_pointers_[type];
    if (!pointer) {
      pointer = types_.newId();
      types_.declarations.add(spv::Op::OpTypePointer, {pointer, input, type});
    }
    known = types_.newId();
    types_.declarations.add(spv::Op::OpVariable, {pointer, known, input});
    types_.decorate(known, spv::Decoration::BuiltIn, {static_cast<uint32_t>(which)});
    types_.decorate(known, spv::Decoration::Constant);
    return known;
  }

  Id extendedInstructions() override {
    if (!extended_) extended_ = types_.newId();
    return extended_;
  }

 private:
  void addEntryPoint(const llvm::Function& kernel) {
    std::vector<uint32_t> words{static_cast<uint32_t>(spv::ExecutionModel::Kernel),
                                functionId(kernel)};
    llvm::append_range(words, literal(kernel.getName()));
    for (const auto& [which, id] : built_ins_) words.push_back(id);
    entry_points_.add(spv::Op::OpEntryPoint, words);
    // What may be contracted is one operation already.
    modes_.add(spv::Op::OpExecutionMode,
               {functionId(kernel), static_cast<uint32_t>(spv::ExecutionMode::ContractionOff)});
    uint32_t sub_group = 0;
    if (kernel.getFnAttribute(spirv_sub_group_size).getValueAsString().getAsInteger(10, sub_group))
      return;
    types_.need(spv::Capability::SubgroupDispatch);
    modes_.add(
        spv::Op::OpExecutionMode,
        {functionId(kernel), static_cast<uint32_t>(spv::ExecutionMode::SubgroupSize), sub_group});
  }

  // What hands values between lanes came with version 1.3.
  uint32_t version() const {
    const auto& used = types_.capabilities();
    return used.contains(spv::Capability::GroupNonUniformBallot) ||
                   used.contains(spv::Capability::GroupNonUniformShuffle)
               ? version_1_3
               : version_1_2;
  }

  std::vector<uint32_t> assemble() {
    Words all;
    for (const spv::Capability capability : types_.capabilities())
      all.add(spv::Op::OpCapability, {static_cast<uint32_t>(capability)});
    for (const llvm::StringRef extension : types_.extensions())
      all.add(spv::Op::OpExtension, literal(extension));
    if (extended_) {
      std::vector<uint32_t> words{extended_};
      llvm::append_range(words, literal("OpenCL.std"));
      all.add(spv::Op::OpExtInstImport, words);
    }
    all.add(spv::Op::OpMemoryModel, {static_cast<uint32_t>(spv::AddressingModel::Physical64),
                                     static_cast<uint32_t>(spv::MemoryModel::OpenCL)});
    all.append(entry_points_);
    all.append(modes_);
    all.add(spv::Op::OpSource, {opencl_c, opencl_version});
    all.append(types_.decorations);
    all.append(types_.declarations);
    all.append(functions_);
    std::vector<uint32_t> words{spv::MagicNumber, version(), no_generator, types_.bound(), 0};
    llvm::append_range(words, all.all());
    return words;
  }

  const llvm::Module& module_;
  Types types_;
  llvm::DenseMap<const llvm::GlobalValue*, Id> globals_;
  llvm::SmallPtrSet<const llvm::GlobalVariable*, 4> initialising_;
  std::map<spv::BuiltIn, Id> built_ins_;
  std::map<Id, Id> input_pointers_;  // by what they point to
  Id extended_ = 0;
  Words entry_points_, modes_, functions_;
};

}  // namespace
}  // namespace emit

llvm::Expected<port::Bytes> writeSpirv(const llvm::Module& module, const port::Target& target) {
  try {
    const std::vector<uint32_t> words = emit::ModuleWriter(module).write(target);
    port::Bytes bytes(words.size() * sizeof(uint32_t));
    std::memcpy(bytes.data(), words.data(), bytes.size());
    return bytes;
  } catch (const emit::Inexpressible& refused) {
    return llvm::createStringError("SPIR-V cannot express " + refused.what);
  }
}

}  // namespace weft::compiler
