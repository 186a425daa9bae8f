// Barriers in shared memory that count bytes (mbarrier), bulk operations, and stores that a barrier counts: what PTX
// has as mbarrier, cp.async.bulk, cp.reduce.async.bulk and st.async, and CUDA C++ only in part. course/bulk.cuh calls
// them on the CPU device.
//
// A barrier is two words, as cuda::barrier is. Here a bulk load, or a store, has its bytes at once, but the
// barrier's phase ends only when a thread looks for its end, or arrives for the next one: until then
// the destination counts as not written.
#pragma once

#include <cuda_runtime.h>

#include "simt/async_copies.hpp"
#include "simt/bfloat16.hpp"
#include "simt/half.hpp"

namespace simt {

// ---- barriers -----------------------------------------------------------------------------------

/// Two words in shared memory.
struct ByteBarrier {
  unsigned counts;  // low half: arrivals that are missing; high half: arrivals of a phase
  unsigned phase;   // the number of phases that are over
};

namespace byte_barrier {

constexpr unsigned kMissing = 0xFFFF;

struct Arrive {
  static constexpr AtomicKind kind = AtomicKind::read_modify_write;
  SIMT_PURE static unsigned apply(unsigned old, unsigned arrivals) { return old - arrivals; }
};

SIMT_UNINSTRUMENTED inline void order(const void* caller) {
  fence(mbarrier_scope(), "fence of an mbarrier", caller);
}

/// The word's value, taken with what others have left there.
SIMT_UNINSTRUMENTED inline unsigned look(unsigned* word, const AtomicCall& call) {
  atomic_access(word, sizeof *word, AtomicKind::read_modify_write, call);
  const unsigned value = *word;
  atomic_done(false, {type_of<unsigned>(), &value, nullptr});
  return value;
}

/// Ends the phase if all have arrived, and all bytes have come.
SIMT_UNINSTRUMENTED inline void end_phase_if_complete(ByteBarrier* b, const AtomicCall& call) {
  if (!complete_phase(&b->counts, call)) return;
  order(call.caller);
  atomic_update<atomic_op::Add>(&b->phase, 1u, call);
}

SIMT_UNINSTRUMENTED inline void arrive(ByteBarrier* b, unsigned bytes, const AtomicCall& call) {
  end_phase_if_complete(b, call);  // of the phase before, if no thread has waited for it
  if (bytes > 0) expect_bytes(b, bytes);
  order(call.caller);
  const unsigned before = atomic_update<Arrive>(&b->counts, 1u, call);
  if ((before & kMissing) == 0) {
    trap("more threads arrive at an mbarrier than its phase expects", cudaErrorLaunchFailure,
         call.caller);
  }
}

}  // namespace byte_barrier

SIMT_API void init_barrier(ByteBarrier* b, unsigned arrivals) {
  const void* const caller = SIMT_CALLER;
  if (arrivals == 0 || arrivals > byte_barrier::kMissing || !is_shared(b)) {
    trap("an mbarrier lies in shared memory, and has 1 to 65535 arrivals", cudaErrorLaunchFailure,
         caller);
  }
  const AtomicCall call{"mbarrier.init", mbarrier_scope(), caller};
  atomic_access(&b->counts, sizeof b->counts, AtomicKind::exchange, call);
  b->counts = arrivals << 16 | arrivals;
  atomic_access(&b->phase, sizeof b->phase, AtomicKind::exchange, call);
  b->phase = 0;
}
/// Arrives; the phase waits for `bytes` more.
SIMT_API void arrive(ByteBarrier* b, unsigned bytes) {
  byte_barrier::arrive(b, bytes, {"mbarrier.arrive", mbarrier_scope(), SIMT_CALLER});
}
/// True if the phase of this parity is over: 0 for the first one, 1 for the second one and so on. Of the
/// phase before the first one the parity is 1.
SIMT_API bool is_phase_over(ByteBarrier* b, unsigned parity) {
  const AtomicCall call{"mbarrier.try_wait", mbarrier_scope(), SIMT_CALLER};
  if ((byte_barrier::look(&b->phase, call) & 1) == (parity & 1)) {
    byte_barrier::end_phase_if_complete(b, call);
    if ((byte_barrier::look(&b->phase, call) & 1) == (parity & 1)) return false;
  }
  byte_barrier::order(call.caller);
  return true;
}

// ---- bulk operations ----------------------------------------------------------------------------

SIMT_API void bulk_load(void* to, const void* from, unsigned bytes, ByteBarrier* b) {
  const void* const caller = SIMT_CALLER;
  byte_barrier::order(caller);  // whoever waits for the load comes after what this thread knows
  byte_barrier::look(&b->counts, {"cp.async.bulk", mbarrier_scope(), caller});
  begin_bulk_load(to, from, bytes, b, caller);
}

/// *to = the value, in shared memory of a block of the cluster: its barrier's phase counts the bytes, a multiple of 4.
SIMT_API void store_async(void* to, const void* value, unsigned bytes, ByteBarrier* b) {
  const void* const caller = SIMT_CALLER;
  begin_async_store(to, value, bytes, b, caller);
  byte_barrier::order(
      caller);  // whoever waits for the store comes after it, and after what this thread knows
  byte_barrier::look(&b->counts, {"st.async", mbarrier_scope(), caller, true});
  bind_async_store(to, value, bytes, b, caller);
}

template <class T>
SIMT_UNINSTRUMENTED void add_piece(void* to, const void* from) {
  T sum[16 / sizeof(T)], more[16 / sizeof(T)];
  __builtin_memcpy(static_cast<void*>(sum), to, sizeof sum);
  __builtin_memcpy(static_cast<void*>(more), from, sizeof more);
  for (unsigned i = 0; i < 16 / sizeof(T); ++i) {
    if constexpr (__is_same(T, float)) {
      sum[i] = atomic_op::AddFlushing::apply(sum[i], more[i]);
    } else {
      sum[i] = __hadd(sum[i], more[i]);
    }
  }
  __builtin_memcpy(to, static_cast<const void*>(sum), sizeof sum);
}

/// float, __half or __nv_bfloat16: each number is added atomically, all together are not.
template <class T>
SIMT_API_TEMPLATE void bulk_add(T* to, const T* from, unsigned bytes) {
  begin_bulk_add(to, from, bytes, add_piece<T>, SIMT_CALLER);
}

}  // namespace simt
