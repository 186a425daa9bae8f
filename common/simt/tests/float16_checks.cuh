// What the tests of half and bfloat16 share. A type F says how one of them is made and taken apart:
//
//   struct F {
//     using Type = ...;
//     static constexpr int kMantissaBits = ...;
//     static Type of_bits(unsigned short);          static unsigned short bits_of(Type);
//     static float widen(Type);                     static Type narrow(float);
//     static Type nearest(float);  zero, up, down   narrow in each rounding mode
//   };
#pragma once

#include <cuda_runtime.h>

#include <cmath>
#include <course/buffer.cuh>
#include <string>
#include <vector>

#include "float16_oracle.hpp"

namespace float16_checks {

using course::DeviceBuffer;
using oracle::kModes;
using oracle::Mode;

template <class F>
const oracle::Format& format() {
  static const oracle::Format of_type(F::kMantissaBits);
  return of_type;
}

template <class F>
std::string differences(const std::vector<unsigned short>& found,
                        const std::vector<unsigned short>& expected) {
  return oracle::differences(format<F>(), found, expected);
}

// ---- conversions --------------------------------------------------------------------------------

template <class F>
__global__ void widen_and_narrow(float* wide, unsigned short* narrow) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  wide[i] = F::widen(F::of_bits(static_cast<unsigned short>(i)));
  narrow[i] = F::bits_of(F::narrow(wide[i]));
}

/// Every number of the type as a float, and how many of these, and of what becomes of them, are
/// wrong.
struct RoundTrip {
  std::vector<float> floats;
  int wrong_floats = 0, wrong_narrow = 0;
};

template <class F>
RoundTrip round_trip() {
  DeviceBuffer<float> wide(65536);
  DeviceBuffer<unsigned short> narrow(65536);
  widen_and_narrow<F><<<256, 256>>>(wide.data(), narrow.data());
  CUDA_CHECK_LAUNCH();
  RoundTrip trip;
  trip.floats = wide.download();
  const std::vector<unsigned short> found = narrow.download();
  for (unsigned bits = 0; bits < 65536; ++bits) {
    if (format<F>().is_nan(bits)) {
      trip.wrong_floats += !std::isnan(trip.floats[bits]);
      trip.wrong_narrow += found[bits] != 0x7FFF;
    } else {
      const double expected = format<F>().value(bits);
      trip.wrong_floats += trip.floats[bits] != expected ||
                           std::signbit(trip.floats[bits]) != std::signbit(expected);
      trip.wrong_narrow += found[bits] != bits;
    }
  }
  return trip;
}

template <class F>
__global__ void round_floats(const float* x, unsigned short* rounded, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  rounded[4 * i] = F::bits_of(F::nearest(x[i]));
  rounded[4 * i + 1] = F::bits_of(F::zero(x[i]));
  rounded[4 * i + 2] = F::bits_of(F::up(x[i]));
  rounded[4 * i + 3] = F::bits_of(F::down(x[i]));
}

/// What is wrong with these floats, rounded in each mode in a kernel; "" if nothing is.
template <class F>
std::string wrong_roundings(const std::vector<float>& inputs) {
  const unsigned n = static_cast<unsigned>(inputs.size());
  const auto x = DeviceBuffer<float>::from(inputs);
  DeviceBuffer<unsigned short> rounded(4 * n);
  round_floats<F><<<(n + 255) / 256, 256>>>(x.data(), rounded.data(), n);
  CUDA_CHECK_LAUNCH();
  std::vector<unsigned short> expected;
  for (const float input : inputs) {
    for (const Mode mode : kModes) {
      expected.push_back(static_cast<unsigned short>(
          std::isnan(input) ? 0x7FFF : format<F>().round(static_cast<double>(input), mode)));
    }
  }
  return differences<F>(rounded.download(), expected);
}

// ---- arithmetic ---------------------------------------------------------------------------------

constexpr int kOperations = 5;

template <class F, class T>
__global__ void arithmetic(const T* a, const T* b, const T* c, unsigned short* found, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  found[kOperations * i] = F::bits_of(__hadd(a[i], b[i]));
  found[kOperations * i + 1] = F::bits_of(__hsub(a[i], b[i]));
  found[kOperations * i + 2] = F::bits_of(__hmul(a[i], b[i]));
  found[kOperations * i + 3] = F::bits_of(__hdiv(a[i], b[i]));
  found[kOperations * i + 4] = F::bits_of(__hfma(a[i], b[i], c[i]));
}

template <class F>
DeviceBuffer<typename F::Type> on_device(const std::vector<unsigned short>& bits) {
  std::vector<typename F::Type> numbers;
  for (const unsigned short b : bits) numbers.push_back(F::of_bits(b));
  return DeviceBuffer<typename F::Type>::from(numbers);
}

/// The five operations on each triple of operands, in a kernel.
template <class F>
std::vector<unsigned short> computed(const oracle::Operands& operands) {
  const unsigned n = static_cast<unsigned>(operands.a.size());
  const auto a = on_device<F>(operands.a);
  const auto b = on_device<F>(operands.b);
  const auto c = on_device<F>(operands.c);
  DeviceBuffer<unsigned short> found(kOperations * n);
  arithmetic<F><<<(n + 255) / 256, 256>>>(a.data(), b.data(), c.data(), found.data(), n);
  CUDA_CHECK_LAUNCH();
  return found.download();
}

/// What is wrong with them; "" if nothing is.
template <class F>
std::string wrong_results(const oracle::Operands& operands) {
  std::vector<unsigned short> expected;
  for (std::size_t i = 0; i < operands.a.size(); ++i) {
    for (int operation = 0; operation < kOperations; ++operation) {
      expected.push_back(static_cast<unsigned short>(
          format<F>().result(operation, operands.a[i], operands.b[i], operands.c[i])));
    }
  }
  return differences<F>(computed<F>(operands), expected);
}

}  // namespace float16_checks
