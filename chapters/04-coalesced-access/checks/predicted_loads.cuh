// What the loads of each kernel of predicted.cuh request: which bytes every lane loads, and the
// requests and sectors that follow from them. The check of predict_sectors compares with these
// where nothing is counted; counts.cu proves that the CPU device counts the same.
#pragma once

#include <course/check.cuh>
#include <cstddef>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "predicted.cuh"

namespace prediction_checks {

/// The bytes of x that a lane loads: `count` from `first` on, or none.
struct Bytes {
  std::size_t first = 0, count = 0;
};

/// Launches a kernel with one block.
using Launcher = std::function<void(const unsigned char* x, float* y, unsigned threads)>;

/// A kernel, launched with one block.
struct Kernel {
  std::string name;
  unsigned threads;
  unsigned loads;  // in its source
  Bytes (*bytes)(unsigned thread, unsigned load);
  Launcher launch;
};

/// The kernel's type is written out: an answer may have another function of its name.
template <class T>
Launcher launcher_of(void (*kernel)(const T*, float*)) {
  return [kernel](const unsigned char* x, float* y, unsigned threads) {
    course::launch(kernel, {1, threads}, reinterpret_cast<const T*>(x), y);
  };
}

constexpr std::size_t kSector = 32, kBytesOfX = 4096;
constexpr unsigned kLanes = 32, kMostThreads = 96;

inline const std::vector<Kernel> kKernels = {
    {"load_shifted", 64, 1,
     [](unsigned i, unsigned) {
       return Bytes{4 * (i + 5), 4};
     },
     launcher_of<float>(load_shifted)},
    {"load_thirds", 64, 1,
     [](unsigned i, unsigned) {
       return Bytes{12 * i, 4};
     },
     launcher_of<float>(load_thirds)},
    {"load_fours", 64, 1,
     [](unsigned i, unsigned) {
       return Bytes{16 * i, 16};
     },
     launcher_of<float4>(load_fours)},
    {"load_even_lanes", 64, 1,
     [](unsigned i, unsigned) {
       return Bytes{4 * i, i % 2 ? 0u : 4u};
     },
     launcher_of<float>(load_even_lanes)},
    {"load_members", 64, 2,
     [](unsigned i, unsigned load) {
       return Bytes{8 * i + 4 * load, 4};
     },
     launcher_of<Members>(load_members)},
    {"load_eighths", 64, 1,
     [](unsigned i, unsigned) {
       return Bytes{i / 8 * 4, 4};
     },
     launcher_of<float>(load_eighths)},
    {"load_bytes", 64, 1,
     [](unsigned i, unsigned) {
       return Bytes{i + 20, 1};
     },
     launcher_of<unsigned char>(load_bytes)},
    {"load_first_seventy", 96, 1,
     [](unsigned i, unsigned) {
       return Bytes{4 * i, i < 70 ? 4u : 0u};
     },
     launcher_of<float>(load_first_seventy)},
};

/// The sectors that one request of a warp touches; x begins with one.
inline std::set<std::size_t> sectors_of(const Kernel& kernel, unsigned warp, unsigned load) {
  std::set<std::size_t> sectors;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    const Bytes bytes = kernel.bytes(warp * kLanes + lane, load);
    for (std::size_t k = 0; k < bytes.count; ++k) sectors.insert((bytes.first + k) / kSector);
  }
  return sectors;
}

/// What a launch requests.
struct Counts {
  std::size_t requests = 0, sectors = 0;
  friend bool operator==(const Counts&, const Counts&) = default;
};

inline Counts counts_from_addresses(const Kernel& kernel) {
  Counts counts;
  for (unsigned warp = 0; warp < kernel.threads / kLanes; ++warp) {
    for (unsigned load = 0; load < kernel.loads; ++load) {
      const std::size_t sectors = sectors_of(kernel, warp, load).size();
      counts.requests += sectors > 0 ? 1 : 0;  // without an active lane there is no request
      counts.sectors += sectors;
    }
  }
  return counts;
}

/// What the CPU device counts; on a GPU what the addresses say.
inline Counts counts_of(const Kernel& kernel) {
  auto x = course::DeviceBuffer<unsigned char>::zeros(kBytesOfX);
  course::DeviceBuffer<float> y(kMostThreads);
  const auto counted = course::count([&] { kernel.launch(x.data(), y.data(), kernel.threads); });
  if (!counted) return counts_from_addresses(kernel);
  return {counted->global_loads, counted->global_load_sectors};
}

}  // namespace prediction_checks
