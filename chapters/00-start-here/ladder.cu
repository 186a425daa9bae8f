// Runs the rungs of chapter 00: the same work by one thread, by one block, and by a grid.
#include <course/buffer.cuh>
#include <course/data.cuh>
#include <course/ladder.cuh>
#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "add_one.cuh"
#if !COURSE_CPU_DEVICE
#include "vendor.cuh"
#endif

namespace {

/// With more elements, one thread takes seconds for each of the ladder's launches.
constexpr std::size_t kMostForOneThread = std::size_t{1} << 20;

void add_one(course::Ladder& ladder, std::size_t n) {
  const std::vector<float> x = course::position_values<float>(n);
  const std::vector<float> expected = add_one_reference(x);
  const auto d_x = course::DeviceBuffer<float>::from(x);
  course::DeviceBuffer<float> d_y(n);
  const auto rung = [&](const std::string& name, const std::string& changed,
                        std::function<void()> launch) {
    return course::Rung{.name = name,
                        .changed = changed,
                        .reset = [&] { d_y.fill_bytes(0xFF); },
                        .launch = std::move(launch),
                        // The row shows the last element, and all are checked.
                        .result = [&] { return static_cast<double>(d_y.download().back()); },
                        .check = [&] { return course::same(d_y.download(), expected, "y"); },
                        .bytes = d_x.bytes() + d_y.bytes(),
                        .n = n};
  };

  ladder.reference("add_one_reference", expected.back(), "the host; the last element", n);
  if (n <= kMostForOneThread) {
    ladder.rung(rung("add_one_one_thread", "the host's loop in a kernel: one thread",
                     [&] { add_one_one_thread(d_x.data(), n, d_y.data(), nullptr); }));
  }
  ladder.rung(rung("add_one_one_block", "256 threads share the loop: one block",
                   [&] { add_one_one_block(d_x.data(), n, d_y.data(), nullptr); }));
  ladder.rung(rung("add_one_grid", "a thread for each element: a grid",
                   [&] { add_one_grid(d_x.data(), n, d_y.data(), nullptr); }));
#if !COURSE_CPU_DEVICE
  ladder.vendor(rung("thrust::transform", "Thrust", thrust_add_one(d_x.data(), n, d_y.data())));
#endif
}

}  // namespace

int main(int argc, char** argv) {
  constexpr std::size_t kLarge = std::size_t{1} << 24;
  course::Ladder ladder("00-start-here", argc, argv, {.gpu_n = kLarge});
  return ladder.run([](course::Ladder& rungs) {
    // Of one element only the launch is left to time.
    for (const std::size_t n : rungs.sizes({1, kMostForOneThread, kLarge})) add_one(rungs, n);
  });
}
