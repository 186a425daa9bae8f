// Six kernels of whole blocks, each right and in the wrong forms that learners write. Right forms
// must stay silent under 50 schedules; wrong ones must be caught under every one of 12.
#include <cuda_runtime.h>

#include <catch2/catch_test_macros.hpp>
#include <numeric>
#include <vector>

#include "testing.hpp"

using simt::ReportKind;
using namespace simt_test;

namespace {

/// Small whole numbers: sums of them are exact in float, in any order.
std::vector<float> small_numbers(int n) {
  std::vector<float> x(static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i) x[static_cast<std::size_t>(i)] = static_cast<float>(i * 7 % 13);
  return x;
}

float sum_of(const std::vector<float>& x) { return std::accumulate(x.begin(), x.end(), 0.0f); }

}  // namespace

// ---- a histogram with bins of the block ---------------------------------------------------------

namespace histogram {

enum class Form {
  right,
  no_barrier_after_clear,
  no_barrier_before_flush,
  plain_flush,
  never_cleared,
  plain_count,
  no_bounds_check,
  output_cleared_by_one_block,
  skips_last_element,
  flushes_too_few_bins,
  returns_before_barrier
};

template <Form form>
__global__ void count(const unsigned char* x, unsigned* counts, unsigned n) {
  __shared__ unsigned s_counts[256];
  const unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  if (form == Form::returns_before_barrier && i >= n) return;
  if (form == Form::output_cleared_by_one_block) {
    for (unsigned b = t; blockIdx.x == 0 && b < 256; b += blockDim.x) counts[b] = 0;
    __syncthreads();
  }
  if (form != Form::never_cleared) {
    for (unsigned b = t; b < 256; b += blockDim.x) s_counts[b] = 0;
  }
  if (form != Form::no_barrier_after_clear) __syncthreads();
  const bool mine = form == Form::no_bounds_check      ? true
                    : form == Form::skips_last_element ? i + 1 < n
                                                       : i < n;
  if (mine && form == Form::plain_count) s_counts[x[i]]++;
  if (mine && form != Form::plain_count) atomicAdd(&s_counts[x[i]], 1u);
  if (form != Form::no_barrier_before_flush) __syncthreads();
  if (form == Form::flushes_too_few_bins) {
    atomicAdd(&counts[t], s_counts[t]);
    return;
  }
  for (unsigned b = t; b < 256; b += blockDim.x) {
    if (form == Form::plain_flush) {
      counts[b] += s_counts[b];
    } else {
      atomicAdd(&counts[b], s_counts[b]);
    }
  }
}

template <Form form>
bool run() {
  std::vector<unsigned char> text(1007);
  std::vector<unsigned> expected(256);
  for (std::size_t i = 0; i < text.size(); ++i) {
    text[i] = static_cast<unsigned char>(i * 37 + i / 7);
    ++expected[text[i]];
  }
  // Bytes of the same value stand side by side, so that threads of one block meet in a bin.
  if (form == Form::plain_count) {
    std::fill(text.begin(), text.end(), static_cast<unsigned char>('e'));
    expected.assign(256, 0);
    expected['e'] = 1007;
  }
  const Array<unsigned char> x(text);
  const bool clear = form != Form::output_cleared_by_one_block;
  auto counts = clear ? Array<unsigned>::zeros(256) : Array<unsigned>(256);
  count<form><<<8, 128>>>(x.data(), counts.data(), 1007);
  return counts.values() == expected;
}

}  // namespace histogram

TEST_CASE("histogram: right") {
  CHECK(first_complaint(histogram::run<histogram::Form::right>) == "");
}

TEST_CASE("histogram: wrong forms") {
  using namespace histogram;
  CHECK(wrong(ReportKind::race, run<Form::no_barrier_after_clear>) == "");
  CHECK(wrong(ReportKind::race, run<Form::no_barrier_before_flush>) == "");
  CHECK(wrong(ReportKind::race, run<Form::plain_flush>) == "");
  CHECK(wrong(ReportKind::uninitialised, run<Form::never_cleared>) == "");
  CHECK(wrong(ReportKind::race, run<Form::plain_count>) == "");
  CHECK(wrong(ReportKind::out_of_bounds, run<Form::no_bounds_check>) == "");
  CHECK(wrong(ReportKind::race, run<Form::output_cleared_by_one_block>) == "");
  CHECK(wrong_values(run<Form::skips_last_element>) == "");
  CHECK(wrong_values(run<Form::flushes_too_few_bins>) == "");
  CHECK(wrong(ReportKind::uninitialised, run<Form::returns_before_barrier>) == "");
}

