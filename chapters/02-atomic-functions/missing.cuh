// How to build an atomic function that CUDA does not have: from atomicCAS.
// Rungs: sum_double_stale (wrong on purpose), add_double_cas, add_double_native, multiply_cas,
// max_double_cas.
// A thread computes what should be stored from a guess of what is there, and stores it only if the
// guess was right.
#pragma once

#include <cstddef>
#include <cstring>

#include "grid.cuh"

/// The unsigned integer of T's size. atomicCAS compares integers, so it compares bits: a NaN is
/// equal to itself there, and -0.0 is not 0.0.
template <std::size_t size>
struct WordOfSize;
template <>
struct WordOfSize<2> {
  using Type = unsigned short;
};
template <>
struct WordOfSize<4> {
  using Type = unsigned;
};
template <>
struct WordOfSize<8> {
  using Type = unsigned long long;
};
template <class T>
using Word = typename WordOfSize<sizeof(T)>::Type;

/// The same bits as another type.
template <class To, class From>
__device__ To bits_as(const From& from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  memcpy(&to, &from, sizeof to);
  return to;
}

/// Replaces *address by f(*address) in one atomic step, and returns what was there. f may run
/// several times, and must do nothing but compute. Global or shared memory; T of 2, 4 or 8 bytes.
template <class T, class F>
__device__ T atomic_update(T* address, F f) {
  auto* const word = reinterpret_cast<Word<T>*>(address);
  Word<T> old = *static_cast<volatile Word<T>*>(word);  // a guess: other threads go on changing it
  Word<T> assumed;
  do {
    assumed = old;
    old = atomicCAS(word, assumed, bits_as<Word<T>>(f(bits_as<T>(assumed))));
  } while (old != assumed);  // another thread was faster: f must see its value
  return bits_as<T>(old);
}

/// The larger number. Decided here: a number beats a NaN, and 0.0 beats -0.0. (C's fmax()
/// decides the first in the same way, and leaves the second open.)
template <class T>
__device__ T larger(T a, T b) {
  if (b != b) return a;  // a NaN is the only value that differs from itself
  if (a != a) return b;
  if (a == T(0) && b == T(0)) return a + b;  // two zeros: -0.0 only if both are
  return a > b ? a : b;
}

/// *address = larger(*address, value), for float and double.
template <class T>
__device__ T atomic_max(T* address, T value) {
  return atomic_update(address, [=](T old) { return larger(old, value); });
}

/// *address *= value.
template <class T>
__device__ T atomic_multiply(T* address, T value) {
  return atomic_update(address, [=](T old) { return old * value; });
}

/// *address += value, as it had to be built before sm_60.
__device__ inline double atomic_add_by_cas(double* address, double value) {
  return atomic_update(address, [=](double old) { return old + value; });
}

// Question: is it enough to repeat atomicCAS until it succeeds?
// Changes:  the sum is computed once, before the loop; the loop refreshes `assumed` alone.
// Cost:     what others add before atomicCAS succeeds is overwritten: wrong on purpose.
__global__ void sum_double_stale(const double* d_x, std::size_t n, double* d_y) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= n) return;
  auto* const word = reinterpret_cast<unsigned long long*>(d_y);
  unsigned long long old = *static_cast<volatile unsigned long long*>(word), assumed;
  const double sum = __longlong_as_double(static_cast<long long>(old)) + d_x[i];  // of this `old`
  do {
    assumed = old;
    old = atomicCAS(word, assumed, static_cast<unsigned long long>(__double_as_longlong(sum)));
  } while (old != assumed);
}

// Question: what does a double addition cost that is built from atomicCAS?
// Changes:  the sum is computed anew in every round. Thread i adds 1 to d_y[i & mask].
// Cost:     one success per address and round trip: q threads at an address need q rounds, and q
//           squared atomics.
__global__ void add_double_cas(std::size_t n, std::size_t mask, double* d_y) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) atomic_add_by_cas(&d_y[i & mask], 1.0);
}

// Question: and what does the hardware's own cost?
// Changes:  atomicAdd(double*), native since sm_60: no thread ever tries twice.
// Cost:     n atomics, whatever the addresses.
__global__ void add_double_native(std::size_t n, std::size_t mask, double* d_y) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&d_y[i & mask], 1.0);
}

// Question: what about an operation that the hardware does not have?
// Changes:  another f. Thread i multiplies d_y[i & mask] by d_x[i].
// Cost:     as for the double addition: retries where threads contend.
__global__ void multiply_cas(const float* d_x, std::size_t n, std::size_t mask, float* d_y) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) atomic_multiply(&d_y[i & mask], d_x[i]);
}

// Question: and a maximum of doubles?
// Changes:  f is larger(), and all threads share one address.
// Cost:     one atomicCAS per element, and a second one if another thread was faster. That is
//           rare: a maximum soon stops changing, and an atomicCAS that stores what is there makes
//           no other thread try again.
__global__ void max_double_cas(const double* d_x, std::size_t n, double* d_y) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) atomic_max(d_y, d_x[i]);
}
