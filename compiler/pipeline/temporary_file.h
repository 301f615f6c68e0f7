// Files for a linker in this process: they have names that it can open, and vanish with the process
// however that ends.
#pragma once

#include <span>
#include <string>
#include <thread>

#include "compiler/protocol.h"
#include "core/ports/compiler.h"

namespace weft::compiler {

class InputFile {
 public:
  explicit InputFile(std::span<const std::byte> bytes);
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;
  ~InputFile();
  const std::string& path() const { return path_; }

 private:
  Descriptor file_;
  std::string path_;
  bool on_disk_ = false;
};

// What is written to `path`, once, front to back. A pipe: lld replaces regular files by name.
class OutputFile {
 public:
  OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  ~OutputFile();
  const std::string& path() const { return path_; }
  // Once, when the writer is done.
  port::Bytes take();

 private:
  Descriptor write_end_;
  std::string path_;
  std::thread reader_;
  port::Bytes bytes_;
  bool on_disk_ = false;
};

}  // namespace weft::compiler
