// How are the blocks' sums combined, if *d_y should not have to be set to 0 before each launch?
// Rungs: sum_second_kernel, sum_pack_loads, max_pack_loads, sum_two_cells (the fastest).
// None of them needs a reset by the host. All but the last set *d_y, whatever it held before.
#pragma once

#include <course/buffer.cuh>
#include <course/collectives.cuh>
#include <course/launch.cuh>
#include <course/ptx.cuh>
#include <cstddef>

#include "grid.cuh"
#include "loads_in_flight.cuh"
#include "pack_reduce.cuh"

/// Scratch memory of the rungs of this file. Created once; launches that use the same one must
/// follow each other, as in one stream.
template <class Accumulator>
struct Workspace {
  static constexpr unsigned kMostBlocks = 4096;  // with more, reducing their results takes longer
  course::DeviceBuffer<Accumulator> partials{kMostBlocks};  // one result for each block
  course::DeviceBuffer<unsigned> ticket = course::DeviceBuffer<unsigned>::zeros(1);
};

/// What *d_y becomes without any element.
template <class Accumulator, class Operation>
void set_identity(Accumulator* d_y, Operation) {
  const Accumulator identity = Operation::template identity<Accumulator>();
  CUDA_CHECK(cudaMemcpyAsync(d_y, &identity, sizeof identity, cudaMemcpyHostToDevice));
}

// Question: can the blocks' sums be combined without an atomic?
// Changes:  every block writes its sum to an element of its own ...
// Cost:     as before, with one store per block instead of one atomic.
template <class TuningT, class T, class Accumulator>
__global__ void __launch_bounds__(TuningT::kBlock)
    sum_block_partials(const T* d_x, Packs split, Accumulator* d_partials) {
  Accumulator sum = share_reduce<TuningT, Accumulator>(d_x, split, course::Sum{});
  sum = course::block_reduce(sum, course::Sum{});
  if (threadIdx.x == 0) d_partials[blockIdx.x] = sum;
}

// Question: who sums those elements?
// Changes:  ... and a second kernel of one block sums them: it begins when all blocks are done.
// Cost:     a second launch, a few microseconds. The order is fixed: the same bits in every run.
template <class Accumulator>
__global__ void __launch_bounds__(1024)
    sum_partials(const Accumulator* d_partials, unsigned count, Accumulator* d_y) {
  Accumulator sum = 0;
  for (unsigned i = threadIdx.x; i < count; i += blockDim.x) sum += d_partials[i];
  sum = course::block_reduce(sum, course::Sum{});
  if (threadIdx.x == 0) *d_y = sum;
}

/// Sets *d_y to x[0] + ... + x[n-1]. d_x needs no alignment beyond that of its elements.
template <class T, class Accumulator>
void sum_second_kernel(const T* d_x, std::size_t n, Accumulator* d_y,
                       Workspace<Accumulator>& workspace) {
  if (n == 0) return set_identity(d_y, course::Sum{});
  const Packs split = split_packs(d_x, n);
  with_tuning<T>(n, [&]<class TuningT>(TuningT) {
    const unsigned blocks = blocks_for_rounds<TuningT>(split, workspace.kMostBlocks);
    course::launch(sum_block_partials<TuningT, T, Accumulator>, {blocks, TuningT::kBlock}, d_x,
                   split, workspace.partials.data());
    course::launch(sum_partials<Accumulator>, {1, 1024}, workspace.partials.data(), blocks, d_y);
  });
}

/// Combines the blocks' results in the block that finishes last; it alone writes *d_y. The ticket
/// counter is 0 before and after. All threads of all blocks call it, once, with their block's
/// result.
template <class Accumulator, class Operation>
__device__ __forceinline__ void finish_by_last_block(Accumulator block_result, Operation op,
                                                     Accumulator* d_partials, unsigned* d_ticket,
                                                     Accumulator* d_y) {
  __shared__ bool s_is_last;
  if (threadIdx.x == 0) {
    d_partials[blockIdx.x] = block_result;
    // Release: the result is written before the ticket is drawn. Acquire: the block that draws the
    // last ticket sees all results. After gridDim.x - 1 the counter wraps to 0 for the next launch.
    const unsigned last = gridDim.x - 1;
    s_is_last = course::atomic_inc_acq_rel(d_ticket, last) == last;
  }
  __syncthreads();  // all threads know, and see what thread 0 sees
  if (!s_is_last) return;
  Accumulator result = Operation::template identity<Accumulator>();
  for (unsigned i = threadIdx.x; i < gridDim.x; i += blockDim.x) result = op(result, d_partials[i]);
  result = course::block_reduce(result, op);
  if (threadIdx.x == 0) *d_y = result;
}

