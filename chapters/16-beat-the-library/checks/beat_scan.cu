// Check of the challenge beat_scan: every size and start, an object that is used again, sums that are
// rounded, infinities and NaN, more numbers than 32 bits count, and work for more than one block.
#include "beat_scan.cuh"

#include <bit>
#include <catch2/catch_test_macros.hpp>
#include <cfloat>
#include <cmath>
#include <course/check.cuh>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "checks/challenge_cases.cuh"

namespace beat_scan_check {

using Kind = course::DataKind<float>;

/// Sums of any of up to 2^20 of them need no rounding.
const Kind kExact[] = {
    challenge_checks::kEighths,
    challenge_checks::kSmall,
    challenge_checks::kLarge,
    challenge_checks::kFirst,
    {"only the first counts: all sums are -1",
     [](course::Element e) { return e.i == 0 ? -1.0f : 0.0f; }},
    {"only the first counts: all sums are the lowest float",
     [](course::Element e) { return e.i == 0 ? -FLT_MAX : 0.0f; }},
    challenge_checks::kLast,
    challenge_checks::kWhole,
    {"all are 1", [](course::Element) { return 1.0f; }},
    {"all are -0", [](course::Element) { return -0.0f; }},
};

/// The prefix sums of x in double.
std::vector<double> sums_of(const std::vector<float>& x) {
  std::vector<double> sums;
  double sum = 0;
  for (const float value : x) sums.push_back(sum += static_cast<double>(value));
  return sums;
}

/// Those of the exact kinds.
std::vector<float> exact_sums(const std::vector<float>& x) {
  const std::vector<double> sums = sums_of(x);
  return {sums.begin(), sums.end()};
}

std::string text_of(std::size_t n, const std::string& kind, std::size_t x, std::size_t out) {
  return "n = " + std::to_string(n) + ": " + kind + "; x begins " + std::to_string(4 * x) +
         " and out " + std::to_string(4 * out) + " bytes after a multiple of 64";
}

/// `out` before the call: nothing that a sum could be.
constexpr float kBefore = -1e30f;

std::vector<float> scanned(BeatScan& answer, const std::vector<float>& x, std::size_t offset_x,
                           std::size_t offset_out) {
  const course::Placed<float> d_x(x, offset_x);
  course::Placed<float> out(std::vector<float>(x.size(), kBefore), offset_out);
  answer(d_x.data(), x.size(), out.data());
  const std::vector<float> found = out.download();
  REQUIRE(out.intact("d_out"));
  return found;
}

void check(BeatScan& answer, const std::vector<float>& x, std::size_t offset_x,
           std::size_t offset_out) {
  const std::vector<float> found = beat_scan_check::scanned(answer, x, offset_x, offset_out);
  REQUIRE(course::same(found, exact_sums(x), "d_out"));
}

/// Ok if out[i] is the exact sum to within i float additions, in any order: NaN where a NaN is expected, and the same
/// infinity.
course::Verdict near_sums(const std::vector<float>& found, const std::vector<float>& x) {
  const std::vector<double> exact = sums_of(x);
  double magnitude = 0;
  course::Verdict first;
  std::size_t wrong = 0, first_wrong = 0, last_wrong = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const auto y = static_cast<double>(found[i]);
    magnitude += std::fabs(static_cast<double>(x[i]));
    if (y == exact[i] || (std::isnan(exact[i]) && std::isnan(y))) continue;
    const std::string name = "d_out[" + std::to_string(i) + "]";
    const double k = static_cast<double>(i) * course::kFloatRoundoff;
    const double tolerance = std::isinf(exact[i]) ? 0 : k / (1 - k) * magnitude;
    const course::Verdict verdict = std::isnan(exact[i])
                                        ? course::Verdict{false, name + ": expected NaN, found " +
                                                                     course::number_text(found[i])}
                                        : course::close(y, exact[i], tolerance, name);
    if (verdict) continue;
    if (wrong++ == 0) first = verdict, first_wrong = i;
    last_wrong = i;
  }
  if (wrong > 1) {
    first.text += "\n" + std::to_string(wrong) + " of " + std::to_string(x.size()) +
                  " sums are wrong (first [" + std::to_string(first_wrong) + "], last [" +
                  std::to_string(last_wrong) + "])";
  }
  return first;
}

/// One number in 2^20 is 1: x[5] is the first of them.
constexpr std::size_t kStep = std::size_t{1} << 20;

__global__ void fill_with_few_ones(float* d_x, std::size_t n) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += stride) {
    d_x[i] = i % kStep == 5 ? 1.0f : 0.0f;
  }
}

