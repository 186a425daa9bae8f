// For the ladder: tables, what they are compared with, and rungs that begin with a table of zeros.
#pragma once

#include <cuda_fp16.h>

#include <course/buffer.cuh>
#include <course/ladder.cuh>
#include <course/verdict.cuh>
#include <cstddef>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "inputs.cuh"

/// A table against one that is right to the last bit.
template <class T>
bool same_bits(const std::vector<T>& found, const std::vector<T>& expected) {
  return std::memcmp(found.data(), expected.data(), expected.size() * sizeof(T)) == 0;
}

/// What the table of a rung is compared with.
template <class Table>
struct Judge {
  /// Exact sums.
  explicit Judge(const std::vector<double>& right)
      : expected(right), exact(rounded<Table>(right)) {}
  /// Sums within `distance` of these, which may be others than the exact ones.
  Judge(const std::vector<double>& right, std::vector<double> around, std::vector<double> distance)
      : expected(right), center(std::move(around)), bounds(std::move(distance)) {}

  course::Verdict verdict(const std::vector<Table>& found) const {
    if (!bounds.empty()) return within(found, center, bounds);
    return same_bits(found, exact) ? course::Verdict{} : course::same(found, exact, "table");
  }
  course::Errors errors(const std::vector<Table>& found) const {
    // Compared as bytes first, which is quick: the table may have 2^26 elements.
    const bool none = bounds.empty() && same_bits(found, exact);
    return none ? course::Errors{} : errors_of(found, expected);
  }

  const std::vector<double>& expected;
  std::vector<Table> exact = {};
  std::vector<double> center = {}, bounds = {};
};

/// A table of halves and one of floats.
struct Tables {
  explicit Tables(std::size_t elements) : halves(elements), floats(elements) {}
  template <class Table>
  course::DeviceBuffer<Table>& of() {
    if constexpr (std::is_same_v<Table, float>) {
      return floats;
    } else {
      return halves;
    }
  }
  course::DeviceBuffer<__half> halves;
  course::DeviceBuffer<float> floats;
};

/// A rung that begins with a table of zeros. `bytes` and `operations` are those of its updates.
template <class Table>
course::Rung table_rung(const std::string& name, const std::string& changed,
                        course::DeviceBuffer<Table>& table, std::function<void()> launch,
                        Judge<Table> right, std::size_t bytes, std::size_t operations) {
  const auto judge = std::make_shared<const Judge<Table>>(std::move(right));
  return {.name = name,
          .changed = changed,
          .reset = [&table] { table.fill_bytes(0); },
          .launch = std::move(launch),
          .result = [&table] { return static_cast<double>(static_cast<float>(table.front())); },
          .check = [&table, judge] { return judge->verdict(table.download()); },
          .errors = [&table, judge] { return judge->errors(table.download()); },
          .bytes = bytes + 2 * table.bytes(),
          .operations = operations};
}
