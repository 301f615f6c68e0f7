// Pipes, as the functions that Clang calls for OpenCL C's (cl/pipe.cl).
#include "compiler/spirv/function_reader.h"

namespace weft::compiler::spirv {
namespace {

using spv::Op;

// The operands are the function's arguments, but for a scope that comes first.
struct PipeRow {
  Op op;
  const char* name;
  bool of_group = false;
  bool of_access = false;  // there is one for pipes to read and one for pipes to write
};

constexpr PipeRow rows[] = {
    {Op::OpReadPipe, "__read_pipe_2"},
    {Op::OpWritePipe, "__write_pipe_2"},
    {Op::OpReservedReadPipe, "__read_pipe_4"},
    {Op::OpReservedWritePipe, "__write_pipe_4"},
    {Op::OpReserveReadPipePackets, "__reserve_read_pipe"},
    {Op::OpReserveWritePipePackets, "__reserve_write_pipe"},
    {Op::OpCommitReadPipe, "__commit_read_pipe"},
    {Op::OpCommitWritePipe, "__commit_write_pipe"},
    {Op::OpGroupReserveReadPipePackets, "group_reserve_read_pipe", true},
    {Op::OpGroupReserveWritePipePackets, "group_reserve_write_pipe", true},
    {Op::OpGroupCommitReadPipe, "group_commit_read_pipe", true},
    {Op::OpGroupCommitWritePipe, "group_commit_write_pipe", true},
    {Op::OpGetNumPipePackets, "__get_pipe_num_packets_", false, true},
    {Op::OpGetMaxPipePackets, "__get_pipe_max_packets_", false, true},
};

}  // namespace

llvm::Value* FunctionReader::emitPipe(const Instruction& instruction) {
  const auto& operands = instruction.operands;
  if (instruction.op == Op::OpIsValidReserveId)
    return callTyped("is_valid_reserve_id", builder_.getInt1Ty(), {argument(operands.at(0))});
  // A pipe is the address of its memory, once its type is lowered (builtins/opaque_types.cpp).
  if (instruction.op == Op::OpCreatePipeFromPipeStorage) {
    const bool writes = types_.at(instruction.type).access == spv::AccessQualifier::WriteOnly;
    return callPlain(writes ? "__weft_pipe_of_storage_wo" : "__weft_pipe_of_storage_ro",
                     llvmType(instruction), {value(operands.at(0))});
  }
  for (const PipeRow& row : rows) {
    if (row.op != instruction.op) continue;
    std::string name = row.name;
    if (row.of_group) {
      const auto scope = static_cast<spv::Scope>(module_.number(operands.at(0)));
      name.insert(0, scope == spv::Scope::Subgroup ? "__sub_" : "__work_");
    }
    const Type& pipe = types_.at(typeOf(operands.at(row.of_group ? 1 : 0)));
    if (pipe.op != Op::OpTypePipe) throw Failure("a pipe is expected");
    if (row.of_access) name += pipe.access == spv::AccessQualifier::WriteOnly ? "wo" : "ro";
    llvm::SmallVector<llvm::Value*> values;
    for (size_t i = row.of_group ? 1 : 0; i < operands.size(); ++i)
      values.push_back(plain(operands[i]));
    llvm::CallInst* made = llvm::cast<llvm::CallInst>(callPlain(
        name.c_str(), instruction.type ? llvmType(instruction) : builder_.getVoidTy(), values));
    made->setConvergent();
    return made;
  }
  return nullptr;
}

// Numbers as words, pointers as generic ones.
llvm::Value* FunctionReader::plain(Id id) {
  llvm::Type* type = value(id)->getType();
  if (type->isPointerTy()) return generic(id);
  return type->isIntegerTy() ? number(id, builder_.getInt32Ty()) : value(id);
}

}  // namespace weft::compiler::spirv
