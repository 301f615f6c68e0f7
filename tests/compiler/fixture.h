// A compiler with a cache directory of its own.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "compiler/client/client.h"
#include "core/image.h"

namespace weft::test {

class CompilerTest : public testing::Test {
 protected:
  CompilerTest() {
    char name[] = "/tmp/weft-test-XXXXXX";
    directory_ = mkdtemp(name);
    set("WEFT_CACHE_DIR", cacheDirectory());
    unsetenv("WEFT_CACHE");
  }
  ~CompilerTest() override {
    for (const std::string& name : changed_) unsetenv(name.c_str());
    std::filesystem::remove_all(directory_);
  }

  void set(const std::string& name, const std::string& value) {
    setenv(name.c_str(), value.c_str(), 1);
    changed_.push_back(name);
  }
  std::string cacheDirectory() const { return directory_ + "/cache"; }
  std::string write(const std::string& name, const std::string& text) const {
    const std::string path = directory_ + "/" + name;
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    std::ofstream(path) << text;
    return path;
  }
  const std::string& directory() const { return directory_; }

  static port::CompileRequest request(std::string source, std::string options = {}) {
    port::CompileRequest request;
    request.source = std::move(source);
    request.options = std::move(options);
    request.target = {port::TargetKind::host_cpu, "native", ""};
    request.features.extensions = {"cl_khr_byte_addressable_store",
                                   "cl_khr_global_int32_base_atomics", "cl_khr_fp64"};
    request.features.feature_macros = {"__opencl_c_int64", "__opencl_c_fp64",
                                       "__opencl_c_program_scope_global_variables"};
    return request;
  }
  port::CompileResult compile(const std::string& source, const std::string& options = {}) {
    return compiler().compile(request(source, options));
  }
  port::CompileResult build(const std::string& source, const std::string& options = {}) {
    return compiler().build(request(source, options));
  }
  port::Compiler& compiler() {
    if (!compiler_) compiler_ = makeCompiler();
    return *compiler_;
  }
  void newCompiler() { compiler_.reset(); }

 private:
  std::string directory_;
  std::vector<std::string> changed_;
  std::unique_ptr<port::Compiler> compiler_;
};

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

inline int count(const std::string& text, const std::string& part) {
  int found = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

// What a command prints.
inline std::string output(const std::string& command) {
  std::string text;
  FILE* const pipe = popen(command.c_str(), "r");
  std::array<char, 4096> part;
  while (const size_t n = fread(part.data(), 1, part.size(), pipe)) text.append(part.data(), n);
  EXPECT_EQ(pclose(pipe), 0) << command;
  return text;
}

}  // namespace weft::test
