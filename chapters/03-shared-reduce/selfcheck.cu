// Every rung of this chapter is right at every awkward size, on every grid, from every address.
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <course/check.cuh>
#include <cstddef>
#include <limits>
#include <vector>

#include "rungs.cuh"
#include "testing.cuh"
#include "text_like.cuh"

// ---- sums --------------------------------------------------------------------------------------

TEMPLATE_TEST_CASE("every rung sums exactly, whatever the output held", "", float, double) {
  using T = TestType;
  std::vector<std::size_t> sizes = course::all_sizes();
  sizes.insert(sizes.end(), {kTile - 1, kTile, kTile + 1, 3 * kTile + 5});
  for (const std::size_t n : sizes) {
    const std::vector<T> x = course::position_values<T>(n);  // sums of these are exact
    const T expected = static_cast<T>(sum_reference(x));
    SumInput<T> input(x);
    for (const SumRung<T>& rung : sum_rungs<T>()) {
      INFO(rung.name << ", n = " << n);
      input.y.fill_bytes(0xFF);  // NaN
      REQUIRE(course::same(input.sum(rung), expected, "y"));
      // Nothing is left over from the first launch.
      REQUIRE(course::same(input.sum(rung), expected, "y of a second launch"));
      REQUIRE(input.y.intact("y"));
    }
  }
}

TEMPLATE_TEST_CASE("every rung stays within the bound when sums are rounded", "", float, double) {
  using T = TestType;
  constexpr double kRoundoff =
      sizeof(T) == sizeof(float) ? course::kFloatRoundoff : course::kDoubleRoundoff;
  for (const std::size_t n : {std::size_t{1025}, course::kBigSize}) {
    const std::vector<T> x = rounding_values<T>(n);
    // The reference is rounded as well, in double.
    const double tolerance =
        course::sum_tolerance(x, kRoundoff) + course::sum_tolerance(x, course::kDoubleRoundoff);
    SumInput<T> input(x);
    for (const SumRung<T>& rung : sum_rungs<T>()) {
      INFO(rung.name << ", n = " << n);
      REQUIRE(course::close(input.sum(rung), sum_reference(x), tolerance, "y"));
    }
  }
}

TEMPLATE_TEST_CASE("every step of the tree sums exactly", "", float, double) {
  using T = TestType;
  std::vector<std::size_t> sizes = course::all_sizes();
  sizes.insert(sizes.end(), {2 * kBlockSize - 1, 2 * kBlockSize, 2 * kBlockSize + 1});
  for (const std::size_t n : sizes) {
    const std::vector<T> x = course::position_values<T>(n);
    SumInput<T> input(x);
    for (const TreeRung<T>& rung : tree_rungs<T>()) {
      INFO(rung.name << ", n = " << n);
      input.workspace.parts.fill_bytes(0xFF);  // NaN
      const T sum = tree_sum_of(rung, input.d_x.data(), n, input.workspace);
      REQUIRE(course::same(sum, static_cast<T>(sum_reference(x)), "the sum"));
    }
  }
}

TEST_CASE("a NaN in the last element reaches every sum") {
  std::vector<float> x = course::position_values<float>(3 * kTile + 5);
  x.back() = std::numeric_limits<float>::quiet_NaN();
  SumInput<float> input(x);
  for (const SumRung<float>& rung : sum_rungs<float>()) {
    INFO(rung.name);
    REQUIRE(std::isnan(input.sum(rung)));
  }
}

TEST_CASE("sum_dynamic_tree takes every power of two as block size") {
  const std::vector<double> x = course::position_values<double>(2500);
  SumInput<double> input(x);
  SumRung<double> rung = course::rung_named(sum_rungs<double>(), "sum_dynamic_tree");
  for (unsigned block = 1; block <= 1024; block *= 2) {
    INFO("block size " << block);
    rung.threads = block;
    rung.tile = block;
    REQUIRE(course::same(input.sum(rung), sum_reference(x), "y"));
    REQUIRE(input.y.intact("y"));
  }
}

TEST_CASE("the grid-stride kernels are right for every grid") {
  const std::vector<float> x = course::position_values<float>(5 * kTile + 77);
  const auto expected = static_cast<float>(sum_reference(x));
  const std::size_t n = x.size();
  SumInput<float> input(x);
  for (const SumRung<float>& rung : sum_rungs<float>()) {
    if (!rung.resident) continue;
    for (const unsigned blocks : {1u, 2u, 5u, 6u, 7u, 40u}) {  // 6 tiles: some have no block
      INFO(rung.name << ", grid " << blocks << ", n = " << n);
      input.y.fill_bytes(rung.adds ? 0 : 0xFF);
      rung.launch({blocks, kBlockSize}, input.d_x.data(), n, input.y.data(), input.workspace);
      REQUIRE(course::same(input.result(rung), expected, "y"));
      // The next grid may differ.
      REQUIRE(course::same(input.workspace.ticket.front(), 0u, "ticket"));
    }
  }
}

