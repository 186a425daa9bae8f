// Who works on a row? A team: some lanes of a warp, a warp, a block, or a cluster of blocks.
// What all fast rungs of this chapter are made of: a team and its reduction, the 16-byte packs of a row in
// registers, and the loads of the next row, which begin before this row is done.
//
//   x[row][column], row-major without gaps; every row has `width` elements.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>
#include <cmath>
#include <course/bulk.cuh>
#include <course/cluster.cuh>
#include <course/collectives.cuh>
#include <course/grid.cuh>
#include <course/launch.cuh>
#include <course/merge.cuh>
#include <course/pack.cuh>
#include <course/ptx.cuh>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

/// Rows of elements in device memory, and what becomes of them. Rows are read in packs of 16 bytes: d_x begins at
/// a multiple of 16, and a row has whole packs (fits_packs()).
template <class T, class Result = T>
struct Rows {
  const T* d_x;  // rows x width
  Result* d_y;   // rows x width, or one for each row
  std::size_t rows;
  std::size_t width;
};

/// Elements of a pack of 16 bytes.
template <class T>
constexpr unsigned kPack = static_cast<unsigned>(course::kWidestPack<T>);

/// True if every row begins at a multiple of 16 bytes, and so does every array of `width` elements beside it.
template <class T>
bool fits_packs(const void* d_x, std::size_t width) {
  return reinterpret_cast<std::uintptr_t>(d_x) % 16 == 0 && width % kPack<T> == 0;
}

// ---- teams -------------------------------------------------------------------------------------

/// A row for each `lanes` neighbouring lanes: 1 is a thread, 32 is a warp. All threads of a warp call reduce()
/// together.
template <unsigned lanes, unsigned block = 256>
struct LaneTeam {
  static constexpr unsigned kThreads = lanes;        // of a team
  static constexpr unsigned kBlock = block;          // threads of a block
  static constexpr unsigned kTeams = block / lanes;  // of a block
  static constexpr unsigned kBlocks = 1;             // of a team, if these are several

  __device__ static unsigned rank() { return threadIdx.x % lanes; }
  __device__ static unsigned team_of_block() { return threadIdx.x / lanes; }
  __device__ static unsigned block_rank() { return 0; }  // of the team
  __device__ static std::size_t first_team() { return std::size_t{blockIdx.x} * kTeams; }
  __device__ static std::size_t teams_of_grid() { return std::size_t{gridDim.x} * kTeams; }

  /// The values of the team, merged: the same for each of its threads.
  template <class V, class Operation>
  __device__ __forceinline__ V reduce(V value, Operation op) {
    return course::warp_merge<lanes>(value, op);
  }
};

/// A row for each block, or for each cluster of blocks. reduce() has one barrier of the block. The blocks of a cluster
/// store their values to each other, and a barrier in each block's shared memory counts what has come (chapter 13).
template <unsigned block, unsigned cluster = 1>
struct BlockTeam {
  static constexpr unsigned kThreads = block * cluster;
  static constexpr unsigned kBlock = block;
  static constexpr unsigned kTeams = 1;
  static constexpr unsigned kBlocks = cluster;
  static constexpr unsigned kWarps = block / course::kWarpSize;

  __device__ BlockTeam() {
    if constexpr (cluster > 1) {
      if (threadIdx.x < 2) course::mbarrier_init(counts_bytes(threadIdx.x), 1);
      course::this_cluster().sync();  // no block stores to one whose barriers are not there
    }
  }
  __device__ static unsigned block_rank() {
    if constexpr (cluster == 1) return 0;
    return blockIdx.x % cluster;
  }
  __device__ static unsigned rank() { return block_rank() * block + threadIdx.x; }
  __device__ static unsigned team_of_block() { return 0; }
  __device__ static std::size_t first_team() { return blockIdx.x / cluster; }
  __device__ static std::size_t teams_of_grid() { return gridDim.x / cluster; }

  template <class V, class Operation>
  __device__ __forceinline__ V reduce(V value, Operation op) {
    // Two halves take turns: who writes to one has passed the barrier of the call before, which all threads
    // reach after they have read this half two calls ago.
    __shared__ V s_warps[2][kWarps];
    const unsigned lane = threadIdx.x % course::kWarpSize, half = turn_ % 2;
    value = course::warp_merge(value, op);
    if (lane == 0) s_warps[half][threadIdx.x / course::kWarpSize] = value;
    __syncthreads();  // the values of all warps are there
    value = course::warp_merge<kWarps>(s_warps[half][lane % kWarps], op);
    if constexpr (cluster > 1) value = reduce_in_cluster(value, op);
    ++turn_;
    return value;
  }

