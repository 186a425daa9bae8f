// Runs the rungs of chapter 01: a million threads and one result.
#include <algorithm>
#include <course/buffer.cuh>
#include <course/data.cuh>
#include <course/ladder.cuh>
#include <numeric>
#include <string>
#include <vector>

#include "global_atomic.cuh"
#include "histogram.cuh"
#include "rungs.cuh"
#include "stagnation.cuh"
#if !COURSE_CPU_DEVICE
#include "vendor.cuh"
#endif

namespace {

/// Below this, the threads that race may get away with it.
constexpr std::size_t kEnoughToRace = 1024;

void sum(course::Ladder& ladder) {
  // Heads or tails, 1 or 0: a float sum of up to 2^24 of them is exact, so one lost update shows.
  std::vector<float> x = course::position_values<float>(ladder.n());
  for (float& value : x) value = value > 1.0f ? 1.0f : 0.0f;
  const auto d_x = course::DeviceBuffer<float>::from(x);
  course::DeviceBuffer<float> d_y(1);
  const auto reset = [&] { d_y.fill_bytes(0); };
  const auto result = [&] { return static_cast<double>(d_y.front()); };

  ladder.reference("sum_reference", sum_reference(x), "one CPU thread, in double");
  if (x.size() >= kEnoughToRace) {
    ladder.wrong({.name = "sum_racy",
                  .changed = "d_y[0] += x, by every thread",
                  .expect = course::Expect::race_and_wrong_value,
                  .because = "another thread stores between this thread's load and its store",
                  .reset = reset,
                  .launch = [&] { launch_sum_racy(d_x.data(), x.size(), d_y.data()); },
                  .result = result});
  }
  ladder.rung({.name = "sum_global_atomic",
               .changed = "one atomicAdd per element",
               .reset = reset,
               .launch = [&] { launch_sum_global_atomic(d_x.data(), x.size(), d_y.data()); },
               .result = result,
               .bytes = d_x.bytes()});
#if !COURSE_CPU_DEVICE
  ladder.vendor({.name = "cub::DeviceReduce::Sum",
                 .changed = "CUB",
                 .reset = reset,
                 .launch = cub_sum(d_x.data(), x.size(), d_y.data()),
                 .result = result,
                 .bytes = d_x.bytes()});
#endif
}

void count(course::Ladder& ladder) {
  constexpr float kThreshold = 1.5f;
  const std::vector<float> x = course::position_values<float>(ladder.n());
  const auto d_x = course::DeviceBuffer<float>::from(x);
  course::DeviceBuffer<int> d_count(1);

  ladder.reference("count_above_reference", count_above_reference(x, kThreshold),
                   "one CPU thread, exact");
  ladder.rung(
      {.name = "count_above",
       .changed = "atomicAdd on an int, by threads with a hit",
       .reset = [&] { d_count.fill_bytes(0); },
       .launch = [&] { launch_count_above(d_x.data(), x.size(), kThreshold, d_count.data()); },
       .result = [&] { return static_cast<double>(d_count.front()); },
       .bytes = d_x.bytes()});
}

void stagnation(course::Ladder& ladder) {
  const Stagnation s = course::skip_large() ? kStagnationEnd : kStagnationFull;
  course::DeviceBuffer<float> d_y(1);
  float on_the_host = 0.0f;

  std::string how = "in double";
  if (s.start > 0.0f) how += ", starting at " + std::to_string(static_cast<int>(s.start));
  ladder.reference("add_same_value_reference", add_same_value_reference(s), how);
  ladder.wrong({.name = "add_same_value_float",
                .changed = "1.23 again and again, in float, one CPU thread",
                .expect = course::Expect::wrong_value,
                .because = "from 2^25 on, floats are 4 apart, and 1.23 is rounded away",
                .launch = [&] { on_the_host = add_same_value_float(s); },
                .result = [&] { return static_cast<double>(on_the_host); },
                .exactly = kStagnatesAt,
                .n = s.count});
  ladder.wrong({.name = "add_same_value",
                .changed = "the same with atomicAdd",
                .expect = course::Expect::wrong_value,
                .because = "no update is lost, but each one is rounded in the same way",
                .reset = [&] { d_y.upload({s.start}); },
                .launch =
                    [&] {
                      course::launch(add_same_value, {blocks_for(s.count), kBlockSize}, s.value,
                                     s.count, d_y.data());
                    },
                .result = [&] { return static_cast<double>(d_y.front()); },
                .exactly = kStagnatesAt,
                .n = s.count});
}

void histogram(course::Ladder& ladder) {
  const std::vector<unsigned char>& bytes = ladder.file_bytes();
  const auto d_bytes = course::DeviceBuffer<unsigned char>::from(bytes);
  course::DeviceBuffer<unsigned> d_bins(kBins);
  const std::vector<unsigned> expected = byte_histogram_reference(bytes);
  const auto commonest = std::max_element(expected.begin(), expected.end()) - expected.begin();
  const auto reset = [&] { d_bins.fill_bytes(0); };
  const auto result = [&] {  // the row shows one bin, and all are checked
    return static_cast<double>(d_bins.download()[static_cast<std::size_t>(commonest)]);
  };
  const auto check = [&] { return course::same(d_bins.download(), expected, "bins"); };

  ladder.reference("byte_histogram_reference", *std::max_element(expected.begin(), expected.end()),
                   "the file's commonest byte, " + std::to_string(commonest));
  ladder.rung({.name = "byte_histogram",
               .changed = "256 bins, the data choose the address",
               .reset = reset,
               .launch =
                   [&] {
                     course::launch(byte_histogram, {blocks_for(bytes.size()), kBlockSize},
                                    d_bytes.data(), bytes.size(), d_bins.data());
                   },
               .result = result,
               .check = check,
               .bytes = bytes.size(),
               .n = bytes.size()});
#if !COURSE_CPU_DEVICE
  if (!bytes.empty()) {
    ladder.vendor({.name = "cub::DeviceHistogram::HistogramEven",
                   .changed = "CUB",
                   .reset = reset,
                   .launch = cub_byte_histogram(d_bytes.data(), bytes.size(), d_bins.data()),
                   .result = result,
                   .check = check,
                   .bytes = bytes.size(),
                   .n = bytes.size()});
  }
#endif
}

void contention(course::Ladder& ladder) {
  const std::size_t n = ladder.n();
  course::DeviceBuffer<float> d_y(std::max(n, kContentionBins));
  const auto reset = [&] { d_y.fill_bytes(0); };
  const auto result = [&] {  // exact: each address holds a count, and so does their sum
    const std::vector<float> y = d_y.download();
    return std::accumulate(y.begin(), y.end(), 0.0);
  };

  ladder.reference("n", static_cast<double>(n), "every thread adds 1");
  for (const ContentionRung& rung : contention_rungs()) {
    ladder.rung({.name = rung.name,
                 .changed = rung.changed,
                 .reset = reset,
                 .launch = [&] { rung.launch(n, d_y.data()); },
                 .result = result});
  }
}

}  // namespace

int main(int argc, char** argv) {
  course::Ladder ladder("01-global-atomic", argc, argv,
                        {.max_n = kExactFloatCounts, .default_file = "README.md"});
  return ladder.run([](course::Ladder& rungs) {
    sum(rungs);
    count(rungs);
    stagnation(rungs);
    histogram(rungs);
    contention(rungs);
  });
}
