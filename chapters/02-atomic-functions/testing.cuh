// What several self-checks of this chapter share: an operation is applied by one thread, or by many
// to one cell, on global and on shared memory.
#pragma once

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <course/check.cuh>
#include <cstddef>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "chain.cuh"
#include "functions.cuh"

using chain_checks::bits_of, chain_checks::one_chain;
using ull = unsigned long long;

constexpr int kIntMin = std::numeric_limits<int>::min(), kIntMax = std::numeric_limits<int>::max();
constexpr unsigned kUintMax = std::numeric_limits<unsigned>::max();
constexpr ull kUllMax = std::numeric_limits<ull>::max();
constexpr long long kLlMin = std::numeric_limits<long long>::min();

template <class T>
T number(int i) {
  if constexpr (std::is_arithmetic_v<T>) {
    return static_cast<T>(i);
  } else {
    return T(static_cast<float>(i));
  }
}

/// An operation on a type, as functions: what does not depend on the operation is compiled once.
template <class T>
struct Calls {
  using Apply = void (*)(const T* d_values, std::size_t n, T* d_cell, T* d_returned);
  const char* name;
  Apply global, shared;
  T (*next)(T, T);
};
template <class Operation, class T>
Calls<T> calls() {
  return {Operation::kName,
          [](const T* d_values, std::size_t n, T* d_cell, T* d_returned) {
            course::launch(apply_global<Operation, T>, {blocks_for(n), kBlockSize}, d_values, n,
                           d_cell, d_returned);
          },
          [](const T* d_values, std::size_t n, T* d_cells, T* d_returned) {
            course::launch(apply_shared<Operation, T>, {blocks_for(n), kBlockSize}, d_values, n,
                           d_cells, d_returned);
          },
          [](T old, T value) { return Operation::next(old, value); }};
}

/// Tells the two zeros apart, and compares NaN.
template <class T>
course::Verdict same_bits(T found, T expected, const std::string& name) {
  const std::string text = course::number_text(found);
  if (bits_of(found) == bits_of(expected)) return {.figure = {name, text}};
  return {false, name + ": expected " + course::number_text(expected) + ", found " + text};
}

template <class T>
void check_one_call(const Calls<T>& operation, T old, T value, T expected) {
  INFO(operation.name << ": finds " << course::number_text(old) << ", value "
                      << course::number_text(value));
  const auto values = course::DeviceBuffer<T>::from({value});
  for (const bool shared : {false, true}) {
    INFO((shared ? "shared" : "global") << " memory");
    auto cell = course::DeviceBuffer<T>::from({old});
    course::DeviceBuffer<T> returned(1);
    (shared ? operation.shared : operation.global)(values.data(), 1, cell.data(), returned.data());
    REQUIRE(same_bits(cell.front(), expected, "leaves"));
    REQUIRE(same_bits(returned.front(), old, "returns"));
  }
}

template <class T>
void check_many_calls(const Calls<T>& operation, const std::vector<T>& values, T start) {
  const std::size_t n = values.size();
  INFO(operation.name << " by " << n << " threads, " << sizeof(T) << " bytes, starting at "
                      << course::number_text(start));
  const auto d_values = course::DeviceBuffer<T>::from(values);
  course::DeviceBuffer<T> returned(n);
  for (const bool shared : {false, true}) {
    INFO((shared ? "shared" : "global") << " memory");
    // In shared memory every block has a cell, and so a chain, of its own.
    const std::size_t cells = shared ? blocks_for(n) : 1, per_cell = shared ? kBlockSize : n;
    auto cell = course::DeviceBuffer<T>::from(std::vector<T>(cells, start));
    (shared ? operation.shared : operation.global)(d_values.data(), n, cell.data(),
                                                   returned.data());
    const std::vector<T> all_found = returned.download(), last = cell.download();
    for (std::size_t c = 0; c < cells; ++c) {
      std::vector<T> found, left;
      for (std::size_t i = c * per_cell; i < std::min(n, (c + 1) * per_cell); ++i) {
        found.push_back(all_found[i]);
        left.push_back(operation.next(all_found[i], values[i]));
      }
      INFO("cell " << c);
      REQUIRE(one_chain(found, left, start, last[c]));
    }
  }
}

/// One thread, one cell: what is left in it, and what is returned.
template <class Operation, class T>
void check_one(T old, T value, T expected) {
  check_one_call(calls<Operation, T>(), old, value, expected);
}

/// Many threads at one cell (one for each block in shared memory): some order of them explains
/// what is returned and what is left.
template <class Operation, class T>
void check_many(const std::vector<T>& values, T start) {
  check_many_calls(calls<Operation, T>(), values, start);
}

/// Different values for n threads, without order; the largest is n + 1.
template <class T>
std::vector<T> mixed(std::size_t n) {
  std::vector<T> values(n);
  for (std::size_t i = 0; i < n; ++i) {
    values[i] = number<T>(static_cast<int>((i * 577 + 11) % n) + 2);
  }
  return values;
}

/// n threads that shall count from 0: each value from 1 to n, shuffled.
template <class T>
std::vector<T> steps(std::size_t n) {
  std::vector<T> values(n);
  for (std::size_t i = 0; i < n; ++i) values[i] = static_cast<T>((i * 577 + 11) % n + 1);
  return values;
}

/// Three blocks, the last one not full; shares no factor with 577.
constexpr std::size_t kMany = 601;
