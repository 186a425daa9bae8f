// Runs the rungs of chapter 12: litmus tests, locks, a queue, a stack and a hash table.
#include <algorithm>
#include <bit>
#include <course/buffer.cuh>
#include <course/data.cuh>
#include <course/ladder.cuh>
#include <numeric>
#include <string>
#include <vector>

#include "inputs.cuh"
#include "rungs.cuh"
#if !COURSE_CPU_DEVICE
#include "vendor.cuh"
#endif

namespace {

/// gpu_n on a GPU, cpu_n on the CPU device, and never more than --n asks for.
std::size_t at_most(const course::Ladder& ladder, std::size_t gpu_n, std::size_t cpu_n) {
  return std::min(ladder.n(), course::kCpuDevice ? cpu_n : gpu_n);
}

// ---- litmus tests ------------------------------------------------------------------------------

void litmus_tests(course::Ladder& ladder) {
  constexpr std::size_t kMost = course::kCpuDevice ? kBlockSize : std::size_t{1} << 22;
  const std::size_t tests = std::clamp(std::bit_floor(ladder.n()), std::size_t{kBlockSize}, kMost);
  if (ladder.n() < tests) return;  // --n is less than a block has threads
  LitmusMemory memory{tests};
  for (const LitmusGroup& group : litmus_groups()) {
    // A row is launched 23 times. What is rare, or forbidden for all orders, gets more tests.
    const bool is_rare = group.name == "same_address" || group.name == "independent_readers";
    const std::size_t rounds =
        course::kCpuDevice ? 1
                           : std::max<std::size_t>(1, ladder.n() / tests / 4) * (is_rare ? 4 : 1);
    const std::size_t n = rounds * tests;
    ladder.reference(group.name, 0, group.question + ": weak results among the tests", n);
    for (const LitmusRung& rung : group.rungs) {
      const auto weak = [&] { return static_cast<double>(memory.weak.front()); };
      const course::Rung row{.name = rung.name,
                             .changed = rung.changed,
                             .reset = [&] { memory.weak.fill_bytes(0); },
                             .launch = [&] { rung.launch(n, memory); },
                             .result = weak,
                             .check =
                                 [&] {
                                   return rung.weak_is_allowed
                                              ? course::Verdict{}
                                              : course::none(memory.weak.front(), "weak results");
                                 },
                             .n = n,
                             .l2 = course::L2::warm,
                             .operations = n};
      if (rung.is_race) {
        ladder.wrong(
            course::wrong_rung(row, course::Expect::race,
                               "nothing orders the message before the flag for the reader"));
      } else {
        ladder.rung(row);
      }
    }
  }
}

/// Only what the orders change is timed: no delay, no clearing, no counting.
void accesses_alone(course::Ladder& ladder) {
  constexpr std::size_t kFewest = kTurns * kBlockSize;  // one block for each role
  constexpr std::size_t kMost = course::kCpuDevice ? kFewest : std::size_t{1} << 22;
  const std::size_t tests = std::clamp(std::bit_floor(ladder.n()), kFewest, kMost);
  AccessMemory memory{tests};
  for (const AccessGroup& group : access_groups()) {
    ladder.reference(
        group.name, static_cast<double>(group.stores * tests),
        "words stored; the accesses alone, " + std::to_string(kTurns) + " tests per thread", tests);
    for (const AccessRung& rung : group.rungs) {
      ladder.rung({.name = rung.name,
                   .changed = rung.changed,
                   .reset = [&] { memory.reset(); },
                   .launch = [&] { rung.launch(memory); },
                   .result = [&] { return static_cast<double>(memory.stored()); },
                   .n = tests,
                   .l2 = course::L2::warm,
                   .operations = (group.loads + group.stores) * tests});
    }
  }
}

// ---- hand-overs --------------------------------------------------------------------------------

void handovers(course::Ladder& ladder) {
  HandoverMemory memory{4};
  const std::vector<unsigned> x = course::position_values<unsigned>(memory.parts.size());
  const auto d_x = DeviceBuffer<unsigned>::from(x);
  ladder.reference("handover", 2 * std::accumulate(x.begin(), x.end(), 0.0),
                   "four blocks write a part each, one block adds the parts", x.size());
  for (const HandoverRung& rung : handover_rungs()) {
    const course::Rung row{.name = rung.name,
                           .changed = rung.changed,
                           .reset = [&] { memory.reset(); },
                           .launch = [&] { rung.launch(d_x.data(), memory); },
                           .result =
                               [&] {
                                 const std::vector<unsigned> sums = memory.sums.download();
                                 return std::accumulate(sums.begin(), sums.end(), 0.0);
                               },
                           .l2 = course::L2::warm};
    if (rung.because.empty()) {
      ladder.rung(row);
    } else {
      ladder.wrong(course::wrong_rung(row, course::Expect::race, rung.because));
    }
  }
}

void mailbox(course::Ladder& ladder) {
  ladder.reference("mailbox", kMailRounds, "questions of the host that a kernel has answered",
                   kMailRounds);
  course::PinnedBuffer<Mailbox> box(1);
  for (const MailboxRung& rung : mailbox_rungs()) {
    if (!can_exchange()) {
      ladder.skip(rung.name, kNoExchange);
      continue;
    }
    unsigned right = 0;
    ladder.rung({.name = rung.name,
                 .changed = rung.changed,
                 .reset = [&] { right = 0; },
                 .launch = [&] { right = rung.launch(box, 1000); },
                 .result = [&] { return static_cast<double>(right); },
                 .operations = kMailRounds});
  }
}

// ---- locks -------------------------------------------------------------------------------------

void locks(course::Ladder& ladder, std::size_t n, unsigned accounts) {
  const std::vector<unsigned> x = course::position_values<unsigned>(n);
  const auto d_x = DeviceBuffer<unsigned>::from(x);
  DeviceBuffer<LockWords> d_locks(accounts);
  DeviceBuffer<Account> d_accounts(accounts);
  ladder.reference("accounts", std::accumulate(x.begin(), x.end(), 0.0),
                   accounts == 1 ? "one account" : std::to_string(accounts) + " accounts", n);
  for (const LockRung& rung : lock_rungs()) {
    if (rung.one_account && accounts > 1) continue;
    ladder.rung(
        {.name = rung.name,
         .changed = rung.changed,
         .reset =
             [&] {
               d_locks.fill_bytes(0);
               d_accounts.fill_bytes(0);
             },
         .launch = [&] { rung.launch(d_x.data(), n, accounts, d_locks.data(), d_accounts.data()); },
         .result =
             [&] {
               double sum = 0;
               for (const Account& account : d_accounts.download()) sum += account.sum;
               return sum;
             },
         .n = n,
         .l2 = course::L2::warm,
         .operations = n});
  }
}

// ---- the queue and the stack -------------------------------------------------------------------

void queue(course::Ladder& ladder) {
  // Each value costs two hand-overs of the lock, and the threads that wait for it make them slower.
  const std::size_t n = std::min<std::size_t>(ladder.n(), 128);
  const unsigned blocks = course::kCpuDevice ? 4 : 2;
  const std::vector<unsigned> x = course::position_values<unsigned>(n);
  const auto d_x = DeviceBuffer<unsigned>::from(x);
  DeviceBuffer<unsigned> d_popped(n);
  QueueMemory memory{course::kCpuDevice ? 64u : 256u};
  ladder.reference("queue", std::accumulate(x.begin(), x.end(), 0.0), "all values arrive", n);
  for (const QueueRung& rung : queue_rungs()) {
    ladder.rung({.name = rung.name,
                 .changed = rung.changed,
                 .reset =
                     [&] {
                       memory.reset();
                       d_popped.fill_bytes(0);
                     },
                 .launch = [&] { rung.launch(blocks, d_x.data(), n, memory, d_popped.data()); },
                 .result =
                     [&] {
                       const std::vector<unsigned> popped = d_popped.download();
                       return std::accumulate(popped.begin(), popped.end(), 0.0);
                     },
                 .check = [&] { return course::same_set(d_popped.download(), x, "popped"); },
                 .n = n,
                 .l2 = course::L2::warm,
                 .operations = n});
  }
}

constexpr unsigned kNodes = 1024;

template <class Version>
void stack_rung(course::Ladder& ladder, const StackRung<Version>& rung, std::size_t threads) {
  if (!rung.can_run()) return ladder.skip(rung.name, rung.why_not);
  StackMemory<Version> memory{kNodes};
  constexpr unsigned kTurns = course::kCpuDevice ? 1 : 4;
  // As a variable: nvcc refuses names of members in an argument that depends on Version.
  const course::Rung row = {
      .name = rung.name,
      .changed = rung.changed,
      .reset = [&] { memory.reset(); },
      .launch = [&] { rung.launch(threads, kTurns, memory); },
      .result = [&] { return static_cast<double>(memory.walk().size()); },
      .check =
          [&] {
            const course::Verdict users =
                course::none(memory.counts.front(), "nodes with two users");
            return users ? course::same(memory.walk().size(), memory.nodes, "nodes") : users;
          },
      .n = threads,
      .l2 = course::L2::warm,
      .operations = threads * kTurns};
  ladder.rung(row);
}

void stack(course::Ladder& ladder) {
  // The time grows with the square of the number of threads at one address.
  const std::size_t threads = at_most(ladder, std::size_t{1} << 10, 64);
  StackMemory<Untagged> memory{kNodes};
  ladder.reference("aba", 0, "nodes in the list that a block still uses", 1);
  for (const AbaRung& rung : aba_rungs()) {
    ladder.wrong({.name = rung.name,
                  .changed = rung.changed,
                  .expect = course::Expect::wrong_value,
                  .because = rung.because,
                  .reset = [&] { memory.reset(); },
                  .launch = [&] { rung.launch(memory); },
                  .result =
                      [&] {
                        const auto head = memory.head.front().node;
                        return head == memory.counts.download()[1] ? 1.0 : 0.0;
                      },
                  .exactly = 1.0,
                  .n = 1});
  }
  ladder.reference("nodes", kNodes, "all nodes are in the list again", threads);
  for_each_stack_rung([&](const auto& rung) { stack_rung(ladder, rung, threads); });
}

// ---- the hash table ----------------------------------------------------------------------------

/// The rungs at one load factor. Those that are a curve have no vendor beside them.
void hash_table(course::Ladder& ladder, const DeviceBuffer<ull>& d_pairs, std::size_t n,
                unsigned percent, bool is_curve) {
  HashMemory memory{n, capacity_for(n, percent)};
  DeviceBuffer<ull> d_found(1);
  const std::string load = std::to_string(percent) + " % full";
  const auto found = [&] {
    d_found.fill_bytes(0);
    course::launch(count_found, {blocks_for(n), kBlockSize}, d_pairs.data(), n, memory.table.data(),
                   memory.capacity, d_found.data());
    return static_cast<double>(d_found.front());
  };
  const auto row = [&](const std::string& name, const std::string& changed) {
    course::Rung rung{.name = name,
                      .changed = changed,
                      .reset = [&] { memory.reset(); },
                      .result = found,
                      .n = n,
                      .operations = n};
    if (is_curve) {
      rung.series = name;
      rung.x = percent / 100.0;
      rung.name += "_" + std::to_string(percent);
      rung.changed = changed + "; " + load;
    }
    return rung;
  };
  for (const HashRung& rung : hash_rungs()) {
    course::Rung insertion = row(rung.name, rung.changed);
    insertion.launch = [&] { rung.launch(d_pairs.data(), n, memory); };
    if (rung.drops) {
      insertion.check = [&] {
        return course::at_least(static_cast<ull>(found()), n / 4, "found pairs");
      };
    }
    ladder.rung(insertion);
  }
  if (is_curve) return;
  for (const ClearRung& rung : clear_rungs()) {
    ladder.rung({.name = rung.name,
                 .changed = rung.changed,
                 .launch = [&] { rung.launch(memory); },
                 .result = [&] { return static_cast<double>(n); },
                 .n = n});
  }
#if !COURSE_CPU_DEVICE
  DeviceBuffer<std::size_t> d_count(1);
  const auto count = [&] { return static_cast<double>(d_count.front()); };
  DeviceBuffer<ull> work(n);
  const auto sorted = [&](course::Rung rung) {
    rung.reset = [&] {
      CUDA_CHECK(cudaMemcpy(work.data(), d_pairs.data(), work.bytes(), cudaMemcpyDeviceToDevice));
    };
    rung.result = count;
    rung.n = n;
    rung.operations = n;
    return rung;
  };
  ladder.vendor(sorted(thrust_sort_unique(work.data(), n, d_count.data())));
  ladder.vendor(sorted(cub_sort_unique(work.data(), n, d_count.data())));
#endif
}

void hash_tables(course::Ladder& ladder) {
  const std::size_t n = at_most(ladder, std::size_t{1} << 26, 2048);
  ladder.reference("pairs", static_cast<double>(n), "all pairs are found, half of the slots", n);
  const auto d_pairs = DeviceBuffer<ull>::from(distinct_pairs(n));
  hash_table(ladder, d_pairs, n, 50, false);
  const std::size_t of_curve = at_most(ladder, std::size_t{1} << 26, 512);
  ladder.reference("load_factor", static_cast<double>(of_curve),
                   "pairs per nanosecond, by the load factor", of_curve);
  for (const unsigned percent : {25u, 50u, 75u, 85u, 90u, 95u}) {
    if (course::kCpuDevice && percent != 25 && percent != 95) continue;
    hash_table(ladder, d_pairs, of_curve, percent, true);
  }
}

}  // namespace

int main(int argc, char** argv) {
  course::Ladder ladder("12-memory-order", argc, argv,
                        {.gpu_n = std::size_t{1} << 26, .cpu_n = std::size_t{1} << 11});
  return ladder.run([](course::Ladder& rungs) {
    litmus_tests(rungs);
    accesses_alone(rungs);
    handovers(rungs);
    mailbox(rungs);
    locks(rungs, at_most(rungs, std::size_t{1} << 9, 64), 1);
    locks(rungs, at_most(rungs, std::size_t{1} << 20, 512), course::kCpuDevice ? 64 : 1u << 16);
    queue(rungs);
    stack(rungs);
    hash_tables(rungs);
  });
}
