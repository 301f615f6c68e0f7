// One request to the compiler and its answer, as they travel between processes.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/deferred_code.h"
#include "core/image.h"
#include "core/ports/compiler.h"

namespace weft::compiler {

enum class JobKind : uint8_t { compile, link, build, part, all_parts };

using Hash = std::array<uint64_t, 2>;  // XXH3, 128 bits

Hash hashBytes(std::span<const std::byte> bytes);
Hash hashText(std::string_view text);
// Of a file's contents; nullopt when it cannot be read.
std::optional<Hash> hashFile(const std::string& path);

struct Job {
  JobKind kind = JobKind::build;
  std::string source;
  std::string options;
  std::vector<port::Header> headers;
  std::vector<port::Bytes> objects;
  bool make_library = false;
  port::Target target;
  port::LanguageFeatures features;
  bool intermediate = false;
  std::vector<port::SpecializationConstant> specialization;
  std::string vectorising;  // what WEFT_VECTORIZE says where the program runs
  std::string deferring;    // of code for later: WEFT_DEFER; "never" where nobody would make it
  bool linked = false;      // the options are of the link that left code for later
  std::string kernel;       // if only this one's code is wanted, and that of those it calls
  std::string directory;    // relative include paths start here
};

// A file that the front end looked for outside the request.
struct FileUse {
  std::string path;  // as it was opened
  bool found = false;
  Hash hash{};
  bool operator==(const FileUse&) const = default;
};

struct Answer {
  port::CompileResult result;
  std::vector<FileUse> files;
};

port::Bytes writeJob(const Job& job);
std::optional<Job> readJob(std::span<const std::byte> bytes);
port::Bytes writeAnswer(const Answer& answer);
std::optional<Answer> readAnswer(std::span<const std::byte> bytes);
port::Bytes writeFiles(const std::vector<FileUse>& files);
std::optional<std::vector<FileUse>> readFiles(std::span<const std::byte> bytes);

// Everything that the result depends on, besides files and the compiler itself.
Hash hashJob(const Job& job);

Job jobOf(const port::CompileRequest& request, JobKind kind);
Job jobOf(const port::LinkRequest& request);
// For what `image` leaves for later: all of it, or a part.
Job jobOf(const Image& image);
Job jobOf(const Image& image, const DeferredCode& code, uint32_t part);

}  // namespace weft::compiler
