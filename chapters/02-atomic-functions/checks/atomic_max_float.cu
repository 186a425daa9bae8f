// Check of the exercise atomic_max_float: every pair of awkward floats, bit by bit; many threads at
// one cell of global or shared memory, whose returned values must fit together; launches in a row.
#include "atomic_max_float.cuh"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <course/check.cuh>
#include <course/grid.cuh>
#include <cstddef>
#include <string>
#include <vector>

#include "checks/cells.cuh"
#include "checks/float_bits.cuh"
#include "checks/float_max.cuh"

namespace atomic_max_float_check {

using Launch = course::LaunchShape;
using namespace float_max;

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

// ---- checks ------------------------------------------------------------------------------------

std::string case_text(const std::string& kernel, std::size_t n, Launch launch,
                      const std::string& data, unsigned first) {
  return course::case_text(n, data, kernel, launch) + ", the cell holds " + float_bits::text(first);
}

void check_global(const std::vector<unsigned>& values, Launch launch, unsigned first) {
  const std::size_t n = values.size();
  const auto d_values = course::DeviceBuffer<unsigned>::from(values);
  course::GuardedBuffer<float> cell(1), returned(n);
  float_bits::set(cell, {first});
  course::launch(one_cell, {launch.grid, launch.block}, d_values.data(), n, cell.data(),
                 returned.data());
  const unsigned last = of(cell.download()).front();
  REQUIRE(explained(values, of(returned.download()), first, last));
  REQUIRE(cell.intact("the cell"));
}

void check_kind(const course::DataKind<unsigned>& kind, std::size_t n, Launch launch,
                unsigned first) {
  INFO(case_text("one_cell", n, launch, kind.text, first));
  check_global(kind.values(n), launch, first);
}

void check_shared(const course::DataKind<unsigned>& kind, std::size_t n, unsigned block,
                  unsigned first) {
  const std::vector<unsigned> values = kind.values(n);
  const unsigned blocks = course::blocks_for(n, block);
  INFO(case_text("cell_of_the_block", n, {blocks, block}, kind.text, first));
  const auto d_values = course::DeviceBuffer<unsigned>::from(values);
  course::DeviceBuffer<float> cells(blocks), neighbours(2 * blocks), returned(n);
  float_bits::set(cells, std::vector<unsigned>(blocks, first));
  course::launch(cell_of_the_block, {blocks, block}, d_values.data(), n, cells.data(),
                 neighbours.data(), returned.data());
  const std::vector<unsigned> last = of(cells.download()), found = of(returned.download());
  for (std::size_t b = 0; b < blocks; ++b) {
    INFO("block " << b);
    REQUIRE(explained(of_block(values, b, block), of_block(found, b, block), first, last[b]));
  }
  const std::vector<float> sevens(2 * blocks, 7.0f);
  REQUIRE(course::same(neighbours.download(), sevens, "the cell's neighbours in shared memory"));
}

/// Every cell with every value, each pair on its own.
void check_pairs(const std::vector<unsigned>& first, const std::vector<unsigned>& values) {
  std::vector<unsigned> old, value, expected;
  for (const unsigned c : first) {
    for (const unsigned v : values) {
      old.push_back(c);
      value.push_back(v);
      expected.push_back(maximum(c, v));
    }
  }
  const auto n = static_cast<unsigned>(old.size());
  const auto d_value = course::DeviceBuffer<unsigned>::from(value);
  OwnCells<float> cells(n);
  float_bits::set(cells.cell, old);
  float_bits::set(cells.shared_cell, old);
  course::launch(own_cells, {course::blocks_for(n, 128), 128}, d_value.data(), n, cells.cell.data(),
                 cells.shared_cell.data(), cells.returned.data(), cells.shared_returned.data());
  check_own_cells(
      cells, old, expected,
      [](const char* what, float found, unsigned right) {
        return float_bits::same(what, of(found), right);
      },
      [&](std::size_t i) {
        return "the cell holds " + float_bits::text(old[i]) + ", the value is " +
               float_bits::text(value[i]);
      });
}

}  // namespace atomic_max_float_check

using namespace atomic_max_float_check;

TEST_CASE("atomic_max_float: every pair of numbers, one thread at each cell") {
  check_pairs(kNumbers, kNumbers);
}

TEST_CASE("atomic_max_float: NaN wins") {
  check_pairs(kNumbers, kNans);
  check_pairs({kTheNan}, kNumbers);
  check_pairs({kTheNan}, kNans);
}

TEST_CASE("atomic_max_float: many threads at one cell of global memory, at every size") {
  std::size_t turn = 0;  // another grid and another start each time
  for (const std::size_t n : course::kSizes) {
    const std::vector<Launch> launches = course::launch_shapes(n);
    for (const course::DataKind<unsigned>& kind : kKinds) {
      check_kind(kind, n, launches[turn % launches.size()], kStarts[turn % kStarts.size()]);
      ++turn;
    }
  }
}

TEST_CASE("atomic_max_float: many threads at one cell of shared memory") {
  std::size_t turn = 0;
  for (const unsigned block : {32u, 96u, 250u, 1024u}) {
    for (const course::DataKind<unsigned>& kind : kKinds) {
      check_shared(kind, 1025, block, kStarts[turn++ % kStarts.size()]);
    }
  }
}

TEST_CASE("atomic_max_float: the lanes of a warp go in step") {
  for (const course::DataKind<unsigned>& kind : kKinds) {
    course::count([&] { check_kind(kind, 257, {3, 96}, kMinusInfinity); });
    course::count([&] { check_shared(kind, 257, 96, kMinusInfinity); });
  }
}

TEST_CASE("atomic_max_float: a NaN stays, in later launches too") {
  const auto d_numbers = course::DeviceBuffer<unsigned>::from(kNumbers);
  const auto d_nans = course::DeviceBuffer<unsigned>::from(kNans);
  course::DeviceBuffer<float> cell(1), returned(kNumbers.size());
  float_bits::set(cell, {kMinusInfinity});
  const auto launch = [&](const course::DeviceBuffer<unsigned>& values) {
    course::launch(one_cell, {2, 32}, values.data(), values.size(), cell.data(), returned.data());
    return of(cell.download()).front();
  };
  REQUIRE(float_bits::same("the cell after numbers", launch(d_numbers), 0x7F80'0000u));
  REQUIRE(float_bits::same("the cell after numbers again", launch(d_numbers), 0x7F80'0000u));
  REQUIRE(float_bits::same("the cell after NaN", launch(d_nans), kTheNan));
  REQUIRE(float_bits::same("the cell after NaN, then numbers", launch(d_numbers), kTheNan));
  const std::vector<unsigned> found = of(returned.download());
  REQUIRE(course::same(found, std::vector<unsigned>(kNumbers.size(), kTheNan), "returned",
                       "these are bits: a thread that finds the NaN returns it"));
}

TEST_CASE("atomic_max_float: no value gets lost when thousands come at once") {
  constexpr int kRepeats = course::kCpuDevice ? 1 : 5;  // a lost value may not show at once
  const std::size_t n = course::kCpuDevice ? 2'003 : 100'003;
  const Launch launch{static_cast<unsigned>((n + 255) / 256), 256};
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    for (const auto& kind : {kRising, kMixed, kNegative}) {
      check_kind(kind, n, launch, kMinusInfinity);
    }
  }
}
