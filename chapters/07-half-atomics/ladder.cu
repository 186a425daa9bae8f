// Runs the rungs of chapter 07: sums of 16-bit numbers by atomics, with their times and errors.
#include <algorithm>
#include <bit>
#include <cmath>
#include <course/buffer.cuh>
#include <course/data.cuh>
#include <course/ladder.cuh>
#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "add_half.cuh"
#include "add_half2.cuh"
#include "article.cuh"
#include "cas16.cuh"
#include "half_bits.cuh"
#include "pack.cuh"
#include "packing_ways.cuh"
#include "stagnation.cuh"
#include "table.cuh"

namespace {

double number(__half x) { return static_cast<double>(static_cast<float>(x)); }

/// Ok if `found` is what the arithmetic of its type predicts: nothing was lost, and nothing is
/// exact that cannot be.
course::Verdict as_predicted(double found, double predicted, const std::string& name) {
  return course::same(found, predicted, name, "(the prediction)");
}

// ---- the article's benchmark -------------------------------------------------------------------

void article(course::Ladder& ladder, std::size_t n) {
  const __half value(kArticleValue), zero(0.0f), p = article_product();
  const __half twice(2.0f * static_cast<float>(p));
  const auto d_a = course::DeviceBuffer<__half>::from(std::vector<__half>(n, value));
  const auto d_b = course::DeviceBuffer<__half>::from(std::vector<__half>(n, value));
  course::DeviceBuffer<__half> d_y(2);
  const __half *const a = d_a.data(), *const b = d_b.data();
  __half* const y = d_y.data();
  const auto rung = [&](const char* name, const char* changed, auto launch, auto result,
                        double predicted) {
    ladder.rung({.name = name,
                 .changed = changed,
                 .reset = [&] { d_y.fill_bytes(0); },
                 .launch = launch,
                 .result = result,
                 .check = [=] { return as_predicted(result(), predicted, "y"); },
                 .bytes = d_a.bytes() + d_b.bytes(),
                 .n = n,
                 .operations = n});
  };
  const auto first = [&] { return number(d_y.front()); };
  const auto both = [&] {
    const std::vector<__half> sums = d_y.download();
    return number(sums[0]) + number(sums[1]);
  };
  const double by_ones = number(add_in_steps(zero, p, n).sum);
  const double by_twos = number(add_in_steps(zero, twice, n / 2).sum);
  const double by_lanes =
      number(add_in_steps(zero, p, (n + 1) / 2).sum) + number(add_in_steps(zero, p, n / 2).sum);

  ladder.reference("article_reference", article_reference(n), "n products of half(0.1), exactly",
                   n);
  rung(
      "dot_each<__half>", "one atomicAdd(__half*) a thread: the article's kernel 0",
      [&] { dot_each(a, b, n, y, nullptr); }, first, by_ones);
  if (n % 2 == 0) {  // else the result depends on when the last product comes
    rung(
        "dot_pack", "two products a thread, added to both halves of a pair: its kernel 1",
        [&] { dot_pack(a, b, n, reinterpret_cast<course::Pack<__half, 2>*>(d_y.data()), nullptr); },
        first, by_twos);
  }
  rung(
      "dot_padded", "the product and -0.0 as a pair: the core of its kernel 2",
      [&] { dot_padded(a, b, n, y, nullptr); }, first, by_ones);
  rung(
      "dot_two_lanes", "each half of the pair has products of its own",
      [&] { dot_two_lanes(a, b, n, reinterpret_cast<__half2*>(d_y.data()), nullptr); }, both,
      by_lanes);

  const std::vector<double> doubles(n, number(value));
  const auto d_c = course::DeviceBuffer<double>::from(doubles);
  const auto d_d = course::DeviceBuffer<double>::from(doubles);
  course::DeviceBuffer<double> d_sum(1);
  ladder.rung({.name = "dot_each<double>",
               .changed = "kernel 0 in double",
               .reset = [&] { d_sum.fill_bytes(0); },
               .launch = [&] { dot_each(d_c.data(), d_d.data(), n, d_sum.data(), nullptr); },
               .result = [&] { return d_sum.front(); },
               .bytes = d_c.bytes() + d_d.bytes(),
               .n = n,
               .operations = n});
}

// ---- counting ----------------------------------------------------------------------------------

template <class T>
void ones_of(course::Ladder& ladder, const char* name, const char* changed, std::size_t n) {
  course::DeviceBuffer<T> d_y(2);  // whole words: a loop reads the neighbour, too
  const auto result = [&] { return static_cast<double>(static_cast<float>(d_y.front())); };
  const T predicted = add_in_steps(T(0.0f), T(1.0f), n).sum;
  ladder.rung({.name = name,
               .changed = changed,
               .reset = [&] { d_y.fill_bytes(0); },
               .launch = [&] { add_ones(n, d_y.data(), nullptr); },
               .result = result,
               .check =
                   [&] {
                     const auto expected = static_cast<double>(static_cast<float>(predicted));
                     return as_predicted(result(), expected, "y");
                   },
               .n = n,
               .operations = n});
}

void ones(course::Ladder& ladder) {
  constexpr std::size_t kN = 4096;
  ladder.reference("n", static_cast<double>(kN), "every thread adds 1", kN);
  ones_of<float>(ladder, "add_ones<float>", "stands still at 2^24", kN);
  ones_of<__half>(ladder, "add_ones<__half>", "stands still at 2^11", kN);
  ones_of<__nv_bfloat16>(ladder, "add_ones<__nv_bfloat16>", "stands still at 2^8", kN);
}

/// A sum that moves all the time, so that a guess is soon out of date.
void alternating(course::Ladder& ladder) {
  const std::size_t n = course::kCpuDevice ? 512 : 4096;
  course::DeviceBuffer<__half> d_y(2);
  const auto rung = [&](const char* name, const char* changed, auto launch) {
    ladder.rung({.name = name,
                 .changed = changed,
                 .reset = [&] { d_y.fill_bytes(0); },
                 .launch = [&] { launch(n, d_y.data(), cudaStream_t{}); },
                 .result = [&] { return number(d_y.front()); },
                 .n = n,
                 .operations = n});
  };
  ladder.reference("zero", static_cast<double>(n % 2), "1 and -1 in turn, one address", n);
  rung("alternate<Way::cas>", "a loop of atomicCAS on the word",
       [](auto... arguments) { alternate<Way::cas>(arguments...); });
  rung("alternate<Way::atomic_add>", "atomicAdd(__half*)",
       [](auto... arguments) { alternate<Way::atomic_add>(arguments...); });
  rung("alternate<Way::padded_pair>", "atomicAdd(__half2*), the other half gets -0.0",
       [](auto... arguments) { alternate<Way::padded_pair>(arguments...); });
}

// ---- many cells, and few ------------------------------------------------------------------------

/// n numbers of 0.5 to 1 for a table. A cell gets the same number again and again, another one than
/// other cells: so its sum does not depend on the order, and every cell's can be predicted.
template <class T>
struct Job {
  Job(std::size_t size, std::size_t table_rows)
      : n(size), rows(table_rows), exact(rows * kRow, 0.0), predicted(rows * kRow, 0.0) {
    const std::size_t cells = rows * kRow;
    std::vector<T> x(n), value(cells);
    std::vector<std::size_t> count(cells, 0);
    for (std::size_t c = 0; c < cells; ++c) {
      value[c] = T(0.5f + static_cast<float>(1 + c * 389 % 1023) / 2048.0f);
    }
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t cell = cell_of(i, rows - 1);
      x[i] = value[cell];
      ++count[cell];
    }
    std::map<std::pair<float, std::size_t>, double> known;  // there are 1023 different numbers
    for (std::size_t c = 0; c < cells; ++c) {
      const auto as_float = static_cast<float>(value[c]);
      const auto [at, is_new] = known.try_emplace({as_float, count[c]});
      if (is_new) {
        at->second =
            static_cast<double>(static_cast<float>(add_in_steps(T(0.0f), value[c], count[c]).sum));
      }
      predicted[c] = at->second;
      exact[c] = static_cast<double>(as_float) * static_cast<double>(count[c]);
      total += exact[c];
    }
    d_x = course::DeviceBuffer<T>::from(x);
    d_table = course::DeviceBuffer<T>(cells);
  }

