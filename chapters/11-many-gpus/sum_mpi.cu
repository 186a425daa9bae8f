// The part of the program `sum_mpi` that launches kernels. The rest is in program/.
#include <course/buffer.cuh>
#include <course/data.cuh>
#include <course/error.cuh>
#include <course/grid.cuh>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "local_sum.cuh"
#include "parts.cuh"
#include "program/on_device.cuh"
#include "shares.cuh"

namespace {

constexpr unsigned kBlock = 256;

/// The whole array: these values again and again. Their number is a prime, so no share and no chunk
/// begins where another one does.
std::vector<float> table() { return course::position_values<float>(10'007); }

}  // namespace

ShareOnDevice::ShareOnDevice(Share share) : x_(share.size), workspace_(chunks_of(share.size)) {
  repeat(table(), share.begin, x_.data(), share.size);
}

void ShareOnDevice::add_up(double* d_sum, cudaStream_t stream) {
  local_sum(x_.data(), x_.size(), d_sum, workspace_.data(), stream);
}

double exact_sum(std::size_t n) { return sum_of_repeated(table(), n); }

/// Element i of the vector of rank r: 0 to 15, another one for the next element and the next rank.
/// A sum over up to a million ranks is exact in float.
__device__ __forceinline__ unsigned vector_value(std::size_t i, unsigned rank) {
  return static_cast<unsigned>((i + rank) % 16);
}

__global__ void make_vector_kernel(float* d_x, std::size_t n, unsigned rank) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += stride) {
    d_x[i] = static_cast<float>(vector_value(i, rank));
  }
}

/// 16 ranks that follow each other bring all numbers from 0 to 15, which is 120.
__global__ void wrong_elements_kernel(const float* d_sum, std::size_t n, unsigned ranks,
                                      unsigned long long* d_wrong) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += stride) {
    unsigned sum = ranks / 16 * 120;
    for (unsigned rank = 0; rank < ranks % 16; ++rank) sum += vector_value(i, rank);
    if (!(d_sum[i] == static_cast<float>(sum))) atomicAdd(d_wrong, 1ull);
  }
}

void make_vector(float* d_x, std::size_t n, int rank) {
  if (n == 0) return;
  make_vector_kernel<<<course::filling_blocks(kBlock), kBlock>>>(d_x, n,
                                                                 static_cast<unsigned>(rank));
  CUDA_CHECK_LAUNCH();
  CUDA_CHECK(cudaDeviceSynchronize());
}

std::uint64_t wrong_elements(const float* d_sum, std::size_t n, int ranks) {
  auto d_wrong = course::DeviceBuffer<unsigned long long>::zeros(1);
  wrong_elements_kernel<<<course::filling_blocks(kBlock), kBlock>>>(
      d_sum, n, static_cast<unsigned>(ranks), d_wrong.data());
  CUDA_CHECK_LAUNCH();
  CUDA_CHECK(cudaDeviceSynchronize());
  return d_wrong.front();
}
