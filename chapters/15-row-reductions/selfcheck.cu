// Every rung of this chapter is right for rows of every awkward length and content.
#include <algorithm>
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <course/check.cuh>
#include <cstddef>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "inputs.cuh"
#include "rungs.cuh"
#include "shapes.cuh"
#include "testing.cuh"

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

/// Every form is used, with little work.
const std::vector<Shape> kShapes = {
    {0, 64, 0},  {3, 1, 0},    {5, 31, 1},   {9, 33, 0},   {70, 8, 0},   {7, 64, 1},  {9, 64, 0},
    {3, 256, 0}, {3, 1000, 0}, {2, 1024, 0}, {2, 2048, 0}, {3, 4096, 0}, {1, 5000, 0}};

/// On the CPU device the first schedule tries all shapes of floats, some of halves and a few of bfloat16. The others try a few
/// of floats: the code of all types is the same.
template <class T>
std::vector<Shape> shapes() {
  std::size_t every = 1;
  if (course::kCpuDevice) {
    if (course::has_run_before() && !std::is_same_v<T, float>) return {};
    every = course::has_run_before()    ? 8
            : std::is_same_v<T, float>  ? 1
            : std::is_same_v<T, __half> ? 2
                                        : 4;
  }
  std::vector<Shape> some;
  for (std::size_t i = course::seed() % every; i < kShapes.size(); i += every)
    some.push_back(kShapes[i]);
  return some;
}

/// Lengths of awkward rows. What they hold changes nothing in the order of the threads: the CPU device does this once.
std::vector<std::size_t> awkward_widths() {
  if (course::kCpuDevice && course::has_run_before()) return {};
  return {1, 33, 64, 520};
}

