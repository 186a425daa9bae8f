// Check of the exercise atomic_sub_half: every element of an array with awkward neighbours, many
// threads at one element and at both halves of one word, in global and in shared memory.
#include "atomic_sub_half.cuh"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <course/check.cuh>
#include <cstddef>
#include <string>
#include <vector>

#include "half_bits.cuh"

namespace atomic_sub_half_check {

using Launch = course::LaunchShape;

// ---- kernels -----------------------------------------------------------------------------------

/// Element i * step gets values[i]. With step 1 neighbours change at the same time.
__global__ void each_element(const Bits* values, std::size_t n, std::size_t step, __half* x,
                             __half* returned) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += stride) {
    returned[i] = atomic_sub_half(&x[i * step], __ushort_as_half(values[i]));
  }
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
      returned[i] = atomic_sub_half(&x[place], __ushort_as_half(values[i]));
    }
  }
}

/// Thread i subtracts 1 from one of eight elements.
__global__ void eight_elements(std::size_t n, __half* x) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) atomic_sub_half(&x[i % 8], __float2half(1.0f));
}

/// The threads of a block share both halves of a word of shared memory; what stands around it must
/// stay.
__global__ void word_of_the_block(const Bits* values, std::size_t n, const __half* start,
                                  __half* left, __half* returned) {
  __shared__ __align__(4) __half s_x[6];
  if (threadIdx.x < 6) s_x[threadIdx.x] = start[threadIdx.x];
  __syncthreads();
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) returned[i] = atomic_sub_half(&s_x[2 + i % 2], __ushort_as_half(values[i]));
  __syncthreads();
  if (threadIdx.x < 6) left[6 * blockIdx.x + threadIdx.x] = s_x[threadIdx.x];
}

// ---- values -------------------------------------------------------------------------------------

/// Numbers, zeros, infinities, subnormals, and NaN of several kinds: 0x7D01 is a signalling one.
const std::vector<Bits> kAwkward = {0x0000, 0x8000, 0x0001, 0x8001, 0x03FF, 0x3C00, 0xBC00, 0x3C01,
                                    0x6800, 0x7BFF, 0xFBFF, 0x7C00, 0xFC00, 0x7E00, 0x7D01, 0xFFFF};

Bits difference(Bits old, Bits value) { return bits_of(float_of(old) - float_of(value)); }

/// n values 1, 2, 3 or 4, in no order. What is left after up to 400 of them is exact in half.
std::vector<Bits> small_numbers(std::size_t n) {
  std::vector<Bits> values = course::position_values<Bits>(n);
  for (Bits& value : values) value = bits_of(static_cast<float>(1 + value % 4));
  return values;
}

// ---- checks -------------------------------------------------------------------------------------

std::string describe(std::size_t n, Launch launch) {
  return "n = " + std::to_string(n) + "; " + std::to_string(launch.grid) + " blocks of " +
         std::to_string(launch.block) + " threads";
}

/// Ok if `found` is old - value, as halves.
course::Verdict right_difference(const std::string& name, Bits old, Bits value, Bits found) {
  course::Verdict verdict = same_bits(name, found, difference(old, value), true);
  const float number = float_of(value);
  const bool of_bits = number >= 1 && number < 65536 && found == static_cast<int>(old - number);
  if (!verdict && of_bits) {
    verdict.text += "\nThe bits went down by " + course::number_text(number) +
                    ", as if they were a number. A cast converts a number; __half_as_ushort and\n"
                    "__ushort_as_half leave the bits as they are.";
  }
  return verdict;
}

