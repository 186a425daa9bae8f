// atomicCAS and atomicExch of 16 bytes: their results, and what the checker says of the plain loads
// beside them.
#include <cuda_runtime.h>

#include <catch2/catch_test_macros.hpp>
#include <vector>

#include "testing.hpp"

namespace wide_atomics_test {

using simt::ReportKind;
using namespace simt_test;

struct alignas(16) Extremes {
  long long smallest, largest;
  friend bool operator==(const Extremes&, const Extremes&) = default;
};
struct Unaligned {
  long long a, b;
};

template <class T>
concept HasWide = requires(T* p, T v) {
  atomicCAS(p, v, v);
  atomicCAS_block(p, v, v);
  atomicExch_system(p, v);
};
static_assert(HasWide<Extremes> && HasWide<float4> && HasWide<ulonglong2>);
static_assert(!HasWide<Unaligned> && !HasWide<double> && !HasWide<double4>);

__global__ void exchange(Extremes* x, Extremes* returned) {
  __shared__ Extremes s_x;
  returned[0] = atomicExch(x, Extremes{1, 2});
  returned[1] = atomicCAS(x, Extremes{1, 3}, Extremes{5, 6});
  returned[2] = atomicCAS_system(x, Extremes{1, 2}, Extremes{5, 6});
  returned[3] = *x;
  atomicExch_block(&s_x, Extremes{7, 8});
  returned[4] = atomicCAS_block(&s_x, Extremes{7, 8}, Extremes{9, 9});
  returned[5] = s_x;
}

TEST_CASE("16 bytes are exchanged, and compared, as a whole") {
  auto x = Array<Extremes>::zeros(1);
  Array<Extremes> returned(6);
  const Outcome outcome = observe([&] { exchange<<<1, 1>>>(x.data(), returned.data()); });
  INFO(outcome.text());
  CHECK(outcome.clean());
  CHECK(returned.values() == std::vector<Extremes>{{0, 0}, {1, 2}, {1, 2}, {5, 6}, {7, 8}, {9, 9}});
}

/// Each thread widens the range by its own number, in the loop of the programming guide.
__global__ void widen(Extremes* x) {
  const long long mine = blockIdx.x * blockDim.x + threadIdx.x;
  Extremes expected, found = *x;
  do {
    expected = found;
    const Extremes wider{min(expected.smallest, mine), max(expected.largest, mine)};
    found = atomicCAS(x, expected, wider);
  } while (found != expected);
}

TEST_CASE("a compare-and-swap loop of 16 bytes may begin with a plain load") {
  const auto work = [] {
    Array<Extremes> x(std::vector<Extremes>{{1000, -1}});
    widen<<<3, 40>>>(x.data());
    return x.front() == Extremes{0, 119};
  };
  CHECK(first_complaint(work) == "");
}

__global__ void read_beside(Extremes* x, long long* r) {
  const long long mine = threadIdx.x;
  if (threadIdx.x < 32) {
    atomicExch(x, Extremes{mine, mine});
  } else {
    const Extremes found = *x;
    r[threadIdx.x - 32] = found.smallest - found.largest;
  }
}

TEST_CASE("a plain load beside atomics of 16 bytes is a race") {
  const auto work = [] {
    auto x = Array<Extremes>::zeros(1);
    Array<long long> r(32);
    read_beside<<<1, 64>>>(x.data(), r.data());
  };
  CHECK(first_miss(ReportKind::race, work) == "");
}

__global__ void misaligned(Extremes* x) {
  auto* const p = reinterpret_cast<Extremes*>(reinterpret_cast<char*>(x) + 8);
  atomicExch(p, Extremes{1, 1});
}

TEST_CASE("16 bytes must be aligned") {
  auto x = Array<Extremes>::zeros(2);
  CHECK(only_report([&] { misaligned<<<1, 1>>>(x.data()); }).kind == ReportKind::misaligned);
}

}  // namespace wide_atomics_test
