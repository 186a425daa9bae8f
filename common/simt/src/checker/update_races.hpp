// Races of threads that read a place and write it: an update in two steps, and rounds without a barrier between them.
#pragma once

#include <cstdint>
#include <string>

#include "checker/race_causes.hpp"

namespace simt {

/// Where both threads read the place by one instruction, and one of them or both write it.
Explanation explain_update(const Race& race);
/// A sentence and a question where a thread of the block has written two elements by the instruction `pc` since the last
/// barrier: the line runs again. Empty if that is not known, or for a race of two blocks. `first`, `last`: the lines at
/// which a round reads and writes.
std::string rounds_question(const Race& race, std::uint32_t pc, const SourceLine& first,
                            const SourceLine& last);
/// The instruction by which a thread has read a place just before its write, as far as that is known; 0 if it is not.
std::uint32_t read_before(std::uintptr_t address, const Access& write);

}  // namespace simt
