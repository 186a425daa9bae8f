// The rungs of chapter 12, each once: its launch, and what is known of it. ladder.cu and the
// self-checks read these tables.
#pragma once

#include <algorithm>
#include <course/buffer.cuh>
#include <course/launch.cuh>
#include <course/rungs.cuh>
#include <cstddef>
#include <string>
#include <vector>

#include "accesses.cuh"
#include "handover.cuh"
#include "hash_table.cuh"
#include "litmus.cuh"
#include "locks.cuh"
#include "mailbox.cuh"
#include "partitioned.cuh"
#include "queue.cuh"
#include "stack.cuh"

using course::DeviceBuffer;
using course::Grid;

// ---- litmus tests ------------------------------------------------------------------------------

struct LitmusRung {
  std::string name, changed;
  void (*launch)(std::size_t n, LitmusMemory& memory);
  bool weak_is_allowed;     // by PTX's memory model
  bool shown_by_schedules;  // weak results come up under the CPU device's schedules
  bool is_race = false;     // by the checker
};

struct LitmusGroup {
  std::string name, question;
  std::vector<LitmusRung> rungs;
};

namespace detail {
struct OrderText {
  const char *name, *text;
};
inline constexpr OrderText kOrderTexts[] = {
    {"relaxed", "relaxed"},
    {"volatile_access", "volatile"},
    {"block_fence", "relaxed, __threadfence_block()"},
    {"release_acquire", "release and acquire"},
    {"device_fence", "relaxed, __threadfence()"},
    {"seq_cst", "seq_cst"},
};

/// The rungs of one test: weak results are allowed for the orders below `strong`, and the CPU
/// device's schedules show them for those that have no release of device scope.
template <class Test>
LitmusGroup litmus_group(const std::string& name, const std::string& question, Order strong,
                         bool shown, bool is_race = false) {
  using Launch = void (*)(std::size_t, LitmusMemory&);
  const Launch launches[] = {
      launch_litmus<Test, Order::relaxed>,      launch_litmus<Test, Order::volatile_access>,
      launch_litmus<Test, Order::block_fence>,  launch_litmus<Test, Order::release_acquire>,
      launch_litmus<Test, Order::device_fence>, launch_litmus<Test, Order::seq_cst>,
  };
  LitmusGroup group{name, question, {}};
  for (unsigned k = 0; k < std::size(launches); ++k) {
    const auto order = static_cast<Order>(k);
    const bool allowed = order < strong;
    group.rungs.push_back({name + "_" + kOrderTexts[k].name, kOrderTexts[k].text, launches[k],
                           allowed, allowed && shown, allowed && is_race});
  }
  return group;
}
}  // namespace detail

inline std::vector<LitmusGroup> litmus_groups() {
  using detail::litmus_group;
  return {
      litmus_group<MessagePassing>("message_passing", "flag seen, message not",
                                   Order::release_acquire, true),
      litmus_group<PlainMessage>("plain_message", "flag seen, ordinary message not",
                                 Order::release_acquire, false, true),
      litmus_group<StoreBuffering>("store_buffering", "both loads miss the other store",
                                   Order::device_fence, true),
      litmus_group<LoadBuffering>("load_buffering", "both loads see the later store",
                                  Order::release_acquire, false),
      litmus_group<SameAddress>("same_address", "new value, then the old one", Order::relaxed,
                                false),
      litmus_group<IndependentReaders>("independent_readers", "two orders of two stores",
                                       Order::device_fence, false),
  };
}

// ---- the accesses of litmus tests alone --------------------------------------------------------

/// The rungs of a group make the same accesses, each in another order.
struct AccessRung {
  std::string name, changed;
  void (*launch)(AccessMemory& memory);
};

struct AccessGroup {
  std::string name;
  unsigned roles, loads, stores;  // of a test
  std::vector<AccessRung> rungs;
};

namespace detail {
template <class Test>
AccessGroup access_group(const std::string& test, unsigned loads, unsigned stores) {
  AccessGroup group{test + "_accesses", Test::kRoles, loads, stores, {}};
  const auto add = [&](Order order, void (*launch)(AccessMemory&)) {
    const OrderText& text = kOrderTexts[static_cast<unsigned>(order)];
    group.rungs.push_back({test + "_" + text.name + "_accesses", text.text, launch});
  };
  add(Order::relaxed, launch_accesses<Test, Order::relaxed>);
  add(Order::release_acquire, launch_accesses<Test, Order::release_acquire>);
  add(Order::seq_cst, launch_accesses<Test, Order::seq_cst>);
  return group;
}
}  // namespace detail

