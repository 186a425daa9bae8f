// cuRAND's generators of the host: numbers that the host draws when it calls, and that a launch stores.
#include <cmath>
#include <limits>
#include <memory>
#include <random>
#include <unordered_set>

#include "api/errors.hpp"
#include "libraries/library_call.hpp"
#include "simt/host_libraries/curand.h"
#include "simt/host_libraries/curand_kernel.h"

struct curandGenerator_st {
  curandRngType_t type;
  bool is_of_host;
  cudaStream_t stream = nullptr;
  unsigned long long seed = 0, index = 0;  // of the next 32 bits
  std::vector<curandStateXORWOW> sequences =
      {};  // of XORWOW, where each is now; empty: at no place
};

namespace simt {
namespace {

constexpr unsigned kSequences = 4096;

std::unordered_set<curandGenerator_t>& generators() {
  static auto& set = *new std::unordered_set<curandGenerator_t>;
  return set;
}

/// Sequence i is as far as the number `index` asks for.
void find_places(curandGenerator_st& g) {
  g.sequences.resize(kSequences);
  for (unsigned i = 0; i < kSequences; ++i) {
    const bool is_behind = i < g.index % kSequences;
    g.sequences[i] = xorwow_state(g.seed, i, g.index / kSequences + is_behind);
  }
}

/// The next 32 bits.
std::uint32_t draw(curandGenerator_st& g) {
  const unsigned long long index = g.index++;
  if (g.type == CURAND_RNG_PSEUDO_PHILOX4_32_10) {
    const uint2 key =
        make_uint2(static_cast<unsigned>(g.seed), static_cast<unsigned>(g.seed >> 32));
    return element(philox(advanced(make_uint4(0, 0, 0, 0), index / 4, 0), key), index % 4);
  }
  return curand(&g.sequences[index % kSequences]);
}

/// As the standard library's distributions ask for numbers.
struct Bits {
  using result_type = std::uint32_t;
  curandGenerator_st& generator;

  static constexpr result_type min() { return 0; }
  static constexpr result_type max() { return std::numeric_limits<result_type>::max(); }
  result_type operator()() { return draw(generator); }
};

template <class T>
struct PairOf;
template <>
struct PairOf<float> {
  static float2 draw_from(curandGenerator_st& g) {
    const std::uint32_t x = draw(g);
    return normal_pair(x, draw(g));
  }
};
template <>
struct PairOf<double> {
  static double2 draw_from(curandGenerator_st& g) {
    uint4 bits;
    bits.x = draw(g), bits.y = draw(g), bits.z = draw(g), bits.w = draw(g);
    return normal_pair_double(bits);
  }
};

/// Fills an array by `fill(values)`, which draws.
template <class T, class Fill>
curandStatus_t generate(const char* name, const void* caller, curandGenerator_t generator,
                        T* output, std::size_t n, Fill fill) {
  if (!generators().contains(generator)) return CURAND_STATUS_NOT_INITIALIZED;
  if (generator->type != CURAND_RNG_PSEUDO_PHILOX4_32_10 && generator->sequences.empty()) {
    find_places(*generator);
  }
  const auto values = std::make_shared<std::vector<T>>(n);
  fill(*values);
  if (generator->is_of_host) {
    for (std::size_t i = 0; i < n; ++i) store(output + i, (*values)[i], caller);
    return CURAND_STATUS_SUCCESS;
  }
  if (sticky_error() != cudaSuccess) return CURAND_STATUS_PREEXISTING_FAILURE;
  const cudaError_t error = launch_each(
      {name, caller, generator->stream}, {named("outputPtr", output)}, static_cast<long long>(n),
      [=](long long i) { store(output + i, (*values)[static_cast<std::size_t>(i)], caller); });
  return error == cudaSuccess ? CURAND_STATUS_SUCCESS : CURAND_STATUS_LAUNCH_FAILURE;
}

/// Pairs of normal numbers, of which `change(number)` is stored.
template <class T, class Change>
curandStatus_t generate_normal(const char* name, const void* caller, curandGenerator_t generator,
                               T* output, std::size_t n, Change change) {
  if (generators().contains(generator) && n % 2 != 0) return CURAND_STATUS_LENGTH_NOT_MULTIPLE;
  return generate(name, caller, generator, output, n, [&](std::vector<T>& values) {
    for (std::size_t i = 0; i < values.size(); i += 2) {
      const auto pair = PairOf<T>::draw_from(*generator);
      values[i] = change(pair.x);
      values[i + 1] = change(pair.y);
    }
  });
}

curandStatus_t create_generator(curandGenerator_t* generator, curandRngType_t type, bool is_of_host,
                                const void* caller) {
  if (type != CURAND_RNG_PSEUDO_DEFAULT && type != CURAND_RNG_PSEUDO_XORWOW &&
      type != CURAND_RNG_PSEUDO_PHILOX4_32_10) {
    return CURAND_STATUS_TYPE_ERROR;
  }
  if (enter(caller) != cudaSuccess) return CURAND_STATUS_INITIALIZATION_FAILED;
  *generator = new curandGenerator_st{type, is_of_host};
  generators().insert(*generator);
  return CURAND_STATUS_SUCCESS;
}

/// Sets what `set` sets; the sequences have to be found again.
template <class Set>
curandStatus_t change(curandGenerator_t generator, Set set) {
  if (!generators().contains(generator)) return CURAND_STATUS_NOT_INITIALIZED;
  set(*generator);
  generator->sequences.clear();
  return CURAND_STATUS_SUCCESS;
}

}  // namespace
}  // namespace simt

