// cuRAND's functions of kernels for the generators XORWOW and Philox4_32_10: uniform and normal numbers. For the same seed,
// sequence and offset they draw the bits that cuRAND draws. Normal numbers are those of a GPU but for their last bits: the
// sine and cosine of a GPU's __sincosf() are approximations.
//
// XORWOW is from G. Marsaglia, "Xorshift RNGs", Journal of Statistical Software 8(14), 2003; Philox from J. K. Salmon and
// others, "Parallel random numbers: as easy as 1, 2, 3", SC 2011. The accesses to a state are those of the line that calls.
#pragma once

#include <cuda_runtime.h>

#include <concepts>

struct curandStateXORWOW {
  unsigned int d, v[5];
  int has_normal, has_normal_double;  // the second one of a pair of normal numbers is drawn next
  float normal;
  double normal_double;
};
using curandStateXORWOW_t = curandStateXORWOW;
using curandState = curandStateXORWOW;
using curandState_t = curandStateXORWOW;

struct curandStatePhilox4_32_10 {
  uint4 counter, output;  // the output of this counter
  uint2 key;
  unsigned int drawn;  // numbers of the output, fewer than 4
  int has_normal, has_normal_double;
  float normal;
  double normal_double;
};
using curandStatePhilox4_32_10_t = curandStatePhilox4_32_10;

namespace simt {

template <class State>
concept RandomState =
    std::same_as<State, curandStateXORWOW> || std::same_as<State, curandStatePhilox4_32_10>;

// ---- Philox -------------------------------------------------------------------------------------

/// Ten rounds.
__device__ SIMT_PURE uint4 philox(uint4 c, uint2 key) {
  for (int round = 0; round < 10; ++round) {
    const unsigned long long x = 0xD2511F53ull * c.x, z = 0xCD9E8D57ull * c.z;
    c = make_uint4(static_cast<unsigned>(z >> 32) ^ c.y ^ key.x, static_cast<unsigned>(z),
                   static_cast<unsigned>(x >> 32) ^ c.w ^ key.y, static_cast<unsigned>(x));
    key.x += 0x9E3779B9u;  // the golden ratio
    key.y += 0xBB67AE85u;  // the square root of 3, less 1
  }
  return c;
}

__device__ SIMT_PURE unsigned long long joined(unsigned low, unsigned high) {
  return low | static_cast<unsigned long long>(high) << 32;
}

/// The counter after 2^64 * high + low steps.
__device__ SIMT_PURE uint4 advanced(uint4 counter, unsigned long long low,
                                    unsigned long long high) {
  low += joined(counter.x, counter.y);
  if (low < joined(counter.x, counter.y)) ++high;
  high += joined(counter.z, counter.w);
  return make_uint4(static_cast<unsigned>(low), static_cast<unsigned>(low >> 32),
                    static_cast<unsigned>(high), static_cast<unsigned>(high >> 32));
}

__device__ SIMT_TRANSPARENT void advance(curandStatePhilox4_32_10* state, unsigned long long low,
                                         unsigned long long high) {
  const uint4 counter = advanced(state->counter, low, high);
  const uint2 key = state->key;
  state->counter = counter;
  state->output = philox(counter, key);
}

__device__ SIMT_PURE unsigned element(uint4 four, unsigned i) {
  return i == 0 ? four.x : i == 1 ? four.y : i == 2 ? four.z : four.w;
}

// ---- XORWOW -------------------------------------------------------------------------------------

constexpr unsigned kXorwowStep = 362437;  // what d grows by

/// The seed goes into Marsaglia's first numbers as in cuRAND, whose constants these four are.
__device__ SIMT_PURE curandStateXORWOW xorwow_state(unsigned long long seed,
                                                    unsigned long long sequence,
                                                    unsigned long long offset) {
  const unsigned low = 1099087573u * (static_cast<unsigned>(seed) ^ 0xAAD26B49u);
  const unsigned high = 2591861531u * (static_cast<unsigned>(seed >> 32) ^ 0xF7DCEFDDu);
  curandStateXORWOW state{};
  state.d = 6615241u + low + high + kXorwowStep * static_cast<unsigned>(offset);
  state.v[0] = 123456789u + low;
  state.v[1] = 362436069u ^ low;
  state.v[2] = 521288629u + high;
  state.v[3] = 88675123u ^ high;
  state.v[4] = 5783321u + low;
  skip_xorwow(state.v, offset, sequence);
  return state;
}

/// `state` after so many steps and sequences, each of 2^67 steps: d does not change by one.
__device__ SIMT_PURE curandStateXORWOW skipped(curandStateXORWOW state, unsigned long long steps,
                                               unsigned long long sequences) {
  state.d += kXorwowStep * static_cast<unsigned>(steps);
  skip_xorwow(state.v, steps, sequences);
  return state;
}

// ---- distributions ------------------------------------------------------------------------------

__device__ SIMT_PURE float uniform(unsigned x) {
  return static_cast<float>(x) * 0x1p-32f + 0x1p-33f;
}

/// 53 bits, of which the upper ones are those of y.
__device__ SIMT_PURE double bits_of_two(unsigned x, unsigned y) {
  return static_cast<double>(x ^ static_cast<unsigned long long>(y) << 21);
}
__device__ SIMT_PURE double uniform_double(unsigned x, unsigned y) {
  return bits_of_two(x, y) * 0x1p-53 + 0x1p-54;
}

/// Box and Muller: two independent normal numbers from two uniform ones.
__device__ SIMT_PURE float2 normal_pair(unsigned x, unsigned y) {
  constexpr float kTurn = 0x1p-32f * 6.2831855f;
  const float radius = sqrtf(-2.0f * logf(uniform(x)));
  const float angle = fmaf(static_cast<float>(y), kTurn, kTurn / 2);
  return make_float2(radius * __sinf(angle), radius * __cosf(angle));
}
__device__ SIMT_PURE double2 normal_pair_double(uint4 bits) {
  const double radius = sqrt(-2.0 * log(uniform_double(bits.x, bits.y)));
  const double half_turns = bits_of_two(bits.z, bits.w) * 0x1p-52 + 0x1p-53;
  return make_double2(radius * sinpi(half_turns), radius * cospi(half_turns));
}

}  // namespace simt

