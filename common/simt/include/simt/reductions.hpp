// Reductions of several pairs of 16-bit numbers in one request: what PTX has as red.v2 and red.v4,
// and CUDA C++ does not. course/ptx.cuh calls them on the CPU device.
#pragma once

#include "simt/bfloat16.hpp"
#include "simt/half.hpp"

namespace simt {

/// n pairs that one request moves. They are aligned to all of their bytes, as the instruction asks.
template <class Pair, int n>
struct alignas(sizeof(Pair) * n) Pairs {
  Pair elem[n];
  Pairs() = default;
  SIMT_TRANSPARENT Pairs(const Pairs& other) { copy_vector(this, &other); }
  SIMT_TRANSPARENT Pairs& operator=(const Pairs& other) {
    copy_vector(this, &other);
    return *this;
  }
  SIMT_PURE friend Pairs operator+(const Pairs& a, const Pairs& b) {
    Pairs sum;
    for (int i = 0; i < n; ++i) sum.elem[i] = a.elem[i] + b.elem[i];
    return sum;
  }
};

/// p[0..n-1] += v: each of the 2 n numbers atomically, the vector as a whole is not.
template <class Pair, int n>
SIMT_API_TEMPLATE void reduce_add(Pair* p, const Pair (&v)[n]) {
  Pairs<Pair, n> val;
  for (int i = 0; i < n; ++i) val.elem[i] = v[i];
  atomic_update<atomic_op::Add>(reinterpret_cast<Pairs<Pair, n>*>(p), val,
                                {"red.add", Scope::device, SIMT_CALLER});
}

}  // namespace simt
