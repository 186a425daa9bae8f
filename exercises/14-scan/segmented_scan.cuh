// Exercise segmented_scan: sums that begin anew wherever a flag is set.
//
// The bills of many customers lie in one array, one after the other, and a flag says where the next
// customer's begin: how much has each of them spent so far? A scan of pairs knows: each pair has a
// sum, and says whether a segment begins in it. The operation on the pairs is the exercise.
//
// Three kernels: reduce_parts reduces each part of the array, the second one (ready to use, below)
// replaces the parts by what is before them, and scan_parts scans.
//
// Try it: ./course check segmented_scan
#pragma once

#include <cuda_runtime.h>

#include <course/buffer.cuh>
#include <course/error.cuh>
#include <course/exercise.cuh>
#include <course/launch.cuh>
#include <course/look_back.cuh>
#include <cstddef>

NOT_STARTED  // delete this line when you begin

constexpr unsigned kThreads = 256, kWarps = kThreads / 32;

/// Elements that lie side by side: the sum of those from the last flag on, or of all if there is no
/// flag; and whether there is one.
struct Segment {
  unsigned sum, begins;
};

/// Ready to use: one element.
__device__ inline Segment element(const unsigned* x, const unsigned char* flags, std::size_t i) {
  return {x[i], flags[i] != 0 ? 1u : 0u};
}

/// The elements of a and, after them, those of b.
__host__ __device__ inline Segment join(Segment a, Segment b) {
  // TODO(you): join them.
  (void)b;  // not used yet: delete this line
  return a;
}

/// Ready to use: join() for course::warp_scan_any(value, Join{}), which scans the 32 lanes of a warp.
struct Join {
  __host__ __device__ Segment operator()(const Segment& a, const Segment& b) const {
    return join(a, b);
  }
  template <class T>
  __host__ __device__ static constexpr T identity() {
    return {0, 0};
  }
};

/// Ready to use: part b begins at part_begin(n, parts, b), and ends before part_begin(n, parts, b + 1).
__host__ __device__ inline std::size_t part_begin(std::size_t n, unsigned parts, unsigned b) {
  const std::size_t size = (n + parts - 1) / parts, begin = size * b;
  return begin < n ? begin : n;
}

/// parts[b] = all elements of part b, joined, for each block b of kThreads threads.
__global__ void reduce_parts(const unsigned* x, const unsigned char* flags, std::size_t n,
                             Segment* parts) {
  // TODO(you): reduce the block's part.
  (void)x, (void)flags, (void)n, (void)parts;  // not used yet: delete this line
}

/// Ready to use: replaces parts[b] by all parts before it, joined. One warp.
__global__ void scan_totals(Segment* parts, unsigned count) {
  Segment before = {0, 0};
  for (unsigned first = 0; first < count; first += 32) {
    const unsigned b = first + threadIdx.x;
    const Segment upto = course::warp_scan_any(b < count ? parts[b] : Segment{0, 0}, Join{});
    const Segment lower = course::shuffle_up(upto, 1);
    if (b < count) parts[b] = threadIdx.x == 0 ? before : join(before, lower);
    before = join(before, course::shuffle(upto, 31));
  }
}

/// Writes out[i] for the elements of part b; before[b] is all that is before the part.
__global__ void scan_parts(const unsigned* x, const unsigned char* flags, std::size_t n,
                           const Segment* before, unsigned* out) {
  // TODO(you): scan the block's part.
  (void)x, (void)flags, (void)n, (void)before, (void)out;  // not used yet: delete this line
}

/// out[i] = x[s] + x[s+1] + ... + x[i], where s is the last index up to i whose flag is set, or 0 if
/// there is none. A flag is set if its byte is not 0. Sums are modulo 2^32.
/// - n may be 0, and more than 2^32. Any flags may be set: all, none, that of x[0] or not.
/// - x, flags and out begin at any element; out may be x. Nothing else is written.
/// - Each call scans what is in memory then.
/// - Kernels read x and flags. The threads of many blocks share the work. Blocks may start in any order.
inline void segmented_scan(const unsigned* x, const unsigned char* flags, std::size_t n,
                           unsigned* out) {
  if (n == 0) return;
  const auto count = static_cast<unsigned>(n / 1024 < 1024 ? n / 1024 + 1 : 1024);
  course::DeviceBuffer<Segment> parts(count);
  course::launch(reduce_parts, {count, kThreads}, x, flags, n, parts.data());
  course::launch(scan_totals, {1, 32}, parts.data(), count);
  course::launch(scan_parts, {count, kThreads}, x, flags, n, parts.data(), out);
}
