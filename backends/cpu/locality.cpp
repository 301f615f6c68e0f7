#include "backends/cpu/locality.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <span>

#include "core/access_evaluation.h"
#include "core/kernel.h"

namespace weft::cpu {
namespace {

constexpr size_t page = 4096;
// More pieces of an allocation than this are no slices, and each costs a system call.
constexpr size_t most_runs = 256;
// Groups are looked at in this many blocks per node: nodes have shares of unlike sizes, and
// launches are not always cut as the one was that placed the memory.
constexpr uint64_t blocks_per_node = 4;

// What is behind a launch's argument.
struct Operand {
  size_t argument = 0;
  port::Memory* memory = nullptr;
  size_t offset = 0;
};

std::vector<Operand> operandsOf(const port::Launch& launch) {
  std::vector<Operand> list;
  for (size_t i = 0; i < launch.arguments.size(); ++i) {
    const port::LaunchArgument& argument = launch.arguments[i];
    if (argument.memory) {
      list.push_back({i, argument.memory, argument.offset});
      continue;
    }
    port::Memory* const memory = argument.raw_address ? memoryAt(argument.raw_address) : nullptr;
    if (memory) list.push_back({i, memory, size_t(argument.raw_address - memory->deviceAddress())});
  }
  return list;
}

// A block of layers across the outermost dimension that has several, so that its groups' linear
// indices are neighbours.
struct Block {
  port::GroupBox box;
  uint64_t begin = 0;
  uint64_t end = 0;
};

class Blocks {
 public:
  explicit Blocks(const port::GroupBox& slice) : slice_(slice) {
    while (dimension_ > 0 && extent(dimension_) == 1) --dimension_;
    for (unsigned d = 0; d < dimension_; ++d) groups_per_layer_ *= extent(d);
  }

  uint64_t layers() const { return extent(dimension_); }
  Block block(uint64_t begin, uint64_t end) const {
    Block block{slice_, begin * groups_per_layer_, end * groups_per_layer_};
    block.box.begin[dimension_] = slice_.begin[dimension_] + begin;
    block.box.end[dimension_] = slice_.begin[dimension_] + end;
    return block;
  }

 private:
  uint64_t extent(unsigned d) const { return slice_.end[d] - slice_.begin[d]; }

  port::GroupBox slice_;
  unsigned dimension_ = 2;
  uint64_t groups_per_layer_ = 1;
};

// What blocks of a launch's groups touch of its arguments.
class Touches {
 public:
  Touches(const port::Launch& launch, const KernelInfo& kernel)
      : launch_(launch), kernel_(kernel), values_(launch.arguments.size()) {
    for (size_t i = 0; i < values_.size(); ++i)
      if (const port::LaunchArgument& argument = launch.arguments[i]; argument.value)
        values_[i].setBytes(argument.value, argument.size);
  }

  // Bytes of the operand's memory; the whole of it where little is known.
  const std::vector<TouchedRange>& of(const port::GroupBox& box, const Operand& operand) {
    ranges_.clear();
    const size_t size = operand.memory->size() - operand.offset;
    const ArgumentInfo& argument = kernel_.arguments[operand.argument];
    if (argument.kind == ArgumentKind::image)
      ranges_.push_back({0, size, true, true});
    else
      AccessEvaluation(*launch_.record, values_, box).touched(argument, size, ranges_);
    for (TouchedRange& range : ranges_) {
      range.begin += operand.offset;
      range.end += operand.offset;
    }
    return ranges_;
  }

