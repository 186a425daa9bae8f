// The examples in the comments of common/include/course: what is between // [NAME.cuh] and
// // [end] here is copied there by `common/dev generate`.
#include <course/bulk.cuh>
#include <course/check.cuh>
#include <course/cluster.cuh>
#include <course/collectives.cuh>
#include <course/device.cuh>
#include <course/devices.cuh>
#include <course/grid.cuh>
#include <course/host_calls.cuh>
#include <course/host_memory.cuh>
#include <course/ladder.cuh>
#include <course/launch.cuh>
#include <course/look_back.cuh>
#include <course/merge.cuh>
#include <course/pack.cuh>
#include <course/ptx.cuh>
#include <course/rungs.cuh>
#include <course/thread_number.cuh>
#include <course/timing.cuh>
#include <course/vendor.cuh>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace examples_test {

constexpr unsigned kBlockSize = 256;

__global__ void scale(const float* d_x, std::size_t n, float factor, float* d_y) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) d_y[i] = factor * d_x[i];
}

__global__ void count_up(int* d_count) { atomicAdd(d_count, 1); }

__global__ void count_up_racy(int* d_count) { *d_count += 1; }

__global__ void write_once(int* d_y) { *d_y = 7; }

// [collectives.cuh]
__global__ void sum_blocks(const float* d_x, std::size_t n, float* d_sum) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const float value = i < n ? d_x[i] : 0.0f;  // the identity of the sum
  const float block_sum = course::block_reduce(value, course::Sum{});
  if (threadIdx.x == 0) atomicAdd(d_sum, block_sum);
}
// [end]

// [look_back.cuh]
__global__ void sum_before(course::TileStates<float> states, float* d_before) {
  unsigned tile = 0;  // a block is one warp, and a tile one number
  if (threadIdx.x == 0) tile = atomicInc(states.d_ticket, gridDim.x - 1);
  tile = course::shuffle(tile, 0);
  const auto mine = static_cast<float>(tile + 1);
  if (threadIdx.x == 0) states.tell(tile, course::Told::aggregate, mine);
  const float before = course::look_back(states, tile, course::Sum{});
  if (threadIdx.x != 0) return;
  states.tell(tile, course::Told::prefix, before + mine);
  d_before[tile] = before;
}
// [end]

// [merge.cuh]
__global__ void variance_of(const float* d_x, unsigned n, float* d_variance) {  // one warp
  course::Moments mine;
  for (unsigned i = threadIdx.x; i < n; i += 32) {
    mine = course::MergeMoments{}(mine, course::moments_of(d_x[i]));
  }
  const course::Moments all = course::warp_merge(mine, course::MergeMoments{});
  if (threadIdx.x == 0) *d_variance = all.variance();
}
// [end]

// [bulk.cuh]
__global__ void copy_tile(const float* d_x, float* d_y) {
  __shared__ alignas(16) float s_x[256];
  __shared__ course::Mbarrier s_loaded;
  if (threadIdx.x == 0) course::mbarrier_init(&s_loaded, 1);
  __syncthreads();  // the barrier is there
  if (threadIdx.x == 0) {
    course::mbarrier_arrive_expect(&s_loaded, sizeof s_x);
    course::bulk_load(s_x, d_x, sizeof s_x, &s_loaded);
  }
  course::mbarrier_wait(&s_loaded, 0);  // all threads that read s_x
  d_y[threadIdx.x] = s_x[threadIdx.x];
}
// [end]

// [cluster.cuh]
__global__ void count_blocks(unsigned* d_count) {
  __shared__ unsigned s_blocks;
  const auto cluster = course::this_cluster();
  if (threadIdx.x == 0) s_blocks = 0;
  cluster.sync();  // all blocks have begun, and all counters are 0
  if (threadIdx.x == 0) atomicAdd(cluster.map_shared_rank(&s_blocks, 0), 1u);
  cluster.sync();  // all have counted
  if (cluster.block_rank() == 0 && threadIdx.x == 0) atomicAdd(d_count, s_blocks);
}
// [end]