 private:
  /// Merges the values of the cluster's blocks. A block stores its value of a turn when it has those of the turn before, and
  /// its threads have met since they read them: so no block still reads what is stored to.
  template <class V, class Operation>
  __device__ __forceinline__ V reduce_in_cluster(V value, Operation op) {
    __shared__ V s_blocks[2][cluster];
    const unsigned half = turn_ % 2;
    course::Mbarrier* const b = counts_bytes(half);
    if (threadIdx.x == 0) course::mbarrier_arrive_expect(b, sizeof s_blocks[half]);
    if (threadIdx.x < cluster) {
      course::store_async(&s_blocks[half][block_rank()], threadIdx.x, value, b);
    }
    course::mbarrier_wait(b, turn_ / 2 % 2);  // the values of all blocks are there
    return course::warp_merge<cluster>(s_blocks[half][threadIdx.x % cluster], op);
  }
  /// The barrier of every other turn.
  __device__ static course::Mbarrier* counts_bytes(unsigned half) {
    __shared__ course::Mbarrier s_counts[2];
    return s_counts + half;
  }

  unsigned turn_ = 0;
};

// ---- a row in registers ------------------------------------------------------------------------

/// Everything about a fast kernel that is measured and not derived. A team keeps `packs` packs of a row in each of
/// its threads, and loads `rows` rows at a time. `full`: a row has as many packs as the team keeps, no fewer, so that
/// no thread asks. `ahead`: a block loads its part of the next row into shared memory while it works on this one, by a
/// bulk load (chapter 13; sm_90). `per_sm`: so many blocks of an SM are to have registers.
template <class TeamT, unsigned packs, unsigned rows = 1, bool full = false, bool ahead = false,
          course::CacheHint hint = course::CacheHint::none, unsigned per_sm = 1>
struct Form {
  using Team = TeamT;
  static constexpr course::CacheHint kHint = hint;
  static constexpr unsigned kPerSm = per_sm;
  static constexpr bool kFull = full;
  static constexpr unsigned kPacks = packs;
  static constexpr unsigned kRows = rows;
  static constexpr bool kAhead = ahead;
  static constexpr unsigned kPacksOfBlock = packs * TeamT::kBlock / TeamT::kTeams;  // of a row
  static_assert(!ahead || (rows == 1 && TeamT::kTeams == 1), "one row at a time is ahead");

  /// Elements of the longest row that such a team can keep.
  template <class T>
  static constexpr std::size_t kWidest = std::size_t{packs} * TeamT::kThreads* kPack<T>;
  /// Bytes of dynamic shared memory.
  static constexpr std::size_t kSharedBytes = ahead ? std::size_t{16} * kPacksOfBlock : 0;
};

/// Two 16-bit elements.
template <class T>
using PairOf = std::conditional_t<std::is_same_v<T, __half>, __half2, __nv_bfloat162>;

/// The elements of a pack as floats, and back.
template <class T>
__device__ __forceinline__ void to_floats(const uint4& bits, float* value) {
  course::Pack<T, kPack<T>> pack;
  memcpy(static_cast<void*>(&pack), &bits, sizeof bits);
  for (unsigned e = 0; e < kPack<T>; ++e) value[e] = static_cast<float>(pack.elem[e]);
}
template <class T>
__device__ __forceinline__ uint4 to_bits(const float* value) {
  uint4 bits;
  if constexpr (sizeof(T) == 4) {
    memcpy(&bits, value, sizeof bits);
  } else {
    PairOf<T> pairs[kPack<T> / 2];
    for (unsigned p = 0; p < kPack<T> / 2; ++p) {  // one conversion for both
      if constexpr (std::is_same_v<T, __half>) {
        pairs[p] = __floats2half2_rn(value[2 * p], value[2 * p + 1]);
      } else {
        pairs[p] = __floats2bfloat162_rn(value[2 * p], value[2 * p + 1]);
      }
    }
    memcpy(&bits, pairs, sizeof bits);
  }
  return bits;
}

/// Makes the compiler compute again what it has computed of these bits. Without it, it keeps the floats that it has made of
/// 16-bit elements, in twice as many registers.
__device__ __forceinline__ void forget_floats(uint4& bits) {
#if defined(__CUDA_ARCH__) && !COURSE_CPU_DEVICE
  asm volatile("" : "+r"(bits.x), "+r"(bits.y), "+r"(bits.z), "+r"(bits.w));
#endif
  static_cast<void>(bits);
}

