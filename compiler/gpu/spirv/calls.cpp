// Calls: of functions of the module, and of what the target has.
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <spirv/unified1/OpenCL.std.h>

#include "compiler/gpu/spirv/function.h"
#include "compiler/gpu/spirv/native_images.h"
#include "compiler/gpu/spirv/standard_functions.h"

namespace weft::compiler::emit {
namespace {

using spv::Op;

constexpr uint32_t mask(spv::MemorySemanticsMask bits) { return static_cast<uint32_t>(bits); }
constexpr uint32_t both_memories = mask(spv::MemorySemanticsMask::CrossWorkgroupMemory) |
                                   mask(spv::MemorySemanticsMask::WorkgroupMemory);
constexpr uint32_t sub_group_scope = static_cast<uint32_t>(spv::Scope::Subgroup);
constexpr uint32_t strictly = mask(spv::MemorySemanticsMask::SequentiallyConsistent);

// Which of three, behind which built-in variable: `with` of the rows that ask for a place.
constexpr uint32_t place(spv::BuiltIn which, uint32_t dimension) {
  return static_cast<uint32_t>(which) << 2 | dimension;
}

}  // namespace

// By the start of the function's name; the longest that fits is meant.
struct FunctionWriter::CallRow {
  llvm::StringLiteral name;
  void (FunctionWriter::*write)(const llvm::CallInst& call, uint32_t with);
  uint32_t with = 0;
};

const FunctionWriter::CallRow FunctionWriter::call_rows[] = {
    {"llvm.lifetime.", &FunctionWriter::nothing},
    {"llvm.assume", &FunctionWriter::nothing},
    {"llvm.dbg.", &FunctionWriter::nothing},
    {"llvm.experimental.noalias.scope.decl", &FunctionWriter::nothing},
    {"llvm.nvvm.read.ptx.sreg.tid.x", &FunctionWriter::place,
     emit::place(spv::BuiltIn::LocalInvocationId, 0)},
    {"llvm.nvvm.read.ptx.sreg.tid.y", &FunctionWriter::place,
     emit::place(spv::BuiltIn::LocalInvocationId, 1)},
    {"llvm.nvvm.read.ptx.sreg.tid.z", &FunctionWriter::place,
     emit::place(spv::BuiltIn::LocalInvocationId, 2)},
    {"llvm.nvvm.read.ptx.sreg.ntid.x", &FunctionWriter::place,
     emit::place(spv::BuiltIn::WorkgroupSize, 0)},
    {"llvm.nvvm.read.ptx.sreg.ntid.y", &FunctionWriter::place,
     emit::place(spv::BuiltIn::WorkgroupSize, 1)},
    {"llvm.nvvm.read.ptx.sreg.ntid.z", &FunctionWriter::place,
     emit::place(spv::BuiltIn::WorkgroupSize, 2)},
    {"llvm.nvvm.read.ptx.sreg.ctaid.x", &FunctionWriter::place,
     emit::place(spv::BuiltIn::WorkgroupId, 0)},
    {"llvm.nvvm.read.ptx.sreg.ctaid.y", &FunctionWriter::place,
     emit::place(spv::BuiltIn::WorkgroupId, 1)},
    {"llvm.nvvm.read.ptx.sreg.ctaid.z", &FunctionWriter::place,
     emit::place(spv::BuiltIn::WorkgroupId, 2)},
    {"llvm.nvvm.barrier0", &FunctionWriter::barrier, static_cast<uint32_t>(spv::Scope::Workgroup)},
    {"weft.sub_group.barrier", &FunctionWriter::barrier,
     static_cast<uint32_t>(spv::Scope::Subgroup)},
    {"weft.sub_group.lane", &FunctionWriter::ofSubGroup,
     static_cast<uint32_t>(spv::BuiltIn::SubgroupLocalInvocationId)},
    {"weft.sub_group.size", &FunctionWriter::ofSubGroup,
     static_cast<uint32_t>(spv::BuiltIn::SubgroupSize)},
    {"weft.sub_group.id", &FunctionWriter::ofSubGroup,
     static_cast<uint32_t>(spv::BuiltIn::SubgroupId)},
    {"weft.sub_group.count", &FunctionWriter::ofSubGroup,
     static_cast<uint32_t>(spv::BuiltIn::NumSubgroups)},
    {"weft.sub_group.ballot", &FunctionWriter::ballot},
    {"weft.sub_group.shuffle", &FunctionWriter::takeFromLane},
    {spirv_sample_prefix, &FunctionWriter::sample},
    {"llvm.nvvm.membar.cta", &FunctionWriter::fence, static_cast<uint32_t>(spv::Scope::Workgroup)},
    {"llvm.nvvm.membar.gl", &FunctionWriter::fence, static_cast<uint32_t>(spv::Scope::Device)},
    {"llvm.nvvm.membar.sys", &FunctionWriter::fence,
     static_cast<uint32_t>(spv::Scope::CrossDevice)},
    {"llvm.nvvm.isspacep.global", &FunctionWriter::isInSpace, global_space},
    {"llvm.nvvm.isspacep.shared", &FunctionWriter::isInSpace, local_space},
    {"llvm.fabs.", &FunctionWriter::extended, OpenCLLIB::Fabs},
    {"llvm.sqrt.", &FunctionWriter::extended, OpenCLLIB::Sqrt},
    {"llvm.fma.", &FunctionWriter::extended, OpenCLLIB::Fma},
    {"llvm.fmuladd.", &FunctionWriter::extended, OpenCLLIB::Fma},
    {"llvm.copysign.", &FunctionWriter::extended, OpenCLLIB::Copysign},
    {"llvm.floor.", &FunctionWriter::extended, OpenCLLIB::Floor},
    {"llvm.ceil.", &FunctionWriter::extended, OpenCLLIB::Ceil},
    {"llvm.trunc.", &FunctionWriter::extended, OpenCLLIB::Trunc},
    {"llvm.rint.", &FunctionWriter::extended, OpenCLLIB::Rint},
    {"llvm.roundeven.", &FunctionWriter::extended, OpenCLLIB::Rint},
    {"llvm.nearbyint.", &FunctionWriter::extended, OpenCLLIB::Rint},
    {"llvm.round.", &FunctionWriter::extended, OpenCLLIB::Round},
    {"llvm.minnum.", &FunctionWriter::extended, OpenCLLIB::Fmin},
    {"llvm.maxnum.", &FunctionWriter::extended, OpenCLLIB::Fmax},
    {"llvm.sin.", &FunctionWriter::extended, OpenCLLIB::Native_sin},
    {"llvm.cos.", &FunctionWriter::extended, OpenCLLIB::Native_cos},
    {"llvm.exp2.", &FunctionWriter::extended, OpenCLLIB::Native_exp2},
    {"llvm.log2.", &FunctionWriter::extended, OpenCLLIB::Native_log2},
    {"llvm.ctlz.", &FunctionWriter::extended, OpenCLLIB::Clz},
    {"llvm.cttz.", &FunctionWriter::extended, OpenCLLIB::Ctz},
    {"llvm.ctpop.", &FunctionWriter::extended, OpenCLLIB::Popcount},
    {"llvm.smin.", &FunctionWriter::extended, OpenCLLIB::SMin},
    {"llvm.smax.", &FunctionWriter::extended, OpenCLLIB::SMax},
    {"llvm.umin.", &FunctionWriter::extended, OpenCLLIB::UMin},
    {"llvm.umax.", &FunctionWriter::extended, OpenCLLIB::UMax},
    {"llvm.sadd.sat.", &FunctionWriter::extended, OpenCLLIB::SAdd_sat},
    {"llvm.uadd.sat.", &FunctionWriter::extended, OpenCLLIB::UAdd_sat},
    {"llvm.ssub.sat.", &FunctionWriter::extended, OpenCLLIB::SSub_sat},
    {"llvm.usub.sat.", &FunctionWriter::extended, OpenCLLIB::USub_sat},
    {"weft.mul_hi.u", &FunctionWriter::extended, OpenCLLIB::UMul_hi},
    {"weft.std.", &FunctionWriter::standard},
    {"weft.mul_hi.s", &FunctionWriter::extended, OpenCLLIB::SMul_hi},
    {"llvm.fptoui.sat.", &FunctionWriter::saturate, static_cast<uint32_t>(Op::OpConvertFToU)},
    {"llvm.fptosi.sat.", &FunctionWriter::saturate, static_cast<uint32_t>(Op::OpConvertFToS)},
    {"llvm.abs.", &FunctionWriter::extended, OpenCLLIB::SAbs},
};

void FunctionWriter::call(const llvm::Instruction& instruction) {
  const auto& call = llvm::cast<llvm::CallInst>(instruction);
  const llvm::Function* callee = call.getCalledFunction();
  if (!callee) refuse("a call of a pointer", instruction);
  if (!callee->isDeclaration()) return callFunction(call);
  const auto* const row = llvm::find_if(
      call_rows, [&](const CallRow& each) { return callee->getName().starts_with(each.name); });
  if (row == std::end(call_rows)) refuse("the function " + callee->getName().str());
  (this->*row->write)(call, row->with);
}

void FunctionWriter::callFunction(const llvm::CallInst& call) {
  std::vector<uint32_t> words{module_.functionId(*call.getCalledFunction())};
  for (const llvm::Use& argument : call.args()) words.push_back(id(argument.get()));
  define(call, Op::OpFunctionCall, words);
}

void FunctionWriter::nothing(const llvm::CallInst&, uint32_t) {}

// Those that LLVM gives further arguments (what of zero, what of the least number) promise less.
void FunctionWriter::extended(const llvm::CallInst& call, uint32_t with) {
  std::vector<uint32_t> words{module_.extendedInstructions(), with};
  for (const llvm::Use& argument : call.args())
    if (argument->getType() == call.getType()) words.push_back(id(argument.get()));
  define(call, Op::OpExtInst, words);
}

void FunctionWriter::standard(const llvm::CallInst& call, uint32_t) {
  const auto number = standardInstruction(call.getCalledFunction()->getName());
  std::vector<uint32_t> words{module_.extendedInstructions(), number.value()};
  for (const llvm::Use& argument : call.args()) words.push_back(id(argument.get()));
  define(call, Op::OpExtInst, words);
}

void FunctionWriter::saturate(const llvm::CallInst& call, uint32_t with) {
  define(call, static_cast<Op>(with), {id(call.getArgOperand(0))});
  types_.decorate(id(&call), spv::Decoration::SaturatedConversion);
}

void FunctionWriter::place(const llvm::CallInst& call, uint32_t with) {
  llvm::Type* const size = llvm::Type::getInt64Ty(call.getContext());
  const Id three = types_.type(llvm::FixedVectorType::get(size, 3));
  const Id vector =
      result(Op::OpLoad, three, {module_.builtIn(static_cast<spv::BuiltIn>(with >> 2), three)});
  const Id one = result(Op::OpCompositeExtract, types_.type(size), {vector, with & 3});
  define(call, Op::OpUConvert, {one});
}

void FunctionWriter::barrier(const llvm::CallInst&, uint32_t with) {
  const Id scope = number(with);
  body_.add(Op::OpControlBarrier, {scope, scope, number(strictly | both_memories)});
}

void FunctionWriter::ofSubGroup(const llvm::CallInst& call, uint32_t with) {
  define(call, Op::OpLoad, {module_.builtIn(static_cast<spv::BuiltIn>(with), type(call))});
}

// Of at most 32 lanes, so the first of the four numbers has them all.
void FunctionWriter::ballot(const llvm::CallInst& call, uint32_t) {
  types_.need(spv::Capability::GroupNonUniformBallot);
  auto* four = llvm::FixedVectorType::get(call.getType(), 4);
  const Id lanes = result(Op::OpGroupNonUniformBallot, types_.type(four),
                          {number(sub_group_scope), id(call.getArgOperand(0))});
  define(call, Op::OpCompositeExtract, {lanes, 0});
}

void FunctionWriter::takeFromLane(const llvm::CallInst& call, uint32_t) {
  types_.need(spv::Capability::GroupNonUniformShuffle);
  define(call, Op::OpGroupNonUniformShuffle,
         {number(sub_group_scope), id(call.getArgOperand(0)), id(call.getArgOperand(1))});
}

// An image together with a sampler must not leave its block.
void FunctionWriter::sample(const llvm::CallInst& call, uint32_t) {
  const llvm::Value* const image = call.getArgOperand(0);
  const Id both = result(Op::OpSampledImage, types_.sampledImage(image->getType()),
                         {id(image), id(call.getArgOperand(1))});
  auto* const real = llvm::Type::getFloatTy(call.getContext());
  define(call, Op::OpImageSampleExplicitLod,
         {both, id(call.getArgOperand(2)), static_cast<uint32_t>(spv::ImageOperandsMask::Lod),
          types_.constant(llvm::ConstantFP::getZero(real))});
}

void FunctionWriter::fence(const llvm::CallInst&, uint32_t with) {
  body_.add(Op::OpMemoryBarrier, {number(with), number(strictly | both_memories)});
}

void FunctionWriter::isInSpace(const llvm::CallInst& call, uint32_t with) {
  const Id there = result(Op::OpGenericCastToPtrExplicit, types_.bytes(with),
                          {id(call.getArgOperand(0)), static_cast<uint32_t>(storageClass(with))});
  const Id address =
      result(Op::OpConvertPtrToU, types_.type(llvm::Type::getInt64Ty(call.getContext())), {there});
  define(call, Op::OpINotEqual, {address, long_(0)});
}

}  // namespace weft::compiler::emit
