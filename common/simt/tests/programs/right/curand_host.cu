// Construct: cuRAND's generators of the host: XORWOW's numbers in the documented order, Philox, all distributions. Expect: runs.
#include <cmath>
#include <cstdio>
#include <vector>

#include <curand.h>
#include <curand_kernel.h>

int failures = 0;
void check(bool is_right, const char* what) {
  if (is_right) return;
  std::printf("FAILED: %s\n", what);
  ++failures;
}
void done(curandStatus_t status, const char* what) { check(status == CURAND_STATUS_SUCCESS, what); }

constexpr int kN = 10000, kSequences = 4096;

/// What `generate(array)` makes of an array of the device.
template <class T, class Generate>
std::vector<T> made_by(const char* name, Generate generate, int n = kN) {
  T* d = nullptr;
  cudaMalloc(&d, n * sizeof(T));
  done(generate(d), name);
  std::vector<T> values(n);
  cudaMemcpy(values.data(), d, n * sizeof(T), cudaMemcpyDeviceToHost);
  cudaFree(d);
  return values;
}

template <class T>
void check_moments(const char* name, const std::vector<T>& values, double mean, double deviation) {
  double sum = 0, squares = 0;
  for (T value : values) sum += value;
  const double found = sum / values.size();
  for (T value : values) squares += (value - found) * (value - found);
  const double spread = std::sqrt(squares / values.size());
  check(std::abs(found - mean) < 0.05 * deviation, name);
  check(std::abs(spread - deviation) < 0.1 * deviation, name);
}

/// By curand_kernel.h: number n is from position n / 4096 of sequence n % 4096.
__global__ void draw(unsigned long long seed, unsigned first, unsigned* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  curandState state;
  curand_init(seed, (first + i) % kSequences, (first + i) / kSequences, &state);
  x[i] = curand(&state);
}
__global__ void draw_by_philox(unsigned* x, int n) {
  curandStatePhilox4_32_10 state;
  curand_init(7, 0, 0, &state);
  for (int i = 0; i < n; ++i) x[i] = curand(&state);
}

void order_of_numbers() {
  curandGenerator_t generator;
  done(curandCreateGenerator(&generator, CURAND_RNG_PSEUDO_DEFAULT), "create");
  done(curandSetPseudoRandomGeneratorSeed(generator, 1234), "seed");
  const int some = 5001;
  const auto expected = made_by<unsigned>("expected", [](unsigned* d) {
    draw<<<(kN + 255) / 256, 256>>>(1234, 0, d, kN);
    return CURAND_STATUS_SUCCESS;
  });
  auto numbers = made_by<unsigned>("curandGenerate", [&](unsigned* d) {
    done(curandGenerate(generator, d, some), "curandGenerate");
    return curandGenerate(generator, d + some, kN - some);
  });
  check(numbers == expected, "XORWOW, in two calls");
  done(curandSetGeneratorOffset(generator, 4097), "offset");
  const int rest = kN - 4097;  // more than one of each sequence
  numbers = made_by<unsigned>(
      "curandGenerate", [&](unsigned* d) { return curandGenerate(generator, d, rest); }, rest);
  check(numbers == std::vector<unsigned>(expected.begin() + 4097, expected.end()), "an offset");
  done(curandSetPseudoRandomGeneratorSeed(generator, 1234), "seed");
  const auto uniform =
      made_by<float>("uniform", [&](float* d) { return curandGenerateUniform(generator, d, kN); });
  check(uniform[5] == expected[5] * 0x1p-32f + 0x1p-33f,
        "the numbers of a seed again, from 0 to 1");
  check_moments("uniform", uniform, 0.5, std::sqrt(1 / 12.0));
  done(curandDestroyGenerator(generator), "destroy");
  check(curandDestroyGenerator(generator) == CURAND_STATUS_NOT_INITIALIZED, "destroyed");
}

