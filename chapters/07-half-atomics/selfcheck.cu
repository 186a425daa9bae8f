// Every rung of this chapter is right at every awkward size, bit by bit where bits matter.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <course/check.cuh>
#include <course/rungs.cuh>
#include <cstddef>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

#include "rungs.cuh"

namespace {

/// 0 and 1 in an order without a pattern: counts of them are exact up to 2^11 in half, and up to
/// 2^8 in bfloat16.
template <class T>
std::vector<T> zeros_and_ones(std::size_t n) {
  std::vector<T> x(n);
  const std::vector<int> random = course::position_values<int>(n);
  for (std::size_t i = 0; i < n; ++i) x[i] = T(random[i] > 500 ? 1.0f : 0.0f);
  return x;
}

/// Adds x to a table of `rows` rows, `start` elements past a multiple of 64 bytes, twice. All
/// sums are exact, so each cell must be; what lies around the table must keep its bits.
template <class T>
void check_table(const TableRung<T>& rung, const std::vector<T>& x, std::size_t rows,
                 std::size_t start) {
  INFO(rung.name << ", n = " << x.size() << ", " << rows << " rows, the table begins "
                 << start * sizeof(T) << " bytes past a multiple of 64");
  const std::size_t cells = rows * kRow;
  const auto d_x = course::DeviceBuffer<T>::from(x);
  course::GuardedBuffer<T> memory(start + cells + start);
  std::vector<T> before(start + cells + start, T(-0.0f));  // around the table: minus zeros
  std::vector<double> expected = table_reference(x, rows);
  for (std::size_t c = 0; c < cells; ++c) {
    before[start + c] = c % 3 == 0 ? T(-0.0f) : T(static_cast<float>(c % 3));
    expected[c] = 2 * expected[c] + static_cast<double>(c % 3);
  }
  std::vector<bool> alone(cells, true);  // nothing is added to it, not even 0.0
  for (std::size_t i = 0; i < x.size(); ++i) alone[cell_of(i, rows - 1)] = false;
  CUDA_CHECK(cudaMemcpy(memory.data(), before.data(), memory.bytes(), cudaMemcpyHostToDevice));
  rung.launch(d_x.data(), x.size(), rows, memory.data() + start);
  rung.launch(d_x.data(), x.size(), rows, memory.data() + start);
  const std::vector<T> after = memory.download();
  const auto first = after.begin() + static_cast<std::ptrdiff_t>(start);
  const std::vector<T> table(first, first + static_cast<std::ptrdiff_t>(cells));
  REQUIRE(course::close(table, expected, 0.0, "table"));
  for (std::size_t c = 0; c < cells; ++c) {
    if (alone[c]) REQUIRE(std::memcmp(&after[start + c], &before[start + c], sizeof(T)) == 0);
  }
  for (std::size_t k = 0; k < start; ++k) {
    REQUIRE(std::memcmp(&after[k], &before[k], sizeof(T)) == 0);
    REQUIRE(std::memcmp(&after[start + cells + k], &before[k], sizeof(T)) == 0);
  }
  REQUIRE(memory.intact("table"));
}

/// Every size and start in a table so large that sums stay exact; and many threads at few cells.
template <class T>
void check_rung(const TableRung<T>& rung) {
  const std::vector<std::size_t> sizes = course::all_sizes();
  for (std::size_t k = 0; k < sizes.size(); ++k) {
    const std::size_t n = sizes[k];
    std::size_t rows = 1;
    while (rows * kRow * 4 < n) rows *= 2;  // at most 8 elements of at most 15/8 per cell
    // On the CPU device another start for each size; all of them where it is short.
    for (std::size_t s = 0; s < rung.starts.size(); ++s) {
      if (course::kCpuDevice && n > 64 && s != k % rung.starts.size()) continue;
      check_table(rung, course::position_values<T>(n), rows, rung.starts[s].offset);
    }
  }
  const std::size_t n = std::is_same_v<T, __nv_bfloat16> ? 1'025 : 4'099;
  check_table(rung, zeros_and_ones<T>(n), 1, rung.starts.back().offset);
}

}  // namespace

