// Functions of the C library that kernels call with pointers. The library is not instrumented: what it stores and reads there
// is announced here. The linker takes these functions instead of the library's, which do the work.
//
// Of the functions that CUDA has in device code these are all that are not written in the headers of this device: sincos,
// frexp, modf, remquo, each for float and double, and memcmp. (memcpy, memmove and memset: hooks.cpp.) And printf().
#include <dlfcn.h>

#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <cstring>

#include "device/access.hpp"

namespace simt {
namespace {

template <class T>
void store(T* to, T value, const Call& call) {
  check_range(to, sizeof value, true, call);
  *to = value;
}

void announce_read(const void* p, std::size_t n, const Call& call) {
  if (n > 0) check_range(const_cast<void*>(p), n, false, call);
}

}  // namespace
}  // namespace simt

/// The library's own function of this name.
#define SIMT_OF_LIBRARY(name) \
  static auto* const of_library = reinterpret_cast<decltype(&name)>(dlsym(RTLD_NEXT, #name))

#define SIMT_SINCOS(name, T)                    \
  void name(T x, T* sine, T* cosine) noexcept { \
    SIMT_OF_LIBRARY(name);                      \
    T s, c;                                     \
    of_library(x, &s, &c);                      \
    simt::store(sine, s, SIMT_THIS_CALL);       \
    simt::store(cosine, c, SIMT_THIS_CALL);     \
  }
/// A function that returns one result, and stores another one.
#define SIMT_STORES(name, T, Stored, parameters, ...)  \
  T name parameters noexcept {                         \
    SIMT_OF_LIBRARY(name);                             \
    Stored stored;                                     \
    const T result = of_library(__VA_ARGS__, &stored); \
    simt::store(to, stored, SIMT_THIS_CALL);           \
    return result;                                     \
  }

extern "C" {

/// What a launch has printed, it would print again if it began anew.
int printf(const char* format, ...) {
  if (simt::in_kernel()) simt::engine.has_effects = true;
  std::va_list arguments;
  va_start(arguments, format);
  const int printed = std::vprintf(format, arguments);
  va_end(arguments);
  return printed;
}

SIMT_SINCOS(sincos, double)
SIMT_SINCOS(sincosf, float)
SIMT_STORES(frexp, double, int, (double x, int* to), x)
SIMT_STORES(frexpf, float, int, (float x, int* to), x)
SIMT_STORES(modf, double, double, (double x, double* to), x)
SIMT_STORES(modff, float, float, (float x, float* to), x)
SIMT_STORES(remquo, double, int, (double x, double y, int* to), x, y)
SIMT_STORES(remquof, float, int, (float x, float y, int* to), x, y)

/// memcmp of files that simtcc.py has compiled: include/simt/library_calls.hpp gives it this name.
int simt_memcmp(const void* a, const void* b, std::size_t n) {
  simt::announce_read(a, n, SIMT_THIS_CALL);
  simt::announce_read(b, n, SIMT_THIS_CALL);
  return std::memcmp(a, b, n);
}

}  // extern "C"
