// Check of the exercise atomic_add_saturating: sums at, above and far above the limit, also beyond
// 32 bits; many threads at one cell of global or shared memory, with one limit and with many. What
// they return must fit together, so a cell that overflows for a moment is found out.
#include "atomic_add_saturating.cuh"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <course/check.cuh>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "chain.cuh"

namespace atomic_add_saturating_check {

using Launch = course::LaunchShape;

/// What the exercise promises, with 64 bits.
unsigned saturated(unsigned old, unsigned value, unsigned limit) {
  if (old > limit) return old;
  const std::uint64_t sum = std::uint64_t{old} + value;
  return static_cast<unsigned>(std::min<std::uint64_t>(sum, limit));
}

// ---- kernels -----------------------------------------------------------------------------------

/// Thread i has a cell of its own, in global and in shared memory.
__global__ void own_cells(const unsigned* values, const unsigned* limits, unsigned n,
                          unsigned* cell, unsigned* shared_cell, unsigned* returned,
                          unsigned* shared_returned) {
  __shared__ unsigned s_cell[128];
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  s_cell[threadIdx.x] = shared_cell[i];
  returned[i] = atomic_add_saturating(&cell[i], values[i], limits[i]);
  shared_returned[i] = atomic_add_saturating(&s_cell[threadIdx.x], values[i], limits[i]);
  shared_cell[i] = s_cell[threadIdx.x];
}

/// All threads share one cell.
__global__ void one_cell(const unsigned* values, const unsigned* limits, std::size_t n,
                         unsigned* cell, unsigned* returned) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += stride) {
    returned[i] = atomic_add_saturating(cell, values[i], limits[i]);
  }
}

/// The threads of a block share a cell of shared memory; its neighbours must stay as they are.
__global__ void cell_of_the_block(const unsigned* values, const unsigned* limits, std::size_t n,
                                  unsigned* cells, unsigned* neighbours, unsigned* returned) {
  __shared__ unsigned s_cell[3];
  if (threadIdx.x < 3) s_cell[threadIdx.x] = threadIdx.x == 1 ? cells[blockIdx.x] : 77;
  __syncthreads();
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) returned[i] = atomic_add_saturating(&s_cell[1], values[i], limits[i]);
  __syncthreads();
  if (threadIdx.x == 0) {
    cells[blockIdx.x] = s_cell[1];
    neighbours[2 * blockIdx.x] = s_cell[0];
    neighbours[2 * blockIdx.x + 1] = s_cell[2];
  }
}

/// One thread adds again and again.
__global__ void one_thread(const unsigned* values, unsigned n, unsigned limit, unsigned* cell,
                           unsigned* returned) {
  for (unsigned i = 0; i < n; ++i) returned[i] = atomic_add_saturating(cell, values[i], limit);
}

// ---- values -------------------------------------------------------------------------------------

enum class Kind { fits, just_fits, overflows, ones, huge, many_limits, nothing };
constexpr Kind kKinds[] = {Kind::fits, Kind::just_fits,   Kind::overflows, Kind::ones,
                           Kind::huge, Kind::many_limits, Kind::nothing};

std::string to_string(Kind kind) {
  switch (kind) {
    case Kind::fits:
      return "the limit is not reached";
    case Kind::just_fits:
      return "the sum is the limit";
    case Kind::overflows:
      return "the limit is half of the sum";
    case Kind::ones:
      return "ones, and a limit of n - 10";
    case Kind::huge:
      return "values beyond 2^31, and the largest limit";
    case Kind::many_limits:
      return "each thread has its own limit, some a limit of 0, some a value of 0";
    case Kind::nothing:
      return "the limit is 0";
  }
  return "";
}

struct Input {
  std::vector<unsigned> values, limits;
  unsigned first;  // what the cell holds before
};

Input make_input(Kind kind, std::size_t n) {
  constexpr unsigned kFirst = 5, kMax = 0xFFFF'FFFF;
  Input input{course::position_values<unsigned>(n), {}, kFirst};
  if (kind == Kind::ones) std::fill(input.values.begin(), input.values.end(), 1u);
  if (kind == Kind::huge) {
    for (unsigned& value : input.values) value = 0x8000'0000u + value;
  }
  std::uint64_t sum = kFirst;
  for (const unsigned value : input.values) sum += value;
  std::uint64_t limit = sum;
  if (kind == Kind::fits) limit = sum + 1'000'000;
  if (kind == Kind::overflows) limit = sum / 2;
  if (kind == Kind::ones) limit = sum - std::min<std::uint64_t>(n, 10);
  if (kind == Kind::huge) limit = kMax;
  if (kind == Kind::nothing) limit = 0;
  input.limits.assign(n, static_cast<unsigned>(limit));
  if (kind == Kind::many_limits) {
    for (std::size_t i = 0; i < n; ++i) {
      input.limits[i] = static_cast<unsigned>(sum * (i % 7) / 8);
      if (i % 5 == 2) input.values[i] = 0;  // adds nothing, and still returns what is there
    }
  }
  return input;
}

