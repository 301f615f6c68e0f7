#include "compiler/passes/simd/vectorise.h"

#include <algorithm>
#include <cmath>

#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Module.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include "compiler/builtins/number_parts.h"
#include "compiler/passes/lane_order.h"
#include "compiler/passes/pixel_calls.h"
#include "compiler/passes/scalarise_lanes.h"
#include "compiler/passes/simd/address_sums.h"
#include "compiler/passes/simd/bounds.h"
#include "compiler/passes/simd/chosen_loads.h"
#include "compiler/passes/simd/control_levels.h"
#include "compiler/passes/simd/far_loads.h"
#include "compiler/passes/simd/joined_loads.h"
#include "compiler/passes/simd/joined_stores.h"
#include "compiler/passes/simd/joint_rows.h"
#include "compiler/passes/simd/lane_arrays.h"
#include "compiler/passes/simd/lane_code.h"
#include "compiler/passes/simd/lane_shapes.h"
#include "compiler/passes/simd/loop_rows.h"
#include "compiler/passes/simd/narrowing.h"
#include "compiler/passes/simd/row_blocks.h"
#include "compiler/passes/simd/simplify_lane.h"
#include "compiler/passes/simd/step_counters.h"
#include "compiler/passes/simd/table_loads.h"
#include "compiler/passes/simd/turn_vectors.h"
#include "compiler/passes/simd/vector_body.h"
#include "compiler/passes/simd/vector_cost.h"
#include "compiler/passes/simd/vector_report.h"
#include "compiler/passes/simd/vector_support.h"
#include "core/ports/capabilities.h"

namespace weft::compiler {
namespace {

using llvm::Function;
using llvm::Instruction;

constexpr unsigned forced_rows = 3;
constexpr size_t most_forced = 3000;  // instructions of all of them
constexpr unsigned narrowest = 4;     // vectors

// Says how large the ids and sizes of a work-group can be: in 32 bits they are what they are in 64,
// so that rows and elements of local memory lie constant distances apart. Not for LLVM's
// vectoriser, whose vectors would count lanes in 64 bits.
void limitIds(Function& lane, unsigned first) {
  constexpr uint64_t most = port::cpu_max_work_group_size;
  const auto limit = [&](unsigned parameter, uint64_t least, uint64_t end) {
    const llvm::ConstantRange range(llvm::APInt(64, least), llvm::APInt(64, end));
    lane.addParamAttr(first + parameter,
                      llvm::Attribute::get(lane.getContext(), llvm::Attribute::Range, range));
  };
  for (unsigned d = 0; d < 3; ++d) {
    limit(env::local_id + d, 0, most);
    limit(env::local_size + d, 1, most + 1);
  }
  limit(env::lane, 0, most);
}

// Of more bits than elements of vectors have: what LLVM's vectoriser makes of them takes longer
// than the processor's own products of twice as many bits, lane by lane.
bool hasLongIntegers(const Function& function) {
  return llvm::any_of(llvm::instructions(function), [](const Instruction& instruction) {
    const llvm::Type* const type = instruction.getType();
    return type->isIntOrIntVectorTy() && type->getScalarSizeInBits() > 64;
  });
}

// In instructions for one element.
size_t size(Function& lane) {
  size_t sum = 0;
  for (const Instruction& instruction : llvm::instructions(lane))
    sum += std::max(1u, partCount(instruction.getType()));
  return sum;
}

// What becomes of the source's vectors before LLVM's vectoriser, which takes no loop with them.
enum class SourceVectors : uint8_t { taken_apart, whole, unknown };

bool hasVectors(const Function& lane) {
  return llvm::any_of(llvm::instructions(lane), [](const Instruction& instruction) {
    return instruction.getType()->isVectorTy() ||
           llvm::any_of(instruction.operands(),
                        [](const llvm::Use& use) { return use->getType()->isVectorTy(); });
  });
}

unsigned registerBits(const Function& function, const llvm::TargetMachine& machine) {
  return machine.getTargetTransformInfo(function)
      .getRegisterBitWidth(llvm::TargetTransformInfo::RGK_FixedWidthVector)
      .getFixedValue();
}

class RegionVectoriser {
 public:
  RegionVectoriser(const KernelBody& body, const SplitKernel& split, Region& region,
                   llvm::TargetMachine& machine, Vectorising mode)
      : body_(body),
        region_(region),
        machine_(machine),
        mode_(mode),
        exchanges_(hasExchanges(*region.function)),
        between_barriers_(split.regions.size() > 1),
        uses_rows_(llvm::any_of(split.regions, [&](const Region& other) {
          return !other.function->getArg(body.firstHidden() + env::local_id + 1)->use_empty();
        })) {}

