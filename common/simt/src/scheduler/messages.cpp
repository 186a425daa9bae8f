// The texts on barriers, masks and threads that wait for ever.
#include "scheduler/messages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace simt {
namespace {

/// "threads 0-31, 64" of sorted ranks.
std::string ranges(const std::vector<unsigned>& ranks) {
  std::string text;
  for (std::size_t i = 0; i < ranks.size();) {
    std::size_t last = i;
    while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1) ++last;
    if (!text.empty()) text += ", ";
    text += last == i ? fmt::format("{}", ranks[i]) : fmt::format("{}-{}", ranks[i], ranks[last]);
    i = last + 1;
  }
  return text;
}

/// "file:12, called at line 30": where a thread waits, and, if that is in a function that the
/// kernel calls, how it came there. The launch itself, the outermost of these lines, is left out.
std::string place_of(const Thread& t, const void* caller) {
  std::vector<SourceLine> lines;
  for (char** frame = t.waiting->frame; frame != nullptr; frame = calling_frame(t.fiber, frame)) {
    if (lines.empty() && frame[1] != caller) continue;
    const SourceLine line = source_line(frame[1]);
    if (!is_above_the_device(line)) break;
    lines.push_back(line);
  }
  std::string text = source_line(caller).full_text();
  for (std::size_t i = 1; i + 1 < lines.size(); ++i) {
    const bool same_file = lines[i].file == lines[i - 1].file;
    text += same_file ? fmt::format(", called at line {}", lines[i].line)
                      : ", called at " + lines[i].text();
  }
  return text;
}

struct Meeting {
  const char* name;
  const void* caller;
  const Thread* first;
  std::vector<unsigned> ranks;
};

std::vector<Meeting> meetings(const Block& block) {
  std::vector<Meeting> list;
  for (const Thread& t : block.threads) {
    if (t.state != State::at_barrier) continue;
    auto it = std::find_if(list.begin(), list.end(),
                           [&](const Meeting& m) { return m.caller == t.waiting->caller; });
    if (it == list.end())
      it = list.insert(list.end(), {t.waiting->name, t.waiting->caller, &t, {}});
    it->ranks.push_back(t.flat);
  }
  return list;
}

/// The program's own line, where the barrier is in a header.
SourceLine line_of(const Meeting& m) {
  return source_line(callers_of(m.first->fiber, m.first->waiting->frame, m.caller));
}

/// A finding with one access for each place where threads wait.
Report finding_at(ReportKind kind, const std::vector<Meeting>& list, std::string text) {
  Report report = finding(kind, line_of(list.front()), std::move(text));
  for (const Meeting& m : list) {
    report.accesses.push_back(access_by("wait", line_of(m), m.first->id));
  }
  return report;
}

/// Where a thread waits for others; null if it does not.
const void* place_waited_at(const Thread& t) {
  if (t.state == State::at_barrier || t.state == State::at_cluster) return t.waiting->caller;
  return t.state == State::in_warp_call && t.call != nullptr ? t.call->caller : nullptr;
}

/// Threads that went past the barrier and have ended.
std::vector<unsigned> ranks_past_it(const Block& block) {
  std::vector<unsigned> ranks;
  for (const Thread& t : block.threads) {
    if (t.state == State::done && !t.is_excused) ranks.push_back(t.flat);
  }
  return ranks;
}

/// What is known of how the threads that have ended went past the barrier where the others wait.
std::string way_past_it(const Block& block, const Meeting& meeting) {
  const bool is_in_function =
      place_of(*meeting.first, meeting.caller) != source_line(meeting.caller).full_text();
  if (is_in_function) {
    return "The barrier is in a function: did the others leave it by a return before the barrier,\n"
           "  or did an if or a loop lead them past it?";
  }
  if (block.last_meeting == meeting.caller) {
    return "All of them met in it before: those that wait have come to it once more, by a loop that\n"
           "  the others have left. Let threads with no work skip the work, not the barrier.";
  }
  return "An if or a loop led the others past it: let threads with no work skip the work, not the\n"
         "  barrier.";
}

std::string describe_barrier(const Block& block, const std::vector<Meeting>& list) {
  std::string text = fmt::format("BARRIER IN DIVERGENT CODE in kernel {}, {}",
                                 engine.launch->kernel, block_name(block.linear));
  const std::size_t total = block.threads.size();
  for (const Meeting& m : list) {
    const bool one = m.ranks.size() == 1;
    text += fmt::format("\n  {} of {} threads {} in {} at {}: {} {}", m.ranks.size(), total,
                        one ? "waits" : "wait", m.name, place_of(*m.first, m.caller),
                        one ? "thread" : "threads", ranges(m.ranks));
  }
  if (const std::vector<unsigned> past = ranks_past_it(block); !past.empty()) {
    const bool one = past.size() == 1;
    text += fmt::format("\n  {} of {} threads {} gone past it, and ended: {} {}", past.size(),
                        total, one ? "has" : "have", one ? "thread" : "threads", ranges(past));
  }
  text += "\n  Every thread of the block must reach the same barrier.";
  if (list.size() > 1) return text;
  text += "\n  " + way_past_it(block, list.front());
  if (list.front().ranks.size() == 1) {
    text +=
        "\n  Does only this thread know the value that led it there? It reaches the others through\n"
        "  __shared__ memory and a barrier.";
  }
  return text;
}

}  // namespace

