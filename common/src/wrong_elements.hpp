// Which elements are wrong, as ranges of indices.
#pragma once

#include <course/verdict.cuh>

#include <cstddef>
#include <string>
#include <vector>

namespace course::detail {

/// "[5], [32] to [63]" of ascending indices; empty if these are more than three ranges.
std::string ranges_text(const std::vector<std::size_t>& ascending);
/// A sentence that tells the wrong elements from the right ones; empty if there is no short one.
std::string which_elements(const Differences& differences);

/// The wrong elements that nothing has written, as far as the device knows, ascending.
std::vector<std::size_t> unwritten_elements(const Differences& differences);
/// A sentence on them; empty if there are none.
std::string unwritten_text(const Differences& differences,
                           const std::vector<std::size_t>& unwritten);

}  // namespace course::detail
