// The part of a SPIR-V module in front of its functions: capabilities, types, constants.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/DenseMap.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/DataLayout.h>
#include <llvm/IR/Operator.h>
#include <spirv/unified1/spirv.hpp11>

namespace weft::compiler::emit {

using Id = uint32_t;

// The address spaces of a module that is to become SPIR-V.
inline constexpr unsigned generic_space = 0, global_space = 1, local_space = 3, private_space = 5;

// Instructions one behind the other.
class Words {
 public:
  void add(spv::Op op, llvm::ArrayRef<uint32_t> operands);
  void append(const Words& more) {
    words_.insert(words_.end(), more.words_.begin(), more.words_.end());
  }
  const std::vector<uint32_t>& all() const { return words_; }

 private:
  std::vector<uint32_t> words_;
};

// A string as words, with its zero.
std::vector<uint32_t> literal(llvm::StringRef text);

// What cannot be said in SPIR-V. Thrown within the emitter, which turns it into an llvm::Error.
struct Inexpressible {
  std::string what;
};
[[noreturn]] void refuse(const std::string& what);
// "what" and how LLVM prints the type or the value.
[[noreturn]] void refuse(const std::string& what, const llvm::Type& type);
[[noreturn]] void refuse(const std::string& what, const llvm::Value& value);

class Types {
 public:
  using Variables = std::function<Id(const llvm::GlobalVariable&)>;
  // `variables`: the ids of those that constants point at.
  Types(const llvm::DataLayout& layout, Variables variables)
      : layout_(layout), variables_(std::move(variables)) {}

  Id newId() { return next_++; }
  Id bound() const { return next_; }

  Id type(llvm::Type* type);
  // Of pointers, which are to bytes: what they point at is said where they are used.
  Id pointerTo(unsigned space, Id type);
  Id pointerTo(unsigned space, llvm::Type* pointee) { return pointerTo(space, type(pointee)); }
  Id bytes(unsigned space);
  // Of an image and a sampler together.
  Id sampledImage(llvm::Type* image);
  Id functionType(Id result, llvm::ArrayRef<Id> parameters);

  Id constant(const llvm::Constant* constant);
  Id number(llvm::LLVMContext& context, uint32_t value);
  Id undefined(llvm::Type* type);

  void need(spv::Capability capability) { capabilities_.insert(capability); }
  void needExtension(llvm::StringRef name) { extensions_.insert(name); }
  const std::set<llvm::StringRef>& extensions() const { return extensions_; }
  const std::set<spv::Capability>& capabilities() const { return capabilities_; }
  void decorate(Id id, spv::Decoration decoration, llvm::ArrayRef<uint32_t> operands = {});

  const llvm::DataLayout& layout() const { return layout_; }
  Words declarations;
  Words decorations;

 private:
  Id make(llvm::Type* type);
  Id makeInteger(unsigned bits);
  Id makeFloat(unsigned bits);
  Id makeVector(llvm::FixedVectorType& type);
  Id makeArray(llvm::ArrayType& type);
  Id makeStruct(llvm::StructType& type);
  Id makeOpaque(llvm::TargetExtType& type);
  Id makeConstant(const llvm::Constant* constant);
  Id literalOf(llvm::Type* type, const llvm::APInt& bits);
  Id composite(const llvm::Constant* constant);
  Id pointerConstant(const llvm::Constant* constant);
  Id placeConstant(const llvm::GEPOperator& place);

  const llvm::DataLayout& layout_;
  const Variables variables_;
  Id next_ = 1;
  llvm::DenseMap<llvm::Type*, Id> types_;
  llvm::DenseMap<const llvm::Constant*, Id> constants_;
  std::map<std::pair<unsigned, Id>, Id> pointers_;
  std::map<std::vector<Id>, Id> functions_;
  std::map<unsigned, Id> integers_;
  std::map<Id, Id> sampled_images_;  // by the image's type
  std::set<llvm::StringRef> extensions_;
  std::set<spv::Capability> capabilities_{spv::Capability::Addresses, spv::Capability::Linkage,
                                          spv::Capability::Kernel};
};

spv::StorageClass storageClass(unsigned space);

}  // namespace weft::compiler::emit
