// What keeps a kernel on one device, and what its parts touch, out of real compiles.
#include "core/printf.h"
#include "tests/compiler/split_fixture.h"

namespace weft::test {
namespace {

uint32_t bits(std::initializer_list<SplitHazard> hazards) {
  uint32_t sum = 0;
  for (const SplitHazard hazard : hazards) sum |= static_cast<uint32_t>(hazard);
  return sum;
}

struct HazardCase {
  const char* source;
  uint32_t hazards;
};

const HazardCase hazard_cases[] = {
    {"kernel void k(global float* a, global const float* b, float s) {"
     " size_t i = get_global_id(0); a[i] = s * sin(b[i]); }",
     0},
    {"kernel void k(global int* a, local int* l) { size_t i = get_local_id(0); l[i] = a[i];"
     " barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE); a[get_global_id(0)] = l[0]; }",
     0},
    {"kernel void k(global int* a) { local int sum; if (get_local_id(0) == 0) sum = 0;"
     " barrier(CLK_LOCAL_MEM_FENCE); atomic_add(&sum, 1); barrier(CLK_LOCAL_MEM_FENCE);"
     " a[get_group_id(0)] = sum; }",
     0},
    {"kernel void k(write_only image1d_t a) { write_imagef(a, get_global_id(0), 1.0f); }", 0},
    {"kernel void k(global int* a, global int* b) { b[get_global_id(0)] = atomic_inc(a); }",
     bits({SplitHazard::global_atomics, SplitHazard::common_atomics})},
    {"kernel void k(global int* a) { atomic_inc(a); if (a[0] == 7) a[1] = 1; }",
     bits({SplitHazard::global_atomics, SplitHazard::common_atomics})},
    {"kernel void k(global int* a) { atomic_inc(a); atomic_max(a + 1, 3); }",
     bits({SplitHazard::global_atomics, SplitHazard::common_atomics})},
    {"kernel void k(global int* a, global int* b) {"
     " int i = get_global_id(0); atomic_inc(b[i] ? a : b); }",
     bits({SplitHazard::global_atomics, SplitHazard::common_atomics})},
    {"kernel void k(global int* a) { atomic_xchg(a, 1); }",
     bits({SplitHazard::global_atomics, SplitHazard::common_atomics})},
    {"kernel void k(global int* a) { atomic_inc(a); atomic_sub(a + 3, 4); }", 0},
    {"kernel void k(global atomic_int* a) { atomic_fetch_add_explicit(a, 1, memory_order_relaxed,"
     " memory_scope_device); }",
     0},
    {"__attribute__((noinline)) void add(int* p) { atomic_fetch_add((atomic_int*)p, 1); }"
     "kernel void k(global int* a) { add(a + get_global_id(0)); }",
     0},
    {"__attribute__((noinline)) void add(int* p) {"
     " atomic_fetch_add((atomic_int*)p, atomic_fetch_add((atomic_int*)p, 1)); }"
     "kernel void k(global int* a) { add(a + get_global_id(0)); }",
     bits(
         {SplitHazard::global_atomics, SplitHazard::ordered_atomics, SplitHazard::common_atomics})},
    {"__attribute__((noinline)) void add(int* p) { atomic_fetch_add((atomic_int*)p, 1); p[1] = 2; }"
     "kernel void k(global int* a) { add(a + get_global_id(0)); }",
     bits(
         {SplitHazard::global_atomics, SplitHazard::ordered_atomics, SplitHazard::common_atomics})},
    // Found by some, as a cracked hash is: no loop depends on it.
    {"__attribute__((noinline)) void mark(global int* n, global int* to, int limit, int what) {"
     " int at = atomic_inc(n); if (at >= limit) { atomic_dec(n); return; } to[at] = what; }"
     "kernel void k(global const int* in, global int* n, global int* to, global const int* count) {"
     " for (int i = 0; i < *count; i++)"
     " if (in[get_global_id(0)] == i * i && atomic_inc(n + 1) == 0) mark(n, to, 9, i); }",
     bits({SplitHazard::global_atomics})},
    // Loops that may wait: for a value, for a lock, for what another work-item of the group hears,
    // with a branch in between, or for ever.
    {"kernel void k(global int* a) { if (get_global_id(0) > 3) while (atomic_or(a, 0) == 0) {} }",
     bits({SplitHazard::global_atomics, SplitHazard::waiting_atomics})},
    {"kernel void k(global int* a, global int* b) { if (get_global_id(0) > 3) {"
     " while (atomic_cmpxchg(a, 0, 1)) {} b[0]++; atomic_xchg(a, 0); } }",
     bits({SplitHazard::global_atomics, SplitHazard::waiting_atomics})},
    {"kernel void k(global int* a, local int* l) { l[0] = 0; barrier(CLK_LOCAL_MEM_FENCE);"
     " while (l[0] < 7) { if (get_local_id(0) == 0) l[0] = atomic_add(a, 0);"
     " barrier(CLK_LOCAL_MEM_FENCE); } }",
     bits({SplitHazard::global_atomics, SplitHazard::waiting_atomics})},
    {"kernel void k(global int* a, global int* b) { int go = 1, i = 0; while (go) {"
     " if (b[i++] > 3) { if (atomic_add(a, 1) == 5) go = 0; else b[i] = 2; } } }",
     bits({SplitHazard::global_atomics, SplitHazard::waiting_atomics})},
    {"kernel void k(global int* a, global int* b) { for (int i = 0; i < 1000; i++)"
     " if (b[i] > 3 && atomic_add(a, 1) == 5) return; }",
     bits({SplitHazard::global_atomics, SplitHazard::waiting_atomics})},
    {"kernel void k(global int* a, global int* b) { if (get_global_id(0) > 3) { int i = 0; while "
     "(1) {"
     " if (atomic_or(a, 0) == 0) continue; b[get_global_id(0)] = ++i; if (i == 10) break; } } }",
     bits({SplitHazard::global_atomics, SplitHazard::waiting_atomics})},
    {"kernel void k(global int* a, global int* b, int n) { if (get_global_id(0) > 3) {"
     " again: if (!atomic_or(a, 0)) goto again; b[0] = 1; if (--n) goto again; } }",
     bits({SplitHazard::global_atomics, SplitHazard::waiting_atomics})},
    {"kernel void k(global int* a, global int* b) { if (get_global_id(0) > 3) while (1) {"
     " if (atomic_cmpxchg(a, 0, 1)) continue; b[3]++; atomic_xchg(a, 0); if (b[9]) break; } }",
     bits({SplitHazard::global_atomics, SplitHazard::waiting_atomics})},
    {"kernel void k(global int* a, global int* b) { if (get_global_id(0) == b[0]) atomic_xchg(a, "
     "1);"
     " while (a[0] == 0) barrier(CLK_GLOBAL_MEM_FENCE); }",
     bits({SplitHazard::global_atomics, SplitHazard::waiting_atomics})},
    // A loop with barriers over what is only read waits for nobody.
    {"kernel void k(global int* a, global int* n, global const int* in, local int* l) {"
     " for (int i = 0; in[i] > 0; i++) { l[get_local_id(0)] = in[i]; barrier(CLK_LOCAL_MEM_FENCE);"
     " if (l[3] == 7) a[atomic_inc(n)] = i; barrier(CLK_LOCAL_MEM_FENCE); } }",
     bits({SplitHazard::global_atomics})},
    {"__attribute__((noinline)) int look(global int* a) { return atomic_add(a, 0); }"
     "kernel void k(global int* a) { if (get_global_id(0) > 3) while (look(a)) {} }",
     bits({SplitHazard::global_atomics, SplitHazard::waiting_atomics})},
    {"kernel void k(global volatile int* a) { while (a[0] == 0) {} }",
     bits({SplitHazard::volatile_accesses})},
    {"kernel void k(global int* a) { a[get_global_id(0)] = 1; mem_fence(CLK_GLOBAL_MEM_FENCE); }",
     bits({SplitHazard::fences})},
    {"kernel void k(global int* a) { printf(\"%d\\n\", a[0]); }",
     // Which goes through a pointer to a function of the host.
     bits({SplitHazard::prints, SplitHazard::unknown_calls})},
    {"typedef struct { global int* p; } list;"
     "kernel void k(global list* a) { *a[get_global_id(0)].p = 1; }",
     bits({SplitHazard::unnamed_memory})},
    {"kernel void k(ulong a) { *(global int*)a = 1; }", bits({SplitHazard::unnamed_memory})},
    {"global int counter; kernel void k(global int* a) { a[get_global_id(0)] = counter; }",
     bits({SplitHazard::program_variables})},
    {"global int counters[4]; __attribute__((noinline)) int next(int i) { return counters[i]++; }"
     "kernel void k(global int* a) { a[get_global_id(0)] = next(1); }",
     bits({SplitHazard::program_variables})},
    {"constant float table[4] = {1, 2, 3, 4};"
     "kernel void k(global float* a) { a[get_global_id(0)] = table[get_global_id(0) & 3]; }",
     0},
};

TEST_F(SplitTest, FindsWhatTiesWorkGroupsTogether) {
  for (const HazardCase& c : hazard_cases)
    EXPECT_EQ(kernelOf(c.source).split_hazards, c.hazards) << c.source;
}

TEST_F(SplitTest, UnknownUntilLookedAt) {
  EXPECT_EQ(KernelInfo{}.split_hazards, all_split_hazards);
}

constexpr const char* saxpy =
    "kernel void k(global float* y, global const float* x, int n) {"
    " int i = get_global_id(0); if (i < n) y[i] += 2 * x[i]; }";

TEST_F(SplitTest, PartsOfALine) {
  const Split whole = split(saxpy, line(1024, 16), 1000);
  ASSERT_EQ(whole.splitClass(), SplitClass::exact) << whole.reason();
  EXPECT_EQ(whole.blocks(), 16u);
  EXPECT_EQ(whole.box({4, 8}).begin[0], 16u);
  EXPECT_EQ(whole.box({4, 8}).end[0], 32u);
  std::vector<PartAccess> list;
  whole.accesses({4, 8}, list);
  ASSERT_EQ(list.size(), 2u);
  EXPECT_EQ(list[0].begin, 1024u);
  EXPECT_EQ(list[0].end, 2048u);
  EXPECT_TRUE(list[0].writes);
  EXPECT_TRUE(list[0].reads);
  EXPECT_FALSE(list[1].writes);
  list.clear();
  whole.accesses({12, 16}, list);
  EXPECT_EQ(list[0].end, 4000u);
}

TEST_F(SplitTest, BlocksOfUnequalSize) {
  const Split whole = split(saxpy, line(16 * 37, 16), 1000);
  uint64_t next = 0;
  for (uint64_t block = 0; block < whole.blocks(); ++block) {
    const port::GroupBox box = whole.box({block, block + 1});
    EXPECT_EQ(box.begin[0], next);
    EXPECT_LE(box.count(), 3u);
    next = box.end[0];
  }
  EXPECT_EQ(next, 37u);
}

TEST_F(SplitTest, WhatIsBoundDecides) {
  kernel_ = kernelOf(saxpy);
  const auto classOf = [&](BoundArgument y, BoundArgument x) {
    return split(line(1024, 16), 1000, {y, x, {}}).splitClass();
  };
  const void* a = &storages_[0];
  EXPECT_EQ(classOf({a, 0, 4096}, {&storages_[1], 0, 4096}), SplitClass::exact);
  // Each work-item reads what it writes itself.
  EXPECT_EQ(classOf({a, 0, 4096}, {a, 0, 4096}), SplitClass::exact);
  // Overlapping sub-buffers: it reads what another writes.
  EXPECT_EQ(classOf({a, 0, 4096}, {a, 1024, 4096}), SplitClass::merge);
  EXPECT_EQ(classOf({a, 0, 4096}, {a, 4096, 4096}), SplitClass::exact);
  BoundArgument shared;
  shared.shared_memory = true;
  EXPECT_EQ(classOf(shared, {a, 0, 4096}), SplitClass::whole);
}

TEST_F(SplitTest, WholeKernels) {
  const std::pair<const char*, const char*> cases[] = {
      {"kernel void k(global int* a, global int* b) { b[get_global_id(0)] = atomic_inc(a); }",
       "atomics of all work-items on global memory"},
      {"kernel void k(global int* a, global int* b) {"
       " if (b[get_global_id(0)]) while (atomic_or(a, 0)) {} }",
       "loops that depend on atomics on global memory"},
      {"kernel void k(global int* a) { mem_fence(CLK_GLOBAL_MEM_FENCE); a[0] = 1; }", "fences"},
  };
  for (const auto& [source, reason] : cases) {
    const Split whole = split(source, line(1024, 16));
    EXPECT_EQ(whole.splitClass(), SplitClass::whole) << source;
    EXPECT_EQ(whole.reason(), reason) << source;
  }
  EXPECT_EQ(split(saxpy, line(16, 16), 16).splitClass(), SplitClass::whole);
}

TEST_F(SplitTest, MergedKernels) {
  const char* cases[] = {
      "kernel void k(global int* a, global const int* b) { a[b[get_global_id(0)]] = 1; }",
      "kernel void k(global int* a) { a[0] = 1; }",
      "kernel void k(global int* a) { int i = get_global_id(0); a[i] = a[i + 1]; }",
      "kernel void k(global int* a, global int* b, int n) {"
      " global int* p = n ? a : b; p[get_global_id(0)] = 1; }",
  };
  for (const char* source : cases) {
    const Split merge = split(source, line(1024, 16));
    ASSERT_EQ(merge.splitClass(), SplitClass::merge) << source;
    ASSERT_FALSE(merge.merged().empty()) << source;
    EXPECT_EQ(merge.merged().front().end, size_t{1} << 20) << source;
    EXPECT_EQ(merge.merged().front().combination, Combination::none) << source;
    std::vector<PartAccess> list;
    merge.accesses({0, merge.blocks()}, list);
    for (const PartAccess& access : list) EXPECT_FALSE(access.writes) << source;
  }
}

// No store may be torn. Where stores are of several sizes no two parts may change the same.
TEST_F(SplitTest, MergesInUnitsOfStores) {
  struct Case {
    const char* source;
    int bytes;  // 0: of several sizes
  };
  const Case cases[] = {
      {"kernel void k(global char* a, global const int* b) { a[b[get_global_id(0)]] = 1; }", 1},
      {"kernel void k(global short* a, global const int* b) { a[b[get_global_id(0)]] = 1; }", 2},
      {"kernel void k(global float4* a, global const int* b) { a[b[get_global_id(0)]] = 1; }", 4},
      {"kernel void k(global int* a, global const int* b) { vstore3((int3)(1, 2, 3), b[0], a); }",
       4},
      {"kernel void k(global long* a, global const int* b) { a[b[get_global_id(0)]] = 1; }", 8},
      {"kernel void k(global int* a, global const int* b) {"
       " a[b[0]] = 1; a[b[1]] = 2; *(global float*)(a + b[2]) = 3; }",
       4},
      {"typedef struct { int a; long b; } S;"
       "kernel void k(global S* a, global const S* b) { a[b[get_global_id(0)].a] = b[0]; }",
       8},
      {"kernel void k(global int* a, global const int* b) {"
       " a[b[0]] = 1; ((global char*)a)[b[1]] = 2; }",
       0},
      {"__attribute__((noinline)) void put(global int* p) { *(global char*)p = 1; }"
       "kernel void k(global int* a, global const int* b) { put(a + b[0]); a[b[1]] = 2; }",
       0},
  };
  for (const Case& c : cases) {
    const Split merge = split(c.source, line(1024, 16));
    EXPECT_EQ(merge.splitClass(), SplitClass::merge) << c.source;
    ASSERT_EQ(merge.merged().size(), 1u) << c.source;
    EXPECT_EQ(merge.merged()[0].exclusive, c.bytes == 0) << c.source;
    EXPECT_EQ(merge.merged()[0].bytes, c.bytes ? c.bytes : 8) << c.source;
    EXPECT_EQ(merge.reason(),
              c.bytes ? "work-groups may write what others read or write"
                      : "work-groups may write the same memory in units of several sizes")
        << c.source;
  }
}

// Everything that the kernel writes, for it may have to run again.
TEST_F(SplitTest, RareAtomicsMakeCopiesExclusive) {
  const char* source =
      "kernel void k(global int* found, global int* list, global int* each, global uint* sum,"
      " global const int* in) {"
      " int i = get_global_id(0); each[i] += 1; atomic_add(sum, 1u);"
      " if (in[i] == 7) list[atomic_inc(found)] = i; }";
  const Split merge = split(source, line(1024, 16));
  ASSERT_EQ(merge.splitClass(), SplitClass::merge) << merge.reason();
  EXPECT_EQ(merge.reason(), "atomics on global memory");
  ASSERT_EQ(merge.merged().size(), 4u);
  for (const partition::MergedBytes& merged : merge.merged()) {
    const bool sum = merged.storage == &storages_[3];
    EXPECT_EQ(merged.exclusive, !sum);
    EXPECT_EQ(merged.combination, sum ? Combination::add : Combination::none);
    EXPECT_EQ(merged.bytes, sum ? 4 : 8);
  }
  std::vector<PartAccess> list;
  merge.accesses({0, merge.blocks()}, list);
  for (const PartAccess& access : list) EXPECT_EQ(access.argument, 4u);
  // What is said of its loops is said of arguments that lie apart.
  std::vector<BoundArgument> bound;
  for (size_t i = 0; i < 5; ++i) bound.push_back({&storages_[i], 0, 1 << 20});
  bound[4] = bound[1];
  EXPECT_EQ(split(line(1024, 16), 0, bound).splitClass(), SplitClass::whole);
}

TEST_F(SplitTest, AtomicsThatAreCombined) {
  const char* sum =
      "kernel void k(global uint* a, global const uint* b) {"
      " atomic_add(a, b[get_global_id(0)]); }";
  const Split combined = split(sum, line(1024, 16));
  ASSERT_EQ(combined.splitClass(), SplitClass::merge) << combined.reason();
  ASSERT_EQ(combined.merged().size(), 1u);
  EXPECT_EQ(combined.merged()[0].combination, Combination::add);
  EXPECT_EQ(combined.merged()[0].bytes, 4);
  // What they combine may not be used otherwise, through whichever argument.
  const BoundArgument both{&storages_[0], 0, 4096};
  EXPECT_EQ(split(line(1024, 16), 0, {both, both}).splitClass(), SplitClass::whole);
  // Each block has its own.
  EXPECT_EQ(
      split("kernel void k(global int* a) { atomic_inc(a + get_global_id(0)); }", line(1024, 16))
          .splitClass(),
      SplitClass::exact);
}

// Those of two sub-buffers of one buffer, say.
TEST_F(SplitTest, AtomicsOfSeveralSizesAreNotCombined) {
  const char* sums =
      "kernel void k(global int* a, global long* b) { atomic_inc(a + 1); atom_inc(b); }";
  const BoundArgument one{storages_, 0, 4096}, next{storages_, 4096, 4096};
  EXPECT_EQ(split(sums, line(1024, 16), 0, {one, next}).splitClass(), SplitClass::whole);
  const Split apart = split(line(1024, 16));
  ASSERT_EQ(apart.merged().size(), 2u);
  for (const partition::MergedBytes& merged : apart.merged())
    EXPECT_EQ(merged.bytes, merged.storage == &storages_[0] ? 4 : 8);
}

TEST_F(SplitTest, InOneMemoryAnythingGoes) {
  const auto classOf = [&](const char* source) {
    split(source, line(1024, 16));
    std::vector<BoundArgument> bound(values_.size(), {&storages_[0], 0, 4096});
    return Split(kernel_, launch_, values_, bound, 16, true);
  };
  const Split sizes =
      classOf("kernel void k(global int* a, global char* b) { a[0] = 1; b[3] = 2; }");
  EXPECT_EQ(sizes.splitClass(), SplitClass::merge);
  EXPECT_TRUE(sizes.inPlace());
  EXPECT_TRUE(sizes.merged().empty());
  EXPECT_EQ(sizes.blocks(), 16u);
  EXPECT_TRUE(classOf("kernel void k(global uint* a) { atomic_add(a, 2); }").inPlace());
  EXPECT_EQ(classOf("kernel void k(global int* a, global int* b) {"
                    " b[get_global_id(0)] = atomic_inc(a); }")
                .splitClass(),
            SplitClass::whole);
  const auto apart = [&](const char* source) {
    split(source, line(1024, 16));
    std::vector<BoundArgument> bound;
    for (size_t i = 0; i < values_.size(); ++i) bound.push_back({&storages_[i], 0, 4096});
    return Split(kernel_, launch_, values_, bound, 16, true);
  };
  EXPECT_TRUE(apart("kernel void k(global int* a, global int* b) {"
                    " b[get_global_id(0)] = atomic_inc(a); }")
                  .inPlace());
  EXPECT_EQ(apart("kernel void k(global int* a, global int* b) {"
                  " while (b[0] && atomic_or(a, 0)) {} }")
                .splitClass(),
            SplitClass::whole);
  EXPECT_EQ(classOf("kernel void k(global int* a) { printf(\"%d\", a[0]); }").splitClass(),
            SplitClass::whole);
}

}  // namespace
}  // namespace weft::test
