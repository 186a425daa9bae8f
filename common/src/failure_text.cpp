#include "failure_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>

namespace course::runner {

std::string indented(const std::string& text) {
  std::string lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    lines += "  " + text.substr(at, end - at) + "\n";
    at = end + 1;
  }
  return lines;
}

std::vector<std::string> case_messages(const Catch::AssertionStats& stats) {
  std::vector<std::string> messages;
  for (const Catch::MessageInfo& message : stats.infoMessages) {
    if (message.type == Catch::ResultWas::Info) messages.push_back(message.message);
  }
  return messages;
}

std::string place_of(const Catch::AssertionResult& result) {
  return fmt::format("{}:{}", result.getSourceInfo().file, result.getSourceInfo().line);
}

std::string others(const Run& run) {
  constexpr std::size_t kMost = 5;
  const std::size_t count = run.failures.size();
  std::string lines;
  for (std::size_t i = 1; i < count && i <= kMost; ++i) {
    lines += fmt::format("also failed, the case \"{}\"\n", run.failures[i].test);
  }
  if (count > kMost + 1) lines += fmt::format("and {} more\n", count - kMost - 1);
  return lines;
}

std::string next_steps(const Run& run, const std::string& program) {
  std::ostringstream steps;
  const char* const edit = std::getenv("COURSE_EDIT");
  const char* const rerun = std::getenv("COURSE_RERUN");
  const char* const warnings = std::getenv("COURSE_WARNINGS");
  if (warnings != nullptr && *warnings != '\0') {
    steps << "\nThe compiler also printed a warning:\n" << indented(warnings);
  }
  if (run.seed != 0 && std::getenv("SIMT_SEED") != nullptr) {  // the others were not run
    steps << "\nThis is the shuffled schedule of SIMT_SEED=" << run.seed << ".\n";
  } else if (run.seed != 0) {
    // One that runs first, since it found something last time, says nothing about schedule 0.
    steps << (run.failures.front().follows_seed
                  ? "\nThis test tries other cases under each schedule; "
              : run.schedules > 1 ? "\nOnly a shuffled schedule shows this; "
                                  : "\nA shuffled schedule shows this; ");
    if (rerun == nullptr) {
      steps << "SIMT_SEED=" << run.seed << " replays it.\n";
    } else {
      steps << "to replay it: ./course check " << program << " --seed " << run.seed << "\n";
    }
  }
  if (edit != nullptr) steps << "\nedit:  " << edit << "\n";
  if (rerun != nullptr) steps << (edit == nullptr ? "\n" : "") << "rerun: " << rerun << "\n";
  return steps.str();
}

}  // namespace course::runner
