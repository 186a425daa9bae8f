// Check of the challenge beat_filter: every size and start, numbers kept in awkward places, an object
// that is used again, more numbers than 32 bits count, and work for more than one block.
#include "beat_filter.cuh"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <climits>
#include <course/check.cuh>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "checks/challenge_cases.cuh"

namespace beat_filter_check {

using Kind = course::DataKind<int>;
using Count = unsigned long long;

const Kind kKinds[] = {
    {"half are kept", [](course::Element e) { return e.random % 2 ? e.random : -e.random; }},
    {"all are kept", [](course::Element e) { return static_cast<int>(e.i) + 1; }},
    {"zeros and negative numbers: none is kept", [](course::Element e) { return -(e.random % 3); }},
    {"one in twenty is kept", [](course::Element e) { return e.random % 20 ? 0 : e.random; }},
    {"the last one alone", [](course::Element e) { return e.i + 1 == e.n ? 7 : -1; }},
    {"the first one alone", [](course::Element e) { return e.i == 0 ? 7 : 0; }},
    {"from INT_MIN to INT_MAX, and above 2^24",
     [](course::Element e) {
       const int numbers[] = {INT_MAX, INT_MIN, 65'536 + e.random, 0, 1, -1, (1 << 24) + 1};
       return numbers[e.i % 7];
     }},
    {"the second half", [](course::Element e) { return e.i >= e.n / 2 ? e.random : -e.random; }},
};

std::string text_of(std::size_t n, const std::string& kind, std::size_t x, std::size_t out) {
  return "n = " + std::to_string(n) + ": " + kind + "; x begins " + std::to_string(4 * x) +
         " and out " + std::to_string(4 * out) + " bytes after a multiple of 64";
}

void check(BeatFilter& answer, const std::vector<int>& x, std::size_t offset_x,
           std::size_t offset_out) {
  std::vector<int> expected;
  std::copy_if(x.begin(), x.end(), std::back_inserter(expected), [](int v) { return v > 0; });
  const course::Placed<int> d_x(x, offset_x);
  course::Placed<int> out(std::vector<int>(expected.size(), -1), offset_out);  // no room for more
  course::GuardedBuffer<Count> count(1);
  answer(d_x.data(), x.size(), out.data(), count.data());
  REQUIRE(course::same(count.download().front(), Count{expected.size()}, "*d_count"));
  REQUIRE(course::same(out.download(), expected, "d_out"));
  REQUIRE(out.intact("d_out"));
  REQUIRE(count.intact("d_count"));
}

/// x[i] = i / 4 + 1 for every fourth element from the third on, else -1.
__global__ void fill_every_fourth(int* d_x, std::size_t n) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += stride) {
    d_x[i] = i % 4 == 3 ? static_cast<int>(i / 4) + 1 : -1;
  }
}

__global__ void count_misplaced(const int* d_out, std::size_t n, Count* d_wrong) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += stride) {
    if (static_cast<Count>(d_out[i]) != i + 1) atomicAdd(d_wrong, Count{1});
  }
}

__global__ void count_others(const int* d_out, std::size_t n, int value, Count* d_wrong) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += stride) {
    if (d_out[i] != value) atomicAdd(d_wrong, Count{1});
  }
}

/// Of an answer that is slow here, some of the cases are tried.
bool is_tried() {
  return challenge_checks::is_tried<int>([](const int* d_x, std::size_t n) {
    course::DeviceBuffer<int> out(1);
    course::DeviceBuffer<Count> count(1);
    BeatFilter{}(d_x, n, out.data(), count.data());
  });
}

// Promise: the numbers of x[0..n-1] that are > 0 come to d_out[0], d_out[1], ..., in their order,
// and how many they are to *d_count.
// Promise: d_out has room for what is kept, no more, and nothing else is written (OUT OF BOUNDS; on
// a GPU the guard bands show it).
// Promise: *d_count may hold anything before (all of its 64 bits are poisoned).
// Promise: d_x and d_out are aligned to ints, no more (MISALIGNED ACCESS).
TEST_CASE("beat_filter: every size, at several starts") {
  for (const auto& [n, kind, turn] : challenge_checks::every_size_twice(kKinds)) {
    if (!is_tried()) continue;
    const std::size_t offset_x = turn * 3 % 8, offset_out = (turn * 5 + turn / 4 + 1) % 8;
    INFO(text_of(n, kind.text, offset_x, offset_out));
    BeatFilter answer;
    beat_filter_check::check(answer, kind.values(n), offset_x, offset_out);
  }
}

// Promise: a number is any int, INT_MIN and INT_MAX, too.
TEST_CASE("beat_filter: every kind, in several pieces") {
  BeatFilter answer;
  for (const Kind& kind : kKinds) {
    if (!is_tried()) continue;
    INFO(text_of(5000, kind.text, 1, 2));
    beat_filter_check::check(answer, kind.values(5000), 1, 2);
  }
}

