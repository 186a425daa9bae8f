// Every rung of this chapter is right at every awkward size, and what is wrong on purpose is wrong
// in the way that the lesson says. What the lesson counts is counted here.
#include <algorithm>
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <course/check.cuh>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "barriers.cuh"
#include "block_scope.cuh"
#include "dynamic_tree.cuh"
#include "forgotten_if.cuh"
#include "grid_stride.cuh"
#include "histogram.cuh"
#include "last_block.cuh"
#include "shared_tree.cuh"
#include "text_like.cuh"

namespace {

/// A rung that sums x[0..n-1] into *d_y.
template <class T>
struct SumRung {
  std::string name;
  std::function<void(const T* d_x, std::size_t n, T* d_y, Workspace<T>& workspace)> launch;
  bool same_bits;  // in every run
};

template <class T>
std::vector<SumRung<T>> sum_rungs() {
  using W = Workspace<T>;
  return {
      {"sum_shared_tree",
       [](const T* d_x, std::size_t n, T* d_y, W&) { sum_shared_tree(d_x, n, d_y, nullptr); },
       false},
      {"sum_dynamic_tree",
       [](const T* d_x, std::size_t n, T* d_y, W&) { sum_dynamic_tree(d_x, n, d_y, nullptr); },
       false},
      {"sum_grid_stride",
       [](const T* d_x, std::size_t n, T* d_y, W&) { sum_grid_stride(d_x, n, d_y, nullptr); },
       false},
      {"sum_loads_in_flight",
       [](const T* d_x, std::size_t n, T* d_y, W&) { sum_loads_in_flight(d_x, n, d_y, nullptr); },
       false},
      {"sum_block_atomic",
       [](const T* d_x, std::size_t n, T* d_y, W&) { sum_block_atomic(d_x, n, d_y, nullptr); },
       false},
      {"sum_two_kernels",
       [](const T* d_x, std::size_t n, T* d_y, W& w) { sum_two_kernels(d_x, n, d_y, w, nullptr); },
       true},
      {"sum_last_block",
       [](const T* d_x, std::size_t n, T* d_y, W& w) { sum_last_block(d_x, n, d_y, w, nullptr); },
       true},
  };
}

/// Floats whose sum is rounded at almost every addition, and differently in every order.
template <class T>
std::vector<T> rounding_values(std::size_t n) {
  std::vector<T> x = course::position_values<T>(n);
  for (T& value : x) value = T(1) / (value + T(0.1));
  return x;
}

/// What is counted when a rung sums n elements.
course::Counters counted(const std::string& name, std::size_t n) {
  const auto d_x = course::DeviceBuffer<float>::from(course::position_values<float>(n));
  course::DeviceBuffer<float> y(1);
  Workspace<float> workspace(n);
  for (const SumRung<float>& rung : sum_rungs<float>()) {
    if (rung.name != name) continue;
    return *course::count([&] { rung.launch(d_x.data(), n, y.data(), workspace); });
  }
  FAIL("there is no rung " << name);
  return {};
}

/// Blocks that the CPU device runs at once: 4 multiprocessors with 2048 threads each.
constexpr unsigned kResident = 4 * 2048 / kBlockSize;

}  // namespace

// ---- sums --------------------------------------------------------------------------------------

TEMPLATE_TEST_CASE("every rung sums exactly, whatever the output held", "", float, double) {
  using T = TestType;
  std::vector<std::size_t> sizes = course::all_sizes();
  sizes.insert(sizes.end(), {kTile - 1, kTile, kTile + 1, 3 * kTile + 5});
  for (const std::size_t n : sizes) {
    const std::vector<T> x = course::position_values<T>(n);  // sums of these are exact
    const auto d_x = course::DeviceBuffer<T>::from(x);
    const T expected = static_cast<T>(sum_reference(x));
    Workspace<T> workspace(n);
    for (const SumRung<T>& rung : sum_rungs<T>()) {
      INFO(rung.name << ", n = " << n);
      course::GuardedBuffer<T> y(1);
      y.fill_bytes(0xFF);  // NaN
      rung.launch(d_x.data(), n, y.data(), workspace);
      REQUIRE(course::same(y.download().front(), expected, "y"));
      rung.launch(d_x.data(), n, y.data(), workspace);  // nothing is left over from the first
      REQUIRE(course::same(y.download().front(), expected, "y of a second launch"));
      REQUIRE(y.intact("y"));
    }
    INFO("sum_on_host, n = " << n);
    REQUIRE(course::same(sum_on_host(d_x.data(), n, workspace, nullptr), expected, "sum"));
  }
}

