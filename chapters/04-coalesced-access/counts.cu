// What the rungs ask of memory: the requests, sectors and passes that the lesson names.
#include <catch2/catch_test_macros.hpp>
#include <course/check.cuh>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "checks/predicted_loads.cuh"
#include "rungs.cuh"

namespace {

/// What a launch asked of global memory.
struct Requests {
  std::uint64_t loads, load_sectors, stores, store_sectors;
};

/// "512 x 4"; "34 x 15.12" if not all have the same number.
std::string per_request(std::uint64_t requests, std::uint64_t sectors) {
  const double each =
      requests == 0 ? 0 : static_cast<double>(sectors) / static_cast<double>(requests);
  return std::to_string(requests) + " x " + course::detail::figure_text(each);
}

/// Ok if `work` makes exactly these requests.
course::Verdict makes(const std::function<void()>& work, Requests expected) {
  const auto c = course::count(work);
  if (!c) return {};
  const auto text = [](std::uint64_t requests, std::uint64_t sectors) {
    return std::to_string(requests) + " requests of " + std::to_string(sectors) + " sectors in all";
  };
  if (c->global_loads != expected.loads || c->global_load_sectors != expected.load_sectors) {
    return {false, "loads: expected " + text(expected.loads, expected.load_sectors) + ", found " +
                       text(c->global_loads, c->global_load_sectors)};
  }
  if (c->global_stores != expected.stores || c->global_store_sectors != expected.store_sectors) {
    return {false, "stores: expected " + text(expected.stores, expected.store_sectors) +
                       ", found " + text(c->global_stores, c->global_store_sectors)};
  }
  return {.figure = {"requests x sectors of each: loads, stores",
                     per_request(c->global_loads, c->global_load_sectors) + ", " +
                         per_request(c->global_stores, c->global_store_sectors)}};
}

/// Requests for n elements, loaded and stored alike.
Requests both(std::uint64_t requests, std::uint64_t sectors_each) {
  return {requests, requests * sectors_each, requests, requests * sectors_each};
}

}  // namespace

// ---- copies ------------------------------------------------------------------------------------

TEST_CASE("what the copies ask of memory, for 16384 floats") {
  course::skip_without_counters();
  constexpr std::size_t n = 16384;
  const auto d_x = course::DeviceBuffer<float>::from(course::position_values<float>(n));
  course::DeviceBuffer<float> d_y(n);
  for (const CopyRung& rung : kCopyRungs) {
    INFO(rung.name << ", n = " << n);
    REQUIRE(makes([&] { rung.launch(d_x.data(), n, d_y.data()); },
                  both(n / rung.request.floats, rung.request.sectors)));
  }
}

TEST_CASE("one warp, 64 floats: two requests of 8 sectors where float2 has one") {
  course::skip_without_counters();
  const auto d_x = course::DeviceBuffer<float>::from(course::position_values<float>(64));
  course::DeviceBuffer<float> d_y(64);
  const auto makes_for = [&](const std::string& name, Requests expected) {
    const CopyRung rung = course::rung_named(kCopyRungs, name);
    return makes([&] { rung.launch(d_x.data(), 64, d_y.data()); }, expected);
  };
  const std::pair<const char*, Requests> expected[] = {
      {"copy_one", {2, 8, 2, 8}}, {"copy_pairs", {2, 16, 2, 16}}, {"copy_float2", {1, 8, 1, 8}}};
  for (const auto& [name, requests] : expected) {
    INFO(name << ", n = 64");
    REQUIRE(makes_for(name, requests));
  }
}

TEST_CASE("a chase makes one request after the other, of one sector each") {
  course::skip_without_counters();
  for (const LatencyRung& rung : kLatencyRungs) {
    INFO(rung.name);
    Chase chase(rung.cells(65536));
    REQUIRE(makes([&] { chase.launch(); }, {kChased, kChased, 1, 1}));
  }
}

TEST_CASE("a request of 32 words of k bytes touches k sectors") {
  course::skip_without_counters();
  for (const WidthRung& rung : kWidthRungs) {
    INFO("words of " << rung.bytes << " bytes, n = 64");
    course::DeviceBuffer<unsigned char> d_x(64 * rung.bytes), d_y(64 * rung.bytes);
    d_x.fill_bytes(1);
    REQUIRE(makes([&] { rung.launch(d_x.data(), 64, d_y.data()); }, both(2, rung.bytes)));
  }
}

TEST_CASE("a struct of three floats is three loads with stride 3") {
  course::skip_without_counters();
  const auto d_x = course::DeviceBuffer<float>::from(course::position_values<float>(96));
  course::DeviceBuffer<float> d_y(96);
  const WidthRung rung = width_rung<float3>();
  INFO("float3, n = 32");
  REQUIRE(makes(
      [&] {
        rung.launch(reinterpret_cast<const unsigned char*>(d_x.data()), 32,
                    reinterpret_cast<unsigned char*>(d_y.data()));
      },
      both(3, 12)));
}

