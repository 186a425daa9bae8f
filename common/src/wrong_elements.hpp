// Which elements are wrong, as ranges of indices.
#pragma once

#include <course/verdict.cuh>

#include <cstddef>
#include <string>
#include <vector>

namespace course::detail {

/// "[5], [32] to [63]" of ascending indices; empty if these are more than three ranges.
std::string ranges_text(const std::vector<std::size_t>& ascending);
/// The same, or, where they come again at one distance in an array of this size: "every 32nd element from [31] on".
std::string ranges_or_pattern_text(const std::vector<std::size_t>& ascending, std::size_t size);
/// A sentence that tells the wrong elements from the right ones; empty if there is no short one.
std::string which_elements(const Differences& differences);

/// The wrong elements that nothing has written, as far as the device knows, ascending.
std::vector<std::size_t> unwritten_elements(const Differences& differences);
/// A sentence on them; empty if there are none.
std::string unwritten_text(const Differences& differences,
                           const std::vector<std::size_t>& unwritten);

/// The wrong elements that no kernel has written since the array was filled, as far as the device knows, ascending.
std::vector<std::size_t> elements_as_filled(const Differences& differences);
/// A sentence on them; empty if there are none.
std::string as_filled_text(const Differences& differences,
                           const std::vector<std::size_t>& elements);
/// A sentence on the line that has written the wrong elements, and no others, since the case began; empty if there is none.
std::string line_of_wrong_elements(const Differences& differences);
/// A sentence on the atomics that have changed the first wrong element since the case began; empty if there were none, or if
/// something else has changed it after them.
std::string atomics_of_wrong_element(const Differences& differences);
/// Launches and copies before this are those of other cases.
void begin_case(std::size_t launches);

}  // namespace course::detail