TEST_CASE("every rung takes an array that begins anywhere") {
  const std::vector<float> x = course::position_values<float>(kTile + 77);
  SumInput<float> input(x);
  for (const std::size_t begin : {1, 2, 3, 5}) {
    const std::vector<float> rest(x.begin() + static_cast<std::ptrdiff_t>(begin), x.end());
    for (const SumRung<float>& rung : sum_rungs<float>()) {
      INFO(rung.name << ", from element " << begin << " of " << x.size());
      const auto expected = static_cast<float>(sum_reference(rest));
      REQUIRE(course::same(input.sum(rung, begin), expected, "y"));
    }
  }
}

TEST_CASE("every rung counts elements in 64 bits") {
  constexpr std::size_t kBorder = std::size_t{1} << 31, n = kBorder + 300;
  course::skip_without_memory(n * sizeof(float));
  SumInput<float> input(n);
  input.d_x.fill_bytes(0);
  float addend = 1.0f;  // 1 + 2 + 4 + 8: each missing one shows
  for (const std::size_t i : {std::size_t{0}, kBorder - 1, kBorder, n - 1}) {
    CUDA_CHECK(cudaMemcpy(input.d_x.data() + i, &addend, sizeof addend, cudaMemcpyHostToDevice));
    addend *= 2.0f;
  }
  for (const SumRung<float>& rung : sum_rungs<float>()) {
    if (rung.shared_atomics) continue;  // would take long under a sanitizer
    INFO(rung.name << ", n = 2^31 + 300");
    REQUIRE(course::same(input.sum(rung), 15.0f, "y"));
  }
}

// ---- histograms --------------------------------------------------------------------------------

TEST_CASE("every histogram counts every byte once") {
  for (const std::size_t n : course::all_sizes()) {
    const std::pair<const char*, std::vector<unsigned char>> inputs[] = {
        {"all bytes occur", course::position_values<unsigned char>(n)},
        {"text-like", text_like_bytes(n)},
        {"all bytes are 255", std::vector<unsigned char>(n, 255)}};
    for (const auto& [kind, bytes] : inputs) {
      const auto d_bytes = course::DeviceBuffer<unsigned char>::from(bytes);
      for (const HistogramRung& rung : every_histogram()) {
        INFO(rung.name << ", n = " << n << ": " << kind);
        course::GuardedBuffer<unsigned> bins(kBins);
        bins.fill_bytes(0x5A);
        rung.launch(d_bytes.data(), n, bins.data());
        REQUIRE(course::same(bins.download(), histogram_reference(bytes), "bins"));
        REQUIRE(bins.intact("bins"));
      }
    }
  }
}

TEST_CASE("every histogram takes bytes that begin anywhere") {
  const std::vector<unsigned char> bytes = course::position_values<unsigned char>(1030);
  const auto d_bytes = course::DeviceBuffer<unsigned char>::from(bytes);
  for (const HistogramRung& rung : every_histogram()) {
    for (const std::size_t begin : {1, 2, 3, 1023, 1026, 1027, 1028, 1029}) {
      INFO(rung.name << ", from byte " << begin << " of " << bytes.size());
      const std::vector<unsigned char> rest(bytes.begin() + static_cast<std::ptrdiff_t>(begin),
                                            bytes.end());
      course::GuardedBuffer<unsigned> bins(kBins);
      rung.launch(d_bytes.data() + begin, rest.size(), bins.data());
      REQUIRE(course::same(bins.download(), histogram_reference(rest), "bins"));
    }
  }
}

TEST_CASE("every histogram counts bytes in 64 bits") {
  constexpr std::size_t kBorder = std::size_t{1} << 31, n = kBorder + 301;
  course::skip_without_memory(n);
  auto d_bytes = course::DeviceBuffer<unsigned char>::zeros(n);
  std::vector<unsigned> expected(kBins, 0);
  expected[0] = static_cast<unsigned>(n - 4);
  unsigned char byte = 7;  // 7, 8, 9, 10
  for (const std::size_t i : {std::size_t{0}, kBorder - 1, kBorder, n - 1}) {
    CUDA_CHECK(cudaMemcpy(d_bytes.data() + i, &byte, 1, cudaMemcpyHostToDevice));
    ++expected[byte++];
  }
  course::DeviceBuffer<unsigned> bins(kBins);
  for (const HistogramRung& rung : every_histogram()) {
    if (!rung.is_private) continue;  // 2^31 atomics on one address take seconds
    INFO(rung.name << ", n = 2^31 + 301");
    rung.launch(d_bytes.data(), n, bins.data());
    REQUIRE(course::same(bins.download(), expected, "bins"));
  }
}
