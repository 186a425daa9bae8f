// Exercise add_pair: two neighbouring halves, one atomic where the address allows it.
//
// A thread has two halves to add to two neighbouring elements. If both elements are in one word of
// 32 bits, the hardware adds to both at once; if not, the pair spans two words.
//
// Try it: ./course check add_pair
#pragma once

#include <cuda_fp16.h>

#include <course/error.cuh>
#include <course/exercise.cuh>
#include <cstddef>
#include <cstdint>

NOT_STARTED  // delete this line when you begin

/// address[0] += first and address[1] += second, each in an atomic step of its own. Returns what
/// was there before, address[0] in .x and address[1] in .y, bit for bit.
/// - `address` is any element of an array but the last, in global or shared memory. An array may
///   begin at an odd half: it is the address that counts, not the index.
/// - Where `address` is a multiple of 4 bytes: one atomicAdd of a __half2, and no other access.
/// - Elsewhere: two atomicAdd of a __half. No byte beside address[0] and address[1] is touched, not
///   even by adding a zero: it may be outside the array.
/// - Zeros are added like all other values: 0.0 turns a -0.0 into 0.0, and -0.0 changes nothing.
/// - Any number of threads may call this at once, for pairs that overlap, too.
__device__ inline __half2 add_pair(__half* address, __half first, __half second) {
  // TODO(you): add both values, and return what was there.
  (void)first, (void)second;  // not used yet: delete this line when they are
  return __halves2half2(address[0], address[1]);
}
