// Remembers the asynchronous copies of a launch, and finds what they race with.
#include "checker/async_copies.hpp"

#include <unordered_map>

#include "base/early.hpp"
#include "base/scoped_ignore.hpp"
#include "checker/messages.hpp"
#include "kernel/engine.hpp"

namespace simt {
namespace {

SIMT_EARLY std::unordered_map<std::uint32_t, CopyQueue> by_thread;
SIMT_EARLY std::unordered_map<const void*, CopyQueue> by_barrier;
SIMT_EARLY std::unordered_map<std::uint32_t, CopyQueue> bulk_by_thread;

}  // namespace

CopyQueue& copies_of_thread(const Thread& t) { return by_thread[t.id]; }
CopyQueue& copies_of_barrier(const void* barrier) { return by_barrier[barrier]; }
CopyQueue& bulk_of_thread(const Thread& t) { return bulk_by_thread[t.id]; }

void async_copies_start_launch() {
  by_thread.clear();
  by_barrier.clear();
  bulk_by_thread.clear();
}

void async_copies_end_block(Block& block) {
  if (by_thread.empty() && by_barrier.empty() && bulk_by_thread.empty()) return;
  const ScopedIgnore guard;
  for (auto& [thread, queue] : bulk_by_thread) {
    if (block_of(thread) != block.linear) continue;
    for (const AsyncCopy& copy : queue.copies) {
      report_bulk_not_waited_for(copy);
      copy.apply(copy, block.threads[rank_of(thread)]);
    }
    queue.copies.clear();
  }
  const auto is_mine = [&](std::uint32_t thread) { return block_of(thread) == block.linear; };
  std::erase_if(by_thread, [&](const auto& entry) { return is_mine(entry.first); });
  for (auto& [barrier, queue] : by_barrier) {
    std::erase_if(queue.copies, [&](const AsyncCopy& copy) { return is_mine(copy.thread); });
  }
  std::erase_if(by_barrier, [](const auto& entry) {
    return entry.second.copies.empty() && entry.second.bytes_missing == 0;
  });
}

const AsyncCopy* copy_under_way(std::uintptr_t address) {
  const auto find_in = [&](const auto& queues) -> const AsyncCopy* {
    for (const auto& [owner, queue] : queues) {
      for (const AsyncCopy& copy : queue.copies) {
        if (address - copy.to < copy.size) return &copy;
      }
    }
    return nullptr;
  };
  const AsyncCopy* const found = find_in(by_thread);
  return found != nullptr ? found : find_in(by_barrier);
}

}  // namespace simt
