// Runs the rungs of chapter 15: sums of rows and columns, softmax, norms, the largest elements, and accurate sums.
#include <algorithm>
#include <cmath>
#include <course/buffer.cuh>
#include <course/ladder.cuh>
#include <cstddef>
#include <functional>
#include <numeric>
#include <string>
#include <type_traits>
#include <vector>

#include "inputs.cuh"
#include "rungs.cuh"
#include "testing.cuh"
#if !COURSE_CPU_DEVICE
#include "vendor.cuh"
#endif

namespace {

constexpr std::size_t kWidths[] = {64, 1024, 4096, 32'768, 262'144};

template <class T>
const char* const kType = "floats";
template <>
const char* const kType<__half> = "halves";
template <>
const char* const kType<__nv_bfloat16> = "bfloat16";

/// How far a result may be from the one in double: some roundings of float, and that of the result itself.
template <class T>
constexpr double kNear = 1e-5;
template <>
constexpr double kNear<__half> = 1e-3;
template <>
constexpr double kNear<__nv_bfloat16> = 8e-3;

/// Rows on the device, of which the host has a part: the rest repeats it.
template <class T>
struct Input {
  Input(std::size_t n, std::size_t row_width)
      : width(row_width),
        rows(n / row_width),
        part(balanced_values<T>(std::min(rows * width, kPeriod))),
        x(rows * width) {
    for (std::size_t i = 0; i < x.size(); i += part.size()) {
      const std::size_t size = std::min(part.size(), x.size() - i);
      CUDA_CHECK(cudaMemcpy(x.data() + i, part.data(), size * sizeof(T), cudaMemcpyHostToDevice));
    }
  }
  std::string text() const {
    return std::to_string(rows) + " rows of " + std::to_string(width) + " " + kType<T>;
  }
  template <class Result>
  Rows<T, Result> to(course::DeviceBuffer<Result>& y) const {
    return {x.data(), y.data(), rows, width};
  }
  /// For PyTorch: the part, named after the operation.
  void offer(course::Ladder& ladder, const std::string& operation) const {
    if constexpr (!std::is_same_v<T, __nv_bfloat16>) {  // NumPy has no such type
      ladder.input(operation, course::DeviceBuffer<T>::from(part), {part.size() / width, width});
    }
  }

