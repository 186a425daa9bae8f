// Check of the exercise atomic_max_float: every pair of awkward floats, bit by bit; many threads at
// one cell of global or shared memory, whose returned values must fit together; launches in a row.
#include "atomic_max_float.cuh"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <course/check.cuh>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "chain.cuh"

namespace atomic_max_float_check {

using Launch = course::LaunchShape;

// Floats travel as their bits, so that nothing on the way changes a NaN.

float float_of(unsigned bits) {
  float x;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}
unsigned bits_of_float(float x) { return static_cast<unsigned>(bits_of(x)); }
bool is_nan(unsigned bits) { return (bits & 0x7FFF'FFFFu) > 0x7F80'0000u; }

std::string text(unsigned bits) {
  const char* const digits = "0123456789ABCDEF";
  std::string hex;
  for (int shift = 28; shift >= 0; shift -= 4) hex += digits[bits >> shift & 15u];
  const std::string sign = bits == 0x8000'0000u ? "-" : "";
  return sign + course::number_text(bits == 0x8000'0000u ? 0.0f : float_of(bits)) + " (0x" + hex +
         ")";
}

/// What the exercise promises, in other words than the solution's: the position of a float in the
/// order of all of them.
std::int64_t position(unsigned bits) {
  if (is_nan(bits)) return INT64_MAX;
  const auto magnitude = static_cast<std::int64_t>(bits & 0x7FFF'FFFFu);
  return (bits & 0x8000'0000u) != 0 ? -1 - magnitude : magnitude;  // -0.0 is just below 0.0
}
unsigned maximum(unsigned old, unsigned value) {
  if (is_nan(value)) return kNanBits;
  return position(value) > position(old) ? value : old;
}

// ---- kernels -----------------------------------------------------------------------------------

/// Thread i has a cell of its own, in global and in shared memory.
__global__ void own_cells(const unsigned* values, unsigned n, float* cell, float* shared_cell,
                          float* returned, float* shared_returned) {
  __shared__ float s_cell[128];
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  s_cell[threadIdx.x] = shared_cell[i];
  returned[i] = atomic_max_float(&cell[i], __uint_as_float(values[i]));
  shared_returned[i] = atomic_max_float(&s_cell[threadIdx.x], __uint_as_float(values[i]));
  shared_cell[i] = s_cell[threadIdx.x];
}

/// All threads share one cell.
__global__ void one_cell(const unsigned* values, std::size_t n, float* cell, float* returned) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += stride) {
    returned[i] = atomic_max_float(cell, __uint_as_float(values[i]));
  }
}

/// The threads of a block share a cell of shared memory; its neighbours must stay as they are.
__global__ void cell_of_the_block(const unsigned* values, std::size_t n, float* cells,
                                  float* neighbours, float* returned) {
  __shared__ float s_cell[3];
  if (threadIdx.x < 3) s_cell[threadIdx.x] = threadIdx.x == 1 ? cells[blockIdx.x] : 7.0f;
  __syncthreads();
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) returned[i] = atomic_max_float(&s_cell[1], __uint_as_float(values[i]));
  __syncthreads();
  if (threadIdx.x == 0) {
    cells[blockIdx.x] = s_cell[1];
    neighbours[2 * blockIdx.x] = s_cell[0];
    neighbours[2 * blockIdx.x + 1] = s_cell[2];
  }
}

// ---- values -------------------------------------------------------------------------------------

const std::vector<unsigned> kNumbers = {
    0xFF80'0000,  // -infinity
    0xFF7F'FFFF,  // the lowest finite one
    0xC000'0000,  // -2
    0xBF80'0000,  // -1
    0x8080'0000,  // the largest normal one below zero
    0x8000'0001,  // the largest one below zero
    0x8000'0000,  // -0
    0x0000'0000,  // 0
    0x0000'0001,  // the smallest one above zero
    0x0080'0000,  // the smallest normal one
    0x3F80'0000,  // 1
    0x3F80'0001,  // next to 1
    0x4000'0000,  // 2
    0x7F7F'FFFF,  // the largest finite one
    0x7F80'0000,  // infinity
};
const std::vector<unsigned> kNans = {kNanBits, 0x7FC0'0000, 0xFFC0'0000, 0x7FC0'0123, 0xFFFF'FFFF};

enum class Kind { rising, falling, mixed, negative, zeros, equal, awkward, nan_between, nan_last };
constexpr Kind kKinds[] = {Kind::rising,   Kind::falling,     Kind::mixed,
                           Kind::negative, Kind::zeros,       Kind::equal,
                           Kind::awkward,  Kind::nan_between, Kind::nan_last};

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
    case Kind::nan_between:
      return "numbers and a few NaN";
    case Kind::nan_last:
      return "the last one is NaN";
  }
  return "";
}

