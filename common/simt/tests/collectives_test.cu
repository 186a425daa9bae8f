// Warp-wide functions and barriers: what each returns, with all lanes, with some, and after lanes
// have returned. Plain CUDA: the same file passes on a GPU.
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <catch2/catch_test_macros.hpp>
#include <string>
#include <vector>

#include "results.cuh"

namespace {

constexpr unsigned kAll = 0xffffffffu;
constexpr unsigned kMasks[] = {kAll,        0x0000ffffu, 0xffff0000u, 0xaaaaaaaau,
                               0x80000001u, 0x00f00f00u, 0x00000080u};

/// Memory of host and device.
template <class T>
struct Managed {
  T* data = nullptr;
  explicit Managed(int n) { REQUIRE(cudaMallocManaged(&data, n * sizeof(T)) == cudaSuccess); }
  ~Managed() { cudaFree(data); }
  T& operator[](int i) const { return data[i]; }
};

/// What the lanes outside the mask do while the others call.
enum class Others { skip, return_early };

/// Every lane of `mask` calls the operation; the result of lane l is out[l].
template <class Operation>
__global__ void call_in(Operation operation, unsigned mask, Others others,
                        typename Operation::Result* out) {
  const int lane = threadIdx.x;
  const bool takes_part = (mask >> lane & 1u) != 0;
  if (!takes_part && others == Others::return_early) return;
  if (takes_part) out[lane] = operation.call(mask, lane);
}

/// What the lanes bring: different, not in order, positive and negative.
__host__ __device__ constexpr int value_of(int lane) { return (lane * 37 + 11) % 64 - 20; }

template <class Operation>
std::string first_difference(const Operation& operation) {
  Managed<typename Operation::Result> out(32);
  for (const unsigned mask : kMasks) {
    for (const Others others : {Others::skip, Others::return_early}) {
      for (int lane = 0; lane < 32; ++lane) out[lane] = {};
      call_in<<<1, 32>>>(operation, mask, others, out.data);
      if (cudaDeviceSynchronize() != cudaSuccess) return "error";
      for (int lane = 0; lane < 32; ++lane) {
        if ((mask >> lane & 1u) == 0 || !operation.is_defined(mask, lane)) continue;
        if (out[lane] == operation.expected(mask, lane)) continue;
        return "mask " + std::to_string(mask) +
               (others == Others::skip ? "" : ", others returned") + ", lane " +
               std::to_string(lane);
      }
    }
  }
  return "";
}

// ---- votes --------------------------------------------------------------------------------------

struct Vote {
  __host__ __device__ static bool predicate(int lane, int threshold) {
    return value_of(lane) > threshold;
  }
  static unsigned votes(unsigned mask, int threshold) {
    unsigned result = 0;
    for (int l = 0; l < 32; ++l) {
      if ((mask >> l & 1u) != 0 && predicate(l, threshold)) result |= 1u << l;
    }
    return result;
  }
  static bool is_defined(unsigned, int) { return true; }
};

struct Ballot : Vote {
  using Result = unsigned;
  int threshold;
  __device__ unsigned call(unsigned mask, int lane) const {
    return __ballot_sync(mask, predicate(lane, threshold));
  }
  unsigned expected(unsigned mask, int) const { return votes(mask, threshold); }
};

struct Any : Vote {
  using Result = int;
  int threshold;
  __device__ int call(unsigned mask, int lane) const {
    return __any_sync(mask, predicate(lane, threshold)) != 0;
  }
  int expected(unsigned mask, int) const { return votes(mask, threshold) != 0; }
};

struct All : Vote {
  using Result = int;
  int threshold;
  __device__ int call(unsigned mask, int lane) const {
    return __all_sync(mask, predicate(lane, threshold)) != 0;
  }
  int expected(unsigned mask, int) const { return votes(mask, threshold) == mask; }
};

// ---- match --------------------------------------------------------------------------------------

template <class T>
struct MatchAny {
  using Result = unsigned;
  int keys;
  __host__ __device__ T key(int lane) const { return static_cast<T>(value_of(lane) % keys); }
  static bool is_defined(unsigned, int) { return true; }
  __device__ unsigned call(unsigned mask, int lane) const {
    return __match_any_sync(mask, key(lane));
  }
  unsigned expected(unsigned mask, int lane) const {
    unsigned equal = 0;
    for (int l = 0; l < 32; ++l) {
      if ((mask >> l & 1u) != 0 && key(l) == key(lane)) equal |= 1u << l;
    }
    return equal;
  }
};

/// The mask is 1 where the predicate is true: both must agree.
template <class T>
struct MatchAll {
  using Result = unsigned;
  int keys;
  __host__ __device__ T key(int lane) const { return static_cast<T>(lane % keys); }
  static bool is_defined(unsigned, int) { return true; }
  __device__ unsigned call(unsigned mask, int lane) const {
    int predicate = -1;
    const unsigned result = __match_all_sync(mask, key(lane), &predicate);
    return predicate == (result != 0) ? result : 0xdeadu;
  }
  unsigned expected(unsigned mask, int lane) const {
    for (int l = 0; l < 32; ++l) {
      if ((mask >> l & 1u) != 0 && key(l) != key(lane)) return 0;
    }
    return mask;
  }
};

// ---- shuffles -----------------------------------------------------------------------------------

enum class Direction { index, up, down, exclusive_or };

template <class T>
struct Shuffle {
  using Result = T;
  Direction direction;
  int argument, width;

