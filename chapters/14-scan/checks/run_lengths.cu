// Check of the exercise run_lengths: runs that begin and end at every awkward place, every size, other data at the same
// place, and whether many threads share the work.
#include "run_lengths.cuh"

#include <catch2/catch_test_macros.hpp>
#include <course/check.cuh>
#include <course/host_calls.cuh>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "checks/part_ends.cuh"
#include "checks/starts.cuh"

namespace run_lengths_check {

using Byte = unsigned char;
using E = course::Element;

// ---- elements, and their runs -------------------------------------------------------------------

/// Elements that are equal to the one before, or differ from it, one by one.
struct Kind {
  std::string text;
  std::function<unsigned(E e, unsigned before)> element;  // of which the lowest 8 bits count

  std::vector<Byte> values(std::size_t n) const {
    unsigned before = 0;
    const auto next = [&](E e) { return static_cast<Byte>(before = element(e, before) & 255); };
    return course::DataKind<Byte>{text, next}.values(n);
  }
};

unsigned number(E e) { return static_cast<unsigned>(e.random); }
unsigned index(E e) { return static_cast<unsigned>(e.i); }

const Kind kShort{"runs of 1 to 4 and more elements",
                  [](E e, unsigned before) { return e.random % 5 < 2 ? number(e) : before; }};
const Kind kOne{"all are 0", [](E, unsigned) { return 0u; }};
const Kind kAllDiffer{"no two neighbours are equal", [](E e, unsigned) { return index(e) * 5; }};
const Kind kLong{"runs of about 700 elements",
                 [](E e, unsigned before) { return e.random % 700 == 3 ? before + 1 : before; }};
const Kind kKinds[] = {
    kShort,
    kOne,
    kAllDiffer,
    kLong,
    {"0 and 255 in no order", [](E e, unsigned) { return e.random % 2 == 0 ? 0u : 255u; }},
    {"the last one alone differs", [](E e, unsigned) { return e.i + 1 == e.n ? 9u : 128u; }},
    {"the first one alone differs", [](E e, unsigned) { return e.i == 0 ? 1u : 0u; }},
    {"runs of 32 elements", [](E e, unsigned) { return index(e) / 32; }},
    {"runs of 256 elements", [](E e, unsigned) { return 7 + index(e) / 256; }},
    {"neighbours are equal, or differ in one bit",
     [](E e, unsigned before) {
       return e.random % 2 == 0 ? before : before ^ 1u << e.random / 2 % 8;
     }},
};

struct Encoded {
  std::vector<Byte> values;
  std::vector<unsigned> lengths;
  std::vector<std::size_t> begins;
};

Encoded reference(const std::vector<Byte>& x) {
  Encoded runs;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (i == 0 || x[i] != x[i - 1]) {
      runs.values.push_back(x[i]);
      runs.lengths.push_back(0);
      runs.begins.push_back(i);
    }
    ++runs.lengths.back();
  }
  return runs;
}

// ---- calls --------------------------------------------------------------------------------------

void check_output(const std::vector<unsigned>& count, const std::vector<Byte>& values,
                  const std::vector<unsigned>& lengths, const std::vector<Byte>& x) {
  const Encoded expected = reference(x);
  const course::Inputs run = [&](std::size_t r) {
    const std::size_t begin = expected.begins[r], end = begin + expected.lengths[r];
    return "run " + std::to_string(r) + ", which is x[" + std::to_string(begin) +
           (end - begin == 1 ? "]" : ".." + std::to_string(end - 1) + "]") + " = " +
           std::to_string(+x[begin]);
  };
  REQUIRE(course::same(count[0], static_cast<unsigned>(expected.values.size()), "*count"));
  REQUIRE(course::same(values, expected.values, "values", run));
  REQUIRE(course::same(lengths, expected.lengths, "lengths", run));
}

void check(std::size_t n, const Kind& kind) {
  const auto [start_x, start_values, unused, unused_too] = scan_checks::starts_of(n);
  INFO("n = " << n << ": " << kind.text << "; " << scan_checks::start_text("x", start_x, 1) << ", "
              << scan_checks::start_text("values", start_values, 1));
  const std::vector<Byte> x = kind.values(n);
  const course::Placed<Byte> d_x(x, start_x);
  const std::size_t runs = reference(x).values.size();
  course::Placed<Byte> values(std::vector<Byte>(runs, 0xee), start_values);
  course::GuardedBuffer<unsigned> lengths(runs), count(1);
  run_lengths(d_x.data(), n, values.data(), lengths.data(), count.data());
  check_output(count.download(), values.download(), lengths.download(), x);
  REQUIRE(values.intact("values"));
  REQUIRE(lengths.intact("lengths"));
  REQUIRE(count.intact("count"));
  REQUIRE(d_x.intact("x"));
  REQUIRE(course::same(d_x.download(), x, "x"));
}

