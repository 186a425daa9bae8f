// What does each atomic function do, on global and on shared memory, and what does it return?
// Rungs: apply_global, apply_shared, for each of the eleven operations below.
// An operation is a type: atomic() is the call, next() says in ordinary C++ what it should store.
#pragma once

#include <cstddef>
#include <type_traits>

#include "grid.cuh"

// Every atomic function returns what it found. next(old, value) is what it stores.

/// Integers wrap around, signed ones too; floating-point types round once.
struct Add {
  static constexpr const char* kName = "atomicAdd";
  template <class T>
  static __device__ T atomic(T* address, T value) {
    return atomicAdd(address, value);
  }
  template <class T>
  static T next(T old, T value) {
    if constexpr (std::is_integral_v<T>) {
      using Wrapping = std::make_unsigned_t<T>;
      return static_cast<T>(static_cast<Wrapping>(old) + static_cast<Wrapping>(value));
    } else {
      return old + value;
    }
  }
};

struct Sub {
  static constexpr const char* kName = "atomicSub";
  template <class T>
  static __device__ T atomic(T* address, T value) {
    return atomicSub(address, value);
  }
  template <class T>
  static T next(T old, T value) {
    using Wrapping = std::make_unsigned_t<T>;
    return static_cast<T>(static_cast<Wrapping>(old) - static_cast<Wrapping>(value));
  }
};

struct Exchange {
  static constexpr const char* kName = "atomicExch";
  template <class T>
  static __device__ T atomic(T* address, T value) {
    return atomicExch(address, value);
  }
  template <class T>
  static T next(T, T value) {
    return value;
  }
};

struct Min {
  static constexpr const char* kName = "atomicMin";
  template <class T>
  static __device__ T atomic(T* address, T value) {
    return atomicMin(address, value);
  }
  template <class T>
  static T next(T old, T value) {
    return value < old ? value : old;
  }
};

struct Max {
  static constexpr const char* kName = "atomicMax";
  template <class T>
  static __device__ T atomic(T* address, T value) {
    return atomicMax(address, value);
  }
  template <class T>
  static T next(T old, T value) {
    return value > old ? value : old;
  }
};

/// Counts 0, 1, ..., limit, 0, ...: limit + 1 different values.
struct Inc {
  static constexpr const char* kName = "atomicInc";
  static __device__ unsigned atomic(unsigned* address, unsigned limit) {
    return atomicInc(address, limit);
  }
  static unsigned next(unsigned old, unsigned limit) { return old >= limit ? 0 : old + 1; }
};

/// Counts limit, limit - 1, ..., 0, limit, ...; from above the limit it drops to the limit.
struct Dec {
  static constexpr const char* kName = "atomicDec";
  static __device__ unsigned atomic(unsigned* address, unsigned limit) {
    return atomicDec(address, limit);
  }
  static unsigned next(unsigned old, unsigned limit) {
    return old == 0 || old > limit ? limit : old - 1;
  }
};

/// atomicCAS has a third argument. Here it stores `value` if it finds the number before it, so
/// that n threads with the values 1 to n can only count.
struct CompareAndSwap {
  static constexpr const char* kName = "atomicCAS";
  template <class T>
  static __device__ T atomic(T* address, T value) {
    return atomicCAS(address, static_cast<T>(value - 1), value);
  }
  template <class T>
  static T next(T old, T value) {
    return old == static_cast<T>(value - 1) ? value : old;
  }
};

struct And {
  static constexpr const char* kName = "atomicAnd";
  template <class T>
  static __device__ T atomic(T* address, T value) {
    return atomicAnd(address, value);
  }
  template <class T>
  static T next(T old, T value) {
    return old & value;
  }
};

struct Or {
  static constexpr const char* kName = "atomicOr";
  template <class T>
  static __device__ T atomic(T* address, T value) {
    return atomicOr(address, value);
  }
  template <class T>
  static T next(T old, T value) {
    return old | value;
  }
};

struct Xor {
  static constexpr const char* kName = "atomicXor";
  template <class T>
  static __device__ T atomic(T* address, T value) {
    return atomicXor(address, value);
  }
  template <class T>
  static T next(T old, T value) {
    return old ^ value;
  }
};

// Question: what does an atomic function do to a cell of global memory?
// Changes:  chapter 01 had atomicAdd, and threw its result away; here every thread keeps it.
// Cost:     one atomic per element, all on one address, and the old value is sent back.
template <class Operation, class T>
__global__ void apply_global(const T* d_values, std::size_t n, T* d_cell, T* d_returned) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) d_returned[i] = Operation::atomic(d_cell, d_values[i]);
}

// Question: and to a cell of shared memory? Block b has the values from b * kBlockSize on.
// Changes:  the address points to shared memory: a cell for each block, which no other block sees.
// Cost:     the blocks no longer meet; the threads of one block still do.
template <class Operation, class T>
__global__ void apply_shared(const T* d_values, std::size_t n, T* d_cells, T* d_returned) {
  __shared__ T s_cell;
  if (threadIdx.x == 0) s_cell = d_cells[blockIdx.x];
  __syncthreads();  // the cell has its first value before any thread changes it
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) d_returned[i] = Operation::atomic(&s_cell, d_values[i]);
  __syncthreads();  // all have changed it before thread 0 takes it away
  if (threadIdx.x == 0) d_cells[blockIdx.x] = s_cell;
}
