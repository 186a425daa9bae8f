// What is found while a launch runs, and the end of a launch that must stop.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/function_ref.hpp"
#include "kernel/engine.hpp"
#include "report/source_lines.hpp"
#include "simt/testing.hpp"

namespace simt {

// ---- the host's stack ---------------------------------------------------------------------------

/// Stands for the host's own stack, on which the scheduler runs.
extern Fiber host_fiber;
/// Runs `work` on the host's stack (which is large) and comes back.
void on_host_stack(FunctionRef<void()> work);
/// True if the thread that came back to the host's stack wants something done there.
bool has_host_call();
/// What it is. For the host: no thread may be the current one.
FunctionRef<void()> take_host_call();

// ---- findings -----------------------------------------------------------------------------------

void findings_start_launch();
/// All of them, causes first.
std::vector<Report> take_findings();

/// False if this launch has told of the same pair of instructions already, or has told enough of
/// this kind: what is read too early must not hide the race that explains it.
bool is_worth_telling(ReportKind kind, std::uint32_t pc_a, std::uint32_t pc_b);
/// True if it has told of the same pair of lines: `x += v` is two instructions on one line, and so
/// two races of one mistake.
bool lines_are_told(const SourceLine& a, const SourceLine& b);

/// Files a finding at its first access, or at `where`; the kernel goes on.
void file_report(Report report);
/// The same, and the kernel stops: `error` is its result. For the host's stack; returns.
void fail_launch(Report report, int error);
/// The same for one in which nothing changes any more. If another operation may change that, it is put off, or refused where
/// it cannot begin anew.
void fail_stuck_launch(Report report);

/// A finding without its accesses, of the running launch.
Report finding(ReportKind kind, const SourceLine& where, std::string text);
/// The same of one access, which `thread` makes there.
Report finding_by(std::uint32_t thread, const char* access, ReportKind kind,
                  const SourceLine& where, std::string text);
/// The same of a race: what has happened, and what to try.
Report race_finding(const SourceLine& where, std::string facts, const std::string& advice);
/// An access by a thread of the running launch, or of another one.
ReportedAccess access_by(const char* kind, const SourceLine& where, std::uint32_t thread);
ReportedAccess access_by(const char* kind, const SourceLine& where, std::uint32_t thread, dim3 grid,
                         dim3 block, int device);

}  // namespace simt
