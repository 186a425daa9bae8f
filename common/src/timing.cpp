// Samples, quantiles, and the copy that others are compared with.
#include <course/buffer.cuh>
#include <course/timing.cuh>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

namespace course {
namespace {

constexpr int kFewestSamples = 20;

/// The value below which a share of the sorted samples lies.
double quantile(const std::vector<double>& sorted, double share) {
  const double position = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above], position - static_cast<double>(below));
}

std::size_t l2_bytes() {
  int device = 0;
  int bytes = 0;
  CUDA_CHECK(cudaGetDevice(&device));
  CUDA_CHECK(cudaDeviceGetAttribute(&bytes, cudaDevAttrL2CacheSize, device));
  return static_cast<std::size_t>(std::max(bytes, 0));
}

}  // namespace

Quantiles quantiles(std::vector<double> samples) {
  if (samples.empty()) throw std::invalid_argument("quantiles: no samples");
  std::sort(samples.begin(), samples.end());
  return {quantile(samples, 0.1), quantile(samples, 0.5), quantile(samples, 0.9), samples.size()};
}

Quantiles sample_microseconds(const std::function<void()>& reset,
                              const std::function<void()>& launch, SampleOptions options) {
  if (options.samples < kFewestSamples) {
    throw std::invalid_argument("sample_microseconds: at least 20 samples make a quantile");
  }
  DeviceBuffer<unsigned char> scrub(options.scrub_l2 ? 2 * l2_bytes() : 0);
  EventTimer timer;
  std::vector<double> samples;
  for (int i = -options.warm_up; i < options.samples; ++i) {
    if (reset) reset();
    scrub.fill_bytes(i & 0xFF);
    timer.start();
    launch();
    timer.stop();
    const double microseconds = timer.microseconds();
    if (i >= 0) samples.push_back(microseconds);
  }
  return quantiles(std::move(samples));
}

double copy_bandwidth() {
  std::size_t free_bytes = 0;
  std::size_t total_bytes = 0;
  CUDA_CHECK(cudaMemGetInfo(&free_bytes, &total_bytes));
  const std::size_t bytes = std::min(std::size_t(512) << 20, free_bytes / 4);
  const auto from = DeviceBuffer<unsigned char>::zeros(bytes);
  DeviceBuffer<unsigned char> to(bytes);
  const Quantiles q = sample_microseconds(
      {},
      [&] { CUDA_CHECK(cudaMemcpyAsync(to.data(), from.data(), bytes, cudaMemcpyDeviceToDevice)); },
      {.warm_up = 3, .samples = 20, .scrub_l2 = false});
  return 2.0 * static_cast<double>(bytes) / q.median / 1e3;  // every byte is read and written
}

}  // namespace course
