// Check of fast_atomic_add_u16: every length, both alignments, counters that pass 65535 beside
// counters that must not change, many additions to one word, the number of atomics.
#include "fast_atomic_add_u16.cuh"

#include <catch2/catch_test_macros.hpp>
#include <course/check.cuh>
#include <course/thread_number.cuh>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace fast_atomic_add_u16_check {

using Launch = course::LaunchShape;
using u16 = unsigned short;

// ---- counters, and what is added to them -------------------------------------------------------

/// What the counters hold before: `first` and up to `spread` - 1 more; and what is added.
struct Kind {
  unsigned first, spread;
  course::DataKind<u16> values;
};
const Kind kOnes{0, 1, {"ones, to counters that hold 0", [](auto) { return u16{1}; }}};
const Kind kSmall{65000, 536, {"0 to 999, to counters that hold 65000 and more", [](auto e) {
                                 return static_cast<u16>(e.random - 1);
                               }}};
const Kind kLarge{1, 1, {"40000 to 65535, to counters that hold 1", [](auto e) {
                           return static_cast<u16>(40000 + e.random * 25);
                         }}};
const Kind kFull{65535, 1, {"ones, to counters that hold 65535", kOnes.values.element}};

struct Input {
  std::vector<u16> first, values;
  std::vector<unsigned> index;
};
/// n additions to counters in no order.
Input make_input(const Kind& kind, std::size_t length, std::size_t n) {
  Input input{{}, kind.values.values(n), course::position_values<unsigned>(n, 2)};
  for (const unsigned r : course::position_values<unsigned>(length, 3)) {
    input.first.push_back(static_cast<u16>(kind.first + r % kind.spread));
  }
  for (unsigned& index : input.index) index %= static_cast<unsigned>(length);
  return input;
}

/// What the counters hold after, without the wrap at 65536.
std::vector<std::uint64_t> sums(const Input& input, unsigned launches = 1) {
  std::vector<std::uint64_t> sums(input.first.begin(), input.first.end());
  for (std::size_t i = 0; i < input.index.size(); ++i)
    sums[input.index[i]] += launches * input.values[i];
  return sums;
}

/// "its first value 65000 and 3 added values: 17, 25, 4".
std::string inputs_text(const Input& input, std::size_t counter) {
  std::string list;
  std::size_t count = 0;
  for (std::size_t i = 0; i < input.index.size(); ++i) {
    if (input.index[i] != counter || ++count > 6) continue;
    list += (count > 1 ? ", " : ": ") + std::to_string(input.values[i]);
  }
  const std::string first = "its first value " + std::to_string(input.first[counter]);
  if (count == 0) return first + " alone: nothing is added to it";
  return first + " and " + course::counted(count, "added value") + list +
         (count > 6 ? ", ..." : "");
}

std::string place_text(std::size_t length, bool odd) {
  return course::counted(length, "counter") + ", base is " + (odd ? "no" : "a") +
         " multiple of 4; ";
}
std::string describe(std::size_t length, bool odd, std::size_t n, Launch launch, const Kind& kind) {
  return place_text(length, odd) + course::case_text(n, kind.values.text, "add_all", launch);
}

// ---- launches ----------------------------------------------------------------------------------

constexpr Launch kMany{course::kCpuDevice ? 5 : 400, 256};

/// Adds values[i] to the counter first + index[i], for all i < n. `counters` is the first one of
/// `length` that are there; those before it are not.
__global__ void add_all(u16* counters, std::size_t first, std::size_t length, const unsigned* index,
                        const u16* values, std::size_t n) {
  for (std::size_t i = course::thread_number(); i < n; i += course::thread_count()) {
    fast_atomic_add_u16(counters - first, first + index[i], first + length, values[i]);
  }
}

/// `before` counters of the array are not in memory.
void check_input(const Input& input, bool odd, Launch launch, unsigned launches = 1,
                 std::size_t before = 0) {
  course::Placed<u16> counters(input.first, odd ? 1 : 0);
  const auto index = course::DeviceBuffer<unsigned>::from(input.index);
  const auto values = course::DeviceBuffer<u16>::from(input.values);
  for (unsigned k = 0; k < launches; ++k) {
    course::launch(add_all, {launch.grid, launch.threads()}, counters.data(), before,
                   counters.size(), index.data(), values.data(), values.size());
  }
  const std::vector<std::uint64_t> right = sums(input, launches);  // modulo 65536
  REQUIRE(course::same(counters.download(), {right.begin(), right.end()}, "counters",
                       [&](std::size_t k) { return inputs_text(input, k); }));
  REQUIRE(counters.intact("counters"));
}

