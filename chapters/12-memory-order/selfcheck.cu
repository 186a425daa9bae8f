// Every rung of this chapter is right: counts, sums, queues and stacks lose nothing, and what is in a
// hash table is found, at awkward sizes and load factors.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <course/check.cuh>
#include <cstddef>
#include <numeric>
#include <vector>

#include "inputs.cuh"
#include "rungs.cuh"

TEST_CASE("the last block adds what the others have written") {
  for (const unsigned writers : {1u, 2u, 7u}) {
    HandoverMemory memory{writers};
    const std::vector<unsigned> x = course::position_values<unsigned>(memory.parts.size());
    const auto d_x = DeviceBuffer<unsigned>::from(x);
    for (const HandoverRung& rung : handover_rungs()) {
      if (!rung.because.empty()) continue;
      INFO(rung.name << ", " << writers << " writers");
      memory.reset();
      rung.launch(d_x.data(), memory);
      REQUIRE(course::same(memory.sums.download(), add_parts_reference(x, kBlockSize), "sums"));
    }
  }
}

TEST_CASE("a kernel answers what the host asks while it runs") {
  if (!can_exchange()) SKIP(kNoExchange);
  course::PinnedBuffer<Mailbox> box(1);
  for (const MailboxRung& rung : mailbox_rungs()) {
    for (const unsigned first : {0u, 1000u}) {
      INFO(rung.name << " from question " << first << " on");
      REQUIRE(course::same(rung.launch(box, first), kMailRounds, "right answers"));
    }
  }
}

TEST_CASE("every lock, and the packed atomic, lose no update") {
  for (const std::size_t n : {0, 1, 31, 33, 257, course::kCpuDevice ? 300 : 1500}) {
    for (const unsigned accounts : {1u, 2u, 40u}) {
      const std::vector<unsigned> x = course::position_values<unsigned>(n);
      std::vector<unsigned> counts(accounts), sums(accounts);
      for (std::size_t i = 0; i < n; ++i) {
        ++counts[i % accounts];
        sums[i % accounts] += x[i];
      }
      const auto d_x = DeviceBuffer<unsigned>::from(x);
      for (const LockRung& rung : lock_rungs()) {
        if (rung.one_account && accounts > 1) continue;
        INFO(rung.name << ", n = " << n << ", " << accounts << " accounts");
        DeviceBuffer<LockWords> locks = DeviceBuffer<LockWords>::zeros(accounts);
        course::GuardedBuffer<Account> found(accounts);
        found.fill_bytes(0);
        rung.launch(d_x.data(), n, accounts, locks.data(), found.data());
        std::vector<unsigned> found_counts, found_sums;
        for (const Account& account : found.download()) {
          found_counts.push_back(account.count);
          found_sums.push_back(account.sum);
        }
        REQUIRE(course::same(found_counts, counts, "count"));
        REQUIRE(course::same(found_sums, sums, "sum"));
        REQUIRE(found.intact("accounts"));
      }
    }
  }
}

TEST_CASE("every queue hands each value over once, also through one slot") {
  for (const unsigned capacity : {1u, 2u, 64u}) {
    for (const std::size_t n : {0, 1, 33, course::kCpuDevice ? 150 : 400}) {
      const std::vector<unsigned> x = course::position_values<unsigned>(n);
      const auto d_x = DeviceBuffer<unsigned>::from(x);
      for (const QueueRung& rung : queue_rungs()) {
        INFO(rung.name << ", n = " << n << ", capacity " << capacity);
        QueueMemory memory{capacity};
        course::GuardedBuffer<unsigned> popped(n);
        for (int launch = 0; launch < 2; ++launch) {  // the second one goes on with the counters
          if (launch == 0) memory.reset();
          rung.launch(4, d_x.data(), n, memory, popped.data());
          REQUIRE(course::same_set(popped.download(), x, "popped"));
          REQUIRE(popped.intact("popped"));
        }
      }
    }
  }
}

