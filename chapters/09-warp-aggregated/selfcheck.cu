// Every rung of this chapter keeps what it should at every awkward size and alignment.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <course/check.cuh>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "testing.cuh"

using namespace warp_aggregated_testing;

// ---- filters ------------------------------------------------------------------------------------

TEST_CASE("every filter that appends keeps what it should, at every size") {
  for (const FilterRung& rung : append_rungs()) {
    const bool has_tiles = rung.tile > kBlockSize;
    std::size_t turn = 0;  // of data and alignments
    for (const std::size_t n : course::kSizes) {
      for (int k = 0; k < (has_tiles ? 2 : 1); ++k) {
        const unsigned percent = kPercents[turn % 4];
        const std::size_t offset_x = turn / 4 % 4, offset_out = turn / 5 % 4;
        turn += 3;
        INFO(describe(rung.name, n, std::to_string(percent) + " % kept", offset_x, offset_out));
        check_append(rung, filter_input(n, percent), offset_x, offset_out);
      }
    }
  }
}

TEST_CASE("every filter that appends takes many blocks") {
  constexpr std::size_t n = course::kCpuDevice ? 2501 : course::kBigSize;
  for (const FilterRung& rung : append_rungs()) {
    INFO(describe(rung.name, n, "50 % kept", 1, 2));
    check_append(rung, filter_input(n, 50), 1, 2);
  }
}

TEST_CASE("the filters of tiles, at every alignment of x and of out") {
  for (const FilterRung& rung : append_rungs()) {
    if (rung.tile <= kBlockSize) continue;
    const bool all = rung.name == "filter_tile_staged<1>";
    for (std::size_t offset_x = 0; offset_x < 4; ++offset_x) {
      for (std::size_t already = 0; already < 4; ++already) {
        if (!all && already != 3 - offset_x) continue;  // the others run the same code
        // One tile, or a bit more, or two of which the last place alone is outside.
        const std::size_t n = already == 2 ? 2047 - offset_x : 1020 + 3 * offset_x + already;
        INFO(describe(rung.name, n, "50 % kept", offset_x, 0) << "; out holds " << already);
        check_append(rung, filter_input(n, 50), offset_x, 0, already);
      }
    }
  }
}

TEST_CASE("the tiles of the ladder: less than one, one, and a bit more") {
  for (const FilterRung& rung : large_tile_rungs()) {
    for (const std::size_t n : {rung.tile - 1, rung.tile, rung.tile + 1}) {
      if (n == rung.tile - 1 && rung.name == "filter_tile_direct") continue;  // the same loads
      const unsigned percent = n % 2 == 0 ? 100 : 50;
      INFO(describe(rung.name, n, std::to_string(percent) + " % kept", n % 4, 3));
      check_append(rung, filter_input(n, percent), n % 4, 3);
    }
  }
}

namespace warp_aggregated_testing {

/// Data of which only some elements are kept, by a rule.
std::vector<int> kept_where(std::size_t n, bool (*keep)(std::size_t, std::size_t)) {
  std::vector<int> x(n);
  for (std::size_t i = 0; i < n; ++i) {
    x[i] = keep(i, n) ? static_cast<int>(i) + 1 : -static_cast<int>(i);
  }
  return x;
}

}  // namespace warp_aggregated_testing

TEST_CASE("filters, where only single numbers are kept") {
  struct Rule {
    const char* name;
    bool (*keep)(std::size_t, std::size_t);
  };
  const Rule rules[] = {
      {"the first one alone", [](std::size_t i, std::size_t) { return i == 0; }},
      {"the last one alone", [](std::size_t i, std::size_t n) { return i + 1 == n; }},
      {"every 32nd", [](std::size_t i, std::size_t) { return i % 32 == 31; }},
      {"every second warp", [](std::size_t i, std::size_t) { return i / 32 % 2 == 1; }},
      {"the second half", [](std::size_t i, std::size_t n) { return i >= n / 2; }}};
  for (const Rule& rule : rules) {
    for (const FilterRung& rung : append_rungs()) {
      const std::vector<int> x = kept_where(rung.tile > kBlockSize ? 1100 : 300, rule.keep);
      INFO(describe(rung.name, x.size(), rule.name, 3, 1));
      check_append(rung, x, 3, 1);
    }
    for (const FilterRung& rung : ordered_rungs()) {
      const std::vector<int> x = kept_where(1100, rule.keep);
      INFO(describe(rung.name, x.size(), rule.name, 3, 1));
      check_order(rung, x, 3, 1);
    }
  }
}

