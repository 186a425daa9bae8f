// Cooperative groups in full and partial blocks, and in divergent code.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <vector>

#ifdef SIMT_CPU_DEVICE
#include "testing.hpp"
#endif

namespace cg = cooperative_groups;

namespace {

/// n ints per thread in managed memory, where kernels leave what they saw.
template <int n>
struct Found {
  int (*rows)[n] = nullptr;
  explicit Found(int threads) {
    REQUIRE(cudaMallocManaged(&rows, threads * sizeof(int[n])) == cudaSuccess);
    for (int t = 0; t < threads; ++t) {
      for (int i = 0; i < n; ++i) rows[t][i] = -1;
    }
  }
  ~Found() { static_cast<void>(cudaFree(rows)); }
  Found(const Found&) = delete;
  void wait() {
    REQUIRE(cudaGetLastError() == cudaSuccess);
    REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
  }
};

int round_up(int n, int unit) { return (n + unit - 1) / unit * unit; }

}  // namespace

// ---- blocks -------------------------------------------------------------------------------------

__global__ void describe_block(int (*found)[6]) {
  const cg::thread_block block = cg::this_thread_block();
  int* row = found[blockIdx.x * block.size() + block.thread_rank()];
  row[0] = static_cast<int>(block.thread_rank());
  row[1] = static_cast<int>(block.num_threads());
  row[2] = static_cast<int>(block.group_index().x);
  row[3] = static_cast<int>(block.thread_index().y);
  row[4] = static_cast<int>(block.dim_threads().x);
  row[5] = static_cast<int>(cg::this_grid().thread_rank());
}

TEST_CASE("thread_block") {
  Found<6> found(2 * 48);
  describe_block<<<2, dim3(16, 3)>>>(found.rows);
  found.wait();
  for (int t = 0; t < 96; ++t) {
    const int* row = found.rows[t];
    CHECK(row[0] == t % 48);
    CHECK(row[1] == 48);
    CHECK(row[2] == t / 48);
    CHECK(row[3] == t % 48 / 16);
    CHECK(row[4] == 16);
    CHECK(row[5] == t);
  }
}

__device__ int sum_of_group(cg::thread_group group, int* scratch, int value) {
  const int rank = static_cast<int>(group.thread_rank());
  for (int half = static_cast<int>(group.size()) / 2; half > 0; half /= 2) {
    scratch[rank] = value;
    group.sync();
    if (rank < half) value += scratch[rank + half];
    group.sync();
  }
  return value;
}

__global__ void sum_by_block_and_by_tile(int (*found)[2]) {
  __shared__ int scratch[128];
  const cg::thread_block block = cg::this_thread_block();
  const int rank = static_cast<int>(block.thread_rank());
  found[rank][0] = sum_of_group(block, scratch, rank);
  cg::sync(block);
  const cg::thread_group tile = cg::tiled_partition(block, 8);
  found[rank][1] = sum_of_group(tile, scratch + rank / 8 * 8, rank);
}

TEST_CASE("thread_group: one function for blocks and for tiles of any size") {
  Found<2> found(128);
  sum_by_block_and_by_tile<<<1, 128>>>(found.rows);
  found.wait();
  CHECK(found.rows[0][0] == 127 * 128 / 2);
  for (int t = 0; t < 128; t += 8) CHECK(found.rows[t][1] == 8 * t + 28);
}

// ---- tiles --------------------------------------------------------------------------------------

template <unsigned size>
__global__ void use_tile(int (*found)[12]) {
  const cg::thread_block block = cg::this_thread_block();
  const cg::thread_block_tile<size> tile = cg::tiled_partition<size>(block);
  const int me = static_cast<int>(block.thread_rank());
  int* row = found[me];
  row[0] = static_cast<int>(tile.thread_rank());
  row[1] = static_cast<int>(tile.meta_group_rank());
  row[2] = static_cast<int>(tile.meta_group_size());
  row[3] = tile.shfl(me, 0);
  row[4] = tile.shfl_up(me, 1);
  row[5] = tile.shfl_down(me, 1);
  row[6] = size > 1 ? tile.shfl_xor(me, 1) : me;
  row[7] = tile.any(me == 5);
  row[8] = tile.all(me >= 5);
  row[9] = static_cast<int>(tile.ballot(me % 2));
  row[10] = static_cast<int>(tile.match_any(me / 2));
  row[11] = cg::reduce(tile, me, cg::plus<int>());
}

