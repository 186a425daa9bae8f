// Check of the exercise atomic_max_half: every pair of awkward halves in every place, bit by bit;
// many threads at one element and at both halves of one word; launches in a row.
#include "atomic_max_half.cuh"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <course/check.cuh>
#include <cstddef>
#include <string>
#include <vector>

#include "half_bits.cuh"

namespace atomic_max_half_check {

using Launch = course::LaunchShape;

/// What the exercise promises, in other words than the solution's: the position of a half in the
/// order of all of them. A NaN comes before everything.
int position(Bits bits) {
  if (is_nan(bits)) return -0x10000;
  const int magnitude = bits & 0x7FFF;
  return (bits & 0x8000) != 0 ? -1 - magnitude : magnitude;  // -0.0 is just below 0.0
}
Bits maximum(Bits old, Bits value) { return position(value) > position(old) ? value : old; }

// ---- kernels -----------------------------------------------------------------------------------

/// Element i * step gets values[i], in global and in shared memory. With step 2 every second one
/// has nobody who works on it.
__global__ void each_element(const Bits* values, unsigned n, unsigned step, __half* x,
                             __half* shared_x, __half* returned, __half* shared_returned) {
  __shared__ __align__(4) __half s_x[2 * 128];
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned first = step * blockIdx.x * blockDim.x, own = step * blockDim.x;
  for (unsigned k = threadIdx.x; k < own; k += blockDim.x) s_x[k] = shared_x[first + k];
  __syncthreads();
  if (i < n) {
    returned[i] = atomic_max_half(&x[step * i], __ushort_as_half(values[i]));
    shared_returned[i] = atomic_max_half(&s_x[step * threadIdx.x], __ushort_as_half(values[i]));
  }
  __syncthreads();
  for (unsigned k = threadIdx.x; k < own; k += blockDim.x) shared_x[first + k] = s_x[k];
}

/// What happens to the other half of the word meanwhile. If it comes and goes, an old value of it
/// may be there again.
enum class Beside { stays, grows, comes_and_goes };

/// All threads share x[place]. If asked for, every other one adds 1, or 1 and -1 in turn, to its
/// neighbour instead.
__global__ void one_element(const Bits* values, std::size_t n, unsigned place, Beside neighbour,
                            __half* x, __half* returned) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += stride) {
    if (neighbour != Beside::stays && i % 2 == 1) {
      const bool back = neighbour == Beside::comes_and_goes && i % 4 == 3;
      returned[i] = atomicAdd(&x[place ^ 1u], __float2half(back ? -1.0f : 1.0f));
    } else {
      returned[i] = atomic_max_half(&x[place], __ushort_as_half(values[i]));
    }
  }
}

/// Thread i brings values[i] to x[i % elements].
__global__ void few_elements(const Bits* values, std::size_t n, unsigned elements, __half* x,
                             __half* returned) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += stride) {
    returned[i] = atomic_max_half(&x[i % elements], __ushort_as_half(values[i]));
  }
}

/// The threads of a block share both halves of a word of shared memory.
__global__ void word_of_the_block(const Bits* values, std::size_t n, const __half* start,
                                  __half* left, __half* returned) {
  __shared__ __align__(4) __half s_x[6];
  if (threadIdx.x < 6) s_x[threadIdx.x] = start[threadIdx.x];
  __syncthreads();
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) returned[i] = atomic_max_half(&s_x[2 + i % 2], __ushort_as_half(values[i]));
  __syncthreads();
  if (threadIdx.x < 6) left[6 * blockIdx.x + threadIdx.x] = s_x[threadIdx.x];
}

// ---- values -------------------------------------------------------------------------------------

const std::vector<Bits> kNumbers = {kMinusInfinity, 0xFBFF,     0xC000, 0xBC00, 0x8400,
                                    0x8001,         kMinusZero, 0x0000, 0x0001, 0x0400,
                                    0x3C00,         0x3C01,     0x4000, 0x7BFF, kInfinity};
const std::vector<Bits> kNans = {0x7FFF, 0x7E00, 0xFE00, 0x7D01, 0xFFFF, 0xFC01};

enum class Kind { rising, falling, mixed, negative, zeros, equal, awkward, nans_between, all_nans };
constexpr Kind kKinds[] = {Kind::rising,   Kind::falling,      Kind::mixed,
                           Kind::negative, Kind::zeros,        Kind::equal,
                           Kind::awkward,  Kind::nans_between, Kind::all_nans};

