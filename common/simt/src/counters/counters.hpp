// What launches did, as their counters tell.
#pragma once

#include <string>
#include <vector>

#include "kernel/thread.hpp"
#include "simt/testing.hpp"

namespace simt {

/// Since the program began, but for the maxima.
extern Counters counted;

/// Counts one request: the same instruction of `n` lanes of this block's warp. Returns what it costs:
/// sectors of global memory, wavefronts of shared memory, addresses of an atomic.
unsigned count_request(Block& block, Warp& warp, const Parked* const* lanes, unsigned n);
/// What was counted from `before` to `now`; of the maxima, those of now.
Counters difference(const Counters& now, const Counters& before);
/// A launch of this kernel has ended, before which `before` had been counted.
void count_launch(const std::string& kernel, const Counters& before);
/// What such launches did since begin_counting().
const std::vector<KernelCounters>& counted_by_kernel();
/// The launch that has begun after `before` will run again, from its beginning: what it did does not count.
void forget_launch(const Counters& before);
/// Maxima, kernels and lines begin anew.
void begin_counting();
/// How many devices have a kernel to run now, and how many kernels wait to run.
void count_at_once(unsigned devices, unsigned kernels);

}  // namespace simt
