// What the compiler calls for every memory access and every basic block of code built with
// -fsanitize=thread -fsanitize-coverage=trace-pc. The programs are linked without the sanitizers'
// own runtimes: this file takes their place. The interface is documented with ThreadSanitizer and
// SanitizerCoverage.
#include <cstdint>

#include "device/access.hpp"
#include "scheduler/lockstep.hpp"

namespace simt {

namespace {

inline std::uintptr_t bits(const volatile void* p) { return reinterpret_cast<std::uintptr_t>(p); }

}  // namespace
}  // namespace simt

extern "C" {

void __sanitizer_cov_trace_pc() {
  if (--simt::engine.steps_left == 0) simt::enter_slowly(SIMT_RETURN);
}

void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_ignore_thread_begin() {}
void __tsan_ignore_thread_end() {}

// The checker becomes a part of the hooks of aligned loads and stores, which are nearly all; an
// unaligned one is checked in the same way.
#define SIMT_ALIAS(name) __attribute__((alias(name)))
#define SIMT_ACCESS_HOOKS(size)                                                              \
  void __tsan_read##size(void* p) {                                                          \
    simt::check_access<size, simt::AccessKind::read>(simt::bits(p), SIMT_RETURN);            \
  }                                                                                          \
  void __tsan_write##size(void* p) {                                                         \
    simt::check_access<size, simt::AccessKind::write>(simt::bits(p), SIMT_RETURN);           \
  }                                                                                          \
  void __tsan_unaligned_read##size(void*) SIMT_ALIAS("__tsan_read" #size);                   \
  void __tsan_unaligned_write##size(void*) SIMT_ALIAS("__tsan_write" #size);                 \
  void __tsan_read_write##size(void* p) {                                                    \
    simt::check_any_access(simt::bits(p), size, false, SIMT_RETURN);                         \
    simt::check_any_access(simt::bits(p), size, true, SIMT_RETURN);                          \
  }                                                                                          \
  void __tsan_unaligned_read_write##size(void*) SIMT_ALIAS("__tsan_read_write" #size);       \
  void __tsan_volatile_read##size(void* p) {                                                 \
    simt::count_volatile_load(simt::bits(p));                                                \
    simt::check_relaxed_access(simt::bits(p), size, simt::RelaxedAccess::volatile_load,      \
                               simt::Scope::system, SIMT_RETURN);                            \
  }                                                                                          \
  void __tsan_volatile_write##size(void* p) {                                                \
    simt::check_relaxed_access(simt::bits(p), size, simt::RelaxedAccess::volatile_store,     \
                               simt::Scope::system, SIMT_RETURN);                            \
  }                                                                                          \
  void __tsan_unaligned_volatile_read##size(void*) SIMT_ALIAS("__tsan_volatile_read" #size); \
  void __tsan_unaligned_volatile_write##size(void*) SIMT_ALIAS("__tsan_volatile_write" #size);
SIMT_ACCESS_HOOKS(1)
SIMT_ACCESS_HOOKS(2)
SIMT_ACCESS_HOOKS(4)
SIMT_ACCESS_HOOKS(8)
SIMT_ACCESS_HOOKS(16)
#undef SIMT_ACCESS_HOOKS
#undef SIMT_ALIAS

// An object with virtual functions begins with a pointer: constructors write it, calls read it.
void __tsan_vptr_update(void** p, void*) {
  simt::check_access<sizeof *p, simt::AccessKind::write>(simt::bits(p), SIMT_RETURN);
}
void __tsan_vptr_read(void** p) {
  simt::check_access<sizeof *p, simt::AccessKind::read>(simt::bits(p), SIMT_RETURN);
}

// g++ announces copies of a struct in this way: their bytes are moved later, by code that it has made.
void __tsan_read_range(void* p, std::size_t n) {
  if (n > 0) simt::check_range(p, n, false, SIMT_THIS_CALL);
}
void __tsan_write_range(void* p, std::size_t n) {
  if (n > 0) simt::check_range(p, n, true, SIMT_THIS_CALL);
}
// clang calls these for all copies of a struct, also among a thread's own variables.
void* __tsan_memcpy(void* to, const void* from, std::size_t n) {
  if (n > 0) simt::copy_bytes(to, from, n, SIMT_THIS_CALL);
  return to;
}
void* __tsan_memmove(void* to, const void* from, std::size_t n) {
  if (n > 0) simt::copy_bytes(to, from, n, SIMT_THIS_CALL);
  return to;
}
void* __tsan_memset(void* to, int byte, std::size_t n) {
  if (n > 0) simt::set_bytes(to, byte, n, SIMT_THIS_CALL);
  return to;
}

// std::atomic in host code (reference counts, for instance). Device code has no std::atomic.
#define SIMT_FETCH_HOOK(width, T, operation)                      \
  T __tsan_atomic##width##_##operation(volatile T* p, T v, int) { \
    return __atomic_##operation(p, v, __ATOMIC_SEQ_CST);          \
  }
#define SIMT_ATOMIC_HOOKS(width, T)                                                                \
  T __tsan_atomic##width##_load(const volatile T* p, int) {                                        \
    return __atomic_load_n(p, __ATOMIC_SEQ_CST);                                                   \
  }                                                                                                \
  void __tsan_atomic##width##_store(volatile T* p, T v, int) {                                     \
    __atomic_store_n(p, v, __ATOMIC_SEQ_CST);                                                      \
  }                                                                                                \
  T __tsan_atomic##width##_exchange(volatile T* p, T v, int) {                                     \
    return __atomic_exchange_n(p, v, __ATOMIC_SEQ_CST);                                            \
  }                                                                                                \
  SIMT_FETCH_HOOK(width, T, fetch_add)                                                             \
  SIMT_FETCH_HOOK(width, T, fetch_sub)                                                             \
  SIMT_FETCH_HOOK(width, T, fetch_and)                                                             \
  SIMT_FETCH_HOOK(width, T, fetch_or)                                                              \
  SIMT_FETCH_HOOK(width, T, fetch_xor)                                                             \
  int __tsan_atomic##width##_compare_exchange_strong(volatile T* p, T* expected, T v, int, int) {  \
    return __atomic_compare_exchange_n(p, expected, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
  }                                                                                                \
  int __tsan_atomic##width##_compare_exchange_weak(volatile T* p, T* expected, T v, int, int) {    \
    return __atomic_compare_exchange_n(p, expected, v, true, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);  \
  }                                                                                                \
  T __tsan_atomic##width##_compare_exchange_val(volatile T* p, T expected, T v, int, int) {        \
    __atomic_compare_exchange_n(p, &expected, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);       \
    return expected;                                                                               \
  }
SIMT_ATOMIC_HOOKS(8, std::uint8_t)
SIMT_ATOMIC_HOOKS(16, std::uint16_t)
SIMT_ATOMIC_HOOKS(32, std::uint32_t)
SIMT_ATOMIC_HOOKS(64, std::uint64_t)
#undef SIMT_ATOMIC_HOOKS
#undef SIMT_FETCH_HOOK

void __tsan_atomic_thread_fence(int) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
void __tsan_atomic_signal_fence(int) {}

}  // extern "C"
