#include "compiler/gpu/amd_module.h"

#include <array>
#include <cstdint>

#include <llvm/ADT/StringExtras.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/IntrinsicsAMDGPU.h>

#include "compiler/gpu/private_variables.h"
#include "core/ports/capabilities.h"

namespace weft::compiler {
namespace {

using llvm::CallInst;
using llvm::Function;
using llvm::Value;
using Builder = llvm::IRBuilder<>;
namespace Intrinsic = llvm::Intrinsic;

// HIP 5's reader of version 5 does not take all that LLVM writes; that of 4 takes everything.
constexpr uint32_t code_object_version = 400;
constexpr unsigned global_space = 1, local_space = 3, constant_space = 4, private_space = 5;
constexpr const char* unused_arguments[] = {
    "amdgpu-no-implicitarg-ptr",    "amdgpu-no-hostcall-ptr",  "amdgpu-no-heap-ptr",
    "amdgpu-no-default-queue",      "amdgpu-no-queue-ptr",     "amdgpu-no-completion-action",
    "amdgpu-no-multigrid-sync-arg", "amdgpu-no-lds-kernel-id",
};
constexpr llvm::StringLiteral intrinsic_prefix = "llvm.nvvm.";
// Of the dispatch packet: uint16_t workgroup_size[3], uint32_t grid_size[3] in work-items.
constexpr uint64_t group_size_offset = 4, grid_size_offset = 12;
constexpr Intrinsic::ID work_item_ids[] = {Intrinsic::amdgcn_workitem_id_x,
                                           Intrinsic::amdgcn_workitem_id_y,
                                           Intrinsic::amdgcn_workitem_id_z};
constexpr Intrinsic::ID group_ids[] = {Intrinsic::amdgcn_workgroup_id_x,
                                       Intrinsic::amdgcn_workgroup_id_y,
                                       Intrinsic::amdgcn_workgroup_id_z};

Value* packetField(Builder& builder, uint64_t offset, llvm::Type* type) {
  Value* packet = builder.CreateIntrinsic(Intrinsic::amdgcn_dispatch_ptr, {}, {});
  Value* place = builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), packet, offset);
  auto* load = builder.CreateAlignedLoad(type, place, llvm::Align(type->getIntegerBitWidth() / 8));
  load->setMetadata(llvm::LLVMContext::MD_invariant_load,
                    llvm::MDNode::get(builder.getContext(), {}));
  return load;
}

Value* workItemId(Builder& builder, CallInst&, unsigned d) {
  return builder.CreateIntrinsic(work_item_ids[d], {}, {});
}
Value* groupId(Builder& builder, CallInst&, unsigned d) {
  return builder.CreateIntrinsic(group_ids[d], {}, {});
}
Value* groupSize(Builder& builder, CallInst&, unsigned d) {
  Value* size = packetField(builder, group_size_offset + 2 * d, builder.getInt16Ty());
  return builder.CreateZExt(size, builder.getInt32Ty());
}
Value* gridSize(Builder& builder, CallInst& call, unsigned d) {
  Value* items = packetField(builder, grid_size_offset + 4 * d, builder.getInt32Ty());
  return builder.CreateUDiv(items, groupSize(builder, call, d));
}

void fence(Builder& builder, llvm::AtomicOrdering order, llvm::StringRef scope) {
  builder.CreateFence(order, builder.getContext().getOrInsertSyncScopeID(scope));
}
Value* fenceDevice(Builder& builder, CallInst&, unsigned) {
  fence(builder, llvm::AtomicOrdering::SequentiallyConsistent, "agent");
  return nullptr;
}
Value* fenceSystem(Builder& builder, CallInst&, unsigned) {
  fence(builder, llvm::AtomicOrdering::SequentiallyConsistent, "");
  return nullptr;
}
Value* fenceGroup(Builder& builder, CallInst&, unsigned) {
  fence(builder, llvm::AtomicOrdering::SequentiallyConsistent, "workgroup");
  return nullptr;
}
// The hardware's barrier orders nothing by itself.
Value* barrier(Builder& builder, CallInst&, unsigned) {
  fence(builder, llvm::AtomicOrdering::Release, "workgroup");
  builder.CreateIntrinsic(Intrinsic::amdgcn_s_barrier, {}, {});
  fence(builder, llvm::AtomicOrdering::Acquire, "workgroup");
  return nullptr;
}

