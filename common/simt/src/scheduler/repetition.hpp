// Loops that repeat themselves: a thread that comes to a place with the same variables again, while nothing in memory
// has changed, comes there again and again.
//
// From time to time a thread that runs for long without progress is watched at every basic block. Where it has
// been proven to repeat itself, the others go first. If all that could go on repeat themselves, none ends.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/inlining.hpp"
#include "kernel/engine.hpp"

namespace simt {

void watch_start_launch();
/// Basic blocks after which watch_loop() is due, if there is no progress.
std::uint64_t steps_until_watched();
/// Called at a basic block whose turn it is; says with engine.steps_left when it is due again.
SIMT_RARE void watch_loop(const void* caller);

/// Basic blocks in which threads were watched, since the program began.
std::uint64_t steps_watched();

/// Something has changed that threads may see, or has given a thread what is not in memory.
inline void note_change() { engine.watching = false; }
/// The running thread is about to store there, before any other thread runs.
SIMT_RARE void watch_write(std::uintptr_t address, std::size_t size);
/// The running thread reads memory that others may change.
SIMT_RARE void watch_poll();

}  // namespace simt
