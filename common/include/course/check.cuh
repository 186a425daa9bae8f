// For tests: the comparisons of verdict.cuh with Catch2's CHECK and REQUIRE.
//   CHECK(course::same(d_count.download(), expected, "count"));
#pragma once

#include <course/buffer.cuh>
#include <course/data.cuh>
#include <course/device.cuh>
#include <course/guarded.cuh>
#include <course/verdict.cuh>

#include <catch2/catch_test_macros.hpp>
#include <catch2/catch_tostring.hpp>
#include <string>

namespace course {

namespace detail {
/// Tells the course's reporter that `text` is a verdict, which needs no C++ expression beside it.
void remember_verdict(const std::string& text);
}  // namespace detail

/// Skips the running test, with the reason, where nothing looks for races.
inline void skip_without_checker() {
  if (!kCpuDevice) SKIP(kNoChecker);
}

/// Skips the running test, with the reason, where nothing is counted.
inline void skip_without_counters() {
  if (!kCpuDevice) SKIP(kNoCounters);
}

}  // namespace course

template <>
struct Catch::StringMaker<course::Verdict> {
  static std::string convert(const course::Verdict& verdict) {
    course::detail::remember_verdict(verdict.text);
    return verdict.text;
  }
};