  template <class Launch>
  course::Rung rung(const char* name, const char* changed, Launch launch) {
    return {.name = name,
            .changed = changed,
            .reset = [this] { d_table.fill_bytes(0); },
            .launch = [=, this] { launch(d_x.data(), n, rows, d_table.data(), cudaStream_t{}); },
            .result =
                [this] {
                  double sum = 0.0;
                  for (const T& cell : d_table.download()) sum += static_cast<float>(cell);
                  return sum;
                },
            .check = [this] { return course::close(d_table.download(), predicted, 0.0, "table"); },
            .errors =
                [this] {
                  const std::vector<T> table = d_table.download();
                  course::Errors errors;
                  for (std::size_t c = 0; c < table.size(); ++c) {
                    const auto found = static_cast<double>(static_cast<float>(table[c]));
                    const double error = std::fabs(found - exact[c]);
                    errors.max = std::max(errors.max, error);
                    errors.mean += error / static_cast<double>(table.size());
                  }
                  return errors;
                },
            .bytes = d_x.bytes(),
            .n = n,
            .operations = n};
  }

  std::size_t n, rows;
  std::vector<double> exact, predicted;
  double total = 0.0;
  course::DeviceBuffer<T> d_x, d_table;
};

/// A table for `size` numbers that come to each of its cells, a power of two.
std::size_t rows_for(std::size_t n, std::size_t size) {
  return std::bit_floor(std::max<std::size_t>(n / (kRow * size), 1));
}