/// x[offset + i * step] -= values[i], and all that stands in between and around keeps its bits.
void check_array(const std::vector<Bits>& start, std::size_t offset, std::size_t step,
                 const std::vector<Bits>& values, Launch launch) {
  const std::size_t n = values.size();
  course::GuardedBuffer<__half> x(start.size()), returned(n);
  set_bits(x.data(), start);
  const auto d_values = course::DeviceBuffer<Bits>::from(values);
  __half* const array = x.data() + offset;  // reports call memory by the launch's arguments
  each_element<<<launch.grid, launch.block>>>(d_values.data(), n, step, array, returned.data());
  CUDA_CHECK_LAUNCH();
  const std::vector<Bits> after = get_bits(x.data(), start.size());
  const std::vector<Bits> found = get_bits(returned.data(), n);
  std::vector<bool> changed(start.size(), false);
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t at = offset + i * step;
    const Bits expected = difference(start[at], values[i]);
    changed[at] = true;
    if (after[at] == expected && found[i] == start[at]) continue;
    INFO("element " << at << " holds " << half_text(start[at]) << ", the other half of its word "
                    << half_text(start[at ^ 1]) << "; subtract " << half_text(values[i]));
    REQUIRE(right_difference("x[" + std::to_string(at) + "]", start[at], values[i], after[at]));
    REQUIRE(same_bits("returned[" + std::to_string(i) + "]", found[i], start[at]));
  }
  for (std::size_t at = 0; at < start.size(); ++at) {
    if (changed[at] || after[at] == start[at]) continue;
    const std::string who =
        at < offset || at >= offset + n * step ? " (outside the array)" : " (a neighbour)";
    REQUIRE(same_bits("x[" + std::to_string(at) + "]" + who, after[at], start[at]));
  }
  REQUIRE(x.intact("x"));
  REQUIRE(returned.intact("returned"));
}

/// Many threads at element `place` of two; the other half of the word holds `beside`.
void check_one(const std::vector<Bits>& values, unsigned place, Beside neighbour, Bits beside,
               Launch launch) {
  const std::size_t n = values.size();
  const auto d_values = course::DeviceBuffer<Bits>::from(values);
  const Bits first = bits_of(1000.0f);
  course::GuardedBuffer<__half> x(2), returned(n);
  std::vector<Bits> start(2, first);
  start[place ^ 1u] = beside;
  set_bits(x.data(), start);
  one_element<<<launch.grid, launch.block>>>(d_values.data(), n, place, neighbour, x.data(),
                                             returned.data());
  CUDA_CHECK_LAUNCH();
  const std::vector<Bits> after = get_bits(x.data(), 2);
  const std::vector<Bits> all_found = get_bits(returned.data(), n);
  float expected = 1000.0f, expected_beside = float_of(beside);
  std::vector<Bits> found, left;
  for (std::size_t i = 0; i < n; ++i) {
    if (neighbour != Beside::stays && i % 2 == 1) {
      expected_beside += neighbour == Beside::comes_and_goes && i % 4 == 3 ? -1.0f : 1.0f;
      continue;
    }
    expected -= float_of(values[i]);
    found.push_back(all_found[i]);
    left.push_back(difference(all_found[i], values[i]));
  }
  const Bits other = neighbour == Beside::stays ? beside : bits_of(expected_beside);
  REQUIRE(same_bits("the neighbour", after[place ^ 1u], other));
  REQUIRE(same_bits("the element", after[place], bits_of(expected)));
  REQUIRE(one_chain(found, left, first, after[place]));
  REQUIRE(x.intact("x"));
}

/// Blocks whose threads subtract from both halves of a word of shared memory, 1000 and `upper`.
void check_shared(std::size_t n, unsigned block, Bits upper) {
  const auto blocks = static_cast<unsigned>((n + block - 1) / block);
  const std::vector<Bits> values = small_numbers(n);
  const auto d_values = course::DeviceBuffer<Bits>::from(values);
  const std::vector<Bits> start = {kMinusZero, 0x7D01, bits_of(1000.0f), upper, 0xFE01, kMinusZero};
  course::DeviceBuffer<__half> d_start(6), d_left(6 * blocks), returned(n);
  set_bits(d_start.data(), start);
  word_of_the_block<<<blocks, block>>>(d_values.data(), n, d_start.data(), d_left.data(),
                                       returned.data());
  CUDA_CHECK_LAUNCH();
  const std::vector<Bits> after = get_bits(d_left.data(), 6 * blocks);
  const std::vector<Bits> all_found = get_bits(returned.data(), n);
  for (std::size_t b = 0; b < blocks; ++b) {
    INFO("in shared memory of block " << b);
    for (std::size_t place = 0; place < 6; ++place) {
      std::vector<Bits> found, left;
      float expected = float_of(start[place]);
      for (std::size_t i = b * block; i < std::min(n, (b + 1) * block); ++i) {
        if (place != 2 + i % 2) continue;
        expected -= float_of(values[i]);
        found.push_back(all_found[i]);
        left.push_back(difference(all_found[i], values[i]));
      }
      const std::string name = "s_x[" + std::to_string(place) + "]";
      const Bits last = after[6 * b + place];
      REQUIRE(same_bits(name, last, found.empty() ? start[place] : bits_of(expected)));
      REQUIRE(one_chain(found, left, start[place], last));
    }
  }
}

}  // namespace atomic_sub_half_check

