// Who adds up the blocks' sums, if not an atomic that somebody has to zero before?
// Rungs: sum_second_kernel, sum_pack_loads (the top one), max_pack_loads.
// All of them set *d_y, for every n: what it held before does not matter.
#pragma once

#include <course/buffer.cuh>
#include <course/collectives.cuh>
#include <course/error.cuh>
#include <course/ptx.cuh>
#include <cstddef>

#include "grid.cuh"
#include "loads_in_flight.cuh"
#include "pack_reduce.cuh"

/// What the rungs of this file work in. Made once; launches that use the same one have to follow
/// each other, as in one stream.
template <class Accumulator>
struct Workspace {
  static constexpr unsigned kMaxBlocks = 1u << 16;
  course::DeviceBuffer<Accumulator> partials{kMaxBlocks};  // one result for each block
  course::DeviceBuffer<unsigned> ticket = course::DeviceBuffer<unsigned>::zeros(1);
};

/// What *d_y becomes without any element.
template <class Accumulator, class Operation>
void set_identity(Accumulator* d_y, Operation, cudaStream_t stream) {
  const Accumulator identity = Operation::template identity<Accumulator>();
  CUDA_CHECK(cudaMemcpyAsync(d_y, &identity, sizeof identity, cudaMemcpyHostToDevice, stream));
}

// Question: can the blocks' sums be added up without an atomic?
// Changes:  every block writes its sum to a place of its own ...
// Cost:     as before, and a store a block in the place of an atomic.
template <class TuningT, class T, class Accumulator>
__global__ void __launch_bounds__(TuningT::kBlock, TuningT::kResident)
    sum_block_partials(const T* d_x, Packs split, std::size_t packs_per_block,
                       Accumulator* d_partials) {
  Accumulator sum = share_reduce<TuningT, Accumulator>(d_x, split, packs_per_block, course::Sum{});
  sum = course::block_reduce(sum, course::Sum{});
  if (threadIdx.x == 0) d_partials[blockIdx.x] = sum;
}

// Question: and who adds those up?
// Changes:  ... and a second kernel of one block adds them up: it begins when all blocks are done.
// Cost:     a second launch, a few microseconds. The order is fixed: the same bits in every run.
template <class Accumulator>
__global__ void __launch_bounds__(1024)
    sum_partials(const Accumulator* d_partials, unsigned count, Accumulator* d_y) {
  Accumulator sum = 0;
  for (unsigned i = threadIdx.x; i < count; i += blockDim.x) sum += d_partials[i];
  sum = course::block_reduce(sum, course::Sum{});
  if (threadIdx.x == 0) *d_y = sum;
}

/// Sets *d_y to x[0] + ... + x[n-1]. d_x is aligned to its elements, no more.
template <class TuningT = TunedForLarge, class T, class Accumulator>
void sum_second_kernel(const T* d_x, std::size_t n, Accumulator* d_y,
                       Workspace<Accumulator>& workspace, cudaStream_t stream) {
  if (n == 0) return set_identity(d_y, course::Sum{}, stream);
  static const unsigned resident =
      resident_blocks(sum_block_partials<TuningT, T, Accumulator>, TuningT::kBlock);
  const Packs split = split_packs(d_x, n);
  const PackGrid grid =
      pack_grid<TuningT>(split, std::min(resident, workspace.kMaxBlocks / TuningT::kWaves));
  sum_block_partials<TuningT, T, Accumulator><<<grid.blocks, TuningT::kBlock, 0, stream>>>(
      d_x, split, grid.packs_per_block, workspace.partials.data());
  CUDA_CHECK_LAUNCH();
  sum_partials<<<1, 1024, 0, stream>>>(workspace.partials.data(), grid.blocks, d_y);
  CUDA_CHECK_LAUNCH();
}

/// The blocks' results, combined by the block that is done last; it alone writes *d_y. The ticket
/// counter is 0 before and after. All threads of all blocks call it, with their block's result.
template <class Accumulator, class Operation>
__device__ __forceinline__ void finish_by_last_block(Accumulator block_result, Operation op,
                                                     Accumulator* d_partials, unsigned* d_ticket,
                                                     Accumulator* d_y) {
  __shared__ bool s_is_last;
  if (threadIdx.x == 0) {
    d_partials[blockIdx.x] = block_result;
    // The result is written before the ticket is drawn, and who draws the last one sees them all.
    // Behind gridDim.x - 1 the counter goes to 0: ready for the next launch, nobody zeroes it.
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
// Changes:  the block that finishes last adds up the partial sums; any operation, not only a sum.
// Cost:     one launch, one atomic a block on a counter that resets itself; nothing to zero.
template <class TuningT, class T, class Accumulator, class Operation>
__global__ void __launch_bounds__(TuningT::kBlock, TuningT::kResident)
    reduce_pack_loads(const T* d_x, Packs split, std::size_t packs_per_block,
                      Accumulator* d_partials, unsigned* d_ticket, Accumulator* d_y) {
  const Operation op;
  Accumulator result = share_reduce<TuningT, Accumulator>(d_x, split, packs_per_block, op);
  result = course::block_reduce(result, op);
  finish_by_last_block(result, op, d_partials, d_ticket, d_y);
}

/// One launch with a given Tuning; n > 0.
template <class TuningT, class T, class Accumulator, class Operation>
void launch_pack_loads(const T* d_x, std::size_t n, Accumulator* d_y, Operation,
                       Workspace<Accumulator>& workspace, cudaStream_t stream) {
  static const unsigned resident =
      resident_blocks(reduce_pack_loads<TuningT, T, Accumulator, Operation>, TuningT::kBlock);
  const Packs split = split_packs(d_x, n);
  const PackGrid grid =
      pack_grid<TuningT>(split, std::min(resident, workspace.kMaxBlocks / TuningT::kWaves));
  reduce_pack_loads<TuningT, T, Accumulator, Operation>
      <<<grid.blocks, TuningT::kBlock, 0, stream>>>(d_x, split, grid.packs_per_block,
                                                    workspace.partials.data(),
                                                    workspace.ticket.data(), d_y);
  CUDA_CHECK_LAUNCH();
}

/// Sets *d_y to the reduction of x[0..n-1] by `op`, in Accumulators; to the identity if n == 0.
/// d_x is aligned to its elements, no more. The same bits in every run.
template <class T, class Accumulator, class Operation>
void reduce_pack_loads(const T* d_x, std::size_t n, Accumulator* d_y, Operation op,
                       Workspace<Accumulator>& workspace, cudaStream_t stream) {
  if (n == 0) return set_identity(d_y, op, stream);
  if (n <= kSmallBytes / sizeof(T)) {
    launch_pack_loads<TunedForSmall>(d_x, n, d_y, op, workspace, stream);
  } else {
    launch_pack_loads<TunedForLarge>(d_x, n, d_y, op, workspace, stream);
  }
}

/// Sets *d_y to x[0] + ... + x[n-1], as above.
template <class T, class Accumulator>
void sum_pack_loads(const T* d_x, std::size_t n, Accumulator* d_y,
                    Workspace<Accumulator>& workspace, cudaStream_t stream) {
  reduce_pack_loads(d_x, n, d_y, course::Sum{}, workspace, stream);
}

/// Sets *d_y to the largest element, as above; a NaN wins. n == 0 gives the lowest value there is.
template <class T, class Accumulator>
void max_pack_loads(const T* d_x, std::size_t n, Accumulator* d_y,
                    Workspace<Accumulator>& workspace, cudaStream_t stream) {
  reduce_pack_loads(d_x, n, d_y, course::Max{}, workspace, stream);
}