template <unsigned size>
void check_tiles(int threads) {
  INFO("tiles of " << size << ", " << threads << " threads");
  const int n = static_cast<int>(size);
  REQUIRE(threads % n == 0);
  Found<12> found(threads);
  use_tile<size><<<1, threads>>>(found.rows);
  found.wait();
  for (int t = 0; t < threads; ++t) {
    const int* row = found.rows[t];
    const int rank = t % n, first = t - rank, last = first + n - 1;
    CHECK(row[0] == rank);
    CHECK(row[1] == t / n);
    CHECK(row[2] == threads / n);
    CHECK(row[3] == first);
    CHECK(row[4] == (rank == 0 ? t : t - 1));
    CHECK(row[5] == (t == last ? t : t + 1));
    CHECK(row[6] == (n == 1 ? t : (t ^ 1)));
    CHECK((row[7] != 0) == (first <= 5 && 5 <= last));
    CHECK((row[8] != 0) == (first >= 5));
    const unsigned odd = 0xAAAAAAAAu & (n == 32 ? ~0u : (1u << n) - 1);
    CHECK(static_cast<unsigned>(row[9]) == (n == 1 ? static_cast<unsigned>(t % 2) : odd));
    CHECK(static_cast<unsigned>(row[10]) == (n == 1 ? 1u : 3u << (rank & ~1)));
    CHECK(row[11] == (first + last) * n / 2);
  }
}

TEST_CASE("tiles of every size") {
  const int threads = GENERATE(32, 64, 128);
  check_tiles<1>(threads);
  check_tiles<2>(threads);
  check_tiles<4>(threads);
  check_tiles<8>(threads);
  check_tiles<16>(threads);
  check_tiles<32>(threads);
}

TEST_CASE("tiles in a block that ends within a warp") {
  check_tiles<1>(33);
  check_tiles<4>(48);
  check_tiles<16>(48);
}

__global__ void tiles_of_tiles(int (*found)[3]) {
  const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  const auto eight = cg::tiled_partition<8>(warp);
  const auto two = cg::tiled_partition<2>(eight);
  int* row = found[cg::thread_rank(cg::this_thread_block())];
  row[0] = static_cast<int>(eight.meta_group_rank() * 100 + eight.meta_group_size());
  row[1] = static_cast<int>(two.meta_group_rank() * 100 + two.meta_group_size());
  row[2] = two.shfl(static_cast<int>(warp.thread_rank()), 1);
}

TEST_CASE("tiles of tiles") {
  Found<3> found(64);
  tiles_of_tiles<<<1, 64>>>(found.rows);
  found.wait();
  for (int t = 0; t < 64; ++t) {
    CHECK(found.rows[t][0] == t % 32 / 8 * 100 + 4);
    CHECK(found.rows[t][1] == t % 8 / 2 * 100 + 4);
    CHECK(found.rows[t][2] == (t % 32 | 1));
  }
}

struct Particle {  // 16 bytes: more than one shuffle instruction moves
  double mass;
  int cell, id;
};

__global__ void shuffle_structs(int (*found)[2]) {
  const auto tile = cg::tiled_partition<4>(cg::this_thread_block());
  const int me = static_cast<int>(threadIdx.x);
  const Particle mine{0.5 * me, 10 * me, me};
  const Particle theirs = tile.shfl(mine, 3);
  found[me][0] = theirs.id;
  found[me][1] = static_cast<int>(theirs.mass * 2) + theirs.cell;
}

TEST_CASE("shuffles move whole structures") {
  Found<2> found(32);
  shuffle_structs<<<1, 32>>>(found.rows);
  found.wait();
  for (int t = 0; t < 32; ++t) {
    CHECK(found.rows[t][0] == (t | 3));
    CHECK(found.rows[t][1] == 11 * (t | 3));
  }
}

__global__ void reduce_in_all_ways(int (*found)[7]) {
  const auto tile = cg::tiled_partition<16>(cg::this_thread_block());
  const int me = static_cast<int>(threadIdx.x), factor = 2 + me / 1000;
  int* row = found[me];
  row[0] = cg::reduce(tile, me, cg::less<int>());
  row[1] = cg::reduce(tile, me, cg::greater<int>());
  row[2] = cg::reduce(tile, me | 0x100, cg::bit_and<int>());
  row[3] = cg::reduce(tile, me, cg::bit_or<int>());
  row[4] = cg::reduce(tile, me, cg::bit_xor<int>());
  row[5] = static_cast<int>(cg::reduce(tile, 0.5f * static_cast<float>(me), cg::plus<float>()));
  row[6] = cg::reduce(tile, me, [factor](int a, int b) { return a > b ? a * factor / 2 : b; });
}

