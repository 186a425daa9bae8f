// What the lesson says of one half and of the word around it: neighbours, signs of zeros, NaN, pairs
// and packs, and the article's results.
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <course/check.cuh>
#include <cstddef>
#include <vector>

#include "rungs.cuh"
#include "testing.cuh"

using namespace half_atomics;

namespace half_atomics {

/// Element i gets the minimum of itself and values[i]; what was there goes to returned[i].
__global__ void min_each(const __half* values, std::size_t n, std::size_t step, __half* x,
                         __half* returned) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) returned[i] = atomic_min_half(&x[step * i], values[i]);
}

/// Threads of a block bring values to both halves of a word of shared memory.
__global__ void min_shared(const __half* values, unsigned n, const __half* start, __half* left,
                           __half* returned) {
  __shared__ __align__(4) __half s_x[4];
  if (threadIdx.x < 4) s_x[threadIdx.x] = start[threadIdx.x];
  __syncthreads();
  if (threadIdx.x < n) {
    returned[threadIdx.x] = atomic_min_half(&s_x[threadIdx.x % 2], values[threadIdx.x]);
  }
  __syncthreads();
  if (threadIdx.x < 4) left[threadIdx.x] = s_x[threadIdx.x];
}

/// Every thread adds (1, 2) to one pair and keeps what it found.
__global__ void add_one_two(std::size_t n, __half2* x, __half2* returned) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) returned[i] = atomicAdd(x, __floats2half2_rn(1.0f, 2.0f));
}

__global__ void add_pair_once(__half2* x, __half2 v) { atomicAdd(x, v); }
__global__ void add_eight_once(__half* x, course::Pack<__half, 8> v) { red_add_eight(x, v); }

/// x[0] + value by atomicAdd on global and on shared memory.
__global__ void add_in_both(__half value, __half* x, __half* y) {
  __shared__ __align__(4) __half s_x[2];
  s_x[0] = y[0], s_x[1] = y[1];  // one thread: no barrier needed
  atomicAdd(x, value);
  atomicAdd(&s_x[0], value);
  y[0] = s_x[0];
}

}  // namespace half_atomics

// ---- one half, and its neighbour ---------------------------------------------------------------

TEST_CASE("four ways to add to one half: no update is lost, and the neighbour keeps its bits") {
  const std::size_t n = course::kCpuDevice ? 600 : 2'000;
  const char* const names[] = {"atomicAdd", "loop on the word", "loop on the half", "padded pair"};
  for (const How how : {How::atomic_add, How::cas, How::cas16, How::padded}) {
    for (const std::size_t place : {0u, 1u}) {
      for (const Bits beside : {kMinusZero, bits_of(3.0f), Bits{0x8001}, Bits{0x7D01}}) {
        INFO(names[static_cast<int>(how)] << ", n = " << n << ", element " << place << ", beside "
                                          << half_text(beside));
        std::vector<Bits> start(2, bits_of(10.0f));
        start[place ^ 1] = beside;
        course::GuardedBuffer<__half> x(2);
        course::DeviceBuffer<__half> returned(n);
        set_bits(x.data(), start);
        add_one_to<<<blocks_for(n), kBlockSize>>>(how, n, x.data() + place, returned.data());
        CUDA_CHECK_LAUNCH();
        const std::vector<Bits> after = get_bits(x.data(), 2);
        const Bits last = bits_of(10.0f + static_cast<float>(n));
        REQUIRE(same_bits("x", after[place], last));
        // The hardware's pair adds -0.0 to the neighbour: a NaN stays one, maybe with other bits.
        REQUIRE(same_bits("neighbour", after[place ^ 1], beside, how == How::padded));
        if (how == How::padded) continue;
        const std::vector<Bits> found = get_bits(returned.data(), n);
        std::vector<Bits> left(n);
        for (std::size_t i = 0; i < n; ++i) left[i] = bits_of(float_of(found[i]) + 1.0f);
        REQUIRE(one_chain(found, left, bits_of(10.0f), last));
      }
    }
  }
}

