// For the checks of the challenges: their cases, and which of them are tried of an answer that is slow
// on the CPU device.
#pragma once

#include <catch2/catch_test_macros.hpp>
#include <course/check.cuh>
#include <cstddef>
#include <string>
#include <vector>

namespace challenge_checks {

/// A size, a kind of data, and the number of the case, for what else changes from case to case.
template <class Kind>
struct SizeInTurn {
  std::size_t n;
  const Kind& kind;
  std::size_t turn;
};

/// Each of all_sizes() twice, the kinds in turn.
template <class Kind, std::size_t number>
std::vector<SizeInTurn<Kind>> every_size_twice(const Kind (&kinds)[number]) {
  std::vector<SizeInTurn<Kind>> cases;
  for (const std::size_t n : course::all_sizes()) {
    for (int k = 0; k < 2; ++k) cases.push_back({n, kinds[cases.size() % number], cases.size()});
  }
  return cases;
}

/// Sizes for calls of one object: more and fewer elements in turn, of one block's share and of several, wherever a share has up
/// to 16,384. No number of blocks is a multiple of the one before.
constexpr std::size_t kSizesInTurn[] = {100,    20'000, 100, 50'000,  0,    70'000,
                                        20'000, 5000,   1,   133'000, 9000, course::kBigSize};

/// The largest of them are slow on the CPU device: under the first schedule alone.
inline bool is_for_this_schedule(std::size_t n) {
  return !course::kCpuDevice || !course::has_run_before() || n <= 50'000;
}

/// For a call of one object, and how many elements the call before had: "call 2 of one object, after one with n = 100".
inline std::string call_text(unsigned call, std::size_t n_before) {
  const std::string text = "call " + std::to_string(call) + " of one object";
  return call == 1 ? text : text + ", after one with n = " + std::to_string(n_before);
}

/// Whether the next case is tried. `call(x, n)` is a call of the answer; each check has one of its own.
template <class T, class Call>
bool is_tried(Call call) {
  INFO("n = 1000: all are 0");
  static course::CasesInTime cases([call] {
    const auto x = course::DeviceBuffer<T>::zeros(1000);
    call(x.data(), x.size());
  });
  return cases.take();
}

}  // namespace challenge_checks
