#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/IntrinsicInst.h>

#include "compiler/passes/simd/gathered_words.h"
#include "compiler/passes/simd/vector_access.h"

namespace weft::compiler {

using llvm::BasicBlock;
using llvm::Instruction;
using llvm::Value;

bool loadsRows(llvm::Type* element, unsigned count) {
  const uint64_t bits = count * element->getScalarSizeInBits();
  return count > 1 && llvm::isPowerOf2_32(count) && !element->isPointerTy() && bits >= 32 &&
         bits <= 512;
}

void describeAccess(Value* made, const Instruction& from) {
  if (auto* instruction = llvm::dyn_cast<Instruction>(made))
    instruction->copyMetadata(from, {llvm::LLVMContext::MD_tbaa, llvm::LLVMContext::MD_nontemporal,
                                     llvm::LLVMContext::MD_invariant_load});
}

VectorBody::Access VectorBody::describe(Instruction& access, Value* pointer, llvm::Type* type) {
  llvm::Type* element = partType(type, 0);
  const uint64_t bytes = access.getDataLayout().getTypeStoreSize(element).getFixedValue();
  return {element, partCount(type),
          bytes,   shapes_.of(pointer),
          pointer, llvm::getLoadStoreAlignment(&access)};
}

// The mask for each lane's `count` elements in a row; null for all.
Value* VectorBody::maskOfParts(unsigned count) {
  if (!mask_ || count == 1) return mask_;
  return builder_.CreateShuffleVector(mask_, llvm::createReplicatedMask(count, options_.width));
}

void VectorBody::emitLoad(llvm::LoadInst& load) {
  if (!load.isSimple() || load.getType()->isStructTy()) return emitSerial(load);
  const Access access = describe(load, load.getPointerOperand(), load.getType());
  if (access.inOneBlock()) return setParts(load, loadBlock(access, scalar(access.pointer), load));
  if (access.reversed()) return setParts(load, loadReversed(access, scalar(access.pointer)));
  const bool in_steps = !mask_ || access.bytes >= least_masked;
  if (access.strided() && in_steps)
    return setParts(load, loadStrided(access, access.stride(), scalar(access.pointer), load));
  NeighbourIndex index;
  if (access.count == 1) index = sameIndex(access.pointer, access.bytes, shapes_);
  if (index.index) return setParts(load, loadSame(access, index, load));
  index = access.index(shapes_);
  if (!index.index && in_steps)
    index = stridedIndex(access.pointer, access.bytes, access.count, widest_stride, shapes_);
  if (!index.index && (in_steps || options_.masks_bytes) && access.count == 1)
    index = reversedIndex(access.pointer, access.bytes, shapes_);
  const bool in_block = index.stride == 1 || index.stride == access.count;
  setParts(load, eitherWay(
                     access, index,
                     [&](Value* first) {
                       if (index.is_reversed) return loadReversed(access, first);
                       return in_block ? loadBlock(access, first, load)
                                       : loadStrided(access, index.stride, first, load);
                     },
                     [&] { return gatherNear(access, index, load); }));
}

VectorBody::Parts VectorBody::loadBlock(const Access& access, Value* first, Instruction& from) {
  auto* type = llvm::FixedVectorType::get(access.element, options_.width * access.count);
  Value* mask = maskOfParts(access.count);
  if (!mask && turnsRows(access.element, access.count)) {
    llvm::SmallVector<Value*> rows;
    auto* row = llvm::FixedVectorType::get(access.element, access.count);
    for (unsigned lane = 0; lane < options_.width; ++lane) {
      rows.push_back(builder_.CreateAlignedLoad(row, builder_.CreateConstGEP1_64(row, first, lane),
                                                access.alignment));
      describeAccess(rows.back(), from);
    }
    return columns(rows);
  }
  if (mask && !options_.masks_bytes && access.bytes < sizeof(uint32_t) && access.mayReadMore())
    return deinterleave(loadInPage(type, first, access, mask, from), access.count);
  Value* all =
      mask ? static_cast<Value*>(builder_.CreateMaskedLoad(type, first, access.alignment, mask))
           : builder_.CreateAlignedLoad(type, first, access.alignment);
  describeAccess(all, from);
  return deinterleave(all, access.count);
}

// From the last lane's element on.
VectorBody::Parts VectorBody::loadReversed(const Access& access, Value* first) {
  first = builder_.CreateGEP(
      builder_.getInt8Ty(), first,
      builder_.getInt64(-static_cast<uint64_t>(access.bytes * (options_.width - 1))));
  const llvm::Align alignment = llvm::commonAlignment(access.alignment, access.bytes);
  llvm::Type* type = vectorOf(access.element);
  Value* all = mask_ ? static_cast<Value*>(builder_.CreateMaskedLoad(
                           type, first, alignment, builder_.CreateVectorReverse(mask_)))
                     : builder_.CreateAlignedLoad(type, first, alignment);
  return {builder_.CreateVectorReverse(all)};
}

// One element for all lanes, where they turn out to have the same place. Where none runs there may
// be nothing.
VectorBody::Parts VectorBody::loadSame(const Access& access, const NeighbourIndex& index,
                                       Instruction& from) {
  const auto once = [&](Value* place) -> Parts {
    Value* const all = builder_.CreateAlignedLoad(access.element, place, access.alignment);
    describeAccess(all, from);
    return {builder_.CreateVectorSplat(options_.width, all)};
  };
  return eitherWay(access, index, once, [&] { return gatherNear(access, index, from); });
}

// Without masks for such elements each lane would have a branch. A vector that lies in one page can
// be read whole if any lane reads of it: the page is there.
Value* VectorBody::loadInPage(llvm::Type* type, Value* first, const Access& access, Value* mask,
                              const Instruction& from) {
  auto* bits = builder_.getIntNTy(llvm::cast<llvm::FixedVectorType>(type)->getNumElements());
  first = builder_.CreateFreeze(first);  // it is a lane's that may not run
  Value* any = builder_.CreateIsNotNull(builder_.CreateBitCast(mask, bits));
  Value* fits = isInOnePage(first, access.bytes * access.count * options_.width);
  BasicBlock *whole = newBlock("page"), *each = newBlock("each"), *after = newBlock("loaded");
  builder_.CreateCondBr(builder_.CreateAnd(any, fits), whole, each);
  builder_.SetInsertPoint(whole);
  Value* all = builder_.CreateAlignedLoad(type, first, access.alignment);
  describeAccess(all, from);
  builder_.CreateBr(after);
  builder_.SetInsertPoint(each);
  Value* some = builder_.CreateMaskedLoad(type, first, access.alignment, mask);
  describeAccess(some, from);
  builder_.CreateBr(after);
  builder_.SetInsertPoint(after);
  llvm::PHINode* loaded = builder_.CreatePHI(type, 2);
  loaded->addIncoming(all, whole);
  loaded->addIncoming(some, each);
  return loaded;
}

// Are as many elements per lane better turned row by row than taken apart by shuffles for each?
bool VectorBody::turnsRows(llvm::Type* element, unsigned count) const {
  constexpr unsigned fewest = 8;
  return loadsRows(element, count) && count >= fewest && count <= options_.width &&
         element->getScalarSizeInBits() >= 32;
}

// Whole vectors, the last one ending with the last lane's element. What lies between the elements
// is read, too, if all lanes run.
VectorBody::Parts VectorBody::loadStrided(const Access& access, unsigned stride, Value* first,
                                          Instruction& from) {
  const unsigned width = options_.width;
  const unsigned total = (width - 1) * stride + access.count;
  const unsigned pieces = llvm::divideCeil(total, width);
  llvm::SmallVector<Value*> loaded;
  for (unsigned i = 0; i < pieces; ++i) {
    const unsigned start = i + 1 < pieces ? i * width : total - width;
    Value* place = builder_.CreateConstGEP1_64(builder_.getInt8Ty(), first, start * access.bytes);
    llvm::Type* type = vectorOf(access.element);
    const llvm::Align alignment = llvm::commonAlignment(access.alignment, start * access.bytes);
    if (mask_) {
      llvm::SmallVector<int> lanes;  // that want the element
      for (unsigned at = start; at < start + width; ++at)
        lanes.push_back(static_cast<int>(at % stride < access.count ? at / stride : width));
      Value* none = llvm::Constant::getNullValue(mask_->getType());
      loaded.push_back(builder_.CreateMaskedLoad(type, place, alignment,
                                                 builder_.CreateShuffleVector(mask_, none, lanes)));
    } else {
      loaded.push_back(builder_.CreateAlignedLoad(type, place, alignment));
    }
    describeAccess(loaded.back(), from);
  }
  Value* all = llvm::concatenateVectors(builder_, loaded);
  Parts result;
  for (unsigned part = 0; part < access.count; ++part) {
    llvm::SmallVector<int> places;
    for (unsigned lane = 0; lane < width; ++lane) {
      unsigned place = lane * stride + part;
      if (place >= (pieces - 1) * width) place += pieces * width - total;
      places.push_back(static_cast<int>(place));
    }
    result.push_back(builder_.CreateShuffleVector(all, places));
  }
  return result;
}

// Where what is the same for all lanes is added to their indices, it is added to the base: in a
// loop the indices that are left may not change.
Value* VectorBody::wideAddress(Value* pointer) {
  auto* element = llvm::dyn_cast<llvm::GetElementPtrInst>(pointer);
  if (!element || element->getNumIndices() != 1 || element->getType()->isVectorTy() ||
      !shapes_.isUniform(element->getPointerOperand()))
    return wide(pointer);
  Value* index = element->getOperand(1);
  if (!index->getType()->isIntegerTy(64) || !shapes_.isVarying(index)) return wide(pointer);
  llvm::SmallVector<UniformTerm, 2> terms;
  index = withoutUniformTerms(index, shapes_, terms);
  if (terms.empty() || shapes_.isUniform(index)) return wide(pointer);
  Value* base = scalar(element->getPointerOperand());
  for (const UniformTerm& term : terms) {
    Value* places = scalar(term.value);
    if (term.is_subtracted) places = builder_.CreateNeg(places);
    base = builder_.CreateGEP(element->getSourceElementType(), base, places);
  }
  return builder_.CreateGEP(element->getSourceElementType(), base, wide(index));
}

Value* VectorBody::pointers(const Access& access, unsigned part) {
  Value* all = wideAddress(access.pointer);
  if (part == 0) return all;
  return builder_.CreateGEP(builder_.getInt8Ty(), all, builder_.getInt64(part * access.bytes));
}

// Lanes that do not run get a place of their own, whatever they leave there. They find zeros at
// first: what the stack has might be tiny numbers, with which processors take long to compute.
Value* VectorBody::runningOnly(Value* pointers, llvm::Type* type, llvm::Align alignment) {
  if (!mask_) return pointers;
  llvm::IRBuilder<> builder(entry_, entry_->begin());
  llvm::AllocaInst* variable = builder.CreateAlloca(type, nullptr, "nothing");
  variable->setAlignment(std::max(variable->getAlign(), alignment));
  builder.CreateStore(llvm::Constant::getNullValue(type), variable);
  Value* place = builder_.CreateAddrSpaceCast(variable, pointers->getType()->getScalarType());
  return builder_.CreateSelect(mask_, pointers, builder_.CreateVectorSplat(options_.width, place));
}

// What each lane loads as a vector of 4 or 8 bytes is gathered as one number; a longer one takes a
// load per lane. Then the elements are sorted by their places.
VectorBody::Parts VectorBody::gatherRows(const Access& access, Instruction& from) {
  auto* row = llvm::FixedVectorType::get(access.element, access.count);
  auto* type = llvm::FixedVectorType::get(access.element, options_.width * access.count);
  Value* all = pointers(access, 0);
  if (const unsigned bits = 8 * access.bytes * access.count; bits <= 64) {
    llvm::Type* number = builder_.getIntNTy(bits);
    if (!options_.masks_gathers) all = runningOnly(all, number, access.alignment);
    Value* numbers =
        builder_.CreateMaskedGather(vectorOf(number), all, access.alignment, maskOfGathers());
    describeAccess(numbers, from);
    return deinterleave(builder_.CreateBitCast(numbers, type), access.count);
  }
  all = runningOnly(all, row, access.alignment);
  llvm::SmallVector<Value*> rows;
  for (unsigned lane = 0; lane < options_.width; ++lane) {
    rows.push_back(builder_.CreateAlignedLoad(row, builder_.CreateExtractElement(all, lane),
                                              access.alignment));
    describeAccess(rows.back(), from);
  }
  return columns(rows);
}

// What the lanes have in each place of their rows. Squares of words are turned by exchanging bits
// of an element's place in its vector with those of the vector's number: an instruction for each
// vector and bit.
VectorBody::Parts VectorBody::columns(llvm::ArrayRef<Value*> rows) {
  auto* type = llvm::cast<llvm::FixedVectorType>(rows.front()->getType());
  const unsigned count = type->getNumElements(), width = options_.width;
  if (count > width || type->getScalarSizeInBits() < 32)
    return deinterleave(llvm::concatenateVectors(builder_, rows), count);
  Parts turned;
  for (unsigned i = 0; i < count; ++i) {
    llvm::SmallVector<Value*> apart;
    for (unsigned row = i; row < width; row += count) apart.push_back(rows[row]);
    turned.push_back(llvm::concatenateVectors(builder_, apart));
  }
  for (unsigned bit = 1; bit < count; bit *= 2) {
    llvm::SmallVector<int> low, high;
    for (unsigned place = 0; place < width; ++place) {
      low.push_back(static_cast<int>(place & bit ? width + place - bit : place));
      high.push_back(static_cast<int>(place & bit ? width + place : place + bit));
    }
    for (unsigned i = 0; i < count; ++i) {
      if (i & bit) continue;
      Value *const one = turned[i], *const other = turned[i + bit];
      turned[i] = builder_.CreateShuffleVector(one, other, low);
      turned[i + bit] = builder_.CreateShuffleVector(one, other, high);
    }
  }
  return turned;
}

VectorBody::Parts VectorBody::gather(const Access& access, Instruction& from) {
  if (loadsRows(access.element, access.count)) return gatherRows(access, from);
  Parts result;
  for (unsigned part = 0; part < access.count; ++part) {
    const llvm::Align alignment = llvm::commonAlignment(access.alignment, part * access.bytes);
    Value* all = pointers(access, part);
    if (options_.masks_gathers && alignment.value() >= access.bytes &&
        comeInWords(access.bytes, access.pointer->getType()->getPointerAddressSpace())) {
      result.push_back(gatherFromWords(builder_, access.element, all, mask_));
      continue;
    }
    if (!options_.masks_gathers) all = runningOnly(all, access.element, alignment);
    result.push_back(
        builder_.CreateMaskedGather(vectorOf(access.element), all, alignment, maskOfGathers()));
    describeAccess(result.back(), from);
  }
  return result;
}

// A number in the first lane, given the extended index there.
Value* VectorBody::firstIndex(Value* number, const NeighbourIndex& index, Value* first) {
  if (number == index.extended) return first;
  if (shapes_.isUniform(number)) return scalar(number);
  auto& binary = *llvm::cast<llvm::BinaryOperator>(number);
  Value* left = firstIndex(binary.getOperand(0), index, first);
  Value* right = firstIndex(binary.getOperand(1), index, first);
  const bool is_sum = isDisjointOr(binary);
  return builder_.CreateBinOp(is_sum ? Instruction::Add : binary.getOpcode(), left, right);
}

// The address in the first lane, given the index there.
Value* VectorBody::firstAddress(Value* pointer, const NeighbourIndex& index, Value* first) {
  if (shapes_.isUniform(pointer)) return scalar(pointer);
  auto& element = *llvm::cast<llvm::GetElementPtrInst>(pointer);
  Value* base = firstAddress(element.getPointerOperand(), index, first);
  llvm::SmallVector<Value*> indices;
  for (Value* operand : element.indices()) indices.push_back(firstIndex(operand, index, first));
  return builder_.CreateGEP(element.getSourceElementType(), base, indices);
}

// Does none of the numbers from `first` on wrap that are extended afterwards?
Value* VectorBody::fitsExtended(const NeighbourIndex& index, Value* first) {
  if (!index.is_extended) return builder_.getTrue();
  const unsigned bits = first->getType()->getIntegerBitWidth();
  const llvm::APInt steps(bits, (options_.width - 1) * index.step);
  if (index.is_reversed) {
    const llvm::APInt least =
        index.is_signed ? llvm::APInt::getSignedMinValue(bits) : llvm::APInt(bits, 0);
    return builder_.CreateICmp(index.is_signed ? llvm::CmpInst::ICMP_SGE : llvm::CmpInst::ICMP_UGE,
                               first, builder_.getInt(least + steps));
  }
  if (index.is_signed)
    return builder_.CreateICmpSLE(first,
                                  builder_.getInt(llvm::APInt::getSignedMaxValue(bits) - steps));
  return builder_.CreateICmpULE(first, builder_.getInt(llvm::APInt::getMaxValue(bits) - steps));
}

// The first lane's number, and whether the lanes that run have those that follow it by the stride.
// Where a lane does not run its number may be poison: one freeze serves both.
VectorBody::Sequence VectorBody::sequence(Value* number, int64_t stride) {
  const unsigned width = options_.width;
  llvm::SmallVector<UniformTerm, 2> same_for_all;
  Value* all = wide(withoutUniformTerms(number, shapes_, same_for_all));
  if (mask_) all = builder_.CreateFreeze(all);
  Value* first = builder_.CreateExtractElement(all, uint64_t{0});
  Value* expected =
      builder_.CreateAdd(builder_.CreateVectorSplat(width, first), iota(first->getType(), stride));
  Value* same = builder_.CreateICmpEQ(all, expected);
  if (mask_) same = builder_.CreateOr(same, builder_.CreateNot(mask_));
  Value* follow = builder_.CreateICmpEQ(builder_.CreateBitCast(same, builder_.getIntNTy(width)),
                                        llvm::Constant::getAllOnesValue(builder_.getIntNTy(width)));
  for (const UniformTerm& term : same_for_all)
    first = term.is_subtracted ? builder_.CreateSub(first, scalar(term.value))
                               : builder_.CreateAdd(first, scalar(term.value));
  if (mask_ && !same_for_all.empty()) first = builder_.CreateFreeze(first);
  return {first, follow};
}

// An access that is a block's when the lanes turn out to be neighbours, and every lane's own where
// they do not.
VectorBody::Parts VectorBody::eitherWay(const Access& access, const NeighbourIndex& index,
                                        llvm::function_ref<Parts(Value*)> together,
                                        llvm::function_ref<Parts()> apart) {
  if (!index.index) return apart();
  Value *first = nullptr, *neighbours = nullptr;
  if (index.is_linear) {
    first = scalar(index.index);
    if (mask_) first = builder_.CreateFreeze(first);
    neighbours = fitsExtended(index, first);
  } else {
    const Sequence lanes = sequence(index.index, static_cast<int64_t>(index.step));
    first = lanes.first;
    neighbours = builder_.CreateAnd(lanes.follow, fitsExtended(index, first));
    if (index.step == 0 && mask_) neighbours = builder_.CreateAnd(neighbours, anyOf(mask_));
  }
  BasicBlock *near = newBlock("near"), *far = newBlock("far"), *after = newBlock("accessed");
  builder_.CreateCondBr(neighbours, near, far);
  builder_.SetInsertPoint(near);
  llvm::Type* address = builder_.getInt64Ty();
  Value* extended =
      index.is_signed ? builder_.CreateSExt(first, address) : builder_.CreateZExt(first, address);
  Parts result = together(firstAddress(access.pointer, index, extended));
  near = builder_.GetInsertBlock();
  builder_.CreateBr(after);
  builder_.SetInsertPoint(far);
  const Parts others = apart();
  far = builder_.GetInsertBlock();
  builder_.CreateBr(after);
  builder_.SetInsertPoint(after);
  for (unsigned i = 0; i < result.size(); ++i) {
    llvm::PHINode* either = builder_.CreatePHI(result[i]->getType(), 2);
    either->addIncoming(result[i], near);
    either->addIncoming(others[i], far);
    result[i] = either;
  }
  return result;
}

void VectorBody::emitStore(llvm::StoreInst& store) {
  Value* value = store.getValueOperand();
  if (const auto lane = onlyLane()) return emitForLane(store, *lane);
  if (!store.isSimple() || value->getType()->isStructTy()) return emitSerial(store);
  Value* pointer = store.getPointerOperand();
  if (shapes_.isUniform(pointer)) {
    // Lanes that write to one place may do so in any order: the last one's value stays.
    Value* stored = shapes_.isUniform(value) ? scalar(value) : nullptr;
    if (!stored) {
      Parts all = parts(value);
      if (!value->getType()->isVectorTy())
        stored = lastLane(all.front());
      else
        stored = llvm::PoisonValue::get(value->getType());
      for (unsigned i = 0; value->getType()->isVectorTy() && i < all.size(); ++i)
        stored = builder_.CreateInsertElement(stored, lastLane(all[i]), i);
    }
    describeAccess(builder_.CreateAlignedStore(stored, scalar(pointer), store.getAlign()), store);
    return;
  }
  const Access access = describe(store, pointer, value->getType());
  const Parts all = parts(value);
  if (access.inOneBlock() || access.reversed())
    return storeBlock(access, scalar(pointer), all, store);
  NeighbourIndex index = access.index(shapes_);
  if (!index.index && access.count > 1 && (!mask_ || access.bytes >= least_masked))
    index = recordIndex(access.pointer, access.bytes, access.count, shapes_);
  eitherWay(
      access, index,
      [&](Value* first) {
        storeBlock(access, first, all, store);
        return Parts();
      },
      [&] {
        scatter(access, all, store);
        return Parts();
      });
}

void VectorBody::storeBlock(const Access& access, Value* first, const Parts& value,
                            Instruction& from) {
  Value* all = interleave(value);
  Value* mask = maskOfParts(access.count);
  llvm::Align alignment = access.alignment;
  if (access.reversed()) {
    first = builder_.CreateGEP(
        builder_.getInt8Ty(), first,
        builder_.getInt64(-static_cast<uint64_t>(access.bytes * (options_.width - 1))));
    all = builder_.CreateVectorReverse(all);
    if (mask) mask = builder_.CreateVectorReverse(mask);
    alignment = llvm::commonAlignment(alignment, access.bytes);
  }
  describeAccess(
      mask ? builder_.CreateMaskedStore(all, first, alignment, mask)
           : static_cast<Instruction*>(builder_.CreateAlignedStore(all, first, alignment)),
      from);
}

void VectorBody::scatter(const Access& access, const Parts& value, Instruction& from) {
  for (unsigned part = 0; part < access.count; ++part) {
    const llvm::Align alignment = llvm::commonAlignment(access.alignment, part * access.bytes);
    Value* all = pointers(access, part);
    if (!options_.masks_gathers) all = runningOnly(all, access.element, alignment);
    describeAccess(builder_.CreateMaskedScatter(value[part], all, alignment, maskOfGathers()),
                   from);
  }
}

}  // namespace weft::compiler
