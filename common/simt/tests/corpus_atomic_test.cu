// Kernels that live from atomics, each right and in the wrong forms that learners write: a maximum
// of floats, adding to half precision, a dot product of halves, neighbour lists.
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <vector>

#include "testing.hpp"

using simt::ReportKind;
using namespace simt_test;

// ---- a maximum of floats, with compare-and-swap -------------------------------------------------

namespace maximum {

enum class Form {
  atomic_first_read,    // right
  volatile_first_read,  // right
  integer_max_and_min,  // right: the bits of floats are ordered, those of negative ones backwards
  plain_first_read,     // and no atomicCAS confirms it where the loop ends at once
  stale_assumed,
  plain_compare_and_store,
  integer_max_of_negatives,
  check_then_exchange,
  rereads_plainly,
  plain_filter,
  starts_at_zero
};

__device__ void raise_from(int* bits, int old, float v) {
  int assumed;
  do {
    assumed = old;
    if (!(v > __int_as_float(assumed))) break;
    old = atomicCAS(bits, assumed, __float_as_int(v));
  } while (old != assumed);
}

template <Form form>
__device__ void raise(float* max, float v) {
  int* const bits = reinterpret_cast<int*>(max);
  if constexpr (form == Form::plain_first_read) {
    raise_from(bits, *bits, v);
  } else if constexpr (form == Form::atomic_first_read || form == Form::starts_at_zero) {
    raise_from(bits, atomicAdd(bits, 0), v);
  } else if constexpr (form == Form::volatile_first_read) {
    raise_from(bits, *static_cast<volatile int*>(bits), v);
  } else if constexpr (form == Form::integer_max_and_min) {
    if (v >= 0) {
      atomicMax(bits, __float_as_int(v));
    } else {
      atomicMin(reinterpret_cast<unsigned*>(bits), static_cast<unsigned>(__float_as_int(v)));
    }
  } else if constexpr (form == Form::stale_assumed) {
    const int assumed = atomicAdd(bits, 0);
    while (v > __int_as_float(assumed) && atomicCAS(bits, assumed, __float_as_int(v)) != assumed) {
    }
  } else if constexpr (form == Form::plain_compare_and_store) {
    if (v > *max) *max = v;
  } else if constexpr (form == Form::integer_max_of_negatives) {
    atomicMax(bits, __float_as_int(v));
  } else if constexpr (form == Form::check_then_exchange) {
    if (v > *max) atomicExch(max, v);
  } else if constexpr (form == Form::rereads_plainly) {
    while (v > *max) atomicCAS(bits, __float_as_int(*max), __float_as_int(v));
  } else if constexpr (form == Form::plain_filter) {
    if (v > *max) raise_from(bits, atomicAdd(bits, 0), v);
  }
}

template <Form form>
__global__ void find_max(const float* x, float* max, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) raise<form>(max, x[i]);
}

template <Form form>
bool run() {
  std::vector<float> numbers(500);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    numbers[i] = -1000.0f + static_cast<float>(i * 7919 % 997);
  }
  const Array<float> x(numbers);
  const Array<float> max(std::vector<float>{form == Form::starts_at_zero ? 0.0f : -INFINITY});
  find_max<form><<<4, 128>>>(x.data(), max.data(), 500);
  return max.front() == *std::max_element(numbers.begin(), numbers.end());
}

}  // namespace maximum

TEST_CASE("maximum: right") {
  using namespace maximum;
  CHECK(first_complaint(run<Form::atomic_first_read>) == "");
  CHECK(first_complaint(run<Form::volatile_first_read>) == "");
  CHECK(first_complaint(run<Form::integer_max_and_min>) == "");
}

TEST_CASE("maximum: wrong forms") {
  using namespace maximum;
  CHECK(wrong(ReportKind::race, run<Form::plain_first_read>) == "");
  CHECK(wrong(ReportKind::race, run<Form::plain_compare_and_store>) == "");
  CHECK(wrong(ReportKind::race, run<Form::check_then_exchange>) == "");
  CHECK(wrong(ReportKind::race, run<Form::rereads_plainly>) == "");
  CHECK(wrong(ReportKind::race, run<Form::plain_filter>) == "");
  CHECK(wrong_values(run<Form::integer_max_of_negatives>) == "");
  CHECK(wrong_values(run<Form::starts_at_zero>) == "");
}