// ---- many numbers into a table -----------------------------------------------------------------

TEST_CASE("each rung adds every half to its cell, and to nothing else") {
  for (const auto& rung : table_rungs<__half>()) check_rung(rung);
}

TEST_CASE("so do the rungs of bfloat16 and of float") {
  for (const auto& rung : table_rungs<__nv_bfloat16>()) check_rung(rung);
  for (const auto& rung : table_rungs<float>()) check_rung(rung);
}

TEST_CASE("every row of a table gets its turn, and neighbours stay together") {
  for (const std::size_t rows : {1u, 2u, 64u, 1024u}) {
    std::vector<int> hits(rows * kRow, 0);
    for (std::size_t i = 0; i < 3 * rows * kRow; ++i) {
      const std::size_t cell = cell_of(i, rows - 1);
      REQUIRE(cell < rows * kRow);
      REQUIRE(cell % kRow == i % kRow);
      if (i % kRow != 0) REQUIRE(cell == cell_of(i - 1, rows - 1) + 1);
      ++hits[cell];
    }
    REQUIRE(course::same(hits, std::vector<int>(rows * kRow, 3), "hits"));
  }
}

TEST_CASE("more than 2^31 elements") {
  constexpr std::size_t kN = (std::size_t{1} << 31) + 9;
  course::skip_without_memory(kN * sizeof(__half));
  auto d_x = course::DeviceBuffer<__half>::zeros(kN);
  const std::vector<__half> tail(9, __half(1.5f));
  CUDA_CHECK(cudaMemcpy(d_x.data() + (kN - 9), tail.data(), 18, cudaMemcpyHostToDevice));
  constexpr std::size_t kRows = std::size_t{1} << 20;
  for (const auto& rung : table_rungs<__half>()) {
    INFO(rung.name << ", n = 2^31 + 9");
    auto d_table = course::DeviceBuffer<__half>::zeros(kRows * kRow);
    rung.launch(d_x.data(), kN, kRows, d_table.data());
    std::vector<double> expected(kRows * kRow, 0.0);
    for (std::size_t i = kN - 9; i < kN; ++i) expected[cell_of(i, kRows - 1)] += 1.5;
    REQUIRE(course::close(d_table.download(), expected, 0.0, "table"));
  }
}

namespace {

/// Lowers a table of `rows` rows that begins `start` elements past a multiple of 64 bytes, and holds
/// `before` everywhere; what lies around the table must keep its bits.
void check_minima(const TableRung<__half>& rung, const std::vector<Bits>& values, std::size_t rows,
                  std::size_t start, Bits before) {
  INFO(rung.name << ", n = " << values.size() << ", " << rows << " rows of " << half_text(before)
                 << ", the table begins " << start * sizeof(__half)
                 << " bytes past a multiple of 64");
  const std::size_t cells = rows * kRow;
  std::vector<Bits> all(start + cells + start, kMinusZero);
  std::fill_n(all.begin() + static_cast<std::ptrdiff_t>(start), cells, before);
  const auto d_values = course::DeviceBuffer<__half>::from(halves(values));
  course::GuardedBuffer<__half> memory(all.size());
  set_bits(memory.data(), all);
  rung.launch(d_values.data(), values.size(), rows, memory.data() + start);
  for (std::size_t i = 0; i < values.size(); ++i) {
    Bits& cell = all[start + cell_of(i, rows - 1)];
    // Of two NaN the minimum is a NaN of its own.
    cell = is_nan(cell) && is_nan(values[i]) ? Bits{0x7FFF} : smaller(cell, values[i]);
  }
  REQUIRE(same_bits("memory", get_bits(memory.data(), all.size()), all));
  REQUIRE(memory.intact("memory"));
}

}  // namespace

