// The texts on races within a kernel, with what to try.
#include "checker/messages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <optional>
#include <string>

#include "base/program.hpp"
#include "checker/async_copies.hpp"
#include "checker/handoffs.hpp"
#include "checker/history.hpp"
#include "checker/race_causes.hpp"
#include "checker/update_races.hpp"
#include "memory/names.hpp"
#include "simt/testing.hpp"

namespace simt {

const char* kind_name(AccessKind k) {
  switch (k) {
    case AccessKind::read:
      return "read";
    case AccessKind::write:
      return "write";
    case AccessKind::relaxed_read:
      return "atomic read";
    case AccessKind::relaxed_write:
      return "atomic write";
    default:
      return "atomic";
  }
}
const char* verb(AccessKind k, const char* name) {
  const bool is_volatile = name == nullptr || std::strncmp(name, "volatile", 8) == 0;
  if (is_volatile && k == AccessKind::relaxed_read) return "volatile read";
  if (is_volatile && k == AccessKind::relaxed_write) return "volatile write";
  return kind_name(k);
}

std::string capitalised(std::string text) {
  text.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(text.front())));
  return text;
}
std::string wrapped(const std::string& text) {
  constexpr std::size_t kWidth = 96;
  std::string lines;
  std::size_t column = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    const std::size_t length = end - at;
    if (column > 0 && column + 1 + length > kWidth) {
      lines += "\n  ";
      column = 0;
    } else if (column > 0) {
      lines += ' ';
      ++column;
    }
    lines += text.substr(at, length);
    column += length;
    at = end + 1;
  }
  return lines;
}

std::string bytes(std::size_t n) { return fmt::format("{} byte{}", n, n == 1 ? "" : "s"); }