inline std::vector<AccessGroup> access_groups() {
  using detail::access_group;
  return {access_group<MessagePassing>("message_passing", 2, 2),
          access_group<SameAddress>("same_address", 2, 1),
          access_group<IndependentReaders>("independent_readers", 4, 2)};
}

// ---- one thread's release for a block ----------------------------------------------------------

/// d_x has a value for each thread of the writers.
struct HandoverRung {
  std::string name, changed;
  std::string because = {};  // why it is wrong, if it is wrong on purpose: all of these race
  void (*launch)(const unsigned* d_x, HandoverMemory& memory);
};

inline std::vector<HandoverRung> handover_rungs() {
  return {
      {"add_parts<of_reader>", "thread 0 releases, no barrier before it",
       "the stores of the other threads may come after the release of thread 0",
       launch_add_parts<Barriers::of_reader>},
      {"add_parts<of_writers>", "a barrier before the release, none after the acquire",
       "the loads of the other threads may come before the acquire of thread 0",
       launch_add_parts<Barriers::of_writers>},
      {"add_parts<both>", "a barrier on both sides", "", launch_add_parts<Barriers::both>},
  };
}

// ---- messages between the host and a kernel ----------------------------------------------------

struct MailboxRung {
  std::string name, changed;
  unsigned (*launch)(course::PinnedBuffer<Mailbox>& mailbox, unsigned first);
};

inline std::vector<MailboxRung> mailbox_rungs() {
  return {{"exchange", "two words of system scope in pinned memory", exchange}};
}

// ---- locks -------------------------------------------------------------------------------------

struct LockRung {
  std::string name, changed;
  void (*launch)(const unsigned* d_x, std::size_t n, unsigned accounts, LockWords* d_locks,
                 Account* d_accounts);
  bool one_account = false;  // whatever `accounts` is
};

namespace detail {
template <class Lock>
void launch_lanes(const unsigned* d_x, std::size_t n, unsigned accounts, LockWords* d_locks,
                  Account* d_accounts) {
  course::launch(add_locked_lanes<Lock>, {blocks_for(n), kBlockSize}, d_x, n, accounts, d_locks,
                 d_accounts);
}
template <class Lock>
void launch_warps(const unsigned* d_x, std::size_t n, unsigned, LockWords* d_locks,
                  Account* d_accounts) {
  course::launch(add_locked_warps<Lock>, {blocks_for(n), kBlockSize}, d_x, n, d_locks, d_accounts);
}
}  // namespace detail

inline std::vector<LockRung> lock_rungs() {
  using detail::launch_lanes, detail::launch_warps;
  return {
      {"add_locked_lanes<TestAndSet>", "test-and-set, taken by each lane",
       launch_lanes<TestAndSet>},
      {"add_locked_warps<TestAndSet>", "test-and-set, taken once per warp",
       launch_warps<TestAndSet>, true},
      {"add_locked_lanes<TestAndTestAndSet>", "look first, and pause, taken by each lane",
       launch_lanes<TestAndTestAndSet>},
      {"add_locked_warps<TestAndTestAndSet>", "look first, and pause, taken once per warp",
       launch_warps<TestAndTestAndSet>, true},
      {"add_locked_lanes<TicketLock>", "tickets, taken by each lane", launch_lanes<TicketLock>},
      {"add_locked_warps<TicketLock>", "tickets, taken once per warp", launch_warps<TicketLock>,
       true},
      {"add_packed", "no lock: both numbers in one 64-bit atomicAdd",
       [](const unsigned* d_x, std::size_t n, unsigned accounts, LockWords*, Account* d_accounts) {
         course::launch(add_packed, {blocks_for(n), kBlockSize}, d_x, n, accounts, d_accounts);
       }},
  };
}

// ---- the queue ---------------------------------------------------------------------------------

struct QueueRung {
  std::string name, changed;
  void (*launch)(unsigned blocks, const unsigned* d_x, std::size_t n, QueueMemory& memory,
                 unsigned* d_popped);
};

