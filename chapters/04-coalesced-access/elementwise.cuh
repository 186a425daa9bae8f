// How is a kernel for z[i] = f(x[i], y[i], ...) written once, for every function, every number of inputs
// and every type? By four parts: pack, functor, tail, grid. (OneFlow's elementwise template has them.)
// Rungs: add_relu_float4, elementwise; and, proved but not timed, negate_by_union, negate_by_memcpy.
#pragma once

#include <algorithm>
#include <course/launch.cuh>
#include <course/pack.cuh>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "grid.cuh"

// ---- two ways to take a word apart --------------------------------------------------------------

/// The same 16 bytes as a word, which one access moves, and as elements.
template <class T>
union PackUnion {
  uint4 word;
  T elem[16 / sizeof(T)];
};

// Question: how does one get at the elements of a word?
// Changes:  against negate_packs, a union: written as a word, read as elements.
// Cost:     none: both members are the same registers. ISO C++ calls that read undefined.
__global__ void negate_by_union(float* d_x, std::size_t n) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const std::size_t packs = n / 4;
  if (i < packs) {
    PackUnion<float> pack;
    pack.word = reinterpret_cast<const uint4*>(d_x)[i];
    for (float& x : pack.elem) x = -x;
    reinterpret_cast<uint4*>(d_x)[i] = pack.word;
  }
  if (i < n % 4) d_x[4 * packs + i] = -d_x[4 * packs + i];
}

// Question: and in a way that C++ defines?
// Changes:  memcpy between a word and an array, both in registers.
// Cost:     none: the compiler makes no copy of it, and the same LDG.128.
__global__ void negate_by_memcpy(float* d_x, std::size_t n) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const std::size_t packs = n / 4;
  if (i < packs) {
    uint4 word = reinterpret_cast<const uint4*>(d_x)[i];
    float elem[4];
    memcpy(elem, &word, sizeof elem);
    for (float& x : elem) x = -x;
    memcpy(&word, elem, sizeof word);
    reinterpret_cast<uint4*>(d_x)[i] = word;
  }
  if (i < n % 4) d_x[4 * packs + i] = -d_x[4 * packs + i];
}

// ---- one kernel for every function --------------------------------------------------------------

/// A functor: max(x + y, 0), and NaN where the sum is NaN.
struct AddRelu {
  template <class T>
  __device__ T operator()(T x, T y) const {
    const T sum = x + y;
    return sum < T(0.0f) ? T(0.0f) : sum;
  }
};

// Question: what is there to compare with?
// Changes:  written by hand for this function, two arrays of floats: as copy_float4.
// Cost:     two loads and one store of 16 bytes per thread.
__global__ void add_relu_float4(const float* d_x, const float* d_y, std::size_t n, float* d_z) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const std::size_t fours = n / 4;
  const AddRelu f;
  if (i < fours) {
    const float4 x = reinterpret_cast<const float4*>(d_x)[i];
    const float4 y = reinterpret_cast<const float4*>(d_y)[i];
    reinterpret_cast<float4*>(d_z)[i] =
        make_float4(f(x.x, y.x), f(x.y, y.y), f(x.z, y.z), f(x.w, y.w));
  }
  if (i < n % 4) d_z[4 * fours + i] = f(d_x[4 * fours + i], d_y[4 * fours + i]);
}

/// f of the k-th elements of all packs, for each k.
template <class R, int kPack, class F, class... T>
__device__ __forceinline__ course::Pack<R, kPack> apply_to_packs(
    const F& f, const course::Pack<T, kPack>&... in) {
  course::Pack<R, kPack> out;
#pragma unroll
  for (int k = 0; k < kPack; ++k) out.elem[k] = f(in.elem[k]...);
  return out;
}

// Question: how much slower is the general kernel?
// Changes:  the function is an object, the inputs are a parameter pack, the pack's size is a template
//           parameter, and the grid may have any size.
// Cost:     that of add_relu_float4, and a loop.
template <int kPack, class F, class R, class... T>
__global__ void elementwise(F f, std::size_t n, R* d_out, const T*... d_in) {
  const std::size_t thread = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
  const std::size_t packs = n / kPack;
  for (std::size_t i = thread; i < packs; i += threads) {
    const std::size_t at = kPack * i;
    course::store_pack(d_out + at, apply_to_packs<R>(f, course::load_pack<kPack>(d_in + at)...));
  }
  const std::size_t last = kPack * packs + thread;
  if (last < n) d_out[last] = f(d_in[last]...);  // the tail: one thread per element
}

/// Blocks for `pieces` packs: a thread for each, but at most 32 times as many blocks as the GPU
/// holds. Enough of them to keep all SMs busy until the end, whatever the order in which blocks end.
inline unsigned blocks_of_waves(std::size_t pieces) {
  static const unsigned most = 32 * course::filling_blocks(kBlockSize);
  return static_cast<unsigned>(std::min<std::size_t>((pieces + kBlockSize - 1) / kBlockSize, most));
}

/// d_out[i] = f(d_in[i]...) for i < n, in packs of kPack elements. All arrays must be multiples of a
/// pack of their type.
template <int kPack, class F, class R, class... T>
void launch_elementwise_of(F f, std::size_t n, R* d_out, const T*... d_in) {
  const unsigned blocks = blocks_of_waves((n + kPack - 1) / kPack);
  course::launch(elementwise<kPack, F, R, T...>, {blocks, kBlockSize}, f, n, d_out, d_in...);
}

/// The same in packs as wide as the widest type and the addresses allow.
template <class F, class R, class... T>
void launch_elementwise(F f, std::size_t n, R* d_out, const T*... d_in) {
  constexpr int kPack = std::min({course::kWidestPack<R>, course::kWidestPack<T>...});
  const auto aligned = [](const auto* p) {
    return reinterpret_cast<std::uintptr_t>(p) % (kPack * sizeof *p) == 0;
  };
  if ((aligned(d_out) && ... && aligned(d_in))) {
    launch_elementwise_of<kPack>(f, n, d_out, d_in...);
  } else {
    launch_elementwise_of<1>(f, n, d_out, d_in...);
  }
}