Report barrier_finding(const Block& block) {
  const std::vector<Meeting> list = meetings(block);
  return finding_at(ReportKind::barrier, list, describe_barrier(block, list));
}

Report endless_barriers_finding(const Block& block) {
  std::vector<Meeting> list = meetings(block);
  list.resize(1);
  const Meeting& meeting = list.front();
  std::string text = fmt::format(
      "ENDLESS LOOP in kernel {}, {}: after {} barriers its threads are still in the loop\n"
      "  around {} at {}\n"
      "  Which condition ends this loop, and can it become true?",
      engine.launch->kernel, block_name(block.linear), block.barriers, meeting.name,
      place_of(*meeting.first, meeting.caller));
  return finding_at(ReportKind::hang, list, std::move(text));
}

Report foreign_mask_finding(const WarpCall& call, const Thread& t) {
  const SourceLine where = source_line(call.caller);
  return finding_by(
      t.id, "call", ReportKind::barrier, where,
      fmt::format(
          "WRONG MASK in kernel {}: {} at {}\n  {} (lane {}) calls it with mask 0x{:08x}, "
          "which does not include the calling lane.\n  Every lane that calls must be in the "
          "mask, and every lane in the mask must call.",
          engine.launch->kernel, call.name, where.text(), thread_name(t), t.lane, call.mask));
}

namespace {

/// "lane 20 has returned from the kernel"
std::string why_absent(const Block& block, const Thread& t, const Lanes& lanes) {
  const auto source = static_cast<unsigned>(lanes.call[t.lane]->argument);
  if (source >= kWarpSize) return "the rank that it reads is outside the group";
  const std::string name = fmt::format("lane {}", source);
  if (t.flat - t.lane + source >= block.threads.size()) return name + " does not exist";
  if ((lanes.mask >> source & 1u) == 0) {
    return fmt::format("{} is not in the mask 0x{:08x}", name, lanes.mask);
  }
  return name + " has returned from the kernel";
}

/// "3 of 8 blocks wait ...: blocks 0-2"
std::string blocks_text(const std::vector<unsigned>& blocks, const char* one, const char* several) {
  const bool single = blocks.size() == 1;
  return fmt::format("\n  {} of {} blocks {}: {} {}", blocks.size(), engine.blocks_total,
                     single ? one : several, single ? "block" : "blocks", ranges(blocks));
}

/// Blocks wait for the grid, and the others will not come.
Report grid_deadlock_finding() {
  std::vector<unsigned> waiting, ended;
  std::vector<bool> is_there(engine.blocks_total);
  const Thread* first = nullptr;
  for (const auto& block : engine.resident) {
    is_there[block->linear] = true;
    const auto waits = [](const Thread& t) { return t.state == State::at_barrier; };
    const auto t = std::find_if(block->threads.begin(), block->threads.end(), waits);
    if (first == nullptr || t->id < first->id) first = &*t;
  }
  for (unsigned i = 0; i < engine.blocks_total; ++i) (is_there[i] ? waiting : ended).push_back(i);
  const SourceLine where = source_line(first->waiting->caller);
  std::string text =
      fmt::format("DEADLOCK in kernel {}: the barrier of the grid at {} waits for ever",
                  engine.launch->kernel, where.text());
  text += blocks_text(waiting, "waits there", "wait there");
  text += blocks_text(ended, "has ended", "have ended");
  text +=
      "\n  Every thread of every block must reach grid_group::sync(): let threads with no work skip\n"
      "  the work, not the barrier.";
  Report report = finding(ReportKind::barrier, where, std::move(text));
  report.accesses.push_back(access_by("wait", where, first->id));
  return report;
}

}  // namespace