TEST_CASE("two launches append one after the other") {
  const std::vector<int> x = filter_input(777, 50);
  std::vector<int> expected = filter_reference(x);
  const std::size_t once = expected.size();
  expected.insert(expected.end(), expected.begin(), expected.begin() + static_cast<long>(once));
  const auto d_x = course::DeviceBuffer<int>::from(x);
  std::vector<FilterRung> rungs = append_rungs();
  rungs.push_back(large_tile_rungs()[1]);
  for (const FilterRung& rung : rungs) {
    INFO(rung.name << ": n = 777, 50 % kept, two launches");
    course::GuardedBuffer<int> out(2 * once);
    auto count = course::DeviceBuffer<Count>::zeros(1);
    for (int k = 0; k < 2; ++k) rung.launch(d_x.data(), 777, out.data(), count.data());
    REQUIRE(course::same(count.front(), 2 * once, "count"));
    REQUIRE(course::same_set(out.download(), expected, "out"));
    REQUIRE(out.intact("out"));
  }
}

TEST_CASE("places beyond 2^32") {
  constexpr Count kAlready = (Count{1} << 33) + 5;  // numbers that no kernel reads
  const std::vector<int> x = filter_input(300, 50), expected = filter_reference(x);
  const auto d_x = course::DeviceBuffer<int>::from(x);
  std::vector<FilterRung> rungs = append_rungs();
  rungs.push_back(large_tile_rungs()[0]);
  for (const FilterRung& rung : rungs) {
    INFO(rung.name << ": n = 300, 50 % kept, out holds 2^33 + 5 numbers");
    course::GuardedBuffer<int> out(expected.size());
    const auto at = reinterpret_cast<std::uintptr_t>(out.data()) - kAlready * sizeof(int);
    auto count = course::DeviceBuffer<Count>::from({kAlready});
    rung.launch(d_x.data(), x.size(), reinterpret_cast<int*>(at), count.data());
    REQUIRE(course::same(count.front(), kAlready + expected.size(), "count"));
    REQUIRE(course::same_set(out.download(), expected, "out"));
    REQUIRE(out.intact("out"));
  }
}

// ---- order --------------------------------------------------------------------------------------

TEST_CASE("the ordered filters keep the order, at every size") {
  std::size_t turn = 0;  // of data and alignments
  for (const std::size_t n : course::kSizes) {
    for (const FilterRung& rung : ordered_rungs()) {
      const unsigned percent = kPercents[turn % 4];
      const std::size_t offset_x = turn / 4 % 4, offset_out = turn / 5 % 4;
      turn += 3;
      INFO(describe(rung.name, n, std::to_string(percent) + " % kept", offset_x, offset_out));
      check_order(rung, filter_input(n, percent), offset_x, offset_out);
    }
    ++turn;  // or a rung would see two of the four percentages
  }
}

TEST_CASE("the ordered filters keep the order across tiles") {
  for (const FilterRung& rung : ordered_rungs()) {
    for (const std::size_t n : {kTileItems<4>, kTileItems<4> + 1, 2 * kTileItems<4> + 77}) {
      const unsigned percent = n == kTileItems<4> ? 100 : 50;
      INFO(describe(rung.name, n, std::to_string(percent) + " % kept", n % 4, 2));
      check_order(rung, filter_input(n, percent), n % 4, 2);
    }
  }
  INFO("the ladder's tiles: one number more than a tile has");
  check_order(rung_named(filter_rungs(), "filter_two_passes"), filter_input(8193, 50), 0, 1);
  check_order(rung_named(filter_rungs(), "filter_look_back"), filter_input(8193, 50), 1, 0);
  check_order(rung_named(filter_rungs(), "filter_pipelined"), filter_input(20481, 50), 2, 3);
}

