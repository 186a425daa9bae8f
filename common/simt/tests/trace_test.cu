// Traces: every event of kernels whose events are known.
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "testing.hpp"

using nlohmann::json;
using simt_test::Array;
using simt_test::observe;

namespace {

std::string text_of_file(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

/// The trace's text while `work` runs; its values and reports are tested elsewhere.
std::string trace_text(const std::function<void()>& work, simt::TraceSettings settings = {},
                       std::uint64_t seed = 0) {
  settings.file = "/tmp/simt_trace_test." + std::to_string(getpid()) + ".json";
  simt::start_trace(settings);
  observe(work, seed);
  simt::stop_trace();
  const std::string text = text_of_file(settings.file);
  std::remove(settings.file.c_str());
  return text;
}

json trace(const std::function<void()>& work, const simt::TraceSettings& settings = {},
           std::uint64_t seed = 0) {
  return json::parse(trace_text(work, settings, seed));
}

/// The only launch of `work`.
json trace_launch(const std::function<void()>& work, const simt::TraceSettings& settings = {},
                  std::uint64_t seed = 0) {
  const json all = trace(work, settings, seed);
  REQUIRE(all["launches"].size() == 1);
  return all["launches"][0];
}

/// The events of a launch that do this, in order.
std::vector<json> events(const json& launch, const std::string& op) {
  std::vector<json> list;
  for (const json& e : launch["events"]) {
    if (e["op"] == op) list.push_back(e);
  }
  return list;
}

/// "load store return": what a warp did.
std::string ops(const json& launch, int warp = 0, int block = 0) {
  std::string text;
  for (const json& e : launch["events"]) {
    if (e["warp"] != warp || e["block"] != block) continue;
    text += (text.empty() ? "" : " ") + e["op"].get<std::string>();
  }
  return text;
}

std::vector<int> indices(const json& event) {
  std::vector<int> list;
  for (const json& place : event["places"]) list.push_back(place[1]);
  return list;
}

std::vector<std::string> texts(const json& column) { return column; }

std::vector<int> lanes_to(int n, const std::function<int(int)>& value) {
  std::vector<int> list;
  for (int l = 0; l < n; ++l) list.push_back(value(l));
  return list;
}
std::vector<std::string> numbers_to(int n, const std::function<int(int)>& value) {
  std::vector<std::string> list;
  for (const int v : lanes_to(n, value)) list.push_back(std::to_string(v));
  return list;
}

std::vector<float> counting(int n) {
  std::vector<float> list;
  for (int i = 0; i < n; ++i) list.push_back(static_cast<float>(i));
  return list;
}

// ---- lockstep -----------------------------------------------------------------------------------

__global__ void double_small(const float* x, float* y, int n) {
  const int t = static_cast<int>(threadIdx.x);
  if (t >= n) return;
  float v = x[t];
  if (t % 2 == 1) v += x[t + 1];
  y[t] = 2 * v;
}

}  // namespace

TEST_CASE("an event is one instruction of one warp") {
  const Array<float> x(counting(64));
  Array<float> y(64);
  const json launch = trace_launch([&] { double_small<<<1, 64>>>(x.data(), y.data(), 40); });
  CHECK(launch["kernel"] == "double_small");
  CHECK(launch["grid"] == json({1, 1, 1}));
  CHECK(launch["block"] == json({64, 1, 1}));
  CHECK(launch["test"] == "an event is one instruction of one warp");
  CHECK(launch["lanes_recorded"] == "");
  CHECK(launch["complete"] == true);
  CHECK(launch["findings"].empty());
  CHECK(launch["arrays"] == json::parse(R"([
    {"name": "x", "space": "global", "type": "float", "element_bytes": 4, "elements": 64, "offset": 0},
    {"name": "y", "space": "global", "type": "float", "element_bytes": 4, "elements": 64, "offset": 0}])"));

  CHECK(ops(launch, 0) == "load load store return");
  const std::vector<json> loads = events(launch, "load");
  CHECK(loads[0]["lanes"] == "0xffffffff");
  CHECK(loads[0]["name"] == "load");
  CHECK(loads[0]["bytes"] == 4);
  CHECK(loads[0]["sectors"] == 4);
  CHECK(indices(loads[0]) == lanes_to(32, [](int l) { return l; }));
  CHECK(texts(loads[0]["values"]) == numbers_to(32, [](int l) { return l; }));
  std::string file = loads[0]["file"];
  CHECK(file == "common/simt/tests/trace_test.cu");
  // Lines follow each other as in the kernel.
  const int line = loads[0]["line"];
  const std::vector<json> stores = events(launch, "store");
  CHECK(stores[0]["line"] == line + 2);
  CHECK(texts(stores[0]["values"]) ==
        numbers_to(32, [](int l) { return l % 2 == 1 ? 4 * l + 2 : 2 * l; }));

  // Warp 1: lanes 8 to 31 return early; every second one of the others loads once more.
  for (const json& e : events(launch, "load")) {
    if (e["warp"] != 1 || e["line"] != line + 1) continue;
    CHECK(e["lanes"] == "0x000000aa");
    CHECK(indices(e) == std::vector<int>{34, 36, 38, 40});
  }
  unsigned returned = 0;
  for (const json& e : events(launch, "return")) {
    if (e["warp"] == 1) returned |= std::stoul(e["lanes"].get<std::string>(), nullptr, 16);
  }
  CHECK(returned == 0xffffffffu);
}

// ---- values and types ---------------------------------------------------------------------------

namespace {

__global__ void copy_fours(const float4* x, float4* y) { y[threadIdx.x] = x[threadIdx.x]; }
__global__ void copy_as_fours(const float* x, float* y) {
  reinterpret_cast<float4*>(y)[threadIdx.x] = reinterpret_cast<const float4*>(x)[threadIdx.x];
}
struct Pair {
  int key;
  float value;
};
__global__ void take_values(const Pair* pairs, float* y) {
  y[threadIdx.x] = pairs[threadIdx.x].value;
}
template <class T>
__global__ void copy_all(const T* x, T* y) {
  y[threadIdx.x] = x[threadIdx.x];
}
__device__ int lamp[4];
__global__ void switch_lamp(int** nowhere) {
  lamp[1] = 7;
  *nowhere = nullptr;
}

/// Type and values that a trace has of a copy of these.
template <class T>
json copied(const std::vector<T>& values) {
  const Array<T> x(values);
  Array<T> y(values.size());
  const json launch = trace_launch(
      [&] { copy_all<<<1, static_cast<unsigned>(values.size())>>>(x.data(), y.data()); });
  const json load = events(launch, "load")[0], store = events(launch, "store")[0];
  CHECK(load["values"] == store["values"]);
  return {launch["arrays"][0]["type"], load["values"]};
}

}  // namespace

TEST_CASE("values are written as their types say") {
  CHECK(copied<int>({-3, 4}) == json({"int", {"-3", "4"}}));
  CHECK(copied<unsigned>({4294967295u, 0}) == json({"unsigned", {"4294967295", "0"}}));
  CHECK(copied<unsigned long long>({1ull << 63, 1}) ==
        json({"unsigned long long", {"9223372036854775808", "1"}}));
  CHECK(copied<double>({0.1, -1e300}) == json({"double", {"0.1", "-1e+300"}}));
  CHECK(copied<float>({0.1f, NAN}) == json({"float", {"0.1", "nan"}}));
  CHECK(copied<char>({'a', '\n'}) == json({"char", {"'a'", "10"}}));
  CHECK(copied<unsigned char>({65, 255}) == json({"unsigned char", {"65", "255"}}));
  CHECK(copied<__half>({__half(1.5f), __half(-2.0f)}) == json({"half", {"1.5", "-2"}}));
  CHECK(copied<__half2>({__half2(1.0f, 0.5f), __half2(2.0f, 3.0f)}) ==
        json({"half2", {"(1, 0.5)", "(2, 3)"}}));
  CHECK(copied<int2>({{1, 2}, {3, 4}}) == json({"int2", {"(1, 2)", "(3, 4)"}}));
}

TEST_CASE("vector accesses, parts of elements, and types without a name") {
  const Array<float> x(counting(128));
  Array<float> y(128);
  SECTION("an argument of type float4*") {
    const auto* x4 = reinterpret_cast<const float4*>(x.data());
    auto* y4 = reinterpret_cast<float4*>(y.data());
    const json launch = trace_launch([&] { copy_fours<<<1, 32>>>(x4, y4); });
    CHECK(launch["arrays"][0]["name"] == "x4");
    CHECK(launch["arrays"][0]["type"] == "float4");
    CHECK(launch["arrays"][0]["elements"] == 32);
    CHECK(launch["arrays"][0]["offset"] == 0);
    const json load = events(launch, "load")[0];
    CHECK(load["bytes"] == 16);
    CHECK(load["sectors"] == 16);
    CHECK(indices(load) == lanes_to(32, [](int l) { return l; }));
    CHECK(load["values"][1] == "(4, 5, 6, 7)");
  }
  SECTION("an argument inside an array: where it begins tells the sectors") {
    const json launch = trace_launch([&] { copy_all<float><<<1, 32>>>(x.data() + 9, y.data()); });
    CHECK(launch["arrays"][0]["name"] == "(x.data() + 9)");
    CHECK(launch["arrays"][0]["offset"] == 36);
    CHECK(events(launch, "load")[0]["places"][0] == json({0, 0}));
    CHECK(events(launch, "load")[0]["sectors"] == 5);
  }
  SECTION("a cast inside the kernel: places count in floats") {
    const json launch = trace_launch([&] { copy_as_fours<<<1, 32>>>(x.data(), y.data()); });
    CHECK(launch["arrays"][0]["type"] == "float");
    const json store = events(launch, "store")[0];
    CHECK(store["bytes"] == 16);
    CHECK(indices(store) == lanes_to(32, [](int l) { return 4 * l; }));
    CHECK(store["values"][31] == "(124, 125, 126, 127)");
  }
  SECTION("a member of a struct: half an element, and no value") {
    const Array<Pair> pairs(std::vector<Pair>(32));
    const json launch = trace_launch([&] { take_values<<<1, 32>>>(pairs.data(), y.data()); });
    CHECK(launch["arrays"][0]["type"] == "Pair");
    CHECK(launch["arrays"][0]["element_bytes"] == 8);
    const json load = events(launch, "load")[0];
    CHECK(load["bytes"] == 4);
    CHECK(load["places"][3] == json({0, 3.5}));
    CHECK(load["values"][3].is_null());
  }
  SECTION("a __device__ variable, and pointers") {
    Array<int*> nowhere(1);
    const json launch = trace_launch([&] { switch_lamp<<<1, 1>>>(nowhere.data()); });
    CHECK(launch["arrays"][0]["name"] == "lamp");
    CHECK(launch["arrays"][0]["elements"] == 4);
    CHECK(events(launch, "store")[0]["places"] == json({{0, 1}}));
    CHECK(events(launch, "store")[0]["values"] == json({"7"}));
    CHECK(events(launch, "store")[1]["values"] == json::array({nullptr}));
  }
}

// ---- shared memory and barriers -----------------------------------------------------------------

namespace {

__global__ void rotate(int* y) {
  __shared__ int s_x[96];
  extern __shared__ float s_dynamic[];
  const unsigned t = threadIdx.x;
  s_x[t] = static_cast<int>(t);
  __syncthreads();
  s_dynamic[2 * t] = 0.5f;
  y[t] = s_x[(t + 32) % 96];
}

}  // namespace

TEST_CASE("shared arrays, wavefronts and barriers") {
  const std::uint64_t seed = GENERATE(0u, 1u);  // one block after the other, and both at once
  Array<int> y(96);
  const json launch =
      trace_launch([&] { rotate<<<2, 96, 192 * sizeof(float)>>>(y.data()); }, {}, seed);
  // Each block has its own s_x, and the trace has one.
  CHECK(launch["arrays"] == json::parse(R"([
    {"name": "s_x", "space": "shared", "type": "int", "element_bytes": 4, "elements": 96, "offset": 0},
    {"name": "s_dynamic", "space": "shared", "type": "float", "element_bytes": 4, "elements": 192, "offset": 0},
    {"name": "y", "space": "global", "type": "int", "element_bytes": 4, "elements": 96, "offset": 0}])"));
  for (const int block : {0, 1}) {
    for (const int warp : {0, 1, 2}) {
      CHECK(ops(launch, warp, block) == "store barrier store load store return");
    }
  }
  const std::vector<json> stores = events(launch, "store");
  CHECK(stores[0]["wavefronts"] == 1);
  CHECK_FALSE(stores[0].contains("sectors"));
  for (const json& store : stores) {
    if (store["places"][0][0] == 1) CHECK(store["wavefronts"] == 2);
  }
  const std::vector<json> barriers = events(launch, "barrier");
  CHECK(barriers.size() == 6);
  CHECK(barriers[0]["name"] == "__syncthreads");
  CHECK(barriers[0]["lanes"] == "0xffffffff");
  // All warps pass the barrier before one of them goes on.
  CHECK(barriers[1]["warp"] == 1);
  CHECK(barriers[2]["warp"] == 2);
  const json load = events(launch, "load")[0];
  const int warp = load["warp"];
  CHECK(texts(load["values"]) == numbers_to(32, [&](int l) { return (32 * warp + l + 32) % 96; }));
}

// ---- atomics ------------------------------------------------------------------------------------

namespace {

__global__ void add_to_bins(int* bins) { atomicAdd(&bins[threadIdx.x % 4], 10); }
__global__ void float_add(float* total) {
  if (threadIdx.x < 2) atomicAdd(total, 1.5f);
}
__global__ void float_maximum(unsigned* bits, float v) {
  const unsigned mine = __float_as_uint(v);
  unsigned seen = *bits;
  while (__uint_as_float(seen) < v) {
    const unsigned before = atomicCAS(bits, seen, mine);
    if (before == seen) break;
    seen = before;
  }
}

}  // namespace

TEST_CASE("atomics: addresses, operands and old values") {
  auto bins = Array<int>::zeros(4);
  const json adds = events(trace_launch([&] { add_to_bins<<<1, 32>>>(bins.data()); }), "atomic")[0];
  CHECK(adds["name"] == "atomicAdd");
  CHECK(adds["addresses"] == 4);
  CHECK(indices(adds) == lanes_to(32, [](int l) { return l % 4; }));
  CHECK(texts(adds["values"]) == numbers_to(32, [](int) { return 10; }));
  CHECK(texts(adds["old"]) == numbers_to(32, [](int l) { return l / 4 * 10; }));
  CHECK_FALSE(adds.contains("mask"));
  CHECK_FALSE(adds.contains("expected"));

  auto total = Array<float>::zeros(1);
  const json floats =
      events(trace_launch([&] { float_add<<<1, 32>>>(total.data()); }), "atomic")[0];
  CHECK(floats["lanes"] == "0x00000003");
  CHECK(floats["values"] == json({"1.5", "1.5"}));
  CHECK(floats["old"] == json({"0", "1.5"}));

  auto bits = Array<unsigned>::zeros(1);
  const auto loops =
      events(trace_launch([&] { float_maximum<<<1, 2>>>(bits.data(), 1.0f); }), "atomic");
  REQUIRE(loops.size() == 1);  // the second lane sees that another one was as large
  CHECK(loops[0]["name"] == "atomicCAS");
  CHECK(loops[0]["expected"] == json({"0", "0"}));
  CHECK(loops[0]["values"] == json({"1065353216", "1065353216"}));
  CHECK(loops[0]["old"] == json({"0", "1065353216"}));
}

// ---- warp functions -----------------------------------------------------------------------------

namespace {

__global__ void shuffle_all(int* y) {
  const int t = static_cast<int>(threadIdx.x);
  int v = __shfl_down_sync(0xffffffffu, 10 * t, 4, 8);
  v += __shfl_up_sync(0xffffffffu, t, 30);
  v += __shfl_xor_sync(0xffffffffu, t, 1);
  v += __shfl_sync(0xffffffffu, t, 35);
  y[t] = v;
}
__global__ void ask_everybody(unsigned* y) {
  const int t = static_cast<int>(threadIdx.x);
  unsigned v = __ballot_sync(0xffffffffu, t < 4);
  v += static_cast<unsigned>(__any_sync(0xffffffffu, t == 40));
  v += static_cast<unsigned>(__all_sync(0xffffffffu, t < 40));
  v += __match_any_sync(0xffffffffu, t / 16);
  int same = 0;
  v += __match_all_sync(0xffffffffu, 5, &same);
  v += static_cast<unsigned>(__reduce_add_sync(0xffffffffu, -1));
  __syncwarp();
  __threadfence();
  if (t < 8) v += __activemask();
  y[t] = v;
}
__global__ void half_a_warp(float* y) {
  if (threadIdx.x < 16) y[threadIdx.x] = __shfl_down_sync(0xffffu, 0.25f, 8);
}
__global__ void tile_of_four(float* y) {
  namespace cg = cooperative_groups;
  const auto tile = cg::tiled_partition<4>(cg::this_thread_block());
  const float sum = cg::reduce(tile, 1.0f, cg::plus<float>());
  y[threadIdx.x] = sum + tile.shfl(0.5f * static_cast<float>(threadIdx.x), 1);
}

}  // namespace

TEST_CASE("shuffles have their sources, at the edges, too") {
  Array<int> y(32);
  const auto shuffles = events(trace_launch([&] { shuffle_all<<<1, 32>>>(y.data()); }), "shuffle");
  REQUIRE(shuffles.size() == 4);
  CHECK(shuffles[0]["name"] == "__shfl_down_sync");
  CHECK(shuffles[0]["mask"] == "0xffffffff");
  CHECK(shuffles[0]["sources"].get<std::vector<int>>() ==
        lanes_to(32, [](int l) { return l % 8 < 4 ? l + 4 : l; }));
  CHECK(texts(shuffles[0]["given"]) == numbers_to(32, [](int l) { return 10 * l; }));
  CHECK(texts(shuffles[0]["values"]) ==
        numbers_to(32, [](int l) { return 10 * (l % 8 < 4 ? l + 4 : l); }));
  CHECK(shuffles[1]["sources"].get<std::vector<int>>() ==
        lanes_to(32, [](int l) { return l >= 30 ? l - 30 : l; }));
  CHECK(shuffles[2]["sources"].get<std::vector<int>>() ==
        lanes_to(32, [](int l) { return l ^ 1; }));
  CHECK(shuffles[3]["name"] == "__shfl_sync");
  CHECK(shuffles[3]["sources"].get<std::vector<int>>() == lanes_to(32, [](int) { return 3; }));
}

TEST_CASE("a shuffle from a lane that takes no part has a source and no value") {
  auto y = Array<float>::zeros(32);
  const json shuffle =
      events(trace_launch([&] { half_a_warp<<<1, 32>>>(y.data()); }), "shuffle")[0];
  CHECK(shuffle["lanes"] == "0x0000ffff");
  CHECK(shuffle["mask"] == "0x0000ffff");
  CHECK(shuffle["sources"][7] == 15);
  CHECK(shuffle["values"][7] == "0.25");
  CHECK(shuffle["sources"][8] == 16);
  CHECK(shuffle["values"][8].is_null());
}

TEST_CASE("votes, match, reduce, masks, syncwarp and fences") {
  Array<unsigned> y(32);
  const json launch = trace_launch([&] { ask_everybody<<<1, 32>>>(y.data()); });
  // The lanes of the branch meet the others after it.
  CHECK(ops(launch) == "vote vote vote match match reduce syncwarp fence activemask store return");
  const json& list = launch["events"];
  CHECK(list[0]["name"] == "__ballot_sync");
  CHECK(list[0]["given"][3] == "1");
  CHECK(list[0]["given"][4] == "0");
  CHECK(list[0]["values"][31] == "0x0000000f");
  CHECK(list[1]["values"][0] == "0");
  CHECK(list[2]["given"][0] == "1");
  CHECK(list[2]["values"][0] == "1");
  CHECK(list[3]["name"] == "__match_any_sync");
  CHECK(list[3]["given"][16] == "1");
  CHECK(list[3]["values"][16] == "0xffff0000");
  CHECK(list[4]["name"] == "__match_all_sync");
  CHECK(list[5]["given"][0] == "-1");
  CHECK(list[5]["values"][0] == "-32");
  CHECK(list[6]["mask"] == "0xffffffff");
  CHECK(list[7]["name"] == "__threadfence");
  CHECK(list[7]["line"] == list[6]["line"].get<int>() + 1);
  CHECK(list[8]["lanes"] == "0x000000ff");
  CHECK(list[8]["values"][0] == "0x000000ff");
}

TEST_CASE("functions of cooperative groups keep their names") {
  Array<float> y(32);
  const json launch = trace_launch([&] { tile_of_four<<<1, 32>>>(y.data()); });
  const auto reduces = events(launch, "reduce");
  REQUIRE(reduces.size() == 8);  // one for each tile
  CHECK(reduces[0]["name"] == "reduce");
  CHECK(reduces[1]["lanes"] == "0x000000f0");
  CHECK(reduces[1]["given"] == json({"1", "1", "1", "1"}));
  CHECK(reduces[1]["values"] == json({"4", "4", "4", "4"}));
  const auto shuffles = events(launch, "shuffle");
  CHECK(shuffles[1]["sources"] == json({5, 5, 5, 5}));
  CHECK(shuffles[1]["values"] == json({"2.5", "2.5", "2.5", "2.5"}));
}

// ---- the same as the counters say ---------------------------------------------------------------

namespace {

__global__ void uneven_work(const float* x, float* y, float* total) {
  __shared__ float s_x[32][33];
  const unsigned t = threadIdx.x, lane = t % 32;
  for (unsigned k = 0; k <= t % 3; ++k) s_x[lane][k] = x[(k * 7 + 5 * t) % 512];
  __syncwarp();
  if (t % 4 == 0) y[t] = s_x[0][0];
  atomicAdd(&total[t % 5], 1.0f);
}

}  // namespace

TEST_CASE("sectors, wavefronts and addresses are those of a CountScope") {
  const std::uint64_t seed = GENERATE(0u, 1u, 2u);
  const Array<float> x(counting(512));
  Array<float> y(64);
  auto total = Array<float>::zeros(5);
  simt::Counters counters;
  const json launch = trace_launch(
      [&] {
        const simt::CountScope scope;
        uneven_work<<<1, 64>>>(x.data(), y.data(), total.data());
        counters = scope.counters();
      },
      {}, seed);
  const auto sum = [&](const std::string& op, const std::string& cost) {
    std::uint64_t total_cost = 0;
    for (const json& e : events(launch, op)) total_cost += e.value(cost, 0u);
    return total_cost;
  };
  CHECK(sum("load", "sectors") == counters.global_load_sectors);
  CHECK(sum("store", "sectors") == counters.global_store_sectors);
  CHECK(sum("load", "wavefronts") == counters.shared_load_wavefronts);
  CHECK(sum("store", "wavefronts") == counters.shared_store_wavefronts);
  CHECK(sum("atomic", "addresses") == counters.global_atomic_addresses);
  CHECK(events(launch, "atomic").size() == counters.global_atomics);
  CHECK(events(launch, "syncwarp").size() == counters.warp_barriers);
}

// ---- findings -----------------------------------------------------------------------------------

namespace {

__global__ void racy_reverse(int* y) {
  __shared__ int s_x[64];
  s_x[threadIdx.x] = 1;
  y[threadIdx.x] = s_x[63 - threadIdx.x];
}
__global__ void one_too_far(const float* x, float* y, int n) {
  const int t = static_cast<int>(threadIdx.x);
  y[t] = 1.0f;
  if (t <= n) y[t] += x[t];
}
__global__ void barrier_in_if(int* y) {
  if (threadIdx.x < 50) {
    y[threadIdx.x] = 1;
    __syncthreads();
  }
}
__global__ void early_return(int* y) {
  if (threadIdx.x % 32 < 3 || threadIdx.x >= 64) return;
  y[threadIdx.x] = 1;
  __syncthreads();
}

}  // namespace

TEST_CASE("findings belong to their launch, and what came before them stays") {
  SECTION("a race does not stop the launch") {
    Array<int> y(64);
    const json launch = trace_launch([&] { racy_reverse<<<1, 64>>>(y.data()); });
    REQUIRE(launch["findings"].size() == 1);
    const json& finding = launch["findings"][0];
    const std::string text = finding["text"];
    CHECK(text.starts_with("DATA RACE in kernel racy_reverse on s_x["));
    CHECK(finding["kind"] == "data_race");
    CHECK(finding["kernel"] == "racy_reverse");
    CHECK(finding["object"] == "s_x");
    REQUIRE(finding["accesses"].size() == 2);
    const json& access = finding["accesses"][0];
    CHECK(access["kind"] == "read");
    CHECK(access["file"] == "common/simt/tests/trace_test.cu");
    CHECK(access["block"] == "0");
    const std::string who = "read   at common/simt/tests/trace_test.cu:" + access["line"].dump() +
                            " by block 0 thread " + access["thread"].get<std::string>() + "\n";
    CHECK(text.find(who) != std::string::npos);
    CHECK(text.find('\n') != std::string::npos);
    CHECK(launch["complete"] == true);
    CHECK(ops(launch, 1) == "store load store return");
  }
  SECTION("out of bounds") {
    const Array<float> x(counting(32));
    Array<float> y(64);
    const json launch = trace_launch([&] { one_too_far<<<1, 64>>>(x.data(), y.data(), 32); });
    REQUIRE(launch["findings"].size() == 1);
    CHECK(launch["findings"][0]["text"].get<std::string>().starts_with("OUT OF BOUNDS"));
    CHECK(launch["complete"] == false);
    const json store = events(launch, "store")[0];
    CHECK(texts(store["values"]) == numbers_to(32, [](int) { return 1; }));
  }
  SECTION("a barrier that some threads do not reach") {
    Array<int> y(64);
    const json launch = trace_launch([&] { barrier_in_if<<<1, 64>>>(y.data()); });
    REQUIRE(launch["findings"].size() == 1);
    CHECK(
        launch["findings"][0]["text"].get<std::string>().starts_with("BARRIER IN DIVERGENT CODE"));
    CHECK(launch["complete"] == false);
    CHECK(events(launch, "store").size() == 2);
    CHECK(events(launch, "barrier").empty());
  }
}

TEST_CASE("a barrier has the lanes that have not returned") {
  Array<int> y(96);
  const json launch = trace_launch([&] { early_return<<<1, 96>>>(y.data()); });
  CHECK(launch["findings"].empty());
  const std::vector<json> barriers = events(launch, "barrier");
  REQUIRE(barriers.size() == 2);
  CHECK(barriers[1]["lanes"] == "0xfffffff8");
  CHECK(barriers[1]["name"] == "__syncthreads");
}

// ---- clusters -----------------------------------------------------------------------------------

namespace {

/// Each block stores one number, reads that of the next one, and leaves after all have read.
__global__ void __cluster_dims__(2, 1, 1) read_next_block(int* y) {
  __shared__ int s_x[2];
  const auto cluster = cooperative_groups::this_cluster();
  const int lane = static_cast<int>(threadIdx.x), rank = static_cast<int>(cluster.block_rank());
  if (lane == 0) s_x[1] = 10 * static_cast<int>(blockIdx.x);
  cluster.sync();
  if (lane < 3) y[3 * blockIdx.x + threadIdx.x] = *cluster.map_shared_rank(s_x + 1, 1 - rank);
  cluster.barrier_arrive();
  if (lane == 0) s_x[0] = 1;
  cluster.barrier_wait();
}

}  // namespace

TEST_CASE("in clusters each block's shared memory is an array of its own") {
  const std::uint64_t seed = GENERATE(0u, 1u, 2u, 3u);
  Array<int> y(6);
  const json launch = trace_launch([&] { read_next_block<<<2, 32>>>(y.data()); }, {}, seed);
  CHECK(launch["cluster"] == json({2, 1, 1}));
  CHECK(launch["findings"].empty());
  for (int block = 0; block < 2; ++block) {
    CHECK(ops(launch, 0, block) ==
          "store cluster_barrier load store cluster_barrier store cluster_barrier return");
  }
  const auto holder = [&](const json& e, int lane) {
    const json& array = launch["arrays"][e["places"][lane][0].get<std::size_t>()];
    CHECK(array["name"] == "s_x");
    CHECK(array["elements"] == 2);
    return array["block"].get<int>();
  };
  for (const json& e : events(launch, "load")) {
    const int other = 1 - e["block"].get<int>();
    for (int lane = 0; lane < 3; ++lane) CHECK(holder(e, lane) == other);
    CHECK(indices(e) == std::vector<int>{1, 1, 1});
    CHECK(texts(e["values"]) == std::vector<std::string>(3, std::to_string(10 * other)));
  }
  CHECK(holder(events(launch, "store")[0], 0) == events(launch, "store")[0]["block"]);
  std::vector<std::string> names;
  for (const json& e : events(launch, "cluster_barrier")) {
    CHECK(e["lanes"] == "0xffffffff");  // all that came one after another
    if (e["block"] == 0) names.push_back(e["name"]);
  }
  CHECK(names == std::vector<std::string>{"cluster_group::sync", "cluster_group::barrier_arrive",
                                          "cluster_group::barrier_wait"});
}

TEST_CASE("without clusters a shared variable is one array, and has no block") {
  Array<int> y(64);
  const json launch = trace_launch([&] { racy_reverse<<<2, 64>>>(y.data()); });
  CHECK_FALSE(launch.contains("cluster"));
  for (const json& array : launch["arrays"]) CHECK_FALSE(array.contains("block"));
  CHECK(launch["arrays"].size() == 2);
}

// ---- limits -------------------------------------------------------------------------------------

namespace {

__global__ void add_blocks(int* total) {
  atomicAdd(total, 1);
  __syncthreads();
  atomicAdd(total + 1, 1);
}
/// Four warps, each with lanes that ask who is here.
__global__ void ask_who_is_here(unsigned* y) {
  const unsigned lane = threadIdx.x % 32;
  unsigned here = 0;
  if (lane % 3 == 0) here = __activemask();
  y[threadIdx.x] = here;
}
/// The first block waits for one that is not recorded.
__global__ void wait_for_last(int* flag) {
  if (blockIdx.x == 5) atomicExch(flag, 1);
  while (blockIdx.x == 0 && atomicAdd(flag, 0) == 0) {
  }
}

}  // namespace

TEST_CASE("only the first blocks are recorded, and all of them run") {
  const std::uint64_t seed = GENERATE(0u, 1u, 5u);
  auto total = Array<int>::zeros(2);
  const json launch = trace_launch([&] { add_blocks<<<50, 64>>>(total.data()); }, {}, seed);
  CHECK(total.values() == std::vector<int>{3200, 3200});
  CHECK(launch["lanes_recorded"] == "blocks 0 to 1 of 50");
  CHECK(launch["complete"] == true);
  CHECK(launch["events"].size() == 2 * 2 * 4);
  for (const json& e : launch["events"]) CHECK(e["block"] < 2);
  simt::TraceSettings settings;
  settings.blocks = 100;
  const json all = trace_launch([&] { add_blocks<<<50, 64>>>(total.data()); }, settings, seed);
  CHECK(all["lanes_recorded"] == "");
  CHECK(all["events"].size() == 50 * 2 * 4);
}

TEST_CASE("after the limit of events a launch goes on") {
  const std::uint64_t seed = GENERATE(0u, 1u, 5u);
  simt::TraceSettings settings;
  settings.events = 5;
  auto total = Array<int>::zeros(2);
  const json launch = trace_launch([&] { add_blocks<<<50, 64>>>(total.data()); }, settings, seed);
  CHECK(total.values() == std::vector<int>{3200, 3200});
  CHECK(launch["lanes_recorded"] == "blocks 0 to 1 of 50, the first 5 events");
  CHECK(launch["complete"] == false);
  CHECK(launch["events"].size() == 5);
}

TEST_CASE("a trace may end while lanes wait in __activemask") {
  constexpr unsigned third = 0x49249249;  // lanes 0, 3, ..., 30
  Array<unsigned> y(128);
  for (unsigned events = 1; events <= 10; ++events) {
    simt::TraceSettings settings;
    settings.events = events;
    for (std::uint64_t seed = 0; seed < 6; ++seed) {
      trace_launch([&] { ask_who_is_here<<<1, 128>>>(y.data()); }, settings, seed);
      const std::vector<unsigned> here = y.values();
      for (unsigned t = 0; t < 128; ++t) {
        const unsigned own = (third >> t % 32 & 1u) << t % 32;
        REQUIRE((here[t] & own) == own);
        REQUIRE((here[t] & ~(own != 0 ? third : 0u)) == 0);
      }
    }
  }
}

TEST_CASE("blocks may wait for blocks that are not recorded") {
  const std::uint64_t seed = GENERATE(0u, 1u);
  auto flag = Array<int>::zeros(1);
  simt::TraceSettings settings;
  settings.events = 20;
  const json launch = trace_launch([&] { wait_for_last<<<6, 32>>>(flag.data()); }, settings, seed);
  CHECK(flag.front() == 1);
  CHECK(launch["findings"].empty());
}

TEST_CASE("what a CountScope counts does not depend on traces") {
  auto total = Array<int>::zeros(2);
  simt::Counters counters;
  const auto work = [&] {
    const simt::CountScope scope;
    add_blocks<<<3, 64>>>(total.data());
    add_blocks<<<3, 64>>>(total.data());
    counters = scope.counters();
  };
  simt::TraceSettings settings;
  settings.events = GENERATE(1u, 1000u);  // the first is too few
  trace(work, settings);
  CHECK(counters.global_atomics == 2 * 3 * 2 * 2);
  CHECK(counters.global_atomic_lanes == 2 * 3 * 2 * 64);
  observe(work);
  CHECK(counters.global_atomics == 2 * 3 * 2 * 2);
}

TEST_CASE("launches: two in a row, a filter, a limit") {
  auto total = Array<int>::zeros(2);
  auto bins = Array<int>::zeros(4);
  const Array<float> x(counting(32));
  Array<float> y(32);
  const auto work = [&] {
    add_blocks<<<1, 32>>>(total.data());
    add_to_bins<<<1, 32>>>(bins.data());
    copy_all<float><<<1, 32>>>(x.data(), y.data());
    add_to_bins<<<1, 32>>>(bins.data());
  };
  const auto kernels = [&](const simt::TraceSettings& settings) {
    std::string names;
    const json all = trace(work, settings);
    for (const json& launch : all["launches"]) {
      names += launch["kernel"].get<std::string>() + " ";
    }
    return names;
  };
  CHECK(kernels({}) == "add_blocks add_to_bins copy_all<float> add_to_bins ");
  simt::TraceSettings settings;
  settings.kernel = "add_to_bins";
  CHECK(kernels(settings) == "add_to_bins add_to_bins ");
  settings.kernel = "copy_all";
  CHECK(kernels(settings) == "copy_all<float> ");
  settings.kernel = "copy_all<float>";
  CHECK(kernels(settings) == "copy_all<float> ");
  settings.kernel = "copy";
  CHECK(kernels(settings) == "");
  settings = {};
  settings.launches = 3;
  CHECK(kernels(settings) == "add_blocks add_to_bins copy_all<float> ");
  CHECK(trace(work, settings)["launches_left_out"] == 1);
  // A launch with a finding is never one too many.
  settings.launches = 1;
  Array<int> reversed(64);
  const json late = trace(
      [&] {
        work();
        racy_reverse<<<1, 64>>>(reversed.data());
        work();
      },
      settings);
  CHECK(late["launches_left_out"] == 7);
  REQUIRE(late["launches"].size() == 2);
  CHECK(late["launches"][1]["kernel"] == "racy_reverse");
  CHECK(trace(work)["launches_left_out"] == 0);
  CHECK(trace([] {})["launches"].empty());
  CHECK(trace(work)["program"] == "trace_test");
  CHECK(trace(work)["schema"] == "simt.trace");
  CHECK(trace(work)["version"] == 2);
}

TEST_CASE("the same program gives the same file") {
  const std::uint64_t seed = GENERATE(0u, 3u);
  const auto run = [&] {
    const Array<float> x(counting(512));
    Array<float> y(64);
    auto total = Array<float>::zeros(5);
    return trace_text([&] { uneven_work<<<3, 64>>>(x.data(), y.data(), total.data()); }, {}, seed);
  };
  const std::string first = run();
  CHECK(first == run());
  CHECK(first.size() > 1000);
}

// ---- CUDA's memory is what it was ---------------------------------------------------------------

namespace {

__global__ void overwrite(int* x) {
  x[0] = 1;
  x[0] = 2;
  x[0] += 3;
  atomicAdd(x, 4);
  x[0] = 5;
}

// One assignment of a struct: g++ announces the store before the load, and has stored nothing yet.
struct Four {
  float v[4];
};
__global__ void copy_structs(const float* x, float* y) {
  const unsigned t = threadIdx.x;
  reinterpret_cast<Four*>(y)[t] = reinterpret_cast<const Four*>(x)[t];
  y[4 * t] = 9;
}

}  // namespace

TEST_CASE("a store has the value that it leaves, or none") {
  const Array<float> x(counting(128));
  auto y = Array<float>::zeros(128);
  const json launch = trace_launch([&] { copy_structs<<<1, 32>>>(x.data(), y.data()); });
  const std::vector<json> stores = events(launch, "store");
  REQUIRE(stores.size() == 2);
  const json value = stores[0]["values"][1];
  CHECK((value.is_null() || value == "(4, 5, 6, 7)"));
  CHECK(stores[1]["values"][1] == "9");
  CHECK(events(launch, "load")[0]["values"][1] == "(4, 5, 6, 7)");
}

TEST_CASE("each store has its own value") {
  auto x = Array<int>::zeros(1);
  const json launch = trace_launch([&] { overwrite<<<1, 1>>>(x.data()); });
  CHECK(ops(launch) == "store store load store atomic store return");
  std::vector<std::string> values;
  for (const json& e : events(launch, "store")) values.push_back(e["values"][0]);
  CHECK(values == std::vector<std::string>{"1", "2", "5", "5"});
  CHECK(events(launch, "load")[0]["values"][0] == "2");
  CHECK(events(launch, "atomic")[0]["old"][0] == "5");
}
