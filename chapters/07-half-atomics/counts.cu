// What the lesson counts: the atomics of each rung.
#include <catch2/catch_test_macros.hpp>
#include <course/check.cuh>
#include <course/rungs.cuh>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "rungs.cuh"

namespace {

constexpr std::size_t kN = 4096;

/// Checks the atomics of rungs, at each start of the table where they are known.
template <class T>
void check_atomics(const char* type, const std::vector<TableRung<T>>& rungs = table_rungs<T>()) {
  constexpr std::size_t kRows = 128;
  const auto d_x = course::DeviceBuffer<T>::from(course::position_values<T>(kN));
  auto d_table = course::DeviceBuffer<T>::zeros(kRows * kRow + 8);
  for (const TableRung<T>& rung : rungs) {
    for (const TableStart& start : rung.starts) {
      if (start.atomics == 0) continue;
      INFO(rung.name << ", " << type << ", n = " << kN << ", the table at element "
                     << start.offset);
      T* const table = d_table.data() + start.offset;
      const auto counters = course::count([&] { rung.launch(d_x.data(), kN, kRows, table); });
      const auto expected = static_cast<std::uint64_t>(start.atomics * kN);
      CHECK(course::same(counters->global_atomic_lanes, expected, "atomics"));
    }
  }
}

std::uint64_t atomics_of(const std::function<void()>& work) {
  return course::count(work)->global_atomic_lanes;
}

}  // namespace

TEST_CASE("pairs make half of the atomics, eights an eighth") {
  course::skip_without_counters();
  check_atomics<__half>("half");
  check_atomics<__nv_bfloat16>("bfloat16");
  check_atomics<float>("float");
  check_atomics("half", minimum_rungs());
}

TEST_CASE("two results or two columns share an atomic") {
  course::skip_without_counters();
  const auto d_x = course::DeviceBuffer<__half>::from(course::position_values<__half>(kN));
  auto d_sums = course::DeviceBuffer<__half>::zeros(2 * 512);
  for (const MomentsRung& rung : kMomentsRungs) {
    INFO("n = " << kN << " into 512 cells");
    const auto atomics = atomics_of([&] { rung.launch(d_x.data(), kN, 512, d_sums.data()); });
    CHECK(course::same(atomics, rung.side_by_side ? kN : 2 * kN, "atomics of " + rung.name));
  }
  for (const ColumnsRung& rung : kColumnsRungs) {
    INFO("64 x 64 elements");
    const auto atomics = atomics_of([&] { rung.launch(d_x.data(), 64, 64, d_sums.data()); });
    CHECK(
        course::same(atomics, rung.name == "columns_pair" ? 32u : 64u, "atomics of " + rung.name));
  }
}

TEST_CASE("a compare-and-swap loop swaps more than once where the halves of a word meet") {
  course::skip_without_counters();
  constexpr std::size_t kRows = 512;
  const auto d_x = course::DeviceBuffer<__half>::from(course::position_values<__half>(kN));
  auto d_table = course::DeviceBuffer<__half>::zeros(kRows * kRow);
  // No cell gets two elements. But two lanes of a warp share a word and go in step, so one of them
  // is too late and comes again: 3 swaps for 2 elements. One loop for both numbers needs 1.
  const auto check = [&](const std::string& name, std::size_t swaps) {
    std::vector<TableRung<__half>> rungs = table_rungs<__half>();
    for (const TableRung<__half>& rung : minimum_rungs()) rungs.push_back(rung);
    const TableRung<__half> rung = course::rung_named(rungs, name);
    INFO("n = " << kN);
    const auto found = atomics_of([&] { rung.launch(d_x.data(), kN, kRows, d_table.data()); });
    CHECK(course::same(found, swaps, "atomics of " + name));
  };
  check("add_half_cas", kN * 3 / 2);
  set_bits(d_table.data(), std::vector<Bits>(kRows * kRow, kInfinity));
  check("min_half", kN * 3 / 2);
  set_bits(d_table.data(), std::vector<Bits>(kRows * kRow, kInfinity));
  check("min_half2_cas", kN / 2);
}

TEST_CASE("a RED that takes minima neither loads the table nor returns anything") {
  course::skip_without_counters();
  const auto d_x = course::DeviceBuffer<__half>::from(course::position_values<__half>(kN));
  course::DeviceBuffer<__half> d_table(128 * kRow);
  set_bits(d_table.data(), std::vector<Bits>(128 * kRow, kInfinity));
  for (const TableRung<__half>& rung : minimum_rungs()) {
    INFO(rung.name << ", n = " << kN);
    const auto c = course::count([&] { rung.launch(d_x.data(), kN, 128, d_table.data()); });
    const std::uint64_t loads = kN / 32 /
                                (rung.name == "min_half8"  ? 8
                                 : rung.name == "min_half" ? 1
                                                           : 2);
    CHECK(course::same(c->global_loads, rung.loops ? 2 * loads : loads, "loads"));
  }
}

TEST_CASE("a sum that moves costs the loop many more swaps than one that stagnates") {
  course::skip_without_counters();
  course::GuardedBuffer<__half> y(2);
  const auto swaps = [&](float start) {
    set_bits(y.data(), {bits_of(start), 0});
    return atomics_of([&] {
      course::launch(alternate<Way::cas>, {1, kBlockSize}, std::size_t{32}, y.data());
    });
  };
  // From 4096 on halves are 4 apart: adding 1 or -1 is rounded away, and every first swap succeeds.
  CHECK(course::same(swaps(8192.0f), 32u, "swaps of 32 lanes, a sum that stagnates (from 8192)"));
  CHECK(course::same(swaps(0.0f), 528u,
                     "swaps of 32 lanes, a sum that moves (from 0)"));  // 32 + 31 + ...
}