TEST_CASE("the template asks for as much as what is written by hand, and a union as memcpy") {
  course::skip_without_counters();
  constexpr std::size_t n = 16384;
  auto d_x = course::DeviceBuffer<float>::from(course::position_values<float>(n));
  course::DeviceBuffer<float> d_z(n);
  for (const ElementwiseRung& rung : kElementwiseRungs) {
    INFO(rung.name << ", n = " << n);
    const std::uint64_t requests = n / rung.request.floats, sectors = rung.request.sectors;
    REQUIRE(makes([&] { rung.launch(d_x.data(), d_x.data(), n, d_z.data()); },
                  {2 * requests, 2 * requests * sectors, requests, requests * sectors}));
  }
  for (const NegateRung& rung : kPackForms) {
    INFO(rung.name << ", n = " << n);
    REQUIRE(makes([&] { rung.launch(d_x.data(), n); }, both(n / 128, 16)));
  }
}

// ---- strides and starts ------------------------------------------------------------------------

TEST_CASE("a stride of s floats takes 4 s sectors per request, and at most 32") {
  course::skip_without_counters();
  constexpr std::size_t n = 65536;
  const auto d_x = course::DeviceBuffer<float>::from(course::position_values<float>(n));
  course::DeviceBuffer<float> d_y(n / kRowsOfThread);
  for (const StridedRung& rung : kStridedRungs) {
    INFO(rung.name << ", n = " << n);
    const std::uint64_t sectors = 4 * std::min<std::size_t>(rung.stride, 8);
    REQUIRE(makes([&] { rung.launch(d_x.data(), n, d_y.data()); },
                  {n / 32, n / 32 * sectors, n / 256, n / 256 * 4}));
  }
}

TEST_CASE("what a misaligned start costs") {
  course::skip_without_counters();
  constexpr std::size_t n = 4096;
  auto d_x = course::DeviceBuffer<float>::from(course::position_values<float>(n + 8));
  struct Case {
    std::size_t start, n;
    Requests expected;
  };
  const std::vector<std::vector<Case>> cases = {
      {{0, 32, both(1, 4)},
       {1, 32, both(1, 5)},
       {7, 32, both(1, 5)},
       {8, 32, both(1, 4)},
       {1, n, both(n / 32, 5)}},
      {{0, n, both(n / 128, 16)}, {4, 128, both(1, 17)}},
      // From element 1 on: a head of 7 and a tail of 1 in one sector each; 1022 packs between them,
      // so that the last of 32 requests has 30 lanes and 15 sectors.
      {{0, n, both(n / 128, 16)}, {1, n, {34, 31 * 16 + 15 + 2, 34, 31 * 16 + 15 + 2}}},
  };
  REQUIRE((cases.size() == kNegateRungs.size()));
  for (std::size_t k = 0; k < cases.size(); ++k) {
    for (const Case& c : cases[k]) {
      INFO(kNegateRungs[k].name << ", n = " << c.n << ", from element " << c.start << " on");
      REQUIRE(makes([&] { kNegateRungs[k].launch(d_x.data() + c.start, c.n); }, c.expected));
    }
  }
}

// ---- shared memory -----------------------------------------------------------------------------

TEST_CASE("a tile in shared memory makes loads coalesced, and padding spreads its columns") {
  course::skip_without_counters();
  constexpr std::size_t rows = 128, cols = 64, n = rows * cols;
  const auto d_x = course::DeviceBuffer<float>::from(course::position_values<float>(n));
  course::DeviceBuffer<float> d_y(n);
  for (const auto* const rungs : {&kRowSumRungs, &kTransposeRungs}) {
    const std::uint64_t loads = n / 32, stores = rungs == &kRowSumRungs ? rows / 32 : n / 32;
    for (const MatrixRung& rung : *rungs) {
      INFO(rung.name << ", " << rows << " x " << cols << " floats");
      const auto launch = [&] { rung.launch(d_x.data(), rows, cols, d_y.data()); };
      REQUIRE(
          makes(launch, {loads, loads * rung.load_sectors, stores, stores * rung.store_sectors}));
      const auto c = course::count(launch);
      REQUIRE(course::same(c->shared_loads, rung.passes == 0 ? 0 : n / 32, "loads of the tile"));
      REQUIRE(course::same(c->shared_load_wavefronts, c->shared_loads * rung.passes,
                           "their wavefronts"));
      REQUIRE(course::same(c->shared_store_wavefronts, c->shared_stores, "wavefronts of stores"));
    }
  }
}

// ---- the exercise predict_sectors --------------------------------------------------------------

TEST_CASE("the loads of predict_sectors: the addresses give the counts of the CPU device") {
  course::skip_without_counters();
  for (const prediction_checks::Kernel& kernel : prediction_checks::kKernels) {
    INFO(kernel.name);
    const prediction_checks::Counts expected = prediction_checks::counts_from_addresses(kernel);
    const prediction_checks::Counts found = prediction_checks::counts_of(kernel);
    REQUIRE(course::same(found.requests, expected.requests, "requests"));
    REQUIRE(course::same(found.sectors, expected.sectors, "sectors"));
  }
}
