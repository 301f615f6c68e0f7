// The performance store: how long kernels took on which device, and how fast links are, kept per
// user between runs. Everything about its file may fail, and then less is known; no failure of it
// ever reaches an application.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/guarded.h"
#include "profiling/time_curve.h"

namespace weft::profiling {

// A kernel as it was compiled and cut into groups.
struct KernelKey {
  std::string code;     // hash of the source and what it includes, and the kernel's name
  std::string options;  // of the build
  std::string local;    // "64x1x1"

  auto operator<=>(const KernelKey&) const = default;
};

struct DeviceKey {
  std::string uuid;
  std::string driver;  // its version: other code comes out of the same kernel

  auto operator<=>(const DeviceKey&) const = default;
};

struct LinkKey {
  std::string source;  // UUIDs, or "host"
  std::string target;
  std::string driver;

  auto operator<=>(const LinkKey&) const = default;
};

// One line of the store. `samples` are of work-items or of bytes.
struct KernelRow {
  KernelKey kernel;
  DeviceKey device;
  Samples samples;
};
struct LinkRow {
  LinkKey link;
  Samples samples;
};
struct Contents {
  std::vector<KernelRow> kernels;
  std::vector<LinkRow> links;
};

// What `prune` removes: rows that fulfil all of it.
struct PruneRule {
  int64_t older_than_seconds = 0;  // 0: any age
  std::string device;              // empty: any; else its UUID, also as one end of a link
};

// Of this user; empty: there is to be no file.
std::string storeDirectory();

// Thread-safe; and safe with any number of processes on one file, whose measurements add up.
// Measurements are kept in memory until flush(), which is the only one to write the file.
class PerformanceStore {
 public:
  using Clock = std::function<int64_t()>;  // seconds since 1970

  // An empty path: in memory only. `clock` is for tests.
  explicit PerformanceStore(const std::string& directory, Clock clock = {});

  // Where it is, for people; empty when in memory only.
  const std::string& file() const { return file_; }

  void recordKernel(const KernelKey& kernel, const DeviceKey& device, uint64_t work_items,
                    double nanoseconds);
  void recordTransfer(const LinkKey& link, uint64_t bytes, double nanoseconds);

  // Reads all of the file, if it is not very large, so that the first question about a kernel or a
  // link need not. Only the first call does anything.
  void readAhead();

  // From the file as it was when it was read ahead, or else at the first question about this kernel
  // or link; and what was recorded here since.
  std::optional<Prediction> kernelTime(const KernelKey& kernel, const DeviceKey& device,
                                       uint64_t work_items);
  std::optional<Prediction> transferTime(const LinkKey& link, uint64_t bytes);

  // A link that somebody asks about often. Valid as long as the store is.
  class Link;
  Link link(const LinkKey& key);
  std::optional<Prediction> transferTime(const Link& link, uint64_t bytes);

  // Measurements that are not in the file yet.
  size_t pending() const;
  // Writes them. False: they are kept for the next time, because the file cannot be written now.
  bool flush();

  Contents contents();
  // How many rows went; nullopt: the file cannot be written.
  std::optional<uint64_t> prune(const PruneRule& rule);

 private:
  // Kernels and links alike: what was measured, and over what.
  using Key = std::vector<std::string>;
  struct Entry {          // stays where it is
    bool loaded = false;  // from the file
    Curve curve;          // the file's, and what was added here
    Curve fresh;          // of it, what is not in the file
  };
  using Entries = std::map<Key, Entry>;
  struct State {
    Entries entries;
    size_t pending = 0;
    bool read_ahead = false;  // or somebody is at it
    bool knows_file = false;  // what is not among the entries was not in the file either
  };

  // Taken from the entries on its way to the file.
  struct Batch {
    std::vector<std::pair<Key, Curve>> curves;
    size_t measurements = 0;
  };

  void record(const Key& key, uint64_t size, double nanoseconds);
  Entries::value_type& entryOf(const Key& key);
  std::optional<Prediction> predict(Entries::value_type& entry, uint64_t size);
  Curve read(const Key& key);
  std::optional<std::map<Key, Curve>> readAll();
  static void merge(Entry& entry, Curve stored);
  void putBack(const Batch& batch);
  template <class F>
  bool withDatabase(F&& use);

  std::string directory_, file_;
  Clock clock_;
  Guarded<State> state_;
};

class PerformanceStore::Link {
  friend PerformanceStore;
  explicit Link(Entries::value_type& entry) : entry_(&entry) {}
  Entries::value_type* entry_;
};

}  // namespace weft::profiling
