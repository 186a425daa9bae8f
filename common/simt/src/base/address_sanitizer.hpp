// SIMT_ADDRESS_SANITIZER: 1 where this library is itself built with AddressSanitizer (.ci/sanitizers).
#pragma once

#include <cstddef>

#if defined(__SANITIZE_ADDRESS__)
#define SIMT_ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SIMT_ADDRESS_SANITIZER 1
#endif
#endif
#if !defined(SIMT_ADDRESS_SANITIZER)
#define SIMT_ADDRESS_SANITIZER 0
#endif

#if SIMT_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#endif

namespace simt {

/// Bytes of a stack that are read as bytes, or used anew: they are no longer marked as what surrounds the variables of its
/// functions.
inline void forget_frames([[maybe_unused]] const void* begin, [[maybe_unused]] std::size_t size) {
#if SIMT_ADDRESS_SANITIZER
  __asan_unpoison_memory_region(begin, size);
#endif
}

}  // namespace simt
