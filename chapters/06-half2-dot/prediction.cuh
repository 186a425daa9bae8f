// What is the result of a sum in half? The same additions, computed in integers.
// A half is an integer of 11 bits times a power of two. As long as it neither overflows nor becomes
// tiny, adding halves is adding integers, and rounding each sum to 11 bits.
#pragma once

#include <bit>
#include <cstddef>
#include <vector>

#include "grid.cuh"
#include "inputs.cuh"

/// The nearest integer that has 11 bits, apart from zeros at the end; of two that are equally near
/// the one whose 11th bit is 0. Up to 2048 all integers are; from there on every second one, from
/// 4096 on every fourth.
inline int rounded_to_half(int k) {
  const unsigned size = k < 0 ? 0u - static_cast<unsigned>(k) : static_cast<unsigned>(k);
  if (size <= 2048) return k;
  const int dropped =
      static_cast<int>(std::bit_width(size)) - 11;  // bits that a half has no room for
  const unsigned last = size >> dropped & 1;        // of those it keeps
  const unsigned kept = (size + (1u << (dropped - 1)) - 1 + last) >> dropped << dropped;
  return k < 0 ? -static_cast<int>(kept) : static_cast<int>(kept);
}

/// Where a thread of a grid-stride loop begins: every index has one thread.
struct OwnIndex {
  std::size_t operator()(std::size_t block, std::size_t thread, std::size_t block_size) const {
    return block * block_size + thread;
  }
};

/// Where a thread of the article begins (wrong.cuh).
struct ArticleIndex {
  std::size_t operator()(std::size_t block, std::size_t thread, std::size_t block_size) const {
    return thread + block_size + block;
  }
};

/// What dot_half_scalar (lanes = 1) or a half2 rung (lanes = 2) makes of a and b, in units of a
/// product: each lane of each thread adds in half, then the lanes of a block in a tree, in half;
/// the blocks' results are added exactly. Nothing may exceed 65504 in halves.
template <class FirstIndex = OwnIndex>
long long predicted_dot(const SmallNumbers& a, const SmallNumbers& b, std::size_t lanes,
                        std::size_t blocks, std::size_t block_size = kBlockSize,
                        FirstIndex first = {}) {
  const std::size_t items = a.size() / lanes, threads = blocks * block_size;
  std::vector<int> sums(threads * lanes, 0);  // lane l of thread t: [t * lanes + l]
  for (std::size_t turn = 0; turn * threads < items; ++turn) {
    for (std::size_t block = 0; block < blocks; ++block) {
      for (std::size_t t = 0; t < block_size; ++t) {
        const std::size_t i = first(block, t, block_size) + turn * threads;
        if (i >= items) continue;
        int* const sum = &sums[(block * block_size + t) * lanes];
        for (std::size_t l = 0; l < lanes; ++l) {  // __hfma2: rounded once for each lane
          sum[l] = rounded_to_half(sum[l] + a[i * lanes + l] * b[i * lanes + l]);
        }
      }
    }
  }
  for (std::size_t i = items * lanes; i < a.size(); ++i) {  // the last one of an odd number
    sums[0] = rounded_to_half(sums[0] + a[i] * b[i]);
  }
  long long total = 0;
  for (std::size_t block = 0; block < blocks; ++block) {
    int* const s = &sums[block * block_size * lanes];
    for (std::size_t count = block_size; count > 1;) {  // tree_of_any_size
      const std::size_t kept = (count + 1) / 2;
      for (std::size_t k = 0; k < (count - kept) * lanes; ++k) {
        s[k] = rounded_to_half(s[k] + s[k + kept * lanes]);
      }
      count = kept;
    }
    for (std::size_t l = 0; l < lanes; ++l) total += s[l];
  }
  return total;
}