/// The same numbers into a table of half, then into one of float.
void table(course::Ladder& ladder, const std::string& how, std::size_t n, std::size_t rows) {
  Job<__half> job(n, rows);
  ladder.reference("table_reference", job.total,
                   how + ": " + std::to_string(rows * kRow) + ", in double; the sum of all", n);
  if (!course::kCpuDevice || rows > 1) {  // eight cells for all: too many turns for the CPU device
    ladder.rung(job.rung("add_half_cas16", "a loop of atomicCAS(unsigned short*)",
                         [](auto... arguments) { add_half_cas16(arguments...); }));
    ladder.rung(job.rung("add_half_cas", "a loop of atomicCAS on the word",
                         [](auto... arguments) { add_half_cas(arguments...); }));
  }
  ladder.rung(job.rung("add_half", "atomicAdd(__half*)",
                       [](auto... arguments) { add_half(arguments...); }));
  ladder.rung(job.rung("add_padded_pair", "atomicAdd(__half2*), the other half gets -0.0",
                       [](auto... arguments) { add_padded_pair(arguments...); }));
  ladder.rung(job.rung("add_half2", "atomicAdd(__half2*), two numbers",
                       [](auto... arguments) { add_half2(arguments...); }));
  ladder.rung(job.rung("red_half2", "red.f16x2, without an answer",
                       [](auto... arguments) { red_half2(arguments...); }));
  ladder.rung(job.rung("red_half8", "red.v4.f16x2, eight numbers",
                       [](auto... arguments) { red_half8(arguments...); }));
  Job<float> floats(n, rows);
  ladder.rung(floats.rung("add_packs<float, 1>", "float: one number an atomic",
                          [](auto... arguments) { add_packs<float, 1>(arguments...); }));
  ladder.rung(floats.rung("add_packs<float, 4>", "float: red.v4.f32, four numbers",
                          [](auto... arguments) { add_packs<float, 4>(arguments...); }));
}

void bfloat16_table(course::Ladder& ladder, std::size_t n, std::size_t rows) {
  Job<__nv_bfloat16> job(n, rows);
  ladder.reference("table_reference", job.total,
                   "bfloat16, cells: " + std::to_string(rows * kRow) + "; the sum of all", n);
  ladder.rung(job.rung("add_packs<__nv_bfloat16, 1>", "atomicAdd(__nv_bfloat16*)",
                       [](auto... arguments) { add_packs<__nv_bfloat16, 1>(arguments...); }));
  ladder.rung(job.rung("add_packs<__nv_bfloat16, 2>", "atomicAdd(__nv_bfloat162*)",
                       [](auto... arguments) { add_packs<__nv_bfloat16, 2>(arguments...); }));
}

