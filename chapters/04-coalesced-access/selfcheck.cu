// Every rung of this chapter is right at every awkward size and start, and costs the sectors,
// requests and passes that the lesson names.
#include <cuda_fp16.h>
#include <catch2/catch_test_macros.hpp>
#include <course/check.cuh>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "copy.cuh"
#include "copy_in_flight.cuh"
#include "misaligned.cuh"
#include "strided.cuh"
#include "tiles.cuh"
#include "widths.cuh"

namespace {

/// A rung that copies floats, and what its pointers must be multiples of, in floats.
struct Copy {
  std::string name;
  void (*launch)(const float*, std::size_t, float*, cudaStream_t);
  std::size_t alignment;
};

const std::vector<Copy> kCopies = {
    {"copy_one", copy_one, 1},
    {"copy_reversed", copy_reversed, 1},
    {"copy_pairs", copy_pairs, 1},
    {"copy_grid_stride", copy_grid_stride, 1},
    {"copy_words<float>", copy_words<float>, 1},
    {"copy_float2", copy_float2, 2},
    {"copy_float4", copy_float4, 4},
    {"copy_packs<float>", copy_packs<float>, 4},
    {"copy_in_flight<4>", copy_in_flight<4>, 4},
    {"copy_in_flight_once<4>", copy_in_flight_once<4>, 4},
    {"copy_in_flight_resident<4>", copy_in_flight_resident<4>, 4},
};

/// What a launch asked of global memory.
struct Requests {
  std::uint64_t loads, load_sectors, stores, store_sectors;
};

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
  return {};
}

/// Requests for n elements, loaded and stored alike.
Requests both(std::uint64_t requests, std::uint64_t sectors_each) {
  return {requests, requests * sectors_each, requests, requests * sectors_each};
}

}  // namespace

// ---- copies ------------------------------------------------------------------------------------

TEST_CASE("the copies copy everything, at every size and from every start that they allow") {
  for (const Copy& copy : kCopies) {
    for (const std::size_t n : course::all_sizes()) {
      for (const std::size_t start : {std::size_t{0}, copy.alignment}) {
        INFO(copy.name << ", n = " << n << ", from element " << start << " on");
        const std::vector<float> all = course::position_values<float>(start + n);
        const auto d_x = course::DeviceBuffer<float>::from(all);
        course::GuardedBuffer<float> y(start + n);
        copy.launch(n > 0 ? d_x.data() + start : nullptr, n, n > 0 ? y.data() + start : nullptr,
                    nullptr);
        std::vector<float> found(n);
        if (n > 0) {
          CUDA_CHECK(cudaMemcpy(found.data(), y.data() + start, n * sizeof(float),
                                cudaMemcpyDeviceToHost));
        }
        REQUIRE(course::same(
            found, std::vector<float>(all.begin() + static_cast<std::ptrdiff_t>(start), all.end()),
            "y"));
        REQUIRE(y.intact("y"));
      }
    }
  }
}

TEST_CASE("what the copies ask of memory, for 16384 floats") {
  course::skip_without_counters();
  constexpr std::size_t n = 16384;
  const auto d_x = course::DeviceBuffer<float>::from(course::position_values<float>(n));
  course::DeviceBuffer<float> d_y(n);
  const auto requests = [&](const char* name) {
    const std::string text = name;
    if (text.find("float2") != std::string::npos) return both(n / 64, 8);
    if (text.find("pairs") != std::string::npos) return both(2 * (n / 64), 8);
    const bool packs = text.find("float4") != std::string::npos ||
                       text.find("packs") != std::string::npos ||
                       text.find("in_flight") != std::string::npos;
    return packs ? both(n / 128, 16) : both(n / 32, 4);
  };
  for (const Copy& copy : kCopies) {
    INFO(copy.name);
    REQUIRE(makes([&] { copy.launch(d_x.data(), n, d_y.data(), nullptr); },
                  requests(copy.name.c_str())));
  }
}

TEST_CASE("one warp, 64 floats: two requests of 8 sectors where float2 has one") {
  course::skip_without_counters();
  const auto d_x = course::DeviceBuffer<float>::from(course::position_values<float>(64));
  course::DeviceBuffer<float> d_y(64);
  REQUIRE(makes([&] { copy_one(d_x.data(), 64, d_y.data(), nullptr); }, {2, 8, 2, 8}));
  REQUIRE(makes([&] { copy_pairs(d_x.data(), 64, d_y.data(), nullptr); }, {2, 16, 2, 16}));
  REQUIRE(makes([&] { copy_float2(d_x.data(), 64, d_y.data(), nullptr); }, {1, 8, 1, 8}));
}