TEST_CASE("reduce") {
  Found<7> found(32);
  reduce_in_all_ways<<<1, 32>>>(found.rows);
  found.wait();
  for (int t = 0; t < 32; ++t) {
    const int first = t & 16, last = first + 15;
    CHECK(found.rows[t][0] == first);
    CHECK(found.rows[t][1] == last);
    CHECK(found.rows[t][2] == (0x100 | first));
    CHECK(found.rows[t][3] == last);
    CHECK(found.rows[t][4] == 0);
    CHECK(found.rows[t][5] == (first + last) * 4);
    CHECK(found.rows[t][6] == last);
  }
}

__global__ void scan_tiles(int (*found)[3]) {
  const auto tile = cg::tiled_partition<8>(cg::this_thread_block());
  const int me = static_cast<int>(threadIdx.x);
  found[me][0] = cg::inclusive_scan(tile, me);
  found[me][1] = cg::exclusive_scan(tile, me);
  found[me][2] = cg::inclusive_scan(tile, -me, cg::greater<int>());
}

TEST_CASE("scans") {
  Found<3> found(32);
  scan_tiles<<<1, 32>>>(found.rows);
  found.wait();
  for (int t = 0; t < 32; ++t) {
    int sum = 0;
    for (int i = t & ~7; i < t; ++i) sum += i;
    CHECK(found.rows[t][0] == sum + t);
    CHECK(found.rows[t][1] == sum);
    CHECK(found.rows[t][2] == -(t & ~7));
  }
}

// ---- coalesced groups ---------------------------------------------------------------------------

// A GPU, and some seeds, may split the lanes of a branch into several groups. These checks hold for
// any split: they compare each group with itself.
__global__ void coalesced_in_branch(int threads, int (*found)[8]) {
  const int me = static_cast<int>(threadIdx.x);
  int* row = found[me];
  if (me < threads && me % 3 == 0) {
    const cg::coalesced_group group = cg::coalesced_threads();
    const int rank = static_cast<int>(group.thread_rank());
    const int size = static_cast<int>(group.size());
    row[0] = size;
    row[1] = group.shfl(rank, size - 1);                       // size - 1
    row[2] = group.shfl_up(rank, 1);                           // rank - 1, or 0
    row[3] = group.shfl_down(rank, 1);                         // rank + 1, or size - 1
    row[4] = static_cast<int>(group.ballot(1) >> (size - 1));  // 1
    row[5] = cg::reduce(group, 1, cg::plus<int>());            // size
    row[6] = rank;
    row[7] = group.all(me % 3 == 0) && !group.any(me % 3 != 0);
    group.sync();
  }
}

TEST_CASE("coalesced_threads in a branch") {
  const int threads = GENERATE(1, 32, 33, 48, 64);
  Found<8> found(64);
  coalesced_in_branch<<<1, round_up(threads, 16)>>>(threads, found.rows);
  found.wait();
  double groups = 0;
  for (int t = 0; t < threads; t += 3) {
    const int* row = found.rows[t];
    const int size = row[0], rank = row[6];
    REQUIRE(size >= 1);
    REQUIRE(rank >= 0);
    REQUIRE(rank < size);
    CHECK(row[1] == size - 1);
    CHECK(row[2] == (rank == 0 ? 0 : rank - 1));
    CHECK(row[3] == (rank == size - 1 ? rank : rank + 1));
    CHECK(row[4] == 1);
    CHECK(row[5] == size);
    CHECK(row[7] == 1);
    groups += 1.0 / size;
  }
  CHECK(groups > 0.99);
}

__global__ void tiles_of_the_odd_lanes(int* right) {
  if (threadIdx.x % 2 == 0) return;
  const cg::coalesced_group odd = cg::coalesced_threads();  // some schedules split them
  const cg::coalesced_group four = cg::tiled_partition(odd, 4);
  const unsigned member = odd.thread_rank(), first = member / 4 * 4;
  right[threadIdx.x] = four.thread_rank() == member % 4 &&
                       four.size() == min(4u, odd.size() - first) &&
                       four.meta_group_rank() == member / 4 && four.shfl(member, 0) == first;
}

