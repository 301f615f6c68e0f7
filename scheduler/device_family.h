// Device-side enqueue on devices whose kernels cannot call the host.
//
// A kernel leaves what it asks for in a journal (core/ports/journal.h), and the host plays that
// against the rules of core/enqueued_commands.h when the kernel has ended: every flag of
// enqueue_kernel() allows that much delay. Kernels that enqueue run in *rounds*. Those of a round
// share the journal, which is read when all of them have ended; kernels that do not enqueue run
// whenever they are ready. A round takes the host three operations and a reading of the journal,
// however many kernels it has.
//
// To the scheduler a family is one operation: `whole`, whose end is the host's to tell.
#pragma once

#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "core/enqueued_commands.h"
#include "core/image.h"
#include "core/kernel.h"
#include "core/ref.h"
#include "scheduler/family_turns.h"
#include "scheduler/journal.h"

namespace weft {

class DeviceFamily final : public Object, EnqueuedCommands {
 public:
  // Where the operations of a family go. `own` is in order and is the family's alone for the time,
  // or it is `others`, which is not.
  struct Streams {
    port::Stream& own;
    port::Stream& others;
  };

  // Runs the launch that `whole` is, and all that comes of it, when it is its turn. The context,
  // the code and the streams outlive whole.finished(), and whoever calls that holds no lock. One
  // that could not begin is `refused`.
  static void run(port::Operation& whole, Context& context, const DeviceKernel& code,
                  Streams streams) noexcept;

 private:
  friend class FamilyTurns;
  struct Kernel;
  struct Root;
  struct Child;
  struct Step;
  struct Upload;
  struct ProfileWriting;
  struct Reading;
  class OwnMemory;

  // What is to be submitted, in this order.
  struct Orders {
    std::vector<std::shared_ptr<Step>> steps;
    EnqueuedCommand* kernels = nullptr;  // that do not enqueue, the newest first
    bool opens_round = false;            // the kernels of `round_`, and the reading
    std::vector<Reading*> reads;         // what the first one left over
    bool plays = false;                  // what was read, once there is memory for it

    bool empty() const {
      return steps.empty() && !kernels && !opens_round && reads.empty() && !plays;
    }
  };
  enum class Memory : uint8_t { there, missing, awaited };

  DeviceFamily(port::Operation& whole, Context& context, const DeviceKernel& code, Streams streams);
  ~DeviceFamily() override;

  port::Nanoseconds now() const noexcept override;
  void writeProfile(uint64_t address, DeviceEvent::Profile profile) noexcept override;
  void eventCompleted(const DeviceEvent& event) noexcept override { known_.complete(event); }

  // These give the families that go on because this one is over, which then is gone.
  [[nodiscard]] DeviceFamily* begin() noexcept;
  [[nodiscard]] DeviceFamily* refuseToBegin(cl_int failure) noexcept;
  [[nodiscard]] DeviceFamily* goOn() noexcept;
  static void goOnAll(DeviceFamily* first) noexcept;

  // --- before anything runs; they throw ---
  void start();
  void describeKernels();
  void takeArguments(const port::Launch& whole);
  Ref<OwnMemory> allocate(uint64_t bytes) const;
  Ref<OwnMemory> allocateJournal() const;
  void forgetStart() noexcept;

  size_t largestGroup(uint32_t kernel) const;
  uint32_t numberOf(port::DeviceQueue* queue);

  // --- told by the device ---
  void ended(Kernel& kernel, port::OperationStatus status, port::Nanoseconds start,
             port::Nanoseconds end) noexcept;
  void stepped(Step& step, port::OperationStatus status) noexcept;
  void wasRead(port::OperationStatus status) noexcept;

  // --- under the lock ---
  void openRound();  // throws
  bool readsOn();    // throws
  void endOfRound() noexcept;
  void closeRound(cl_int failure) noexcept;
  void play(Freed& freed);
  void place(const JournalEntry& entry, const Ref<OwnMemory>& blocks, size_t offset, Freed& freed);
  std::unique_ptr<Child> childOf(const JournalEntry& entry, const Ref<OwnMemory>& blocks,
                                 size_t offset);
  cl_int setUp(Child& child, const JournalEntry& entry);
  void enter(std::unique_ptr<Child> child, const JournalEntry& entry, Freed& freed);
  void takeHandles(uint64_t number, int32_t handles);
  void takeOver(uint64_t number, int32_t status, uint64_t profile, Freed& freed);
  void gather(Freed& freed) noexcept;
  void upload(std::vector<std::byte> bytes, const Ref<OwnMemory>& memory, uint64_t offset = 0);
  template <class T, class... Arguments>
  std::shared_ptr<T> addStep(Arguments&&... arguments);

  using Lock = std::unique_lock<std::mutex>;
  // Submits what there is, and finishes the family if nothing of it is left. As begin(); if another
  // thread is at it, the family may be gone, too.
  [[nodiscard]] DeviceFamily* proceed(Lock lock) noexcept;
  bool isAlone(const Orders& orders) const noexcept;
  void submit(const Orders& orders, const std::shared_ptr<Step>& last_step, bool alone) noexcept;
  void read(port::Stream& stream) noexcept;

  // --- by who submits, without the lock ---
  Memory takeMemory(cl_int& failure) noexcept;
  static std::vector<std::byte> blocksOf(std::span<const JournalEntry> entries);

  port::Operation& whole_;
  Context& context_;
  const DeviceKernel& code_;
  port::Device& device_;
  const Streams streams_;
  FamilyTurns& turns_;
  DeviceFamily* next_in_line_ = nullptr;  // the turns'
  std::vector<uint32_t> blocks_;          // indices of the kernels that can be enqueued
  std::vector<port::JournalKernel> facts_;
  std::vector<port::DeviceQueue*> queues_;
  uint32_t default_queue_ = 0;
  uint32_t profile_writer_ = 0;  // index of the kernel
  Ref<OwnMemory> memory_;        // the journal's; null while the family waits for memory
  std::unique_ptr<Root> root_;
  std::unique_ptr<Reading> reading_;                     // the first, which is behind the kernels
  std::vector<std::unique_ptr<Reading>> more_readings_;  // stay as they are while there is a round
  port::OperationStatus read_status_ = 0;                // the least

  bool began_ = false;
  // What a round asks for, until it is played.
  std::vector<JournalEntry> requests_;
  std::vector<std::byte> block_bytes_;
  Ref<OwnMemory> block_memory_;

  std::mutex mutex_;
  JournalCopy journal_;
  JournalEvents known_{events()};             // to kernels
  std::vector<std::shared_ptr<Step>> steps_;  // that have not ended
  std::shared_ptr<Step> last_step_;           // unless that has ended; it is behind the others
  std::vector<Kernel*> round_;                // stays as it is while there is one
  EnqueuedCommand* next_round_ = nullptr;     // kernels that wait for it, the newest first
  size_t round_left_ = 0;                     // operations; 0: there is no round
  size_t in_flight_ = 0;                      // operations of any kind
  Orders orders_;
  bool submitting_ = false;                   // some thread
  std::vector<const port::Operation*> last_;  // that thread's; room for the round's kernels
  // That thread's: something that kernels need did not get to the device.
  bool broken_ = false;
  bool has_new_memory_ = false;  // that thread's, too: nothing of the journal is there
};

}  // namespace weft
