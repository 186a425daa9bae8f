// Check of the challenge beat_histogram: every size and start, bytes that are all alike, an object
// that is used again, more bytes than 32 bits count, and fewer atomics than the starter makes.
#include "beat_histogram.cuh"

#include <catch2/catch_test_macros.hpp>
#include <course/check.cuh>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "checks/challenge_cases.cuh"

namespace beat_histogram_check {

using Kind = course::DataKind<unsigned char>;

const Kind kKinds[] = {
    {"all bytes from 0 to 255",
     [](course::Element e) { return static_cast<unsigned char>(e.random); }},
    {"all are 255", [](course::Element) { return static_cast<unsigned char>(255); }},
    {"all are 0", [](course::Element) { return static_cast<unsigned char>(0); }},
    {"nine in ten are 'e'",
     [](course::Element e) {
       return static_cast<unsigned char>(e.random % 10 ? 'e' : e.random / 4);
     }},
    {"ascending", [](course::Element e) { return static_cast<unsigned char>(e.i); }},
    {"runs of 64 equal ones",
     [](course::Element e) { return static_cast<unsigned char>(e.i / 64); }},
};

std::vector<unsigned> bins_of(const std::vector<unsigned char>& bytes) {
  std::vector<unsigned> bins(256, 0);
  for (const unsigned char byte : bytes) ++bins[byte];
  return bins;
}

std::string text_of(std::size_t n, const std::string& kind, std::size_t offset) {
  return "n = " + std::to_string(n) + ": " + kind + "; the bytes begin " + std::to_string(offset) +
         " after a multiple of 64";
}

void check(BeatHistogram& answer, const std::vector<unsigned char>& bytes, std::size_t offset) {
  const course::Placed<unsigned char> d_bytes(bytes, offset);
  course::GuardedBuffer<unsigned> bins(256);
  answer(d_bytes.data(), bytes.size(), bins.data());
  REQUIRE(course::same(bins.download(), bins_of(bytes), "d_bins"));
  REQUIRE(bins.intact("d_bins"));
}

/// Of an answer that is slow here, some of the cases are tried.
bool is_tried() {
  return challenge_checks::is_tried<unsigned char>([](const unsigned char* d_bytes, std::size_t n) {
    course::DeviceBuffer<unsigned> bins(256);
    BeatHistogram{}(d_bytes, n, bins.data());
  });
}

// Promise: d_bins[b] becomes how often b occurs in d_bytes[0..n-1], for b from 0 to 255.
// Promise: d_bins may hold anything before (it is poisoned).
TEST_CASE("beat_histogram: every size, at several starts") {
  for (const auto& [n, kind, turn] : challenge_checks::every_size_twice(kKinds)) {
    if (!is_tried()) continue;
    const std::size_t offset = turn * 7 % 64;
    INFO(text_of(n, kind.text, offset));
    BeatHistogram answer;
    beat_histogram_check::check(answer, kind.values(n), offset);
  }
}

// Promise: d_bytes may begin at any address (MISALIGNED ACCESS).
TEST_CASE("beat_histogram: every start of a short array") {
  BeatHistogram answer;
  unsigned calls = 0;
  for (std::size_t offset = 0; offset < 17; ++offset) {
    if (!is_tried()) continue;
    const std::size_t n = 30 + offset % 5;
    INFO("call " << ++calls << " of one object; " << text_of(n, kKinds[0].text, offset));
    beat_histogram_check::check(answer, kKinds[0].values(n), offset);
  }
}

// Promise: d_bytes may begin at any address, also in a call with as many bytes as the call before.
TEST_CASE("beat_histogram: one object, called again for as many bytes that begin elsewhere") {
  BeatHistogram answer;
  unsigned calls = 0;
  for (const std::size_t offset : {0u, 1u, 0u, 4u, 15u}) {
    if (!is_tried()) continue;
    INFO("call " << ++calls << " of one object; " << text_of(9000, kKinds[0].text, offset));
    beat_histogram_check::check(answer, kKinds[0].values(9000), offset);
  }
}

// Promise: one object may be called again, with any n, when the call before is done.
TEST_CASE("beat_histogram: one object, called again with other sizes") {
  BeatHistogram answer;
  unsigned calls = 0;
  std::size_t before = 0;
  for (const std::size_t n : challenge_checks::sizes_in_turn(is_tried)) {
    const Kind& kind = kKinds[n % 2 ? 1 : 3];
    INFO(challenge_checks::call_text(++calls, std::exchange(before, n))
         << "; " << text_of(n, kind.text, 0));
    beat_histogram_check::check(answer, kind.values(n), 0);
  }
}

// Promise: the answer counts the bytes that the array holds now, not those that it held in an earlier
// call.
TEST_CASE("beat_histogram: one object, called again for the same array with other bytes") {
  if (!is_tried()) return;
  INFO(text_of(5000, kKinds[1].text, 0)
       << "; in a second call the same array holds: " << kKinds[0].text);
  auto bytes = course::DeviceBuffer<unsigned char>::from(kKinds[1].values(5000));
  course::GuardedBuffer<unsigned> bins(256);
  BeatHistogram answer;
  answer(bytes.data(), bytes.size(), bins.data());
  const std::vector<unsigned char> other = kKinds[0].values(bytes.size());
  bytes.upload(other);
  answer(bytes.data(), bytes.size(), bins.data());
  REQUIRE(course::same(bins.download(), bins_of(other), "d_bins"));
}

// Promise: one object may be called again in the same stream, before the bins
// of the call before are there.
// Promise: d_bins begins at any element.
TEST_CASE("beat_histogram: one object, called twice in a row, before the first bins are there") {
  if (!is_tried()) return;
  const std::vector<unsigned char> many = kKinds[0].values(50'000), few = kKinds[0].values(300);
  INFO(text_of(many.size(), kKinds[0].text, 0) << "; then n = 300; the bins begin at any element");
  const auto d_many = course::DeviceBuffer<unsigned char>::from(many);
  const auto d_few = course::DeviceBuffer<unsigned char>::from(few);
  course::Placed<unsigned> bins(std::vector<unsigned>(512, 7), 1);
  BeatHistogram answer;
  answer(d_many.data(), many.size(), bins.data());
  answer(d_few.data(), few.size(), bins.data() + 256);
  std::vector<unsigned> expected = bins_of(many);
  for (const unsigned count : bins_of(few)) expected.push_back(count);
  REQUIRE(course::same(bins.download(), expected, "bins of both calls"));
  REQUIRE(bins.intact("d_bins"));
}

// Promise: a call is in order with what the default stream does before and after it, without a wait (DATA RACE).
TEST_CASE("beat_histogram: copies before and after a call, in the same stream") {
  if (!is_tried()) return;
  const std::vector<unsigned char> one = kKinds[0].values(3000),
                                   other(one.rbegin() + 5, one.rend());
  INFO(text_of(other.size(), kKinds[0].text, 0) << challenge_checks::kBetweenCopies);
  BeatHistogram answer;
  const auto found = challenge_checks::between_copies(
      std::vector(one.begin(), one.end() - 5), other, std::vector<unsigned>(256, 7),
      [&](const unsigned char* x, unsigned* bins) { answer(x, other.size(), bins); });
  REQUIRE(course::same(found.first, bins_of({one.begin(), one.end() - 5}), "the copy of d_bins"));
  REQUIRE(course::same(found.second, bins_of(other), "d_bins"));
}

// Promise: a count may exceed 2^16.
TEST_CASE("beat_histogram: a bin holds more than 16 bits") {
  if (!is_tried()) return;
  constexpr std::size_t n = (1 << 16) + 1000;
  INFO(text_of(n, kKinds[1].text, 3));
  BeatHistogram answer;
  beat_histogram_check::check(answer, kKinds[1].values(n), 3);
}

// Promise: what one block counts may exceed 2^16, too.
TEST_CASE("beat_histogram: each of many blocks counts more than 16 bits hold") {
  if (course::has_run_before()) return;
  constexpr std::size_t n = 9'000'000;
  INFO(text_of(n, kKinds[2].text, 0));
  BeatHistogram answer;
  beat_histogram_check::check(answer, kKinds[2].values(n), 0);
}

// Promise: n may exceed 2^32, and no count does (GPU only).
TEST_CASE("beat_histogram: more than 2^32 bytes") {
  constexpr std::size_t n = (std::size_t{1} << 32) + 1000;
  course::skip_without_memory(n);
  INFO("n = 2^32 + 1000: the first half is 1, the second half 2");
  course::DeviceBuffer<unsigned char> bytes(n);
  CUDA_CHECK(cudaMemset(bytes.data(), 1, n / 2));
  CUDA_CHECK(cudaMemset(bytes.data() + n / 2, 2, n - n / 2));
  std::vector<unsigned> expected(256, 0);
  expected[1] = expected[2] = static_cast<unsigned>(n / 2);
  course::GuardedBuffer<unsigned> bins(256);
  BeatHistogram answer;
  answer(bytes.data(), n, bins.data());
  REQUIRE(course::same(bins.download(), expected, "d_bins"));
}

// Promise: there is at most one atomic per four bytes.
// Promise: kernels read the bytes, not the host.
TEST_CASE("beat_histogram: better than one atomic per byte") {
  course::skip_without_counters();
  if (course::has_run_before()) return;
  constexpr std::size_t n = 300'000;  // 290 blocks may add all of their bins
  INFO("n = " << n);
  const auto d_bytes = course::DeviceBuffer<unsigned char>::from(kKinds[0].values(n));
  course::GuardedBuffer<unsigned> bins(256);
  BeatHistogram answer;
  const auto counters = course::count_shuffled([&] { answer(d_bytes.data(), n, bins.data()); });
  REQUIRE(course::at_most(counters->global_atomic_lanes, n / 4, "atomics on global memory",
                          "blocks can count for themselves first"));
  REQUIRE(course::kernels_load(*counters, n));
  REQUIRE(
      course::work_is_shared(*counters, (counters->global_loads + counters->global_stores) / 4));
}

}  // namespace beat_histogram_check
