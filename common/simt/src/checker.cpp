// The memory and race checker. Every load, store and atomic of a kernel comes through here before
// it happens.
//
// Two accesses to the same bytes race if one of them writes, not both are atomic, and nothing
// orders them. What orders in CUDA: the program order of a thread, __syncwarp() among its lanes,
// __syncthreads() in a block, the end of a kernel, and fences with atomics (fences.cpp). Shuffles
// and votes do not.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>

#include "engine.hpp"
#include "simt/api.hpp"
#include "trace.hpp"

// The section that holds threadIdx, blockIdx, blockDim and gridDim (scheduler.cpp); the linker
// defines these two.
extern "C" const char __start_simt_built_in[], __stop_simt_built_in[];

namespace simt {
namespace {

constexpr std::size_t kMostReports = 3;  // of one launch: a learner fixes one at a time
constexpr unsigned kPreemptAtAccess = 8, kPreemptAtAtomic = 4;

// For the few functions that every access goes through, one after another.
#define SIMT_HOT inline __attribute__((always_inline))

// Four bytes of anything, at any address: most accesses have this size, and for a size that is
// known only at run time memcpy and memset are calls.
using Word [[gnu::may_alias, gnu::aligned(1)]] = std::uint32_t;
constexpr std::uint32_t kFourInitialised = 0x01010101;  // a flag for each of four bytes

enum class Kind : unsigned char { read, write, atomic, volatile_read, volatile_write };

const char* verb(Kind k) {
  switch (k) {
    case Kind::read:
      return "read";
    case Kind::write:
      return "write";
    case Kind::atomic:
      return "atomic";
    case Kind::volatile_read:
      return "volatile read";
    default:
      return "volatile write";
  }
}

std::string bytes(std::size_t n) { return fmt::format("{} byte{}", n, n == 1 ? "" : "s"); }

bool writes(Kind k) { return k != Kind::read && k != Kind::volatile_read; }
bool is_atomic(Kind k) { return k != Kind::read && k != Kind::write; }

// ---- reports ------------------------------------------------------------------------------------

/// False if this launch has told of the same pair of lines already, or has told enough.
bool worth_telling(std::uint32_t pc_a, std::uint32_t pc_b) {
  const OutOfSight guard;
  const auto pair = std::minmax(pc_a, pc_b);
  auto& told = engine.reported;
  const std::pair<std::uint32_t, std::uint32_t> key(pair.first, pair.second);
  if (std::find(told.begin(), told.end(), key) != told.end()) return false;
  told.push_back(key);
  if (engine.reports.size() < kMostReports) return true;
  ++engine.suppressed;
  return false;
}

void file_report(ReportKind kind, const SourceLine& where, std::string text) {
  Report report;
  report.kind = kind;
  if (engine.launch != nullptr) report.kernel = engine.launch->kernel;
  report.file = where.file;
  report.line = where.line;
  report.text = std::move(text);
  engine.reports.push_back(std::move(report));
}

/// `x += v` is two instructions on one line, and so two races of one mistake.
bool lines_told(const SourceLine& a, const SourceLine& b) {
  const std::pair<std::string, std::string> key = std::minmax({a.text(), b.text()});
  auto& told = engine.lines_reported;
  if (std::find(told.begin(), told.end(), key) != told.end()) return true;
  told.push_back(key);
  return false;
}

/// One side of a race.
struct Side {
  Access access;
  Kind kind;
};

std::string base_name(std::uintptr_t address) {
  const std::string name = describe_address(address);
  return name.substr(0, name.find(" (byte"));
}

/// "thread 5" if both are thread 5 of their block, and one place of memory may be meant by mistake:
/// who leaves blockIdx out of an index meets the thread of equal rank. Empty otherwise.
std::string equal_threads(const Side& earlier, const Side& now, std::uintptr_t address) {
  const std::uint32_t a = earlier.access.thread, b = now.access.thread;
  if (block_of(a) == block_of(b) || rank_of(a) != rank_of(b)) return "";
  const Allocation* memory = owner_of(address);
  const bool is_first = memory != nullptr && address == memory->name_origin;
  if (is_first && rank_of(a) > 0) return "";  // the first element is not this thread's: it is meant
  const std::string name = thread_name(a);
  return name.substr(name.find("thread"));
}

std::string race_hint(const Side& earlier, const Side& now, const Thread& t, std::uintptr_t address,
                      const SourceLine& a, const SourceLine& b) {
  const bool same_block = block_of(earlier.access.thread) == block_of(now.access.thread);
  const bool same_warp = warp_of(earlier.access.thread) == warp_of(now.access.thread);
  const bool same_line = a.file == b.file && a.line == b.line;
  const bool one_atomic = is_atomic(earlier.kind) != is_atomic(now.kind);
  const std::string x = base_name(address);
  if (is_atomic(earlier.kind) && is_atomic(now.kind)) {
    return "An atomic function with _block is atomic only among the threads of one block: use the\n"
           "  one without _block.";
  }
  if (one_atomic) {
    const Kind plain = is_atomic(earlier.kind) ? now.kind : earlier.kind;
    if (is_shared(reinterpret_cast<const void*>(address))) {
      return plain == Kind::read
                 ? "No __syncthreads() lies between the atomics and this read: some threads have "
                   "yet "
                   "to add."
                 : "No __syncthreads() lies between the first values and the atomics: some threads "
                   "add\n  before others have set the start value.";
    }
    if (plain == Kind::read) {
      return fmt::format(
          "The atomic may change {} before, after or between other threads' accesses, so this\n"
          "  read finds any of their values. Use the value that the atomic function returns, or\n"
          "  read when nobody adds any more (after a barrier, or in the next kernel).",
          x);
    }
    return fmt::format(
        "A plain write beside atomics loses what they did. To give {} its first value, do it "
        "before\n"
        "  the launch (cudaMemset); to change it, use an atomic function here too.",
        x);
  }
  if (lacks_acquire_fence(earlier.access, t)) {
    return "The writer has a __threadfence(), the reader has none: it needs one between the "
           "atomic\n"
           "  that told it the data is ready and this access.";
  }
  const std::string equal = equal_threads(earlier, now, address);
  const std::string both_are_equal =
      equal.empty()
          ? ""
          : fmt::format("Both are {} of their block: is blockIdx missing in the index?", equal);
  if (writes(earlier.kind) && writes(now.kind) && same_line) {
    if (!equal.empty()) {
      return fmt::format(
          "{0}\n  If both mean {1}, the last one wins. To add up, use an atomic function.",
          both_are_equal, x);
    }
    return fmt::format(
        "Both threads write {} at this line, and the last one wins.\n"
        "  Should each have an element of its own? Work out the index for both of them. Should "
        "one\n"
        "  write for all? Is `if (threadIdx.x == 0)` missing? To add up, use an atomic function.",
        x);
  }
  std::string missing;
  if (same_line && !is_shared(reinterpret_cast<const void*>(address))) {
    const std::string steps = fmt::format(
        "Reading {0}, changing the value and writing it back are separate steps: two threads can\n"
        "  read the same old value, and one update is lost. If both mean {0}, use an atomic\n"
        "  function: atomicAdd(&{0}, ...).",
        x);
    if (equal.empty()) return steps + " If not, give each thread an index of its own.";
    return both_are_equal + "\n  " + steps;
  }
  if (!same_block) {
    missing =
        "Nothing orders the blocks of one kernel. Use atomics, or split the work into two "
        "kernels;\n"
        "  if an atomic flag or counter says that the data is ready, a __threadfence() is missing\n"
        "  before it in the writer and after it in the reader.";
  } else if (!same_warp) {
    missing = "Two warps of one block, and no __syncthreads() lies between the two accesses.";
  } else {
    missing =
        "Two lanes of one warp, and no __syncwarp() or __syncthreads() lies between the two\n"
        "  accesses. Lanes do not run in step.";
  }
  if (same_line) {
    missing += fmt::format(
        "\n  (If both threads mean to change {}, one update is lost: use an atomic function.)", x);
  }
  if (!equal.empty()) missing += fmt::format("\n  ({})", both_are_equal);
  if (t.last_collective != nullptr && same_block) {
    missing += fmt::format("\n  ({} exchanges values, but orders no memory.)", t.last_collective);
  }
  return missing;
}

void report_race(Side earlier, Side now, std::uintptr_t address, const Thread& t) {
  report_pair(earlier.access.pc, now.access.pc,
              [&](const SourceLine& earlier_line, const SourceLine& now_line) {
                return fmt::format(
                    "DATA RACE in kernel {} on {}\n  {:<6} at {} by {}\n  {:<6} at {} by {}\n  {}",
                    engine.launch->kernel, describe_address(address), verb(now.kind),
                    now_line.text(), thread_name(now.access.thread), verb(earlier.kind),
                    earlier_line.text(), thread_name(earlier.access.thread),
                    race_hint(earlier, now, t, address, earlier_line, now_line));
              });
}

std::string shared_bounds_hint(const Allocation& a, const Thread& t) {
  const bool dynamic = &a == t.block->dynamic;
  return fmt::format(
      "Each block has its own {}: is the index one within the block, such as threadIdx.x, and is\n"
      "  there room for the largest block?{}",
      a.name.empty() ? "shared memory" : a.name,
      dynamic ? fmt::format(" The launch gives it {}, the third number in <<<>>>.", bytes(a.size))
              : "");
}

std::string bounds_hint(std::uintptr_t address, bool is_write, const Thread& t) {
  const Allocation* a = owner_of(address);
  if (a == nullptr) a = variable_near(address);
  if (a == nullptr && address - arena.begin >= arena.size) {
    const char* const array = t.block->without_memory;
    if (address < kSharedOptIn && array != nullptr) {
      return fmt::format(
          "{0} is extern __shared__, and this launch gives it no memory: <<<grid, block, "
          "bytes>>>.\n"
          "  Where you cannot change the launch, give {0} a fixed size, and leave out extern.",
          array);
    }
    return address < 4096 ? "Was the memory allocated, and the pointer passed to the kernel?"
                          : "A kernel reaches device memory only: cudaMalloc, cudaMemcpy the data "
                            "there,\n  and pass the device pointer.";
  }
  if (a == nullptr) a = nearest_allocation(address);
  if (a != nullptr && a->space == Space::constant && is_write) {
    return "A kernel cannot write a __constant__ variable.";
  }
  if (a != nullptr && a->space == Space::shared) return shared_bounds_hint(*a, t);
  if (a != nullptr && address < a->name_origin) {
    return "The index is below 0 here. The first element has no left neighbour: what is i - 1 for\n"
           "  i = 0?";
  }
  return "Is `if (i < n)` missing or off by one? The last block usually has more threads than "
         "there\n"
         "  are elements left.";
}

std::string other_devices_memory(const Allocation& a, std::uintptr_t address, std::size_t size,
                                 Kind kind, const void* caller, const Thread& t) {
  const int mine = engine.placement->device, owner = a.owner;
  const std::string try_peers =
      peer_access() ? fmt::format(
                          "\n  If device {0} is meant to reach into device {1}: "
                          "cudaDeviceEnablePeerAccess({1}, 0)\n  while device {0} is current.",
                          mine, owner)
                    : "\n  These devices cannot have peer access: copy with cudaMemcpyPeer.";
  return fmt::format(
      "MEMORY OF ANOTHER DEVICE in kernel {}: {} of {} at {}\n  at {} by {}\n"
      "  {} belongs to device {} (allocated at {}), and the kernel runs on device {}.\n"
      "  Call cudaSetDevice({}) before cudaMalloc, or cudaSetDevice({}) before the launch.{}",
      engine.launch->kernel, verb(kind), bytes(size), describe_address(address),
      source_line(caller).text(), thread_name(t), base_name(address), owner,
      source_line(a.allocated_by).text(), mine, mine, owner, try_peers);
}

[[noreturn]] void stop_illegal(std::uintptr_t address, std::size_t size, Kind kind,
                               const void* caller) {
  const Thread& t = *engine.current;
  on_host_stack([&] {
    const Allocation* a = owner_of(address);
    const bool freed = a != nullptr && !a->live;
    if (a != nullptr && a->live && address + size <= a->end()) {
      fail_launch(ReportKind::out_of_bounds, cudaErrorIllegalAddress,
                  other_devices_memory(*a, address, size, kind, caller, t), caller);
      return;
    }
    const std::string text = fmt::format(
        "{} in kernel {}: {} of {} at {}{}\n  at {} by {}\n  {}",
        freed ? "USE AFTER FREE" : "OUT OF BOUNDS", engine.launch->kernel, verb(kind), bytes(size),
        freed ? "freed memory, " : "", describe_address(address), source_line(caller).text(),
        thread_name(t),
        freed ? "The memory was given back with cudaFree before or while the kernel used it."
              : bounds_hint(address, writes(kind), t));
    fail_launch(freed ? ReportKind::use_after_free : ReportKind::out_of_bounds,
                cudaErrorIllegalAddress, text, caller);
  });
  std::abort();
}

[[noreturn]] void stop_misaligned(std::uintptr_t address, std::size_t size, Kind kind,
                                  const void* caller) {
  const Thread& t = *engine.current;
  on_host_stack([&] {
    const std::string text = fmt::format(
        "MISALIGNED ACCESS in kernel {}: {} of {} bytes at {}\n  at {} by {}\n  An access of {} "
        "bytes needs an address that is a multiple of {}; this one is {} past one.\n  Treat "
        "the elements before the first aligned address one by one.",
        engine.launch->kernel, verb(kind), size, describe_address(address),
        source_line(caller).text(), thread_name(t), size, size, bytes(address % size));
    fail_launch(ReportKind::misaligned, cudaErrorMisalignedAddress, text, caller);
  });
  std::abort();
}

void report_uninitialised(std::uintptr_t address, Kind kind, const void* caller) {
  const std::uint32_t pc = pc_of(caller);
  if (!worth_telling(pc, pc)) return;
  const Thread& t = *engine.current;
  on_host_stack([&] {
    const Allocation* a = owner_of(address);
    const bool shared = a != nullptr && a->space == Space::shared;
    const SourceLine where = source_line(caller);
    const std::string hint =
        shared
            ? fmt::format(
                  "Nothing has written it in this block of {} threads. Shared memory starts "
                  "undefined: every\n  element that is read must be written first, also by the "
                  "threads that have no input. (Is the\n  index meant for a larger block? Or has "
                  "it blockIdx in it, which leaves elements out?)",
                  t.block->threads.size())
            : "Nothing has written it since cudaMalloc, which leaves memory undefined. Give it "
              "its first\n  value before the launch: cudaMemset or cudaMemcpy.";
    file_report(ReportKind::uninitialised, where,
                fmt::format("UNINITIALISED MEMORY in kernel {}: {} of {}\n  at {} by {}\n  {}",
                            engine.launch->kernel, verb(kind), describe_address(address),
                            where.text(), thread_name(t), hint));
  });
}

void report_host_access(std::uintptr_t address, std::size_t size, bool write, const void* caller) {
  Report report;
  report.kind = ReportKind::host_access;
  const SourceLine where = source_line(caller);
  report.file = where.file;
  report.line = where.line;
  report.text = fmt::format(
      "DEVICE POINTER USED BY THE HOST: {} of {} at {}\n  at {}\n  On a GPU this is a "
      "segmentation fault. Copy the data with cudaMemcpy.",
      write ? "write" : "read", bytes(size), describe_address(address), where.text());
  deliver(std::move(report));
}

// ---- happens-before
// ------------------------------------------------------------------------------

SIMT_HOT bool ordered(const Access& earlier, const Thread& t) {
  if (earlier.thread == t.id) return true;
  if (block_of(earlier.thread) == block_of(t.id)) {
    const std::uint32_t clock = earlier.clock >> kClockShift;
    if (clock < t.block->barrier_clock) return true;
    const bool same_warp = warp_of(earlier.thread) == warp_of(t.id);
    if (same_warp && t.lanes_seen[lane_of(earlier.thread)] >= clock) return true;
  }
  return fences_used() && ordered_by_fences(earlier, t);
}

SIMT_HOT bool conflicts(const Access& earlier, const Thread& t) {
  return earlier.pc != 0 && !ordered(earlier, t);
}

/// A block-scope atomic and an atomic of another block are no better than plain accesses.
bool scopes_clash(const Access& earlier, const Access& now) {
  return ((earlier.clock | now.clock) & kBlockScope) != 0 &&
         block_of(earlier.thread) != block_of(now.thread);
}

Kind kind_of(const Access& reader) {
  return (reader.clock & kAtomic) != 0 ? Kind::volatile_read : Kind::read;
}

// ---- writes of the same value
// ------------------------------------------------------------------------

/// Two plain writes that race are a mistake unless both write the same value, which is common for
/// flags and harmless on a GPU. The new value is known only after the store.
struct SuspectedWrite {
  bool pending = false;
  std::uintptr_t address = 0;
  std::size_t size = 0;
  std::array<unsigned char, 16> old{};
  Access earlier, now;
  Thread* thread = nullptr;
};
SuspectedWrite suspect;

// ---- compare-and-swap loops
// -------------------------------------------------------------------------

SIMT_HOT std::uint64_t value_at(std::uintptr_t address, std::size_t size) {
  if (size == 4) return *reinterpret_cast<const Word*>(address);
  std::uint64_t value = 0;
  std::memcpy(&value, reinterpret_cast<const void*>(address), std::min<std::size_t>(size, 8));
  return value;
}

void report_read_conflict(Thread& t, std::size_t slot) {
  RecentRead& r = t.recent[slot];
  r.conflict = false;
  --t.conflicts;
  if (r.far.launch != 0) {
    const FarAccess read{t.id, 0, r.pc, across_launch(), FarKind::read};
    report_across(r.far, read, t.recent_address[slot], nullptr, t);
    return;
  }
  const Access read{t.id, 0, r.pc};
  report_race({r.other, Kind::atomic}, {read, Kind::read}, t.recent_address[slot], t);
}

/// Remembers a plain read; the oldest of four is let go, and reported if an atomic raced with it.
SIMT_HOT void remember_read(Thread& t, std::uintptr_t address, std::size_t size, std::uint32_t pc) {
  const std::size_t slot = t.next_recent++ % kRecentReads;
  RecentRead& r = t.recent[slot];
  if (t.recent_address[slot] != 0 && r.conflict) report_read_conflict(t, slot);
  t.recent_address[slot] = address;
  r.conflict = false;
  r.value = value_at(address, size);
  r.size = static_cast<std::uint32_t>(size);
  r.pc = pc;
}

void forget_reader(Access& reader, const Thread& t, std::uint32_t pc) {
  if (reader.thread == t.id && reader.pc == pc) reader = Access{};
}

void forget_far_reader(Allocation& a, std::size_t first, std::size_t last, const Thread& t,
                       std::uint32_t pc) {
  FarCell* const cells = a.far[static_cast<unsigned>(engine.placement->device)];
  for (std::size_t i = first; cells != nullptr && i <= last; ++i) {
    FarAccess& read = cells[i].read;
    if (read.launch == across_launch() && read.thread == t.id && read.pc == pc) read = FarAccess{};
  }
}

/// The thread comes back to an address it has read: an atomicCAS that expects the value read makes
/// the read part of the atomic operation, anything else leaves it a plain read.
SIMT_HOT void settle_recent_read(Thread& t, std::uintptr_t address, const void* expected) {
  for (std::size_t slot = 0; slot < kRecentReads; ++slot) {
    if (t.recent_address[slot] != address) continue;
    RecentRead& r = t.recent[slot];
    if (expected != nullptr && std::memcmp(&r.value, expected, r.size) == 0) {
      Allocation* a = owner_of(address);
      if (a == nullptr) a = global_at(address);
      const std::size_t first = (address - a->begin) >> a->granule_shift;
      const std::size_t last = (address + r.size - 1 - a->begin) >> a->granule_shift;
      for (std::size_t i = first; a->cells != nullptr && i <= last; ++i) {
        forget_reader(a->cells[i].last_read, t, r.pc);
        forget_reader(a->cells[i].other_thread, t, r.pc);
        forget_reader(a->cells[i].other_warp, t, r.pc);
      }
      if (engine.across) forget_far_reader(*a, first, last, t, r.pc);
      if (r.conflict) --t.conflicts;
      r.conflict = false;
    } else if (r.conflict) {
      report_read_conflict(t, slot);
    }
    t.recent_address[slot] = 0;
  }
}

Thread* running_thread(std::uint32_t id) {
  for (auto& block : engine.resident) {
    if (block->linear != block_of(id)) continue;
    Thread& t = block->threads[rank_of(id)];
    return t.state == State::done ? nullptr : &t;
  }
  return nullptr;
}

/// An atomic met an unordered plain read of another thread: held back if that thread may still be
/// in a compare-and-swap loop.
bool hold_back(const Access& reader, std::uintptr_t address, const Access& atomic) {
  Thread* t = running_thread(reader.thread);
  if (t == nullptr) return false;
  for (std::size_t slot = 0; slot < kRecentReads; ++slot) {
    RecentRead& r = t->recent[slot];
    const std::uintptr_t begin = t->recent_address[slot];
    if (begin == 0 || address < begin || address >= begin + r.size) continue;
    if (!r.conflict) {
      r.conflict = true;
      r.other = atomic;
      r.far = FarAccess{};
      ++t->conflicts;
    }
    return true;
  }
  return false;
}

FarKind far_kind(Kind kind) {
  switch (kind) {
    case Kind::read:
      return FarKind::read;
    case Kind::write:
      return FarKind::write;
    case Kind::atomic:
      return FarKind::atomic;
    case Kind::volatile_read:
      return FarKind::atomic_read;
    default:
      return FarKind::atomic_write;
  }
}

/// Is it a race with a launch of another device?
void check_far(Allocation& a, std::uintptr_t address, std::size_t size, Kind kind, Scope scope,
               const char* function, const void* caller, Thread& t) {
  const OutOfSight guard;
  const bool has_cells =
      a.space == Space::device || a.space == Space::pinned || a.space == Space::managed;
  if (!has_cells || (engine.memory_of_several >> a.owner & 1) == 0) return;
  const FarAccess now{t.id, t.now(), pc_of(caller), across_launch(), far_kind(kind)};
  check_across(a, address, size, now, scope, function, t);
}

// ---- one access
// ------------------------------------------------------------------------------------------

SIMT_HOT void check_read(Cell& cell, const Access& me, Kind kind, std::uintptr_t address,
                         Thread& t) {
  if (conflicts(cell.write, t)) report_race({cell.write, Kind::write}, {me, kind}, address, t);
  if (kind == Kind::read && conflicts(cell.atomic, t) && !hold_back(me, address, cell.atomic)) {
    report_race({cell.atomic, Kind::atomic}, {me, kind}, address, t);
  }
  Access& last = cell.last_read;
  if (last.pc != 0 && last.thread != me.thread) {
    const bool foreign_block = block_of(last.thread) != block_of(me.thread);
    const bool foreign_warp = warp_of(last.thread) != warp_of(me.thread);
    const bool keep = cell.other_warp.pc != 0 &&
                      block_of(cell.other_warp.thread) != block_of(me.thread) && !foreign_block;
    if (foreign_warp && !keep) cell.other_warp = last;
    cell.other_thread = last;
  }
  last = me;
}

/// True once the write is to be judged later, by the value it leaves.
bool suspect_write(const Access& earlier, const Access& me, std::uintptr_t address,
                   std::size_t size, Thread& t) {
  if (size > suspect.old.size()) return false;
  if (suspect.pending) return true;  // the first granule of the same access decides
  suspect.pending = true;
  suspect.address = address;
  suspect.size = size;
  std::memcpy(suspect.old.data(), reinterpret_cast<const void*>(address), size);
  suspect.earlier = earlier;
  suspect.now = me;
  suspect.thread = &t;
  return true;
}

SIMT_HOT void check_readers(Cell& cell, const Access& me, Kind kind, std::uintptr_t address,
                            Thread& t) {
  for (const Access* reader : {&cell.last_read, &cell.other_thread, &cell.other_warp}) {
    if (!conflicts(*reader, t)) continue;
    if (is_atomic(kind)) {
      if ((reader->clock & kAtomic) != 0 || hold_back(*reader, address, me)) continue;
    }
    report_race({*reader, kind_of(*reader)}, {me, kind}, address, t);
    return;
  }
}

SIMT_HOT void check_write(Cell& cell, const Access& me, Kind kind, std::uintptr_t address,
                          std::uintptr_t whole, std::size_t whole_size, Thread& t) {
  if (conflicts(cell.write, t)) {
    const bool later = kind == Kind::write && suspect_write(cell.write, me, whole, whole_size, t);
    if (!later) report_race({cell.write, Kind::write}, {me, kind}, address, t);
  }
  if (conflicts(cell.atomic, t) && (!is_atomic(kind) || scopes_clash(cell.atomic, me))) {
    report_race({cell.atomic, Kind::atomic}, {me, kind}, address, t);
  }
  check_readers(cell, me, kind, address, t);
  (is_atomic(kind) ? cell.atomic : cell.write) = me;
}

unsigned granule_shift_of(std::size_t size) { return size % 4 == 0 ? 2 : size % 2 == 0 ? 1 : 0; }

SIMT_HOT void check_cells(Allocation& a, std::uintptr_t address, std::size_t size, Kind kind,
                          std::uint32_t flags, const void* caller, Thread& t) {
  const unsigned shift = granule_shift_of(size | (address & 3));
  if (shift < a.granule_shift) refine_shadow(a, shift);
  ensure_shadow(a);
  const std::uint32_t generation = a.space == Space::shared ? a.generation : engine.launch_number;
  const Access me{t.id, t.now() << kClockShift | flags, pc_of(caller)};
  const std::size_t first = (address - a.begin) >> a.granule_shift;
  const std::size_t last = (address + size - 1 - a.begin) >> a.granule_shift;
  for (std::size_t i = first; i <= last; ++i) {
    Cell& cell = a.cells[i];
    if (cell.generation != generation) {
      cell = Cell{};
      cell.generation = generation;
    }
    const std::uintptr_t at = a.begin + (i << a.granule_shift);
    if (writes(kind)) {
      check_write(cell, me, kind, at, address, size, t);
    } else {
      check_read(cell, me, kind, at, t);
    }
  }
}

SIMT_HOT void set_initialised(Allocation& a, std::uintptr_t address, std::size_t size) {
  std::uint8_t* flag = a.initialised + (address - a.begin);
  if (size == 4) {
    *reinterpret_cast<Word*>(flag) = kFourInitialised;
  } else {
    std::memset(flag, 1, size);
  }
}

SIMT_HOT bool all_initialised(const Allocation& a, std::uintptr_t address, std::size_t size) {
  const std::uint8_t* flag = a.initialised + (address - a.begin);
  if (size == 4) return *reinterpret_cast<const Word*>(flag) == kFourInitialised;
  return std::all_of(flag, flag + size, [](std::uint8_t f) { return f != 0; });
}

/// A kernel's access to memory that is not in the arena: threadIdx and its kin, the thread's own
/// stack, read-only data and registered variables are legal.
Allocation* check_foreign(std::uintptr_t address, std::size_t size, Kind kind, const void* caller) {
  const auto stack = reinterpret_cast<std::uintptr_t>(engine.current->fiber->stack);
  if (address - stack < kStackSize) return nullptr;
  const auto built_in = reinterpret_cast<std::uintptr_t>(__start_simt_built_in);
  const auto built_in_end = reinterpret_cast<std::uintptr_t>(__stop_simt_built_in);
  if (address - built_in < built_in_end - built_in) return nullptr;
  Allocation* a = global_at(address);
  if (a != nullptr && address + size <= a->end() &&
      !(a->space == Space::constant && writes(kind))) {
    return a->space == Space::constant ? nullptr : a;
  }
  if (a == nullptr && !writes(kind) && is_read_only_data(address)) return nullptr;
  stop_illegal(address, size, kind, caller);
}

/// The allocation of a legal access; null where there is nothing more to check.
SIMT_HOT Allocation* find_target(std::uintptr_t address, std::size_t size, Kind kind,
                                 const void* caller) {
  if (address - arena.begin >= arena.size) return check_foreign(address, size, kind, caller);
  Allocation* a = owner_of(address);
  if (a == nullptr || !a->live || address + size > a->end() ||
      (engine.reachable >> a->owner & 1) == 0) {
    stop_illegal(address, size, kind, caller);
  }
  const bool power_of_two = (size & (size - 1)) == 0;
  if (power_of_two && size <= 16 && (address & (size - 1)) != 0) {
    stop_misaligned(address, size, kind, caller);
  }
  return a;
}

void park_for(const Allocation& a, std::uintptr_t address, std::size_t size, AccessKind kind,
              const char* name, const void* caller) {
  Parked what;
  what.pc = caller;
  what.name = name;
  what.address = address;
  what.size = static_cast<std::uint32_t>(size);
  what.kind = kind;
  what.shared = a.space == Space::shared;
  park(what);
}

SIMT_HOT void access(std::uintptr_t address, std::size_t size, Kind kind, Scope scope,
                     const void* caller) {
  Allocation* a = find_target(address, size, kind, caller);
  if (a == nullptr) return;
  Thread& t = *engine.current;
  if (engine.lockstep) {
    park_for(*a, address, size, writes(kind) ? AccessKind::write : AccessKind::read, nullptr,
             caller);
  }
  maybe_preempt(kPreemptAtAccess);
  if (suspect.pending) checker_settle_writes();
  if (is_atomic(kind)) fence_atomic(t, address);
  if (writes(kind)) {
    set_initialised(*a, address, size);
    engine.fruitless = 0;
    if (a->space != Space::shared) t.block->barriers = 0;
  } else if (!all_initialised(*a, address, size)) {
    report_uninitialised(address, kind, caller);
  }
  if (t.conflicts > 0 || kind != Kind::read) settle_recent_read(t, address, nullptr);
  if (kind == Kind::read && size <= 8) remember_read(t, address, size, pc_of(caller));
  check_cells(*a, address, size, kind, is_atomic(kind) ? kAtomic : 0, caller, t);
  if (engine.across) check_far(*a, address, size, kind, scope, nullptr, caller, t);
  if (engine.tracing) trace_access(t, address, size, writes(kind));
}

}  // namespace

void report_pair(std::uint32_t earlier_pc, std::uint32_t now_pc,
                 const std::function<std::string(const SourceLine&, const SourceLine&)>& text) {
  if (!worth_telling(earlier_pc, now_pc)) return;
  on_host_stack([&] {
    const SourceLine now_line = source_line(return_address_of(now_pc));
    const SourceLine earlier_line = source_line(return_address_of(earlier_pc));
    if (lines_told(now_line, earlier_line)) return;
    file_report(ReportKind::race, now_line, text(earlier_line, now_line));
  });
}

bool hold_back_far(Thread& t, std::uintptr_t address, const FarAccess& atomic) {
  for (std::size_t slot = 0; slot < kRecentReads; ++slot) {
    if (t.recent_address[slot] != address) continue;
    RecentRead& r = t.recent[slot];
    if (!r.conflict) {
      r.conflict = true;
      r.far = atomic;
      ++t.conflicts;
    }
    return true;
  }
  return false;
}

// ---- called by the compiler's hooks
// -------------------------------------------------------------------

void check_access(std::uintptr_t address, std::size_t size, bool write, const void* caller) {
  if (engine.current != nullptr) {
    if (!engine.out_of_sight) {
      access(address, size, write ? Kind::write : Kind::read, Scope::device, caller);
    }
    return;
  }
  if (address - arena.begin >= arena.size) return;
  const Allocation* a = owner_of(address);
  const bool host_may = a != nullptr && a->live && address + size <= a->end() &&
                        (a->space == Space::managed || a->space == Space::pinned);
  if (!host_may) report_host_access(address, size, write, caller);
}

void check_volatile_access(std::uintptr_t address, std::size_t size, bool write, Scope scope,
                           const void* caller) {
  const bool in_kernel = engine.current != nullptr && !engine.out_of_sight;
  if (in_kernel && !write)
    note_spin(caller);  // before the access, which may switch threads no more
  if (!in_kernel || is_shared(reinterpret_cast<const void*>(address))) {
    check_access(address, size, write, caller);  // volatile orders nothing in shared memory
    return;
  }
  access(address, size, write ? Kind::volatile_write : Kind::volatile_read, scope, caller);
}

// ---- called by atomic functions
// ------------------------------------------------------------------------

namespace {
const void* atomic_caller = nullptr;  // of the atomic that has been announced but not done
}

void atomic_access(void* pointer, std::size_t size, AtomicKind kind, const AtomicCall& call,
                   const void* expected) {
  const void* const caller = call.caller;
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  Allocation* a = find_target(address, size, Kind::atomic, caller);
  atomic_caller = caller;
  if (a == nullptr) return;  // an atomic on a local variable
  Thread& t = *engine.current;
  if (engine.lockstep) park_for(*a, address, size, AccessKind::atomic, call.name, caller);
  maybe_preempt(kPreemptAtAtomic);
  checker_settle_writes();
  fence_atomic(t, address);
  settle_recent_read(t, address, kind == AtomicKind::compare_and_swap ? expected : nullptr);
  if (kind != AtomicKind::exchange && !all_initialised(*a, address, size)) {
    report_uninitialised(address, Kind::atomic, caller);
  }
  set_initialised(*a, address, size);
  if (a->space != Space::shared) t.block->barriers = 0;
  const std::uint32_t flags = kAtomic | (call.scope == Scope::block ? kBlockScope : 0);
  check_cells(*a, address, size, Kind::atomic, flags, caller, t);
  if (engine.across) check_far(*a, address, size, Kind::atomic, call.scope, call.name, caller, t);
  atomic_caller = caller;
  if (engine.tracing) trace_settle_store();
}

void atomic_done(bool changed, const AtomicValues& values) {
  if (engine.tracing) trace_atomic(*engine.current, values);
  if (changed) {
    engine.fruitless = 0;
  } else {
    note_spin(atomic_caller);
  }
}

// ---- called by the scheduler and the collectives
// -------------------------------------------------------

void checker_start_launch() {
  suspect.pending = false;
  fences_start_launch();
}

void checker_settle_writes() {
  if (!suspect.pending) return;
  suspect.pending = false;
  const void* now = reinterpret_cast<const void*>(suspect.address);
  if (std::memcmp(now, suspect.old.data(), suspect.size) == 0) {
    note("several threads write the same value without order: harmless, but is it meant?",
         return_address_of(suspect.now.pc));
    return;
  }
  report_race({suspect.earlier, Kind::write}, {suspect.now, Kind::write}, suspect.address,
              *suspect.thread);
}

void checker_end_thread(Thread& t) {
  checker_settle_writes();
  if (t.conflicts == 0) return;
  for (std::size_t slot = 0; slot < kRecentReads; ++slot) {
    if (t.recent_address[slot] != 0 && t.recent[slot].conflict) report_read_conflict(t, slot);
  }
}

void checker_barrier(Block& block) {
  block.barrier_clock = ++block.clock;
  fence_barrier(block);
}

void checker_warp_sync(Block& block, unsigned warp, unsigned lanes) {
  std::array<std::uint32_t, kWarpSize> seen{};
  for (unsigned l = 0; l < kWarpSize; ++l) {
    if ((lanes >> l & 1u) == 0) continue;
    Thread& t = *block.lane(warp, l);
    t.lanes_seen[l] = t.now();
    for (unsigned k = 0; k < kWarpSize; ++k) seen[k] = std::max(seen[k], t.lanes_seen[k]);
  }
  for (unsigned l = 0; l < kWarpSize; ++l) {
    if ((lanes >> l & 1u) == 0) continue;
    Thread& t = *block.lane(warp, l);
    t.lanes_seen = seen;
    tick(t);
  }
  fence_warp_sync(block, warp, lanes);
}

}  // namespace simt
