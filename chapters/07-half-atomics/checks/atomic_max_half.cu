// Check of the exercise atomic_max_half: every pair of awkward halves at every address, bit by bit;
// many threads at one element and at both halves of one word; launches in a row.
#include "atomic_max_half.cuh"

#include <catch2/catch_test_macros.hpp>
#include <course/check.cuh>
#include <cstddef>
#include <string>
#include <vector>

#include "checks/one_half.cuh"
#include "half_bits.cuh"

namespace atomic_max_half_check {

using half_checks::Bits;
using half_checks::bits_of;
using half_checks::describe;
using half_checks::half_text;
using half_checks::halves;
using half_checks::is_nan;
using half_checks::kInfinity;
using half_checks::kMinusInfinity;
using half_checks::kMinusZero;
using half_checks::position;
using half_checks::same_bits;
using half_checks::smaller;
using Launch = course::LaunchShape;
using one_half_checks::Beside;

struct Maximum {
  __device__ __half operator()(__half* address, __half value) const {
    return atomic_max_half(address, value);
  }
  /// What the exercise promises, in other words than the solution's: the order of all halves, in
  /// which a NaN comes before every number.
  static Bits result(Bits old, Bits value) {
    if (is_nan(value)) return old;
    return is_nan(old) || position(value) > position(old) ? value : old;
  }
};

// ---- data --------------------------------------------------------------------------------------

const std::vector<Bits> kNumbers = {kMinusInfinity, 0xFBFF,     0xC000, 0xBC00, 0x8400,
                                    0x8001,         kMinusZero, 0x0000, 0x0001, 0x0400,
                                    0x3C00,         0x3C01,     0x4000, 0x7BFF, kInfinity};
const std::vector<Bits> kNans = {0x7FFF, 0x7E00, 0xFE00, 0x7D01, 0xFFFF, 0xFC01};

using Kind = course::DataKind<Bits>;

float mixed(course::Element e) { return static_cast<float>(e.i * 7919 % 1009) - 500.0f; }
float rising(course::Element e) { return 0.25f * static_cast<float>(e.i % 1600) - 200.0f; }
Bits nan(course::Element e) { return kNans[e.i % kNans.size()]; }

const Kind kRising{"each larger than the one before",
                   [](course::Element e) { return bits_of(rising(e)); }};
const Kind kMixed{"both signs, in no order", [](course::Element e) { return bits_of(mixed(e)); }};
const std::vector<Kind> kKinds = {
    kRising,
    {"each smaller than the one before", [](course::Element e) { return bits_of(-rising(e)); }},
    kMixed,
    {"all below zero", [](course::Element e) { return bits_of(mixed(e) - 600.0f); }},
    {"-0 and 0", [](course::Element e) { return e.i % 3 == 1 ? Bits{0} : kMinusZero; }},
    {"all the same", [](course::Element) { return bits_of(-12.5f); }},
    {"infinities, subnormals, zeros",
     [](course::Element e) { return kNumbers[e.i * 7 % kNumbers.size()]; }},
    {"numbers and some NaN",
     [](course::Element e) { return e.i % 5 != 2 ? nan(e) : bits_of(mixed(e)); }},
    {"nothing but NaN", nan},
};

const std::vector<Bits> kStarts = {kMinusInfinity, kMinusZero, 0xFE01, 0x4A00, 0x7D01};

// ---- one thread per cell -----------------------------------------------------------------------

/// Element 2 * i gets values[i], in global and in shared memory. No thread works on those between.
__global__ void each_element_twice(const Bits* values, unsigned n, __half* x, __half* shared_x,
                                   __half* returned, __half* shared_returned) {
  __shared__ __align__(4) __half s_x[2 * 128];
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned first = 2 * blockIdx.x * blockDim.x, own = 2 * blockDim.x;
  for (unsigned k = threadIdx.x; k < own; k += blockDim.x) s_x[k] = shared_x[first + k];
  __syncthreads();
  if (i < n) {
    returned[i] = atomic_max_half(&x[2 * i], __ushort_as_half(values[i]));
    shared_returned[i] = atomic_max_half(&s_x[2 * threadIdx.x], __ushort_as_half(values[i]));
  }
  __syncthreads();
  for (unsigned k = threadIdx.x; k < own; k += blockDim.x) shared_x[first + k] = s_x[k];
}

/// Every cell with every value, each pair on its own; the elements between them must stay.
void check_pairs(const std::vector<Bits>& cells, const std::vector<Bits>& values, unsigned offset) {
  std::vector<Bits> start(offset, kMinusZero), value;
  for (const Bits c : cells) {
    for (const Bits v : values) {
      start.push_back(c);
      start.push_back(value.size() % 3 == 0   ? Bits{0x7D01}
                      : value.size() % 3 == 1 ? v
                                              : kMinusZero);
      value.push_back(v);
    }
  }
  const std::size_t n = value.size(), blocks = (n + 127) / 128;
  start.resize(offset + 2 * 128 * blocks + offset, kMinusZero);  // whole blocks and whole words
  const std::vector<Bits> shared_start(start.begin() + offset, start.end());
  const auto d_value = course::DeviceBuffer<Bits>::from(value);
  course::DeviceBuffer<__half> x(start.size()), shared_x(shared_start.size()), returned(n),
      shared_returned(n);
  half_checks::set_bits(x.data(), start);
  half_checks::set_bits(shared_x.data(), shared_start);
  atomic_max_half_check::each_element_twice<<<static_cast<unsigned>(blocks), 128>>>(
      d_value.data(), static_cast<unsigned>(n), x.data() + offset, shared_x.data(), returned.data(),
      shared_returned.data());
  CUDA_CHECK_LAUNCH();
  const std::vector<Bits> after = half_checks::get_bits(x.data(), start.size()),
                          shared_after =
                              half_checks::get_bits(shared_x.data(), shared_start.size()),
                          found = half_checks::get_bits(returned.data(), n),
                          shared_found = half_checks::get_bits(shared_returned.data(), n);
  std::vector<Bits> old;
  for (std::size_t i = 0; i < n; ++i) old.push_back(start[offset + 2 * i]);
  const auto is_right = [&](std::size_t i) {
    const std::size_t at = offset + 2 * i;
    const Bits expected = Maximum::result(old[i], value[i]);
    return same_bits("", after[at], expected).ok &&
           same_bits("", shared_after[2 * i], expected).ok && same_bits("", found[i], old[i]).ok &&
           same_bits("", shared_found[i], old[i]).ok;
  };
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t at = offset + 2 * i;
    INFO("the cell held " << half_text(start[at]) << ", the value is " << half_text(value[i])
                          << "; its address is " << (at % 2 == 0 ? "a" : "no")
                          << " multiple of 4, the other half of the word held "
                          << half_text(start[at ^ 1])
                          << (is_right(i) ? "" : course::alike_text(old, value, i, is_right)));
    const Bits expected = Maximum::result(start[at], value[i]);
    REQUIRE(same_bits("the cell, in global memory", after[at], expected));
    REQUIRE(same_bits("the cell, in shared memory", shared_after[2 * i], expected));
    REQUIRE(same_bits("returned, from global memory", found[i], start[at]));
    REQUIRE(same_bits("returned, from shared memory", shared_found[i], start[at]));
    REQUIRE(
        same_bits("the other half of the word, in global memory", after[at ^ 1], start[at ^ 1]));
    REQUIRE(same_bits("its neighbour, in shared memory", shared_after[2 * i + 1], start[at + 1]));
  }
}