TEST_CASE("tiles of a coalesced group are of its threads, not of the warp's lanes") {
  const int threads = GENERATE(32, 30, 7);
  int* right = nullptr;
  REQUIRE(cudaMallocManaged(&right, 32 * sizeof(int)) == cudaSuccess);
  tiles_of_the_odd_lanes<<<1, threads>>>(right);
  REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
  for (int lane = 1; lane < threads; lane += 2) CHECK(right[lane] == 1);
  CHECK(cudaFree(right) == cudaSuccess);
}

__global__ void count_per_bin(const int* bins, int n, int* counts) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= n) return;
  const cg::coalesced_group active = cg::coalesced_threads();
  const cg::coalesced_group same = cg::labeled_partition(active, bins[i]);
  if (same.thread_rank() == 0) atomicAdd(&counts[bins[i]], static_cast<int>(same.size()));
}

TEST_CASE("labeled_partition of the active threads: one atomic per bin and group") {
  const int n = GENERATE(1, 31, 33, 48, 100, 257);
  int *bins = nullptr, *counts = nullptr;
  REQUIRE(cudaMallocManaged(&bins, n * sizeof(int)) == cudaSuccess);
  REQUIRE(cudaMallocManaged(&counts, 5 * sizeof(int)) == cudaSuccess);
  int expected[5] = {};
  for (int i = 0; i < n; ++i) ++expected[bins[i] = i * i % 5];
  for (int b = 0; b < 5; ++b) counts[b] = 0;
  count_per_bin<<<(n + 63) / 64, 64>>>(bins, n, counts);
  REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
  for (int b = 0; b < 5; ++b) CHECK(counts[b] == expected[b]);
  CHECK(cudaFree(bins) == cudaSuccess);
  CHECK(cudaFree(counts) == cudaSuccess);
}

__global__ void partition_tile(int (*found)[6]) {
  const auto tile = cg::tiled_partition<16>(cg::this_thread_block());
  const int me = static_cast<int>(threadIdx.x);
  const cg::coalesced_group labeled = cg::labeled_partition(tile, me % 3);
  found[me][0] = static_cast<int>(labeled.size());
  found[me][1] = static_cast<int>(labeled.thread_rank());
  found[me][2] = static_cast<int>(labeled.meta_group_rank() * 10 + labeled.meta_group_size());
  const cg::coalesced_group two = cg::binary_partition(tile, me % 16 < 5);
  found[me][3] = static_cast<int>(two.size());
  found[me][4] = static_cast<int>(two.meta_group_rank() * 10 + two.meta_group_size());
  found[me][5] = static_cast<int>(cg::binary_partition(tile, true).meta_group_size());
}

TEST_CASE("partitions of a tile") {
  Found<6> found(48);
  partition_tile<<<1, 48>>>(found.rows);
  found.wait();
  for (int t = 0; t < 48; ++t) {
    const int first = t & ~15, rank = t - first;
    int size = 0, before = 0;
    for (int i = first; i < first + 16; ++i) {
      size += i % 3 == t % 3;
      before += i % 3 == t % 3 && i < t;
    }
    CHECK(found.rows[t][0] == size);
    CHECK(found.rows[t][1] == before);
    CHECK(found.rows[t][2] == (t % 3 - first % 3 + 3) % 3 * 10 + 3);
    CHECK(found.rows[t][3] == (rank < 5 ? 5 : 11));
    CHECK(found.rows[t][4] == (rank < 5 ? 12 : 2));
    CHECK(found.rows[t][5] == 1);
  }
}

__global__ void match_all_in_tile(int (*found)[4]) {
  const auto tile = cg::tiled_partition<8>(cg::this_thread_block());
  const int me = static_cast<int>(threadIdx.x);
  int same = -1;
  found[me][0] = static_cast<int>(tile.match_all(me / 8, same));
  found[me][1] = same != 0;
  found[me][2] = static_cast<int>(tile.match_all(me, same));
  found[me][3] = same != 0;
}

namespace {

__global__ void count_by_one(const int* x, int* kept, int* count) {
  const int v = x[threadIdx.x];
  const auto tile = cg::tiled_partition<8>(cg::this_thread_block());
  cg::invoke_one(
      tile, [&](int by) { atomicAdd(count + 1, by); }, 3);
  if (v > 0) {
    const auto active = cg::coalesced_threads();
    const int first = cg::invoke_one_broadcast(
        active, [&] { return atomicAdd(count, static_cast<int>(active.size())); });
    kept[first + static_cast<int>(active.thread_rank())] = v;
  }
  const double wide = cg::invoke_one_broadcast(
      tile, [](double a) { return a / 2; }, 3.0);
  if (wide != 1.5) atomicAdd(count + 2, 1);
}

}  // namespace