TEMPLATE_TEST_CASE("every rung stays within the bound when sums are rounded", "", float, double) {
  using T = TestType;
  constexpr double kRoundoff =
      sizeof(T) == sizeof(float) ? course::kFloatRoundoff : course::kDoubleRoundoff;
  for (const std::size_t n : {std::size_t{1025}, course::kBigSize}) {
    const std::vector<T> x = rounding_values<T>(n);
    const auto d_x = course::DeviceBuffer<T>::from(x);
    course::DeviceBuffer<T> y(1);
    Workspace<T> workspace(n);
    for (const SumRung<T>& rung : sum_rungs<T>()) {
      INFO(rung.name << ", n = " << n);
      rung.launch(d_x.data(), n, y.data(), workspace);
      // The reference is rounded as well, in double.
      const double tolerance =
          course::sum_tolerance(x, kRoundoff) + course::sum_tolerance(x, course::kDoubleRoundoff);
      REQUIRE(course::close(y.front(), sum_reference(x), tolerance, "y"));
    }
  }
}

TEST_CASE("a NaN in the last element reaches every sum") {
  std::vector<float> x = course::position_values<float>(3 * kTile + 5);
  x.back() = std::numeric_limits<float>::quiet_NaN();
  const auto d_x = course::DeviceBuffer<float>::from(x);
  course::DeviceBuffer<float> y(1);
  Workspace<float> workspace(x.size());
  for (const SumRung<float>& rung : sum_rungs<float>()) {
    INFO(rung.name);
    rung.launch(d_x.data(), x.size(), y.data(), workspace);
    REQUIRE(std::isnan(y.front()));
  }
}

TEST_CASE("sum_dynamic_tree takes every power of two as block size") {
  const std::vector<double> x = course::position_values<double>(2500);
  const auto d_x = course::DeviceBuffer<double>::from(x);
  for (unsigned block = 1; block <= 1024; block *= 2) {
    INFO("block size " << block);
    course::GuardedBuffer<double> y(1);
    sum_dynamic_tree(d_x.data(), x.size(), y.data(), nullptr, block);
    REQUIRE(course::same(y.download().front(), sum_reference(x), "y"));
    REQUIRE(y.intact("y"));
  }
}

TEST_CASE("a block size that is no power of two loses a third of the elements") {
  for (const std::size_t n : {std::size_t{192}, std::size_t{1025}, course::kBigSize}) {
    INFO("n = " << n);
    const std::vector<float> x = course::position_values<float>(n);
    const auto d_x = course::DeviceBuffer<float>::from(x);
    course::DeviceBuffer<float> y(1);
    sum_dynamic_tree(d_x.data(), n, y.data(), nullptr, kOddBlockSize);
    REQUIRE(course::same(y.front(), static_cast<float>(sum_of_odd_blocks(x)), "y"));
    REQUIRE(y.front() < sum_reference(x));
  }
}

TEST_CASE("the grid-stride kernels are right for every grid") {
  const std::vector<float> x = course::position_values<float>(5 * kTile + 77);
  const auto d_x = course::DeviceBuffer<float>::from(x);
  const std::size_t n = x.size();
  Workspace<float> workspace(n);
  float* const d_parts = workspace.parts.data();
  unsigned* const d_ticket = workspace.ticket.data();
  const auto expected = static_cast<float>(sum_reference(x));
  for (const unsigned grid : {1u, 2u, 5u, 6u, 7u, 40u}) {  // 6 tiles: some have no block, or none
    INFO("grid " << grid << ", n = " << n);
    auto y = course::DeviceBuffer<float>::zeros(1);
    sum_grid_stride<float><<<grid, kBlockSize>>>(d_x.data(), n, y.data());
    CUDA_CHECK_LAUNCH();
    REQUIRE(course::same(y.front(), expected, "y of sum_grid_stride"));
    y.fill_bytes(0);
    sum_loads_in_flight<float><<<grid, kBlockSize>>>(d_x.data(), n, y.data());
    CUDA_CHECK_LAUNCH();
    REQUIRE(course::same(y.front(), expected, "y of sum_loads_in_flight"));
    y.fill_bytes(0xFF);
    sum_last_block<float><<<grid, kBlockSize>>>(d_x.data(), n, d_parts, d_ticket, y.data());
    CUDA_CHECK_LAUNCH();
    REQUIRE(course::same(y.front(), expected, "y of sum_last_block"));
    REQUIRE(course::same(workspace.ticket.front(), 0u, "ticket"));  // the next grid may differ
  }
}

