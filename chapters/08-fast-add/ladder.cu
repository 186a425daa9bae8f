// Runs the rungs of chapter 08: single halves into tables of three sizes, rows of halves into a
// table, what rounding makes of them, and what diverging costs.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>
#include <cmath>
#include <course/buffer.cuh>
#include <course/data.cuh>
#include <course/ladder.cuh>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "inputs.cuh"
#include "rungs.cuh"
#include "tables.cuh"
#if !COURSE_CPU_DEVICE
#include "vendor.cuh"
#endif

namespace {

/// A size that is fixed on a GPU, and small on the CPU device.
constexpr std::size_t on(std::size_t gpu, std::size_t cpu) {
  return course::kCpuDevice ? cpu : gpu;
}
constexpr std::size_t power(unsigned exponent) { return std::size_t{1} << exponent; }

std::string text(std::size_t n) {
  for (unsigned bits = 10; bits < 40; ++bits) {
    if (n == power(bits)) return "2^" + std::to_string(bits);
  }
  return std::to_string(n);
}

// ---- single values ------------------------------------------------------------------------------

/// n updates of a table of `targets` elements, and what is right afterwards.
template <class T>
struct UpdatesOf {
  UpdatesOf(std::vector<T> the_values, std::vector<int> the_index, std::size_t the_targets)
      : values(std::move(the_values)),
        index(std::move(the_index)),
        targets(the_targets),
        expected(scatter_reference(values, index, targets)),
        d_values(course::DeviceBuffer<T>::from(values)),
        d_index(course::DeviceBuffer<int>::from(index)) {}

  /// Begins the group, and names its arrays for torch_rows.py.
  void begin(course::Ladder& ladder, const std::string& how) const {
    ladder.reference("scatter_reference", expected[0],
                     text(values.size()) + " values into " + text(targets) + " elements, " + how +
                         "; element 0 is shown",
                     values.size());
    if constexpr (std::is_same_v<T, __half>) {
      ladder.input("index", d_index);
      ladder.input("values", d_values);
      ladder.input("expected", course::DeviceBuffer<float>::from(rounded<float>(expected)));
    }
  }

  /// launch(values, index, n, table, targets, stream)
  template <class Table, class Launch>
  course::Rung rung(const std::string& name, const std::string& changed,
                    course::DeviceBuffer<Table>& table, Launch launch, Judge<Table> judge) const {
    const auto start = [this, &table, launch] {
      launch(d_values.data(), d_index.data(), values.size(), table.data(), targets, cudaStream_t{});
    };
    return table_rung(name, changed, table, start, std::move(judge),
                      values.size() * (sizeof(T) + sizeof(int)), values.size());
  }

