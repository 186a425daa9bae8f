#include "report_text.hpp"

#include <fmt/format.h>

#if COURSE_CPU_DEVICE
#include <algorithm>
#include <cstddef>
#include <cstdlib>

#include "repo_relative_path.hpp"
#include "wrong_elements.hpp"

namespace course::runner {

std::vector<Access> accesses_of(const simt::Report& report) {
  std::vector<Access> accesses;
  for (const simt::ReportedAccess& a : report.accesses) {
    accesses.push_back({a.kind, repo_relative_path(a.file), a.line, a.block, a.thread});
  }
  return accesses;
}

std::string text_for_learner(const simt::Report& report) {
  const bool are_of_check = std::all_of(
      report.accesses.begin(), report.accesses.end(),
      [](const simt::ReportedAccess& a) { return a.file.find("/checks/") != std::string::npos; });
  if (!report.is_cured_there || !are_of_check) return report.text;
  return report.facts +
         "\n  Both accesses are the check's. Which function of the exercise is to put them in order, and by\n"
         "  which of its lines?";
}

LaunchMark launch_mark() { return {simt::launches_so_far(), simt::launches_that_ran()}; }

std::string launches_text(const LaunchMark& since) {
  constexpr std::size_t kMost = 6;
  const char* const edit = std::getenv("COURSE_EDIT");
  std::string text;
  std::size_t count = 0;
  for (const simt::QueuedLaunch& launch : simt::launches_since(since.asked)) {
    if (edit == nullptr || repo_relative_path(launch.file) != edit || ++count > kMost) continue;
    text += (count > 1 ? ", " : "launched: ") + launch.text;
  }
  if (count > kMost) text += fmt::format(", and {} more", count - kMost);
  return text.empty() ? text : text + "\n";
}

std::string unread_text(const LaunchMark& since) {
  constexpr std::size_t kMost = 2;
  std::string text;
  std::size_t count = 0;
  for (const simt::PartlyRead& input : simt::partly_read_since(since.ran)) {
    const bool is_of_check = input.reader.find("/checks/") != std::string::npos;
    const std::string which = detail::ranges_or_pattern_text(input.unread, input.elements);
    if (is_of_check || which.empty() || ++count > kMost) continue;
    text += fmt::format("no kernel has read {} of {}, which has {} elements\n", which, input.name,
                        input.elements);
  }
  return text;
}

}  // namespace course::runner
#else
namespace course::runner {

LaunchMark launch_mark() { return {}; }
std::string launches_text(const LaunchMark&) { return ""; }
std::string unread_text(const LaunchMark&) { return ""; }

}  // namespace course::runner
#endif