Value* isLocal(Builder& builder, CallInst& call, unsigned) {
  return builder.CreateIntrinsic(Intrinsic::amdgcn_is_shared, {}, {call.getArgOperand(0)});
}
Value* isGlobal(Builder& builder, CallInst& call, unsigned) {
  Value* pointer = call.getArgOperand(0);
  Value* is_private = builder.CreateIntrinsic(Intrinsic::amdgcn_is_private, {}, {pointer});
  return builder.CreateNot(builder.CreateOr(isLocal(builder, call, 0), is_private));
}

// A warp of 32 is to the program what half of a wave of 64 is there: lanes exchange values within
// halves.
constexpr uint32_t lanes = port::gpu_sub_group_size;

Value* laneOfWave(Builder& builder) {
  constexpr uint32_t all = ~0u;
  Value* low = builder.CreateIntrinsic(Intrinsic::amdgcn_mbcnt_lo, {},
                                       {builder.getInt32(all), builder.getInt32(0)});
  return builder.CreateIntrinsic(Intrinsic::amdgcn_mbcnt_hi, {}, {builder.getInt32(all), low});
}

Value* shuffleIndex(Builder& builder, CallInst& call, unsigned) {
  Value* half = builder.CreateAnd(laneOfWave(builder), builder.getInt32(lanes));
  Value* from = builder.CreateAnd(call.getArgOperand(2), builder.getInt32(lanes - 1));
  return builder.CreateIntrinsic(
      Intrinsic::amdgcn_ds_bpermute, {},
      {builder.CreateShl(builder.CreateOr(half, from), 2), call.getArgOperand(1)});
}

Value* ballotOf(Builder& builder, Value* holds) {
  Value* wave = builder.CreateIntrinsic(Intrinsic::amdgcn_ballot, {builder.getInt64Ty()}, {holds});
  Value* half = builder.CreateAnd(laneOfWave(builder), builder.getInt32(lanes));
  Value* shifted = builder.CreateLShr(wave, builder.CreateZExt(half, builder.getInt64Ty()));
  return builder.CreateTrunc(shifted, builder.getInt32Ty());
}
Value* ballot(Builder& builder, CallInst& call, unsigned) {
  return builder.CreateAnd(ballotOf(builder, call.getArgOperand(1)), call.getArgOperand(0));
}
Value* activeLanes(Builder& builder, CallInst&, unsigned) {
  return ballotOf(builder, builder.getTrue());
}
Value* meet(Builder& builder, CallInst&, unsigned) {
  builder.CreateIntrinsic(Intrinsic::amdgcn_wave_barrier, {}, {});
  return nullptr;
}

Value* shuffleUp(Builder& builder, CallInst& call, unsigned) {
  Value* lane = laneOfWave(builder);
  Value* in_half = builder.CreateAnd(lane, builder.getInt32(lanes - 1));
  Value* by = call.getArgOperand(2);
  Value* from =
      builder.CreateSelect(builder.CreateICmpUGE(in_half, by), builder.CreateSub(lane, by), lane);
  return builder.CreateIntrinsic(Intrinsic::amdgcn_ds_bpermute, {},
                                 {builder.CreateShl(from, 2), call.getArgOperand(1)});
}

// So many times 64 cycles.
Value* rest(Builder& builder, CallInst&, unsigned) {
  builder.CreateIntrinsic(Intrinsic::amdgcn_s_sleep, {}, {builder.getInt32(1)});
  return nullptr;
}

struct Row {
  llvm::StringLiteral name;  // without "llvm.nvvm."
  Value* (*make)(Builder& builder, CallInst& call, unsigned dimension);
  unsigned dimension = 0;
};
constexpr Row rows[] = {
    {"read.ptx.sreg.tid.x", workItemId, 0},
    {"read.ptx.sreg.tid.y", workItemId, 1},
    {"read.ptx.sreg.tid.z", workItemId, 2},
    {"read.ptx.sreg.ctaid.x", groupId, 0},
    {"read.ptx.sreg.ctaid.y", groupId, 1},
    {"read.ptx.sreg.ctaid.z", groupId, 2},
    {"read.ptx.sreg.ntid.x", groupSize, 0},
    {"read.ptx.sreg.ntid.y", groupSize, 1},
    {"read.ptx.sreg.ntid.z", groupSize, 2},
    {"read.ptx.sreg.nctaid.x", gridSize, 0},
    {"read.ptx.sreg.nctaid.y", gridSize, 1},
    {"read.ptx.sreg.nctaid.z", gridSize, 2},
    {"membar.gl", fenceDevice},
    {"membar.sys", fenceSystem},
    {"membar.cta", fenceGroup},
    {"barrier0", barrier},
    {"isspacep.shared", isLocal},
    {"isspacep.global", isGlobal},
    {"shfl.sync.up.i32", shuffleUp},
    {"shfl.sync.idx.i32", shuffleIndex},
    {"vote.ballot.sync", ballot},
    {"activemask", activeLanes},
    {"bar.warp.sync", meet},
    {"nanosleep", rest},
};

