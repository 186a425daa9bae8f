// What the CPU device knows of the elements of an output: which ones nothing has written, and the lines that have written the others.
#include <fmt/format.h>
#include <course/guarded.cuh>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <deque>
#include <iterator>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "repo_relative_path.hpp"
#include "wrong_elements.hpp"

#if COURSE_CPU_DEVICE
#include <simt/testing.hpp>
#endif

namespace course::detail {
namespace {

/// A copy of an output. A vector may get the memory of an earlier one: so its bytes must be the same, too. A single number
/// is compared as a value of its own.
struct Copy {
  const void* first = nullptr;
  const unsigned char* original = nullptr;
  std::size_t element = 0;  // bytes
  std::vector<unsigned char> bytes = {};
  std::vector<std::size_t> unwritten = {};
};
constexpr std::size_t kCopies = 4;
/// The last ones, the newest first.
std::deque<Copy>& last_copies() {
  static std::deque<Copy> copies;
  return copies;
}

/// Of the launches before the case that runs.
std::size_t launches_before = 0;

/// The copy that a comparison has found; null if it is not known.
const Copy* copy_of(const Elements& found) {
  const std::size_t size = found.size * found.bytes;
  for (const Copy& copy : last_copies()) {
    const bool is_number = found.size == 1 && copy.bytes.size() == copy.element;
    const bool is_it = found.first != nullptr && (found.first == copy.first || is_number) &&
                       found.bytes == copy.element &&
                       size <= copy.bytes.size() &&  // a check may leave out the last elements
                       std::memcmp(found.first, copy.bytes.data(), size) == 0;
    if (is_it) return &copy;
  }
  return nullptr;
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

std::string line_of_last_write([[maybe_unused]] const unsigned char* element) {
#if COURSE_CPU_DEVICE
  return simt::line_of_last_write(element, launches_before);
#else
  return "";
#endif
}

bool is_as_filled([[maybe_unused]] const unsigned char* element,
                  [[maybe_unused]] std::size_t bytes) {
#if COURSE_CPU_DEVICE
  return simt::is_as_filled(element, bytes, launches_before);
#else
  return false;
#endif
}

#if COURSE_CPU_DEVICE
/// " All 124 changes: 121 by atomicAdd at :31, 3 by atomicSub at :33."; empty if the last two are all.
std::string changes_by_line(const simt::AtomicChanges& changes, LineNames& name) {
  if (changes.count <= changes.last.size() || !changes.are_all) return "";
  std::string text = fmt::format(" All {} changes: ", changes.count);
  for (std::size_t i = 0; i < changes.by_line.size(); ++i) {
    const simt::AtomicChanges::OfLine& line = changes.by_line[i];
    text += fmt::format("{}{} by {} at {}", i == 0 ? "" : ", ", line.count, line.function,
                        name(line.line));
  }
  return text + ".";
}
#endif

/// "any wrong element", "[5] to [7]", "3 of the wrong elements".
std::string which_of_wrong(const Differences& d, const std::vector<std::size_t>& elements) {
  const bool are_all = elements.size() == d.wrong.size() && elements.size() > 1;
  const std::string ranges = are_all ? "any wrong element" : ranges_text(elements);
  return ranges.empty() ? fmt::format("{} of the wrong elements", elements.size()) : ranges;
}

}  // namespace

void begin_case(std::size_t launches) {
  launches_before = launches;
  last_copies().clear();
}

void remember_copy(const void* copy, const void* original, std::size_t n, std::size_t bytes) {
  constexpr std::size_t kMostBytes = std::size_t(1) << 20;
  std::vector<std::size_t> unwritten = unwritten_of(original, n, bytes);
  std::erase_if(last_copies(), [&](const Copy& c) { return c.first == copy; });
  if (unwritten.empty() && n * bytes > kMostBytes) return;
  const auto* const begin = static_cast<const unsigned char*>(copy);
  last_copies().push_front({copy,
                            static_cast<const unsigned char*>(original),
                            bytes,
                            {begin, begin + n * bytes},
                            std::move(unwritten)});
  if (last_copies().size() > kCopies) last_copies().pop_back();
}

std::vector<std::size_t> unwritten_elements(const Differences& d) {
  const Copy* const copy = copy_of(d.found_values);
  std::vector<std::size_t> elements;
  if (copy == nullptr) return elements;
  std::set_intersection(copy->unwritten.begin(), copy->unwritten.end(), d.wrong.begin(),
                        d.wrong.end(), std::back_inserter(elements));
  return elements;
}

std::string unwritten_text(const Differences& d, const std::vector<std::size_t>& unwritten) {
  if (unwritten.empty()) return "";
  return fmt::format("Nothing has written {} since the array was allocated.",
                     which_of_wrong(d, unwritten));
}

std::vector<std::size_t> elements_as_filled(const Differences& d) {
  std::vector<std::size_t> elements;
  const Copy* const copy = copy_of(d.found_values);
  if (copy == nullptr || !copy->unwritten.empty()) return elements;
  for (const std::size_t i : d.wrong) {
    if (is_as_filled(copy->original + i * copy->element, copy->element)) elements.push_back(i);
  }
  return elements;
}

std::string as_filled_text(const Differences& d, const std::vector<std::size_t>& elements) {
  if (elements.empty()) return "";
  if (d.size == 1) return "No kernel has written it.";
  return fmt::format("No kernel has written {}.", which_of_wrong(d, elements));
}

std::string atomics_text([[maybe_unused]] const Elements& values, [[maybe_unused]] std::size_t i,
                         [[maybe_unused]] const std::string& name_of_element) {
#if COURSE_CPU_DEVICE
  const Copy* const copy = copy_of(values);
  if (copy == nullptr || copy->element > sizeof(std::uint64_t)) return "";
  const std::size_t at = i * copy->element;
  const simt::AtomicChanges changes =
      simt::atomic_changes(copy->original + at, copy->element, launches_before);
  if (changes.last.empty()) return "";
  const simt::AtomicChange& last = changes.last.front();
  if (std::memcmp(last.after.data(), copy->bytes.data() + at, copy->element) != 0) return "";
  LineNames name;
  const auto text = [&](const simt::AtomicChange& change) {
    return fmt::format("{} by {} of {} at {}", values.text(change.after.data()), change.function,
                       change.thread, name(change.line));
  };
  const std::string begin = values.text(changes.last.back().before.data());
  if (changes.last.size() == 1) {
    return fmt::format("Atomics have changed {} {}from {} to {}.", name_of_element,
                       changes.are_all ? "once: " : "last ", begin, text(last));
  }
  std::string sentence = fmt::format("Atomics have changed {} last from {} to {}", name_of_element,
                                     begin, text(changes.last.back()));
  sentence += fmt::format(", then to {}.", text(last));
  return sentence + changes_by_line(changes, name);
#else
  return "";
#endif
}

std::string atomics_of_wrong_element(const Differences& d) {
  const std::string element = d.size == 1 ? "the number" : fmt::format("[{}]", d.wrong.front());
  return atomics_text(d.found_values, d.wrong.front(), element);
}

std::string left_by_text([[maybe_unused]] const void* number, [[maybe_unused]] std::size_t size,
                         [[maybe_unused]] const std::string& text) {
#if COURSE_CPU_DEVICE
  if (const auto change = simt::first_change_to(number, size, launches_before)) {
    return fmt::format("\nThe first atomic that has left {} anywhere is {} of {} at {}.", text,
                       change->function, change->thread, repo_relative_path(change->line));
  }
#endif
  return "";
}

std::string last_atomic_text([[maybe_unused]] std::size_t number,
                             [[maybe_unused]] unsigned per_block,
                             [[maybe_unused]] std::size_t bytes,
                             [[maybe_unused]] const ValueText& text) {
#if COURSE_CPU_DEVICE
  const auto rank = static_cast<unsigned>(number % per_block);
  const auto last = simt::last_atomic_of(number / per_block, rank, launches_before);
  if (!last || last->size % bytes != 0) return "";
  std::string found;
  for (std::size_t at = 0; at < last->size; at += bytes) {
    found += (at == 0 ? "" : " and ") + text(&last->found[at]);
  }
  const std::string which =
      last->count == 1 ? "one atomic, " : fmt::format("{} atomics, the last of them ", last->count);
  return fmt::format("\nIts thread, {}, has made {}{} at {}. It found {} and changed {}.",
                     last->thread, which, last->function, repo_relative_path(last->line), found,
                     last->has_changed ? "it" : "nothing");
#else
  return "";
#endif
}

std::string line_of_wrong_elements(const Differences& d) {
  constexpr std::size_t kMostElements = std::size_t(1) << 16;
  const Copy* const copy = copy_of(d.found_values);
  if (copy == nullptr || d.size > kMostElements || d.wrong.size() == d.size) return "";
  std::set<std::string> right, wrong;
  auto next_wrong = d.wrong.begin();
  for (std::size_t i = 0; i < d.size; ++i) {
    const bool is_wrong = next_wrong != d.wrong.end() && *next_wrong == i;
    if (is_wrong) ++next_wrong;
    std::set<std::string>& lines = is_wrong ? wrong : right;
    lines.insert(line_of_last_write(copy->original + i * copy->element));
    if (wrong.size() > 1) return "";
  }
  const std::string& line = *wrong.begin();
  if (line.empty() || right.count(line) > 0 || right.count("") > 0) return "";
  return fmt::format(
      "{} written last at {}, and no other element {}.",
      d.wrong.size() == 1 ? fmt::format("[{}] was", d.wrong.front()) : "The wrong elements were",
      line, "was");
}

}  // namespace course::detail
