// The texts on races within a kernel, with what to try.
#include "checker/messages.hpp"

#include <fmt/format.h>

#include <string>

#include "base/program.hpp"
#include "checker/async_copies.hpp"
#include "checker/fences.hpp"
#include "memory/names.hpp"
#include "simt/testing.hpp"

namespace simt {

const char* verb(AccessKind k) {
  switch (k) {
    case AccessKind::read:
      return "read";
    case AccessKind::write:
      return "write";
    case AccessKind::atomic:
      return "atomic";
    case AccessKind::relaxed_read:
      return "volatile read";
    default:
      return "volatile write";
  }
}

namespace {

// ---- races --------------------------------------------------------------------------------------

/// "thread 5" if both are thread 5 of their block, and one place of memory may be meant by mistake:
/// who leaves blockIdx out of an index meets the thread of equal rank. Empty otherwise.
std::string equal_threads(const Side& earlier, const Side& now, std::uintptr_t address) {
  const std::uint32_t a = earlier.access.thread, b = now.access.thread;
  if (block_of(a) == block_of(b) || rank_of(a) != rank_of(b)) return "";
  const Allocation* memory = owner_of(address);
  const bool is_first = memory != nullptr && address == memory->name_origin;
  if (is_first && rank_of(a) > 0) return "";  // the first element is not this thread's: it is meant
  return fmt::format("thread {}", coordinates(rank_of(a), engine.launch->block));
}

/// The thread of an access, if its block still runs.
const Thread* resident_thread(std::uint32_t id) {
  for (const auto& block : engine.resident) {
    if (block->linear == block_of(id)) return &block->threads[rank_of(id)];
  }
  return nullptr;
}

/// Both threads took the same lock, or one took what the other gives back: nothing for the data, as
/// an atomic without fences orders nothing else. Empty if that is not so.
std::string lock_hint(const Side& earlier, const Thread& t, std::uintptr_t address) {
  const Thread* const other = resident_thread(earlier.access.thread);
  const std::uintptr_t lock = t.last_atomic.address;
  const bool is_shared = other == nullptr || other->last_atomic.address == lock;
  if (!t.last_atomic.takes_lock || lock == address || !is_shared) return "";
  return fmt::format(
      "If {} is a lock: its atomics do not order other accesses. Put a __threadfence() after\n"
      "  the atomic that takes the lock (line {}), and one before the atomic that releases it.",
      describe_element(lock), source_line(t.last_atomic.caller).line);
}

/// The latest atomic of a thread, or else of its block: often one draws a number for all.
const LastAtomic* last_atomic_of(const Thread& t) {
  if (t.last_atomic.address != 0) return &t.last_atomic;
  for (const Thread& other : t.block->threads) {
    if (other.last_atomic.address != 0) return &other.last_atomic;
  }
  return nullptr;
}

/// In the code the write follows the atomic by which another block may learn that it is done.
/// Empty if it does not.
std::string late_write_hint(const Side& earlier, const Side& now, const Thread& t,
                            const SourceLine& a, const SourceLine& b) {
  const LastAtomic* const atomic = last_atomic_of(t);
  if (atomic == nullptr || writes(earlier.kind) == writes(now.kind)) return "";
  const SourceLine& write = writes(now.kind) ? b : a;
  const SourceLine drawn = source_line(atomic->caller);
  if (drawn.file != write.file || drawn.line >= write.line) return "";
  return fmt::format(
      "The blocks of one kernel run in no fixed order. If the atomic on {} (line {}) signals that\n"
      "  the data is ready: the write (line {}) comes too late, after it. Write first, then call\n"
      "  __threadfence(), then the atomic. The reader needs a __threadfence() after its atomic.",
      describe_element(atomic->address), drawn.line, write.line);
}

std::string copy_hint(const AsyncCopy& copy) {
  return fmt::format(
      "The asynchronous copy of line {} writes it, and has not been waited for here. Wait for the\n"
      "  copy first; for one of another thread, call __syncthreads() after its wait.",
      source_line(copy.caller).line);
}

std::string race_hint(const Side& earlier, const Side& now, const Thread& t, std::uintptr_t address,
                      const SourceLine& a, const SourceLine& b) {
  const bool same_block = block_of(earlier.access.thread) == block_of(now.access.thread);
  const bool same_warp = warp_of(earlier.access.thread) == warp_of(now.access.thread);
  const bool same_line = a.file == b.file && a.line == b.line;
  const bool one_atomic = is_atomic(earlier.kind) != is_atomic(now.kind);
  const std::string x = describe_element(address);
  const AsyncCopy* const copy = copy_under_way(address);
  if (copy != nullptr && pc_of(copy->caller) == earlier.access.pc) return copy_hint(*copy);
  if (is_atomic(earlier.kind) && is_atomic(now.kind)) {
    return "What has block scope is atomic among the threads of one block only. Use the function without\n"
           "  _block, or thread_scope_device instead of thread_scope_block.";
  }
  if (one_atomic) {
    const AccessKind plain = is_atomic(earlier.kind) ? now.kind : earlier.kind;
    if (is_shared(reinterpret_cast<const void*>(address))) {
      const char* const barrier = same_block ? "__syncthreads()" : "cluster.sync()";
      return plain == AccessKind::read
                 ? fmt::format(
                       "No {} lies between the atomics and this read: some threads may\n"
                       "  not have done their atomics yet.",
                       barrier)
                 : fmt::format(
                       "No {} lies between this first value and the atomics: some threads\n"
                       "  do their atomics before the first value is set.",
                       barrier);
    }
    if (plain == AccessKind::read) {
      return fmt::format(
          "The atomics of other threads may change {} before or after this read: it finds any of\n"
          "  their values. Use the value that the atomic function returns, or read after all of the\n"
          "  atomics (one block: after __syncthreads(); several blocks: in the next kernel).",
          x);
    }
    return fmt::format(
        "A plain write overwrites what the atomics of other threads did. Set the first value of\n"
        "  {} before the launch (cudaMemset). To change it in the kernel, use an atomic function\n"
        "  here, too.",
        x);
  }
  if (lacks_acquire_fence(earlier.access, t)) {
    return "The writer has a __threadfence(), the reader has none. It needs one after the atomic\n"
           "  that tells it that the data is ready, and before this access.";
  }
  if (std::string lock = lock_hint(earlier, t, address); !lock.empty()) return lock;
  const std::string equal = equal_threads(earlier, now, address);
  const std::string both_are_equal =
      equal.empty()
          ? ""
          : fmt::format("Both are {} of their block: is blockIdx missing in the index?", equal);
  if (writes(earlier.kind) && writes(now.kind) && same_line) {
    if (!equal.empty()) {
      return fmt::format(
          "{0}\n  If both are meant to write {1}, the last write wins. To compute a sum or a count,\n"
          "  use an atomic function.",
          both_are_equal, x);
    }
    return fmt::format(
        "Both threads write {} at this line, and the last write wins.\n"
        "  Should each thread have an element of its own? Compute the index of both by hand.\n"
        "  Should one thread write for all? Is `if (threadIdx.x == 0)` missing?\n"
        "  To compute a sum or a count, use an atomic function.",
        x);
  }
  std::string missing;
  if (same_line && !is_shared(reinterpret_cast<const void*>(address))) {
    const std::string steps = fmt::format(
        "Reading {0}, changing the value and writing it back are separate steps: two threads can\n"
        "  read the same old value, and one update is lost. If both are meant to change {0},\n"
        "  use an atomic function: atomicAdd(&{0}, ...).",
        x);
    if (equal.empty()) return steps + "\n  If not, give each thread an index of its own.";
    return both_are_equal + "\n  " + steps;
  }
  if (!same_block) {
    missing = late_write_hint(earlier, now, t, a, b);
    if (!missing.empty()) return missing;
    missing =
        "The blocks of one kernel run in no fixed order. Use atomics, or split the work into two\n"
        "  kernels. If an atomic flag or counter signals that the data is ready, a __threadfence()\n"
        "  is missing: before the atomic in the writer, after it in the reader.";
  } else if (!same_warp) {
    missing = "Two warps of one block, and no __syncthreads() lies between the two accesses.";
  } else {
    missing =
        "Two lanes of one warp, and no __syncwarp() or __syncthreads() lies between the two\n"
        "  accesses. The lanes of a warp do not run in lockstep.";
  }
  if (same_line) {
    missing += fmt::format(
        "\n  (If both threads are meant to change {}, one update is lost: use an atomic function.)",
        x);
  }
  if (!equal.empty()) missing += fmt::format("\n  ({})", both_are_equal);
  if (t.last_collective != nullptr && same_block) {
    missing += fmt::format("\n  ({} exchanges values, but does not order memory accesses.)",
                           t.last_collective);
  }
  return missing;
}

}  // namespace

void report_pair(std::uint32_t earlier_pc, std::uint32_t now_pc,
                 FunctionRef<Report(const SourceLine&, const SourceLine&)> report) {
  if (!is_worth_telling(ReportKind::race, earlier_pc, now_pc)) return;
  on_host_stack([&] {
    const SourceLine now_line = source_line(return_address_of(now_pc));
    const SourceLine earlier_line = source_line(return_address_of(earlier_pc));
    if (lines_are_told(now_line, earlier_line)) return;
    file_report(report(earlier_line, now_line));
  });
}

void report_race(const Side& earlier, const Side& now, std::uintptr_t address, const Thread& t) {
  const auto report = [&](const SourceLine& earlier_line, const SourceLine& now_line) {
    Report r = race_finding(
        now_line,
        fmt::format("DATA RACE in kernel {} on {}\n  {:<6} at {} by {}\n  {:<6} at {} by {}",
                    engine.launch->kernel, describe_address(address), verb(now.kind),
                    now_line.text(), thread_name(now.access.thread), verb(earlier.kind),
                    earlier_line.text(), thread_name(earlier.access.thread)),
        race_hint(earlier, now, t, address, earlier_line, now_line));
    r.object = object_at(address);
    r.accesses = {access_by(verb(now.kind), now_line, now.access.thread),
                  access_by(verb(earlier.kind), earlier_line, earlier.access.thread)};
    return r;
  };
  report_pair(earlier.access.pc, now.access.pc, report);
}

void report_read_only(const Access& load, const Side& write, std::uintptr_t address) {
  const auto report = [&](const SourceLine& load_line, const SourceLine& write_line) {
    Report r = finding(
        ReportKind::read_only, load_line,
        fmt::format(
            "__LDG OF WRITTEN MEMORY in kernel {} on {}\n  __ldg  at {} by {}\n  {:<6} at {} by {}\n"
            "  __ldg() uses the read-only path, which is for memory that no thread writes while the\n"
            "  kernel runs: it may return an old value, and no barrier or fence prevents that. Use\n"
            "  an ordinary load here.",
            engine.launch->kernel, describe_address(address), load_line.text(),
            thread_name(load.thread), verb(write.kind), write_line.text(),
            thread_name(write.access.thread)));
    r.object = object_at(address);
    r.accesses = {access_by("read", load_line, load.thread),
                  access_by(verb(write.kind), write_line, write.access.thread)};
    return r;
  };
  report_pair(load.pc, write.access.pc, report);
}

void report_copy_race(const AsyncCopy& copy, AccessKind kind, const Side& other,
                      std::uintptr_t address) {
  const auto report = [&](const SourceLine& other_line, const SourceLine& copy_line) {
    const std::string hint =
        writes(other.kind)
            ? fmt::format(
                  "The copy may {} it at any time before it has been waited for. Write "
                  "after the wait.",
                  verb(kind))
            : copy_hint(copy);
    Report r =
        race_finding(other_line,
                     fmt::format("DATA RACE in kernel {} on {}\n  {:<6} at {} by {}\n"
                                 "  {:<6} at {} by {}, in an asynchronous copy",
                                 engine.launch->kernel, describe_address(address), verb(other.kind),
                                 other_line.text(), thread_name(other.access.thread), verb(kind),
                                 copy_line.text(), thread_name(copy.thread)),
                     hint);
    r.object = object_at(address);
    r.accesses = {access_by(verb(other.kind), other_line, other.access.thread),
                  access_by(verb(kind), copy_line, copy.thread)};
    return r;
  };
  report_pair(other.access.pc, pc_of(copy.caller), report);
}

void report_overtaken_copy(const AsyncCopy& copy, std::uintptr_t address, AccessKind kind) {
  const Allocation* a = owner_of(address);
  if (a == nullptr) a = global_at(address);
  if (a == nullptr || a->cells == nullptr) return;
  const Cell& cell = a->cells[(address - a->begin) >> a->granule_shift];
  const Side other = cell.write.pc != 0 ? Side{cell.write, AccessKind::write}
                                        : Side{cell.atomic, AccessKind::atomic};
  report_copy_race(copy, kind, other, address);
}

}  // namespace simt
