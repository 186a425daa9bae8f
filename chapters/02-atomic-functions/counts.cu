// What the lesson counts is counted here: the turns of a compare-and-swap loop, and the atomics of
// each rung of the maximum.
#include <catch2/catch_test_macros.hpp>
#include <course/check.cuh>
#include <cstddef>
#include <cstdint>

#include "inputs.cuh"
#include "rungs.cuh"

TEST_CASE("a compare-and-swap loop in step takes a quadratic number of turns") {
  course::skip_without_counters();
  auto y = course::DeviceBuffer<double>::zeros(64);
  const auto counted = [&](const char* name, std::size_t addresses) {
    const AddRung<double> rung = course::rung_named(double_rungs(), name);
    return *course::count([&] { rung.launch(32, addresses, y.data()); });
  };
  INFO("add_double_cas and add_double_native, n = 32, one warp");
  const course::Counters by_cas = counted("add_double_cas", 1);
  REQUIRE(course::same(by_cas.global_atomics, 32u, "requests at one address"));
  REQUIRE(course::same(by_cas.global_atomic_lanes, 32u * 33 / 2, "single atomics at one address"));
  const course::Counters native = counted("add_double_native", 1);
  REQUIRE(course::same(native.global_atomics, 1u, "requests of atomicAdd"));
  REQUIRE(course::same(native.global_atomic_lanes, 32u, "single atomics of atomicAdd"));
  const course::Counters apart = counted("add_double_cas", 32);
  REQUIRE(course::same(apart.global_atomics, 1u, "requests, each lane at its own address"));
}

TEST_CASE("each rung of the maximum makes fewer global atomics than the one before") {
  course::skip_without_counters();
  constexpr std::size_t n = std::size_t{1} << 14;
  const auto d_x = course::DeviceBuffer<float>::from(signed_values(n));
  course::DeviceBuffer<unsigned> word(1);
  for (const MaxRung& rung : max_rungs()) {
    INFO(rung.name << ", n = " << n);
    const std::uint64_t lanes =
        course::count([&] { rung.launch(d_x.data(), n, word.data()); })->global_atomic_lanes;
    if (rung.atomics) REQUIRE(course::same(lanes, rung.atomics(n), "atomics"));
    if (rung.name == "max_cas") REQUIRE(course::at_least(lanes, n, "atomics"));
    if (rung.name == "max_look_first") REQUIRE(course::at_most(lanes, n / 10 - 1, "atomics"));
  }
}
