// Races of kernels on different devices: nothing but the host, events and streams orders two
// launches, and what both reach (pinned, managed and peer memory) is touched by both at once unless
// something does.
//
// A kernel runs from its first thread to its last here, so each one finds what earlier launches
// have left: for each granule and device the last access of each form. The clocks of the
// streams say which of these launches came before.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/inlining.hpp"
#include "kernel/engine.hpp"
#include "memory/shadow.hpp"

namespace simt {

/// A launch of which accesses are remembered.
struct PastLaunch {
  const char* kernel;
  dim3 grid, block;
  Placement placement;
};
/// The launch of an access.
const PastLaunch& launch_of(const CrossAccess& access);

void cross_device_start_launch();
/// The number of the running launch in a CrossAccess.
std::uint32_t cross_device_launch();

/// Is an access a race with a launch of another device? `function`: of an atomic, or null.
SIMT_RARE void check_cross_device(Allocation& a, std::uintptr_t address, std::size_t size,
                                  AccessKind kind, Scope scope, const char* function,
                                  const void* caller, Thread& t);
/// A plain read met an atomic of another device: true if it may still turn out as the first step
/// of a compare-and-swap loop.
bool hold_back_cross_device(Thread& t, std::uintptr_t address, const CrossAccess& atomic);

/// cross_device_messages.cpp
void report_cross_device(const CrossAccess& earlier, const CrossAccess& now, std::uintptr_t address,
                         const char* function, const Thread& t);

}  // namespace simt
