// Collects the findings of a launch, and puts the causes first.
#include "kernel/findings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <utility>

#include "base/early.hpp"
#include "base/program.hpp"
#include "base/scoped_ignore.hpp"
#include "report/reports.hpp"
#include "simt/api.hpp"

namespace simt {

Fiber host_fiber;

namespace {

constexpr std::size_t kMostReports = 3;  // of one launch: a learner fixes one at a time

struct Findings {
  std::vector<Report> reports;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> instructions;  // told of
  std::vector<std::pair<std::string, std::string>> lines;             // of races told of
  std::vector<std::pair<std::uint32_t, std::uint32_t>> left_out;      // instructions
};
SIMT_EARLY Findings findings;

FunctionRef<void()> host_call;

/// True if the pair was there already.
template <class T>
bool add_pair(std::vector<std::pair<T, T>>& told, const T& a, const T& b) {
  const std::pair<T, T> key = std::minmax({a, b});
  if (std::find(told.begin(), told.end(), key) != told.end()) return true;
  told.push_back(key);
  return false;
}

/// Races first. A missing barrier also lets readers run before writers: memory that was read too
/// early is not reported as uninitialised beside the race that explains it, which is one at the same
/// line or of the same array.
void put_causes_first(std::vector<Report>& reports) {
  const auto is_race = [](const Report& r) { return r.kind == ReportKind::race; };
  std::stable_partition(reports.begin(), reports.end(), is_race);
  const auto explained = [&](const Report& r) {
    if (r.kind != ReportKind::uninitialised) return false;
    const auto is_same_line = [&](const ReportedAccess& a) {
      return a.file == r.file && a.line == r.line;
    };
    return std::any_of(reports.begin(), reports.end(), [&](const Report& other) {
      const bool same_array = !r.object.empty() && r.object == other.object;
      const auto& places = other.accesses;
      return is_race(other) &&
             (same_array || std::any_of(places.begin(), places.end(), is_same_line));
    });
  };
  std::vector<Report> kept;
  std::copy_if(reports.begin(), reports.end(), std::back_inserter(kept),
               [&](const Report& r) { return !explained(r); });
  reports = std::move(kept);
}

/// How many pairs of lines have a finding that was left out.
std::size_t count_left_out() {
  std::vector<const void*> places;
  for (const auto& [a, b] : findings.left_out) {
    places.insert(places.end(), {return_address_of(a), return_address_of(b)});
  }
  look_up_lines(places);
  const auto is_new = [](const auto& pair) {
    return !lines_are_told(source_line(return_address_of(pair.first)),
                           source_line(return_address_of(pair.second)));
  };
  return static_cast<std::size_t>(
      std::count_if(findings.left_out.begin(), findings.left_out.end(), is_new));
}

/// As many as a learner can use; returns how many were taken away. What ended the launch is always told.
std::size_t leave_out_the_last(std::vector<Report>& reports) {
  const std::size_t all = reports.size();
  const auto went_on = [](const Report& r) {
    return r.kind == ReportKind::race || r.kind == ReportKind::uninitialised;
  };
  while (reports.size() > kMostReports) {
    const auto last = std::find_if(reports.rbegin(), reports.rend(), went_on);
    if (last == reports.rend()) break;
    reports.erase(std::next(last).base());
  }
  return all - reports.size();
}

}  // namespace

// ---- the host's stack ---------------------------------------------------------------------------

void on_host_stack(FunctionRef<void()> work) {
  if (engine.current == nullptr) {
    work();
    return;
  }
  host_call = work;
  switch_fiber(engine.current->fiber, host_fiber);
}

bool has_host_call() { return static_cast<bool>(host_call); }
FunctionRef<void()> take_host_call() { return std::exchange(host_call, {}); }

// ---- findings -----------------------------------------------------------------------------------

void findings_start_launch() {
  findings.instructions.clear();
  findings.lines.clear();
  findings.left_out.clear();
}

std::vector<Report> take_findings() {
  std::vector<Report> reports = std::exchange(findings.reports, {});
  for (const Report& r : reports) {
    if (r.accesses.empty()) continue;
    const ReportedAccess &a = r.accesses.front(), &b = r.accesses.back();
    lines_are_told({a.file, a.line}, {b.file, b.line});
  }
  put_causes_first(reports);
  const std::size_t more = leave_out_the_last(reports) + count_left_out();
  if (more > 0 && !reports.empty()) {
    reports.back().text +=
        fmt::format("\n(and {} more finding{} of the same launch)", more, more == 1 ? "" : "s");
  }
  return reports;
}

bool is_worth_telling(ReportKind kind, std::uint32_t pc_a, std::uint32_t pc_b) {
  const ScopedIgnore guard;
  if (add_pair(findings.instructions, pc_a, pc_b)) return false;
  const auto is_alike = [&](const Report& r) { return r.kind == kind; };
  const auto told = std::count_if(findings.reports.begin(), findings.reports.end(), is_alike);
  if (static_cast<std::size_t>(told) < kMostReports) return true;
  findings.left_out.emplace_back(pc_a, pc_b);
  return false;
}

bool lines_are_told(const SourceLine& a, const SourceLine& b) {
  return add_pair(findings.lines, a.text(), b.text());
}

void file_report(Report report) { findings.reports.push_back(std::move(report)); }

void fail_launch(Report report, int error) {
  file_report(std::move(report));
  engine.failed = true;
  engine.error = error;
}

void fail_stuck_launch(Report report) {
  const Placement& here = *engine.placement;
  if (here.queued != nullptr && engine.has_effects) {
    refuse_unsupported(
        fmt::format(
            "kernel {0} waits for what {1} may do, which is queued in another stream: the CPU "
            "device runs one after the other, and {0} cannot begin anew, as it has written "
            "memory or printed. Launch {1} first if it needs nothing of {0}, else make one "
            "kernel of both",
            engine.launch->kernel, here.queued),
        {report.file, report.line});
  }
  if (here.may_be_put_off) {
    engine.failed = true;
    engine.error = kPutOff;
    return;
  }
  fail_launch(std::move(report), cudaErrorLaunchTimeout);
}

Report finding(ReportKind kind, const SourceLine& where, std::string text) {
  Report report{kind, "", where.file, where.line, std::move(text)};
  if (engine.launch != nullptr) report.kernel = engine.launch->kernel;
  return report;
}

Report finding_by(std::uint32_t thread, const char* access, ReportKind kind,
                  const SourceLine& where, std::string text) {
  Report report = finding(kind, where, std::move(text));
  report.accesses = {access_by(access, where, thread)};
  return report;
}

Report race_finding(const SourceLine& where, std::string facts, const std::string& advice) {
  Report report = finding(ReportKind::race, where, facts + "\n  " + advice);
  report.facts = std::move(facts);
  return report;
}

ReportedAccess access_by(const char* kind, const SourceLine& where, std::uint32_t thread, dim3 grid,
                         dim3 block, int device) {
  const IdBits bits = id_bits_of(block);
  return {kind,
          where.file,
          where.line,
          coordinates(number_in_grid(block_of(thread, bits), grid), grid),
          coordinates(rank_of(thread, bits), block),
          device};
}

ReportedAccess access_by(const char* kind, const SourceLine& where, std::uint32_t thread) {
  return access_by(kind, where, thread, engine.launch->grid, engine.launch->block,
                   engine.placement->device);
}

// ---- a kernel stops itself ----------------------------------------------------------------------

void trap(const char* message, int error, const void* caller) {
  const Thread& t = *engine.current;
  on_host_stack([&] {
    const SourceLine where = source_line(caller);
    Report report =
        finding(ReportKind::trap, where,
                fmt::format("KERNEL STOPPED in {}: {}\n  at {} by {}", engine.launch->kernel,
                            message, where.text(), thread_name(t)));
    report.accesses.push_back(access_by("stop", where, t.id));
    fail_launch(std::move(report), error);
  });
  std::abort();  // a failed launch never resumes its threads
}

}  // namespace simt
