#include "compiler/spirv/instructions.h"

#include <cstring>
#include <memory>

#include <spirv-tools/libspirv.hpp>

namespace weft::compiler::spirv {
namespace {

constexpr spv_target_env environment = SPV_ENV_UNIVERSAL_1_6;
constexpr uint32_t newest_version = 0x00010600;

std::string textOf(const uint32_t* words, size_t count) {
  const char* text = reinterpret_cast<const char*>(words);
  return std::string(text, strnlen(text, count * sizeof(uint32_t)));
}

struct Context {
  spv_context handle = spvContextCreate(environment);
  Context() = default;
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  ~Context() { spvContextDestroy(handle); }
};

struct Diagnostic {
  spv_diagnostic handle = nullptr;
  Diagnostic() = default;
  Diagnostic(const Diagnostic&) = delete;
  Diagnostic& operator=(const Diagnostic&) = delete;
  ~Diagnostic() { spvDiagnosticDestroy(handle); }
};

// In this machine's order, which is that of its strings, too.
std::vector<uint32_t> wordsOf(std::string_view bytes) {
  std::vector<uint32_t> words(bytes.size() / sizeof(uint32_t));
  if (!words.empty()) std::memcpy(words.data(), bytes.data(), words.size() * sizeof(uint32_t));
  if (!words.empty() && words.front() == __builtin_bswap32(spv::MagicNumber))
    for (uint32_t& word : words) word = __builtin_bswap32(word);
  return words;
}

class Collector {
 public:
  explicit Collector(Instructions& module) : module_(module) {}

  static spv_result_t add(void* user, const spv_parsed_instruction_t* parsed) {
    static_cast<Collector*>(user)->add(*parsed);
    return SPV_SUCCESS;
  }

  // Groups are spread over their targets when everything is known.
  void finish() {
    for (const auto& [group, target] : groups_) {
      const auto [first, last] = module_.decorated.equal_range(group);
      std::vector<Decoration> copies;
      for (auto entry = first; entry != last; ++entry) copies.push_back(entry->second);
      for (Decoration& copy : copies) module_.decorated.emplace(target, std::move(copy));
    }
  }

 private:
  void add(const spv_parsed_instruction_t& parsed) {
    Instruction instruction{
        static_cast<spv::Op>(parsed.opcode), parsed.type_id, parsed.result_id, {}};
    const size_t head = 1 + (parsed.type_id ? 1 : 0) + (parsed.result_id ? 1 : 0);
    instruction.operands.assign(parsed.words + head, parsed.words + parsed.num_words);
    file(std::move(instruction));
  }

  void file(Instruction instruction) {
    const auto& words = instruction.operands;
    using spv::Op;
    switch (instruction.op) {
      case Op::OpCapability:
        return module_.capabilities.push_back(static_cast<spv::Capability>(words[0]));
      case Op::OpExtension:
        return module_.extensions.push_back(instruction.text(0).first);
      case Op::OpExtInstImport:
        module_.instruction_sets[instruction.result] = instruction.text(0).first;
        return;
      case Op::OpMemoryModel:
        module_.addressing = static_cast<spv::AddressingModel>(words[0]);
        return;
      case Op::OpEntryPoint:
        return module_.entry_points.push_back({instruction.text(2).first, words[1]});
      case Op::OpExecutionMode:
      case Op::OpExecutionModeId:
        return module_.modes.push_back({words[0],
                                        static_cast<spv::ExecutionMode>(words[1]),
                                        {words.begin() + 2, words.end()}});
      case Op::OpName:
        module_.names[words[0]] = instruction.text(1).first;
        return;
      case Op::OpString:
        module_.strings[instruction.result] = instruction.text(0).first;
        return;
      case Op::OpDecorate:
      case Op::OpDecorateId:
      case Op::OpDecorateString:
        module_.decorated.emplace(words[0], Decoration{static_cast<spv::Decoration>(words[1]),
                                                       {words.begin() + 2, words.end()}});
        return;
      case Op::OpGroupDecorate:
        for (size_t i = 1; i < words.size(); ++i) groups_.emplace_back(words[0], words[i]);
        return;
      case Op::OpSource:
      case Op::OpSourceContinued:
      case Op::OpSourceExtension:
      case Op::OpMemberName:
      // No kernel's structures are laid out by what is said of their members.
      case Op::OpMemberDecorate:
      case Op::OpMemberDecorateString:
      case Op::OpGroupMemberDecorate:
      case Op::OpLine:
      case Op::OpNoLine:
      case Op::OpModuleProcessed:
      case Op::OpDecorationGroup:
      case Op::OpNop:
      // SPV_INTEL_memory_access_aliasing. What it says holds within one work-item between two
      // barriers; loops over work-items would have LLVM believe it of all of them together.
      case Op::OpAliasDomainDeclINTEL:
      case Op::OpAliasScopeDeclINTEL:
      case Op::OpAliasScopeListDeclINTEL:
        return;
      default:
        return module_.body.push_back(std::move(instruction));
    }
  }

