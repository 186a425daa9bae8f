// Check of the exercise two_pass_argmin: ties everywhere, the smallest value at every index, more
// blocks than threads, blocks without elements, and no elements at all.
#include "two_pass_argmin.cuh"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <climits>
#include <course/check.cuh>
#include <cstddef>
#include <string>
#include <vector>

#include "checks/argmin.cuh"

namespace {

using namespace argmin;
using Launch = course::LaunchShape;

void search(const course::DeviceBuffer<int>& x, Launch launch, Places& places,
            cudaStream_t stream = nullptr) {
  two_pass_argmin(x.data(), x.size(), launch.grid, launch.block, places.part_values.data(),
                  places.part_indices.data(), places.value.data(), places.index.data(), stream);
}

void check_search(const std::vector<int>& x, Launch launch, Places& places) {
  search(course::DeviceBuffer<int>::from(x), launch, places);
  CUDA_CHECK(cudaDeviceSynchronize());
  check_places(places, reference(x), x);
}

void check_search(const std::vector<int>& x, Launch launch) {
  Places places(launch.grid);
  check_search(x, launch, places);
}

std::string case_text(std::size_t n, const std::string& text, Launch launch) {
  return course::case_text(n, text, "argmin_of_blocks", launch);
}

void check_kind(unsigned kind, std::size_t n, Launch launch) {
  INFO(case_text(n, kKinds[kind].text, launch));
  check_search(kKinds[kind].values(n), launch);
}

/// The second pass alone.
void check_second_pass(const std::vector<int>& values, const std::vector<std::size_t>& indices,
                       unsigned block_size, Places& places) {
  const auto part_values = course::DeviceBuffer<int>::from(values);
  const auto part_indices = course::DeviceBuffer<std::size_t>::from(indices);
  course::launch(argmin_of_parts, {1, block_size}, part_values.data(), part_indices.data(),
                 static_cast<unsigned>(values.size()), places.value.data(), places.index.data());
}

constexpr Launch kLaunches[] = {{1, 32},  {3, 64},  {8, 128}, {2, 1024},
                                {5, 256}, {40, 32}, {1, 512}};

}  // namespace

TEST_CASE("two_pass_argmin: value and first index at every size") {
  std::size_t turn = 0;  // another launch each time
  for (const std::size_t n : course::kSizes) {
    for (unsigned kind = 0; kind < std::size(kKinds); ++kind) {
      check_kind(kind, n, kLaunches[turn++ % std::size(kLaunches)]);
    }
  }
}

TEST_CASE("two_pass_argmin: no elements") {
  for (const Launch launch : kLaunches) {
    INFO(case_text(0, "nothing", launch));
    check_search({}, launch);
  }
}

TEST_CASE("two_pass_argmin: two equal ones, at all kinds of indices") {
  const std::size_t n = 300;
  const Launch launch{2, 64};  // rounds of 128 elements
  // The same thread; the halves of the tree, either way round; different blocks, either way round.
  const std::pair<std::size_t, std::size_t> places[] = {
      {3, 131}, {131, 259}, {5, 37},  {40, 136},  {36, 132}, {64, 128},
      {63, 64}, {127, 128}, {1, 299}, {100, 170}, {190, 140}};
  for (const auto& [a, b] : places) {
    std::vector<int> x(n, 1000);
    x[a] = x[b] = -3;
    INFO(case_text(n, "the smallest is at " + std::to_string(a) + " and " + std::to_string(b),
                   launch));
    check_search(x, launch);
  }
}

TEST_CASE("two_pass_argmin: the smallest at every index") {
  const Launch launch{3, 32};
  for (std::size_t place = 0; place < 200; place += place < 100 ? 1 : 13) {
    std::vector<int> x(200, INT_MAX);
    x[place] = INT_MAX - 1;
    INFO(case_text(x.size(), "all INT_MAX, one less at " + std::to_string(place), launch));
    check_search(x, launch);
  }
}

TEST_CASE("two_pass_argmin: more blocks than a block has threads") {
  for (const Launch launch : {Launch{33, 32}, Launch{70, 64}, Launch{1030, 32}}) {
    const std::size_t n = std::size_t{launch.grid} * launch.block;
    for (const Kind kind : {falling, many_ties, late_tie}) {
      if (launch.grid > 1000 && kind != falling) continue;  // takes long
      check_kind(kind, n, launch);
    }
    if (launch.grid < 1000) check_kind(all_largest, 40, launch);
  }
}