namespace memory_order_selfcheck {

template <class Version>
void check_stack(const StackRung<Version>& rung, unsigned nodes, std::size_t threads) {
  INFO(rung.name << ", " << nodes << " nodes, " << threads << " threads");
  StackMemory<Version> memory{nodes};
  memory.reset();
  rung.launch(threads, course::kCpuDevice ? 2 : 8, memory);
  REQUIRE(course::none(memory.counts.front(), "nodes with two users"));
  std::vector<unsigned> all(nodes);
  std::iota(all.begin(), all.end(), 0u);
  REQUIRE(course::same_set(memory.walk(), all, "nodes in the list"));
}

template <class Version>
void check_aba() {
  StackMemory<Version> memory{4};
  memory.reset();
  launch_aba(memory);
  const std::vector<unsigned> kept = memory.counts.download();
  REQUIRE(course::same(kept[0], 0u, "the node of block 0"));
  REQUIRE(course::same(kept[1], 1u, "the node of block 1"));
  REQUIRE(course::same_set(memory.walk(), std::vector<unsigned>{2, 3}, "nodes in the list"));
}

}  // namespace memory_order_selfcheck

using namespace memory_order_selfcheck;

TEST_CASE("a tagged stack gives every node to one thread at a time") {
  for_each_stack_rung([]<class Version>(const StackRung<Version>& rung) {
    if (!rung.can_run()) return;
    for (const unsigned nodes : {1u, 2u, 40u}) {
      check_stack(rung, nodes, course::kCpuDevice ? 64 : 1024);
    }
    check_aba<Version>();
  });
}

namespace memory_order_selfcheck {

void check_table(const HashRung& rung, const std::vector<ull>& pairs, unsigned capacity) {
  INFO(rung.name << ", " << pairs.size() << " pairs, " << capacity << " slots");
  HashMemory memory{pairs.size(), capacity};
  for (const ClearRung& clear : clear_rungs()) {
    memory.table.fill_bytes(0);
    clear.launch(memory);
  }
  const auto d_pairs = DeviceBuffer<ull>::from(pairs);
  rung.launch(d_pairs.data(), pairs.size(), memory);
  std::vector<ull> stored = memory.table.download();
  stored.erase(std::remove(stored.begin(), stored.end(), kEmptyPair), stored.end());
  std::vector<ull> expected = pairs;
  std::sort(expected.begin(), expected.end());
  expected.erase(std::unique(expected.begin(), expected.end()), expected.end());
  std::sort(stored.begin(), stored.end());
  if (rung.drops) {  // it stores some of the pairs, and each once
    REQUIRE(stored.empty() == pairs.empty());
    REQUIRE(std::includes(expected.begin(), expected.end(), stored.begin(), stored.end()));
    return;
  }
  REQUIRE(course::same(stored.size(), expected.size(), "the number of pairs in the table"));
  REQUIRE(stored == expected);
  auto found = DeviceBuffer<ull>::zeros(1);
  course::launch(count_found, {blocks_for(pairs.size()), kBlockSize}, d_pairs.data(), pairs.size(),
                 memory.table.data(), memory.capacity, found.data());
  REQUIRE(course::same(found.front(), pairs.size(), "pairs that a search finds"));
}

}  // namespace memory_order_selfcheck

TEST_CASE("pairs of small integers are in the table") {  // a picture of the lesson shows this run
  std::vector<ull> pairs;
  for (unsigned i = 0; i < 32; ++i) pairs.push_back(pair_of(1 + i * 7 % 32, i));
  check_table(course::rung_named(hash_rungs(), "insert_linear"), pairs, 64);
}

TEST_CASE("every pair is in the hash table once, and a search finds it") {
  for (const std::size_t n : {0, 1, 33, 1025, course::kCpuDevice ? 2500 : 100'003}) {
    for (const unsigned percent : {25u, 50u, 95u}) {
      const std::vector<ull> pairs = distinct_pairs(n);
      const unsigned capacity = capacity_for(n, percent) + 1;
      for (const HashRung& rung : hash_rungs()) check_table(rung, pairs, capacity);
    }
  }
}

TEST_CASE("pairs that come several times are stored once") {
  std::vector<ull> pairs = distinct_pairs(300);
  for (std::size_t i = 0; i < 300; ++i) pairs.push_back(pairs[i * 7 % 300]);
  for (const HashRung& rung : hash_rungs()) check_table(rung, pairs, 700);
}

TEST_CASE("pairs of one part of the table go on to the next one, and around the end") {
  // The largest mixed keys belong to the last slots: pieces overflow, and the search wraps.
  std::vector<ull> pairs;
  for (unsigned key = 0; pairs.size() < 200; ++key) {
    if (mixed(key) >= 0xFC00'0000u) pairs.push_back(pair_of(key, key / 3));
  }
  for (const HashRung& rung : hash_rungs()) check_table(rung, pairs, 2100);
}