/// n additions of this kind to `length` counters.
void check_kind(const Kind& kind, std::size_t length, bool odd, std::size_t n, Launch launch,
                unsigned launches = 1) {
  INFO(describe(length, odd, n, launch, kind) << (launches > 1 ? "; two launches" : ""));
  check_input(make_input(kind, length, n), odd, launch, launches);
}

// Promise: `value` is added to base[index], modulo 65536: after 65535 a counter goes on at 0.
// Promise: the address of `base` is a multiple of 2, and perhaps not of 4 (MISALIGNED ACCESS).
// Promise: memory outside of base[0..length-1] is neither read nor written (OUT OF
// BOUNDS and UNINITIALISED MEMORY).
// Promise: where half of the counter's word is outside of the array, atomicCAS of 16 bits adds to
// the counter (DATA RACE of a plain addition).
TEST_CASE("fast_atomic_add_u16: one addition, up to and past 65535, at every place") {
  const u16 cases[][2] = {{100, 23},  {65534, 1},     {65535, 1},
                          {65534, 3}, {65535, 65535}, {1, 65535}};
  for (std::size_t length = 1; length <= 5; ++length) {
    for (unsigned place = 0; place < 2 * length; ++place) {
      for (const auto& [held, value] : cases) {
        for (const u16 others : {u16{0}, u16{7}, u16{65535}}) {
          const bool odd = place % 2 != 0;
          const unsigned index = place / 2;
          std::vector<u16> first(length, others);
          first[index] = held;
          INFO(place_text(length, odd)
               << "one thread adds " << value << " to counter " << index << ", which holds " << held
               << "; the others hold " << others);
          check_input({first, {value}, {index}}, odd, {1, 1});
        }
      }
    }
  }
}

// Promise: when the kernel has ended, every counter holds its first value plus all that
// was added to it, modulo 65536.
TEST_CASE("fast_atomic_add_u16: every length, every kind of value, two launches") {
  std::size_t turn = 0;  // another grid each time
  const std::vector<Launch> launches = course::launch_shapes(500);
  for (const std::size_t length : {1u, 2u, 3u, 4u, 5u, 32u, 33u, 257u}) {
    for (const bool odd : {false, true}) {
      for (const Kind* const kind : {&kOnes, &kSmall, &kLarge, &kFull}) {
        course::in_launch(launches[turn++ * 5 % launches.size()],
                          [&](Launch launch) { check_kind(*kind, length, odd, 500, launch); });
      }
    }
  }
  check_kind(kSmall, 5, true, 300, {3, 96}, 2);
  check_kind(kLarge, 5, false, 300, {2, 128, true});
  check_kind(kLarge, 4999, true, course::kBigSize, kMany);
}

// Promise: additions are atomic (DATA RACE), and every counter is right whatever
// was added to its neighbour.
TEST_CASE("fast_atomic_add_u16: many additions to two counters") {
  const std::size_t n = course::kCpuDevice ? 1'025 : 100'003;
  for (const unsigned place : {0u, 1u, 2u, 5u}) {  // and its neighbour
    for (const Kind* const kind : {&kSmall, &kLarge}) {
      Input input = make_input(*kind, 7, n);
      for (unsigned i = 0; i < n; ++i) input.index[i] = place + (input.index[i] + i) % 2;
      for (const bool odd : {false, true}) {
        INFO("all to the counters " << place << " and " << place + 1 << "; "
                                    << describe(7, odd, n, kMany, *kind));
        check_input(input, odd, kMany);
      }
    }
  }
}

// Promise: what a plain or volatile load has read is confirmed by atomicCAS (a plain load is a DATA
// RACE; where lanes go in step, what a volatile one has read is often out of date).
TEST_CASE("fast_atomic_add_u16: the lanes of a warp go in step") {
  for (const std::size_t length : {1u, 2u, 3u, 64u}) {
    for (const Kind* const kind : {&kSmall, &kLarge}) {
      course::count([&] { check_kind(*kind, length, false, 257, {3, 96}); });
      course::count([&] { check_kind(*kind, length, true, 257, {3, 96}); });
    }
  }
}

// ---- how many atomics, and large arrays --------------------------------------------------------