// ---- checks -------------------------------------------------------------------------------------

/// Ok if some order of the threads explains what they found, and what is left.
course::Verdict explained(const Input& input, const std::vector<unsigned>& found, std::size_t begin,
                          unsigned last) {
  std::vector<unsigned> left(found.size());
  unsigned most = input.first;
  for (std::size_t i = 0; i < found.size(); ++i) {
    left[i] = saturated(found[i], input.values[begin + i], input.limits[begin + i]);
    most = std::max(most, input.limits[begin + i]);
  }
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (found[i] > most) {
      return {false, "returned[" + std::to_string(begin + i) + "]: a thread found " +
                         std::to_string(found[i]) + ", more than the limit of " +
                         std::to_string(most)};
    }
  }
  if (last > most) {
    return {false, "the cell holds " + std::to_string(last) + ", more than the limit of " +
                       std::to_string(most)};
  }
  return one_chain(found, left, input.first, last);
}

std::string describe(std::size_t n, Launch launch, Kind kind) {
  return "n = " + std::to_string(n) + ": " + to_string(kind) + "; " + std::to_string(launch.grid) +
         " blocks of " + std::to_string(launch.block) + " threads, the cell holds 5";
}

void check_global(const Input& input, Launch launch) {
  const std::size_t n = input.values.size();
  const auto values = course::DeviceBuffer<unsigned>::from(input.values);
  const auto limits = course::DeviceBuffer<unsigned>::from(input.limits);
  course::GuardedBuffer<unsigned> cell(1), returned(n);
  CUDA_CHECK(cudaMemcpy(cell.data(), &input.first, sizeof(unsigned), cudaMemcpyHostToDevice));
  one_cell<<<launch.grid, launch.block>>>(values.data(), limits.data(), n, cell.data(),
                                          returned.data());
  CUDA_CHECK_LAUNCH();
  REQUIRE(explained(input, returned.download(), 0, cell.download().front()));
  REQUIRE(cell.intact("the cell"));
}

void check_shared(const Input& input, unsigned block) {
  const std::size_t n = input.values.size(), blocks = (n + block - 1) / block;
  const auto values = course::DeviceBuffer<unsigned>::from(input.values);
  const auto limits = course::DeviceBuffer<unsigned>::from(input.limits);
  auto cells = course::DeviceBuffer<unsigned>::from(std::vector<unsigned>(blocks, input.first));
  course::DeviceBuffer<unsigned> neighbours(2 * blocks), returned(n);
  cell_of_the_block<<<static_cast<unsigned>(blocks), block>>>(
      values.data(), limits.data(), n, cells.data(), neighbours.data(), returned.data());
  CUDA_CHECK_LAUNCH();
  const std::vector<unsigned> last = cells.download(), found = returned.download();
  for (std::size_t b = 0; b < blocks; ++b) {
    INFO("block " << b);
    const auto begin = static_cast<std::ptrdiff_t>(b * block);
    const auto end = static_cast<std::ptrdiff_t>(std::min(n, (b + 1) * block));
    REQUIRE(explained(input, {found.begin() + begin, found.begin() + end}, b * block, last[b]));
  }
  const std::vector<unsigned> untouched(2 * blocks, 77u);
  REQUIRE(course::same(neighbours.download(), untouched, "the cell's neighbours in shared memory"));
}

}  // namespace atomic_add_saturating_check

using namespace atomic_add_saturating_check;

