// Barriers, fences and the warp-wide functions of the CUDA C++ Programming Guide.
//
// Every warp-wide function is one rendezvous of the lanes in its mask (simt::warp_call) and a pure
// function that computes each lane's result from all lanes' inputs: device/warp.cpp.
#pragma once

#include <cstring>
#include <type_traits>

#include "simt/platform.hpp"
#include "simt/runtime.hpp"
#include "simt/vector_types.hpp"

// ---- barriers and fences ----------------------------------------------------------------------

SIMT_API int __syncthreads_count(int predicate) {
  return simt::block_barrier("__syncthreads_count()", predicate, SIMT_CALLER).count;
}
SIMT_API int __syncthreads_and(int predicate) {
  return simt::block_barrier("__syncthreads_and()", predicate, SIMT_CALLER).all;
}
SIMT_API int __syncthreads_or(int predicate) {
  return simt::block_barrier("__syncthreads_or()", predicate, SIMT_CALLER).count != 0;
}
SIMT_API void __threadfence_block() {
  simt::fence(simt::Scope::block, "__threadfence_block()", SIMT_CALLER);
}
SIMT_API void __threadfence() { simt::fence(simt::Scope::device, "__threadfence()", SIMT_CALLER); }
SIMT_API void __threadfence_system() {
  simt::fence(simt::Scope::system, "__threadfence_system()", SIMT_CALLER);
}

namespace simt {

/// __match_any_sync, by any name.
template <class T>
SIMT_UNINSTRUMENTED unsigned match_any(const char* name, unsigned mask, const T& value,
                                       const void* caller) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8, "match takes 4-byte and 8-byte arithmetic types");
  return match_any_value(name, mask, typed(value), caller);
}

/// Gives every lane the value of lane `source` of its warp. The public functions take it by value, so that a read of
/// shared memory in the argument is the kernel's, and checked.
template <class T>
SIMT_UNINSTRUMENTED T shuffle(const char* name, unsigned mask, const T& value, unsigned source,
                              const void* caller) {
  T result;
  shuffle_value(name, mask, typed(value), source, &result, caller);
  return result;
}

/// Types that CUDA's shuffles take: 2 (half types), 4 and 8 bytes.
template <class T>
concept Shuffled = (std::is_arithmetic_v<T> && sizeof(T) <= 8) ||
                   (std::is_class_v<T> && (sizeof(T) == 2 || sizeof(T) == 4));

}  // namespace simt

SIMT_API void __syncwarp(unsigned mask = 0xffffffffu) {
  simt::sync_warp("__syncwarp()", mask, SIMT_CALLER);
}
SIMT_API unsigned __activemask() { return simt::active_mask("__activemask()", SIMT_CALLER); }

SIMT_API unsigned __ballot_sync(unsigned mask, int predicate) {
  const unsigned votes = simt::ballot("__ballot_sync()", mask, predicate != 0, SIMT_CALLER);
  simt::trace_warp_values(simt::typed(predicate), {&votes, simt::type_of<simt::LaneMask>()});
  return votes;
}
SIMT_API int __any_sync(unsigned mask, int predicate) {
  const int any = simt::ballot("__any_sync()", mask, predicate != 0, SIMT_CALLER) != 0;
  simt::trace_warp_values(simt::typed(predicate), simt::typed(any));
  return any;
}
SIMT_API int __all_sync(unsigned mask, int predicate) {
  const int all = simt::ballot("__all_sync()", mask, predicate == 0, SIMT_CALLER) == 0;
  simt::trace_warp_values(simt::typed(predicate), simt::typed(all));
  return all;
}

template <class T>
SIMT_API_TEMPLATE unsigned __match_any_sync(unsigned mask, T value) {
  return simt::match_any("__match_any_sync()", mask, value, SIMT_CALLER);
}
namespace simt {
/// The mask if every lane of it passes the same value, else 0.
template <class T>
SIMT_API_TEMPLATE unsigned mask_if_equal(unsigned mask, T value) {
  const unsigned equal = match_any("__match_all_sync()", mask, value, SIMT_CALLER);
  const unsigned all = ballot("__match_all_sync()", mask, true, SIMT_CALLER, WarpOp::part);
  return equal == all ? mask : 0;
}
}  // namespace simt

/// The mask if every lane of it passes the same value, else 0; *predicate says which.
template <class T>
SIMT_TRANSPARENT unsigned __match_all_sync(unsigned mask, T value, int* predicate) {
  const unsigned equal = simt::mask_if_equal(mask, value);
  *predicate = equal != 0;
  return equal;
}