inline std::vector<QueueRung> queue_rungs() {
  return {
      {"queue_locked", "one lock for the queue",
       [](unsigned blocks, const unsigned* d_x, std::size_t n, QueueMemory& m, unsigned* d_popped) {
         course::launch(queue_locked, {blocks, kBlockSize}, d_x, n, m.slots.data(), m.capacity,
                        m.words.data(), m.lock.data(), d_popped);
       }},
      {"queue_tickets", "a ticket per value, a turn per slot",
       [](unsigned blocks, const unsigned* d_x, std::size_t n, QueueMemory& m, unsigned* d_popped) {
         course::launch(queue_tickets, {blocks, kBlockSize}, d_x, n, m.slots.data(), m.capacity,
                        m.words.data(), d_popped);
       }},
      {"queue_tickets_warp", "one atomic per warp",
       [](unsigned blocks, const unsigned* d_x, std::size_t n, QueueMemory& m, unsigned* d_popped) {
         course::launch(queue_tickets_warp, {blocks, kBlockSize}, d_x, n, m.slots.data(),
                        m.capacity, m.words.data(), d_popped);
       }},
  };
}

// ---- the stack ---------------------------------------------------------------------------------

/// A list of `nodes` nodes, all of them free: 0 is the first one, then 1, 2, ...
template <class Version>
struct StackMemory {
  unsigned nodes;
  DeviceBuffer<typename Version::Head> head{1};
  DeviceBuffer<unsigned> next{nodes}, users{nodes}, counts{4};

  void reset() {
    std::vector<unsigned> followers(nodes);
    for (unsigned k = 0; k < nodes; ++k) followers[k] = k + 1 < nodes ? k + 1 : kNoNode;
    next.upload(followers);
    head.upload({typename Version::Head{}});
    users.fill_bytes(0);
    counts.fill_bytes(0);
  }
  /// The nodes that a walk from the head meets, at most one more than there are.
  std::vector<unsigned> walk() const {
    const std::vector<unsigned> followers = next.download();
    std::vector<unsigned> met;
    auto node = static_cast<unsigned>(head.front().node);
    while (node != kNoNode && met.size() <= nodes) {
      met.push_back(node);
      node = followers[node];
    }
    return met;
  }
};

/// Every thread takes a node and puts it back, `turns` times.
template <class Version>
void launch_use_nodes(std::size_t threads, unsigned turns, StackMemory<Version>& m) {
  course::launch(use_nodes<Version>, {blocks_for(threads), kBlockSize}, turns, m.head.data(),
                 m.next.data(), m.users.data(), m.counts.data());
}
/// Afterwards m.counts has the nodes that block 0 and block 1 kept, at [0] and [1].
template <class Version>
void launch_aba(StackMemory<Version>& m) {
  unsigned* const step = m.counts.data() + 2;
  course::launch(aba<Version>, {2, 32}, m.head.data(), m.next.data(), step, m.counts.data());
}

/// Two blocks take nodes from a list whose head may become what it was before: wrong on purpose.
struct AbaRung {
  std::string name, changed, because;
  void (*launch)(StackMemory<Untagged>& memory);
};

inline std::vector<AbaRung> aba_rungs() {
  return {{"aba<Untagged>", "the head is an index",
           "the head is the same node again, but its follower has a user", launch_aba<Untagged>}};
}

/// Threads take nodes and put them back.
template <class Version>
struct StackRung {
  std::string name, changed;
  bool (*can_run)() = [] { return true; };
  std::string why_not = {};  // where it cannot
  void launch(std::size_t threads, unsigned turns, StackMemory<Version>& memory) const {
    launch_use_nodes(threads, turns, memory);
  }
};

/// Calls f with the rung of each version of the head.
template <class F>
void for_each_stack_rung(F f) {
  f(StackRung<Tagged64>{"use_nodes<Tagged64>", "index and tag in 64 bits"});
  f(StackRung<Tagged128>{"use_nodes<Tagged128>", "node and tag in 128 bits",
                         has_wide_compare_and_swap, "atomicCAS of 16 bytes needs sm_90"});
}

// ---- the hash table ----------------------------------------------------------------------------

