// Runs the rungs of chapter 14: prefix sums of floats, scans of other operations, segments, runs and sorts.
#include <algorithm>
#include <course/buffer.cuh>
#include <course/ladder.cuh>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "inputs.cuh"
#include "rungs.cuh"
#if !COURSE_CPU_DEVICE
#include "vendor.cuh"
#endif

namespace {

using course::DeviceBuffer;

void sums(course::Ladder& ladder, std::size_t n) {
  const std::vector<float> x = exact_input(n);
  std::vector<float> expected(n);
  float sum = 0;
  for (std::size_t i = 0; i < n; ++i) expected[i] = sum += x[i];  // exact
  const auto d_x = DeviceBuffer<float>::from(x), d_expected = DeviceBuffer<float>::from(expected);
  DeviceBuffer<float> out(std::max<std::size_t>(n, 1));
  ScanMemory memory;
  ladder.reference("scan_reference", static_cast<double>(sum),
                   "prefix sums of floats; the last one is shown", n);
  const auto row = [&](course::Rung rung, std::size_t of) {
    rung.reset = [&] { out.fill_bytes(0xff); };  // or a rung that writes nothing would look right
    rung.result = [&, of] { return shown_element(out, of - 1); };
    rung.check = [&, of] { return same_on_device(out, d_expected, of, "out"); };
    rung.bytes = 2 * of * sizeof(float);
    rung.n = of;
    return rung;
  };
  for (const ScanRung& rung : scan_rungs()) {
    const std::size_t of = std::min(n, rung.most);
    ladder.rung(row({.name = rung.name,
                     .changed = rung.changed,
                     .launch = [&, of] { rung.launch(d_x.data(), of, out.data(), memory); }},
                    of));
  }
#if !COURSE_CPU_DEVICE
  ladder.vendor(row(cub_scan(d_x.data(), n, out.data()), n));
#endif
  for (const WrongScan& rung : wrong_scans()) {
    if (n < 1024 || n > std::size_t{1} << 20) continue;
    ladder.wrong({.name = rung.name,
                  .changed = rung.changed,
                  .expect = course::Expect::race,
                  .because = rung.because,
                  .launch = [&] { rung.launch(d_x.data(), n, out.data()); },
                  .check = [&] { return same_on_device(out, d_expected, n, "out"); }});
  }
}

/// A linear recurrence, and exclusive sums: the rungs take any operation.
template <Scan kind, class T, class Operation, class Make>
void any(course::Ladder& ladder, std::size_t n, const char* what, Make make) {
  std::vector<T> x(n), expected(n);
  T before = Operation::template identity<T>();
  for (std::size_t i = 0; i < n; ++i) {
    x[i] = make(i);
    const T upto = Operation{}(before, x[i]);
    expected[i] = kind == Scan::inclusive ? upto : before;
    before = upto;
  }
  const auto d_x = DeviceBuffer<T>::from(x), d_expected = DeviceBuffer<T>::from(expected);
  DeviceBuffer<T> out(std::max<std::size_t>(n, 1));
  AnyMemory<T> memory;
  ladder.reference("one element after the other", static_cast<double>(n), what, n);
  const auto row = [&](course::Rung rung) {
    rung.reset = [&] { out.fill_bytes(0xff); };
    rung.check = [&] {
      return course::same(count_of_differences(out, d_expected, n), 0, "elements that are wrong");
    };
    rung.bytes = 2 * n * sizeof(T);
    return rung;
  };
  for (const auto& rung : any_rungs<kind, T, Operation>()) {
    ladder.rung(row({.name = rung.name, .changed = rung.changed, .launch = [&] {
                       rung.launch(d_x.data(), n, out.data(), memory);
                     }}));
  }
#if !COURSE_CPU_DEVICE
  ladder.vendor(row(cub_any(d_x.data(), n, out.data())));
#endif
}

void segments(course::Ladder& ladder, std::size_t n) {
  const std::vector<float> x = exact_input(n);
  std::vector<std::uint8_t> flags(n), keys(n);
  for (std::size_t i = 0; i < n; ++i) {
    flags[i] = i > 0 && course::mixed(i) % 100 == 0 ? 1 : 0;  // segments of 100 elements on average
    keys[i] = static_cast<std::uint8_t>(i == 0 ? 0 : keys[i - 1] + flags[i]);
  }
  const std::vector<double> sums =
      segments_reference(x, [&](std::size_t i) { return flags[i] != 0; });
  const auto d_x = DeviceBuffer<float>::from(x);
  const auto d_expected = DeviceBuffer<float>::from({sums.begin(), sums.end()});
  const auto d_flags = DeviceBuffer<std::uint8_t>::from(flags),
             d_keys = DeviceBuffer<std::uint8_t>::from(keys);
  DeviceBuffer<float> out(std::max<std::size_t>(n, 1));
  course::LookBackMemory<float> memory;
  const Segments where = {d_flags.data(), d_keys.data(), memory};
  ladder.reference("segments_reference", sums.empty() ? 0 : sums.back(),
                   "sums of segments; the last one is shown", n);
  const auto row = [&](course::Rung rung) {
    rung.reset = [&] { out.fill_bytes(0xff); };
    rung.result = [&] { return shown_element(out, n - 1); };
    rung.check = [&] { return same_on_device(out, d_expected, n, "out"); };
    rung.bytes = n * (2 * sizeof(float) + 1);
    return rung;
  };
  for (const SegmentRung& rung : segment_rungs()) {
    ladder.rung(row({.name = rung.name, .changed = rung.changed, .launch = [&] {
                       rung.launch(d_x.data(), n, where, out.data());
                     }}));
  }
#if !COURSE_CPU_DEVICE
  ladder.vendor(row(cub_scan_by_key(d_keys.data(), d_x.data(), n, out.data())));
#endif
}

void runs(course::Ladder& ladder, std::size_t n) {
  std::vector<unsigned> x(n);
  for (std::size_t i = 0; i < n; ++i) {
    x[i] = i == 0 ? 0 : x[i - 1] + (course::mixed(i) % 8 == 0 ? 1 : 0);  // 8 elements on average
  }
  const Encoded expected = encode_reference(x);
  const auto d_x = DeviceBuffer<unsigned>::from(x);
  const auto d_keys = DeviceBuffer<unsigned>::from(expected.keys),
             d_lengths = DeviceBuffer<unsigned>::from(expected.lengths);
  DeviceBuffer<unsigned> keys(n), lengths(n), count(1);
  course::LookBackMemory<Runs> memory;
  const std::size_t runs = expected.keys.size();
  ladder.reference("encode_reference", static_cast<double>(runs), "runs of equal keys", n);
  const auto row = [&](course::Rung rung) {
    rung.reset = [&] {
      keys.fill_bytes(0xff);
      lengths.fill_bytes(0xff);
      count.fill_bytes(0xff);
    };
    rung.result = [&] { return static_cast<double>(count.front()); };
    rung.check = [&] {
      course::Verdict verdict = course::same(count.front(), runs, "count");
      if (verdict.ok) verdict = same_on_device(keys, d_keys, runs, "keys");
      return verdict.ok ? same_on_device(lengths, d_lengths, runs, "lengths") : verdict;
    };
    rung.bytes = (n + 2 * runs) * sizeof(unsigned);
    return rung;
  };
  const RunArrays out = {keys.data(), lengths.data(), count.data()};
  for (const RunsRung& rung : runs_rungs()) {
    ladder.rung(row({.name = rung.name, .changed = rung.changed, .launch = [&] {
                       rung.launch(d_x.data(), n, out, memory);
                     }}));
  }
#if !COURSE_CPU_DEVICE
  ladder.vendor(row(cub_encode_runs(d_x.data(), n, out.d_keys, out.d_lengths, out.d_count)));
#endif
}

void sorts(course::Ladder& ladder, std::size_t n) {
  std::vector<unsigned> x(n);
  for (std::size_t i = 0; i < n; ++i) x[i] = static_cast<unsigned>(course::mixed(i));
  const auto d_x = DeviceBuffer<unsigned>::from(x);
  const std::vector<unsigned> by_digit = sorted_by_digits(std::move(x), 0, 1),
                              sorted = sorted_by_digits(by_digit, 1, kPasses);
  const auto d_by_digit = DeviceBuffer<unsigned>::from(by_digit),
             d_sorted = DeviceBuffer<unsigned>::from(sorted);
  DeviceBuffer<unsigned> out(std::max<std::size_t>(n, 1));
  RadixMemory memory;
  for (const unsigned passes : {1u, kPasses}) {
    const auto& d_expected = passes == 1 ? d_by_digit : d_sorted;
    ladder.reference(passes == 1 ? "one pass of counting" : "four passes of counting",
                     n == 0 ? 0 : static_cast<double>((passes == 1 ? by_digit : sorted)[n / 2]),
                     passes == 1 ? "32-bit keys by their lowest 8 bits; the middle one is shown"
                                 : "32-bit keys; the middle one is shown",
                     n);
    const auto row = [&](course::Rung rung) {
      rung.reset = [&] { out.fill_bytes(0xff); };
      rung.result = [&] { return shown_element(out, n / 2); };
      rung.check = [&] { return same_on_device(out, d_expected, n, "out"); };
      rung.bytes = (2 * passes + 1) * n * sizeof(unsigned);
      return rung;
    };
    for (const RadixRung& rung : radix_rungs()) {
      if (rung.passes != passes) continue;
      ladder.rung(row({.name = rung.name, .changed = rung.changed, .launch = [&] {
                         rung.launch(d_x.data(), n, out.data(), memory);
                       }}));
    }
#if !COURSE_CPU_DEVICE
    ladder.vendor(row(cub_sort(d_x.data(), n, out.data(), passes * kDigitBits)));
#endif
  }
}

}  // namespace

