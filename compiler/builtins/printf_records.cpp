// printf calls become records in the launch's print buffer (core/printf.h). Text that is known now
// is stored from the code itself; the host needs nothing but the buffer.
#include <optional>

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/Endian.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include "compiler/builtins/builtins.h"
#include "compiler/builtins/printf_arguments.h"

namespace weft::compiler {
namespace {

using llvm::Value;

constexpr unsigned global_space = 1, constant_space = 2;

// Which of the arguments behind the format are strings.
std::vector<bool> stringArguments(llvm::StringRef format) {
  std::vector<bool> strings;
  while (true) {
    format = format.substr(format.find('%'));
    if (!format.consume_front("%")) return strings;
    if (format.consume_front("%")) continue;
    format = format.substr(format.find_first_of("diouxXfFeEgGaAcspn"));
    strings.push_back(format.starts_with("s"));
  }
}

// Characters that go into a record: known now, or read there.
struct Text {
  std::optional<llvm::StringRef> known;
  Value* address = nullptr;
  Value* length = nullptr;
  Value* bytes = nullptr;  // in the record: a multiple of 8
};

class CallLowering {
 public:
  explicit CallLowering(llvm::CallInst& call)
      : call_(call), module_(*call.getModule()), builder_(&call) {}

  void lower() {
    format_ = describe(call_.getArgOperand(0), /*terminated=*/true);
    Value* bytes = add(builder_.getInt64(sizeof(PrintRecordHead)), format_.bytes);
    describeArguments();
    for (unsigned i = 1; i < call_.arg_size(); ++i) bytes = add(bytes, argumentBytes(i));
    Value* record = builder_.CreateCall(
        function("__weft_print_begin", pointer(global_space), {builder_.getInt64Ty()}), bytes);
    Value* there = builder_.CreateIsNotNull(record);
    Value* result = builder_.CreateSelect(there, builder_.getInt32(0), builder_.getInt32(~0u));
    builder_.SetInsertPoint(llvm::SplitBlockAndInsertIfThen(there, &call_, false));
    store(record, bytes);
    call_.replaceAllUsesWith(result);
    call_.eraseFromParent();
  }

 private:
  void describeArguments() {
    strings_.resize(call_.arg_size());
    // A format that is not known now prints strings as the addresses that they are.
    const auto strings = format_.known ? stringArguments(*format_.known) : std::vector<bool>();
    for (unsigned i = 1; i < call_.arg_size(); ++i) {
      Value* value = call_.getArgOperand(i);
      if (i <= strings.size() && strings[i - 1] && value->getType()->isPointerTy() &&
          value->getType()->getPointerAddressSpace() == constant_space)
        strings_[i] = describe(value, /*terminated=*/false);
    }
  }

  Text describe(Value* address, bool terminated) {
    Text text;
    const uint64_t zeros = terminated ? 8 : 7;
    llvm::StringRef known;
    if (llvm::getConstantStringInfo(address, known)) {
      text.known = known;
      text.length = builder_.getInt64(known.size());
      text.bytes = builder_.getInt64((known.size() + zeros) / 8 * 8);
      return text;
    }
    text.address = builder_.CreatePointerBitCastOrAddrSpaceCast(address, pointer(constant_space));
    text.length = builder_.CreateCall(
        function("__weft_print_length", builder_.getInt64Ty(), {pointer(constant_space)}),
        text.address);
    text.bytes = builder_.CreateAnd(add(text.length, builder_.getInt64(zeros)), ~uint64_t{7});
    return text;
  }

  Value* argumentBytes(unsigned i) {
    if (strings_[i]) return add(builder_.getInt64(sizeof(PrintfArgument)), strings_[i]->bytes);
    return builder_.getInt64(
        packedBytes(describeArgument(call_.getArgOperand(i)->getType(), module_.getDataLayout())));
  }

  void store(Value* record, Value* bytes) {
    Value* head = builder_.CreateOr(bytes, builder_.CreateShl(format_.bytes, 32));
    builder_.CreateAlignedStore(head, record, llvm::Align(8));
    Value* at = next(record, builder_.getInt64(sizeof(PrintRecordHead)));
    storeText(at, format_);
    at = next(at, format_.bytes);
    for (unsigned i = 1; i < call_.arg_size(); ++i) {
      if (strings_[i])
        storeString(at, *strings_[i]);
      else
        storeArgument(builder_, at, call_.getArgOperand(i));
      at = next(at, argumentBytes(i));
    }
  }

  void storeString(Value* at, const Text& text) {
    const uint64_t head = packedHead({PrintfKind::string, 1, 0, 0});
    Value* count = builder_.CreateShl(text.length, 8 * offsetof(PrintfArgument, count));
    builder_.CreateAlignedStore(builder_.CreateOr(count, head), at, llvm::Align(8));
    storeText(next(at, builder_.getInt64(sizeof(PrintfArgument))), text);
  }

  void storeText(Value* at, const Text& text) {
    if (!text.known) {
      auto* print = function("__weft_print_string", builder_.getVoidTy(),
                             {pointer(global_space), pointer(constant_space), builder_.getInt64Ty(),
                              builder_.getInt64Ty()});
      builder_.CreateCall(print, {at, text.address, text.length, text.bytes});
      return;
    }
    const uint64_t bytes = llvm::cast<llvm::ConstantInt>(text.bytes)->getZExtValue();
    std::string padded = text.known->str();
    padded.resize(bytes);
    for (uint64_t i = 0; i < bytes; i += 8)
      builder_.CreateAlignedStore(
          builder_.getInt64(llvm::support::endian::read64le(padded.data() + i)),
          next(at, builder_.getInt64(i)), llvm::Align(8));
  }

  Value* add(Value* left, Value* right) { return builder_.CreateAdd(left, right); }
  Value* next(Value* address, Value* bytes) {
    return builder_.CreateInBoundsGEP(builder_.getInt8Ty(), address, bytes);
  }
  llvm::Type* pointer(unsigned space) { return builder_.getPtrTy(space); }
  llvm::Function* function(const char* name, llvm::Type* result,
                           llvm::ArrayRef<llvm::Type*> parameters) {
    auto* type = llvm::FunctionType::get(result, parameters, false);
    return llvm::cast<llvm::Function>(module_.getOrInsertFunction(name, type).getCallee());
  }

  llvm::CallInst& call_;
  llvm::Module& module_;
  llvm::IRBuilder<> builder_;
  Text format_;
  std::vector<std::optional<Text>> strings_;  // by argument
};

}  // namespace

void lowerPrintfToRecords(llvm::Module& module) {
  llvm::Function* function = module.getFunction("printf");
  if (!function || !function->isDeclaration()) return;
  for (llvm::User* user : llvm::make_early_inc_range(function->users())) {
    auto* call = llvm::dyn_cast<llvm::CallInst>(user);
    if (call && call->getCalledOperand() == function) CallLowering(*call).lower();
  }
  if (function->use_empty()) function->eraseFromParent();
}

}  // namespace weft::compiler