  // False if it is left open because it depends on what becomes of the source's vectors.
  bool run(SourceVectors vectors) {
    source_vectors_ = vectors;
    left_open_ = false;
    makeForms();
    return !left_open_;
  }

  // What vectors of lanes take, before short loops are unrolled as a whole, which hides what they
  // were; and whether a lane alone, with such a loop that LLVM makes vectors of, takes no longer.
  struct RolledCost {
    double vectors = 0;
    bool is_faster_by_turns = false;
  };
  RolledCost rolledCost() {
    if (region_.outcomes.empty() || region_.function->getInstructionCount() > longest()) return {};
    cloneLane();
    inlineCalls(*lane_, hasNumberParts(machine_, 32 * width()), longest());
    rotateLoops(*lane_, machine_);
    RolledCost result;
    if (LaneCode code(*lane_, body_.firstHidden()); code.valid()) {
      const VectorCost cost =
          vectorCost(*lane_, code.levels(), code.shapes(), code.farLoads(), width(), gatherCost());
      result = {cost.vectors, !exchanges_ && hasShortLoop(*lane_) && !cost.pays() &&
                                  !blocksOfTurnVectors(*lane_, code.shapes()).empty()};
    }
    lane_->eraseFromParent();
    return result;
  }

 private:
  static constexpr const char* not_faster = "vectors are not estimated to be faster";

  void makeForms() {
    if (region_.outcomes.empty() || region_.for_all_lanes) return;
    if (region_.function->getInstructionCount() > longest()) return refuseByLength();
    cloneLane();
    const bool inlined = inlineCalls(*lane_, hasNumberParts(machine_, 32 * width()), longest());
    unrolls_arrays_ = simplifyLane(*lane_, machine_, inlined || uses_rows_);
    interleaveArrays(*lane_, width());
    vectorise();
    lane_->eraseFromParent();
  }

  void cloneLane() {
    llvm::ValueToValueMapTy map;
    lane_ = llvm::CloneFunction(region_.function, map);
    lane_->setName(region_.function->getName() + ".lane");
    limitIds(*lane_, body_.firstHidden());
  }

  // LLVM's vectoriser sees itself what is extended.
  bool isOurs(const LaneCode& code) const {
    return mode_ == Vectorising::always || exchanges_ || code.levels().levels().size() > 1 ||
           isBeyondLoopVectoriser(*lane_, code.levels(), code.shapes(), slowMasks());
  }

  // Changes what hides neighbours, and what lanes load one by one from places far from each other.
  void loadByRows(std::optional<LaneCode>& code) {
    const auto again = [&] { code.emplace(*lane_, body_.firstHidden()); };
    if (code->valid() && loadFromTables(*lane_, code->shapes(), tableLengths(machine_))) again();
    if (code->valid() && branchToChosenLoads(*lane_, code->shapes())) again();
    while (code->valid() && countStepsApart(*lane_, code->shapes())) again();
    while (code->valid() && addIndicesFirst(*lane_, code->shapes())) again();
    if (code->valid() && isOurs(*code) && restoreExtensions(*lane_, code->shapes())) again();
    if (code->valid() && code->levels().levels().size() > 1 &&
        loadLoopsByRows(*lane_, code->shapes(), code->levels(), machine_, width()))
      again();
    if (code->valid() && joinLoadsSideBySide(*lane_, code->shapes(), width())) again();
    if (code->valid() && joinStoresOfRecords(*lane_, code->shapes())) again();
  }

  // There may be another form of the kernel, in which that goes the other way.
  void refuseByEstimate(const char* why) {
    region_.other_forms |= static_cast<uint8_t>(port::CodeForm::vectors);
    refuse(why);
  }

  // Code that works on long vectors already gains nothing.
  bool mayBeLonger() const {
    return size(*region_.function) <= 2 * region_.function->getInstructionCount();
  }
  size_t longest() const {
    return mode_ == Vectorising::always && mayBeLonger() ? most_wanted_instructions
                                                         : most_instructions;
  }
  void refuseByLength() {
    constexpr const char* too_long = "its code is too long";
    const bool may_be_wanted =
        mayBeLonger() && region_.function->getInstructionCount() <= most_wanted_instructions;
    may_be_wanted ? refuseByEstimate(too_long) : refuse(too_long);
  }

  void refuse(const llvm::Twine& why, const Instruction* where = nullptr) {
    reportRefusal(*region_.function, where, why);
  }

