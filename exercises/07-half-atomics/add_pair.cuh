// Exercise add_pair: two neighbours, one atomic where the address allows it.
//
// A thread has two halves for two neighbouring elements. At every second address the hardware adds
// both at once; at the others the pair lies across two words.
//
// Try it: meson test -C build add_pair
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
/// - Elsewhere: two atomicAdd of a __half. Nothing beside address[0] and address[1] is touched, not
///   even to add nothing to it: it may be outside the array.
/// - Both elements always get their value: 0.0 makes a 0.0 of a -0.0, and -0.0 leaves it as it is.
/// - Any number of threads may call this at once, for pairs that overlap, too.
__device__ inline __half2 add_pair(__half* address, __half first, __half second) {
  // TODO(you): atomicAdd takes a __half2*, if the address is one.
  (void)first, (void)second;  // not used yet: delete this line when they are
  return __halves2half2(address[0], address[1]);
}