  __host__ __device__ static T brought(int lane) { return static_cast<T>(value_of(lane)); }
  __device__ T call(unsigned mask, int lane) const {
    const T mine = brought(lane);
    switch (direction) {
      case Direction::index:
        return __shfl_sync(mask, mine, argument, width);
      case Direction::up:
        return __shfl_up_sync(mask, mine, argument, width);
      case Direction::down:
        return __shfl_down_sync(mask, mine, argument, width);
      default:
        return __shfl_xor_sync(mask, mine, argument, width);
    }
  }
  /// The lane that `lane` reads: itself where the source would be outside its segment.
  int source(int lane) const {
    const int first = lane / width * width, last = first + width - 1;
    switch (direction) {
      case Direction::index:
        return first + argument % width;
      case Direction::up:
        return lane - argument < first ? lane : lane - argument;
      case Direction::down:
        return lane + argument > last ? lane : lane + argument;
      default:
        return (lane ^ argument) > last ? lane : lane ^ argument;
    }
  }
  bool is_defined(unsigned mask, int lane) const { return (mask >> source(lane) & 1u) != 0; }
  T expected(unsigned, int lane) const { return brought(source(lane)); }
};

// ---- reductions ---------------------------------------------------------------------------------

enum class Reduction { add, min, max, bit_and, bit_or, bit_xor };

template <class T>
struct Reduce {
  using Result = T;
  Reduction reduction;

  __host__ __device__ static T brought(int lane) {
    return static_cast<T>(value_of(lane)) * static_cast<T>(0x01010101);
  }
  static bool is_defined(unsigned, int) { return true; }
  __device__ T call(unsigned mask, int lane) const {
    const T mine = brought(lane);
    if (reduction == Reduction::add) return __reduce_add_sync(mask, mine);
    if (reduction == Reduction::min) return __reduce_min_sync(mask, mine);
    return __reduce_max_sync(mask, mine);
  }
  T expected(unsigned mask, int) const {
    bool first = true;
    T total = 0;
    for (int l = 0; l < 32; ++l) {
      if ((mask >> l & 1u) == 0) continue;
      const T v = brought(l);
      if (first) {
        total = v;
      } else if (reduction == Reduction::add) {
        total = static_cast<T>(static_cast<unsigned>(total) + static_cast<unsigned>(v));
      } else if (reduction == Reduction::min) {
        total = v < total ? v : total;
      } else {
        total = v > total ? v : total;
      }
      first = false;
    }
    return total;
  }
};

struct ReduceBits {
  using Result = unsigned;
  Reduction reduction;

