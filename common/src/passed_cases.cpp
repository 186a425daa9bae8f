#include "passed_cases.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstdlib>
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

/// A number says nothing without its name: "values of the calls: 32" is one property, "n = 5: 3 zeros" are two.
std::vector<std::string> properties_of(const std::vector<std::string>& messages) {
  std::vector<std::string> properties;
  for (const std::string& message : messages) {
    for (const std::string& clause : split(message, {"; ", "\n"})) {
      const std::size_t colon = clause.find(": ");
      const bool names_a_number =
          colon != std::string::npos && colon + 2 < clause.size() &&
          std::isdigit(static_cast<unsigned char>(clause[colon + 2])) != 0 &&
          clause.find('=') > colon;
      const std::vector<std::string> parts =
          names_a_number ? std::vector{clause} : split(clause, {": "});
      properties.insert(properties.end(), parts.begin(), parts.end());
    }
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

/// "sum<<<4, (32, 2), 64>>>, in place".
struct LaunchText {
  std::string kernel;                // "sum"
  std::string around;                // "sum<<<>>>, in place"
  std::vector<std::string> numbers;  // "4", "(32, 2)", "64"
};
LaunchText parts_of_launch(const std::string& text) {
  const std::size_t begin = text.find("<<<") + 3, end = std::min(text.find(">>>"), text.size());
  LaunchText launch{text.substr(0, begin - 3), text.substr(0, begin) + text.substr(end), {""}};
  int depth = 0;
  for (std::size_t i = begin; i < end; ++i) {
    depth += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
    if (text[i] == ',' && depth == 0) {
      launch.numbers.emplace_back();
    } else if (text[i] != ' ' || depth > 0) {
      launch.numbers.back() += text[i];
    }
  }
  return launch;
}

/// The product of the numbers of "32" or "(32, 2)".
std::uint64_t product(const std::string& text) {
  std::uint64_t result = 1;
  for (const std::string& number : split(text, {"(", ", ", ")"})) {
    result *= std::strtoull(number.c_str(), nullptr, 10);
  }
  return result;
}

/// True if dynamic shared memory is as much for each thread as before.
bool is_in_proportion(const LaunchText& p, const LaunchText& f) {
  return product(p.numbers[2]) * product(f.numbers[1]) ==
         product(f.numbers[2]) * product(p.numbers[1]);
}

/// A property that is named by a number, such as a count, has changed from and to the same numbers as another one.
bool is_same_change(const Difference& difference, const std::string& passed,
                    const std::string& failed) {
  return difference.passed.ends_with(": " + passed) && difference.failed.ends_with(": " + failed);
}

/// In how many properties two launches differ, if `other` is what else differs, null for nothing. What follows from
/// another property is none: the grid from what else differs, shared memory from the block, the block from a number
/// that is the same.
int count_in_launch(const Difference& launches, const Difference* other) {
  const LaunchText p = parts_of_launch(launches.passed), f = parts_of_launch(launches.failed);
  if (p.numbers.size() != f.numbers.size() || p.numbers.size() < 2) return 2;
  if (p.kernel != f.kernel) return 2;
  const bool is_block = p.numbers[1] != f.numbers[1], is_grid = p.numbers[0] != f.numbers[0];
  const bool has_bytes = p.numbers.size() > 2 && p.numbers[2] != f.numbers[2];
  int count = p.around != f.around ? 1 : 0;
  if (has_bytes && !(is_block && is_in_proportion(p, f))) ++count;
  if (is_block && (other == nullptr || !is_same_change(*other, p.numbers[1], f.numbers[1])))
    ++count;
  if (is_grid && other == nullptr) ++count;
  return count;
}

/// The name of the function that is called: "f" of "f(x, 2)". Empty if it is none.
std::string_view function_of(std::string_view property) {
  const std::size_t at = property.find('(');
  const bool is_call = at != std::string_view::npos && at > 0 &&
                       std::isalnum(static_cast<unsigned char>(property[at - 1])) != 0;
  return is_call ? property.substr(0, at) : std::string_view();
}

/// True if the cases differ in one property.
bool is_near(const std::vector<Difference>& all) {
  if (all.empty() || all.size() > 2) return false;
  const bool is_other_function = std::any_of(all.begin(), all.end(), [](const Difference& d) {
    return !is_launch(d.failed) && function_of(d.passed) != function_of(d.failed);
  });
  if (is_other_function) return false;
  const bool has_launch = std::any_of(all.begin(), all.end(), [](const Difference& difference) {
    return is_launch(difference.failed);
  });
  if (!has_launch) return all.size() == 1;
  if (all.size() == 1) return count_in_launch(all.front(), nullptr) == 1;
  const bool is_first = is_launch(all.front().failed);
  const Difference &launches = all[is_first ? 0 : 1], &other = all[is_first ? 1 : 0];
  return !is_launch(other.failed) && count_in_launch(launches, &other) == 0;
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
  return fmt::format("The case with {} passed; this one has {}.", with, instead);
}

}  // namespace course::runner