// ---- generators ---------------------------------------------------------------------------------

__device__ SIMT_TRANSPARENT void curand_init(unsigned long long seed, unsigned long long sequence,
                                             unsigned long long offset, curandStateXORWOW* state) {
  *state = simt::xorwow_state(seed, sequence, offset);
}
__device__ SIMT_TRANSPARENT void skipahead(unsigned long long n, curandStateXORWOW* state) {
  *state = simt::skipped(*state, n, 0);
}
__device__ SIMT_TRANSPARENT void skipahead_sequence(unsigned long long n,
                                                    curandStateXORWOW* state) {
  *state = simt::skipped(*state, 0, n);
}
__device__ SIMT_TRANSPARENT unsigned int curand(curandStateXORWOW* state) {
  const unsigned t = state->v[0] ^ state->v[0] >> 2, last = state->v[4];
  for (int i = 0; i < 4; ++i) state->v[i] = state->v[i + 1];
  const unsigned next = last ^ last << 4 ^ t ^ t << 1;
  state->v[4] = next;
  state->d += simt::kXorwowStep;
  return next + state->d;
}

__device__ SIMT_TRANSPARENT void skipahead(unsigned long long n, curandStatePhilox4_32_10* state) {
  const unsigned drawn = state->drawn + static_cast<unsigned>(n % 4);
  state->drawn = drawn % 4;
  simt::advance(state, n / 4 + drawn / 4, 0);
}
__device__ SIMT_TRANSPARENT void skipahead_sequence(unsigned long long n,
                                                    curandStatePhilox4_32_10* state) {
  simt::advance(state, 0, n);
}
__device__ SIMT_TRANSPARENT void curand_init(unsigned long long seed, unsigned long long sequence,
                                             unsigned long long offset,
                                             curandStatePhilox4_32_10* state) {
  curandStatePhilox4_32_10 first{};
  first.key = make_uint2(static_cast<unsigned>(seed), static_cast<unsigned>(seed >> 32));
  skipahead_sequence(sequence, &first);
  skipahead(offset, &first);
  *state = first;
}
__device__ SIMT_TRANSPARENT unsigned int curand(curandStatePhilox4_32_10* state) {
  const unsigned drawn = state->drawn, number = simt::element(state->output, drawn);
  state->drawn = (drawn + 1) % 4;
  if (drawn == 3) simt::advance(state, 1, 0);
  return number;
}
/// The next four numbers.
__device__ SIMT_TRANSPARENT uint4 curand4(curandStatePhilox4_32_10* state) {
  const uint4 before = state->output;
  const unsigned drawn = state->drawn;
  simt::advance(state, 1, 0);
  const uint4 after = state->output;
  const auto at = [&](unsigned i) { return simt::element(i < 4 ? before : after, i % 4); };
  return make_uint4(at(drawn), at(drawn + 1), at(drawn + 2), at(drawn + 3));
}