TEST_CASE("the minima of small integers") {  // a picture of the lesson shows this run
  std::vector<Bits> values(32);
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = bits_of(static_cast<float>(i * 7 % 9));
  check_minima(course::rung_named(minimum_rungs(), "min_half"), values, 4, 0, bits_of(9.0f));
}

TEST_CASE("each rung lowers every cell to the smallest that it gets, and no other") {
  for (const TableRung<__half>& rung : minimum_rungs()) {
    const std::vector<std::size_t> sizes = course::all_sizes();
    for (std::size_t k = 0; k < sizes.size(); ++k) {
      const std::size_t n = sizes[k];
      std::vector<Bits> values(n);
      for (std::size_t i = 0; i < n; ++i) {
        values[i] = i % 11 == 3 ? kAwkward[i % kAwkward.size()]
                                : bits_of(static_cast<float>(i * 7919 % 1009) - 300.0f);
      }
      for (std::size_t s = 0; s < rung.starts.size(); ++s) {
        if (course::kCpuDevice && n > 64 && s != k % rung.starts.size()) continue;
        check_minima(rung, values, 4, rung.starts[s].offset, kInfinity);
      }
    }
  }
}

TEST_CASE("the minimum of every two awkward numbers, by every rung") {
  for (const TableRung<__half>& rung : minimum_rungs()) {
    for (const Bits before : kAwkward) {
      check_minima(rung, kAwkward, 4, rung.starts.back().offset, before);
      check_minima(rung, kAwkward, 4, 0, before);
    }
  }
}

// ---- one number --------------------------------------------------------------------------------

TEST_CASE("1 and -1 in turn leave 0 or 1, and the neighbour's bits") {
  course::GuardedBuffer<__half> y(2);
  for (const std::size_t n : {1u, 33u, 200u}) {
    for (const AlternatingRung& rung : kAlternatingRungs) {
      INFO(rung.name << ", n = " << n);
      set_bits(y.data(), {0, kMinusZero});
      rung.launch(n, y.data());
      const Bits sum = bits_of(static_cast<float>(n % 2));
      REQUIRE(same_bits("y", get_bits(y.data(), 2), {sum, kMinusZero}));
    }
  }
}

TEST_CASE("a counter of ones stagnates at 2048 in half, at 256 in bfloat16") {
  for (const std::size_t n : {0u, 200u, 256u, 257u, 2048u, 2500u}) {
    for_each_ones_rung([&]<class T>(const OnesRung<T>& rung) {
      INFO(rung.name << ", n = " << n);
      auto y = course::DeviceBuffer<T>::zeros(2);  // whole words
      rung.launch(n, y.data());
      REQUIRE(course::same(static_cast<float>(y.front()),
                           std::min(static_cast<float>(n), rung.most), "y"));
    });
  }
}