TEST_CASE("maximum: a stale assumed value loops for ever once a thread comes in between") {
  using namespace maximum;
  CHECK(first_complaint(run<Form::stale_assumed>, 1) == "");  // in order, no thread does
  const auto outcome = simt_test::observe([] { static_cast<void>(run<Form::stale_assumed>()); }, 1);
  CHECK(outcome.found(ReportKind::hang));
}

// ---- adding to one half of a pair ---------------------------------------------------------------

namespace half_add {

enum class Form {
  right,
  pair_reaches_past_end,
  ignores_alignment_and_end,
  alignment_by_index,
  other_half_undefined,
  pair_reaches_before_begin
};

/// Adds v to values[i] with the fast atomic on pairs wherever an aligned pair lies in the array.
template <Form form>
__device__ void add(__half* values, int i, int n, __half v) {
  __half* const p = values + i;
  const __half zero = __float2half(0.0f);
  bool low = reinterpret_cast<std::uintptr_t>(p) % sizeof(__half2) == 0;
  bool in_array = i + 1 < n;
  if (form == Form::alignment_by_index) low = i % 2 == 0;
  if (form == Form::ignores_alignment_and_end) low = in_array = true;
  if (form == Form::pair_reaches_past_end) in_array = true;
  if (low && in_array) {
    const __half other = form == Form::other_half_undefined ? values[i + 1] : zero;
    atomicAdd(reinterpret_cast<__half2*>(p), __halves2half2(v, other));
  } else if (!low && (i > 0 || form == Form::pair_reaches_before_begin)) {
    atomicAdd(reinterpret_cast<__half2*>(p - 1), __halves2half2(zero, v));
  } else {
    atomicAdd(p, v);
  }
}

template <Form form>
__global__ void scatter(const int* index, __half* values, int length, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) add<form>(values, index[i], length, __float2half(1.0f));
}

/// Counts 300 indices into `length` halves that start `shift` halves after the allocation.
template <Form form>
bool run_on(int length, int shift) {
  constexpr int n = 300;
  std::vector<int> index(n);
  std::vector<float> expected(static_cast<std::size_t>(length));
  for (int i = 0; i < n; ++i) {
    const int k = (i * 7 + i / 5) % length;
    index[static_cast<std::size_t>(i)] = k;
    expected[static_cast<std::size_t>(k)] += 1;
  }
  // -0 in front: adding 0 to it would leave +0.
  std::vector<__half> start(static_cast<std::size_t>(length + shift), __float2half(0.0f));
  if (shift == 1) start[0] = __float2half(-0.0f);
  const Array<int> d_index(index);
  const Array<__half> values(start);
  scatter<form><<<3, 128>>>(d_index.data(), values.data() + shift, length, n);
  const std::vector<__half> found = values.values();
  bool right = shift == 0 || std::signbit(__half2float(found[0]));
  for (std::size_t k = 0; k < expected.size(); ++k) {
    right &= __half2float(found[k + static_cast<std::size_t>(shift)]) == expected[k];
  }
  return right;
}

template <Form form>
bool run() {
  bool right = true;
  for (const int length : {1, 2, 7, 8}) {
    for (const int shift : {0, 1}) right &= run_on<form>(length, shift);
  }
  return right;
}

}  // namespace half_add

TEST_CASE("adding to halves: right") {
  CHECK(first_complaint(half_add::run<half_add::Form::right>, 25) == "");
}

TEST_CASE("adding to halves: wrong forms") {
  using namespace half_add;
  CHECK(wrong(ReportKind::out_of_bounds, run<Form::pair_reaches_past_end>) == "");
  CHECK(wrong(ReportKind::out_of_bounds, run<Form::ignores_alignment_and_end>) == "");
  CHECK(wrong(ReportKind::misaligned, [] { return run_on<Form::alignment_by_index>(8, 1); }) == "");
  CHECK(wrong(ReportKind::misaligned,
              [] { return run_on<Form::ignores_alignment_and_end>(8, 1); }) == "");
  CHECK(wrong(ReportKind::race, run<Form::other_half_undefined>) == "");
  CHECK(wrong_values(run<Form::pair_reaches_before_begin>) == "");
}

