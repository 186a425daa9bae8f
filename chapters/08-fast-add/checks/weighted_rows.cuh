// For the check of index_add_rows: rows, their weights, and the table that is right.
#pragma once

#include <cuda_bf16.h>

#include <algorithm>
#include <cmath>
#include <course/cases.cuh>
#include <course/device.cuh>
#include <course/verdict.cuh>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "inputs.cuh"

namespace weighted_rows {

using bf16 = __nv_bfloat16;

inline bf16 from_bits(unsigned bits) {
  return __ushort_as_bfloat16(static_cast<unsigned short>(bits));
}

enum class Data { distinct, special, crowded, ties };
const char* const kDataTexts[] = {
    "every row of the table gets one row or none",
    ("every row of the table gets one row or none; zeros, infinities and NaN among the weights and "
     "elements"),
    "1 and -1, many rows to each row of the table",
    ("every row of the table gets one row or none; products that, rounded to float, lie halfway "
     "between two bfloat16")};

struct Shape {
  std::size_t rows, width, table_rows;
  bool odd_source = false, odd_table = false;
};

struct Input {
  std::vector<bf16> source, table;
  std::vector<int> index;
  std::vector<float> weight;
};

/// A number with all of its bits in use, from 1/2 to 2, or one of its negatives.
inline float uneven(std::uint64_t i) {
  const float x = 0.5f + static_cast<float>(mixed(i) >> 40) / 0x1p24f * 1.5f;
  return (mixed(i) & 1) != 0 ? -x : x;
}

/// Rows of the table that get a row of the source hold -0.0, so what is added must be there
/// afterwards, bit by bit. The others hold what must not change.
inline Input make_input(Data data, const Shape& shape) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const float specials[] = {0.0f, -0.0f, kInfinity, -1.0f, std::nanf(""), 0x1p-130f, 0x1p100f};
  const unsigned untouched[] = {0x8000, 0x0000, 0x7F80, 0x0001, 0x8001, 0x3FC1, 0xFF80};
  Input input;
  for (std::size_t i = 0; i < shape.rows * shape.width; ++i) {
    float x = uneven(i);
    if (data == Data::special) x = specials[i % 7];
    if (data == Data::crowded) x = (mixed(i) & 1) != 0 ? 1.0f : -1.0f;
    if (data == Data::ties) {
      x = std::ldexp(i % 2 == 0 ? 1.0f : -1.0f, static_cast<int>(i % 7)) * (i % 3 == 0 ? 1.25f : 1);
    }
    input.source.push_back(__float2bfloat16_rn(x));
  }
  for (std::size_t r = 0; r < shape.rows; ++r) {
    float w = uneven(~r);
    if (data == Data::special) w = specials[(r + 3) % 7];
    if (data == Data::crowded) w = (mixed(~r) & 1) != 0 ? 1.0f : -1.0f;
    if (data == Data::ties) {
      w = 1.0f + (r % 2 == 0 ? 0x1p-8f : 0x3p-8f);  // one goes down to even, one up
      if (r % 4 > 1) w /= 1.25f;  // times 1.25 it is a tie in float, and none before that rounding
    }
    input.weight.push_back(w);
  }
  if (data == Data::crowded) {
    if (shape.table_rows > 0) input.index = random_index(shape.rows, shape.table_rows);
    input.table.assign(shape.table_rows * shape.width, __float2bfloat16_rn(3.0f));
    return input;
  }
  for (std::size_t t = 0; t < shape.table_rows * shape.width; ++t) {
    input.table.push_back(from_bits(untouched[mixed(t) % 7]));
  }
  // Every other row of the table, from the last one on: between them are rows that get none.
  for (std::size_t r = 0; r < shape.rows; ++r) {
    const std::size_t to = shape.table_rows - 1 - 2 * r;
    input.index.push_back(static_cast<int>(to));
    for (std::size_t c = 0; c < shape.width; ++c) {
      input.table[to * shape.width + c] = from_bits(0x8000);
    }
  }
  return input;
}

