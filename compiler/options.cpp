#include "compiler/options.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <iterator>

namespace weft::compiler {
namespace {

using port::OptionUse;

constexpr uint8_t in_build = 1, in_compile = 2, in_link = 4;
constexpr uint8_t compiling = in_build | in_compile, anywhere = compiling | in_link;

enum class Value : uint8_t {
  none,
  joined,    // anything behind the name
  separate,  // behind the name or in the next word
  next,      // in the next word
};

enum class Effect : uint8_t {
  ignore,
  frontend,  // passed on as it is
  definition,
  include,
  standard,
  library,
  link_options,
};

struct Row {
  std::string_view name;
  Value value;
  uint8_t uses;
  Effect effect;
  bool Options::* flag = nullptr;
  bool setting = true;
};

// An exact name comes before a joined name that begins like it.
constexpr Row rows[] = {
    // OpenCL 3.0, 5.8.6.1: preprocessor options.
    {"-D", Value::separate, compiling, Effect::definition},
    {"-I", Value::separate, compiling, Effect::include},
    // 5.8.6.2 and 5.8.6.3: math and optimisation.
    {"-cl-single-precision-constant", Value::none, compiling, Effect::frontend},
    {"-cl-denorms-are-zero", Value::none, anywhere, Effect::ignore, &Options::denorms_are_zero},
    {"-cl-fp32-correctly-rounded-divide-sqrt", Value::none, compiling, Effect::frontend,
     &Options::exact_divisions},
    {"-cl-opt-disable", Value::none, compiling, Effect::ignore, &Options::optimise, false},
    {"-cl-strict-aliasing", Value::none, compiling, Effect::ignore},
    {"-cl-uniform-work-group-size", Value::none, compiling, Effect::frontend},
    {"-cl-no-subgroup-ifp", Value::none, anywhere, Effect::ignore},
    {"-cl-mad-enable", Value::none, compiling, Effect::frontend},
    {"-cl-no-signed-zeros", Value::none, anywhere, Effect::frontend, &Options::no_signed_zeros},
    {"-cl-unsafe-math-optimizations", Value::none, anywhere, Effect::frontend,
     &Options::unsafe_math},
    {"-cl-finite-math-only", Value::none, anywhere, Effect::frontend, &Options::finite_math},
    {"-cl-fast-relaxed-math", Value::none, anywhere, Effect::frontend, &Options::relaxed_math},
    // 5.8.6.4 to 5.8.6.8: warnings, language version, argument information, debugging.
    {"-w", Value::none, compiling, Effect::frontend},
    {"-Rweft", Value::none, anywhere, Effect::ignore, &Options::remarks},
    {"-Werror", Value::none, compiling, Effect::frontend},
    {"-cl-std=", Value::joined, compiling, Effect::standard},
    {"-cl-kernel-arg-info", Value::none, compiling, Effect::ignore, &Options::kernel_argument_info},
    {"-g", Value::none, compiling, Effect::ignore, &Options::debug},
    // 5.8.7: linker options.
    {"-create-library", Value::none, in_link, Effect::library, &Options::create_library},
    {"-enable-link-options", Value::none, in_link, Effect::link_options,
     &Options::enable_link_options},
    // cl_khr_spir.
    {"-x", Value::next, anywhere, Effect::ignore},
    {"-spir-std=", Value::joined, anywhere, Effect::ignore},
    // Given by real programs to other implementations; they do not change a program's meaning.
    {"-save-temps", Value::none, anywhere, Effect::ignore},
    {"-save-temps=", Value::joined, anywhere, Effect::ignore},
    {"-O0", Value::none, compiling, Effect::ignore, &Options::optimise, false},
    {"-O1", Value::none, anywhere, Effect::ignore},
    {"-O2", Value::none, anywhere, Effect::ignore},
    {"-O3", Value::none, anywhere, Effect::ignore},
    {"-O4", Value::none, anywhere, Effect::ignore},
    {"-O5", Value::none, anywhere, Effect::ignore},
    {"-Os", Value::none, anywhere, Effect::ignore},
    {"-O", Value::none, anywhere, Effect::ignore},
    {"-cl-intel-", Value::joined, anywhere, Effect::ignore},
    {"-cl-nv-maxrregcount", Value::next, anywhere, Effect::ignore},
    {"-cl-nv-opt-level", Value::next, anywhere, Effect::ignore},
    {"-cl-nv-arch", Value::next, anywhere, Effect::ignore},
    {"-cl-nv-", Value::joined, anywhere, Effect::ignore},
    {"-W", Value::joined, compiling, Effect::frontend},
};

constexpr std::array<std::string_view, 12> standards = {
    "CL",    "CL1.0", "CL1.1",    "CL1.2",     "CL2.0", "CL3.0",
    "CL3.1", "CLC++", "CLC++1.0", "CLC++2021", "clc++", "clc++2021"};

constexpr std::string_view useName(OptionUse use) {
  constexpr std::string_view names[] = {"build", "compile", "link"};
  return names[static_cast<size_t>(use)];
}

std::string quoted(std::string_view before, std::string_view word, std::string_view after) {
  return std::string(before) + "'" + std::string(word) + "'" + std::string(after);
}

bool matches(const Row& row, std::string_view word) {
  if (row.value == Value::none) return word == row.name;
  if (row.value == Value::next)
    return word == row.name || (word.starts_with(row.name) && word[row.name.size()] == '=');
  return word.starts_with(row.name);
}

// Handles the words of one option list, in order.
class Parser {
 public:
  Parser(std::vector<std::string> words, OptionUse use) : words_(std::move(words)), use_(use) {}

