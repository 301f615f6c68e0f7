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
  port::CompileResult run(const Job& job) const {
    const Hash key = keyOf(job);
    if (auto result = cache_.find(key); result && readImage(result->image))
      return std::move(*result);
    Answer answer = connection_.ask(job);
    if (answer.result.ok) cache_.store(key, answer);
    return std::move(answer.result);
  }
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
    Job job = jobOf(request);
    job.deferring = deferring_;
    return service_->run(job);
  }
  port::CompileResult build(const port::CompileRequest& request) override {
    Job job = jobOf(request, JobKind::build);
    job.deferring = deferring_;
    return service_->run(job);
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
