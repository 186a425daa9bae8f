// What a scan needs of an operation: that it is associative, and an identity. It need not commute.
#pragma once

#include <cuda_runtime.h>

/// The function x -> a x + b. 8 bytes, if Number has 4.
template <class Number>
struct Affine {
  Number a, b;
  __host__ __device__ friend bool operator==(const Affine& f, const Affine& g) {
    return f.a == g.a && f.b == g.b;
  }
};

/// First f, then g: x -> g(f(x)). It does not commute. Scanned, the steps y[i] = a[i] y[i-1] + b[i] of a
/// linear recurrence give the functions that lead from y[-1] to each y[i].
struct Compose {
  template <class Number>
  __host__ __device__ Affine<Number> operator()(const Affine<Number>& f,
                                                const Affine<Number>& g) const {
    return {g.a * f.a, g.a * f.b + g.b};
  }
  template <class F>
  __host__ __device__ static constexpr F identity() {
    return {1, 0};
  }
};