struct HashMemory {
  std::size_t n;  // of pairs
  unsigned capacity;
  DeviceBuffer<ull> table{capacity};
  unsigned parts = course::blocks_for(capacity, kPartSlots);
  unsigned regions = course::blocks_for(capacity, kRegionSlots);
  // A piece has room for as many pairs as it has slots.
  DeviceBuffer<ull> part_pairs{std::size_t{parts} * kPartSlots};
  DeviceBuffer<ull> region_pairs{std::size_t{regions} * kRegionSlots};
  DeviceBuffer<ull> spilled{n};
  DeviceBuffer<unsigned> counts{std::size_t{1} + parts + regions};

  void reset() { table.fill_bytes(0xFF); }
  Spill spill() { return {spilled.data(), counts.data()}; }
  Pieces by_part() { return {part_pairs.data(), counts.data() + 1, kPartSlots}; }
  Pieces by_region() { return {region_pairs.data(), counts.data() + 1 + parts, kRegionSlots}; }
};

struct HashRung {
  std::string name, changed;
  void (*launch)(const ull* d_pairs, std::size_t n, HashMemory& memory);
  bool drops = false;  // pairs whose slot is taken, so that no table is as fast
};

namespace detail {
inline void launch_split(const ull* d_pairs, std::size_t n, HashMemory& m) {
  course::set_zero(m.counts.data(), m.counts.size());
  course::launch(split_into_parts, {course::blocks_for(n, kTilePairs), kBlockSize}, d_pairs, n,
                 m.by_part(), m.spill(), m.capacity);
}
inline void launch_spilled(HashMemory& m) {
  course::launch(insert_spilled, {course::kCpuDevice ? 2u : 264u, kBlockSize}, m.spill(),
                 m.table.data(), m.capacity);
}
inline void launch_partitioned(const ull* d_pairs, std::size_t n, HashMemory& m) {
  launch_split(d_pairs, n, m);
  constexpr unsigned kBlocks = (kPartSlots + kBlockSize - 1) / kBlockSize;
  course::launch(insert_parts, {m.parts * kBlocks, kBlockSize}, m.by_part(), kBlocks,
                 m.table.data(), m.capacity);
  launch_spilled(m);
}
inline void launch_regions(const ull* d_pairs, std::size_t n, HashMemory& m) {
  launch_split(d_pairs, n, m);
  constexpr unsigned kBlocks = (kPartSlots + kTilePairs - 1) / kTilePairs;
  course::launch(split_into_regions, {m.parts * kBlocks, kBlockSize}, m.by_part(), kBlocks,
                 m.by_region(), m.spill(), m.capacity);
  course::launch(build_regions, {m.regions, kBlockSize}, m.by_region(), m.spill(), m.table.data(),
                 m.capacity);
  launch_spilled(m);
}
template <unsigned kTile>
void launch_tiles(const ull* d_pairs, std::size_t n, HashMemory& m) {
  course::launch(insert_tiles<kTile>, {blocks_for(n), kBlockSize}, d_pairs, n, m.table.data(),
                 m.capacity);
}
}  // namespace detail

inline std::vector<HashRung> hash_rungs() {
  return {
      {"cas_anywhere", "the limit: no probing",
       [](const ull* d_pairs, std::size_t n, HashMemory& m) {
         course::launch(cas_anywhere, {blocks_for(n), kBlockSize}, d_pairs, n, m.table.data(),
                        m.capacity);
       },
       true},
      {"insert_linear", "linear probing, a thread per pair",
       [](const ull* d_pairs, std::size_t n, HashMemory& m) {
         course::launch(insert_linear, {blocks_for(n), kBlockSize}, d_pairs, n, m.table.data(),
                        m.capacity);
       }},
      {"insert_tiles<4>", "four lanes look for one pair's slot", detail::launch_tiles<4>},
      {"insert_partitioned", "one part of 8 MiB of the table after the other",
       detail::launch_partitioned},
      {"build_regions", "32 KiB of the table in shared memory, no clearing",
       detail::launch_regions},
  };
}

/// What has to be done to a table before pairs are stored in it.
struct ClearRung {
  std::string name, changed;
  void launch(HashMemory& memory) const { memory.reset(); }
};

inline std::vector<ClearRung> clear_rungs() {
  return {{"clear_table", "what a table costs before its first use"}};
}
