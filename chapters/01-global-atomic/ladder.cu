// Runs the rungs of chapter 01: a million threads and one result.
#include <algorithm>
#include <course/buffer.cuh>
#include <course/data.cuh>
#include <course/ladder.cuh>
#include <course/rungs.cuh>
#include <numeric>
#include <string>
#include <vector>

#include "rungs.cuh"
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
  const auto row = [&](course::Rung rung) {
    rung.reset = [&] { d_y.fill_bytes(0); };
    rung.result = [&] { return static_cast<double>(d_y.front()); };
    rung.bytes = d_x.bytes();
    return rung;
  };

  ladder.reference("sum_reference", sum_reference(x), "one CPU thread, in double");
  for (const SumRung& rung : sum_rungs()) {
    const auto launch = [&] { rung.launch(d_x.data(), x.size(), d_y.data()); };
    const course::Rung mine = row({.name = rung.name, .changed = rung.changed, .launch = launch});
    if (rung.because.empty()) {
      ladder.rung(mine);
    } else if (x.size() >= kEnoughToRace) {
      ladder.wrong(course::wrong_rung(mine, course::Expect::race_and_wrong_value, rung.because));
    }
  }
#if !COURSE_CPU_DEVICE
  ladder.vendor(row(cub_sum(d_x.data(), x.size(), d_y.data())));
#endif
}

void count(course::Ladder& ladder) {
  constexpr float kThreshold = 1.5f;
  const std::vector<float> x = course::position_values<float>(ladder.n());
  const auto d_x = course::DeviceBuffer<float>::from(x);
  course::DeviceBuffer<int> d_count(1);

  ladder.reference("count_above_reference", count_above_reference(x, kThreshold),
                   "one CPU thread, exact");
  for (const CountRung& rung : count_rungs()) {
    ladder.rung({.name = rung.name,
                 .changed = rung.changed,
                 .reset = [&] { d_count.fill_bytes(0); },
                 .launch = [&] { rung.launch(d_x.data(), x.size(), kThreshold, d_count.data()); },
                 .result = [&] { return static_cast<double>(d_count.front()); },
                 .bytes = d_x.bytes()});
  }
}

void stagnation(course::Ladder& ladder) {
  const Stagnation s = course::skip_large() ? kStagnationEnd : kStagnationFull;
  course::DeviceBuffer<float> d_y(1);
  float h_y = 0.0f;

  std::string how = "in double";
  if (s.start > 0.0f) how += ", starting at " + std::to_string(static_cast<int>(s.start));
  ladder.reference("add_same_value_reference", add_same_value_reference(s), how);
  for (const StagnationRung& rung : stagnation_rungs()) {
    ladder.wrong({.name = rung.name,
                  .changed = rung.changed,
                  .expect = course::Expect::wrong_value,
                  .because = rung.because,
                  .reset =
                      [&] {
                        h_y = s.start;
                        d_y.upload({s.start});
                      },
                  .launch = [&] { rung.launch(s, rung.on_host ? &h_y : d_y.data()); },
                  .result = [&] { return static_cast<double>(rung.on_host ? h_y : d_y.front()); },
                  .exactly = kStagnatesAt,
                  .n = s.count});
  }
}

void histogram(course::Ladder& ladder) {
  const std::vector<unsigned char>& bytes = ladder.file_bytes();
  const auto d_bytes = course::DeviceBuffer<unsigned char>::from(bytes);
  course::DeviceBuffer<unsigned> d_bins(kBins);
  const std::vector<unsigned> expected = byte_histogram_reference(bytes);
  const auto commonest = std::max_element(expected.begin(), expected.end()) - expected.begin();
  const auto row = [&](course::Rung rung) {
    rung.reset = [&] { d_bins.fill_bytes(0); };
    rung.result = [&] {  // the row shows one bin, and all are checked
      return static_cast<double>(d_bins.download()[static_cast<std::size_t>(commonest)]);
    };
    rung.check = [&] { return course::same(d_bins.download(), expected, "bins"); };
    rung.bytes = bytes.size();
    rung.n = bytes.size();
    return rung;
  };

  ladder.reference("byte_histogram_reference", *std::max_element(expected.begin(), expected.end()),
                   "the file's commonest byte, " + std::to_string(commonest));
  for (const HistogramRung& rung : histogram_rungs()) {
    const auto launch = [&] { rung.launch(d_bytes.data(), bytes.size(), d_bins.data()); };
    ladder.rung(row({.name = rung.name, .changed = rung.changed, .launch = launch}));
  }
#if !COURSE_CPU_DEVICE
  if (!bytes.empty()) {
    ladder.vendor(row(cub_byte_histogram(d_bytes.data(), bytes.size(), d_bins.data())));
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
