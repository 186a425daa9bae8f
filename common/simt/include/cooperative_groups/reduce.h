// cooperative_groups::reduce() and its operations. Orders no memory, like a shuffle.
#pragma once

#include "cooperative_groups.h"

// A function whose loads and stores are checked, and which is no step of the kernel: a trace of the warp's instruction goes on
// after it.
#ifdef __clang__
#define SIMT_WITHOUT_STEPS __attribute__((no_sanitize("coverage")))
#else
#define SIMT_WITHOUT_STEPS __attribute__((no_sanitize_coverage))
#endif

namespace cooperative_groups {

// clang-format off
template <class T> struct plus    { SIMT_WITHOUT_STEPS T operator()(const T& a, const T& b) const { return a + b; } };
template <class T> struct less    { SIMT_WITHOUT_STEPS T operator()(const T& a, const T& b) const { return b < a ? b : a; } };  // minimum
template <class T> struct greater { SIMT_WITHOUT_STEPS T operator()(const T& a, const T& b) const { return a < b ? b : a; } };  // maximum
template <class T> struct bit_and { SIMT_WITHOUT_STEPS T operator()(const T& a, const T& b) const { return a & b; } };
template <class T> struct bit_or  { SIMT_WITHOUT_STEPS T operator()(const T& a, const T& b) const { return a | b; } };
template <class T> struct bit_xor { SIMT_WITHOUT_STEPS T operator()(const T& a, const T& b) const { return a ^ b; } };
// clang-format on

namespace details {

/// Combines the values of the chosen lanes from the lowest rank on. Checked, as the operation is that may be inlined here.
template <class T, class Operation>
SIMT_WITHOUT_STEPS T fold(const Gathered<T>& values, unsigned lanes, Operation& operation) {
  T total = values.value_of(static_cast<unsigned>(__builtin_ctz(lanes)));
  for (lanes &= lanes - 1; lanes != 0; lanes &= lanes - 1) {
    total = operation(total, values.value_of(static_cast<unsigned>(__builtin_ctz(lanes))));
  }
  return total;
}

}  // namespace details

/// The values of all threads of a tile or coalesced group, combined; every thread gets the result.
/// The operation must not care about order: a GPU combines in a tree, this device by rank.
template <class Group, class T, class Operation>
SIMT_API T reduce(const Group& group, T value, Operation&& operation) {
  static_assert(std::is_base_of_v<lane_group, Group>,
                "reduce() takes a tile of up to 32 threads or a coalesced group");
  details::Gathered<T> values;
  details::gather(values, "reduce()", details::Access::mask(group), value, SIMT_CALLER);
  const T total = details::fold(values, values.present, operation);
  simt::trace_warp_values(simt::typed(value), simt::typed(total));
  return total;
}

}  // namespace cooperative_groups