  // Lanes of a vector. Where rows are known to fill half of one at most, it is shorter.
  unsigned width() const {
    if (exchanges_) return body_.sub_groups.width;
    const unsigned widest = vectorLanes(*region_.function, machine_);
    const uint64_t row = body_.usual_size[0];
    if (row == 0 || body_.groups > 1) return widest;
    return std::clamp<unsigned>(llvm::bit_ceil(std::min<uint64_t>(row, widest)), narrowest, widest);
  }

  unsigned registers() const {
    const llvm::TargetTransformInfo info = machine_.getTargetTransformInfo(*region_.function);
    return info.getNumberOfRegisters(info.getRegisterClassForType(/*Vector=*/true));
  }

  // Of short code between barriers LLVM's vectoriser makes good vectors for rows that are shorter
  // than one of ours. A masked vector of ours for rows of 12 or more was faster there, but with
  // that check rows of 16 became up to a sixth slower.
  // Elsewhere rows have to be so long that part of a vector pays, which is an estimate.
  void leaveShortRows(VectorRegion& result, const ControlLevels& levels,
                      const VectorCost& cost) const {
    constexpr double margin = 1.5;
    const double pays = std::ceil(margin * width() * cost.vectors / cost.lanes);
    result.shares_rows = between_barriers_ && levels.levels().size() == 1;
    result.least_lanes =
        result.shares_rows ? width()
                           : static_cast<unsigned>(std::clamp<double>(pays, width() / 4, width()));
  }

  void vectorise() {
    const bool has_long = hasLongIntegers(*region_.function);
    region_.stays_scalar |= has_long;
    if (size(*lane_) > longest()) return refuseByLength();
    for (const Instruction& instruction : llvm::instructions(*lane_)) {
      if (isSupported(instruction)) continue;
      return refuse(llvm::Twine("no vector form of ") + instruction.getOpcodeName(), &instruction);
    }
    if (mode_ != Vectorising::always && !exchanges_ &&
        vectorsFillRegisters(*lane_, registerBits(*lane_, machine_))) {
      region_.stays_scalar = true;
      return refuseByEstimate("its vectors fill registers by themselves");
    }
    std::optional<LaneCode> made(std::in_place, *lane_, body_.firstHidden());
    loadByRows(made);
    if (!made->valid()) return refuse("its control flow is irreducible or too long");
    LaneCode& code = *made;
    ControlLevels& levels = code.levels();
    const LaneShapes& shapes = code.shapes();
    const FarLoads far = code.farLoads();
    const VectorCost cost = vectorCost(*lane_, levels, shapes, far, width(), gatherCost());
    if (mode_ != Vectorising::always && !exchanges_) {
      const bool without_loops = levels.levels().size() == 1;
      region_.stays_scalar = has_long || (without_loops && cost.vectors > cost.lanes);
      if (without_loops && !region_.loses_order) region_.loses_order = mayLoseOrder(*lane_);
      if (without_loops && !unrolls_arrays_ && !region_.loses_order &&
          !isBeyondLoopVectoriser(*lane_, levels, shapes, slowMasks()) &&
          !isLongArithmetic(*lane_, levels, shapes)) {
        if (region_.stays_scalar) return refuse(not_faster);
        if (!hasVectors(*lane_) || source_vectors_ == SourceVectors::taken_apart)
          return refuseByEstimate("it has no loops");
        left_open_ = source_vectors_ == SourceVectors::unknown;
        if (left_open_) return;
      }
      if (!cost.pays()) return refuseByEstimate(not_faster);
      if (scattersArrays(*lane_, shapes) && cost.vectors * gatherCost().for_arrays > cost.lanes)
        return refuseByEstimate("private arrays");
      region_.other_forms |= static_cast<uint8_t>(port::CodeForm::lanes);
    }
    reportVectors(*lane_, levels, shapes, width(), cost);
    if (exchanges_) return runSubGroups(code);
    const Bounds bounds = findBounds(*lane_);
    VectorRegion result;
    joinRows(result, code, testedBounds(bounds, shapes));
    levels.shareMasks();
    addRow(result, code, testedBounds(bounds, shapes));
    result.tail = code.emit(options(width(), /*whole=*/false));
    result.tail->addFnAttr(llvm::Attribute::NoInline);
    result.narrows_global_id = shapes.narrowsGlobalId();
    result.narrows_product = shapes.narrowsProduct();
    if (!between_barriers_ && region_.outcomes.size() == 1) {
      result.wanted = someInsideRow(*lane_, shapes, bounds, body_.firstHidden() + env::local_size);
      if (result.rows.back().forms.back().suits)
        result.tail_wanted = someInside(*lane_, shapes, bounds, width());
    }
    if (mode_ != Vectorising::always) leaveShortRows(result, levels, cost);
    region_.vector = result;
  }

