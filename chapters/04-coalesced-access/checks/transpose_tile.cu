// Check of the exercise transpose_tile: matrices of all shapes, blocks of all heights; then sectors
// on both sides, and bank conflicts; then more than 2^32 elements.
#include "transpose_tile.cuh"

#include <bit>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <course/check.cuh>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace transpose_tile_check {

struct Shape {
  std::size_t rows, cols;
};

unsigned tiles(std::size_t n) { return static_cast<unsigned>((n + 31) / 32); }

void check_launch(Shape shape, unsigned block_rows, std::uint32_t seed = 1) {
  const auto [rows, cols] = shape;
  const std::vector<float> x = course::position_values<float>(rows * cols, seed);
  std::vector<float> expected(rows * cols);
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t c = 0; c < cols; ++c) expected[c * rows + r] = x[r * cols + c];
  }
  const auto in = course::DeviceBuffer<float>::from(x);
  course::GuardedBuffer<float> output(rows * cols);
  float* const out = output.data();
  const dim3 grid(tiles(cols), tiles(rows)), block(32, block_rows);
  course::launch(transpose_tile, {grid, block}, in.data(), rows, cols, out);
  const auto inputs = [&, rows = shape.rows, cols = shape.cols](std::size_t i) {
    const std::size_t c = i / rows, r = i % rows;
    return course::elements_text("in", x, r * cols + c, r * cols + c + 1) + ", row " +
           std::to_string(r) + " and column " + std::to_string(c) + " of in";
  };
  REQUIRE(course::same(output.download(), expected, "out", inputs));
  REQUIRE(output.intact("out"));
}

std::string describe(Shape shape, unsigned block_rows) {
  return course::counted(shape.rows, "row") + ", " + course::counted(shape.cols, "column") +
         "; transpose_tile<<<dim3(" + std::to_string(tiles(shape.cols)) + ", " +
         std::to_string(tiles(shape.rows)) + "), dim3(32, " + std::to_string(block_rows) + ")>>>";
}

/// The last tile of a matrix of more than 2^32 elements: memory is there from its first element on.
void check_last_tile() {
  constexpr std::size_t kRows = 65'568, kCols = 65'600, kSide = 32;  // 2049 and 2050 tiles
  const std::vector<float> tile = course::position_values<float>(kSide * kSide);
  std::vector<float> x((kSide - 1) * kCols + kSide), expected(kSide * kSide), found;
  for (std::size_t r = 0; r < kSide; ++r) {
    for (std::size_t c = 0; c < kSide; ++c) {
      x[r * kCols + c] = expected[c * kSide + r] = tile[r * kSide + c];
    }
  }
  const auto in = course::DeviceBuffer<float>::from(x);
  auto out = course::DeviceBuffer<float>::zeros((kSide - 1) * kRows + kSide);
  INFO(describe({kRows, kCols}, 8) << "; of the blocks the last one runs, and memory is there for "
                                      "its tile");
  course::with_some_blocks(0, 1, [&] {
    const float* const all_in = in.data() - (kRows * kCols - in.size());
    float* const all_out = out.data() - (kRows * kCols - out.size());
    course::launch(transpose_tile, {dim3(tiles(kCols), tiles(kRows)), dim3(32, 8)}, all_in, kRows,
                   kCols, all_out);
  });
  const std::vector<float> all = out.download();
  for (std::size_t i = 0; i < expected.size(); ++i) {
    found.push_back(all[i / kSide * kRows + i % kSide]);
  }
  REQUIRE(course::same(found, expected, "the last tile of out"));
}

course::Verdict no_conflicts(const course::Counters& c) {
  if (c.bank_conflicts() == 0) return {};
  return {false, "bank conflicts: " + std::to_string(c.shared_loads + c.shared_stores) +
                     " requests to shared memory took " + std::to_string(c.bank_conflicts()) +
                     " wavefronts more than one each; in which banks are the 32 elements of a "
                     "column?"};
}

