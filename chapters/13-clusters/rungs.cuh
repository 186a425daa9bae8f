// The rungs of chapter 13, each once: ladder.cu and the self-checks read these tables.
#pragma once

#include <course/ladder.cuh>
#include <course/rungs.cuh>
#include <string>
#include <vector>

#include "chain.cuh"
#include "histogram.cuh"
#include "launches.cuh"
#include "rows.cuh"
#include "sums.cuh"

// ---- sums ---------------------------------------------------------------------------------------

struct SumRung {
  std::string name, changed;
  void (*launch)(const SumInput& in);
  bool sums = true;               // false: it only reads
  unsigned blocks_of_atomic = 1;  // blocks that share an atomic on global memory
  unsigned cluster_barriers = 0;  // of each cluster
};

inline std::vector<SumRung> sum_rungs() {
  return {{.name = "sum_block_atomics",
           .changed = "16-byte loads, shuffles, one atomic per block",
           .launch = launch_sum_block_atomics},
          {.name = "sum_cluster_grid",
           .changed = "the same kernel, launched in clusters of eight blocks",
           .launch = launch_sum_cluster_grid},
          {.name = "sum_cluster_barriers",
           .changed = "and two barriers of the cluster",
           .launch = launch_sum_cluster_barriers,
           .cluster_barriers = 2},
          {.name = "sum_cluster",
           .changed = "one atomic per cluster of eight blocks",
           .launch = launch_sum_cluster,
           .blocks_of_atomic = course::kMostBlocksOfCluster,
           .cluster_barriers = 2},
          {.name = "sum_bulk",
           .changed = "bulk loads of 32 KiB, three in flight per block",
           .launch = launch_sum_bulk},
          {.name = "sum_read_only",
           .changed = "the loads alone: no sum",
           .launch = launch_sum_read_only,
           .sums = false}};
}

/// An array on the device, and the two cells of the sums.
struct Summing {
  explicit Summing(const std::vector<float>& x)
      : d_x(course::DeviceBuffer<float>::from(x)), cells(course::DeviceBuffer<float>::zeros(2)) {}
  /// A launch adds to the cell that the one before has cleared.
  void launch(const SumRung& rung) {
    rung.launch({d_x.data(), d_x.size(), cells.data() + zeroed, cells.data() + 1 - zeroed});
    zeroed = 1 - zeroed;
  }
  /// What the last launch has summed.
  float sum() const { return cells.download()[1 - zeroed]; }
  void reset() {
    cells.fill_bytes(0);
    zeroed = 0;
  }

  course::DeviceBuffer<float> d_x, cells;
  unsigned zeroed = 0;  // the cell that is 0
};

/// A launch that does as little as a launch can.
struct FloorRung {
  std::string name, changed;
  void (*launch)();
};

inline std::vector<FloorRung> floor_rungs() {
  return {{"no_work", "a launch that does nothing", [] { course::launch(no_work, {1, 32}); }}};
}

// ---- sums in two steps --------------------------------------------------------------------------

/// An array on the device, and what its sums in two steps need, which is made before any launch.
struct StepsMemory {
  explicit StepsMemory(const std::vector<float>& x)
      : d_x(course::DeviceBuffer<float>::from(x)), blocks(blocks_of_steps(x.size())) {}

  course::DeviceBuffer<float> d_x;
  unsigned blocks;
  course::DeviceBuffer<float> parts{blocks}, sum{1};
  course::DeviceBuffer<unsigned> ticket = course::DeviceBuffer<unsigned>::zeros(1);
  StepsInput input{d_x.data(), d_x.size(), blocks, parts.data(), ticket.data(), sum.data()};
  Graph graph{[this](cudaStream_t stream) { launch_sum_two_launches(input, stream); }};
};

/// A rung that sets memory.sum. Every sum has the same bits in every run, and makes no memset.
struct StepsRung {
  std::string name, changed;
  void (*launch)(const StepsMemory& memory);
  unsigned kernels = 2;
  unsigned tickets = 0;  // atomics of a block, but for those of grid.sync()
};

inline std::vector<StepsRung> steps_rungs() {
  return {{.name = "sum_two_launches",
           .changed = "a kernel for the blocks' sums, and a kernel that sums them",
           .launch = [](const StepsMemory& memory) { launch_sum_two_launches(memory.input); }},
          {.name = "sum_graph",
           .changed = "the same two kernels in a CUDA graph",
           .launch = [](const StepsMemory& memory) { memory.graph.launch(); }},
          {.name = "sum_dependent_launch",
           .changed = "the second launch is a programmatic dependent one",
           .launch = [](const StepsMemory& memory) { launch_sum_dependent_launch(memory.input); }},
          {.name = "sum_grid_sync",
           .changed = "one cooperative kernel: grid.sync() between the steps",
           .launch = [](const StepsMemory& memory) { launch_sum_grid_sync(memory.input); },
           .kernels = 1},
          {.name = "sum_last_ticket",
           .changed = "one kernel: the last block sums the blocks' sums",
           .launch = [](const StepsMemory& memory) { launch_sum_last_ticket(memory.input); },
           .kernels = 1,
           .tickets = 1}};
}

