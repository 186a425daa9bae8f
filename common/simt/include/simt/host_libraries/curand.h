// cuRAND's generators of the host, XORWOW and Philox4_32_10: each call is a launch that stores the numbers, in the generator's
// stream. Those of curandCreateGeneratorHost() store them at once, in memory of the host.
//
// The same seed and offset give the same numbers in each run. XORWOW's have the order that cuRAND's documentation names: the
// number n is from position n / 4096 of sequence n % 4096 of curand_kernel.h; Philox's number n is the n-th of sequence 0.
// Nothing has compared them with a GPU's. What needs more than 32 bits takes the next ones, in this order: the numbers of
// normal distributions and of doubles have the right distribution, and are not those of a GPU.
//
// Not there: MRG32k3a, the Mersenne Twisters, Sobol's sequences, discrete distributions but Poisson's. The compiler refuses
// them by name (common/build/rewriter/unsupported.py).
#pragma once

#include <cuda_runtime.h>

enum curandStatus {
  CURAND_STATUS_SUCCESS = 0,
  CURAND_STATUS_VERSION_MISMATCH = 100,
  CURAND_STATUS_NOT_INITIALIZED = 101,
  CURAND_STATUS_ALLOCATION_FAILED = 102,
  CURAND_STATUS_TYPE_ERROR = 103,
  CURAND_STATUS_OUT_OF_RANGE = 104,
  CURAND_STATUS_LENGTH_NOT_MULTIPLE = 105,
  CURAND_STATUS_DOUBLE_PRECISION_REQUIRED = 106,
  CURAND_STATUS_LAUNCH_FAILURE = 201,
  CURAND_STATUS_PREEXISTING_FAILURE = 202,
  CURAND_STATUS_INITIALIZATION_FAILED = 203,
  CURAND_STATUS_ARCH_MISMATCH = 204,
  CURAND_STATUS_INTERNAL_ERROR = 999,
};
using curandStatus_t = curandStatus;
enum curandRngType {
  CURAND_RNG_PSEUDO_DEFAULT = 100,  // XORWOW
  CURAND_RNG_PSEUDO_XORWOW = 101,
  CURAND_RNG_PSEUDO_PHILOX4_32_10 = 161,
};
using curandRngType_t = curandRngType;
/// A wish: a generator has one order here.
enum curandOrdering {
  CURAND_ORDERING_PSEUDO_BEST = 100,
  CURAND_ORDERING_PSEUDO_DEFAULT = 101,
  CURAND_ORDERING_PSEUDO_SEEDED = 102,
  CURAND_ORDERING_PSEUDO_LEGACY = 103,
  CURAND_ORDERING_PSEUDO_DYNAMIC = 104,
};
using curandOrdering_t = curandOrdering;

struct curandGenerator_st;
using curandGenerator_t = curandGenerator_st*;

curandStatus_t curandCreateGenerator(curandGenerator_t* generator, curandRngType_t type);
curandStatus_t curandCreateGeneratorHost(curandGenerator_t* generator, curandRngType_t type);
curandStatus_t curandDestroyGenerator(curandGenerator_t generator);
curandStatus_t curandGetVersion(int* version);
curandStatus_t curandSetStream(curandGenerator_t generator, cudaStream_t stream);
/// The next number is the first one of this seed.
curandStatus_t curandSetPseudoRandomGeneratorSeed(curandGenerator_t generator,
                                                  unsigned long long seed);
/// The next number is that of this index.
curandStatus_t curandSetGeneratorOffset(curandGenerator_t generator, unsigned long long offset);
curandStatus_t curandSetGeneratorOrdering(curandGenerator_t generator, curandOrdering_t order);

curandStatus_t curandGenerate(curandGenerator_t generator, unsigned int* output, std::size_t n);
curandStatus_t curandGenerateUniform(curandGenerator_t generator, float* output, std::size_t n);
curandStatus_t curandGenerateUniformDouble(curandGenerator_t generator, double* output,
                                           std::size_t n);
// An even number of numbers.
curandStatus_t curandGenerateNormal(curandGenerator_t generator, float* output, std::size_t n,
                                    float mean, float deviation);
curandStatus_t curandGenerateNormalDouble(curandGenerator_t generator, double* output,
                                          std::size_t n, double mean, double deviation);
curandStatus_t curandGenerateLogNormal(curandGenerator_t generator, float* output, std::size_t n,
                                       float mean, float deviation);
curandStatus_t curandGenerateLogNormalDouble(curandGenerator_t generator, double* output,
                                             std::size_t n, double mean, double deviation);
curandStatus_t curandGeneratePoisson(curandGenerator_t generator, unsigned int* output,
                                     std::size_t n, double lambda);
