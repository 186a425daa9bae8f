// What launches did, as their counters tell.
#pragma once

#include "kernel/thread.hpp"
#include "simt/testing.hpp"

namespace simt {

/// Since the program began, but for the maxima.
extern Counters counted;

/// Counts one request: the same instruction of `n` lanes of this warp. Returns what it costs:
/// sectors of global memory, wavefronts of shared memory, addresses of an atomic.
unsigned count_request(Warp& warp, const Parked* const* lanes, unsigned n);
/// How many devices have a kernel to run now, and how many kernels wait to run.
void count_at_once(unsigned devices, unsigned kernels);

}  // namespace simt
