// The text of a failed comparison.
#include <fmt/format.h>
#include <course/verdict.cuh>

#include <bit>
#include <cmath>
#include <cstdint>
#include <string_view>

namespace course {
namespace {

constexpr std::size_t kMostListed = 5;

/// "3 missing (7, 8, 9)"; the rest of a long list is counted, not shown.
std::string list_text(const std::vector<std::string>& values, const char* what) {
  std::string text = fmt::format("{} {} (", values.size(), what);
  const std::size_t shown = std::min(values.size(), kMostListed);
  for (std::size_t i = 0; i < shown; ++i) text += (i > 0 ? ", " : "") + values[i];
  if (shown < values.size()) text += ", ...";
  return text + ")";
}

std::string with_hint(std::string text, std::string_view hint) {
  if (!hint.empty()) text += fmt::format("\n{}", hint);
  return text;
}

/// The distance between neighbours in an ascending list of at least 3 numbers; 0 if it varies.
std::size_t common_stride(const std::vector<std::size_t>& indices) {
  if (indices.size() < 3) return 0;
  const std::size_t stride = indices[1] - indices[0];
  for (std::size_t i = 2; i < indices.size(); ++i) {
    if (indices[i] - indices[i - 1] != stride) return 0;
  }
  return stride;
}

/// "2nd", "3rd", "32nd".
std::string ordinal(std::size_t n) {
  const bool teen = n % 100 / 10 == 1;
  const char* const ending = teen          ? "th"
                             : n % 10 == 1 ? "st"
                             : n % 10 == 2 ? "nd"
                             : n % 10 == 3 ? "rd"
                                           : "th";
  return std::to_string(n) + ending;
}

/// What the indices and signs of the wrong elements suggest; empty if there is no pattern.
std::string pattern(const detail::Differences& d) {
  const std::size_t first = d.wrong.front();
  const std::size_t last = d.wrong.back();
  const std::size_t stride = common_stride(d.wrong);
  const bool contiguous = last - first + 1 == d.wrong.size();
  if (d.left_out) {
    return fmt::format("{} is missing at [{}]: all elements after it are one index too early.",
                       d.expected, first);
  }
  if (d.inserted) {
    return fmt::format("{} at [{}] is one too many: all elements after it are one index too late.",
                       d.found, first);
  }
  if (d.wrong.size() == d.size && d.size > 1) {
    if (d.small == d.size) return "All are too small.";
    if (d.large == d.size) return "All are too large.";
    return "All are wrong.";
  }
  if (contiguous && last + 1 == d.size && d.wrong.size() > 1) {
    return fmt::format("Everything from [{}] on is wrong, everything before it is right.", first);
  }
  if (contiguous && first == 0 && d.wrong.size() > 1) {
    return fmt::format("Everything before [{}] is wrong, everything from there on is right.",
                       last + 1);
  }
  if (stride > 1)
    return fmt::format("Every {} element from [{}] on is wrong.", ordinal(stride), first);
  if (d.wrong.size() > 1 && d.small == d.wrong.size()) return "All of these are too small.";
  if (d.wrong.size() > 1 && d.large == d.wrong.size()) return "All of these are too large.";
  return "";
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
  return {false, with_hint(with_hint(std::move(text), pattern(d)), hint)};
}

std::string list_elements(std::string_view name, std::size_t first, std::size_t end,
                          std::size_t stride, const std::function<std::string(std::size_t)>& text) {
  constexpr std::size_t kMostShown = 6;
  const std::size_t count = first < end ? (end - first + stride - 1) / stride : 0;
  if (count == 0) return fmt::format("no element of {}", name);
  std::string list;
  const std::size_t shown = count > kMostShown ? kMostShown - 1 : count;
  for (std::size_t k = 0; k < shown; ++k) {
    const std::size_t i = first + k * stride;
    list += fmt::format("{}{}[{}] = {}", k > 0 ? ", " : "", name, i, text(i));
  }
  return shown == count ? list : list + fmt::format(", ... ({} elements)", count);
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
  if (text.empty()) return {};
  return {false, with_hint(fmt::format("{}: {}; expected {} elements in any order, found {}", name,
                                       text, expected, found),
                           hint)};
}

Verdict explain_scalar(std::string_view name, const std::string& expected, const std::string& found,
                       std::string_view hint) {
  return {false, with_hint(fmt::format("{}: expected {}, found {}", name, expected, found), hint)};
}

}  // namespace detail

Verdict at_most(std::uint64_t found, std::uint64_t most, std::string_view name,
                std::string_view hint) {
  if (found <= most) return {};
  return {false, fmt::format("{}: expected at most {}, found {}{}{}", name, most, found,
                             hint.empty() ? "" : "; ", hint)};
}

Verdict at_least(std::uint64_t found, std::uint64_t least, std::string_view name,
                 std::string_view hint) {
  if (found >= least) return {};
  return {false, fmt::format("{}: expected at least {}, found {}{}{}", name, least, found,
                             hint.empty() ? "" : "; ", hint)};
}

Verdict none(std::uint64_t found, std::string_view name, std::string_view hint) {
  if (found == 0) return {};
  return {false, fmt::format("{}: expected none, found {}{}{}", name, found,
                             hint.empty() ? "" : "; ", hint)};
}

Verdict close(double found, double expected, double tolerance, std::string_view name,
              std::string_view hint) {
  if (std::fabs(found - expected) <= tolerance) return {};  // false for NaN
  std::string text = fmt::format("{}: expected {}", name, number_text(expected));
  if (tolerance > 0) text += fmt::format(" +- {:.3g}", tolerance);
  text += fmt::format(", found {}", number_text(found));
  const double off = std::fabs(found - expected);
  if (std::isfinite(off)) text += fmt::format(" (off by {:.3g})", off);
  return {false, with_hint(std::move(text), hint)};
}

}  // namespace course
