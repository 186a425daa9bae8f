// Tiles that tell each other: every type, every distance, every launch.
#include <course/check.cuh>
#include <course/launch.cuh>
#include <course/look_back.cuh>

#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <vector>

namespace look_back_test {

/// x -> a x + b, modulo 2^32: composing does not commute, and is exact.
struct Step {
  unsigned a, b;
  bool operator==(const Step&) const = default;
};

/// First f, then g.
struct Then {
  __host__ __device__ Step operator()(const Step& f, const Step& g) const {
    return {g.a * f.a, g.a * f.b + g.b};
  }
  template <class T>
  __host__ __device__ static constexpr T identity() {
    return {1, 0};
  }
};

template <class T>
__host__ __device__ T value_of(unsigned tile);
template <>
__host__ __device__ unsigned value_of(unsigned tile) {
  return tile * 7919 % 101;
}
template <>
__host__ __device__ unsigned long long value_of(unsigned tile) {
  return (1ull << 40) + tile * 7919 % 101;  // both words matter
}
template <>
__host__ __device__ Step value_of(unsigned tile) {
  return {2 * tile + 3, tile * tile + 1};
}

/// A tile is a warp. Few tiles tell their prefix.
template <class T, class Operation>
__global__ void look_back_alone(course::TileStates<T> states, T* d_before) {
  unsigned tile = 0;
  if (threadIdx.x == 0) {
    tile = atomicInc(states.d_ticket, gridDim.x - 1);
    states.tell(tile, tile == 0 ? course::Told::prefix : course::Told::aggregate,
                value_of<T>(tile));
  }
  tile = course::shuffle(tile, 0);
  const T before = course::look_back(states, tile, Operation{});
  if (threadIdx.x != 0) return;
  d_before[tile] = before;
  if (tile % 40 == 39) {
    states.tell(tile, course::Told::prefix, Operation{}(before, value_of<T>(tile)));
  }
}

template <unsigned per_lane, class T, class Operation>
__global__ void look_back_grouped(course::TileStates<T> states, T* d_before) {
  constexpr unsigned kGroup = course::kTilesOfGroup<per_lane>;
  unsigned tile = 0;
  if (threadIdx.x == 0) tile = atomicInc(states.d_ticket, gridDim.x - 1);
  tile = course::shuffle(tile, 0);
  const bool is_last = tile % kGroup == kGroup - 1;
  if (threadIdx.x == 0 && !is_last) {
    states.tell(tile, course::Told::aggregate, value_of<T>(tile));
  }
  const T before = course::look_back_in_groups<per_lane>(states, tile, Operation{});
  if (threadIdx.x != 0) return;
  d_before[tile] = before;
  if (is_last) states.tell(tile, course::Told::prefix, Operation{}(before, value_of<T>(tile)));
}

template <class T, class Operation>
void check_all() {
  course::LookBackMemory<T> memory;
  for (const unsigned tiles : {1u, 2u, 32u, 33u, 64u, 65u, 300u}) {
    std::vector<T> expected(tiles, Operation::template identity<T>());
    for (unsigned t = 1; t < tiles; ++t) {
      expected[t] = Operation{}(expected[t - 1], value_of<T>(t - 1));
    }
    INFO(tiles << " tiles of " << sizeof(T) << " bytes");
    const auto check = [&](auto kernel) {
      course::GuardedBuffer<T> before(tiles);
      kernel<<<tiles, 32>>>(memory.next(tiles), before.data());
      CUDA_CHECK_LAUNCH();
      CHECK(before.download() == expected);
      CHECK(before.intact("before"));
    };
    check(look_back_alone<T, Operation>);
    check(look_back_grouped<1, T, Operation>);
    check(look_back_grouped<2, T, Operation>);
  }
}

TEST_CASE("look-back, for values of 4 and 8 bytes, and for an operation that does not commute") {
  check_all<unsigned, course::Sum>();
  check_all<unsigned long long, course::Sum>();
  check_all<Step, Then>();
}

TEST_CASE("one memory for launches of many sizes, up to the last stamp and beyond") {
  course::LookBackMemory<unsigned> memory;
  for (const unsigned tiles : {70u, 10u, 90u, 40u}) {
    if (tiles == 90) memory.skip_to((1u << 31) - 2);
    for (int k = 0; k < 3; ++k) {
      course::DeviceBuffer<unsigned> before(tiles);
      course::launch(look_back_grouped<1, unsigned, course::Sum>, {tiles, 32}, memory.next(tiles),
                     before.data());
      unsigned expected = 0;
      for (unsigned t = 0; t + 1 < tiles; ++t) expected += value_of<unsigned>(t);
      CHECK(before.download().back() == expected);
    }
  }
}

/// A value of 8 bytes of which one word alone has been told.
__global__ void tell_half(course::TileStates<unsigned long long> states, int* d_told) {
  states.tell(0, course::Told::aggregate, 5);
  d_told[0] = static_cast<int>(states.look_at(0).told);
  states.d_words[1] = 0;
  d_told[1] = static_cast<int>(states.look_at(0).told);
  states.tell(0, course::Told::aggregate, 5);
  const unsigned long long old = states.d_words[1];
  states.tell(0, course::Told::prefix, 5);
  d_told[2] = static_cast<int>(states.look_at(0).told);
  states.d_words[1] = old;  // an aggregate's
  d_told[3] = static_cast<int>(states.look_at(0).told);
}

TEST_CASE("two words are believed if both say the same") {
  course::LookBackMemory<unsigned long long> memory;
  course::DeviceBuffer<int> told(4);
  course::launch(tell_half, {1, 1}, memory.next(1), told.data());
  CHECK(course::same(told.download(), std::vector<int>{1, 0, 2, 0}, "told"));
}

}  // namespace look_back_test
