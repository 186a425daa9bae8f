// Exercise sum_bytes: the brightness of a picture.
//
// A picture is an array of bytes, 0 to 255, and its brightness is their sum. The kernel below gets
// it wrong for large pictures. It is slow, too: a load of a warp moves 32 bytes, and could move 512.
//
// You may use the course's headers: course/collectives.cuh has course::warp_reduce and
// course::block_reduce, course/pack.cuh has course::head_before_packs.
//
// Try it: ./course check sum_bytes
#pragma once

#include <cuda_runtime.h>

#include <course/exercise.cuh>
#include <cstddef>
#include <cstdint>

NOT_STARTED  // delete this line when you begin

/// Adds x[0] + ... + x[n-1] to *sum, exactly.
/// - x may begin at any address, and n may be anything: 0, less than 16, no multiple of 16, more
///   than 2^32.
/// - What lies between the first and the last multiple of 16 in x is read in loads of 16 bytes (a
///   uint4), 512 bytes per warp; the bytes before and after them, fewer than 32, one by one.
///   Nothing outside x[0..n-1] is read. The CPU device counts the loads that the source has: copy a
///   uint4 before you use its members.
/// - *sum holds a number already, perhaps one close to 2^32.
/// - Exact for every grid, also for one block of 32 threads: then one warp, or even one of its
///   threads, has a sum that may be as large as that of all bytes.
/// - Right for every one-dimensional grid of blocks of 32, 64, ..., 1024 threads. The threads share
///   the work, and a warp makes at most one atomic on *sum.
__global__ void sum_bytes(const unsigned char* x, std::size_t n, unsigned long long* sum) {
  // TODO(you): make it exact, and as fast as the contract demands.
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  unsigned char mine = 0;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += stride) {
    mine += x[i];
  }
  atomicAdd(sum, static_cast<unsigned long long>(mine));
}
