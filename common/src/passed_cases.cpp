#include "passed_cases.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace course::runner {
namespace {

/// Properties are between ": ", "; " and ends of lines: "n = 33", "all below zero", "sum<<<4, 32>>>".
std::vector<std::string> split(std::string_view text, const std::vector<std::string_view>& ends) {
  std::vector<std::string> parts;
  while (true) {
    std::size_t at = text.size(), length = 0;
    for (const std::string_view end : ends) {
      const std::size_t found = text.find(end);
      if (found < at) at = found, length = end.size();
    }
    if (at > 0) parts.emplace_back(text.substr(0, at));
    if (length == 0) return parts;
    text.remove_prefix(at + length);
  }
}

std::vector<std::string> properties_of(const std::vector<std::string>& messages) {
  std::vector<std::string> properties;
  for (const std::string& message : messages) {
    const std::vector<std::string> parts = split(message, {": ", "; ", "\n"});
    properties.insert(properties.end(), parts.begin(), parts.end());
  }
  return properties;
}

bool is_launch(const std::string& property) { return property.find("<<<") != std::string::npos; }

/// A property that differs.
struct Difference {
  std::string passed, failed;
};

/// Of two lists the one entry that differs: "limit 2, capacity 3" and "limit 2, capacity 4". The arguments of a call or
/// a launch are no list: one of them alone says nothing.
Difference narrowed(const std::string& passed, const std::string& failed) {
  const std::vector<std::string> p = split(passed, {", "}), f = split(failed, {", "});
  const bool is_call = failed.find('(') != std::string::npos || is_launch(failed);
  if (p.size() != f.size() || is_call) return {passed, failed};
  Difference difference{passed, failed};
  for (std::size_t i = 0, count = 0; i < p.size(); ++i) {
    if (p[i] == f[i]) continue;
    if (++count > 1) return {passed, failed};
    difference = {p[i], f[i]};
  }
  return difference;
}

std::vector<Difference> differences(const std::vector<std::string>& passed,
                                    const std::vector<std::string>& failed) {
  std::vector<Difference> all;
  for (std::size_t i = 0; i < failed.size(); ++i) {
    if (passed[i] != failed[i]) all.push_back(narrowed(passed[i], failed[i]));
  }
  return all;
}

/// True if the cases differ in one property; the launch follows from many a property.
bool is_near(const std::vector<Difference>& all) {
  const auto launches = std::count_if(all.begin(), all.end(), [](const Difference& difference) {
    return is_launch(difference.failed);
  });
  return all.size() == 1 || (all.size() == 2 && launches == 1);
}

}  // namespace

void PassedCases::add(std::size_t number, const std::vector<std::string>& messages,
                      const std::string& place) {
  if (messages.empty()) return;
  if (cases_.empty() || cases_.back().number != number) {
    constexpr std::size_t kMostKept = 4096;
    if (cases_.size() == kMostKept) cases_.pop_front();
    cases_.push_back({number, properties_of(messages), {}});
  }
  cases_.back().places.insert(place);
}

std::string PassedCases::nearest(const std::vector<std::string>& messages,
                                 const std::string& place) const {
  const std::vector<std::string> failed = properties_of(messages);
  std::vector<Difference> best;
  for (const Case& passed : cases_) {  // of equally near ones the last
    if (passed.properties.size() != failed.size()) continue;
    if (!place.empty() && passed.places.count(place) == 0) continue;
    std::vector<Difference> all = differences(passed.properties, failed);
    if (is_near(all) && (best.empty() || all.size() <= best.size())) best = std::move(all);
  }
  if (best.empty()) return "";
  std::string with, instead;
  for (const Difference& difference : best) {
    with += fmt::format("{}\"{}\"", with.empty() ? "" : " and ", difference.passed);
    instead += fmt::format("{}\"{}\"", instead.empty() ? "" : " and ", difference.failed);
  }
  return fmt::format("The case with {} instead of {} passed.", with, instead);
}

}  // namespace course::runner
