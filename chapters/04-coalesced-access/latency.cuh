// How long does one load take? Little's law needs this time, and it can be measured.
// Rungs: chase with the cells in the L1 cache, in the L2 cache, in DRAM, and all over a large array in
// DRAM.
//
// A cell holds the index of the next one, so a load cannot begin before the one before it has
// returned. The cells are in lines of their own, and the order is random: no line is fetched before
// it is asked for.
#pragma once

#include <course/buffer.cuh>
#include <course/data.cuh>
#include <course/launch.cuh>
#include <cstddef>
#include <numeric>
#include <utility>
#include <vector>

/// One line of a cache. The rest of the 128 bytes is not used.
struct alignas(128) Cell {
  std::size_t next;
};

/// The loads of a launch: 1,000, so that a launch of t us has loads of t ns (and the launch itself
/// is in them with a few ns each).
constexpr unsigned kChased = 1000;

// Question: how long does a load take?
// Changes:  one thread, and each load needs the value of the one before: nothing hides the latency.
// Cost:     kChased times the latency. One sector per request.
__global__ void chase(const Cell* d_cells, std::size_t* d_last) {
  std::size_t cell = 0;
#pragma unroll 1  // 1,000 loads in a row would be 16 KB of code, which has to be loaded, too
  for (unsigned k = 0; k < kChased; ++k) cell = d_cells[cell].next;
  *d_last = cell;
}

/// next[i] is the cell after cell i: one cycle through all cells, in no order (Sattolo's shuffle).
/// n >= 1.
inline std::vector<std::size_t> random_cycle(std::size_t n) {
  std::vector<std::size_t> next(n);
  std::iota(next.begin(), next.end(), std::size_t{0});
  for (std::size_t i = n - 1; i > 0; --i) std::swap(next[i], next[course::mixed(i) % i]);
  return next;
}

/// Cells on the device, and where a launch ends.
class Chase {
 public:
  explicit Chase(std::size_t cells) : d_cells_(cells), d_last_(1) {
    const std::vector<std::size_t> next = random_cycle(cells);
    std::vector<Cell> made(cells);
    for (std::size_t i = 0; i < cells; ++i) made[i].next = next[i];
    d_cells_.upload(made);
    for (unsigned k = 0; k < kChased; ++k) expected_ = next[expected_];
    reset();
  }
  void reset() { d_last_.fill_bytes(0xFF); }
  void launch() { course::launch(chase, {1, 1}, d_cells_.data(), d_last_.data()); }
  /// The cell that the last launch has reached, and the one that it has to reach.
  std::size_t last() const { return d_last_.front(); }
  std::size_t expected() const { return expected_; }
  std::size_t bytes() const { return d_cells_.bytes(); }

 private:
  course::DeviceBuffer<Cell> d_cells_;
  course::DeviceBuffer<std::size_t> d_last_;
  std::size_t expected_ = 0;
};
