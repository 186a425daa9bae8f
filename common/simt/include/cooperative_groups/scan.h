// cooperative_groups::inclusive_scan() and exclusive_scan(). Order no memory, like a shuffle.
#pragma once

#include "cooperative_groups.h"
#include "cooperative_groups/reduce.h"

namespace cooperative_groups {
namespace details {

template <class Group, class T, class Operation>
SIMT_UNINSTRUMENTED T scan(const char* name, const Group& group, T value, Operation& operation,
                           bool inclusive, const void* caller) {
  static_assert(std::is_base_of_v<lane_group, Group>,
                "scans take a tile of up to 32 threads or a coalesced group");
  Gathered<T> values;
  gather(values, name, Access::mask(group), value, caller);
  const unsigned own = 1u << simt::lane_id();
  const unsigned lanes = values.present & (inclusive ? own | (own - 1) : own - 1);
  const T sum = lanes == 0 ? T{} : fold(values, lanes, operation);
  simt::trace_warp_values(simt::typed(value), simt::typed(sum));
  return sum;
}

}  // namespace details

/// Thread r gets the values of ranks 0 to r combined.
template <class Group, class T, class Operation>
SIMT_API T inclusive_scan(const Group& group, T value, Operation&& operation) {
  return details::scan("inclusive_scan()", group, value, operation, true, SIMT_CALLER);
}
template <class Group, class T>
SIMT_API T inclusive_scan(const Group& group, T value) {
  plus<T> operation;
  return details::scan("inclusive_scan()", group, value, operation, true, SIMT_CALLER);
}

/// Thread r gets the values of ranks 0 to r-1 combined; rank 0 gets T{}.
template <class Group, class T, class Operation>
SIMT_API T exclusive_scan(const Group& group, T value, Operation&& operation) {
  return details::scan("exclusive_scan()", group, value, operation, false, SIMT_CALLER);
}
template <class Group, class T>
SIMT_API T exclusive_scan(const Group& group, T value) {
  plus<T> operation;
  return details::scan("exclusive_scan()", group, value, operation, false, SIMT_CALLER);
}

}  // namespace cooperative_groups
