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
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "divergence.cuh"
#include "index_add.cuh"
#include "inputs.cuh"
#include "scatter.cuh"
#include "segmented.cuh"
#include "sorted.cuh"
#include "wrong.cuh"
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

/// A table against one that is right to the last bit.
template <class T>
bool same_bits(const std::vector<T>& found, const std::vector<T>& expected) {
  return std::memcmp(found.data(), expected.data(), expected.size() * sizeof(T)) == 0;
}

/// What a rung's table is compared with: `judge` where sums are rounded, else the rounded
/// reference.
template <class T>
struct Judge {
  using Function = std::function<course::Verdict(const std::vector<T>&)>;
  Judge(const std::vector<double>& right, Function function)
      : expected(right), judge(std::move(function)) {
    if (!judge) exact = rounded<T>(expected);
  }
  course::Verdict verdict(const std::vector<T>& found) const {
    if (judge) return judge(found);
    return same_bits(found, exact) ? course::Verdict{} : course::same(found, exact, "table");
  }
  course::Errors errors(const std::vector<T>& found) const {
    const bool none = !judge && same_bits(found, exact);  // quick: the table may have 2^26 elements
    return none ? course::Errors{} : errors_of(found, expected);
  }
  const std::vector<double>& expected;
  Function judge;
  std::vector<T> exact = {};
};

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

  /// A rung on a table of zeros. `judge` looks at the table, which is exact if there is none.
  template <class Table, class Launch>
  course::Rung rung(const std::string& name, const std::string& changed,
                    course::DeviceBuffer<Table>& table, Launch launch,
                    typename Judge<Table>::Function function = {}) const {
    const auto judge = std::make_shared<Judge<Table>>(expected, std::move(function));
    return {.name = name,
            .changed = changed,
            .reset = [&table] { table.fill_bytes(0); },
            .launch =
                [this, &table, launch] {
                  launch(d_values.data(), d_index.data(), values.size(), table.data(), targets,
                         cudaStream_t{});
                },
            .result = [&table] { return static_cast<double>(static_cast<float>(table.front())); },
            .check = [&table, judge] { return judge->verdict(table.download()); },
            .errors = [&table, judge] { return judge->errors(table.download()); },
            .bytes = values.size() * (sizeof(T) + sizeof(int)) + 2 * table.bytes(),
            .operations = values.size()};
  }

  std::vector<T> values;
  std::vector<int> index;
  std::size_t targets;
  std::vector<double> expected;
  course::DeviceBuffer<T> d_values;
  course::DeviceBuffer<int> d_index;
};
using HalfUpdates = UpdatesOf<__half>;

// A launcher has the name of its kernel; these say which is meant.
const auto kHalf = [](auto... arguments) { scatter_half(arguments...); };
const auto kFast = [](auto... arguments) { scatter_fast(arguments...); };
const auto kFloat = [](auto... arguments) { scatter_float(arguments...); };
const auto kPrivatized = [](auto... arguments) { scatter_privatized(arguments...); };
const auto kInParts = [](auto... arguments) {
  scatter_in_parts(arguments..., course::kCpuDevice ? 10 : kPartBits);
};
const auto kSorted = [](auto... arguments) { sum_sorted(arguments...); };

/// Where every target is wanted by tens of thousands of updates.
void few_targets(course::Ladder& ladder, std::size_t n) {
  const std::size_t targets = on(power(10), 16);
  const HalfUpdates updates(coin_flips<__half>(n), random_index(n, targets), targets);
  course::DeviceBuffer<__half> table(targets);
  course::DeviceBuffer<float> floats(targets);
  updates.begin(ladder, "exact");
  ladder.rung(updates.rung("scatter_fast", "fast_atomic_add: a pair, one RED", table, kFast));
  ladder.rung(updates.rung("scatter_float", "the table has floats", floats, kFloat));
  ladder.rung(updates.rung("scatter_privatized", "each block adds up in shared memory first", table,
                           kPrivatized));
}

/// The same for a 64th of the updates: scatter_half takes 2 seconds for 2^26.
void few_targets_half(course::Ladder& ladder, std::size_t most) {
  const std::size_t n = std::min(most, on(power(20), 1024)), targets = on(power(10), 16);
  const HalfUpdates updates(coin_flips<__half>(n), random_index(n, targets), targets);
  course::DeviceBuffer<__half> table(targets);
  updates.begin(ladder, "exact");
  ladder.rung(updates.rung("scatter_half", "atomicAdd(__half*)", table, kHalf));
  ladder.rung(updates.rung("scatter_fast", "fast_atomic_add: a pair, one RED", table, kFast));
}

