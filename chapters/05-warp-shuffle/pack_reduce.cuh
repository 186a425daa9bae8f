// May a thread load more than one element with one instruction?
// Rungs: sum_pack. Pack, split_packs and pack_reduce are what the rungs behind it use, too.
// Any n and any start: what does not fill a pack is read one element at a time.
#pragma once

#include <algorithm>
#include <course/collectives.cuh>
#include <course/error.cuh>
#include <course/ptx.cuh>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "grid.cuh"

/// Elements that fill 16 bytes, the most that one load of a thread can have.
template <class T>
inline constexpr unsigned kPackSize = 16 / sizeof(T);

/// 16 bytes as elements, in registers.
template <class T>
struct Pack {
  T elem[kPackSize<T>];
};

/// x[0..n-1] as a head in front of the first address that is a multiple of 16, whole packs, and a
/// tail behind them. Head and tail are shorter than a pack.
struct Packs {
  std::size_t head, packs, tail;
};

/// Looks at the address alone, so the host can do it for device memory. T divides 16 bytes, and x
/// is aligned to T.
template <class T>
Packs split_packs(const T* x, std::size_t n) {
  const std::size_t misplaced = reinterpret_cast<std::uintptr_t>(x) % 16 / sizeof(T);
  const std::size_t head = std::min<std::size_t>(n, (kPackSize<T> - misplaced) % kPackSize<T>);
  return {head, (n - head) / kPackSize<T>, (n - head) % kPackSize<T>};
}

/// The pack that begins at x, a multiple of 16: one load.
template <course::CacheHint hint = course::CacheHint::none, class T>
__device__ __forceinline__ Pack<T> load_pack(const T* x) {
  const uint4 bits = course::load_16_bytes<hint>(x);
  Pack<T> pack;
  std::memcpy(static_cast<void*>(&pack), &bits, sizeof bits);
  return pack;
}

/// The elements of a pack, combined as Accumulators.
template <class Accumulator, class T, class Operation>
__device__ __forceinline__ Accumulator pack_reduce(const Pack<T>& pack, Operation op) {
  Accumulator part[kPackSize<T>];
  for (unsigned i = 0; i < kPackSize<T>; ++i) part[i] = static_cast<Accumulator>(pack.elem[i]);
  for (unsigned half = kPackSize<T> / 2; half > 0; half /= 2) {
    for (unsigned i = 0; i < half; ++i) part[i] = op(part[i], part[i + half]);
  }
  return part[0];
}

/// What a thread has of head and tail. The first threads of the grid take an element of each; for
/// all others it is the identity.
template <class Accumulator>
struct Edges {
  Accumulator head, tail;
};

/// Loads them. Whoever adds them late does not wait for them early.
template <class Accumulator, class T, class Operation>
__device__ __forceinline__ Edges<Accumulator> load_edges(const T* d_x, Packs split, Operation) {
  constexpr Accumulator kIdentity = Operation::template identity<Accumulator>();
  Edges<Accumulator> edges{kIdentity, kIdentity};
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const T* const d_tail = d_x + split.head + split.packs * kPackSize<T>;
  if (i < split.head) edges.head = static_cast<Accumulator>(d_x[i]);
  if (i < split.tail) edges.tail = static_cast<Accumulator>(d_tail[i]);
  return edges;
}

// Question: are four bytes a load enough?
// Changes:  16 bytes a load: a quarter of the loads; each pack is added up in registers first.
// Cost:     the same bytes, fewer instructions; a head and a tail that nobody may forget.
template <class T>
__global__ void sum_pack(const T* d_x, Packs split, T* d_y) {
  const T* const d_packs = d_x + split.head;
  const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
  const Edges<T> edges = load_edges<T>(d_x, split, course::Sum{});
  T sum = 0;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < split.packs;
       i += threads) {
    sum += pack_reduce<T>(load_pack(d_packs + i * kPackSize<T>), course::Sum{});
  }
  sum = course::block_reduce(sum + edges.head + edges.tail, course::Sum{});
  if (threadIdx.x == 0) atomicAdd(d_y, sum);
}

/// Adds x[0] + ... + x[n-1] to *d_y. d_x is aligned to its elements, no more.
template <class T>
void sum_pack(const T* d_x, std::size_t n, T* d_y, cudaStream_t stream) {
  if (n == 0) return;
  static const unsigned resident =
      resident_blocks(static_cast<void (*)(const T*, Packs, T*)>(sum_pack<T>), kBlockSize);
  const Packs split = split_packs(d_x, n);
  const std::size_t wanted = (split.packs + kBlockSize - 1) / kBlockSize;
  const auto blocks = static_cast<unsigned>(std::clamp<std::size_t>(wanted, 1, resident));
  sum_pack<T><<<blocks, kBlockSize, 0, stream>>>(d_x, split, d_y);
  CUDA_CHECK_LAUNCH();
}
