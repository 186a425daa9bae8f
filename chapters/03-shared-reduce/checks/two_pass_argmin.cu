// Check of the exercise two_pass_argmin: ties everywhere, the smallest value in every place, more
// blocks than threads, blocks without elements, and no elements at all.
#include "two_pass_argmin.cuh"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <climits>
#include <course/check.cuh>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace {

using Launch = course::LaunchShape;

enum class Kind { mixed, many_ties, all_equal, all_largest, rising, falling, late_tie, extreme };
constexpr Kind kKinds[] = {Kind::mixed,  Kind::many_ties, Kind::all_equal, Kind::all_largest,
                           Kind::rising, Kind::falling,   Kind::late_tie,  Kind::extreme};

std::string to_string(Kind kind) {
  switch (kind) {
    case Kind::mixed:
      return "numbers of both signs";
    case Kind::many_ties:
      return "ten different values, each many times";
    case Kind::all_equal:
      return "all the same";
    case Kind::all_largest:
      return "all INT_MAX";
    case Kind::rising:
      return "the smallest comes first";
    case Kind::falling:
      return "the smallest comes last";
    case Kind::late_tie:
      return "the smallest in a third of the places, but not among the first";
    case Kind::extreme:
      return "INT_MIN, INT_MAX and numbers between";
  }
  return "";
}

std::vector<int> make_values(Kind kind, std::size_t n) {
  const std::vector<int> random = course::position_values<int>(n);
  std::vector<int> x(n);
  for (std::size_t i = 0; i < n; ++i) {
    const int position = static_cast<int>(i);
    switch (kind) {
      case Kind::mixed:
        x[i] = random[i] * 1000 + position % 1000 - 500'000;
        break;
      case Kind::many_ties:
        x[i] = random[i] % 10 + 3;
        break;
      case Kind::all_equal:
        x[i] = 7;
        break;
      case Kind::all_largest:
        x[i] = INT_MAX;
        break;
      case Kind::rising:
        x[i] = position - 40;
        break;
      case Kind::falling:
        x[i] = 40 - position;
        break;
      case Kind::late_tie:
        x[i] = i >= n / 2 && random[i] % 3 == 0 ? -1 : random[i];
        break;
      case Kind::extreme:
        x[i] = random[i] % 50 == 0 ? INT_MIN : random[i] % 2 == 0 ? INT_MAX : random[i];
        break;
    }
  }
  return x;
}

struct Minimum {
  int value;
  std::size_t index;
};

Minimum reference(const std::vector<int>& x) {
  const auto first = std::min_element(x.begin(), x.end());  // the first of several
  if (first == x.end()) return {INT_MAX, kNowhere};
  return {*first, static_cast<std::size_t>(first - x.begin())};
}

/// Device memory for a search with this many blocks; all of it holds anything.
struct Places {
  explicit Places(unsigned blocks) : part_values(blocks), part_indices(blocks), value(1), index(1) {
    // On the CPU device fresh memory may not be read before it was written, so leave it alone
    // there.
    if (course::kCpuDevice) return;
    part_values.fill_bytes(0x80);  // a very small number, at an index that is none
    part_indices.fill_bytes(0);
    value.fill_bytes(0x80);
    index.fill_bytes(0);
  }
  course::GuardedBuffer<int> part_values;
  course::GuardedBuffer<std::size_t> part_indices;
  course::GuardedBuffer<int> value;
  course::GuardedBuffer<std::size_t> index;
};

void check_search(const std::vector<int>& x, Launch launch, Places& places,
                  cudaStream_t stream = nullptr) {
  const auto d_x = course::DeviceBuffer<int>::from(x);
  CUDA_CHECK(cudaDeviceSynchronize());  // `stream` may be one that does not wait for the copy
  two_pass_argmin(d_x.data(), x.size(), launch.grid, launch.block, places.part_values.data(),
                  places.part_indices.data(), places.value.data(), places.index.data(), stream);
  CUDA_CHECK(cudaStreamSynchronize(stream));
  const Minimum expected = reference(x);
  REQUIRE(course::same(places.value.download().front(), expected.value, "value"));
  REQUIRE(course::same(places.index.download().front(), expected.index, "index"));
  REQUIRE(places.part_values.intact("part_values"));
  REQUIRE(places.part_indices.intact("part_indices"));
  REQUIRE(places.value.intact("value"));
  REQUIRE(places.index.intact("index"));
}

void check_search(const std::vector<int>& x, Launch launch) {
  Places places(launch.grid);
  check_search(x, launch, places);
}

std::string describe(std::size_t n, Launch launch, const std::string& text) {
  return "n = " + std::to_string(n) + ": " + text + "; " + std::to_string(launch.grid) +
         " blocks of " + std::to_string(launch.block) + " threads";
}

course::Verdict at_most(std::uint64_t found, std::uint64_t most, const std::string& what,
                        const std::string& hint) {
  if (found <= most) return {};
  return {false, what + ": expected at most " + std::to_string(most) + ", found " +
                     std::to_string(found) + "; " + hint};
}

