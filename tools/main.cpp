// The weft command: one subcommand a file.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>

#include "tools/demo/demo.h"
#include "tools/environment.h"
#include "tools/explain.h"
#include "tools/info.h"
#include "tools/opencl.h"
#include "tools/perf.h"
#include "tools/simulate.h"
#include "tools/topology.h"
#include "tools/trace/trace.h"

namespace {

using namespace weft::tools;

// weft perf list|prune|export
class PerfCommands {
 public:
  explicit PerfCommands(CLI::App& app)
      : perf_(app.add_subcommand("perf", "Shows and edits what Weft measured: times and links")),
        list_(perf_->add_subcommand("list", "Prints it as a table")),
        prune_(perf_->add_subcommand("prune", "Forgets what fulfils all of the options")),
        export_(perf_->add_subcommand("export", "Prints it as JSON")) {
    perf_->require_subcommand(1);
    prune_->add_option("--older-than", options_.older_than_days, "days since the last measurement")
        ->check(CLI::NonNegativeNumber);
    prune_->add_option("--device", options_.device, "a device's UUID");
    export_->add_option("-o,--output", output_, "a file; standard output without it");
  }
  bool chosen() const { return perf_->parsed(); }
  int run() const {
    if (*list_) return perf::list();
    if (*prune_) return perf::prune(options_);
    return perf::exportTo(output_);
  }

 private:
  CLI::App *perf_, *list_, *prune_, *export_;
  perf::PruneOptions options_;
  std::string output_;
};

CLI::Option* addTopology(CLI::App& command, std::string& form) {
  return command
      .add_option("--topology", form, "draws the machine and which part of it each device is")
      ->expected(0, 1)
      ->default_str("text")
      ->check(CLI::IsMember({"text", "svg"}));
}

CLI::App* addExplain(CLI::App& app, explain::Options& options) {
  CLI::App* command = app.add_subcommand(
      "explain", "Says which kernels of a program the compiler makes vectors of, and where not");
  command->add_option("source", options.source, "a file of OpenCL C")
      ->required()
      ->check(CLI::ExistingFile);
  command->add_option("--options", options.options, "as clBuildProgram takes them");
  return command;
}

CLI::App* addTrace(CLI::App& app, trace::Options& options) {
  CLI::App* command = app.add_subcommand(
      "trace", "Runs a program and says what its commands did and what they waited for");
  command->add_option("program", options.program, "behind --, with its arguments");
  command->footer("Example: weft trace --report report.html -- program --flag");
  command->add_option("-o,--output", options.json, "a trace that Perfetto opens, JSON");
  command->add_option("--report", options.report, "tables and a timeline, one HTML file");
  command->add_option("--keep", options.keep, "a folder in which the recordings stay");
  command->add_option("--read", options.read, "a folder of recordings, in place of a program")
      ->check(CLI::ExistingDirectory);
  command->add_option("--limit", options.limit_mib, "of what a process records, MiB")
      ->check(CLI::PositiveNumber);
  return command;
}

int runCommand(int argc, char** argv) {
  CLI::App app{"Weft: OpenCL on every processor of the machine at once", "weft"};
  app.require_subcommand(1);
  app.set_version_flag("--version", WEFT_VERSION);

  demo::Options demo_options;
  CLI::App* demo_command = app.add_subcommand(
      "demo", "Runs a pipeline of kernels over all devices on a photograph and checks the result");
  demo_command->add_option("photo", demo_options.photo, "PNG or JPEG; without it, one is painted")
      ->check(CLI::ExistingFile);
  demo_command->add_option("--size", demo_options.size, "width and height of the painted picture")
      ->check(CLI::Range(1, 20000));
  demo_command->add_option("-o,--output", demo_options.output, "where the PNG goes")
      ->capture_default_str();

  explain::Options explain_options;
  const CLI::App* explain_command = addExplain(app, explain_options);

  CLI::App* info_command =
      app.add_subcommand("info", "Shows the platform, its devices and what the drivers said");
  std::string topology_form;
  CLI::Option* topology = addTopology(*info_command, topology_form);

  const PerfCommands perf_commands(app);

  simulate::Options simulate_options;
  CLI::App* simulate_command =
      app.add_subcommand("simulate", "Divides kernels over machines on paper, with every policy");
  simulate_command->add_option("trace", simulate_options.trace, "the kernels, JSON")
      ->required()
      ->check(CLI::ExistingFile);
  simulate_command->add_option("-m,--machine", simulate_options.machines, "a machine, TOML")
      ->required()
      ->check(CLI::ExistingFile);
  simulate_command->add_flag("--unknown", simulate_options.unknown,
                             "the kernels were never run before");
  simulate_command
      ->add_option(
          "--misjudged", simulate_options.misjudged,
          "with --unknown: by what part speeds are estimated too high and too low, in turns")
      ->check(CLI::Range(0.0, 0.99));

  trace::Options trace_options;
  const CLI::App* trace_command = addTrace(app, trace_options);

  CLI11_PARSE(app, argc, argv);
  if (perf_commands.chosen()) return perf_commands.run();
  if (*simulate_command) return simulate::run(simulate_options);
  useOwnLibrary();
  if (*demo_command) return demo::run(demo_options, argv);
  if (*explain_command) return explain::run(explain_options);
  if (*trace_command) return trace::run(trace_options);
  if (*topology) return showTopology(topology_form);
  if (*info_command) return showInfo();
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return runCommand(argc, argv);
  } catch (const cl::BuildError& error) {
    for (const auto& [device, log] : error.getBuildLog())
      fmt::print(stderr, "weft: the build failed on {}:\n{}\n", device.getInfo<CL_DEVICE_NAME>(),
                 log);
  } catch (const cl::Error& error) {
    fmt::print(stderr, "weft: {} failed with {}\n", error.what(), error.err());
  } catch (const std::exception& error) {
    fmt::print(stderr, "weft: {}\n", error.what());
  }
  return 1;
}