  static bool is_defined(unsigned, int) { return true; }
  __host__ __device__ static unsigned brought(int lane) {
    return static_cast<unsigned>(value_of(lane)) * 0x9e3779b9u | 0x00100000u;
  }
  __device__ unsigned call(unsigned mask, int lane) const {
    const unsigned mine = brought(lane);
    if (reduction == Reduction::bit_and) return __reduce_and_sync(mask, mine);
    if (reduction == Reduction::bit_or) return __reduce_or_sync(mask, mine);
    return __reduce_xor_sync(mask, mine);
  }
  unsigned expected(unsigned mask, int) const {
    unsigned total = reduction == Reduction::bit_and ? kAll : 0;
    for (int l = 0; l < 32; ++l) {
      if ((mask >> l & 1u) == 0) continue;
      if (reduction == Reduction::bit_and) total &= brought(l);
      if (reduction == Reduction::bit_or) total |= brought(l);
      if (reduction == Reduction::bit_xor) total ^= brought(l);
    }
    return total;
  }
};

}  // namespace

TEST_CASE("votes") {
  for (const int threshold : {-100, 0, 20, 100}) {
    CHECK(first_difference(Ballot{{}, threshold}) == "");
    CHECK(first_difference(Any{{}, threshold}) == "");
    CHECK(first_difference(All{{}, threshold}) == "");
  }
}

TEST_CASE("match, of 4 and 8 bytes") {
  for (const int keys : {1, 3, 64}) {
    CHECK(first_difference(MatchAny<int>{keys}) == "");
    CHECK(first_difference(MatchAny<unsigned>{keys}) == "");
    CHECK(first_difference(MatchAny<long long>{keys}) == "");
    CHECK(first_difference(MatchAny<float>{keys}) == "");
    CHECK(first_difference(MatchAny<double>{keys}) == "");
    CHECK(first_difference(MatchAll<int>{keys}) == "");
    CHECK(first_difference(MatchAll<unsigned long long>{keys}) == "");
  }
}

TEST_CASE("shuffles, in segments of every width") {
  for (const Direction direction :
       {Direction::index, Direction::up, Direction::down, Direction::exclusive_or}) {
    for (const int width : {2, 8, 32}) {
      for (const int argument : {0, 1, 5, 16, 31}) {
        INFO("direction " << static_cast<int>(direction) << " width " << width << " argument "
                          << argument);
        CHECK(first_difference(Shuffle<int>{direction, argument, width}) == "");
      }
    }
  }
}

TEST_CASE("shuffles of every type") {
  CHECK(first_difference(Shuffle<unsigned>{Direction::down, 1, 32}) == "");
  CHECK(first_difference(Shuffle<long>{Direction::down, 1, 32}) == "");
  CHECK(first_difference(Shuffle<unsigned long>{Direction::up, 1, 32}) == "");
  CHECK(first_difference(Shuffle<long long>{Direction::up, 1, 32}) == "");
  CHECK(first_difference(Shuffle<unsigned long long>{Direction::index, 1, 32}) == "");
  CHECK(first_difference(Shuffle<float>{Direction::exclusive_or, 1, 32}) == "");
  CHECK(first_difference(Shuffle<double>{Direction::exclusive_or, 16, 32}) == "");
}

TEST_CASE("reductions") {
  for (const Reduction reduction : {Reduction::add, Reduction::min, Reduction::max}) {
    CHECK(first_difference(Reduce<int>{reduction}) == "");
    CHECK(first_difference(Reduce<unsigned>{reduction}) == "");
  }
  for (const Reduction reduction : {Reduction::bit_and, Reduction::bit_or, Reduction::bit_xor}) {
    CHECK(first_difference(ReduceBits{reduction}) == "");
  }
}

// ---- two masks at once, blocks that are no multiple of a warp -----------------------------------

