#include "profiling/trace_reader.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <span>
#include <stdexcept>
#include <unordered_map>

namespace weft::profiling {
namespace {

using namespace trace;
namespace fs = std::filesystem;

// Objects by address, and the times at which they were made.
class Directory {
 public:
  void add(uint64_t address, uint64_t when, size_t index) {
    made_[address].emplace_back(when, index);
  }
  void sort() {
    for (auto& [address, list] : made_) std::ranges::sort(list);
  }
  // The last one that was made there by then.
  size_t find(uint64_t address, uint64_t when) const {
    const auto found = made_.find(address);
    if (found == made_.end()) return nobody;
    const auto later = std::ranges::upper_bound(found->second, when, {},
                                                [](const auto& entry) { return entry.first; });
    return later == found->second.begin() ? nobody : std::prev(later)->second;
  }

 private:
  std::unordered_map<uint64_t, std::vector<std::pair<uint64_t, size_t>>> made_;
};

class Reader {
 public:
  explicit Reader(const std::string& path) : path_(path), file_(path, std::ios::binary) {
    if (!file_) throw std::runtime_error("cannot read " + path);
  }

  TracedProcess read() {
    readHeader();
    for (std::vector<char> chunk(chunk_bytes); file_.read(chunk.data(), chunk_bytes);)
      readChunk(chunk);
    order();
    connect();
    return std::move(process_);
  }

 private:
  void readHeader() {
    std::vector<char> chunk(chunk_bytes);
    FileHeader header;
    if (!file_.read(chunk.data(), chunk_bytes)) throw std::runtime_error(path_ + " is too short");
    std::memcpy(&header, chunk.data(), sizeof header);
    if (header.magic != magic)
      throw std::runtime_error(path_ + " is no recording of this version of Weft");
    header.command_line.back() = '\0';
    process_.number = header.process;
    process_.command_line = header.command_line.data();
    process_.began = header.began;
    process_.began_realtime = header.began_realtime;
    process_.dropped = header.dropped;
  }

  void readChunk(const std::vector<char>& chunk) {
    ChunkHeader header;
    std::memcpy(&header, chunk.data(), sizeof header);
    if (header.thread == 0) return;
    header.thread_name.back() = '\0';
    const size_t thread = threadOf(header);
    for (size_t at = sizeof header; at + sizeof(RecordHead) <= chunk.size();) {
      RecordHead head;
      std::memcpy(&head, chunk.data() + at, sizeof head);
      if (head.bytes < sizeof head || head.bytes > chunk.size() - at) return;
      take(head, {chunk.data() + at, head.bytes}, thread);
      at += head.bytes;
    }
  }

  // The last name that it had is the one that says most.
  size_t threadOf(const ChunkHeader& header) {
    const auto [found, is_new] = threads_.try_emplace(header.thread, process_.threads.size());
    if (is_new) process_.threads.push_back({header.thread, {}});
    process_.threads[found->second].name = header.thread_name.data();
    return found->second;
  }

  template <class R>
  static bool parse(const RecordHead& head, std::span<const char> bytes, R& record,
                    std::string& text) {
    if (bytes.size() < sizeof record + head.text) return false;
    std::memcpy(&record, bytes.data(), sizeof record);
    text.assign(bytes.data() + sizeof record, head.text);
    return true;
  }

  void take(const RecordHead& head, std::span<const char> bytes, size_t thread) {
    std::string text;
    if (head.kind == Kind::device) {
      DeviceRecord record;
      if (parse(head, bytes, record, text)) addDevice(record, text);
    } else if (head.kind == Kind::queue) {
      TracedQueue& queue = process_.queues.emplace_back();
      if (!parse(head, bytes, queue.record, text)) process_.queues.pop_back();
    } else if (head.kind == Kind::command) {
      TracedCommand& command = process_.commands.emplace_back();
      if (!parse(head, bytes, command.record, command.name)) process_.commands.pop_back();
    } else if (head.kind == Kind::call) {
      TracedCall& call = process_.calls.emplace_back();
      call.thread = thread;
      if (!parse(head, bytes, call.record, call.name)) process_.calls.pop_back();
    } else if (head.kind == Kind::dependency) {
      DependencyRecord record;
      if (parse(head, bytes, record, text)) dependencies_.push_back(record);
    }
  }

  void addDevice(const DeviceRecord& record, std::string& name) {
    for (const TracedDevice& known : process_.devices)
      if (known.record.device == record.device && known.name == name &&
          known.record.compute_units == record.compute_units)
        return;
    process_.devices.push_back({record, std::move(name)});
  }

  void order() {
    std::ranges::sort(process_.commands, {},
                      [](const TracedCommand& command) { return command.record.queued; });
    std::ranges::sort(process_.calls, {}, [](const TracedCall& call) { return call.record.began; });
  }

  void connect() {
    Directory devices, queues, commands;
    for (size_t i = 0; i < process_.devices.size(); ++i)
      devices.add(process_.devices[i].record.device, process_.devices[i].record.when, i);
    for (size_t i = 0; i < process_.queues.size(); ++i)
      queues.add(process_.queues[i].record.queue, process_.queues[i].record.when, i);
    for (size_t i = 0; i < process_.commands.size(); ++i)
      commands.add(process_.commands[i].record.command, process_.commands[i].record.queued, i);
    for (Directory* directory : {&devices, &queues, &commands}) directory->sort();

    for (TracedQueue& queue : process_.queues)
      queue.device = devices.find(queue.record.device, queue.record.when);
    for (TracedCommand& command : process_.commands) {
      const CommandRecord& record = command.record;
      command.device = devices.find(record.device, record.queued);
      command.queue = queues.find(record.queue, record.queued);
      command.source = devices.find(record.source, record.queued);
      command.target = devices.find(record.target, record.queued);
      command.parent = commands.find(record.parent, record.queued);
    }
    for (const DependencyRecord& record : dependencies_) {
      const size_t command = commands.find(record.command, record.when);
      const size_t other = commands.find(record.other, record.when);
      if (command != nobody && other != nobody && command != other)
        process_.commands[command].dependencies.push_back(other);
    }
  }

  std::string path_;
  std::ifstream file_;
  TracedProcess process_;
  std::map<uint32_t, size_t> threads_;
  std::vector<DependencyRecord> dependencies_;
};

}  // namespace

TracedProcess readTrace(const std::string& path) { return Reader(path).read(); }

std::vector<TracedProcess> readTraces(const std::string& folder) {
  std::vector<TracedProcess> processes;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error))
    if (entry.path().extension() == file_suffix)
      processes.push_back(readTrace(entry.path().string()));
  if (error) throw std::runtime_error("cannot read " + folder + ": " + error.message());
  std::ranges::sort(processes, {}, &TracedProcess::began);
  return processes;
}

}  // namespace weft::profiling