using namespace atomic_sub_half_check;

TEST_CASE("atomic_sub_half: one element, the other half of its word stays") {
  for (const std::size_t at : {0u, 1u}) {
    for (const Bits beside : {bits_of(5.0f), kMinusZero, Bits{0x7E00}, Bits{0x7D01}, Bits{0xFFFF},
                              Bits{0x0000}, Bits{0x8001}}) {
      std::vector<Bits> start(2, beside);
      start[at] = bits_of(100.0f);
      INFO("an array of one element, its address " << (at == 0 ? "a" : "no") << " multiple of 4");
      check_array(start, at, 2, {bits_of(32.0f)}, {1, 1});
    }
  }
}

TEST_CASE("atomic_sub_half: every value from every value, with every neighbour") {
  std::vector<Bits> start, values;
  for (const Bits old : kAwkward) {
    for (const Bits value : kAwkward) {
      const Bits beside = kAwkward[(values.size() * 7 + 3) % kAwkward.size()];
      start.push_back(old), start.push_back(beside);
      values.push_back(value);
    }
  }
  INFO("even elements; the odd ones must stay");
  check_array(start, 0, 2, values, {3, 96});
  start.insert(start.begin(), kMinusZero), start.push_back(0x7D01);
  INFO("odd elements; the even ones must stay");
  check_array(start, 1, 2, values, {3, 96});
}

TEST_CASE("atomic_sub_half: all elements at once, at every size and every start") {
  std::size_t turn = 0;  // another grid and another start each time
  for (const std::size_t n : course::kSizes) {
    for (const std::size_t offset : {0u, 1u, 2u, 3u}) {
      if (n > 300 && offset % 2 != turn % 2) continue;
      const std::vector<Launch> launches = course::launch_shapes(n);
      const Launch launch = launches[turn++ % launches.size()];
      INFO(describe(n, launch) << "; the array begins " << 2 * offset
                               << " bytes behind a multiple of 256");
      std::vector<Bits> start((offset + n + 1) / 2 * 2 + 2), values(n);
      for (std::size_t i = 0; i < start.size(); ++i) start[i] = kAwkward[i * 5 % kAwkward.size()];
      for (std::size_t i = 0; i < n; ++i) values[i] = bits_of(static_cast<float>(i % 37) / 4);
      check_array(start, offset, 1, values, launch);
    }
  }
}

TEST_CASE("atomic_sub_half: many threads at one element") {
  for (const unsigned place : {0u, 1u}) {
    for (const Launch launch : {Launch{1, 32}, Launch{3, 96}, Launch{5, 33}, Launch{1, 256}}) {
      for (const Bits beside : {Bits{0x7E00}, kMinusZero, Bits{0x7D01}}) {
        INFO(describe(150, launch) << "; all subtract from element " << place
                                   << ", the neighbour holds " << half_text(beside));
        check_one(small_numbers(150), place, Beside::stays, beside, launch);
      }
    }
  }
}

TEST_CASE("atomic_sub_half: others add to the neighbour at the same time") {
  for (const unsigned place : {0u, 1u}) {
    for (const Launch launch : {Launch{1, 64}, Launch{3, 96}, Launch{5, 33}, Launch{2, 256}}) {
      INFO(describe(600, launch) << "; even threads subtract from element " << place
                                 << ", odd ones add 1 to the other half of the word");
      check_one(small_numbers(600), place, Beside::grows, bits_of(0.0f), launch);
      INFO("or n = 300, and odd ones add 1 and -1 in turn");
      check_one(small_numbers(300), place, Beside::comes_and_goes, bits_of(0.0f), launch);
    }
  }
}

