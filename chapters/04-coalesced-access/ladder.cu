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

#include "rungs.cuh"

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

/// The table of copies; or that of more work a thread, each against copy_packs.
void copies(course::Ladder& ladder, std::string CopyRung::*changed, std::size_t n) {
  const std::vector<float> x = course::position_values<float>(n);
  const auto d_x = course::DeviceBuffer<float>::from(x);
  course::DeviceBuffer<float> d_y(n);
  const auto row = [&](const CopyRung& copy, const std::string& text) {
    return course::Rung{.name = copy.name,
                        .changed = text,
                        .reset = [&] { d_y.fill_bytes(0xFF); },
                        .launch = [&] { copy.launch(d_x.data(), n, d_y.data()); },
                        .result = [&] { return right_ones(d_y.download(), x); },
                        .bytes = 2 * d_x.bytes()};
  };

  ladder.reference("copied", static_cast<double>(n), "elements that are right", n);
  for (const CopyRung& copy : kCopyRungs) {
    if (!(copy.*changed).empty()) ladder.rung(row(copy, copy.*changed));
  }
  if (!course::kCpuDevice) ladder.vendor(row(kCudaCopy, kCudaCopy.changed));
}

// ---- latency -----------------------------------------------------------------------------------

void latency(course::Ladder& ladder, std::size_t n) {
  ladder.reference("latency", kChased,
                   "loads, each of which needs the one before: t us in all are t ns per load", n);
  for (const LatencyRung& rung : kLatencyRungs) {
    Chase chase(rung.cells(n));
    ladder.rung({.name = rung.name,
                 .changed = rung.changed,
                 .reset = [&] { chase.reset(); },
                 .launch = [&] { chase.launch(); },
                 .result = [&] { return chase.last() == chase.expected() ? kChased : 0.0; },
                 .l2 = rung.l2});
  }
}

// ---- widths ------------------------------------------------------------------------------------

void widths(course::Ladder& ladder, std::size_t n) {
  const std::vector<float> x = course::position_values<float>(n);
  const auto d_x = course::DeviceBuffer<float>::from(x);
  course::DeviceBuffer<float> d_y(n);
  ladder.reference("widths", static_cast<double>(n), "bandwidth of a copy, against bytes per lane",
                   n);
  for (const WidthRung& rung : kWidthRungs) {
    // The last float may be part of a word only: it is left out, and the result is made up for it.
    const std::size_t words = d_x.bytes() / rung.bytes;
    const std::size_t left_out = n - words * rung.bytes / sizeof(float);
    ladder.rung(
        {.name = rung.name,
         .changed = rung.changed,
         .reset = [&] { d_y.fill_bytes(0xFF); },
         .launch =
             [&] {
               rung.launch(reinterpret_cast<const unsigned char*>(d_x.data()), words,
                           reinterpret_cast<unsigned char*>(d_y.data()));
             },
         .result = [&] { return right_ones(d_y.download(), x) + static_cast<double>(left_out); },
         .bytes = 2 * words * rung.bytes,
         .series = "copy",
         .x = static_cast<double>(rung.bytes)});
  }
}

// ---- strides -----------------------------------------------------------------------------------

