// What the CPU device tells afterwards: which inputs were read in part, and which line has written an element last.
#include <cuda_runtime.h>

#include <array>
#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

#include "testing.hpp"

using namespace simt_test;

namespace {

__global__ void sum_part(const int* x, unsigned n, int* sum) {
  if (threadIdx.x < n) atomicAdd(sum, x[threadIdx.x]);
}
__global__ void sum_with_one_thread(const int* x, unsigned n, int* sum) {
  for (unsigned i = 0; threadIdx.x == 1 && i < n; ++i) atomicAdd(sum, x[i]);
}
__global__ void touch(int* y, unsigned n) {
  if (threadIdx.x < n) y[threadIdx.x] = y[threadIdx.x + 1];
}
constexpr unsigned kLineOfSum = 21, kLineOfSeven = 29, kLineOfEight = 31, kLineOfCount = 33;
__global__ void write_with_two_lines(int* y, int* count) {
  if (threadIdx.x < 8) {
    y[threadIdx.x] = 7;
  } else {
    y[threadIdx.x] = 8;
  }
  atomicAdd(count, 1);
}

/// "x: 3 4 of 5" for each input that was read in part.
std::string read_in_part(std::size_t since) {
  std::string text;
  for (const simt::PartlyRead& input : simt::partly_read_since(since)) {
    text += (text.empty() ? "" : ", ") + input.name + ":";
    for (const std::size_t i : input.unread) text += " " + std::to_string(i);
    text += " of " + std::to_string(input.elements);
  }
  return text;
}

std::string at_line(unsigned line) {
  return "common/simt/tests/afterwards_test.cu:" + std::to_string(line);
}

}  // namespace

TEST_CASE("elements that no launch has read are known, also of memory that was freed") {
  const std::size_t before = simt::launches_that_ran();
  auto sum = Array<int>::zeros(1);
  {
    const Array<int> x(std::vector<int>(5, 1));
    sum_part<<<1, 32>>>(x.data(), 3, sum.data());
    CHECK(sum.front() == 3);
    CHECK(read_in_part(before) == "x: 3 4 of 5");
    CHECK(simt::partly_read_since(before).front().reader == "common/simt/tests/afterwards_test.cu");
  }
  CHECK(read_in_part(before) == "x: 3 4 of 5");
  CHECK(read_in_part(simt::launches_that_ran()) == "");
  // A new copy into the array begins anew, and what nothing has written is no input.
  Array<int> values(8);
  const std::vector<int> six(6, 1);
  const auto fill = [&] {
    static_cast<void>(
        cudaMemcpy(values.data(), six.data(), 6 * sizeof(int), cudaMemcpyHostToDevice));
  };
  const std::size_t next = simt::launches_that_ran();
  fill();
  sum_part<<<1, 32>>>(values.data(), 6, sum.data());
  static_cast<void>(cudaDeviceSynchronize());
  CHECK(read_in_part(next) == "");
  fill();
  CHECK(read_in_part(next) == "");
  sum_part<<<1, 32>>>(values.data(), 2, sum.data());
  sum_part<<<1, 32>>>(values.data() + 4, 1, sum.data());
  static_cast<void>(cudaDeviceSynchronize());
  CHECK(read_in_part(next) == "(values.data() + 4): 1 of 4");
  sum_part<<<1, 32>>>(values.data(), 1, sum.data());
  static_cast<void>(cudaDeviceSynchronize());
  CHECK(read_in_part(next) == "values: 2 3 5 of 8");
}

TEST_CASE("an array that kernels write, or do not read at all, is no input") {
  const std::size_t before = simt::launches_that_ran();
  const Array<int> y(std::vector<int>(40, 1)), unused(std::vector<int>(40, 1));
  auto sum = Array<int>::zeros(1);
  touch<<<1, 1>>>(y.data(), 1);
  sum_part<<<1, 1>>>(unused.data(), 0, sum.data());
  static_cast<void>(cudaDeviceSynchronize());
  CHECK(read_in_part(before) == "");
}