curandStatus_t curandCreateGenerator(curandGenerator_t* generator, curandRngType_t type) {
  return simt::create_generator(generator, type, false, SIMT_CALLER);
}
curandStatus_t curandCreateGeneratorHost(curandGenerator_t* generator, curandRngType_t type) {
  return simt::create_generator(generator, type, true, SIMT_CALLER);
}
curandStatus_t curandDestroyGenerator(curandGenerator_t generator) {
  if (simt::generators().erase(generator) == 0) return CURAND_STATUS_NOT_INITIALIZED;
  delete generator;
  return CURAND_STATUS_SUCCESS;
}
curandStatus_t curandGetVersion(int* version) {
  *version = 10400;
  return CURAND_STATUS_SUCCESS;
}
curandStatus_t curandSetStream(curandGenerator_t generator, cudaStream_t stream) {
  if (!simt::generators().contains(generator)) return CURAND_STATUS_NOT_INITIALIZED;
  generator->stream = stream;
  return CURAND_STATUS_SUCCESS;
}
curandStatus_t curandSetPseudoRandomGeneratorSeed(curandGenerator_t generator,
                                                  unsigned long long seed) {
  return simt::change(generator, [=](curandGenerator_st& g) {
    g.seed = seed;
    g.index = 0;
  });
}
curandStatus_t curandSetGeneratorOffset(curandGenerator_t generator, unsigned long long offset) {
  return simt::change(generator, [=](curandGenerator_st& g) { g.index = offset; });
}
curandStatus_t curandSetGeneratorOrdering(curandGenerator_t generator, curandOrdering_t order) {
  if (!simt::generators().contains(generator)) return CURAND_STATUS_NOT_INITIALIZED;
  const bool is_known =
      order >= CURAND_ORDERING_PSEUDO_BEST && order <= CURAND_ORDERING_PSEUDO_DYNAMIC;
  return is_known ? CURAND_STATUS_SUCCESS : CURAND_STATUS_OUT_OF_RANGE;
}

curandStatus_t curandGenerate(curandGenerator_t generator, unsigned int* output, std::size_t n) {
  return simt::generate("curandGenerate", SIMT_CALLER, generator, output, n, [=](auto& values) {
    for (unsigned& value : values) value = simt::draw(*generator);
  });
}
curandStatus_t curandGenerateUniform(curandGenerator_t generator, float* output, std::size_t n) {
  return simt::generate("curandGenerateUniform", SIMT_CALLER, generator, output, n,
                        [=](auto& values) {
                          for (float& value : values) value = simt::uniform(simt::draw(*generator));
                        });
}
curandStatus_t curandGenerateUniformDouble(curandGenerator_t generator, double* output,
                                           std::size_t n) {
  return simt::generate("curandGenerateUniformDouble", SIMT_CALLER, generator, output, n,
                        [=](auto& values) {
                          for (double& value : values) {
                            const unsigned x = simt::draw(*generator);
                            value = simt::uniform_double(x, simt::draw(*generator));
                          }
                        });
}
curandStatus_t curandGenerateNormal(curandGenerator_t generator, float* output, std::size_t n,
                                    float mean, float deviation) {
  return simt::generate_normal("curandGenerateNormal", SIMT_CALLER, generator, output, n,
                               [=](float x) { return mean + deviation * x; });
}
curandStatus_t curandGenerateNormalDouble(curandGenerator_t generator, double* output,
                                          std::size_t n, double mean, double deviation) {
  return simt::generate_normal("curandGenerateNormalDouble", SIMT_CALLER, generator, output, n,
                               [=](double x) { return mean + deviation * x; });
}
curandStatus_t curandGenerateLogNormal(curandGenerator_t generator, float* output, std::size_t n,
                                       float mean, float deviation) {
  return simt::generate_normal("curandGenerateLogNormal", SIMT_CALLER, generator, output, n,
                               [=](float x) { return std::exp(mean + deviation * x); });
}
curandStatus_t curandGenerateLogNormalDouble(curandGenerator_t generator, double* output,
                                             std::size_t n, double mean, double deviation) {
  return simt::generate_normal("curandGenerateLogNormalDouble", SIMT_CALLER, generator, output, n,
                               [=](double x) { return std::exp(mean + deviation * x); });
}
curandStatus_t curandGeneratePoisson(curandGenerator_t generator, unsigned int* output,
                                     std::size_t n, double lambda) {
  constexpr double kLargest = 400000;  // as in cuRAND's documentation
  if (!(lambda > 0 && lambda <= kLargest)) return CURAND_STATUS_OUT_OF_RANGE;
  return simt::generate("curandGeneratePoisson", SIMT_CALLER, generator, output, n,
                        [=](auto& values) {
                          std::poisson_distribution<unsigned> distribution(lambda);
                          simt::Bits bits{*generator};
                          for (unsigned& value : values) value = distribution(bits);
                        });
}