TEST_CASE("packs of other types are copied whole, tails included") {
  for (const std::size_t n : course::all_sizes()) {
    INFO("n = " << n);
    const auto bytes = course::position_values<unsigned char>(n);
    const auto d_bytes = course::DeviceBuffer<unsigned char>::from(bytes);
    course::GuardedBuffer<unsigned char> bytes_out(n);
    copy_packs(d_bytes.data(), n, bytes_out.data(), nullptr);
    REQUIRE(course::same(bytes_out.download(), bytes, "bytes"));
    REQUIRE(bytes_out.intact("bytes"));

    const auto doubles = course::position_values<double>(n);
    const auto d_doubles = course::DeviceBuffer<double>::from(doubles);
    course::GuardedBuffer<double> doubles_out(n);
    copy_packs(d_doubles.data(), n, doubles_out.data(), nullptr);
    REQUIRE(course::same(doubles_out.download(), doubles, "doubles"));
    REQUIRE(doubles_out.intact("doubles"));
  }
}

// ---- widths ------------------------------------------------------------------------------------

namespace {

/// Two warps, one word a lane: right, and one request of sizeof(W) sectors for each warp.
template <class W>
course::Verdict copies_words() {
  constexpr std::size_t n = 64 * sizeof(W);
  const auto x = course::position_values<unsigned char>(n);
  const auto d_x = course::DeviceBuffer<unsigned char>::from(x);
  course::GuardedBuffer<unsigned char> y(n);
  const course::Verdict counted = makes(
      [&] {
        copy_words(reinterpret_cast<const W*>(d_x.data()), 64, reinterpret_cast<W*>(y.data()),
                   nullptr);
      },
      both(2, sizeof(W)));
  if (!counted.ok) return counted;
  const course::Verdict right = course::same(y.download(), x, "y");
  return right.ok ? y.intact("y") : right;
}

}  // namespace

TEST_CASE("a request of 32 words of k bytes touches k sectors") {
  REQUIRE(copies_words<unsigned char>());
  REQUIRE(copies_words<unsigned short>());
  REQUIRE(copies_words<unsigned>());
  REQUIRE(copies_words<uint2>());
  REQUIRE(copies_words<uint4>());
}

TEST_CASE("a struct of three floats is three loads with stride 3") {
  course::skip_without_counters();
  const auto d_x = course::DeviceBuffer<float>::from(course::position_values<float>(96));
  course::DeviceBuffer<float> d_y(96);
  REQUIRE(makes(
      [&] {
        copy_words(reinterpret_cast<const float3*>(d_x.data()), 32,
                   reinterpret_cast<float3*>(d_y.data()), nullptr);
      },
      both(3, 12)));
}

// ---- strides -----------------------------------------------------------------------------------

TEST_CASE("sum_strided reads every element once, for every stride") {
  for (const std::size_t n : course::all_sizes()) {
    const std::vector<float> x = course::position_values<float>(n);
    const auto d_x = course::DeviceBuffer<float>::from(x);
    for (const std::size_t stride : {1u, 2u, 3u, 8u, 32u}) {
      INFO("n = " << n << ", stride " << stride);
      course::GuardedBuffer<float> y(n > 0 ? sums_of_strided(n, stride) : 0);
      sum_strided(d_x.data(), n, stride, y.data(), nullptr);
      if (n > 0) REQUIRE(course::same(y.download(), sum_strided_reference(x, stride), "y"));
      REQUIRE(y.intact("y"));
    }
  }
}

TEST_CASE("a stride of s floats takes 4 s sectors a request, and at most 32") {
  course::skip_without_counters();
  constexpr std::size_t n = 65536;
  const auto d_x = course::DeviceBuffer<float>::from(course::position_values<float>(n));
  course::DeviceBuffer<float> d_y(n / kRowsOfThread);
  for (const std::size_t stride : {1u, 2u, 4u, 8u, 16u, 32u}) {
    INFO("stride " << stride);
    const std::uint64_t sectors = 4 * std::min<std::size_t>(stride, 8);
    REQUIRE(makes([&] { sum_strided(d_x.data(), n, stride, d_y.data(), nullptr); },
                  {n / 32, n / 32 * sectors, n / 256, n / 256 * 4}));
  }
}

// ---- misaligned starts -------------------------------------------------------------------------