  Options run() {
    while (next_ < words_.size() && options_.error.empty()) one(words_[next_++]);
    if (options_.error.empty() && options_.enable_link_options && !options_.create_library)
      options_.error = "-enable-link-options needs -create-library";
    // 5.8.6.3: the one includes the other.
    options_.denorms_are_zero |= options_.unsafe_math || options_.relaxed_math;
    return std::move(options_);
  }

 private:
  void one(const std::string& word) {
    const uint8_t bit = uint8_t{1} << static_cast<uint8_t>(use_);
    const Row* row = std::find_if(std::begin(rows), std::end(rows),
                                  [&](const Row& r) { return matches(r, word); });
    if (row == std::end(rows)) {
      options_.error = quoted("unknown option ", word, "");
      return;
    }
    if (!(row->uses & bit)) {
      options_.error = quoted("option ", word, " is not allowed for ") + std::string(useName(use_));
      return;
    }
    std::string value;
    if (!takeValue(*row, word, value)) return;
    if (row->flag) options_.*row->flag = row->setting;
    apply(*row, word, value);
  }

  bool takeValue(const Row& row, const std::string& word, std::string& value) {
    if (row.value == Value::none) return true;
    value = word.substr(row.name.size());
    const bool from_next = value.empty() && row.value != Value::joined;
    if (!from_next) return true;
    if (next_ == words_.size()) {
      options_.error = quoted("option ", word, " needs a value");
      return false;
    }
    value = words_[next_++];
    return true;
  }

  void apply(const Row& row, const std::string& word, const std::string& value) {
    switch (row.effect) {
      case Effect::frontend:
        options_.frontend.push_back(word);
        break;
      case Effect::definition:
        addDefinition(value);
        break;
      case Effect::include:
        options_.include_paths.push_back(value);
        options_.frontend.insert(options_.frontend.end(), {"-I", value});
        break;
      case Effect::standard:
        if (std::find(standards.begin(), standards.end(), value) == standards.end())
          options_.error = quoted("unknown language version ", value, " for -cl-std");
        options_.standard = value;
        break;
      default:
        break;
    }
  }

  // "The contents of definition are tokenized and processed as if they appeared during translation
  // phase three in a `#define` directive. In particular, the definition will be truncated by
  // embedded newline characters."
  void addDefinition(const std::string& value) {
    const auto name_end = value.find('=');
    const std::string name = value.substr(0, name_end);
    const bool valid = !name.empty() && !std::isdigit(static_cast<unsigned char>(name[0]));
    if (!valid) {
      options_.error = quoted("", value, " is not a macro definition");
      return;
    }
    options_.frontend.insert(options_.frontend.end(), {"-D", value.substr(0, value.find('\n'))});
  }

  std::vector<std::string> words_;
  OptionUse use_;
  size_t next_ = 0;
  Options options_;
};

}  // namespace

std::vector<std::string> splitOptions(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  bool in_word = false;
  char quote = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const char following = i + 1 < text.size() ? text[i + 1] : '\0';
    const bool escapes = c == '\\' && quote != '\'' &&
                         (following == '"' || following == '\'' || following == '\\' ||
                          (following == ' ' && !quote));
    if (escapes) {
      word += following;
      in_word = true;
      ++i;
    } else if (quote ? c == quote : (c == '"' || c == '\'')) {
      quote = quote ? '\0' : c;
      in_word = true;
    } else if (!quote && std::isspace(static_cast<unsigned char>(c))) {
      if (in_word) words.push_back(std::move(word));
      word.clear();
      in_word = false;
    } else {
      word += c;
      in_word = true;
    }
  }
  if (in_word) words.push_back(std::move(word));
  return words;
}

Options parseOptions(std::string_view text, port::OptionUse use) {
  return Parser(splitOptions(text), use).run();
}

}  // namespace weft::compiler
