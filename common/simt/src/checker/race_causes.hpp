// Why nothing orders two plain accesses: one cause, decided by what the run has recorded.
#pragma once

#include <cstdint>
#include <string>

#include "checker/messages.hpp"
#include "report/source_lines.hpp"

namespace simt {

enum class RaceCause {
  no_order,       // the run has recorded nothing that leads from one to the other
  relaxed_store,  // the store that tells of an access publishes nothing else
  relaxed_load,   // the load that finds it lets what follows come before it
  narrow_scope,   // one of them, or its fence, reaches its own block only
  early_fence,    // of the storer: before the access, or before the barrier that follows it
  fence_after_store,
  fence_before_load,
  barrier_before_store,  // is missing between an access and another thread's store
  barrier_after_load,    // is missing between another thread's load and an access
  early_store,           // it comes before what it tells of
  stale_look,            // what a thread has looked at has changed before its access
  lock_not_taken,        // by one of the two threads
  two_steps,             // a load and a store, of two threads, in place of one atomic
  same_statement,        // both read, change and write
  test_and_store,        // both read, and write at another line
  store_after_reads,     // the same, in one block, and the other one has only read
  next_round,            // one writes again what the other one still reads, in a loop
  repeated_update,       // both read and write, in a line that runs again without a barrier
  read_by_function,      // both read by one function, and one writes outside of it
};
/// True if what to try is a change of the two lines themselves: another function, or one thread alone. Of the others it is a
/// change of what comes before them or between them.
constexpr bool is_cured_there(RaceCause cause) {
  switch (cause) {
    case RaceCause::same_statement:
    case RaceCause::test_and_store:
    case RaceCause::store_after_reads:
    case RaceCause::next_round:
    case RaceCause::repeated_update:
    case RaceCause::read_by_function:
      return true;
    default:
      return false;
  }
}

/// An access to a place, an earlier one that nothing orders before it, and the lines of the two.
struct Race {
  const Side &earlier, &now;
  std::uintptr_t address;
  const Thread& t;  // the running one
  const SourceLine &earlier_line, &now_line;

  bool in_one_block() const {
    return block_of(earlier.access.thread) == block_of(now.access.thread);
  }
  bool in_one_warp() const { return warp_of(earlier.access.thread) == warp_of(now.access.thread); }
};

struct Explanation {
  RaceCause cause = RaceCause::no_order;
  std::string text = {};  // without one for no_order
};
Explanation explain_race(const Race& race);

}  // namespace simt