// Question: can one launch do it all?
// Changes:  the block that finishes last reduces the partial results; any operation.
// Cost:     one launch, one atomic per block on a counter that resets itself; no memset.
template <class TuningT, class T, class Accumulator, class Operation>
__global__ void __launch_bounds__(TuningT::kBlock)
    reduce_pack_loads(const T* d_x, Packs split, Accumulator* d_partials, unsigned* d_ticket,
                      Accumulator* d_y) {
  const Operation op;
  Accumulator result = share_reduce<TuningT, Accumulator>(d_x, split, op);
  result = course::block_reduce(result, op);
  finish_by_last_block(result, op, d_partials, d_ticket, d_y);
}

/// One launch with a given Tuning; n > 0.
template <class TuningT, class T, class Accumulator, class Operation>
void launch_pack_loads(const T* d_x, std::size_t n, Accumulator* d_y, Operation,
                       Workspace<Accumulator>& workspace) {
  const Packs split = split_packs(d_x, n);
  const unsigned blocks = blocks_for_rounds<TuningT>(split, workspace.kMostBlocks);
  course::launch(reduce_pack_loads<TuningT, T, Accumulator, Operation>, {blocks, TuningT::kBlock},
                 d_x, split, workspace.partials.data(), workspace.ticket.data(), d_y);
}

/// Sets *d_y to the reduction of x[0..n-1] by `op`, in Accumulators; to the identity if n == 0.
/// d_x needs no alignment beyond that of its elements. The grid depends on n and on where x begins,
/// so the same x has the same bits in every run, on every GPU.
template <class T, class Accumulator, class Operation>
void launch_reduce_pack_loads(const T* d_x, std::size_t n, Accumulator* d_y, Operation op,
                              Workspace<Accumulator>& workspace) {
  if (n == 0) return set_identity(d_y, op);
  with_tuning<T>(
      n, [&]<class TuningT>(TuningT) { launch_pack_loads<TuningT>(d_x, n, d_y, op, workspace); });
}

/// Sets *d_y to x[0] + ... + x[n-1], as above.
template <class T, class Accumulator>
void sum_pack_loads(const T* d_x, std::size_t n, Accumulator* d_y,
                    Workspace<Accumulator>& workspace) {
  launch_reduce_pack_loads(d_x, n, d_y, course::Sum{}, workspace);
}

/// Sets *d_y to the largest element, as above; NaN if there is one. n == 0 gives the lowest value.
template <class T, class Accumulator>
void max_pack_loads(const T* d_x, std::size_t n, Accumulator* d_y,
                    Workspace<Accumulator>& workspace) {
  launch_reduce_pack_loads(d_x, n, d_y, course::Max{}, workspace);
}

/// Two cells in device memory, each for a sum: a launch adds to one of them, and sets the other one
/// to 0 for the next launch. Launches that use the same cells must follow each other, as in one
/// stream. (A captured graph would use the same cell in each of its launches.)
template <class Accumulator>
struct TwoCells {
  course::DeviceBuffer<Accumulator> sums = course::DeviceBuffer<Accumulator>::zeros(2);
  unsigned zeroed = 0;  // the index of the cell that is 0
};

// Question: is there a finish without a memset, and without waiting for the last block?
// Changes:  blocks add to a cell that the launch before set to 0; this launch clears the other.
// Cost:     one atomic per block, and nothing after it. Unspecified order: last bits may differ.
template <class TuningT, class T, class Accumulator>
__global__ void __launch_bounds__(TuningT::kBlock)
    sum_two_cells(const T* d_x, Packs split, Accumulator* d_sum, Accumulator* d_next) {
  if (blockIdx.x == 0 && threadIdx.x == 0) *d_next = 0;  // unused in this launch
  Accumulator sum = share_reduce<TuningT, Accumulator>(d_x, split, course::Sum{});
  sum = course::block_reduce(sum, course::Sum{});
  if (threadIdx.x == 0) atomicAdd(d_sum, sum);
}

/// One launch with a given Tuning; n > 0.
template <class TuningT, class T, class Accumulator>
const Accumulator* launch_two_cells(const T* d_x, std::size_t n, TwoCells<Accumulator>& cells) {
  const Packs split = split_packs(d_x, n);
  Accumulator* const d_sum = cells.sums.data() + cells.zeroed;
  cells.zeroed = 1 - cells.zeroed;
  course::launch(sum_two_cells<TuningT, T, Accumulator>,
                 {blocks_for_rounds<TuningT>(split), TuningT::kBlock}, d_x, split, d_sum,
                 cells.sums.data() + cells.zeroed);
  return d_sum;
}

/// Returns the address in device memory that holds x[0] + ... + x[n-1] once the launch is done, until
/// the next launch with these cells. d_x needs no alignment beyond that of its elements. n == 0: 0.
template <class T, class Accumulator>
const Accumulator* launch_sum_two_cells(const T* d_x, std::size_t n, TwoCells<Accumulator>& cells) {
  if (n == 0) return cells.sums.data() + cells.zeroed;
  return with_tuning<T>(
      n, [&]<class TuningT>(TuningT) { return launch_two_cells<TuningT>(d_x, n, cells); });
}

// Question: how long does a launch take that does nothing?
// Changes:  no loads, no sum: one warp begins and ends.
// Cost:     that of a launch; no kernel takes less.
__global__ void no_work() {}
