// Races of operations that may run at the same time: kernels, copies and memsets of two streams or devices, and the
// host's own code. Only waiting host calls, the order of a stream, and events order them.
//
// Here one operation ends before the next one begins, so each finds what earlier ones have left: for each granule and
// stream the last access of each form, and the bytes of each copy. The clocks of the streams say which of them came
// before. A copy is compared when the host makes the call, host code when it accesses the memory, a kernel when it runs,
// each with all that were there before it: so every pair is compared once, and always, whatever runs when.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/inlining.hpp"
#include "checker/rows.hpp"
#include "kernel/engine.hpp"
#include "memory/shadow.hpp"

namespace simt {

enum class Doer : unsigned char { kernel, call, host_function, host };

/// An operation of which accesses are remembered.
struct PastOperation {
  Doer doer;
  const char* name;  // of the kernel, or of the function that the host called
  dim3 grid, block;  // of a kernel
  Placement placement;
  /// Return addresses of the host, that of the call first; none for its own code.
  std::vector<const void*> calls;
};
/// The operation of an access.
const PastOperation& operation_of(const CrossAccess& access);
/// The same by its number; null if it is before all that may still come.
const PastOperation* past_operation(std::uint32_t number);

// ---- kernels ------------------------------------------------------------------------------------

void overlap_start_launch();
/// The number of the running launch in a CrossAccess.
std::uint32_t overlap_number();
/// What the running launch has left of an allocation; null if nothing.
CrossCell* own_cross_cells(const Allocation& a);

/// Is an access of the running launch a race with another operation? `function`: of an atomic, or null.
SIMT_RARE void check_overlap(Allocation& a, std::uintptr_t address, std::size_t size,
                             AccessKind kind, Scope scope, const char* function, const void* caller,
                             Thread& t);

// ---- copies and memsets -------------------------------------------------------------------------

/// What a call of the host does to memory when its turn has come.
struct Transfer {
  const char* function;
  const void* caller;
  std::vector<Rows> reads, writes;
};
/// A call that the host makes now: is it a race with another operation?
void overlap_transfer(const Transfer& transfer, const Placement& placement);

// ---- the host's own code ------------------------------------------------------------------------

/// What host code knows to be done, from here on. Null: everything, and no access can be a race.
void overlap_watch_host(const Placement* host, Doer doer = Doer::host);
/// True while something may run that host code does not wait for.
extern bool host_is_watched;
SIMT_RARE void overlap_host_access(std::uintptr_t address, std::size_t size, AccessKind kind,
                                   const void* caller);

// ---- forgetting ---------------------------------------------------------------------------------

/// All that runs or is called from here on comes after what this clock knows.
void overlap_forget(const StreamClock& known);

// ---- overlap_messages.cpp -----------------------------------------------------------------------

/// A race of the running launch. `function`: of its atomic, or null.
void report_overlap_of_kernel(const CrossAccess& earlier, const CrossAccess& now,
                              std::uintptr_t address, const char* function, const Thread& t);
/// A race that a call of the host, or its own code, completes.
void report_overlap_of_host(const CrossAccess& earlier, const CrossAccess& now,
                            std::uintptr_t address);
/// Two lines that were told of may be told of again.
void forget_overlaps_told();

}  // namespace simt
