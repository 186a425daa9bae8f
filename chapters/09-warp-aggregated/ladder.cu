// Runs the rungs of chapter 09: a filter that keeps 0, 5, 50 and 100 % of its numbers, places in
// several lists, and a float sum.
#include <algorithm>
#include <course/buffer.cuh>
#include <course/data.cuh>
#include <course/ladder.cuh>
#include <cstddef>
#include <string>
#include <vector>

#include "inputs.cuh"
#include "rungs.cuh"
#if !COURSE_CPU_DEVICE
#include "vendor.cuh"
#endif

namespace {

using course::DeviceBuffer;

void filters(course::Ladder& ladder, unsigned percent) {
  const std::size_t n = ladder.n();
  std::vector<int> x = filter_input(n, percent);
  const auto d_x = DeviceBuffer<int>::from(x);
  const auto expected = DeviceBuffer<int>::from(filter_reference(x));
  x = {};  // a GiB of the host's memory
  DeviceBuffer<int> out(std::max<std::size_t>(n, 1));
  DeviceBuffer<Count> count(1);
  const std::string kept = std::to_string(percent) + " % kept";
  ladder.reference("filter_reference", static_cast<double>(expected.size()),
                   "one CPU thread, std::copy_if; " + kept);

  const auto row = [&](course::Rung rung, bool in_order) {
    rung.changed += "; " + kept;
    rung.reset = [&] {
      count.fill_bytes(0);
      out.fill_bytes(0xff);  // or a rung that writes nothing would look right
    };
    rung.result = [&] { return static_cast<double>(count.front()); };
    rung.check = [&, in_order] {
      const course::Verdict size = course::same(count.front(), expected.size(), "count");
      return size.ok ? kept_is_right(out, expected, in_order) : size;
    };
    rung.bytes = (n + expected.size()) * sizeof(int);
    return rung;
  };
  for (const FilterRung& rung : filter_rungs()) {
    const auto launch = [&] { rung.launch(d_x.data(), n, out.data(), count.data()); };
    if (rung.because.empty()) {
      ladder.rung(
          row({.name = rung.name, .changed = rung.changed, .launch = launch}, rung.in_order));
    } else if (percent == 50 && n >= 1024) {
      ladder.wrong({.name = rung.name,
                    .changed = rung.changed,
                    .because = rung.because,
                    .reset = [&] { count.fill_bytes(0); },
                    .launch = launch,
                    .result = [&] { return static_cast<double>(count.front()); },
                    .exactly = static_cast<double>(n)});
    }
  }
#if !COURSE_CPU_DEVICE
  ladder.vendor(row(cub_filter(d_x.data(), n, out.data(), count.data()), true));
#endif
}

/// Places in lists: the table shows how many numbers have the commonest key.
void places(course::Ladder& ladder, std::size_t keys) {
  const std::size_t n = std::min(ladder.n(), std::size_t{1} << (course::kCpuDevice ? 12 : 24));
  const std::vector<int> key = random_keys(n, keys);
  const std::vector<Count> expected = count_keys(key, keys), zeros(keys, 0);
  const auto commonest = static_cast<std::size_t>(
      std::max_element(expected.begin(), expected.end()) - expected.begin());
  const auto d_key = DeviceBuffer<int>::from(key);
  DeviceBuffer<Count> counts(keys), where(std::max<std::size_t>(n, 1));
  const std::string lists = std::to_string(keys) + " lists";
  ladder.reference("count_keys", static_cast<double>(expected[commonest]),
                   lists + "; the longest is shown", n);
  const auto reset = [&] {
    counts.fill_bytes(0);
    where.fill_bytes(0xff);
  };
  const auto result = [&] { return static_cast<double>(counts.download()[commonest]); };
  const auto check = [&] {
    const course::Verdict sizes = course::same(counts.download(), expected, "counts");
    return sizes.ok ? places_are_right(where.download(), key, zeros) : sizes;
  };
  for (const PlacesRung& rung : kPlacesRungs) {
    const auto launch = [&] { rung.launch(d_key.data(), n, counts.data(), where.data()); };
    if (rung.because.empty()) {
      ladder.rung({.name = rung.name,
                   .changed = rung.changed + "; " + lists,
                   .reset = reset,
                   .launch = launch,
                   .result = result,
                   .check = check,
                   .bytes = n * (sizeof(int) + sizeof(Count)),
                   .operations = n});
    } else if (n >= 1024) {
      ladder.wrong({.name = rung.name,
                    .changed = rung.changed,
                    .because = rung.because,
                    .reset = reset,
                    .launch = launch,
                    .result = result,
                    .check = check});
    }
  }
}

/// A sum of the numbers above a limit: eighths, so that it is exact in any order.
void floats(course::Ladder& ladder) {
  const std::size_t n = std::min(ladder.n(), std::size_t{1} << (course::kCpuDevice ? 12 : 22));
  constexpr float kLimit = 1.0f;
  std::vector<float> x = course::position_values<float>(n);
  double expected = 0;
  for (float& value : x) {
    if (value > kLimit) value = 1.5f;  // 2^22 times 1.5, in steps of 0.5: below 2^24 steps
    expected += value > kLimit ? value : 0;
  }
  const auto d_x = DeviceBuffer<float>::from(x);
  DeviceBuffer<float> sum(1);
  ladder.reference("sum above 1", expected, "one CPU thread, in double", n);
  for (const FloatRung& rung : kFloatRungs) {
    ladder.rung({.name = rung.name,
                 .changed = rung.changed,
                 .reset = [&] { sum.fill_bytes(0); },
                 .launch = [&] { rung.launch(d_x.data(), n, kLimit, sum.data()); },
                 .result = [&] { return static_cast<double>(sum.front()); },
                 .bytes = d_x.bytes()});
  }
}

}  // namespace

int main(int argc, char** argv) {
  course::Ladder ladder("09-warp-aggregated", argc, argv,
                        {.gpu_n = std::size_t{1} << 28, .cpu_n = std::size_t{1} << 13});
  return ladder.run([](course::Ladder& rungs) {
    for (const unsigned percent : {0u, 5u, 50u, 100u}) filters(rungs, percent);
    for (const std::size_t keys : {4u, 64u}) places(rungs, keys);
    floats(rungs);
  });
}
