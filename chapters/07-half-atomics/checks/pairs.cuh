// The check of add_pair, for its cases: threads add pairs to an array, and this is what they must
// leave and find. An Operation is a struct that calls the answer:
//     __device__ __half2 operator()(__half* address, __half first, __half second) const;
#pragma once

#include <cuda_fp16.h>

#include <catch2/catch_test_macros.hpp>
#include <course/check.cuh>
#include <cstddef>
#include <string>
#include <vector>

#include "half_bits.cuh"

namespace half_pairs {

/// Pair i begins at x[i * step]: with step 2 each element is in one pair, with step 1 in two, with
/// step 0 all pairs are one. values and returned hold first and second in turn.
template <class Operation>
__device__ void add_pairs_of_thread(Operation add, std::size_t thread, std::size_t threads,
                                    const Bits* values, std::size_t n, std::size_t step, __half* x,
                                    __half* returned) {
  for (std::size_t i = thread; i < n; i += threads) {
    const __half2 before =
        add(&x[i * step], __ushort_as_half(values[2 * i]), __ushort_as_half(values[2 * i + 1]));
    returned[2 * i] = before.x;
    returned[2 * i + 1] = before.y;
  }
}

template <class Operation>
__global__ void add_pairs(Operation add, const Bits* values, std::size_t n, std::size_t step,
                          __half* x, __half* returned) {
  add_pairs_of_thread(add, std::size_t{blockIdx.x} * blockDim.x + threadIdx.x,
                      std::size_t{gridDim.x} * blockDim.x, values, n, step, x, returned);
}

/// The same in shared memory, in one block: `size` elements from x on are there meanwhile.
template <class Operation>
__global__ void add_pairs_shared(Operation add, const Bits* values, std::size_t n, std::size_t step,
                                 std::size_t offset, std::size_t size, __half* x,
                                 __half* returned) {
  __shared__ __align__(4) __half s_x[640];
  for (std::size_t k = threadIdx.x; k < size; k += blockDim.x) s_x[k] = x[k];
  __syncthreads();
  add_pairs_of_thread(add, threadIdx.x, blockDim.x, values, n, step, s_x + offset, returned);
  __syncthreads();
  for (std::size_t k = threadIdx.x; k < size; k += blockDim.x) x[k] = s_x[k];
}

inline Bits sum_of(Bits a, Bits b) { return bits_of(float_of(a) + float_of(b)); }

/// n pairs of 0, 1, 2 or 3, in no order: sums below 2048 of them are exact in half.
inline std::vector<Bits> pairs_of_numbers(std::size_t n) {
  std::vector<Bits> values = course::position_values<Bits>(2 * n);
  for (Bits& value : values) value = bits_of(static_cast<float>(value % 4));
  return values;
}

/// An array for n pairs, with `offset` elements before and one after.
inline std::vector<Bits> array_for(std::size_t n, std::size_t step, std::size_t offset) {
  std::vector<Bits> start(offset + (n - 1) * step + 2 + 1);
  for (std::size_t at = 0; at < start.size(); ++at) {
    const bool outside = at < offset || at + 1 == start.size();
    start[at] = outside ? (at % 2 == 0 ? kMinusZero : Bits{0x7D01})
                        : bits_of(static_cast<float>(at % 29) - 14.0f);
  }
  return start;
}

/// What each element must hold, if pair i was added to start[offset + i * step] and the next one;
/// and that what its threads found fits together.
inline course::Verdict judge(const std::vector<Bits>& start, std::size_t offset, std::size_t step,
                             const std::vector<Bits>& values, const std::vector<Bits>& after,
                             const std::vector<Bits>& returned) {
  std::vector<std::vector<std::size_t>> calls(start.size());  // indices of `values`
  for (std::size_t i = 0; i < values.size() / 2; ++i) {
    calls[offset + i * step].push_back(2 * i);
    calls[offset + i * step + 1].push_back(2 * i + 1);
  }
  for (std::size_t at = 0; at < start.size(); ++at) {
    Bits expected = start[at];
    std::vector<Bits> found, left;
    std::string inputs = "\nIt held " + half_text(start[at]) + ", and ";
    inputs += calls[at].empty() ? "no pair contains it." : "these values are added:";
    for (std::size_t j = 0; j < calls[at].size() && j < 6; ++j) {
      inputs += (j > 0 ? ", " : " ") + half_text(values[calls[at][j]]);
    }
    if (calls[at].size() > 6) inputs += ", ... (" + std::to_string(calls[at].size()) + " values)";
    for (const std::size_t k : calls[at]) {
      expected = sum_of(expected, values[k]);
      found.push_back(returned[k]);
      left.push_back(sum_of(returned[k], values[k]));
    }
    if (after[at] != expected) {
      const std::string index = std::to_string(static_cast<long>(at) - static_cast<long>(offset));
      course::Verdict verdict =
          same_bits("x[" + index + "]", after[at], expected, !calls[at].empty());
      verdict.text += inputs;
      if (!verdict) return verdict;
    }
    if (calls[at].size() == 1 && found.front() != start[at]) {
      const std::size_t k = calls[at].front();
      course::Verdict verdict =
          same_bits("returned for pair " + std::to_string(k / 2) + (k % 2 == 0 ? ", .x" : ", .y"),
                    found.front(), start[at]);
      verdict.text += inputs;
      return verdict;
    }
    if (calls[at].size() > 1) {
      const course::Verdict verdict = one_chain(found, left, start[at], after[at]);
      if (!verdict) return verdict;
    }
  }
  return {};
}

inline std::string where(std::size_t offset) {
  return "x begins " + std::to_string(2 * offset) + " bytes past a multiple of 256";
}
/// Which elements pair i is.
inline std::string pairs_text(std::size_t step) {
  if (step == 0) return "every pair is x[0] and x[1]";
  return step == 1 ? "pair i is x[i] and x[i + 1]" : "pair i is x[2 i] and x[2 i + 1]";
}

/// Runs n pairs on an array that `start` describes with what is around it: `offset` elements before,
/// and the rest after. There is no memory at all past the last one. In shared memory: one block.
template <class Operation>
void check(const std::vector<Bits>& start, std::size_t offset, std::size_t step,
           const std::vector<Bits>& values, course::LaunchShape launch,
           bool in_shared_memory = false) {
  const std::size_t n = values.size() / 2;
  course::GuardedBuffer<__half> x(start.size()), returned(2 * n);
  set_bits(x.data(), start);
  const auto d_values = course::DeviceBuffer<Bits>::from(values);
  __half* const array = x.data() + offset;  // reports call memory by the launch's arguments
  if (in_shared_memory) {
    add_pairs_shared<<<1, launch.block>>>(Operation{}, d_values.data(), n, step, offset,
                                          start.size(), x.data(), returned.data());
  } else {
    add_pairs<<<launch.grid, launch.block>>>(Operation{}, d_values.data(), n, step, array,
                                             returned.data());
  }
  CUDA_CHECK_LAUNCH();
  REQUIRE(judge(start, offset, step, values, get_bits(x.data(), start.size()),
                get_bits(returned.data(), 2 * n)));
  REQUIRE(x.intact("x"));
  REQUIRE(returned.intact("returned"));
}

}  // namespace half_pairs
