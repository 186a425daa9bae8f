// Every rung of this chapter is right for rows of every awkward length and content.
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <course/check.cuh>
#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "inputs.cuh"
#include "rungs.cuh"

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

/// Rows x columns, so that every form is used, of little work.
struct Shape {
  std::size_t rows, width, offset;  // offset: elements before the first row, past a multiple of 64 bytes
};
const std::vector<Shape> kShapes = {
    {0, 64, 0},  {3, 1, 0},   {5, 31, 1},   {9, 33, 0},   {70, 8, 0},    {33, 64, 0},   {7, 64, 1},
    {3, 256, 0}, {3, 1000, 0}, {2, 1024, 0}, {2, 2048, 0}, {3, 4096, 0}, {1, 10'000, 0}};

template <class T>
constexpr double kRoundoff = course::kFloatRoundoff;
template <>
constexpr double kRoundoff<__half> = course::kHalfRoundoff;
template <>
constexpr double kRoundoff<__nv_bfloat16> = course::kBfloat16Roundoff;

template <class T>
std::vector<float> as_floats(const std::vector<T>& x) {
  std::vector<float> y;
  for (const T& value : x) y.push_back(static_cast<float>(value));
  return y;
}

/// Rows x width results of a launch.
template <class Result, class T, class Launch>
std::vector<float> run(const std::vector<T>& x, const Shape& shape, std::size_t results, Launch launch) {
  const course::Placed<T> d_x(x, shape.offset);
  course::GuardedBuffer<Result> y(results);
  launch(Rows<T, Result>{d_x.data(), y.data(), shape.rows, shape.width});
  const std::vector<float> found = as_floats(y.download());
  REQUIRE(y.intact("y"));
  return found;
}

std::string text(const std::string& name, const Shape& shape) {
  return name + ", " + std::to_string(shape.rows) + " rows of " + std::to_string(shape.width) + ", " +
         std::to_string(shape.offset) + " elements past a multiple of 64 bytes";
}

/// NaN where NaN is expected, else the same but for `relative` and `absolute`.
course::Verdict near(const std::vector<float>& found, const std::vector<double>& expected,
                     double relative, double absolute) {
  if (found.size() != expected.size()) return course::same(found.size(), expected.size(), "results");
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto y = static_cast<double>(found[i]);
    if (std::isnan(expected[i]) ? std::isnan(y) : y == expected[i]) continue;
    const course::Verdict verdict =
        course::close(y, expected[i], relative * std::fabs(expected[i]) + absolute,
                      "y[" + std::to_string(i) + "]");
    if (!verdict) return verdict;
  }
  return {};
}

/// Rows with what is awkward: all equal, -inf somewhere, everywhere, one NaN, +inf.
template <class T>
std::vector<T> awkward_rows(std::size_t width) {
  std::vector<T> x = balanced_values<T>(6 * width);
  const auto row = [&](std::size_t r) { return x.begin() + static_cast<std::ptrdiff_t>(r * width); };
  std::fill(row(0), row(1), T(1.5f));
  for (std::size_t c = 0; c + 1 < width; c += 2) row(1)[static_cast<std::ptrdiff_t>(c)] = T(-kInfinity);
  std::fill(row(2), row(3), T(-kInfinity));
  row(3)[static_cast<std::ptrdiff_t>(width / 2)] = T(kNan);
  row(4)[static_cast<std::ptrdiff_t>(width - 1)] = T(kInfinity);
  return x;
}

}  // namespace

TEMPLATE_TEST_CASE("sums of rows are exact", "", float, __half, __nv_bfloat16) {
  using T = TestType;
  for (const Shape& shape : kShapes) {
    const std::vector<T> x = balanced_values<T>(shape.rows * shape.width);
    for (const RowSumRung<T>& rung : row_sum_rungs<T>()) {
      if (rung.packs && (shape.offset != 0 || shape.width % kPack<T> != 0)) continue;
      if (rung.clusters && !course::has_clusters()) continue;
      INFO(text(rung.name + ", " + rung.changed, shape));
      REQUIRE(near(run<float>(x, shape, shape.rows, rung.launch),
                   row_sums_reference(x, shape.width), 0, 0));
    }
  }
}

TEMPLATE_TEST_CASE("sums of columns are exact", "", float, __half, __nv_bfloat16) {
  using T = TestType;
  ColumnWorkspace workspace;
  for (const Shape& shape : kShapes) {
    const std::vector<T> x = balanced_values<T>(shape.rows * shape.width);
    for (const ColumnSumRung<T>& rung : column_sum_rungs<T>()) {
      INFO(text(rung.name, shape));
      REQUIRE(near(run<float>(x, shape, shape.width,
                              [&](const Rows<T, float>& in) { rung.launch(in, workspace); }),
                   column_sums_reference(x, shape.width), 0, 0));
    }
  }
}

TEMPLATE_TEST_CASE("softmax of rows", "", float, __half, __nv_bfloat16) {
  using T = TestType;
  for (const Shape& shape : kShapes) {
    const std::vector<T> x = balanced_values<T>(shape.rows * shape.width);
    for (const SoftmaxRung<T>& rung : softmax_rungs<T>()) {
      INFO(text(rung.name, shape));
      REQUIRE(near(run<T>(x, shape, x.size(), rung.launch), softmax_reference(x, shape.width),
                   1e-5 + 2 * kRoundoff<T>, 1e-7));
    }
    INFO(text("logsumexp", shape));
    REQUIRE(near(run<float>(x, shape, shape.rows, launch_logsumexp<T>),
                 logsumexp_reference(x, shape.width), 1e-6, 1e-6));
  }
}

