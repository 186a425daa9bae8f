// The launch that runs.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kernel/thread.hpp"
#include "simt/launch_types.hpp"

namespace simt {

/// Happened-before among the operations of all streams: entry s says how many of stream s there
/// are. Missing entries are 0. The host's own code has an entry, too: kHostEntry.
using StreamClock = std::vector<std::uint32_t>;
constexpr unsigned kHostEntry = 0;
/// How many of a stream's operations a clock knows.
inline std::uint32_t entry(const StreamClock& clock, unsigned stream) {
  return stream < clock.size() ? clock[stream] : 0;
}

/// Of a larger grid only the first and the last blocks run.
struct BlocksToRun {
  std::uint64_t first = ~std::uint64_t(0), last = 0;
};

/// Where and when an operation runs.
struct Placement {
  int device = 0;
  std::uint32_t reachable = 0;   // see reachable_from()
  unsigned stream = kHostEntry;  // the entry of its stream in clocks
  StreamClock clock;             // the operation itself, and what happened before it
  bool of_graph = false;         // a node of a graph
  /// Bit d: device d may get a kernel that runs at the same time, or has one in a queue. Bit
  /// kEveryDevice: host code may.
  std::uint32_t still_to_run = 0;
  const char* queued = nullptr;  // an operation that nothing orders after this one, if there is one
  bool may_be_put_off = false;  // such an operation may run now, and may change what this one finds
};

/// The result of a launch that can go no further before another operation has run. It has changed nothing: it begins
/// anew later.
constexpr int kPutOff = -1;

struct Engine {
  // What every access and every basic block read.
  Thread* current = nullptr;
  std::uintptr_t stack = 0;                      // the lowest byte of its stack
  std::uint64_t steps_left = ~std::uint64_t(0);  // basic blocks until enter_slowly is due
  std::uint32_t reachable = 0;                   // see reachable_from()
  // Cells of earlier launches are void. A barrier of the grid ends what came before it in the same way.
  std::uint32_t launch_number = 0, launch_began = 0;  // the latter: when the launch began
  bool lockstep = false;                              // set by scheduler/lockstep.cpp alone
  bool tracing = false;   // the running launch is recorded; set by trace/trace.cpp alone
  bool clusters = false;  // the running launch has clusters of several blocks
  bool overlap = false;   // other operations may run at the same time: overlap.cpp is asked
  bool watching = false;  // see scheduler/repetition.hpp: nothing has changed so far
  bool failed = false;    // the kernel was stopped
  // The launch has changed what others see, or has printed; known where Placement::queued is.
  bool has_effects = false;
  int error = 0;                // cudaError_t of what stopped it, or kPutOff
  std::uint64_t fruitless = 0;  // polls since anything changed; see scheduler/polling.hpp
  std::uint64_t progress = 0;   // threads that have ended, and barriers that were passed
  std::uint64_t ticks = 0;

  const Launch* launch = nullptr;
  const Placement* placement = nullptr;
  std::uint64_t blocks_total = 0;  // that run in this launch
  BlocksToRun blocks_to_run;       // see SomeBlocks
  std::vector<std::unique_ptr<Block>> resident;
};
extern Engine engine;

/// Does the address lie on the stack of the running thread?
inline bool on_this_stack(std::uintptr_t address) { return address - engine.stack < kStackSize; }

/// The thread, if its block has not ended; null if it has.
Thread* resident_thread(std::uint32_t id);

/// "block 2", "block (2,0)": as many coordinates as the launch has dimensions.
std::string block_name(std::uint32_t block);
/// "block 2 thread 37".
std::string thread_name(const Thread& t);
/// The same from a thread id in a checker record; of another launch.
std::string thread_name(std::uint32_t id);
std::string thread_name(std::uint32_t id, dim3 grid, dim3 block, int device);

/// "2" or "(2,0)", alone.
std::string coordinates(std::uint64_t rank, dim3 extent);
/// The index of a rank.
uint3 unflatten(std::uint64_t rank, dim3 extent);
inline std::uint64_t blocks_of(dim3 grid) { return std::uint64_t{grid.x} * grid.y * grid.z; }
/// How many blocks of such a grid run.
std::uint64_t blocks_to_run(dim3 grid);
/// The number in the grid of the block that is the n-th to run, as all blocks are numbered here: the same, unless only
/// some of them run.
std::uint64_t number_in_grid(std::uint32_t n, dim3 grid);
/// How ids are packed in a launch with such blocks.
IdBits id_bits_of(dim3 block);

// ---- threadIdx and similar variables ------------------------------------------------------------

// Device headers declare these const, because a kernel must not write them and because they never
// change while one thread runs. The scheduler, which switches threads, writes them.
extern uint3 running_thread_index __asm__("threadIdx"), running_block_index __asm__("blockIdx");
extern dim3 running_block_dim __asm__("blockDim"), running_grid_dim __asm__("gridDim");

}  // namespace simt

// Their section; the linker defines these two.
extern "C" const char __start_simt_built_in[], __stop_simt_built_in[];
