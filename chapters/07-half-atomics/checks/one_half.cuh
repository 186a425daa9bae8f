// For the checks of an atomic operation on one half: threads that share an element while others
// change the other half of its word, in global and in shared memory; and one element per thread.
//
// An Operation is a struct of the check's:
//     struct Subtract {
//       __device__ __half operator()(__half* address, __half value) const;  // calls the answer
//       static Bits result(Bits old, Bits value);                           // what it has to leave
//     };
#pragma once

#include <cuda_fp16.h>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <course/check.cuh>
#include <course/grid.cuh>
#include <course/thread_number.cuh>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "half_bits.cuh"

namespace one_half_checks {

using half_checks::Bits;
using half_checks::bits_of;
using half_checks::float_of;
using half_checks::half_text;
using half_checks::halves;
using half_checks::one_chain;
using half_checks::same_bits;

// ---- one element per thread --------------------------------------------------------------------

/// Element i * step gets values[i]. With step 1 neighbours change at the same time.
template <class Operation>
__global__ void each_element(Operation operation, const Bits* values, std::size_t n,
                             std::size_t step, __half* x, __half* returned) {
  for (std::size_t i = course::thread_number(); i < n; i += course::thread_count()) {
    returned[i] = operation(&x[i * step], __ushort_as_half(values[i]));
  }
}

/// A call that looks by a volatile load also makes an atomic, whatever the cell holds and the value
/// is. (Plain loads are races, where others change the word.)
template <class Operation>
void check_confirmed(const std::vector<Bits>& cells, const std::vector<Bits>& values) {
  const std::size_t n = values.size();
  const auto d_values = course::DeviceBuffer<Bits>::from(values);
  course::DeviceBuffer<__half> x(2 * n), returned(n);
  for (const Bits cell : cells) {
    half_checks::set_bits(x.data(), std::vector<Bits>(2 * n, cell));
    const auto counters = course::count([&] {
      one_half_checks::each_element<<<1, 32>>>(Operation{}, d_values.data(), n, 2, x.data(),
                                               returned.data());
      CUDA_CHECK_LAUNCH();
    });
    INFO(course::counted(n, "call")
         << ", each for an element of its own that holds " << half_text(cell)
         << "; volatile loads: " << counters->global_volatile_loads);
    const std::uint64_t found = counters->global_atomic_lanes;
    REQUIRE(course::Verdict{
        found >= n || counters->global_volatile_loads == 0,
        "atomics: expected at least " + std::to_string(n) + ", found " + std::to_string(found) +
            "; what a volatile load has\nfound may be out of date: let atomicCAS confirm it"});
  }
}

// ---- elements that threads share ---------------------------------------------------------------

/// What happens to the other half of the word meanwhile. If it comes and goes, an old value of it
/// may be there again.
enum class Beside { stays, grows, comes_and_goes };

/// All threads share x[place]. If asked for, every other one adds 1, or 1 and -1 in turn, to its
/// neighbour instead.
template <class Operation>
__global__ void one_element(Operation operation, const Bits* values, std::size_t n, unsigned place,
                            Beside neighbour, __half* x, __half* returned) {
  for (std::size_t i = course::thread_number(); i < n; i += course::thread_count()) {
    if (neighbour != Beside::stays && i % 2 == 1) {
      const bool back = neighbour == Beside::comes_and_goes && i % 4 == 3;
      returned[i] = atomicAdd(&x[place ^ 1u], __float2half(back ? -1.0f : 1.0f));
    } else {
      returned[i] = operation(&x[place], __ushort_as_half(values[i]));
    }
  }
}

/// Thread i brings values[i] to x[i % elements].
template <class Operation>
__global__ void few_elements(Operation operation, const Bits* values, std::size_t n,
                             unsigned elements, __half* x, __half* returned) {
  for (std::size_t i = course::thread_number(); i < n; i += course::thread_count()) {
    returned[i] = operation(&x[i % elements], __ushort_as_half(values[i]));
  }
}

/// The threads of a block share both halves of a word of shared memory; what is around it must stay.
template <class Operation>
__global__ void word_of_the_block(Operation operation, const Bits* values, std::size_t n,
                                  const __half* start, __half* left, __half* returned) {
  __shared__ __align__(4) __half s_x[6];
  if (threadIdx.x < 6) s_x[threadIdx.x] = start[threadIdx.x];
  __syncthreads();
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) returned[i] = operation(&s_x[2 + i % 2], __ushort_as_half(values[i]));
  __syncthreads();
  if (threadIdx.x < 6) left[6 * blockIdx.x + threadIdx.x] = s_x[threadIdx.x];
}