TEST_CASE("negating is right at every size and from every start") {
  for (const std::size_t n : course::all_sizes()) {
    for (std::size_t start = 0; start < 9; ++start) {
      INFO("n = " << n << ", from element " << start << " on");
      std::vector<float> expected = course::position_values<float>(start + n + 5);
      const auto x = expected;
      for (std::size_t i = start; i < start + n; ++i) expected[i] = -expected[i];
      auto d_x = course::DeviceBuffer<float>::from(x);
      negate_one(d_x.data() + start, n, nullptr);
      REQUIRE(course::same(d_x.download(), expected, "x after negate_one"));
      d_x.upload(x);
      negate_peeled(d_x.data() + start, n, nullptr);
      REQUIRE(course::same(d_x.download(), expected, "x after negate_peeled"));
      if (start % 4 != 0) continue;
      d_x.upload(x);
      negate_packs(d_x.data() + start, n, nullptr);
      REQUIRE(course::same(d_x.download(), expected, "x after negate_packs"));
    }
  }
}

TEST_CASE("packs from a misaligned start are an error") {
  course::skip_without_checker();  // on a GPU the process could not go on
  auto d_x = course::DeviceBuffer<float>::zeros(64);
  const course::Findings findings = course::find_races([&] {
    negate_packs(d_x.data() + 1, 32, nullptr);
    CUDA_CHECK(cudaDeviceSynchronize());
  });
  REQUIRE(findings.others > 0);
  INFO(findings.texts.front());
  REQUIRE(findings.texts.front().find("MISALIGNED") != std::string::npos);
}

TEST_CASE("what a misaligned start costs") {
  course::skip_without_counters();
  constexpr std::size_t n = 4096;
  auto d_x = course::DeviceBuffer<float>::from(course::position_values<float>(n + 8));
  float* const x = d_x.data();
  REQUIRE(makes([&] { negate_one(x, 32, nullptr); }, both(1, 4)));
  REQUIRE(makes([&] { negate_one(x + 1, 32, nullptr); }, both(1, 5)));
  REQUIRE(makes([&] { negate_one(x + 7, 32, nullptr); }, both(1, 5)));
  REQUIRE(makes([&] { negate_one(x + 8, 32, nullptr); }, both(1, 4)));
  REQUIRE(makes([&] { negate_one(x + 1, n, nullptr); }, both(n / 32, 5)));
  REQUIRE(makes([&] { negate_packs(x, n, nullptr); }, both(n / 128, 16)));
  REQUIRE(makes([&] { negate_packs(x + 4, 128, nullptr); }, both(1, 17)));
  REQUIRE(makes([&] { negate_peeled(x, n, nullptr); }, both(n / 128, 16)));
  // A head of 7 and a tail of 1 in one sector each; 1022 packs in between, so that the last of 32
  // requests has 30 lanes and 15 sectors.
  REQUIRE(makes([&] { negate_peeled(x + 1, n, nullptr); },
                {34, 31 * 16 + 15 + 2, 34, 31 * 16 + 15 + 2}));
}

// ---- shared memory -----------------------------------------------------------------------------

namespace {

struct Shape {
  std::size_t rows, cols;
};
const std::vector<Shape> kShapes = {{0, 7},   {1, 1},   {1, 1000}, {1000, 1},  {31, 33},
                                    {32, 32}, {33, 31}, {64, 128}, {257, 100}, {100, 257}};

struct RowSums {
  const char* name;
  void (*launch)(const float*, std::size_t, std::size_t, float*, cudaStream_t);
};
const RowSums kRowSums[] = {{"row_sums_direct", row_sums_direct},
                            {"row_sums_tile", row_sums_tile},
                            {"row_sums_padded", row_sums_padded},
                            {"transpose_scatter", transpose_scatter},
                            {"transpose_gather", transpose_gather}};

}  // namespace

TEST_CASE("row sums and transpositions are right for every shape") {
  for (const Shape shape : kShapes) {
    const std::vector<float> x = course::position_values<float>(shape.rows * shape.cols);
    const auto d_x = course::DeviceBuffer<float>::from(x);
    for (const RowSums& rung : kRowSums) {
      INFO(rung.name << ", " << shape.rows << " x " << shape.cols);
      const bool sums = std::string(rung.name).find("row_sums") == 0;
      const std::vector<float> expected = sums ? row_sums_reference(x, shape.rows, shape.cols)
                                               : transpose_reference(x, shape.rows, shape.cols);
      course::GuardedBuffer<float> y(expected.size());
      rung.launch(d_x.data(), shape.rows, shape.cols, y.data(), nullptr);
      REQUIRE(course::same(y.download(), expected, "y"));
      REQUIRE(y.intact("y"));
    }
  }
}

