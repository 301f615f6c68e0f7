// The weft command: one subcommand a file.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>

#include "tools/demo/demo.h"
#include "tools/environment.h"
#include "tools/info.h"
#include "tools/opencl.h"

namespace {

using namespace weft::tools;

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

  CLI::App* info_command =
      app.add_subcommand("info", "Shows the platform, its devices and what the drivers said");

  CLI11_PARSE(app, argc, argv);
  useOwnLibrary();
  if (*demo_command) return demo::run(demo_options, argv);
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