// ---- a sum in two kernels: a tree in shared memory ----------------------------------------------

namespace tree_sum {

enum class Form {
  right,
  no_barrier_after_load,
  no_barrier_for_last_warp,
  no_bounds_check,
  second_kernel_reads_too_many,
  every_thread_writes_result,
  barrier_inside_if,
  idle_threads_load_nothing,
  off_by_one,
  adds_without_if
};

template <Form form>
__global__ void sum_blocks(const float* x, float* part, unsigned n) {
  extern __shared__ float s_x[];
  const unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  if (form == Form::no_bounds_check) {
    s_x[t] = x[i];
  } else if (form == Form::idle_threads_load_nothing) {
    if (i < n) s_x[t] = x[i];
  } else if (form == Form::off_by_one) {
    s_x[t] = i <= n ? x[i] : 0.0f;
  } else {
    s_x[t] = i < n ? x[i] : 0.0f;
  }
  if (form != Form::no_barrier_after_load) __syncthreads();
  for (unsigned offset = blockDim.x / 2; offset > 0; offset /= 2) {
    if (form == Form::barrier_inside_if) {
      if (t < offset) {
        s_x[t] += s_x[t + offset];
        __syncthreads();
      }
    } else {
      if (t < offset || form == Form::adds_without_if) s_x[t] += s_x[t + offset];
      if (form != Form::no_barrier_for_last_warp || offset > 32) __syncthreads();
    }
  }
  if (t == 0 || form == Form::every_thread_writes_result) {
    part[blockIdx.x] = s_x[0] + (form == Form::every_thread_writes_result ? 0.0f * t : 0.0f);
  }
}

template <Form form>
bool run() {
  const std::vector<float> numbers = small_numbers(1007);
  const Array<float> x(numbers);
  Array<float> part(8);
  auto total = Array<float>::zeros(1);
  const unsigned parts = form == Form::second_kernel_reads_too_many ? 9 : 8;
  sum_blocks<form><<<8, 128, 128 * sizeof(float)>>>(x.data(), part.data(), 1007);
  sum_blocks<Form::right><<<1, 128, 128 * sizeof(float)>>>(part.data(), total.data(), parts);
  return total.front() == sum_of(numbers);
}

}  // namespace tree_sum

TEST_CASE("tree sum: right") { CHECK(first_complaint(tree_sum::run<tree_sum::Form::right>) == ""); }

TEST_CASE("tree sum: wrong forms") {
  using namespace tree_sum;
  CHECK(wrong(ReportKind::race, run<Form::no_barrier_after_load>) == "");
  CHECK(wrong(ReportKind::race, run<Form::no_barrier_for_last_warp>) == "");
  CHECK(wrong(ReportKind::out_of_bounds, run<Form::no_bounds_check>) == "");
  CHECK(wrong(ReportKind::out_of_bounds, run<Form::second_kernel_reads_too_many>) == "");
  CHECK(wrong(ReportKind::barrier, run<Form::barrier_inside_if>) == "");
  CHECK(wrong(ReportKind::uninitialised, run<Form::idle_threads_load_nothing>) == "");
  CHECK(wrong(ReportKind::out_of_bounds, run<Form::off_by_one>) == "");
  CHECK(wrong(ReportKind::out_of_bounds, run<Form::adds_without_if>) == "");
}

TEST_CASE("tree sum: every thread writes the same result, which is a note only") {
  using namespace tree_sum;
  bool is_right = false;
  const auto outcome =
      simt_test::observe([&] { is_right = run<Form::every_thread_writes_result>(); });
  INFO(outcome.text());
  CHECK(is_right);
  CHECK(outcome.clean());
  CHECK(outcome.notes.size() == 1);
}

// ---- a sum in one kernel: the last block sums ---------------------------------------------------

