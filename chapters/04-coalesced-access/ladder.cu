// Runs the rungs of chapter 04: what a warp asks of memory, and what that costs.
#include <algorithm>
#include <course/buffer.cuh>
#include <course/data.cuh>
#include <course/error.cuh>
#include <course/ladder.cuh>
#include <cstddef>
#include <numeric>
#include <string>
#include <vector>

#include "copy.cuh"
#include "copy_in_flight.cuh"
#include "misaligned.cuh"
#include "strided.cuh"
#include "tiles.cuh"
#include "widths.cuh"

namespace {

constexpr std::size_t kSmall = std::size_t{1} << 24;
constexpr std::size_t kLarge = std::size_t{1} << 28;   // 1 GiB of floats
constexpr std::size_t kSquare = std::size_t{1} << 26;  // a matrix of 8192 x 8192
constexpr std::size_t kInL2 = std::size_t{1} << 22;    // 16 MiB: stays in the L2 of a large GPU

/// How many elements of `found` are as they should be: the number that the table shows. NaN, which
/// poisoned memory holds, equals nothing.
double right_ones(const std::vector<float>& found, const std::vector<float>& expected) {
  double right = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) right += found[i] == expected[i] ? 1 : 0;
  return right;
}

// ---- copies ------------------------------------------------------------------------------------

struct Copy {
  std::string name;
  std::string changed;
  void (*launch)(const float*, std::size_t, float*, cudaStream_t);
};

const std::vector<Copy> kCopies = {
    {"copy_one", "one float a thread, neighbours side by side", copy_one},
    {"copy_reversed", "each warp reads backwards", copy_reversed},
    {"copy_pairs", "two neighbouring floats a thread, one after the other", copy_pairs},
    {"copy_grid_stride", "a loop: a thread's next float is a grid further on", copy_grid_stride},
    {"copy_float2", "float2: 8 bytes in one access", copy_float2},
    {"copy_float4", "float4: 16 bytes in one access", copy_float4},
    {"copy_packs", "Pack<float, 4>: the same for any type", copy_packs<float>},
};

/// What else one might try: each against copy_packs.
const std::vector<Copy> kMoreWorkAThread = {
    {"copy_packs", "one pack a thread, as above", copy_packs<float>},
    {"copy_in_flight", "4 packs in flight in each thread", copy_in_flight<4>},
    {"copy_in_flight_once", "with a hint: nothing is used twice", copy_in_flight_once<4>},
    {"copy_in_flight_resident", "4 packs, and blocks that stay", copy_in_flight_resident<4>},
};

void copies(course::Ladder& ladder, const std::vector<Copy>& rungs, std::size_t n) {
  const std::vector<float> x = course::position_values<float>(n);
  const auto d_x = course::DeviceBuffer<float>::from(x);
  course::DeviceBuffer<float> d_y(n);
  const auto reset = [&] { d_y.fill_bytes(0xFF); };
  const auto result = [&] { return right_ones(d_y.download(), x); };

  ladder.reference("copied", static_cast<double>(n), "elements that are right", n);
  for (const Copy& copy : rungs) {
    ladder.rung({.name = copy.name,
                 .changed = copy.changed,
                 .reset = reset,
                 .launch = [&] { copy.launch(d_x.data(), n, d_y.data(), nullptr); },
                 .result = result,
                 .bytes = 2 * d_x.bytes()});
  }
#if !COURSE_CPU_DEVICE
  ladder.vendor({.name = "cudaMemcpyAsync",
                 .changed = "device to device",
                 .reset = reset,
                 .launch =
                     [&] {
                       CUDA_CHECK(cudaMemcpyAsync(d_y.data(), d_x.data(), d_x.bytes(),
                                                  cudaMemcpyDeviceToDevice));
                     },
                 .result = result,
                 .bytes = 2 * d_x.bytes()});
#endif
}

// ---- widths ------------------------------------------------------------------------------------

