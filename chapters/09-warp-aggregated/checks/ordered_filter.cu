// Check of the exercise ordered_filter: the two kernels for every grid, changes at every awkward
// place, and the whole of it at every size. The order is part of the answer.
#include "ordered_filter.cuh"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <climits>
#include <course/check.cuh>
#include <cstddef>
#include <string>
#include <vector>

namespace ordered_filter_check {

using Launch = course::LaunchShape;
using Index = unsigned long long;
using E = course::Element;

// ---- numbers, and which of them are kept -------------------------------------------------------

/// Numbers that are equal to their neighbour, or differ from it, one by one.
struct Kind {
  std::string text;
  int (*number)(course::Element e, int before);  // `before` is the number before this one

  std::vector<int> values(std::size_t n) const {
    int before = 0;
    const auto next = [&](course::Element e) { return before = number(e, before); };
    return course::DataKind<int>{text, next}.values(n);
  }
};

const Kind kShortRuns{"runs of 1 to 4 equal numbers", [](E e, int before) {
                        return e.i == 0 || e.random % 5 < 2 ? e.random : before;
                      }};
const Kind kAllDiffer{"no two neighbours are equal",
                      [](E e, int) { return static_cast<int>(e.i * 5 % 10'007); }};
const Kind kTwoValues{"INT_MIN and INT_MAX in no order",
                      [](E e, int) { return e.random % 2 == 0 ? INT_MIN : INT_MAX; }};
const Kind kKinds[] = {
    {"all are 0", [](E, int) { return 0; }},
    kAllDiffer,
    kShortRuns,
    {"runs of 100 equal numbers", [](E e, int) { return -static_cast<int>(e.i / 100); }},
    kTwoValues,
    {"the last one alone differs", [](E e, int) { return e.i + 1 == e.n ? -1 : 7; }},
    {"runs of 32 equal numbers", [](E e, int) { return static_cast<int>(e.i / 32 % 2); }},
    {"neighbours are equal, differ in one bit, or in their sign", [](E e, int before) {
       const unsigned last = e.i == 0 ? 0x4000'0001u : static_cast<unsigned>(before);
       const unsigned next[] = {last, last ^ 1u << e.i / 4 % 32, 0u - last, last ^ 1u};
       return static_cast<int>(next[e.i % 4]);
     }}};

struct Kept {
  std::vector<int> out;
  std::vector<Index> when;
  std::vector<Index> counts;  // of each part
};

/// What part_begin() is in the exercise's text: the answer's own may differ.
std::size_t begin_of_part(std::size_t n, unsigned parts, unsigned b) {
  const std::size_t size = (n + parts - 1) / parts;
  return std::min(size * b, n);
}

Kept reference(const std::vector<int>& x, unsigned parts) {
  Kept kept;
  kept.counts.assign(parts, 0);
  for (unsigned b = 0; b < parts; ++b) {
    for (std::size_t i = begin_of_part(x.size(), parts, b);
         i < begin_of_part(x.size(), parts, b + 1); ++i) {
      if (i > 0 && x[i] == x[i - 1]) continue;
      kept.out.push_back(x[i]);
      kept.when.push_back(i);
      ++kept.counts[b];
    }
  }
  return kept;
}

// ---- one launch, and the whole filter ----------------------------------------------------------

void check_count(const Kind& kind, std::size_t n, Launch launch) {
  INFO(course::case_text(n, kind.text, "count_changes", launch));
  const std::vector<int> x = kind.values(n);
  const course::Placed<int> d_x(x, 1);  // never where four numbers could be one load
  course::GuardedBuffer<Index> counts(launch.grid);
  course::launch(count_changes, {launch.grid, launch.block}, d_x.data(), n, counts.data());
  const course::Inputs part = [&](std::size_t b) {
    const auto begin = [&](std::size_t k) {
      return begin_of_part(n, launch.grid, static_cast<unsigned>(k));
    };
    return "part " + std::to_string(b) + ": " +
           course::elements_text("x", x, begin(b), begin(b + 1));
  };
  REQUIRE(course::same(counts.download(), reference(x, launch.grid).counts, "counts", part));
  REQUIRE(counts.intact("counts"));
}

void check_output(const course::GuardedBuffer<int>& out, const course::GuardedBuffer<Index>& when,
                  const Kept& expected, const std::vector<int>& x) {
  const course::Inputs around = [&](std::size_t k) {
    const Index i = expected.when[k];
    return course::elements_text("x", x, i > 0 ? i - 1 : 0, i + 2);
  };
  REQUIRE(course::same(when.download(), expected.when, "when", around));
  REQUIRE(course::same(out.download(), expected.out, "out"));
  REQUIRE(out.intact("out"));
  REQUIRE(when.intact("when"));
}

/// The output of part 0 begins at place `first`; the places before it have no memory.
void check_write(const Kind& kind, std::size_t n, Launch launch, Index first = 0) {
  INFO(course::case_text(n, kind.text, "write_changes", launch)
       << (first > 0 ? "; begins[0] is " + std::to_string(first) : ""));
  const std::vector<int> x = kind.values(n);
  const Kept expected = reference(x, launch.grid);
  std::vector<Index> begins(launch.grid, first);
  for (unsigned b = 1; b < launch.grid; ++b) begins[b] = begins[b - 1] + expected.counts[b - 1];
  const course::Placed<int> d_x(x, 1);
  const auto d_begins = course::DeviceBuffer<Index>::from(begins);
  course::GuardedBuffer<int> d_out(expected.out.size());
  course::GuardedBuffer<Index> d_when(expected.when.size());
  int* const out = d_out.data() - first;
  Index* const when = d_when.data() - first;
  course::launch(write_changes, {launch.grid, launch.block}, d_x.data(), n, d_begins.data(), out,
                 when);
  check_output(d_out, d_when, expected, x);
}

/// The whole filter, and again with the same numbers from the last to the first at the same place.
void check_all(const Kind& kind, std::size_t n) {
  INFO("ordered_filter: n = " << n << ": " << kind.text);
  std::vector<int> x = kind.values(n);
  course::Placed<int> d_x(x, 1);
  const std::size_t changes = reference(x, 1).out.size();  // in both directions
  course::GuardedBuffer<int> out(changes);
  course::GuardedBuffer<Index> when(changes);
  const auto call = [&] {
    const std::size_t count = ordered_filter(d_x.data(), n, out.data(), when.data());
    INFO("it returned " << count << "; there are " << changes << " changes");
    check_output(out, when, reference(x, 1), x);
    REQUIRE(course::same(count, changes, "number of changes"));
  };
  call();
  INFO("the second call for the same arrays, which hold the numbers from the last to the first");
  std::ranges::reverse(x);
  d_x.upload(x);
  call();
}

/// Calls check(kind, n, launch) for every size, with two kinds and two of the size's grids each.
void at_every_size(void (*check)(const Kind&, std::size_t, Launch)) {
  std::size_t turn = 0;
  for (const std::size_t n : course::kSizes) {
    const std::vector<Launch> launches = course::launch_shapes(n);
    for (int k = 0; k < 2; ++k) {
      const Kind& kind = kKinds[turn % std::size(kKinds)];
      course::in_launch(launches[turn++ * 5 % launches.size()],
                        [&](Launch launch) { check(kind, n, launch); });
    }
  }
}

// Promise: counts[b] becomes how many numbers of part b differ from the number
// before them in x; x[0] is kept.
TEST_CASE("ordered_filter: count_changes counts one part") {
  for (const Kind& kind : kKinds) {
    for (const std::size_t n : {1u, 32u, 100u}) check_count(kind, n, {1, 32});
  }
}

// Promise: count_changes sets counts[b] even if the part is empty
// (counts was never written before).
// Promise: the grid has one dimension, blocks have 32, 64, ... or 1024 threads, and n may be 0.
TEST_CASE("ordered_filter: count_changes, every size and grid") { at_every_size(check_count); }

// Promise: write_changes writes what part b keeps, in its order, from index begins[b] on: the
// numbers to out, and their indices in x to when.
TEST_CASE("ordered_filter: write_changes writes one part") {
  for (const Kind& kind : kKinds) {
    for (const Launch launch : {Launch{1, 32}, Launch{1, 96}}) check_write(kind, 100, launch);
  }
}

// Promise: grid, parts and rules of write_changes are those of count_changes.
TEST_CASE("ordered_filter: write_changes, every size and grid") {
  at_every_size(
      [](const Kind& kind, std::size_t n, Launch launch) { check_write(kind, n, launch); });
  for (const Launch launch : {Launch{5, 64}, Launch{40, 32}, Launch{2, 128}}) {
    check_write(kShortRuns, 777, launch);
  }
  check_write(kAllDiffer, 1300, {1, 1024});
}

// Promise: begins[b] is any index, past 2^32, too.
TEST_CASE("ordered_filter: write_changes, where the output begins past 2^31 and past 2^32") {
  for (const Index first : {0x7fff'fff0ull, 0xffff'fff0ull, 0x20'0000'0001ull}) {
    check_write(kShortRuns, 777, {5, 64}, first);
  }
}

// Promise: a warp may keep more than 2^16 numbers of its part.
TEST_CASE("ordered_filter: one warp keeps more than 2^16 numbers") {
  if (course::has_run_before()) return;
  check_count(kAllDiffer, 65'536 + 100, {1, 32});
  check_write(kAllDiffer, 65'536 + 100, {1, 32});
}

/// The last two parts of more than 2^32 numbers, and the number before them. No two numbers of x could be one load.
void check_end(const Kind& kind) {
  const std::vector<int> x = kind.values(1 + course::kLastItems);
  Kept expected{.counts = {0, 0}};
  for (std::size_t i = 1; i < x.size(); ++i) {
    if (x[i] == x[i - 1]) continue;
    expected.out.push_back(x[i]);
    expected.when.push_back(i - 1);  // and as many as are in parts of other blocks
    ++expected.counts[(i - 1) / course::kHugeGrid.block];
  }
  const course::Placed<int> d_x(x, 0);
  course::GuardedBuffer<Index> counts(2);
  course::GuardedBuffer<int> out(expected.out.size());
  course::GuardedBuffer<Index> when(expected.out.size());
  const auto begins = course::DeviceBuffer<Index>::from({0, expected.counts[0]});
  course::at_end_of_huge_grid([&](Launch grid, std::size_t items) {
    INFO(course::case_text(items, kind.text, "count_changes", grid));
    course::launch(count_changes, {grid.grid, grid.block},
                   d_x.data() + 1 - (items - course::kLastItems), items,
                   counts.data() - (grid.grid - 2));
    REQUIRE(course::same(counts.download(), expected.counts, "(counts + 134217727)"));
  });
  course::at_end_of_huge_grid([&](Launch grid, std::size_t items) {
    INFO(course::case_text(items, kind.text, "write_changes", grid));
    const std::size_t before = items - course::kLastItems;
    course::launch(write_changes, {grid.grid, grid.block}, d_x.data() + 1 - before, items,
                   begins.data() - (grid.grid - 2), out.data(), when.data());
    Kept all = expected;
    for (Index& index : all.when) index += before;
    check_output(out, when, all, {});
  });
}

// Promise: n may exceed 2^32, and so may the number of threads (the CPU device runs the last two
// blocks of a grid that has a thread for each number).
TEST_CASE("ordered_filter: more than 2^32 numbers") {
  if (course::kCpuDevice) return check_end(kShortRuns);
  constexpr std::size_t n = (std::size_t{1} << 32) + 1000;
  course::skip_without_memory(n * sizeof(int));
  auto x = course::DeviceBuffer<int>::zeros(n);
  INFO("n = 2^32 + 1000: all are 0, but for a few that are 1");
  const int one = 1;
  Kept expected{{0}, {0}, {}};
  for (const Index i : std::vector<Index>{0x7fff'ffff, 0x8000'0007, 0xffff'fffe, n - 1}) {
    CUDA_CHECK(cudaMemcpy(x.data() + i, &one, sizeof one, cudaMemcpyHostToDevice));
    expected.out.push_back(1);
    expected.when.push_back(i);
    if (i + 1 == n) break;
    expected.out.push_back(0);
    expected.when.push_back(i + 1);
  }
  course::GuardedBuffer<int> out(expected.out.size());
  course::GuardedBuffer<Index> when(expected.when.size());
  const std::size_t count = ordered_filter(x.data(), n, out.data(), when.data());
  REQUIRE(course::same(count, expected.out.size(), "number of changes"));
  check_output(out, when, expected, {});
}

// Promise: a part may have more than 2^32 changes (GPU only).
TEST_CASE("ordered_filter: more than 2^32 changes in one part") {
  constexpr std::size_t n = (std::size_t{1} << 32) + 1000;
  course::skip_without_memory(n * sizeof(int));
  auto x = course::DeviceBuffer<int>::zeros(n);
  CUDA_CHECK(cudaMemset2D(x.data(), 2 * sizeof(int), 1, sizeof(int), n / 2));
  INFO("n = 2^32 + 1000: two numbers in turns; count_changes<<<1, 1024>>>");
  course::GuardedBuffer<Index> counts(1);
  course::launch(count_changes, {1, 1024}, x.data(), n, counts.data());
  REQUIRE(course::same(counts.download(), {Index{n}}, "counts"));
}

// Promise: ordered_filter returns how many numbers differ from the one before them, and writes no
// more (OUT OF BOUNDS; on a GPU the guard bands show it).
// Promise: each call filters the numbers that are there now.
TEST_CASE("ordered_filter: all of it, at every size") {
  std::size_t turn = 0;
  for (const std::size_t n : course::kSizes) {
    for (int k = 0; k < 2; ++k) check_all(kKinds[turn++ % std::size(kKinds)], n);
  }
  check_all(kShortRuns, course::kCpuDevice ? 5001 : course::kBigSize);
}

// Promise: the kernels of ordered_filter do its work.
TEST_CASE("ordered_filter: all of it is done on the device") {
  course::skip_without_counters();
  constexpr std::size_t n = 5001;
  const auto counters = course::count([] { check_all(kShortRuns, n); });
  INFO("ordered_filter: two calls, n = " << n << " in each");
  REQUIRE(course::at_least(counters->global_load_sectors, 2 * n * sizeof(int) / 32,
                           "sectors that its kernels load", "the device has to filter"));
}

// Promise: both kernels are right where the lanes of a warp go in step.
TEST_CASE("ordered_filter: the lanes of a warp go in step") {
  for (const Kind& kind : {kShortRuns, kTwoValues}) {
    course::count([&] {
      check_count(kind, 300, {2, 96});
      check_write(kind, 300, {2, 96});
    });
  }
}

// Promise: the threads share the work, without atomics.
// Promise: neighbouring threads read neighbouring numbers (sectors are counted).
// Promise: there are about two reads for each number at most (loads and sectors are counted).
TEST_CASE("ordered_filter: the threads share the work, without atomics") {
  course::skip_without_counters();
  constexpr std::size_t n = 2048;
  const Launch launch{4, 128};  // 512 numbers a part: 4 turns for each warp
  const auto counted = course::count([&] { check_count(kShortRuns, n, launch); });
  const auto written = course::count([&] { check_write(kShortRuns, n, launch); });
  for (const bool writes : {false, true}) {
    const course::Counters& c = writes ? *written : *counted;
    INFO(course::case_text(n, kShortRuns.text, writes ? "write_changes" : "count_changes", launch));
    REQUIRE(course::none(c.global_atomic_lanes + c.shared_atomic_lanes, "atomics"));
    REQUIRE(course::at_most(c.global_loads, 4 * n / 32 + 32, "loads of x and begins",
                            "a warp's 32 numbers are one; each is read twice at most"));
    REQUIRE(
        course::at_most(c.global_load_sectors, 9 * n / 32 + 160, "sectors of 32 bytes loaded",
                        "each number is read twice at most: is one loaded again to be stored?"));
    REQUIRE(course::work_is_shared(c, 4 + 3 * (c.global_loads + c.global_stores) / (2 * c.warps)));
  }
}

}  // namespace ordered_filter_check
