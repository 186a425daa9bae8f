// assert() in a kernel. The C library's macro calls __assert_fail; this definition takes the place
// of the library's, and stops the kernel where that would end the process.
#include <cassert>
#include <cstdio>
#include <cstdlib>

#include "simt/platform.hpp"
//
#include "simt/runtime.hpp"

extern "C" void __assert_fail(const char* assertion, const char* file, unsigned line,
                              const char* function) noexcept {
  if (simt::in_kernel()) {
    constexpr int device_assert = 710;  // cudaErrorAssert
    // No std::string: the linker may give us the kernels' instrumented copy of its functions, whose
    // accesses would count as the kernel's.
    char message[512];
    std::snprintf(message, sizeof message, "assertion failed: %s", assertion);
    simt::trap(message, device_assert, SIMT_CALLER);
  }
  std::fprintf(stderr, "%s:%u: %s: Assertion `%s' failed.\n", file, line, function, assertion);
  std::abort();
}
