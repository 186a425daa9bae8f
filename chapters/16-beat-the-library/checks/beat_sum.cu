// Check of the challenge beat_sum: every size and start, an object that is used again, sums that are
// rounded, more numbers than 32 bits count, and fewer atomics than the starter makes.
#include "beat_sum.cuh"

#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <course/check.cuh>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "checks/challenge_cases.cuh"

namespace beat_sum_check {

using Kind = course::DataKind<float>;

/// Partial sums of 2^20 of them, in any order, need no rounding.
const Kind kExact[] = {
    challenge_checks::kEighths, challenge_checks::kSmall, challenge_checks::kLarge,
    challenge_checks::kFirst,   challenge_checks::kLast,  challenge_checks::kWhole,
};

double sum_of(const std::vector<float>& x) {
  double sum = 0;
  for (const float value : x) sum += static_cast<double>(value);
  return sum;
}

std::string text_of(std::size_t n, const std::string& kind, std::size_t offset) {
  return "n = " + std::to_string(n) + ": " + kind + "; x begins " + std::to_string(4 * offset) +
         " bytes after a multiple of 64";
}

void check(BeatSum& answer, const std::vector<float>& x, std::size_t offset, double tolerance) {
  const course::Placed<float> d_x(x, offset);
  course::GuardedBuffer<float> y(1);
  answer(d_x.data(), x.size(), y.data());
  REQUIRE(course::close(static_cast<double>(y.download().front()), sum_of(x), tolerance, "*d_y"));
  REQUIRE(y.intact("y"));
}

/// Of an answer that is slow here, some of the cases are tried.
bool is_tried() {
  return challenge_checks::is_tried<float>([](const float* d_x, std::size_t n) {
    course::DeviceBuffer<float> y(1);
    BeatSum{}(d_x, n, y.data());
  });
}

// Promise: *d_y becomes x[0] + ... + x[n-1], and 0 if n == 0.
// Promise: *d_y may hold anything before (it is poisoned).
// Promise: sums that need no rounding are exact (numbers of 2^-70 and of 2^70, too).
TEST_CASE("beat_sum: every size, at several starts") {
  for (const auto& [n, kind, turn] : challenge_checks::every_size_twice(kExact)) {
    if (!is_tried()) continue;
    const std::size_t offset = turn * 5 % 16;
    INFO(text_of(n, kind.text, offset));
    BeatSum answer;
    beat_sum_check::check(answer, kind.values(n), offset, 0);
  }
}

/// Calls of one object for n numbers, which begin elsewhere in each call.
void check_starts(std::size_t n, const std::vector<std::size_t>& offsets) {
  BeatSum answer;
  unsigned calls = 0;
  for (const std::size_t offset : offsets) {
    if (!is_tried()) continue;
    INFO("call " << ++calls << " of one object; " << text_of(n, kExact[0].text, offset));
    beat_sum_check::check(answer, kExact[0].values(n), offset, 0);
  }
}

// Promise: d_x is aligned to floats, no more (MISALIGNED ACCESS).
TEST_CASE("beat_sum: every start of a short array") {
  check_starts(77, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15});
}

// Promise: d_x is aligned to floats, no more, also in a call with as many numbers as the call before.
TEST_CASE("beat_sum: one object, called again for as many numbers that begin elsewhere") {
  check_starts(5000, {0, 1, 0, 2, 3});
}

// Promise: one object may be called again, with any n, when the call before is done.
TEST_CASE("beat_sum: one object, called again with other sizes") {
  BeatSum answer;
  unsigned calls = 0;
  std::size_t before = 0;
  for (const std::size_t n : challenge_checks::sizes_in_turn(is_tried)) {
    INFO(challenge_checks::call_text(++calls, std::exchange(before, n))
         << "; " << text_of(n, kExact[0].text, 0));
    beat_sum_check::check(answer, kExact[0].values(n), 0, 0);
  }
}

// Promise: the sum is that of the numbers that x holds now, not of those that it held in an earlier call.
TEST_CASE("beat_sum: one object, called again for the same array with other numbers") {
  if (!is_tried()) return;
  INFO("n = 5000: in the first call each number is 2, in the second the same array holds "
       << kExact[0].text);
  auto x = course::DeviceBuffer<float>::from(std::vector<float>(5000, 2.0f));
  course::GuardedBuffer<float> y(1);
  BeatSum answer;
  answer(x.data(), x.size(), y.data());
  const std::vector<float> other = kExact[0].values(x.size());
  x.upload(other);
  answer(x.data(), x.size(), y.data());
  REQUIRE(course::close(static_cast<double>(y.download().front()), sum_of(other), 0, "*d_y"));
}