  std::vector<T> values;
  std::vector<int> index;
  std::size_t targets;
  std::vector<double> expected;
  course::DeviceBuffer<T> d_values;
  course::DeviceBuffer<int> d_index;
};
using HalfUpdates = UpdatesOf<__half>;

HalfUpdates sorted_by_target(const HalfUpdates& updates) {
  std::vector<__half> values = updates.values;
  std::vector<int> index = updates.index;
  sort_by_target(values, index);
  return {values, index, updates.targets};
}

/// What is right in the groups whose sums are exact, are rounded, or stagnate.
template <class Table>
Judge<Table> judge_of(Group group, Sums sums, const HalfUpdates& updates) {
  const std::vector<double>& expected = updates.expected;
  if (group == Group::rounding) {
    return {expected, expected, rounding_bounds(updates.values, updates.index, expected, sums)};
  }
  if (group == Group::stagnation && sums == Sums::in_half) {
    return {expected, std::vector<double>(expected.size(), 2048),
            std::vector<double>(expected.size())};
  }
  if (group == Group::stagnation && sums == Sums::in_blocks) {
    // A block's sum is a whole number; adding it to at most 4096 errs by at most 1, the half of the
    // distance of two halves there. A block has at least 2048 updates.
    const auto most_blocks = static_cast<double>((updates.values.size() + 2047) / 2048);
    return {expected, expected, std::vector<double>(expected.size(), most_blocks)};
  }
  return Judge<Table>(expected);
}

/// All rungs of a group that the registry names.
void scatter(course::Ladder& ladder, Group group, const HalfUpdates& updates,
             const std::string& prefix = "") {
  std::optional<HalfUpdates> sorted;
  Tables tables(updates.targets);
  for (const ScatterRung& rung : of_group(scatter_rungs(), group)) {
    if (rung.sorted && !sorted) sorted = sorted_by_target(updates);
    const HalfUpdates& input = rung.sorted ? *sorted : updates;
    const auto run = [&]<class Table>(const Scatter<Table>& launch) {
      ladder.rung(input.rung(rung.name, prefix + rung.changed, tables.of<Table>(), launch,
                             judge_of<Table>(group, rung.sums, updates)));
    };
    std::visit(run, rung.launch);
  }
}

/// Sums that are exact. Few targets get tens of thousands of updates each; of many, each gets few.
void exact(course::Ladder& ladder, Group group, std::size_t n, std::size_t targets) {
  const HalfUpdates updates(coin_flips<__half>(n), random_index(n, targets), targets);
  updates.begin(ladder, "exact");
  scatter(ladder, group, updates);
}

/// One call for four types.
void types(course::Ladder& ladder, std::size_t most) {
  const std::size_t n = std::min(most, on(power(24), 1024)), targets = on(power(20), 256);
  for_each_type_rung([&]<class T>(const TypeRung<T>& rung) {
    const UpdatesOf<T> updates(coin_flips<T>(n), random_index(n, targets), targets);
    course::DeviceBuffer<T> table(targets);
    if constexpr (std::is_same_v<T, double>) updates.begin(ladder, "of four types, exact");
    ladder.rung(
        updates.rung(rung.name, rung.changed, table, rung.launch, Judge<T>(updates.expected)));
  });
}

/// Numbers with all bits in use, 256 to a target: every addition in half is rounded.
void rounding(course::Ladder& ladder, std::size_t most) {
  const std::size_t n = std::min(most, on(power(20), 2048)),
                    targets = std::max<std::size_t>(n / 256, 1);
  const HalfUpdates updates(gradients(n), random_index(n, targets), targets);
  updates.begin(ladder, "from -1 to 1, 256 to an element, in double");
  scatter(ladder, Group::rounding, updates);
#if !COURSE_CPU_DEVICE
  int bits = 1;
  while (power(static_cast<unsigned>(bits)) < targets) ++bits;
  course::DeviceBuffer<int> d_index(n);
  course::DeviceBuffer<__half> d_values(n), table(targets);
  const auto sort = cub_sort_updates(updates.d_index.data(), updates.d_values.data(), n, bits,
                                     d_index.data(), d_values.data());
  const auto sort_and_sum = [&](const __half*, const int*, std::size_t, __half* d_table,
                                std::size_t, cudaStream_t stream) {
    sort();
    launch_sum_sorted(d_values.data(), d_index.data(), n, d_table, targets, stream);
  };
  ladder.rung(updates.rung("sort, then sum_sorted", "the sort (CUB's) is timed, too", table,
                           sort_and_sum,
                           judge_of<__half>(Group::rounding, Sums::in_float_once, updates)));
#endif
}

/// 4096 ones for each element: from 2048 on, adding 1 to a half no longer changes it.
void stagnation(course::Ladder& ladder, std::size_t most) {
  constexpr std::size_t kOnes = 4096;
  const std::size_t n = std::min(most, on(power(18), 2 * kOnes)) / kOnes * kOnes,
                    targets = n / kOnes;
  if (targets == 0) return;
  std::vector<int> index(n);
  for (std::size_t i = 0; i < n; ++i) index[i] = static_cast<int>(i % targets);
  const HalfUpdates updates(std::vector<__half>(n, __half(1.0f)), index, targets);
  updates.begin(ladder, "4096 ones for each");
  scatter(ladder, Group::stagnation, updates);
}

/// The same number of updates, with warps of one alignment and of both.
void divergence(course::Ladder& ladder, std::size_t most) {
  const std::size_t n = std::min(most, on(power(24), 1024)), words = on(power(19), 512);
  const std::pair<Alignment, std::string> alignments[] = {
      {Alignment::low, "all lanes low"},
      {Alignment::high, "all lanes high"},
      {Alignment::by_warp, "warp by warp low or high"},
      {Alignment::by_turns, "lane by lane low or high"}};
  for (const auto& [alignment, name] : alignments) {
    std::vector<int> index = random_index(n, words);
    for (std::size_t i = 0; i < n; ++i) index[i] = 2 * index[i] + half_of(alignment, i);
    const HalfUpdates updates(coin_flips<__half>(n), index, 2 * words);
    ladder.reference("scatter_reference", updates.expected[0], name + "; element 0 is shown", n);
    scatter(ladder, Group::divergence, updates, name + ": ");
  }
}

/// The largest value of each element; the table begins with NaN, no value yet.
void maxima(course::Ladder& ladder, std::size_t n) {
  const std::size_t targets = on(power(20), 512);
  const std::vector<__half> values = gradients(n);
  const std::vector<int> index = random_index(n, targets);
  const std::vector<double> expected = max_reference(values, index, targets);
  const auto d_values = course::DeviceBuffer<__half>::from(values);
  const auto d_index = course::DeviceBuffer<int>::from(index);
  course::DeviceBuffer<__half> table(targets);
  ladder.reference("max_reference", expected[0],
                   "the largest of " + text(n) + " values for each of " + text(targets) +
                       " elements; element 0 is shown",
                   n);
  for (const ScatterRung& rung : of_group(max_rungs(), Group::maxima)) {
    ladder.rung({.name = rung.name,
                 .changed = rung.changed,
                 .reset = [&] { table.fill_bytes(0xFF); },  // NaN
                 .launch =
                     [&] {
                       std::get<Scatter<__half>>(rung.launch)(d_values.data(), d_index.data(), n,
                                                              table.data(), targets, nullptr);
                     },
                 .result = [&] { return static_cast<double>(static_cast<float>(table.front())); },
                 .check = [&] { return same_or_nan(table.download(), expected); },
                 .bytes = d_values.bytes() + d_index.bytes() + 2 * table.bytes(),
                 .operations = n});
  }
}

// ---- rows ---------------------------------------------------------------------------------------

/// All rungs of a group that adds `rows` rows of kWidth halves to `table_rows` rows.
void add_rows(course::Ladder& ladder, Group group, std::vector<__half> (*values)(std::size_t),
              std::size_t rows, std::size_t table_rows, const std::string& how) {
  constexpr std::size_t kWidth = 64;
  const std::vector<__half> source = values(rows * kWidth);
  const std::vector<int> index = random_index(rows, table_rows);
  const std::vector<double> expected = rows_reference(source, index, kWidth, table_rows);
  const auto d_source = course::DeviceBuffer<__half>::from(source);
  const auto d_index = course::DeviceBuffer<int>::from(index);
  ladder.reference("rows_reference", expected[0],
                   text(rows) + " rows of " + std::to_string(kWidth) + " halves into " +
                       text(table_rows) + " rows, " + how + "; the first element is shown",
                   rows);
  ladder.input("index", d_index);
  ladder.input("source", d_source, {rows, kWidth});
  ladder.input("expected", course::DeviceBuffer<float>::from(rounded<float>(expected)),
               {table_rows, kWidth});

  std::vector<int> elements;  // the element of the table that each half is added to
  for (std::size_t i = 0; group == Group::rows_rounding && i < source.size(); ++i) {
    elements.push_back(index[i / kWidth] * static_cast<int>(kWidth) + static_cast<int>(i % kWidth));
  }
  Tables tables(table_rows * kWidth);
  for (const RowsRung& rung : of_group(rows_rungs(), group)) {
    const auto run = [&]<class Table>(const AddRows<Table>& launch) {
      course::DeviceBuffer<Table>& table = tables.of<Table>();
      const auto start = [&] {
        launch({d_source.data(), d_index.data(), rows, kWidth}, table.data(), table_rows, nullptr);
      };
      const auto bounds = [&] { return rounding_bounds(source, elements, expected, rung.sums); };
      Judge<Table> judge =
          elements.empty() ? Judge<Table>(expected) : Judge<Table>(expected, expected, bounds());
      ladder.rung(table_rung(rung.name, rung.changed, table, start, std::move(judge),
                             d_source.bytes() + d_index.bytes(), d_source.size()));
    };
    std::visit(run, rung.launch);
  }
}

/// The gradients of an embedding: some 64 rows to each row of the table. And rows whose sums are
/// rounded: 64 to each row of the table, so that a bin is one chunk of rows_sorted, rounded once.
void rows(course::Ladder& ladder, Group group, std::size_t n) {
  if (group == Group::rows) {
    const std::size_t rows = n / (course::kCpuDevice ? 64 : 16);
    return add_rows(ladder, group, coin_flips<__half>, rows, on(power(16), 16), "exact");
  }
  const std::size_t rows = std::min(n / 64, on(power(18), 64));
  add_rows(ladder, group, gradients, rows, std::max<std::size_t>(rows / 64, 1),
           "from -1 to 1, 64 to a row, in double");
}

// ---- wrong on purpose ---------------------------------------------------------------------------

void lost_updates(course::Ladder& ladder, std::size_t most) {
  const std::size_t n = std::min(most, on(power(20), 2048)), targets = on(power(10), 16);
  if (n < 1024) return;  // fewer may come out right
  const HalfUpdates updates(coin_flips<__half>(n), random_index(n, targets), targets);
  course::DeviceBuffer<__half> table(targets);
  ladder.reference("scatter_reference", updates.expected[0], "exact; element 0 is shown", n);
  for (const ScatterRung& rung : of_group(scatter_rungs(), Group::lost_updates)) {
    const course::Rung right =
        updates.rung(rung.name, rung.changed, table, std::get<Scatter<__half>>(rung.launch),
                     Judge<__half>(updates.expected));
    ladder.wrong(course::wrong_rung(right, *rung.expect, rung.because));
  }
}

/// A table that holds one number everywhere. Every fourth element gets a 1; how many of the others
/// are what they were? Wrong on purpose: half of them.
void untouched(course::Ladder& ladder, Group group, const std::vector<ScatterRung>& rungs,
               const std::string& what, float number, bool (*is_it)(const __half&)) {
  const std::size_t targets = on(power(20), 256), n = targets / 4;
  std::vector<int> index(n);
  for (std::size_t i = 0; i < n; ++i) index[i] = static_cast<int>(4 * i);
  const auto d_index = course::DeviceBuffer<int>::from(index);
  const auto d_values = course::DeviceBuffer<__half>::from(std::vector<__half>(n, __half(1.0f)));
  const std::vector<__half> before(targets, __half(number));
  course::DeviceBuffer<__half> table(targets);
  const auto reset = [&] { table.upload(before); };
  const auto result = [&] {
    double count = 0;
    for (const __half& x : table.download()) count += is_it(x) ? 1 : 0;
    return count;
  };
  ladder.reference("elements that hold " + what, static_cast<double>(targets - n),
                   "every fourth one has got a 1", n);
  for (const ScatterRung& rung : of_group(rungs, group)) {
    const auto launch = [&] {
      std::get<Scatter<__half>>(rung.launch)(d_values.data(), d_index.data(), n, table.data(),
                                             targets, nullptr);
    };
    if (rung.expect) {
      ladder.wrong({.name = rung.name,
                    .changed = rung.changed,
                    .expect = *rung.expect,
                    .because = rung.because,
                    .reset = reset,
                    .launch = launch,
                    .result = result,
                    .exactly = static_cast<double>(targets - 2 * n)});
    } else {
      ladder.rung({.name = rung.name,
                   .changed = rung.changed,
                   .reset = reset,
                   .launch = launch,
                   .result = result,
                   .operations = n});
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  course::Ladder ladder(
      "08-fast-add", argc, argv,
      {.gpu_n = power(26),
       .cpu_n = power(12),
       .n_means = "updates",
       .since = {{"rows_float", 90}, {"rows_red_v4", 90}, {"scatter_fast<__nv_bfloat16>", 90}}});
  return ladder.run([](course::Ladder& rungs) {
    const std::size_t n = rungs.n();
    // A 64th of the updates for scatter_half, which takes 2 seconds for 2^26.
    exact(rungs, Group::few_slow, std::min(n, on(power(20), 1024)), on(power(10), 16));
    exact(rungs, Group::few, n, on(power(10), 16));
    exact(rungs, Group::cached, n, on(power(20), 512));
    exact(rungs, Group::uncached, n, on(power(26), power(12)));
    rows(rungs, Group::rows, n);
    rounding(rungs, n);
    rows(rungs, Group::rows_rounding, n);
    stagnation(rungs, n);
    types(rungs, n);
    divergence(rungs, n);
    untouched(rungs, Group::negative_zeros, scatter_rungs(), "-0.0", -0.0f,
              [](const __half& x) { return bits_of(x) == 0x8000; });
    lost_updates(rungs, n);
    maxima(rungs, n);
    untouched(rungs, Group::no_values, max_rungs(), "NaN, no value", std::nanf(""),
              [](const __half& x) { return std::isnan(static_cast<float>(x)); });
  });
}