// Promise: values[r] and lengths[r] are what run r consists of and how many elements it has, in the order of the runs,
// and *count is how many runs there are.
TEST_CASE("run_lengths: one warp's worth") {
  for (const Kind& kind : kKinds) check(32, kind);
}

// Promise: n may be 0. All elements may be equal, and all may differ from their neighbours.
// Promise: values and lengths have room for the runs that there are, no more; *count may hold anything before (OUT OF
// BOUNDS; on a GPU the guard bands show it).
// Promise: x and values begin at any byte.
TEST_CASE("run_lengths: every size, every kind of runs") {
  std::size_t turn = course::seed();  // other kinds under each schedule
  for (const std::size_t n : course::kSizes) {
    for (int k = 0; k < 2; ++k) check(n, kKinds[turn++ % std::size(kKinds)]);
  }
}

// Promise: a run may begin and end anywhere, also where a part of the array may.
TEST_CASE("run_lengths: two runs") {
  if (course::has_run_before()) return;
  constexpr std::size_t n = 2560;
  for (const std::size_t place : scan_checks::part_ends(n)) {
    check(n, {"all up to x[" + std::to_string(place - 1) + "] are 0, all others are 1",
              [place](E e, unsigned) { return e.i < place ? 0u : 1u; }});
  }
}

