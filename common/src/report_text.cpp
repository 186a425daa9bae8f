#include "report_text.hpp"

#include <fmt/format.h>

#if COURSE_CPU_DEVICE
#include <algorithm>
#include <cstddef>
#include <cstdlib>

#include "repo_relative_path.hpp"

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

std::string launches_text(std::size_t first) {
  constexpr std::size_t kMost = 6;
  const char* const edit = std::getenv("COURSE_EDIT");
  std::string text;
  std::size_t count = 0;
  for (const simt::QueuedLaunch& launch : simt::launches_since(first)) {
    if (edit == nullptr || repo_relative_path(launch.file) != edit || ++count > kMost) continue;
    text += (count > 1 ? ", " : "launched: ") + launch.text;
  }
  if (count > kMost) text += fmt::format(", and {} more", count - kMost);
  return text.empty() ? text : text + "\n";
}

}  // namespace course::runner
#endif
