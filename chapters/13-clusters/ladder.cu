// Runs the rungs of chapter 13: sums, histograms of 2^16 bins, and rows, with clusters and bulk operations.
#include <algorithm>
#include <course/buffer.cuh>
#include <course/ladder.cuh>
#include <string>
#include <vector>

#include "inputs.cuh"
#include "rungs.cuh"

using namespace cluster_checks;
#if !COURSE_CPU_DEVICE
#include "vendor.cuh"
#endif

namespace {

constexpr std::size_t power(unsigned exponent) { return std::size_t{1} << exponent; }

constexpr std::size_t on(std::size_t gpu, std::size_t cpu) {
  return course::kCpuDevice ? cpu : gpu;
}

/// True if the device has what the chapter is about; else a row says what is missing.
bool can_run(course::Ladder& ladder, const std::string& name) {
  if (course::has_clusters()) return true;
  ladder.skip(name, course::kNoClusters);
  return false;
}

// ---- sums ---------------------------------------------------------------------------------------

#if !COURSE_CPU_DEVICE
course::Rung cub_sum_row(const course::DeviceBuffer<float>& d_x, course::DeviceBuffer<float>& sum) {
  course::Rung cub = cub_sum(d_x.data(), d_x.size(), sum.data());
  cub.result = [&sum] { return static_cast<double>(sum.front()); };
  cub.bytes = d_x.bytes();
  return cub;
}
#endif

void sums(course::Ladder& ladder, std::size_t n) {
  const std::vector<float> x = zeros_and_ones(n);
  Summing input(x);
  ladder.reference("sum_reference", sum_reference(x), "float; one CPU thread, in double", n);
  for (const SumRung& rung : sum_rungs()) {
    if (!can_run(ladder, rung.name)) continue;
    course::Rung row{.name = rung.name,
                     .changed = rung.changed,
                     .reset = [&] { input.reset(); },
                     .launch = [&, rung] { input.launch(rung); },
                     .result = [&] { return static_cast<double>(input.sum()); },
                     .bytes = input.d_x.bytes()};
    if (!rung.sums) row.check = [] { return course::Verdict{}; };  // it has no answer
    ladder.rung(row);
  }
  for (const FloorRung& rung : floor_rungs()) {
    ladder.rung({.name = rung.name,
                 .changed = rung.changed,
                 .launch = rung.launch,
                 .result = [] { return 0.0; },
                 .check = [] { return course::Verdict{}; }});
  }
#if !COURSE_CPU_DEVICE
  ladder.vendor(cub_sum_row(input.d_x, input.cells));
#endif
}

void sums_in_two_steps(course::Ladder& ladder, std::size_t n) {
  const std::vector<float> x = zeros_and_ones(n);
  StepsMemory memory(x);
  ladder.reference("sum_reference", sum_reference(x),
                   "float, in two steps; one CPU thread, in double", n);
  for (const StepsRung& rung : steps_rungs()) {
    if (!can_run(ladder, rung.name)) continue;
    ladder.rung({.name = rung.name,
                 .changed = rung.changed,
                 .reset = [&] { memory.sum.fill_bytes(0xFF); },  // NaN
                 .launch = [&, rung] { rung.launch(memory); },
                 .result = [&] { return static_cast<double>(memory.sum.front()); },
                 .bytes = memory.d_x.bytes()});
  }
#if !COURSE_CPU_DEVICE
  ladder.vendor(cub_sum_row(memory.d_x, memory.sum));
#endif
}

// ---- a chain of ten steps -----------------------------------------------------------------------

void chains(course::Ladder& ladder, std::size_t n) {
  const std::vector<float> x = zeros_and_ones(n);
  const std::vector<float> expected = chain_reference(x);
  ChainMemory memory(x);
  ladder.reference("chain_reference", expected[n / 2],
                   "ten steps; one CPU thread; the middle number is shown", n);
  for (const ChainRung& rung : chain_rungs()) {
    if (!can_run(ladder, rung.name)) continue;
    ladder.rung({.name = rung.name,
                 .changed = rung.changed,
                 .reset = [&] { memory.forget(); },
                 .launch = [&, rung] { rung.launch(memory); },
                 .result = [&] { return static_cast<double>(memory.result()[n / 2]); },
                 .check = [&] { return course::same(memory.result(), expected, "numbers"); },
                 .l2 = course::L2::warm});
  }
}

// ---- histograms ---------------------------------------------------------------------------------

void histograms(course::Ladder& ladder, std::size_t n, const std::string& kind,
                std::vector<Value> (*make)(std::size_t, unsigned)) {
  constexpr unsigned kBins = on(65'536, 1024);
  const std::vector<Value> values = make(n, kBins);
  const std::vector<unsigned> expected = histogram_reference(values, kBins);
  const auto d_values = course::DeviceBuffer<Value>::from(values);
  course::DeviceBuffer<unsigned> bins(kBins);
  ladder.reference("histogram_reference", expected[5],
                   std::to_string(kBins) + " bins, " + kind + "; bin 5 is shown", n);
  const auto row = [&](course::Rung rung) {
    rung.reset = [&] { bins.fill_bytes(0x5A); };
    rung.result = [&] { return static_cast<double>(bins.download()[5]); };
    rung.check = [&] { return course::same(bins.download(), expected, "bins"); };
    rung.bytes = d_values.bytes();
    rung.operations = n;
    return rung;
  };
  for (const HistogramRung& rung : histogram_rungs()) {
    if (!can_run(ladder, rung.name)) continue;
    const auto launch = [&] { rung.launch({d_values.data(), n, bins.data(), kBins}); };
    ladder.rung(row({.name = rung.name, .changed = rung.changed, .launch = launch}));
  }
#if !COURSE_CPU_DEVICE
  ladder.vendor(row(cub_histogram(d_values.data(), n, bins.data(), kBins)));
#endif
}

// ---- rows ---------------------------------------------------------------------------------------

/// Rows of 128 bytes into a table that the L2 cache holds.
template <class T>
void rows(course::Ladder& ladder, std::size_t count, std::size_t table_rows,
          const std::string& type) {
  constexpr unsigned kWidth = 128 / sizeof(T);
  const std::vector<T> source = coin_flips<T>(count * kWidth);
  const std::vector<int> index = random_index(count, table_rows);
  const std::vector<double> expected = rows_reference(source, index, kWidth, table_rows);
  const auto d_source = course::DeviceBuffer<T>::from(source);
  const auto d_index = course::DeviceBuffer<int>::from(index);
  course::DeviceBuffer<T> table(table_rows * kWidth);
  ladder.reference("rows_reference", expected[0],
                   "rows of " + std::to_string(kWidth) + " " + type + " into " +
                       std::to_string(table_rows) + " rows, exact; the first element is shown",
                   count);
  if constexpr (std::is_same_v<T, __half>) {
    ladder.input("index", d_index);
    ladder.input("source", d_source, {count, kWidth});
    ladder.input("expected", course::DeviceBuffer<float>::from({expected.begin(), expected.end()}),
                 {table_rows, kWidth});
  }
  const auto row = [&](const RowsRung<T>& rung) {
    return course::Rung{
        .name = rung.name,
        .changed = rung.changed,
        .reset = [&] { table.fill_bytes(0); },
        .launch =
            [&, rung] {
              rung.launch({d_source.data(), d_index.data(), count, kWidth, table.data()});
            },
        .result = [&] { return static_cast<double>(static_cast<float>(table.front())); },
        .check =
            [&] {
              const std::vector<T> found = table.download();
              std::vector<double> numbers(found.size());
              std::transform(found.begin(), found.end(), numbers.begin(),
                             [](const T& x) { return static_cast<double>(static_cast<float>(x)); });
              return course::same(numbers, expected, "table");
            },
        .bytes = d_source.bytes() + d_index.bytes() + 2 * table.bytes(),
        .operations = source.size()};
  };
  for (const RowsRung<T>& rung : rows_rungs<T>()) {
    if (can_run(ladder, rung.name)) ladder.rung(row(rung));
  }
  if constexpr (std::is_same_v<T, __half> && !course::kCpuDevice) {
    for (const RowsRung<T>& part : parts_of_rows<T>()) {
      if (!can_run(ladder, part.name)) continue;
      course::Rung only = row(part);
      only.check = [] { return course::Verdict{}; };  // what it adds means nothing
      ladder.rung(only);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  course::Ladder ladder("13-clusters", argc, argv,
                        {.gpu_n = power(28), .cpu_n = power(13), .n_means = "elements"});
  return ladder.run([](course::Ladder& rungs) {
    for (const std::size_t n : rungs.sizes({power(20), power(24), power(28)})) sums(rungs, n);
    for (const std::size_t n : rungs.sizes({power(20)})) sums_in_two_steps(rungs, n);
    for (const std::size_t n : rungs.sizes({power(16)})) chains(rungs, n);
    const std::size_t n = rungs.n();
    histograms(rungs, n, "all as likely", even_values);
    histograms(rungs, n, "half of the values are 5", crowded_values);
    const std::size_t count = std::max<std::size_t>(n / 64, 1);
    const std::size_t table_rows = on(power(16), 16);
    rows<__half>(rungs, count, table_rows, "halves");
    rows<float>(rungs, count, table_rows, "floats");
    rows<__nv_bfloat16>(rungs, count, table_rows, "bfloat16");
  });
}