__global__ void count_wrong_sums(const float* d_out, std::size_t n, unsigned long long* d_wrong) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += stride) {
    const auto ones = static_cast<float>(i / kStep + (i % kStep < 5 ? 0 : 1));
    if (!(d_out[i] == ones)) atomicAdd(d_wrong, 1ull);
  }
}

/// Of an answer that is slow here, some of the cases are tried.
bool is_tried() {
  return challenge_checks::is_tried<float>([](const float* d_x, std::size_t n) {
    course::DeviceBuffer<float> out(n);
    BeatScan{}(d_x, n, out.data());
  });
}

// Promise: d_out[i] becomes x[0] + ... + x[i], for each i < n.
// Promise: nothing else is written (OUT OF BOUNDS; on a GPU the guard bands show it).
// Promise: d_x and d_out are aligned to floats, no more (MISALIGNED ACCESS).
// Promise: sums that need no rounding are exact (numbers of 2^-70 and of 2^70, too).
TEST_CASE("beat_scan: every size, at several starts") {
  for (const auto& [n, kind, turn] : challenge_checks::every_size_twice(kExact)) {
    if (!is_tried()) continue;
    const std::size_t offset_x = turn * 5 % 16, offset_out = (turn * 3 + turn / 4 + 1) % 16;
    INFO(text_of(n, kind.text, offset_x, offset_out));
    BeatScan answer;
    beat_scan_check::check(answer, kind.values(n), offset_x, offset_out);
  }
}

// Promise: d_x and d_out are aligned to floats, no more: each of both begins at every multiple of 4 bytes.
TEST_CASE("beat_scan: every start of a short array") {
  BeatScan answer;
  unsigned calls = 0;
  for (std::size_t offset_x = 0; offset_x < 16; ++offset_x) {
    if (!is_tried()) continue;
    // In the first four cases x and out begin at different places of their 16 bytes: of a slow answer
    // few other cases are tried.
    const std::size_t in_four = offset_x % 4,
                      offset_out = (offset_x / 4 + 1 + 3 * in_four) % 4 + 4 * in_four;
    INFO("call " << ++calls << " of one object; "
                 << text_of(77, kExact[0].text, offset_x, offset_out));
    beat_scan_check::check(answer, kExact[0].values(77), offset_x, offset_out);
  }
}

// Promise: d_out[i] becomes x[0] + ... + x[i]: of numbers of every size.
TEST_CASE("beat_scan: every kind, in several pieces") {
  BeatScan answer;
  for (const Kind& kind : kExact) {
    if (!is_tried()) continue;
    INFO(text_of(5000, kind.text, 1, 1));
    beat_scan_check::check(answer, kind.values(5000), 1, 1);
  }
}

// Promise: one object may be called again, with any n, when the call before is done.
TEST_CASE("beat_scan: one object, called again with other sizes and other numbers") {
  BeatScan answer;
  unsigned calls = 0;
  std::size_t before = 0;
  std::size_t turn = 0;
  for (const std::size_t n : challenge_checks::sizes_in_turn(is_tried)) {
    const Kind& kind = kExact[turn++ % 2 ? 5 : 0];
    INFO(challenge_checks::call_text(++calls, std::exchange(before, n))
         << "; " << text_of(n, kind.text, 0, 0));
    beat_scan_check::check(answer, kind.values(n), 0, 0);
  }
}

// Promise: d_x and d_out are aligned to floats, no more, also in a call with as many numbers as the call before.
TEST_CASE("beat_scan: one object, called again for as many numbers that begin elsewhere") {
  BeatScan answer;
  unsigned calls = 0;
  for (const auto& [offset_x, offset_out] :
       {std::pair{0u, 0u}, {1u, 0u}, {0u, 0u}, {0u, 1u}, {2u, 2u}, {3u, 1u}, {0u, 0u}}) {
    if (!is_tried()) continue;
    INFO("call " << ++calls << " of one object; "
                 << text_of(5000, kExact[0].text, offset_x, offset_out));
    beat_scan_check::check(answer, kExact[0].values(5000), offset_x, offset_out);
  }
}

// Promise: one object may be called again, with any n: what a call keeps for the next ones is old after any number of them.
TEST_CASE("beat_scan: one object, called again after 1 to 255 calls with few numbers") {
  if (course::has_run_before()) return;
  const auto d_few = course::DeviceBuffer<float>::zeros(100);
  course::DeviceBuffer<float> few_sums(100);
  BeatScan answer;
  std::size_t turn = 0;
  course::with_seed(2, [&] {  // the last blocks begin first
    challenge_checks::check_old_and_new(
        is_tried, [&] { answer(d_few.data(), d_few.size(), few_sums.data()); },
        [&](std::size_t n) {
          constexpr std::size_t kInTurn[] = {0, 5, 3, 8};
          const Kind& kind = kExact[kInTurn[turn++ % std::size(kInTurn)]];
          INFO(text_of(n, kind.text, 0, 0));
          beat_scan_check::check(answer, kind.values(n), 0, 0);
        });
  });
}