int main(int argc, char** argv) {
  course::Ladder ladder("14-scan", argc, argv,
                        {.gpu_n = std::size_t{1} << 28,
                         .cpu_n = std::size_t{1} << 14,
                         .max_n = std::size_t{1} << 30});
  return ladder.run([](course::Ladder& rungs) {
    for (const std::size_t n :
         rungs.sizes({std::size_t{1} << 20, std::size_t{1} << 24, std::size_t{1} << 28})) {
      sums(rungs, n);
    }
    for (const std::size_t n : rungs.sizes({std::size_t{1} << 27})) {
      any<Scan::inclusive, Affine<unsigned>, Compose>(
          rungs, n, "a linear recurrence: x -> a x + b, modulo 2^32", [](std::size_t i) {
            return Affine<unsigned>{static_cast<unsigned>(course::mixed(i)) | 1u,
                                    static_cast<unsigned>(course::mixed(i) >> 32)};
          });
      any<Scan::exclusive, unsigned, course::Sum>(
          rungs, n, "exclusive sums of unsigned",
          [](std::size_t i) { return static_cast<unsigned>(course::mixed(i)); });
    }
    for (const std::size_t n :
         rungs.sizes({std::size_t{1} << 20, std::size_t{1} << 24, std::size_t{1} << 28})) {
      segments(rungs, n);
      runs(rungs, n);
      sorts(rungs, n);
    }
  });
}