// ---- a chain of ten steps -----------------------------------------------------------------------

/// The arrays of a chain on the device, and what its rungs need, which is made before any launch.
struct ChainMemory {
  explicit ChainMemory(const std::vector<float>& x)
      : d_x(course::DeviceBuffer<float>::from(x)),
        even(x.size()),
        odd(x.size()),
        done(course::DeviceBuffer<unsigned>::zeros(chain_tiles(input))) {}
  /// What the last launch has made.
  std::vector<float> result() const { return odd.download(); }
  /// Makes both results NaN.
  void forget() {
    even.fill_bytes(0xFF);
    odd.fill_bytes(0xFF);
  }

  course::DeviceBuffer<float> d_x, even, odd;
  ChainInput input{d_x.data(), static_cast<unsigned>(d_x.size()), {even.data(), odd.data()}};
  course::DeviceBuffer<unsigned> next = course::DeviceBuffer<unsigned>::zeros(1), done;
  unsigned queue_launches = 0;
  Graph graph{[this](cudaStream_t stream) { launch_chain_launches(input, stream); }};
};

/// A rung that makes the ten steps.
struct ChainRung {
  std::string name, changed;
  void (*launch)(ChainMemory& memory);
  unsigned kernels = 1;
};

inline std::vector<ChainRung> chain_rungs() {
  return {{.name = "chain_host_waits",
           .changed = "ten kernels; the host waits for each",
           .launch = [](ChainMemory& memory) { launch_chain_host_waits(memory.input); },
           .kernels = kChainSteps},
          {.name = "chain_launches",
           .changed = "ten kernels in a stream",
           .launch = [](ChainMemory& memory) { launch_chain_launches(memory.input); },
           .kernels = kChainSteps},
          {.name = "chain_graph",
           .changed = "the same ten kernels in a CUDA graph",
           .launch = [](ChainMemory& memory) { memory.graph.launch(); },
           .kernels = kChainSteps},
          {.name = "chain_dependent_launch",
           .changed = "the launches are programmatic dependent ones",
           .launch = [](ChainMemory& memory) { launch_chain_dependent_launch(memory.input); },
           .kernels = kChainSteps},
          {.name = "chain_grid_sync",
           .changed = "one cooperative kernel: grid.sync() between the steps",
           .launch = [](ChainMemory& memory) { launch_chain_grid_sync(memory.input); }},
          {.name = "chain_queue",
           .changed = "one kernel that takes tiles from a queue, and waits for neighbours",
           .launch =
               [](ChainMemory& memory) {
                 launch_chain_queue(memory.input, {memory.next.data(), memory.done.data(),
                                                   memory.queue_launches++});
               }},
          {.name = "chain_fused",
           .changed = "one kernel: each block makes all steps of its tile, and waits for none",
           .launch = [](ChainMemory& memory) { launch_chain_fused(memory.input); }}};
}

// ---- histograms ---------------------------------------------------------------------------------

struct HistogramRung {
  std::string name, changed;
  void (*launch)(const Counting& in);
  bool is_shared = true;  // a shared atomic per value
};

inline std::vector<HistogramRung> histogram_rungs() {
  return {{.name = "histogram_global",
           .changed = "an atomic on global memory per value",
           .launch = launch_histogram_global,
           .is_shared = false},
          {.name = "histogram_passes",
           .changed = "a block counts half of the bins; all values are read twice",
           .launch = launch_histogram_passes},
          {.name = "histogram_cluster",
           .changed = "two blocks share the bins: atomics on the other block's shared memory",
           .launch = launch_histogram_cluster},
          {.name = "histogram_cluster_red",
           .changed = "the same atomics by PTX for the shared memory of a cluster",
           .launch = launch_histogram_cluster_red},
          {.name = "histogram_exchange",
           .changed = "two blocks share the values: stores to the other block's shared memory",
           .launch = launch_histogram_exchange},
          {.name = "histogram_halves",
           .changed = "counters of 16 bits: all bins in one SM",
           .launch = launch_histogram_halves}};
}

// ---- rows ---------------------------------------------------------------------------------------

template <class T>
struct RowsRung {
  std::string name, changed;
  void (*launch)(const Rows<T>& in);
  Work work = Work::both;  // else what the table holds means nothing
};

template <class T>
std::vector<RowsRung<T>> rows_rungs() {
  std::vector<RowsRung<T>> rungs;
  if constexpr (std::is_same_v<T, __half>) {
    rungs.push_back({"rows_red", "chapter 08: one RED for eight halves", launch_rows_red});
  }
  rungs.push_back({"rows_bulk", "a bulk load per tile, a bulk addition per row",
                   launch_rows_bulk<T, Work::both>});
  return rungs;
}

/// rows_bulk's loads, and its additions: how long does each of them take alone?
template <class T>
std::vector<RowsRung<T>> parts_of_rows() {
  return {{"rows_loads_only", "its loads alone", launch_rows_bulk<T, Work::loads>, Work::loads},
          {"rows_adds_only", "its additions alone", launch_rows_bulk<T, Work::adds>, Work::adds}};
}
