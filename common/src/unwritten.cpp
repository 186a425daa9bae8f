// Which elements of an output nothing has written: the CPU device knows.
#include <fmt/format.h>
#include <course/guarded.cuh>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "wrong_elements.hpp"

#if COURSE_CPU_DEVICE
#include <simt/testing.hpp>
#endif

namespace course::detail {
namespace {

/// A copy of an output with elements that nothing has written. A vector may get the memory of an earlier one: so its bytes
/// must be the same, too.
struct Copy {
  const void* first = nullptr;
  std::vector<unsigned char> bytes = {};
  std::vector<std::size_t> unwritten = {};
};
Copy& last_copy() {
  static Copy copy;
  return copy;
}

std::vector<std::size_t> unwritten_of([[maybe_unused]] const void* original,
                                      [[maybe_unused]] std::size_t n,
                                      [[maybe_unused]] std::size_t bytes) {
  std::vector<std::size_t> elements;
#if COURSE_CPU_DEVICE
  const auto* const begin = static_cast<const unsigned char*>(original);
  for (std::size_t i = 0; i < n; ++i) {
    if (!simt::has_been_written(begin + i * bytes, bytes)) elements.push_back(i);
  }
#endif
  return elements;
}

}  // namespace

void remember_unwritten(const void* copy, const void* original, std::size_t n, std::size_t bytes) {
  std::vector<std::size_t> unwritten = unwritten_of(original, n, bytes);
  if (unwritten.empty()) {
    if (copy == last_copy().first) last_copy() = {};
    return;
  }
  const auto* const begin = static_cast<const unsigned char*>(copy);
  last_copy() = {copy, {begin, begin + n * bytes}, std::move(unwritten)};
}

std::vector<std::size_t> unwritten_elements(const Differences& d) {
  const Elements& found = d.found_values;
  const Copy& last = last_copy();
  const std::size_t size = found.size * found.bytes;
  const bool is_copy = found.first != nullptr && found.first == last.first &&
                       size <= last.bytes.size() &&  // a check may leave out the last elements
                       std::memcmp(found.first, last.bytes.data(), size) == 0;
  std::vector<std::size_t> elements;
  if (!is_copy) return elements;
  std::set_intersection(last.unwritten.begin(), last.unwritten.end(), d.wrong.begin(),
                        d.wrong.end(), std::back_inserter(elements));
  return elements;
}

std::string unwritten_text(const Differences& d, const std::vector<std::size_t>& unwritten) {
  if (unwritten.empty()) return "";
  const bool are_all = unwritten.size() == d.wrong.size() && unwritten.size() > 1;
  std::string which = are_all ? "any wrong element" : ranges_text(unwritten);
  if (which.empty()) which = fmt::format("{} of the wrong elements", unwritten.size());
  return fmt::format("Nothing has written {} since the array was allocated.", which);
}

}  // namespace course::detail