TEST_CASE("every rung takes an array that begins anywhere") {
  const std::vector<float> x = course::position_values<float>(kTile + 77);
  const auto d_x = course::DeviceBuffer<float>::from(x);
  course::DeviceBuffer<float> y(1);
  Workspace<float> workspace(x.size());
  for (const std::size_t begin : {1, 2, 3, 5}) {
    const std::size_t n = x.size() - begin;
    const std::vector<float> rest(x.end() - static_cast<std::ptrdiff_t>(n), x.end());
    for (const SumRung<float>& rung : sum_rungs<float>()) {
      INFO(rung.name << ", from element " << begin << " of " << x.size());
      rung.launch(d_x.data() + begin, n, y.data(), workspace);
      REQUIRE(course::same(y.front(), static_cast<float>(sum_reference(rest)), "y"));
    }
  }
}

TEST_CASE("every rung counts elements in 64 bits") {
  constexpr std::size_t kBorder = std::size_t{1} << 31, n = kBorder + 300;
  course::skip_without_memory(n * sizeof(float));
  auto d_x = course::DeviceBuffer<float>::zeros(n);
  float addend = 1.0f;  // 1 + 2 + 4 + 8: each missing one shows
  for (const std::size_t i : {std::size_t{0}, kBorder - 1, kBorder, n - 1}) {
    CUDA_CHECK(cudaMemcpy(d_x.data() + i, &addend, sizeof addend, cudaMemcpyHostToDevice));
    addend *= 2.0f;
  }
  course::DeviceBuffer<float> y(1);
  Workspace<float> workspace(n);
  for (const SumRung<float>& rung : sum_rungs<float>()) {
    if (rung.name == "sum_block_atomic") continue;  // would take long under a sanitizer
    INFO(rung.name << ", n = 2^31 + 300");
    rung.launch(d_x.data(), n, y.data(), workspace);
    REQUIRE(course::same(y.front(), 15.0f, "y"));
  }
  REQUIRE(course::same(sum_on_host(d_x.data(), n, workspace, nullptr), 15.0f, "sum"));
}

// ---- what is wrong on purpose ------------------------------------------------------------------

TEST_CASE("sum_plus_equals races between blocks, and loses updates") {
  const std::vector<float> x = course::position_values<float>(64 * kBlockSize);
  const auto d_x = course::DeviceBuffer<float>::from(x);
  course::DeviceBuffer<float> y(1);
  course::Findings findings;
  float sum = 0.0f;
  REQUIRE(course::expect_race(
      [&] {
        course::with_seed(1, [&] {
          sum_plus_equals(d_x.data(), x.size(), y.data(), nullptr);
          sum = y.front();
        });
      },
      &findings));
  INFO("sum_plus_equals gave " << sum << ", the sum is " << sum_reference(x));
  REQUIRE(sum > 0.0f);
  if (!findings.checked) return;
  REQUIRE(sum < sum_reference(x));  // a GPU may be lucky with 64 blocks
  INFO(findings.texts.front());
  REQUIRE(findings.texts.front().find("d_y[0]") != std::string::npos);
}

TEST_CASE("one block alone is right with +=: a test with one block proves nothing") {
  const std::vector<float> x = course::position_values<float>(kBlockSize);
  const auto d_x = course::DeviceBuffer<float>::from(x);
  course::DeviceBuffer<float> y(1);
  sum_plus_equals(d_x.data(), x.size(), y.data(), nullptr);
  REQUIRE(course::same(y.front(), static_cast<float>(sum_reference(x)), "y"));
}

TEST_CASE("sum_without_barriers races in shared memory") {
  const std::vector<float> x = course::position_values<float>(1025);
  const auto d_x = course::DeviceBuffer<float>::from(x);
  course::DeviceBuffer<float> y(1);
  course::Findings findings;
  REQUIRE(course::expect_race(
      [&] {
        sum_without_barriers(d_x.data(), x.size(), y.data(), nullptr);
        y.front();
      },
      &findings));
  if (!findings.checked) return;
  INFO(findings.texts.front());
  REQUIRE(findings.texts.front().find("s_y[") != std::string::npos);
}