// ---- uniform numbers: above 0, at most 1 --------------------------------------------------------

template <simt::RandomState State>
__device__ SIMT_TRANSPARENT float curand_uniform(State* state) {
  return simt::uniform(curand(state));
}
__device__ SIMT_TRANSPARENT float4 curand_uniform4(curandStatePhilox4_32_10* state) {
  const uint4 x = curand4(state);
  return make_float4(simt::uniform(x.x), simt::uniform(x.y), simt::uniform(x.z),
                     simt::uniform(x.w));
}
__device__ SIMT_TRANSPARENT double curand_uniform_double(curandStateXORWOW* state) {
  const unsigned x = curand(state), y = curand(state);
  return simt::uniform_double(x, y);
}
/// Of 32 bits, as in cuRAND: curand_uniform2_double() has 53.
__device__ SIMT_TRANSPARENT double curand_uniform_double(curandStatePhilox4_32_10* state) {
  return static_cast<double>(curand(state)) * 0x1p-32 + 0x1p-32;
}
__device__ SIMT_TRANSPARENT double2 curand_uniform2_double(curandStatePhilox4_32_10* state) {
  const uint4 x = curand4(state);
  return make_double2(simt::uniform_double(x.x, x.y), simt::uniform_double(x.z, x.w));
}

// ---- normal numbers: mean 0, standard deviation 1 -----------------------------------------------

template <simt::RandomState State>
__device__ SIMT_TRANSPARENT float2 curand_normal2(State* state) {
  const unsigned x = curand(state), y = curand(state);
  return simt::normal_pair(x, y);
}
template <simt::RandomState State>
__device__ SIMT_TRANSPARENT float curand_normal(State* state) {
  state->has_normal = state->has_normal == 0;
  if (state->has_normal == 0) return state->normal;
  const float2 pair = curand_normal2(state);
  state->normal = pair.y;
  return pair.x;
}
__device__ SIMT_TRANSPARENT float4 curand_normal4(curandStatePhilox4_32_10* state) {
  const uint4 x = curand4(state);
  const float2 first = simt::normal_pair(x.x, x.y), second = simt::normal_pair(x.z, x.w);
  return make_float4(first.x, first.y, second.x, second.y);
}
template <simt::RandomState State>
__device__ SIMT_TRANSPARENT double2 curand_normal2_double(State* state) {
  const unsigned x = curand(state), y = curand(state), z = curand(state), w = curand(state);
  return simt::normal_pair_double(make_uint4(x, y, z, w));
}
template <simt::RandomState State>
__device__ SIMT_TRANSPARENT double curand_normal_double(State* state) {
  state->has_normal_double = state->has_normal_double == 0;
  if (state->has_normal_double == 0) return state->normal_double;
  const double2 pair = curand_normal2_double(state);
  state->normal_double = pair.y;
  return pair.x;
}