TEST_CASE("padding with -0.0 leaves every number alone, padding with 0.0 does not") {
  auto x = course::DeviceBuffer<__half2>::zeros(1);
  auto* const first = reinterpret_cast<__half*>(x.data());
  for (const Bits beside : kAwkward) {
    set_bits(first, {0x3C00, beside});
    add_pair_once<<<1, 1>>>(x.data(), __half2(half_of(0x3C00), half_of(kMinusZero)));
    CUDA_CHECK_LAUNCH();
    REQUIRE(same_bits("padded with -0.0", get_bits(first, 2), {0x4000, beside}, true));
  }
  set_bits(first, {0x3C00, kMinusZero});
  add_pair_once<<<1, 1>>>(x.data(), __half2(half_of(0x3C00), half_of(0x0000)));
  CUDA_CHECK_LAUNCH();
  REQUIRE(same_bits("padded with 0.0", get_bits(first, 2), {0x4000, 0x0000}));
}

TEST_CASE("atomic_min_half finds the smaller of every pair, and leaves the neighbour's bits") {
  for (const std::size_t place : {0u, 1u}) {
    std::vector<Bits> start(place, kMinusZero), values;
    for (const Bits cell : kAwkward) {
      for (const Bits value : kAwkward) {
        start.push_back(cell), start.push_back(kAwkward[values.size() * 7 % kAwkward.size()]);
        values.push_back(value);
      }
    }
    start.resize((start.size() + 1) / 2 * 2, kMinusZero);
    const std::size_t n = values.size();
    const auto d_values = course::DeviceBuffer<__half>::from(halves(values));
    course::GuardedBuffer<__half> x(start.size()), returned(n);
    set_bits(x.data(), start);
    min_each<<<blocks_for(n), kBlockSize>>>(d_values.data(), n, 2, x.data() + place,
                                            returned.data());
    CUDA_CHECK_LAUNCH();
    const std::vector<Bits> after = get_bits(x.data(), start.size());
    const std::vector<Bits> found = get_bits(returned.data(), n);
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t at = place + 2 * i;
      INFO("cell " << half_text(start[at]) << ", value " << half_text(values[i]) << ", beside "
                   << half_text(start[at ^ 1]));
      REQUIRE(same_bits("cell", after[at], smaller(start[at], values[i]), true));
      REQUIRE(same_bits("neighbour", after[at ^ 1], start[at ^ 1]));
      REQUIRE(same_bits("returned", found[i], start[at]));
    }
  }
}

TEST_CASE("atomic_min_half in shared memory, both halves of a word at once") {
  constexpr unsigned kN = 200;
  std::vector<Bits> values(kN);
  for (unsigned i = 0; i < kN; ++i) values[i] = bits_of(static_cast<float>(i * 37 % 101) - 60.0f);
  const auto d_values = course::DeviceBuffer<__half>::from(halves(values));
  const std::vector<Bits> start = {kInfinity, 0x7E00, kMinusZero, 0x7D01};
  const auto d_start = course::DeviceBuffer<__half>::from(halves(start));
  course::DeviceBuffer<__half> left(4), returned(kN);
  min_shared<<<1, 224>>>(d_values.data(), kN, d_start.data(), left.data(), returned.data());
  CUDA_CHECK_LAUNCH();
  std::vector<Bits> expected = start;
  for (unsigned i = 0; i < kN; ++i) expected[i % 2] = smaller(expected[i % 2], values[i]);
  REQUIRE(same_bits("s_x", get_bits(left.data(), 4), expected));
}

// ---- pairs and packs ---------------------------------------------------------------------------

TEST_CASE("a pair is added half by half: each one has a chain of its own") {
  const std::size_t n = course::kCpuDevice ? 500 : 1'000;
  course::GuardedBuffer<__half2> x(1);
  course::DeviceBuffer<__half2> returned(n);
  auto* const first = reinterpret_cast<__half*>(x.data());
  set_bits(first, {0, 0});
  add_one_two<<<blocks_for(n), kBlockSize>>>(n, x.data(), returned.data());
  CUDA_CHECK_LAUNCH();
  const std::vector<Bits> last = get_bits(first, 2);
  const std::vector<Bits> all = get_bits(reinterpret_cast<__half*>(returned.data()), 2 * n);
  for (std::size_t lane = 0; lane < 2; ++lane) {
    INFO((lane == 0 ? ".x" : ".y"));
    const float step = lane == 0 ? 1.0f : 2.0f;
    std::vector<Bits> found(n), left(n);
    for (std::size_t i = 0; i < n; ++i) {
      found[i] = all[2 * i + lane];
      left[i] = bits_of(float_of(found[i]) + step);
    }
    REQUIRE(same_bits("sum", last[lane], bits_of(step * static_cast<float>(n))));
    REQUIRE(one_chain(found, left, 0, last[lane]));
  }
}