namespace last_block {

enum class Form {
  fence_on_both_sides,          // right
  all_write_barrier_one_fence,  // right: the barrier hands the writes to the thread that fences
  all_fence_then_barrier,       // right
  published_by_atomics,         // right, without any fence
  fence_in_writer_only,         // the CUDA samples' form
  volatile_part,                // the Programming Guide's old form
  no_fence,
  fence_in_reader_only,
  no_barrier_before_fence,
  no_barrier_before_reading_last,
  ticket_not_reset
};

constexpr bool every_thread_publishes(Form form) {
  return form == Form::all_write_barrier_one_fence || form == Form::all_fence_then_barrier ||
         form == Form::no_barrier_before_fence;
}

constexpr bool fences_before_ticket(Form form) {
  return form != Form::no_fence && form != Form::fence_in_reader_only &&
         form != Form::all_fence_then_barrier && form != Form::published_by_atomics;
}

constexpr bool fences_after_ticket(Form form) {
  return form != Form::fence_in_writer_only && form != Form::volatile_part &&
         form != Form::no_fence && form != Form::published_by_atomics;
}

__device__ float block_sum(float* s_x, float v) {
  const unsigned t = threadIdx.x;
  s_x[t] = v;
  __syncthreads();
  for (unsigned offset = blockDim.x / 2; offset > 0; offset /= 2) {
    if (t < offset) s_x[t] += s_x[t + offset];
    __syncthreads();
  }
  const float total = s_x[0];
  __syncthreads();
  return total;
}

template <Form form, class Part>
__global__ void sum(const float* x, Part part, unsigned* ticket, float* total, unsigned n) {
  __shared__ float s_x[64];
  __shared__ bool s_last;
  const unsigned t = threadIdx.x, i = blockIdx.x * 64 + t;
  const float mine = i < n ? x[i] : 0.0f;
  unsigned parts = gridDim.x;
  if constexpr (every_thread_publishes(form)) {
    parts = gridDim.x * 64;
    part[i] = mine;
    if (form == Form::all_fence_then_barrier) __threadfence();
    if (form != Form::no_barrier_before_fence) __syncthreads();
  } else {
    const float of_block = block_sum(s_x, mine);
    if (t == 0 && form != Form::published_by_atomics) part[blockIdx.x] = of_block;
    if constexpr (form == Form::published_by_atomics) {
      if (t == 0) atomicExch(&part[blockIdx.x], of_block);
    }
  }
  if (t == 0) {
    if (fences_before_ticket(form)) __threadfence();
    const unsigned wrap = form == Form::ticket_not_reset ? gridDim.x : gridDim.x - 1;
    s_last = atomicInc(ticket, wrap) == gridDim.x - 1;
    if (fences_after_ticket(form)) __threadfence();
  }
  if (form != Form::no_barrier_before_reading_last) __syncthreads();
  if (!s_last) return;
  float v = 0;
  for (unsigned k = t; k < parts; k += 64) {
    if constexpr (form == Form::published_by_atomics) {
      v += atomicAdd(&part[k], 0.0f);
    } else {
      v += part[k];
    }
  }
  v = block_sum(s_x, v);
  if (t == 0) *total = v;
}

/// Two launches, one after the other: the second finds out whether the ticket was reset.
template <Form form>
bool run() {
  using Part = std::conditional_t<form == Form::volatile_part, volatile float*, float*>;
  const std::vector<float> numbers = small_numbers(500);
  const Array<float> x(numbers);
  Array<float> part(512);
  auto ticket = Array<unsigned>::zeros(1);
  auto total = Array<float>::zeros(1);
  bool right = true;
  for (int launch = 0; launch < 2; ++launch) {
    static_cast<void>(cudaMemset(total.data(), 0, sizeof(float)));
    sum<form, Part><<<8, 64>>>(x.data(), part.data(), ticket.data(), total.data(), 500);
    right &= total.front() == sum_of(numbers);
  }
  return right;
}

}  // namespace last_block

TEST_CASE("last block: right") {
  using namespace last_block;
  CHECK(first_complaint(run<Form::fence_on_both_sides>) == "");
  CHECK(first_complaint(run<Form::all_write_barrier_one_fence>) == "");
  CHECK(first_complaint(run<Form::all_fence_then_barrier>) == "");
  CHECK(first_complaint(run<Form::published_by_atomics>) == "");
}

TEST_CASE("last block: wrong forms") {
  using namespace last_block;
  CHECK(wrong(ReportKind::race, run<Form::fence_in_writer_only>) == "");
  CHECK(wrong(ReportKind::race, run<Form::no_fence>) == "");
  CHECK(wrong(ReportKind::race, run<Form::fence_in_reader_only>) == "");
  CHECK(wrong(ReportKind::race, run<Form::no_barrier_before_fence>) == "");
  CHECK(wrong(ReportKind::race, run<Form::no_barrier_before_reading_last>) == "");
  CHECK(wrong_values(run<Form::ticket_not_reset>) == "");
}