TEST_CASE("invoke_one and invoke_one_broadcast") {
  Found<1> x(64), kept(64), count(3);
  for (int i = 0; i < 64; ++i) x.rows[i][0] = i % 3 == 0 ? i + 1 : -i;
  for (int i = 0; i < 3; ++i) count.rows[i][0] = 0;
  count_by_one<<<1, 64>>>(x.rows[0], kept.rows[0], count.rows[0]);
  REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
  CHECK(count.rows[0][0] == 22);
  CHECK(count.rows[1][0] == 8 * 3);
  CHECK(count.rows[2][0] == 0);
  std::vector<int> found;
  for (int k = 0; k < 22; ++k) found.push_back(kept.rows[k][0]);
  std::sort(found.begin(), found.end());
  for (int k = 0; k < 22; ++k) CHECK(found[static_cast<std::size_t>(k)] == 3 * k + 1);
}

TEST_CASE("match_all") {
  Found<4> found(32);
  match_all_in_tile<<<1, 32>>>(found.rows);
  found.wait();
  for (int t = 0; t < 32; ++t) {
    CHECK(found.rows[t][0] == 0xFF);
    CHECK(found.rows[t][1] == 1);
    CHECK(found.rows[t][2] == 0);
    CHECK(found.rows[t][3] == 0);
  }
}

__global__ void tile_sync_orders_memory(int* out) {
  __shared__ int values[32];
  const auto tile = cg::tiled_partition<32>(cg::this_thread_block());
  const int me = static_cast<int>(tile.thread_rank());
  values[me] = me;
  tile.sync();
  out[me] = values[31 - me];
}

TEST_CASE("sync of a tile orders shared memory") {
  Found<1> found(32);
  tile_sync_orders_memory<<<1, 32>>>(&found.rows[0][0]);
  found.wait();
  for (int t = 0; t < 32; ++t) CHECK(found.rows[t][0] == 31 - t);
}

// ---- what only the CPU device promises ----------------------------------------------------------

#ifdef SIMT_CPU_DEVICE

__global__ void shuffle_orders_nothing(int* out) {
  __shared__ int values[32];
  const auto tile = cg::tiled_partition<32>(cg::this_thread_block());
  const int me = static_cast<int>(tile.thread_rank());
  values[me] = me;
  tile.shfl(me, 0);
  out[me] = values[31 - me];
}

TEST_CASE("a shuffle orders no memory: the race is reported at the user's lines") {
  simt_test::Reports reports;
  Found<1> found(32);
  shuffle_orders_nothing<<<1, 32>>>(&found.rows[0][0]);
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
  REQUIRE_FALSE(reports.list.empty());
  CHECK(reports.list[0].kind == simt::ReportKind::race);
  CHECK(reports.list[0].text.find("shfl()") != std::string::npos);
  CHECK(reports.list[0].text.find("cooperative_groups_test.cu") != std::string::npos);
}

constexpr int kBarrierLine = __LINE__ + 3;
__global__ void barrier_of_half_a_block() {
  if (threadIdx.x < 32) {
    cg::this_thread_block().sync();
  }
}

TEST_CASE("a barrier that half of the block never reaches is reported at its line") {
  simt_test::Reports reports;
  barrier_of_half_a_block<<<1, 64>>>();
  CHECK(cudaDeviceSynchronize() == cudaErrorLaunchFailure);
  REQUIRE(reports.list.size() == 1);
  CHECK(reports.list[0].kind == simt::ReportKind::barrier);
  CHECK(reports.list[0].file.find("cooperative_groups_test.cu") != std::string::npos);
  CHECK(reports.list[0].line == kBarrierLine);
}

__global__ void shuffle_of_half_a_tile(int* out) {
  const auto tile = cg::tiled_partition<32>(cg::this_thread_block());
  if (threadIdx.x < 16) {
    out[threadIdx.x] = tile.shfl(1, 0);
  } else {
    tile.sync();
  }
}

TEST_CASE("a tile's function that half of it never calls is reported") {
  simt_test::Reports reports;
  Found<1> found(32);
  shuffle_of_half_a_tile<<<1, 32>>>(&found.rows[0][0]);
  CHECK(cudaDeviceSynchronize() == cudaErrorLaunchTimeout);
  REQUIRE(reports.list.size() == 1);
  CHECK(reports.list[0].text.find("shfl() of a tile") != std::string::npos);
}

#endif
