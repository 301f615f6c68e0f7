// The real file system, with a record of every regular file that the front end looked for: the
// cache must notice when one of them changes, appears or goes.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <llvm/Support/VirtualFileSystem.h>

#include "compiler/job.h"

namespace weft::compiler {

class RecordingFileSystem : public llvm::vfs::ProxyFileSystem {
 public:
  explicit RecordingFileSystem(llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> real)
      : ProxyFileSystem(std::move(real)) {}

  llvm::ErrorOr<llvm::vfs::Status> status(const llvm::Twine& path) override;
  llvm::ErrorOr<std::unique_ptr<llvm::vfs::File>> openFileForRead(const llvm::Twine& path) override;

  std::vector<FileUse> files() const;

 private:
  std::map<std::string, bool> found_;
};

}  // namespace weft::compiler
