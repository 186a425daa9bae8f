// The methods that run on the device, for the part of the program that knows nothing of CUDA.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "../neighbor_list.cuh"

enum class DeviceMethod { atomic, gather, cells };

/// True if there is a GPU, and this program was built for one.
bool has_gpu();
/// True if kernels can run: on a GPU, or on the CPU device.
bool has_device();

/// The lists of all atoms, ascending, complete or not. `limit` is the squared cutoff. Calls
/// done(n) now and then, with the number of atoms that are done. Throws course::CudaError.
template <class T>
NeighborList neighbors_on_device(DeviceMethod method, const std::vector<T>& x,
                                 const std::vector<T>& y, T limit, std::size_t capacity,
                                 const std::function<void(std::size_t)>& done);