TEST_CASE("sum_scope_too_small races between blocks") {
  const std::vector<float> x = course::position_values<float>(4 * kBlockSize);
  const auto d_x = course::DeviceBuffer<float>::from(x);
  course::DeviceBuffer<float> y(1);
  REQUIRE(course::expect_race([&] {
    sum_scope_too_small(d_x.data(), x.size(), y.data(), nullptr);
    y.front();
  }));
}

TEST_CASE("a barrier that not all threads reach is found") {
  course::skip_without_checker();  // a GPU may hang
  const std::vector<float> x = course::position_values<float>(kBlockSize + 100);
  const auto d_x = course::DeviceBuffer<float>::from(x);
  const auto found = [&](const auto& launch) {
    auto y = course::DeviceBuffer<float>::zeros(1);
    const course::Findings findings = course::find_races([&] { launch(y.data()); });
    REQUIRE(findings.others > 0);
    return findings.texts.front();
  };
  const std::string early = found(
      [&](float* d_y) { sum_early_return<float><<<2, kBlockSize>>>(d_x.data(), x.size(), d_y); });
  INFO(early);
  REQUIRE(early.find("BARRIER IN DIVERGENT CODE") != std::string::npos);
  REQUIRE(early.find("156 of 256 threads have returned") != std::string::npos);
  const std::string inside = found(
      [&](float* d_y) { sum_barrier_in_if<float><<<2, kBlockSize>>>(d_x.data(), x.size(), d_y); });
  INFO(inside);
  REQUIRE(inside.find("BARRIER IN DIVERGENT CODE") != std::string::npos);
}

TEMPLATE_TEST_CASE("the forgotten if: 128 times too large, as far as the type can hold it", "",
                   float, double) {
  using T = TestType;
  const Experiment<T> e = course::skip_large() ? kExperimentShort<T> : kExperimentFull<T>;
  course::GuardedBuffer<T> y(1);
  const auto set = [&] {
    CUDA_CHECK(cudaMemcpy(y.data(), &e.start, sizeof(T), cudaMemcpyHostToDevice));
  };
  set();
  add_equal_values<T, false>(e, y.data(), nullptr);
  REQUIRE(course::same(y.download().front(), add_block_sums(e, 1), "y with the if"));
  set();
  add_equal_values<T, true>(e, y.data(), nullptr);
  const T forgotten = y.download().front();
  REQUIRE(course::same(forgotten, add_block_sums(e, kExperimentBlock), "y without the if"));
  if (std::is_same_v<T, float>) {
    REQUIRE(course::same(forgotten, static_cast<T>(kForgottenIfStagnatesAt), "y without the if"));
  } else {
    const double right = add_block_sums_reference(e);
    // 781,250 times 128 additions, each of them rounded by at most half an ulp of the result.
    const double bound = static_cast<double>(e.blocks) * kExperimentBlock * course::kDoubleRoundoff;
    REQUIRE(
        course::close(forgotten, kExperimentBlock * right, bound * forgotten, "y without the if"));
  }
  REQUIRE(y.intact("y"));
}

TEST_CASE("the article's numbers: 100 million times 1.23 in blocks of 128") {
  static const float with_if = add_block_sums(kExperimentFull<float>, 1);  // once is enough
  REQUIRE(course::same(with_if, 123'633'392.0f, "float, with the if"));
  REQUIRE(course::close(add_block_sums_reference(kExperimentFull<float>), 123'000'000.0, 2.0,
                        "what float's 1.23 should give"));
  static const double in_double = add_block_sums(kExperimentFull<double>, 1);
  REQUIRE(course::close(in_double, 123'000'000.0, 0.01, "double, with the if"));
}

// ---- what is counted ---------------------------------------------------------------------------

