// Which lines have made what a counter has counted.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace course::detail {

/// "16000 of keys at a/b.cuh:31, 1000 of values at :33, and 512 at 2 other lines": the lines whose loads, stores or
/// atomics have this sum, in what course::count() has counted last. `name` says which of these three they are.
/// Empty if no counter has this number, if two have it, and on a GPU.
std::string counted_lines(std::uint64_t found, std::string_view name);

}  // namespace course::detail