/// Where updates of one target are rare: a table that fits into the L2 cache, and one that does
/// not.
void many_targets(course::Ladder& ladder, std::size_t n, std::size_t targets, bool in_parts) {
  const HalfUpdates updates(coin_flips<__half>(n), random_index(n, targets), targets);
  course::DeviceBuffer<__half> table(targets);
  course::DeviceBuffer<float> floats(targets);
  updates.begin(ladder, "exact");
  ladder.rung(updates.rung("scatter_half", "atomicAdd(__half*)", table, kHalf));
  ladder.rung(updates.rung("scatter_float", "the table has floats", floats, kFloat));
  ladder.rung(updates.rung("scatter_fast", "fast_atomic_add: a pair, one RED", table, kFast));
  if (in_parts) {
    ladder.rung(
        updates.rung("scatter_in_parts", "one part of the table after the other", table, kInParts));
  }
}

/// One call for four types.
template <class T>
void type(course::Ladder& ladder, const char* name, std::size_t n) {
  const std::size_t targets = on(power(20), 256);
  const UpdatesOf<T> updates(coin_flips<T>(n), random_index(n, targets), targets);
  course::DeviceBuffer<T> table(targets);
  if constexpr (std::is_same_v<T, double>) updates.begin(ladder, "of four types, exact");
  ladder.rung(updates.rung(
      std::string("scatter_fast<") + name + ">",
      kAddsInPairs<T> ? "in a pair, with nothing for the partner" : "atomicAdd", table, kFast));
}

void types(course::Ladder& ladder, std::size_t most) {
  const std::size_t n = std::min(most, on(power(24), 1024));
  type<double>(ladder, "double", n);
  type<float>(ladder, "float", n);
  type<__nv_bfloat16>(ladder, "__nv_bfloat16", n);
  type<__half>(ladder, "__half", n);
}

/// The updates in the order of their targets, those of one target in their old order.
HalfUpdates sorted_by_target(const HalfUpdates& updates) {
  std::vector<std::size_t> order(updates.index.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return updates.index[a] < updates.index[b];
  });
  std::vector<__half> values;
  std::vector<int> index;
  for (const std::size_t i : order) {
    values.push_back(updates.values[i]);
    index.push_back(updates.index[i]);
  }
  return {values, index, updates.targets};
}

/// A bound for each element of a table of halves or floats.
template <class Table>
typename Judge<Table>::Function bounded(const std::vector<double>& expected,
                                        std::vector<double> bounds) {
  return [&expected, bounds = std::move(bounds)](const std::vector<Table>& found) {
    return within(found, expected, bounds);
  };
}

/// What remains if sums are made in float, and rounded to half once.
std::vector<double> rounded_once(const std::vector<double>& expected, std::vector<double> bounds) {
  for (std::size_t t = 0; t < expected.size(); ++t) {
    bounds[t] += 1.01 * course::kHalfRoundoff * std::fabs(expected[t]);
  }
  return bounds;
}

/// Numbers with all bits in use, 256 to a target: every addition in half is rounded.
void rounding(course::Ladder& ladder, std::size_t most) {
  const std::size_t n = std::min(most, on(power(20), 2048)),
                    targets = std::max<std::size_t>(n / 256, 1);
  const HalfUpdates updates(gradients(n), random_index(n, targets), targets);
  const HalfUpdates sorted = sorted_by_target(updates);
  const auto bounds = [&](double roundoff) {
    return rounding_bounds(updates.values, updates.index, targets, roundoff);
  };
  const auto in_half = bounded<__half>(updates.expected, bounds(course::kHalfRoundoff));
  const auto once = bounded<__half>(updates.expected,
                                    rounded_once(updates.expected, bounds(course::kFloatRoundoff)));
  course::DeviceBuffer<__half> table(targets);
  course::DeviceBuffer<float> floats(targets);
  updates.begin(ladder, "from -1 to 1, 256 to an element, in double");
  ladder.rung(updates.rung("scatter_fast", "added up in half", table, kFast, in_half));
  ladder.rung(
      updates.rung("scatter_privatized", "in float within a block", table, kPrivatized, in_half));
  ladder.rung(updates.rung("scatter_float", "the table has floats", floats, kFloat,
                           bounded<float>(updates.expected, bounds(course::kFloatRoundoff))));
  ladder.rung(sorted.rung("sum_sorted", "sorted before (not timed); in float, in a fixed order",
                          table, kSorted, once));
#if !COURSE_CPU_DEVICE
  int bits = 1;
  while (power(static_cast<unsigned>(bits)) < targets) ++bits;
  course::DeviceBuffer<int> d_index(n);
  course::DeviceBuffer<__half> d_values(n);
  const auto sort = cub_sort_updates(updates.d_index.data(), updates.d_values.data(), n, bits,
                                     d_index.data(), d_values.data());
  const auto sort_and_sum = [&](const __half*, const int*, std::size_t, __half* d_table,
                                std::size_t, cudaStream_t stream) {
    sort();
    sum_sorted(d_values.data(), d_index.data(), n, d_table, targets, stream);
  };
  ladder.rung(updates.rung("sort, then sum_sorted", "the sort (CUB's) is timed, too", table,
                           sort_and_sum, once));
#endif
}

