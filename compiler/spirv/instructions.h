// A SPIR-V module as its instructions, decoded by SPIRV-Tools: every word has been matched with the
// grammar, nothing has been said yet about whether it makes sense.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <spirv/unified1/spirv.hpp11>

namespace weft::compiler::spirv {

using Id = uint32_t;

// `operands` are the words behind the result type and the result, in the module's order.
struct Instruction {
  spv::Op op;
  Id type = 0;
  Id result = 0;
  std::vector<uint32_t> operands;

  // The string that starts at an operand, and the operand behind it.
  std::pair<std::string, size_t> text(size_t first) const;
  // A literal number of one or two words.
  uint64_t number(size_t first, unsigned words) const;
};

struct Decoration {
  spv::Decoration kind;
  std::vector<uint32_t> operands;
};

struct EntryPoint {
  std::string name;
  Id function;
};

struct ExecutionMode {
  Id entry_point;
  spv::ExecutionMode mode;
  std::vector<uint32_t> operands;
};

struct Instructions {
  std::vector<Instruction> body;  // from the first type to the last function's end
  std::vector<spv::Capability> capabilities;
  std::vector<std::string> extensions;
  std::vector<EntryPoint> entry_points;
  std::vector<ExecutionMode> modes;
  std::unordered_map<Id, std::string> names;
  std::unordered_map<Id, std::string> instruction_sets;
  std::unordered_map<Id, std::string> strings;
  spv::AddressingModel addressing = spv::AddressingModel::Logical;

  const Decoration* decoration(Id id, spv::Decoration kind) const;
  // All of one kind: a parameter may have several FuncParamAttr.
  std::vector<const Decoration*> decorations(Id id, spv::Decoration kind) const;
  // An extended instruction that tells debuggers and other tools something, and devices nothing.
  bool saysNothing(const Instruction& instruction) const;

  std::unordered_multimap<Id, Decoration> decorated;
};

// Nothing when the module is damaged; `log` says where.
std::optional<Instructions> readInstructions(std::string_view bytes, std::string& log);

// What the validator of SPIRV-Tools has against the module, a line each; empty: nothing.
std::string complaints(std::string_view bytes);

}  // namespace weft::compiler::spirv