/// Ok if there is one atomic per addition, and one more for each time that a counter passes 65535.
course::Verdict few_atomics(const course::Counters& counters, const Input& input) {
  std::uint64_t most = input.index.size();
  for (const std::uint64_t sum : sums(input)) most += sum / 65536;
  const std::string hint = "one per call, and one more where 65535 is passed";
  const char* const loop =
      ".\nThat many come from a loop: does an atomicCAS work on a counter whose word lies in the "
      "array?\nThe first and the last counter mostly share theirs with a neighbour, too";
  const bool loops = counters.global_atomic_lanes > 2 * most;
  return course::at_most(counters.global_atomic_lanes, most, "atomics", loops ? hint + loop : hint);
}

// Promise: if both halves of the counter's word are in the array, a call makes one atomic, on the
// word, and at most one more if it takes the counter past 65535; it does not loop.
TEST_CASE("fast_atomic_add_u16: one atomic, and one more where 65535 is passed") {
  course::skip_without_counters();
  for (const bool odd : {false, true}) {
    for (const unsigned pairs : {1u, 5u}) {
      for (const unsigned alone : {0u, 1u}) {  // at the end; at the start if base is odd
        for (const Kind* const kind : {&kOnes, &kSmall, &kLarge, &kFull}) {
          const unsigned length = (odd ? 1 : 0) + 2 * pairs + alone;
          Input input = make_input(*kind, length, 512);
          for (unsigned& index : input.index) index = (odd ? 1 : 0) + index % (2 * pairs);
          INFO(describe(length, odd, 512, {4, 128}, *kind)
               << "; none to a counter that is alone in its word");
          const auto counters = course::count([&] { check_input(input, odd, {4, 128}); });
          REQUIRE(few_atomics(*counters, input));
        }
      }
    }
  }
}

// Promise: a call makes one atomic if it does not take the counter past 65535, however large the value is.
TEST_CASE("fast_atomic_add_u16: one atomic for a large value, up to 65535 and not past it") {
  course::skip_without_counters();
  Input input;
  for (unsigned i = 0; i < 128; ++i) {
    const auto value = static_cast<u16>(65'535 - i * 700 % 33'000);
    input.values.push_back(value);
    input.first.push_back(static_cast<u16>(i % 2 == 0 ? 0 : 65'535 - value));
    input.index.push_back(i);
  }
  INFO(place_text(128, false) << "each holds 0 or 65535 less what is added to it, 32635 to 65535; "
                              << course::launch_text("add_all", {1, 128}));
  const auto counters = course::count([&] { check_input(input, false, {1, 128}); });
  REQUIRE(few_atomics(*counters, input));
}

// Promise: the array has any length: counters past the first 65536 are added to like all others.
TEST_CASE("fast_atomic_add_u16: more than 65536 counters") {
  constexpr unsigned length = 70'000, n = 500;
  Input input = make_input(kLarge, length, n);  // half all over the array, half around 65536
  for (unsigned i = 0; i < n; ++i) {
    input.index[i] = i % 2 == 0 ? i * (length / n) + 1 : 65'530 + i / 2 % 10;
  }
  INFO(describe(length, false, n, {2, 256}, kLarge));
  const auto counters = course::count([&] { check_input(input, false, {2, 256}); });
  if (counters) REQUIRE(few_atomics(*counters, input));
}

// Promise: length and index may exceed 2^32.
TEST_CASE("fast_atomic_add_u16: more than 2^31 and 2^32 counters") {
  // Only the last nine of them are in memory; the first of the nine is the lower half of its word.
  for (const std::size_t near : {std::size_t{1} << 31, std::size_t{1} << 32}) {
    for (const bool odd : {false, true}) {
      const std::size_t before = near - (odd ? 3 : 4);
      Input input = make_input(kLarge, 9, 256);
      for (unsigned& index : input.index) index %= 8;  // the ninth may be alone in its word
      INFO("calls for the last nine of "
           << before + 9 << " counters, base is " << (odd ? "no" : "a") << " multiple of 4;\n"
           << "counters[0] is base[" << before << "]\n"
           << course::case_text(256, kLarge.values.text, "add_all", {2, 128}));
      const auto counters = course::count([&] { check_input(input, false, {2, 128}, 1, before); });
      if (counters) REQUIRE(few_atomics(*counters, input));
    }
  }
}

}  // namespace fast_atomic_add_u16_check