TEST_CASE("the records of what was freed are kept up to a MiB") {
  const std::size_t before = simt::launches_that_ran();
  auto sum = Array<int>::zeros(1);
  const auto read_one = [&](std::size_t n) {
    const Array<int> x(std::vector<int>(n, 1));
    sum_part<<<1, 1>>>(x.data(), 1, sum.data());
    static_cast<void>(cudaDeviceSynchronize());
  };
  read_one(3);
  read_one(2);
  CHECK(read_in_part(before) == "x: 1 2 of 3, x: 1 of 2");
  read_one((std::size_t{1} << 18) - 2);  // all but the last two elements of a MiB
  CHECK(read_in_part(before).starts_with("x: 1 of 2, x: 1 2 3"));
}

TEST_CASE("the line that has written an element last is known") {
  const std::size_t before = simt::launches_that_ran();
  const Array<int> y(std::vector<int>(32, 1));
  auto count = Array<int>::zeros(1);
  const auto line = [&](const int* p, std::size_t since) {
    return simt::line_of_last_write(p, since);
  };
  CHECK(line(y.data(), before) == "");
  write_with_two_lines<<<1, 16>>>(y.data(), count.data());
  static_cast<void>(cudaDeviceSynchronize());
  CHECK(line(y.data() + 7, before) == at_line(kLineOfSeven));
  CHECK(line(y.data() + 8, before) == at_line(kLineOfEight));
  CHECK(line(y.data() + 16, before) == "");
  CHECK(line(count.data(), before) == at_line(kLineOfCount));
  CHECK(line(y.data() + 7, simt::launches_that_ran()) == "");
  static_cast<void>(cudaMemset(y.data(), 0, sizeof(int)));
  static_cast<void>(cudaDeviceSynchronize());
  CHECK(line(y.data() + 8, before) == "");
  CHECK(simt::is_as_filled(y.data(), sizeof(int), before));
  CHECK(!simt::is_as_filled(count.data(), sizeof(int), before));
  sum_part<<<1, 1>>>(count.data(), 1, y.data());
  static_cast<void>(cudaDeviceSynchronize());
  CHECK(!simt::is_as_filled(count.data(), sizeof(int), before));  // only the last launch is known
  CHECK(!simt::is_as_filled(y.data(), sizeof(int), before));
  CHECK(simt::is_as_filled(y.data() + 1, sizeof(int), before));
  int on_host = 0;
  CHECK(!simt::is_as_filled(&on_host, sizeof(int), before));
  CHECK(line(&on_host, before) == "");
}

constexpr int kLineOfSwap = __LINE__ + 4;
/// Thread 0 makes `n` attempts, of which the last one stores 9; the others none.
__global__ void swap_at_last(int* y, int n) {
  for (int i = 0; threadIdx.x == 0 && i < n; ++i) {
    atomicCAS(y, i + 1 < n ? 77 : 4, 9);
  }
}

TEST_CASE("the last atomic of a thread is known, with what it found") {
  const Array<int> y(std::vector<int>{4});
  const std::size_t before = simt::launches_that_ran();
  swap_at_last<<<3, 2>>>(y.data(), 0);
  CHECK(y.front() == 4);
  CHECK_FALSE(simt::last_atomic_of(0, 0, before));
  swap_at_last<<<1, 2>>>(y.data(), 3);
  CHECK(y.front() == 9);
  const auto last = simt::last_atomic_of(0, 0, before);
  REQUIRE(last);
  CHECK(last->function == "atomicCAS");
  CHECK(last->line == at_line(kLineOfSwap));
  CHECK(last->thread == "block 0 thread 0");
  CHECK(last->count == 3);
  CHECK(last->size == 4);
  CHECK(last->found[0] == 4);
  CHECK(last->has_changed);
  CHECK_FALSE(simt::last_atomic_of(0, 1, before));
  CHECK_FALSE(simt::last_atomic_of(1, 0, before));
  CHECK_FALSE(simt::last_atomic_of(0, 0, simt::launches_that_ran()));
  swap_at_last<<<3, 2>>>(y.data(), 2);  // another launch begins to count anew
  CHECK(y.front() == 9);
  const auto next = simt::last_atomic_of(2, 0, before);
  REQUIRE(next);
  CHECK(next->count == 2);
  CHECK(next->thread == "block 2 thread 0");
  CHECK(next->found[0] == 9);
  CHECK_FALSE(next->has_changed);
}

