// What the lesson counts: how often elements are read, and what a row costs a team.
#include <catch2/catch_test_macros.hpp>
#include <course/check.cuh>
#include <cstddef>
#include <string>

#include "inputs.cuh"
#include "rungs.cuh"

namespace {

constexpr std::size_t kRows = 4, kWidth = 4096, kElements = kRows * kWidth;

/// What `launch` does with rows of floats.
template <class Result, class Launch>
course::Counters counters_of(Launch launch) {
  const auto d_x = course::DeviceBuffer<float>::from(balanced_values<float>(kElements));
  course::DeviceBuffer<Result> y(kElements);
  return *course::count([&] { launch(Rows<float, Result>{d_x.data(), y.data(), kRows, kWidth}); });
}

}  // namespace

TEST_CASE("a thread for each row touches a sector per lane, a warp one for eight lanes") {
  course::skip_without_counters();
  const auto thread = counters_of<float>(launch_sum_rows_by_thread<float>);
  const auto warp = counters_of<float>(launch_sum_rows_by_warp<float>);
  CHECK(course::same(thread.global_load_sectors, kElements, "sectors of sum_rows_by_thread"));
  CHECK(course::same(warp.global_load_sectors, kElements / 8, "sectors of sum_rows_by_warp"));
  CHECK(course::same(warp.global_loads, kElements / 32, "its loads"));
  CHECK(course::same(counters_of<float>(sum_rows<float>).global_loads, kElements / 128,
                     "loads of sum_rows"));
}

TEST_CASE("softmax reads every element three times, twice, or once") {
  course::skip_without_counters();
  const std::size_t reads[] = {3, 2, 1, 1};
  std::size_t i = 0;
  for (const SoftmaxRung<float>& rung : softmax_rungs<float>()) {
    INFO(rung.name);
    const course::Counters c = counters_of<float>(rung.launch);
    CHECK(
        course::same(c.global_load_sectors, reads[i++] * kElements / 8, "sectors that are loaded"));
    CHECK(course::same(c.global_store_sectors, kElements / 8, "sectors that are stored"));
  }
}

TEST_CASE("a block that merges (maximum, sum) has one barrier for each row, else two") {
  course::skip_without_counters();
  using FormT = Form<BlockTeam<256>, 4>;
  const auto merged = counters_of<float>(
      [&](const Rows<float>& in) { launch_softmax_in_registers<FormT, true>(in); });
  const auto twice = counters_of<float>(
      [&](const Rows<float>& in) { launch_softmax_in_registers<FormT, false>(in); });
  CHECK(course::same(merged.barriers, kRows, "barriers"));
  CHECK(course::same(twice.barriers, 2 * kRows, "barriers of two reductions"));
}

TEST_CASE(
    "each block of a cluster has one barrier for each reduction, and the cluster one in all") {
  if (!course::has_clusters()) SKIP(course::kNoClusters);
  course::skip_without_counters();
  using FormT = Form<BlockTeam<128, 4>, 2>;
  const auto c = counters_of<float>(
      [&](const Rows<float>& in) { launch_softmax_in_registers<FormT, true>(in); });
  CHECK(course::same(c.barriers, 4 * kRows, "barriers of four blocks for each row"));
  CHECK(course::same(c.cluster_barriers, kRows, "barriers of clusters that have a row each"));
}

TEST_CASE("a form that loads ahead loads every row with one instruction") {
  course::skip_without_counters();
  using FormT = Form<BlockTeam<256>, 4, 1, true, true>;
  const auto c = counters_of<float>(
      [&](const Rows<float>& in) { launch_softmax_in_registers<FormT, true>(in); });
  CHECK(course::same(c.bulk_loads, kRows, "bulk loads"));
  CHECK(course::none(c.global_loads, "loads by warps"));
}

TEST_CASE("gamma is loaded for each row, or once for each team that keeps it") {
  course::skip_without_counters();
  if (course::has_run_before()) return;  // it takes a second, and no order changes it
  using FormT = Form<BlockTeam<512>, 2, 1, true>;
  constexpr std::size_t kMany = 18, kAll = kMany * kWidth;  // rows: more than blocks are resident
  static_assert(FormT::kWidest<float> == kWidth);
  const auto d_x = course::DeviceBuffer<float>::from(balanced_values<float>(kAll));
  const auto gamma = course::DeviceBuffer<float>::from(balanced_values<float>(kWidth));
  course::DeviceBuffer<float> y(kAll);
  const Rows<float> in{d_x.data(), y.data(), kMany, kWidth};
  const Affine<float> affine{gamma.data(), nullptr, 1e-5f};
  const auto each =
      course::count([&] { launch_norm_in_registers<Norm::rms, FormT, Kept::nowhere>(in, affine); });
  CHECK(course::same(each->global_load_sectors, 2 * kAll / 8, "sectors, with gamma each time"));
  const auto kept = course::count(
      [&] { launch_norm_in_registers<Norm::rms, FormT, Kept::in_shared>(in, affine); });
  CHECK(kept->blocks < kMany);
  CHECK(course::same(kept->global_load_sectors, (kAll + kept->blocks * kWidth) / 8,
                     "sectors, with gamma for each block"));
}

TEST_CASE("top_k and argmax read every element once, and argmax a pack of each row again") {
  course::skip_without_counters();
  CHECK(course::same(counters_of<unsigned>(launch_argmax<float>).global_load_sectors,
                     kElements / 8 + kRows,
                     "sectors of argmax, of which one in each row is read again"));
  const auto d_x = course::DeviceBuffer<float>::from(balanced_values<float>(kElements));
  course::DeviceBuffer<float> values(kRows * kTop);
  course::DeviceBuffer<unsigned> columns(kRows * kTop);
  const auto c = course::count([&] {
    top_k(TopRows<float>{d_x.data(), kRows, kWidth, values.data(), columns.data()});
  });
  CHECK(course::at_most(c->global_load_sectors, kElements / 8 + kRows * kTop, "sectors of top_k"));
}
