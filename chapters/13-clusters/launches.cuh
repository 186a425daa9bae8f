// Can a sum in two steps do without its second launch, or with a cheaper one?
// Rungs: sum_two_launches, sum_graph and sum_dependent_launch are the same two kernels, launched in three ways;
// sum_grid_sync and sum_last_ticket are one kernel that has both steps.
//
// Step 1: every block stores the sum of its elements. Step 2: one block sums these, in the order of the blocks,
// so that the sum has the same bits in every run. Both steps are the same code in all rungs.
#pragma once

#include <cooperative_groups.h>

#include <algorithm>
#include <course/collectives.cuh>
#include <course/error.cuh>
#include <course/launch.cuh>
#include <course/rungs.cuh>
#include <cstddef>
#include <functional>
#include <type_traits>

#include "sums.cuh"

using TunedForSteps = TunedForSmall;
constexpr unsigned kStepsBlock = TunedForSteps::kBlock;  // threads

/// What every sum in two steps gets: x begins at a multiple of 16 bytes.
struct StepsInput {
  const float* d_x;
  std::size_t n;
  unsigned blocks;     // of step 1
  float* d_parts;      // one for each of them
  unsigned* d_ticket;  // 0 before, and 0 again afterwards
  float* d_sum;        // becomes the sum
};

/// Step 1: the sum of the rounds of this block, which are a grid apart if there are more rounds than blocks.
__device__ __forceinline__ float sum_of_rounds(const StepsInput& in) {
  float sum = tail_value(in.d_x, in.n);
  const std::size_t rounds = rounds_of<TunedForSteps>(in.n);
  for (std::size_t round = blockIdx.x; round < rounds; round += in.blocks) {
    sum += round_sum<TunedForSteps>(in.d_x, in.n, round);
  }
  return course::block_reduce(sum, course::Sum{});
}

/// Step 2, by one block.
__device__ __forceinline__ void sum_the_parts(const StepsInput& in) {
  float sum = 0;
  for (unsigned b = threadIdx.x; b < in.blocks; b += kStepsBlock) sum += in.d_parts[b];
  sum = course::block_reduce(sum, course::Sum{});
  if (threadIdx.x == 0) *in.d_sum = sum;
}

// Older architectures have no launch that depends on the program. Code for these compiles, and is never launched.
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900 || COURSE_CPU_DEVICE
#define HAS_DEPENDENT_LAUNCH 1
#else
#define HAS_DEPENDENT_LAUNCH 0
#endif

// Question: what does a kernel cost that sums the sums of the blocks?
// Changes:  step 1 of two. Its first line changes nothing unless the next launch is a dependent one.
// Cost:     a store per block, and a second launch, of sum_of_parts.
__global__ void __launch_bounds__(kStepsBlock) sum_of_blocks(StepsInput in) {
#if HAS_DEPENDENT_LAUNCH
  cudaTriggerProgrammaticLaunchCompletion();  // the next kernel may begin when all blocks are here
#endif
  const float sum = sum_of_rounds(in);
  if (threadIdx.x == 0) in.d_parts[blockIdx.x] = sum;
}

// Question: when may the second kernel begin?
// Changes:  step 2 of two. Its first line returns at once unless this launch is a dependent one.
// Cost:     with <<<>>> its block begins when sum_of_blocks has ended; as a dependent launch it begins
//           beside sum_of_blocks, and waits here until that has ended and its stores are visible.
__global__ void __launch_bounds__(kStepsBlock) sum_of_parts(StepsInput in) {
#if HAS_DEPENDENT_LAUNCH
  cudaGridDependencySynchronize();
#endif
  sum_the_parts(in);
}

// Question: does a barrier of the whole grid cost less than a second launch?
// Changes:  one kernel, launched as a cooperative one: all of its blocks are resident, and may wait for each other.
// Cost:     grid.sync(), for which each block makes an atomic on one address and waits for all others.
__global__ void __launch_bounds__(kStepsBlock) sum_grid_sync(StepsInput in) {
  const float sum = sum_of_rounds(in);
  if (threadIdx.x == 0) in.d_parts[blockIdx.x] = sum;
  cooperative_groups::this_grid().sync();  // all parts are there
  if (blockIdx.x == 0) sum_the_parts(in);
}