  // Each of them is one vector of a row, the last one of a shorter row a part of it. Launches whose
  // ids might not be as vectors take them to be do not come here (entry_forms.h).
  void runSubGroups(LaneCode& code) {
    VectorRegion result;
    result.always = true;
    code.levels().shareMasks();
    result.rows.emplace_back().forms.push_back(
        {code.emit(options(width(), /*whole=*/true)), width(), nullptr});
    result.tail = code.emit(options(width(), /*whole=*/false));
    result.tail->addFnAttr(llvm::Attribute::NoInline);
    region_.vector = result;
  }

  bool outcomePerLane() const { return region_.outcomes.size() > 1 && !region_.uniform_outcome; }

  // Masked stores of AVX and AVX2 are microcode on AMD's processors, those of bytes a branch for
  // each lane, and before AVX all are.
  bool slowMasks() const {
    return machine_.getTargetTriple().isX86() &&
           !machine_.getMCSubtargetInfo()->checkFeatures("+avx512vl");
  }

  // LLVM takes those of older Intel processors for fast, too, which they are no longer since they
  // must not leak what they load. AVX-VNNI came with the first that need no such care.
  const GatherCost& gatherCost() const {
    const bool fast = machine_.getTargetTriple().isX86() &&
                      machine_.getMCSubtargetInfo()->checkFeatures("+fast-gather,+avxvnni");
    return fast ? fast_gathers : slow_gathers;
  }

  bool masksBytes() const {
    llvm::Type* type =
        llvm::FixedVectorType::get(llvm::Type::getInt8Ty(lane_->getContext()), width());
    return machine_.getTargetTransformInfo(*lane_).isLegalMaskedLoad(type, llvm::Align(1));
  }

  bool masksGathers() const {
    llvm::Type* type =
        llvm::FixedVectorType::get(llvm::Type::getFloatTy(lane_->getContext()), width());
    return machine_.getTargetTransformInfo(*lane_).isLegalMaskedGather(type, llvm::Align(4));
  }

  VectorOptions options(unsigned lanes, bool whole) const {
    return {lanes,          whole,        outcomePerLane(),
            masksGathers(), masksBytes(), pixelLanes(machine_),
            permutedLanes()};
  }

  unsigned permutedLanes() const {
    if (!machine_.getTargetTriple().isX86()) return 0;
    const auto has = [&](const char* features) {
      return machine_.getMCSubtargetInfo()->checkFeatures(features);
    };
    return std::min(has("+avx512f") ? 16u
                    : has("+avx2")  ? 8u
                                    : 0u,
                    vectorLanes(*region_.function, machine_));
  }

  // Those that whole vectors are tested for, so that they need no masks.
  llvm::ArrayRef<Bound> testedBounds(llvm::ArrayRef<Bound> bounds, const LaneShapes& shapes) const {
    if (!slowMasks() || outcomePerLane()) return {};
    for (; !bounds.empty(); bounds = bounds.drop_back())
      if (Function* test = allInside(*lane_, shapes, bounds, width())) {
        test->eraseFromParent();
        break;
      }
    return bounds;
  }

  void addForm(VectorRows& rows, LaneCode& code, unsigned vectors, llvm::ArrayRef<Bound> bounds,
               const LaneShapes& shapes) {
    const unsigned lanes = vectors * width();
    Function* suits = bounds.empty() ? nullptr : allInside(*lane_, shapes, bounds, lanes);
    rows.forms.push_back({code.emit(options(lanes, /*whole=*/true)), lanes, suits});
  }

  void addRow(VectorRegion& result, LaneCode& code, llvm::ArrayRef<Bound> bounds) {
    Function* inside = nullptr;
    std::optional<LaneCode> code_inside;
    if (!bounds.empty()) {
      llvm::ValueToValueMapTy map;
      inside = llvm::CloneFunction(lane_, map);
      stayInside(*inside, bounds.size());
      code_inside.emplace(*inside, body_.firstHidden()).levels().shareMasks();
    }
    Function& function = inside ? *inside : *lane_;
    LaneCode& own = inside ? *code_inside : code;
    // Elements of arrays lie as far apart as one vector has lanes.
    const unsigned count =
        hasInterleavedArrays(function)
            ? 1
            : vectorsAtOnce(function, own.levels(), own.shapes(), own.farLoads(), registers());
    VectorRows& one = result.rows.emplace_back();
    if (count > 1) addForm(one, own, count, bounds, code.shapes());
    addForm(one, own, 1, bounds, code.shapes());
    code_inside.reset();
    if (inside) inside->eraseFromParent();
  }