// ---- many threads ------------------------------------------------------------------------------

/// Threads that bring values to x[0] to x[elements - 1].
void check_few(const std::vector<Bits>& values, unsigned elements, unsigned offset, Launch launch) {
  std::vector<Bits> start((offset + elements + 1) / 2 * 2 + 2);
  for (std::size_t k = 0; k < start.size(); ++k) start[k] = kStarts[k % kStarts.size()];
  one_half_checks::check_few<Maximum>(values, elements, start, offset, launch);
}

void check_shared(const std::vector<Bits>& values, unsigned block) {
  one_half_checks::check_shared<Maximum>(
      values, block, {kMinusZero, 0x7D01, kMinusInfinity, 0xFE01, 0x7E00, kMinusZero});
}

// Promise: *address becomes `value` if that is larger: 0.0 is larger than -0.0, infinities and
// subnormals are numbers like all others.
// Promise: `address` is any element of an array in global or shared memory, even or odd.
TEST_CASE("atomic_max_half: every pair of numbers, one thread at each cell") {
  check_pairs(kNumbers, kNumbers, 0);
  check_pairs(kNumbers, kNumbers, 1);
}

// Promise: a NaN, of any sign and any bits, changes nothing as `value`, and in *address it is
// replaced by every number, -infinity included.
// Promise: if `value` is not larger, *address keeps its bits; if it is,
// *address gets the bits of `value`.
TEST_CASE("atomic_max_half: a NaN is no measurement") {
  for (const unsigned offset : {0u, 1u}) {
    check_pairs(kNumbers, kNans, offset);
    check_pairs(kNans, kNumbers, offset);
    check_pairs(kNans, kNans, offset);
  }
}

// Promise: what a plain or volatile load has read is confirmed by atomicCAS
// (DATA RACE of a plain load).
TEST_CASE("atomic_max_half: what a volatile load has found is confirmed by atomicCAS") {
  course::skip_without_counters();
  std::vector<Bits> all = kNumbers;
  all.insert(all.end(), kNans.begin(), kNans.end());
  one_half_checks::check_confirmed<Maximum>(all, all);
}

