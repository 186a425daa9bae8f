// Check of the exercise ordered_filter: the two kernels for every grid, changes at every awkward
// place, and the whole of it at every size. The order is part of the answer.
#include "ordered_filter.cuh"

#include <catch2/catch_test_macros.hpp>
#include <climits>
#include <course/check.cuh>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace ordered_filter_check {

using Launch = course::LaunchShape;
using Index = unsigned long long;

enum class Kind {
  constant,
  all_differ,
  short_runs,
  long_runs,
  two_values,
  last_alone,
  by_part,
  one_bit
};
constexpr Kind kKinds[] = {Kind::constant,   Kind::all_differ, Kind::short_runs, Kind::long_runs,
                           Kind::two_values, Kind::last_alone, Kind::by_part,    Kind::one_bit};
std::string to_string(Kind kind) {
  switch (kind) {
    case Kind::constant:
      return "all are 0";
    case Kind::all_differ:
      return "no two neighbours are equal";
    case Kind::short_runs:
      return "runs of 1 to 4 equal numbers";
    case Kind::long_runs:
      return "runs of 100 equal numbers";
    case Kind::two_values:
      return "INT_MIN and INT_MAX in no order";
    case Kind::last_alone:
      return "the last one alone differs";
    case Kind::by_part:
      return "runs of 32 equal numbers";
    case Kind::one_bit:
      return "neighbours are equal, differ in one bit, or in their sign";
  }
  return "";
}

std::vector<int> make_x(Kind kind, std::size_t n) {
  const std::vector<int> random = course::position_values<int>(n);
  std::vector<int> x(n);
  for (std::size_t i = 0; i < n; ++i) {
    switch (kind) {
      case Kind::constant:
        x[i] = 0;
        break;
      case Kind::all_differ:
        x[i] = static_cast<int>(i * 5 % 10'007);
        break;
      case Kind::short_runs:
        x[i] = i == 0 || random[i] % 5 < 2 ? random[i] : x[i - 1];
        break;
      case Kind::long_runs:
        x[i] = -static_cast<int>(i / 100);
        break;
      case Kind::two_values:
        x[i] = random[i] % 2 == 0 ? INT_MIN : INT_MAX;
        break;
      case Kind::last_alone:
        x[i] = i + 1 == n ? -1 : 7;
        break;
      case Kind::by_part:
        x[i] = static_cast<int>(i / 32 % 2);
        break;
      case Kind::one_bit: {
        const unsigned last = i == 0 ? 0x4000'0001u : static_cast<unsigned>(x[i - 1]);
        const unsigned next[] = {last, last ^ 1u << i / 4 % 32, 0u - last, last ^ 1u};
        x[i] = static_cast<int>(next[i % 4]);
        break;
      }
    }
  }
  return x;
}

struct Kept {
  std::vector<int> out;
  std::vector<Index> when;
  std::vector<Index> counts;  // of each part
};

Kept reference(const std::vector<int>& x, unsigned parts) {
  Kept kept;
  kept.counts.assign(parts, 0);
  for (unsigned b = 0; b < parts; ++b) {
    for (std::size_t i = part_begin(x.size(), parts, b); i < part_begin(x.size(), parts, b + 1);
         ++i) {
      if (i > 0 && x[i] == x[i - 1]) continue;
      kept.out.push_back(x[i]);
      kept.when.push_back(i);
      ++kept.counts[b];
    }
  }
  return kept;
}

std::string describe(Kind kind, std::size_t n, Launch launch) {
  return "n = " + std::to_string(n) + ": " + to_string(kind) + "; <<<" +
         std::to_string(launch.grid) + ", " + std::to_string(launch.block) + ">>>";
}

void check_count(const std::vector<int>& x, Launch launch) {
  const auto d_x = course::DeviceBuffer<int>::from(x);
  course::GuardedBuffer<Index> counts(launch.grid);
  count_changes<<<launch.grid, launch.block>>>(d_x.data(), x.size(), counts.data());
  CUDA_CHECK_LAUNCH();
  REQUIRE(course::same(counts.download(), reference(x, launch.grid).counts, "counts"));
  REQUIRE(counts.intact("counts"));
}

void check_write(const std::vector<int>& x, Launch launch) {
  const Kept expected = reference(x, launch.grid);
  std::vector<Index> begins(launch.grid, 0);
  for (unsigned b = 1; b < launch.grid; ++b) begins[b] = begins[b - 1] + expected.counts[b - 1];
  const auto d_x = course::DeviceBuffer<int>::from(x);
  const auto d_begins = course::DeviceBuffer<Index>::from(begins);
  course::GuardedBuffer<int> out(expected.out.size());
  course::GuardedBuffer<Index> when(expected.when.size());
  if (expected.out.empty()) {  // something to point to
    course::GuardedBuffer<int> no_out(1);
    course::GuardedBuffer<Index> no_when(1);
    no_out.fill_bytes(0);
    write_changes<<<launch.grid, launch.block>>>(d_x.data(), x.size(), d_begins.data(),
                                                 no_out.data(), no_when.data());
    CUDA_CHECK_LAUNCH();
    REQUIRE(no_out.download().front() == 0);
    return;
  }
  write_changes<<<launch.grid, launch.block>>>(d_x.data(), x.size(), d_begins.data(), out.data(),
                                               when.data());
  CUDA_CHECK_LAUNCH();
  REQUIRE(course::same(when.download(), expected.when, "when"));
  REQUIRE(course::same(out.download(), expected.out, "out"));
  REQUIRE(out.intact("out"));
  REQUIRE(when.intact("when"));
}

void check_all(const std::vector<int>& x) {
  const Kept expected = reference(x, 1);
  const auto d_x = course::DeviceBuffer<int>::from(x);
  course::GuardedBuffer<int> out(expected.out.size());
  course::GuardedBuffer<Index> when(expected.when.size());
  const std::size_t count = ordered_filter(d_x.data(), x.size(), out.data(), when.data());
  REQUIRE(course::same(count, expected.out.size(), "number of changes"));
  REQUIRE(course::same(when.download(), expected.when, "when"));
  REQUIRE(course::same(out.download(), expected.out, "out"));
  REQUIRE(out.intact("out"));
  REQUIRE(when.intact("when"));
}

course::Verdict at_most(std::uint64_t found, std::uint64_t most, const std::string& what) {
  if (found <= most) return {};
  return {false,
          what + ": expected at most " + std::to_string(most) + ", found " + std::to_string(found)};
}

}  // namespace ordered_filter_check