// ---- what no hardware has, and what shares an atomic --------------------------------------------

void minimum(course::Ladder& ladder, std::size_t n) {
  const std::size_t rows = rows_for(n, 16);
  const std::vector<__half> x = course::position_values<__half>(n);
  std::vector<double> expected(rows * kRow, static_cast<double>(float_of(kInfinity)));
  for (std::size_t i = 0; i < n; ++i) {
    double& cell = expected[cell_of(i, rows - 1)];
    cell = std::min(cell, number(x[i]));
  }
  const auto d_x = course::DeviceBuffer<__half>::from(x);
  course::DeviceBuffer<__half> d_table(rows * kRow);
  const std::vector<Bits> start(rows * kRow, kInfinity);
  ladder.reference("min_reference", expected.front(), "the first cell of a table", n);
  ladder.rung({.name = "min_half",
               .changed = "atomic_update_half with a minimum",
               .reset = [&] { set_bits(d_table.data(), start); },
               .launch = [&] { min_half(d_x.data(), n, rows, d_table.data(), nullptr); },
               .result = [&] { return number(d_table.front()); },
               .check =
                   [&] {
                     const std::vector<Bits> bits = get_bits(d_table.data(), rows * kRow);
                     for (std::size_t c = 0; c < bits.size(); ++c) {
                       const auto verdict = course::same(static_cast<double>(float_of(bits[c])),
                                                         expected[c], "a cell");
                       if (!verdict) return verdict;
                     }
                     return course::Verdict{};
                   },
               .bytes = d_x.bytes(),
               .n = n,
               .operations = n});
}

/// 1 for one element in `of`, in no order; else 0. Sums of up to 2048 are exact in half.
std::vector<__half> rare_ones(std::size_t n, int of) {
  const std::vector<int> random = course::position_values<int>(n);
  std::vector<__half> x(n);
  for (std::size_t i = 0; i < n; ++i) x[i] = __half(random[i] % of == 0 ? 1.0f : 0.0f);
  return x;
}

void two_results(course::Ladder& ladder, std::size_t n) {
  const std::size_t bins = rows_for(n, 1024) * kRow;
  const std::vector<__half> x = rare_ones(n, 2);
  double total = 0.0;
  for (const __half& value : x) total += 2.0 * number(value);  // of x, and of its square
  const auto d_x = course::DeviceBuffer<__half>::from(x);
  course::DeviceBuffer<__half> d_sums(2 * bins);
  const auto rung = [&](const char* name, const char* changed, auto launch) {
    ladder.rung({.name = name,
                 .changed = changed,
                 .reset = [&] { d_sums.fill_bytes(0); },
                 .launch = launch,
                 .result =
                     [&] {
                       double sum = 0.0;
                       for (const __half& cell : d_sums.download()) sum += number(cell);
                       return sum;
                     },
                 .bytes = d_x.bytes(),
                 .n = n,
                 .operations = 2 * n});
  };
  __half* const sums = d_sums.data();
  ladder.reference("moments", total, "sum and sum of squares, bins: " + std::to_string(bins), n);
  rung("moments_apart", "two atomicAdd(__half*)",
       [&] { moments_apart(d_x.data(), n, bins, sums, sums + bins, nullptr); });
  rung("moments_pair", "two results, one atomicAdd(__half2*)", [&] {
    moments_pair(d_x.data(), n, bins, reinterpret_cast<__half2*>(d_sums.data()), nullptr);
  });
}