TEST_CASE("a row of no columns sums up to 0") {
  for (const RowSums& rung : kRowSums) {
    if (std::string(rung.name).find("row_sums") != 0) continue;
    INFO(rung.name);
    course::GuardedBuffer<float> y(33);
    rung.launch(nullptr, 33, 0, y.data(), nullptr);
    REQUIRE(course::same(y.download(), std::vector<float>(33, 0.0f), "y"));
  }
}

TEST_CASE("a tile in shared memory makes loads coalesced, and padding spreads its columns") {
  course::skip_without_counters();
  constexpr std::size_t rows = 128;
  constexpr std::size_t cols = 64;
  constexpr std::size_t n = rows * cols;
  const auto d_x = course::DeviceBuffer<float>::from(course::position_values<float>(n));
  course::DeviceBuffer<float> d_y(n);
  const float* const x = d_x.data();
  float* const y = d_y.data();

  REQUIRE(makes([&] { row_sums_direct(x, rows, cols, y, nullptr); }, {n / 32, n, 4, 16}));
  REQUIRE(makes([&] { row_sums_tile(x, rows, cols, y, nullptr); }, {n / 32, n / 8, 4, 16}));
  REQUIRE(makes([&] { row_sums_padded(x, rows, cols, y, nullptr); }, {n / 32, n / 8, 4, 16}));
  REQUIRE(makes([&] { transpose_scatter(x, rows, cols, y, nullptr); }, {n / 32, n / 8, n / 32, n}));
  REQUIRE(makes([&] { transpose_gather(x, rows, cols, y, nullptr); }, {n / 32, n, n / 32, n / 8}));

  const auto tile = course::count([&] { row_sums_tile(x, rows, cols, y, nullptr); });
  REQUIRE(tile->shared_loads == n / 32);
  REQUIRE(tile->shared_load_wavefronts == n);  // 32 passes each
  REQUIRE(tile->shared_store_wavefronts == tile->shared_stores);
  const auto padded = course::count([&] { row_sums_padded(x, rows, cols, y, nullptr); });
  REQUIRE(padded->shared_loads == n / 32);
  REQUIRE(padded->bank_conflicts() == 0);
}

// ---- more elements than an int can count -------------------------------------------------------

TEST_CASE("the copies count in 64 bits") {
  constexpr std::size_t kMiddle = std::size_t{1} << 31;
  constexpr std::size_t n = kMiddle + 1027;
  course::skip_without_memory(2 * n * sizeof(float));
  // Zeroes, but for the first and the last elements.
  const std::vector<float> ends = course::position_values<float>(2054);
  auto d_x = course::DeviceBuffer<float>::zeros(n);
  course::DeviceBuffer<float> d_y(n);
  float* const last = d_x.data() + (n - ends.size());
  CUDA_CHECK(cudaMemcpy(d_x.data(), ends.data(), ends.size() * 4, cudaMemcpyHostToDevice));
  CUDA_CHECK(cudaMemcpy(last, ends.data(), ends.size() * 4, cudaMemcpyHostToDevice));
  for (const Copy& copy : kCopies) {
    INFO(copy.name << ", n = " << n);
    d_y.fill_bytes(0xFF);
    copy.launch(d_x.data(), n, d_y.data(), nullptr);
    std::vector<float> found(ends.size());
    CUDA_CHECK(cudaMemcpy(found.data(), d_y.data(), ends.size() * 4, cudaMemcpyDeviceToHost));
    REQUIRE(course::same(found, ends, "the first elements of y"));
    CUDA_CHECK(cudaMemcpy(found.data(), d_y.data() + (n - ends.size()), ends.size() * 4,
                          cudaMemcpyDeviceToHost));
    REQUIRE(course::same(found, ends, "the last elements of y"));
  }
  negate_peeled(d_x.data() + 1, n - 1, nullptr);
  std::vector<float> found(ends.size());
  CUDA_CHECK(cudaMemcpy(found.data(), last, ends.size() * 4, cudaMemcpyDeviceToHost));
  std::vector<float> negative = ends;
  for (float& value : negative) value = -value;
  REQUIRE(course::same(found, negative, "the last elements of x, negated"));
}