// Promise: out[c * rows + r] = in[r * cols + c] for all r < rows and c < cols.
// Promise: tiles at the right and the lower edge may be cut off.
// Promise: what no thread wrote is not read (UNINITIALISED MEMORY).
TEST_CASE("transpose_tile: matrices of all shapes") {
  const std::vector<Shape> shapes = {{1, 1},   {32, 32}, {1, 100}, {100, 1}, {31, 33},
                                     {33, 31}, {2, 3},   {64, 32}, {32, 64}, {65, 97},
                                     {97, 65}, {33, 64}, {64, 33}, {5, 257}, {257, 5}};
  std::size_t turn = 0;  // blocks of another height each time
  for (const Shape shape : shapes) {
    for (int repeat = 0; repeat < 2; ++repeat) {
      const unsigned block_rows = std::vector<unsigned>{8, 32, 1, 4, 16, 2}[turn++ % 6];
      INFO(describe(shape, block_rows));
      check_launch(shape, block_rows, static_cast<std::uint32_t>(turn));
    }
  }
}

// Promise: rows and cols may be more than 65,535.
TEST_CASE("transpose_tile: more rows, or columns, than 16 bits number") {
  if (course::has_run_before()) return;
  for (const Shape shape : {Shape{70'000, 1}, Shape{1, 70'000}}) {
    INFO(describe(shape, 8));
    check_launch(shape, 8);
  }
}

// Promise: every element is copied, bit for bit.
TEST_CASE("transpose_tile: numbers keep all of their bits") {
  const std::vector<float> x = {-1.0f, -0.0f, 0.0f, -INFINITY, INFINITY, 0x1p-149f, 3e38f, -2.5f};
  INFO(describe({4, 2}, 8));
  const auto in = course::DeviceBuffer<float>::from(x);
  course::GuardedBuffer<float> out(8);
  course::launch(transpose_tile, {dim3(1, 1), dim3(32, 8)}, in.data(), std::size_t{4},
                 std::size_t{2}, out.data());
  std::vector<unsigned> found, expected;
  for (const float value : out.download()) found.push_back(std::bit_cast<unsigned>(value));
  for (const std::size_t i : {0, 2, 4, 6, 1, 3, 5, 7}) {
    expected.push_back(std::bit_cast<unsigned>(x[i]));
  }
  REQUIRE(course::same(found, expected, "the bits of out"));
}

// Promise: blockDim.y divides 32: each thread moves 32 / blockDim.y elements.
TEST_CASE("transpose_tile: blocks of all heights") {
  for (const unsigned block_rows : {1u, 2u, 4u, 8u, 16u, 32u}) {
    for (const Shape shape : {Shape{32, 32}, Shape{40, 70}}) {
      INFO(describe(shape, block_rows));
      check_launch(shape, block_rows);
    }
  }
}

// Promise: the tile is full before it is read (DATA RACE in every test case).
TEST_CASE("transpose_tile: a large matrix") {
  constexpr int kRepeats = course::kCpuDevice ? 1 : 20;  // a race may not show at once
  const Shape shape = course::kCpuDevice ? Shape{129, 300} : Shape{1500, 3001};
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    INFO(describe(shape, 8));
    check_launch(shape, 8, static_cast<std::uint32_t>(repeat + 1));
  }
}

// Promise: a warp's loads are 32 neighbours of a row of `in`, its stores 32 neighbours of a row of
// `out`: 4 sectors each where rows begin with a sector, in tiles that are cut off, too.
// Promise: a block owns one tile (the busiest warp moves its rows of one tile).
// Promise: no atomics.
TEST_CASE("transpose_tile: coalesced on both sides") {
  course::skip_without_counters();
  // Of {40, 72} tiles are cut off on both sides, and its rows begin with a sector all the same. Of the shapes after it the rows
  // of one side do; the tiles at an edge have a few columns or rows.
  for (const Shape shape : {Shape{64, 64}, Shape{32, 128}, Shape{96, 32}, Shape{40, 72},
                            Shape{32, 2}, Shape{64, 35}, Shape{3, 96}, Shape{37, 64}}) {
    for (const unsigned block_rows : {8u, 32u, 1u}) {
      INFO(describe(shape, block_rows));
      const std::uint64_t loads = shape.rows * tiles(shape.cols);
      const std::uint64_t stores = shape.cols * tiles(shape.rows);
      const auto c = course::count([&] { check_launch(shape, block_rows); });
      constexpr const char* kLanes = "a request of 32 lanes moves 32 elements";
      REQUIRE(course::at_most(c->global_loads, loads, "loads", kLanes));
      REQUIRE(course::at_most(c->global_stores, stores, "stores", kLanes));
      constexpr const char* kRows = "the lanes of a warp have to be neighbours of a row there";
      REQUIRE(
          course::at_most(c->global_load_sectors, 4 * loads, "sectors of the loads of in", kRows));
      REQUIRE(course::at_most(c->global_store_sectors, 4 * stores, "sectors of the stores to out",
                              kRows));
      const std::uint64_t elements = shape.rows * shape.cols;
      constexpr const char* kOnce = "each element is loaded once and stored once, by one lane";
      REQUIRE(course::at_most(c->global_load_lanes, elements, "loads of single lanes", kOnce));
      REQUIRE(course::at_most(c->global_store_lanes, elements, "stores of single lanes", kOnce));
      REQUIRE(course::none(c->global_atomics + c->shared_atomics, "atomics",
                           "plain loads and stores will do"));
      REQUIRE(course::work_is_shared(*c, 2 * 32 / block_rows));  // its rows of a tile, in and out
    }
  }
}

