// Seeds: the same seed is the same schedule, another seed another one, and lost updates show in
// values.
#include <cuda_runtime.h>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <set>
#include <simt/counters.hpp>

#include "testing.hpp"

using simt_test::Array;
using simt_test::observe;

namespace {

/// Thread i of the grid finds out how many came before it.
__global__ void take_tickets(int* next, int* ticket) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  ticket[i] = atomicAdd(next, 1);
}

__global__ void add_without_atomic(int* total) { *total += 1; }

/// Values in [0, 1) whose sum depends on the order of the additions.
__global__ void sum_in_any_order(const float* x, float* total) {
  atomicAdd(total, x[blockIdx.x * blockDim.x + threadIdx.x]);
}

/// The first threads of all blocks wait for each other.
__global__ void wait_for_all_blocks(unsigned* arrived) {
  if (threadIdx.x == 0) {
    atomicAdd(arrived, 1);
    while (*const_cast<volatile unsigned*>(arrived) < gridDim.x) {
    }
  }
  __syncthreads();
}

using Tickets = std::vector<int>;

Tickets tickets_under(std::uint64_t seed, int blocks = 4, int threads = 64) {
  Tickets result;
  observe(
      [&] {
        auto next = Array<int>::zeros(1);
        Array<int> ticket(static_cast<std::size_t>(blocks * threads));
        take_tickets<<<blocks, threads>>>(next.data(), ticket.data());
        result = ticket.values();
      },
      seed);
  return result;
}

int racy_total_under(std::uint64_t seed, int blocks, int threads) {
  int result = 0;
  observe(
      [&] {
        auto total = Array<int>::zeros(1);
        add_without_atomic<<<blocks, threads>>>(total.data());
        result = total.front();
      },
      seed);
  return result;
}

bool is_in_order(const Tickets& tickets) { return std::is_sorted(tickets.begin(), tickets.end()); }

}  // namespace

TEST_CASE("without a seed, threads run in order, every time") {
  CHECK(is_in_order(tickets_under(0)));
  CHECK(is_in_order(tickets_under(0, 20, 40)));
}

TEST_CASE("the same seed gives the same order") {
  for (const std::uint64_t seed : {1u, 2u, 1234567u}) {
    const bool same = tickets_under(seed) == tickets_under(seed);
    CHECK(same);
  }
}

TEST_CASE("different seeds give different orders") {
  std::set<Tickets> orders;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const Tickets tickets = tickets_under(seed);
    CHECK_FALSE(is_in_order(tickets));
    orders.insert(tickets);
    Tickets sorted = tickets;
    std::sort(sorted.begin(), sorted.end());
    CHECK(is_in_order(sorted));
    CHECK(std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end());
  }
  CHECK(orders.size() == 10);
}

TEST_CASE("seeded, blocks and warps interleave") {
  const Tickets tickets = tickets_under(1, 2, 64);
  const int last_of_first_block = *std::max_element(tickets.begin(), tickets.begin() + 64);
  const int first_of_second_block = *std::min_element(tickets.begin() + 64, tickets.end());
  CHECK(first_of_second_block < last_of_first_block);
}

TEST_CASE("of many resident blocks each has its turn, also where those that wait do not sleep") {
  for (const std::uint64_t seed : {0u, 1u, 2u, 3u}) {
    for (const unsigned threads : {64u, 256u}) {
      constexpr unsigned blocks = 32;
      INFO("seed " << seed << ", " << blocks << " blocks of " << threads << " threads");
      unsigned arrivals = 0;
      const simt_test::Outcome outcome = observe(
          [&] {
            const simt::CountScope in_step;
            auto arrived = Array<unsigned>::zeros(1);
            wait_for_all_blocks<<<blocks, threads>>>(arrived.data());
            arrivals = arrived.front();
          },
          seed);
      INFO(outcome.text());
      CHECK(outcome.clean());
      CHECK(arrivals == blocks);
    }
  }
}

TEST_CASE("under the seeds 2, 6, 10, ... blocks start from the last one to the first") {
  constexpr int kBlocks = 40, kThreads = 32;  // of which eight are resident at the same time
  const auto last_block_was_before_the_first = [&](std::uint64_t seed) {
    const Tickets tickets = tickets_under(seed, kBlocks, kThreads);
    const int last_of_first_block = *std::max_element(tickets.begin(), tickets.begin() + kThreads);
    const int first_of_last_block = *std::min_element(tickets.end() - kThreads, tickets.end());
    return first_of_last_block < last_of_first_block;
  };
  for (const std::uint64_t seed : {2u, 6u, 10u}) CHECK(last_block_was_before_the_first(seed));
  for (const std::uint64_t seed : {0u, 1u, 3u, 4u}) CHECK(!last_block_was_before_the_first(seed));
}

TEST_CASE("every second launch of a seeded run has an order of its own") {
  Tickets first, second;
  observe(
      [&] {
        for (Tickets* tickets : {&first, &second}) {
          auto next = Array<int>::zeros(1);
          Array<int> ticket(256);
          take_tickets<<<4, 64>>>(next.data(), ticket.data());
          *tickets = ticket.values();
        }
      },
      5);
  const bool same = first == second;
  CHECK_FALSE(same);
}

TEST_CASE("threads are switched between a load and its store: updates get lost") {
  CHECK(racy_total_under(0, 4, 64) ==
        256);  // in order, nothing is lost: the value alone proves nothing
  int schedules_that_lose = 0;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    schedules_that_lose += racy_total_under(seed, 4, 64) != 256;
  }
  CHECK(schedules_that_lose >= 8);
  CHECK(racy_total_under(7, 4, 64) == racy_total_under(7, 4, 64));
}

TEST_CASE("float atomics round differently in different orders") {
  std::vector<float> x(256);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = 1.0f / static_cast<float>(i + 3);
  std::set<float> totals;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    observe(
        [&] {
          const Array<float> values(x);
          auto total = Array<float>::zeros(1);
          sum_in_any_order<<<4, 64>>>(values.data(), total.data());
          totals.insert(total.front());
        },
        seed);
  }
  CHECK(totals.size() > 1);
}

TEST_CASE("an odd seed places later arrays below earlier ones, another one above them") {
  const std::uint64_t before = simt::seed();
  for (const std::uint64_t seed : {1u, 2u, 3u, 0u, 1u}) {
    simt::set_seed(seed);
    const Array<int> first(100), second(70'000), third(1);
    const bool is_ascending = first.data() < second.data() && second.data() < third.data();
    const bool is_descending = first.data() > second.data() && second.data() > third.data();
    CHECK(is_ascending == (seed % 2 == 0));
    CHECK(is_descending == (seed % 2 == 1));
  }
  simt::set_seed(before);
}