// Promise: a run may be longer than any block's tile, and there may be more runs than any block has.
TEST_CASE("run_lengths: many blocks") {
  check(course::kCpuDevice ? 3001 : course::kBigSize, kShort);
  check(2048, kOne);
  if (course::has_run_before()) return;
  check(4097, kLong);
  check(20'011, kAllDiffer);  // many blocks' worth of runs
  for (const Kind& kind : {kKinds[5], kKinds[6], kKinds[8]}) check(2560, kind);
  check(300'003, kLong);  // more tiles of 256 elements than there are resident blocks
}

// Promise: n is less than 2^32, and lengths are numbers of 32 bits.
// Promise: blocks may start in any order (the CPU device starts the last one first; a GPU may hang).
TEST_CASE("run_lengths: one run of 150003 elements") {
  if (course::has_run_before()) return;
  course::with_seed(2, [] { check(150'003, kOne); });
}

// Promise: a run may have more than 2^16 elements, wherever it is.
TEST_CASE("run_lengths: runs of 70001, 131072 and 65536 elements") {
  if (course::has_run_before()) return;
  check(270'000, {"runs of 70001, 131072, 65536 and 3391 elements", [](E e, unsigned) {
                    return e.i < 70'001 ? 3u : e.i < 201'073 ? 0u : e.i < 266'609 ? 255u : 7u;
                  }});
}

// Promise: each call encodes what is in memory then.
TEST_CASE("run_lengths: other elements at the same place") {
  constexpr std::size_t n = 1500;
  course::DeviceBuffer<Byte> d_x(n), values(n);
  course::DeviceBuffer<unsigned> lengths(n), count(1);
  for (unsigned call = 0; call < 4; ++call) {
    const Kind& kind = call == 1 ? kLong : call == 3 ? kOne : kShort;
    const std::size_t size = call == 2 ? 1100 : n;
    INFO("call " << call + 1 << " with the same arrays; n = " << size << ": " << kind.text);
    std::vector<Byte> x = kind.values(n);
    d_x.upload(x);
    values.fill_bytes(0xee);
    lengths.fill_bytes(0xff);
    run_lengths(d_x.data(), size, values.data(), lengths.data(), count.data());
    x.resize(size);
    const std::size_t runs = reference(x).values.size();
    std::vector<Byte> found_values = values.download();
    std::vector<unsigned> found_lengths = lengths.download();
    REQUIRE(course::same(found_values[runs], 0xee, "the element after the last of values"));
    REQUIRE(course::same(found_lengths[runs], ~0u, "the element after the last of lengths"));
    found_values.resize(runs), found_lengths.resize(runs);
    check_output(count.download(), found_values, found_lengths, x);
  }
}

// Promise: n is less than 2^32 (GPU only: 2^32 - 1).
TEST_CASE("run_lengths: 2^32 - 1 elements") {
  constexpr std::size_t n = (std::size_t{1} << 32) - 1;
  course::skip_without_memory(n);
  INFO("n = 2^32 - 1: a few runs");
  const std::vector<std::size_t> begins = {0, 77, 0x7fff'fff0, 0x8000'0001, 0xffff'fff0, n - 1, n};
  course::DeviceBuffer<Byte> x(n);
  std::vector<Byte> expected;
  std::vector<unsigned> expected_lengths;
  for (std::size_t r = 0; r + 1 < begins.size(); ++r) {
    const std::size_t length = begins[r + 1] - begins[r];
    CUDA_CHECK(cudaMemset(x.data() + begins[r], static_cast<int>(r), length));
    expected.push_back(static_cast<Byte>(r));
    expected_lengths.push_back(static_cast<unsigned>(length));
  }
  course::GuardedBuffer<Byte> values(expected.size());
  course::GuardedBuffer<unsigned> lengths(expected.size()), count(1);
  run_lengths(x.data(), n, values.data(), lengths.data(), count.data());
  REQUIRE(course::same(count.download().front(), static_cast<unsigned>(expected.size()), "*count"));
  REQUIRE(course::same(values.download(), expected, "values"));
  REQUIRE(course::same(lengths.download(), expected_lengths, "lengths"));
}

// Promise: the results are right in every order of the lanes.
TEST_CASE("run_lengths: the lanes of a warp go in step") {
  course::count([] {
    for (const Kind& kind : {kShort, kLong, kKinds[7]}) check(300, kind);
  });
}

// Promise: kernels find the runs (CPU device only).
TEST_CASE("run_lengths: the host finds no runs") {
  course::skip_without_counters();
  if (course::has_run_before()) return;
  constexpr std::size_t n = 48'000;
  INFO("n = " << n << ": " << kLong.text);
  const std::vector<Byte> x = kLong.values(n);
  const auto d_x = course::DeviceBuffer<Byte>::from(x);
  const std::size_t runs = reference(x).values.size();
  course::DeviceBuffer<Byte> values(runs);
  course::DeviceBuffer<unsigned> lengths(runs), count(1);
  const auto run = course::watch_host(
      [&] { run_lengths(d_x.data(), n, values.data(), lengths.data(), count.data()); });
  // The host may scan what kernels tell it of tiles of 32 elements.
  REQUIRE(course::at_most(run->bytes_to_host, n / 2, "bytes that the call copies to the host",
                          "kernels find the runs"));
}

// Promise: the threads of many blocks share the work, also that of one long run.
TEST_CASE("run_lengths: the threads share the work") {
  course::skip_without_counters();
  if (course::has_run_before()) return;
  // Where each element is loaded twice, the warps of one block of 1024 threads load 94 times. A thread that has 16
  // neighbouring elements loads four times for each of them at most: itself, the one before, itself, the one after.
  constexpr std::size_t n = 48'000;
  constexpr std::uint64_t kMost = 90;
  auto counters = course::count([] { check(n, kOne); });
  if (!course::work_is_shared(*counters, kMost)) {
    // blocks may take their tiles by ticket: not in order, then
    counters = course::count_shuffled([] { check(n, kOne); });
  }
  INFO("n = " << n << ": " << kOne.text);
  REQUIRE(course::kernels_load(*counters, n));
  REQUIRE(course::work_is_shared(*counters, kMost));
  REQUIRE(course::shared_work_is_shared(*counters, 1000));
}

/// Ok if the busiest block does not do far more than the others: it may scan what 600 tiles have told.
course::Verdict blocks_are_alike(const course::Counters& counters) {
  const std::uint64_t requests = counters.global_loads + counters.global_stores;
  return course::at_most(counters.busiest_block_requests, 6 * requests / counters.blocks + 80,
                         "loads and stores of global memory by the busiest block",
                         "at most six times those of an average block, and 80 more");
}

// Promise: the threads of many blocks share the work of one long run, with wide loads, too.
TEST_CASE("run_lengths: blocks share the work of a run of 150000 elements") {
  course::skip_without_counters();
  if (course::has_run_before()) return;
  constexpr std::size_t n = 150'000;
  auto counters = course::count([] { check(n, kOne); });
  // blocks may take their tiles by ticket: not in order, then
  if (!blocks_are_alike(*counters)) counters = course::count_shuffled([] { check(n, kOne); });
  INFO("n = " << n << ": " << kOne.text);
  REQUIRE(blocks_are_alike(*counters));
}

}  // namespace run_lengths_check
