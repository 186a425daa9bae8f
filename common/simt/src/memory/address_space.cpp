// Reserves address space from the operating system.
#include "memory/address_space.hpp"

#include <sys/mman.h>

#include <cstdio>
#include <cstdlib>

namespace simt {

void* reserve(std::size_t size) {
  if (size == 0) size = 1;  // of an array without elements
  void* p = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                 -1, 0);
  return p == MAP_FAILED ? nullptr : p;
}

void* reserve_or_die(std::size_t size) {
  void* p = reserve(size);
  if (p == nullptr) {
    std::perror("simt: no address space for the checker");
    std::abort();
  }
  return p;
}

}  // namespace simt