// Promise: one object may be called again, with any n, when the call before is done.
TEST_CASE("beat_filter: one object, called again with other sizes and other numbers") {
  BeatFilter answer;
  unsigned calls = 0;
  std::size_t before = 0;
  std::size_t turn = 0;
  for (const std::size_t n : challenge_checks::sizes_in_turn(is_tried)) {
    const Kind& kind = kKinds[turn++ % 2 ? 3 : 0];
    INFO(challenge_checks::call_text(++calls, std::exchange(before, n))
         << "; " << text_of(n, kind.text, 0, 0));
    beat_filter_check::check(answer, kind.values(n), 0, 0);
  }
}

// Promise: d_x and d_out are aligned to ints, no more, also in a call with as many numbers as the call before.
TEST_CASE("beat_filter: one object, called again for as many numbers that begin elsewhere") {
  BeatFilter answer;
  unsigned calls = 0;
  for (const auto& [offset_x, offset_out] :
       {std::pair{0u, 0u}, {1u, 0u}, {0u, 0u}, {0u, 1u}, {2u, 2u}, {3u, 1u}, {0u, 0u}}) {
    if (!is_tried()) continue;
    INFO("call " << ++calls << " of one object; "
                 << text_of(5000, kKinds[0].text, offset_x, offset_out));
    beat_filter_check::check(answer, kKinds[0].values(5000), offset_x, offset_out);
  }
}

// Promise: one object may be called again, with any n: what a call keeps for the next ones is old after any number of them.
TEST_CASE("beat_filter: one object, called again after 1 to 255 calls with few numbers") {
  if (course::has_run_before()) return;
  const auto d_few = course::DeviceBuffer<int>::zeros(100);
  course::DeviceBuffer<int> few_kept(100);
  course::DeviceBuffer<Count> few_count(1);
  BeatFilter answer;
  std::size_t turn = 0;
  course::with_seed(2, [&] {  // the last blocks begin first
    challenge_checks::check_old_and_new(
        is_tried, [&] { answer(d_few.data(), d_few.size(), few_kept.data(), few_count.data()); },
        [&](std::size_t n) {
          constexpr std::size_t kInTurn[] = {0, 3, 1, 7};
          const Kind& kind = kKinds[kInTurn[turn++ % std::size(kInTurn)]];
          INFO(text_of(n, kind.text, 0, 0));
          beat_filter_check::check(answer, kind.values(n), 0, 0);
        });
  });
}

// Promise: the answer filters the numbers that x holds now, not those that it held in an earlier call.
TEST_CASE("beat_filter: one object, called again for the same array with other numbers") {
  if (!is_tried()) return;
  INFO(text_of(5000, kKinds[1].text, 0, 0)
       << "; in a second call the same array holds the same numbers in the opposite order");
  auto x = course::DeviceBuffer<int>::from(kKinds[1].values(5000));
  course::GuardedBuffer<int> out(x.size());
  course::GuardedBuffer<Count> count(1);
  BeatFilter answer;
  answer(x.data(), x.size(), out.data(), count.data());
  std::vector<int> other = kKinds[1].values(x.size());
  std::reverse(other.begin(), other.end());
  x.upload(other);
  answer(x.data(), x.size(), out.data(), count.data());
  REQUIRE(course::same(count.download().front(), Count{other.size()}, "*d_count"));
  REQUIRE(course::same(out.download(), other, "d_out"));
}