const Row* find(llvm::StringRef name) {
  if (!name.consume_front(intrinsic_prefix)) return nullptr;
  const auto* const row = llvm::find_if(rows, [&](const Row& r) { return r.name == name; });
  return row == std::end(rows) ? nullptr : row;
}

void replaceCalls(Function& intrinsic, const Row& row) {
  for (llvm::User* user : llvm::make_early_inc_range(intrinsic.users())) {
    auto* call = llvm::cast<CallInst>(user);
    Builder builder(call);
    if (Value* value = row.make(builder, *call, row.dimension)) call->replaceAllUsesWith(value);
    call->eraseFromParent();
  }
  intrinsic.eraseFromParent();
}

// One agent's memory is what kernels share: wider scopes cost caches.
void narrowAtomics(Function& function) {
  const auto agent = function.getContext().getOrInsertSyncScopeID("agent");
  for (llvm::Instruction& instruction : llvm::instructions(function)) {
    if (auto* rmw = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction)) rmw->setSyncScopeID(agent);
    if (auto* exchange = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&instruction))
      exchange->setSyncScopeID(agent);
  }
}

// Nothing is in no space.
void moveGlobals(llvm::Module& module) {
  llvm::SmallVector<llvm::GlobalVariable*> variables;
  for (llvm::GlobalVariable& variable : module.globals())
    if (variable.getAddressSpace() == 0) variables.push_back(&variable);
  for (llvm::GlobalVariable* variable : variables) {
    auto* moved = new llvm::GlobalVariable(
        module, variable->getValueType(), variable->isConstant(), variable->getLinkage(),
        variable->hasInitializer() ? variable->getInitializer() : nullptr, "", nullptr,
        llvm::GlobalValue::NotThreadLocal, variable->isConstant() ? constant_space : global_space);
    moved->copyAttributesFrom(variable);
    moved->takeName(variable);
    variable->replaceAllUsesWith(llvm::ConstantExpr::getAddrSpaceCast(moved, variable->getType()));
    variable->eraseFromParent();
  }
}

bool isLocalPointer(const llvm::Type* type) {
  return type->isPointerTy() && type->getPointerAddressSpace() == local_space;
}

// Local memory begins at 0, where a variable is. The target's null, which becomes that of generic
// pointers and back, is the last address.
llvm::Constant* withTargetsNull(llvm::Constant* constant) {
  llvm::Type* type = constant->getType();
  if (isLocalPointer(type) && constant->isNullValue()) {
    auto* last = llvm::Constant::getAllOnesValue(llvm::Type::getInt32Ty(type->getContext()));
    return llvm::ConstantExpr::getIntToPtr(last, type);
  }
  if (!constant->isNullValue() && !llvm::isa<llvm::ConstantAggregate>(constant)) return constant;
  llvm::SmallVector<llvm::Constant*> elements;
  bool changed = false;
  for (unsigned i = 0; llvm::Constant* element = constant->getAggregateElement(i); ++i) {
    elements.push_back(withTargetsNull(element));
    changed |= elements.back() != element;
  }
  if (!changed) return constant;
  if (auto* structure = llvm::dyn_cast<llvm::StructType>(type))
    return llvm::ConstantStruct::get(structure, elements);
  if (auto* array = llvm::dyn_cast<llvm::ArrayType>(type))
    return llvm::ConstantArray::get(array, elements);
  return llvm::ConstantVector::get(elements);
}

void moveNulls(Function& function) {
  for (llvm::Instruction& instruction : llvm::instructions(function))
    for (llvm::Use& operand : instruction.operands())
      if (auto* constant = llvm::dyn_cast<llvm::Constant>(operand.get());
          constant && !llvm::isa<llvm::GlobalValue>(constant))
        operand.set(withTargetsNull(constant));
}

// The most work-items that limitGroups() has noted for the kernel, or 0.
uint64_t notedGroupSize(const Function& kernel) {
  const llvm::NamedMDNode* notes = kernel.getParent()->getNamedMetadata("nvvm.annotations");
  if (!notes) return 0;
  for (const llvm::MDNode* note : notes->operands()) {
    const auto* of = llvm::mdconst::dyn_extract_or_null<Function>(note->getOperand(0));
    const auto* what = llvm::dyn_cast<llvm::MDString>(note->getOperand(1));
    if (of == &kernel && what && what->getString() == "maxntidx")
      return llvm::mdconst::extract<llvm::ConstantInt>(note->getOperand(2))->getZExtValue();
  }
  return 0;
}

