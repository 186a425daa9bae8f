// Check of the exercise publish: blocks that hand arrays to the next one, and one block that hands
// them to all others, for every kind of block size, in rounds that grow by one or by more, up to the
// largest number.
#include "publish.cuh"

#include <catch2/catch_test_macros.hpp>
#include <course/check.cuh>
#include <cstddef>
#include <string>
#include <vector>

namespace publish_check {

/// The number of round k: 1, 2, 4, 7, 11, ... later than `before`.
__host__ __device__ inline unsigned round_number(unsigned before, unsigned k) {
  return before + 1 + k * (k + 1) / 2;
}

/// Block b > 0 waits for block b - 1, or for block 0 if `from_first`. In round k it makes the row
/// data[b][k] from the row of that block, shifted by one element, and publishes it.
__global__ void hand_on(unsigned* data, unsigned rounds, unsigned before, bool from_first,
                        unsigned* flags) {
  const unsigned b = blockIdx.x, t = threadIdx.x, width = blockDim.x;
  const unsigned source = from_first ? 0 : b - 1;
  for (unsigned k = 0; k < rounds; ++k) {
    const unsigned round = round_number(before, k);
    unsigned value = 1000 * round + t;
    if (b > 0) {
      wait_for(&flags[source], round);
      value = data[(source * rounds + k) * width + (t + 1) % width] + 1;
    }
    data[(b * rounds + k) * width + t] = value;
    publish(&flags[b], round);
  }
}

/// Blocks 0 and 1 publish a number of each thread; block 2 waits for both, and adds the right neighbour's.
__global__ void wait_for_two(unsigned* data, unsigned* sums, unsigned* flags) {
  const unsigned b = blockIdx.x, t = threadIdx.x, width = blockDim.x;
  if (b < 2) {
    data[b * width + t] = 1000 * (b + 1) + t;
    publish(&flags[b], 1);
  } else {
    wait_for(&flags[0], 1);
    wait_for(&flags[1], 1);
    sums[t] = data[(t + 1) % width] + data[width + (t + 1) % width];
  }
}

/// Block 0 publishes `round` long after block 1 has begun to wait for it. *early is 1 if that one has not waited.
__global__ void publish_late(unsigned round, unsigned* flag, unsigned* begun, unsigned* early) {
  if (blockIdx.x == 0) {
    for (int look = 0; threadIdx.x == 0 && look < 3000; ++look) {
      __nanosleep(64);
      const unsigned state = atomicAdd(begun, 0u);
      if (state == 0) look = 0;  // block 1 may not have started
      if (state == 2) *early = 1;
    }
    publish(flag, round);
  } else {
    if (threadIdx.x == 0) atomicExch(begun, 1u);
    wait_for(flag, round);
    if (threadIdx.x == 0) atomicExch(begun, 2u);
  }
}

void check_rounds(unsigned blocks, unsigned width, unsigned rounds, bool from_first,
                  unsigned before = 0) {
  INFO(course::launch_text("hand_on", {blocks, width})
       << ", " << course::counted(rounds, "round") << " from " << round_number(before, 0)
       << " on, each block waits for " << (from_first ? "block 0" : "the one before")
       << "\ndata is written before publish(), and read after wait_for()");
  std::vector<unsigned> expected(std::size_t{blocks} * rounds * width);
  for (unsigned b = 0; b < blocks; ++b) {
    for (unsigned k = 0; k < rounds; ++k) {
      for (unsigned t = 0; t < width; ++t) {
        const unsigned steps = from_first && b > 0 ? 1 : b;
        expected[(std::size_t{b} * rounds + k) * width + t] =
            1000 * round_number(before, k) + (t + steps) % width + steps;
      }
    }
  }
  course::GuardedBuffer<unsigned> data(expected.size()), flags(blocks);
  flags.fill_bytes(0);
  course::launch(hand_on, {blocks, width}, data.data(), rounds, before, from_first, flags.data());
  REQUIRE(course::same(data.download(), expected, "data"));
  const unsigned last = rounds == 0 ? 0 : round_number(before, rounds - 1);
  REQUIRE(course::same(flags.download(), std::vector<unsigned>(blocks, last), "flags"));
  REQUIRE(data.intact("data"));
  REQUIRE(flags.intact("flags"));
}

// Promise: wait_for() does not return before the other block has published the round, whichever number it has.
TEST_CASE("publish: wait_for waits, however long the other block takes") {
  for (const unsigned round : {1u, 0x7FFF'FFFFu, 0x8000'0000u, 0xFFFF'FFFFu}) {
    auto words = course::DeviceBuffer<unsigned>::zeros(3);
    unsigned* const flag = words.data();
    INFO("wait_for(flag, " << round
                           << ") by block 1; *flag is 0 until block 0 calls publish() late");
    course::launch(publish_late, {2, 64}, round, flag, flag + 1, flag + 2);
    const std::vector<unsigned> found = words.download();
    REQUIRE(course::none(found[2], "returns of wait_for() before publish() was called"));
    REQUIRE(course::same(found[0], round, "*flag at the end"));
  }
}

// Promise: after publish() *flag is `round`.
// Promise: every thread of the calling block sees, with ordinary loads, all that the threads of the
// other block wrote before they published that round (DATA RACE).
TEST_CASE("publish: two blocks, one round") {
  for (const unsigned width : {1u, 2u, 31u, 32u, 33u, 100u, 256u}) check_rounds(2, width, 1, false);
}

// Promise: rounds grow, but not always by one.
// Promise: wait_for() returns when *flag is `round` or larger: the publishing block may be some
// rounds ahead (ENDLESS LOOP).
TEST_CASE("publish: a chain of blocks, several rounds") {
  for (const unsigned blocks : {2u, 3u, 6u}) {
    for (const unsigned width : {32u, 50u, 128u}) check_rounds(blocks, width, 4, false);
  }
}

// Promise: several blocks may wait for the same flag.
TEST_CASE("publish: several blocks wait for one") {
  for (const unsigned width : {1u, 33u, 64u}) check_rounds(6, width, 3, true);
}

// Promise: a round is any number.
TEST_CASE("publish: rounds beyond 2^31") {
  check_rounds(3, 40, 4, false, 0x7FFF'FFFD);
  check_rounds(3, 40, 4, true, 0xFFFF'FFF0);
}

// Promise: a block may wait for one flag right after another one.
TEST_CASE("publish: a block waits for two flags in a row") {
  for (const unsigned width : {2u, 64u, 96u}) {
    auto flags = course::DeviceBuffer<unsigned>::zeros(2);
    course::DeviceBuffer<unsigned> data(2 * width);
    course::GuardedBuffer<unsigned> sums(width);
    INFO(course::launch_text("wait_for_two", {3, width}));
    course::launch(wait_for_two, {3, width}, data.data(), sums.data(), flags.data());
    std::vector<unsigned> expected;
    for (unsigned t = 0; t < width; ++t) expected.push_back(3000 + 2 * ((t + 1) % width));
    REQUIRE(course::same(sums.download(), expected, "sums"));
  }
}

// Promise: both functions are right for every one-dimensional block.
TEST_CASE("publish: large blocks") {
  check_rounds(3, 1024, 2, false);
  check_rounds(3, 1000, 2, true);
}

// Promise: both functions are right where the lanes of a warp go in step.
TEST_CASE("publish: the lanes of a warp go in step") {
  course::count([] {
    check_rounds(3, 64, 3, false);
    check_rounds(3, 40, 2, true);
  });
}

}  // namespace publish_check