TEST_CASE("last block: a volatile array and one fence are tolerated") {
  // Accesses through volatile are relaxed atomics: none of them races. The model does not say that
  // they are ordered, but no schedule here shows otherwise.
  CHECK(first_complaint(last_block::run<last_block::Form::volatile_part>) == "");
}

// ---- a block sum with shuffles ------------------------------------------------------------------

namespace shuffle_sum {

enum class Form {
  right,
  right_short_mask,  // 8 lanes, and a mask of 8
  right_barrier_before_reuse,
  full_mask_for_few_lanes,
  no_barrier,
  reads_unwritten_slots,
  every_lane_writes_slot,
  mask_from_activemask,
  loop_ends_early,
  shuffle_in_uneven_loop,
  scratch_reused_without_barrier,
  mask_too_narrow
};

template <Form form>
__device__ float block_sum(float v) {
  __shared__ float s_warp[32];
  const unsigned t = threadIdx.x, lane = t % 32, warp = t / 32, warps = blockDim.x / 32;
  for (unsigned offset = 16; offset > (form == Form::loop_ends_early ? 1u : 0u); offset /= 2) {
    v += __shfl_down_sync(0xffffffffu, v, offset);
  }
  if (lane == 0 || form == Form::every_lane_writes_slot) s_warp[warp] = v;
  if (form != Form::no_barrier) __syncthreads();
  if (form == Form::full_mask_for_few_lanes || form == Form::mask_too_narrow ||
      form == Form::right_short_mask || form == Form::mask_from_activemask) {
    if (t >= warps) return v;
    v = s_warp[t];
    unsigned mask = 0xffffffffu;
    if (form == Form::mask_too_narrow) mask = 0xfu;
    if (form == Form::right_short_mask) mask = 0xffu;
    if (form == Form::mask_from_activemask) mask = __activemask();
    for (unsigned offset = warps / 2; offset > 0; offset /= 2) {
      v += __shfl_down_sync(mask, v, offset);
    }
    return v;
  }
  if (warp != 0) return v;
  v = lane < warps || form == Form::reads_unwritten_slots ? s_warp[lane] : 0.0f;
  for (unsigned offset = 16; offset > 0; offset /= 2) v += __shfl_down_sync(0xffffffffu, v, offset);
  return v;
}

/// The threads wait in a barrier after the block sum, as they do in a longer kernel.
template <Form form>
__global__ void sum(const float* x, float* y, unsigned n) {
  const unsigned first = blockIdx.x * blockDim.x + threadIdx.x, stride = gridDim.x * blockDim.x;
  if (form == Form::shuffle_in_uneven_loop) {
    for (unsigned i = first; i < n; i += stride) {
      float v = x[i];
      for (unsigned offset = 16; offset > 0; offset /= 2) {
        v += __shfl_down_sync(0xffffffffu, v, offset);
      }
      if (threadIdx.x % 32 == 0) atomicAdd(&y[0], v);
    }
    return;
  }
  float v = 0;
  for (unsigned i = first; i < n; i += stride) v += x[i];
  v = block_sum<form>(v);
  if (threadIdx.x == 0) atomicAdd(&y[0], v);
  if (form == Form::full_mask_for_few_lanes) __syncthreads();
  if (form == Form::scratch_reused_without_barrier || form == Form::right_barrier_before_reuse) {
    if (form == Form::right_barrier_before_reuse) __syncthreads();
    v = block_sum<form>(1.0f);
    if (threadIdx.x == 0) atomicAdd(&y[1], v);
  }
}

template <Form form>
bool run() {
  const std::vector<float> numbers = small_numbers(5003);
  const Array<float> x(numbers);
  auto y = Array<float>::zeros(2);
  sum<form><<<6, 256>>>(x.data(), y.data(), 5003);
  const std::vector<float> found = y.values();
  const bool twice =
      form == Form::scratch_reused_without_barrier || form == Form::right_barrier_before_reuse;
  return found[0] == sum_of(numbers) && (!twice || found[1] == 6 * 256);
}

}  // namespace shuffle_sum

TEST_CASE("block sum with shuffles: right") {
  using namespace shuffle_sum;
  CHECK(first_complaint(run<Form::right>, 25) == "");
  CHECK(first_complaint(run<Form::right_short_mask>, 25) == "");
  CHECK(first_complaint(run<Form::right_barrier_before_reuse>, 25) == "");
}