// Promise: the sums are those of the numbers that x holds now, not of those that it held in an earlier call.
// Promise: d_out may hold anything before.
TEST_CASE("beat_scan: one object, called again for the same arrays with other numbers") {
  if (!is_tried()) return;
  INFO("n = 5000: in the first call each number is 2, in the second the same array holds "
       << kExact[0].text);
  auto x = course::DeviceBuffer<float>::from(std::vector<float>(5000, 2.0f));
  course::GuardedBuffer<float> out(x.size());
  BeatScan answer;
  answer(x.data(), x.size(), out.data());
  const std::vector<float> other = kExact[0].values(x.size());
  x.upload(other);
  answer(x.data(), x.size(), out.data());
  REQUIRE(course::same(out.download(), exact_sums(other), "d_out"));
}

// Promise: one object may be called again in the same stream, before the sums
// of the call before are there.
TEST_CASE("beat_scan: one object, called twice in a row, before the first sums are there") {
  if (!is_tried()) return;
  const std::vector<float> many = kExact[0].values(50'000), few = kExact[0].values(300);
  INFO(text_of(many.size(), kExact[0].text, 0, 0) << "; then n = 300");
  const auto d_many = course::DeviceBuffer<float>::from(many);
  const auto d_few = course::DeviceBuffer<float>::from(few);
  course::GuardedBuffer<float> out(many.size() + few.size());
  BeatScan answer;
  answer(d_many.data(), many.size(), out.data());
  answer(d_few.data(), few.size(), out.data() + many.size());
  std::vector<float> expected = exact_sums(many);
  for (const float sum : exact_sums(few)) expected.push_back(sum);
  REQUIRE(course::same(out.download(), expected, "sums of both calls"));
}

// Promise: a call is in order with what the default stream does before and after it, without a wait (DATA RACE).
TEST_CASE("beat_scan: copies before and after a call, in the same stream") {
  if (!is_tried()) return;
  const std::vector<float> one = kExact[0].values(3000), other(3000, 2.5f);
  INFO(text_of(one.size(), kExact[0].text, 0, 0)
       << ", then all are 2.5" << challenge_checks::kBetweenCopies);
  BeatScan answer;
  const auto found = challenge_checks::between_copies(
      one, other, std::vector<float>(one.size(), 7.0f),
      [&](const float* x, float* out) { answer(x, one.size(), out); });
  REQUIRE(course::same(found.first, exact_sums(one), "the copy of d_out"));
  REQUIRE(course::same(found.second, exact_sums(other), "d_out"));
}

// Promise: a sum that needs no rounding is exact, however many blocks share the numbers, and after a call with few.
// Promise: blocks may start in any order (the CPU device starts the last one first; a GPU may hang).
TEST_CASE("beat_scan: many tiles") {
  if (course::has_run_before()) return;
  BeatScan answer;
  unsigned calls = 0;
  for (const unsigned n : {(1u << 20) + 1001, 1000u, 150'000u}) {
    INFO("call " << ++calls << " of one object; " << text_of(n, kExact[0].text, 1, 2));
    course::with_seed(2, [&] { beat_scan_check::check(answer, kExact[0].values(n), 1, 2); });
  }
}

// Promise: an infinity or a NaN reaches the sums from its place on, and no sum before it.
TEST_CASE("beat_scan: infinities and NaN") {
  struct Place {
    std::size_t i;
    float value;
  };
  const std::vector<Place> of_cases[] = {{{0, INFINITY}},
                                         {{0, -INFINITY}},
                                         {{77, INFINITY}},
                                         {{4098, -INFINITY}},
                                         {{5, INFINITY}, {3000, -INFINITY}},
                                         {{2051, NAN}},
                                         {{3, std::bit_cast<float>(~0u)}},
                                         {{2051, std::bit_cast<float>(0x7fff'ffffu)}},
                                         {{6999, NAN}}};
  BeatScan answer;
  for (const std::vector<Place>& places : of_cases) {
    if (!is_tried()) continue;
    std::vector<float> x(7000, 1.0f);
    std::string text = "ones, but";
    for (const Place& place : places) {
      x[place.i] = place.value;
      text += (&place == &places[0] ? " x[" : " and x[") + std::to_string(place.i) +
              "] = " + course::number_text(place.value);
    }
    INFO(text_of(x.size(), text, 0, 0));
    REQUIRE(near_sums(beat_scan_check::scanned(answer, x, 0, 0), x));
  }
}

// Promise: other sums are as near as i float additions in any order.
TEST_CASE("beat_scan: sums that are rounded are near the exact ones") {
  const Kind& all_bits = challenge_checks::kAllBits;
  for (const std::size_t n : {1025u, 8191u}) {
    if (!is_tried()) continue;
    const std::vector<float> x = all_bits.values(n);
    INFO(text_of(n, all_bits.text, 1, 0));
    BeatScan answer;
    REQUIRE(near_sums(beat_scan_check::scanned(answer, x, 1, 0), x));
  }
}

// Promise: any float may be a sum, those of equal bytes, too, which memset makes.
TEST_CASE("beat_scan: all sums are the same number, of many kinds") {
  BeatScan answer;
  for (const unsigned bits : {0x7f7f'7f7fu, 0x0101'0101u, 0x8080'8080u, 0xccccccccu, 0xeeee'eeeeu,
                              0xfefe'fefeu, 0x7f80'0000u, 0x3f80'0000u}) {
    if (!is_tried()) continue;
    std::vector<float> x(20'000, 0.0f);
    x[0] = std::bit_cast<float>(bits);
    INFO(text_of(x.size(), "x[0] = " + course::number_text(x[0]) + ", the others are 0", 0, 0));
    REQUIRE(near_sums(beat_scan_check::scanned(answer, x, 0, 0), x));
  }
}

// Promise: sums that need no rounding are exact, also those before a number that is much larger than they are.
TEST_CASE("beat_scan: one large number among ones") {
  BeatScan answer;
  for (const std::size_t place : {1u, 2u, 3u, 5u, 30u, 100u, 1023u, 2050u, 4099u, 6998u}) {
    if (!is_tried()) continue;
    std::vector<float> x(7000, 1.0f);
    x[place] = 0x1p30f;
    INFO(text_of(x.size(), "ones, but x[" + std::to_string(place) + "] = 2^30", 0, 0));
    REQUIRE(near_sums(beat_scan_check::scanned(answer, x, 0, 0), x));
  }
}

/// Of so many numbers.
void check_few_ones(std::size_t n) {
  INFO("n = " << n << ": one number in 2^20 is 1, x[5] is the first of them; the others are 0");
  course::DeviceBuffer<float> x(n);
  course::launch(fill_with_few_ones, {4096, 256}, x.data(), n);
  course::GuardedBuffer<float> out(n);
  auto wrong = course::DeviceBuffer<unsigned long long>::zeros(1);
  BeatScan answer;
  answer(x.data(), n, out.data());
  course::launch(count_wrong_sums, {4096, 256}, out.data(), n, wrong.data());
  REQUIRE(course::same(wrong.front(), 0ull, "sums that are wrong"));
  REQUIRE(out.intact("d_out"));
}

// Promise: n may exceed 2^32 (GPU only).
TEST_CASE("beat_scan: more than 2^32 numbers") {
  constexpr std::size_t n = (std::size_t{1} << 32) + 77;
  course::skip_without_memory(2 * n * sizeof(float));
  check_few_ones(n);
}

// Promise: n may be any number: blocks of a grid with a limit may have no share of one more than a power of two (GPU only).
TEST_CASE("beat_scan: one more than 2^20 to 2^27 numbers") {
  course::skip_without_memory((std::size_t{2} << 27) * sizeof(float));
  for (unsigned power = 20; power <= 27; ++power) check_few_ones((std::size_t{1} << power) + 1);
}

// Promise: more than one block works: the busiest one makes at most three
// quarters of the loads and stores.
// Promise: kernels read the numbers, not the host.
TEST_CASE("beat_scan: work for more than one block") {
  course::skip_without_counters();
  if (course::has_run_before()) return;
  constexpr std::size_t n = 1 << 18;
  INFO("n = " << n);
  const auto d_x = course::DeviceBuffer<float>::from(kExact[0].values(n));
  course::DeviceBuffer<float> out(n);
  BeatScan answer;
  const auto counters = course::count_shuffled([&] { answer(d_x.data(), n, out.data()); });
  REQUIRE(course::kernels_load(*counters, n * sizeof(float)));
  const auto requests = counters->global_loads + counters->global_stores;
  REQUIRE(course::at_most(counters->busiest_block_requests, requests * 3 / 4,
                          "loads and stores of global memory by the busiest block",
                          "other SMs are idle while one block works: share the tiles"));
}

}  // namespace beat_scan_check
