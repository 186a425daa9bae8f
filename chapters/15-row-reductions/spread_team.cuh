// And if more blocks shall have a row than a cluster has? Blocks that meet in global memory.
// What teams.cuh is without: a team of blocks anywhere on the GPU, the memory where they meet, and their launch.
#pragma once

#include <course/buffer.cuh>
#include <course/collectives.cuh>
#include <course/error.cuh>
#include <course/launch.cuh>
#include <course/merge.cuh>
#include <cstddef>
#include <cstring>
#include <cuda/atomic>
#include <limits>
#include <type_traits>

/// Where the blocks of a SpreadTeam meet in one launch; the other teams have no use for it.
struct Meeting {
  using Word = unsigned long long;  // a turn, and 32 bits of a value
  /// Words of a block in a turn, a sector of 32 bytes: values have up to four times 32 bits.
  static constexpr unsigned kWords = 4;

  Word* d_words = nullptr;  // for two turns, kWords for each block of the grid
  unsigned turn = 0;        // the first one of this launch
};

// Question: and if more blocks shall have a row than a cluster has?
// Changes:  `blocks` blocks, on any SMs, store their values in global memory and wait for those of the others. All
//           blocks of the grid have to be resident: the launch is a cooperative one.
// Cost:     two barriers of the block for each reduction, and the time from a store of one SM to a load of another.
template <unsigned block, unsigned blocks>
struct SpreadTeam {
  static constexpr unsigned kThreads = block * blocks;
  static constexpr unsigned kBlock = block;
  static constexpr unsigned kTeams = 1;
  static constexpr unsigned kBlocks = blocks;
  static constexpr unsigned kCluster = 1;
  static constexpr unsigned kWarps = block / course::kWarpSize;
  static_assert(blocks <= course::kWarpSize, "a lane waits for each block");

  __device__ explicit SpreadTeam(const Meeting& meeting)
      : d_words_(meeting.d_words), turn_(meeting.turn) {}
  __device__ static unsigned block_rank() { return blockIdx.x % blocks; }
  __device__ static unsigned rank() { return block_rank() * block + threadIdx.x; }
  __device__ static unsigned team_of_block() { return 0; }
  __device__ static std::size_t first_team() { return blockIdx.x / blocks; }
  __device__ static std::size_t teams_of_grid() { return gridDim.x / blocks; }

  template <class V, class Operation>
  __device__ __forceinline__ V reduce(V value, Operation op) {
    __shared__ V s_warps[kWarps], s_all;
    const unsigned lane = threadIdx.x % course::kWarpSize;
    value = course::warp_merge(value, op);
    if (lane == 0) s_warps[threadIdx.x / course::kWarpSize] = value;
    __syncthreads();  // the values of all warps are there, and all have read s_all of the call before
    if (threadIdx.x < course::kWarpSize) {
      value = course::warp_merge<kWarps>(s_warps[lane % kWarps], op);
      if (lane == 0) tell(value);
      value = course::warp_merge<blocks>(value_of<V>(lane % blocks), op);
      if (lane == 0) s_all = value;
    }
    __syncthreads();  // the value of the team is there
    ++turn_;
    return s_all;
  }

 private:
  using Word = Meeting::Word;
  /// A word of a block in this turn. Two halves take turns, and no fence is needed before a half is written again: a store
  /// of turn t + 2 is executed only by a block that has read a word of turn t + 1 from each block of the team, and each
  /// of them executed that store only when its loads of turn t had ended. So no block still waits for turn t.
  __device__ cuda::atomic_ref<Word, cuda::thread_scope_device> word(unsigned rank,
                                                                    unsigned w) const {
    const std::size_t half = turn_ % 2, at = blockIdx.x / blocks * blocks + rank;
    return cuda::atomic_ref<Word, cuda::thread_scope_device>(
        d_words_[(half * gridDim.x + at) * Meeting::kWords + w]);
  }
  /// Tells the other blocks the value of this one.
  template <class V>
  __device__ void tell(const V& value) const {
    unsigned bits[sizeof(V) / 4];
    memcpy(bits, &value, sizeof value);
    for (unsigned w = 0; w < sizeof(V) / 4; ++w) {
      word(block_rank(), w).store(Word{turn_} << 32 | bits[w], cuda::memory_order_relaxed);
    }
  }
  /// Waits for the value of a block. Each word says of which turn it is: no fence is needed.
  template <class V>
  __device__ V value_of(unsigned rank) const {
    static_assert(sizeof(V) % 4 == 0 && sizeof(V) / 4 <= Meeting::kWords);
    unsigned bits[sizeof(V) / 4];
    for (unsigned w = 0; w < sizeof(V) / 4; ++w) {
      Word found;
      do {
        found = word(rank, w).load(cuda::memory_order_relaxed);
      } while (found >> 32 != turn_);
      bits[w] = static_cast<unsigned>(found);
    }
    __syncwarp();
    V value;
    memcpy(static_cast<void*>(&value), bits, sizeof value);
    return value;
  }

  Word* d_words_;
  unsigned turn_;
};

/// True if the blocks of a team meet in global memory.
template <class Team>
constexpr bool kMeetsInGlobal = Team::kBlocks > Team::kCluster;

/// Memory for the meetings of one launch after another; it grows. Launches that share it follow each other, as in one
/// stream.
class MeetingMemory {
 public:
  /// For the next launch, of so many blocks, each of which meets those of its team at most `turns` times. Nothing is
  /// cleared: no two launches have the same turns. Throws CudaError.
  Meeting next(std::size_t blocks, std::size_t turns) {
    constexpr std::size_t kLast = std::numeric_limits<unsigned>::max();
    const std::size_t words = 2 * blocks * Meeting::kWords;
    if (words_.size() < words) words_ = course::DeviceBuffer<Meeting::Word>::zeros(words);
    if (turns > kLast - next_) {
      CUDA_CHECK(cudaMemsetAsync(words_.data(), 0, words_.bytes()));
      next_ = 1;
    }
    const auto first = static_cast<unsigned>(next_);
    next_ += turns;
    return {words_.data(), first};
  }

  /// As if the turns before this one had been used: tests come to the last turn with it.
  void skip_to(unsigned turn) { next_ = turn; }

 private:
  course::DeviceBuffer<Meeting::Word> words_;
  std::size_t next_ = 1;  // turn; 0 is that of no launch
};

/// Launches kernel(in..., meeting) in the default stream, for teams whose blocks meet in global memory. The launch is a
/// cooperative one: CUDA refuses a grid that is not resident, whose blocks would wait for ever. Throws CudaError.
template <class FormT, class Kernel, class... In>
void launch_together(Kernel* kernel, const course::Grid& grid, std::size_t rows,
                     MeetingMemory& memory, In... in) {
  static_assert(std::is_same_v<Kernel, void(In..., Meeting)>);
  if (grid.blocks.x == 0) return;
  constexpr std::size_t kMost = 2;  // reductions of a row
  const std::size_t rows_at_once = grid.blocks.x / FormT::Team::kBlocks * FormT::kRows;
  const std::size_t turns_of_team = (rows + rows_at_once - 1) / rows_at_once;
  Meeting meeting = memory.next(grid.blocks.x, kMost * FormT::kRows * turns_of_team);
  void* arguments[] = {&in..., &meeting};
  CUDA_CHECK(
      cudaLaunchCooperativeKernel(kernel, grid.blocks, grid.threads, arguments, grid.shared_bytes));
}