// ---- a dot product of halves --------------------------------------------------------------------

namespace dot_product {

enum class Form {
  right,
  forgets_odd_element,
  rounds_pairs_up,
  accumulates_in_half,
  wrong_first_index,
  pairs_misaligned
};

template <Form form>
__global__ void dot(const __half* a, const __half* b, float* y, int n) {
  const auto* a2 = reinterpret_cast<const __half2*>(a);
  const auto* b2 = reinterpret_cast<const __half2*>(b);
  const int t = static_cast<int>(threadIdx.x), block = static_cast<int>(blockIdx.x);
  const int threads = static_cast<int>(blockDim.x);
  const int pairs = form == Form::rounds_pairs_up ? (n + 1) / 2 : n / 2;
  const int first = form == Form::wrong_first_index ? t + threads + block : block * threads + t;
  float v = 0;
  __half2 in_half = __floats2half2_rn(0, 0);
  for (int i = first; i < pairs; i += static_cast<int>(gridDim.x) * threads) {
    if (form == Form::accumulates_in_half) {
      in_half = __hfma2(a2[i], b2[i], in_half);
    } else {
      const float2 p = __half22float2(a2[i]), q = __half22float2(b2[i]);
      v += p.x * q.x + p.y * q.y;
    }
  }
  if (form == Form::accumulates_in_half) v = __low2float(in_half) + __high2float(in_half);
  const bool takes_odd = form != Form::forgets_odd_element && form != Form::rounds_pairs_up;
  if (takes_odd && n % 2 == 1 && block == 0 && t == 0) {
    v += __half2float(a[n - 1]) * __half2float(b[n - 1]);
  }
  for (int offset = 16; offset > 0; offset /= 2) v += __shfl_down_sync(0xffffffffu, v, offset);
  if (t % 32 == 0) atomicAdd(y, v);
}

template <Form form>
bool run() {
  constexpr int n = 9001;  // about 140 products per thread: too many for an exact sum in a half
  constexpr std::size_t shift = form == Form::pairs_misaligned ? 1 : 0;
  std::vector<__half> a(n + shift), b(n + shift);
  float expected = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const float p = static_cast<float>(i % 61), q = static_cast<float>(1 + i % 3);
    a[i + shift] = __float2half(p);
    b[i + shift] = __float2half(q);
    expected += p * q;
  }
  const Array<__half> d_a(a), d_b(b);
  auto y = Array<float>::zeros(1);
  dot<form><<<2, 32>>>(d_a.data() + shift, d_b.data() + shift, y.data(), n);
  return y.front() == expected;
}

}  // namespace dot_product

TEST_CASE("dot product of halves: right") {
  CHECK(first_complaint(dot_product::run<dot_product::Form::right>, 25) == "");
}

TEST_CASE("dot product of halves: wrong forms") {
  using namespace dot_product;
  CHECK(wrong_values(run<Form::forgets_odd_element>) == "");
  CHECK(wrong(ReportKind::out_of_bounds, run<Form::rounds_pairs_up>) == "");
  CHECK(wrong_values(run<Form::accumulates_in_half>) == "");
  CHECK(wrong_values(run<Form::wrong_first_index>) == "");
  CHECK(wrong(ReportKind::misaligned, run<Form::pairs_misaligned>) == "");
}

// ---- neighbour lists ----------------------------------------------------------------------------

