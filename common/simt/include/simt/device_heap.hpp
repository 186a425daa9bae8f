// malloc(), free(), new and delete of kernels. The rewriter turns them into what is here: in functions for
// host and device they are the host's on the host.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <new>
#include <type_traits>

#include "simt/platform.hpp"
#include "simt/runtime.hpp"

namespace simt {

/// Memory of the running device's heap, null if that is full (cudaLimitMallocHeapSize).
void* heap_allocate(std::size_t size, const void* caller);
/// Stops the kernel if `p` is neither null nor of that heap. `function`: what was called.
void heap_release(void* p, const char* function, const void* caller);

SIMT_API void* heap_malloc(std::size_t size) {
  return in_kernel() ? heap_allocate(size, SIMT_CALLER) : std::malloc(size);
}
SIMT_API void heap_free(void* p) {
  if (in_kernel()) return heap_release(p, "free()", SIMT_CALLER);
  std::free(p);
}

/// new (device_heap) T
struct DeviceHeap {};
inline constexpr DeviceHeap device_heap;

/// delete_one->*p, which binds as tightly as `delete p`.
struct DeleteOne {
  template <class T>
  SIMT_API_TEMPLATE void operator->*(T* p) const {
    if (!in_kernel()) {
      delete p;
      return;
    }
    if (p == nullptr) return;
    const void* whole = p;
    if constexpr (std::is_polymorphic_v<T>) whole = dynamic_cast<const void*>(p);
    p->~T();
    heap_release(const_cast<void*>(whole), "delete", SIMT_CALLER);
  }
};
struct DeleteArray {
  template <class T>
  SIMT_API_TEMPLATE void operator->*(T* p) const {
    if (!in_kernel()) {
      delete[] p;
      return;
    }
    if (p == nullptr) return;
    const void* whole = p;
    if constexpr (!std::is_trivially_destructible_v<T>) {
      // Before the first element the compiler keeps how many there are.
      constexpr std::size_t kBefore =
          alignof(T) > sizeof(std::size_t) ? alignof(T) : sizeof(std::size_t);
      whole = reinterpret_cast<const char*>(p) - kBefore;
      for (std::size_t n = reinterpret_cast<const std::size_t*>(p)[-1]; n-- > 0;) p[n].~T();
    }
    heap_release(const_cast<void*>(whole), "delete", SIMT_CALLER);
  }
};
inline constexpr DeleteOne delete_one;
inline constexpr DeleteArray delete_array;

}  // namespace simt

SIMT_API void* operator new(std::size_t size, simt::DeviceHeap) noexcept {
  return simt::in_kernel() ? simt::heap_allocate(size, SIMT_CALLER) : ::operator new(size);
}
SIMT_API void* operator new[](std::size_t size, simt::DeviceHeap) noexcept {
  return simt::in_kernel() ? simt::heap_allocate(size, SIMT_CALLER) : ::operator new[](size);
}
SIMT_API void operator delete(void* p, simt::DeviceHeap) noexcept { simt::heap_free(p); }
SIMT_API void operator delete[](void* p, simt::DeviceHeap) noexcept { simt::heap_free(p); }