std::vector<unsigned> make_values(Kind kind, std::size_t n) {
  std::vector<unsigned> values(n);
  for (std::size_t i = 0; i < n; ++i) {
    const float up = 0.5f * static_cast<float>(i) - 300.0f;
    const float random = static_cast<float>(i * 7919 % 10'009) - 5000.0f;
    float x = random;
    if (kind == Kind::rising) x = up;
    if (kind == Kind::falling) x = -up;
    if (kind == Kind::negative) x = random - 6000.0f;
    if (kind == Kind::zeros) x = i % 3 == 1 ? 0.0f : -0.0f;
    if (kind == Kind::equal) x = -12.5f;
    values[i] = bits_of_float(x);
    if (kind == Kind::awkward) values[i] = kNumbers[i * 7 % kNumbers.size()];
    if (kind == Kind::nan_between && i % 97 == 50) values[i] = kNans[i % kNans.size()];
    if (kind == Kind::nan_last && i + 1 == n) values[i] = 0xFFC0'0000;
  }
  return values;
}

// ---- checks -------------------------------------------------------------------------------------

std::vector<unsigned> to_bits(const std::vector<float>& x) {
  std::vector<unsigned> bits(x.size());
  if (!x.empty()) std::memcpy(bits.data(), x.data(), x.size() * sizeof(float));
  return bits;
}
template <class Buffer>
void set_bits(Buffer& buffer, const std::vector<unsigned>& bits) {
  if (bits.empty()) return;
  CUDA_CHECK(cudaMemcpy(buffer.data(), bits.data(), bits.size() * 4, cudaMemcpyHostToDevice));
}

course::Verdict same_bits(const std::string& what, unsigned found, unsigned expected) {
  if (found == expected) return {};
  return {false, what + ": expected " + text(expected) + ", found " + text(found)};
}

/// Ok if some order of the threads explains what they found, and what is left.
course::Verdict explained(const std::vector<unsigned>& values, const std::vector<unsigned>& found,
                          unsigned first, unsigned last) {
  unsigned expected = first;
  for (const unsigned value : values) expected = maximum(expected, value);
  if (last != expected) return same_bits("the cell", last, expected);
  std::vector<unsigned> left(found.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    left[i] = maximum(found[i], values[i]);
    if (is_nan(found[i]) && found[i] != kNanBits) {
      return same_bits("returned[" + std::to_string(i) + "]", found[i], kNanBits);
    }
  }
  return one_chain(found, left, first, last, text);
}

std::string describe(std::size_t n, Launch launch, Kind kind, unsigned first) {
  return "n = " + std::to_string(n) + ": " + to_string(kind) + "; " + std::to_string(launch.grid) +
         " blocks of " + std::to_string(launch.block) + " threads, the cell holds " + text(first);
}

void check_global(const std::vector<unsigned>& values, Launch launch, unsigned first) {
  const std::size_t n = values.size();
  const auto d_values = course::DeviceBuffer<unsigned>::from(values);
  course::GuardedBuffer<float> cell(1);
  course::GuardedBuffer<float> returned(n);
  set_bits(cell, {first});
  one_cell<<<launch.grid, launch.block>>>(d_values.data(), n, cell.data(), returned.data());
  CUDA_CHECK_LAUNCH();
  const unsigned last = to_bits(cell.download()).front();
  REQUIRE(explained(values, to_bits(returned.download()), first, last));
  REQUIRE(cell.intact("the cell"));
}

void check_shared(const std::vector<unsigned>& values, unsigned block, unsigned first) {
  const std::size_t n = values.size(), blocks = (n + block - 1) / block;
  const auto d_values = course::DeviceBuffer<unsigned>::from(values);
  course::DeviceBuffer<float> cells(blocks), neighbours(2 * blocks), returned(n);
  set_bits(cells, std::vector<unsigned>(blocks, first));
  cell_of_the_block<<<static_cast<unsigned>(blocks), block>>>(d_values.data(), n, cells.data(),
                                                              neighbours.data(), returned.data());
  CUDA_CHECK_LAUNCH();
  const std::vector<unsigned> last = to_bits(cells.download());
  const std::vector<unsigned> found = to_bits(returned.download());
  for (std::size_t b = 0; b < blocks; ++b) {
    INFO("block " << b);
    const auto begin = static_cast<std::ptrdiff_t>(b * block);
    const auto end = static_cast<std::ptrdiff_t>(std::min(n, (b + 1) * block));
    REQUIRE(explained({values.begin() + begin, values.begin() + end},
                      {found.begin() + begin, found.begin() + end}, first, last[b]));
  }
  const std::vector<float> sevens(2 * blocks, 7.0f);
  REQUIRE(course::same(neighbours.download(), sevens, "the cell's neighbours in shared memory"));
}

/// Every cell with every value, each pair on its own.
void check_pairs(const std::vector<unsigned>& cells, const std::vector<unsigned>& values) {
  std::vector<unsigned> old, value;
  for (const unsigned c : cells) {
    for (const unsigned v : values) {
      old.push_back(c);
      value.push_back(v);
    }
  }
  const std::size_t n = old.size();
  const auto d_value = course::DeviceBuffer<unsigned>::from(value);
  course::DeviceBuffer<float> cell(n), shared_cell(n), returned(n), shared_returned(n);
  set_bits(cell, old);
  set_bits(shared_cell, old);
  own_cells<<<static_cast<unsigned>((n + 127) / 128), 128>>>(
      d_value.data(), static_cast<unsigned>(n), cell.data(), shared_cell.data(), returned.data(),
      shared_returned.data());
  CUDA_CHECK_LAUNCH();
  const std::vector<unsigned> left = to_bits(cell.download()),
                              shared_left = to_bits(shared_cell.download()),
                              found = to_bits(returned.download()),
                              shared_found = to_bits(shared_returned.download());
  for (std::size_t i = 0; i < n; ++i) {
    INFO("the cell holds " << text(old[i]) << ", the value is " << text(value[i]));
    const unsigned expected = maximum(old[i], value[i]);
    REQUIRE(same_bits("the cell, in global memory", left[i], expected));
    REQUIRE(same_bits("the cell, in shared memory", shared_left[i], expected));
    REQUIRE(same_bits("returned, from global memory", found[i], old[i]));
    REQUIRE(same_bits("returned, from shared memory", shared_found[i], old[i]));
  }
}

constexpr unsigned kMinusInfinity = 0xFF80'0000;
const std::vector<unsigned> kStarts = {kMinusInfinity, 0x8000'0000, 0xC47A'0000, 0x4640'0000};

}  // namespace atomic_max_float_check

using namespace atomic_max_float_check;

TEST_CASE("atomic_max_float: every pair of numbers, one thread at each cell") {
  check_pairs(kNumbers, kNumbers);
}

TEST_CASE("atomic_max_float: NaN wins") {
  check_pairs(kNumbers, kNans);
  check_pairs({kNanBits}, kNumbers);
  check_pairs({kNanBits}, kNans);
}

TEST_CASE("atomic_max_float: many threads at one cell of global memory, at every size") {
  std::size_t turn = 0;  // another grid and another start each time
  for (const std::size_t n : course::kSizes) {
    const std::vector<Launch> launches = course::launch_shapes(n);
    for (const Kind kind : kKinds) {
      const Launch launch = launches[turn % launches.size()];
      const unsigned first = kStarts[turn++ % kStarts.size()];
      INFO(describe(n, launch, kind, first));
      check_global(make_values(kind, n), launch, first);
    }
  }
}

TEST_CASE("atomic_max_float: many threads at one cell of shared memory") {
  std::size_t turn = 0;
  for (const unsigned block : {32u, 96u, 250u, 1024u}) {
    for (const Kind kind : kKinds) {
      const unsigned first = kStarts[turn++ % kStarts.size()];
      INFO("in shared memory, " << describe(1025, {1025 / block + 1, block}, kind, first));
      check_shared(make_values(kind, 1025), block, first);
    }
  }
}

TEST_CASE("atomic_max_float: the lanes of a warp go in step") {
  for (const Kind kind : kKinds) {
    INFO(describe(257, {3, 96}, kind, kMinusInfinity));
    course::count([&] { check_global(make_values(kind, 257), {3, 96}, kMinusInfinity); });
    INFO("in shared memory");
    course::count([&] { check_shared(make_values(kind, 257), 96, kMinusInfinity); });
  }
}

TEST_CASE("atomic_max_float: a NaN stays, in later launches too") {
  const auto d_numbers = course::DeviceBuffer<unsigned>::from(kNumbers);
  const auto d_nans = course::DeviceBuffer<unsigned>::from(kNans);
  course::DeviceBuffer<float> cell(1), returned(kNumbers.size());
  set_bits(cell, {kMinusInfinity});
  const auto launch = [&](const course::DeviceBuffer<unsigned>& values) {
    one_cell<<<2, 32>>>(values.data(), values.size(), cell.data(), returned.data());
    CUDA_CHECK_LAUNCH();
    return to_bits(cell.download()).front();
  };
  REQUIRE(same_bits("the cell after numbers", launch(d_numbers), 0x7F80'0000u));
  REQUIRE(same_bits("the cell after numbers again", launch(d_numbers), 0x7F80'0000u));
  REQUIRE(same_bits("the cell after NaN", launch(d_nans), kNanBits));
  REQUIRE(same_bits("the cell after NaN, then numbers", launch(d_numbers), kNanBits));
  const std::vector<unsigned> found = to_bits(returned.download());
  REQUIRE(course::same(found, std::vector<unsigned>(kNumbers.size(), kNanBits), "returned",
                       "these are bits: a thread that finds the NaN returns it"));
}

TEST_CASE("atomic_max_float: no value gets lost when thousands come at once") {
  constexpr int kRepeats = course::kCpuDevice ? 1 : 5;  // a lost value may not show at once
  const std::size_t n = course::kCpuDevice ? 2'003 : 100'003;
  const Launch launch{static_cast<unsigned>((n + 255) / 256), 256};
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    for (const Kind kind : {Kind::rising, Kind::mixed, Kind::negative}) {
      INFO(describe(n, launch, kind, kMinusInfinity));
      check_global(make_values(kind, n), launch, kMinusInfinity);
    }
  }
}