TEST_CASE("pipelined: blocks that take many tiles, the last of which may be none") {
  for (const unsigned blocks : {1u, 2u, 4u}) {
    for (const std::size_t n : {2 * kTileItems<4> - 5, 6 * kTileItems<4> + 1}) {
      INFO(describe("filter_pipelined<4>", n, "50 % kept", 1, 3) << ", " << blocks << " blocks");
      const std::vector<int> x = filter_input(n, 50), expected = filter_reference(x);
      const course::Placed<int> d_x(x, 1);
      course::Placed<int> out(std::vector<int>(expected.size(), -1), 3);
      course::GuardedBuffer<Count> count(1);
      const Packs packs = split_packs(d_x.data(), n);
      const unsigned tiles = course::blocks_for(packs.count, kTilePacks<4>);
      LookBack memory;
      course::launch(filter_pipelined<4>, {blocks, kBlockSize, kTileItems<4> * sizeof(int)}, packs,
                     tiles, out.data(), count.data(), memory.next(tiles, nullptr));
      REQUIRE(course::same(count.download().front(), expected.size(), "count"));
      REQUIRE(course::same(out.download(), expected, "out"));
      REQUIRE(out.intact("out"));
    }
  }
}

TEST_CASE("look-back: one memory for launches of many sizes, up to the last stamp and beyond") {
  LookBack memory;
  unsigned launch = 0;
  for (const std::size_t n : {100u, 9000u, 5000u, 0u, 300u}) {
    if (n == 5000) memory.skip_to((1u << TileState::kStampBits) - 2);
    for (int k = 0; k < 4; ++k) {
      const unsigned percent = 20 + 37 * launch++ % 60;  // or an old word would be right as well
      const auto filter = k % 2 == 0 ? launch_filter_look_back<4> : launch_filter_pipelined<4>;
      INFO(describe(k % 2 == 0 ? "filter_look_back<4>" : "filter_pipelined<4>", n,
                    std::to_string(percent) + " % kept", 0, 0));
      const std::vector<int> x = filter_input(n, percent), expected = filter_reference(x);
      const auto d_x = course::DeviceBuffer<int>::from(x);
      course::GuardedBuffer<int> out(expected.size());
      course::GuardedBuffer<Count> count(1);
      filter(d_x.data(), n, out.data(), count.data(), memory, nullptr);
      REQUIRE(course::same(count.download().front(), expected.size(), "count"));
      REQUIRE(course::same(out.download(), expected, "out"));
    }
  }
}

TEST_CASE("look-back: in the end every tile has told the sum up to itself") {
  const std::vector<int> x = filter_input(9000, 50);
  const auto d_x = course::DeviceBuffer<int>::from(x);
  course::DeviceBuffer<int> out(x.size());
  course::DeviceBuffer<Count> count(1);
  for (const auto filter : {launch_filter_look_back<4>, launch_filter_pipelined<4>}) {
    LookBack memory;
    filter(d_x.data(), x.size(), out.data(), count.data(), memory, nullptr);
    std::vector<Count> states(3);
    CUDA_CHECK(cudaMemcpy(states.data(), memory.next(3, nullptr).d_states, 3 * sizeof(Count),
                          cudaMemcpyDeviceToHost));
    Count before = 0;
    for (std::size_t tile = 0; tile < 3; ++tile) {
      const std::size_t end = std::min(x.size(), (tile + 1) * kTileItems<4>);
      for (std::size_t i = tile * kTileItems<4>; i < end; ++i) before += is_kept(x[i]) ? 1 : 0;
      INFO("tile " << tile);
      REQUIRE((states[tile] & TileState::kIsSum) != 0);
      REQUIRE(course::same(states[tile] & (TileState::kIsSum - 1), before, "sum"));
    }
  }
}