  std::size_t width, rows;
  std::vector<T> part;
  course::DeviceBuffer<T> x;
};

/// The row of a rung that fills y, of which the first number is shown and all are checked.
template <class Result>
course::Rung filling(std::string name, std::string changed, course::DeviceBuffer<Result>& y,
                     const std::vector<double>& expected, double near_by, std::size_t bytes,
                     std::function<void()> launch) {
  return {.name = std::move(name),
          .changed = std::move(changed),
          .reset = [&y] { y.fill_bytes(0xFF); },  // NaN
          .launch = std::move(launch),
          .result = [&y] { return static_cast<double>(static_cast<float>(y.front())); },
          .check = [&, near_by] { return near(y.download(), expected, near_by, near_by); },
          .bytes = bytes};
}

/// The row of a rung that only reads: it has no answer.
template <class T>
course::Rung read_only(const Input<T>& input, course::DeviceBuffer<float>& y) {
  const LimitRung<T, float> rung = reading<T>();
  return {.name = rung.name,
          .changed = rung.changed,
          .launch = [&input, &y, rung] { rung.launch(input.to(y)); },
          .check = [] { return course::Verdict{}; },
          .bytes = input.x.bytes()};
}

double first_of(const std::vector<double>& expected) {
  return expected.empty() ? 0.0 : expected.front();
}

// ---- sums ---------------------------------------------------------------------------------------

/// Every team at every length, as one curve for each.
void row_sums_by_length(course::Ladder& ladder, std::size_t n) {
  const auto total = [](const auto& x) { return std::accumulate(x.begin(), x.end(), 0.0); };
  const Input<float> whole(n, 64);
  ladder.reference(
      "row_sums_reference",
      total(whole.part) * static_cast<double>(n / std::max<std::size_t>(whole.part.size(), 1)),
      "sums of rows of floats, by their length; their sum is shown", n);
  for (const std::size_t width : kWidths) {
    if (width > n) continue;
    const Input<float> input(n, width);
    const std::vector<double> expected = row_sums_reference(input.part, width);
    course::DeviceBuffer<float> y(input.rows);
    const auto point = [&](course::Rung row, const std::string& series) {
      row.changed += ", rows of " + std::to_string(width);
      row.series = series;
      row.x = static_cast<double>(width);
      row.result = [&] { return total(y.download()); };
      return row;
    };
    for (const RowSumRung<float>& rung : row_sum_rungs<float>()) {
      if (rung.clusters && !course::has_clusters()) continue;
      // 64 clusters of 4096 threads take the CPU device ten seconds.
      if (COURSE_CPU_DEVICE && rung.clusters && input.rows > 8) continue;
      ladder.rung(point(filling(rung.name, rung.changed, y, expected, 0, input.x.bytes(),
                                [&] { rung.launch(input.to(y)); }),
                        rung.changed));
    }
#if !COURSE_CPU_DEVICE
    course::Rung cub = cub_row_sums(input.x.data(), input.rows, width, y.data());
    ladder.vendor(point(filling(cub.name, cub.changed, y, expected, 0, input.x.bytes(), cub.launch),
                        cub.name));
#endif
  }
}

template <class T>
void row_sums(course::Ladder& ladder, std::size_t n, std::size_t width) {
  const Input<T> input(n, width);
  const std::vector<double> expected = row_sums_reference(input.part, width);
  course::DeviceBuffer<float> y(input.rows);
  ladder.reference("row_sums_reference", first_of(expected), "sums of " + input.text(), n);
  input.offer(ladder, "sum of rows");
  ladder.rung(read_only(input, y));
  const RowSumRung<T> rung = course::rung_named(row_sum_rungs<T>(), "sum_rows");
  ladder.rung(filling(rung.name, rung.changed, y, expected, 0, input.x.bytes(),
                      [&] { rung.launch(input.to(y)); }));
}

template <class T>
void column_sums(course::Ladder& ladder, std::size_t n, std::size_t width) {
  const Input<T> input(n, width);
  std::vector<double> expected = column_sums_reference(input.part, width);
  const std::size_t times = input.part.empty() ? 0 : input.rows * width / input.part.size();
  for (double& sum : expected) sum *= static_cast<double>(times);
  course::DeviceBuffer<float> y(width);
  ColumnWorkspace workspace;
  ladder.reference("column_sums_reference", first_of(expected),
                   "sums of the columns of " + input.text(), n);
  input.offer(ladder, "sum of columns");
  for (const ColumnSumRung<T>& rung : column_sum_rungs<T>()) {
    ladder.rung(filling(rung.name, rung.changed, y, expected, 0, input.x.bytes(),
                        [&] { rung.launch(input.to(y), workspace); }));
  }
}

// ---- softmax ------------------------------------------------------------------------------------

template <class T>
void softmax(course::Ladder& ladder, std::size_t n, std::size_t width) {
  const Input<T> input(n, width);
  const std::vector<double> expected = softmax_reference(input.part, width);
  course::DeviceBuffer<T> y(input.x.size());
  ladder.reference("softmax_reference", first_of(expected), "softmax of " + input.text(), n);
  input.offer(ladder, "softmax");
  const std::vector<double> copied(input.part.begin(), input.part.end());
  const LimitRung<T, T> copy = copying<T>();
  ladder.rung(filling(copy.name, copy.changed, y, copied, 0, input.x.bytes() + y.bytes(),
                      [&] { copy.launch(input.to(y)); }));
  for (const SoftmaxRung<T>& rung : softmax_rungs<T>()) {
    if (width > rung.widest) continue;
    ladder.rung(filling(rung.name, rung.changed, y, expected, kNear<T>, input.x.bytes() + y.bytes(),
                        [&] { rung.launch(input.to(y)); }));
  }
}

template <class T>
void logsumexp(course::Ladder& ladder, std::size_t n, std::size_t width) {
  const Input<T> input(n, width);
  const std::vector<double> expected = logsumexp_reference(input.part, width);
  course::DeviceBuffer<float> y(input.rows);
  ladder.reference("logsumexp_reference", first_of(expected), "logsumexp of " + input.text(), n);
  input.offer(ladder, "logsumexp");
  for (const LogRung<T>& rung : logsumexp_rungs<T>()) {
    ladder.rung(filling(rung.name, rung.changed, y, expected, kNear<float>, input.x.bytes(),
                        [&] { rung.launch(input.to(y)); }));
  }
}

/// Rows of 100, 200, ...: exp() of them is infinite.
void overflow(course::Ladder& ladder) {
  constexpr std::size_t kWidth = 64;
  std::vector<float> x(kWidth);
  for (std::size_t c = 0; c < kWidth; ++c) x[c] = 100 + static_cast<float>(c) / 16;
  const std::vector<double> expected = softmax_reference(x, kWidth);
  const auto d_x = course::DeviceBuffer<float>::from(x);
  course::DeviceBuffer<float> y(kWidth);
  const Rows<float> in{d_x.data(), y.data(), 1, kWidth};
  ladder.reference("softmax_reference", first_of(expected), "softmax of 100, 100.0625, ...",
                   kWidth);
  for (const WrongSoftmax& rung : wrong_softmaxes()) {
    ladder.wrong(course::wrong_rung(
        filling(rung.name, rung.changed, y, expected, kNear<float>, 0, [&] { rung.launch(in); }),
        course::Expect::wrong_value, rung.because));
  }
  const SoftmaxRung<float> right = course::rung_named(softmax_rungs<float>(), "softmax_two_passes");
  ladder.rung(
      filling(right.name, right.changed, y, expected, kNear<float>, 0, [&] { right.launch(in); }));
}

// ---- norms and variances ------------------------------------------------------------------------

template <Norm norm, class T>
void norms(course::Ladder& ladder, std::size_t n, std::size_t width) {
  const Input<T> input(n, width);
  const std::vector<T> gamma = course::position_values<T>(width), beta = balanced_values<T>(width);
  const std::vector<double> expected = norm_reference<norm>(
      input.part, width, gamma, norm == Norm::layer ? beta : std::vector<T>{}, 1e-5);
  const auto d_gamma = course::DeviceBuffer<T>::from(gamma),
             d_beta = course::DeviceBuffer<T>::from(beta);
  course::DeviceBuffer<T> y(input.x.size());
  const Affine<T> affine{d_gamma.data(), d_beta.data(), 1e-5f};
  const std::string operation = norm == Norm::layer ? "layer norm" : "RMS norm";
  ladder.reference("norm_reference", first_of(expected), operation + " of " + input.text(), n);
  input.offer(ladder, norm == Norm::layer ? "layer_norm" : "rms_norm");
  for (const NormRung<T>& rung : norm_rungs<norm, T>()) {
    ladder.rung(filling(rung.name, rung.changed, y, expected, 4 * kNear<T>,
                        input.x.bytes() + y.bytes(), [&] { rung.launch(input.to(y), affine); }));
  }
}

/// Numbers near `mean`, whose variance is about 5. Means of 10,000 are multiples of 2^-10: the variance that is merged from
/// them is wrong by some 10^-5 of it.
void variances(course::Ladder& ladder, std::size_t n, float mean) {
  const std::size_t width = std::min<std::size_t>(n, 4096),
                    rows = n / std::max<std::size_t>(width, 1);
  std::vector<float> x = balanced_values<float>(rows * width);
  for (float& value : x) value += mean;
  const std::vector<double> expected = variance_reference(x, width);
  const auto d_x = course::DeviceBuffer<float>::from(x);
  course::DeviceBuffer<float> y(rows);
  ladder.reference("variance_reference", first_of(expected),
                   "variances of rows of " + std::to_string(width) + ", mean " +
                       std::to_string(static_cast<int>(mean)),
                   n);
  for (const VarianceRung& rung : variance_rungs()) {
    course::Rung row =
        filling(rung.name, rung.changed, y, expected, 10 * kNear<float>, d_x.bytes(), [&] {
          rung.launch({d_x.data(), y.data(), rows, width});
        });
    if (rung.keeps_digits || mean == 0) {
      ladder.rung(row);
    } else {
      ladder.wrong(course::wrong_rung(row, course::Expect::wrong_value,
                                      "x^2 is rounded to a multiple of more than the variance"));
    }
  }
}

// ---- accurate sums ------------------------------------------------------------------------------

course::Errors errors_of(const std::vector<double>& found, const std::vector<double>& expected) {
  course::Errors errors;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const double error = std::fabs(found[i] - expected[i]);
    errors.max = std::max(errors.max, error);
    errors.mean += error / static_cast<double>(found.size());
  }
  return errors;
}