/// A thread's part of a row. Block b of a team has the b-th of its equal parts, so that a part lies together;
/// thread t of the block has the packs t, t + kBlock, ... of the part.
template <class FormT, class T>
struct Slice {
  using Team = typename FormT::Team;
  static constexpr unsigned kPacks = FormT::kPacks;
  static constexpr unsigned kStep = Team::kTeams == 1 ? Team::kBlock : Team::kThreads;

  uint4 bits[kPacks];  // as they are in memory: two 16-bit elements in a register
  unsigned packs;      // of the row

  /// Which pack of the row is this thread's k-th one.
  __device__ static unsigned at(unsigned k) {
    const unsigned thread = Team::kTeams == 1 ? threadIdx.x : Team::rank();
    return Team::block_rank() * FormT::kPacksOfBlock + k * kStep + thread;
  }
  __device__ bool has(unsigned k) const {
    if constexpr (FormT::kFull) return Team::kTeams * FormT::kRows == 1 || packs != 0;
    return at(k) < packs;
  }

  /// The elements of the k-th pack.
  __device__ __forceinline__ void get(unsigned k, float* value) {
    if constexpr (sizeof(T) == 2) forget_floats(bits[k]);
    to_floats<T>(bits[k], value);
  }
  /// op(value) for every element that the row has. What op makes of an element stays in its place, if T is float.
  template <class Operation>
  __device__ __forceinline__ void for_each(Operation op) {
#pragma unroll
    for (unsigned k = 0; k < kPacks; ++k) {
      if (!has(k)) continue;
      float value[kPack<T>];
      get(k, value);
      for (unsigned e = 0; e < kPack<T>; ++e) op(value[e]);
      if constexpr (sizeof(T) == 4) bits[k] = to_bits<T>(value);
    }
  }
  /// The largest element that the row has, of NaNs and nothing -inf.
  __device__ __forceinline__ float max() {
    if constexpr (sizeof(T) == 4) {
      float most = -INFINITY;
      for_each([&](float x) { most = fmaxf(most, x); });
      return most;
    } else {  // two at a time
      PairOf<T> most{T(-INFINITY), T(-INFINITY)};
#pragma unroll
      for (unsigned k = 0; k < kPacks; ++k) {
        if (!has(k)) continue;
        PairOf<T> pairs[kPack<T> / 2];
        memcpy(static_cast<void*>(pairs), &bits[k], sizeof pairs);
        for (const PairOf<T>& pair : pairs) most = __hmax2(most, pair);
      }
      return fmaxf(static_cast<float>(most.x), static_cast<float>(most.y));
    }
  }
};

/// Brings rows into slices. Blocks of a team take the rows `first`, `first` + a grid's teams, ...
template <class FormT, class T>
class Reader {
 public:
  using Team = typename FormT::Team;
  using SliceT = Slice<FormT, T>;
  static constexpr unsigned kPacks = FormT::kPacks;

  __device__ __forceinline__ Reader(const T* d_x, std::size_t rows, std::size_t width)
      : d_x_(d_x), rows_(rows), width_(width) {
    if constexpr (FormT::kAhead) {
      if (threadIdx.x == 0) {
        course::mbarrier_init(barrier(), 1);
        if (Team::first_team() < rows) load_ahead(Team::first_team());
      }
      __syncthreads();  // the mbarrier is there
    }
  }

  /// The next kRows rows of the team from `first` on: row_of(first, r) for slice r. A slice of a row that is not
  /// there has no packs.
  __device__ __forceinline__ void read(std::size_t first, SliceT* slices) {
    if constexpr (!FormT::kAhead) {
      read_round(d_x_, rows_, width_, first, 0, slices);
    } else {
      slices[0].packs = static_cast<unsigned>(width_ / kPack<T>);
      course::mbarrier_wait(barrier(), parity_);  // this block's part of the row is there
      parity_ ^= 1;
#pragma unroll
      for (unsigned k = 0; k < kPacks; ++k) {
        if (slices[0].has(k)) slices[0].bits[k] = s_row()[k * Team::kBlock + threadIdx.x];
      }
      __syncthreads();  // all have read it: the next one may come
      const std::size_t next = first + Team::teams_of_grid();
      if (threadIdx.x == 0 && next < rows_) load_ahead(next);
    }
  }

