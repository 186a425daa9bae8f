// The primitives of asynchronous copies from global to shared memory, for the CPU device.
#pragma once

#include <cuda_runtime.h>

/// 4, 8 or 16 bytes, of which the last zfill become 0 and are not read.
SIMT_API void __pipeline_memcpy_async(void* to, const void* from, std::size_t size_and_align,
                                      std::size_t zfill = 0) {
  const bool has_instruction = size_and_align == 4 || size_and_align == 8 || size_and_align == 16;
  if (!has_instruction || zfill > size_and_align) {
    simt::trap("__pipeline_memcpy_async() copies 4, 8 or 16 bytes", cudaErrorLaunchFailure,
               SIMT_CALLER);
  }
  simt::begin_copy({to, from, size_and_align, size_and_align - zfill, size_and_align}, nullptr,
                   SIMT_CALLER);
}
/// What has been begun since the last one is a batch.
SIMT_API void __pipeline_commit() { simt::commit_copies(); }
/// Waits for all batches of this thread but the newest ones.
SIMT_API void __pipeline_wait_prior(std::size_t newest) {
  simt::wait_for_copies(static_cast<unsigned>(newest));
}