namespace neighbours {

constexpr int kPoints = 150;
constexpr int kMost = 16;  // neighbours of one point
constexpr int kCells = 8;  // a side
constexpr float kSide = 16.0f, kCutoff = 1.9f, kCellSide = kSide / kCells;

enum class Form {
  right_by_pairs,
  right_by_rows,
  right_by_cells,
  cleared_in_kernel,
  counts_read_plainly,
  too_little_room,
  point_past_end,
  plain_increment,
  count_then_read,
  plain_cell_count,
  scan_without_barrier,
  cell_filled_plainly,
  row_of_cells_before_first,
  cell_end_inclusive
};

constexpr bool uses_cells(Form form) {
  return form == Form::right_by_cells || form >= Form::plain_cell_count;
}

__device__ __host__ bool are_close(float2 p, float2 q) {
  const float dx = p.x - q.x, dy = p.y - q.y;
  return dx * dx + dy * dy < kCutoff * kCutoff;
}

template <Form form>
__device__ void append(int* count, int* list, int a, int b) {
  constexpr int room = form == Form::too_little_room ? 4 : kMost;
  if (form == Form::counts_read_plainly) {
    list[a * room + count[a]] = b;
    atomicAdd(&count[a], 1);
  } else if (form == Form::plain_increment) {
    list[a * room + count[a]++] = b;
  } else if (form == Form::count_then_read) {
    atomicAdd(&count[a], 1);
    list[a * room + count[a] - 1] = b;
  } else {
    list[a * room + atomicAdd(&count[a], 1)] = b;
  }
}

/// Each pair is looked at once, by the thread of its first point, which tells both points.
template <Form form>
__global__ void find_by_pairs(const float2* points, int* count, int* list, int n) {
  const int a = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (form == Form::point_past_end ? a > n : a >= n) return;
  if (form == Form::cleared_in_kernel) count[a] = 0;
  if (form == Form::point_past_end && !are_close(points[a], points[0])) return;
  for (int b = a + 1; b < n; ++b) {
    if (!are_close(points[a], points[b])) continue;
    append<form>(count, list, a, b);
    append<form>(count, list, b, a);
  }
}

/// Each pair is looked at twice; a thread writes its own row only, and needs no atomics.
__global__ void find_by_rows(const float2* points, int* count, int* list, int n) {
  const int a = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (a >= n) return;
  int found = 0;
  for (int b = 0; b < n; ++b) {
    if (b != a && are_close(points[a], points[b])) list[a * kMost + found++] = b;
  }
  count[a] = found;
}

__device__ int cell_of(float2 p) {
  return static_cast<int>(p.y / kCellSide) * kCells + static_cast<int>(p.x / kCellSide);
}

template <Form form>
__global__ void count_cells(const float2* points, int* cells, int n) {
  const int a = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (a >= n) return;
  if (form == Form::plain_cell_count) {
    cells[cell_of(points[a])]++;
  } else {
    atomicAdd(&cells[cell_of(points[a])], 1);
  }
}

/// One block, one thread per cell: start[c] is the number of points in the cells before c.
template <Form form>
__global__ void scan_cells(const int* cells, int* start) {
  __shared__ int s_sum[kCells * kCells];
  const int t = static_cast<int>(threadIdx.x);
  s_sum[t] = cells[t];
  __syncthreads();
  for (int d = 1; d < kCells * kCells; d *= 2) {
    const int left = t >= d ? s_sum[t - d] : 0;
    if (form != Form::scan_without_barrier) __syncthreads();
    s_sum[t] += left;
    __syncthreads();
  }
  start[t + 1] = s_sum[t];
  if (t == 0) start[0] = 0;
}

template <Form form>
__global__ void fill_cells(const float2* points, const int* start, int* filled, int* items, int n) {
  const int a = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (a >= n) return;
  const int c = cell_of(points[a]);
  if (form == Form::cell_filled_plainly) {
    items[start[c] + filled[c]] = a;
    atomicAdd(&filled[c], 1);
  } else {
    items[start[c] + atomicAdd(&filled[c], 1)] = a;
  }
}

template <Form form>
__global__ void search_cells(const float2* points, const int* start, const int* items, int* count,
                             int* list, int n) {
  const int a = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (a >= n) return;
  const int cx = cell_of(points[a]) % kCells, cy = cell_of(points[a]) / kCells;
  const int top = form == Form::row_of_cells_before_first ? cy - 1 : max(cy - 1, 0);
  int found = 0;
  for (int y = top; y <= min(cy + 1, kCells - 1); ++y) {
    for (int x = max(cx - 1, 0); x <= min(cx + 1, kCells - 1); ++x) {
      const int cell = y * kCells + x;
      const int end = start[cell + 1] + (form == Form::cell_end_inclusive ? 1 : 0);
      for (int k = start[cell]; k < end; ++k) {
        const int b = items[k];
        if (b != a && are_close(points[a], points[b])) list[a * kMost + found++] = b;
      }
    }
  }
  count[a] = found;
}

std::vector<float2> make_points() {
  std::vector<float2> points(kPoints);
  for (std::size_t i = 0; i < kPoints; ++i) {
    points[i].x = static_cast<float>(i * 7919 % 1999) * kSide / 2000;
    points[i].y = static_cast<float>(i * 104729 % 1997) * kSide / 2000;
  }
  return points;
}

template <Form form>
void find(const std::vector<float2>& h_points, int* count, int* list) {
  constexpr int blocks = (kPoints + 63) / 64;
  const Array<float2> points(h_points);
  if constexpr (uses_cells(form)) {
    auto cells = Array<int>::zeros(kCells * kCells), filled = Array<int>::zeros(kCells * kCells);
    Array<int> start(kCells * kCells + 1), items(kPoints);
    count_cells<form><<<blocks, 64>>>(points.data(), cells.data(), kPoints);
    scan_cells<form><<<1, kCells * kCells>>>(cells.data(), start.data());
    fill_cells<form>
        <<<blocks, 64>>>(points.data(), start.data(), filled.data(), items.data(), kPoints);
    search_cells<form>
        <<<blocks, 64>>>(points.data(), start.data(), items.data(), count, list, kPoints);
  } else if constexpr (form == Form::right_by_rows) {
    find_by_rows<<<blocks, 64>>>(points.data(), count, list, kPoints);
  } else {
    find_by_pairs<form><<<blocks, 64>>>(points.data(), count, list, kPoints);
  }
}

template <Form form>
bool run() {
  static const std::vector<float2> points = make_points();
  auto count = Array<int>::zeros(kPoints);
  Array<int> list(kPoints * kMost);
  find<form>(points, count.data(), list.data());
  const std::vector<int> counts = count.values(), lists = list.values();
  constexpr std::size_t room = form == Form::too_little_room ? 4 : kMost;
  for (std::size_t a = 0; a < kPoints; ++a) {
    std::vector<int> expected;
    for (std::size_t b = 0; b < kPoints; ++b) {
      if (a != b && are_close(points[a], points[b])) expected.push_back(static_cast<int>(b));
    }
    if (counts[a] != static_cast<int>(expected.size())) return false;
    const auto row = lists.begin() + static_cast<std::ptrdiff_t>(a * room);
    std::vector<int> found(row, row + counts[a]);
    std::sort(found.begin(), found.end());
    if (found != expected) return false;
  }
  return true;
}

}  // namespace neighbours

