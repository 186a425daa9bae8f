// Exercise read_profile: four kernels sum 2^24 floats. What limits each of them?
//
// The chapter's page has the table, under "read_profile": the time on an H200 and what ncu counted,
// for the kernels A to D. All answers follow from these numbers; nothing has to be run.
// - ncu counted in a launch of its own, which found empty caches. The time is that of launches which
//   found the L2 full of other data.
// - A warp reduction is an atomic whose old value is not used (RED). All those of a kernel go to one
//   address, where they are executed one after the other.
// - DRAM, % of its peak, is how busy the memory was.
// - Warp instructions are all that the warps executed.
//
// Try it: ./course check read_profile
#pragma once

#include <course/exercise.cuh>

/// What a kernel waits for most.
enum class Limit {
  not_answered,
  atomics,  // they take more than half of its time
  memory,   // not so, and DRAM runs at 70 % of its peak or more
  latency,  // neither: the threads wait for their loads, and too few bytes are in flight
};

/// How long does one of these atomics take, in nanoseconds? In the kernel with the most of them,
/// nearly all of the time is atomics. To 5 %.
constexpr double kNanosecondsPerAtomic = 923.6e3 / 524'288;

/// So how long do all atomics of A take, in microseconds? To 5 %.
constexpr double kMicrosecondsOfAtomicsOfA = 1056 * kNanosecondsPerAtomic / 1000;

constexpr Limit kLimitOfA = Limit::latency;
constexpr Limit kLimitOfC = Limit::memory;
constexpr Limit kLimitOfD = Limit::atomics;

/// If DRAM had run at 100 % of its peak in ncu's launch of C, and for as many bytes, how many times as
/// fast would that launch have been? No launch that moves as many bytes is faster. To 2 %. (This is no
/// limit for the time in the table, which is of other launches.)
constexpr double kMostSpeedupOfC = 100 / 77.0;
