#include "compiler/frontend/recording_file_system.h"

namespace weft::compiler {

llvm::ErrorOr<llvm::vfs::Status> RecordingFileSystem::status(const llvm::Twine& path) {
  auto result = ProxyFileSystem::status(path);
  if (!result || !result->isDirectory()) found_[path.str()] |= static_cast<bool>(result);
  return result;
}

llvm::ErrorOr<std::unique_ptr<llvm::vfs::File>> RecordingFileSystem::openFileForRead(
    const llvm::Twine& path) {
  auto result = ProxyFileSystem::openFileForRead(path);
  found_[path.str()] |= static_cast<bool>(result);
  return result;
}

std::vector<FileUse> RecordingFileSystem::files() const {
  std::vector<FileUse> files;
  for (const auto& [path, found] : found_) {
    FileUse use{.path = path, .found = found};
    if (found) use.hash = hashFile(path).value_or(Hash{});
    files.push_back(std::move(use));
  }
  return files;
}

}  // namespace weft::compiler