/// The table afterwards. Exact in any order: single additions to -0.0, or small whole numbers.
inline std::vector<bf16> reference(const Input& input, const Shape& shape, int launches) {
  std::vector<bf16> table = input.table;
  for (std::size_t i = 0; i < launches * input.source.size(); ++i) {
    const std::size_t at = i % input.source.size(), r = at / shape.width;
    const float added =
        __bfloat162float(__float2bfloat16_rn(input.weight[r] * __bfloat162float(input.source[at])));
    bf16& sum = table[static_cast<std::size_t>(input.index[r]) * shape.width + at % shape.width];
    sum = __float2bfloat16_rn(__bfloat162float(sum) + added);
  }
  return table;
}

/// Ok if both are the same, bit by bit, or both NaN.
inline course::Verdict same_bits(const std::vector<bf16>& found, const std::vector<bf16>& expected,
                                 const Input& input, const Shape& shape) {
  for (std::size_t t = 0; t < expected.size(); ++t) {
    if (bits_of(found[t]) == bits_of(expected[t])) continue;
    const float f = __bfloat162float(found[t]), e = __bfloat162float(expected[t]);
    if (std::isnan(f) && std::isnan(e)) continue;
    const auto text = [](float x) {
      return x == 0 && std::signbit(x) ? std::string("-0") : course::number_text(x);
    };
    const std::size_t row = t / shape.width, column = t % shape.width;
    const auto at = [&](const char* name, std::size_t r) {
      return std::string(name) + "[" + std::to_string(r) + "]";
    };
    const std::string c = "[" + std::to_string(column) + "]";
    std::string inputs = "It held " + text(__bfloat162float(input.table[t]));
    std::size_t rows = 0;
    for (std::size_t r = 0; r < input.index.size(); ++r) {
      if (static_cast<std::size_t>(input.index[r]) != row || ++rows > 2) continue;
      inputs += (rows > 1 ? ", and " : "; added is ") + at("weight", r) + " = " +
                text(input.weight[r]) + " times " + at("source", r) + c + " = " +
                text(__bfloat162float(input.source[r * shape.width + column]));
    }
    if (rows == 0) inputs += ", and nothing is added to this row";
    if (rows > 2) inputs += ", ... (" + std::to_string(rows) + " rows)";
    return {false, at("table", row) + c + ": expected " + text(e) + ", found " + text(f) + "\n" +
                       inputs + "."};
  }
  return {};
}

/// Words of the table in which a row has elements, for all rows.
inline std::uint64_t words_touched(const Input& input, const Shape& shape) {
  std::uint64_t words = 0;
  for (const int index : input.index) {
    const std::size_t begin =
        static_cast<std::size_t>(index) * shape.width + (shape.odd_table ? 1 : 0);
    words += (begin + shape.width + 1) / 2 - begin / 2;
  }
  return words;
}

/// "1 row of 7 columns into a table of 5 rows"
inline std::string sizes_text(const Shape& shape) {
  return course::counted(shape.rows, "row") + " of " + course::counted(shape.width, "column") +
         " into a table of " + course::counted(shape.table_rows, "row");
}

inline std::string describe(const Shape& shape, course::LaunchShape launch,
                            const std::string& data) {
  const auto multiple = [](bool odd) { return odd ? "no multiple of 4" : "a multiple of 4"; };
  return sizes_text(shape) + ": " + data + "; source is " + multiple(shape.odd_source) +
         ", table is " + multiple(shape.odd_table) + "; " +
         course::launch_text("index_add_rows", launch);
}

inline course::Verdict side_by_side(double sectors) {
  if (sectors <= 8) return {};
  return {false, "sectors per request: expected at most 8, found " + course::number_text(sectors) +
                     "; neighbouring threads take neighbouring words of a row"};
}

/// Ok if an atomic read the neighbour, which is reported as uninitialised.
inline course::Verdict takes_the_pair(const course::Findings& findings, std::size_t at,
                                      std::size_t other) {
  if (findings.others > 0) return {};
  const std::string one = "table[" + std::to_string(at) + "]";
  return {false, "atomics: expected one on the word of " + one + " and table[" +
                     std::to_string(other) + "], found one on " + one +
                     " alone; atomicAdd(__nv_bfloat16*) is a loop, for words that leave the table"};
}

}  // namespace weighted_rows