// Promise: one object may be called again in the same stream, before the numbers
// of the call before are there.
TEST_CASE("beat_filter: one object, called twice in a row, before the first numbers are there") {
  if (!is_tried()) return;
  const std::vector<int> many = kKinds[1].values(50'000), few = kKinds[1].values(300);
  INFO(text_of(many.size(), kKinds[1].text, 0, 0) << "; then n = 300");
  const auto d_many = course::DeviceBuffer<int>::from(many);
  const auto d_few = course::DeviceBuffer<int>::from(few);
  course::GuardedBuffer<int> out(many.size() + few.size());
  course::GuardedBuffer<Count> counts(2);
  BeatFilter answer;
  answer(d_many.data(), many.size(), out.data(), counts.data());
  answer(d_few.data(), few.size(), out.data() + many.size(), counts.data() + 1);
  std::vector<int> expected = many;
  expected.insert(expected.end(), few.begin(), few.end());
  REQUIRE(course::same(counts.download(), {Count{many.size()}, Count{few.size()}}, "counts"));
  REQUIRE(course::same(out.download(), expected, "numbers of both calls"));
}

// Promise: a call is in order with what the default stream does before and after it, without a wait (DATA RACE).
TEST_CASE("beat_filter: copies before and after a call, in the same stream") {
  if (!is_tried()) return;
  const std::vector<int> one = kKinds[1].values(3000), other(one.rbegin(), one.rend());
  INFO(text_of(one.size(), kKinds[1].text, 0, 0)
       << ", then the same ones from the last to the first" << challenge_checks::kBetweenCopies);
  BeatFilter answer;
  course::DeviceBuffer<Count> count(1);
  const auto found = challenge_checks::between_copies(
      one, other, std::vector<int>(one.size(), -7),
      [&](const int* x, int* out) { answer(x, one.size(), out, count.data()); });
  REQUIRE(course::same(found.first, one, "the copy of d_out"));
  REQUIRE(course::same(found.second, other, "d_out"));
}

// Promise: the order stays right, however many blocks share the numbers, and after a call with few.
// Promise: blocks may start in any order (the CPU device starts the last one first; a GPU may hang).
TEST_CASE("beat_filter: many tiles") {
  if (course::has_run_before()) return;
  BeatFilter answer;
  unsigned calls = 0;
  for (const unsigned n : {(1u << 20) + 1000, 1000u, 150'000u}) {
    INFO("call " << ++calls << " of one object; " << text_of(n, kKinds[0].text, 1, 2));
    course::with_seed(2, [&] { beat_filter_check::check(answer, kKinds[0].values(n), 1, 2); });
  }
}

/// Filters x, of which `kept` numbers are kept: `count_wrong(out, wrong)` counts on the device those of them that are `not_right`.
template <class CountWrong>
void check_many(const course::DeviceBuffer<int>& x, std::size_t kept, CountWrong count_wrong,
                const std::string& not_right) {
  course::GuardedBuffer<int> out(kept);
  course::GuardedBuffer<Count> count(1);
  auto wrong = course::DeviceBuffer<Count>::zeros(1);
  BeatFilter answer;
  answer(x.data(), x.size(), out.data(), count.data());
  REQUIRE(course::same(count.download().front(), Count{kept}, "*d_count"));
  count_wrong(out.data(), wrong.data());
  REQUIRE(course::same(wrong.front(), Count{0}, "numbers that are not " + not_right));
  REQUIRE(out.intact("d_out"));
}

// Promise: n may exceed 2^32 (GPU only).
TEST_CASE("beat_filter: more than 2^32 numbers") {
  constexpr std::size_t n = (std::size_t{1} << 32) + 8 * 77, kKept = n / 4;
  course::skip_without_memory(n * 5);
  INFO("n = 2^32 + 616: every fourth is kept");
  course::DeviceBuffer<int> x(n);
  course::launch(fill_every_fourth, {4096, 256}, x.data(), n);
  const auto count_wrong = [](const int* d_out, Count* d_wrong) {
    course::launch(count_misplaced, {4096, 256}, d_out, kKept, d_wrong);
  };
  check_many(x, kKept, count_wrong, "where they belong");
}

// Promise: more than 2^32 numbers may be kept (GPU only).
TEST_CASE("beat_filter: more than 2^32 numbers are kept") {
  constexpr std::size_t n = (std::size_t{1} << 32) + 616;
  constexpr int kEach = 0x0101'0101;
  course::skip_without_memory(2 * n * sizeof(int));
  INFO("n = 2^32 + 616: all are " << kEach);
  course::DeviceBuffer<int> x(n);
  CUDA_CHECK(cudaMemset(x.data(), 1, n * sizeof(int)));
  const auto count_wrong = [](const int* d_out, Count* d_wrong) {
    course::launch(count_others, {4096, 256}, d_out, n, kEach, d_wrong);
  };
  check_many(x, n, count_wrong, "there");
}

// Promise: more than one block works: the busiest one makes at most three
// quarters of the loads and stores.
// Promise: kernels read the numbers, not the host.
TEST_CASE("beat_filter: work for more than one block") {
  course::skip_without_counters();
  if (course::has_run_before()) return;
  constexpr std::size_t n = 1 << 18;
  INFO("n = " << n << ": half are kept");
  const auto d_x = course::DeviceBuffer<int>::from(kKinds[0].values(n));
  course::DeviceBuffer<int> out(n);
  course::GuardedBuffer<Count> count(1);
  BeatFilter answer;
  const auto counters =
      course::count_shuffled([&] { answer(d_x.data(), n, out.data(), count.data()); });
  REQUIRE(course::kernels_load(*counters, n * sizeof(int)));
  const auto requests = counters->global_loads + counters->global_stores;
  REQUIRE(course::at_most(counters->busiest_block_requests, requests * 3 / 4,
                          "loads and stores of global memory by the busiest block",
                          "other SMs are idle while one block works: share the tiles"));
}

}  // namespace beat_filter_check