template <class W>
void width(course::Ladder& ladder, const std::vector<float>& x,
           const course::DeviceBuffer<float>& d_x, course::DeviceBuffer<float>& d_y) {
  // The last float may be part of a word only: it is left out, and the result is made up for it.
  const std::size_t words = d_x.bytes() / sizeof(W);
  const std::size_t left_out = x.size() - words * sizeof(W) / sizeof(float);
  ladder.rung(
      {.name = "copy_words_" + std::to_string(sizeof(W)),
       .changed = std::to_string(sizeof(W)) + (sizeof(W) == 1 ? " byte" : " bytes") + " a lane",
       .reset = [&] { d_y.fill_bytes(0xFF); },
       .launch =
           [&] {
             copy_words(reinterpret_cast<const W*>(d_x.data()), words,
                        reinterpret_cast<W*>(d_y.data()), nullptr);
           },
       .result = [&] { return right_ones(d_y.download(), x) + static_cast<double>(left_out); },
       .bytes = 2 * words * sizeof(W),
       .series = "copy",
       .x = static_cast<double>(sizeof(W))});
}

void widths(course::Ladder& ladder, std::size_t n) {
  const std::vector<float> x = course::position_values<float>(n);
  const auto d_x = course::DeviceBuffer<float>::from(x);
  course::DeviceBuffer<float> d_y(n);
  ladder.reference("widths", static_cast<double>(n), "bandwidth of a copy, against bytes a lane",
                   n);
  width<unsigned char>(ladder, x, d_x, d_y);
  width<unsigned short>(ladder, x, d_x, d_y);
  width<unsigned>(ladder, x, d_x, d_y);
  width<uint2>(ladder, x, d_x, d_y);
  width<uint4>(ladder, x, d_x, d_y);
}

// ---- strides -----------------------------------------------------------------------------------

void strides(course::Ladder& ladder, const std::vector<float>& x, const std::string& series,
             const std::string& suffix, course::L2 l2) {
  const auto d_x = course::DeviceBuffer<float>::from(x);
  const double sum = std::accumulate(x.begin(), x.end(), 0.0);
  for (const std::size_t stride : {1u, 2u, 4u, 8u, 16u, 32u}) {
    course::DeviceBuffer<float> d_y(sums_of_strided(x.size(), stride));
    const auto result = [&] {
      const std::vector<float> y = d_y.download();
      return std::accumulate(y.begin(), y.end(), 0.0);
    };
    ladder.rung({.name = "sum_strided_" + std::to_string(stride) + suffix,
                 .changed = "a stride of " + std::to_string(stride) +
                            (stride == 1 ? " float, " : " floats, ") + series,
                 .reset = [&] { d_y.fill_bytes(0xFF); },
                 .launch = [&] { sum_strided(d_x.data(), x.size(), stride, d_y.data(), nullptr); },
                 .result = result,
                 .check = [&] { return course::close(result(), sum, 0, "sum"); },
                 .bytes = d_x.bytes(),
                 .n = x.size(),
                 .l2 = l2,
                 .series = series,
                 .x = static_cast<double>(stride)});
  }
}

void strides(course::Ladder& ladder, std::size_t n) {
  const std::vector<float> x = course::position_values<float>(n);
  ladder.reference("strides", std::accumulate(x.begin(), x.end(), 0.0),
                   "useful bandwidth of reads, against the stride in floats", n);
  strides(ladder, x, "from memory", "", course::L2::cold);
  if (!course::kCpuDevice) {  // which has no caches
    const auto end = x.begin() + static_cast<std::ptrdiff_t>(std::min(n, kInL2));
    strides(ladder, {x.begin(), end}, "from the L2 (2^22 floats)", "_l2", course::L2::warm);
  }
}

// ---- misaligned starts -------------------------------------------------------------------------

void misaligned(course::Ladder& ladder, std::size_t n) {
  const std::vector<float> x = course::position_values<float>(n + 1);
  const auto d_from = course::DeviceBuffer<float>::from(x);
  course::DeviceBuffer<float> d_x(n + 1);
  const auto reset = [&] {
    CUDA_CHECK(cudaMemcpyAsync(d_x.data(), d_from.data(), d_x.bytes(), cudaMemcpyDeviceToDevice));
  };

  ladder.reference("negated", static_cast<double>(n), "elements that are right", n);
  const auto rung = [&](const char* name, const char* changed,
                        void (*launch)(float*, std::size_t, cudaStream_t), std::size_t start) {
    const auto result = [&, start] {
      const std::vector<float> found = d_x.download();
      double right = 0;
      for (std::size_t i = start; i < start + n; ++i) right += found[i] == -x[i] ? 1 : 0;
      return right;
    };
    ladder.rung({.name = name,
                 .changed = changed,
                 .reset = reset,
                 .launch = [&] { launch(d_x.data() + start, n, nullptr); },
                 .result = result,
                 .bytes = 2 * n * sizeof(float)});
  };
  rung("negate_one", "one float a thread, in place", negate_one, 0);
  rung("negate_one_from_1", "the same from x + 1 on", negate_one, 1);
  rung("negate_packs", "16 bytes a thread", negate_packs, 0);
  rung("negate_peeled", "the head peeled off", negate_peeled, 0);
  rung("negate_peeled_from_1", "the same from x + 1 on", negate_peeled, 1);
}

