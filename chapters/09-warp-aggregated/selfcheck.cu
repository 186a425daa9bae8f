// Every rung of this chapter keeps what it should at every awkward size and alignment, makes as
// many atomics as the lesson says, and what is wrong on purpose is wrong in the way that it says.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <course/check.cuh>
#include <course/placed.cuh>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "aggregate.cuh"
#include "filter.cuh"
#include "inputs.cuh"
#include "ordered.cuh"
#include "tiles.cuh"
#include "wrong.cuh"

namespace warp_aggregated_selfcheck {

using Append = void (*)(const int*, std::size_t, int*, Count*, cudaStream_t);

/// What the kernels of `work` did, if lanes that come together stay together: other seeds split
/// them here and there, as a GPU may, and a split group makes two atomics for one.
std::optional<course::Counters> count_in_order(const std::function<void()>& work) {
  std::optional<course::Counters> counters;
  course::with_seed(0, [&] { counters = course::count(work); });
  return counters;
}

/// A rung that appends, in any order. Tiles are small here, so that small arrays have several.
struct AppendRung {
  std::string name;
  Append launch;
  std::size_t tile;  // numbers for which it makes one atomic; 1: an atomic for each kept number
};

const std::vector<AppendRung> kAppendRungs = {
    {"filter_plain", filter_plain, 1},
    {"filter_block_counter", filter_block_counter, kBlockSize},
    {"filter_agg_inc", filter_agg_inc, 32},
    {"filter_coalesced", filter_coalesced, 32},
    {"filter_block_scan", filter_block_scan, kBlockSize},
    {"filter_tile_direct<1>", filter_tile_direct<1>, kTileItems<1>},
    {"filter_tile_staged<1>", filter_tile_staged<1>, kTileItems<1>},
    {"filter_tile_staged<2>", filter_tile_staged<2>, kTileItems<2>},
};
const AppendRung kDirect{"filter_tile_direct", filter_tile_direct<>, kTileItems<kTileLoads>};
const AppendRung kStaged{"filter_tile_staged", filter_tile_staged<>, kTileItems<kTileLoads>};

/// A rung that keeps the order.
struct OrderedRung {
  std::string name;
  void (*launch)(const int*, std::size_t, int*, Count*);
};

template <unsigned loads>
void two_passes(const int* d_x, std::size_t n, int* d_out, Count* d_count) {
  TileCounts counts;
  filter_two_passes<loads>(d_x, n, d_out, d_count, counts, nullptr);
}
template <unsigned loads>
void looks_back(const int* d_x, std::size_t n, int* d_out, Count* d_count) {
  LookBack memory;
  filter_look_back<loads>(d_x, n, d_out, d_count, memory, nullptr);
}

const std::vector<OrderedRung> kOrderedRungs = {{"filter_two_passes<4>", two_passes<4>},
                                                {"filter_look_back<4>", looks_back<4>}};

constexpr unsigned kPercents[] = {0, 5, 50, 100};

std::string describe(const std::string& rung, std::size_t n, const std::string& data,
                     std::size_t offset_x, std::size_t offset_out) {
  return rung + ": n = " + std::to_string(n) + ", " + data + "; x begins " +
         std::to_string(offset_x) + " and out " + std::to_string(offset_out) +
         " elements behind a multiple of 256 bytes";
}

/// Appends x to an output that holds some numbers already and has room for what is kept, no more.
void check_append(const AppendRung& rung, const std::vector<int>& x, std::size_t offset_x,
                  std::size_t offset_out, std::size_t already = 3) {
  std::vector<int> expected = filter_reference(x);
  const std::vector<int> before(already, -77);
  const course::Placed<int> d_x(x, offset_x);
  course::Placed<int> out(std::vector<int>(already + expected.size(), -1), offset_out);
  out.upload(before);
  auto count = course::DeviceBuffer<Count>::from({already});
  rung.launch(d_x.data(), x.size(), out.data(), count.data(), nullptr);
  REQUIRE(course::same(count.front(), already + expected.size(), "count"));
  std::vector<int> found = out.download();
  REQUIRE(std::equal(before.begin(), before.end(), found.begin()));
  found.erase(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(already));
  REQUIRE(course::same_set(found, expected, "out"));
  REQUIRE(out.intact("out"));
}

void check_order(const OrderedRung& rung, const std::vector<int>& x, std::size_t offset_x,
                 std::size_t offset_out) {
  const std::vector<int> expected = filter_reference(x);
  const course::Placed<int> d_x(x, offset_x);
  course::Placed<int> out(std::vector<int>(expected.size(), -1), offset_out);
  auto count = course::DeviceBuffer<Count>::from({99});  // it is set, not added to
  rung.launch(d_x.data(), x.size(), out.data(), count.data());
  REQUIRE(course::same(count.front(), expected.size(), "count"));
  REQUIRE(course::same(out.download(), expected, "out"));
  REQUIRE(out.intact("out"));
}

/// Data of which only some places are kept, which ones by a rule.
std::vector<int> kept_where(std::size_t n, bool (*keep)(std::size_t, std::size_t)) {
  std::vector<int> x(n);
  for (std::size_t i = 0; i < n; ++i) {
    x[i] = keep(i, n) ? static_cast<int>(i) + 1 : -static_cast<int>(i);
  }
  return x;
}

/// Parts of `size` numbers of which something is kept.
std::size_t parts_with_kept(const std::vector<int>& x, std::size_t size) {
  std::size_t parts = 0;
  for (std::size_t first = 0; first < x.size(); first += size) {
    const auto begin = x.begin() + static_cast<std::ptrdiff_t>(first);
    const auto end = x.begin() + static_cast<std::ptrdiff_t>(std::min(first + size, x.size()));
    parts += std::any_of(begin, end, is_kept) ? 1 : 0;
  }
  return parts;
}

}  // namespace warp_aggregated_selfcheck

