// Check of the exercise fast_atomic_add_u16: every length, both alignments, counters that pass
// 65535 beside counters that must not notice, crowds at the ends, and the number of atomics.
#include "fast_atomic_add_u16.cuh"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <course/check.cuh>
#include <course/placed.cuh>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace fast_atomic_add_u16_check {

using Launch = course::LaunchShape;
using u16 = unsigned short;

/// Adds values[i] to the counter index[i], for all i < n.
__global__ void add_all(u16* counters, std::size_t length, const unsigned* index, const u16* values,
                        std::size_t n) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += stride) {
    fast_atomic_add_u16(counters, index[i], length, values[i]);
  }
}

enum class Kind { ones, small, large, full };
constexpr Kind kKinds[] = {Kind::ones, Kind::small, Kind::large, Kind::full};

std::string to_string(Kind kind) {
  switch (kind) {
    case Kind::ones:
      return "ones, to counters that hold 0";
    case Kind::small:
      return "0 to 999, to counters that hold 65000 and more";
    case Kind::large:
      return "40000 to 65535, to counters that hold 1";
    case Kind::full:
      return "ones, to counters that hold 65535";
  }
  return "";
}

struct Input {
  std::vector<u16> first;       // what the counters hold before
  std::vector<unsigned> index;  // of the additions
  std::vector<u16> values;
};

/// n additions to counters in no order.
Input make_input(Kind kind, std::size_t length, std::size_t n) {
  const std::vector<unsigned> random = course::position_values<unsigned>(2 * n + length);
  Input input;
  for (std::size_t t = 0; t < length; ++t) {
    const unsigned r = random[2 * n + t];
    const unsigned first = kind == Kind::small   ? 65000 + r % 536
                           : kind == Kind::full  ? 65535
                           : kind == Kind::large ? 1
                                                 : 0;
    input.first.push_back(static_cast<u16>(first));
  }
  for (std::size_t i = 0; i < n; ++i) {
    const unsigned r = random[2 * i];
    const unsigned value = kind == Kind::small ? r - 1 : kind == Kind::large ? 40000 + r * 25 : 1;
    input.index.push_back(static_cast<unsigned>(random[2 * i + 1] % length));
    input.values.push_back(static_cast<u16>(value));
  }
  return input;
}

/// What the counters hold after, and how often one of them passes 65535, in any order.
struct Expected {
  std::vector<u16> counters;
  std::uint64_t passes = 0;
};
Expected expected(const Input& input) {
  std::vector<std::uint64_t> sums(input.first.begin(), input.first.end());
  for (std::size_t i = 0; i < input.index.size(); ++i) sums[input.index[i]] += input.values[i];
  Expected result;
  for (const std::uint64_t sum : sums) {
    result.counters.push_back(static_cast<u16>(sum % 65536));
    result.passes += sum / 65536;
  }
  return result;
}

std::string describe(std::size_t length, bool odd, std::size_t n, Launch launch, Kind kind) {
  return std::to_string(length) + " counters, base is " + (odd ? "no" : "a") +
         " multiple of 4; n = " + std::to_string(n) + " additions: " + to_string(kind) + "; " +
         std::to_string(launch.grid) + " blocks of " + std::to_string(launch.block) + " threads";
}

void check_input(const Input& input, bool odd, Launch launch, int launches = 1) {
  course::Placed<u16> counters(input.first, odd ? 1 : 0);
  const auto index = course::DeviceBuffer<unsigned>::from(input.index);
  const auto values = course::DeviceBuffer<u16>::from(input.values);
  std::vector<u16> right = input.first;
  for (int k = 0; k < launches; ++k) {
    add_all<<<launch.grid, launch.block>>>(counters.data(), counters.size(), index.data(),
                                           values.data(), values.size());
    CUDA_CHECK_LAUNCH();
    right = expected({right, input.index, input.values}).counters;
  }
  REQUIRE(course::same(counters.download(), right, "counters"));
  REQUIRE(counters.intact("counters"));
}

/// Ok if there were at most `most` atomics.
course::Verdict at_most(std::uint64_t found, std::uint64_t most) {
  if (found <= most) return {};
  return {false,
          "atomics: expected at most " + std::to_string(most) + ", found " + std::to_string(found) +
              "; one a call, and one more where 65535 is passed" +
              (found > 2 * most ? ".\nThat many come from a loop: does an atomicCAS work on a "
                                  "counter whose word lies in the array?\nThe first and the "
                                  "last counter mostly share theirs with a neighbour, too"
                                : "")};
}

}  // namespace fast_atomic_add_u16_check

using namespace fast_atomic_add_u16_check;

TEST_CASE("fast_atomic_add_u16: one addition, at every place of short arrays") {
  for (std::size_t length = 1; length <= 5; ++length) {
    for (const bool odd : {false, true}) {
      for (unsigned index = 0; index < length; ++index) {
        std::vector<u16> first(length, 7);
        first[index] = 100;
        INFO(length << " counters, base is " << (odd ? "no" : "a")
                    << " multiple of 4; one thread adds 23 to counter " << index
                    << ", which holds 100; the others hold 7");
        check_input({first, {index}, {23}}, odd, {1, 1});
      }
    }
  }
}