TEST_CASE("neighbour lists: right") {
  using namespace neighbours;
  CHECK(first_complaint(run<Form::right_by_pairs>, 10) == "");
  CHECK(first_complaint(run<Form::right_by_rows>, 10) == "");
  CHECK(first_complaint(run<Form::right_by_cells>, 25) == "");
}

TEST_CASE("neighbour lists by pairs: wrong forms") {
  using namespace neighbours;
  CHECK(wrong(ReportKind::race, run<Form::cleared_in_kernel>) == "");
  CHECK(wrong(ReportKind::race, run<Form::counts_read_plainly>) == "");
  CHECK(wrong(ReportKind::race, run<Form::too_little_room>) == "");
  CHECK(wrong(ReportKind::out_of_bounds, run<Form::point_past_end>) == "");
  CHECK(wrong(ReportKind::race, run<Form::plain_increment>) == "");
  CHECK(wrong(ReportKind::race, run<Form::count_then_read>) == "");
}

TEST_CASE("neighbour lists by cells: wrong forms") {
  using namespace neighbours;
  CHECK(wrong(ReportKind::race, run<Form::plain_cell_count>) == "");
  CHECK(wrong(ReportKind::race, run<Form::scan_without_barrier>) == "");
  CHECK(wrong(ReportKind::race, run<Form::cell_filled_plainly>) == "");
  CHECK(wrong(ReportKind::out_of_bounds, run<Form::row_of_cells_before_first>) == "");
  CHECK(wrong(ReportKind::out_of_bounds, run<Form::cell_end_inclusive>) == "");
}
