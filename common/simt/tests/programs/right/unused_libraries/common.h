#pragma once

#include <cuda_runtime.h>
#include <cudnn.h>
#include <cufft.h>
#include <curand.h>
#include <curand_kernel.h>
#include <cusolverDn.h>
#include <cusparse.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK(call)                                                   \
  do {                                                                \
    const cudaError_t error = (call);                                 \
    if (error != cudaSuccess) {                                       \
      printf("%s at line %d\n", cudaGetErrorString(error), __LINE__); \
      exit(1);                                                        \
    }                                                                 \
  } while (0)
#define CHECK_CURAND(call) \
  if ((call) != CURAND_STATUS_SUCCESS) exit(1)

constexpr int kCount = 64;