TEST_CASE("block sum with shuffles: wrong forms") {
  using namespace shuffle_sum;
  CHECK(wrong(ReportKind::barrier, run<Form::full_mask_for_few_lanes>) == "");
  CHECK(wrong(ReportKind::race, run<Form::no_barrier>) == "");
  CHECK(wrong(ReportKind::uninitialised, run<Form::reads_unwritten_slots>) == "");
  CHECK(wrong(ReportKind::race, run<Form::every_lane_writes_slot>) == "");
  CHECK(wrong_values(run<Form::loop_ends_early>) == "");
  CHECK(wrong(ReportKind::race, run<Form::scratch_reused_without_barrier>) == "");
  CHECK(wrong(ReportKind::barrier, run<Form::mask_too_narrow>) == "");
}

TEST_CASE("block sum with shuffles: __activemask is no mask to rely on") {
  // It names the lanes that happen to be together; the default schedule keeps them so.
  using namespace shuffle_sum;
  CHECK(first_complaint(run<Form::mask_from_activemask>, 1) == "");
  CHECK(first_complaint(run<Form::mask_from_activemask>, 12) != "");
}

TEST_CASE("block sum with shuffles: a loop that lanes leave, with the full mask") {
  // Lanes that left have returned, so no lane waits for them; but their values are undefined.
  using namespace shuffle_sum;
  CHECK(wrong_values(run<Form::shuffle_in_uneven_loop>) == "");
}

// ---- a scan of each warp ------------------------------------------------------------------------

namespace warp_scan {

enum class Form {
  right,
  right_in_shared,
  adds_own_lane_again,
  shuffle_in_branch,
  shared_without_syncwarp,
  shared_reads_while_written,
  skips_a_lane,
  no_bounds_check
};

template <Form form>
__device__ int scan(int v) {
  __shared__ int s_v[128];
  const unsigned lane = threadIdx.x % 32;
  int* const mine = s_v + threadIdx.x;
  if (form == Form::right_in_shared) {
    *mine = v;
    __syncwarp();
    for (unsigned d = 1; d < 32; d *= 2) {
      const int left = lane >= d ? mine[-static_cast<int>(d)] : 0;
      __syncwarp();
      *mine += left;
      __syncwarp();
    }
    return *mine;
  }
  if (form == Form::shared_without_syncwarp || form == Form::shared_reads_while_written) {
    *mine = v;
    if (form == Form::shared_reads_while_written) __syncwarp();
    for (unsigned d = 1; d < 32; d *= 2) {
      if (lane >= d) *mine += mine[-static_cast<int>(d)];
      if (form == Form::shared_reads_while_written) __syncwarp();
    }
    return *mine;
  }
  for (unsigned d = 1; d < 32; d *= 2) {
    if (form == Form::shuffle_in_branch) {
      if (lane >= d) v += __shfl_up_sync(0xffffffffu, v, d);
      continue;
    }
    const int left = __shfl_up_sync(0xffffffffu, v, d);
    const bool inside = form == Form::adds_own_lane_again ? true
                        : form == Form::skips_a_lane      ? lane > d
                                                          : lane >= d;
    if (inside) v += left;
  }
  return v;
}

template <Form form>
__global__ void scan_warps(const int* x, int* y, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const int v = scan<form>(i < n ? x[i] : 0);
  if (i < n || form == Form::no_bounds_check) y[i] = v;
}

template <Form form>
bool run() {
  constexpr int n = 500;
  std::vector<int> numbers(n), expected(n);
  for (std::size_t i = 0; i < n; ++i) {
    numbers[i] = static_cast<int>(i * 7 % 13);
    expected[i] = numbers[i] + (i % 32 == 0 ? 0 : expected[i - 1]);
  }
  const Array<int> x(numbers);
  Array<int> y(n);
  scan_warps<form><<<4, 128>>>(x.data(), y.data(), n);
  return y.values() == expected;
}

}  // namespace warp_scan

TEST_CASE("warp scan: right") {
  using namespace warp_scan;
  CHECK(first_complaint(run<Form::right>) == "");
  CHECK(first_complaint(run<Form::right_in_shared>) == "");
}

TEST_CASE("warp scan: wrong forms") {
  using namespace warp_scan;
  CHECK(wrong_values(run<Form::adds_own_lane_again>) == "");
  CHECK(wrong_values(run<Form::skips_a_lane>) == "");
  CHECK(wrong(ReportKind::race, run<Form::shared_without_syncwarp>) == "");
  CHECK(wrong(ReportKind::race, run<Form::shared_reads_while_written>) == "");
  CHECK(wrong(ReportKind::out_of_bounds, run<Form::no_bounds_check>) == "");
}

