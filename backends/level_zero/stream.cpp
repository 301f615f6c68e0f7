#include "backends/level_zero/stream.h"

#include <span>

#include "backends/common/unordered_streams.h"

namespace weft::level_zero {
namespace {

constexpr size_t unordered_width = 2;
// How long a caller looks for ends before it had better sleep.
constexpr port::Nanoseconds assist_patience = 200'000;
// How often those who only ask have the driver asked, under a lock that submitters want, too, and
// how many ends they are told at once.
constexpr port::Nanoseconds poll_interval = 1'000;
constexpr unsigned most_polled = 16;

// finished() may destroy the stream meanwhile, so these are the caller's references.
void assistAll(std::span<const std::shared_ptr<StreamCore>> cores,
               const std::function<bool()>& done) noexcept {
  if (done()) return;
  for (const auto& core : cores) core->flush();
  port::Nanoseconds give_up = hostNow() + assist_patience;
  while (!done() && hostNow() < give_up) {
    bool completed = false;
    for (const auto& core : cores) completed |= core->completeOldest();
    if (completed)
      give_up = hostNow() + assist_patience;
    else
      __builtin_ia32_pause();
  }
}

}  // namespace

InOrderStream::InOrderStream(std::shared_ptr<DeviceContext> context, const QueueGroup& group)
    : core_(std::make_shared<StreamCore>(std::move(context), group)),
      thread_([core = core_] { core->run(); }) {}

InOrderStream::~InOrderStream() {
  core_->stop();
  if (thread_.get_id() == std::this_thread::get_id())
    thread_.detach();
  else
    thread_.join();
}

void InOrderStream::assist(const std::function<bool()>& done) noexcept {
  const std::shared_ptr<StreamCore> core = core_;
  assistAll({&core, 1}, done);
}

void InOrderStream::poll() noexcept {
  const port::Nanoseconds now = hostNow();
  if (pending() == 0 || now < polled_.load(std::memory_order_relaxed) + poll_interval) return;
  polled_.store(now, std::memory_order_relaxed);
  for (unsigned i = 0; i < most_polled && core_->completeOldest();) ++i;
}

UnorderedStream::UnorderedStream(const std::shared_ptr<DeviceContext>& context) {
  for (size_t i = 0; i < unordered_width; ++i)
    streams_.push_back(std::make_unique<InOrderStream>(context, context->compute));
  if (context->copies.ordinal != context->compute.ordinal)
    copies_ = std::make_unique<InOrderStream>(context, context->copies);
}

void UnorderedStream::submit(port::Operation& operation) noexcept {
  if (copies_ && std::holds_alternative<port::Copy>(operation.work))
    return copies_->submit(operation);
  chooseStream(streams_, operation, turn_).submit(operation);
}

void UnorderedStream::flush() noexcept {
  for (const auto& stream : streams_) stream->flush();
  if (copies_) copies_->flush();
}

void UnorderedStream::assist(const std::function<bool()>& done) noexcept {
  std::vector<std::shared_ptr<StreamCore>> cores;
  for (const auto& stream : streams_) cores.push_back(stream->core());
  if (copies_) cores.push_back(copies_->core());
  assistAll(cores, done);
}

void UnorderedStream::poll() noexcept {
  for (const auto& stream : streams_) stream->poll();
  if (copies_) copies_->poll();
}

}  // namespace weft::level_zero
