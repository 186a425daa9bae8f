// Can a thread load more than one element with one instruction?
// Rungs: sum_pack. split_packs and pack_reduce are used by the rungs after it, too.
// Any n and any start: what does not fill a pack is read one element at a time.
#pragma once

#include <algorithm>
#include <course/collectives.cuh>
#include <course/launch.cuh>
#include <course/pack.cuh>
#include <cstddef>

#include "grid.cuh"

/// 16 bytes of elements in registers, the most that one load of a thread returns: 4 floats, 8
/// halves. course/pack.cuh has the loads; chapter 04 explains them.
template <class T>
using WidestPack = course::Pack<T, course::kWidestPack<T>>;

/// x[0..n-1] as a head before the first address that is a multiple of 16, whole packs, and a tail
/// after them. Head and tail are shorter than a pack.
struct Packs {
  std::size_t head, packs, tail;
};

/// Uses only the address, so the host can call it for device memory. x is aligned to T.
template <class T>
Packs split_packs(const T* x, std::size_t n) {
  constexpr std::size_t kPackSize = course::kWidestPack<T>;
  const std::size_t head = course::head_before_packs(x, n, course::kWidestAccess);
  return {head, (n - head) / kPackSize, (n - head) % kPackSize};
}

/// The elements of a pack, combined as Accumulators.
template <class Accumulator, class T, int N, class Operation>
__device__ __forceinline__ Accumulator pack_reduce(const course::Pack<T, N>& pack, Operation op) {
  Accumulator part[N];
  for (int i = 0; i < N; ++i) part[i] = static_cast<Accumulator>(pack.elem[i]);
  for (int half = N / 2; half > 0; half /= 2) {
    for (int i = 0; i < half; ++i) part[i] = op(part[i], part[i + half]);
  }
  return part[0];
}

/// A thread's part of head and tail. The first threads of the grid take one element of each; for
/// all others both are the identity.
template <class Accumulator>
struct Edges {
  Accumulator head, tail;
};

/// Loads them. The kernel adds them last, so that it does not wait for them first.
template <class Accumulator, class T, class Operation>
__device__ __forceinline__ Edges<Accumulator> load_edges(const T* d_x, Packs split, Operation) {
  constexpr Accumulator kIdentity = Operation::template identity<Accumulator>();
  Edges<Accumulator> edges{kIdentity, kIdentity};
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const T* const d_tail = d_x + split.head + split.packs * course::kWidestPack<T>;
  if (i < split.head) edges.head = static_cast<Accumulator>(d_x[i]);
  if (i < split.tail) edges.tail = static_cast<Accumulator>(d_tail[i]);
  return edges;
}

// Question: are four bytes per load enough?
// Changes:  16 bytes per load: a quarter of the loads; each pack is summed in registers first.
// Cost:     the same bytes, fewer instructions; a head and a tail to take care of.
template <class T>
__global__ void sum_pack(const T* d_x, Packs split, T* d_y) {
  constexpr int kPackSize = course::kWidestPack<T>;
  const T* const d_packs = d_x + split.head;
  const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
  const Edges<T> edges = load_edges<T>(d_x, split, course::Sum{});
  T sum = 0;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < split.packs;
       i += threads) {
    sum += pack_reduce<T>(course::load_pack<kPackSize>(d_packs + i * kPackSize), course::Sum{});
  }
  sum = course::block_reduce(sum + edges.head + edges.tail, course::Sum{});
  if (threadIdx.x == 0) atomicAdd(d_y, sum);
}

/// Adds x[0] + ... + x[n-1] to *d_y. d_x needs no alignment beyond that of its elements.
template <class T>
void launch_sum_pack(const T* d_x, std::size_t n, T* d_y) {
  if (n == 0) return;
  static const unsigned resident = course::resident_blocks(sum_pack<T>, kBlockSize);
  const Packs split = split_packs(d_x, n);
  const unsigned blocks = std::clamp(blocks_for(split.packs), 1u, resident);
  course::launch(sum_pack<T>, {blocks, kBlockSize}, d_x, split, d_y);
}