std::string to_string(Kind kind) {
  switch (kind) {
    case Kind::rising:
      return "each larger than the one before";
    case Kind::falling:
      return "each smaller than the one before";
    case Kind::mixed:
      return "both signs, in no order";
    case Kind::negative:
      return "all below zero";
    case Kind::zeros:
      return "-0 and 0";
    case Kind::equal:
      return "all the same";
    case Kind::awkward:
      return "infinities, subnormals, zeros";
    case Kind::nans_between:
      return "numbers and some NaN";
    case Kind::all_nans:
      return "nothing but NaN";
  }
  return "";
}

std::vector<Bits> make_values(Kind kind, std::size_t n) {
  std::vector<Bits> values(n);
  for (std::size_t i = 0; i < n; ++i) {
    const float up = 0.25f * static_cast<float>(i % 1600) - 200.0f;
    const float random = static_cast<float>(i * 7919 % 1009) - 500.0f;
    float x = random;
    if (kind == Kind::rising) x = up;
    if (kind == Kind::falling) x = -up;
    if (kind == Kind::negative) x = random - 600.0f;
    if (kind == Kind::equal) x = -12.5f;
    values[i] = bits_of(x);
    if (kind == Kind::zeros) values[i] = i % 3 == 1 ? 0 : kMinusZero;
    if (kind == Kind::awkward) values[i] = kNumbers[i * 7 % kNumbers.size()];
    if (kind == Kind::all_nans || (kind == Kind::nans_between && i % 5 != 2)) {
      values[i] = kNans[i % kNans.size()];
    }
  }
  return values;
}

const std::vector<Bits> kStarts = {kMinusInfinity, kMinusZero, 0xFE01, 0x4A00, 0x7D01};

// ---- checks -------------------------------------------------------------------------------------

std::string describe(std::size_t n, Launch launch, Kind kind) {
  return "n = " + std::to_string(n) + ": " + to_string(kind) + "; " + std::to_string(launch.grid) +
         " blocks of " + std::to_string(launch.block) + " threads";
}

/// Ok if `last` is the maximum, and some order of the threads explains what they found.
course::Verdict explained(const std::string& name, const std::vector<Bits>& values,
                          const std::vector<Bits>& found, Bits first, Bits last) {
  std::vector<Bits> left(found.size());
  Bits expected = first;
  for (std::size_t i = 0; i < values.size(); ++i) {
    expected = maximum(expected, values[i]);
    left[i] = maximum(found[i], values[i]);
  }
  const course::Verdict verdict = same_bits(name, last, expected);
  return verdict ? one_chain(found, left, first, last) : verdict;
}

/// Every cell with every value, each pair on its own; what stands between them must stay.
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
  set_bits(x.data(), start);
  set_bits(shared_x.data(), shared_start);
  each_element<<<static_cast<unsigned>(blocks), 128>>>(d_value.data(), static_cast<unsigned>(n), 2,
                                                       x.data() + offset, shared_x.data(),
                                                       returned.data(), shared_returned.data());
  CUDA_CHECK_LAUNCH();
  const std::vector<Bits> after = get_bits(x.data(), start.size()),
                          shared_after = get_bits(shared_x.data(), shared_start.size()),
                          found = get_bits(returned.data(), n),
                          shared_found = get_bits(shared_returned.data(), n);
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t at = offset + 2 * i;
    INFO("the cell holds " << half_text(start[at]) << ", the value is " << half_text(value[i])
                           << "; its address is " << (at % 2 == 0 ? "a" : "no")
                           << " multiple of 4, the other half of the word holds "
                           << half_text(start[at ^ 1]));
    const Bits expected = maximum(start[at], value[i]);
    REQUIRE(same_bits("the cell, in global memory", after[at], expected));
    REQUIRE(same_bits("the cell, in shared memory", shared_after[2 * i], expected));
    REQUIRE(same_bits("returned, from global memory", found[i], start[at]));
    REQUIRE(same_bits("returned, from shared memory", shared_found[i], start[at]));
    REQUIRE(
        same_bits("the other half of the word, in global memory", after[at ^ 1], start[at ^ 1]));
    REQUIRE(same_bits("its neighbour, in shared memory", shared_after[2 * i + 1], start[at + 1]));
  }
}

