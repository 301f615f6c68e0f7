#include "compiler/frontend/single_constants.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/DeclGroup.h>
#include <clang/AST/Expr.h>
#include <clang/AST/RecursiveASTVisitor.h>

namespace weft::compiler {
namespace {

class Rounding : public clang::RecursiveASTVisitor<Rounding> {
 public:
  explicit Rounding(clang::ASTContext& context) : context_(context) {}

  bool VisitFloatingLiteral(clang::FloatingLiteral* literal) {
    llvm::APFloat value = literal->getValue();
    if (&value.getSemantics() != &llvm::APFloat::IEEEdouble()) return true;
    bool inexact = false;
    for (const llvm::fltSemantics* format :
         {&llvm::APFloat::IEEEsingle(), &llvm::APFloat::IEEEdouble()})
      value.convert(*format, llvm::APFloat::rmNearestTiesToEven, &inexact);
    literal->setValue(context_, value);
    return true;
  }

 private:
  clang::ASTContext& context_;
};

class Consumer : public clang::ASTConsumer {
 public:
  void Initialize(clang::ASTContext& context) override { context_ = &context; }
  bool HandleTopLevelDecl(clang::DeclGroupRef group) override {
    for (clang::Decl* declaration : group) Rounding(*context_).TraverseDecl(declaration);
    return true;
  }

 private:
  clang::ASTContext* context_ = nullptr;
};

}  // namespace

std::unique_ptr<clang::ASTConsumer> roundConstantsToSingle() {
  return std::make_unique<Consumer>();
}

}  // namespace weft::compiler