/// What the threads that brought values to one element found there.
struct Visits {
  course::LaunchShape launch;
  std::size_t n;  // calls of all threads; thread i has call i, if there are threads enough
  std::vector<std::size_t> calls = {};
  std::vector<Bits> values = {}, found = {};
  void add(std::size_t call, Bits value, Bits returned) {
    calls.push_back(call), values.push_back(value), found.push_back(returned);
  }
};

/// "It held 1000, and 3 calls brought it 1, 4, 2": what an element's last value is computed from.
inline std::string inputs_text(const Visits& visits, Bits first) {
  constexpr std::size_t kMost = 6;
  const std::vector<Bits>& values = visits.values;
  std::string text = "\nIt held " + half_text(first);
  if (values.empty()) return text + ", and no call was for it.";
  text += ", and " + course::counted(values.size(), "call") + " brought it ";
  for (std::size_t i = 0; i < values.size() && i < kMost; ++i) {
    text += (i > 0 ? ", " : "") + half_text(values[i]);
  }
  return text + (values.size() > kMost ? ", ..." : ".");
}

/// What the thread did whose result is not there, and was found by no other; empty if there is none.
inline std::string lost_call_text(const Visits& visits, const std::vector<Bits>& left, Bits last) {
  if (visits.n > std::size_t{visits.launch.grid} * visits.launch.block) return "";
  for (std::size_t i = 0; i < left.size(); ++i) {
    if (left[i] == last || std::count(visits.found.begin(), visits.found.end(), left[i]) > 0)
      continue;
    const std::string atomic =
        course::last_atomic_of<Bits>(visits.calls[i], visits.launch.block, half_text);
    return atomic.empty() ? ""
                          : "\nThe call with " + half_text(visits.values[i]) + " returned " +
                                half_text(visits.found[i]) + "." + atomic;
  }
  return "";
}

/// Ok if `last` is the result of all of them, and some order explains what they found.
template <class Operation>
course::Verdict explained(const std::string& name, const Visits& visits, Bits first, Bits last) {
  std::vector<Bits> left;
  Bits expected = first;
  for (std::size_t i = 0; i < visits.values.size(); ++i) {
    expected = Operation::result(expected, visits.values[i]);
    left.push_back(Operation::result(visits.found[i], visits.values[i]));
  }
  course::Verdict verdict = same_bits(name, last, expected);
  if (verdict) return one_chain(visits.found, left, first, last);
  verdict.text += inputs_text(visits, first) + lost_call_text(visits, left, last);
  return verdict;
}

/// Many threads at element `place` of two, which holds `first`; the other half of its word holds
/// `beside`.
template <class Operation>
void check_one(const std::vector<Bits>& values, unsigned place, Beside neighbour, Bits first,
               Bits beside, course::LaunchShape launch) {
  const char* const meanwhile = neighbour == Beside::stays ? ""
                                : neighbour == Beside::grows
                                    ? ", to which threads with an odd i add 1"
                                    : ", to which threads with an odd i add 1 and -1 alternately";
  INFO("x[" << place << "] of two held " << half_text(first) << ", its neighbour "
            << half_text(beside) << meanwhile);
  const std::size_t n = values.size();
  const auto d_values = course::DeviceBuffer<Bits>::from(values);
  course::GuardedBuffer<__half> x(2), returned(n);
  std::vector<Bits> start(2, first);
  start[place ^ 1u] = beside;
  half_checks::set_bits(x.data(), start);
  one_half_checks::one_element<<<launch.grid, launch.threads()>>>(
      Operation{}, d_values.data(), n, place, neighbour, x.data(), returned.data());
  CUDA_CHECK_LAUNCH();
  const std::vector<Bits> after = half_checks::get_bits(x.data(), 2),
                          found = half_checks::get_bits(returned.data(), n);
  float moved = float_of(beside);
  Visits visits{launch, n};
  for (std::size_t i = 0; i < n; ++i) {
    if (neighbour != Beside::stays && i % 2 == 1) {
      moved += neighbour == Beside::comes_and_goes && i % 4 == 3 ? -1.0f : 1.0f;
    } else {
      visits.add(i, values[i], found[i]);
    }
  }
  const Bits other = neighbour == Beside::stays ? beside : bits_of(moved);
  REQUIRE(
      same_bits("x[" + std::to_string(place ^ 1u) + "], the neighbour", after[place ^ 1u], other));
  REQUIRE(explained<Operation>("x[" + std::to_string(place) + "]", visits, first, after[place]));
  REQUIRE(x.intact("x"));
}