// Question: and if no block waits?
// Changes:  each block draws a ticket, and the one with the last ticket makes step 2, as chapter 03's sum_last_block.
// Cost:     two fences and one atomic per block. An ordinary launch is enough.
__global__ void __launch_bounds__(kStepsBlock) sum_last_ticket(StepsInput in) {
  __shared__ bool s_is_last;
  const float sum = sum_of_rounds(in);
  if (threadIdx.x == 0) {
    in.d_parts[blockIdx.x] = sum;
    __threadfence();  // a block that sees this ticket taken sees this block's part ...
    s_is_last = atomicInc(in.d_ticket, in.blocks - 1) == in.blocks - 1;
    __threadfence();  // ... and this block sees the parts of all tickets before its own
  }
  __syncthreads();  // all threads read s_is_last
  if (s_is_last) sum_the_parts(in);
}

/// Blocks for n elements: one per round, but no more than are resident at the same time, because those of
/// sum_grid_sync wait for each other.
inline unsigned blocks_of_steps(std::size_t n) {
  const std::size_t most = course::resident<sum_grid_sync, kStepsBlock>();
  return static_cast<unsigned>(std::clamp<std::size_t>(rounds_of<TunedForSteps>(n), 1, most));
}

/// Sets *in.d_sum to the sum by two launches: the second kernel begins when the first one has ended.
inline void launch_sum_two_launches(const StepsInput& in, cudaStream_t stream = nullptr) {
  course::launch(sum_of_blocks, {in.blocks, kStepsBlock, 0, stream}, in);
  course::launch(sum_of_parts, {1, kStepsBlock, 0, stream}, in);
}

/// Launches as a graph, which is made once and launched as often as wanted. Throws CudaError if a CUDA call fails.
class Graph {
 public:
  /// `launch` makes the launches in the stream that it gets, which records them.
  explicit Graph(const std::function<void(cudaStream_t)>& launch) {
    cudaStream_t stream{};
    cudaGraph_t graph{};
    CUDA_CHECK(cudaStreamCreate(&stream));
    CUDA_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    launch(stream);  // runs nothing: the stream records it
    CUDA_CHECK(cudaStreamEndCapture(stream, &graph));
    CUDA_CHECK(cudaGraphInstantiate(&ready_, graph, 0));
    CUDA_CHECK(cudaGraphDestroy(graph));
    CUDA_CHECK(cudaStreamDestroy(stream));
  }
  ~Graph() { static_cast<void>(cudaGraphExecDestroy(ready_)); }
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  void launch() const { CUDA_CHECK(cudaGraphLaunch(ready_, nullptr)); }

 private:
  cudaGraphExec_t ready_{};
};

/// A programmatic dependent launch: the kernel may begin before the one before it in the default stream has ended.
/// Throws CudaError if the launch fails.
template <class... Parameters>
void launch_dependent(void (*kernel)(Parameters...), unsigned blocks, unsigned block,
                      std::type_identity_t<Parameters>... arguments) {
  cudaLaunchAttribute begins_early{};
  begins_early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  begins_early.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = blocks;
  config.blockDim = block;
  config.attrs = &begins_early;
  config.numAttrs = 1;
  CUDA_CHECK(cudaLaunchKernelEx(&config, kernel, arguments...));
}

/// The same two kernels; the second launch is a programmatic dependent launch.
inline void launch_sum_dependent_launch(const StepsInput& in) {
  course::launch(sum_of_blocks, {in.blocks, kStepsBlock}, in);
  launch_dependent(sum_of_parts, 1, kStepsBlock, in);
}

/// The same by one kernel whose blocks meet at a barrier.
inline void launch_sum_grid_sync(StepsInput in) {
  void* arguments[] = {&in};
  CUDA_CHECK(cudaLaunchCooperativeKernel(sum_grid_sync, in.blocks, kStepsBlock, arguments));
}

/// The same by one kernel whose last block makes step 2.
inline void launch_sum_last_ticket(const StepsInput& in) {
  course::launch(sum_last_ticket, {in.blocks, kStepsBlock}, in);
}