// Promise: one object may be called again in the same stream, before the sum
// of the call before is there.
TEST_CASE("beat_sum: one object, called twice in a row, before the first sum is there") {
  if (!is_tried()) return;
  const std::vector<float> many = kExact[0].values(50'000), few = kExact[0].values(300);
  INFO(text_of(many.size(), kExact[0].text, 0) << "; then n = 300");
  const auto d_many = course::DeviceBuffer<float>::from(many);
  const auto d_few = course::DeviceBuffer<float>::from(few);
  course::GuardedBuffer<float> sums(2);
  BeatSum answer;
  answer(d_many.data(), many.size(), sums.data());
  answer(d_few.data(), few.size(), sums.data() + 1);
  const std::vector<float> expected = {static_cast<float>(sum_of(many)),
                                       static_cast<float>(sum_of(few))};
  REQUIRE(course::same(sums.download(), expected, "sums"));
}

// Promise: a call is in order with what the default stream does before and after it, without a wait (DATA RACE).
TEST_CASE("beat_sum: copies before and after a call, in the same stream") {
  if (!is_tried()) return;
  const std::vector<float> one = kExact[0].values(3000), other(3000, 2.5f);
  INFO(text_of(one.size(), kExact[0].text, 0)
       << ", then all are 2.5" << challenge_checks::kBetweenCopies);
  BeatSum answer;
  const auto found =
      challenge_checks::between_copies(one, other, std::vector<float>{7.0f},
                                       [&](const float* x, float* y) { answer(x, one.size(), y); });
  REQUIRE(course::same(found.first.front(), static_cast<float>(sum_of(one)), "the copy of *d_y"));
  REQUIRE(course::same(found.second.front(), 7500.0f, "*d_y"));
}

// Promise: a sum that needs no rounding is exact, however many blocks share it.
TEST_CASE("beat_sum: many blocks") {
  // Under each schedule more blocks than the CPU device has at one time: some end before others begin.
  const std::size_t n = (std::size_t{1} << (course::has_run_before() ? 16 : 20)) + 77;
  INFO(text_of(n, kExact[0].text, 1));
  BeatSum answer;
  beat_sum_check::check(answer, kExact[0].values(n), 1, 0);
}

// Promise: a sum with an infinite number is infinite.
TEST_CASE("beat_sum: one number is infinite") {
  if (!is_tried()) return;
  std::vector<float> x(course::kBigSize, 1.0f);
  x[77] = INFINITY;
  INFO(text_of(x.size(), "ones, and x[77] is infinite", 0));
  const auto d_x = course::DeviceBuffer<float>::from(x);
  course::GuardedBuffer<float> y(1);
  BeatSum answer;
  answer(d_x.data(), x.size(), y.data());
  REQUIRE(course::same(y.download().front(), INFINITY, "*d_y"));
}

// Promise: other sums are as near as n - 1 float additions in any order.
TEST_CASE("beat_sum: sums that are rounded are near the exact one") {
  const Kind& all_bits = challenge_checks::kAllBits;
  for (const std::size_t n : {1025u, 8191u}) {
    if (!is_tried()) continue;
    const std::vector<float> x = all_bits.values(n);
    INFO(text_of(n, all_bits.text, 1));
    BeatSum answer;
    beat_sum_check::check(answer, x, 1, course::sum_tolerance(x));
  }
}

// Promise: n may exceed 2^32 (GPU only).
TEST_CASE("beat_sum: more than 2^32 numbers") {
  constexpr std::size_t n = (std::size_t{1} << 32) + 77;
  course::skip_without_memory(n * sizeof(float));
  INFO("n = 2^32 + 77: all are 0, but for five that are 1");
  auto x = course::DeviceBuffer<float>::zeros(n);
  const float one = 1;
  const std::size_t ones[] = {5, std::size_t{1} << 31, (std::size_t{1} << 32) - 1,
                              (std::size_t{1} << 32) + 1, n - 1};
  for (const std::size_t i : ones) {
    CUDA_CHECK(cudaMemcpy(x.data() + i, &one, sizeof one, cudaMemcpyHostToDevice));
  }
  course::GuardedBuffer<float> y(1);
  BeatSum answer;
  answer(x.data(), n, y.data());
  REQUIRE(course::same(y.download().front(), 5.0f, "*d_y"));
}

// Promise: there is at most one atomic per 32 numbers.
// Promise: kernels read the numbers, not the host.
TEST_CASE("beat_sum: better than one atomic per number") {
  course::skip_without_counters();
  if (course::has_run_before()) return;
  constexpr std::size_t n = 1 << 16;
  INFO("n = " << n);
  const auto d_x = course::DeviceBuffer<float>::from(kExact[0].values(n));
  course::GuardedBuffer<float> y(1);
  BeatSum answer;
  const auto counters = course::count_shuffled([&] { answer(d_x.data(), n, y.data()); });
  REQUIRE(course::at_most(counters->global_atomic_lanes, n / 32, "atomics on global memory",
                          "one per warp is enough for a start"));
  REQUIRE(course::kernels_load(*counters, n * sizeof(float)));
  REQUIRE(
      course::work_is_shared(*counters, (counters->global_loads + counters->global_stores) / 2));
}

}  // namespace beat_sum_check