using namespace warp_aggregated_selfcheck;

// ---- filters ------------------------------------------------------------------------------------

TEST_CASE("every filter that appends keeps what it should, at every size") {
  for (const AppendRung& rung : kAppendRungs) {
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
  for (const AppendRung& rung : kAppendRungs) {
    INFO(describe(rung.name, n, "50 % kept", 1, 2));
    check_append(rung, filter_input(n, 50), 1, 2);
  }
}

TEST_CASE("the filters of tiles, at every alignment of x and of out") {
  for (const AppendRung& rung : {kAppendRungs[5], kAppendRungs[6], kAppendRungs[7]}) {
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
  for (const AppendRung& rung : {kDirect, kStaged}) {
    for (const std::size_t n : {rung.tile - 1, rung.tile, rung.tile + 1}) {
      if (n == rung.tile - 1 && rung.name == kDirect.name) continue;  // the same loads
      const unsigned percent = n % 2 == 0 ? 100 : 50;
      INFO(describe(rung.name, n, std::to_string(percent) + " % kept", n % 4, 3));
      check_append(rung, filter_input(n, percent), n % 4, 3);
    }
  }
}

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
    for (const AppendRung& rung : kAppendRungs) {
      const std::vector<int> x = kept_where(rung.tile > kBlockSize ? 1100 : 300, rule.keep);
      INFO(describe(rung.name, x.size(), rule.name, 3, 1));
      check_append(rung, x, 3, 1);
    }
    for (const OrderedRung& rung : kOrderedRungs) {
      const std::vector<int> x = kept_where(1100, rule.keep);
      INFO(describe(rung.name, x.size(), rule.name, 3, 1));
      check_order(rung, x, 3, 1);
    }
  }
}

TEST_CASE("two launches append one behind the other") {
  const std::vector<int> x = filter_input(777, 50);
  std::vector<int> expected = filter_reference(x);
  const std::size_t once = expected.size();
  expected.insert(expected.end(), expected.begin(), expected.begin() + static_cast<long>(once));
  const auto d_x = course::DeviceBuffer<int>::from(x);
  std::vector<AppendRung> rungs = kAppendRungs;
  rungs.push_back(kStaged);
  for (const AppendRung& rung : rungs) {
    INFO(rung.name << ": n = 777, 50 % kept, two launches");
    course::GuardedBuffer<int> out(2 * once);
    auto count = course::DeviceBuffer<Count>::zeros(1);
    for (int k = 0; k < 2; ++k) rung.launch(d_x.data(), 777, out.data(), count.data(), nullptr);
    REQUIRE(course::same(count.front(), 2 * once, "count"));
    REQUIRE(course::same_set(out.download(), expected, "out"));
    REQUIRE(out.intact("out"));
  }
}

