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

#include "rungs.cuh"

namespace {

double number(__half x) { return static_cast<double>(static_cast<float>(x)); }
std::vector<double> numbers(const std::vector<__half>& x) {
  std::vector<double> result;
  for (const __half& value : x) result.push_back(number(value));
  return result;
}

/// Ok if `found` is what the arithmetic of its type predicts: nothing was lost, and nothing is
/// exact that cannot be.
course::Verdict as_predicted(double found, double predicted, const std::string& name) {
  return course::same(found, predicted, name, "(the prediction)");
}

// ---- the article's benchmark -------------------------------------------------------------------

void article(course::Ladder& ladder, std::size_t n) {
  const std::vector<__half> values(n, __half(kArticleValue));
  const auto d_a = course::DeviceBuffer<__half>::from(values);
  const auto d_b = course::DeviceBuffer<__half>::from(values);
  course::DeviceBuffer<__half> d_y(2);
  ladder.reference("article_reference", article_reference(n), "n products of half(0.1), exactly",
                   n);
  for (const ArticleRung& rung : kArticleRungs) {
    if (rung.odd_depends && n % 2 == 1) continue;  // the result depends on the schedule
    const auto dot_product = [&](Bits first, Bits second) {
      const double sum = static_cast<double>(float_of(first));
      return rung.sums_both_halves ? sum + static_cast<double>(float_of(second)) : sum;
    };
    const auto [first, second] = rung.predict(n, 0);
    const double predicted = dot_product(first, second);
    const auto result = [&] {
      const std::vector<Bits> pair = get_bits(d_y.data(), 2);
      return dot_product(pair[0], pair[1]);
    };
    ladder.rung({.name = rung.name,
                 .changed = rung.changed,
                 .reset = [&] { d_y.fill_bytes(0); },
                 .launch = [&] { rung.launch(d_a.data(), d_b.data(), n, d_y.data()); },
                 .result = result,
                 .check = [&] { return as_predicted(result(), predicted, "y"); },
                 .bytes = d_a.bytes() + d_b.bytes(),
                 .n = n,
                 .operations = n});
  }

  const std::vector<double> doubles(n, number(__half(kArticleValue)));
  const auto d_c = course::DeviceBuffer<double>::from(doubles);
  const auto d_d = course::DeviceBuffer<double>::from(doubles);
  course::DeviceBuffer<double> d_sum(1);
  for (const DoubleRung& rung : kDoubleRungs) {
    ladder.rung({.name = rung.name,
                 .changed = rung.changed,
                 .reset = [&] { d_sum.fill_bytes(0); },
                 .launch = [&] { rung.launch(d_c.data(), d_d.data(), n, d_sum.data()); },
                 .result = [&] { return d_sum.front(); },
                 .bytes = d_c.bytes() + d_d.bytes(),
                 .n = n,
                 .operations = n});
  }
}

// ---- counting ----------------------------------------------------------------------------------

template <class T>
void ones_of(course::Ladder& ladder, const OnesRung<T>& rung, std::size_t n) {
  course::DeviceBuffer<T> d_y(2);  // whole words: a loop reads the neighbour, too
  const auto result = [&] { return static_cast<double>(static_cast<float>(d_y.front())); };
  const auto predicted = static_cast<float>(add_in_steps(T(0.0f), T(1.0f), n).sum);
  // As a variable: nvcc refuses names of members in an argument that depends on T.
  const course::Rung row = {.name = rung.name,
                            .changed = rung.changed,
                            .reset = [&] { d_y.fill_bytes(0); },
                            .launch = [&] { rung.launch(n, d_y.data()); },
                            .result = result,
                            .check = [&] { return as_predicted(result(), predicted, "y"); },
                            .n = n,
                            .operations = n};
  ladder.rung(row);
}

void ones(course::Ladder& ladder) {
  constexpr std::size_t kN = 4096;
  ladder.reference("n", static_cast<double>(kN), "every thread adds 1", kN);
  for_each_ones_rung([&](const auto& rung) { ones_of(ladder, rung, kN); });
}

/// A sum that moves all the time, so that a guess is soon out of date.
void alternating(course::Ladder& ladder) {
  const std::size_t n = course::kCpuDevice ? 512 : 4096;
  course::DeviceBuffer<__half> d_y(2);
  ladder.reference("zero", static_cast<double>(n % 2), "1 and -1 alternately, one address", n);
  for (const AlternatingRung& rung : kAlternatingRungs) {
    ladder.rung({.name = rung.name,
                 .changed = rung.changed,
                 .reset = [&] { d_y.fill_bytes(0); },
                 .launch = [&] { rung.launch(n, d_y.data()); },
                 .result = [&] { return number(d_y.front()); },
                 .n = n,
                 .operations = n});
  }
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

  course::Rung rung(const TableRung<T>& rung) {
    return {
        .name = rung.name,
        .changed = rung.changed,
        .reset = [this] { d_table.fill_bytes(0); },
        .launch = [=, this, launch = rung.launch] { launch(d_x.data(), n, rows, d_table.data()); },
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
  for (const TableRung<__half>& rung : table_rungs<__half>()) {
    // Eight cells for all: a loop needs too many turns for the CPU device.
    if (rung.changed.empty() || (rung.loops && course::kCpuDevice && rows == 1)) continue;
    ladder.rung(job.rung(rung));
  }
  Job<float> floats(n, rows);
  for (const auto& rung : table_rungs<float>()) ladder.rung(floats.rung(rung));
}

void bfloat16_table(course::Ladder& ladder, std::size_t n, std::size_t rows) {
  Job<__nv_bfloat16> job(n, rows);
  ladder.reference("table_reference", job.total,
                   "bfloat16, cells: " + std::to_string(rows * kRow) + "; the sum of all", n);
  for (const auto& rung : table_rungs<__nv_bfloat16>()) ladder.rung(job.rung(rung));
}

// ---- the minimum, and what shares an atomic -----------------------------------------------------

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
  for (const TableRung<__half>& rung : minimum_rungs()) {
    ladder.rung(
        {.name = rung.name,
         .changed = rung.changed,
         .reset = [&] { set_bits(d_table.data(), start); },
         .launch = [&] { rung.launch(d_x.data(), n, rows, d_table.data()); },
         .result = [&] { return number(d_table.front()); },
         .check = [&] { return course::same(numbers(d_table.download()), expected, "table"); },
         .bytes = d_x.bytes(),
         .n = n,
         .operations = n});
  }
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
  ladder.reference("moments", total, "sum and sum of squares, bins: " + std::to_string(bins), n);
  for (const MomentsRung& rung : kMomentsRungs) {
    ladder.rung({.name = rung.name,
                 .changed = rung.changed,
                 .reset = [&] { d_sums.fill_bytes(0); },
                 .launch = [&] { rung.launch(d_x.data(), n, bins, d_sums.data()); },
                 .result =
                     [&] {
                       double sum = 0.0;
                       for (const __half& cell : d_sums.download()) sum += number(cell);
                       return sum;
                     },
                 .bytes = d_x.bytes(),
                 .n = n,
                 .operations = 2 * n});
  }
}

void two_columns(course::Ladder& ladder, std::size_t n) {
  const std::size_t columns = course::kCpuDevice ? 64 : 1024, rows = n / columns;
  const std::vector<__half> x = rare_ones(rows * columns, 97);
  std::vector<double> expected(columns, 0.0);
  for (std::size_t i = 0; i < x.size(); ++i) expected[i % columns] += number(x[i]);
  const auto d_x = course::DeviceBuffer<__half>::from(x);
  course::DeviceBuffer<__half> d_sums(columns);
  ladder.reference("columns", expected.front(),
                   "the first of " + std::to_string(columns) + " column sums", rows * columns);
  for (const ColumnsRung& rung : kColumnsRungs) {
    ladder.rung({.name = rung.name,
                 .changed = rung.changed,
                 .reset = [&] { d_sums.fill_bytes(0); },
                 .launch = [&] { rung.launch(d_x.data(), rows, columns, d_sums.data()); },
                 .result = [&] { return number(d_sums.front()); },
                 .check = [&] { return course::close(d_sums.download(), expected, 0.0, "sums"); },
                 .bytes = d_x.bytes(),
                 .n = rows * columns});
  }
}

// ---- wrong on purpose ---------------------------------------------------------------------------

void wrong_loops(course::Ladder& ladder) {
  constexpr std::size_t kN = 2048;  // 1024 for each half: exact
  course::DeviceBuffer<__half> d_y(2);
  ladder.reference("n", static_cast<double>(kN), "1 for one or the other half of a word", kN);
  for (const OwnBitsRung& rung : kOwnBitsRungs) {
    ladder.wrong({.name = rung.name,
                  .changed = rung.changed,
                  .expect = course::Expect::wrong_value,
                  .because = rung.because,
                  .reset = [&] { d_y.fill_bytes(0); },
                  .launch = [&] { rung.launch(kN, d_y.data()); },
                  .result =
                      [&] {
                        const std::vector<__half> sums = d_y.download();
                        return number(sums[0]) + number(sums[1]);
                      },
                  .n = kN});
  }

  constexpr int kMost = 1000;
  course::DeviceBuffer<int> d_turns(1);
  const __half nan(float_of(0x7E00)), one(1.0f);
  ladder.reference("turns", 1, "NaN + 1 by one thread", 1);
  for (const ByValueRung& rung : kByValueRungs) {
    ladder.wrong({.name = rung.name,
                  .changed = rung.changed,
                  .expect = course::Expect::wrong_value,
                  .because = rung.because,
                  .reset =
                      [&] {
                        set_bits(d_y.data(), {0x7E00, 0});
                      },
                  .launch = [&] { rung.launch(nan, one, kMost, d_y.data(), d_turns.data()); },
                  .result = [&] { return static_cast<double>(d_turns.front()); },
                  .exactly = static_cast<double>(kMost),
                  .n = 1});
  }
}

}  // namespace

int main(int argc, char** argv) {
  course::Ladder ladder("07-half-atomics", argc, argv,
                        {.gpu_n = kArticleN,
                         .cpu_n = 8192,
                         .max_n = std::size_t{1} << 28,
                         .since = {{"red_half8", 90},
                                   {"add_packs<float, 4>", 90},
                                   {"add_packs<__nv_bfloat16, 2>", 90},
                                   {"min_half2", 90},
                                   {"min_half8", 90}}});
  return ladder.run([](course::Ladder& rungs) {
    const std::size_t n = rungs.n();
    for (const std::size_t size : {n, std::size_t{4096}, std::size_t{2048}}) article(rungs, size);
    ones(rungs);
    alternating(rungs);
    // 16 numbers for a cell; then so many that most sums stagnate before they are complete.
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
