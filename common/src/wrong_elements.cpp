#include "wrong_elements.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace course::detail {
namespace {

/// Elements first to last, both included.
struct Range {
  std::size_t first, last;
  std::size_t size() const { return last - first + 1; }
};

std::vector<Range> ranges_of(const std::vector<std::size_t>& ascending) {
  std::vector<Range> ranges;
  for (const std::size_t i : ascending) {
    if (!ranges.empty() && ranges.back().last + 1 == i) {
      ranges.back().last = i;
    } else {
      ranges.push_back({i, i});
    }
  }
  return ranges;
}

/// "[5]" or "[32] to [63]".
std::string range_text(Range r) {
  return r.first == r.last ? fmt::format("[{}]", r.first)
                           : fmt::format("[{}] to [{}]", r.first, r.last);
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

/// The distance of the first elements of neighbouring ranges, if it is the same for all of at least 3;
/// else 0.
std::size_t common_distance(const std::vector<Range>& ranges) {
  if (ranges.size() < 3) return 0;
  const std::size_t distance = ranges[1].first - ranges[0].first;
  for (std::size_t i = 2; i < ranges.size(); ++i) {
    if (ranges[i].first - ranges[i - 1].first != distance) return 0;
  }
  return distance;
}

/// True if all ranges are of one size; the last one may be cut by the end of the array.
bool have_one_size(const std::vector<Range>& ranges, std::size_t end) {
  const std::size_t size = ranges.front().size();
  for (std::size_t i = 1; i < ranges.size(); ++i) {
    const bool is_cut = ranges[i].last + 1 == end && ranges[i].size() < size;
    if (ranges[i].size() != size && !is_cut) return false;
  }
  return true;
}

/// "from [31] on", or "from [30] to [72]" where the array goes on for longer than that.
std::string extent_text(const std::vector<Range>& ranges, std::size_t distance, std::size_t end) {
  const bool reaches_end = ranges.back().first + distance >= end;
  return reaches_end ? fmt::format("from [{}] on", ranges.front().first)
                     : fmt::format("from [{}] to [{}]", ranges.front().first, ranges.back().last);
}

/// Ranges that come again at one distance: "every 32nd element from [31] on", "of every 32 elements from [31] on the first 2";
/// empty for others.
std::string repeated_text(const std::vector<Range>& ranges, std::size_t end) {
  const std::size_t distance = common_distance(ranges);
  if (distance == 0 || !have_one_size(ranges, end)) return "";
  const std::string extent = extent_text(ranges, distance, end);
  const std::size_t size = ranges.front().size();
  if (size == 1) return fmt::format("every {} element {}", ordinal(distance), extent);
  return fmt::format("of every {} elements {} the first {}", distance, extent, size);
}

/// "Every 32nd element from [31] on is wrong."
std::string repeated_sentence(const std::vector<Range>& ranges, std::size_t end, bool are_wrong) {
  std::string text = repeated_text(ranges, end);
  if (text.empty()) return "";
  text.front() = text.front() == 'e' ? 'E' : 'O';
  return fmt::format("{} {} {}.", text, ranges.front().size() == 1 ? "is" : "are",
                     are_wrong ? "wrong" : "right, the others are wrong");
}

std::vector<std::size_t> right_elements(const Differences& d) {
  std::vector<std::size_t> right;
  auto wrong = d.wrong.begin();
  for (std::size_t i = 0; i < d.size; ++i) {
    if (wrong != d.wrong.end() && *wrong == i) {
      ++wrong;
    } else {
      right.push_back(i);
    }
  }
  return right;
}

/// Where the expected value decides: "Wrong are the elements of which at most -3 is expected, no others."
std::string by_value(const Differences& d, const std::vector<std::size_t>& right) {
  struct Extent {
    long double least = std::numeric_limits<long double>::infinity(), most = -least;
    bool is_known = true;
  };
  const auto extent_of = [&](const std::vector<std::size_t>& elements) {
    Extent extent;
    for (const std::size_t i : elements) {
      const long double value = d.expected_values[i];
      extent.is_known = extent.is_known && !std::isnan(value);
      extent.least = std::min(extent.least, value);
      extent.most = std::max(extent.most, value);
    }
    return extent;
  };
  const Extent w = extent_of(d.wrong), r = extent_of(right);
  if (!w.is_known || !r.is_known || (w.most >= r.least && w.least <= r.most)) return "";
  const auto text = [&](long double value) {
    constexpr int kShown = 6;
    return d.expected_values.is_integer
               ? fmt::format("{:.0f}", value)
               : fmt::format("{:.{}g}", static_cast<double>(value), kShown);
  };
  const std::string which = w.least == w.most  ? text(w.least)
                            : w.most < r.least ? "at most " + text(w.most)
                                               : "at least " + text(w.least);
  return fmt::format("Wrong are the elements of which {} is expected, no others.", which);
}

constexpr std::size_t kMostRanges = 3;
std::string list_of(const std::vector<Range>& ranges) {
  std::string text;
  for (const Range& r : ranges) text += (text.empty() ? "" : ", ") + range_text(r);
  return text;
}

}  // namespace

std::string ranges_text(const std::vector<std::size_t>& ascending) {
  const std::vector<Range> ranges = ranges_of(ascending);
  return ranges.size() <= kMostRanges ? list_of(ranges) : "";
}

std::string ranges_or_pattern_text(const std::vector<std::size_t>& ascending, std::size_t size) {
  const std::string text = ranges_text(ascending);
  return text.empty() ? repeated_text(ranges_of(ascending), size) : text;
}

std::string which_elements(const Differences& d) {
  if (d.wrong.size() < 2 || d.wrong.size() == d.size) return "";
  const std::vector<Range> wrong = ranges_of(d.wrong);
  if (wrong.size() == 1 && d.wrong.back() + 1 == d.size) {
    return fmt::format("Everything from [{}] on is wrong, everything before it is right.",
                       d.wrong.front());
  }
  if (wrong.size() == 1 && d.wrong.front() == 0) {
    return fmt::format("Everything before [{}] is wrong, everything from there on is right.",
                       d.wrong.back() + 1);
  }
  const std::vector<std::size_t> right_ones = right_elements(d);
  const bool are_few = wrong.size() <= kMostRanges;
  if (std::string text = are_few ? "" : by_value(d, right_ones); !text.empty()) return text;
  if (std::string text = repeated_sentence(wrong, d.size, true); !text.empty()) return text;
  const std::vector<Range> right = ranges_of(right_ones);
  if (std::string text = repeated_sentence(right, d.size, false); !text.empty()) return text;
  if (are_few) return fmt::format("Wrong are {}, no others.", list_of(wrong));
  if (right.size() <= kMostRanges) return fmt::format("Right are {}, no others.", list_of(right));
  return "";
}

}  // namespace course::detail
