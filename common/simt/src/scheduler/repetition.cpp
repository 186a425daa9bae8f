// Proves that loops repeat themselves.
#include "scheduler/repetition.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>
#include <vector>

#include "base/address_sanitizer.hpp"
#include "base/early.hpp"
#include "kernel/findings.hpp"
#include "report/reports.hpp"
#include "scheduler/polling.hpp"
#include "scheduler/schedule.hpp"
#include "scheduler/signals.hpp"

namespace simt {
namespace {

// Basic blocks without progress after which a thread is watched, and those in which it has to repeat itself. Both
// become twice as many with each watch in vain. After one that has repeated itself the next watch comes soon.
constexpr std::uint64_t kFirstPatience = 1 << 22, kMostPatience = 1 << 25, kShortPatience = 1 << 12;
constexpr std::uint64_t kFirstLength = 1 << 13, kMostLength = 1 << 16;
// A loop that touches no memory may take so long, in seconds of the processor's time.
constexpr unsigned kQuietSeconds = 5, kPatientQuietSeconds = 20;
// Under shuffled schedules a thread may see a store late: those that poll look again so many times.
constexpr unsigned kRoundsBeforeProof = 256;

/// Bytes that a thread has announced to write.
struct Written {
  std::uintptr_t address;
  std::size_t size;
  std::array<char, 16> before;
};

struct Watch {
  bool is_on = false;
  std::uint64_t patience = kFirstPatience, length = kFirstLength;
  std::uint32_t number = 0;
  bool beside_others =
      false;  // other threads of the host: each of their basic blocks is to be seen
  std::uint64_t steps_to_watch = 0;  // then, without progress
  std::uint64_t steps_left = 0, all_steps = 0;
  const Thread* thread = nullptr;           // whose stack was copied
  std::vector<char> stack;                  // with its registers, as a switch leaves them there
  std::uint64_t steps = 0, until_copy = 0;  // since it was copied; when it is copied anew
  const Thread* first = nullptr;            // that was proven to repeat itself
  const void* place = nullptr;              // where it does
  unsigned rounds = 0;                      // in which those that poll have looked again
  bool has_accessed = false;                // memory, as far as it is known
  std::uint8_t next_recent = 0;             // of the thread, when it was copied
  unsigned quiet_since = 0;                 // seconds of the launch; the last access that is known
  std::uint64_t progress = 0;               // of the launch, when the last watch ended
};
SIMT_EARLY Watch watch;
std::array<Written, 8> written;
std::size_t written_count = 0;

bool is_repeating(const Thread& t) { return t.repeats == watch.number; }

/// True if it may do something else than repeat itself, without any change of memory.
bool may_go_on(const Thread* t) {
  if (t == nullptr || (t->state != State::ready && t->state != State::running)) return false;
  return !is_polling(*t) && !is_repeating(*t);
}

/// The bytes that the running thread uses of its stack. For the host's stack.
std::pair<const char*, std::size_t> used_stack(const Thread& t) {
  const auto* const begin = static_cast<const char*>(t.fiber.context);
  const auto size = static_cast<std::size_t>(t.fiber.top() - begin);
  forget_frames(begin, size);
  return {begin, size};
}

void copy_stack(const Thread& t) {
  const auto [begin, size] = used_stack(t);
  watch.thread = &t;
  watch.stack.assign(begin, begin + size);
  watch.next_recent = t.next_recent;
  watch.steps = 0;
}

bool is_as_before(const Thread& t) {
  const auto [begin, size] = used_stack(t);
  return size == watch.stack.size() && std::memcmp(begin, watch.stack.data(), size) == 0;
}

/// True if a store that was announced has changed something.
bool has_written() {
  const auto differs = [](const Written& w) {
    return std::memcmp(reinterpret_cast<const void*>(w.address), w.before.data(), w.size) != 0;
  };
  const std::size_t count = std::exchange(written_count, 0);
  return std::any_of(written.begin(), written.begin() + count, differs);
}

void begin_watch() {
  watch.is_on = engine.watching = true;
  ++watch.number;
  watch.steps_left = watch.length;
  watch.thread = watch.first = nullptr;
  watch.rounds = 0;
  watch.has_accessed = false;
  written_count = 0;
}

void end_watch() {
  watch.is_on = engine.watching = false;
  engine.steps_left = steps_until_watched();
}

/// True if a block may still start beside those that are there.
bool may_start_block() {
  return schedule.blocks_started < engine.blocks_total &&
         engine.resident.size() < engine.launch->most_resident;
}

/// True if no thread can do anything but repeat itself, or wait.
bool nothing_else_can_run() {
  if (may_start_block()) return false;
  if (waiting_pollers > 0 && schedule.seeded && watch.rounds < kRoundsBeforeProof) return false;
  return std::none_of(engine.resident.begin(), engine.resident.end(), [](const auto& block) {
    return std::any_of(block->threads.begin(), block->threads.end(),
                       [](const Thread& t) { return may_go_on(&t); });
  });
}

void fail_endless() {
  const SourceLine where = source_line(watch.place);
  fail_stuck_launch(finding_by(
      watch.first->id, "loop", ReportKind::hang, where,
      fmt::format(
          "ENDLESS LOOP in kernel {}: {} is still in a loop\n  at {}\n"
          "  Its variables have the values of an earlier turn, and memory has not changed since.\n"
          "  Which condition ends this loop, and can it become true?",
          engine.launch->kernel, thread_name(*watch.first), where.text())));
}

/// Looks at the thread, on the host's stack: all that it knows lies on its own.
void look(Thread& t, const void* caller) {
  if (watch.thread != &t) {
    watch.until_copy = 1;
    return copy_stack(t);
  }
  watch.has_accessed |= t.next_recent != watch.next_recent;
  if (is_as_before(t)) {
    t.repeats = watch.number;
    watch.patience = kShortPatience;
    if (watch.first == nullptr) watch.first = &t, watch.place = caller;
    watch.steps_left = watch.length;
    watch.thread = nullptr;
  } else if (++watch.steps == watch.until_copy) {  // the loop may have begun later, and be longer
    watch.until_copy *= 2;
    copy_stack(t);
  }
}

/// The running thread repeats itself.
void let_others_go_first() {
  make_much_room();
  if (schedule.seeded && wake_all_pollers()) ++watch.rounds;
  if (nothing_else_can_run()) on_host_stack([] { fail_endless(); });
  yield_waiting();
}

/// The watch is over, and the thread has not repeated itself.
void judge_long_loop(const void* caller) {
  const unsigned now = seconds_of_launch();
  const bool has_progressed = std::exchange(watch.progress, engine.progress) != engine.progress;
  if (watch.has_accessed || has_progressed) watch.quiet_since = now;
  watch.patience = std::clamp(2 * watch.patience, kFirstPatience, kMostPatience);
  watch.length = std::min(2 * watch.length, kMostLength);
  end_watch();
  const unsigned most = launches_may_take_long() ? kPatientQuietSeconds : kQuietSeconds;
  if (now >= watch.quiet_since + most) stop_long_loop(caller);
}

}  // namespace

void watch_loop(const void* caller) {
  Thread& t = *engine.current;
  if (watch.beside_others && !watch.is_on && --watch.steps_to_watch > 0) {
    engine.steps_left = 1;
    return;
  }
  if (!watch.is_on) {
    begin_watch();
  } else if (!engine.watching || has_written()) {
    watch.quiet_since = seconds_of_launch();
    return end_watch();
  }
  ++watch.all_steps;
  if (--watch.steps_left == 0) return judge_long_loop(caller);
  if (!is_repeating(t)) {
    if (watch.thread == &t || !may_go_on(watch.thread)) {
      on_host_stack([&t, caller] { look(t, caller); });
    } else {
      watch.has_accessed = true;  // or not: only one thread's reads are known
    }
  }
  engine.steps_left = 1;
  if (is_repeating(t)) let_others_go_first();
}

void watch_start_launch() {
  watch.is_on = false;
  watch.patience = kFirstPatience;
  watch.length = kFirstLength;
  watch.beside_others = host_has_other_threads();
}

std::uint64_t steps_until_watched() {
  if (!watch.beside_others) return watch.patience;
  watch.steps_to_watch = watch.patience;
  return 1;
}
std::uint64_t steps_watched() { return watch.all_steps; }

void watch_poll() { watch.has_accessed = true; }

void watch_write(std::uintptr_t address, std::size_t size) {
  watch.has_accessed = true;
  if (written_count == written.size() || size > written[0].before.size()) return note_change();
  Written& w = written.data()[written_count++];
  w.address = address;
  w.size = size;
  std::memcpy(w.before.data(), reinterpret_cast<const void*>(address), size);
}

}  // namespace simt
