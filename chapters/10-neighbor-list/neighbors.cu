// The part of the program `neighbors` that launches kernels. The rest is in program/.
#include <algorithm>
#include <course/buffer.cuh>
#include <course/device.cuh>
#include <course/error.cuh>
#include <cstddef>
#include <functional>
#include <vector>

#include "atomic.cuh"
#include "cells.cuh"
#include "gather.cuh"
#include "neighbor_list.cuh"
#include "program/on_device.cuh"

bool has_gpu() {
  int devices = 0;
  return !course::kCpuDevice && cudaGetDeviceCount(&devices) == cudaSuccess && devices > 0;
}

bool has_device() { return course::kCpuDevice || has_gpu(); }

/// Atoms in a slice of a quadratic method: enough to fill the device, and few enough for a bar that
/// moves.
inline std::size_t atoms_of_a_slice(std::size_t n) {
  constexpr std::size_t kPairs = course::kCpuDevice ? std::size_t{1} << 18 : std::size_t{1} << 36;
  constexpr std::size_t kLeast = course::kCpuDevice ? std::size_t{1} << 6 : std::size_t{1} << 17;
  return std::max(kPairs / n, kLeast);
}

template <class T>
NeighborList neighbors_on_device(DeviceMethod method, const std::vector<T>& x,
                                 const std::vector<T>& y, T limit, std::size_t capacity,
                                 const std::function<void(std::size_t)>& done) {
  const std::size_t n = x.size();
  const auto d_x = course::DeviceBuffer<T>::from(x), d_y = course::DeviceBuffer<T>::from(y);
  auto d_counts = course::DeviceBuffer<int>::zeros(n);
  auto d_list = course::DeviceBuffer<int>::zeros(n * capacity);
  const Atoms<T> atoms{d_x.data(), d_y.data(), n};
  const Lists lists{d_counts.data(), d_list.data(), capacity};
  if (method == DeviceMethod::cells) {
    CellWorkspace<T> work(n);
    neighbors_cells(atoms, limit, lists, work, nullptr);
    CUDA_CHECK(cudaDeviceSynchronize());
  } else {
    const std::size_t step = n == 0 ? 1 : atoms_of_a_slice(n);
    for (std::size_t first = 0; first < n; first += step) {
      const Slice slice{first, std::min(first + step, n)};
      if (method == DeviceMethod::atomic) {
        launch_neighbors_atomic(atoms, limit, lists, slice);
      } else {
        launch_neighbors_gather(atoms, limit, lists, slice);
      }
      CUDA_CHECK(cudaDeviceSynchronize());
      done(slice.last);
    }
  }
  const Layout layout = method == DeviceMethod::atomic ? Layout::rows : Layout::columns;
  NeighborList neighbors{d_counts.download(), d_list.download(), capacity, layout};
  neighbors.sort();
  return neighbors;
}

template NeighborList neighbors_on_device(DeviceMethod, const std::vector<float>&,
                                          const std::vector<float>&, float, std::size_t,
                                          const std::function<void(std::size_t)>&);
template NeighborList neighbors_on_device(DeviceMethod, const std::vector<double>&,
                                          const std::vector<double>&, double, std::size_t,
                                          const std::function<void(std::size_t)>&);
