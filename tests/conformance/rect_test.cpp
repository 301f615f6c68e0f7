// clEnqueueReadBufferRect, clEnqueueWriteBufferRect, clEnqueueCopyBufferRect.
#include <algorithm>
#include <array>

#include "tests/conformance/fixture.h"

namespace weft::conformance {
namespace {

using Triple = std::array<size_t, 3>;

// The arguments of a rectangular transfer, to be spoilt one at a time. `there` is the buffer's side
// (the source of a copy), `here` the host's (the destination).
struct Rect {
  Triple there{3, 2, 1};
  Triple here{1, 1, 1};
  Triple region{5, 4, 2};
  size_t there_row = 16, there_slice = 16 * 8;
  size_t here_row = 16, here_slice = 16 * 8;
};

class RectTest : public CommandTest {
 protected:
  cl_int read(const Rect& r) {
    return cl.clEnqueueReadBufferRect(queue, buffer, CL_TRUE, r.there.data(), r.here.data(),
                                      r.region.data(), r.there_row, r.there_slice, r.here_row,
                                      r.here_slice, host.data(), 0, nullptr, nullptr);
  }
  cl_int writeTo(const Rect& r) {
    return cl.clEnqueueWriteBufferRect(queue, buffer, CL_TRUE, r.there.data(), r.here.data(),
                                       r.region.data(), r.there_row, r.there_slice, r.here_row,
                                       r.here_slice, host.data(), 0, nullptr, nullptr);
  }
  cl_int copy(const Rect& r, cl_mem from, cl_mem to) {
    return cl.clEnqueueCopyBufferRect(queue, from, to, r.there.data(), r.here.data(),
                                      r.region.data(), r.there_row, r.there_slice, r.here_row,
                                      r.here_slice, 0, nullptr, nullptr);
  }
  // All three refuse the arguments.
  void expectInvalid(const Rect& r) {
    EXPECT_EQ(read(r), CL_INVALID_VALUE);
    EXPECT_EQ(writeTo(r), CL_INVALID_VALUE);
    EXPECT_EQ(copy(r, buffer, second), CL_INVALID_VALUE);
  }
  // What the transfer should do to `to`.
  static void apply(const Rect& r, const std::vector<unsigned char>& from,
                    std::vector<unsigned char>& to, bool reversed = false) {
    for (size_t z = 0; z < r.region[2]; ++z)
      for (size_t y = 0; y < r.region[1]; ++y)
        for (size_t x = 0; x < r.region[0]; ++x) {
          const size_t there =
              (r.there[2] + z) * r.there_slice + (r.there[1] + y) * r.there_row + r.there[0] + x;
          const size_t here =
              (r.here[2] + z) * r.here_slice + (r.here[1] + y) * r.here_row + r.here[0] + x;
          if (reversed)
            to[there] = from[here];
          else
            to[here] = from[there];
        }
  }