template <simt::Shuffled T>
SIMT_API_TEMPLATE T __shfl_sync(unsigned mask, T value, int source, int width = warpSize) {
  const unsigned first = simt::lane_id() & ~static_cast<unsigned>(width - 1);
  return simt::shuffle("__shfl_sync()", mask, value,
                       first + (static_cast<unsigned>(source) & static_cast<unsigned>(width - 1)),
                       SIMT_CALLER);
}
template <simt::Shuffled T>
SIMT_API_TEMPLATE T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = warpSize) {
  const unsigned lane = simt::lane_id(), in_segment = lane & static_cast<unsigned>(width - 1);
  return simt::shuffle("__shfl_up_sync()", mask, value, delta > in_segment ? lane : lane - delta,
                       SIMT_CALLER);
}
template <simt::Shuffled T>
SIMT_API_TEMPLATE T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = warpSize) {
  const unsigned lane = simt::lane_id(), in_segment = lane & static_cast<unsigned>(width - 1);
  const bool inside = delta < static_cast<unsigned>(width) - in_segment;
  return simt::shuffle("__shfl_down_sync()", mask, value, inside ? lane + delta : lane,
                       SIMT_CALLER);
}
template <simt::Shuffled T>
SIMT_API_TEMPLATE T __shfl_xor_sync(unsigned mask, T value, int lane_mask, int width = warpSize) {
  const unsigned lane = simt::lane_id();
  const unsigned source = lane ^ static_cast<unsigned>(lane_mask);
  const unsigned end = (lane & ~static_cast<unsigned>(width - 1)) + static_cast<unsigned>(width);
  return simt::shuffle("__shfl_xor_sync()", mask, value, source < end ? source : lane, SIMT_CALLER);
}

// ---- __reduce_*_sync (sm_80) --------------------------------------------------------------------

namespace simt {

/// Folds the inputs of all present lanes and hands the result to each.
template <class T, class Operation>
SIMT_UNINSTRUMENTED void finish_reduce(const Lanes& lanes) {
  bool first = true;
  T total{};
  for (unsigned l = 0; l < 32; ++l) {
    if (!takes_part(lanes, l)) continue;
    const T value = *static_cast<const T*>(lanes.call[l]->in);
    total = first ? value : Operation::apply(total, value);
    first = false;
  }
  for (unsigned l = 0; l < 32; ++l) {
    if (takes_part(lanes, l)) *static_cast<T*>(lanes.call[l]->out) = total;
  }
}

/// `Shown` is the type that the program uses, if it is not T.
template <class Operation, class T, class Shown = T>
SIMT_UNINSTRUMENTED T reduce(const char* name, unsigned mask, T value, const void* caller) {
  T total{};
  WarpCall call{WarpOp::reduce, name, mask, finish_reduce<T, Operation>, caller};
  call.size = sizeof value;
  call.in = &value;
  call.out = &total;
  warp_call(call);
  trace_warp_values({call.in, type_of<Shown>()}, {call.out, type_of<Shown>()});
  return total;
}

// clang-format off
struct Add { template <class T> SIMT_UNINSTRUMENTED static T apply(T a, T b) { return a + b; } };
struct Min { template <class T> SIMT_UNINSTRUMENTED static T apply(T a, T b) { return b < a ? b : a; } };
struct Max { template <class T> SIMT_UNINSTRUMENTED static T apply(T a, T b) { return a < b ? b : a; } };
struct And { template <class T> SIMT_UNINSTRUMENTED static T apply(T a, T b) { return a & b; } };
struct Or  { template <class T> SIMT_UNINSTRUMENTED static T apply(T a, T b) { return a | b; } };
struct Xor { template <class T> SIMT_UNINSTRUMENTED static T apply(T a, T b) { return a ^ b; } };
// clang-format on

}  // namespace simt

SIMT_API unsigned __reduce_add_sync(unsigned mask, unsigned value) {
  return simt::reduce<simt::Add>("__reduce_add_sync()", mask, value, SIMT_CALLER);
}
SIMT_API int __reduce_add_sync(unsigned mask, int value) {
  // Unsigned arithmetic wraps, as the hardware does.
  return static_cast<int>(simt::reduce<simt::Add, unsigned, int>(
      "__reduce_add_sync()", mask, static_cast<unsigned>(value), SIMT_CALLER));
}
#define SIMT_REDUCE(function, T, Operation)                                         \
  SIMT_API T function(unsigned mask, T value) {                                     \
    return simt::reduce<simt::Operation>(#function "()", mask, value, SIMT_CALLER); \
  }
SIMT_REDUCE(__reduce_min_sync, unsigned, Min)
SIMT_REDUCE(__reduce_min_sync, int, Min)
SIMT_REDUCE(__reduce_max_sync, unsigned, Max)
SIMT_REDUCE(__reduce_max_sync, int, Max)
SIMT_REDUCE(__reduce_and_sync, unsigned, And)
SIMT_REDUCE(__reduce_or_sync, unsigned, Or)
SIMT_REDUCE(__reduce_xor_sync, unsigned, Xor)
#undef SIMT_REDUCE