/// 4096 ones for each element: from 2048 on a half does not feel a 1 any more.
void stagnation(course::Ladder& ladder, std::size_t most) {
  constexpr std::size_t kOnes = 4096;
  const std::size_t n = std::min(most, on(power(18), 2 * kOnes)) / kOnes * kOnes,
                    targets = n / kOnes;
  if (targets == 0) return;
  std::vector<int> index(n);
  for (std::size_t i = 0; i < n; ++i) index[i] = static_cast<int>(i % targets);
  const HalfUpdates updates(std::vector<__half>(n, __half(1.0f)), index, targets);
  const HalfUpdates sorted = sorted_by_target(updates);
  course::DeviceBuffer<__half> table(targets);
  course::DeviceBuffer<float> floats(targets);
  const auto stands_still = [&](const std::vector<__half>& found) {
    return course::same(found, std::vector<__half>(targets, __half(2048.0f)), "table");
  };
  // A block's sum is a whole number; adding it to at most 4096 errs by at most 1, the half of the
  // distance of two halves there. A block has at least 2048 updates.
  const std::vector<double> one_a_block(targets, static_cast<double>((n + 2047) / 2048));
  updates.begin(ladder, "4096 ones for each");
  ladder.rung(updates.rung("scatter_fast", "added up in half: stands still at 2048", table, kFast,
                           {stands_still}));
  ladder.rung(updates.rung("scatter_privatized", "in float within a block", table, kPrivatized,
                           bounded<__half>(updates.expected, one_a_block)));
  ladder.rung(updates.rung("scatter_float", "the table has floats", floats, kFloat));
  ladder.rung(sorted.rung("sum_sorted", "sorted before (not timed); in float", table, kSorted));
}

/// The same number of updates, with warps of one alignment and of both.
void divergence(course::Ladder& ladder, std::size_t most) {
  const std::size_t n = std::min(most, on(power(24), 1024)), words = on(power(19), 512);
  const std::pair<Alignment, std::string> alignments[] = {
      {Alignment::low, "all lanes low"},
      {Alignment::high, "all lanes high"},
      {Alignment::by_warp, "warp by warp low or high"},
      {Alignment::by_turns, "lane by lane low or high"}};
  course::DeviceBuffer<__half> table(2 * words);
  for (const auto& [alignment, name] : alignments) {
    std::vector<int> index = random_index(n, words);
    for (std::size_t i = 0; i < n; ++i) index[i] = 2 * index[i] + half_of(alignment, i);
    const HalfUpdates updates(coin_flips<__half>(n), index, 2 * words);
    ladder.reference("scatter_reference", updates.expected[0], name + "; element 0 is shown", n);
    ladder.rung(updates.rung("add_by_branch", name + ": an if for either", table,
                             [](auto... arguments) { add_by_branch(arguments...); }));
    ladder.rung(updates.rung("add_by_select", name + ": one RED for all", table,
                             [](auto... arguments) { add_by_select(arguments...); }));
  }
}

// ---- rows ---------------------------------------------------------------------------------------

/// Source rows, their index, and the table that is right afterwards.
struct RowUpdates {
  RowUpdates(const std::vector<__half>& source, std::vector<int> the_index, std::size_t the_width,
             std::size_t the_table_rows)
      : index(std::move(the_index)),
        width(the_width),
        table_rows(the_table_rows),
        expected(rows_reference(source, index, width, table_rows)),
        d_source(course::DeviceBuffer<__half>::from(source)),
        d_index(course::DeviceBuffer<int>::from(index)) {}