namespace {

__global__ void shuffle_half_types(float* out) {
  const __half mine = __float2half(static_cast<float>(threadIdx.x));
  const __half2 pair = __floats2half2_rn(static_cast<float>(threadIdx.x), 0.5f);
  const __half2 next = __shfl_down_sync(kAll, pair, 1);
  out[threadIdx.x] =
      __half2float(__shfl_xor_sync(kAll, mine, 31)) + 100 * __low2float(next) + __high2float(next);
}

__global__ void reduce_halves_apart(int* out) {
  int v = static_cast<int>(threadIdx.x);
  if (threadIdx.x < 16) {
    for (int offset = 8; offset > 0; offset /= 2) v += __shfl_down_sync(0x0000ffffu, v, offset);
  } else {
    for (int offset = 8; offset > 0; offset /= 2) v += __shfl_down_sync(0xffff0000u, v, offset);
  }
  out[threadIdx.x] = v;
}

// The two calls are two instructions, but one operation with one mask.
__global__ void exchange_from_two_branches(int* out) {
  int v = static_cast<int>(threadIdx.x);
  if (threadIdx.x < 16) {
    v = __shfl_xor_sync(kAll, v, 1);
  } else {
    v = __shfl_xor_sync(kAll, v, 1);
  }
  out[threadIdx.x] = v;
}

__global__ void ballot_in_loop(unsigned* out) {
  unsigned votes = 0;
  for (unsigned i = 0; i < 5; ++i) votes += __popc(__ballot_sync(kAll, threadIdx.x % 5 == i));
  out[threadIdx.x] = votes;
}

__global__ void sum_of_ragged_warp(int* out) {  // 40 threads: the second warp has 8 lanes
  const unsigned mask = threadIdx.x < 32 ? kAll : 0xffu;
  out[threadIdx.x] = __reduce_add_sync(mask, 1);
}

__global__ void warp_of_2d_block(int* out) {  // 8 x 8 threads: lanes count along x first
  const unsigned rank = threadIdx.y * blockDim.x + threadIdx.x;
  out[rank] = __shfl_sync(kAll, static_cast<int>(rank), 0);
}

}  // namespace

TEST_CASE("shuffles take half types") {
  const std::vector<float> out = simt_test::results_of(shuffle_half_types, 32, 32);
  CHECK(out[0] == 31 + 100 * 1 + 0.5f);
  CHECK(out[30] == 1 + 100 * 31 + 0.5f);
}

TEST_CASE("two groups of a warp call with masks of their own") {
  const std::vector<int> out = simt_test::results_of(reduce_halves_apart, 32, 32);
  CHECK(out[0] == 120);
  CHECK(out[16] == 376);
}

TEST_CASE("lanes of one mask meet from two branches") {
  const std::vector<int> out = simt_test::results_of(exchange_from_two_branches, 32, 32);
  for (int lane = 0; lane < 32; ++lane) CHECK(out[lane] == (lane ^ 1));
}

TEST_CASE("the same call may come again and again") {
  const std::vector<unsigned> out = simt_test::results_of(ballot_in_loop, 32, 32);
  CHECK(out[7] == 32);
}

TEST_CASE("the last warp of a block may have fewer lanes") {
  const std::vector<int> out = simt_test::results_of(sum_of_ragged_warp, 40, 40);
  CHECK(out[31] == 32);
  CHECK(out[39] == 8);
}

TEST_CASE("warps are cut from the threads in x, then y") {
  const std::vector<int> out = simt_test::results_of(warp_of_2d_block, 64, dim3(8, 8));
  CHECK(out[31] == 0);
  CHECK(out[32] == 32);
}

// ---- __activemask -------------------------------------------------------------------------------

