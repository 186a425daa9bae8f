// Construct: Thrust. Expect: unsupported "thrust::device_vector of Thrust".
#include <thrust/device_vector.h>
#include <thrust/reduce.h>

#include <cstdio>

int main() {
  thrust::device_vector<int> x(100, 3);                // unsupported
  const int sum = thrust::reduce(x.begin(), x.end());  // unsupported
  std::printf("%s\n", sum == 300 ? "PASSED" : "FAILED");
  return sum != 300;
}
