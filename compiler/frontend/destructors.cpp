#include "compiler/frontend/destructors.h"

#include <deque>
#include <map>

#include <clang/AST/ASTContext.h>
#include <clang/AST/DeclCXX.h>
#include <clang/AST/GlobalDecl.h>
#include <clang/Basic/SourceManager.h>
#include <clang/CodeGen/ModuleBuilder.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/ModuleUtils.h>

namespace weft::compiler {
namespace {

constexpr const char* initializer_prefix = "__cxx_global_var_init";
constexpr int default_priority = 65535;

struct Object {
  const clang::VarDecl* declaration;
  llvm::GlobalVariable* variable;
};

// The objects that one destructor is for, in the order of their construction.
using Objects = std::map<const llvm::Function*, std::deque<Object>>;

// Arrays have a function of their own, which knows them. Objects of functions are constructed when
// control reaches them.
const clang::CXXDestructorDecl* destructorOf(const clang::VarDecl& object,
                                             const clang::ASTContext& declarations) {
  if (object.isStaticLocal() || object.getType()->isArrayType()) return nullptr;
  if (object.needsDestruction(declarations) != clang::QualType::DK_cxx_destructor) return nullptr;
  return object.getType()->getAsCXXRecordDecl()->getDestructor();
}

Objects findObjects(llvm::Module& module, clang::CodeGenerator& generator,
                    const clang::ASTContext& declarations) {
  Objects objects;
  for (llvm::GlobalVariable& variable : module.globals()) {
    const auto* declaration =
        llvm::dyn_cast_or_null<clang::VarDecl>(generator.GetDeclForMangledName(variable.getName()));
    if (!declaration || !variable.hasInitializer()) continue;
    declaration = declaration->getDefinition();
    const auto* destructor = declaration ? destructorOf(*declaration, declarations) : nullptr;
    if (!destructor) continue;
    const auto name = generator.GetMangledName(clang::GlobalDecl(destructor, clang::Dtor_Complete));
    if (const llvm::Function* function = module.getFunction(name))
      objects[function].push_back({declaration, &variable});
  }
  const clang::SourceManager& sources = declarations.getSourceManager();
  for (auto& [function, list] : objects)
    std::stable_sort(list.begin(), list.end(), [&](const Object& a, const Object& b) {
      return sources.isBeforeInTranslationUnit(a.declaration->getLocation(),
                                               b.declaration->getLocation());
    });
  return objects;
}

// What a call of __cxa_atexit in the initialiser of an object registers; null: nothing.
llvm::Function* registered(const llvm::Instruction& instruction) {
  const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
  if (!call || !call->getCalledFunction()) return nullptr;
  if (call->getCalledFunction()->getName() != "__cxa_atexit") return nullptr;
  return llvm::dyn_cast<llvm::Function>(call->getArgOperand(0)->stripPointerCasts());
}

// Initialisers are in the order in which they run.
std::vector<llvm::Function*> registrations(llvm::Module& module) {
  std::vector<llvm::Function*> found;
  for (llvm::Function& function : module) {
    if (!function.getName().starts_with(initializer_prefix)) continue;
    for (const llvm::Instruction& instruction : llvm::instructions(function))
      if (llvm::Function* destructor = registered(instruction)) found.push_back(destructor);
  }
  return found;
}

}  // namespace

void listDestructors(llvm::Module& module, clang::CodeGenerator& generator,
                     const clang::ASTContext& declarations) {
  std::vector<llvm::Function*> order = registrations(module);
  if (order.empty()) return;
  Objects objects = findObjects(module, generator, declarations);
  std::vector<std::pair<llvm::Function*, llvm::Constant*>> calls;
  for (llvm::Function* function : order) {
    llvm::Type* parameter = function->getArg(0)->getType();
    llvm::Constant* object = llvm::Constant::getNullValue(parameter);
    if (auto& list = objects[function]; !list.empty()) {
      object =
          llvm::ConstantExpr::getPointerBitCastOrAddrSpaceCast(list.front().variable, parameter);
      list.pop_front();
    }
    calls.emplace_back(function, object);
  }
  llvm::LLVMContext& context = module.getContext();
  auto* type = llvm::FunctionType::get(llvm::Type::getVoidTy(context), false);
  auto* all = llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage,
                                     "weft.destroy_objects", module);
  all->setCallingConv(llvm::CallingConv::SPIR_FUNC);
  all->setDoesNotThrow();
  llvm::IRBuilder<> builder(llvm::BasicBlock::Create(context, "", all));
  for (auto call = calls.rbegin(); call != calls.rend(); ++call)
    builder.CreateCall(call->first, {call->second})->setCallingConv(call->first->getCallingConv());
  builder.CreateRetVoid();
  llvm::appendToGlobalDtors(module, all, default_priority);
}

}  // namespace weft::compiler
