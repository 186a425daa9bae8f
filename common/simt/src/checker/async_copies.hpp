// Asynchronous copies that have begun, and that no thread has waited for: memcpy_async() and similar functions.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernel/thread.hpp"

namespace simt {

/// A part of a copy that is moved at once.
struct AsyncCopy {
  std::uintptr_t to = 0, from = 0;
  std::uint8_t size = 0, read = 0;  // of the size so many bytes are read; the rest becomes 0
  std::uint32_t thread = 0;         // that began it
  std::uint64_t batch = 0;          // of that thread
  const void* caller = nullptr;
  std::array<unsigned char, 16> source{};  // as it was when the copy began
  bool bulk = false;                       // by cp.async.bulk or st.async: no request of a warp
  void (*add)(void* to, const void* from) = nullptr;  // of a bulk addition: of 16 bytes
  void (*apply)(const AsyncCopy& copy, Thread& t) = nullptr;
};

/// Where a copy waits: with its thread, or with the barrier that it is bound to.
struct CopyQueue {
  std::vector<AsyncCopy> copies;
  std::uint64_t committed = 0;     // batches of the thread so far
  std::int64_t bytes_missing = 0;  // that the barrier's phase waits for, and no load has begun
  /// The copy is one of the batch that is committed next.
  void add(AsyncCopy copy) {
    copy.batch = committed;
    copies.push_back(copy);
  }
};
CopyQueue& copies_of_thread(const Thread& t);
CopyQueue& copies_of_barrier(const void* barrier);
/// Bulk additions of a thread, which have groups of their own.
CopyQueue& bulk_of_thread(const Thread& t);

void async_copies_start_launch();
/// The block ends: copies that its threads have begun are dropped. Bulk additions end now, and those that still
/// read their source are findings. Blocks of a cluster end together: a store to another block does not outlive its own.
void async_copies_end_block(Block& block);

/// The copy that is about to write there, or null.
const AsyncCopy* copy_under_way(std::uintptr_t address);

}  // namespace simt
