// Runs the rungs of chapter 00: the same work by one thread, by one block, and by a grid.
#include <course/buffer.cuh>
#include <course/data.cuh>
#include <course/ladder.cuh>
#include <cstddef>
#include <vector>

#include "rungs.cuh"
#if !COURSE_CPU_DEVICE
#include "vendor.cuh"
#endif

namespace {

void add_one(course::Ladder& ladder, std::size_t n) {
  const std::vector<float> x = course::position_values<float>(n);
  const std::vector<float> expected = add_one_reference(x);
  const auto d_x = course::DeviceBuffer<float>::from(x);
  course::DeviceBuffer<float> d_y(n);
  const auto row = [&](course::Rung rung) {
    rung.reset = [&] { d_y.fill_bytes(0xFF); };
    // The row shows the last element, and all are checked.
    rung.result = [&] { return static_cast<double>(d_y.download().back()); };
    rung.check = [&] { return course::same(d_y.download(), expected, "y"); };
    rung.bytes = d_x.bytes() + d_y.bytes();
    rung.n = n;
    return rung;
  };

  ladder.reference("add_one_reference", expected.back(), "the host; the last element", n);
  for (const AddOneRung& rung : add_one_rungs()) {
    if (n > rung.most_n) continue;
    const auto launch = [&] { rung.launch(d_x.data(), n, d_y.data()); };
    ladder.rung(row({.name = rung.name, .changed = rung.changed, .launch = launch}));
  }
#if !COURSE_CPU_DEVICE
  ladder.vendor(row(thrust_add_one(d_x.data(), n, d_y.data())));
#endif
}

}  // namespace

int main(int argc, char** argv) {
  constexpr std::size_t kSmall = std::size_t{1} << 20, kLarge = std::size_t{1} << 24;
  course::Ladder ladder("00-start-here", argc, argv, {.gpu_n = kLarge});
  return ladder.run([](course::Ladder& rungs) {
    // Of one element only the launch is left to time.
    for (const std::size_t n : rungs.sizes({1, kSmall, kLarge})) add_one(rungs, n);
  });
}
