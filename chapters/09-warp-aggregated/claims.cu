// What the lesson says: which filters keep an order, what __activemask() names, and what is wrong
// with the rungs that are wrong on purpose.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <course/check.cuh>
#include <cstddef>
#include <cstdint>
#include <ios>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "testing.cuh"

using namespace warp_aggregated_testing;

TEST_CASE("filters without an order give another one in another run, the others do not") {
  course::skip_without_checker();  // a GPU's order cannot be chosen
  static bool done = false;        // it chooses its schedules itself: once is enough
  if (std::exchange(done, true)) return;
  const std::vector<int> x = filter_input(5000, 50), expected = filter_reference(x);
  const auto d_x = course::DeviceBuffer<int>::from(x);
  std::vector<FilterRung> rungs = append_rungs();
  for (const FilterRung& rung : ordered_rungs()) rungs.push_back(rung);
  for (const FilterRung& rung : rungs) {
    std::set<std::vector<int>> seen;
    for (std::uint64_t seed = 0; seed < 6; ++seed) {
      course::with_seed(seed, [&] {
        course::DeviceBuffer<int> out(expected.size());
        auto count = course::DeviceBuffer<Count>::zeros(1);
        rung.launch(d_x.data(), x.size(), out.data(), count.data());
        seen.insert(out.download());
      });
    }
    INFO(rung.name << ", n = " << x.size());
    constexpr const char* kOutputs = "different outputs under 6 schedules";
    if (rung.in_order) REQUIRE(course::same(seen.size(), 1, kOutputs));
    if (!rung.in_order) REQUIRE(course::at_least(seen.size(), 2, kOutputs));
    if (rung.in_order) REQUIRE(*seen.begin() == expected);
  }
}

namespace warp_aggregated_testing {

__global__ void record_active(unsigned* d_active) {
  d_active[blockIdx.x * blockDim.x + threadIdx.x] = __activemask();
}

}  // namespace warp_aggregated_testing

TEST_CASE("a warp keeps 13 small integers") {  // a picture of the lesson shows this run
  const std::vector<int> x{-3, 1, -4, -1, 5,  9,  -2, 6,  -5, -3, 5,  8,  -9, -7, 9,  -3,
                           -2, 3, 8,  -4, -6, -2, 6,  -4, -3, 3,  -8, -3, 2,  -7, -9, 5};
  check_append(course::rung_named(append_rungs(), "filter_agg_inc"), x, 0, 0, 0);
}

TEST_CASE("__activemask() may name fewer lanes than take the branch") {
  course::skip_without_checker();  // a GPU may split a warp, and hardly ever does so here
  static bool done = false;        // it chooses its schedules itself: once is enough
  if (std::exchange(done, true)) return;
  std::set<unsigned> seen;
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    course::with_seed(seed, [&] {
      course::DeviceBuffer<unsigned> active(512);
      course::launch(record_active, {2, 256}, active.data());
      const std::vector<unsigned> masks = active.download();
      for (std::size_t i = 0; i < masks.size(); ++i) {
        if ((masks[i] >> i % 32 & 1) == 0) FAIL("thread " << i << ": a mask without its caller");
        seen.insert(masks[i]);
      }
    });
  }
  // Though all 32 lanes of every warp take the branch.
  INFO("16 warps, 12 schedules; one mask is " << std::showbase << std::hex << *seen.begin());
  REQUIRE(seen.count(0xffff'ffffu) == 1);
  REQUIRE(course::at_least(seen.size(), 2, "different masks"));
}

TEST_CASE("places_agg_inc gives everything to the leader's counter") {
  std::vector<int> key(64);
  for (std::size_t i = 0; i < key.size(); ++i) key[i] = i % 32 == 0 ? 2 : static_cast<int>(i % 2);
  const auto d_key = course::DeviceBuffer<int>::from(key);
  auto counts = course::DeviceBuffer<Count>::zeros(3);
  course::GuardedBuffer<Count> places(key.size());
  const PlacesRung rung = rung_named(kPlacesRungs, "places_agg_inc");
  count_in_order([&] { rung.launch(d_key.data(), key.size(), counts.data(), places.data()); });
  const std::vector<Count> found = counts.download();
  INFO("places_agg_inc, 64 numbers of 3 keys: counts " << found[0] << ", " << found[1] << ", "
                                                       << found[2]);
  REQUIRE(found[0] + found[1] + found[2] == 64);  // none is lost, and none is where it belongs
  REQUIRE_FALSE(course::same(found, count_keys(key, 3), "counts").ok);
  REQUIRE_FALSE(places_are_right(places.download(), key, {0, 0, 0}).ok);
  if (course::kCpuDevice) REQUIRE(found == std::vector<Count>{0, 0, 64});
  INFO("and with one counter it is what it promises to be");
  std::fill(key.begin(), key.end(), 1);
  check_places(rung, key, 3);
}

TEST_CASE("filter_all_call counts all numbers, and leaves holes") {
  const std::vector<int> x = filter_input(1000, 50);
  const auto d_x = course::DeviceBuffer<int>::from(x);
  course::GuardedBuffer<int> out(x.size());
  out.fill_bytes(0);
  auto count = course::DeviceBuffer<Count>::zeros(1);
  rung_named(filter_rungs(), "filter_all_call")
      .launch(d_x.data(), x.size(), out.data(), count.data());
  INFO("filter_all_call, n = " << x.size());
  REQUIRE(course::same(count.front(), x.size(), "counted"));
  std::vector<int> found = out.download();
  REQUIRE(course::same(std::count(found.begin(), found.end(), 0),
                       static_cast<std::ptrdiff_t>(x.size() - filter_reference(x).size()),
                       "holes in the output"));
}
