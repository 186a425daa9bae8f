// Check of the exercise atomic_max_float: every pair of awkward floats, bit by bit; many threads at
// one cell of global or shared memory, whose returned values must fit together; launches in a row.
#include "atomic_max_float.cuh"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <course/check.cuh>
#include <course/grid.cuh>
#include <course/thread_number.cuh>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "chain.cuh"
#include "checks/cells.cuh"

namespace atomic_max_float_check {

using Launch = course::LaunchShape;

// ---- floats as their bits, so that nothing on the way changes a NaN -----------------------------

float float_of(unsigned bits) {
  float x;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}
unsigned as_bits(float x) {
  unsigned bits;
  std::memcpy(&bits, &x, sizeof bits);
  return bits;
}
std::vector<unsigned> as_bits(const std::vector<float>& x) {
  std::vector<unsigned> bits(x.size());
  if (!x.empty()) std::memcpy(bits.data(), x.data(), x.size() * sizeof(float));
  return bits;
}
template <class Buffer>
void set_bits(Buffer& buffer, const std::vector<unsigned>& bits) {
  if (bits.empty()) return;
  CUDA_CHECK(cudaMemcpy(buffer.data(), bits.data(), bits.size() * 4, cudaMemcpyHostToDevice));
}

bool is_nan(unsigned bits) { return (bits & 0x7FFF'FFFFu) > 0x7F80'0000u; }

/// "-0 (0x80000000)"
std::string bits_text(unsigned bits) {
  const char* const digits = "0123456789ABCDEF";
  std::string hex;
  for (int shift = 28; shift >= 0; shift -= 4) hex += digits[bits >> shift & 15u];
  const std::string sign = bits == 0x8000'0000u ? "-" : "";
  return sign + course::number_text(bits == 0x8000'0000u ? 0.0f : float_of(bits)) + " (0x" + hex +
         ")";
}

course::Verdict same_bits(const std::string& what, unsigned found, unsigned expected) {
  if (found == expected) return {};
  return {false, what + ": expected " + bits_text(expected) + ", found " + bits_text(found)};
}

/// The position of a float in the order of all of them; a NaN is above all.
std::int64_t position(unsigned bits) {
  if (is_nan(bits)) return INT64_MAX;
  const auto magnitude = static_cast<std::int64_t>(bits & 0x7FFF'FFFFu);
  return (bits & 0x8000'0000u) != 0 ? -1 - magnitude : magnitude;  // -0.0 is just below 0.0
}

constexpr unsigned kTheNan = 0x7FFF'FFFF;  // that the exercise returns

/// What the exercise promises, in other words than the solution's.
unsigned maximum(unsigned old, unsigned value) {
  if (is_nan(value)) return kTheNan;
  return position(value) > position(old) ? value : old;
}

// ---- what threads get ---------------------------------------------------------------------------

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

const std::vector<unsigned> kNans = {
    kTheNan,     0x7FC0'0000, 0xFFC0'0000, 0x7FC0'0123,
    0xFFFF'FFFF, 0x7F80'0001, 0xFF80'0001};  // the last two are signalling

constexpr unsigned kMinusInfinity = 0xFF80'0000, kMinusZero = 0x8000'0000;
/// What cells hold at first.
const std::vector<unsigned> kStarts = {kMinusInfinity, kMinusZero, 0xC47A'0000, 0x4640'0000};

float rising(course::Element e) { return 0.5f * static_cast<float>(e.i) - 300.0f; }
float random(course::Element e) { return static_cast<float>(e.i * 7919 % 10'009) - 5000.0f; }

const course::DataKind<unsigned> kRising{"each larger than the one before",
                                         [](course::Element e) { return as_bits(rising(e)); }};
const course::DataKind<unsigned> kMixed{"both signs, in no order",
                                        [](course::Element e) { return as_bits(random(e)); }};
const course::DataKind<unsigned> kNegative{
    "all below zero", [](course::Element e) { return as_bits(random(e) - 6000.0f); }};
const course::DataKind<unsigned> kKinds[] = {
    kRising,
    {"each smaller than the one before", [](course::Element e) { return as_bits(-rising(e)); }},
    kMixed,
    kNegative,
    {"-0 and 0", [](course::Element e) { return as_bits(e.i % 3 == 1 ? 0.0f : -0.0f); }},
    // A cell that held -0 holds 0 then: an equal number, and other bits.
    {"0, and numbers above it",
     [](course::Element e) { return as_bits(e.i % 2 == 0 ? 0.0f : static_cast<float>(e.i)); }},
    {"all the same", [](course::Element) { return as_bits(-12.5f); }},
    {"infinities, subnormals, zeros",
     [](course::Element e) { return kNumbers[e.i * 7 % kNumbers.size()]; }},
    {"numbers and a few NaN",
     [](course::Element e) {
       return e.i % 97 == 50 ? kNans[e.i % kNans.size()] : as_bits(random(e));
     }},
    {"the last one is NaN",
     [](course::Element e) { return e.i + 1 == e.n ? 0xFFC0'0000 : as_bits(random(e)); }}};

// ---- kernels ------------------------------------------------------------------------------------

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
  for (std::size_t i = course::thread_number(); i < n; i += course::thread_count()) {
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

// ---- checks -------------------------------------------------------------------------------------

/// Ok if some order of the threads explains what they found, and what is left.
course::Verdict explained(const std::vector<unsigned>& values, const std::vector<unsigned>& found,
                          unsigned first, unsigned last, const chain_checks::OfCall& of_call) {
  unsigned expected = first;
  for (const unsigned value : values) expected = maximum(expected, value);
  if (last != expected) return same_bits("the cell", last, expected);
  std::vector<unsigned> left(found.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    left[i] = maximum(found[i], values[i]);
    if (is_nan(found[i]) && found[i] != kTheNan) {
      return same_bits("returned[" + std::to_string(i) + "]", found[i], kTheNan);
    }
  }
  return chain_checks::one_chain(found, left, first, last, bits_text, of_call);
}

std::string case_text(const std::string& kernel, std::size_t n, Launch launch,
                      const std::string& data, unsigned first) {
  return course::case_text(n, data, kernel, launch) + ", the cell holds " + bits_text(first);
}

void check_global(const std::vector<unsigned>& values, Launch launch, unsigned first) {
  const std::size_t n = values.size();
  const auto d_values = course::DeviceBuffer<unsigned>::from(values);
  course::GuardedBuffer<float> cell(1), returned(n);
  set_bits(cell, {first});
  course::launch(one_cell, {launch.grid, launch.threads()}, d_values.data(), n, cell.data(),
                 returned.data());
  const unsigned last = as_bits(cell.download()).front();
  REQUIRE(explained(values, as_bits(returned.download()), first, last,
                    cell_checks::last_atomics<unsigned>(0, n, launch, bits_text)));
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
  set_bits(cells, std::vector<unsigned>(blocks, first));
  course::launch(cell_of_the_block, {blocks, block}, d_values.data(), n, cells.data(),
                 neighbours.data(), returned.data());
  const std::vector<unsigned> last = as_bits(cells.download()),
                              found = as_bits(returned.download());
  for (std::size_t b = 0; b < blocks; ++b) {
    INFO("block " << b);
    REQUIRE(explained(
        cell_checks::of_block(values, b, block), cell_checks::of_block(found, b, block), first,
        last[b], cell_checks::last_atomics<unsigned>(b * block, n, {blocks, block}, bits_text)));
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
  cell_checks::OwnCells<float> cells(n);
  set_bits(cells.cell, old);
  set_bits(cells.shared_cell, old);
  course::launch(own_cells, {course::blocks_for(n, 128), 128}, d_value.data(), n, cells.cell.data(),
                 cells.shared_cell.data(), cells.returned.data(), cells.shared_returned.data());
  cell_checks::check_own_cells(
      cells, old, value, expected,
      [](const char* what, float found, unsigned right) {
        return same_bits(what, as_bits(found), right);
      },
      [&](std::size_t i) {
        return "the cell holds " + bits_text(old[i]) + ", the value is " + bits_text(value[i]);
      });
}

// Promise: *address becomes the maximum of what it holds and `value`.
// Promise: -0.0f is smaller than 0.0f, and infinities and subnormals are numbers like all others.
TEST_CASE("atomic_max_float: every pair of numbers, one thread at each cell") {
  check_pairs(kNumbers, kNumbers);
}

// Promise: a `value` that is NaN, whatever its sign and bits, makes the cell the NaN of kNanBits.
TEST_CASE("atomic_max_float: NaN wins") {
  check_pairs(kNumbers, kNans);
  check_pairs({kTheNan}, kNumbers);
  check_pairs({kTheNan}, kNans);
}

// Promise: the function returns what the cell held before, bit for bit (what all threads return
// fits one order of them).
TEST_CASE("atomic_max_float: many threads at one cell of global memory, at every size") {
  std::size_t turn = 0;  // another grid and another start each time
  for (const std::size_t n : course::kSizes) {
    const std::vector<Launch> launches = course::launch_shapes(n);
    for (const course::DataKind<unsigned>& kind : kKinds) {
      course::in_launch(launches[turn % launches.size()], [&](Launch launch) {
        check_kind(kind, n, launch, kStarts[turn % kStarts.size()]);
      });
      ++turn;
    }
  }
  for (const course::DataKind<unsigned>& kind : kKinds) {
    check_kind(kind, 255, {2, 128, true}, kStarts[turn++ % kStarts.size()]);
  }
}

// Promise: the cell is in global or in shared memory (the pairs of one thread are in both).
// Promise: an ordinary read of the cell is confirmed by atomicCAS (DATA RACE, in every test case with many threads).
TEST_CASE("atomic_max_float: many threads at one cell of shared memory") {
  std::size_t turn = 0;
  for (const unsigned block : {32u, 96u, 250u, 1024u}) {
    for (const course::DataKind<unsigned>& kind : kKinds) {
      check_shared(kind, 1025, block, kStarts[turn++ % kStarts.size()]);
    }
  }
}

// Promise: no value is lost when all lanes of a warp read the cell before any of them raises it (numbers that
// are equal in other bits, 0 and -0, are two values of the cell).
TEST_CASE("atomic_max_float: the lanes of a warp go in step") {
  for (const course::DataKind<unsigned>& kind : kKinds) {
    for (const unsigned first : {kMinusInfinity, kMinusZero}) {
      course::count([&] { check_kind(kind, 257, {3, 96}, first); });
      course::count([&] { check_shared(kind, 257, 96, first); });
    }
  }
}

// Promise: the NaN stays. Before the first call the cell holds a number or this NaN (the check
// keeps that).
TEST_CASE("atomic_max_float: a NaN stays, in later launches too") {
  const auto d_numbers = course::DeviceBuffer<unsigned>::from(kNumbers);
  const auto d_nans = course::DeviceBuffer<unsigned>::from(kNans);
  course::DeviceBuffer<float> cell(1), returned(kNumbers.size());
  set_bits(cell, {kMinusInfinity});
  const auto launch = [&](const course::DeviceBuffer<unsigned>& values) {
    course::launch(one_cell, {2, 32}, values.data(), values.size(), cell.data(), returned.data());
    return as_bits(cell.download()).front();
  };
  REQUIRE(same_bits("the cell after numbers", launch(d_numbers), 0x7F80'0000u));
  REQUIRE(same_bits("the cell after numbers again", launch(d_numbers), 0x7F80'0000u));
  REQUIRE(same_bits("the cell after NaN", launch(d_nans), kTheNan));
  REQUIRE(same_bits("the cell after NaN, then numbers", launch(d_numbers), kTheNan));
  const std::vector<unsigned> found = as_bits(returned.download());
  REQUIRE(course::same(found, std::vector<unsigned>(kNumbers.size(), kTheNan), "returned",
                       "these are bits: a thread that finds the NaN returns it"));
}

// Promise: many threads may call the function at the same time: it is one atomic step (DATA RACE
// for an atomic of block scope).
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

// Promise: no value is lost if a call has to repeat atomicCAS hundreds of times.
TEST_CASE("atomic_max_float: threads that come too late again and again") {
  course::count([] { check_kind(kRising, 2048, {4, 512}, kMinusInfinity); });
}

}  // namespace atomic_max_float_check
