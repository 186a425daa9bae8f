// cooperative_groups::memcpy_async(), wait() and wait_prior().
#pragma once

#include "cooperative_groups.h"
#include "simt/async_copies.hpp"

namespace cooperative_groups {

/// Begins to copy; the threads of the group share the work. One copy is one stage for wait_prior().
template <class Group, class To, class From, class Size>
SIMT_API void memcpy_async(const Group& group, To* to, const From* from, const Size& bytes) {
  simt::share_copy(group, to, from, bytes, nullptr, SIMT_CALLER);
  simt::commit_copies();
}
/// The smaller of two numbers of elements.
template <class Group, class T, class ToCount, class FromCount>
SIMT_API void memcpy_async(const Group& group, T* to, const ToCount& to_count, const T* from,
                           const FromCount& from_count) {
  const std::size_t to_size = to_count, from_size = from_count;
  const std::size_t count = to_size < from_size ? to_size : from_size;
  simt::share_copy(group, to, from, count * sizeof(T), nullptr, SIMT_CALLER);
  simt::commit_copies();
}

/// Waits for all copies but the newest ones, and for the other threads of the group.
template <unsigned kNewest, class Group>
SIMT_API void wait_prior(const Group& group) {
  simt::wait_for_copies(kNewest);
  details::Access::sync(group, SIMT_CALLER);
}
template <class Group>
SIMT_API void wait(const Group& group) {
  simt::wait_for_copies(0);
  details::Access::sync(group, SIMT_CALLER);
}

}  // namespace cooperative_groups
