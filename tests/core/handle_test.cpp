#include "core/handle.h"

#include <gtest/gtest.h>

#include "core/weak.h"
#include "doubles.h"

namespace weft::test {
namespace {

class Counted final : public HandleObject<_cl_event> {
 public:
  explicit Counted(int& alive) : alive_(alive) { ++alive_; }
  ~Counted() override { --alive_; }
  int last_handle_released = 0;

 private:
  void onLastHandleReleased() noexcept override { ++last_handle_released; }
  int& alive_;
};

TEST(Handle, ApplicationReferencesHoldOneOfTheRuntimes) {
  int alive = 0;
  Counted* object = make<Counted>(alive).detach();
  object->retainHandle();
  EXPECT_EQ(object->handleReferences(), 2u);
  object->releaseHandle();
  EXPECT_EQ(alive, 1);
  object->releaseHandle();
  EXPECT_EQ(alive, 0);
}

TEST(Handle, RuntimeReferenceOutlivesTheApplications) {
  int alive = 0;
  auto ref = make<Counted>(alive);
  ref->retain();  // the application's
  ref->releaseHandle();
  EXPECT_EQ(alive, 1);
  EXPECT_EQ(ref->last_handle_released, 1);
  EXPECT_EQ(codeOf([&] { ref->releaseHandle(); }), CL_INVALID_EVENT);
  EXPECT_EQ(ref->handleReferences(), 0u);
  ref = nullptr;
  EXPECT_EQ(alive, 0);
}

TEST(Handle, CanComeBackToTheApplication) {
  int alive = 0;
  auto ref = make<Counted>(alive);
  ref->retain();
  ref->releaseHandle();
  ref->retainHandle();
  Counted* object = ref.get();
  ref = nullptr;
  EXPECT_EQ(alive, 1);
  object->releaseHandle();
  EXPECT_EQ(alive, 0);
}

TEST(Handle, NullAndOtherKindsAreRefused) {
  Machine machine;
  const auto context = machine.context();
  EXPECT_EQ(&fromHandle<Context>(context->handle()), context.get());
  EXPECT_EQ(codeOf([] { fromHandle<Context>(nullptr); }), CL_INVALID_CONTEXT);
  EXPECT_EQ(codeOf([&] { fromHandle<Program>(reinterpret_cast<cl_program>(context->handle())); }),
            CL_INVALID_PROGRAM);
  // Another implementation's object starts with a pointer to its own table.
  struct {
    const void* table = nullptr;
    void* data[8] = {};
  } foreign;
  EXPECT_EQ(codeOf([&] { fromHandle<Kernel>(reinterpret_cast<cl_kernel>(&foreign)); }),
            CL_INVALID_KERNEL);
}

class Watched final : public Object {
 public:
  const Weak<Watched>& weak() const { return weak_.handle(); }

 private:
  void dispose() noexcept override {
    weak_.clear();
    delete this;
  }
  WeakSource<Watched> weak_{*this};
};

TEST(Weak, LocksWhileTheObjectLives) {
  Weak<Watched> weak;
  EXPECT_FALSE(weak);
  EXPECT_FALSE(weak.lock());
  auto object = make<Watched>();
  weak = object->weak();
  EXPECT_EQ(weak.lock().get(), object.get());
  auto second = weak.lock();
  object = nullptr;
  EXPECT_TRUE(weak.lock());
  second = nullptr;
  EXPECT_TRUE(weak);
  EXPECT_FALSE(weak.lock());
}

TEST(Weak, LockingRacesWithTheEnd) {
  for (int round = 0; round < 2000; ++round) {
    auto object = make<Watched>();
    const Weak<Watched> weak = object->weak();
    std::thread other([&] {
      while (weak.lock()) {
      }
    });
    object = nullptr;
    other.join();
  }
}

}  // namespace
}  // namespace weft::test
