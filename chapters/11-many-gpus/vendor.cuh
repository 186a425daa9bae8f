// What the vendor's libraries do with the same question: CUB on each device.
#pragma once

#include <cstddef>
#include <functional>

/// A call that queues *d_sum = the sum of d_x[0..n-1], summed in double, in the default stream of
/// the device that is current now. Throws CudaError.
std::function<void()> cub_local_sum(const float* d_x, std::size_t n, double* d_sum);
