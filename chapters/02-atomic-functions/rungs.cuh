// The rungs of chapter 02, each once: its launch, and what is known of it. ladder.cu and the
// self-checks read these tables.
#pragma once

#include <course/launch.cuh>
#include <course/rungs.cuh>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "contention.cuh"
#include "maximum.cuh"
#include "message.cuh"
#include "missing.cuh"
#include "orders.cuh"
#include "return_value.cuh"
#include "subnormals.cuh"

using course::Grid;

// ---- the maximum of n floats -------------------------------------------------------------------

/// A rung that raises *d_word to the maximum of x[0..n-1]: to its key, or to the float itself.
struct MaxRung {
  std::string name, changed;
  void (*raise)(Grid grid, const float* d_x, std::size_t n, unsigned* d_word);
  std::size_t (*atomics)(std::size_t n);  // on global memory; nullptr: they depend on the data
  unsigned (*blocks)(std::size_t n) = blocks_for;
  bool is_key = true;

  /// Sets *d_word; to a NaN if n is 0, which every number beats.
  void launch(const float* d_x, std::size_t n, unsigned* d_word) const {
    CUDA_CHECK(cudaMemsetAsync(d_word, is_key ? 0 : 0xFF, sizeof *d_word, nullptr));
    raise({blocks(n), kBlockSize}, d_x, n, d_word);
  }
  float value(unsigned word) const {
    float x = float_of_key(word);
    if (!is_key) std::memcpy(&x, &word, sizeof x);
    return x;
  }
};

inline std::vector<MaxRung> max_rungs() {
  using Floats = const float*;
  constexpr auto one_each = [](std::size_t n) { return n; };
  return {
      {.name = "max_cas",
       .changed = "an atomicCAS loop per element",
       .raise =
           [](Grid grid, Floats d_x, std::size_t n, unsigned* d_word) {
             auto* const d_max = reinterpret_cast<float*>(d_word);
             course::launch(max_cas, grid, d_x, n, d_max);
           },
       .atomics = nullptr,
       .is_key = false},
      {.name = "max_key",
       .changed = "atomicMax on integer keys, one per element",
       .raise = [](Grid grid, Floats d_x, std::size_t n,
                   unsigned* d_key) { course::launch(max_key, grid, d_x, n, d_key); },
       .atomics = one_each},
      {.name = "max_look_first",
       .changed = "a volatile look, and an atomic only if it can help",
       .raise = [](Grid grid, Floats d_x, std::size_t n,
                   unsigned* d_key) { course::launch(max_look_first, grid, d_x, n, d_key); },
       .atomics = nullptr},
      {.name = "max_per_thread",
       .changed = "a grid-stride loop, one atomic per thread",
       .raise = [](Grid grid, Floats d_x, std::size_t n,
                   unsigned* d_key) { course::launch(max_per_thread, grid, d_x, n, d_key); },
       .atomics = [](std::size_t n) { return std::size_t{resident_blocks_for(n)} * kBlockSize; },
       .blocks = resident_blocks_for},
      {.name = "max_vectorized",
       .changed = "four 16-byte loads on their way at a time",
       .raise = [](Grid grid, Floats d_x, std::size_t n,
                   unsigned* d_key) { course::launch(max_vectorized, grid, d_x, n, d_key); },
       .atomics = [](std::size_t n) { return n / (4 * kInFlight); },
       .blocks = vector_blocks_for},
      {.name = "max_block",
       .changed = "the block meets in shared memory, one global atomic per block",
       .raise = [](Grid grid, Floats d_x, std::size_t n,
                   unsigned* d_key) { course::launch(max_block, grid, d_x, n, d_key); },
       .atomics = [](std::size_t n) { return n / (4 * kInFlight) / kBlockSize; },
       .blocks = vector_blocks_for},
  };
}

/// Raises *d_max, which is one of the numbers before, to the maximum of x[0..n-1]: wrong on purpose
/// where all of them are below zero.
struct WrongMaxRung {
  std::string name, changed, because;
  void (*launch)(const float* d_x, std::size_t n, float* d_max);
};

inline std::vector<WrongMaxRung> wrong_max_rungs() {
  return {{"max_as_int", "atomicMax on the bits of floats, as an int",
           "bits of negative floats are ordered the other way: this is the minimum",
           [](const float* d_x, std::size_t n, float* d_max) {
             course::launch(max_as_int, {blocks_for(n), kBlockSize}, d_x, n, d_max);
           }}};
}

// ---- what atomicCAS builds ---------------------------------------------------------------------