using namespace ordered_filter_check;

TEST_CASE("ordered_filter: count_changes counts one part") {
  for (const Kind kind : kKinds) {
    for (const std::size_t n : {1u, 32u, 100u}) {
      INFO("count_changes: " << describe(kind, n, {1, 32}));
      check_count(make_x(kind, n), {1, 32});
    }
  }
}

TEST_CASE("ordered_filter: count_changes, every size and grid") {
  std::size_t turn = 0;
  for (const std::size_t n : course::kSizes) {
    const std::vector<Launch> launches = course::launch_shapes(n);
    for (int k = 0; k < 2; ++k) {
      const Kind kind = kKinds[turn % std::size(kKinds)];
      const Launch launch = launches[turn++ * 5 % launches.size()];
      INFO("count_changes: " << describe(kind, n, launch));
      check_count(make_x(kind, n), launch);
    }
  }
}

TEST_CASE("ordered_filter: write_changes writes one part") {
  for (const Kind kind : kKinds) {
    for (const Launch launch : {Launch{1, 32}, Launch{1, 96}}) {
      INFO("write_changes: " << describe(kind, 100, launch));
      check_write(make_x(kind, 100), launch);
    }
  }
}

TEST_CASE("ordered_filter: write_changes, every size and grid") {
  std::size_t turn = 0;
  for (const std::size_t n : course::kSizes) {
    const std::vector<Launch> launches = course::launch_shapes(n);
    for (int k = 0; k < 2; ++k) {
      const Kind kind = kKinds[turn % std::size(kKinds)];
      const Launch launch = launches[turn++ * 5 % launches.size()];
      INFO("write_changes: " << describe(kind, n, launch));
      check_write(make_x(kind, n), launch);
    }
  }
  for (const Launch launch : {Launch{5, 64}, Launch{40, 32}, Launch{2, 128}}) {
    INFO("write_changes: " << describe(Kind::short_runs, 777, launch));
    check_write(make_x(Kind::short_runs, 777), launch);
  }
  INFO("write_changes: " << describe(Kind::all_differ, 1300, {1, 1024}));
  check_write(make_x(Kind::all_differ, 1300), {1, 1024});
}

TEST_CASE("ordered_filter: all of it, at every size") {
  std::size_t turn = 0;
  for (const std::size_t n : course::kSizes) {
    for (int k = 0; k < 2; ++k) {
      const Kind kind = kKinds[turn++ % std::size(kKinds)];
      INFO("ordered_filter: n = " << n << ": " << to_string(kind));
      check_all(make_x(kind, n));
    }
  }
  constexpr std::size_t n = course::kCpuDevice ? 5001 : course::kBigSize;
  INFO("ordered_filter: n = " << n << ": " << to_string(Kind::short_runs));
  check_all(make_x(Kind::short_runs, n));
}

TEST_CASE("ordered_filter: the lanes of a warp go in step") {
  for (const Kind kind : {Kind::short_runs, Kind::two_values}) {
    INFO(describe(kind, 300, {2, 96}));
    course::count([&] {
      check_count(make_x(kind, 300), {2, 96});
      check_write(make_x(kind, 300), {2, 96});
    });
  }
}

TEST_CASE("ordered_filter: the threads share the work, without atomics") {
  course::skip_without_counters();
  constexpr std::size_t n = 2048;
  const Launch launch{4, 128};  // 512 numbers a part: 4 turns for each warp
  const std::vector<int> x = make_x(Kind::short_runs, n);
  const auto counted = course::count([&] { check_count(x, launch); });
  const auto written = course::count([&] { check_write(x, launch); });
  for (const bool writes : {false, true}) {
    const course::Counters& c = writes ? *written : *counted;
    INFO((writes ? "write_changes: " : "count_changes: ") << describe(Kind::short_runs, n, launch));
    REQUIRE(at_most(c.global_atomic_lanes + c.shared_atomic_lanes, 0, "atomics"));
    REQUIRE(at_most(c.global_loads, 2 * n / 32 + 64,
                    "loads (a warp's 32 numbers are one; each is read twice at most)"));
    REQUIRE(at_most(c.global_load_sectors, 9 * n / 32 + 256, "sectors of 32 bytes loaded"));
    REQUIRE(course::work_is_shared(c, writes ? 20 : 12));
  }
}