TEST_CASE("atomic_sub_half: the lanes of a warp go in step") {
  for (const unsigned place : {0u, 1u}) {
    INFO(describe(200, {2, 96}) << "; element " << place << " of two");
    const std::vector<Bits> values = small_numbers(200);
    course::count([&] { check_one(values, place, Beside::stays, kMinusZero, {2, 96}); });
    INFO("and others add 1 to the neighbour");
    course::count([&] { check_one(values, place, Beside::grows, bits_of(3.0f), {2, 96}); });
    INFO("or 1 and -1 in turn");
    course::count([&] { check_one(values, place, Beside::comes_and_goes, 0, {2, 96}); });
  }
}

TEST_CASE("atomic_sub_half: a thread that comes too late again and again") {
  constexpr std::size_t kN = 300;
  INFO(describe(kN, {2, 150}) << "; all subtract 1 from one element, so that some of them have to "
                              << "come again hundreds of times");
  course::count([&] {
    check_one(std::vector<Bits>(kN, bits_of(1.0f)), 1, Beside::stays, kMinusZero, {2, 150});
  });
}

TEST_CASE("atomic_sub_half: both halves of a word of shared memory") {
  for (const unsigned block : {32u, 96u, 250u}) {
    INFO(describe(300, {300 / block + 1, block}) << ", a word of shared memory for each block");
    for (const Bits upper : {bits_of(900.0f), kInfinity, Bits{0x7FFF}}) {  // inf and NaN stay
      INFO("the lower half of the word holds 1000, the upper one " << half_text(upper));
      check_shared(300, block, upper);
      course::count([&] { check_shared(100, block, upper); });
    }
  }
}

TEST_CASE("atomic_sub_half: thousands of threads, and a second launch") {
  constexpr int kRepeats = course::kCpuDevice ? 1 : 20;  // a lost update may not show at once
  const std::size_t n = course::kCpuDevice ? 2'000 : 8'192;
  const Launch launch{static_cast<unsigned>((n + 255) / 256), 256};
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    INFO(describe(n, launch) << "; thread i subtracts 1 from x[i % 8], which holds 1000");
    course::GuardedBuffer<__half> x(8);
    set_bits(x.data(), std::vector<Bits>(8, bits_of(1000.0f)));
    const auto each = static_cast<float>(n / 8);
    for (const float expected : {1000.0f - each, 1000.0f - 2 * each}) {
      eight_elements<<<launch.grid, launch.block>>>(n, x.data());
      CUDA_CHECK_LAUNCH();
      REQUIRE(same_bits("x", get_bits(x.data(), 8), std::vector<Bits>(8, bits_of(expected))));
      REQUIRE(x.intact("x"));
    }
  }
}

TEST_CASE("atomic_sub_half: it is built from atomicCAS") {
  course::skip_without_counters();
  for (const std::size_t at : {0u, 1u}) {
    const auto counters = course::count([&] {
      check_array({bits_of(3.0f), bits_of(4.0f)}, at, 2, {bits_of(1.0f)}, {1, 1});
    });
    // A loop looks first, by a load or by an atomic, and then swaps. The check's kernel loads once.
    const std::uint64_t accesses = counters->global_atomic_lanes + counters->global_loads - 1;
    INFO("one thread, one subtraction; accesses of the word: " << accesses);
    REQUIRE(course::Verdict{accesses >= 2,
                            "one atomic alone: is that atomicAdd(address, -value)? It gives the "
                            "right numbers; here build the loop from atomicCAS"});
  }
  constexpr std::size_t kLanes = 32;
  const auto counters = course::count([&] {
    check_one(small_numbers(kLanes), 0, Beside::stays, kMinusZero, {1, kLanes});
  });
  INFO("one warp at one element; atomics: " << counters->global_atomic_lanes);
  // The check's kernel loads once. Who looks by a load may let one lane after another swap.
  const bool looks = counters->global_loads > 1;
  REQUIRE(course::Verdict{looks || counters->global_atomic_lanes > 2 * kLanes,
                          "lanes go in step, so of 32 atomicCAS one succeeds, and 31 have to come "
                          "again. Here few came again: is there an atomicAdd in the place of the "
                          "loop?"});
}