/// Many threads at element `place` of two.
void check_one(const std::vector<Bits>& values, unsigned place, Beside neighbour, Bits first,
               Bits beside, Launch launch) {
  const std::size_t n = values.size();
  INFO("element " << place << " of two holds " << half_text(first) << ", the other one "
                  << half_text(beside)
                  << (neighbour == Beside::stays ? ""
                      : neighbour == Beside::grows
                          ? ", to which odd threads add 1"
                          : ", to which odd threads add 1 and -1 in turn"));
  const auto d_values = course::DeviceBuffer<Bits>::from(values);
  course::GuardedBuffer<__half> x(2), returned(n);
  std::vector<Bits> start(2, first);
  start[place ^ 1u] = beside;
  set_bits(x.data(), start);
  one_element<<<launch.grid, launch.block>>>(d_values.data(), n, place, neighbour, x.data(),
                                             returned.data());
  CUDA_CHECK_LAUNCH();
  const std::vector<Bits> after = get_bits(x.data(), 2), all_found = get_bits(returned.data(), n);
  float expected_beside = float_of(beside);
  std::vector<Bits> found, mine;
  for (std::size_t i = 0; i < n; ++i) {
    if (neighbour != Beside::stays && i % 2 == 1) {
      expected_beside += neighbour == Beside::comes_and_goes && i % 4 == 3 ? -1.0f : 1.0f;
    } else {
      found.push_back(all_found[i]), mine.push_back(values[i]);
    }
  }
  REQUIRE(explained("the element", mine, found, first, after[place]));
  REQUIRE(same_bits("the other one", after[place ^ 1u],
                    neighbour == Beside::stays ? beside : bits_of(expected_beside)));
  REQUIRE(x.intact("x"));
}

/// Threads that bring values to each of a few elements, which are neighbours of each other.
void check_few(const std::vector<Bits>& values, unsigned elements, unsigned offset, Launch launch) {
  const std::size_t n = values.size();
  INFO("value i is for x[i % " << elements << "], x begins " << 2 * offset
                               << " bytes behind a multiple of 256");
  std::vector<Bits> start((offset + elements + 1) / 2 * 2 + 2);
  for (std::size_t k = 0; k < start.size(); ++k) start[k] = kStarts[k % kStarts.size()];
  const auto d_values = course::DeviceBuffer<Bits>::from(values);
  course::GuardedBuffer<__half> x(start.size()), returned(n);
  set_bits(x.data(), start);
  __half* const array = x.data() + offset;  // reports call memory by the launch's arguments
  few_elements<<<launch.grid, launch.block>>>(d_values.data(), n, elements, array, returned.data());
  CUDA_CHECK_LAUNCH();
  const std::vector<Bits> after = get_bits(x.data(), start.size()),
                          all_found = get_bits(returned.data(), n);
  for (std::size_t at = 0; at < start.size(); ++at) {
    std::vector<Bits> found, mine;
    for (std::size_t i = 0; i < n; ++i) {
      if (offset + i % elements != at) continue;
      found.push_back(all_found[i]), mine.push_back(values[i]);
    }
    const std::string index = std::to_string(static_cast<long>(at) - static_cast<long>(offset));
    const std::string name =
        "x[" + index + "]" + (mine.empty() ? ", which no thread asks for" : "");
    REQUIRE(explained(name, mine, found, start[at], after[at]));
  }
  REQUIRE(x.intact("x"));
}

void check_shared(const std::vector<Bits>& values, unsigned block) {
  const std::size_t n = values.size(), blocks = (n + block - 1) / block;
  const std::vector<Bits> start = {kMinusZero, 0x7D01, kMinusInfinity, 0xFE01, 0x7E00, kMinusZero};
  const auto d_values = course::DeviceBuffer<Bits>::from(values);
  course::DeviceBuffer<__half> d_start(6), d_left(6 * blocks), returned(n);
  set_bits(d_start.data(), start);
  word_of_the_block<<<static_cast<unsigned>(blocks), block>>>(d_values.data(), n, d_start.data(),
                                                              d_left.data(), returned.data());
  CUDA_CHECK_LAUNCH();
  const std::vector<Bits> after = get_bits(d_left.data(), 6 * blocks),
                          all_found = get_bits(returned.data(), n);
  for (std::size_t b = 0; b < blocks; ++b) {
    INFO("in shared memory of block " << b);
    for (std::size_t place = 0; place < 6; ++place) {
      std::vector<Bits> found, mine;
      for (std::size_t i = b * block; i < std::min(n, (b + 1) * block); ++i) {
        if (place != 2 + i % 2) continue;
        found.push_back(all_found[i]), mine.push_back(values[i]);
      }
      REQUIRE(explained("s_x[" + std::to_string(place) + "]", mine, found, start[place],
                        after[6 * b + place]));
    }
  }
}

}  // namespace atomic_max_half_check