TEST_CASE("two passes: more tiles than the block that sums them has threads") {
  for (const unsigned tiles : {1u, 1024u, 2500u}) {
    INFO("scan_tiles: " << tiles << " tiles, of which each keeps 2^31 and some");
    std::vector<Count> kept(tiles), before(tiles);
    Count sum = 0;
    for (unsigned t = 0; t < tiles; ++t) {
      before[t] = sum;
      sum += kept[t] = (Count{1} << 31) + t * 7919 % 101;
    }
    course::GuardedBuffer<Count> counts(tiles), total(1);
    CUDA_CHECK(cudaMemcpy(counts.data(), kept.data(), counts.bytes(), cudaMemcpyHostToDevice));
    course::launch(scan_tiles, {1, 1024}, counts.data(), tiles, total.data());
    REQUIRE(course::same(counts.download(), before, "before"));
    REQUIRE(course::same(total.download().front(), sum, "count"));
    REQUIRE(counts.intact("counts"));
  }
}

namespace warp_aggregated_testing {

/// A tile is a warp here, and keeps `kept(tile)` numbers: sums of some need more than 32 bits.
__host__ __device__ inline Count kept_of(unsigned tile) {
  return (Count{1} << 30) + tile * 7919 % 101;
}

__global__ void look_back_alone(TileStates states, Count* d_before) {
  unsigned tile = 0;
  if (threadIdx.x == 0) {
    tile = atomicInc(states.d_ticket, gridDim.x - 1);
    states.tell(tile, tile == 0, kept_of(tile));
  }
  tile = __shfl_sync(course::kAllLanes, tile, 0);
  const Count before = look_back(states, tile);
  if (threadIdx.x == 0) {
    d_before[tile] = before;
    if (tile % 40 == 39) states.tell(tile, true, before + kept_of(tile));  // few know their sum
  }
}

}  // namespace warp_aggregated_testing

TEST_CASE("look-back goes further than 32 tiles where no sum is near") {
  for (const unsigned tiles : {1u, 2u, 32u, 33u, 300u}) {
    INFO(tiles << " tiles, of which every 40th tells the sum up to itself");
    LookBack memory;
    course::GuardedBuffer<Count> before(tiles);
    course::launch(look_back_alone, {tiles, 32}, memory.next(tiles, nullptr), before.data());
    std::vector<Count> expected(tiles, 0);
    for (unsigned t = 1; t < tiles; ++t) expected[t] = expected[t - 1] + kept_of(t - 1);
    REQUIRE(course::same(before.download(), expected, "before"));
  }
}

// ---- several counters, and floats ---------------------------------------------------------------

TEST_CASE("every number gets a place of its own in its list") {
  for (const PlacesRung& rung : right_rungs(kPlacesRungs)) {
    for (const std::size_t n : course::kSizes) {
      for (const std::size_t keys : {1u, 40u}) {
        INFO(rung.name << ": n = " << n << ", " << keys << " keys in no order");
        check_places(rung, random_keys(n, keys), keys);
      }
    }
    INFO(rung.name << ": keys that are sorted");
    std::vector<int> sorted = random_keys(300, 9);
    std::sort(sorted.begin(), sorted.end());
    check_places(rung, sorted, 9);
  }
}

namespace warp_aggregated_testing {

/// Three in four lanes call; the others wait for them after the branches.
__global__ void call_in_branches(Count* d_counts, Count* d_places) {
  const unsigned t = threadIdx.x;
  if (t % 4 == 1) d_places[t] = atomic_agg_inc(&d_counts[0]);
  if (t % 4 == 2) d_places[t] = atomic_coalesced_inc(&d_counts[1]);
  if (t % 4 == 3) d_places[t] = atomic_agg_inc_keyed(&d_counts[2 + t / 4 % 2]);
  __syncwarp();
}

}  // namespace warp_aggregated_testing

