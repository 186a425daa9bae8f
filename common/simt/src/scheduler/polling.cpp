// Finds threads that poll, and lets them sleep until something has changed.
#include "scheduler/polling.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <vector>

#include "base/early.hpp"
#include "base/scoped_ignore.hpp"
#include "scheduler/repetition.hpp"
#include "scheduler/schedule.hpp"

namespace simt {

std::size_t waiting_pollers = 0;

namespace {

// When no thread has anything else to do, all look again: so many times, and by so many polls, they
// may find nothing new.
constexpr std::uint64_t kMostRounds = 256, kMostPolls = 300'000;
constexpr unsigned kPollsBeforeYield = 32, kPollsBeforeWaiting = 3, kPollsBeforeMuchRoom = 1024;
// A lock that becomes free is of use to one of those who wait: not all of them look at once.
constexpr std::size_t kMostWoken = 8;

// In the order in which they came.
SIMT_EARLY std::vector<Thread*> pollers;
std::uint64_t rounds = 0;  // since anything changed

bool polls_at(const Thread& t, std::uintptr_t address) {
  return std::any_of(t.polls.begin(), t.polls.end(),
                     [&](const Poll& poll) { return poll.address == address; });
}

/// True if the thread has found the same there before, and has read nothing else since.
bool is_repeated(Thread& t, const Poll& now) {
  Poll* const before = std::find_if(t.polls.begin(), t.polls.end(),
                                    [&](const Poll& poll) { return poll.address == now.address; });
  if (before == t.polls.end()) {
    t.polls = {now, t.polls.front()};
    return false;
  }
  const bool same_value = before->value == now.value;
  const bool nothing_else = before->reads == now.reads;
  *before = now;
  if (before != t.polls.begin()) std::swap(t.polls[0], t.polls[1]);
  return same_value && nothing_else;
}

}  // namespace

void note_poll(std::uintptr_t address, std::size_t size, const void* caller) {
  Thread& t = *engine.current;
  if (engine.watching) watch_poll();
  Poll now{address, 0,
           std::accumulate(t.recent.address.begin(), t.recent.address.end(), std::uintptr_t(0))};
  std::memcpy(&now.value, reinterpret_cast<const void*>(address), std::min<std::size_t>(size, 8));
  // Whoever it waits for may be a block that has not started.
  if (!is_repeated(t, now)) {
    t.repeated_polls = 0;
    if (++t.spins % kPollsBeforeYield != 0) return;
    make_room();
    if (t.spins % kPollsBeforeMuchRoom == 0) make_much_room();
    yield_waiting();
    return;
  }
  if (engine.fruitless == 0) rounds = 0;
  if (++engine.fruitless > kMostPolls && rounds > kMostRounds) stop_endless_loop(caller);
  if (++t.repeated_polls < kPollsBeforeWaiting) return;
  t.repeated_polls = kPollsBeforeWaiting;
  make_room();
  if (engine.lockstep) {
    if (engine.fruitless % kPollsBeforeMuchRoom == 0) make_much_room();
    if (++t.spins % kPollsBeforeYield == 0) {
      ++rounds;
      yield_waiting();
    }
    return;
  }
  t.state = State::ready;  // and in no queue
  {
    const ScopedIgnore guard;
    pollers.push_back(&t);
  }
  ++waiting_pollers;
  switch_away();
}

void sleep_briefly() {
  Thread& t = *engine.current;
  if (++t.spins % kPollsBeforeYield == 0) make_room();
  if (t.spins % kPollsBeforeMuchRoom == 0) make_much_room();
  yield_waiting();
}

bool is_polling(const Thread& t) { return t.repeated_polls >= kPollsBeforeWaiting; }

void wake_pollers_at(std::uintptr_t address) {
  std::size_t woken = 0, kept = 0;
  for (Thread* const t : pollers) {
    if (woken < kMostWoken && polls_at(*t, address)) {
      make_ready(*t);
      ++woken;
    } else {
      pollers.data()[kept++] = t;
    }
  }
  waiting_pollers = kept;
  const ScopedIgnore guard;
  pollers.resize(kept);
}

bool wake_all_pollers() {
  if (waiting_pollers == 0) return false;
  ++rounds;
  for (Thread* const t : pollers) make_ready(*t);
  forget_pollers();
  return true;
}

bool pollers_are_stuck() { return waiting_pollers == 0 || (engine.fruitless > 0 && rounds > 0); }

void forget_pollers() {
  const ScopedIgnore guard;
  pollers.clear();
  waiting_pollers = 0;
}

}  // namespace simt
