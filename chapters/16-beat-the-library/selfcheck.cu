// Every rung of this chapter answers its task, and the data of the tasks are what they promise.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <course/check.cuh>
#include <cstddef>
#include <string>
#include <vector>

#include "rungs.cuh"
#include "task_filter.cuh"
#include "task_histogram.cuh"
#include "task_rows.cuh"
#include "task_scan.cuh"
#include "task_softmax.cuh"
#include "task_sum.cuh"

TEST_CASE("sums, at every size") {
  for (const Rung<SumAnswer>& rung : sum_rungs()) {
    for (const std::size_t n : course::all_sizes()) {
      INFO(rung.name << ": n = " << n);
      const std::vector<float> x = sum_input(n);
      const auto d_x = course::DeviceBuffer<float>::from(x);
      course::GuardedBuffer<float> y(1);
      rung.launch(d_x.data(), n, y.data());
      REQUIRE(course::same(y.download().front(), static_cast<float>(sum_reference(x)), "*d_y"));
      REQUIRE(y.intact("y"));
    }
  }
}

TEST_CASE("histograms, at every size") {
  for (const Rung<HistogramAnswer>& rung : histogram_rungs()) {
    for (const std::size_t n : course::all_sizes()) {
      INFO(rung.name << ": n = " << n);
      const std::vector<unsigned char> bytes = histogram_input(n, 50);
      const auto d_bytes = course::DeviceBuffer<unsigned char>::from(bytes);
      course::GuardedBuffer<unsigned> bins(256);
      rung.launch(d_bytes.data(), n, bins.data());
      REQUIRE(course::same(bins.download(), histogram_of(bytes), "bins"));
      REQUIRE(bins.intact("bins"));
    }
  }
}

TEST_CASE("filters, at every size") {
  for (const Rung<FilterAnswer>& rung : filter_rungs()) {
    for (const std::size_t n : course::all_sizes()) {
      INFO(rung.name << ": n = " << n);
      const std::vector<int> x = chapter_09::filter_input(n, 50),
                             expected = chapter_09::filter_reference(x);
      const auto d_x = course::DeviceBuffer<int>::from(x);
      course::GuardedBuffer<int> out(expected.size());
      course::GuardedBuffer<unsigned long long> count(1);
      rung.launch(d_x.data(), n, out.data(), count.data());
      REQUIRE(course::same(count.download().front(), expected.size(), "count"));
      REQUIRE(course::same(out.download(), expected, "out"));
      REQUIRE(out.intact("out"));
    }
  }
}

TEST_CASE("rows, at every size") {
  for (const Rung<RowsAnswer>& rung : rows_rungs()) {
    for (const std::size_t n : course::kSizes) {
      INFO(rung.name << ": " << n << " rows of 16 halves into 9");
      const std::vector<__half> source = chapter_08::coin_flips<__half>(n * 16);
      const std::vector<int> index = chapter_08::random_index(n, 9);
      const auto d_source = course::DeviceBuffer<__half>::from(source);
      const auto d_index = course::DeviceBuffer<int>::from(index);
      auto table = course::DeviceBuffer<__half>::zeros(9 * 16);
      rung.launch(d_source.data(), d_index.data(), n, 16, table.data(), 9);
      const std::vector<double> sums = chapter_08::rows_reference(source, index, 16, 9);
      REQUIRE(course::same(table.download(), chapter_08::rounded<__half>(sums), "table"));
    }
  }
}

TEST_CASE("scans, at every size") {
  for (const Rung<ScanAnswer>& rung : scan_rungs()) {
    for (const std::size_t n : course::all_sizes()) {
      INFO(rung.name << ": n = " << n);
      const std::vector<float> x = chapter_14::exact_input(n);
      const auto d_x = course::DeviceBuffer<float>::from(x);
      course::GuardedBuffer<float> out(n);
      rung.launch(d_x.data(), n, out.data());
      REQUIRE(course::same(out.download(), scan_sums(x), "out"));
      REQUIRE(out.intact("out"));
    }
  }
}

TEST_CASE("softmax, rows of every size") {
  for (const Rung<SoftmaxAnswer>& rung : softmax_rungs()) {
    for (const std::size_t width : {1u, 31u, 64u, 256u, 257u, 1024u, 5000u}) {
      const std::size_t rows = 1 + 300 / width;
      INFO(rung.name << ": " << rows << " rows of " << width);
      const std::vector<float> x = chapter_15::balanced_values<float>(rows * width);
      const auto d_x = course::DeviceBuffer<float>::from(x);
      course::GuardedBuffer<float> y(rows * width);
      rung.launch(d_x.data(), rows, width, y.data());
      REQUIRE(softmax_is_near(y.download(), chapter_15::softmax_reference(x, width), width));
      REQUIRE(y.intact("y"));
    }
  }
}

TEST_CASE("the data: partial sums stay near 0, and the common byte is as common as it is said") {
  constexpr std::size_t n = 1 << 16;
  double sum = 0, furthest = 0;
  for (const float value : sum_input(n)) {
    furthest = std::max(furthest, std::fabs(sum += static_cast<double>(value)));
  }
  REQUIRE(furthest < 1000);  // a random walk of 2^16 steps goes about 140 far
  for (const unsigned percent : {10u, 50u, 90u}) {
    const std::vector<unsigned> bins = histogram_of(histogram_input(n, percent));
    INFO(percent << " % in one bin");
    REQUIRE(std::abs(100.0 * bins[kCommonByte] / n - percent) < 1);
    REQUIRE(std::count(bins.begin(), bins.end(), 0u) == 0);
  }
}