course::Verdict does_not_wait(bool waited) {
  if (!waited) return {};
  return {false,
          "two_pass_argmin returned after a kernel had run: it waits for it, and should leave that "
          "to its caller"};
}

constexpr Launch kLaunches[] = {{1, 32},  {3, 64},  {8, 128}, {2, 1024},
                                {5, 256}, {40, 32}, {1, 512}};

}  // namespace

TEST_CASE("two_pass_argmin: value and first index at every size") {
  std::size_t turn = 0;  // another launch each time
  for (const std::size_t n : course::kSizes) {
    for (const Kind kind : kKinds) {
      const Launch launch = kLaunches[turn++ % std::size(kLaunches)];
      INFO(describe(n, launch, to_string(kind)));
      check_search(make_values(kind, n), launch);
    }
  }
}

TEST_CASE("two_pass_argmin: no elements") {
  for (const Launch launch : kLaunches) {
    INFO(describe(0, launch, "nothing"));
    check_search({}, launch);
  }
}

TEST_CASE("two_pass_argmin: two equal ones, in all kinds of places") {
  const std::size_t n = 300;
  const Launch launch{2, 64};  // rounds of 128 elements
  // The same thread; the halves of the tree, either way round; different blocks, either way round.
  const std::pair<std::size_t, std::size_t> places[] = {
      {3, 131}, {131, 259}, {5, 37},  {40, 136},  {36, 132}, {64, 128},
      {63, 64}, {127, 128}, {1, 299}, {100, 170}, {190, 140}};
  for (const auto& [a, b] : places) {
    std::vector<int> x(n, 1000);
    x[a] = x[b] = -3;
    INFO(describe(n, launch,
                  "the smallest stands at " + std::to_string(a) + " and " + std::to_string(b)));
    check_search(x, launch);
  }
}

TEST_CASE("two_pass_argmin: the smallest in every place") {
  const Launch launch{3, 32};
  for (std::size_t place = 0; place < 200; place += place < 100 ? 1 : 13) {
    std::vector<int> x(200, INT_MAX);
    x[place] = INT_MAX - 1;
    INFO(describe(x.size(), launch, "all INT_MAX, one less at " + std::to_string(place)));
    check_search(x, launch);
  }
}

TEST_CASE("two_pass_argmin: more blocks than a block has threads") {
  for (const Launch launch : {Launch{33, 32}, Launch{70, 64}, Launch{1030, 32}}) {
    const std::size_t n = std::size_t{launch.grid} * launch.block;
    for (const Kind kind : {Kind::falling, Kind::many_ties, Kind::late_tie}) {
      if (launch.grid > 1000 && kind != Kind::falling) continue;  // takes long
      INFO(describe(n, launch, to_string(kind)));
      check_search(make_values(kind, n), launch);
    }
    if (launch.grid > 1000) continue;
    INFO(describe(40, launch, to_string(Kind::all_largest)));
    check_search(make_values(Kind::all_largest, 40), launch);
  }
}

TEST_CASE("two_pass_argmin: many elements a thread, and one search after another") {
  constexpr int kRepeats = course::kCpuDevice ? 1 : 20;  // a missing barrier may not show at once
  const std::size_t n = course::kBigSize;
  Places places(7);
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    for (const Kind kind : {Kind::mixed, Kind::falling, Kind::many_ties, Kind::extreme}) {
      INFO(describe(n, {7, 128}, to_string(kind)) << ", in memory that the search before used");
      check_search(make_values(kind, n), {7, 128}, places);
    }
    INFO(describe(31, {7, 32}, to_string(Kind::all_equal)) << ", after a search in a large array");
    check_search(make_values(Kind::all_equal, 31), {7, 32}, places);
    INFO("no elements, after a search in a small array");
    check_search({}, {7, 32}, places);
  }
}

TEST_CASE("two_pass_argmin: in a stream of its own, without waiting for it") {
  cudaStream_t stream = nullptr;
  CUDA_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  Places places(5);
  INFO(describe(1025, {5, 64}, to_string(Kind::mixed)) << ", in a stream that waits for no other");
  check_search(make_values(Kind::mixed, 1025), {5, 64}, places, stream);
  const auto d_x = course::DeviceBuffer<int>::from(make_values(Kind::mixed, 1025));
  two_pass_argmin(d_x.data(), 1025, 5, 64, places.part_values.data(), places.part_indices.data(),
                  places.value.data(), places.index.data(), stream);
  // On the CPU device a question lets one kernel run: two are left. A GPU may be done by now.
  const auto idle = [&] { return cudaStreamQuery(stream) != cudaErrorNotReady; };
  const bool waited = course::kCpuDevice && (idle() || idle());
  CUDA_CHECK(cudaStreamSynchronize(stream));
  CUDA_CHECK(cudaStreamDestroy(stream));
  REQUIRE(does_not_wait(waited));
}

