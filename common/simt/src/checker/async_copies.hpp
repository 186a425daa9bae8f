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
};

/// Where a copy waits: with its thread, or with the barrier that it is bound to.
struct CopyQueue {
  std::vector<AsyncCopy> copies;
  std::uint64_t committed = 0;  // batches of the thread so far
};
CopyQueue& copies_of_thread(const Thread& t);
CopyQueue& copies_of_barrier(const void* barrier);

void async_copies_start_launch();
/// The block ends: what its threads have begun is dropped.
void async_copies_end_block(const Block& block);

/// The copy that is about to write there, or null.
const AsyncCopy* copy_under_way(std::uintptr_t address);

}  // namespace simt
