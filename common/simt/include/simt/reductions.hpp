// Reductions of several 16-bit numbers in one request: what PTX has as red.global with .v2, .v4 and
// .v8, and CUDA C++ does not. course/ptx.cuh calls them on the CPU device.
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
};

/// What the reductions store, number by number: apply(what was there, the argument). As the L2 of
/// an H200 does it, bit by bit: a minimum or maximum of a NaN and a number is the number, that of
/// two NaN is 0x7FFF, and -0.0 is less than 0.0.
namespace reduction {

#define SIMT_REDUCTION(name, of_pairs)                                                            \
  struct name {                                                                                   \
    static constexpr AtomicKind kind = AtomicKind::read_modify_write;                             \
    template <class Pair, int n>                                                                  \
    SIMT_PURE static Pairs<Pair, n> apply(const Pairs<Pair, n>& old, const Pairs<Pair, n>& val) { \
      Pairs<Pair, n> result;                                                                      \
      for (int i = 0; i < n; ++i) result.elem[i] = of_pairs(old.elem[i], val.elem[i]);            \
      return result;                                                                              \
    }                                                                                             \
  };
SIMT_REDUCTION(Add, __hadd2)
SIMT_REDUCTION(Minimum, __hmin2)
SIMT_REDUCTION(Maximum, __hmax2)
#undef SIMT_REDUCTION

template <class Operation, class Pair, int n>
SIMT_PURE void update(Pair* p, const Pair (&v)[n], const AtomicCall& call) {
  constexpr int invalid_address_space = 717;  // cudaErrorInvalidAddressSpace
  if (is_shared(p)) {
    trap(
        "red.global of several 16-bit numbers works on global memory only, and this is shared "
        "memory",
        invalid_address_space, call.caller);
  }
  Pairs<Pair, n> val;
  for (int i = 0; i < n; ++i) val.elem[i] = v[i];
  atomic_update<Operation>(reinterpret_cast<Pairs<Pair, n>*>(p), val, call);
}

}  // namespace reduction

/// p[0..n-1] += v: each of the 2 n numbers atomically, the vector as a whole is not.
template <class Pair, int n>
SIMT_API_TEMPLATE void reduce_add(Pair* p, const Pair (&v)[n]) {
  reduction::update<reduction::Add>(p, v, {"red.add", Scope::device, SIMT_CALLER});
}

/// The same with the smaller number of each two.
template <class Pair, int n>
SIMT_API_TEMPLATE void reduce_min(Pair* p, const Pair (&v)[n]) {
  reduction::update<reduction::Minimum>(p, v, {"red.min", Scope::device, SIMT_CALLER});
}

/// The same with the larger number of each two.
template <class Pair, int n>
SIMT_API_TEMPLATE void reduce_max(Pair* p, const Pair (&v)[n]) {
  reduction::update<reduction::Maximum>(p, v, {"red.max", Scope::device, SIMT_CALLER});
}

}  // namespace simt