  void begin(course::Ladder& ladder, const std::string& how) const {
    ladder.reference("rows_reference", expected[0],
                     text(index.size()) + " rows of " + std::to_string(width) + " halves into " +
                         text(table_rows) + " rows, " + how + "; the first element is shown",
                     index.size());
    ladder.input("index", d_index);
    ladder.input("source", d_source, {index.size(), width});
    ladder.input("expected", course::DeviceBuffer<float>::from(rounded<float>(expected)),
                 {table_rows, width});
  }

  template <class Table, class Launch>
  course::Rung rung(const std::string& name, const std::string& changed,
                    course::DeviceBuffer<Table>& table, Launch launch,
                    typename Judge<Table>::Function function = {}) const {
    const auto judge = std::make_shared<Judge<Table>>(expected, std::move(function));
    return {.name = name,
            .changed = changed,
            .reset = [&table] { table.fill_bytes(0); },
            .launch =
                [this, &table, launch] {
                  launch(Rows{d_source.data(), d_index.data(), index.size(), width}, table.data(),
                         table_rows, cudaStream_t{});
                },
            .result = [&table] { return static_cast<double>(static_cast<float>(table.front())); },
            .check = [&table, judge] { return judge->verdict(table.download()); },
            .errors = [&table, judge] { return judge->errors(table.download()); },
            .bytes = d_source.bytes() + d_index.bytes() + 2 * table.bytes(),
            .operations = d_source.size()};
  }

  std::vector<int> index;
  std::size_t width, table_rows;
  std::vector<double> expected;
  course::DeviceBuffer<__half> d_source;
  course::DeviceBuffer<int> d_index;
};

constexpr std::size_t kWidth = 64;
const auto kRedV4 = [](auto&&... arguments) { rows_red_v4(arguments...); };
const auto kRowsFloat = [](auto&&... arguments) { rows_float(arguments...); };

/// The gradients of an embedding: some 64 rows to each row of the table.
void rows(course::Ladder& ladder, std::size_t n) {
  const std::size_t rows = n / (course::kCpuDevice ? kWidth : 16), table_rows = on(power(16), 16);
  const RowUpdates updates(coin_flips<__half>(rows * kWidth), random_index(rows, table_rows),
                           kWidth, table_rows);
  course::DeviceBuffer<__half> table(table_rows * kWidth);
  course::DeviceBuffer<float> floats(table_rows * kWidth);
  SortWorkspace workspace;
  updates.begin(ladder, "exact");
  ladder.rung(updates.rung("rows_half", "atomicAdd(__half*)", table,
                           [](auto&&... arguments) { rows_half(arguments...); }));
  ladder.rung(updates.rung("rows_fast", "fast_atomic_add: a RED a half", table,
                           [](auto&&... arguments) { rows_fast(arguments...); }));
  ladder.rung(
      updates.rung("rows_float", "the table has floats: a RED for four", floats, kRowsFloat));
  ladder.rung(updates.rung("rows_half2", "a RED for two", table,
                           [](auto&&... arguments) { rows_half2(arguments...); }));
  ladder.rung(updates.rung("rows_red_v4", "a RED for eight", table, kRedV4));
  ladder.rung(
      updates.rung("rows_sorted", "sorted first: no atomic on the table", table,
                   [&](const Rows& in, __half* d_table, std::size_t height, cudaStream_t stream) {
                     rows_sorted(in, d_table, height, workspace, stream);
                   }));
}

/// Rows whose sums are rounded: 64 to each row of the table, so that a bin is one chunk of
/// rows_sorted, rounded once.
void rows_rounding(course::Ladder& ladder, std::size_t most) {
  const std::size_t rows = std::min(most / kWidth, on(power(18), 64)),
                    table_rows = std::max<std::size_t>(rows / 64, 1);
  const std::vector<__half> source = gradients(rows * kWidth);
  const RowUpdates updates(source, random_index(rows, table_rows), kWidth, table_rows);
  std::vector<int> elements(rows * kWidth);  // the element of the table that each half is added to
  for (std::size_t i = 0; i < elements.size(); ++i) {
    elements[i] =
        updates.index[i / kWidth] * static_cast<int>(kWidth) + static_cast<int>(i % kWidth);
  }
  const auto bounds = [&](double roundoff) {
    return rounding_bounds(source, elements, table_rows * kWidth, roundoff);
  };
  course::DeviceBuffer<__half> table(table_rows * kWidth);
  course::DeviceBuffer<float> floats(table_rows * kWidth);
  SortWorkspace workspace;
  updates.begin(ladder, "from -1 to 1, 64 to a row, in double");
  ladder.rung(updates.rung("rows_red_v4", "added up in half", table, kRedV4,
                           bounded<__half>(updates.expected, bounds(course::kHalfRoundoff))));
  ladder.rung(updates.rung("rows_float", "the table has floats", floats, kRowsFloat,
                           bounded<float>(updates.expected, bounds(course::kFloatRoundoff))));
  ladder.rung(updates.rung(
      "rows_sorted", "in float, rounded to half once", table,
      [&](const Rows& in, __half* d_table, std::size_t height, cudaStream_t stream) {
        rows_sorted(in, d_table, height, workspace, stream);
      },
      bounded<__half>(updates.expected,
                      rounded_once(updates.expected, bounds(course::kFloatRoundoff)))));
}