TEST_CASE("fast_atomic_add_u16: one addition to, and past, 65535, at every place") {
  for (std::size_t length = 1; length <= 4; ++length) {
    for (const bool odd : {false, true}) {
      for (unsigned index = 0; index < length; ++index) {
        for (const auto& [held, value] :
             {std::pair<u16, u16>{65534, 1}, {65535, 1}, {65534, 3}, {65535, 65535}, {1, 65535}}) {
          for (const u16 others : {u16{0}, u16{65535}}) {
            std::vector<u16> first(length, others);
            first[index] = held;
            INFO(length << " counters, base is " << (odd ? "no" : "a")
                        << " multiple of 4; one thread adds " << value << " to counter " << index
                        << ", which holds " << held << "; the others hold " << others);
            check_input({first, {index}, {value}}, odd, {1, 1});
          }
        }
      }
    }
  }
}

TEST_CASE("fast_atomic_add_u16: every length, every kind of value") {
  std::size_t turn = 0;  // another grid each time
  for (const std::size_t length : {1u, 2u, 3u, 4u, 5u, 32u, 33u, 257u}) {
    const std::vector<Launch> launches = course::launch_shapes(500);
    for (const bool odd : {false, true}) {
      for (const Kind kind : kKinds) {
        const Launch launch = launches[turn++ * 5 % launches.size()];
        INFO(describe(length, odd, 500, launch, kind));
        check_input(make_input(kind, length, 500), odd, launch);
      }
    }
  }
}

TEST_CASE("fast_atomic_add_u16: two launches add twice") {
  INFO("two launches; " << describe(5, true, 300, {3, 96}, Kind::small));
  check_input(make_input(Kind::small, 5, 300), true, {3, 96}, 2);
}

TEST_CASE("fast_atomic_add_u16: a crowd at two counters") {
  const std::size_t n = course::kCpuDevice ? 1'025 : 100'003;
  const Launch launch{static_cast<unsigned>((n + 255) / 256), 256};
  for (const bool odd : {false, true}) {
    for (const Kind kind : {Kind::small, Kind::large}) {
      for (const unsigned place : {0u, 1u, 2u, 5u}) {  // and its neighbour
        Input input = make_input(kind, 7, n);
        for (std::size_t i = 0; i < n; ++i) {
          input.index[i] = place + static_cast<unsigned>((input.index[i] + i) % 2);
        }
        INFO("all additions go to the counters " << place << " and " << place + 1 << "; "
                                                 << describe(7, odd, n, launch, kind));
        check_input(input, odd, launch);
      }
    }
  }
}

TEST_CASE("fast_atomic_add_u16: the lanes of a warp go in step") {
  for (const std::size_t length : {1u, 2u, 3u, 64u}) {
    for (const bool odd : {false, true}) {
      for (const Kind kind : {Kind::small, Kind::large}) {
        INFO(describe(length, odd, 257, {3, 96}, kind));
        course::count([&] { check_input(make_input(kind, length, 257), odd, {3, 96}); });
      }
    }
  }
}

TEST_CASE("fast_atomic_add_u16: many counters, many additions") {
  const std::size_t n = course::kBigSize;
  const Launch launch{static_cast<unsigned>((n + 255) / 256), 256};
  INFO(describe(4999, true, n, launch, Kind::large));
  check_input(make_input(Kind::large, 4999, n), true, launch);
}

TEST_CASE("fast_atomic_add_u16: one atomic, and one more where 65535 is passed") {
  course::skip_without_counters();
  for (const bool odd : {false, true}) {
    for (const unsigned pairs : {1u, 5u}) {
      for (const Kind kind : kKinds) {
        const unsigned length = 2 * pairs + (odd ? 2 : 0);  // two of odd arrays are alone
        Input input = make_input(kind, length, 512);
        for (unsigned& index : input.index) index = (odd ? 1 : 0) + index % (2 * pairs);
        INFO(describe(length, odd, 512, {4, 128}, kind)
             << "; none to a counter that is alone in its word");
        const auto counters = course::count([&] { check_input(input, odd, {4, 128}); });
        REQUIRE(at_most(counters->global_atomic_lanes, 512 + expected(input).passes));
      }
    }
  }
}

TEST_CASE("fast_atomic_add_u16: more than 65536 counters") {
  constexpr unsigned length = 70'000, n = 500;
  Input input = make_input(Kind::large, length, n);
  for (unsigned i = 0; i < n; ++i) {  // half all over the array, half around 65536
    input.index[i] = i % 2 == 0 ? i * (length / n) + 1 : 65'530 + i / 2 % 10;
  }
  INFO(describe(length, false, n, {2, 256}, Kind::large));
  const auto counters = course::count([&] { check_input(input, false, {2, 256}); });
  if (counters) REQUIRE(at_most(counters->global_atomic_lanes, n + expected(input).passes));
}

TEST_CASE("fast_atomic_add_u16: more than 2^31 counters") {
  constexpr std::size_t length = (std::size_t{1} << 31) + 4;
  course::skip_without_memory(length * sizeof(u16));
  auto counters = course::DeviceBuffer<u16>::zeros(length);
  const std::vector<unsigned> last = {0x8000'0000u, 0x8000'0001u, 0x8000'0003u};
  const auto index = course::DeviceBuffer<unsigned>::from(last);
  const auto values = course::DeviceBuffer<u16>::from({5, 6, 7});
  add_all<<<1, 32>>>(counters.data(), length, index.data(), values.data(), last.size());
  CUDA_CHECK_LAUNCH();
  std::vector<u16> found(4);
  CUDA_CHECK(cudaMemcpy(found.data(), counters.data() + (length - 4), 4 * sizeof(u16),
                        cudaMemcpyDeviceToHost));
  REQUIRE(course::same(found, {5, 6, 0, 7}, "the last four counters"));
}