TEMPLATE_TEST_CASE("softmax and logsumexp of rows with -inf, +inf and NaN", "", float, __half) {
  using T = TestType;
  for (const std::size_t width : {1u, 33u, 64u, 520u, 4096u}) {
    const Shape shape{6, width, 0};
    const std::vector<T> x = awkward_rows<T>(width);
    for (const SoftmaxRung<T>& rung : softmax_rungs<T>()) {
      INFO(text(rung.name, shape));
      REQUIRE(near(run<T>(x, shape, x.size(), rung.launch), softmax_reference(x, width),
                   1e-5 + 2 * kRoundoff<T>, 1e-7));
    }
    INFO(text("logsumexp", shape));
    REQUIRE(near(run<float>(x, shape, shape.rows, launch_logsumexp<T>),
                 logsumexp_reference(x, width), 1e-6, 1e-6));
  }
}

TEMPLATE_TEST_CASE("layer norm and RMS norm", "", float, __half, __nv_bfloat16) {
  using T = TestType;
  for (const Shape& shape : kShapes) {
    const std::vector<T> x = balanced_values<T>(shape.rows * shape.width);
    const std::vector<T> gamma = course::position_values<T>(shape.width);
    const std::vector<T> beta = balanced_values<T>(shape.width);
    const course::Placed<T> d_gamma(gamma, shape.offset), d_beta(beta, shape.offset);
    for (const bool has_affine : {false, true}) {
      Affine<T> affine;
      if (has_affine) affine = {d_gamma.data(), d_beta.data(), 1e-5f};
      const std::vector<T> none;
      INFO(text(has_affine ? "with gamma and beta" : "without gamma and beta", shape));
      CHECK(near(run<T>(x, shape, x.size(), [&](const Rows<T>& in) { launch_layer_norm(in, affine); }),
                 norm_reference<Norm::layer>(x, shape.width, has_affine ? gamma : none,
                                             has_affine ? beta : none, 1e-5),
                 1e-5 + 2 * kRoundoff<T>, 2e-5));
      CHECK(near(run<T>(x, shape, x.size(), [&](const Rows<T>& in) { launch_rms_norm(in, affine); }),
                 norm_reference<Norm::rms>(x, shape.width, has_affine ? gamma : none, none, 1e-5),
                 1e-5 + 2 * kRoundoff<T>, 2e-5));
    }
  }
}

TEMPLATE_TEST_CASE("argmax: the first of equals, and a NaN before all", "", float, __half) {
  using T = TestType;
  for (const Shape& shape : kShapes) {
    const std::vector<T> x = balanced_values<T>(shape.rows * shape.width);  // most numbers come often
    INFO(text("argmax", shape));
    const course::Placed<T> d_x(x, shape.offset);
    course::GuardedBuffer<unsigned> y(shape.rows);
    launch_argmax(Rows<T, unsigned>{d_x.data(), y.data(), shape.rows, shape.width});
    REQUIRE(course::same(y.download(), argmax_reference(x, shape.width), "y"));
    REQUIRE(y.intact("y"));
  }
  for (const std::size_t width : {1u, 33u, 64u, 520u, 4096u}) {
    std::vector<T> x = awkward_rows<T>(width);
    x[5 * width] = T(-0.0f);
    for (std::size_t c = 1; c < width; ++c) x[5 * width + c] = T(c % 2 == 1 ? 0.0f : -1.0f);
    if (width > 8) x[3 * width + width - 1] = T(kNan);  // a second one
    INFO(text("argmax", {6, width, 0}));
    const auto d_x = course::DeviceBuffer<T>::from(x);
    course::GuardedBuffer<unsigned> y(6);
    launch_argmax(Rows<T, unsigned>{d_x.data(), y.data(), 6, width});
    REQUIRE(course::same(y.download(), argmax_reference(x, width), "y"));
  }
}

TEMPLATE_TEST_CASE("the eight largest of each row, in order", "", float, __half) {
  using T = TestType;
  const auto check = [](const std::vector<T>& x, const Shape& shape) {
    INFO(text("top_k", shape));
    const course::Placed<T> d_x(x, shape.offset);
    course::GuardedBuffer<unsigned> columns(shape.rows * kTop);
    course::GuardedBuffer<T> values(shape.rows * kTop);
    launch_top_k(TopRows<T>{d_x.data(), shape.rows, shape.width, values.data(), columns.data()});
    const std::vector<unsigned> expected = top_reference(x, shape.width);
    REQUIRE(course::same(columns.download(), expected, "columns"));
    REQUIRE(columns.intact("columns"));
    std::vector<double> of_columns;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      of_columns.push_back(
          static_cast<double>(static_cast<float>(x[i / kTop * shape.width + expected[i]])));
    }
    REQUIRE(near(as_floats(values.download()), of_columns, 0, 0));
    REQUIRE(values.intact("values"));
  };
  for (const Shape& shape : kShapes) {
    if (shape.width >= kTop) check(balanced_values<T>(shape.rows * shape.width), shape);
  }
  for (const std::size_t width : {8u, 33u, 64u, 520u, 8200u}) {
    check(awkward_rows<T>(width), {6, width, 0});
    std::vector<T> x(2 * width);
    for (std::size_t c = 0; c < width; ++c) {
      x[c] = T(static_cast<float>(c % 2048));          // every element enters the list
      x[width + c] = T(-static_cast<float>(c % 2048));  // none after the first
    }
    check(x, {2, width, 0});
  }
}