// [pack.cuh]
__global__ void copy_packs(const float* d_x, float* d_y, std::size_t packs) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= packs) return;
  const course::Pack<float, 4> p = course::load_pack<4>(d_x + 4 * i);  // one load of 16 bytes
  course::store_pack(d_y + 4 * i, p);                                  // one store of 16 bytes
}
// [end]

// [ptx.cuh]
__global__ void add_eight_halves(__half2* d_y, __half2 v) {
  const __half2 values[4] = {v, v, v, v};
  course::red_add_v4(d_y, values);  // sm_90: one RED, and no wait for the old values
}
// [end]

// [thread_number.cuh]
__global__ void number_all(unsigned* d_y, std::size_t n) {
  for (std::size_t i = course::thread_number(); i < n; i += course::thread_count()) {
    d_y[i] = static_cast<unsigned>(i);
  }
}
// [end]

}  // namespace examples_test

using namespace examples_test;

TEST_CASE("bulk.cuh", "[examples]") {
  if (!course::has_clusters()) SKIP(course::kNoClusters);
  const auto d_x = course::DeviceBuffer<float>::from(std::vector<float>(256, 3.0f));
  course::DeviceBuffer<float> d_y(256);
  course::launch(copy_tile, {1, 256}, d_x.data(), d_y.data());
  CHECK(d_y.download() == d_x.download());
}

TEST_CASE("cluster.cuh", "[examples]") {
  if (!course::has_clusters()) SKIP(course::kNoClusters);
  auto d_count = course::DeviceBuffer<unsigned>::zeros(1);
  // [cluster.cuh]
  course::launch(count_blocks, {.blocks = 8, .threads = 32, .cluster = 4}, d_count.data());
  // [end]
  CHECK(d_count.front() == 8);
}

TEST_CASE("buffer.cuh") {
  // [buffer.cuh]
  const std::vector<float> x = {1, 2, 3};
  const auto d_x = course::DeviceBuffer<float>::from(x);  // cudaMalloc and cudaMemcpy
  course::DeviceBuffer<float> d_y(x.size());              // not initialised
  scale<<<1, 32>>>(d_x.data(), d_x.size(), 2.0f, d_y.data());
  CUDA_CHECK_LAUNCH();
  const std::vector<float> y = d_y.download();  // waits for the kernel
  // [end]
  CHECK(y == std::vector<float>{2, 4, 6});
}

TEST_CASE("cases.cuh") {
  std::size_t tried = 0;
  const std::size_t n = 100;
  const course::LaunchShape launch{4, 32};
  // [cases.cuh]
  const course::DataKind<float> kinds[] = {
      {"all below zero", [](course::Element e) { return -0.5f * static_cast<float>(e.random); }},
      {"the last one counts", [](course::Element e) { return e.i + 1 == e.n ? 1.0f : 0.0f; }},
  };
  for (const auto& kind : kinds) {
    INFO(course::case_text(n, kind.text, "scale",
                           launch));  // n = 100: all below zero; scale<<<4, 32>>>
    const std::vector<float> x = kind.values(n);
    // [end]
    CHECK(x.size() == n);
    CHECK((x[0] == 0.0f || x[0] < 0.0f));
    ++tried;
  }
  CHECK(tried == 2);
}

TEST_CASE("check.cuh") {
  // [check.cuh]
  const std::vector<int> x = course::position_values<int>(course::kBigSize);
  course::GuardedBuffer<int> count(1);
  count.fill_bytes(0);
  count_up<<<4, 32>>>(count.data());
  CUDA_CHECK_LAUNCH();
  REQUIRE(course::same(count.download(), {4 * 32}, "count"));
  REQUIRE(count.intact("count"));  // nothing wrote beside it
  // [end]
  CHECK(x.size() == course::kBigSize);
}

TEST_CASE("collectives.cuh") {
  const std::vector<float> x = course::position_values<float>(1000);
  const auto d_x = course::DeviceBuffer<float>::from(x);
  auto d_sum = course::DeviceBuffer<float>::zeros(1);
  course::launch(sum_blocks, {4, kBlockSize}, d_x.data(), x.size(), d_sum.data());
  float sum = 0;
  for (const float value : x) sum += value;
  CHECK(course::same(d_sum.front(), sum, "sum"));
}