void strides(course::Ladder& ladder, const std::vector<float>& x, const std::string& series,
             const std::string& suffix, course::L2 l2) {
  const auto d_x = course::DeviceBuffer<float>::from(x);
  const double sum = std::accumulate(x.begin(), x.end(), 0.0);
  for (const StridedRung& rung : kStridedRungs) {
    course::DeviceBuffer<float> d_y(sums_of_strided(x.size(), rung.stride));
    const auto result = [&] {
      const std::vector<float> y = d_y.download();
      return std::accumulate(y.begin(), y.end(), 0.0);
    };
    ladder.rung({.name = rung.name + suffix,
                 .changed = rung.changed + ", " + series,
                 .reset = [&] { d_y.fill_bytes(0xFF); },
                 .launch = [&] { rung.launch(d_x.data(), x.size(), d_y.data()); },
                 .result = result,
                 .check = [&] { return course::close(result(), sum, 0, "sum"); },
                 .bytes = d_x.bytes(),
                 .n = x.size(),
                 .l2 = l2,
                 .series = series,
                 .x = static_cast<double>(rung.stride)});
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
  for (const NegateRung& rung : kNegateRungs) {
    for (std::size_t start = 0; start < rung.changed.size(); ++start) {
      const auto result = [&] {
        const std::vector<float> found = d_x.download();
        double right = 0;
        for (std::size_t i = start; i < start + n; ++i) right += found[i] == -x[i] ? 1 : 0;
        return right;
      };
      ladder.rung({.name = rung.name + (start == 0 ? "" : "_from_1"),
                   .changed = rung.changed[start],
                   .reset = reset,
                   .launch = [&] { rung.launch(d_x.data() + start, n); },
                   .result = result,
                   .bytes = 2 * n * sizeof(float)});
    }
  }
}

// ---- one kernel for every function --------------------------------------------------------------

void functions(course::Ladder& ladder, std::size_t n) {
  const std::vector<float> x = course::position_values<float>(n);
  std::vector<float> y(x.rbegin(), x.rend()), expected(n);
  for (std::size_t i = 0; i < n; ++i) {
    if (i % 2 == 0) y[i] = -y[i];
    expected[i] = std::max(x[i] + y[i], 0.0f);
  }
  const auto d_x = course::DeviceBuffer<float>::from(x), d_y = course::DeviceBuffer<float>::from(y);
  course::DeviceBuffer<float> d_z(n);
  ladder.reference("max(x + y, 0)", static_cast<double>(n),
                   "elements of max(x + y, 0) that are right", n);
  for (const ElementwiseRung& rung : kElementwiseRungs) {
    ladder.rung({.name = rung.name,
                 .changed = rung.changed,
                 .reset = [&] { d_z.fill_bytes(0xFF); },
                 .launch = [&] { rung.launch(d_x.data(), d_y.data(), n, d_z.data()); },
                 .result = [&] { return right_ones(d_z.download(), expected); },
                 .bytes = 3 * d_x.bytes()});
  }
}

// ---- shared memory -----------------------------------------------------------------------------

/// The rungs on a matrix x, and how many numbers of `expected` they have right.
void on_matrix(course::Ladder& ladder, const std::vector<MatrixRung>& rungs, std::size_t rows,
               std::size_t cols, const std::vector<float>& x, const std::vector<float>& expected) {
  const auto d_x = course::DeviceBuffer<float>::from(x);
  course::DeviceBuffer<float> d_y(expected.size());
  for (const MatrixRung& rung : rungs) {
    ladder.rung({.name = rung.name,
                 .changed = rung.changed,
                 .reset = [&] { d_y.fill_bytes(0xFF); },
                 .launch = [&] { rung.launch(d_x.data(), rows, cols, d_y.data()); },
                 .result = [&] { return right_ones(d_y.download(), expected); },
                 .bytes = d_x.bytes() + d_y.bytes()});
  }
}

void row_sums(course::Ladder& ladder, std::size_t n) {
  const std::size_t cols = std::min<std::size_t>(n, 256), rows = n / cols;
  const std::vector<float> x = course::position_values<float>(rows * cols);
  ladder.reference("row sums", static_cast<double>(rows),
                   "rows that are right, of " + std::to_string(cols) + " columns", rows * cols);
  on_matrix(ladder, kRowSumRungs, rows, cols, x, row_sums_reference(x, rows, cols));
}

void transposition(course::Ladder& ladder, std::size_t n) {
  std::size_t cols = 1;
  while (4 * cols * cols <= n) cols *= 2;
  const std::size_t rows = n / cols;
  const std::vector<float> x = course::position_values<float>(rows * cols);
  ladder.reference(
      "transposition", static_cast<double>(x.size()),
      "elements that are right, " + std::to_string(rows) + " x " + std::to_string(cols), x.size());
  on_matrix(ladder, kTransposeRungs, rows, cols, x, transpose_reference(x, rows, cols));
}

}  // namespace

int main(int argc, char** argv) {
  course::Ladder ladder("04-coalesced-access", argc, argv, {.gpu_n = kLarge});
  return ladder.run([](course::Ladder& rungs) {
    for (const std::size_t n : rungs.sizes({kSmall, kLarge})) copies(rungs, &CopyRung::changed, n);
    for (const std::size_t n : rungs.sizes({kLarge})) copies(rungs, &CopyRung::more, n);
    for (const std::size_t n : rungs.sizes({kLarge})) latency(rungs, n);
    for (const std::size_t n : rungs.sizes({kLarge})) widths(rungs, n);
    for (const std::size_t n : rungs.sizes({kLarge})) strides(rungs, n);
    for (const std::size_t n : rungs.sizes({kLarge})) misaligned(rungs, n);
    for (const std::size_t n : rungs.sizes({kLarge})) functions(rungs, n);
    for (const std::size_t n : rungs.sizes({kLarge})) row_sums(rungs, n);
    for (const std::size_t n : rungs.sizes({kSquare})) transposition(rungs, n);
  });
}
