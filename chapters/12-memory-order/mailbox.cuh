// How do the host and a kernel that runs exchange messages?
// Rungs: exchange.
// The memory is pinned: the host and the GPU access the same bytes. Device scope is not enough, the
// two words have system scope.
#pragma once

#include <course/device.cuh>
#include <course/error.cuh>
#include <course/host_memory.cuh>
#include <course/launch.cuh>
#include <cuda/atomic>
#include <stdexcept>

using SystemWord = cuda::atomic_ref<unsigned, cuda::thread_scope_system>;

/// Two messages, ordinary variables, and a word for each that tells which round they are of.
struct alignas(128) Mailbox {
  unsigned question = 0, answer = 0;
  unsigned asked = 0, answered = 0;  // rounds: 1, 2, ...
};

/// Seconds of waiting: a host that is held until the kernel has ended never asks.
constexpr unsigned kMostPolls = 1u << 22;

__host__ __device__ inline unsigned answer_of(unsigned question) { return 3 * question + 1; }

// Question: can a kernel take a message of the host, without being launched for it?
// Changes:  the flag of message passing in system scope: the host releases, the kernel acquires, and
//           back again.
// Cost:     an access of the kernel goes through the link to the host's memory, and a thread waits.
__global__ void answer(Mailbox* box, unsigned rounds) {
  const SystemWord asked(box->asked), answered(box->answered);
  for (unsigned round = 1; round <= rounds; ++round) {
    for (unsigned polls = 0; asked.load(cuda::std::memory_order_acquire) < round; ++polls) {
      if (polls == kMostPolls) return;
    }
    box->answer = answer_of(box->question);
    answered.store(round, cuda::std::memory_order_release);
  }
}

/// The rounds of one launch. On the CPU device a kernel runs from its beginning to its end while the
/// host waits for it, so it can wait only for what the host has written before: one round.
inline constexpr unsigned kMailRounds = course::kCpuDevice ? 1 : 100;

/// False under tools that may hold the host until a kernel has ended, such as compute-sanitizer.
inline bool can_exchange() { return course::kCpuDevice || !course::skip_large(); }
inline constexpr const char* kNoExchange =
    "the host may have to wait for the end of each kernel here";

/// Launches the kernel, then asks kMailRounds questions, first + 1 to first + kMailRounds, one after the other.
/// Returns how many answers are right. Throws CudaError if the kernel fails, and std::runtime_error if
/// it has ended without an answer.
inline unsigned exchange(course::PinnedBuffer<Mailbox>& mailbox, unsigned first) {
  Mailbox& box = mailbox[0];
  box = {};
  course::launch(answer, {1, 1}, mailbox.data(), kMailRounds);
  const SystemWord asked(box.asked), answered(box.answered);
  unsigned right = 0;
  for (unsigned round = 1; round <= kMailRounds; ++round) {
    box.question = first + round;
    asked.store(round, cuda::std::memory_order_release);
    for (unsigned polls = 1; answered.load(cuda::std::memory_order_acquire) != round; ++polls) {
      if (polls % 1000 != 0) continue;  // the query takes longer than a look
      const cudaError_t state = cudaStreamQuery(nullptr);
      if (state == cudaErrorNotReady) continue;
      CUDA_CHECK(state);
      if (answered.load(cuda::std::memory_order_acquire) == round) break;
      throw std::runtime_error("the kernel has ended and has not answered");
    }
    if (box.answer == answer_of(first + round)) ++right;
  }
  return right;
}