TEST_CASE("merge.cuh") {
  const auto d_x = course::DeviceBuffer<float>::from({10'001, 10'002, 10'003, 10'004, 10'005});
  auto d_variance = course::DeviceBuffer<float>::zeros(1);
  course::launch(variance_of, {1, 32}, d_x.data(), 5u, d_variance.data());
  CHECK(course::close(d_variance.front(), 2, 1e-3, "variance"));
}

TEST_CASE("data.cuh") {
  // [data.cuh]
  const std::vector<float> x = course::position_values<float>(1025);  // k/8, k from 1 to 15
  const double tolerance = course::sum_tolerance(x, course::kFloatRoundoff);
  const std::vector<int> index = course::random_index(1000, 7);  // 0 to 6, in no order
  // [end]
  for (int value = 0; value < 7; ++value) {
    const auto times = std::count(index.begin(), index.end(), value);
    CHECK(times > 100);  // of 143
    CHECK(times < 200);
  }
  CHECK(std::count_if(index.begin(), index.end(), [](int i) { return i < 0 || i > 6; }) == 0);
  CHECK(course::random_index(0, 7).empty());
  CHECK(course::mixed(0) == 0xE220'A839'7B1D'CDAFu);  // the first number of SplitMix64 from seed 0
  int negative = 0;
  for (std::size_t k = 0; k < 10; ++k) {
    CHECK(std::isnan(course::any_nan(k)));
    negative += std::signbit(course::any_nan(k)) ? 1 : 0;
  }
  CHECK(negative == 4);
  double magnitude = 0;
  for (const float value : x) magnitude += value;
  CHECK(tolerance > 1024 * course::kFloatRoundoff * magnitude);
  CHECK(tolerance < 1025 * course::kFloatRoundoff * magnitude);
}

TEST_CASE("device.cuh") {
  course::skip_without_checker();
  // [device.cuh]
  auto d_count = course::DeviceBuffer<int>::zeros(1);
  const auto counters = course::count([&] { count_up<<<2, 64>>>(d_count.data()); });
  if (counters) {                                 // nothing is counted on a GPU
    CHECK(counters->global_atomics == 4);         // one request per warp
    CHECK(counters->global_atomic_lanes == 128);  // one atomic per thread
  }
  CHECK(course::expect_race([&] { count_up_racy<<<2, 64>>>(d_count.data()); }));
  // [end]
}

TEST_CASE("devices.cuh") {
  course::on_devices(2, [] {
    // [devices.cuh]
    const course::OnDevice on(1);
    auto d_count = course::DeviceBuffer<int>::zeros(1);  // memory of device 1
    count_up<<<1, 32>>>(d_count.data());                 // runs on device 1
    CUDA_CHECK_LAUNCH();
    // [end]
    CHECK(d_count.front() == 32);
  });
}

TEST_CASE("error.cuh") {
  // [error.cuh]
  float* d_x = nullptr;
  CUDA_CHECK(cudaMalloc(&d_x, 100 * sizeof(float)));  // throws course::CudaError if it fails
  scale<<<1, 128>>>(d_x, 0, 1.0f, d_x);
  CUDA_CHECK_LAUNCH();  // throws if CUDA refused the launch
  CUDA_CHECK(cudaFree(d_x));
  // [end]
}

TEST_CASE("host_calls.cuh") {
  // [host_calls.cuh]
  int* d_count = nullptr;
  const auto run = course::watch_host([&] {
    CUDA_CHECK(cudaMalloc(&d_count, sizeof(int)));
    CUDA_CHECK(cudaMemset(d_count, 0, sizeof(int)));
    count_up<<<1, 32>>>(d_count);
    CUDA_CHECK_LAUNCH();
  });
  if (run) {  // nothing is known on a GPU
    CHECK(run->kernels == 1);
    CHECK(run->not_given_back.size() == 1);  // "4 bytes of device memory ..."
  }
  // [end]
  CUDA_CHECK(cudaFree(d_count));
}

TEST_CASE("grid.cuh") {
  // [grid.cuh]
  const std::size_t n = 1000;
  const unsigned one_thread_per_element = course::blocks_for(n, 256);  // 4
  const unsigned for_a_grid_stride_loop = course::resident_blocks(scale, 256);
  const unsigned for_any_kernel = course::filling_blocks_for<256>(n);  // at most 4
  const unsigned one_per_sm = course::sm_count();
  // [end]
  CHECK(one_thread_per_element == 4);
  CHECK(for_a_grid_stride_loop > 0);
  CHECK(for_any_kernel == std::min(4u, course::filling_blocks(256)));
  CHECK(course::filling_blocks_for<256>(0) == 0);
  CHECK(course::filling_blocks_for<256>(std::size_t{1} << 40) == course::filling_blocks(256));
  CHECK(course::filling_blocks(256) % one_per_sm == 0);
  CHECK(one_per_sm > 0);
}

TEST_CASE("guarded.cuh") {
  // [guarded.cuh]
  course::GuardedBuffer<int> y(1);  // poisoned, and on a GPU between two guard bands
  write_once<<<1, 1>>>(y.data());
  CUDA_CHECK_LAUNCH();
  REQUIRE(course::same(y.download(), {7}, "y"));
  REQUIRE(y.intact("y"));
  // [end]
}

TEST_CASE("host_memory.cuh") {
  // [host_memory.cuh]
  course::ManagedBuffer<int> count(1);  // the host and every device use the same pointer
  count[0] = 0;
  count_up<<<1, 32>>>(count.data());
  CUDA_CHECK_LAUNCH();
  CUDA_CHECK(cudaDeviceSynchronize());  // the host reads after the kernel
  REQUIRE(course::same(count[0], 32, "count"));
  // [end]
}

TEST_CASE("ladder.cuh") {
  std::ostringstream out, err;
  const char* const argv[] = {"ladder", "--n", "1000"};
  const int argc = 3;
  // [ladder.cuh]
  course::Ladder ladder("01-global-atomic", argc, argv, {}, out, err);
  const int exit_code = ladder.run([](course::Ladder& rungs) {
    const auto blocks = static_cast<unsigned>(rungs.n());  // --n, or the default of this device
    auto d_count = course::DeviceBuffer<int>::zeros(1);
    rungs.reference("number of blocks", blocks);
    rungs.rung({.name = "count_up",
                .changed = "one atomicAdd per block",
                .reset = [&] { d_count.fill_bytes(0); },
                .launch = [&] { count_up<<<blocks, 1>>>(d_count.data()); },
                .result = [&] { return static_cast<double>(d_count.front()); }});
  });
  // [end]
  INFO(out.str() << err.str());
  CHECK(exit_code == 0);
  CHECK(out.str().find("count_up") != std::string::npos);
}

TEST_CASE("launch.cuh") {
  const std::size_t n = 1000;
  const auto x = course::DeviceBuffer<float>::from(course::position_values<float>(n));
  course::DeviceBuffer<float> y(n);
  const float* const d_x = x.data();
  float* const d_y = y.data();
  // [launch.cuh]
  course::launch(scale, {course::blocks_for(n, kBlockSize), kBlockSize}, d_x, n, 2.0f, d_y);
  // [end]
  std::vector<float> expected = x.download();
  for (float& value : expected) value *= 2.0f;
  CHECK(course::same(y.download(), expected, "y"));
}

TEST_CASE("pack.cuh") {
  const std::vector<float> x = course::position_values<float>(64);
  const auto d_x = course::DeviceBuffer<float>::from(x);
  course::DeviceBuffer<float> d_y(64);
  course::launch(copy_packs, {1, 32}, d_x.data(), d_y.data(), std::size_t{16});
  CHECK(course::same(d_y.download(), x, "y"));
}

TEST_CASE("placed.cuh") {
  // [placed.cuh]
  course::Placed<int> y({1, 2, 3}, 1);  // begins 4 bytes past a multiple of 64
  write_once<<<1, 1>>>(y.data());
  CUDA_CHECK_LAUNCH();
  REQUIRE(course::same(y.download(), {7, 2, 3}, "y"));
  REQUIRE(y.intact("y"));
  // [end]
  CHECK(reinterpret_cast<std::uintptr_t>(y.data()) % 64 == 4);
}

TEST_CASE("ptx.cuh") {
  auto d_y = course::DeviceBuffer<__half2>::from(std::vector<__half2>(4, __half2(1.0f, 2.0f)));
  course::launch(add_eight_halves, {1, 1}, d_y.data(), __half2(0.5f, 0.25f));
  const std::vector<__half2> y = d_y.download();
  CHECK(static_cast<float>(y[3].x) == 1.5f);
  CHECK(static_cast<float>(y[3].y) == 2.25f);
}

TEST_CASE("look_back.cuh") {
  course::LookBackMemory<float> memory;
  course::DeviceBuffer<float> before(100);
  course::launch(sum_before, {100, 32}, memory.next(100), before.data());
  CHECK(before.download()[99] == 99 * 100 / 2);
}

TEST_CASE("rungs.cuh") {
  course::DeviceBuffer<int> count(1);
  int* const d_count = count.data();
  // [rungs.cuh]
  struct CountRung {
    std::string name, changed;
    void (*launch)(unsigned n, int* d_count);
  };
  const std::vector<CountRung> rungs = {
      {"count_up", "one atomicAdd per block", [](unsigned n, int* d_count) {
         course::set_zero(d_count);
         course::launch(count_up, {n, 1}, d_count);
       }}};
  course::rung_named(rungs, "count_up").launch(5, d_count);
  // [end]
  CHECK(count.front() == 5);
  CHECK_THROWS_AS(course::rung_named(rungs, "count_down"), std::out_of_range);
  const course::WrongRung wrong = course::wrong_rung({.name = "count_up", .tolerance = 2, .n = 5},
                                                     course::Expect::race, "why", 3.0);
  CHECK(wrong.name == "count_up");
  CHECK(wrong.because == "why");
  CHECK(wrong.exactly == 3.0);
  CHECK(wrong.tolerance == 2);
}

TEST_CASE("timing.cuh") {
  auto d_count = course::DeviceBuffer<int>::zeros(1);
  // [timing.cuh]
  const course::Quantiles times =
      course::sample_microseconds([&] { d_count.fill_bytes(0); },  // before each launch
                                  [&] { count_up<<<1, 32>>>(d_count.data()); });  // is timed
  // [end]
  CHECK(times.samples >= 20);
  CHECK(times.p10 <= times.median);
}

TEST_CASE("vendor.cuh") {
  const auto fills = [](void* memory, std::size_t& size, int byte) {
    if (memory == nullptr) size = 64;
    return memory == nullptr ? cudaSuccess : cudaMemset(memory, byte, size);
  };
  int calls = 0;
  // [vendor.cuh]
  const auto call = [&](void* memory, std::size_t& size) {
    ++calls;
    return fills(memory, size, 0);  // as cub::DeviceReduce::Sum(memory, size, d_x, d_y, n)
  };
  const course::Rung row = course::cub_row("cub::DeviceReduce::Sum", "CUB", call);
  row.launch();
  // [end]
  CHECK(calls == 2);
  CHECK(row.name == "cub::DeviceReduce::Sum");
}

TEST_CASE("thread_number.cuh") {
  const course::LaunchShape folded{3, 64, true};
  course::GuardedBuffer<unsigned> y(500);
  course::launch(number_all, {folded.grid, folded.threads()}, y.data(), y.size());
  const std::vector<unsigned> numbers = y.download();
  for (unsigned i = 0; i < numbers.size(); ++i) CHECK(numbers[i] == i);
}

TEST_CASE("verdict.cuh") {
  // [verdict.cuh]
  const course::Verdict verdict = course::same(std::vector<int>{7, 7}, {7, 8}, "count");
  CHECK(verdict.text == "count[1]: expected 8, found 7; the other element is right");
  // [end]
  CHECK(!verdict.ok);
}
