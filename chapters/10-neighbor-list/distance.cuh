// What "near" means: the same to the last bit for every method, on the GPU and on the host.
#pragma once

#include <cuda_runtime.h>

#include <cmath>
#include <cstddef>
#include <limits>
#include <stdexcept>
#include <string>

/// Atoms in a plane; of n > 0 atoms all coordinates are finite. Device or host pointers.
template <class T>
struct Atoms {
  const T* x;
  const T* y;
  std::size_t n;
};

/// Indices of atoms are ints, so that is how many there can be.
inline constexpr std::size_t kMostAtoms = 0x7fff'ffff;

/// Throws std::length_error if the atoms cannot be numbered.
inline void check_number_of_atoms(std::size_t n) {
  if (n > kMostAtoms) throw std::length_error("more than 2^31 - 1 atoms");
}

namespace detail {

/// A host's compiler may fuse a product and a sum into one operation with one rounding (an FMA), if
/// the processor has it. It cannot fuse what it cannot see through.
template <class T>
inline __attribute__((always_inline)) T rounded(T product) {
#if defined(__x86_64__)
  asm("" : "+x"(product));
#elif defined(__aarch64__)
  asm("" : "+w"(product));
#else
  asm("" : "+m"(product));
#endif
  return product;
}

}  // namespace detail

/// dx * dx + dy * dy, rounded after each of the three operations. Written with * and +, nvcc would
/// make an FMA of it, and each compiler may choose another product to leave unrounded.
__host__ __device__ __forceinline__ float sum_of_squares(float dx, float dy) {
#ifdef __CUDA_ARCH__
  return __fadd_rn(__fmul_rn(dx, dx), __fmul_rn(dy, dy));
#else
  return detail::rounded(dx * dx) + detail::rounded(dy * dy);
#endif
}
__host__ __device__ __forceinline__ double sum_of_squares(double dx, double dy) {
#ifdef __CUDA_ARCH__
  return __dadd_rn(__dmul_rn(dx, dx), __dmul_rn(dy, dy));
#else
  return detail::rounded(dx * dx) + detail::rounded(dy * dy);
#endif
}

/// The squared distance, as all methods compute it: five operations, five roundings. The same for
/// (a, b) and (b, a), because x - y and y - x differ in nothing but the sign.
template <class T>
__host__ __device__ __forceinline__ T squared_distance(T xa, T ya, T xb, T yb) {
  return sum_of_squares(xb - xa, yb - ya);
}

/// Neighbours have a squared distance strictly below this: the cutoff, rounded to T, squared in T.
/// Throws std::domain_error if that is no positive number with all its digits: a square that
/// overflows would leave out pairs, and one that underflows as well.
template <class T>
T squared_cutoff(double cutoff) {
  const T c = static_cast<T>(cutoff);
  const T square = c * c;
  const char* const type = sizeof(T) == sizeof(float) ? "single" : "double";
  if (!(cutoff > 0) || !std::isfinite(cutoff)) {
    throw std::domain_error("the cutoff has to be a positive number");
  }
  if (!std::isfinite(square)) {
    throw std::domain_error(std::string("the square of the cutoff is too large for ") + type +
                            " precision");
  }
  if (square < std::numeric_limits<T>::min()) {
    throw std::domain_error(std::string("the square of the cutoff is too small for ") + type +
                            " precision");
  }
  return square;
}

/// Where the lists go, in device memory. A list holds the first `capacity` neighbours that are
/// found; counts[n] tells how many there are, listed or not, so that nothing is written past the
/// end of a list and the capacity that would have been enough is known.
struct Lists {
  int* counts;  // n of them
  int* list;    // n * capacity; the rung says where neighbour k of atom n is
  std::size_t capacity;
};

/// The atoms whose lists a launch makes: `first` up to, without it, `last`. Runs that take long are
/// cut into slices, to show how far they are.
struct Slice {
  std::size_t first, last;
};