TEST_CASE("atomics: one a block, and none with a second kernel") {
  course::skip_without_counters();
  for (const std::size_t n : {std::size_t{1}, std::size_t{1025}, course::kBigSize}) {
    INFO("n = " << n);
    const std::uint64_t per_element = blocks_for(n);
    const std::uint64_t strided = std::min(blocks_for(n), kResident);
    const std::uint64_t tiled = std::min(blocks_for(n, kTile), kResident);
    struct Claim {
      std::string name;
      std::uint64_t blocks, global_atomics, shared_atomics, launches;
    };
    const Claim claims[] = {
        {"sum_shared_tree", per_element, per_element, 0, 1},
        {"sum_dynamic_tree", per_element, per_element, 0, 1},
        {"sum_block_atomic", per_element, per_element, n, 1},
        {"sum_grid_stride", strided, strided, 0, 1},
        {"sum_loads_in_flight", tiled, tiled, 0, 1},
        {"sum_two_kernels", tiled + 1, 0, 0, 2},
        {"sum_last_block", tiled, tiled, 0, 1},
    };
    for (const Claim& claim : claims) {
      INFO(claim.name);
      const course::Counters c = counted(claim.name, n);
      REQUIRE(c.launches == claim.launches);
      REQUIRE(c.blocks == claim.blocks);
      REQUIRE(c.global_atomic_lanes == claim.global_atomics);
      REQUIRE(c.shared_atomic_lanes == claim.shared_atomics);
    }
  }
}

TEST_CASE("barriers: eight a tree of 256, and two more to tell a block that it is last") {
  course::skip_without_counters();
  const std::size_t n = course::kBigSize;
  constexpr std::uint64_t kTree = 8;  // 2^8 threads
  const std::uint64_t tiled = std::min(blocks_for(n, kTile), kResident);
  REQUIRE(counted("sum_shared_tree", n).barriers == kTree * blocks_for(n));
  REQUIRE(counted("sum_block_atomic", n).barriers == 2ull * blocks_for(n));
  REQUIRE(counted("sum_grid_stride", n).barriers == kTree * std::min(blocks_for(n), kResident));
  REQUIRE(counted("sum_two_kernels", n).barriers == kTree * (tiled + 1));
  // Every block: its tree, and one barrier to read the ticket; the last one: a second tree.
  REQUIRE(counted("sum_last_block", n).barriers == (kTree + 1) * tiled + kTree);
}

TEST_CASE("every element is loaded once, by warps that read 32 neighbours") {
  course::skip_without_counters();
  const std::size_t n = 8 * kTile;
  for (const std::string name : {"sum_shared_tree", "sum_grid_stride", "sum_loads_in_flight"}) {
    INFO(name);
    const course::Counters c = counted(name, n);
    REQUIRE(c.global_loads == n / 32);
    REQUIRE(c.global_load_sectors == 4 * c.global_loads);
    REQUIRE(c.bank_conflicts() == 0);
  }
}

// ---- order -------------------------------------------------------------------------------------

TEST_CASE("atomics add blocks in any order; places give the same bits in every run") {
  const std::vector<float> x = rounding_values<float>(course::kBigSize);
  const auto d_x = course::DeviceBuffer<float>::from(x);
  course::DeviceBuffer<float> y(1);
  Workspace<float> workspace(x.size());
  constexpr std::uint64_t kRuns = 8;
  for (const SumRung<float>& rung : sum_rungs<float>()) {
    INFO(rung.name);
    std::set<float> sums;
    for (std::uint64_t seed = 0; seed < kRuns; ++seed) {
      course::with_seed(seed, [&] {
        rung.launch(d_x.data(), x.size(), y.data(), workspace);
        sums.insert(y.front());
      });
    }
    if (rung.same_bits) REQUIRE(sums.size() == 1);
    // A GPU's order cannot be chosen, so nothing can be demanded of it.
    if (!rung.same_bits && course::kCpuDevice) REQUIRE(sums.size() > 1);
  }
  std::set<float> sums;
  for (std::uint64_t seed = 0; seed < kRuns; ++seed) {
    course::with_seed(seed,
                      [&] { sums.insert(sum_on_host(d_x.data(), x.size(), workspace, nullptr)); });
  }
  INFO("sum_on_host");
  REQUIRE(sums.size() == 1);
}

// ---- histograms --------------------------------------------------------------------------------

namespace {

using HistogramLauncher = void (*)(const unsigned char*, std::size_t, unsigned*, cudaStream_t);

struct HistogramRung {
  std::string name;
  HistogramLauncher launch;
};

std::vector<HistogramRung> histogram_rungs() {
  return {{"histogram_global", histogram_global},
          {"histogram_shared", histogram_shared},
          {"histogram_copies", histogram_copies},
          {"histogram_words", histogram_words}};
}

std::vector<unsigned char> slice(const std::vector<unsigned char>& bytes, std::size_t begin) {
  return {bytes.begin() + static_cast<std::ptrdiff_t>(begin), bytes.end()};
}

}  // namespace

