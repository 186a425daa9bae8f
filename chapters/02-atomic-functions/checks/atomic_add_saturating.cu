// Check of the exercise atomic_add_saturating: sums at, above and far above the limit, also beyond
// 32 bits; many threads at one cell of global or shared memory, with one limit and with many. What
// they return must fit together, so a cell that overflows for a moment is found out.
#include "atomic_add_saturating.cuh"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <course/check.cuh>
#include <course/grid.cuh>
#include <course/thread_number.cuh>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "chain.cuh"
#include "checks/cells.cuh"

namespace atomic_add_saturating_check {

using Launch = course::LaunchShape;

// ---- what threads add ---------------------------------------------------------------------------

/// What the exercise promises, with 64 bits.
unsigned saturated(unsigned old, unsigned value, unsigned limit) {
  if (old > limit) return old;
  const std::uint64_t sum = std::uint64_t{old} + value;
  return static_cast<unsigned>(std::min<std::uint64_t>(sum, limit));
}

struct Input {
  std::vector<unsigned> values, limits;
};

/// What many threads add: the values, and how the limit follows from n and the sum of all.
struct Kind {
  std::string text;
  unsigned (*value)(unsigned random);
  std::uint64_t (*limit)(std::uint64_t sum, std::size_t n);
  void (*own_limits)(Input& input, std::uint64_t sum) = nullptr;  // one per thread
};

unsigned as_it_is(unsigned random) { return random; }

const Kind kJustFits{"the sum is the limit", as_it_is,
                     [](std::uint64_t sum, std::size_t) { return sum; }};
const Kind kOverflows{"the limit is half of the sum", as_it_is,
                      [](std::uint64_t sum, std::size_t) { return sum / 2; }};
const Kind kOnes{
    "ones, and a limit of n - 10", [](unsigned) { return 1u; },
    [](std::uint64_t sum, std::size_t n) { return sum - std::min<std::uint64_t>(n, 10); }};
const Kind kManyLimits{"each thread has its own limit, some a limit of 0, some a value of 0",
                       as_it_is, [](std::uint64_t sum, std::size_t) { return sum; },
                       [](Input& input, std::uint64_t sum) {
                         for (std::size_t i = 0; i < input.limits.size(); ++i) {
                           input.limits[i] = static_cast<unsigned>(sum * (i % 7) / 8);
                           if (i % 5 == 2) input.values[i] = 0;  // and returns what is there
                         }
                       }};
const Kind kFills{"each value alone fills the cell up to its thread's own limit", as_it_is,
                  [](std::uint64_t sum, std::size_t) { return sum; },
                  [](Input& input, std::uint64_t) {
                    for (std::size_t i = 0; i < input.limits.size(); ++i) {
                      input.values[i] = input.limits[i] = static_cast<unsigned>(10 * (i + 1));
                    }
                  }};
const Kind kKinds[] = {
    {"the limit is not reached", as_it_is,
     [](std::uint64_t sum, std::size_t) { return sum + 1'000'000; }},
    kJustFits,
    kOverflows,
    kOnes,
    {"values beyond 2^31, and the largest limit",
     [](unsigned random) { return 0x8000'0000u + random; },
     [](std::uint64_t, std::size_t) { return std::uint64_t{0xFFFF'FFFF}; }},
    kManyLimits,
    kFills,
    {"the limit is 0", as_it_is, [](std::uint64_t, std::size_t) { return std::uint64_t{0}; }}};

constexpr unsigned kFirst = 5;  // what the cell holds before

Input make_input(const Kind& kind, std::size_t n) {
  Input input{course::position_values<unsigned>(n), {}};
  std::uint64_t sum = kFirst;
  for (unsigned& value : input.values) sum += value = kind.value(value);
  input.limits.assign(n, static_cast<unsigned>(kind.limit(sum, n)));
  if (kind.own_limits != nullptr) kind.own_limits(input, sum);
  return input;
}

// ---- kernels ------------------------------------------------------------------------------------

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
  for (std::size_t i = course::thread_number(); i < n; i += course::thread_count()) {
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

// ---- checks -------------------------------------------------------------------------------------

/// Ok if some order of the threads explains what they found, and what is left.
course::Verdict explained(const Input& input, const std::vector<unsigned>& found, std::size_t begin,
                          unsigned last, Launch launch) {
  std::vector<unsigned> left(found.size());
  unsigned most = kFirst;
  for (std::size_t i = 0; i < found.size(); ++i) {
    left[i] = saturated(found[i], input.values[begin + i], input.limits[begin + i]);
    most = std::max(most, input.limits[begin + i]);
  }
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (found[i] > most) {
      return {false, "returned[" + std::to_string(begin + i) + "]: a thread found " +
                         std::to_string(found[i]) + ", more than the limit of " +
                         std::to_string(most) +
                         course::left_by(found[i], std::to_string(found[i]))};
    }
  }
  if (last > most) {
    return {false, "the cell holds " + std::to_string(last) + ", more than the limit of " +
                       std::to_string(most) + course::left_by(last, std::to_string(last))};
  }
  const auto text = [](unsigned value) { return std::to_string(value); };
  return chain_checks::one_chain(
      found, left, kFirst, last, text,
      cell_checks::last_atomics<unsigned>(begin, input.values.size(), launch, text));
}

std::string case_text(const std::string& kernel, std::size_t n, Launch launch, const Kind& kind) {
  return course::case_text(n, kind.text, kernel, launch) + ", the cell holds 5";
}

void check_global(const Kind& kind, std::size_t n, Launch launch) {
  INFO(case_text("one_cell", n, launch, kind));
  const Input input = make_input(kind, n);
  const auto values = course::DeviceBuffer<unsigned>::from(input.values);
  const auto limits = course::DeviceBuffer<unsigned>::from(input.limits);
  course::GuardedBuffer<unsigned> cell(1), returned(n);
  CUDA_CHECK(cudaMemcpy(cell.data(), &kFirst, sizeof kFirst, cudaMemcpyHostToDevice));
  course::launch(one_cell, {launch.grid, launch.threads()}, values.data(), limits.data(), n,
                 cell.data(), returned.data());
  REQUIRE(explained(input, returned.download(), 0, cell.download().front(), launch));
  REQUIRE(cell.intact("the cell"));
}

void check_shared(const Kind& kind, std::size_t n, unsigned block) {
  const unsigned blocks = course::blocks_for(n, block);
  INFO(case_text("cell_of_the_block", n, {blocks, block}, kind));
  const Input input = make_input(kind, n);
  const auto values = course::DeviceBuffer<unsigned>::from(input.values);
  const auto limits = course::DeviceBuffer<unsigned>::from(input.limits);
  auto cells = course::DeviceBuffer<unsigned>::from(std::vector<unsigned>(blocks, kFirst));
  course::DeviceBuffer<unsigned> neighbours(2 * blocks), returned(n);
  course::launch(cell_of_the_block, {blocks, block}, values.data(), limits.data(), n, cells.data(),
                 neighbours.data(), returned.data());
  const std::vector<unsigned> last = cells.download(), found = returned.download();
  for (std::size_t b = 0; b < blocks; ++b) {
    INFO("block " << b);
    REQUIRE(explained(input, cell_checks::of_block(found, b, block), b * block, last[b],
                      {blocks, block}));
  }
  const std::vector<unsigned> untouched(2 * blocks, 77u);
  REQUIRE(course::same(neighbours.download(), untouched, "the cell's neighbours in shared memory"));
}

// Promise: *address becomes old + value, but at most `limit`, also where the sum is beyond 32
// bits.
// Promise: a cell that holds more than the limit stays as it is.
TEST_CASE("atomic_add_saturating: one thread at each cell") {
  const unsigned numbers[] = {0,           1,           2,           99,          100,        101,
                              0x7FFF'FFFF, 0x8000'0000, 0xFFFF'FF9C, 0xFFFF'FFFE, 0xFFFF'FFFF};
  std::vector<unsigned> old, value, limit, expected;
  for (const unsigned o : numbers) {
    for (const unsigned v : numbers) {
      for (const unsigned l : numbers) {
        old.push_back(o);
        value.push_back(v);
        limit.push_back(l);
        expected.push_back(saturated(o, v, l));
      }
    }
  }
  const auto n = static_cast<unsigned>(old.size());
  const auto values = course::DeviceBuffer<unsigned>::from(value);
  const auto limits = course::DeviceBuffer<unsigned>::from(limit);
  cell_checks::OwnCells<unsigned> cells(n);
  cells.cell.upload(old);
  cells.shared_cell.upload(old);
  course::launch(own_cells, {course::blocks_for(n, 128), 128}, values.data(), limits.data(), n,
                 cells.cell.data(), cells.shared_cell.data(), cells.returned.data(),
                 cells.shared_returned.data());
  cell_checks::check_own_cells(
      cells, old, value, expected,
      [](const char* what, unsigned found, unsigned right) {
        return course::same(found, right, what);
      },
      [&](std::size_t i) {
        return "the cell holds " + std::to_string(old[i]) + ", the value is " +
               std::to_string(value[i]) + ", the limit " + std::to_string(limit[i]);
      });
}

// Promise: the function returns what the cell held before.
TEST_CASE("atomic_add_saturating: one thread fills a cell step by step") {
  const std::vector<unsigned> steps = {10, 0, 30, 50, 5, 4, 3, 1, 0, 100, 0xFFFF'FFFF};
  const auto values = course::DeviceBuffer<unsigned>::from(steps);
  auto cell = course::DeviceBuffer<unsigned>::zeros(1);
  course::DeviceBuffer<unsigned> returned(steps.size());
  INFO("limit 100, values 10, 0, 30, 50, 5, 4, 3, 1, 0, 100, 4294967295");
  course::launch(one_thread, {1, 1}, values.data(), static_cast<unsigned>(steps.size()), 100u,
                 cell.data(), returned.data());
  const std::vector<unsigned> expected = {0, 10, 10, 40, 90, 95, 99, 100, 100, 100, 100};
  REQUIRE(course::same(returned.download(), expected, "returned"));
  REQUIRE(course::same(cell.front(), 100u, "the cell"));
}

// Promise: threads may call the function at the same time, with different values and limits.
TEST_CASE("atomic_add_saturating: many threads at one cell of global memory, at every size") {
  for (const auto& [n, launch, kind] : course::cases_of(course::kSizes, kKinds)) {
    check_global(kind, n, launch);
  }
  for (const Kind& kind : kKinds) check_global(kind, 255, {2, 128, true});
}

// Promise: the cell is in global or in shared memory (the triples of one thread are in both).
// Promise: an ordinary read of the cell is confirmed by atomicCAS (DATA RACE, in every test case with many threads).
TEST_CASE("atomic_add_saturating: many threads at one cell of shared memory") {
  for (const unsigned block : {32u, 96u, 250u, 1024u}) {
    // As many values as a block has threads: else the limit is never reached.
    for (const Kind& kind : kKinds) check_shared(kind, block, block);
    check_shared(kManyLimits, 1025, block);
  }
}

// Promise: no addition is lost when all lanes of a warp read the cell before any of them changes
// it.
TEST_CASE("atomic_add_saturating: the lanes of a warp go in step") {
  for (const Kind& kind : kKinds) {
    course::count([&] { check_global(kind, 257, {3, 96}); });
    course::count([&] { check_shared(kind, 96, 96); });
  }
}

// Promise: the cell never holds anything but what the calls, one after another in some order,
// would leave in it (what all threads return fits one order of them).
TEST_CASE("atomic_add_saturating: thousands of threads at once") {
  constexpr int kRepeats = course::kCpuDevice ? 1 : 5;  // what goes wrong may not show at once
  const std::size_t n = course::kCpuDevice ? 2'003 : 20'003;
  const Launch launch{static_cast<unsigned>((n + 255) / 256), 256};
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    for (const Kind& kind : {kJustFits, kOverflows, kOnes, kFills}) check_global(kind, n, launch);
  }
}

}  // namespace atomic_add_saturating_check