  void joinRows(VectorRegion& result, const LaneCode& code, llvm::ArrayRef<Bound> bounds) {
    const unsigned first = body_.firstHidden();
    if (outcomePerLane() || !uses_rows_) return;
    const JointRows joint(*lane_, code.shapes(),
                          {first + env::local_id + 1, first + env::lane, first + env::local_size,
                           first + env::global_size});
    if (!joint.possible()) return;
    const RowCost cost =
        rowCost(*lane_, code.levels(), code.shapes(), joint, width(), gatherCost());
    llvm::SmallVector<RowBlock, 2> blocks;
    if (cost.pays()) blocks = rowBlocks(cost, registers(), between_barriers_);
    if (blocks.empty() && mode_ == Vectorising::always && forced_rows * size(*lane_) <= most_forced)
      blocks.push_back({forced_rows, {2, 1}});
    // Elements of arrays lie as far apart as one vector has lanes.
    if (hasInterleavedArrays(*lane_))
      for (RowBlock& block : blocks) block.vectors = {1};
    const bool passes =
        mode_ != Vectorising::always && !between_barriers_ && code.levels().levels().size() == 1;
    for (const RowBlock& block : blocks) {
      Function* function = joint.join(block.rows);
      stayInside(*function, bounds.size());
      LaneCode joined(*function, first);
      joined.levels().shareMasks();
      VectorRows& rows = result.rows.emplace_back();
      rows.rows = block.rows;
      rows.agreement = joint.agreement(block.rows, passes ? width() : 0);
      for (const unsigned vectors : block.vectors)
        addForm(rows, joined, vectors, bounds, code.shapes());
      function->eraseFromParent();
    }
    reportRows(*lane_, cost, result.rows);
  }

  const KernelBody& body_;
  Region& region_;
  llvm::TargetMachine& machine_;
  Vectorising mode_;
  bool exchanges_;         // its lanes hand each other values
  bool between_barriers_;  // one of several regions
  bool uses_rows_;         // the kernel asks for its place in dimension 1
  Function* lane_ = nullptr;
  bool unrolls_arrays_ = false;  // the lane has no loops where the region has them
  SourceVectors source_vectors_ = SourceVectors::unknown;
  bool left_open_ = false;
};

// Is most of the kernel short loops that LLVM makes vectors of, turn by turn? Between lanes'
// vectors they would not be unrolled as those of a lane alone.
bool isFasterByTurns(const KernelBody& body, SplitKernel& split, llvm::TargetMachine& machine) {
  if (llvm::none_of(split.regions,
                    [](const Region& region) { return hasShortLoop(*region.function); }))
    return false;
  double all = 0, by_turns = 0;
  for (Region& region : split.regions) {
    const auto cost =
        RegionVectoriser(body, split, region, machine, Vectorising::automatic).rolledCost();
    all += cost.vectors;
    if (cost.is_faster_by_turns) by_turns += cost.vectors;
  }
  return 2 * by_turns > all;
}

}  // namespace

unsigned vectorLanes(const Function& function, const llvm::TargetMachine& machine) {
  return std::max(narrowest, registerBits(function, machine) / 32);
}

bool vectoriseRegions(const KernelBody& body, SplitKernel& split, llvm::TargetMachine& machine,
                      Vectorising mode) {
  if (mode == Vectorising::never) return true;
  if (split.shares_variables) {
    for (const Region& region : split.regions)
      reportRefusal(*region.function, nullptr, "its private arrays are large");
    return true;
  }
  if (mode == Vectorising::automatic && isFasterByTurns(body, split, machine)) {
    for (Region& region : split.regions) {
      region.other_forms |= static_cast<uint8_t>(port::CodeForm::vectors);
      reportRefusal(*region.function, nullptr, "a lane's loop is faster in vectors of turns");
    }
    return false;
  }
  llvm::SmallVector<Region*> open;
  for (Region& region : split.regions)
    if (!RegionVectoriser(body, split, region, machine, mode).run(SourceVectors::unknown))
      open.push_back(&region);
  // scalarise_lanes.h: all of a kernel's, or none.
  const bool apart = llvm::all_of(split.regions, [](const Region& region) {
    return region.outcomes.empty() || region.for_all_lanes || region.goesToLoopVectoriser();
  });
  for (Region* region : open)
    RegionVectoriser(body, split, *region, machine, mode)
        .run(apart ? SourceVectors::taken_apart : SourceVectors::whole);
  for (Region& region : split.regions)
    if (region.goesToLoopVectoriser()) narrowSums(*region.function);
  return true;
}

}  // namespace weft::compiler