TEST_CASE("places beyond 2^32") {
  constexpr Count kAlready = (Count{1} << 33) + 5;  // numbers that nobody looks at
  const std::vector<int> x = filter_input(300, 50), expected = filter_reference(x);
  const auto d_x = course::DeviceBuffer<int>::from(x);
  std::vector<AppendRung> rungs = kAppendRungs;
  rungs.push_back(kDirect);
  for (const AppendRung& rung : rungs) {
    INFO(rung.name << ": n = 300, 50 % kept, out holds 2^33 + 5 numbers");
    course::GuardedBuffer<int> out(expected.size());
    const auto at = reinterpret_cast<std::uintptr_t>(out.data()) - kAlready * sizeof(int);
    auto count = course::DeviceBuffer<Count>::from({kAlready});
    rung.launch(d_x.data(), x.size(), reinterpret_cast<int*>(at), count.data(), nullptr);
    REQUIRE(course::same(count.front(), kAlready + expected.size(), "count"));
    REQUIRE(course::same_set(out.download(), expected, "out"));
    REQUIRE(out.intact("out"));
  }
}

// ---- order --------------------------------------------------------------------------------------

TEST_CASE("the ordered filters keep the order, at every size") {
  std::size_t turn = 0;  // of data and alignments
  for (const std::size_t n : course::kSizes) {
    for (const OrderedRung& rung : kOrderedRungs) {
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
  for (const OrderedRung& rung : kOrderedRungs) {
    for (const std::size_t n : {kTileItems<4>, kTileItems<4> + 1, 2 * kTileItems<4> + 77}) {
      const unsigned percent = n == kTileItems<4> ? 100 : 50;
      INFO(describe(rung.name, n, std::to_string(percent) + " % kept", n % 4, 2));
      check_order(rung, filter_input(n, percent), n % 4, 2);
    }
  }
  INFO("the ladder's tiles, n = 8193");
  check_order({"filter_two_passes", two_passes<kOrderedLoads>}, filter_input(8193, 50), 0, 1);
  check_order({"filter_look_back", looks_back<kOrderedLoads>}, filter_input(8193, 50), 1, 0);
}

TEST_CASE("filters without an order give another one in another run, the others do not") {
  course::skip_without_checker();  // a GPU's order cannot be chosen
  static bool done = false;        // it chooses its schedules itself: once is enough
  if (std::exchange(done, true)) return;
  const std::vector<int> x = filter_input(5000, 50), expected = filter_reference(x);
  const auto d_x = course::DeviceBuffer<int>::from(x);
  std::set<std::vector<int>> plain, staged, back;
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    course::with_seed(seed, [&] {
      const auto run = [&](auto launch) {
        course::DeviceBuffer<int> out(expected.size());
        auto count = course::DeviceBuffer<Count>::zeros(1);
        launch(out.data(), count.data());
        return out.download();
      };
      const auto appended = [&](Append append) {
        return run([&](int* d_out, Count* d_count) {
          append(d_x.data(), x.size(), d_out, d_count, nullptr);
        });
      };
      plain.insert(appended(filter_plain));
      staged.insert(appended(filter_tile_staged<1>));
      back.insert(run([&](int* d_out, Count* d_count) {
        looks_back<4>(d_x.data(), x.size(), d_out, d_count);
      }));
    });
  }
  REQUIRE(plain.size() > 1);
  REQUIRE(staged.size() > 1);
  REQUIRE(back.size() == 1);
  REQUIRE(*back.begin() == expected);
}

TEST_CASE("look-back: one memory for launches of many sizes, up to the last stamp and beyond") {
  LookBack memory;
  unsigned launch = 0;
  for (const std::size_t n : {100u, 9000u, 5000u, 0u, 300u}) {
    if (n == 5000) memory.skip_to((1u << TileState::kStampBits) - 2);
    for (int k = 0; k < 2; ++k) {
      const unsigned percent = 20 + 37 * launch++ % 60;  // or an old word would be right as well
      INFO(describe("filter_look_back<4>", n, std::to_string(percent) + " % kept", 0, 0));
      const std::vector<int> x = filter_input(n, percent), expected = filter_reference(x);
      const auto d_x = course::DeviceBuffer<int>::from(x);
      course::GuardedBuffer<int> out(expected.size());
      course::GuardedBuffer<Count> count(1);
      filter_look_back<4>(d_x.data(), n, out.data(), count.data(), memory, nullptr);
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
  LookBack memory;
  filter_look_back<4>(d_x.data(), x.size(), out.data(), count.data(), memory, nullptr);
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

TEST_CASE("two passes: more tiles than the block that adds them up has threads") {
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
    scan_tiles<<<1, 1024>>>(counts.data(), tiles, total.data());
    CUDA_CHECK_LAUNCH();
    REQUIRE(course::same(counts.download(), before, "before"));
    REQUIRE(course::same(total.download().front(), sum, "count"));
    REQUIRE(counts.intact("counts"));
  }
}

namespace warp_aggregated_selfcheck {

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

}  // namespace warp_aggregated_selfcheck

TEST_CASE("look-back goes further than 32 tiles where no sum is near") {
  for (const unsigned tiles : {1u, 2u, 32u, 33u, 300u}) {
    INFO(tiles << " tiles, of which every 40th tells the sum up to itself");
    LookBack memory;
    course::GuardedBuffer<Count> before(tiles);
    look_back_alone<<<tiles, 32>>>(memory.next(tiles, nullptr), before.data());
    CUDA_CHECK_LAUNCH();
    std::vector<Count> expected(tiles, 0);
    for (unsigned t = 1; t < tiles; ++t) expected[t] = expected[t - 1] + kept_of(t - 1);
    REQUIRE(course::same(before.download(), expected, "before"));
  }
}

// ---- several counters, and floats ---------------------------------------------------------------

namespace warp_aggregated_selfcheck {

struct PlacesRung {
  std::string name;
  void (*launch)(const int*, std::size_t, Count*, Count*, cudaStream_t);
};
const PlacesRung kPlacesRungs[] = {{"places_plain", places_plain},
                                   {"places_keyed", places_keyed},
                                   {"places_labeled", places_labeled}};

struct FloatRung {
  std::string name;
  void (*launch)(const float*, std::size_t, float, float*, cudaStream_t);
};
const FloatRung kFloatRungs[] = {{"sum_float_plain", sum_float_plain},
                                 {"sum_float_coalesced", sum_float_coalesced},
                                 {"sum_float_warp", sum_float_warp}};

void check_places(const PlacesRung& rung, const std::vector<int>& key, std::size_t keys) {
  std::vector<Count> first(keys);
  for (std::size_t k = 0; k < keys; ++k) first[k] = (Count{k} << 33) + 10 * k;  // 64 bits
  std::vector<Count> counts = count_keys(key, keys);
  for (std::size_t k = 0; k < keys; ++k) counts[k] += first[k];
  const auto d_key = course::DeviceBuffer<int>::from(key);
  course::Placed<Count> d_counts(first, 1);
  course::GuardedBuffer<Count> places(key.size());
  rung.launch(d_key.data(), key.size(), d_counts.data(), places.data(), nullptr);
  REQUIRE(course::same(d_counts.download(), counts, "counts"));
  REQUIRE(places_are_right(places.download(), key, first));
  REQUIRE(d_counts.intact("counts"));
  REQUIRE(places.intact("places"));
}

}  // namespace warp_aggregated_selfcheck

TEST_CASE("every number gets a place of its own in its list") {
  for (const PlacesRung& rung : kPlacesRungs) {
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

namespace warp_aggregated_selfcheck {

/// Three in four lanes call; the others wait for them behind the branches.
__global__ void call_in_branches(Count* d_counts, Count* d_places) {
  const unsigned t = threadIdx.x;
  if (t % 4 == 1) d_places[t] = atomic_agg_inc(&d_counts[0]);
  if (t % 4 == 2) d_places[t] = atomic_coalesced_inc(&d_counts[1]);
  if (t % 4 == 3) d_places[t] = atomic_agg_inc_keyed(&d_counts[2 + t / 4 % 2]);
  __syncwarp();
}

}  // namespace warp_aggregated_selfcheck

TEST_CASE("an aggregated increment in a branch needs nobody else") {
  const std::vector<Count> first = {0, 10, 20, 30};
  auto counts = course::DeviceBuffer<Count>::from(first);
  course::DeviceBuffer<Count> places(64);
  places.fill_bytes(0xff);
  call_in_branches<<<1, 64>>>(counts.data(), places.data());
  CUDA_CHECK_LAUNCH();
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

TEST_CASE("float sums above a limit are exact, whoever adds them up") {
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
        rung.launch(d_x.data(), n, limit, sum.data(), nullptr);
        REQUIRE(course::same(sum.download().front(), static_cast<float>(expected), "sum"));
        REQUIRE(sum.intact("sum"));
      }
    }
  }
}

// ---- how many atomics ---------------------------------------------------------------------------

TEST_CASE("atomics: one a kept number, a warp, a block, a tile") {
  course::skip_without_counters();
  static bool done = false;  // it chooses its schedules itself: once is enough
  if (std::exchange(done, true)) return;
  for (const unsigned percent : kPercents) {
    std::vector<AppendRung> rungs = kAppendRungs;
    if (percent == 50) rungs = {kDirect, kStaged};
    const std::vector<int> x = filter_input(percent == 50 ? 7000 : 2100, percent);
    const std::size_t kept = filter_reference(x).size();
    for (const AppendRung& rung : rungs) {
      INFO(describe(rung.name, x.size(), std::to_string(percent) + " % kept", 0, 0));
      const auto counters = count_in_order([&] { check_append(rung, x, 0, 0); });
      const bool by_block = rung.name == "filter_block_counter";  // asks for 0 places, too
      const std::size_t atomics = rung.tile == 1 ? kept
                                  : by_block     ? (x.size() + kBlockSize - 1) / kBlockSize
                                                 : parts_with_kept(x, rung.tile);
      REQUIRE(course::same(counters->global_atomic_lanes, atomics, "atomics"));
      REQUIRE(course::same(counters->shared_atomic_lanes, by_block ? kept : 0, "shared atomics"));
    }
  }
}

TEST_CASE("atomics: none for two passes, a ticket a tile for the look-back") {
  course::skip_without_counters();
  static bool done = false;  // it chooses its schedules itself: once is enough
  if (std::exchange(done, true)) return;
  const std::vector<int> x = filter_input(9000, 50);
  const auto two = count_in_order([&] { check_order(kOrderedRungs[0], x, 0, 0); });
  REQUIRE(two->global_atomic_lanes == 0);
  const auto back = count_in_order([&] { check_order(kOrderedRungs[1], x, 0, 0); });
  REQUIRE(back->global_atomic_lanes == 3);
  REQUIRE(two->shared_atomics + back->shared_atomics == 0);
  // The second pass reads everything again.
  REQUIRE(two->global_load_sectors > 2 * x.size() / 8);
  REQUIRE(back->global_load_sectors < 3 * x.size() / 2 / 8);
}

TEST_CASE("atomics: one for each different key of a warp, one for the floats of a warp") {
  course::skip_without_counters();
  static bool done = false;  // it chooses its schedules itself: once is enough
  if (std::exchange(done, true)) return;
  const std::vector<int> key = random_keys(1000, 5);
  std::size_t different = 0;
  for (std::size_t first = 0; first < key.size(); first += 32) {
    const std::size_t end = std::min(first + 32, key.size());
    different += std::set<int>(key.begin() + static_cast<std::ptrdiff_t>(first),
                               key.begin() + static_cast<std::ptrdiff_t>(end))
                     .size();
  }
  for (const PlacesRung& rung : kPlacesRungs) {
    INFO(rung.name << ": n = 1000, 5 keys");
    const auto counters = count_in_order([&] { check_places(rung, key, 5); });
    const std::size_t expected = rung.name == "places_plain" ? key.size() : different;
    REQUIRE(course::same(counters->global_atomic_lanes, expected, "atomics"));
  }
  const std::vector<float> x = course::position_values<float>(1000);
  const auto above = static_cast<std::size_t>(
      std::count_if(x.begin(), x.end(), [](float value) { return value > 1.0f; }));
  const auto d_x = course::DeviceBuffer<float>::from(x);
  for (const FloatRung& rung : kFloatRungs) {
    INFO(rung.name << ": n = 1000, some above 1");
    auto sum = course::DeviceBuffer<float>::zeros(1);
    const auto counters =
        count_in_order([&] { rung.launch(d_x.data(), x.size(), 1.0f, sum.data(), nullptr); });
    const std::size_t expected = rung.name == "sum_float_plain" ? above : (x.size() + 31) / 32;
    REQUIRE(course::same(counters->global_atomic_lanes, expected, "atomics"));
    const auto none =
        count_in_order([&] { rung.launch(d_x.data(), x.size(), 2.0f, sum.data(), nullptr); });
    REQUIRE(course::same(none->global_atomic_lanes, 0, "atomics, where all are below the limit"));
  }
}

TEST_CASE("staging: 16 bytes a lane, and no bank conflicts where all is kept") {
  course::skip_without_counters();
  static bool done = false;  // it chooses its schedules itself: once is enough
  if (std::exchange(done, true)) return;
  const std::vector<int> x = filter_input(2 * kTileItems<4>, 100);
  const std::size_t requests = x.size() / kPack / 32;  // of 32 lanes with 16 bytes each
  const auto direct = count_in_order([&] {
    check_append({"", filter_tile_direct<4>, 0}, x, 0, 0, 0);
  });
  const auto staged = count_in_order([&] {
    check_append({"", filter_tile_staged<4>, 0}, x, 0, 0, 0);
  });
  const auto back = count_in_order([&] { check_order(kOrderedRungs[1], x, 0, 0); });
  REQUIRE(course::same(direct->global_stores, 4 * requests, "stores of filter_tile_direct"));
  REQUIRE(course::same(staged->global_stores, requests, "stores of filter_tile_staged"));
  REQUIRE(course::same(staged->global_loads, requests, "loads of filter_tile_staged"));
  const auto conflicts = [](std::uint64_t wavefronts, std::uint64_t accesses) {
    return wavefronts - accesses;
  };
  REQUIRE(conflicts(staged->shared_store_wavefronts, staged->shared_stores) == 0);
  REQUIRE(conflicts(back->shared_store_wavefronts, back->shared_stores) == 0);
  // Words of 8 bytes take two passes, and filter_tile_direct has these, too.
  REQUIRE(back->bank_conflicts() == direct->bank_conflicts());
}

// ---- __activemask() -----------------------------------------------------------------------------

namespace warp_aggregated_selfcheck {

__global__ void record_active(unsigned* d_active) {
  d_active[blockIdx.x * blockDim.x + threadIdx.x] = __activemask();
}

}  // namespace warp_aggregated_selfcheck

TEST_CASE("__activemask() may name fewer lanes than take the branch") {
  course::skip_without_checker();  // a GPU may split a warp, and hardly ever does so here
  static bool done = false;        // it chooses its schedules itself: once is enough
  if (std::exchange(done, true)) return;
  std::set<unsigned> seen;
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    course::with_seed(seed, [&] {
      course::DeviceBuffer<unsigned> active(512);
      record_active<<<2, 256>>>(active.data());
      CUDA_CHECK_LAUNCH();
      const std::vector<unsigned> masks = active.download();
      for (std::size_t i = 0; i < masks.size(); ++i) {
        REQUIRE((masks[i] >> i % 32 & 1) == 1);  // it always names its caller
        seen.insert(masks[i]);
      }
    });
  }
  REQUIRE(seen.count(0xffff'ffffu) == 1);
  REQUIRE(seen.size() > 1);  // though all 32 lanes of every warp come by
}

// ---- wrong on purpose ---------------------------------------------------------------------------

TEST_CASE("places_agg_inc gives everything to the leader's counter") {
  std::vector<int> key(64);
  for (std::size_t i = 0; i < key.size(); ++i) key[i] = i % 32 == 0 ? 2 : static_cast<int>(i % 2);
  const auto d_key = course::DeviceBuffer<int>::from(key);
  auto counts = course::DeviceBuffer<Count>::zeros(3);
  course::GuardedBuffer<Count> places(key.size());
  count_in_order(
      [&] { places_agg_inc(d_key.data(), key.size(), counts.data(), places.data(), nullptr); });
  const std::vector<Count> found = counts.download();
  REQUIRE(found[0] + found[1] + found[2] ==
          64);  // nothing is lost, and nothing is where it belongs
  REQUIRE_FALSE(course::same(found, count_keys(key, 3), "counts").ok);
  REQUIRE_FALSE(places_are_right(places.download(), key, {0, 0, 0}).ok);
  if (course::kCpuDevice) REQUIRE(found == std::vector<Count>{0, 0, 64});
  // With one counter it is what it promises to be.
  std::fill(key.begin(), key.end(), 1);
  check_places({"places_agg_inc", places_agg_inc}, key, 3);
}

TEST_CASE("filter_all_call counts everybody, and leaves holes") {
  const std::vector<int> x = filter_input(1000, 50);
  const auto d_x = course::DeviceBuffer<int>::from(x);
  course::GuardedBuffer<int> out(x.size());
  out.fill_bytes(0);
  auto count = course::DeviceBuffer<Count>::zeros(1);
  filter_all_call(d_x.data(), x.size(), out.data(), count.data(), nullptr);
  REQUIRE(count.front() == x.size());
  std::vector<int> found = out.download();
  REQUIRE(std::count(found.begin(), found.end(), 0) ==
          static_cast<std::ptrdiff_t>(x.size() - filter_reference(x).size()));
}

// ---- more than 2^31 -----------------------------------------------------------------------------

namespace warp_aggregated_selfcheck {

/// Every fourth number is kept, and tells where it was.
__global__ void fill_large(int* d_x, std::size_t n) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += stride) {
    d_x[i] = i % 4 == 3 ? static_cast<int>(i / 4) + 1 : -1;
  }
}

/// Counts the numbers that are not `place + 1`, and adds up all.
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

}  // namespace warp_aggregated_selfcheck

TEST_CASE("every filter takes more than 2^31 numbers") {
  constexpr std::size_t n = (std::size_t{1} << 31) + 8 * 77, kKept = n / 4;
  course::skip_without_memory(n * 5);
  course::DeviceBuffer<int> x(n);
  fill_large<<<4096, 256>>>(x.data(), n);
  CUDA_CHECK_LAUNCH();
  const auto check = [&](const std::string& name, bool in_order, auto launch) {
    INFO(name << ": n = " << n << ", every fourth is kept");
    course::GuardedBuffer<int> out(kKept);
    auto count = course::DeviceBuffer<Count>::zeros(1);
    launch(out.data(), count.data());
    REQUIRE(course::same(count.front(), kKept, "count"));
    auto sums = course::DeviceBuffer<Count>::zeros(2);
    look_at_large<<<4096, 256>>>(out.data(), kKept, sums.data());
    CUDA_CHECK_LAUNCH();
    const std::vector<Count> sum = sums.download();
    if (in_order) REQUIRE(course::same(sum[0], Count{0}, "numbers in a wrong place"));
    REQUIRE(course::same(sum[1], Count{kKept} * (kKept + 1) / 2, "sum of out"));
    REQUIRE(out.intact("out"));
  };
  for (const AppendRung& rung : {kAppendRungs[0], kAppendRungs[1], kAppendRungs[2], kAppendRungs[3],
                                 kAppendRungs[4], kDirect, kStaged}) {
    check(rung.name, false,
          [&](int* d_out, Count* d_count) { rung.launch(x.data(), n, d_out, d_count, nullptr); });
  }
  check("filter_two_passes", true, [&](int* d_out, Count* d_count) {
    two_passes<kOrderedLoads>(x.data(), n, d_out, d_count);
  });
  check("filter_look_back", true, [&](int* d_out, Count* d_count) {
    looks_back<kOrderedLoads>(x.data(), n, d_out, d_count);
  });
}
