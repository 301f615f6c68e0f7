#include "compiler/client/client.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "compiler/client/cache.h"
#include "compiler/client/connection.h"
#include "compiler/client/location.h"
#include "compiler/client/processor.h"
#include "compiler/options.h"
#include "core/guarded.h"
#include "core/image.h"

namespace weft {
namespace {

using namespace compiler;

// What this LLVM makes code objects for; "host" is a software GPU of the tests.
constexpr std::string_view amd_processors[] = {
    "gfx900",  "gfx902",  "gfx904",  "gfx906",  "gfx908",  "gfx909",  "gfx90a",  "gfx90c",
    "gfx940",  "gfx941",  "gfx942",  "gfx1010", "gfx1011", "gfx1012", "gfx1013", "gfx1030",
    "gfx1031", "gfx1032", "gfx1033", "gfx1034", "gfx1035", "gfx1036", "gfx1100", "gfx1101",
    "gfx1102", "gfx1103", "gfx1150", "gfx1151", "gfx1152", "gfx1200", "gfx1201", "host"};

// The cache, and the compiler behind it.
class Service final : public port::CodeMaker {
 public:
  Answer answer(const Job& job) const {
    const Hash key = keyOf(job);
    if (auto known = cache_.find(key); known && readImage(known->result.image))
      return std::move(*known);
    Answer answer = connection_.ask(job);
    if (answer.result.ok) cache_.store(key, answer);
    return answer;
  }
  port::CompileResult run(const Job& job) const { return answer(job).result; }
  std::string describeCache() const { return cache_.describe(); }

  port::CompileResult makePart(const Image& image, const DeferredCode& code,
                               uint32_t part) const override {
    return run(jobOf(image, code, part));
  }
  // Applications ask for the size first, so that the last result is kept.
  port::CompileResult makeAll(const Image& image) const override {
    const Job job = jobOf(image);
    const Hash key = hashJob(job);
    const Whole last = *last_.lock();
    if (last.result.ok && last.key == key) return last.result;
    port::CompileResult result = run(job);
    *last_.lock() = {key, result};
    return result;
  }

 private:
  Hash keyOf(const Job& job) const {
    const Hash content = hashJob(job);
    std::string key = connection_.identity() + "/" + std::to_string(content[0]) + "/" +
                      std::to_string(content[1]);
    if (job.target.cpu.empty() || job.target.cpu == "native" || job.target.cpu == "host")
      key += "/" + processorIdentity();
    return hashText(key);
  }

  struct Whole {
    Hash key{};
    port::CompileResult result;
  };

  Cache cache_ = Cache::fromEnvironment();
  mutable Connection connection_;
  mutable Guarded<Whole> last_;
};

// May a form with more or fewer lanes at once compute other bits?
bool mayRoundOtherwise(std::string_view text, port::OptionUse use) {
  const Options options = parseOptions(text, use);
  return options.unsafe_math || options.relaxed_math ||
         std::ranges::find(options.frontend, "-cl-mad-enable") != options.frontend.end();
}

// The kernels of a program in the other form, from what the program was made from.
class OtherForms final : public port::FormMaker {
 public:
  OtherForms(std::shared_ptr<const Service> service, Job job, std::vector<FileUse> files)
      : service_(std::move(service)), job_(std::move(job)), files_(std::move(files)) {}

  port::CompileResult make(const std::string& kernel, port::CodeForm form) const override {
    if (!isFit()) return {};
    Job job = job_;
    job.kernel = kernel;
    job.vectorising = form == port::CodeForm::lanes ? "never" : "always";
    job.deferring = "never";
    Answer answer = service_->answer(job);
    // A header may have been written since.
    return answer.files == files_ ? std::move(answer.result) : port::CompileResult{};
  }

 private:
  bool isFit() const {
    if (job_.kind == JobKind::build)
      return parseOptions(job_.options, port::OptionUse::build).optimise &&
             !mayRoundOtherwise(job_.options, port::OptionUse::build);
    return parseOptions(job_.options, port::OptionUse::link).optimise &&
           !mayRoundOtherwise(job_.options, port::OptionUse::link) &&
           std::ranges::none_of(job_.objects, [](const port::Bytes& object) {
             const auto image = readImage(object);
             return !image || mayRoundOtherwise(image->options, port::OptionUse::compile);
           });
  }

  const std::shared_ptr<const Service> service_;
  const Job job_;
  const std::vector<FileUse> files_;
};

class Client : public port::Compiler {
 public:
  Client(std::shared_ptr<const Service> service, std::string deferring)
      : service_(std::move(service)), deferring_(std::move(deferring)) {}

  std::string checkOptions(const std::string& options, port::OptionUse use) const override {
    return parseOptions(options, use).error;
  }
  port::CompileResult compile(const port::CompileRequest& request) override {
    return service_->run(jobOf(request, JobKind::compile));
  }
  port::CompileResult link(const port::LinkRequest& request) override {
    return makeExecutable(jobOf(request));
  }
  port::CompileResult build(const port::CompileRequest& request) override {
    return makeExecutable(jobOf(request, JobKind::build));
  }
  bool makes(const port::Target& target) const override {
    if (target.kind == port::TargetKind::amdgcn)
      return std::ranges::find(amd_processors, target.cpu) != std::end(amd_processors);
    return true;
  }
  std::vector<std::string> report() const override {
    const std::string daemon = findDaemon();
    return {"compiler: " +
                (daemon.empty() ? "weft-compilerd is missing: only cached programs build" : daemon),
            "kernel cache: " + service_->describeCache()};
  }

 private:
  port::CompileResult makeExecutable(Job job) const {
    job.deferring = deferring_;
    Answer answer = service_->answer(job);
    const bool has_forms = job.target.kind == port::TargetKind::host_cpu && job.vectorising.empty();
    if (answer.result.ok && has_forms && !job.make_library)
      answer.result.forms =
          std::make_shared<const OtherForms>(service_, std::move(job), std::move(answer.files));
    return std::move(answer.result);
  }

  const std::shared_ptr<const Service> service_;
  const std::string deferring_;
};

// WEFT_DEFER=never|auto|always: for tests and comparisons.
std::string deferringSetting() {
  const char* const text = std::getenv("WEFT_DEFER");
  return text ? text : "";
}

}  // namespace

std::unique_ptr<port::Compiler> makeCompiler() {
  return std::make_unique<Client>(std::make_shared<const Service>(), "never");
}

DeferringCompiler makeDeferringCompiler() {
  auto service = std::make_shared<const Service>();
  return {std::make_unique<Client>(service, deferringSetting()), service};
}

}  // namespace weft
