// What can no sum of rows beat, and no softmax? Reading them, and copying them.
// Rungs: read_rows, copy_rows.
#pragma once

#include <course/launch.cuh>
#include <course/ptx.cuh>
#include <cstddef>

#include "teams.cuh"

constexpr unsigned kLimitBlock = 1024, kLimitPacks = 4;  // threads, and packs of each

/// Blocks for all packs of the rows.
template <class T, class Result>
unsigned blocks_for_packs(const Rows<T, Result>& in) {
  const std::size_t packs = in.rows * in.width / kPack<T>;
  return course::blocks_for(packs, std::size_t{kLimitBlock} * kLimitPacks);
}

/// The packs of this thread: use(i) for each pack i of the rows.
template <class T, class Result, class Use>
__device__ __forceinline__ void for_packs_of_thread(const Rows<T, Result>& in, Use use) {
  const std::size_t packs = in.rows * in.width / kPack<T>;
  const std::size_t first = std::size_t{blockIdx.x} * (kLimitBlock * kLimitPacks) + threadIdx.x;
#pragma unroll
  for (unsigned k = 0; k < kLimitPacks; ++k) {
    if (first + k * kLimitBlock < packs) use(k, first + k * kLimitBlock);
  }
}

// Question: how long does it take to read the rows, and do nothing with them?
// Changes:  the loads of a sum; no sum.
// Cost:     that of memory. The exclusive or keeps the compiler from leaving the loads out.
template <class T>
__global__ void __launch_bounds__(kLimitBlock) read_rows(Rows<T, float> in) {
  uint4 pack[kLimitPacks] = {};
  for_packs_of_thread(in, [&](unsigned k, std::size_t i) {
    pack[k] = course::load_16_bytes<course::CacheHint::read_once>(in.d_x + i * kPack<T>);
  });
  unsigned folded = 0;
  for (const uint4& p : pack) folded ^= p.x ^ p.y ^ p.z ^ p.w;
  if (folded == 0x9E37'79B9u) in.d_y[0] = 1;  // by chance alone; nothing reads it
}

// Question: how long does it take to copy the rows?
// Changes:  the loads and the stores of a softmax; no softmax.
// Cost:     that of memory.
template <class T>
__global__ void __launch_bounds__(kLimitBlock) copy_rows(Rows<T> in) {
  uint4 pack[kLimitPacks];
  for_packs_of_thread(in, [&](unsigned k, std::size_t i) {
    pack[k] = course::load_16_bytes<course::CacheHint::none>(in.d_x + i * kPack<T>);
  });
  for_packs_of_thread(in, [&](unsigned k, std::size_t i) {
    __stcs(reinterpret_cast<uint4*>(in.d_y + i * kPack<T>), pack[k]);
  });
}

/// For rows of whole packs, as fits_packs() says.
template <class T>
void launch_read_rows(const Rows<T, float>& in) {
  course::launch(read_rows<T>, {blocks_for_packs(in), kLimitBlock}, in);
}
template <class T>
void launch_copy_rows(const Rows<T>& in) {
  course::launch(copy_rows<T>, {blocks_for_packs(in), kLimitBlock}, in);
}