/// Threads that bring values to each of a few elements, which are neighbours of each other. The
/// array begins at start[offset]; what is around it must stay.
template <class Operation>
void check_few(const std::vector<Bits>& values, unsigned elements, const std::vector<Bits>& start,
               unsigned offset, course::LaunchShape launch) {
  const std::size_t n = values.size();
  INFO("value i is for x[i % " << elements << "], x begins " << 2 * offset
                               << " bytes past a multiple of 256");
  const auto d_values = course::DeviceBuffer<Bits>::from(values);
  course::GuardedBuffer<__half> x(start.size()), returned(n);
  half_checks::set_bits(x.data(), start);
  __half* const array = x.data() + offset;  // reports call memory by the launch's arguments
  one_half_checks::few_elements<<<launch.grid, launch.threads()>>>(
      Operation{}, d_values.data(), n, elements, array, returned.data());
  CUDA_CHECK_LAUNCH();
  const std::vector<Bits> after = half_checks::get_bits(x.data(), start.size()),
                          found = half_checks::get_bits(returned.data(), n);
  for (std::size_t at = 0; at < start.size(); ++at) {
    Visits visits{launch, n};
    for (std::size_t i = 0; i < n; ++i) {
      if (offset + i % elements == at) visits.add(i, values[i], found[i]);
    }
    const std::string index = std::to_string(static_cast<long>(at) - static_cast<long>(offset));
    const std::string name =
        "x[" + index + "]" + (visits.values.empty() ? ", which no thread uses" : "");
    REQUIRE(explained<Operation>(name, visits, start[at], after[at]));
  }
  REQUIRE(x.intact("x"));
}

/// Blocks whose threads share start[2] and start[3] in shared memory, alternately.
template <class Operation>
void check_shared(const std::vector<Bits>& values, unsigned block, const std::vector<Bits>& start) {
  const std::size_t n = values.size();
  const unsigned blocks = course::blocks_for(n, block);
  const auto d_values = course::DeviceBuffer<Bits>::from(values);
  course::DeviceBuffer<__half> d_start(6), d_left(6 * blocks), returned(n);
  half_checks::set_bits(d_start.data(), start);
  one_half_checks::word_of_the_block<<<blocks, block>>>(
      Operation{}, d_values.data(), n, d_start.data(), d_left.data(), returned.data());
  CUDA_CHECK_LAUNCH();
  const std::vector<Bits> after = half_checks::get_bits(d_left.data(), 6 * blocks),
                          found = half_checks::get_bits(returned.data(), n);
  for (std::size_t b = 0; b < blocks; ++b) {
    INFO("in shared memory of block " << b);
    for (std::size_t place = 0; place < 6; ++place) {
      Visits visits{{blocks, block}, n};
      for (std::size_t i = b * block; i < std::min(n, (b + 1) * block); ++i) {
        if (place == 2 + i % 2) visits.add(i, values[i], found[i]);
      }
      REQUIRE(explained<Operation>("s_x[" + std::to_string(place) + "]", visits, start[place],
                                   after[6 * b + place]));
    }
  }
}

}  // namespace one_half_checks
