// Races of threads that read a place and write it: an update in two steps, and rounds without a barrier between them.
#include "checker/update_races.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "base/program.hpp"
#include "kernel/engine.hpp"
#include "memory/names.hpp"

namespace simt {
namespace {

/// read_before(), by what the thread itself remembers of its last write; reads that a cell remembers may have come after
/// an earlier write.
std::uint32_t own_read_before(std::uintptr_t address, const Access& write) {
  const Thread* const t = resident_thread(write.thread);
  if (t == nullptr) return 0;
  const ReadBeforeWrite& read = t->read_before_write;
  return read.address == address && read.clock == write.clock >> kClockShift ? read.pc : 0;
}

/// "line 12" where the other line is in the same file.
std::string line_beside(const SourceLine& line, const SourceLine& other) {
  return line.file == other.file ? fmt::format("line {}", line.line) : line.text();
}
const char* barrier_of(const Race& race) {
  return race.in_one_warp() ? "a __syncwarp() or __syncthreads()" : "a __syncthreads()";
}

/// A line that runs again, as far as it is known: a thread has written an element there, and has come to another one.
struct Repetition {
  std::uint32_t thread = 0;
  std::uintptr_t first = 0, second = 0;  // 0: not known
};

/// In the array of a race within a block, since the last __syncthreads(); if possible by a thread of the race. `pc` is
/// the instruction that writes. Neighbours are no two elements here: one wide access may have written both.
Repetition find_repetition(const Race& race, std::uint32_t pc) {
  constexpr std::size_t kMostCells = 1 << 20;
  const Allocation* a = owner_of(race.address);
  if (a == nullptr) a = global_at(race.address);
  if (a == nullptr || a->cells == nullptr) return {};
  const std::uint32_t now = a->space == Space::shared ? a->generation : engine.launch_number;
  const auto address = [&](std::size_t cell) { return a->begin + (cell << a->granule_shift); };
  const auto is_written = [&](const Cell& cell) {
    return cell.generation == now && cell.write.pc == pc &&
           block_of(cell.write.thread) == block_of(race.t.id) &&
           cell.write.clock >> kClockShift >= race.t.block->barrier_clock;
  };
  const std::size_t here = (race.address - a->begin) >> a->granule_shift;
  Repetition found;
  std::unordered_map<std::uint32_t, std::size_t> last;  // that a thread has written
  for (std::size_t i = 0; i < std::min(a->cell_count(), kMostCells); ++i) {
    const Cell& cell = a->cells[i];
    if (!is_written(cell)) continue;
    const std::uint32_t thread = cell.write.thread;
    const bool is_by_race =
        thread == race.now.access.thread || thread == race.earlier.access.thread;
    if (thread == race.t.id && (i + 1 < here || i > here + 1))
      return {thread, address(i), race.address};
    const auto [before, is_new] = last.try_emplace(thread, i);
    const bool is_again = !is_new && before->second + 1 < i;
    if (is_again && (found.first == 0 || is_by_race))
      found = {thread, address(before->second), address(i)};
    before->second = i;
  }
  return found;
}

}  // namespace

std::uint32_t read_before(std::uintptr_t address, const Access& write) {
  if (const std::uint32_t pc = own_read_before(address, write); pc != 0) return pc;
  const std::uint32_t clock = write.clock >> kClockShift;
  const Cell* const cell = find_cell(address);
  if (cell == nullptr) return 0;
  for (const Access* read : {&cell->last_read, &cell->other_thread, &cell->other_warp}) {
    const bool is_before = read->thread == write.thread && read->clock >> kClockShift == clock;
    if (read->pc != 0 && is_before) return read->pc;
  }
  return 0;
}

std::string rounds_question(const Race& race, std::uint32_t pc, const SourceLine& first,
                            const SourceLine& last) {
  if (!race.in_one_block()) return "";
  const Repetition again = find_repetition(race, pc);
  if (again.first == 0) return "";
  return fmt::format(
      "{} has come here for {} and for {}, with no __syncthreads() between: the line runs again, in a "
      "loop or by another call. If a round uses what the round before has written: is {} missing "
      "between {} of one round and {} of the next?",
      capitalised(thread_name(again.thread)), describe_element(again.first),
      describe_element(again.second), barrier_of(race), line_beside(last, first),
      line_beside(first, last));
}

Explanation explain_update(const Race& race) {
  const bool is_write = writes(race.now.kind);
  const Side& writer = is_write ? race.now : race.earlier;
  const std::uint32_t read_pc = read_before(race.address, writer.access);
  if (read_pc == 0) return {};
  const bool is_same_code = is_write && writes(race.earlier.kind)
                                ? race.earlier.access.pc == race.now.access.pc
                                : read_pc == (is_write ? race.earlier : race.now).access.pc;
  if (!is_same_code) return {};
  const SourceLine read = source_line(return_address_of(read_pc));
  const SourceLine& write = is_write ? race.now_line : race.earlier_line;
  const std::string x = describe_element(race.address);
  const std::string rounds = read.function == write.function && read.line <= write.line
                                 ? rounds_question(race, writer.access.pc, read, write)
                                 : "";
  if (!rounds.empty()) {
    return {RaceCause::repeated_update,
            wrapped(fmt::format("{} If threads of one round change {} together: use an atomic "
                                "function such as atomicAdd, atomicMax or atomicCAS.",
                                rounds, x))};
  }
  if (read.text() == write.text()) {
    return {
        RaceCause::same_statement,
        wrapped(fmt::format(
            "Reading {0}, changing the value and writing it back are separate steps: two threads "
            "can read the same old value, and one update is lost. If both are meant to change {0}: "
            "use an atomic function such as atomicAdd, atomicMax or atomicCAS.",
            x))};
  }
  const Side& other = is_write ? race.earlier : race.now;
  if (read.file == write.file && read.line > write.line) {
    if (!race.in_one_block() || read.function != write.function) return {};
    if (!is_write && own_read_before(race.address, writer.access) == 0) return {};
    return {
        RaceCause::next_round,
        wrapped(fmt::format(
            "{} has read {} itself (line {}) and gone on to write it (line {}), in the next round of a "
            "loop or another call of the function, and no barrier came between that write and the "
            "read by {}: call __syncthreads() after the read, before the next write.",
            capitalised(thread_name(writer.access.thread)), x, read.line, write.line,
            thread_name(other.access.thread)))};
  }
  if (race.in_one_block() && read.function != write.function) {
    return {
        RaceCause::read_by_function,
        wrapped(fmt::format(
            "If {0} is meant to find what {1} has written: is {2} missing between {3} and {4}? If "
            "both read {5} there and then change it: one atomic function must do both steps, such "
            "as atomicCAS, atomicMax or atomicAdd.",
            thread_name(other.access.thread), thread_name(writer.access.thread), barrier_of(race),
            line_beside(write, read), line_beside(read, write), x))};
  }
  // The other one may only read: then the write may be meant to come after all reads.
  const bool only_reads = !writes(other.kind) && race.in_one_block();
  const std::string after_reads =
      only_reads
          ? fmt::format(
                "If the write is meant to come when all have read: is {} missing between line {} "
                "and line {}{}? ",
                race.in_one_warp() ? "a barrier" : barrier_of(race), read.line, write.line,
                race.in_one_warp()
                    ? ", __syncwarp() if one warp reads it, __syncthreads() if several do"
                    : "")
          : "";
  return {
      only_reads ? RaceCause::store_after_reads : RaceCause::test_and_store,
      wrapped(fmt::format(
          "{1} reads {0} (line {2}) and writes it (line {3}), and {4} {5} it there, too. {6}If both are "
          "meant to change {0}, both can read the same old value, and one of the two writes is lost: "
          "one atomic function must do both steps, such as atomicCAS, atomicMax or atomicAdd.",
          x, capitalised(thread_name(writer.access.thread)), read.line, write.line,
          thread_name(other.access.thread), writes(other.kind) ? "writes" : "reads", after_reads))};
}

}  // namespace simt