TEST_CASE("warp scan: a full mask in a branch meets the wrong call") {
  CHECK(simt_test::first_complaint(warp_scan::run<warp_scan::Form::shuffle_in_branch>, 1) != "");
}

// ---- stream compaction --------------------------------------------------------------------------

namespace compaction {

enum class Form {
  right,
  right_one_thread_copies,
  right_two_barriers,  // the first barrier of the next tile does the work of the third
  no_barrier_after_counts,
  no_barrier_after_stage,
  every_thread_takes_a_base,
  returns_in_loop,
  stage_off_by_one,
  no_bounds_check
};

template <Form form>
__global__ void keep_positive(const int* x, int* out, int* total, int n) {
  __shared__ int s_warp[4], s_stage[128], s_base;
  const int t = static_cast<int>(threadIdx.x), lane = t % 32, warp = t / 32;
  for (int tile = static_cast<int>(blockIdx.x) * 128; tile < n;
       tile += static_cast<int>(gridDim.x) * 128) {
    const int i = tile + t;
    if (form == Form::returns_in_loop && i >= n) return;
    const int v = i < n || form == Form::no_bounds_check ? x[i] : 0;
    const unsigned kept = __ballot_sync(0xffffffffu, v > 0);
    const int rank = __popc(kept & ((1u << lane) - 1));
    if (lane == 0) s_warp[warp] = __popc(kept);
    if (form != Form::no_barrier_after_counts) __syncthreads();
    int before = 0, all = 0;
    for (int w = 0; w < 4; ++w) {
      if (w < warp) before += s_warp[w];
      all += s_warp[w];
    }
    if (v > 0) s_stage[before + rank + (form == Form::stage_off_by_one ? 1 : 0)] = v;
    if (t == 0 || form == Form::every_thread_takes_a_base) s_base = atomicAdd(total, all);
    if (form != Form::no_barrier_after_stage) __syncthreads();
    if (form == Form::right_one_thread_copies) {
      for (int k = 0; t == 0 && k < all; ++k) out[s_base + k] = s_stage[k];
    } else if (t < all) {
      out[s_base + t] = s_stage[t];
    }
    if (form != Form::right_two_barriers) __syncthreads();
  }
}

/// The first tile is kept whole, so that its last element is staged in the last slot.
template <Form form, int n = 1907>
bool run() {
  std::vector<int> numbers(n), expected;
  for (int i = 0; i < n; ++i) {
    numbers[static_cast<std::size_t>(i)] = i < 128 ? 1 + i : i * 7919 % 211 - 100;
  }
  for (const int v : numbers) {
    if (v > 0) expected.push_back(v);
  }
  const Array<int> x(numbers);
  Array<int> out(expected.size());
  auto total = Array<int>::zeros(1);
  keep_positive<form><<<4, 128>>>(x.data(), out.data(), total.data(), n);
  std::vector<int> found = out.values();
  std::sort(found.begin(), found.end());
  std::sort(expected.begin(), expected.end());
  return found == expected && total.front() == static_cast<int>(expected.size());
}

}  // namespace compaction

TEST_CASE("compaction: right") {
  using namespace compaction;
  CHECK(first_complaint(run<Form::right>, 25) == "");
  CHECK(first_complaint(run<Form::right_one_thread_copies>, 25) == "");
  CHECK(first_complaint(run<Form::right_two_barriers>, 25) == "");
  // Some lanes of the last warp return: the others have all that they need.
  CHECK(first_complaint(run<Form::returns_in_loop>, 25) == "");
}

TEST_CASE("compaction: wrong forms") {
  using namespace compaction;
  CHECK(wrong(ReportKind::race, run<Form::no_barrier_after_counts>) == "");
  CHECK(wrong(ReportKind::race, run<Form::no_barrier_after_stage>) == "");
  CHECK(wrong(ReportKind::race, run<Form::every_thread_takes_a_base>) == "");
  // A whole warp returns, and its count stays that of the tile before.
  CHECK(wrong(ReportKind::out_of_bounds, run<Form::returns_in_loop, 1872>) == "");
  CHECK(wrong(ReportKind::out_of_bounds, run<Form::stage_off_by_one>) == "");
  CHECK(wrong(ReportKind::out_of_bounds, run<Form::no_bounds_check>) == "");
}