  OwnedMem second = makeBuffer();
};

TEST_F(RectTest, MovesARectangle) {
  const Rect r;
  write(buffer, counting());
  auto expected = host;
  apply(r, counting(), expected);
  ASSERT_EQ(read(r), CL_SUCCESS);
  EXPECT_EQ(host, expected);

  host = counting();
  std::reverse(host.begin(), host.end());
  expected = counting();
  apply(r, host, expected, true);
  ASSERT_EQ(writeTo(r), CL_SUCCESS);
  EXPECT_EQ(contents(buffer), expected);

  write(buffer, counting());
  write(second, std::vector<unsigned char>(buffer_bytes));
  expected.assign(buffer_bytes, 0);
  apply(r, counting(), expected);
  ASSERT_EQ(copy(r, buffer, second), CL_SUCCESS);
  EXPECT_EQ(contents(second), expected);
}

TEST_F(RectTest, ZeroPitchesAreTheRegions) {
  Rect r;
  r.there_row = r.there_slice = r.here_row = r.here_slice = 0;
  write(buffer, counting());
  ASSERT_EQ(read(r), CL_SUCCESS);
  Rect resolved = r;
  resolved.there_row = resolved.here_row = r.region[0];
  resolved.there_slice = resolved.here_slice = r.region[0] * r.region[1];
  std::vector<unsigned char> expected(buffer_bytes);
  apply(resolved, counting(), expected);
  EXPECT_EQ(host, expected);
}

TEST_F(RectTest, RefusesBadRegions) {
  for (size_t i = 0; i < 3; ++i) {
    Rect r;
    r.region[i] = 0;
    expectInvalid(r);
    r = {};
    r.there[i] = SIZE_MAX;
    expectInvalid(r);
    r = {};
    r.region[i] = SIZE_MAX;
    expectInvalid(r);
  }
  Rect r;
  r.there = {0, 0, buffer_bytes / r.there_slice};
  expectInvalid(r);
}

TEST_F(RectTest, TheLastByteCounts) {
  Rect r;
  r.there = {0, 0, 0};
  r.there_slice = 16 * 4;
  r.region = {16, 4, buffer_bytes / r.there_slice};
  r.here = {0, 0, 0};
  r.here_slice = r.there_slice;
  EXPECT_EQ(read(r), CL_SUCCESS);
  r.there[0] = 1;
  EXPECT_EQ(read(r), CL_INVALID_VALUE);
}

TEST_F(RectTest, RefusesBadPitches) {
  const auto spoil = [&](size_t Rect::* member, size_t value) {
    Rect r;
    r.*member = value;
    expectInvalid(r);
  };
  spoil(&Rect::there_row, 4);  // less than region[0]
  spoil(&Rect::here_row, 4);
  spoil(&Rect::there_slice, 16 * 4 - 1);  // less than region[1] rows
  spoil(&Rect::here_slice, 16 * 4 - 1);
  spoil(&Rect::there_slice, 16 * 8 + 1);  // not a multiple of the row pitch
  spoil(&Rect::here_slice, 16 * 8 + 1);
}

TEST_F(RectTest, RefusesNullPointers) {
  const Triple origin{}, region{1, 1, 1};
  const size_t* arguments[] = {origin.data(), origin.data(), region.data()};
  for (size_t i = 0; i < 3; ++i) {
    auto spoilt = std::to_array({arguments[0], arguments[1], arguments[2]});
    spoilt[i] = nullptr;
    EXPECT_EQ(cl.clEnqueueReadBufferRect(queue, buffer, CL_TRUE, spoilt[0], spoilt[1], spoilt[2], 0,
                                         0, 0, 0, host.data(), 0, nullptr, nullptr),
              CL_INVALID_VALUE);
    EXPECT_EQ(cl.clEnqueueWriteBufferRect(queue, buffer, CL_TRUE, spoilt[0], spoilt[1], spoilt[2],
                                          0, 0, 0, 0, host.data(), 0, nullptr, nullptr),
              CL_INVALID_VALUE);
    EXPECT_EQ(cl.clEnqueueCopyBufferRect(queue, buffer, second, spoilt[0], spoilt[1], spoilt[2], 0,
                                         0, 0, 0, 0, nullptr, nullptr),
              CL_INVALID_VALUE);
  }
  EXPECT_EQ(cl.clEnqueueReadBufferRect(queue, buffer, CL_TRUE, arguments[0], arguments[1],
                                       arguments[2], 0, 0, 0, 0, nullptr, 0, nullptr, nullptr),
            CL_INVALID_VALUE);
  EXPECT_EQ(cl.clEnqueueWriteBufferRect(queue, buffer, CL_TRUE, arguments[0], arguments[1],
                                        arguments[2], 0, 0, 0, 0, nullptr, 0, nullptr, nullptr),
            CL_INVALID_VALUE);
}

TEST_F(RectTest, RefusesBadHandles) {
  const Rect r;
  OwnedMem other(cl.clCreateBuffer(other_context, 0, buffer_bytes, nullptr, nullptr));
  EXPECT_EQ(copy(r, nullptr, second), CL_INVALID_MEM_OBJECT);
  EXPECT_EQ(copy(r, buffer, nullptr), CL_INVALID_MEM_OBJECT);
  EXPECT_EQ(copy(r, other, second), CL_INVALID_CONTEXT);
  EXPECT_EQ(copy(r, buffer, other), CL_INVALID_CONTEXT);
  queue = OwnedQueue();
  EXPECT_EQ(read(r), CL_INVALID_COMMAND_QUEUE);
  EXPECT_EQ(writeTo(r), CL_INVALID_COMMAND_QUEUE);
  EXPECT_EQ(copy(r, buffer, second), CL_INVALID_COMMAND_QUEUE);
}

TEST_F(RectTest, RespectsHostAccess) {
  const Rect r;
  buffer = makeBuffer(CL_MEM_HOST_NO_ACCESS);
  EXPECT_EQ(read(r), CL_INVALID_OPERATION);
  EXPECT_EQ(writeTo(r), CL_INVALID_OPERATION);
  EXPECT_EQ(copy(r, buffer, second), CL_SUCCESS);
  EXPECT_EQ(cl.clFinish(queue), CL_SUCCESS);
}

TEST_F(RectTest, OverlapIsByRectangle) {
  Rect r;
  EXPECT_EQ(copy(r, buffer, buffer), CL_MEM_COPY_OVERLAP);
  r.here = {r.there[0] + r.region[0], r.there[1], r.there[2]};  // side by side
  EXPECT_EQ(copy(r, buffer, buffer), CL_SUCCESS);
  r.here = {r.there[0], r.there[1] + r.region[1], r.there[2]};  // below each other
  r.there_slice = r.here_slice = 16 * 16;
  EXPECT_EQ(copy(r, buffer, buffer), CL_SUCCESS);
  EXPECT_EQ(cl.clFinish(queue), CL_SUCCESS);
  r.here_row = 32;
  EXPECT_EQ(copy(r, buffer, buffer), CL_INVALID_VALUE);
}

}  // namespace
}  // namespace weft::conformance