TEST_CASE("the article's kernels do what the prediction says") {
  std::vector<std::size_t> sizes = {0, 1, 31, 257, 2048, 4096, 4097};
  sizes.push_back(course::skip_large() ? 6'000 : kArticleN);
  for (const std::size_t n : sizes) {
    const std::vector<__half> values(n, __half(kArticleValue));
    const auto d_a = course::DeviceBuffer<__half>::from(values);
    const auto d_b = course::DeviceBuffer<__half>::from(values);
    for (const ArticleRung& rung : kArticleRungs) {
      if (rung.odd_depends && n % 2 == 1 && n != 1) continue;
      for (const Bits second : rung.seconds) {
        INFO(rung.name << ", n = " << n << ", the second half holds " << half_text(second));
        course::GuardedBuffer<__half> y(2);
        set_bits(y.data(), {0, second});
        rung.launch(d_a.data(), d_b.data(), n, y.data());
        const auto expected = rung.predict(n, second);
        REQUIRE(same_bits("y", get_bits(y.data(), 2), {expected[0], expected[1]}));
        REQUIRE(y.intact("y"));
      }
    }
    const std::vector<double> doubles(n, static_cast<double>(float_of(bits_of(kArticleValue))));
    const auto d_c = course::DeviceBuffer<double>::from(doubles);
    for (const DoubleRung& rung : kDoubleRungs) {
      INFO(rung.name << ", n = " << n);
      course::GuardedBuffer<double> sum(1);
      sum.fill_bytes(0);
      rung.launch(d_c.data(), d_c.data(), n, sum.data());
      REQUIRE(course::same(sum.download().front(), article_reference(n), "the sum"));
      REQUIRE(sum.intact("the sum"));
    }
  }
}

// ---- what shares an atomic ---------------------------------------------------------------------

TEST_CASE("two results, or two columns, share an atomic") {
  for (const std::size_t n : course::all_sizes()) {
    std::size_t bins = 16;
    while (bins * 128 < n) bins *= 2;  // 128 squares of at most 9: all sums are exact
    std::vector<__half> x(n);
    const std::vector<int> random = course::position_values<int>(n);
    for (std::size_t i = 0; i < n; ++i) x[i] = __half(static_cast<float>(random[i] % 4));
    const auto d_x = course::DeviceBuffer<__half>::from(x);
    for (const MomentsRung& rung : kMomentsRungs) {
      INFO(rung.name << ", n = " << n);
      std::vector<double> expected(2 * bins, 0.0);
      for (std::size_t i = 0; i < n; ++i) {
        const double value = static_cast<double>(static_cast<float>(x[i]));
        const std::size_t bin = i % bins;
        expected[rung.side_by_side ? 2 * bin : bin] += value;
        expected[rung.side_by_side ? 2 * bin + 1 : bins + bin] += value * value;
      }
      auto d_sums = course::DeviceBuffer<__half>::zeros(2 * bins);
      rung.launch(d_x.data(), n, bins, d_sums.data());
      REQUIRE(course::close(d_sums.download(), expected, 0.0, "sums and squares"));
    }
  }
}

TEST_CASE("the columns of a matrix, one by one and in pairs") {
  struct Shape {
    std::size_t rows, columns;
  };
  for (const Shape shape : {Shape{0, 4}, Shape{3, 0}, Shape{1, 2}, Shape{63, 2}, Shape{65, 510},
                            Shape{129, 34}, Shape{5, 1026}}) {
    const std::size_t n = shape.rows * shape.columns;
    const std::vector<__half> x = course::position_values<__half>(n);
    std::vector<double> sums(shape.columns, 0.0);
    for (std::size_t i = 0; i < n; ++i) {
      sums[i % shape.columns] += static_cast<double>(static_cast<float>(x[i]));
    }
    const auto d_x = course::DeviceBuffer<__half>::from(x);
    for (const ColumnsRung& rung : kColumnsRungs) {
      INFO(rung.name << ", " << shape.rows << " rows of " << shape.columns << " columns");
      auto d_sums = course::DeviceBuffer<__half>::zeros(shape.columns);
      rung.launch(d_x.data(), shape.rows, shape.columns, d_sums.data());
      REQUIRE(course::close(d_sums.download(), sums, 0.0, "sums"));
    }
  }
}

TEST_CASE("the columns of a block's rows are summed in float, and rounded once") {
  // 64 times 1 + 3/1024 is 64.1875, a half. Summed in half it would be 64.0625.
  const auto d_x = course::DeviceBuffer<__half>::from(halves(std::vector<Bits>(64 * 2, 0x3C03)));
  for (const ColumnsRung& rung : kColumnsRungs) {
    INFO(rung.name);
    course::GuardedBuffer<__half> sums(2);
    set_bits(sums.data(), {0, 0});
    rung.launch(d_x.data(), 64, 2, sums.data());
    const std::vector<Bits> expected(2, bits_of(64.1875f));
    REQUIRE(same_bits("sums", get_bits(sums.data(), 2), expected));
  }
}
