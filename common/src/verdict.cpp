// The text of a failed comparison.
#include <fmt/format.h>
#include <course/verdict.cuh>

#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>

#include "counted_lines.hpp"
#include "wrong_values.hpp"

namespace course {
namespace {

constexpr std::size_t kMostListed = 5;

/// 7 for "7"; nothing for what is no whole number.
std::optional<std::uint64_t> whole_number(const std::string& text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return {};
  return number;
}

/// An ascending list: whole numbers that follow each other are told as "0 to 99", the same one again and again as "7, 20 times".
std::vector<std::string> in_ranges(const std::vector<std::string>& values) {
  std::vector<std::string> ranges;
  for (std::size_t i = 0, last = 0; i < values.size(); i = last + 1) {
    last = i;
    while (last + 1 < values.size() && values[last + 1] == values[i]) ++last;
    if (last > i) {
      ranges.push_back(fmt::format("{}, {} times", values[i], last + 1 - i));
      continue;
    }
    const std::optional<std::uint64_t> first = whole_number(values[i]);
    while (first && last + 1 < values.size() &&
           whole_number(values[last + 1]) == *first + (last + 1 - i)) {
      ++last;
    }
    constexpr std::size_t kFewest = 3;
    if (last - i + 1 < kFewest) last = i;
    ranges.push_back(last == i ? values[i] : values[i] + " to " + values[last]);
  }
  return ranges;
}

/// "3 missing (7 to 9)"; the rest of a long list is counted, not shown.
std::string list_text(const std::vector<std::string>& values, const char* what) {
  const std::vector<std::string> ranges = in_ranges(values);
  std::string text = fmt::format("{} {} (", values.size(), what);
  const std::size_t shown = std::min(ranges.size(), kMostListed);
  for (std::size_t i = 0; i < shown; ++i) text += (i > 0 ? ", " : "") + ranges[i];
  if (shown < ranges.size()) text += ", ...";
  return text + ")";
}

std::string with_hint(std::string text, std::string_view hint) {
  if (!hint.empty()) text += fmt::format("\n{}", hint);
  return text;
}

/// What is known of the values, as the result of a check keeps it.
std::shared_ptr<const WrongValues> values_of(const detail::Differences& d) {
  const auto values = std::make_shared<WrongValues>();
  values->name = d.name;
  values->size = d.size, values->wrong = d.wrong.size();
  values->first = d.wrong.front(), values->last = d.wrong.back();
  values->expected = d.expected, values->found = d.found;
  detail::find_facts(d, *values);
  return values;
}

/// The verdict on values that differ: its first line, the facts, and the caller's hint last.
Verdict wrong_values(std::string text, const detail::Differences& d, std::string_view hint) {
  const std::shared_ptr<const WrongValues> values = values_of(d);
  for (const WrongValues::Fact& fact : values->facts) text += "\n" + fact.text;
  return {false, with_hint(std::move(text), hint), values};
}

/// What a NaN of all ones is called: GuardedBuffer fills its memory with it, and arithmetic makes another one.
constexpr std::string_view kUnwritten = "NaN (all bits set: was it ever written?)";

}  // namespace

// Shortest text that reads back as the same number.
std::string number_text(double value) {
  if (std::bit_cast<std::uint64_t>(value) == ~std::uint64_t{0}) return std::string(kUnwritten);
  if (std::isnan(value)) return "NaN";
  return fmt::format("{}", value);
}
std::string number_text(float value) {
  if (std::bit_cast<std::uint32_t>(value) == ~std::uint32_t{0}) return std::string(kUnwritten);
  if (std::isnan(value)) return "NaN";
  return fmt::format("{}", value);
}

namespace detail {

namespace {

/// The digits of a whole number; empty for any other.
std::string whole_text(double value) {
  constexpr double kMostDigits = 1e15;
  const bool is_whole = std::fabs(value) < kMostDigits && value == std::floor(value);
  return is_whole ? fmt::format("{:.0f}", value) : "";
}

}  // namespace

std::string figure_text(double value) {
  const std::string whole = whole_text(value);
  if (!whole.empty()) return whole;
  return std::isnan(value) ? number_text(value) : fmt::format("{:.10g}", value);
}
std::string figure_text(float value) {
  const std::string whole = whole_text(value);
  return whole.empty() ? number_text(value) : whole;
}

Verdict explain(const Differences& d, const std::function<std::string(std::size_t)>& inputs) {
  if (d.wrong.empty()) return {};
  const std::size_t first = d.wrong.front();
  const std::string text = inputs(first);
  if (text.empty()) return explain(d, std::string_view());
  return explain(d, fmt::format("{}[{}] is computed from {}", d.name, first, text));
}

Verdict explain(const Differences& d, std::string_view hint) {
  if (d.wrong.empty()) return {};
  std::string text =
      fmt::format("{}[{}]: expected {}, found {}", d.name, d.wrong.front(), d.expected, d.found);
  if (d.size > 1 && d.wrong.size() == 1) {
    text += d.size == 2 ? "; the other element is right"
                        : fmt::format("; the other {} elements are right", d.size - 1);
  } else if (d.size > 1) {
    text += fmt::format("; {} of {} elements are wrong (first [{}], last [{}])", d.wrong.size(),
                        d.size, d.wrong.front(), d.wrong.back());
  }
  return wrong_values(std::move(text), d, hint);
}

std::string list_elements(std::string_view name, std::size_t first, std::size_t end,
                          std::size_t stride, const std::function<std::string(std::size_t)>& text) {
  constexpr std::size_t kMostShown = 8, kFirst = 5;
  const std::size_t count = first < end ? (end - first + stride - 1) / stride : 0;
  if (count == 0) return fmt::format("no element of {}", name);
  const auto element = [&](std::size_t k) {
    const std::size_t i = first + k * stride;
    return fmt::format("{}[{}] = {}", name, i, text(i));
  };
  std::string list = element(0);
  const std::size_t shown = count > kMostShown ? kFirst : count;
  for (std::size_t k = 1; k < shown; ++k) list += ", " + element(k);
  return shown == count ? list
                        : list + fmt::format(", ... {} ({} elements)", element(count - 1), count);
}

Verdict explain_sizes(std::string_view name, std::size_t expected, std::size_t found) {
  return {false, fmt::format("{}: expected {} elements, found {}", name, expected, found)};
}

Verdict explain_set(std::string_view name, std::size_t expected, std::size_t found,
                    const std::vector<std::string>& missing,
                    const std::vector<std::string>& duplicated,
                    const std::vector<std::string>& foreign, std::string_view hint) {
  std::string text;
  const auto add = [&](const std::vector<std::string>& values, const char* what) {
    if (!values.empty()) text += (text.empty() ? "" : ", ") + list_text(values, what);
  };
  add(missing, "missing");
  add(duplicated, "too often");
  add(foreign, "that do not belong there");
  if (text.empty()) {
    return {.figure = {std::string(name), fmt::format("{} elements, in any order", found)}};
  }
  return {false, with_hint(fmt::format("{}: {}; expected {} elements in any order, found {}", name,
                                       text, expected, found),
                           hint)};
}

Verdict explain_scalar(const Differences& d, std::string_view hint) {
  return wrong_values(fmt::format("{}: expected {}, found {}", d.name, d.expected, d.found), d,
                      hint);
}

}  // namespace detail

namespace {

/// More than was allowed of what a counter may have counted.
Verdict too_many(std::string_view allowed, std::uint64_t found, std::string_view name,
                 std::string_view hint) {
  const std::string lines = detail::counted_lines(found, name);
  return {false, fmt::format("{}: expected {}, found {}{}{}{}{}", name, allowed, found,
                             hint.empty() ? "" : "; ", hint, lines.empty() ? "" : "\n", lines)};
}

}  // namespace

Verdict at_most(std::uint64_t found, std::uint64_t most, std::string_view name,
                std::string_view hint) {
  if (found <= most)
    return {.figure = {std::string(name), fmt::format("{}, at most {}", found, most)}};
  return too_many(fmt::format("at most {}", most), found, name, hint);
}

Verdict at_least(std::uint64_t found, std::uint64_t least, std::string_view name,
                 std::string_view hint) {
  if (found >= least)
    return {.figure = {std::string(name), fmt::format("{}, at least {}", found, least)}};
  return {false, fmt::format("{}: expected at least {}, found {}{}{}", name, least, found,
                             hint.empty() ? "" : "; ", hint)};
}

Verdict none(std::uint64_t found, std::string_view name, std::string_view hint) {
  if (found == 0) return {.figure = {std::string(name), "0"}};
  return too_many("none", found, name, hint);
}

Verdict close(double found, double expected, double tolerance, std::string_view name,
              std::string_view hint) {
  if (std::fabs(found - expected) <= tolerance) {  // false for NaN
    return {.figure = {std::string(name),
                       fmt::format("{}, expected {} +- {:.3g}", detail::figure_text(found),
                                   detail::figure_text(expected), tolerance)}};
  }
  std::string text = fmt::format("{}: expected {}", name, number_text(expected));
  if (tolerance > 0) text += fmt::format(" +- {:.3g}", tolerance);
  text += fmt::format(", found {}", number_text(found));
  const double off = std::fabs(found - expected);
  if (std::isfinite(off)) text += fmt::format(" (off by {:.3g})", off);
  return {false, with_hint(std::move(text), hint)};
}

}  // namespace course
