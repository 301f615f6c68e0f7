#include "compiler/job.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "compiler/wire.h"

namespace weft::compiler {
namespace {

Hash fromXxh(XXH128_hash_t hash) { return {hash.low64, hash.high64}; }

void putFiles(WireWriter& out, const std::vector<FileUse>& files) {
  out.list(files, [&](const FileUse& file) {
    out.put(file.path);
    out.put(file.found);
    out.put(file.hash[0]);
    out.put(file.hash[1]);
  });
}

void getFiles(WireReader& in, std::vector<FileUse>& files) {
  in.list(files, [&](FileUse& file) {
    in.get(file.path);
    in.get(file.found);
    in.get(file.hash[0]);
    in.get(file.hash[1]);
  });
}

// What the cache's key covers; the directory only says where relative paths start, and files are
// checked one by one.
void putKeyed(WireWriter& out, const Job& job) {
  out.put(job.kind);
  out.put(job.source);
  out.put(job.options);
  out.list(job.headers, [&](const port::Header& header) {
    out.put(header.name);
    out.put(header.text);
  });
  out.list(job.objects, [&](const port::Bytes& object) { out.put(object); });
  out.put(job.make_library);
  out.put(job.target.kind);
  out.put(job.target.cpu);
  out.put(job.target.features);
  out.list(job.features.extensions, [&](const std::string& name) { out.put(name); });
  out.list(job.features.feature_macros, [&](const std::string& name) { out.put(name); });
  out.put(job.features.fp64);
  out.put(job.features.fp16);
  out.put(job.features.images);
  out.put(job.features.version);
  out.put(job.intermediate);
  out.list(job.specialization, [&](const port::SpecializationConstant& constant) {
    out.put(constant.id);
    out.put(constant.value);
  });
  out.put(job.vectorising);
  out.put(job.deferring);
  out.put(job.linked);
  out.put(job.kernel);
}

std::string setting(const char* name) {
  const char* text = std::getenv(name);
  return text ? text : "";
}

}  // namespace

Hash hashBytes(std::span<const std::byte> bytes) {
  return fromXxh(XXH3_128bits(bytes.data(), bytes.size()));
}

Hash hashText(std::string_view text) { return fromXxh(XXH3_128bits(text.data(), text.size())); }

std::optional<Hash> hashFile(const std::string& path) {
  // Non-blocking: an include path may hold a FIFO.
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return std::nullopt;
  struct stat status;
  std::optional<Hash> hash;
  if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode)) {
    std::string text(static_cast<size_t>(status.st_size), '\0');
    const ssize_t got = read(fd, text.data(), text.size());
    if (got == status.st_size) hash = hashText(text);
  }
  close(fd);
  return hash;
}

port::Bytes writeJob(const Job& job) {
  WireWriter out;
  putKeyed(out, job);
  out.put(job.directory);
  return out.take();
}

std::optional<Job> readJob(std::span<const std::byte> bytes) {
  WireReader in(bytes);
  Job job;
  in.get(job.kind);
  in.get(job.source);
  in.get(job.options);
  in.list(job.headers, [&](port::Header& header) {
    in.get(header.name);
    in.get(header.text);
  });
  in.list(job.objects, [&](port::Bytes& object) { in.get(object); });
  in.get(job.make_library);
  in.get(job.target.kind);
  in.get(job.target.cpu);
  in.get(job.target.features);
  in.list(job.features.extensions, [&](std::string& name) { in.get(name); });
  in.list(job.features.feature_macros, [&](std::string& name) { in.get(name); });
  in.get(job.features.fp64);
  in.get(job.features.fp16);
  in.get(job.features.images);
  in.get(job.features.version);
  in.get(job.intermediate);
  in.list(job.specialization, [&](port::SpecializationConstant& constant) {
    in.get(constant.id);
    in.get(constant.value);
  });
  in.get(job.vectorising);
  in.get(job.deferring);
  in.get(job.linked);
  in.get(job.kernel);
  in.get(job.directory);
  if (!in.atEnd()) return std::nullopt;
  return job;
}

port::Bytes writeAnswer(const Answer& answer) {
  WireWriter out;
  out.put(answer.result.ok);
  out.put(answer.result.log);
  out.put(answer.result.image);
  putFiles(out, answer.files);
  return out.take();
}

std::optional<Answer> readAnswer(std::span<const std::byte> bytes) {
  WireReader in(bytes);
  Answer answer;
  in.get(answer.result.ok);
  in.get(answer.result.log);
  in.get(answer.result.image);
  getFiles(in, answer.files);
  if (!in.atEnd()) return std::nullopt;
  return answer;
}

port::Bytes writeFiles(const std::vector<FileUse>& files) {
  WireWriter out;
  putFiles(out, files);
  return out.take();
}

std::optional<std::vector<FileUse>> readFiles(std::span<const std::byte> bytes) {
  WireReader in(bytes);
  std::vector<FileUse> files;
  getFiles(in, files);
  if (!in.atEnd()) return std::nullopt;
  return files;
}

Hash hashJob(const Job& job) {
  WireWriter out;
  putKeyed(out, job);
  return hashBytes(out.take());
}

Job jobOf(const port::CompileRequest& request, JobKind kind) {
  return {.kind = kind,
          .source = request.source,
          .options = request.options,
          .headers = request.headers,
          .objects = {},
          .make_library = false,
          .target = request.target,
          .features = request.features,
          .intermediate = request.intermediate,
          .specialization = request.specialization,
          .vectorising = setting("WEFT_VECTORIZE"),
          .deferring = "never",
          .linked = false,
          .kernel = {},
          .directory = {}};
}

Job jobOf(const port::LinkRequest& request) {
  return {.kind = JobKind::link,
          .source = {},
          .options = request.options,
          .headers = {},
          .objects = request.objects,
          .make_library = request.make_library,
          .target = request.target,
          .features = request.features,
          .intermediate = false,
          .specialization = {},
          .vectorising = setting("WEFT_VECTORIZE"),
          .deferring = "never",
          .linked = false,
          .kernel = {},
          .directory = {}};
}

Job jobOf(const Image& image) {
  Job job;
  job.kind = JobKind::all_parts;
  job.options = image.options;
  job.objects = {writeImage(image)};
  job.target = image.target;
  return job;
}

Job jobOf(const Image& image, const DeferredCode& code, uint32_t part) {
  Job job;
  job.kind = JobKind::part;
  job.options = image.options;
  job.objects = {code.parts[part]};
  job.target = image.target;
  job.linked = code.linked;
  return job;
}

}  // namespace weft::compiler