using namespace atomic_max_half_check;

TEST_CASE("atomic_max_half: every pair of numbers, one thread at each cell") {
  check_pairs(kNumbers, kNumbers, 0);
  check_pairs(kNumbers, kNumbers, 1);
}

TEST_CASE("atomic_max_half: a NaN is no measurement") {
  for (const unsigned offset : {0u, 1u}) {
    check_pairs(kNumbers, kNans, offset);
    check_pairs(kNans, kNumbers, offset);
    check_pairs(kNans, kNans, offset);
  }
}

TEST_CASE("atomic_max_half: many threads at few elements, at every size") {
  std::size_t turn = 0;  // another grid, another start and other data each time
  for (const std::size_t n : course::kSizes) {
    const std::vector<Launch> launches = course::launch_shapes(n);
    for (const unsigned elements : {1u, 2u, 5u}) {
      const Launch launch = launches[turn % launches.size()];
      const Kind kind = kKinds[turn % std::size(kKinds)];
      INFO(describe(n, launch, kind));
      check_few(make_values(kind, n), elements, static_cast<unsigned>(turn / 2 % 4), launch);
      ++turn;
    }
  }
}

TEST_CASE("atomic_max_half: many threads at one element, and others at its neighbour") {
  std::size_t turn = 0;
  for (const Kind kind : kKinds) {
    for (const unsigned place : {0u, 1u}) {
      const Launch launch = Launch{turn % 2 == 0 ? 3u : 5u, turn % 2 == 0 ? 96u : 33u};
      const Bits first = kStarts[turn++ % kStarts.size()];
      INFO(describe(300, launch, kind));
      const std::vector<Bits> values = make_values(kind, 300);
      check_one(values, place, Beside::stays, first, turn % 2 == 0 ? 0x7D01 : kMinusZero, launch);
      const Beside moves = turn / 2 % 2 == 0 ? Beside::grows : Beside::comes_and_goes;
      check_one(values, place, moves, first, bits_of(2.0f), launch);
    }
  }
}

TEST_CASE("atomic_max_half: both halves of a word of shared memory") {
  for (const Kind kind : kKinds) {
    for (const unsigned block : {32u, 96u, 250u}) {
      INFO("in shared memory, " << describe(300, {300 / block + 1, block}, kind));
      check_shared(make_values(kind, 300), block);
    }
  }
}

TEST_CASE("atomic_max_half: the lanes of a warp go in step") {
  for (const Kind kind : kKinds) {
    INFO(describe(130, {2, 96}, kind));
    course::count([&] {
      check_one(make_values(kind, 130), 1, Beside::grows, kMinusInfinity, 0, {2, 96});
      check_one(make_values(kind, 130), 1, Beside::comes_and_goes, kMinusInfinity, 0, {2, 96});
      check_few(make_values(kind, 130), 3, 1, {2, 96});
    });
    INFO("in shared memory");
    course::count([&] { check_shared(make_values(kind, 130), 96); });
  }
}

TEST_CASE("atomic_max_half: thousands of threads, and a second launch") {
  constexpr int kRepeats = course::kCpuDevice ? 1 : 20;  // a lost value may not show at once
  const std::size_t n = course::kCpuDevice ? 1'500 : 100'003;
  const Launch launch{static_cast<unsigned>((n + 255) / 256), 256};
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    for (const Kind kind : {Kind::rising, Kind::mixed}) {
      INFO(describe(n, launch, kind));
      check_few(make_values(kind, n), 2, 0, launch);
    }
  }
  const auto d_numbers = course::DeviceBuffer<Bits>::from(kNumbers);
  const auto d_nans = course::DeviceBuffer<Bits>::from(kNans);
  course::DeviceBuffer<__half> x(2), returned(kNumbers.size());
  set_bits(x.data(), {0x7E00, 0x7D01});
  const auto run = [&](const course::DeviceBuffer<Bits>& values) {
    few_elements<<<2, 32>>>(values.data(), values.size(), 1, x.data(), returned.data());
    CUDA_CHECK_LAUNCH();
    return get_bits(x.data(), 2);
  };
  REQUIRE(same_bits("x after NaN", run(d_nans), {0x7E00, 0x7D01}));
  REQUIRE(same_bits("x after NaN, then numbers", run(d_numbers), {kInfinity, 0x7D01}));
  REQUIRE(same_bits("x after NaN, numbers, then NaN", run(d_nans), {kInfinity, 0x7D01}));
}