TEST_CASE("an aggregated increment in a branch needs no other lane") {
  const std::vector<Count> first = {0, 10, 20, 30};
  auto counts = course::DeviceBuffer<Count>::from(first);
  course::DeviceBuffer<Count> places(64);
  places.fill_bytes(0xff);
  course::launch(call_in_branches, {1, 64}, counts.data(), places.data());
  REQUIRE(course::same(counts.download(), std::vector<Count>{16, 26, 28, 38}, "counts"));
  const std::vector<Count> all = places.download();
  std::vector<Count> found;
  std::vector<int> key;
  for (int t = 0; t < 64; ++t) {
    if (t % 4 == 0) continue;
    found.push_back(all[static_cast<std::size_t>(t)]);
    key.push_back(t % 4 == 3 ? 2 + t / 4 % 2 : t % 4 - 1);
  }
  REQUIRE(places_are_right(found, key, first));
}

TEST_CASE("float sums above a limit are exact, whichever lane adds them") {
  for (const FloatRung& rung : kFloatRungs) {
    std::vector<std::size_t> sizes = course::kSizes;
    sizes.push_back(course::kCpuDevice ? 3001 : course::kBigSize);
    for (const std::size_t n : sizes) {
      for (const float limit : {1.0f, n % 2 == 0 ? 0.0f : 2.0f}) {
        INFO(rung.name << ": n = " << n << ", eighths above " << limit);
        const std::vector<float> x = course::position_values<float>(n);  // sums are exact
        double expected = 2.5;
        for (const float value : x) expected += value > limit ? value : 0;
        const course::Placed<float> d_x(x, n % 3);
        course::Placed<float> sum({2.5f}, 1);
        rung.launch(d_x.data(), n, limit, sum.data());
        REQUIRE(course::same(sum.download().front(), static_cast<float>(expected), "sum"));
        REQUIRE(sum.intact("sum"));
      }
    }
  }
}

// ---- more than 2^31 -----------------------------------------------------------------------------

namespace warp_aggregated_testing {

/// Every fourth number is kept, and tells where it was.
__global__ void fill_large(int* d_x, std::size_t n) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += stride) {
    d_x[i] = i % 4 == 3 ? static_cast<int>(i / 4) + 1 : -1;
  }
}

/// Counts the numbers that are not `place + 1`, and sums all.
__global__ void look_at_large(const int* d_out, std::size_t n, Count* d_sum) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  Count misplaced = 0, sum = 0;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += stride) {
    misplaced += static_cast<Count>(d_out[i]) != i + 1 ? 1 : 0;
    sum += static_cast<Count>(d_out[i]);
  }
  atomicAdd(&d_sum[0], misplaced);
  atomicAdd(&d_sum[1], sum);
}

}  // namespace warp_aggregated_testing

TEST_CASE("every filter takes more than 2^31 numbers") {
  constexpr std::size_t n = (std::size_t{1} << 31) + 8 * 77, kKept = n / 4;
  course::skip_without_memory(n * 5);
  course::DeviceBuffer<int> x(n);
  course::launch(fill_large, {4096, 256}, x.data(), n);
  for (const FilterRung& rung : right_rungs(filter_rungs())) {
    INFO(rung.name << ": n = " << n << ", every fourth is kept");
    course::GuardedBuffer<int> out(kKept);
    auto count = course::DeviceBuffer<Count>::zeros(1),
         sums = course::DeviceBuffer<Count>::zeros(2);
    rung.launch(x.data(), n, out.data(), count.data());
    REQUIRE(course::same(count.front(), kKept, "count"));
    course::launch(look_at_large, {4096, 256}, out.data(), kKept, sums.data());
    const std::vector<Count> sum = sums.download();
    if (rung.in_order) REQUIRE(course::same(sum[0], Count{0}, "numbers in a wrong place"));
    REQUIRE(course::same(sum[1], Count{kKept} * (kKept + 1) / 2, "sum of out"));
    REQUIRE(out.intact("out"));
  }
}
