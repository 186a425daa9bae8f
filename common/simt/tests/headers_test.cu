// What nvcc gives a .cu file without being asked, and CUDA's small headers. No #include of CUDA's
// runtime here: nvcc includes it in every file, and so does common/build/simtcc.py.
#include <catch2/catch_test_macros.hpp>

// Used before any of CUDA's headers is named.
__global__ void copy_limits(int* d_limits) {
  d_limits[0] = INT_MAX;
  d_limits[1] = static_cast<int>(strlen("four"));
  d_limits[2] = static_cast<int>(sqrt(9.0));
}

#include <builtin_types.h>
#include <cuComplex.h>
#include <cuda.h>
#include <cudaProfiler.h>
#include <cuda_profiler_api.h>
#include <device_functions.h>
#include <device_launch_parameters.h>
#include <driver_types.h>
#include <host_defines.h>
#include <math_constants.h>
#include <math_functions.h>
#include <sm_20_intrinsics.h>
#include <sm_60_atomic_functions.h>
#include <vector_functions.h>
#include <vector_types.h>

/// Fills `values` with what one thread of the kernel writes.
template <class T, int n>
void take_from(void (*kernel)(T*), T (&values)[n]) {
  T* d_values = nullptr;
  REQUIRE(cudaMalloc(&d_values, sizeof values) == cudaSuccess);
  kernel<<<1, 1>>>(d_values);
  REQUIRE(cudaMemcpy(values, d_values, sizeof values, cudaMemcpyDeviceToHost) == cudaSuccess);
  REQUIRE(cudaFree(d_values) == cudaSuccess);
}

TEST_CASE("the runtime and the C headers are there without an include") {
  int limits[3] = {};
  take_from(copy_limits, limits);
  REQUIRE(limits[0] == INT_MAX);
  REQUIRE(limits[1] == 4);
  REQUIRE(limits[2] == 3);
  void* p = malloc(4);
  memset(p, 0, 4);
  free(p);
  REQUIRE(time(nullptr) > 0);
}

TEST_CASE("macros of the compiler and of the API are nvcc's") {
#if !defined(__CUDACC__) || !defined(__NVCC__) || defined(__CUDA_ARCH__)
  FAIL("nvcc defines __CUDACC__ and __NVCC__, and __CUDA_ARCH__ in device code only");
#endif
  STATIC_REQUIRE(__CUDACC_VER_MAJOR__ >= 13);
  STATIC_REQUIRE(__CUDACC_VER_MINOR__ >= 0);
  STATIC_REQUIRE(__CUDACC_VER_BUILD__ > 0);
  STATIC_REQUIRE(CUDART_VERSION >= 13000);
  STATIC_REQUIRE(CUDA_VERSION == CUDART_VERSION);
#if !defined(__CUDA_RUNTIME_H__) || !defined(__CUDA_RUNTIME_API_H__) || !defined(__DRIVER_TYPES_H__)
  FAIL("NVIDIA's helper headers ask for these");
#endif
#ifdef SIMT_CPU_DEVICE
  constexpr int kArchitectures[] = {__CUDA_ARCH_LIST__};
  STATIC_REQUIRE(kArchitectures[0] == 900);
#endif
}

struct __align__(16) Wide {
  float x;
};
struct __builtin_align__(8) Pair {
  float x, y;
};
// Three arguments, and a limit of registers.
__global__ void __launch_bounds__(128, 2, 1) bounded(const __grid_constant__ int n) {
  __builtin_assume(n > 0);
#pragma unroll 4
  for (int i = 0; i < n; ++i) __nanosleep(1);
}

TEST_CASE("words of declarations") {
  STATIC_REQUIRE(alignof(Wide) == 16);
  STATIC_REQUIRE(alignof(Pair) == 8);
  bounded<<<1, 32>>>(2);
  REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
}

TEST_CASE("complex numbers") {
  const cuComplex a = make_cuComplex(1, 2), b = make_cuFloatComplex(3, -1);
  REQUIRE((cuCrealf(cuCmulf(a, b)) == 5 && cuCimagf(cuCmulf(a, b)) == 5));
  REQUIRE((cuCaddf(a, b).x == 4 && cuCsubf(a, b).y == 3 && cuConjf(a).y == -2));
  REQUIRE((cuCfmaf(a, b, a).x == 6 && cuCfmaf(a, b, a).y == 7));
  const cuDoubleComplex huge = make_cuDoubleComplex(3e300, 4e300);
  REQUIRE(cuCabs(huge) == 5e300);
  REQUIRE(std::fabs(cuCdiv(huge, huge).x - 1) < 1e-15);
  REQUIRE(cuComplexFloatToDouble(a).y == 2);
  REQUIRE(cuComplexDoubleToFloat(make_cuDoubleComplex(1, 2)).x == 1);
}

__global__ void write_constants(double* d_x) {
  d_x[0] = CUDART_PI;
  d_x[1] = CUDART_INF_F;
  d_x[2] = CUDART_NAN;
  d_x[3] = CUDART_LN2_F;
}

TEST_CASE("constants") {
  double x[4] = {};
  take_from(write_constants, x);
  REQUIRE(x[0] == 3.14159265358979323846);
  REQUIRE(x[1] > 1e308);
  REQUIRE(x[2] != x[2]);
  REQUIRE(static_cast<float>(x[3]) == 0.693147181F);
}

TEST_CASE("profilers and the driver's questions") {
  REQUIRE(cudaProfilerStart() == cudaSuccess);
  REQUIRE(cudaProfilerStop() == cudaSuccess);
#ifdef SIMT_CPU_DEVICE  // on a GPU they need libcuda
  int count = 0, version = 0;
  CUdevice device = -1;
  char name[64] = "";
  REQUIRE(cuInit(0) == CUDA_SUCCESS);
  REQUIRE((cuDeviceGetCount(&count) == CUDA_SUCCESS && count >= 1));
  REQUIRE((cuDriverGetVersion(&version) == CUDA_SUCCESS && version == 13000));
  REQUIRE((cuDeviceGet(&device, 0) == CUDA_SUCCESS && device == 0));
  REQUIRE(cuDeviceGet(&device, count) == CUDA_ERROR_INVALID_DEVICE);
  REQUIRE((cuDeviceGetName(name, sizeof name, 0) == CUDA_SUCCESS && strlen(name) > 0));
  const char* text = nullptr;
  REQUIRE((cuGetErrorName(CUDA_ERROR_INVALID_DEVICE, &text) == CUDA_SUCCESS && text != nullptr));
#endif
}
