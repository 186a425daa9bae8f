// What is wrong on purpose: races that are reported, additions that leave the array, and a neighbour
// that loses its sign.
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <course/check.cuh>
#include <cstddef>
#include <string>
#include <vector>

#include "testing.cuh"

using namespace fast_add_testing;

TEST_CASE("what is declared to race does race") {
  const Scattered s(4096, 64);
  const auto d_values = course::DeviceBuffer<__half>::from(s.values);
  const auto d_index = course::DeviceBuffer<int>::from(s.index);
  for (const ScatterRung& rung : of_group(scatter_rungs(), Group::lost_updates)) {
    INFO(rung.name << ", n = 4096 into 64 targets");
    auto table = course::DeviceBuffer<__half>::from(rounded<__half>(s.first));
    REQUIRE(course::expect_race([&] {
      std::get<Scatter<__half>>(rung.launch)(d_values.data(), d_index.data(), 4096, table.data(),
                                             64, nullptr);
    }));
  }
}

namespace fast_add_testing {

/// Block 0 adds to element 0, block 1 reads its neighbour.
__global__ void read_the_neighbour(__half* d_table, __half* d_seen) {
  if (blockIdx.x == 0) {
    fast_atomic_add(d_table, 0, 2, __float2half(1.0f));
  } else {
    *d_seen = d_table[1];
  }
}

}  // namespace fast_add_testing

TEST_CASE("an addition to the neighbour is a write: a plain read of it races") {
  auto table = course::DeviceBuffer<__half>::zeros(2),
       seen = course::DeviceBuffer<__half>::zeros(1);
  INFO("read_the_neighbour: block 0 adds to element 0, block 1 reads element 1");
  REQUIRE(course::expect_race([&] {
    course::launch(read_the_neighbour, {2, 1}, table.data(), seen.data());
    table.download();
  }));
}

TEST_CASE(
    "the length decides: 1 takes the scalar path, 2 the pair, and a wrong one leaves the array") {
  const auto add_ones = [](__half* d_y, std::size_t length) {
    course::launch(add_with_length, {blocks_for(1000), kBlockSize}, 1000, d_y, length);
  };
  const auto zeros = [](std::size_t length) { return std::vector<__half>(length, __half(0.0f)); };
  for (const std::size_t length : {1u, 2u}) {
    INFO("an array of " << length << ", and the length is " << length << "; n = 1000");
    course::Placed<__half> y(zeros(length), 0);
    add_ones(y.data(), length);
    REQUIRE(course::same(static_cast<float>(y.download().front()), 1000.0f, "y"));
    REQUIRE(y.intact("y"));
  }
  {
    INFO("an array of 2, and the length is 1: right, and slow; n = 1000");
    course::Placed<__half> y(zeros(2), 0);
    add_ones(y.data(), 1);
    REQUIRE(course::same(static_cast<float>(y.download().front()), 1000.0f, "y"));
  }
  course::skip_without_checker();  // a GPU does not report it
  for (const std::size_t wrong : {2u, 1000u}) {
    INFO("an array of 1, and the length is " << wrong << "; n = 1000");
    const course::Findings findings = course::find_races([&] {
      course::Placed<__half> y(zeros(1), 0);
      add_ones(y.data(), wrong);
      y.download();
    });
    REQUIRE(findings.races == 0);
    REQUIRE(findings.others >= 1);
    INFO(findings.texts.front());
    REQUIRE(
        findings.texts.front().find("OUT OF BOUNDS in kernel add_with_length: atomic of 4 bytes "
                                    "at d_y[0]") != std::string::npos);
  }
}

TEST_CASE("scatter_plus_zero turns neighbours that are -0.0 into +0.0, and is right otherwise") {
  const std::vector<int> index = {0, 3, 6};  // the neighbours 1, 2 and 7; 8 has none in the array
  const auto d_values = course::DeviceBuffer<__half>::from(std::vector<__half>(3, __half(1.0f)));
  const auto d_index = course::DeviceBuffer<int>::from(index);
  const std::vector<__half> zeros(9, number<__half>(-0.0));
  auto table = course::DeviceBuffer<__half>::from(zeros);
  launch_scatter_plus_zero(d_values.data(), d_index.data(), 3, table.data(), 9, nullptr);
  const std::vector<__half> found = table.download();
  for (std::size_t t = 0; t < 9; ++t) {
    INFO("element " << t);
    const bool target = t == 0 || t == 3 || t == 6, neighbour = t == 1 || t == 2 || t == 7;
    REQUIRE(course::same(static_cast<float>(found[t]), target ? 1.0f : 0.0f, "value"));
    REQUIRE(course::same(std::signbit(static_cast<float>(found[t])), !target && !neighbour,
                         "sign bit, which was 1"));
  }
}
