// cuda::std in kernels, and what of libcu++ is more than that.
#include <cuda_runtime.h>

#include <catch2/catch_test_macros.hpp>
#include <cuda/cmath>
#include <cuda/functional>
#include <cuda/std/array>
#include <cuda/std/atomic>
#include <cuda/std/barrier>
#include <cuda/std/bit>
#include <cuda/std/bitset>
#include <cuda/std/cassert>
#include <cuda/std/cfloat>
#include <cuda/std/chrono>
#include <cuda/std/climits>
#include <cuda/std/cmath>
#include <cuda/std/complex>
#include <cuda/std/concepts>
#include <cuda/std/cstddef>
#include <cuda/std/cstdint>
#include <cuda/std/cstdlib>
#include <cuda/std/cstring>
#include <cuda/std/ctime>
#include <cuda/std/functional>
#include <cuda/std/initializer_list>
#include <cuda/std/iterator>
#include <cuda/std/latch>
#include <cuda/std/limits>
#include <cuda/std/memory>
#include <cuda/std/numbers>
#include <cuda/std/numeric>
#include <cuda/std/optional>
#include <cuda/std/ranges>
#include <cuda/std/ratio>
#include <cuda/std/semaphore>
#include <cuda/std/source_location>
#include <cuda/std/span>
#include <cuda/std/tuple>
#include <cuda/std/type_traits>
#include <cuda/std/utility>
#include <cuda/std/variant>
#include <cuda/std/version>
#include <vector>

#include "testing.hpp"

namespace cuda_std_test {

using namespace simt_test;

static_assert(cuda::ceil_div(7, 2) == 4 && cuda::ceil_div(8u, 2) == 4);
static_assert(cuda::round_up(5, 4) == 8 && cuda::round_down(5, 4) == 4);
static_assert(cuda::ilog2(1) == 0 && cuda::ilog2(1ull << 40) == 40);

__device__ cuda::std::optional<int> half_of(int x) {
  if (x % 2 != 0) return cuda::std::nullopt;
  return x / 2;
}

__global__ void use(const int* x, int n, float* r) {
  const cuda::std::span<const int> all(x, static_cast<cuda::std::size_t>(n));
  *r++ = static_cast<float>(all.back());
  *r++ = static_cast<float>(cuda::std::accumulate(all.begin(), all.end(), 0));
  *r++ = static_cast<float>(half_of(8).value_or(-1) + half_of(7).value_or(-1));
  const cuda::std::complex<float> z(3, 4), turned = z * cuda::std::complex<float>(0, 1);
  *r++ = turned.real() + cuda::std::abs(z);
  cuda::std::array<int, 3> a{1, 2, 3};
  *r++ = static_cast<float>(cuda::std::get<1>(cuda::std::make_tuple(a[0], a[1] + a[2])));
  const cuda::std::variant<int, float> v = 2.5f;
  *r++ = cuda::std::get<float>(v);
  *r++ = static_cast<float>(cuda::std::popcount(7u) + cuda::std::numeric_limits<char>::digits);
  const auto half =
      cuda::proclaim_return_type<float>([](int i) { return static_cast<float>(i) / 2; });
  *r++ = half(3);
  *r++ = cuda::maximum<float>()(1, 2) + static_cast<float>(cuda::minimum<>()(3, 4l));
  *r++ = cuda::std::plus<float>()(1, 2);
}

TEST_CASE("cuda::std works in kernels", "[cuda_std]") {
  const Array<int> x(std::vector<int>{1, 2, 3, 4});
  Array<float> r(10);
  const Outcome outcome = observe([&] { use<<<1, 1>>>(x.data(), 4, r.data()); });
  INFO(outcome.text());
  CHECK(outcome.clean());
  CHECK(r.values() == std::vector<float>{4, 10, 3, 1, 5, 2.5f, 10, 1.5f, 5, 3});
}

TEST_CASE("cuda::std does not hide an access from the checker", "[cuda_std]") {
  const Array<int> x(std::vector<int>{1, 2, 3});
  Array<float> r(10);
  const auto work = [&] { use<<<1, 1>>>(x.data(), 4, r.data()); };
  CHECK(only_report(work).kind == simt::ReportKind::out_of_bounds);
}

}  // namespace cuda_std_test
