// The order in which a function's blocks are read.
#include <algorithm>

#include "compiler/spirv/function_reader.h"

namespace weft::compiler::spirv {

using spv::Op;

// Cuts the body at its labels, and makes the blocks that something gets to. Those come back so that
// each is behind all that dominate it: then what it uses has been read. The module ought to have
// them in such an order, but translators leave them as their optimiser did.
std::vector<FunctionReader::Block> FunctionReader::makeBlocks(Block body) {
  std::vector<Block> blocks;
  for (auto at = body.begin(); at != body.end(); ++at) {
    if (at->type) types_of_[at->result] = at->type;  // a switch asks before it is read
    if (at->op != Op::OpLabel) continue;
    const auto is_label = [](const Instruction& other) { return other.op == Op::OpLabel; };
    blocks.emplace_back(at, std::find_if(at + 1, body.end(), is_label));
    blocks_[at->result] = nullptr;
  }
  std::vector<Block> ordered = reachable(blocks);
  for (const Block& block : ordered)
    blocks_[block[0].result] = llvm::BasicBlock::Create(module_.context(), "", &function_);
  return ordered;
}

// In reverse post-order from the first.
std::vector<FunctionReader::Block> FunctionReader::reachable(
    const std::vector<Block>& blocks) const {
  struct Visit {
    const Block* block;
    std::vector<Id> next;
  };
  std::unordered_map<Id, const Block*> unseen;
  for (const Block& block : blocks) unseen.emplace(block[0].result, &block);
  std::vector<Visit> path;
  const auto enter = [&](Id label) {
    const auto found = unseen.find(label);
    if (found == unseen.end()) return;
    path.push_back({found->second, successors(found->second->back())});
    unseen.erase(found);
  };
  std::vector<Block> order;
  if (!blocks.empty()) enter(blocks[0][0].result);
  while (!path.empty()) {
    std::vector<Id>& next = path.back().next;
    if (next.empty()) {
      order.push_back(*path.back().block);
      path.pop_back();
    } else {
      const Id label = next.back();
      next.pop_back();
      enter(label);
    }
  }
  std::reverse(order.begin(), order.end());
  return order;
}

std::vector<Id> FunctionReader::successors(const Instruction& end) const {
  const std::vector<uint32_t>& operands = end.operands;
  switch (end.op) {
    case Op::OpBranch:
      return {operands.at(0)};
    case Op::OpBranchConditional:
      return {operands.at(1), operands.at(2)};
    case Op::OpSwitch: {
      std::vector<Id> labels = {operands.at(1)};
      const unsigned words = wordsOfLiterals(end);
      for (size_t i = 2 + words; i < operands.size(); i += words + 1) labels.push_back(operands[i]);
      return labels;
    }
    default:
      return {};
  }
}

}  // namespace weft::compiler::spirv