void philox() {
  curandGenerator_t generator;
  done(curandCreateGenerator(&generator, CURAND_RNG_PSEUDO_PHILOX4_32_10), "create");
  done(curandSetPseudoRandomGeneratorSeed(generator, 7), "seed");
  const auto numbers = made_by<unsigned>(
      "philox", [&](unsigned* d) { return curandGenerate(generator, d, 99); }, 99);
  const auto expected = made_by<unsigned>(
      "expected",
      [](unsigned* d) {
        draw_by_philox<<<1, 1>>>(d, 99);
        return CURAND_STATUS_SUCCESS;
      },
      99);
  check(numbers == expected, "Philox");
  done(curandDestroyGenerator(generator), "destroy");
}

void distributions(curandRngType_t type) {
  curandGenerator_t g;
  done(curandCreateGenerator(&g, type), "create");
  check_moments(
      "double",
      made_by<double>("double", [&](double* d) { return curandGenerateUniformDouble(g, d, kN); }),
      0.5, std::sqrt(1 / 12.0));
  check_moments(
      "normal",
      made_by<float>("normal", [&](float* d) { return curandGenerateNormal(g, d, kN, 5, 2); }), 5,
      2);
  check_moments(
      "normal, double",
      made_by<double>("normal",
                      [&](double* d) { return curandGenerateNormalDouble(g, d, kN, -1, 0.5); }),
      -1, 0.5);
  const double mean = std::exp(0.5 + 0.02), deviation = mean * std::sqrt(std::exp(0.04) - 1);
  check_moments(
      "log-normal",
      made_by<float>("log-normal",
                     [&](float* d) { return curandGenerateLogNormal(g, d, kN, 0.5, 0.2); }),
      mean, deviation);
  check_moments(
      "log-normal, double",
      made_by<double>("log-normal",
                      [&](double* d) { return curandGenerateLogNormalDouble(g, d, kN, 0.5, 0.2); }),
      mean, deviation);
  check_moments(
      "Poisson",
      made_by<unsigned>("Poisson", [&](unsigned* d) { return curandGeneratePoisson(g, d, kN, 9); }),
      9, 3);
  check(curandGenerateNormal(g, nullptr, 3, 0, 1) == CURAND_STATUS_LENGTH_NOT_MULTIPLE,
        "an odd number of normal numbers");
  check(curandGeneratePoisson(g, nullptr, 1, -1) == CURAND_STATUS_OUT_OF_RANGE, "a lambda below 0");
  check(curandSetGeneratorOrdering(g, curandOrdering_t(7)) == CURAND_STATUS_OUT_OF_RANGE,
        "no order");
  done(curandDestroyGenerator(g), "destroy");
}

void on_the_host() {
  curandGenerator_t of_host, of_device;
  done(curandCreateGeneratorHost(&of_host, CURAND_RNG_PSEUDO_XORWOW), "create");
  done(curandCreateGenerator(&of_device, CURAND_RNG_PSEUDO_XORWOW), "create");
  std::vector<float> values(100);
  done(curandGenerateUniform(of_host, values.data(), 100), "host");
  check(values ==
            made_by<float>(
                "device", [&](float* d) { return curandGenerateUniform(of_device, d, 100); }, 100),
        "the same numbers on the host");
  done(curandDestroyGenerator(of_host), "destroy");
  done(curandDestroyGenerator(of_device), "destroy");
  check(curandCreateGenerator(&of_host, curandRngType_t(201)) == CURAND_STATUS_TYPE_ERROR,
        "a type");
  check(curandGenerate(nullptr, nullptr, 1) == CURAND_STATUS_NOT_INITIALIZED, "no generator");
}

int main() {
  order_of_numbers();
  philox();
  distributions(CURAND_RNG_PSEUDO_XORWOW);
  distributions(CURAND_RNG_PSEUDO_PHILOX4_32_10);
  on_the_host();
  std::printf("%s\n", failures ? "FAILED" : "PASSED");
  return failures != 0;
}