void two_columns(course::Ladder& ladder, std::size_t n) {
  const std::size_t columns = course::kCpuDevice ? 64 : 1024, rows = n / columns;
  const std::vector<__half> x = rare_ones(rows * columns, 97);
  std::vector<double> expected(columns, 0.0);
  for (std::size_t i = 0; i < x.size(); ++i) expected[i % columns] += number(x[i]);
  const auto d_x = course::DeviceBuffer<__half>::from(x);
  course::DeviceBuffer<__half> d_sums(columns);
  const auto rung = [&](const char* name, const char* changed, auto launch) {
    ladder.rung({.name = name,
                 .changed = changed,
                 .reset = [&] { d_sums.fill_bytes(0); },
                 .launch = launch,
                 .result = [&] { return number(d_sums.front()); },
                 .check = [&] { return course::close(d_sums.download(), expected, 0.0, "sums"); },
                 .bytes = d_x.bytes(),
                 .n = rows * columns});
  };
  ladder.reference("columns", expected.front(),
                   "the first of " + std::to_string(columns) + " column sums", rows * columns);
  rung("columns_apart", "a thread a column",
       [&] { columns_apart(d_x.data(), rows, columns, d_sums.data(), nullptr); });
  rung("columns_pair", "a thread two columns: half of the loads, half of the atomics", [&] {
    columns_pair(reinterpret_cast<const __half2*>(d_x.data()), rows, columns,
                 reinterpret_cast<__half2*>(d_sums.data()), nullptr);
  });
}

// ---- wrong on purpose ---------------------------------------------------------------------------

void wrong_loops(course::Ladder& ladder) {
  constexpr std::size_t kN = 2048;  // 1024 for each half: exact
  course::DeviceBuffer<__half> d_y(2);
  ladder.reference("n", static_cast<double>(kN), "1 for one or the other half of a word", kN);
  ladder.wrong({.name = "add_half_own_bits",
                .changed = "a loop that ends when its own 16 bits are as assumed",
                .expect = course::Expect::wrong_value,
                .because = "if only the neighbour has changed, atomicCAS has stored nothing",
                .reset = [&] { d_y.fill_bytes(0); },
                .launch = [&] { add_half_own_bits(kN, d_y.data(), nullptr); },
                .result =
                    [&] {
                      const std::vector<__half> sums = d_y.download();
                      return number(sums[0]) + number(sums[1]);
                    },
                .n = kN});

  constexpr int kMost = 1000;
  course::DeviceBuffer<int> d_turns(1);
  const __half nan(float_of(0x7E00));
  ladder.reference("turns", 1, "NaN + 1 by one thread", 1);
  ladder.wrong({.name = "add_half_by_value",
                .changed = "a loop that ends when halves are equal",
                .expect = course::Expect::wrong_value,
                .because = "a NaN equals nothing: without the limit of 1000 it would never end",
                .reset =
                    [&] {
                      set_bits(d_y.data(), {0x7E00, 0});
                    },
                .launch =
                    [&] {
                      add_half_by_value(nan, __half(1.0f), kMost, d_y.data(), d_turns.data(),
                                        nullptr);
                    },
                .result = [&] { return static_cast<double>(d_turns.front()); },
                .exactly = static_cast<double>(kMost),
                .n = 1});
}

}  // namespace

int main(int argc, char** argv) {
  course::Ladder ladder("07-half-atomics", argc, argv,
                        {.gpu_n = kArticleN, .cpu_n = 8192, .max_n = std::size_t{1} << 28});
  return ladder.run([](course::Ladder& rungs) {
    const std::size_t n = rungs.n();
    for (const std::size_t size : {n, std::size_t{4096}, std::size_t{2048}}) article(rungs, size);
    ones(rungs);
    alternating(rungs);
    // 16 numbers for a cell; then so many that most sums stand still before they are complete.
    // That asks for a few thousand cells on a GPU: with fewer, the loops take seconds.
    const std::size_t crowded = course::kCpuDevice ? 4 * n : n;
    table(rungs, "many cells", n, rows_for(n, 16));
    table(rungs, "few cells", crowded, rows_for(crowded, 4096));
    bfloat16_table(rungs, n, rows_for(n, 16));
    minimum(rungs, n);
    two_results(rungs, n);
    two_columns(rungs, n);
    wrong_loops(rungs);
  });
}
