#include "backends/hip/stream.h"

#include "backends/common/unordered_streams.h"

namespace weft::hip {
namespace {

// What the completion thread needs to prepare for the time when the caller sleeps.
constexpr port::Nanoseconds assist_warning = 50'000;
// How often it asks the runtime beside looking at words, and whether the device is lost.
constexpr port::Nanoseconds assist_query_interval = 3'000, assist_lost_interval = 60'000;

using Cores = std::span<const std::shared_ptr<StreamCore>>;

// Has a word written behind what is in those of the bits in `open`; what is left of them is of
// streams to which somebody submits now.
void close(Cores cores, unsigned& open) noexcept {
  for (size_t i = 0; open >> i != 0; ++i)
    if ((open >> i & 1) && cores[i]->tryCloseBatch(StreamCore::Tell::by_word)) open &= ~(1u << i);
}

void assistUntil(Cores cores, port::Nanoseconds when) noexcept {
  for (const auto& core : cores) core->assistUntil(when);
}

// finished() may destroy the stream meanwhile, so these are the caller's references.
void assistAll(Cores cores, const std::function<bool()>& done) noexcept {
  if (done()) return;
  const Current current(cores.front()->api, cores.front()->context->device);
  const port::Nanoseconds patience = cores.front()->assistTime();
  unsigned open = (1u << cores.size()) - 1;
  port::Nanoseconds now = hostNow(), give_up = now + patience;
  port::Nanoseconds ask_at = now + assist_query_interval, ask_all_at = now + assist_lost_interval;
  assistUntil(cores, give_up - assist_warning);
  while (!done() && now < give_up) {
    const StreamCore::Ask ask = now >= ask_all_at ? StreamCore::Ask::always
                                : now >= ask_at   ? StreamCore::Ask::where_no_word
                                                  : StreamCore::Ask::no;
    close(cores, open);
    bool completed = false;
    for (const auto& core : cores) completed |= core->completeOldest(ask);
    if (!completed) __builtin_ia32_pause();
    now = hostNow();
    if (ask != StreamCore::Ask::no) ask_at = now + assist_query_interval;
    if (ask == StreamCore::Ask::always) ask_all_at = now + assist_lost_interval;
    if (!completed) continue;
    give_up = now + patience;
    assistUntil(cores, give_up - assist_warning);
  }
  assistUntil(cores, 0);
}

}  // namespace

InOrderStream::InOrderStream(std::shared_ptr<DeviceContext> context, const StreamOptions& options)
    : core_(std::make_shared<StreamCore>(std::move(context), options)),
      thread_([core = core_] { core->run(); }) {}

InOrderStream::~InOrderStream() {
  core_->stop();
  if (thread_.get_id() == std::this_thread::get_id())
    thread_.detach();
  else
    thread_.join();
}

Status InOrderStream::wait(const HostWord& word, uint32_t at_least) noexcept {
  const Api& api = core_->api;
  if (!api.streamWaitValue32) return not_supported;
  const Current current(api, core_->context->device);
  if (current.status() != success) return current.status();
  return core_->between([&](StreamHandle stream) {
    return api.streamWaitValue32(stream, word.device, at_least, wait_value_gte, ~0u);
  });
}

void InOrderStream::assist(const std::function<bool()>& done) noexcept {
  const std::shared_ptr<StreamCore> core = core_;
  assistAll({&core, 1}, done);
}

UnorderedStream::UnorderedStream(const std::shared_ptr<DeviceContext>& context,
                                 const StreamOptions& options) {
  for (auto& stream : streams_) stream = std::make_unique<InOrderStream>(context, options);
}

void UnorderedStream::submit(port::Operation& operation) noexcept {
  chooseStream(streams_, operation, turn_).submit(operation);
}

void UnorderedStream::flush() noexcept {
  for (const auto& stream : streams_) stream->flush();
}

void UnorderedStream::poll() noexcept {
  for (const auto& stream : streams_) stream->poll();
}

void UnorderedStream::assist(const std::function<bool()>& done) noexcept {
  std::array<std::shared_ptr<StreamCore>, width> cores;
  for (size_t i = 0; i < width; ++i) cores[i] = streams_[i]->core();
  assistAll(cores, done);
}

}  // namespace weft::hip
