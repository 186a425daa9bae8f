// The data of the check of block_argmax: matrices of every kind, and the largest element of each row.
#pragma once

#include <cmath>
#include <course/data.cuh>
#include <course/verdict.cuh>
#include <cstddef>
#include <limits>
#include <string>
#include <vector>

inline constexpr float kInfinity = std::numeric_limits<float>::infinity();
inline constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

/// A kind of data: the element in row r and column c, where `random` is 1 to 1000.
struct Kind {
  std::string text;
  float (*element)(unsigned r, unsigned c, int random);
};

/// All elements of a row differ: multiples of a number that has no factor in common with 4093.
inline float distinct(unsigned r, unsigned c) {
  return static_cast<float>((c * 1021u + r * 37u) % 4093u);
}

inline const Kind kDistinct{"no two alike",
                            [](unsigned r, unsigned c, int) { return distinct(r, c); }};
inline const Kind kBelowZero{"all below zero",
                             [](unsigned r, unsigned c, int) { return -5.0f - distinct(r, c); }};
inline const Kind kTies{"the largest one is there several times",
                        [](unsigned, unsigned, int random) {
                          return random % 8 == 0 ? 7.0f : static_cast<float>(random % 7);
                        }};
inline const Kind kFalling{"the largest one comes first",
                           [](unsigned, unsigned c, int) { return -static_cast<float>(c); }};
inline const Kind kNanAmong{"some are NaN", [](unsigned r, unsigned c, int random) {
                              return random % 3 != 0 ? kNan : -distinct(r, c);
                            }};
inline const Kind kNanOnly{"every other row is nothing but NaN", [](unsigned r, unsigned c, int) {
                             return r % 2 == 0 ? kNan : -distinct(r, c);
                           }};
inline const Kind kKinds[] = {
    kDistinct,
    kBelowZero,
    kTies,
    {"all are equal", [](unsigned r, unsigned, int) { return static_cast<float>(r); }},
    {"the largest one comes last",
     [](unsigned, unsigned c, int) { return static_cast<float>(c) - 100.0f; }},
    kFalling,
    kNanAmong,
    kNanOnly,
    {"-infinity and NaN",
     [](unsigned, unsigned, int random) { return random % 4 == 0 ? -kInfinity : kNan; }},
};

struct Matrix {
  std::string text;  // what a message says of its elements
  unsigned rows, columns;
  std::vector<float> x;
};

inline Matrix matrix(const Kind& kind, unsigned rows, unsigned columns) {
  Matrix m{kind.text, rows, columns, {}};
  const std::vector<int> random = course::position_values<int>(std::size_t{rows} * columns);
  for (unsigned r = 0; r < rows; ++r) {
    for (unsigned c = 0; c < columns; ++c) m.x.push_back(kind.element(r, c, random[m.x.size()]));
  }
  return m;
}

/// What row r's result is computed from: "x[300..599], of which x[417] = 3 is the largest number".
inline std::string row_text(const Matrix& m, std::size_t r, unsigned where) {
  const std::size_t first = r * m.columns;
  if (m.columns == 0) return "a row without columns";
  const std::string row =
      "x[" + std::to_string(first) + ".." + std::to_string(first + m.columns - 1) + "]";
  if (where == m.columns) return row + ", which are all NaN";
  return row + ", of which " + course::elements_text("x", m.x, first + where, first + where + 1) +
         ", column " + std::to_string(where) + ", is the first of the largest numbers";
}

/// What block_argmax writes.
struct Answer {
  std::vector<float> best;
  std::vector<unsigned> where;
};

inline Answer reference(const Matrix& m) {
  Answer answer;
  for (unsigned r = 0; r < m.rows; ++r) {
    float best = -kInfinity;
    unsigned where = m.columns;
    for (unsigned c = 0; c < m.columns; ++c) {
      const float value = m.x[std::size_t{r} * m.columns + c];
      if (std::isnan(value)) continue;
      if (where == m.columns || value > best) {
        best = value;
        where = c;
      }
    }
    answer.best.push_back(best);
    answer.where.push_back(where);
  }
  return answer;
}