namespace {

/// The name of the relaxed access, if one is.
const char* name_of_side(const Side& side) {
  const SyncEvent* const e = event_before(side.access.thread, side.access.clock >> kClockShift);
  return e != nullptr && e->pc == side.access.pc ? e->name : nullptr;
}
const char* verb_of(const Side& side) { return verb(side.kind, name_of_side(side)); }

// ---- races --------------------------------------------------------------------------------------

/// How the accesses of two instructions have gone through an array in this launch, as far as its records go.
struct Pattern {
  bool is_by_rank =
      true;  // thread i of a block accesses element i, i + threads of a block, and so on
  bool is_one_place = true;  // one element
};
Pattern pattern_of(const Allocation& a, std::uint32_t pc, std::uint32_t other_pc) {
  constexpr std::size_t kMostCells = 1 << 20;
  Pattern pattern;
  std::size_t first = ~std::size_t(0);
  const std::size_t in_block =
      engine.launch->block.x * engine.launch->block.y * engine.launch->block.z;
  for (std::size_t i = 0; a.cells != nullptr && i < std::min(a.cell_count(), kMostCells); ++i) {
    const Cell& cell = a.cells[i];
    if (cell.generation != engine.launch_number) continue;
    const std::size_t offset = a.begin + (i << a.granule_shift) - a.name_origin;
    const std::size_t element = offset / a.element.size;
    for (const Access* x : {&cell.write, &cell.last_read, &cell.other_thread, &cell.other_warp}) {
      if (x->pc == 0 || (x->pc != pc && x->pc != other_pc)) continue;
      if (first == ~std::size_t(0)) first = element;
      if (element != first) pattern.is_one_place = false;
      if (element % in_block != rank_of(x->thread)) pattern.is_by_rank = false;
    }
  }
  return pattern;
}

/// "block 1 thread 5 has read 5 from key[3] (x.cu:12)" of the latest of its last reads that found this number; empty if none did.
std::string read_number(const Race& race, std::size_t number) {
  const RecentReads& r = race.t.recent;
  for (std::size_t back = 1; back <= kRecentReads; ++back) {
    const std::size_t slot = (race.t.next_recent - back) % kRecentReads;
    const bool is_it = r.address[slot] != 0 && r.address[slot] != race.address &&
                       r.size[slot] >= 2 && r.value[slot] == number;
    if (!is_it) continue;
    return fmt::format("{} has read {} from {} ({})", thread_name(race.t.id), number,
                       describe_element(r.address[slot]),
                       source_line(return_address_of(r.pc[slot])).text());
  }
  return "";
}

/// A question where one index without blockIdx may have led both threads to one place: they are of equal rank, and it is
/// the element of this rank, as wherever else these lines have been in the array. Empty otherwise.
std::string index_question(const Race& race) {
  const std::uint32_t a = race.earlier.access.thread, b = race.now.access.thread;
  if (race.in_one_block() || rank_of(a) != rank_of(b)) return "";
  const dim3 &grid = engine.launch->grid, &block = engine.launch->block;
  const std::uint64_t blocks = std::uint64_t{grid.x} * grid.y * grid.z;
  if (blocks * block.x * block.y * block.z >> 32 != 0) return "";  // 32 bits may be too few for it
  if (history_of(a) != nullptr || history_of(b) != nullptr) return "";  // an atomic may say which
  const Allocation* memory = owner_of(race.address);
  if (memory == nullptr) memory = global_at(race.address);
  if (memory == nullptr || memory->size == memory->element.size) return "";
  const std::size_t element = (race.address - memory->name_origin) / memory->element.size;
  if (element != rank_of(a)) return "";
  const Pattern found = pattern_of(*memory, race.earlier.access.pc, race.now.access.pc);
  if (!found.is_by_rank) return "";
  const std::string both = fmt::format("Both are thread {} of their block",
                                       coordinates(rank_of(a), engine.launch->block));
  if (const std::string read = element == 0 ? "" : read_number(race, element); !read.empty()) {
    return wrapped(
        fmt::format("{}, and {}: is that the index, or is blockIdx missing in it?", both, read));
  }
  if (element != 0 || !found.is_one_place) return both + ": is blockIdx missing in the index?";
  return wrapped(fmt::format(
      "{}, and this line has accessed no other element than {}: is one block meant to do it, or is "
      "blockIdx missing in the index?",
      both, describe_element(race.address)));
}

bool is_one_element(std::uintptr_t address) {
  const Allocation* memory = owner_of(address);
  if (memory == nullptr) memory = global_at(address);
  return memory != nullptr && memory->size == memory->element.size;
}

std::string copy_hint(const AsyncCopy& copy) {
  return fmt::format(
      "The asynchronous copy of line {} writes it, and has not been waited for here. Wait for the\n"
      "  copy first; for one of another thread, call __syncthreads() after its wait.",
      source_line(copy.caller).line);
}

/// The last barrier that both threads of a race in one block have come from.
struct LastBarrier {
  std::string at;  // "the barrier at FILE:LINE", "the __syncwarp() at ..."; empty: there was none
  std::string
      order;  // where it lies between the two lines, so that one thread has gone back to the lines before it: who has
};

/// The last barrier of their warp, which came after the last one of the block; null if they have not met in it.
const Warp* common_warp_sync(const Race& race) {
  const Warp& warp = race.t.block->warp_of(race.t);
  if (!race.in_one_warp() || warp.last_sync == nullptr) return nullptr;
  const unsigned both = 1u << race.t.lane | 1u << lane_of(race.earlier.access.thread);
  return (warp.last_sync_lanes & both) == both ? &warp : nullptr;
}

LastBarrier last_barrier(const Race& race) {
  if (!race.in_one_block()) return {};
  const Warp* const warp = common_warp_sync(race);
  if (warp == nullptr && race.t.block->last_meeting == nullptr) return {};
  const SourceLine barrier =
      source_line(warp != nullptr ? warp->last_sync_at : race.t.block->last_meeting);
  const std::string at =
      fmt::format("the {} at {}", warp != nullptr ? warp->last_sync : "barrier", barrier.text());
  const auto lies_beside = [&](const SourceLine& line) {
    return line.file == barrier.file && line.function == barrier.function;
  };
  const bool is_now_first = race.now_line.line < race.earlier_line.line;
  const SourceLine& first = is_now_first ? race.now_line : race.earlier_line;
  const SourceLine& second = is_now_first ? race.earlier_line : race.now_line;
  const bool is_between = lies_beside(first) && lies_beside(second) && first.line < barrier.line &&
                          barrier.line < second.line;
  if (!is_between) return {at, ""};
  return {at, fmt::format(
                  "the {} at line {} is of a later round of a loop than the {} at line {}, or of "
                  "a later call of the function",
                  verb_of(is_now_first ? race.now : race.earlier), first.line,
                  verb_of(is_now_first ? race.earlier : race.now), second.line)};
}

/// For a reader of the code who may take that barrier for the one that is missing.
std::string beside_last_barrier(const Race& race) {
  const LastBarrier last = last_barrier(race);
  if (last.at.empty()) return "";
  if (last.order.empty()) {
    return "\n  " + wrapped(fmt::format("(Both threads came from {}.)", last.at));
  }
  return "\n  " + wrapped(fmt::format("(Both threads came from {}, between the two lines: {}.)",
                                      last.at, last.order));
}

/// An atomic and a plain access.
std::string hint_beside_atomic(const Race& race) {
  const Side& plain = is_atomic(race.earlier.kind) ? race.now : race.earlier;
  const Side& atomic = is_atomic(race.earlier.kind) ? race.earlier : race.now;
  const std::string x = describe_element(race.address);
  const SourceLine& atomic_line = &plain == &race.now ? race.earlier_line : race.now_line;
  const SyncEvent* const event =
      event_before(atomic.access.thread, atomic.access.clock >> kClockShift);
  const bool depends = event == nullptr || !replaces(*event);
  if (plain.kind == AccessKind::read && depends &&
      read_before(race.address, atomic.access) == plain.access.pc) {
    return wrapped(fmt::format(
        "{} reads {} at the same line before its atomic (line {}): between the two, other threads may "
        "change it. Decide by the value that the atomic function returns.",
        capitalised(thread_name(atomic.access.thread)), x, atomic_line.line));
  }
  if (is_shared(reinterpret_cast<const void*>(race.address))) {
    const char* const barrier = race.in_one_block() ? "__syncthreads()" : "cluster.sync()";
    const char* const text =
        plain.kind == AccessKind::read
            ? "In this run no {} came between the atomics and this read: some threads may\n"
              "  not have done their atomics yet."
            : "In this run no {} came between this write and the atomics: a plain write\n"
              "  overwrites what atomics of other threads did before it.";
    return fmt::format(fmt::runtime(text), barrier) + beside_last_barrier(race);
  }
  if (plain.kind == AccessKind::read && event != nullptr && is_compare_and_swap(*event)) {
    return fmt::format(
        "Other threads may change {} before or after this read: it finds any of their values. It counts\n"
        "  if this thread confirms it by {}() with the value read as the expected one.\n"
        "  If it does not, use the value that the atomic function returns.",
        x, event->name);
  }
  if (plain.kind == AccessKind::read) {
    return fmt::format(
        "The atomics of other threads may change {} before or after this read: it finds any of\n"
        "  their values. Use the value that the atomic function returns, or read after all of the\n"
        "  atomics (one block: after __syncthreads(); several blocks: in the next kernel).",
        x);
  }
  if (atomic.kind == AccessKind::relaxed_read) {
    return fmt::format(
        "Other threads load {0} by an atomic or volatile load while this plain write stores it. Store\n"
        "  it by an atomic, too: a store of cuda::atomic_ref, or atomicExch.",
        x);
  }
  return fmt::format(
      "A plain write overwrites what the atomics of other threads did. If it is the first value of\n"
      "  {}: set it before the launch (cudaMemset). If not: use an atomic function here, too.",
      x);
}

/// Two plain writes at one line, of different values.
std::string hint_of_writes(const Race& race, const Overwrite* values) {
  const std::string x = describe_element(race.address);
  std::string text = fmt::format("Both threads write {} at this line, and the last write wins", x);
  const std::optional<std::string> old = values == nullptr ? std::nullopt : text_of(values->old);
  const std::optional<std::string> now = values == nullptr ? std::nullopt : text_of(values->now);
  text += old && now ? fmt::format(": here {} replaces {}.", *now, *old) : ".";
  if (const std::string question = index_question(race); !question.empty()) {
    return text + "\n  " + question;
  }
  const std::string rounds =
      rounds_question(race, race.now.access.pc, race.now_line, race.now_line);
  if (!rounds.empty()) {
    return text + "\n  " +
           wrapped(rounds +
                   " Or should each thread have an element of its own, or should an atomic "
                   "function combine the values?");
  }
  const bool is_first = rank_of(race.earlier.access.thread) == 0 && rank_of(race.t.id) == 0;
  const char* const question =
      !is_one_element(race.address)
          ? "Should each thread have an element of its own, or should an atomic function combine "
            "the values?"
      : is_first && !race.in_one_block()
          ? "Both are thread 0 of their block: should one block write it, or should an atomic "
            "function combine the values of the blocks?"
          : "Should one thread write it, or should an atomic function combine the values of the "
            "threads?";
  return text + "\n  " + wrapped(question);
}

/// Nothing has been recorded that leads from one to the other.
std::string hint_without_order(const Race& race) {
  if (!race.in_one_block() && is_shared(reinterpret_cast<const void*>(race.address))) {
    return "Two blocks of a cluster, and in this run no cluster.sync() came between the two accesses.";
  }
  if (!race.in_one_block()) {
    const std::string question = index_question(race);
    return "The blocks of one kernel run in no fixed order, and this run has recorded nothing that\n"
           "  orders the two accesses. Which is to come first, and how does the other thread learn of it?" +
           (question.empty() ? "" : "\n  " + question);
  }
  const bool same_warp = race.in_one_warp();
  const char* const who = same_warp ? "Two lanes of one warp" : "Two warps of one block";
  const char* const barrier = same_warp ? "__syncwarp() or __syncthreads()" : "__syncthreads()";
  const LastBarrier last = last_barrier(race);
  std::string text = last.order.empty()
                         ? fmt::format("{}, and no {} came between the two accesses.", who, barrier)
                         : fmt::format(
                               "{}. Both came from {}, between the two lines: {}. No {} came "
                               "between these two accesses.",
                               who, last.at, last.order, barrier);
  if (same_warp) text += " The lanes of a warp do not run in lockstep.";
  text = wrapped(text);
  if (last.order.empty()) text += beside_last_barrier(race);
  if (same_warp && race.t.last_collective != nullptr) {
    text += fmt::format("\n  ({} exchanges values, but does not order memory accesses.)",
                        race.t.last_collective);
  }
  return text;
}

/// What to try. `is_there`: it is a change of the lines of the two accesses.
struct Hint {
  std::string text;
  bool is_there = true;
};

Hint race_hint(const Race& race, const Overwrite* values) {
  const AsyncCopy* const copy = copy_under_way(race.address);
  if (copy != nullptr && pc_of(copy->caller) == race.earlier.access.pc) return {copy_hint(*copy)};
  if (is_atomic(race.earlier.kind) && is_atomic(race.now.kind)) {
    return {
        "What has block scope is atomic among the threads of one block only. Use the function without\n"
        "  _block, or thread_scope_device instead of thread_scope_block."};
  }
  if (is_atomic(race.earlier.kind) != is_atomic(race.now.kind)) return {hint_beside_atomic(race)};
  if (engine.launch->of_library) {
    return {
        wrapped(fmt::format("{} reads and writes this memory in no order: what it writes must "
                            "not overlap what it reads.",
                            engine.launch->kernel))};
  }
  const Explanation found = explain_race(race);
  if (found.cause == RaceCause::same_statement || found.cause == RaceCause::test_and_store) {
    const std::string question = index_question(race);
    return {question.empty() ? found.text + "\n  If not: give each thread an index of its own."
                             : question + "\n  " + found.text};
  }
  if (found.cause != RaceCause::no_order) return {found.text, is_cured_there(found.cause)};
  const bool same_line = race.earlier_line.text() == race.now_line.text();
  if (writes(race.earlier.kind) && writes(race.now.kind) && same_line)
    return {hint_of_writes(race, values)};
  return {hint_without_order(race), false};
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

void report_race(const Side& earlier, const Side& now, std::uintptr_t address, const Thread& t,
                 const Overwrite* values) {
  const auto report = [&](const SourceLine& earlier_line, const SourceLine& now_line) {
    const Hint hint = race_hint({earlier, now, address, t, earlier_line, now_line}, values);
    Report r = race_finding(
        now_line,
        fmt::format("DATA RACE in kernel {} on {}\n  {:<6} at {} by {}\n  {:<6} at {} by {}",
                    engine.launch->kernel, describe_address(address), verb_of(now),
                    now_line.full_text(), thread_name(now.access.thread), verb_of(earlier),
                    earlier_line.full_text(), thread_name(earlier.access.thread)),
        hint.text);
    r.is_cured_there = hint.is_there;
    r.object = object_at(address);
    r.accesses = {access_by(verb_of(now), now_line, now.access.thread),
                  access_by(verb_of(earlier), earlier_line, earlier.access.thread)};
    return r;
  };
  report_pair(earlier.access.pc, now.access.pc, report);
}

void report_read_only(const Access& load, ReadPath path, const Side& write,
                      std::uintptr_t address) {
  const bool by_texture = path == ReadPath::texture;
  const auto report = [&](const SourceLine& load_line, const SourceLine& write_line) {
    Report r = finding(
        ReportKind::read_only, load_line,
        fmt::format(
            "{} OF WRITTEN MEMORY in kernel {} on {}\n  {:<6} at {} by {}\n  {:<6} at {} by {}\n"
            "  {} the read-only path, which is for memory that no thread writes while the\n"
            "  kernel runs: it may return an old value, and no barrier or fence prevents that. Use\n"
            "  an ordinary load here.",
            by_texture ? "TEXTURE" : "__LDG", engine.launch->kernel, describe_address(address),
            by_texture ? "fetch" : "__ldg", load_line.text(), thread_name(load.thread),
            verb(write.kind), write_line.text(), thread_name(write.access.thread),
            by_texture ? "A fetch uses" : "__ldg() uses"));
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
  const Cell* const cell = find_cell(address);
  if (cell == nullptr) return;
  const Side other = cell->write.pc != 0 ? Side{cell->write, AccessKind::write}
                                         : Side{cell->atomic, AccessKind::atomic};
  report_copy_race(copy, kind, other, address);
}

}  // namespace simt