TEST_CASE("two_pass_argmin: the second pass alone, with indices that need more than 32 bits") {
  constexpr std::size_t kFar = std::size_t{1} << 32;
  struct Example {
    std::string text;
    std::vector<int> values;
    std::vector<std::size_t> indices;
    std::size_t expected;
  };
  std::vector<Example> examples = {
      {"one candidate", {-4}, {2 * kFar + 9}, 2 * kFar + 9},
      {"the smaller index of two, below 2^32", {-4, -4}, {kFar + 1, 5}, 5},
      {"the smaller index of two, from 2^31 on", {-4, -4}, {5, kFar / 2}, 5},
      {"no candidate", {INT_MAX, INT_MAX}, {kNowhere, kNowhere}, kNowhere},
      {"INT_MAX far behind", {INT_MAX, INT_MAX}, {kNowhere, kFar + 3}, kFar + 3}};
  Example many{"100 equal ones, each before the one before", {}, {}, kFar};
  for (std::size_t b = 100; b-- > 0;) {
    many.values.push_back(-9);
    many.indices.push_back(kFar + b * (kFar - 1));
  }
  examples.push_back(many);
  for (const auto& [text, values, indices, expected] : examples) {
    for (const unsigned block_size : {32u, 128u}) {
      INFO("argmin_of_parts<<<1, " << block_size << ">>>, parts = " << values.size() << ": "
                                   << text);
      const auto part_values = course::DeviceBuffer<int>::from(values);
      const auto part_indices = course::DeviceBuffer<std::size_t>::from(indices);
      Places places(1);
      argmin_of_parts<<<1, block_size>>>(part_values.data(), part_indices.data(),
                                         static_cast<unsigned>(values.size()), places.value.data(),
                                         places.index.data());
      CUDA_CHECK_LAUNCH();
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
  INFO(describe(n, launch, "the smallest stands at " + std::to_string(place)));
  two_pass_argmin(x.data(), n, launch.grid, launch.block, places.part_values.data(),
                  places.part_indices.data(), places.value.data(), places.index.data(), nullptr);
  REQUIRE(course::same(places.value.download().front(), smallest, "value"));
  REQUIRE(course::same(places.index.download().front(), place, "index"));
}

TEST_CASE("two_pass_argmin: two kernels, no atomics, and the threads share the work") {
  course::skip_without_counters();
  const std::size_t n = 4096;
  for (const Launch launch : {Launch{8, 128}, Launch{3, 32}, Launch{32, 128}}) {
    INFO(describe(n, launch, to_string(Kind::many_ties)));
    const std::vector<int> x = make_values(Kind::many_ties, n);
    const auto c = course::count([&] { check_search(x, launch); });
    REQUIRE(course::same(c->launches, 2, "launches"));
    REQUIRE(course::same(c->blocks, launch.grid + 1, "blocks of both launches"));
    REQUIRE(course::same(c->threads, (launch.grid + 1) * launch.block, "threads of both launches"));
    REQUIRE(at_most(c->global_atomic_lanes + c->shared_atomic_lanes, 0, "atomics",
                    "every block has a place of its own"));
    // A candidate is compared more than once; its element may be read again for that.
    const std::uint64_t parts = 3 * (2 * ((launch.grid + 31) / 32) + 2);
    REQUIRE(at_most(c->global_loads, 3 * n / 32 + parts, "loads by the warps of both launches",
                    "a warp reads 32 neighbours with one load"));
    const std::uint64_t rounds =
        (n + launch.grid * launch.block - 1) / (launch.grid * launch.block);
    REQUIRE(course::work_is_shared(*c, std::max<std::uint64_t>(3 * rounds + 2, 3 * 2 + 2)));
    const std::uint64_t depth = 10, warps = launch.block / 32;
    REQUIRE(at_most(c->barriers, (launch.grid + 1) * (depth + 2), "barriers of both launches",
                    "each level of a tree needs one"));
    REQUIRE(at_most(c->shared_loads, (launch.grid + 1) * (12 * warps + 12 * depth),
                    "loads of shared memory by the warps of both launches",
                    "in a tree each level reads half of what the level before read"));
  }
}

TEST_CASE("two_pass_argmin: the threads of the second pass share the parts") {
  course::skip_without_counters();
  const unsigned parts = 1024, block_size = 128;
  INFO("argmin_of_parts<<<1, " << block_size << ">>>, parts = " << parts);
  const auto part_values = course::DeviceBuffer<int>::from(make_values(Kind::mixed, parts));
  const auto part_indices =
      course::DeviceBuffer<std::size_t>::from(course::position_values<std::size_t>(parts));
  Places places(1);
  const auto c = course::count([&] {
    argmin_of_parts<<<1, block_size>>>(part_values.data(), part_indices.data(), parts,
                                       places.value.data(), places.index.data());
    CUDA_CHECK_LAUNCH();
  });
  REQUIRE(course::work_is_shared(*c, 3 * 2 * parts / block_size + 2));
}
