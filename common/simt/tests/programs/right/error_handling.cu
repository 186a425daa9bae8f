// Construct: errors of calls and launches by name, cudaPeekAtLastError, occupancy, device properties. Expect: runs.
#include <cstdio>
#include <stdexcept>
#include <string>

__global__ void nothing() {}

struct CudaError : std::runtime_error {
  explicit CudaError(cudaError_t e) : std::runtime_error(cudaGetErrorString(e)), code(e) {}
  cudaError_t code;
};

inline void check(cudaError_t error) {
  if (error != cudaSuccess) throw CudaError(error);
}

/// What a launch with too large a block ends with: the second one on an H200 with CUDA 13.
inline bool is_refusal(cudaError_t error) {
  return error == cudaErrorInvalidConfiguration || error == cudaErrorInvalidValue;
}

template <class Call>
cudaError_t code_of(Call&& call) {
  try {
    call();
  } catch (const CudaError& error) {
    std::printf("as expected: %s (%s)\n", cudaGetErrorName(error.code), error.what());
    return error.code;
  }
  return cudaSuccess;
}

int main() {
  int count = 0, device = -1, blocks = 0, least = 0, suggested = 0;
  check(cudaGetDeviceCount(&count));
  check(cudaSetDevice(0));
  check(cudaGetDevice(&device));
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, device));
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, nothing, 256, 0));
  check(cudaOccupancyMaxPotentialBlockSize(&least, &suggested, nothing));
  size_t free_bytes = 0, total = 0;
  check(cudaMemGetInfo(&free_bytes, &total));

  const bool plausible = count > 0 && device == 0 && properties.warpSize == 32 &&
                         properties.major >= 7 && properties.multiProcessorCount > 0 &&
                         blocks > 0 && suggested >= 32 && free_bytes <= total;
  const cudaError_t too_large = code_of([] {
    nothing<<<1, 2048>>>();
    if (cudaPeekAtLastError() == cudaSuccess) std::printf("no error\n");
    check(cudaGetLastError());
  });
  const cudaError_t no_kind = code_of([] {
    int x = 0;
    check(cudaMemcpy(&x, &x, sizeof(x), static_cast<cudaMemcpyKind>(17)));
  });
  const cudaError_t no_device = code_of([count] { check(cudaSetDevice(count)); });
  nothing<<<1, 32>>>();
  const bool right =
      plausible && is_refusal(too_large) && no_kind == cudaErrorInvalidMemcpyDirection &&
      no_device == cudaErrorInvalidDevice && cudaDeviceSynchronize() == cudaSuccess &&
      cudaGetLastError() == cudaErrorInvalidDevice;
  std::printf("%s\n", right ? "PASSED" : "FAILED");
  return right ? 0 : 1;
}