// ---- shared memory -----------------------------------------------------------------------------

using MatrixKernel = void (*)(const float*, std::size_t, std::size_t, float*, cudaStream_t);

void row_sums(course::Ladder& ladder, std::size_t n) {
  const std::size_t cols = std::min<std::size_t>(n, 256);
  const std::size_t rows = n / cols;
  const std::vector<float> x = course::position_values<float>(rows * cols);
  const std::vector<float> expected = row_sums_reference(x, rows, cols);
  const auto d_x = course::DeviceBuffer<float>::from(x);
  course::DeviceBuffer<float> d_y(rows);

  ladder.reference("row sums", static_cast<double>(rows),
                   "rows that are right, of " + std::to_string(cols) + " columns", rows * cols);
  const auto rung = [&](const char* name, const char* changed, MatrixKernel launch) {
    ladder.rung({.name = name,
                 .changed = changed,
                 .reset = [&] { d_y.fill_bytes(0xFF); },
                 .launch = [&] { launch(d_x.data(), rows, cols, d_y.data(), nullptr); },
                 .result = [&] { return right_ones(d_y.download(), expected); },
                 .bytes = d_x.bytes() + d_y.bytes()});
  };
  rung("row_sums_direct", "each thread walks along its row", row_sums_direct);
  rung("row_sums_tile", "32 x 32 tiles in shared memory, read by columns", row_sums_tile);
  rung("row_sums_padded", "32 x 33 tiles: no bank conflicts", row_sums_padded);
}

void transposition(course::Ladder& ladder, std::size_t n) {
  std::size_t cols = 1;
  while (4 * cols * cols <= n) cols *= 2;
  const std::size_t rows = n / cols;
  const std::vector<float> x = course::position_values<float>(rows * cols);
  const std::vector<float> expected = transpose_reference(x, rows, cols);
  const auto d_x = course::DeviceBuffer<float>::from(x);
  course::DeviceBuffer<float> d_y(x.size());

  ladder.reference(
      "transposition", static_cast<double>(x.size()),
      "elements that are right, " + std::to_string(rows) + " x " + std::to_string(cols), x.size());
  const auto rung = [&](const char* name, const char* changed, MatrixKernel launch) {
    ladder.rung({.name = name,
                 .changed = changed,
                 .reset = [&] { d_y.fill_bytes(0xFF); },
                 .launch = [&] { launch(d_x.data(), rows, cols, d_y.data(), nullptr); },
                 .result = [&] { return right_ones(d_y.download(), expected); },
                 .bytes = 2 * d_x.bytes()});
  };
  rung("transpose_scatter", "reads rows, writes columns", transpose_scatter);
  rung("transpose_gather", "reads columns, writes rows", transpose_gather);
}

}  // namespace

int main(int argc, char** argv) {
  course::Ladder ladder("04-coalesced-access", argc, argv, {.gpu_n = kLarge});
  return ladder.run([](course::Ladder& rungs) {
    for (const std::size_t n : rungs.sizes({kSmall, kLarge})) copies(rungs, kCopies, n);
    for (const std::size_t n : rungs.sizes({kLarge})) copies(rungs, kMoreWorkAThread, n);
    for (const std::size_t n : rungs.sizes({kLarge})) widths(rungs, n);
    for (const std::size_t n : rungs.sizes({kLarge})) strides(rungs, n);
    for (const std::size_t n : rungs.sizes({kLarge})) misaligned(rungs, n);
    for (const std::size_t n : rungs.sizes({kLarge})) row_sums(rungs, n);
    for (const std::size_t n : rungs.sizes({kSquare})) transposition(rungs, n);
  });
}