// The kernel with what is passed by value in the segment of its arguments.
class KernelMove {
 public:
  KernelMove(Function& kernel, const llvm::Argument* launch) : kernel_(kernel), launch_(launch) {}

  Function* run() {
    llvm::SmallVector<llvm::Type*> types;
    for (const llvm::Argument& argument : kernel_.args())
      types.push_back(argument.hasByValAttr()
                          ? llvm::PointerType::get(kernel_.getContext(), constant_space)
                          : argument.getType());
    auto* type = llvm::FunctionType::get(kernel_.getReturnType(), types, false);
    made_ = Function::Create(type, Function::ExternalLinkage, "", kernel_.getParent());
    made_->addFnAttrs(
        llvm::AttrBuilder(kernel_.getContext(), kernel_.getAttributes().getFnAttrs()));
    made_->setCallingConv(llvm::CallingConv::AMDGPU_KERNEL);
    made_->setVisibility(llvm::GlobalValue::ProtectedVisibility);
    describe();
    made_->splice(made_->begin(), &kernel_);
    Builder builder(&*made_->getEntryBlock().getFirstInsertionPt());
    for (llvm::Argument& argument : kernel_.args()) move(builder, argument);
    made_->takeName(&kernel_);
    return made_;
  }

 private:
  void move(Builder& builder, llvm::Argument& from) {
    llvm::Argument& to = *made_->getArg(from.getArgNo());
    to.takeName(&from);
    if (!from.hasByValAttr()) {
      made_->addParamAttrs(
          from.getArgNo(),
          llvm::AttrBuilder(kernel_.getContext(),
                            kernel_.getAttributes().getParamAttrs(from.getArgNo())));
      from.replaceAllUsesWith(&to);
      return;
    }
    llvm::Type* type = from.getParamByValType();
    const llvm::Align alignment = from.getParamAlign().valueOrOne();
    to.addAttr(llvm::Attribute::getWithByRefType(kernel_.getContext(), type));
    to.addAttr(llvm::Attribute::getWithAlignment(kernel_.getContext(), alignment));
    Value* place = &to;
    if (&from != launch_ && !from.onlyReadsMemory()) {
      // The kernel may write its copy.
      auto* copy = builder.CreateAlloca(type, private_space);
      copy->setAlignment(alignment);
      builder.CreateMemCpy(copy, alignment, &to, alignment,
                           kernel_.getDataLayout().getTypeAllocSize(type));
      place = copy;
    }
    from.replaceAllUsesWith(builder.CreateAddrSpaceCast(place, from.getType()));
  }

  // The kernels read their own launch structure and none of the runtime's hidden arguments.
  void describe() {
    const uint64_t noted = notedGroupSize(kernel_);
    made_->addFnAttr("amdgpu-flat-work-group-size", "1," + std::to_string(noted ? noted : 1024));
    made_->addFnAttr("amdgpu-implicitarg-num-bytes", "0");
    for (const char* const hidden : unused_arguments) made_->addFnAttr(hidden);
  }

  Function& kernel_;
  const llvm::Argument* launch_;
  Function* made_ = nullptr;
};

}  // namespace

void makeAmdModule(GpuModule& gpu, const llvm::DataLayout& layout) {
  llvm::Module& module = *gpu.module;
  module.setDataLayout(layout);
  module.addModuleFlag(llvm::Module::Error, "amdhsa_code_object_version", code_object_version);
  moveGlobals(module);
  for (GpuKernel& kernel : gpu.kernels) {
    Function* const old = kernel.function;
    kernel.function = KernelMove(*old, kernel.launch).run();
    old->replaceAllUsesWith(llvm::PoisonValue::get(old->getType()));
    old->eraseFromParent();
  }
  if (llvm::NamedMDNode* notes = module.getNamedMetadata("nvvm.annotations"))
    notes->eraseFromParent();
  for (Function& function : llvm::make_early_inc_range(module)) {
    if (!function.isDeclaration()) {
      narrowAtomics(function);
      moveNulls(function);
      moveVariables(function, private_space);
    } else if (const Row* row = find(function.getName())) {
      replaceCalls(function, *row);
    }
  }
}

std::string amdFeatures(llvm::StringRef features) {
  llvm::SmallVector<llvm::StringRef> parts;
  features.split(parts, ':', -1, false);
  std::string result;
  for (const llvm::StringRef part : parts) {
    if (!result.empty()) result += ',';
    result += part.back();
    result += part.drop_back().str();
  }
  return result;
}

}  // namespace weft::compiler
