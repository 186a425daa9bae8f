// For the checks of the challenges: their cases, and which of them are tried of an answer that is slow
// on the CPU device.
#pragma once

#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <course/buffer.cuh>
#include <course/check.cuh>
#include <course/error.cuh>
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

/// Floats for sums. But for those of kAllBits no sum of 2^20 of them needs rounding.
using Floats = course::DataKind<float>;
inline const Floats kEighths{"eighths from 1/8 to 15/8", [](course::Element e) {
                               return static_cast<float>(1 + e.random % 15) / 8;
                             }};
inline const Floats kSmall{"small: eighths times 2^-70", [](course::Element e) {
                             return static_cast<float>(1 + e.random % 15) * 0x1p-73f;
                           }};
inline const Floats kLarge{"large: whole numbers times 2^70", [](course::Element e) {
                             return static_cast<float>(e.random % 15 - 7) * 0x1p70f;
                           }};
inline const Floats kFirst{"only the first counts",
                           [](course::Element e) { return e.i == 0 ? 3.5f : 0.0f; }};
inline const Floats kLast{"only the last counts",
                          [](course::Element e) { return e.i + 1 == e.n ? -7.25f : 0.0f; }};
inline const Floats kWhole{"whole numbers from -7 to 7",
                           [](course::Element e) { return static_cast<float>(e.random % 15 - 7); }};
inline const Floats kAllBits{"all bits in use", [](course::Element e) {
                               return std::sin(static_cast<float>(e.random + 1000 * (e.i % 7)));
                             }};

/// Sizes for calls of one object: more and fewer elements in turn, of one block's share and of several, wherever a share has up
/// to 16,384. No number of blocks is a multiple of the one before.
constexpr std::size_t kSizesInTurn[][2] = {{100, 20'000},  {100, 50'000}, {0, 70'000},
                                           {20'000, 5000}, {1, 133'000},  {9000, course::kBigSize}};

/// Those that are tried under this schedule. The largest of them are slow on the CPU device: under the first schedule
/// alone. Of an answer that is slow there, some pairs under each schedule, and 1 and 133,000 under the first: what an object
/// keeps for one block is too small then for the next call.
inline std::vector<std::size_t> sizes_in_turn(bool (*is_tried)()) {
  constexpr std::size_t kLargestPair = 4;
  std::vector<std::size_t> sizes;
  for (std::size_t i = 0; i < std::size(kSizesInTurn); ++i) {
    const auto& pair = kSizesInTurn[i];
    const bool is_turn = is_tried();
    if (!is_turn && (i != kLargestPair || course::has_run_before())) continue;
    for (const std::size_t n : pair) {
      if (!course::has_run_before() || n <= 50'000) sizes.push_back(n);
    }
  }
  return sizes;
}

/// For a call of one object, and how many elements the call before had: "call 2 of one object, after one with n = 100".
inline std::string call_text(unsigned call, std::size_t n_before) {
  const std::string text = "call " + std::to_string(call) + " of one object";
  return call == 1 ? text : text + ", after one with n = " + std::to_string(n_before);
}

/// What two calls of one object have made of the same arrays, if nothing waits between them but the default stream: the first one's
/// results are copied from `out` after it, and the second one's input to `x` before it. `before` is in `out` before.
template <class T>
struct ResultsOfTwo {
  std::vector<T> first, second;
};
template <class In, class Out, class Call>
ResultsOfTwo<Out> between_copies(const std::vector<In>& first, const std::vector<In>& second,
                                 const std::vector<Out>& before, Call call) {
  auto x = course::DeviceBuffer<In>::from(first);
  const auto next = course::DeviceBuffer<In>::from(second);
  auto out = course::DeviceBuffer<Out>::from(before);
  course::DeviceBuffer<Out> kept(before.size());
  call(x.data(), out.data());
  CUDA_CHECK(cudaMemcpyAsync(kept.data(), out.data(), kept.bytes(), cudaMemcpyDeviceToDevice));
  CUDA_CHECK(cudaMemcpyAsync(x.data(), next.data(), x.bytes(), cudaMemcpyDeviceToDevice));
  call(x.data(), out.data());
  return {kept.download(), out.download()};
}
/// Of such a case, after what is told of its input.
constexpr const char* kBetweenCopies =
    "; two calls for the same arrays: between them cudaMemcpyAsync in the default stream copies what the first one "
    "has made, and the second one's input";

/// Calls of one object, of which each has other numbers than those before it: `check(n)` is such a call for n numbers, `few()`
/// one for 100. What an earlier call has left is 1 to 4, 8, and 254 to 256 calls old: a number of at most 8 bits does not tell
/// all of these from a new one. Of an answer that is slow here hundreds of calls are not tried.
template <class Few, class Check>
void check_old_and_new(bool (*is_tried)(), Few few, Check check) {
  unsigned calls = 0;
  std::string before;
  const auto call = [&](std::size_t n, unsigned calls_with_few) {
    for (unsigned k = 0; k < calls_with_few; ++k) few();
    calls += calls_with_few + 1;
    INFO("call " << calls << " of one object" << (before.empty() ? "" : ", after one with" + before)
                 << (calls_with_few == 0
                         ? ""
                         : " and " + course::counted(calls_with_few, "call") + " with n = 100"));
    check(n);
  };
  for (const unsigned calls_with_few : {0u, 0u, 1u, 2u, 3u, 7u}) {
    if (!is_tried()) continue;
    call(20'000, calls_with_few);
    before = " n = 20000";
  }
  if (!is_tried() || !is_tried()) return;
  // Each has half as many numbers as the one before it: what is left of the second half is from another call.
  before.clear();
  for (const std::size_t n : {100'000u, 50'000u, 25'000u}) {
    call(n, 0);
    before += (before.empty() ? " n = " : ", one with n = ") + std::to_string(n);
  }
  call(100'000, 253);
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