void accurate_sums(course::Ladder& ladder, std::size_t n) {
  const std::size_t width = std::min<std::size_t>(n / 4 * 4, 32'768);
  if (width == 0) return;
  const std::size_t rows = n / width;
  const std::vector<float> x = sums_that_lose(rows * width, width);
  const std::vector<double> expected = row_sums_reference(x, width);
  const auto d_x = course::DeviceBuffer<float>::from(x);
  course::DeviceBuffer<double> y(rows);
  ladder.reference("row_sums_reference", first_of(expected),
                   "in double: sums of rows of " + std::to_string(width) + ", which lose digits",
                   n);
  for (const AccurateRung& rung : accurate_rungs()) {
    ladder.rung({.name = rung.name,
                 .changed = rung.changed,
                 .reset = [&] { y.fill_bytes(0xFF); },
                 .launch =
                     [&] {
                       rung.launch({d_x.data(), y.data(), rows, width});
                     },
                 .result = [&] { return y.front(); },
                 .check = [&] { return course::close(y.download(), expected, 1.0, "y"); },
                 .errors = [&] { return errors_of(y.download(), expected); },
                 .bytes = d_x.bytes()});
  }
}

// ---- argmax and top-k ---------------------------------------------------------------------------

std::vector<double> numbers(const std::vector<unsigned>& columns) {
  return {columns.begin(), columns.end()};
}

/// As near(), of whole numbers.
course::Verdict same_columns(const std::vector<unsigned>& found,
                             const std::vector<double>& expected) {
  return near(std::vector<double>(found.begin(), found.end()), expected, 0, 0);
}

template <class T>
void argmax(course::Ladder& ladder, std::size_t n, std::size_t width) {
  const Input<T> input(n, width);
  const std::vector<double> expected = numbers(argmax_reference(input.part, width));
  course::DeviceBuffer<unsigned> y(input.rows);
  ladder.reference("argmax_reference", first_of(expected), "argmax of " + input.text(), n);
  input.offer(ladder, "argmax");
  for (const ArgmaxRung<T>& rung : argmax_rungs<T>()) {
    course::Rung row = filling(rung.name, rung.changed, y, expected, 0, input.x.bytes(),
                               [&] { rung.launch(input.to(y)); });
    row.check = [&] { return same_columns(y.download(), expected); };
    ladder.rung(row);
  }
}

template <class T>
void top_elements(course::Ladder& ladder, std::size_t n, std::size_t width) {
  const Input<T> input(n, width);
  const std::vector<double> expected = numbers(top_reference(input.part, width));
  course::DeviceBuffer<unsigned> columns(input.rows * kTop);
  course::DeviceBuffer<T> values(input.rows * kTop);
  ladder.reference("top_reference", first_of(expected),
                   "columns of the 8 largest of " + input.text(), n);
  input.offer(ladder, "topk");
  for (const TopRung<T>& rung : top_rungs<T>()) {
    course::Rung row = filling(rung.name, rung.changed, columns, expected, 0, input.x.bytes(), [&] {
      rung.launch({input.x.data(), input.rows, width, values.data(), columns.data()});
    });
    row.check = [&] { return same_columns(columns.download(), expected); };
    ladder.rung(row);
  }
}

template <class T>
void all_of(course::Ladder& ladder, std::size_t n, std::size_t width) {
  row_sums<T>(ladder, n, width);
  column_sums<T>(ladder, n, width);
  softmax<T>(ladder, n, width);
  logsumexp<T>(ladder, n, width);
  norms<Norm::layer, T>(ladder, n, width);
  norms<Norm::rms, T>(ladder, n, width);
  argmax<T>(ladder, n, width);
  if (width <= 32'768) top_elements<T>(ladder, n, width);
}

}  // namespace

int main(int argc, char** argv) {
  course::Ladder ladder("15-row-reductions", argc, argv,
                        {.gpu_n = std::size_t{1} << 26, .cpu_n = std::size_t{1} << 12});
  return ladder.run([](course::Ladder& rungs) {
    const std::size_t n = rungs.n();
    row_sums_by_length(rungs, n);
    for (const std::size_t width : kWidths) {
      if (width > n) continue;
      all_of<float>(rungs, n, width);
      all_of<__half>(rungs, n, width);
      softmax<__nv_bfloat16>(rungs, n, width);
      norms<Norm::layer, __nv_bfloat16>(rungs, n, width);
    }
    overflow(rungs);
    for (const float mean : {0.0f, 10'000.0f}) variances(rungs, n, mean);
    accurate_sums(rungs, n);
  });
}
