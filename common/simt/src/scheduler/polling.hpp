// Threads that wait for others by reading the same place again and again.
//
// A GPU runs them beside the others. Here each turn of theirs is one that another thread does not
// get: a thread that finds the same value for the third time waits until another one changes it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/inlining.hpp"
#include "kernel/engine.hpp"

namespace simt {

/// The running thread has read this place, or is about to, by a volatile load or by an atomic that
/// changes nothing: lets others go first if nothing has changed, and gives up in the end.
void note_poll(std::uintptr_t address, std::size_t size, const void* caller);

/// True if what the thread waits for has not come when it last looked.
bool is_polling(const Thread& t);

extern std::size_t waiting_pollers;
SIMT_RARE void wake_pollers_at(std::uintptr_t address);
/// The place has a new value, or gets one before any other thread runs.
inline void wake_pollers(std::uintptr_t address) {
  if (waiting_pollers > 0) wake_pollers_at(address);
}
/// No other thread can run: all look again. False if there are none.
bool wake_all_pollers();
/// True if they have all looked again since anything changed, or if there are none.
bool pollers_are_stuck();
/// The launch ends.
void forget_pollers();

}  // namespace simt
