#include "tests/compiler/passes/fiber_reference.h"

#include <ucontext.h>

#include <gtest/gtest.h>
#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/IR/InstIterator.h>

namespace weft::test {
namespace {

using Kernel = void (*)(uint32_t* out, const uint32_t* in, uint32_t n, uint32_t m,
                        uint32_t* shared);

struct WorkItem {
  std::array<uint64_t, 3> local_id;
  ucontext_t context;
  std::vector<char> stack;
  bool done = false;
};

// The group that runs, and the work-item in it that does.
struct Group {
  NdRange range;
  std::array<uint64_t, 3> id, size;
  WorkItem* current;
  ucontext_t scheduler;
  std::function<void()> kernel;
};
Group* group;

void barrier(uint32_t) { swapcontext(&group->current->context, &group->scheduler); }
void scopedBarrier(uint32_t, uint32_t) { barrier(0); }
uint64_t localId(uint32_t d) { return group->current->local_id[d]; }
uint64_t globalId(uint32_t d) {
  return group->range.offset[d] + group->id[d] * group->range.local[d] + localId(d);
}
uint64_t groupId(uint32_t d) { return group->id[d]; }
uint64_t localSize(uint32_t d) { return group->size[d]; }
uint64_t localLinearId() {
  return (localId(2) * localSize(1) + localId(1)) * localSize(0) + localId(0);
}
uint64_t globalLinearId() {
  const NdRange& r = group->range;
  return ((globalId(2) - r.offset[2]) * r.global[1] + globalId(1) - r.offset[1]) * r.global[0] +
         globalId(0) - r.offset[0];
}
void runWorkItem() {
  group->kernel();
  group->current->done = true;
  setcontext(&group->scheduler);
}

void start(WorkItem& item, const std::array<uint64_t, 3>& local_id) {
  item.local_id = local_id;
  item.done = false;
  item.stack.resize(64 * 1024);
  getcontext(&item.context);
  item.context.uc_stack = {item.stack.data(), 0, item.stack.size()};
  item.context.uc_link = nullptr;
  makecontext(&item.context, runWorkItem, 0);
}

void runGroup(std::vector<WorkItem>& items) {
  size_t count = 0;
  for (uint64_t z = 0; z < group->size[2]; ++z)
    for (uint64_t y = 0; y < group->size[1]; ++y)
      for (uint64_t x = 0; x < group->size[0]; ++x) start(items[count++], {x, y, z});
  for (bool any = true; any;) {
    any = false;
    for (size_t i = 0; i < count; ++i) {
      if (items[i].done) continue;
      any = true;
      group->current = &items[i];
      swapcontext(&group->scheduler, &items[i].context);
    }
  }
}

template <class F>
llvm::orc::ExecutorSymbolDef symbol(F* function) {
  return {llvm::orc::ExecutorAddr::fromPtr(function), llvm::JITSymbolFlags::Exported};
}

}  // namespace

FiberReference::FiberReference(const std::string& source) {
  auto context = std::make_unique<llvm::LLVMContext>();
  std::unique_ptr<llvm::Module> module = compileOpenCl(*context, source);
  for (llvm::Function& function : *module) {
    function.setCallingConv(llvm::CallingConv::C);
    for (llvm::Instruction& instruction : llvm::instructions(function))
      if (auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction))
        call->setCallingConv(llvm::CallingConv::C);
  }
  auto builder = llvm::cantFail(llvm::orc::JITTargetMachineBuilder::detectHost());
  builder.setCodeGenOptLevel(llvm::CodeGenOptLevel::None);
  jit_ = llvm::cantFail(llvm::orc::LLJITBuilder().setJITTargetMachineBuilder(builder).create());
  llvm::orc::SymbolMap symbols;
  auto define = [&](const char* name, auto* function) {
    symbols[jit_->mangleAndIntern(name)] = symbol(function);
  };
  define("_Z7barrierj", barrier);
  define("_Z18work_group_barrierj", barrier);
  define("_Z18work_group_barrierj12memory_scope", scopedBarrier);
  define("_Z12get_local_idj", localId);
  define("_Z13get_global_idj", globalId);
  define("_Z12get_group_idj", groupId);
  define("_Z14get_local_sizej", localSize);
  define("_Z19get_local_linear_idv", localLinearId);
  define("_Z20get_global_linear_idv", globalLinearId);
  llvm::cantFail(jit_->getMainJITDylib().define(llvm::orc::absoluteSymbols(symbols)));
  llvm::cantFail(
      jit_->addIRModule(llvm::orc::ThreadSafeModule(std::move(module), std::move(context))));
}

FiberReference::~FiberReference() = default;

void FiberReference::run(const std::string& kernel, const NdRange& range, uint32_t* out,
                         const uint32_t* in, uint32_t n, uint32_t m) const {
  auto entry = llvm::cantFail(jit_->lookup(kernel)).toPtr<Kernel>();
  std::vector<uint32_t> shared(range.local[0] * range.local[1] * range.local[2]);
  Group here{range, {}, {}, nullptr, {}, [&] { entry(out, in, n, m, shared.data()); }};
  group = &here;
  std::vector<WorkItem> items(shared.size());
  port::LaunchRecord record = recordOf(range);
  for (here.id[2] = 0; here.id[2] < record.group_count[2]; ++here.id[2])
    for (here.id[1] = 0; here.id[1] < record.group_count[1]; ++here.id[1])
      for (here.id[0] = 0; here.id[0] < record.group_count[0]; ++here.id[0]) {
        for (int d = 0; d < 3; ++d)
          here.size[d] = std::min(range.local[d], range.global[d] - here.id[d] * range.local[d]);
        runGroup(items);
      }
  group = nullptr;
}

}  // namespace weft::test
