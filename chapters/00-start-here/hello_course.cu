// hello_sum.cu once more, with the course's types: they free what they own, and throw what fails.
#include <course/buffer.cuh>
#include <course/device.cuh>
#include <course/error.cuh>
#include <course/grid.cuh>
#include <course/launch.cuh>
#include <course/timing.cuh>

#include <cstddef>
#include <cstdio>
#include <exception>
#include <vector>

__global__ void add_all(const float* x, std::size_t n, float* sum) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(sum, x[i]);
}

int main() try {
  const std::size_t n = 100'000;
  const auto x = course::DeviceBuffer<float>::from(std::vector<float>(n, 0.5f));
  auto sum = course::DeviceBuffer<float>::zeros(1);
  course::EventTimer timer;
  timer.start();
  course::launch(add_all, {course::blocks_for(n, 256), 256}, x.data(), n, sum.data());
  timer.stop();
  std::printf("the sum of %zu numbers is %.1f\n", n, static_cast<double>(sum.front()));
  if (!course::kCpuDevice) std::printf("the kernel took %.3f ms\n", timer.microseconds() / 1000);
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
