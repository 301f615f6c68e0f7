#include "compiler/spirv/mangling.h"

#include <algorithm>

namespace weft::compiler::spirv {
namespace {

Spelling wrap(std::string prefix, Spelling inner) {
  return {std::move(prefix), std::make_shared<const Spelling>(std::move(inner)), true};
}

// 5.1.5: S_, S0_, S1_, ... with digits of base 36.
std::string substitution(size_t index) {
  if (index == 0) return "S_";
  std::string digits;
  for (size_t rest = index - 1;; rest = rest / 36 - 1) {
    digits.insert(digits.begin(), "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[rest % 36]);
    if (rest < 36) break;
  }
  return "S" + digits + "_";
}

class Mangler {
 public:
  void add(const Spelling& spelling) {
    const std::string whole = spelling.whole();
    const auto known = std::find(seen_.begin(), seen_.end(), whole);
    if (known != seen_.end()) {
      text_ += substitution(static_cast<size_t>(known - seen_.begin()));
      return;
    }
    if (!spelling.silent) text_ += spelling.prefix;
    if (spelling.inner) add(*spelling.inner);
    if (spelling.substitutable) seen_.push_back(whole);
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
  std::vector<std::string> seen_;
};

}  // namespace

Spelling spellBuiltin(std::string code) { return {std::move(code), nullptr, false}; }

Spelling spellEnumeration(std::string_view name) {
  return {std::to_string(name.size()) + std::string(name), nullptr, true};
}

Spelling spellVector(uint32_t elements, Spelling element) {
  return wrap("Dv" + std::to_string(elements) + "_", std::move(element));
}

Spelling spellPointer(Spelling pointee, Qualifiers qualifiers) {
  if (qualifiers.atomic) pointee = wrap("U7_Atomic", std::move(pointee));
  std::string prefix;
  if (qualifiers.address_space != 0) prefix = "U3AS" + std::to_string(qualifiers.address_space);
  if (qualifiers.atomic) prefix += "V";
  if (qualifiers.constant) prefix += "K";
  if (!prefix.empty()) {
    pointee = wrap(std::move(prefix), std::move(pointee));
  } else {
    // The private address space has no name, but what it qualifies counts as a type of its own.
    pointee = wrap("private ", std::move(pointee));
    pointee.silent = true;
  }
  return wrap("P", std::move(pointee));
}

std::string mangle(std::string_view name, const std::vector<Spelling>& parameters) {
  Mangler mangler;
  for (const Spelling& parameter : parameters) mangler.add(parameter);
  return "_Z" + std::to_string(name.size()) + std::string(name) +
         (parameters.empty() ? "v" : mangler.text());
}

}  // namespace weft::compiler::spirv