// Promise: each element is stored to the tile once and loaded from it once, 32 per request,
// without any bank conflict.
TEST_CASE("transpose_tile: no bank conflicts") {
  course::skip_without_counters();
  for (const Shape shape : {Shape{64, 64}, Shape{33, 50}, Shape{1, 100}, Shape{64, 63},
                            Shape{63, 64}, Shape{40, 41}, Shape{41, 48}}) {
    for (const unsigned block_rows : {8u, 1u}) {
      INFO(describe(shape, block_rows));
      const auto c = course::count([&] { check_launch(shape, block_rows); });
      REQUIRE(no_conflicts(*c));
      // Each tile in and out, row by row; it may be cleared first, with its padding.
      const std::uint64_t rows = 32 * tiles(shape.rows) * tiles(shape.cols);
      REQUIRE(course::at_most(c->shared_stores, 2 * rows + rows / 16, "stores to shared memory",
                              "one request of a warp writes 32 elements of the tile"));
      REQUIRE(course::at_most(c->shared_loads, rows, "loads of shared memory",
                              "one request of a warp reads 32 elements of the tile, once"));
    }
  }
}

// Promise: a matrix may have more than 2^32 elements (the CPU device runs the last block).
TEST_CASE("transpose_tile: more than 2^32 elements") {
  if (course::has_run_before()) return;
  if (course::kCpuDevice) return check_last_tile();
  constexpr Shape kShape{65'568, 65'601};
  constexpr std::size_t n = kShape.rows * kShape.cols;
  course::skip_without_memory(8 * n);
  course::DeviceBuffer<float> in(n);
  course::DeviceBuffer<float> out(n);
  in.fill_bytes(0);
  out.fill_bytes(course::GuardedBuffer<float>::kPoison);
  constexpr std::size_t kEnd = 64;  // the last rows, the only ones that are not 0
  const std::vector<float> x = course::position_values<float>(kEnd * kShape.cols);
  CUDA_CHECK(cudaMemcpy(in.data() + (n - x.size()), x.data(), x.size() * sizeof(float),
                        cudaMemcpyHostToDevice));
  INFO(describe(kShape, 8));
  const dim3 grid(tiles(kShape.cols), tiles(kShape.rows));
  course::launch(transpose_tile, {grid, dim3(32, 8)}, in.data(), kShape.rows, kShape.cols,
                 out.data());
  for (const std::size_t c : {std::size_t{0}, kShape.cols - 1}) {  // two rows of out
    std::vector<float> expected(kShape.rows, 0.0f);
    for (std::size_t k = 0; k < kEnd; ++k) {
      expected[kShape.rows - kEnd + k] = x[k * kShape.cols + c];
    }
    std::vector<float> found(kShape.rows);
    CUDA_CHECK(cudaMemcpy(found.data(), out.data() + c * kShape.rows, found.size() * sizeof(float),
                          cudaMemcpyDeviceToHost));
    REQUIRE(course::same(found, expected, "a row of out"));
  }
}

}  // namespace transpose_tile_check
