// Traces: what the lanes of a launch did, written to a file that tools draw from.
//
// While a launch is traced it runs in lockstep, so that one event is one instruction of one warp.
// An event is made when a warp's lanes are let go together; each lane then adds its own values when
// it executes the instruction. These functions are called only while engine.tracing is set.
#pragma once

#include <vector>

#include "kernel/thread.hpp"
#include "simt/launch_types.hpp"
#include "simt/testing.hpp"

namespace simt {

/// Records the launches from here on; ends the program if the file cannot be written.
void open_trace(const TraceSettings& settings);
void close_trace();
/// Decides whether the launch that starts is recorded, and then must run in lockstep; sets
/// engine.tracing. Call it for every launch.
bool trace_start_launch();
/// Writes the launch to the file, if it was recorded. Call it for every launch.
void trace_end_launch(const Launch& launch, const std::vector<Report>& findings);
/// Instead, of a launch that will begin anew.
void trace_forget_launch();
/// A block is about to give its shared memory back.
void trace_end_block(const Block& block);
/// True when nothing is left to record: the rest of the launch need not run in lockstep.
bool trace_is_done();

/// `n` parked lanes of a warp go on together; `cost` is what count_request says of it.
void trace_instruction(Thread* const* lanes, unsigned n, unsigned cost);
/// A lane is about to load or store: the next thing is the instruction itself.
void trace_access(Thread& t, std::uintptr_t address, std::size_t size, bool write);
/// Takes the value of the last store from memory. Must come before memory changes again, and when
/// the thread that stored comes to its next instruction: is that a load?
void trace_settle_store(bool before_load = false);
void trace_atomic(Thread& t, const AtomicValues& values);
void trace_warp_call(Block& block, unsigned warp, const Lanes& lanes, const WarpCall& call);
void trace_active_mask(Block& block, unsigned warp, unsigned mask, const Thread& leader);
void trace_barrier(Block& block);
/// A thread, whose Thread::waiting is set, comes to the barrier of its cluster.
void trace_cluster_barrier(Thread& t);
void trace_return(Thread& t);

}  // namespace simt
