// Kernels in which few work-items, or none, come by an atomic whose result they use: they note what
// they found. On a unified device they are divided; on any other they are kernels like others.
#include <algorithm>

#include "tests/e2e/fixture.h"

namespace weft::e2e {
namespace {

constexpr size_t items = 4096;

constexpr char source[] =
    "void note(global uint* count, global uint4* list, uint limit, uint item) {\n"
    "  uint at = atomic_inc(count);\n"
    "  if (at >= limit) { atomic_dec(count); return; }\n"
    "  list[at].y = item;\n"
    "  ((global ushort*)&list[at])[0] = (ushort)(item + 1);\n"
    "}\n"
    "kernel void search(global const uint* in, uint wanted, global uint* shown, global uint* "
    "count,\n"
    "                   global uint4* list, global uint* each) {\n"
    "  uint item = get_global_id(0);\n"
    "  each[item] = each[item] * 3 + 1;\n"
    "  for (uint i = 0; i < 8; ++i)\n"
    "    if (in[item] == wanted + i * 1000 && atomic_inc(&shown[i]) == 0)\n"
    "      note(count, list, 64, item);\n"
    "}\n";

class RareAtomics : public Programs {
 protected:
  // As many times, from the same objects; `in` has what is to be found.
  void expectFound(const std::vector<cl_uint>& in, std::vector<cl_uint> items_found) {
    const OwnedKernel k = kernel(built(source), "search");
    for (int round = 0; round < 3; ++round) {
      std::vector<cl_uint> each(items);
      for (size_t i = 0; i < items; ++i) each[i] = cl_uint(i);
      const OwnedMem given = upload(in), shown = upload(std::vector<cl_uint>(8)),
                     count = upload(std::vector<cl_uint>(1)),
                     list = upload(std::vector<cl_uint>(64 * 4)), own = upload(each);
      set(k, given, cl_uint{7}, shown, count, list, own);
      run(k, {{items}, {16}});
      ASSERT_EQ(download<cl_uint>(count)[0], items_found.size());
      std::vector<cl_uint> found;
      const auto entries = download<cl_uint>(list);
      for (size_t i = 0; i < items_found.size(); ++i) {
        found.push_back(entries[4 * i + 1]);
        EXPECT_EQ(entries[4 * i], cl_ushort(found.back() + 1));
      }
      std::ranges::sort(found);
      EXPECT_EQ(found, items_found);
      const auto results = download<cl_uint>(own);
      for (size_t i = 0; i < items; ++i) ASSERT_EQ(results[i], 3 * i + 1) << i;
    }
  }
};

TEST_F(RareAtomics, NothingIsFound) { expectFound(std::vector<cl_uint>(items), {}); }

TEST_F(RareAtomics, OnePartFindsAll) {
  std::vector<cl_uint> in(items);
  in[5] = 7, in[6] = 1007, in[7] = 3007;
  expectFound(in, {5, 6, 7});
}

// Each of them would be at the same place of the list.
TEST_F(RareAtomics, AllPartsFindSome) {
  std::vector<cl_uint> in(items);
  for (cl_uint i = 0; i < 8; ++i) in[i * 511] = 7 + i * 1000;
  expectFound(in, {0, 511, 1022, 1533, 2044, 2555, 3066, 3577});
}

}  // namespace
}  // namespace weft::e2e