TEST_CASE("red_add_eight adds eight halves at every address") {
  course::Pack<__half, 8> v;
  for (int k = 0; k < 8; ++k) v.elem[k] = __half(static_cast<float>(k + 1));
  for (std::size_t start = 0; start < 16; ++start) {
    INFO("address: " << 2 * start << " bytes past a multiple of 256");
    course::GuardedBuffer<__half> x(start + 8);
    std::vector<Bits> expected(start + 8, kMinusZero);
    set_bits(x.data(), expected);
    add_eight_once<<<1, 1>>>(x.data() + start, v);
    CUDA_CHECK_LAUNCH();
    for (std::size_t k = 0; k < 8; ++k) expected[start + k] = bits_of(static_cast<float>(k + 1));
    REQUIRE(same_bits("x", get_bits(x.data(), start + 8), expected));
    REQUIRE(x.intact("x"));
  }
}

TEST_CASE("the 16-bit atomics keep subnormals, in global and in shared memory") {
  auto x = course::DeviceBuffer<__half>::zeros(2), y = course::DeviceBuffer<__half>::zeros(2);
  for (const Bits value : {Bits{0x0001}, Bits{0x8001}, Bits{0x03FF}}) {
    set_bits(x.data(), {0x0001});
    set_bits(y.data(), {0x0001});
    add_in_both<<<1, 1>>>(half_of(value), x.data(), y.data());
    CUDA_CHECK_LAUNCH();
    const Bits expected = bits_of(float_of(0x0001) + float_of(value));
    INFO("0x0001 + " << half_text(value));
    REQUIRE(same_bits("global", get_bits(x.data(), 1), {expected}));
    REQUIRE(same_bits("shared", get_bits(y.data(), 1), {expected}));
  }
}

// ---- the article's puzzle ----------------------------------------------------------------------

TEST_CASE("the article's results follow from the rounding alone") {
  const __half p = article_product();
  const __half twice = __half(2.0f * static_cast<float>(p));
  REQUIRE(static_cast<float>(p) == 1310.0f / 131072.0f);

  const auto by_ones = [&](std::size_t n) { return add_in_steps(__half(0.0f), p, n); };
  const auto by_twos = [&](std::size_t n) { return add_in_steps(__half(0.0f), twice, n / 2); };
  const auto sum = [](const Steps<__half>& steps) { return static_cast<float>(steps.sum); };
  CHECK(sum(by_ones(2048)) == 20.28125f);
  CHECK(sum(by_twos(2048)) == 20.28125f);
  CHECK(sum(by_ones(4096)) == 32.0f);
  CHECK(sum(by_twos(4096)) == 40.5625f);
  CHECK(sum(by_ones(kArticleN)) == 32.0f);
  CHECK(sum(by_twos(kArticleN)) == 64.0f);
  CHECK(by_ones(kArticleN).moved == 2798);      // each after that is rounded away
  CHECK(by_twos(kArticleN).moved == 2798);      // twice the step, twice the limit
  for (std::size_t n = 0; n < 8192; n += 62) {  // so kernel 1 is kernel 0 at half of n, doubled
    REQUIRE(sum(by_twos(n)) == 2.0f * sum(by_ones(n / 2)));
  }
  CHECK(article_reference(kArticleN) == 335380.5);
}

TEST_CASE("in double the article's sum is right") {
  const std::size_t n = course::kCpuDevice ? 4096 : std::size_t{1} << 20;
  const auto d_a = course::DeviceBuffer<double>::from(std::vector<double>(n, 0.1));
  const auto d_b = course::DeviceBuffer<double>::from(std::vector<double>(n, 0.1));
  const double expected = add_in_steps(0.0, 0.1 * 0.1, n).sum;
  for (const DoubleRung& rung : kDoubleRungs) {
    auto y = course::DeviceBuffer<double>::zeros(1);
    rung.launch(d_a.data(), d_b.data(), n, y.data());
    REQUIRE(course::same(y.front(), expected, rung.name));  // all addends are equal: the same bits
  }
  REQUIRE(std::fabs(expected - 0.01 * static_cast<double>(n)) < 1e-7 * static_cast<double>(n));
}
