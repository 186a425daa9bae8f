// Which stream goes first, where CUDA leaves it open: it depends on the seed. Seed 0 runs no more than
// what the host waits for, and the youngest stream first: the opposite of the order in which a
// program usually fills them. Other seeds draw a priority for each operation.
#include "api/turns.hpp"

#include <algorithm>
#include <functional>

#include "simt/testing.hpp"

namespace simt {

Queues& all_queues() {
  // Never destroyed: objects with static storage free their memory after main has returned.
  static Queues& s = *new Queues;
  return s;
}

bool orders(const CUstream_st& a, const CUstream_st& b) {
  return a.device == b.device &&
         ((a.kind == CUstream_st::Kind::legacy && b.kind == CUstream_st::Kind::blocking) ||
          (a.kind == CUstream_st::Kind::blocking && b.kind == CUstream_st::Kind::legacy));
}

namespace {

/// A stream that must advance before the first operation of `stream` may run; null if it may run.
/// The operation it waits for is always an earlier one, so a chain of blockers ends.
CUstream_st* blocker(const CUstream_st& stream) {
  const Operation& first = stream.queue.front();
  if (first.awaited && !first.awaited->happened) return first.awaited->stream;
  const auto& streams = all_queues().streams;
  const auto goes_first = [&](const CUstream_st* other) {
    return orders(stream, *other) && busy(other) && other->queue.front().number < first.number;
  };
  const auto it = std::find_if(streams.rbegin(), streams.rend(), goes_first);
  return it == streams.rend() ? nullptr : *it;
}

/// Drawn by the seed.
std::uint64_t priority(const CUstream_st& stream) {
  std::uint64_t x = seed() * 0x9E3779B97F4A7C15u + stream.queue.front().number;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

/// The stream of the highest priority of those whose first operation may run and is as `condition` says, or null.
template <class Condition>
CUstream_st* most_urgent(const Condition& condition) {
  CUstream_st* choice = nullptr;
  for (CUstream_st* s : all_queues().streams) {
    if (!busy(s) || blocker(*s) != nullptr || !condition(s->queue.front())) continue;
    if (choice == nullptr || priority(*s) > priority(*choice)) choice = s;
  }
  return choice;
}

bool was_put_off(const Operation& o) { return o.put_off_after != 0; }

}  // namespace

CUstream_st* first_to_run(CUstream_st& stream) {
  CUstream_st* first = &stream;
  while (CUstream_st* other = blocker(*first)) first = other;
  return first;
}

bool finds_the_same(const Operation& o) { return o.put_off_after == all_queues().done; }

CUstream_st* choose(CUstream_st& wanted) {
  CUstream_st* const choice =
      seed() == 0 ? first_to_run(wanted) : most_urgent([](const Operation&) { return true; });
  if (!was_put_off(choice->queue.front())) return choice;
  if (CUstream_st* other = most_urgent(std::not_fn(was_put_off))) return other;
  if (!finds_the_same(choice->queue.front())) return choice;
  CUstream_st* const other = most_urgent(std::not_fn(finds_the_same));
  return other != nullptr ? other : choice;
}

}  // namespace simt