std::string absent_lanes_text(const Block& block, unsigned w, const Lanes& lanes,
                              const WarpCall& call) {
  std::vector<unsigned> returned, missing;
  for (unsigned l = 0; l < kWarpSize; ++l) {
    if (((lanes.mask & ~lanes.present) >> l & 1u) == 0) continue;
    (w * kWarpSize + l < block.threads.size() ? returned : missing).push_back(l);
  }
  const auto lanes_text = [](const std::vector<unsigned>& list) {
    return fmt::format("{} {}", list.size() == 1 ? "lane" : "lanes", ranges(list));
  };
  std::string text = fmt::format("{} warp {}: ", block_name(block.linear), w);
  if (!returned.empty()) {
    text += fmt::format("{} {} returned from the kernel", lanes_text(returned),
                        returned.size() == 1 ? "has" : "have");
  }
  if (!missing.empty()) {
    text += fmt::format("{}{} {} not exist", returned.empty() ? "" : " and ", lanes_text(missing),
                        missing.size() == 1 ? "does" : "do");
  }
  const char* const undefined =
      call.op == WarpOp::shuffle ? ", and a shuffle that reads one gets an undefined value" : "";
  return fmt::format(
      "{}; the mask 0x{:08x} names them: CUDA allows it, but they contribute nothing{}", text,
      lanes.mask, undefined);
}

std::string absent_lane_text(const Block& block, const Thread& t, const Lanes& lanes) {
  return fmt::format("{} (lane {}) gets an undefined value from this shuffle: {}", thread_name(t),
                     t.lane, why_absent(block, t, lanes));
}

Report absent_lane_finding(const Block& block, const Thread& t, const Lanes& lanes) {
  const WarpCall& call = *lanes.call[t.lane];
  const SourceLine where = source_line(call.caller);
  return finding_by(
      t.id, "read", ReportKind::absent_lane, where,
      fmt::format("SHUFFLE FROM AN ABSENT LANE in kernel {}: {} at {}\n"
                  "  {} (lane {}) gets an undefined value: {}.\n"
                  "  Let all 32 lanes make the call, those with no work, too, with a value that\n"
                  "  changes nothing, such as 0 for a sum; or read only lanes of the mask.",
                  engine.launch->kernel, call.name, where.text(), thread_name(t), t.lane,
                  why_absent(block, t, lanes)));
}

Report headless_block_finding(const Block& block) {
  const std::vector<Meeting> list = meetings(block);
  const Meeting& meeting = list.front();
  return finding_at(
      ReportKind::barrier, list,
      fmt::format(
          "BARRIER IN DIVERGENT CODE in kernel {}, {}\n  {} of {} threads wait in {} at {}, and "
          "thread 0 has returned.\n"
          "  On a GPU thread 0 tells the other blocks that its block has come: without it they wait "
          "for ever.\n"
          "  Let threads with no work skip the work, not the barrier.",
          engine.launch->kernel, block_name(block.linear), meeting.ranks.size(),
          block.threads.size(), meeting.name, place_of(*meeting.first, meeting.caller)));
}

Report deadlock_finding() {
  const auto waits_elsewhere = [](const auto& block) { return !block->waits_for_grid; };
  const auto stuck = std::find_if(engine.resident.begin(), engine.resident.end(), waits_elsewhere);
  if (stuck == engine.resident.end()) return grid_deadlock_finding();
  const void* first = nullptr;
  std::string text =
      fmt::format("DEADLOCK in kernel {}: every thread that is left waits", engine.launch->kernel);
  const Block& block = **stuck;
  std::map<std::string, std::vector<unsigned>> groups;
  for (const Thread& t : block.threads) {
    const void* place = place_waited_at(t);
    if (first == nullptr) first = place;
    if (t.state == State::at_barrier || t.state == State::at_cluster) {
      groups[fmt::format("{} at {}", t.waiting->name, place_of(t, t.waiting->caller))].push_back(
          t.flat);
    } else if (t.state == State::in_warp_call && t.call != nullptr) {
      groups[fmt::format("{} with mask 0x{:08x} at {}", t.call->name, t.call->mask,
                         place_of(t, t.call->caller))]
          .push_back(t.flat);
    }
  }
  text += fmt::format("\n  {}, {} threads, {} of them have returned:", block_name(block.linear),
                      block.threads.size(), block.threads.size() - block.alive);
  for (const auto& [what, ranks] : groups) {
    const bool one = ranks.size() == 1;
    text += fmt::format("\n    {} {} in {}: {} {}", ranks.size(), one ? "waits" : "wait", what,
                        one ? "thread" : "threads", ranges(ranks));
  }
  text +=
      "\n  All lanes of a mask must make the same call with the same mask, and all "
      "threads\n"
      "  of a block must reach the same __syncthreads().";
  const SourceLine line = first == nullptr ? SourceLine{} : source_line(first);
  Report report = finding(ReportKind::barrier, line, std::move(text));
  for (const Thread& t : block.threads) {
    const void* place = place_waited_at(t);
    if (place == nullptr) continue;
    report.accesses.push_back(access_by("wait", source_line(place), t.id));
  }
  return report;
}

}  // namespace simt