// Promise: the call is one atomic step, and no update gets lost.
// Promise: the call returns what was there, bit for bit (some order of the calls must explain
// what all of them returned).
TEST_CASE("atomic_max_half: many threads at few elements, at every size") {
  std::size_t turn = 0;  // another grid, another start and other data each time
  for (const std::size_t n : course::kSizes) {
    const std::vector<Launch> launches = course::launch_shapes(n);
    for (const unsigned elements : {1u, 2u, 5u}) {
      const Kind& kind = kKinds[turn % kKinds.size()];
      course::in_launch(launches[turn % launches.size()], [&](Launch launch) {
        INFO(describe(n, " calls: " + kind.text, launch));
        check_few(kind.values(n), elements, static_cast<unsigned>(turn / 2 % 4), launch);
      });
      ++turn;
    }
  }
  for (const unsigned elements : {1u, 5u}) {
    constexpr Launch kFolded{2, 128, true};
    INFO(describe(255, " calls: " + kKinds[0].text, kFolded));
    check_few(kKinds[0].values(255), elements, 1, kFolded);
  }
}

// Promise: the other half of the word keeps its bits, whatever they are, and others may raise it or
// add to it by atomic functions at the same time.
TEST_CASE("atomic_max_half: many threads at one element, and others at its neighbour") {
  std::size_t turn = 0;
  for (const Kind& kind : kKinds) {
    for (const unsigned place : {0u, 1u}) {
      const Launch launch = Launch{turn % 2 == 0 ? 3u : 5u, turn % 2 == 0 ? 96u : 33u};
      const Bits first = kStarts[turn++ % kStarts.size()];
      INFO(describe(300, " calls: " + kind.text, launch));
      const std::vector<Bits> values = kind.values(300);
      one_half_checks::check_one<Maximum>(values, place, Beside::stays, first,
                                          turn % 2 == 0 ? 0x7D01 : kMinusZero, launch);
      const Beside moves = turn / 2 % 2 == 0 ? Beside::grows : Beside::comes_and_goes;
      one_half_checks::check_one<Maximum>(values, place, moves, first, bits_of(2.0f), launch);
    }
  }
}

// Promise: no update gets lost in shared memory, where threads raise both halves of a word.
TEST_CASE("atomic_max_half: both halves of a word of shared memory") {
  for (const Kind& kind : kKinds) {
    for (const unsigned block : {32u, 96u, 250u}) {
      INFO("in shared memory, " << describe(300, " calls: " + kind.text, {300 / block + 1, block}));
      check_shared(kind.values(300), block);
    }
  }
}

// Promise: no update gets lost where the lanes of a warp go in step.
TEST_CASE("atomic_max_half: the lanes of a warp go in step") {
  for (const Kind& kind : kKinds) {
    INFO(describe(130, " calls: " + kind.text, {2, 96}));
    course::count([&] {
      one_half_checks::check_one<Maximum>(kind.values(130), 1, Beside::grows, kMinusInfinity, 0,
                                          {2, 96});
      one_half_checks::check_one<Maximum>(kind.values(130), 1, Beside::comes_and_goes,
                                          kMinusInfinity, 0, {2, 96});
      check_few(kind.values(130), 3, 1, {2, 96});
    });
    INFO("in shared memory");
    course::count([&] { check_shared(kind.values(130), 96); });
  }
}

// Promise: no value is lost if a call has to repeat atomicCAS hundreds of times.
TEST_CASE("atomic_max_half: threads that come too late again and again") {
  const Launch launch{2, 512};
  INFO(describe(1024, " calls: " + kRising.text, launch));
  course::count([&] { check_few(kRising.values(1024), 1, 0, launch); });
}

// Promise: no update gets lost if thousands of threads raise two neighbours, and a launch goes on
// from what the launch before has left.
TEST_CASE("atomic_max_half: thousands of threads, and a second launch") {
  constexpr int kRepeats = course::kCpuDevice ? 1 : 20;  // a lost value may not show at once
  const std::size_t n = course::kCpuDevice ? 1'500 : 100'003;
  const Launch launch{course::blocks_for(n, 256), 256};
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    for (const Kind& kind : {kRising, kMixed}) {
      INFO(describe(n, " calls: " + kind.text, launch));
      check_few(kind.values(n), 2, 0, launch);
    }
  }
  const auto d_numbers = course::DeviceBuffer<Bits>::from(kNumbers);
  const auto d_nans = course::DeviceBuffer<Bits>::from(kNans);
  course::DeviceBuffer<__half> x(2), returned(kNumbers.size());
  half_checks::set_bits(x.data(), {0x7E00, 0x7D01});
  const auto run = [&](const course::DeviceBuffer<Bits>& values) {
    one_half_checks::few_elements<<<2, 32>>>(Maximum{}, values.data(), values.size(), 1, x.data(),
                                             returned.data());
    CUDA_CHECK_LAUNCH();
    return half_checks::get_bits(x.data(), 2);
  };
  INFO("x[0] held NaN (0x7E00); all calls are for x[0]");
  REQUIRE(same_bits("after calls with NaN, x", run(d_nans), {0x7E00, 0x7D01}));
  REQUIRE(same_bits("after calls with NaN, then numbers up to infinity, x", run(d_numbers),
                    {kInfinity, 0x7D01}));
  REQUIRE(same_bits("after calls with NaN, numbers up to infinity, then NaN, x", run(d_nans),
                    {kInfinity, 0x7D01}));
}

}  // namespace atomic_max_half_check