namespace {

/// Every lane of a branch must be in a group that contains it; how the branch splits into groups is
/// the hardware's choice.
__global__ void active_groups(unsigned branch, unsigned* out) {
  const unsigned lane = threadIdx.x;
  if ((branch >> lane & 1u) == 0) return;
  out[lane] = __activemask();
}

/// Warp-aggregated increment: one atomic for all lanes that are here together.
__device__ int next_slot(int* counter) {
  const unsigned active = __activemask();
  const int leader = __ffs(static_cast<int>(active)) - 1;
  const int lane = static_cast<int>(threadIdx.x % 32);
  int first = 0;
  if (lane == leader) first = atomicAdd(counter, __popc(active));
  first = __shfl_sync(active, first, leader);
  return first + __popc(active & ((1u << lane) - 1));
}

// Both branches call the same function: their lanes must not be taken for one group.
__global__ void split_by_parity(int* even, int* odd, int* counters) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i % 2 == 0) {
    even[next_slot(&counters[0])] = i;
  } else {
    odd[next_slot(&counters[1])] = i;
  }
}

}  // namespace

TEST_CASE("__activemask names the caller and only lanes that came the same way") {
  Managed<unsigned> out(32);
  for (const unsigned branch : kMasks) {
    for (int lane = 0; lane < 32; ++lane) out[lane] = 0;
    active_groups<<<1, 32>>>(branch, out.data);
    REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
    for (int lane = 0; lane < 32; ++lane) {
      if ((branch >> lane & 1u) == 0) continue;
      CHECK((out[lane] >> lane & 1u) == 1u);
      CHECK((out[lane] & ~branch) == 0u);
    }
  }
}

TEST_CASE("one helper called in both branches aggregates each branch by itself") {
  constexpr int n = 256;
  Managed<int> even(n), odd(n), counters(2);
  counters[0] = counters[1] = 0;
  split_by_parity<<<2, n / 2>>>(even.data, odd.data, counters.data);
  REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
  REQUIRE(counters[0] == n / 2);
  REQUIRE(counters[1] == n / 2);
  std::vector<int> times(n);
  for (int k = 0; k < n / 2; ++k) {
    ++times[even[k]];
    ++times[odd[k]];
    CHECK(even[k] % 2 == 0);
    CHECK(odd[k] % 2 == 1);
  }
  CHECK(times == std::vector<int>(n, 1));
}

// ---- block barriers -----------------------------------------------------------------------------

namespace {

enum class Barrier { count, all, any };

__global__ void block_vote(Barrier barrier, int threshold, int* out) {
  const int predicate = static_cast<int>(threadIdx.x) < threshold ? 7 : 0;
  int result = 0;
  if (barrier == Barrier::count) result = __syncthreads_count(predicate);
  if (barrier == Barrier::all) result = __syncthreads_and(predicate) != 0;
  if (barrier == Barrier::any) result = __syncthreads_or(predicate) != 0;
  out[blockIdx.x * blockDim.x + threadIdx.x] = result;
}

__global__ void pass_around(int rounds, int* out) {
  __shared__ int s_values[96];
  const unsigned t = threadIdx.x;
  s_values[t] = static_cast<int>(t);
  for (int round = 0; round < rounds; ++round) {
    __syncthreads();
    const int left = s_values[(t + 95) % 96];
    __syncthreads();
    s_values[t] = left;
  }
  out[t] = s_values[t];
}

}  // namespace

TEST_CASE("__syncthreads_count, _and, _or, in blocks of odd sizes") {
  Managed<int> out(200);
  for (const int threads : {1, 31, 40, 100}) {
    for (const int threshold : {0, 1, threads - 1, threads}) {
      INFO(threads << " threads, " << threshold << " say yes");
      block_vote<<<2, threads>>>(Barrier::count, threshold, out.data);
      REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
      CHECK(out[0] == threshold);
      CHECK(out[2 * threads - 1] == threshold);
      block_vote<<<2, threads>>>(Barrier::all, threshold, out.data);
      REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
      CHECK(out[threads - 1] == (threshold == threads));
      block_vote<<<2, threads>>>(Barrier::any, threshold, out.data);
      REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
      CHECK(out[threads] == (threshold > 0));
    }
  }
}

TEST_CASE("a barrier in a loop separates every round") {
  Managed<int> out(96);
  pass_around<<<1, 96>>>(10, out.data);
  REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
  for (int t = 0; t < 96; ++t) CHECK(out[t] == (t + 86) % 96);
}