TEST_CASE("two_pass_argmin: many elements per thread, and one search after another") {
  constexpr int kRepeats = course::kCpuDevice ? 1 : 20;  // a missing barrier may not show at once
  const std::size_t n = course::kBigSize;
  Places places(7);
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    for (const Kind kind : {mixed, falling, many_ties, extreme}) {
      INFO(case_text(n, kKinds[kind].text, {7, 128}) << ", in memory that the search before used");
      check_search(kKinds[kind].values(n), {7, 128}, places);
    }
    for (const std::size_t few : {31, 0}) {
      INFO(case_text(few, kKinds[all_equal].text, {7, 32}) << ", after a search in a larger array");
      check_search(kKinds[all_equal].values(few), {7, 32}, places);
    }
  }
}

TEST_CASE("two_pass_argmin: in a stream of its own, without waiting for it") {
  cudaStream_t stream = nullptr;
  CUDA_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  Places places(5);
  const std::vector<int> values = kKinds[mixed].values(1025);
  INFO(case_text(1025, kKinds[mixed].text, {5, 64}) << ", in a stream that waits for no other");
  const auto d_x = course::DeviceBuffer<int>::from(values);
  CUDA_CHECK(cudaDeviceSynchronize());  // the stream does not wait for the copy
  search(d_x, {5, 64}, places, stream);
  CUDA_CHECK(cudaStreamSynchronize(stream));
  check_places(places, reference(values), values);
  search(d_x, {5, 64}, places, stream);
  // On the CPU device each query lets one kernel run. A GPU may be done by now.
  int left = course::kCpuDevice ? 0 : 2;
  while (course::kCpuDevice && cudaStreamQuery(stream) == cudaErrorNotReady) ++left;
  CUDA_CHECK(cudaStreamSynchronize(stream));
  CUDA_CHECK(cudaStreamDestroy(stream));
  REQUIRE(both_in_the_stream(left));
}

TEST_CASE("two_pass_argmin: the second pass alone, with indices that need more than 32 bits") {
  for (const auto& [text, values, indices, expected] : far_candidates()) {
    for (const unsigned block_size : {32u, 128u}) {
      INFO("argmin_of_parts<<<1, " << block_size << ">>>, parts = " << values.size() << ": "
                                   << text);
      Places places(1);
      check_second_pass(values, indices, block_size, places);
      REQUIRE(course::same(places.value.download().front(), values.front(), "value"));
      REQUIRE(course::same(places.index.download().front(), expected, "index"));
    }
  }
}

TEST_CASE("two_pass_argmin: an index may need more than 32 bits") {
  constexpr std::size_t n = (std::size_t{1} << 32) + 300, place = n - 7;
  course::skip_without_memory(n * sizeof(int));
  auto x = course::DeviceBuffer<int>::zeros(n);
  const int smallest = -5;
  CUDA_CHECK(cudaMemcpy(x.data() + place, &smallest, sizeof smallest, cudaMemcpyHostToDevice));
  const Launch launch{1056, 256};
  Places places(launch.grid);
  INFO(case_text(n, "the smallest is at " + std::to_string(place), launch));
  search(x, launch, places);
  check_places(places, {smallest, place});
}

TEST_CASE("two_pass_argmin: two kernels, no atomics, and the threads share the work") {
  course::skip_without_counters();
  for (const std::size_t n : {4096, 100, 0}) {
    for (const Launch launch : {Launch{8, 128}, Launch{3, 32}, Launch{32, 128}}) {
      INFO(case_text(n, kKinds[many_ties].text, launch));
      const auto c = course::count([&] { check_search(kKinds[many_ties].values(n), launch); });
      check_costs(*c, n, launch);
    }
  }
}

TEST_CASE("two_pass_argmin: the threads of the second pass share the parts") {
  course::skip_without_counters();
  const unsigned parts = 1024, block_size = 128;
  INFO("argmin_of_parts<<<1, " << block_size << ">>>, parts = " << parts);
  Places places(1);
  const auto c = course::count([&] {
    check_second_pass(kKinds[mixed].values(parts), course::position_values<std::size_t>(parts),
                      block_size, places);
  });
  REQUIRE(course::work_is_shared(*c, 3 * 2 * parts / block_size + 2));
}
