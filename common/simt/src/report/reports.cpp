// Names the kinds of findings, calls the handler, and keeps notes.
#include "report/reports.hpp"

#include <fmt/format.h>
#include <pthread.h>
#include <sys/single_threaded.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/early.hpp"
#include "base/program.hpp"
#include "base/scoped_ignore.hpp"
#include "report/source_lines.hpp"
#include "simt/runtime.hpp"

namespace simt {
namespace {

// ---- kinds --------------------------------------------------------------------------------------

struct Names {
  const char *text, *identifier;
};

Names names_of(ReportKind kind) {
  switch (kind) {
    case ReportKind::race:
      return {"data race", "data_race"};
    case ReportKind::out_of_bounds:
      return {"out of bounds", "out_of_bounds"};
    case ReportKind::use_after_free:
      return {"use after free", "use_after_free"};
    case ReportKind::uninitialised:
      return {"uninitialised memory", "uninitialised_memory"};
    case ReportKind::misaligned:
      return {"misaligned access", "misaligned_access"};
    case ReportKind::read_only:
      return {"__ldg of written memory", "read_only_load"};
    case ReportKind::host_access:
      return {"device pointer used by the host", "host_access"};
    case ReportKind::unlaunched:
      return {"kernel called without a launch", "unlaunched_kernel"};
    case ReportKind::not_started:
      return {"kernel not started", "kernel_not_started"};
    case ReportKind::barrier:
      return {"barrier or mask", "barrier_or_mask"};
    case ReportKind::absent_lane:
      return {"shuffle from an absent lane", "absent_lane"};
    case ReportKind::hang:
      return {"endless loop", "endless_loop"};
    case ReportKind::trap:
      return {"kernel stopped", "kernel_stopped"};
  }
  return {"finding", "finding"};
}

// ---- handler ------------------------------------------------------------------------------------

[[noreturn]] void exit_with_findings() {
  end_source_lines();
  std::fflush(nullptr);
  _exit(66);
}

void print_and_fail(const Report& report) {
  static const int once = std::atexit(exit_with_findings);
  (void)once;
  std::fflush(stdout);
  fmt::print(stderr, "{}\n", report.text);
}

ReportHandler& handler() {
  static auto& h = *new ReportHandler(print_and_fail);
  return h;
}

void print_refusal(const Refusal& refusal) {
  std::fflush(stdout);
  const SourceLine line{refusal.file, refusal.line};
  fmt::print(stderr, "{}: error: {}\n", line.text(), refusal.text);
}

RefusalHandler& refusal_handler() {
  static auto& h = *new RefusalHandler(print_refusal);
  return h;
}

// ---- notes --------------------------------------------------------------------------------------

struct PlacedNote {
  Note note;
  const void* caller;
  bool yields = false;      // to a finding at the same line, or on the same object
  std::string object = {};  // empty if it has no name
};
constexpr std::size_t kMostNotes = 8;
SIMT_EARLY std::vector<PlacedNote> notes;
/// The lines and objects of findings since the notes were taken last.
SIMT_EARLY std::set<std::pair<std::string, int>> found_lines;
SIMT_EARLY std::set<std::string> found_objects;

void add_note(PlacedNote added) {
  const auto same = [&](const PlacedNote& n) {
    return n.note.text == added.note.text && n.caller == added.caller;
  };
  if (notes.size() < kMostNotes && std::none_of(notes.begin(), notes.end(), same)) {
    notes.push_back(std::move(added));
  }
}

bool is_found(const PlacedNote& n, const SourceLine& line) {
  return found_lines.contains({line.file, line.line}) || found_objects.contains(n.object);
}

}  // namespace

void deliver(Report report) {
  for (const ReportedAccess& a : report.accesses) found_lines.insert({a.file, a.line});
  if (!report.object.empty()) found_objects.insert(report.object);
  // A copy: the handler may install another one.
  const ReportHandler current = handler();
  current(report);
}

ReportHandler set_report_handler(ReportHandler replacement) {
  if (!replacement) replacement = print_and_fail;
  return std::exchange(handler(), std::move(replacement));
}

RefusalHandler set_refusal_handler(RefusalHandler replacement) {
  if (!replacement) replacement = print_refusal;
  return std::exchange(refusal_handler(), std::move(replacement));
}

const char* to_string(ReportKind kind) { return names_of(kind).text; }
const char* identifier(ReportKind kind) { return names_of(kind).identifier; }

void note(const char* text, const void* caller) {
  const ScopedIgnore guard;
  note_text(text, caller);
}

void note_text(std::string text, const void* caller) {
  add_note({{.text = std::move(text)}, caller});
}
void note_unless_found(std::string text, std::string object, const void* caller) {
  add_note({{.text = std::move(text)}, caller, true, std::move(object)});
}
bool is_noted(const void* caller) {
  const auto is_there = [&](const PlacedNote& n) { return n.caller == caller; };
  return notes.size() == kMostNotes || std::any_of(notes.begin(), notes.end(), is_there);
}
void clue_text(std::string text, const void* caller) {
  add_note({{.text = std::move(text), .is_clue = true}, caller});
}

std::vector<Note> take_notes() {
  std::vector<Note> taken;
  std::set<std::string> told;  // lines that have a remark of that kind
  for (const PlacedNote& n : notes) {
    const SourceLine line = source_line(n.caller);
    if (n.yields && is_found(n, line)) continue;
    std::string text = fmt::format("{}: {}", line.text(), n.note.text);
    const auto same = [&](const Note& other) { return other.text == text; };
    if (std::any_of(taken.begin(), taken.end(), same)) continue;  // two instructions of one line
    if (n.yields && !told.insert(line.text()).second) continue;
    taken.push_back({std::move(text), n.note.is_clue, line.file, line.line});
  }
  notes.clear();
  found_lines.clear();
  found_objects.clear();
  return taken;
}

void refuse_other_threads(const char* what, const void* caller) {
  static const pthread_t first = pthread_self();
  if (pthread_equal(first, pthread_self()) != 0) return;
  static std::atomic_flag told;
  while (told.test_and_set()) pause();  // one of them ends the program
  refuse_unsupported(what, caller);
}

void refuse_unsupported(const char* what, const void* caller) {
  const ScopedIgnore ignore;  // this may use code that was compiled as a kernel's
  refuse_unsupported(what, source_line(calls_behind(caller)));
}

void refuse_unsupported(std::string_view what, const SourceLine& where) {
  refusal_handler()(
      {where.file, where.line, fmt::format("not supported on the CPU device: {}", what)});
  std::_Exit(EXIT_FAILURE);
}

void refuse_threads_beside_kernel(const void* caller) {
  refuse_other_threads(
      "a second thread of the host that computes while a kernel runs: join it before the launch",
      caller);
}

bool host_has_other_threads() {
  if (__libc_single_threaded != 0) return false;
  std::error_code is_not_there;
  const std::filesystem::directory_iterator threads("/proc/self/task", is_not_there);
  return std::distance(begin(threads), end(threads)) > 1;
}

}  // namespace simt