TEST_CASE("the last changes of a number by atomics are known, with what they found and left") {
  auto count = Array<int>::zeros(2);
  const std::size_t before = simt::launches_that_ran();
  const int* const p = count.data();
  CHECK(simt::atomic_changes(p, 4, before).last.empty());
  sum_with_one_thread<<<1, 3>>>(Array<int>(std::vector<int>{5, 0, 7}).data(), 3, count.data());
  CHECK(count.front() == 12);
  const simt::AtomicChanges changes = simt::atomic_changes(p, 4, before);
  CHECK(changes.count == 2);  // adding 0 changes nothing
  CHECK(changes.are_all);
  REQUIRE(changes.last.size() == 2);
  const auto number = [](const std::array<unsigned char, 8>& bytes) {
    int value = 0;
    std::memcpy(&value, bytes.data(), sizeof value);
    return value;
  };
  CHECK(changes.last[0].function == "atomicAdd");
  CHECK(changes.last[0].line == at_line(kLineOfSum));
  CHECK(changes.last[0].thread == "block 0 thread 1");
  CHECK(number(changes.last[0].before) == 5);
  CHECK(number(changes.last[0].after) == 12);
  CHECK(changes.last[1].thread == "block 0 thread 1");
  CHECK(number(changes.last[1].before) == 0);
  REQUIRE(changes.by_line.size() == 1);
  CHECK(changes.by_line[0].function == "atomicAdd");
  CHECK(changes.by_line[0].line == at_line(kLineOfSum));
  CHECK(changes.by_line[0].count == 2);
  const int five = 5, twelve = 12, six = 6;
  REQUIRE(simt::first_change_to(&twelve, 4, before));
  CHECK(number(simt::first_change_to(&twelve, 4, before)->before) == 5);
  CHECK(simt::first_change_to(&five, 4, before));
  CHECK_FALSE(simt::first_change_to(&six, 4, before));
  CHECK_FALSE(simt::first_change_to(&five, 4, simt::launches_that_ran()));
  // Of one byte: the second atomic has changed it, too, and no atomic the next number.
  CHECK(simt::atomic_changes(p, 1, before).count == 2);
  CHECK(simt::atomic_changes(p + 1, 4, before).last.empty());
  CHECK(simt::atomic_changes(p, 4, simt::launches_that_ran()).last.empty());
  for (int i = 0; i < 70; ++i) {
    sum_part<<<1, 64>>>(Array<int>(std::vector<int>(64, 1)).data(), 64, count.data());
  }
  CHECK(count.front() == 12 + 70 * 64);
  CHECK(simt::atomic_changes(p, 4, before).count == 4096);
  CHECK_FALSE(simt::atomic_changes(p, 4, before).are_all);
  CHECK(simt::atomic_changes(p, 4, simt::launches_that_ran() - 1).are_all);
  static_cast<void>(cudaMemset(count.data(), 0, 4));
  sum_with_one_thread<<<1, 3>>>(Array<int>(std::vector<int>{5, 0, 7}).data(), 3, count.data());
  CHECK(count.front() == 12);
  CHECK(simt::atomic_changes(p, 4, before).count == 2);
  CHECK(simt::atomic_changes(p, 4, before).are_all);
}
