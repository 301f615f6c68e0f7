#include "core/pool.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <fstream>
#include <thread>
#include <vector>

#include <unistd.h>

#include "core/guarded.h"

namespace weft {
namespace {

struct Piece {
  std::byte* bytes;
  size_t size;
};

// A piece whose every byte says what it is.
Piece pieceOf(size_t size) {
  auto* bytes = static_cast<std::byte*>(pool::allocate(size));
  std::memset(bytes, static_cast<int>(size & 0xff), size);
  return {bytes, size};
}

bool intact(const Piece& piece) {
  for (size_t i = 0; i < piece.size; ++i)
    if (piece.bytes[i] != static_cast<std::byte>(piece.size & 0xff)) return false;
  return true;
}

TEST(Pool, BlocksOfAllSizesAreAlignedAndApart) {
  std::vector<Piece> pieces;
  for (size_t size = 1; size < 5000; size += 13) pieces.push_back(pieceOf(size));
  for (const Piece& piece : pieces) {
    EXPECT_EQ(reinterpret_cast<uintptr_t>(piece.bytes) % 16, 0u) << piece.size;
    EXPECT_TRUE(intact(piece)) << piece.size;
    pool::release(piece.bytes, piece.size);
  }
}

TEST(Pool, NothingIsAValidBlockToRelease) { pool::release(nullptr, 100); }

// Every thread makes blocks and ends those that another made; all threads come and go.
TEST(Pool, BlocksMoveBetweenThreads) {
  Guarded<std::vector<Piece>> shared;
  const auto work = [&](size_t seed) {
    for (size_t i = 0; i < 4000; ++i) {
      const Piece made = pieceOf(1 + (seed * 131 + i * 97) % 2500);
      Piece taken{};
      {
        auto pieces = shared.lock();
        pieces->push_back(made);
        std::swap(pieces->front(), pieces->back());
        if (pieces->size() > 300) {
          taken = pieces->back();
          pieces->pop_back();
        }
      }
      if (!taken.bytes) continue;
      EXPECT_TRUE(intact(taken));
      pool::release(taken.bytes, taken.size);
    }
  };
  for (int round = 0; round < 3; ++round) {
    std::vector<std::thread> threads;
    for (size_t t = 0; t < 4; ++t) threads.emplace_back(work, t);
    for (std::thread& thread : threads) thread.join();
  }
  for (const Piece& piece : *shared.lock()) {
    EXPECT_TRUE(intact(piece));
    pool::release(piece.bytes, piece.size);
  }
}

// What a thread's last destructors end, after the thread gave its part of the pool back.
struct EndsLate {
  ~EndsLate() {
    for (const Piece& piece : pieces) pool::release(piece.bytes, piece.size);
  }
  std::vector<Piece> pieces;
};
thread_local EndsLate late;

TEST(Pool, BlocksMayEndAfterTheirThreadsCache) {
  std::thread([] {
    late.pieces.reserve(200);  // made before the pool's own, so destroyed after it
    for (size_t i = 0; i < 200; ++i) late.pieces.push_back(pieceOf(200));
  }).join();
}

size_t residentBytes() {
  size_t total = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> total >> resident;
  return resident * static_cast<size_t>(sysconf(_SC_PAGESIZE));
}

TEST(Pool, ABurstOfBlocksIsGivenBack) {
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "a sanitizer's shadow of the memory stays";
#endif
  constexpr size_t block = 1000, count = 200'000;
  const size_t before = residentBytes();
  std::vector<void*> blocks(count);
  for (int round = 0; round < 2; ++round) {
    for (void*& each : blocks) std::memset(each = pool::allocate(block), 1, block);
    EXPECT_GT(residentBytes(), before + count * block * 9 / 10);
    for (void* each : blocks) pool::release(each, block);
    // What the pool keeps, and the blocks' addresses.
    EXPECT_LT(residentBytes(), before + (size_t{40} << 20));
  }
}

}  // namespace
}  // namespace weft