  Instructions& module_;
  std::vector<std::pair<Id, Id>> groups_;
};

}  // namespace

std::pair<std::string, size_t> Instruction::text(size_t first) const {
  if (first >= operands.size()) return {{}, first};
  std::string result = textOf(operands.data() + first, operands.size() - first);
  return {result, first + result.size() / sizeof(uint32_t) + 1};
}

uint64_t Instruction::number(size_t first, unsigned words) const {
  uint64_t value = operands.at(first);
  if (words == 2) value |= static_cast<uint64_t>(operands.at(first + 1)) << 32;
  return value;
}

bool Instructions::saysNothing(const Instruction& instruction) const {
  if (instruction.op != spv::Op::OpExtInst) return false;
  const auto set = instruction_sets.find(instruction.operands.at(0));
  if (set == instruction_sets.end()) return false;
  return set->second.starts_with("NonSemantic.") || set->second == "OpenCL.DebugInfo.100" ||
         set->second == "DebugInfo";
}

const Decoration* Instructions::decoration(Id id, spv::Decoration kind) const {
  const auto all = decorations(id, kind);
  return all.empty() ? nullptr : all.front();
}

std::vector<const Decoration*> Instructions::decorations(Id id, spv::Decoration kind) const {
  std::vector<const Decoration*> found;
  const auto [first, last] = decorated.equal_range(id);
  for (auto entry = first; entry != last; ++entry)
    if (entry->second.kind == kind) found.push_back(&entry->second);
  return found;
}

std::optional<Instructions> readInstructions(std::string_view bytes, std::string& log) {
  const Context context;
  Diagnostic diagnostic;
  const auto words = wordsOf(bytes);
  if (words.size() > 1 && words[1] > newest_version) {
    log += "error: SPIR-V of a version newer than 1.6\n";
    return std::nullopt;
  }
  std::optional<Instructions> module(std::in_place);
  Collector collector(*module);
  if (spvBinaryParse(context.handle, &collector, words.data(), words.size(), nullptr,
                     Collector::add, &diagnostic.handle) != SPV_SUCCESS) {
    log += "error: not a SPIR-V module";
    if (diagnostic.handle)
      log += std::string(": ") + diagnostic.handle->error + " (word " +
             std::to_string(diagnostic.handle->position.index) + ")";
    log += "\n";
    return std::nullopt;
  }
  collector.finish();
  return module;
}

std::string complaints(std::string_view bytes) {
  std::string text;
  spvtools::SpirvTools tools(environment);
  tools.SetMessageConsumer(
      [&](spv_message_level_t, const char*, const spv_position_t& position, const char* message) {
        text += "note: word " + std::to_string(position.index) + ": " + message + "\n";
      });
  const auto words = wordsOf(bytes);
  tools.Validate(words.data(), words.size());
  return text;
}

}  // namespace weft::compiler::spirv
