// Runs the rungs of chapter 14: prefix sums of floats at three sizes.
#include <algorithm>
#include <course/buffer.cuh>
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
    rung.result = [&, of] { return static_cast<double>(out.download()[of - 1]); };
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

}  // namespace

int main(int argc, char** argv) {
  course::Ladder ladder("14-scan", argc, argv,
                        {.gpu_n = std::size_t{1} << 28,
                         .cpu_n = std::size_t{1} << 14,
                         .max_n = std::size_t{1} << 30,
                         .since = {{"scan_bulk", 90}}});
  return ladder.run([](course::Ladder& rungs) {
    for (const std::size_t n :
         rungs.sizes({std::size_t{1} << 20, std::size_t{1} << 24, std::size_t{1} << 28})) {
      sums(rungs, n);
    }
  });
}
