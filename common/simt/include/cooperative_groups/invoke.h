// One thread of a group calls a function. cooperative_groups.h includes this file.
#pragma once

#include <type_traits>

namespace cooperative_groups {

namespace details {

/// The Result whose bytes the first thread of the group has, for all of its threads.
template <class Result, class Group>
SIMT_API Result from_first(const Group& group, const unsigned char* bytes) {
  const unsigned mask = Access::mask(group);
  return shuffle("invoke_one_broadcast()", mask, *reinterpret_cast<const Result*>(bytes),
                 lane_of(mask, 0), SIMT_CALLER);
}

}  // namespace details

/// One thread of the group calls the function; the others go on. What the call reads of its arguments is read where
/// invoke_one() is called.
template <class Group, class Function, class... Args>
SIMT_TRANSPARENT void invoke_one(const Group& group, Function&& function, Args&&... args) {
  if (group.thread_rank() == 0) {
    static_cast<Function&&>(function)(static_cast<Args&&>(args)...);
  }
}

/// The same, and all threads of the group get what the function returned.
template <class Group, class Function, class... Args>
SIMT_TRANSPARENT auto invoke_one_broadcast(const Group& group, Function&& function,
                                           Args&&... args) {
  using Result = std::remove_cvref_t<decltype(static_cast<Function&&>(function)(
      static_cast<Args&&>(args)...))>;
  static_assert(std::is_base_of_v<lane_group, Group>,
                "invoke_one_broadcast() takes a tile of up to 32 threads or a coalesced group");
  static_assert(!std::is_void_v<Result>, "a function that returns nothing is for invoke_one()");
  alignas(Result) unsigned char bytes[sizeof(Result)] = {};
  if (group.thread_rank() == 0) {
    const Result result = static_cast<Function&&>(function)(static_cast<Args&&>(args)...);
    __builtin_memcpy(bytes, &result, sizeof result);
  }
  return details::from_first<Result>(group, bytes);
}

}  // namespace cooperative_groups
