// What the tests of this chapter share: rungs with small tiles, and checks of a scan.
#pragma once

#include <catch2/catch_test_macros.hpp>
#include <course/check.cuh>
#include <cstddef>
#include <string>
#include <vector>

#include "inputs.cuh"
#include "rungs.cuh"

namespace scan_testing {

/// Small tiles, so that small arrays have several; groups of 32.
using SmallShape = Shape<64, 2, 3>;

/// The rungs, and those of tiles with small ones.
inline std::vector<ScanRung> small_rungs() {
  std::vector<ScanRung> rungs = scan_rungs();
  for (ScanRung& rung : rungs) {
    if (rung.name == "scan_packs") {
      rung.launch = [](const float* d_x, std::size_t n, float* d_out, ScanMemory& memory) {
        launch_scan_packs<SmallShape>(d_x, n, d_out, memory.totals);
      };
    } else if (rung.name == "scan_three_kernels") {
      rung.launch = [](const float* d_x, std::size_t n, float* d_out, ScanMemory& memory) {
        launch_scan_three_kernels<SmallShape>(d_x, n, d_out, course::Sum{}, memory.totals);
      };
    } else if (rung.name == "scan_thread_looks_back") {
      rung.launch = launch_look_back_rung<ByThread, SmallShape>;
    } else if (rung.name == "scan_warp_looks_back") {
      rung.launch = launch_look_back_rung<ByWarp, SmallShape>;
    } else if (rung.name == "scan_groups") {
      rung.launch = launch_look_back_rung<InGroups<1>, SmallShape>;
    } else if (rung.name == "scan_pipelined") {
      rung.launch = [](const float* d_x, std::size_t n, float* d_out, ScanMemory& memory) {
        launch_scan_pipelined_shaped<Tiles::by_ticket, InGroups<1>, SmallShape>(
            d_x, n, d_out, course::Sum{}, memory.look_back);
      };
    } else if (rung.name == "scan_in_turn") {
      rung.launch = [](const float* d_x, std::size_t n, float* d_out, ScanMemory& memory) {
        launch_scan_pipelined_shaped<Tiles::in_turn, ByWarp, SmallShape>(
            d_x, n, d_out, course::Sum{}, memory.look_back);
      };
    } else {
      continue;
    }
    rung.name += ", small tiles";
  }
  return rungs;
}

struct SmallTiles {
  using OfBlock = SmallShape;
  template <Scan kind, class T, class Operation>
  static void launch_pipelined(const T* d_x, std::size_t n, T* d_out, Operation op,
                               course::LookBackMemory<T>& memory) {
    launch_scan_pipelined_shaped<Tiles::by_ticket, InGroups<1>, SmallShape, kind>(d_x, n, d_out, op,
                                                                                  memory);
  }
  template <Scan kind, class T, class Operation>
  static void launch_in_turn(const T* d_x, std::size_t n, T* d_out, Operation op,
                             course::LookBackMemory<T>& memory) {
    launch_scan_pipelined_shaped<Tiles::in_turn, ByWarp, SmallShape, kind>(d_x, n, d_out, op,
                                                                           memory);
  }
  static constexpr unsigned kTilesPerLane = 1;
};

inline std::string describe(const std::string& rung, std::size_t n, std::size_t offset_x,
                            std::size_t offset_out) {
  return rung + ": n = " + std::to_string(n) + "; x begins " + std::to_string(offset_x) +
         " and out " + std::to_string(offset_out) + " elements after a multiple of 64 bytes";
}

/// The prefix sums of x, which are exact.
inline std::vector<float> exact_sums(const std::vector<float>& x) {
  const std::vector<double> sums = scan_reference(x);
  return {sums.begin(), sums.end()};
}

inline void check_scan(const ScanRung& rung, std::size_t n, std::size_t offset_x,
                       std::size_t offset_out) {
  const std::vector<float> x = exact_input(n);
  const course::Placed<float> d_x(x, offset_x);
  course::Placed<float> out(std::vector<float>(n, -77), offset_out);
  ScanMemory memory;
  rung.launch(d_x.data(), n, out.data(), memory);
  REQUIRE(course::same(out.download(), exact_sums(x), "out"));
  REQUIRE(out.intact("out"));
}

/// The scan of x, one element after the other.
template <Scan kind, class T, class Operation>
std::vector<T> any_reference(const std::vector<T>& x, Operation op) {
  std::vector<T> out(x.size());
  T before = Operation::template identity<T>();
  for (std::size_t i = 0; i < x.size(); ++i) {
    const T upto = op(before, x[i]);
    out[i] = kind == Scan::inclusive ? upto : before;
    before = upto;
  }
  return out;
}

/// All rungs for one operation, on elements that make(i) gives; every result is exact.
template <Scan kind, class T, class Operation, class Make>
void check_any(const char* what, Make make) {
  const char* const form = kind == Scan::inclusive ? ", inclusive" : ", exclusive";
  std::size_t turn = 0;
  for (const auto& rung : any_rungs<kind, T, Operation, SmallTiles>()) {
    for (const std::size_t n : {1u, course::kCpuDevice ? 2'001u : 1'000'003u}) {
      std::vector<T> x(n);
      for (std::size_t i = 0; i < n; ++i) x[i] = make(i);
      const std::vector<T> expected = any_reference<kind>(x, Operation{});
      const std::size_t offset = turn++ % 3 % course::kWidestPack<T>;
      INFO(rung.name << ": " << what << form << ", n = " << n << ", x begins " << offset
                     << " elements after a multiple of 64 bytes");
      const course::Placed<T> d_x(x, offset);
      course::Placed<T> out(std::vector<T>(n), turn % 2);
      AnyMemory<T> memory;
      rung.launch(d_x.data(), n, out.data(), memory);
      const std::vector<T> found = out.download();
      const bool is_right = found == expected;
      REQUIRE(is_right);
      REQUIRE(out.intact("out"));
    }
  }
}

}  // namespace scan_testing