/// Adds x[0] + ... + x[n-1] to *d_y: wrong on purpose, without a race.
struct StaleRung {
  std::string name, changed, because;
  void (*launch)(const double* d_x, std::size_t n, double* d_y);
};

inline std::vector<StaleRung> stale_rungs() {
  return {{"sum_double_stale", "a CAS loop whose sum is computed once",
           "it stores a sum of the value that was there before others added theirs",
           [](const double* d_x, std::size_t n, double* d_y) {
             course::launch(sum_double_stale, {blocks_for(n), kBlockSize}, d_x, n, d_y);
           }}};
}

/// Multiplies d_y[i % addresses] by x[i], i = 0..n-1. `addresses` is a power of two.
struct ProductRung {
  std::string name, changed;
  void (*launch)(const float* d_x, std::size_t n, std::size_t addresses, float* d_y);
};

inline std::vector<ProductRung> product_rungs() {
  return {{"multiply_cas", "no hardware multiplies: atomicCAS, 256 factors per address",
           [](const float* d_x, std::size_t n, std::size_t addresses, float* d_y) {
             course::launch(multiply_cas, {blocks_for(n), kBlockSize}, d_x, n, addresses - 1, d_y);
           }}};
}

/// Raises *d_max to the maximum of x[0..n-1]. A NaN in it is beaten by every number.
struct DoubleMaxRung {
  std::string name, changed;
  void (*launch)(const double* d_x, std::size_t n, double* d_max);
};

inline std::vector<DoubleMaxRung> double_max_rungs() {
  return {{"max_double_cas", "nor finds the larger double: atomicCAS, one address",
           [](const double* d_x, std::size_t n, double* d_max) {
             course::launch(max_double_cas, {blocks_for(n), kBlockSize}, d_x, n, d_max);
           }}};
}

// ---- subnormals --------------------------------------------------------------------------------

/// One thread adds `value` to *d_y.
struct SubnormalRung {
  std::string name, changed;
  void (*launch)(float value, float* d_y);
  std::string because = {};  // not empty: loses subnormals, wrong on purpose
};

inline std::vector<SubnormalRung> subnormal_rungs() {
  return {
      {.name = "add_subnormal_global",
       .changed = "atomicAdd on global memory",
       .launch =
           [](float value, float* d_y) {
             course::launch(add_subnormal_global, {1, 1}, value, d_y);
           },
       .because = "the L2 cache's float adder takes and gives 0 for every subnormal"},
      {.name = "add_subnormal_shared",
       .changed = "atomicAdd on shared memory",
       .launch =
           [](float value, float* d_y) {
             course::launch(add_subnormal_shared, {1, 1}, value, d_y);
           }},
  };
}

// ---- additions of 1 ----------------------------------------------------------------------------

/// A rung that adds n ones to d_y[0..addresses-1], thread i to d_y[i % addresses].
template <class T>
struct AddRung {
  std::string name, changed;
  void (*add)(Grid grid, std::size_t n, std::size_t mask, T* d_y);
  bool one_address = false;  // only *d_y, whatever `addresses` is
  bool fences = false;       // around each addition, which are slow on the CPU device

  /// `addresses` is a power of two.
  void launch(std::size_t n, std::size_t addresses, T* d_y) const {
    add({blocks_for(n), kBlockSize}, n, addresses - 1, d_y);
  }
};

/// By the number of addresses. `changed` names the curve.
template <class T>
std::vector<AddRung<T>> contention_rungs(const std::string& type) {
  return {{"add_" + type, type,
           [](Grid grid, std::size_t n, std::size_t mask, T* d_y) {
             course::launch(add_to_addresses<T>, grid, n, mask, d_y);
           }},
          {"add_" + type + "_to_one_known", type + ", address known",
           [](Grid grid, std::size_t n, std::size_t, T* d_y) {
             course::launch(add_to_one_known<T>, grid, n, d_y);
           },
           true}};
}

inline std::vector<AddRung<double>> double_rungs() {
  return {{"add_double_cas", "atomicCAS loop",
           [](Grid grid, std::size_t n, std::size_t mask, double* d_y) {
             course::launch(add_double_cas, grid, n, mask, d_y);
           }},
          {"add_double_native", "atomicAdd(double*)",
           [](Grid grid, std::size_t n, std::size_t mask, double* d_y) {
             course::launch(add_double_native, grid, n, mask, d_y);
           }}};
}

constexpr auto kDevice = cuda::thread_scope_device, kSystem = cuda::thread_scope_system;
constexpr auto kRelaxed = cuda::std::memory_order_relaxed;
constexpr auto kSeqCst = cuda::std::memory_order_seq_cst;

