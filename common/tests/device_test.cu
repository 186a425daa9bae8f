// The device under test: counters, declared races, schedules, PTX and clocks.
#include <course/check.cuh>
#include <course/grid.cuh>
#include <course/ptx.cuh>
#include <course/timing.cuh>

#include <catch2/catch_test_macros.hpp>
#include <cstdint>
#include <ctime>
#include <vector>

using course::DeviceBuffer;

namespace {

__global__ void count_atomic(unsigned* d_count) { atomicAdd(d_count, 1u); }
__global__ void count_racy(unsigned* d_count) { *d_count += 1; }
__global__ void write_behind(unsigned* d_x, int i) { d_x[i] = 1; }

__global__ void write_lanes(unsigned* d_out) {
  const unsigned thread = threadIdx.x + blockDim.x * threadIdx.y;
  unsigned* const out = d_out + 6 * thread;
  out[0] = course::lane_id();
  out[1] = course::lanemask_eq();
  out[2] = course::lanemask_lt();
  out[3] = course::lanemask_le();
  out[4] = course::lanemask_gt();
  out[5] = course::lanemask_ge();
}

__global__ void add_floats(float2* d_pair, float4* d_four) {
  course::red_add(d_pair, make_float2(1, 2));
  course::red_add(d_four, make_float4(1, 2, 3, 4));
}

/// Thread 0 sets all elements; the launch with `add` adds to them.
__global__ void set_halves(__half2* d_x, __nv_bfloat162* d_b) {
  for (int i = 0; i < 7; ++i) d_x[i] = __floats2half2_rn(0, 0);
  d_b[0] = __floats2bfloat162_rn(0, 0);
}
__global__ void add_halves(__half2* d_x, __nv_bfloat162* d_b) {
  const __half2 one_two = __floats2half2_rn(1, 2);
  const __half2 pair[2] = {one_two, __floats2half2_rn(3, 4)};
  const __half2 four[4] = {one_two, pair[1], __floats2half2_rn(5, 6), __floats2half2_rn(7, 8)};
  course::red_add_v4(d_x, four);
  course::red_add_v2(d_x + 4, pair);
  course::red_add(d_x + 6, one_two);
  course::red_add(d_b, __floats2bfloat162_rn(1, 2));
}
__global__ void halves_to_floats(const __half2* d_x, const __nv_bfloat162* d_b, float* d_y) {
  for (int i = 0; i < 7; ++i) {
    d_y[2 * i] = __low2float(d_x[i]);
    d_y[2 * i + 1] = __high2float(d_x[i]);
  }
  d_y[14] = __low2float(d_b[0]);
  d_y[15] = __high2float(d_b[0]);
}

__global__ void maximum_of_eight(__half2* d_x) {
  const __half2 v = __floats2half2_rn(1, 2);
  const __half2 four[4] = {v, v, v, v};
  course::red_max_v4(d_x, four);
}

__global__ void sum_of_all(unsigned* d_x) {
  for (unsigned i = 1; i != 0; ++i) *d_x += i;
}
__global__ void add_and_stay(unsigned* d_x) {
  atomicAdd(d_x, 7u);
  for (volatile unsigned i = 0; i < 0xffff'ffffu;) i = 0;
}

}  // namespace

// Templates of kernels are not in the unnamed namespace: nvcc refuses their launches there.
namespace device_testing {

enum class Way { pair, eight, loop };

/// Each thread brings eight numbers to eight cells: their minima or maxima.
template <class Pair>
__global__ void take_extremes(Pair* d_x, const Pair* d_v, bool larger, Way way) {
  const unsigned first = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
  Pair* const x = d_x + first;
  const Pair v[4] = {d_v[first], d_v[first + 1], d_v[first + 2], d_v[first + 3]};
  if (way == Way::eight) return larger ? course::red_max_v4(x, v) : course::red_min_v4(x, v);
  for (unsigned i = 0; i < 4; ++i) {
    if (way == Way::pair) {
      larger ? course::red_max(x + i, v[i]) : course::red_min(x + i, v[i]);
    } else {
      course::update_pair(
          x + i, [&](Pair old) { return larger ? __hmax2(old, v[i]) : __hmin2(old, v[i]); });
    }
  }
}

/// Many threads, one address: thread i brings i % 100 and 100 - i % 100.
template <class Pair>
__global__ void crowd_extremes(Pair* d_max, Pair* d_min) {
  const float i = static_cast<float>((blockIdx.x * blockDim.x + threadIdx.x) % 100);
  Pair v;
  v.x = i;
  v.y = 100.0f - i;
  course::red_max(d_max, v);
  course::red_min(d_min, v);
}

using Bits = unsigned short;

/// The larger or smaller one of two numbers in a format whose infinity has these bits: a number
/// beats a NaN, two NaN give 0x7FFF, -0.0 is less than 0.0.
Bits extreme(Bits a, Bits b, Bits infinity, bool larger) {
  const auto is_nan = [&](Bits x) { return (x & 0x7FFF) > infinity; };
  const auto order = [](Bits x) { return (x & 0x8000) != 0 ? -1 - (x & 0x7FFF) : x & 0x7FFF; };
  if (is_nan(a) && is_nan(b)) return 0x7FFF;
  if (is_nan(a) || is_nan(b)) return is_nan(a) ? b : a;
  return (order(a) < order(b)) == larger ? b : a;
}

/// Every number of the list meets every other one, and itself.
template <class Pair>
void check_extremes(const std::vector<Bits>& numbers, Bits infinity) {
  std::vector<Bits> x, v;
  for (const Bits a : numbers) {
    for (const Bits b : numbers) x.push_back(a), v.push_back(b);
  }
  while (x.size() % 8 != 0) x.push_back(0), v.push_back(0);
  const auto d_v = DeviceBuffer<Bits>::from(v);
  for (const bool larger : {false, true}) {
    std::vector<Bits> expected(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
      expected[i] = extreme(x[i], v[i], infinity, larger);
    }
    for (const Way way : {Way::pair, Way::eight, Way::loop}) {
      INFO((larger ? "maximum" : "minimum") << ", way " << static_cast<int>(way));
      auto d_x = DeviceBuffer<Bits>::from(x);
      take_extremes<<<1, static_cast<unsigned>(x.size() / 8)>>>(
          reinterpret_cast<Pair*>(d_x.data()), reinterpret_cast<const Pair*>(d_v.data()), larger,
          way);
      CUDA_CHECK_LAUNCH();
      const std::vector<Bits> found = d_x.download();
      for (std::size_t i = 0; i < x.size(); ++i) {
        INFO(std::hex << "of " << x[i] << " and " << v[i]);
        REQUIRE(found[i] == expected[i]);
      }
    }
  }
}

/// The bits of (99, 100) and of (0, 1) are expected.
template <class Pair>
void check_crowd(const std::vector<Bits>& expected) {
  auto d_x = DeviceBuffer<Bits>::from({0xFFFF, 0xFFFF, 0xFFFF, 0xFFFF});  // NaN: no value yet
  auto* const d_pairs = reinterpret_cast<Pair*>(d_x.data());
  crowd_extremes<<<5, 96>>>(d_pairs, d_pairs + 1);
  CUDA_CHECK_LAUNCH();
  CHECK(course::same(d_x.download(), expected, "bits"));
}

}  // namespace device_testing

// ---- device.cuh --------------------------------------------------------------------------------

TEST_CASE("count tells what a kernel did, and nothing of the kernels around it") {
  course::skip_without_counters();
  auto d_count = DeviceBuffer<unsigned>::zeros(1);
  count_atomic<<<1, 32>>>(d_count.data());
  const auto counters = course::count([&] { count_atomic<<<3, 50>>>(d_count.data()); });
  count_atomic<<<1, 32>>>(d_count.data());
  REQUIRE(counters.has_value());
  CHECK(counters->launches == 1);
  CHECK(counters->blocks == 3);
  CHECK(counters->warps == 6);
  CHECK(counters->threads == 150);
  CHECK(counters->global_atomics == 6);
  CHECK(counters->global_atomic_lanes == 150);
  CHECK(counters->global_atomic_addresses == 6);
  CHECK(counters->sectors_per_request() == 0);
  CHECK(counters->bank_conflicts() == 0);
  CHECK(d_count.front() == 214);
}

TEST_CASE("a GPU runs what it does not count") {
  auto d_count = DeviceBuffer<unsigned>::zeros(1);
  const auto counters = course::count([&] { count_atomic<<<1, 32>>>(d_count.data()); });
  CHECK(counters.has_value() == course::kCpuDevice);
  CHECK(d_count.front() == 32);
}

TEST_CASE("counters sum up") {
  course::Counters c;
  c.global_loads = 2;
  c.global_load_sectors = 8;
  c.global_stores = 2;
  c.global_store_sectors = 64;
  c.shared_loads = 10;
  c.shared_load_wavefronts = 41;
  CHECK(c.sectors_per_request() == 18);
  CHECK(c.bank_conflicts() == 31);
}

TEST_CASE("a grid has a block for every piece, or as many as are resident") {
  CHECK(course::blocks_for(0, 256) == 0);
  CHECK(course::blocks_for(1, 256) == 1);
  CHECK(course::blocks_for(256, 256) == 1);
  CHECK(course::blocks_for(257, 256) == 2);
  CHECK(course::blocks_for((std::size_t{1} << 33) + 1, 256) == (1u << 25) + 1);
  const unsigned filling = course::filling_blocks(256);
  CHECK(filling >= 1);
  CHECK(course::filling_blocks(128) == 2 * filling);
  const unsigned resident = course::resident_blocks(count_atomic, 256);
  CHECK(resident >= 1);
  CHECK(resident <= 8 * filling);
}

TEST_CASE("one warp that does the work of all is noticed") {
  course::Counters counters;
  counters.busiest_warp_requests = 9;
  CHECK(course::work_is_shared(counters, 9));
  const course::Verdict verdict = course::work_is_shared(counters, 8);
  CHECK_FALSE(verdict.ok);
  CHECK(verdict.text.find("expected at most 8, found 9") != std::string::npos);
}

TEST_CASE("a declared race is found and used up") {
  course::skip_without_checker();
  auto d_count = DeviceBuffer<unsigned>::zeros(1);
  course::Findings findings;
  CHECK(course::expect_race([&] { count_racy<<<2, 64>>>(d_count.data()); }, &findings));
  CHECK(findings.races > 0);
  CHECK(findings.others == 0);
  REQUIRE_FALSE(findings.texts.empty());
  CHECK(findings.texts[0].starts_with("DATA RACE in kernel count_racy on d_count"));
}

TEST_CASE("a race that is not there is no race") {
  course::skip_without_checker();
  auto d_count = DeviceBuffer<unsigned>::zeros(1);
  const auto verdict = course::expect_race([&] { count_atomic<<<2, 64>>>(d_count.data()); });
  CHECK(verdict.text == "a race was expected here, and none was reported");
}

TEST_CASE("an illegal access is no race, and does not spoil the next kernel") {
  course::skip_without_checker();
  auto d_x = DeviceBuffer<unsigned>::zeros(1);
  const auto verdict = course::expect_race([&] { write_behind<<<1, 1>>>(d_x.data(), 1); });
  CHECK(verdict.text.starts_with("only a race was expected here, but something else was reported"));
  CHECK(cudaGetLastError() == cudaSuccess);
  auto d_count = DeviceBuffer<unsigned>::zeros(1);
  count_atomic<<<1, 32>>>(d_count.data());
  CHECK(d_count.front() == 32);
}

TEST_CASE("errors that no report explains pass through") {
  CHECK_THROWS_AS(course::find_races([] {
                    count_atomic<<<1, 2000>>>(nullptr);
                    CUDA_CHECK_LAUNCH();
                  }),
                  course::CudaError);
}

TEST_CASE("a loop that is ended is counted as one, and what was written before is there") {
  course::skip_without_checker();
  auto d_x = course::DeviceBuffer<unsigned>::zeros(1);
  const auto found = course::find_races([&] { add_and_stay<<<1, 1>>>(d_x.data()); });
  CHECK(found.races == 0);
  CHECK(found.others == 1);
  CHECK(found.endless_loops == 1);
  CHECK(d_x.front() == 7);
}

TEST_CASE("a launch that goes forward ends after the seconds that it is given") {
  course::skip_without_checker();
  if (course::has_run_before()) return;  // one thread: every schedule is like the first one
  auto d_x = course::DeviceBuffer<unsigned>::zeros(1);
  const std::clock_t begin = std::clock();
  course::Findings found;
  course::with_launch_seconds(
      1, [&] { found = course::find_races([&] { sum_of_all<<<1, 1>>>(d_x.data()); }); });
  CHECK(found.endless_loops == 1);
  CHECK((std::clock() - begin) / CLOCKS_PER_SEC < 5);
}

TEST_CASE("the seed that runs is known") {
  const std::uint64_t before = course::seed();
  course::with_seed(5, [] { CHECK(course::seed() == (course::kCpuDevice ? 5 : 0)); });
  CHECK(course::seed() == before);
}

TEST_CASE("some blocks of a grid of more than 2^32 threads") {
  if (!course::kCpuDevice) SKIP("a GPU runs all blocks");
  auto d_count = DeviceBuffer<unsigned>::zeros(1);
  course::with_some_blocks(3, 2, [&] { count_atomic<<<(1u << 27) + 1, 32>>>(d_count.data()); });
  CHECK(d_count.front() == 5 * 32);
  count_atomic<<<9, 32>>>(d_count.data());
  CHECK(d_count.front() == (5 + 9) * 32);
}

TEST_CASE("the same seed loses the same updates") {
  course::skip_without_checker();
  const auto lost = [](std::uint64_t seed) {
    unsigned found = 0;
    course::with_seed(seed, [&] {
      course::find_races([&] {
        auto d_count = DeviceBuffer<unsigned>::zeros(1);
        count_racy<<<4, 128>>>(d_count.data());
        found = d_count.front();
      });
    });
    return 512 - found;
  };
  CHECK(lost(1) > 0);
  CHECK(lost(1) == lost(1));
  CHECK(lost(0) == 0);  // in order
}

// ---- ptx.cuh -----------------------------------------------------------------------------------

TEST_CASE("lanes and their masks, also in a block of two dimensions") {
  constexpr unsigned kThreads = 8 * 12;
  DeviceBuffer<unsigned> d_out(6 * kThreads);
  write_lanes<<<1, dim3(8, 12)>>>(d_out.data());
  CUDA_CHECK_LAUNCH();
  std::vector<unsigned> expected;
  for (unsigned t = 0; t < kThreads; ++t) {
    const unsigned lane = t % 32;
    const auto before = static_cast<unsigned>((std::uint64_t{1} << lane) - 1);
    const auto up_to = static_cast<unsigned>((std::uint64_t{2} << lane) - 1);
    expected.insert(expected.end(), {lane, 1u << lane, before, up_to, ~up_to, ~before});
  }
  CHECK(course::same(d_out.download(), expected, "out"));
}

TEST_CASE("vector reductions add every element") {
  auto d_pair = DeviceBuffer<float2>::zeros(1);
  auto d_four = DeviceBuffer<float4>::zeros(1);
  add_floats<<<4, 100>>>(d_pair.data(), d_four.data());
  CUDA_CHECK_LAUNCH();
  const float2 pair = d_pair.front();
  const float4 four = d_four.front();
  CHECK(course::same({pair.x, pair.y}, std::vector<float>{400, 800}, "pair"));
  CHECK(course::same({four.x, four.y, four.z, four.w}, std::vector<float>{400, 800, 1200, 1600},
                     "four"));
}

TEST_CASE("reductions of halves add every element") {
  DeviceBuffer<__half2> d_x(7);
  DeviceBuffer<__nv_bfloat162> d_b(1);
  DeviceBuffer<float> d_y(16);
  set_halves<<<1, 1>>>(d_x.data(), d_b.data());
  add_halves<<<2, 64>>>(d_x.data(), d_b.data());
  halves_to_floats<<<1, 1>>>(d_x.data(), d_b.data(), d_y.data());
  CUDA_CHECK_LAUNCH();
  const std::vector<float> expected = {128, 256, 384, 512, 640, 768, 896, 1024,
                                       128, 256, 384, 512, 128, 256, 128, 256};
  CHECK(course::same(d_y.download(), expected, "y"));
}

TEST_CASE("a vector reduction is one request, and asks for its alignment") {
  course::skip_without_counters();
  auto d_x = DeviceBuffer<__half2>::zeros(32);
  auto d_b = DeviceBuffer<__nv_bfloat162>::zeros(1);
  auto d_pair = DeviceBuffer<float2>::zeros(1);
  auto d_four = DeviceBuffer<float4>::zeros(1);
  const auto halves = course::count([&] { add_halves<<<1, 32>>>(d_x.data(), d_b.data()); });
  CHECK(halves->global_atomics == 4);  // eight halves, four, two, and two bfloat16
  CHECK(halves->global_atomic_lanes == 4 * 32);
  const auto floats = course::count([&] { add_floats<<<1, 32>>>(d_pair.data(), d_four.data()); });
  CHECK(floats->global_atomics == 2);
  CHECK(floats->global_atomic_lanes == 2 * 32);

  const course::Findings findings =
      course::find_races([&] { add_halves<<<1, 1>>>(d_x.data() + 2, d_b.data()); });
  REQUIRE(findings.others == 1);
  CHECK(findings.texts.front().find("MISALIGNED") != std::string::npos);
}

TEST_CASE("minima and maxima of 16-bit numbers: NaN, zeros of both signs, subnormals") {
  using namespace device_testing;
  check_extremes<__half2>({0x0000, 0x8000, 0x0001, 0x8001, 0x03FF, 0x3C00, 0xBC00, 0x3C01, 0x7BFF,
                           0xFBFF, 0x7C00, 0xFC00, 0x7FFF, 0x7E00, 0xFE00, 0x7D01, 0xFFFF},
                          0x7C00);
  check_extremes<__nv_bfloat162>(
      {0x0000, 0x8000, 0x0001, 0x8001, 0x007F, 0x3F80, 0xBF80, 0x3F81, 0x7F7F, 0xFF7F, 0x7F80,
       0xFF80, 0x7FFF, 0x7FC0, 0xFFC0, 0x7F81, 0xFFFF},
      0x7F80);
}

TEST_CASE("minima and maxima of many threads at one address") {
  using namespace device_testing;
  check_crowd<__half2>({0x5630, 0x5640, 0x0000, 0x3C00});
  check_crowd<__nv_bfloat162>({0x42C6, 0x42C8, 0x0000, 0x3F80});
}

TEST_CASE("a minimum or maximum of several numbers is one request, and asks for its alignment") {
  course::skip_without_counters();
  auto d_x = DeviceBuffer<__half2>::zeros(32);
  const auto eight = course::count([&] { maximum_of_eight<<<1, 32>>>(d_x.data()); });
  CHECK(eight->global_atomics == 1);
  CHECK(eight->global_atomic_lanes == 32);
  auto d_pairs = DeviceBuffer<__nv_bfloat162>::zeros(2);
  const auto pairs = course::count(
      [&] { device_testing::crowd_extremes<<<1, 32>>>(d_pairs.data(), d_pairs.data() + 1); });
  CHECK(pairs->global_atomics == 2);
  CHECK(pairs->global_loads == 0);

  const course::Findings findings =
      course::find_races([&] { maximum_of_eight<<<1, 1>>>(d_x.data() + 1); });
  REQUIRE(findings.others == 1);
  CHECK(findings.texts.front().find("MISALIGNED") != std::string::npos);
}

// ---- timing.cuh --------------------------------------------------------------------------------

TEST_CASE("quantiles lie between the samples") {
  std::vector<double> samples;
  for (int i = 20; i >= 0; --i) samples.push_back(i);
  const course::Quantiles q = course::quantiles(samples);
  CHECK(q.p10 == 2);
  CHECK(q.median == 10);
  CHECK(q.p90 == 18);
  CHECK(q.samples == 21);
  CHECK(course::quantiles({1, 2}).median == 1.5);
  CHECK(course::quantiles({7}).p90 == 7);
  CHECK_THROWS_AS(course::quantiles({}), std::invalid_argument);
}

TEST_CASE("every launch is preceded by a reset") {
  int resets = 0;
  int launches = 0;
  auto d_count = DeviceBuffer<unsigned>::zeros(1);
  const course::Quantiles q = course::sample_microseconds(
      [&] {
        ++resets;
        d_count.fill_bytes(0);
      },
      [&] {
        ++launches;
        count_atomic<<<1, 32>>>(d_count.data());
      },
      {.warm_up = 2, .samples = 25, .scrub_l2 = false});
  CHECK(resets == 27);
  CHECK(launches == 27);
  CHECK(q.samples == 25);
  CHECK(q.p10 <= q.median);
  CHECK(q.median <= q.p90);
  CHECK(d_count.front() == 32);
}

TEST_CASE("fewer than 20 samples are refused") {
  CHECK_THROWS_AS(
      course::sample_microseconds({}, [] {}, {.warm_up = 0, .samples = 19, .scrub_l2 = false}),
      std::invalid_argument);
}

TEST_CASE("the host's clock goes on") {
  const course::HostTimer timer;
  const double earlier = timer.microseconds();
  CHECK(earlier >= 0);
  CHECK(timer.microseconds() >= earlier);
}