/// Rows that are long, and few of them: of no whole packs, and of all that a block keeps. The CPU device does
/// this once.
std::vector<Shape> long_shapes() {
  if (course::kCpuDevice && course::has_run_before()) return {};
  return {{1, course::kCpuDevice ? 20'003u : 100'003u, 3}, {1, 32'768, 0}};
}

/// Rows with what is awkward: all equal, -inf somewhere, everywhere, one NaN, +inf.
template <class T>
std::vector<T> awkward_rows(std::size_t width) {
  std::vector<T> x = balanced_values<T>(6 * width);
  const auto row = [&](std::size_t r) {
    return x.begin() + static_cast<std::ptrdiff_t>(r * width);
  };
  std::fill(row(0), row(1), T(1.5f));
  for (std::size_t c = 0; c + 1 < width; c += 2)
    row(1)[static_cast<std::ptrdiff_t>(c)] = T(-kInfinity);
  std::fill(row(2), row(3), T(-kInfinity));
  row(3)[static_cast<std::ptrdiff_t>(width / 2)] = T(kNan);
  row(4)[static_cast<std::ptrdiff_t>(width - 1)] = T(kInfinity);
  return x;
}

/// The launch of a kernel of this form by two teams, which take one row after another: launches of the chapter have more.
template <class FormT, auto kernel, std::size_t shared_bytes = FormT::kSharedBytes>
course::Grid two_teams(std::size_t rows) {
  course::Grid grid = grid_for_rows<FormT, kernel, shared_bytes>(rows, true);
  grid.blocks.x = std::min(grid.blocks.x, 2 * FormT::Team::kBlocks);
  return grid;
}
template <class FormT, bool merged, class T>
void launch_softmax_form(const Rows<T>& in) {
  constexpr auto kKernel = softmax_in_registers<FormT, T, merged>;
  course::launch(kKernel, two_teams<FormT, kKernel>(in.rows), in);
}
template <class FormT, Kept kept, class T>
void launch_norm_form(const Rows<T>& in, const Affine<T>& affine) {
  constexpr auto kKernel = norm_in_registers<Norm::layer, FormT, T, kept>;
  course::launch(kKernel,
                 two_teams<FormT, kKernel, kBytesOfNorm<Norm::layer, FormT, T, kept>>(in.rows), in,
                 affine);
}

}  // namespace

TEMPLATE_TEST_CASE("sums of rows are exact", "", float, __half, __nv_bfloat16) {
  using T = TestType;
  for (const Shape& shape : shapes<T>()) {
    const std::vector<T> x = balanced_values<T>(shape.rows * shape.width);
    for (const RowSumRung<T>& rung : row_sum_rungs<T>()) {
      if (rung.packs && (shape.offset != 0 || shape.width % kPack<T> != 0)) continue;
      if (rung.clusters && !course::has_clusters()) continue;
      if (course::kCpuDevice && rung.clusters && (shape.rows > 2 || course::has_run_before()))
        continue;  // 4,096 threads for each row
      INFO(text(rung.name + ", " + rung.changed, shape));
      REQUIRE(near(run<float>(x, shape, shape.rows, rung.launch),
                   row_sums_reference(x, shape.width), 0, 0));
    }
  }
}

TEMPLATE_TEST_CASE("sums of columns are exact", "", float, __half, __nv_bfloat16) {
  using T = TestType;
  ColumnWorkspace workspace;
  for (const Shape& shape : shapes<T>()) {
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
  for (const Shape& shape : shapes<T>()) {
    const std::vector<T> x = balanced_values<T>(shape.rows * shape.width);
    for (const SoftmaxRung<T>& rung : softmax_rungs<T>()) {
      if (shape.width > rung.widest) continue;
      INFO(text(rung.name, shape));
      REQUIRE(near(run<T>(x, shape, x.size(), [&](const Rows<T>& in) { rung.launch(in); }),
                   softmax_reference(x, shape.width), 1e-5 + 2 * kRoundoff<T>, 1e-7));
    }
    INFO(text("logsumexp", shape));
    REQUIRE(near(run<float>(x, shape, shape.rows, launch_logsumexp<T>),
                 logsumexp_reference(x, shape.width), 1e-6, 1e-6));
  }
}

TEMPLATE_TEST_CASE("softmax and logsumexp of rows with -inf, +inf and NaN", "", float, __half) {
  using T = TestType;
  for (const std::size_t width : awkward_widths()) {
    const Shape shape{6, width, 0};
    const std::vector<T> x = awkward_rows<T>(width);
    for (const SoftmaxRung<T>& rung : softmax_rungs<T>()) {
      INFO(text(rung.name, shape));
      REQUIRE(near(run<T>(x, shape, x.size(), [&](const Rows<T>& in) { rung.launch(in); }),
                   softmax_reference(x, width), 1e-5 + 2 * kRoundoff<T>, 1e-7));
    }
    INFO(text("logsumexp", shape));
    REQUIRE(near(run<float>(x, shape, shape.rows, launch_logsumexp<T>),
                 logsumexp_reference(x, width), 1e-6, 1e-6));
  }
}

TEST_CASE("long rows") {
  std::vector<Shape> all = long_shapes();
  for (const Shape& shape : all) {
    const std::vector<float> x = balanced_values<float>(shape.rows * shape.width);
    INFO(text("long rows", shape));
    CHECK(near(run<float>(x, shape, shape.rows, sum_rows<float>),
               row_sums_reference(x, shape.width), 0, 0));
    CHECK(near(run<float>(x, shape, x.size(), [&](const Rows<float>& in) { launch_softmax(in); }),
               softmax_reference(x, shape.width), 1e-5, 1e-9));
    CHECK(near(run<float>(x, shape, shape.rows, launch_logsumexp<float>),
               logsumexp_reference(x, shape.width), 1e-6, 1e-6));
    CHECK(near(run<float>(x, shape, x.size(),
                          [&](const Rows<float>& in) { launch_layer_norm(in, Affine<float>{}); }),
               norm_reference<Norm::layer>(x, shape.width, {}, {}, 1e-5), 1e-5, 2e-5));
  }
}

TEMPLATE_TEST_CASE("several blocks keep a long row", "", float, __half) {
  using T = TestType;
  if (!course::has_clusters()) SKIP(course::kNoClusters);
  // The CPU device does this once, by a cluster.
  if (course::kCpuDevice && (course::has_run_before() || std::is_same_v<T, float>)) return;
  const Shape shape{course::kCpuDevice ? 1u : 35u, course::kCpuDevice ? 65'560u : 262'144u, 0};
  const std::vector<T> x = balanced_values<T>(shape.rows * shape.width);
  constexpr double kNear = 1e-5 + 2 * kRoundoff<T>;
  CHECK(near(run<T>(x, shape, x.size(), [&](const Rows<T>& in) { launch_softmax(in); }),
             softmax_reference(x, shape.width), kNear, 1e-7));
  if (course::kCpuDevice) return;
  const std::vector<T> gamma = course::position_values<T>(shape.width);
  const std::vector<T> beta = balanced_values<T>(shape.width);
  const auto d_gamma = course::DeviceBuffer<T>::from(gamma);
  const auto d_beta = course::DeviceBuffer<T>::from(beta);
  const Affine<T> affine{d_gamma.data(), d_beta.data(), 1e-5f};
  CHECK(near(run<T>(x, shape, x.size(), [&](const Rows<T>& in) { launch_layer_norm(in, affine); }),
             norm_reference<Norm::layer>(x, shape.width, gamma, beta, 1e-5), kNear, 2e-5));
  CHECK(near(run<T>(x, shape, x.size(), [&](const Rows<T>& in) { launch_rms_norm(in, affine); }),
             norm_reference<Norm::rms>(x, shape.width, gamma, {}, 1e-5), kNear, 2e-5));
}

TEST_CASE("variances") {
  using T = float;
  for (const Shape& shape : shapes<T>()) {
    const std::vector<float> x = balanced_values<float>(shape.rows * shape.width);
    for (const VarianceRung& rung : variance_rungs()) {
      INFO(text(rung.name, shape));
      REQUIRE(near(run<float>(x, shape, shape.rows, rung.launch),
                   variance_reference(x, shape.width), 1e-5, 1e-5));
    }
  }
}

TEST_CASE("accurate sums are exact where floats are") {
  using T = float;
  for (const Shape& shape : shapes<T>()) {
    if (shape.offset != 0 || shape.width % kPack<float> != 0) continue;
    const std::vector<float> x = balanced_values<float>(shape.rows * shape.width);
    for (const AccurateRung& rung : accurate_rungs()) {
      INFO(text(rung.name, shape));
      REQUIRE(near(run<double>(x, shape, shape.rows, rung.launch),
                   row_sums_reference(x, shape.width), 0, 0));
    }
  }
}

TEMPLATE_TEST_CASE("layer norm and RMS norm", "", float, __half, __nv_bfloat16) {
  using T = TestType;
  for (const Shape& shape : shapes<T>()) {
    const std::vector<T> x = balanced_values<T>(shape.rows * shape.width);
    const std::vector<T> gamma = course::position_values<T>(shape.width);
    const std::vector<T> beta = balanced_values<T>(shape.width);
    const course::Placed<T> d_gamma(gamma, shape.offset), d_beta(beta, shape.offset);
    for (const bool has_affine : {false, true}) {
      Affine<T> affine;
      if (has_affine) affine = {d_gamma.data(), d_beta.data(), 1e-5f};
      const std::vector<T> none;
      INFO(text(has_affine ? "with gamma and beta" : "without gamma and beta", shape));
      CHECK(near(
          run<T>(x, shape, x.size(), [&](const Rows<T>& in) { launch_layer_norm(in, affine); }),
          norm_reference<Norm::layer>(x, shape.width, has_affine ? gamma : none,
                                      has_affine ? beta : none, 1e-5),
          1e-5 + 2 * kRoundoff<T>, 2e-5));
      CHECK(
          near(run<T>(x, shape, x.size(), [&](const Rows<T>& in) { launch_rms_norm(in, affine); }),
               norm_reference<Norm::rms>(x, shape.width, has_affine ? gamma : none, none, 1e-5),
               1e-5 + 2 * kRoundoff<T>, 2e-5));
    }
  }
}

/// Forms that no length chooses on this device, or not with few rows.
template <class T, class Use>
void with_other_forms(Use use) {
  constexpr bool kFull = true, kAhead = true;
  use.template operator()<Form<LaneTeam<8>, 2, 2, kFull>>();
  use.template operator()<Form<BlockTeam<64>, 2, 1, kFull>>();
  use.template operator()<Form<BlockTeam<32>, 4>>();
  if (!course::has_clusters()) return;
  use.template operator()<Form<BlockTeam<64>, 2, 1, !kFull, kAhead>>();
  use.template operator()<Form<BlockTeam<32, 2>, 4>>();
  use.template operator()<Form<BlockTeam<32, 4>, 1, 1, !kFull, kAhead>>();
  use.template operator()<Form<BlockTeam<32, 8>, 1, 1, kFull, kAhead>>();
  use.template operator()<Form<BlockTeam<64, 2>, 2, 1, kFull, kAhead>>();
}

TEMPLATE_TEST_CASE("every form keeps a row, whatever it loads ahead and keeps", "", float, __half) {
  using T = TestType;
  if (course::kCpuDevice && course::has_run_before()) return;  // it takes seconds
  with_other_forms<T>([&]<class FormT>() {
    // A full row, or one that ends in the packs of some threads; each team has several rows.
    const std::size_t widest = FormT::template kWidest<T>;
    const std::size_t width = FormT::kFull ? widest : widest - 3 * kPack<T>;
    const Shape shape{4 * FormT::Team::kTeams * FormT::kRows + 1, width, 0};
    const std::vector<T> x = balanced_values<T>(shape.rows * width);
    INFO(text("blocks of " + std::to_string(FormT::Team::kBlock) + ", " +
                  std::to_string(FormT::Team::kBlocks) + " to a row" +
                  (FormT::kAhead ? ", ahead" : ""),
              shape));
    const std::vector<double> softmax = softmax_reference(x, width);
    constexpr double kNear = 1e-5 + 2 * kRoundoff<T>;
    CHECK(near(run<T>(x, shape, x.size(),
                      [&](const Rows<T>& in) { launch_softmax_form<FormT, false>(in); }),
               softmax, kNear, 1e-7));
    CHECK(near(run<T>(x, shape, x.size(),
                      [&](const Rows<T>& in) { launch_softmax_form<FormT, true>(in); }),
               softmax, kNear, 1e-7));
    const std::vector<T> gamma = course::position_values<T>(width);
    const std::vector<T> beta = balanced_values<T>(width);
    const auto d_gamma = course::DeviceBuffer<T>::from(gamma);
    const auto d_beta = course::DeviceBuffer<T>::from(beta);
    const Affine<T> affine{d_gamma.data(), d_beta.data(), 1e-5f};
    const std::vector<double> layer = norm_reference<Norm::layer>(x, width, gamma, beta, 1e-5);
    const auto norm = [&]<Kept kept>() {
      return run<T>(x, shape, x.size(),
                    [&](const Rows<T>& in) { launch_norm_form<FormT, kept>(in, affine); });
    };
    CHECK(near(norm.template operator()<Kept::nowhere>(), layer, kNear, 2e-5));
    CHECK(near(norm.template operator()<Kept::in_shared>(), layer, kNear, 2e-5));
    if constexpr (!FormT::kFull) return;
    CHECK(near(run<T>(x, shape, x.size(),
                      [&](const Rows<T>& in) {  // it leaves beta alone
                        launch_norm_in_registers<Norm::rms, FormT, Kept::in_shared>(in, affine);
                      }),
               norm_reference<Norm::rms>(x, width, gamma, {}, 1e-5), kNear, 2e-5));
  });
}

TEMPLATE_TEST_CASE("argmax: the first of equals, and a NaN before all", "", float, __half) {
  using T = TestType;
  for (const Shape& shape : shapes<T>()) {
    const std::vector<T> x =
        balanced_values<T>(shape.rows * shape.width);  // most numbers come often
    INFO(text("argmax", shape));
    const course::Placed<T> d_x(x, shape.offset);
    course::GuardedBuffer<unsigned> y(shape.rows);
    launch_argmax(Rows<T, unsigned>{d_x.data(), y.data(), shape.rows, shape.width});
    REQUIRE(course::same(y.download(), argmax_reference(x, shape.width), "y"));
    REQUIRE(y.intact("y"));
  }
  for (const std::size_t width : awkward_widths()) {
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
    top_k(TopRows<T>{d_x.data(), shape.rows, shape.width, values.data(), columns.data()});
    const std::vector<unsigned> expected = top_reference(x, shape.width);
    REQUIRE(course::same(columns.download(), expected, "columns"));
    REQUIRE(columns.intact("columns"));
    std::vector<double> of_columns;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      of_columns.push_back(
          static_cast<double>(static_cast<float>(x[i / kTop * shape.width + expected[i]])));
    }
    REQUIRE(near(values.download(), of_columns, 0, 0));
    REQUIRE(values.intact("values"));
  };
  for (const Shape& shape : shapes<T>()) {
    if (shape.width >= kTop) check(balanced_values<T>(shape.rows * shape.width), shape);
  }
  for (std::size_t width : awkward_widths()) {
    width = std::max<std::size_t>(width, kTop);
    check(awkward_rows<T>(width), {6, width, 0});
    std::vector<T> x(2 * width);
    for (std::size_t c = 0; c < width; ++c) {
      x[c] = T(static_cast<float>(c % 2048));           // every element enters the list
      x[width + c] = T(-static_cast<float>(c % 2048));  // none after the first
    }
    check(x, {2, width, 0});
  }
}