TEST_CASE("atomic_add_saturating: one thread at each cell") {
  const unsigned numbers[] = {0,           1,           2,           99,          100,        101,
                              0x7FFF'FFFF, 0x8000'0000, 0xFFFF'FF9C, 0xFFFF'FFFE, 0xFFFF'FFFF};
  std::vector<unsigned> old, value, limit;
  for (const unsigned o : numbers) {
    for (const unsigned v : numbers) {
      for (const unsigned l : numbers) {
        old.push_back(o);
        value.push_back(v);
        limit.push_back(l);
      }
    }
  }
  const std::size_t n = old.size();
  const auto values = course::DeviceBuffer<unsigned>::from(value);
  const auto limits = course::DeviceBuffer<unsigned>::from(limit);
  auto cell = course::DeviceBuffer<unsigned>::from(old);
  auto shared_cell = course::DeviceBuffer<unsigned>::from(old);
  course::DeviceBuffer<unsigned> returned(n), shared_returned(n);
  own_cells<<<static_cast<unsigned>((n + 127) / 128), 128>>>(
      values.data(), limits.data(), static_cast<unsigned>(n), cell.data(), shared_cell.data(),
      returned.data(), shared_returned.data());
  CUDA_CHECK_LAUNCH();
  const std::vector<unsigned> left = cell.download(), shared_left = shared_cell.download(),
                              found = returned.download(),
                              shared_found = shared_returned.download();
  for (std::size_t i = 0; i < n; ++i) {
    INFO("the cell holds " << old[i] << ", the value is " << value[i] << ", the limit "
                           << limit[i]);
    const unsigned expected = saturated(old[i], value[i], limit[i]);
    REQUIRE(course::same(left[i], expected, "the cell, in global memory"));
    REQUIRE(course::same(shared_left[i], expected, "the cell, in shared memory"));
    REQUIRE(course::same(found[i], old[i], "returned, from global memory"));
    REQUIRE(course::same(shared_found[i], old[i], "returned, from shared memory"));
  }
}

TEST_CASE("atomic_add_saturating: one thread fills a cell step by step") {
  const std::vector<unsigned> steps = {10, 0, 30, 50, 5, 4, 3, 1, 0, 100, 0xFFFF'FFFF};
  const auto values = course::DeviceBuffer<unsigned>::from(steps);
  auto cell = course::DeviceBuffer<unsigned>::zeros(1);
  course::DeviceBuffer<unsigned> returned(steps.size());
  INFO("limit 100, values 10, 0, 30, 50, 5, 4, 3, 1, 0, 100, 4294967295");
  one_thread<<<1, 1>>>(values.data(), static_cast<unsigned>(steps.size()), 100, cell.data(),
                       returned.data());
  CUDA_CHECK_LAUNCH();
  const std::vector<unsigned> expected = {0, 10, 10, 40, 90, 95, 99, 100, 100, 100, 100};
  REQUIRE(course::same(returned.download(), expected, "returned"));
  REQUIRE(course::same(cell.front(), 100u, "the cell"));
}

TEST_CASE("atomic_add_saturating: many threads at one cell of global memory, at every size") {
  std::size_t turn = 0;  // another grid each time
  for (const std::size_t n : course::kSizes) {
    const std::vector<Launch> launches = course::launch_shapes(n);
    for (const Kind kind : kKinds) {
      const Launch launch = launches[turn++ % launches.size()];
      INFO(describe(n, launch, kind));
      check_global(make_input(kind, n), launch);
    }
  }
}

TEST_CASE("atomic_add_saturating: many threads at one cell of shared memory") {
  for (const unsigned block : {32u, 96u, 250u, 1024u}) {
    for (const Kind kind : kKinds) {
      // As many values as a block has threads: else the limit is never reached.
      INFO("in shared memory, " << describe(block, {1, block}, kind));
      check_shared(make_input(kind, block), block);
    }
    INFO("in shared memory, " << describe(1025, {1025 / block + 1, block}, Kind::many_limits));
    check_shared(make_input(Kind::many_limits, 1025), block);
  }
}

TEST_CASE("atomic_add_saturating: the lanes of a warp go in step") {
  for (const Kind kind : kKinds) {
    INFO(describe(257, {3, 96}, kind));
    course::count([&] { check_global(make_input(kind, 257), {3, 96}); });
    INFO("in shared memory");
    course::count([&] { check_shared(make_input(kind, 96), 96); });
  }
}

TEST_CASE("atomic_add_saturating: thousands of threads at once") {
  constexpr int kRepeats = course::kCpuDevice ? 1 : 5;  // what goes wrong may not show at once
  const std::size_t n = course::kCpuDevice ? 2'003 : 20'003;
  const Launch launch{static_cast<unsigned>((n + 255) / 256), 256};
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    for (const Kind kind : {Kind::just_fits, Kind::overflows, Kind::ones}) {
      INFO(describe(n, launch, kind));
      check_global(make_input(kind, n), launch);
    }
  }
}
