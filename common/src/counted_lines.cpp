#include "counted_lines.hpp"

#include <fmt/format.h>

#if COURSE_CPU_DEVICE
#include <simt/testing.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "repo_relative_path.hpp"

namespace course::detail {
namespace {

using Lines = std::vector<simt::LineCounters>;
using Value = std::uint64_t simt::Counters::*;

constexpr std::array<std::string_view, 3> kKinds = {"load", "store", "atomic"};

bool has(std::string_view text, std::string_view word) {
  return text.find(word) != std::string_view::npos;
}

/// Whether the counter counts what the name says: loads, stores or atomics, and not two of them.
bool is_named(const simt::Counter& counter, std::string_view name) {
  if (has(name, "shared") && !has(counter.name, "shared")) return false;
  return std::all_of(kKinds.begin(), kKinds.end(), [&](std::string_view kind) {
    return has(name, kind) == has(counter.name, kind);
  });
}

std::uint64_t sum_of(const Lines& lines, Value value) {
  std::uint64_t sum = 0;
  for (const simt::LineCounters& line : lines) sum += line.counters.*value;
  return sum;
}

/// The lines that this counter has counted something of, those with the most first.
struct Share {
  std::uint64_t number;
  std::string array;  // "of x ", or empty
  std::string line;
  bool operator==(const Share&) const = default;
};
using Shares = std::vector<Share>;
Shares shares_of(const Lines& lines, Value value) {
  Shares shares;
  for (const simt::LineCounters& line : lines) {
    if (line.counters.*value == 0) continue;
    const std::string array = line.array.empty() ? "" : fmt::format("of {} ", line.array);
    shares.push_back({line.counters.*value, array, line.line});
  }
  std::stable_sort(shares.begin(), shares.end(),
                   [](const auto& a, const auto& b) { return a.number > b.number; });
  return shares;
}

std::string text_of(const Shares& shares) {
  constexpr std::size_t kMost = 4;
  LineNames name;
  std::string text;
  std::uint64_t others = 0;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    const Share& share = shares[i];
    if (i >= kMost) {
      others += share.number;
    } else {
      text += fmt::format("{}{} {}at {}", i == 0 ? "" : ", ", share.number, share.array,
                          name(share.line));
    }
  }
  if (others > 0) text += fmt::format(", and {} at {} other lines", others, shares.size() - kMost);
  return text;
}

}  // namespace

std::string counted_lines(std::uint64_t found, std::string_view name) {
  if (found == 0) return "";
  const Lines lines = simt::counted_by_line();
  Shares shares;
  for (const simt::Counter& counter : simt::kCounters) {
    if (!is_named(counter, name) || sum_of(lines, counter.value) != found) continue;
    Shares more = shares_of(lines, counter.value);
    if (!shares.empty() && more != shares) return "";
    shares = more;
  }
  return text_of(shares);
}

}  // namespace course::detail
#else
namespace course::detail {

std::string counted_lines(std::uint64_t, std::string_view) { return ""; }

}  // namespace course::detail
#endif