inline std::vector<AddRung<unsigned>> order_rungs() {
  return {
      {.name = "count_plain",
       .changed = "atomicAdd",
       .add = [](Grid grid, std::size_t n, std::size_t mask,
                 unsigned* d_y) { course::launch(count_plain, grid, n, mask, d_y); }},
      {.name = "count_relaxed_device",
       .changed = "cuda::atomic_ref, relaxed, this GPU",
       .add =
           [](Grid grid, std::size_t n, std::size_t mask, unsigned* d_y) {
             course::launch(count_ref<kDevice, kRelaxed>, grid, n, mask, d_y);
           }},
      {.name = "count_relaxed_system",
       .changed = "relaxed, the host and other GPUs too",
       .add =
           [](Grid grid, std::size_t n, std::size_t mask, unsigned* d_y) {
             course::launch(count_ref<kSystem, kRelaxed>, grid, n, mask, d_y);
           }},
      {.name = "count_seq_cst_device",
       .changed = "seq_cst, this GPU",
       .add =
           [](Grid grid, std::size_t n, std::size_t mask, unsigned* d_y) {
             course::launch(count_ref<kDevice, kSeqCst>, grid, n, mask, d_y);
           },
       .fences = true},
      {.name = "count_default",
       .changed = "the defaults: seq_cst, system",
       .add =
           [](Grid grid, std::size_t n, std::size_t mask, unsigned* d_y) {
             course::launch(count_ref<kSystem, kSeqCst>, grid, n, mask, d_y);
           },
       .fences = true},
  };
}

/// n threads arrive at counters, thread i at d_count[i % counters]; `counters` is a power of two.
struct ArrivalRung {
  std::string name, changed;
  bool
      finds_last;  // d_last[c] becomes the last thread at counter c of those that have n / counters
  void (*launch)(std::size_t n, std::size_t counters, unsigned* d_count, unsigned* d_last);
};

inline std::vector<ArrivalRung> arrival_rungs() {
  return {{"count_arrivals", "the result is thrown away: RED", false,
           [](std::size_t n, std::size_t counters, unsigned* d_count, unsigned*) {
             course::launch(count_arrivals, {blocks_for(n), kBlockSize}, n, counters - 1, d_count);
           }},
          {"count_and_see", "the result is looked at: ATOM", true,
           [](std::size_t n, std::size_t counters, unsigned* d_count, unsigned* d_last) {
             const auto per_counter = static_cast<unsigned>(n / counters);
             course::launch(count_and_see, {blocks_for(n), kBlockSize}, n, counters - 1,
                            per_counter, d_count, d_last);
           }}};
}

// ---- messages ----------------------------------------------------------------------------------

/// Hands n messages over. The flags are 0 before. Two blocks are resident on every device.
struct MessageRung {
  std::string name, changed;
  void (*launch)(std::size_t n, int* d_message, int* d_flag, int* d_received);
  std::string because = {};  // not empty: wrong on purpose
  std::string finding = {};  // what the CPU device then says
};

inline std::vector<MessageRung> message_rungs() {
  return {
      {.name = "hand_over_no_fence",
       .changed = "an atomic flag, no fence",
       .launch =
           [](std::size_t n, int* d_message, int* d_flag, int* d_received) {
             course::launch(hand_over<Fences::none>, {2, kBlockSize}, n, d_message, d_flag,
                            d_received);
           },
       .because = "an atomic orders nothing but itself: the flag may be seen before the message",
       .finding = "atomicExch publishes nothing but its own value"},
      {.name = "hand_over_writer_fence",
       .changed = "a fence in the writer only",
       .launch =
           [](std::size_t n, int* d_message, int* d_flag, int* d_received) {
             course::launch(hand_over<Fences::writer_only>, {2, kBlockSize}, n, d_message, d_flag,
                            d_received);
           },
       .because = "the reader may have looked at the message before it looked at the flag",
       .finding = "What follows atomicAdd may come before it"},
      {.name = "hand_over_fences",
       .changed = "__threadfence() on both sides",
       .launch =
           [](std::size_t n, int* d_message, int* d_flag, int* d_received) {
             course::launch(hand_over<Fences::both>, {2, kBlockSize}, n, d_message, d_flag,
                            d_received);
           }},
      {.name = "hand_over_release_acquire",
       .changed = "cuda::atomic_ref: release here, acquire there",
       .launch =
           [](std::size_t n, int* d_message, int* d_flag, int* d_received) {
             course::launch(hand_over_release_acquire, {2, kBlockSize}, n, d_message, d_flag,
                            d_received);
           }},
  };
}
