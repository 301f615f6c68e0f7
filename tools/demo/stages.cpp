#include "tools/demo/stages.h"

namespace weft::tools::demo {
namespace {

using enum Plane;

constexpr Plane colour_reads[] = {rgba}, colour_writes[] = {luma, blue, red};
constexpr Plane blur_reads[] = {luma, weights}, blur_writes[] = {smooth};
constexpr Plane histogram_reads[] = {smooth}, histogram_writes[] = {bins};
constexpr Plane table_reads[] = {bins}, table_writes[] = {levels};
constexpr Plane equalise_reads[] = {levels, luma, smooth}, equalise_writes[] = {sharp, level};
constexpr Plane edges_reads[] = {level}, edges_writes[] = {edge};
constexpr Plane compose_reads[] = {sharp, blue, red, edge}, compose_writes[] = {result};

constexpr Stage table_of_stages[] = {
    {"colour", Range::pixels, colour_reads, colour_writes, 0},
    {"blur", Range::tiles, blur_reads, blur_writes, 1},
    {"histogram", Range::strided, histogram_reads, histogram_writes, 0},
    {"table", Range::one_group, table_reads, table_writes, 0},
    {"equalise", Range::pixels, equalise_reads, equalise_writes, 0},
    {"edges", Range::pixels, edges_reads, edges_writes, 0},
    {"compose", Range::pixels, compose_reads, compose_writes, 0},
};

}  // namespace

size_t planeBytes(Plane plane, size_t pixels) {
  switch (plane) {
    case weights:
      return sizeof blur_weights;
    case bins:
      return bin_count * sizeof(uint32_t);
    case levels:
      return bin_count;
    case rgba:
    case result:
      return 4 * pixels;
    default:
      return pixels;
  }
}

std::span<const Stage> stages() { return table_of_stages; }

}  // namespace weft::tools::demo