TEST_CASE("every histogram counts every byte once") {
  for (const std::size_t n : course::all_sizes()) {
    const std::vector<std::vector<unsigned char>> inputs = {
        course::position_values<unsigned char>(n), text_like_bytes(n),
        std::vector<unsigned char>(n, 255)};
    for (std::size_t kind = 0; kind < inputs.size(); ++kind) {
      const auto d_bytes = course::DeviceBuffer<unsigned char>::from(inputs[kind]);
      for (const HistogramRung& rung : histogram_rungs()) {
        INFO(rung.name << ", n = " << n << ": "
                       << (kind == 0   ? "all bytes occur"
                           : kind == 1 ? "text-like"
                                       : "all bytes are 255"));
        course::GuardedBuffer<unsigned> bins(kBins);
        bins.fill_bytes(0x5A);
        rung.launch(d_bytes.data(), n, bins.data(), nullptr);
        REQUIRE(course::same(bins.download(), histogram_reference(inputs[kind]), "bins"));
        REQUIRE(bins.intact("bins"));
      }
    }
  }
}

TEST_CASE("every histogram takes bytes that begin anywhere") {
  const std::vector<unsigned char> bytes = course::position_values<unsigned char>(1030);
  const auto d_bytes = course::DeviceBuffer<unsigned char>::from(bytes);
  for (const HistogramRung& rung : histogram_rungs()) {
    for (const std::size_t begin : {1, 2, 3, 1023, 1026, 1027, 1028, 1029}) {
      INFO(rung.name << ", from byte " << begin << " of " << bytes.size());
      course::GuardedBuffer<unsigned> bins(kBins);
      rung.launch(d_bytes.data() + begin, bytes.size() - begin, bins.data(), nullptr);
      REQUIRE(course::same(bins.download(), histogram_reference(slice(bytes, begin)), "bins"));
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
  for (const HistogramRung& rung : histogram_rungs()) {
    if (rung.name == "histogram_global") continue;  // 2^31 atomics on one address take seconds
    INFO(rung.name << ", n = 2^31 + 301");
    rung.launch(d_bytes.data(), n, bins.data(), nullptr);
    REQUIRE(course::same(bins.download(), expected, "bins"));
  }
}

TEST_CASE("a private histogram makes one global atomic a bin that its block used") {
  course::skip_without_counters();
  const std::size_t n = 3 * kHistogramBlock * kBytesPerThread;  // three blocks
  const std::vector<unsigned char> bytes = text_like_bytes(n);
  const auto d_bytes = course::DeviceBuffer<unsigned char>::from(bytes);
  const std::vector<unsigned> expected = histogram_reference(bytes);
  const auto used = static_cast<std::uint64_t>(
      std::count_if(expected.begin(), expected.end(), [](unsigned bin) { return bin > 0; }));
  course::DeviceBuffer<unsigned> bins(kBins);
  for (const HistogramRung& rung : histogram_rungs()) {
    INFO(rung.name);
    const auto c = course::count([&] { rung.launch(d_bytes.data(), n, bins.data(), nullptr); });
    REQUIRE(course::same(bins.download(), expected, "bins"));
    if (rung.name == "histogram_global") {
      REQUIRE(c->global_atomic_lanes == n);
      REQUIRE(c->shared_atomic_lanes == 0);
      continue;
    }
    REQUIRE(c->shared_atomic_lanes == n);
    REQUIRE(c->global_atomic_lanes <= 3 * used);
    REQUIRE(c->global_atomic_lanes > 2 * used);  // rare bytes may be missing in a block
    // With a copy for each lane no two lanes meet; with one they do, six spaces in a warp of text.
    const bool copies = rung.name != "histogram_shared";
    REQUIRE((c->shared_atomic_addresses == c->shared_atomic_lanes) == copies);
    REQUIRE(c->bank_conflicts() == 0);  // of loads and stores: clearing and merging
  }
}

TEST_CASE("histogram_words loads four bytes at once") {
  course::skip_without_counters();
  const std::size_t n = 2 * kHistogramBlock * kBytesPerThread;
  const auto d_bytes = course::DeviceBuffer<unsigned char>::from(text_like_bytes(n));
  course::DeviceBuffer<unsigned> bins(kBins);
  const auto loads = [&](HistogramLauncher launch) {
    return course::count([&] { launch(d_bytes.data(), n, bins.data(), nullptr); })->global_loads;
  };
  REQUIRE(loads(histogram_copies) == n / 32);
  REQUIRE(loads(histogram_words) == n / 32 / 4);
}