  /// The part of the same rows that begins with pack `base`, as much as a team keeps: rows that are only read may be longer
  /// than that.
  __device__ static __forceinline__ void read_round(const T* d_x, std::size_t rows,
                                                    std::size_t width, std::size_t first,
                                                    std::size_t base, SliceT* slices) {
#pragma unroll
    for (unsigned r = 0; r < FormT::kRows; ++r) {
      const std::size_t row = row_of(first, r);
      slices[r].packs = row < rows ? static_cast<unsigned>(width / kPack<T> - base) : 0;
      const T* const d_part = d_x + row * width + base * kPack<T>;
#pragma unroll
      for (unsigned k = 0; k < kPacks; ++k) {
        if (slices[r].has(k)) {
          slices[r].bits[k] =
              course::load_16_bytes<FormT::kHint>(d_part + std::size_t{SliceT::at(k)} * kPack<T>);
        }
      }
    }
  }

  __device__ static std::size_t row_of(std::size_t first, unsigned r) {
    return first + r * Team::kTeams + Team::team_of_block();
  }

 private:
  __device__ static course::Mbarrier* barrier() {
    __shared__ course::Mbarrier s_loaded;
    return &s_loaded;
  }
  __device__ static uint4* s_row() {
    extern __shared__ __align__(128) uint4 s_packs[];
    return s_packs;
  }
  __device__ void load_ahead(std::size_t row) {
    const auto packs = static_cast<unsigned>(width_ / kPack<T>);
    const unsigned before = Team::block_rank() * FormT::kPacksOfBlock;
    const unsigned mine = packs > before ? min(packs - before, FormT::kPacksOfBlock) : 0;
    course::mbarrier_arrive_expect(barrier(), 16 * mine);
    if (mine == 0) return;
    course::bulk_load(s_row(), d_x_ + row * width_ + std::size_t{before} * kPack<T>, 16 * mine,
                      barrier());
  }

  const T* d_x_;
  std::size_t rows_, width_;
  unsigned parity_ = 0;
};

/// Reads rows of any length, as much at a time as a team keeps, and calls use(slice, r) for each part of each of
/// its kRows rows.
template <class FormT, class T, class Use>
__device__ __forceinline__ void for_rounds(const T* d_x, std::size_t rows, std::size_t width,
                                           std::size_t first, Use use) {
  constexpr std::size_t kRound = std::size_t{FormT::kPacks} * FormT::Team::kThreads;
  for (std::size_t base = 0; base < width / kPack<T>; base += kRound) {
    Slice<FormT, T> slices[FormT::kRows];
    Reader<FormT, T>::read_round(d_x, rows, width, first, base, slices);
#pragma unroll
    for (unsigned r = 0; r < FormT::kRows; ++r) use(slices[r], r);
  }
}

/// Stores of(x) of each element of a slice as row `d_row`.
template <class FormT, class T, class Function>
__device__ __forceinline__ void store_slice(T* d_row, Slice<FormT, T>& slice, Function of) {
#pragma unroll
  for (unsigned k = 0; k < FormT::kPacks; ++k) {
    if (!slice.has(k)) continue;
    float value[kPack<T>];
    slice.get(k, value);
    for (unsigned e = 0; e < kPack<T>; ++e) value[e] = of(value[e]);
    __stcs(reinterpret_cast<uint4*>(d_row + std::size_t{slice.at(k)} * kPack<T>),
           to_bits<T>(value));
  }
}

/// Calls work(first) for the first row of each turn of this block; all threads of the block make the same calls.
template <class FormT, class Work>
__device__ __forceinline__ void for_rows(std::size_t rows, Work work) {
  using Team = typename FormT::Team;
  const std::size_t step = Team::teams_of_grid() * FormT::kRows;
  for (std::size_t first = Team::first_team() * FormT::kRows; first < rows; first += step) {
    work(first);
  }
}

/// The launch of a kernel of this form: a block for each turn, or as many as are resident, which take several turns.
/// `shared_bytes` is dynamic shared memory, for which the kernel's limit is raised.
template <class FormT, auto kernel, std::size_t shared_bytes = FormT::kSharedBytes>
course::Grid grid_for_rows(std::size_t rows, bool resident_only) {
  using Team = typename FormT::Team;
  constexpr std::size_t kTurn = Team::kTeams * FormT::kRows;  // rows
  static const std::size_t resident =                         // asks the driver, once
      course::resident_clusters(kernel, Team::kBlock, Team::kBlocks, shared_bytes);
  std::size_t teams = (rows + kTurn - 1) / kTurn;
  if (resident_only) teams = std::min(teams, resident);
  return {.blocks = static_cast<unsigned>(teams * Team::kBlocks),
          .threads = Team::kBlock,
          .shared_bytes = shared_bytes,
          .cluster = Team::kBlocks};
}