 private:
  const port::Launch& launch_;
  const KernelInfo& kernel_;
  std::vector<ArgumentValue> values_;
  std::vector<TouchedRange> ranges_;
};

// Where bytes that are touched on behalf of a node begin, or end to be.
struct Edge {
  size_t at = 0;
  size_t node = 0;
  int change = 0;
};

// What exactly one node touches, in whole pages.
Layout layoutOf(std::vector<Edge> edges, const Home& home) {
  std::sort(edges.begin(), edges.end(), [](const Edge& a, const Edge& b) { return a.at < b.at; });
  std::vector<int> depth(home.nodes.size());
  Layout layout;
  for (size_t i = 0; i < edges.size(); ++i) {
    depth[edges[i].node] += edges[i].change;
    if (i + 1 == edges.size() || edges[i + 1].at == edges[i].at) continue;
    if (std::count(depth.begin(), depth.end(), 0) + 1 != std::ptrdiff_t(depth.size())) continue;
    const auto only = std::find_if(depth.begin(), depth.end(), [](int d) { return d != 0; });
    const unsigned node = home.nodes[size_t(only - depth.begin())];
    const size_t begin = edges[i].at / page * page, end = edges[i + 1].at / page * page;
    if (begin == end) continue;
    if (!layout.empty() && layout.back().end == begin && layout.back().node == node)
      layout.back().end = end;
    else
      layout.push_back({begin, end, node});
  }
  if (layout.size() > most_runs) layout.clear();
  return layout;
}

void settleByGroups(const port::Launch& launch, const KernelInfo& kernel, const Home& home,
                    const std::vector<Operand>& operands) {
  const Blocks blocks(launch.slice);
  const auto all = std::accumulate(home.units.begin(), home.units.end(), uint64_t{0});
  Touches touches(launch, kernel);
  std::map<port::Memory*, std::vector<Edge>> edges;
  uint64_t units = 0, begin = 0;
  for (size_t node = 0; node < home.nodes.size(); ++node) {
    units += home.units[node];
    const auto end = uint64_t(double(blocks.layers()) * double(units) / double(all));
    const port::GroupBox box = blocks.block(begin, end).box;
    for (const Operand& operand : operands) {
      std::vector<Edge>& list = edges[operand.memory];
      if (begin == end) continue;
      for (const TouchedRange& range : touches.of(box, operand)) {
        list.push_back({range.begin, node, 1});
        list.push_back({range.end, node, -1});
      }
    }
    begin = end;
  }
  for (auto& [memory, list] : edges) settleAs(*memory, home, layoutOf(std::move(list), home));
}

// The node that has more than half of these bytes; the number of nodes when none has.
size_t majority(const std::vector<uint64_t>& bytes) {
  const uint64_t all = std::accumulate(bytes.begin(), bytes.end(), uint64_t{0});
  const auto most = std::max_element(bytes.begin(), bytes.end());
  return *most > all / 2 ? size_t(most - bytes.begin()) : bytes.size();
}

class Counting {
 public:
  Counting(const Home& home, const std::vector<Operand>& operands) : home_(home) {
    for (const Operand& operand : operands)
      if (Layout layout = cpu::layoutOf(*operand.memory); !layout.empty())
        placed_.emplace_back(operand, std::move(layout));
  }

  bool any() const { return !placed_.empty(); }
  // How many of the bytes that the groups touch each node has.
  std::vector<uint64_t> count(Touches& touches, const port::GroupBox& box) const {
    std::vector<uint64_t> bytes(home_.nodes.size());
    for (const auto& [operand, layout] : placed_)
      for (const TouchedRange& range : touches.of(box, operand))
        for (const NodeRun& run : layout) {
          const size_t begin = std::max(range.begin, run.begin), end = std::min(range.end, run.end);
          const auto place = std::find(home_.nodes.begin(), home_.nodes.end(), run.node);
          if (begin < end && place != home_.nodes.end())
            bytes[size_t(place - home_.nodes.begin())] += end - begin;
        }
    return bytes;
  }

 private:
  const Home& home_;
  std::vector<std::pair<Operand, Layout>> placed_;
};

}  // namespace

bool settleMemory(const port::Launch& launch, const KernelInfo& kernel, const Home& home) noexcept
    try {
  std::vector<Operand> homeless = operandsOf(launch);
  std::erase_if(homeless, [](const Operand& operand) { return !awaitsLayout(*operand.memory); });
  if (homeless.empty()) return true;
  if (home.nodes.size() > 1 && launch.slice.count() > 1) {
    settleByGroups(launch, kernel, home, homeless);
  } else {
    for (const Operand& operand : homeless) settle(*operand.memory, home);
  }
  return true;
} catch (...) {
  return false;
}

std::vector<NodeGroups> groupsByNode(const port::Launch& launch, const KernelInfo& kernel,
                                     const Home& home) noexcept try {
  std::vector<NodeGroups> groups;
  const Counting counting(home, operandsOf(launch));
  if (!counting.any()) return groups;
  Touches touches(launch, kernel);
  const Blocks blocks(launch.slice);
  const uint64_t count = std::min(blocks.layers(), blocks_per_node * home.nodes.size());
  for (uint64_t i = 0; i < count; ++i) {
    const auto layer = [&](uint64_t n) {
      return blocks.layers() / count * n + std::min(n, blocks.layers() % count);
    };
    const Block block = blocks.block(layer(i), layer(i + 1));
    const size_t node = majority(counting.count(touches, block.box));
    if (node == home.nodes.size()) continue;
    if (!groups.empty() && groups.back().end == block.begin && groups.back().node == node)
      groups.back().end = block.end;
    else
      groups.push_back({block.begin, block.end, node});
  }
  return groups;
} catch (...) {
  return {};
}

}  // namespace weft::cpu