// ---- wrong on purpose ---------------------------------------------------------------------------

void lost_updates(course::Ladder& ladder, std::size_t most) {
  const std::size_t n = std::min(most, on(power(20), 2048)), targets = on(power(10), 16);
  if (n < 1024) return;  // fewer may come out right
  const HalfUpdates updates(coin_flips<__half>(n), random_index(n, targets), targets);
  course::DeviceBuffer<__half> table(targets);
  ladder.reference("scatter_reference", updates.expected[0], "exact; element 0 is shown", n);
  ladder.wrong({.name = "scatter_plain",
                .changed = "a plain +=",
                .expect = course::Expect::race_and_wrong_value,
                .because = "another thread stores between this thread's load and its store",
                .reset = [&] { table.fill_bytes(0); },
                .launch =
                    [&] {
                      scatter_plain(updates.d_values.data(), updates.d_index.data(), n,
                                    table.data(), nullptr);
                    },
                .result = [&] { return static_cast<double>(static_cast<float>(table.front())); },
                .check =
                    [&] {
                      return course::same(table.download(), rounded<__half>(updates.expected),
                                          "table");
                    }});
}

/// A table of -0.0: every fourth element gets a 1, and the others should stay what they are.
void negative_zeros(course::Ladder& ladder) {
  const std::size_t targets = on(power(20), 256), n = targets / 4;
  std::vector<int> index(n);
  for (std::size_t i = 0; i < n; ++i) index[i] = static_cast<int>(4 * i);
  const auto d_index = course::DeviceBuffer<int>::from(index);
  const auto d_values = course::DeviceBuffer<__half>::from(std::vector<__half>(n, __half(1.0f)));
  const std::vector<__half> before(targets, __half(-0.0f));
  course::DeviceBuffer<__half> table(targets);
  const auto reset = [&] { table.upload(before); };
  const auto result = [&] {
    double count = 0;
    for (const __half& x : table.download()) {
      std::uint16_t bits = 0;
      std::memcpy(&bits, &x, sizeof bits);
      count += bits == 0x8000 ? 1 : 0;
    }
    return count;
  };
  ladder.reference("elements that hold -0.0", static_cast<double>(targets - n),
                   "every fourth one has got a 1", n);
  ladder.rung({.name = "scatter_fast",
               .changed = "adds -0.0 to the partner",
               .reset = reset,
               .launch =
                   [&] {
                     scatter_fast(d_values.data(), d_index.data(), n, table.data(), targets,
                                  cudaStream_t{});
                   },
               .result = result,
               .operations = n});
  ladder.wrong({.name = "scatter_plus_zero",
                .changed = "adds +0.0 to the partner",
                .expect = course::Expect::wrong_value,
                .because = "(-0.0) + (+0.0) is +0.0: the partner has lost its sign",
                .reset = reset,
                .launch =
                    [&] {
                      scatter_plus_zero(d_values.data(), d_index.data(), n, table.data(), targets,
                                        nullptr);
                    },
                .result = result,
                .exactly = static_cast<double>(targets - 2 * n)});
}

}  // namespace

int main(int argc, char** argv) {
  course::Ladder ladder("08-fast-add", argc, argv,
                        {.gpu_n = power(26), .cpu_n = power(12), .n_means = "updates"});
  return ladder.run([](course::Ladder& rungs) {
    const std::size_t n = rungs.n();
    few_targets_half(rungs, n);
    few_targets(rungs, n);
    many_targets(rungs, n, on(power(20), 512), false);
    many_targets(rungs, n, on(power(26), power(12)), true);
    rows(rungs, n);
    rounding(rungs, n);
    rows_rounding(rungs, n);
    stagnation(rungs, n);
    types(rungs, n);
    divergence(rungs, n);
    negative_zeros(rungs);
    lost_updates(rungs, n);
  });
}
