// What host code may ask of the CPU device: schedules, reports and counters.
// Course code reaches it through course/device.cuh, which has the same calls on a GPU build.
//
// What holds for all of it, where a comment says nothing else:
// - Threads: host code calls it, on the thread that calls the runtime API. Kernels and other threads do not.
// - Errors: it throws nothing but std::bad_alloc, and asks for no argument that its comment does not name.
// - Lifetime: what it returns is a copy, and a const char* is there as long as the program. A setting holds until the next
//   call of the same function, at the latest to the end of the program; an object's, until the object ends. Objects of one class
//   that nest end in the opposite order, and before main() does.
// - "Waits" means: runs all that is queued on all devices. What is found there goes to the report handler before the call returns.
// - Sizes are in bytes; lines of a file and the k-th of something count from 1, all other numbers from 0.
// - Paths in reports, notes and lines are those that show_paths_from() describes.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "simt/api.hpp"
#include "simt/counters.hpp"

namespace simt {

// ---- schedules --------------------------------------------------------------------------------

/// 0: threads run in order until they wait. Any other seed: a fixed, shuffled schedule in which
/// threads are also switched between a load and the store that follows it. Starts the schedule
/// anew: the same launches after it run in the same order. Does not wait: what is queued runs under it, too.
void set_seed(std::uint64_t seed);
/// The schedule that is set: at first that of the environment variable SIMT_SEED, or 0.
std::uint64_t seed();

/// While one lives, only the `first` first and the `last` last blocks of a launch run, if its grid has more: those of
/// interest in a grid that would take years. gridDim, blockIdx, and the counted blocks and threads are those of the
/// whole grid. Not for launches in clusters. The innermost one counts. Its beginning and its end wait.
class SomeBlocks {
 public:
  SomeBlocks(std::uint64_t first, std::uint64_t last);
  ~SomeBlocks();
  SomeBlocks(const SomeBlocks&) = delete;
  SomeBlocks& operator=(const SomeBlocks&) = delete;

 private:
  std::uint64_t first_before_, last_before_;
};

// ---- reports ----------------------------------------------------------------------------------

/// What was found. Later versions may have more kinds.
enum class ReportKind {
  race,           // two accesses that nothing orders
  out_of_bounds,  // outside every allocation, or a pointer of the host or another device
  use_after_free,
  uninitialised,  // a read of memory that nothing has written
  misaligned,
  read_only,    // memory that __ldg() reads is written in the same launch
  host_access,  // host code used a device pointer
  unlaunched,   // host code called a kernel as a function
  not_started,  // a launch was refused, and the program never asked why; see report_unread_launch()
  barrier,      // a barrier or warp operation that some threads never reach
  absent_lane,  // a shuffle reads a lane that takes no part; see report_absent_lanes()
  hang,         // no thread makes progress
  trap          // __trap(), assert()
};
/// "data race", for readers. The words may change.
const char* to_string(ReportKind kind);
/// "data_race", for programs. It does not change.
const char* identifier(ReportKind kind);

/// Who did what where. Ranks are as reports print them: "3", or "(1,2)" in a launch of two
/// dimensions.
struct ReportedAccess {
  const char* kind;           // "read", "write", "atomic", "volatile read", "barrier" ...
  std::string file;           // if `line` is 0, a code address instead
  int line = 0;               // 0: not known
  std::string block, thread;  // empty in host code
  int device = 0;
};

/// One finding. `text` is complete and ready to print; `line` is the source line it points at
/// first. Texts may change from version to version, the other fields mean what they mean.
struct Report {
  ReportKind kind;
  std::string kernel;  // name as launched; empty for host code
  std::string file;    // of the access that completed the finding
  int line = 0;
  std::string text;
  std::string object = {};                    // what is accessed: "d_sum"; empty if it has no name
  std::vector<ReportedAccess> accesses = {};  // the one that completed the finding first
  std::string facts = {};                     // of a race: `text` without what to try
  bool is_cured_there = false;  // of a race: what to try is a change of the lines of `accesses`
};

/// Receives every finding, on the host's stack, when the launch that made it has ended: inside of the call of the runtime
/// API, or of a function here, that has waited for it. A finding in host code comes at the access. The report lives until the
/// handler returns; a handler may install another one, and makes no call of the runtime API. The one installed last is called.
/// Without one, findings go to stderr and the process exits with 66 at its end.
using ReportHandler = std::function<void(const Report&)>;
/// Installs a handler and returns the previous one. An empty one stands for what happens without a handler.
ReportHandler set_report_handler(ReportHandler handler);

/// What a program asks for that the CPU device does not have, where it shows only when the program runs.
struct Refusal {
  std::string file;
  int line = 0;
  std::string text;  // "not supported on the CPU device: ...", and what to do instead
};
/// Receives the refusal, on the thread that asked. When it returns, the program is ended with exit code 1. Without one,
/// the refusal goes to stderr.
using RefusalHandler = std::function<void(const Refusal&)>;
/// Installs a handler and returns the previous one.
RefusalHandler set_refusal_handler(RefusalHandler handler);

/// Whether a shuffle from a lane that takes no part is a finding from here on. At first it is a remark.
void report_absent_lanes(bool as_findings);
/// How much of the processor's time a launch may take in which no thread ends and no barrier is passed, before it counts
/// as endless: 10 s at first. A loop in which nothing changes is found earlier, and one that touches no memory after 5 s,
/// or 20 s where this allows more than 10 s. Returns what it was before.
unsigned set_launch_seconds(unsigned seconds);
/// Lets reports show files by their paths from this folder, an absolute path; those far from it by their
/// whole paths. Until then paths begin at the top of the repository, if the library was built to know one, or are whole. Call it
/// before the first launch: a line that has been looked up keeps its path.
void show_paths_from(const std::string& folder);

/// What is legal but suspicious; worth showing with a failed check.
struct Note {
  std::string text;  // "file:line: ..."
  bool is_clue =
      false;  // right programs have it, too: it is of interest only if the result is wrong
  std::string file = {};
  int line = 0;
};
/// Those since the last call, at most eight. Does not wait.
std::vector<Note> take_notes();

/// Calls `work` in a signal's handler: what it accesses, in inline functions of libraries too, is no access of the kernel
/// that the signal has interrupted. `work` may do what a signal's handler may.
void call_unseen(void (*work)());

/// A launch that went into a queue: "sum<<<4, 256>>>", and the file of the line that made it.
struct QueuedLaunch {
  std::string text, file;
};
/// How many there were. Does not wait.
std::size_t launches_so_far();
/// Those from this number on, of the last 32. Does not wait.
std::vector<QueuedLaunch> launches_since(std::size_t first);

/// Why the last launch was refused for its size, "the grid has 0 blocks"; empty if its size is possible. The next launch
/// changes the text.
const std::string& refused_launch();

/// Reports the first launch by <<<>>> that was refused, if the program has not called cudaGetLastError() or cudaPeekAtLastError()
/// since: nothing of that kernel has run, and nothing has told so. Call it at the program's end. Does not wait.
void report_unread_launch();

/// How many launches have begun to run, on all devices: a mark for what follows. Does not wait.
std::size_t launches_that_ran();

/// An array of device memory that kernels have read, and not written. Its elements are counted from where the argument of the
/// launch that has named it points to.
struct PartlyRead {
  std::string name = {};  // "x"
  std::size_t elements = 0;
  std::vector<std::size_t> unread =
      {};                   // that hold something, and that no kernel has read; ascending
  std::string reader = {};  // the file of a line that has read another element
};
/// The arrays, the oldest first, of which the launches after this many, and after the last copy or memset into the array,
/// have read some elements and not others. Of memory that was freed the last 64 arrays count, if they have a MiB at most. Does not wait.
std::vector<PartlyRead> partly_read_since(std::size_t launches);
/// "file:line" of the last store, or atomic, to the byte at p, of the launches after this many, and after the last copy or memset
/// into its array; empty if none is known, and if there were both. Does not wait.
std::string line_of_last_write(const void* p, std::size_t launches);

/// A change of a number by an atomic.
struct AtomicChange {
  std::string function;                            // "atomicCAS"
  std::string line;                                // "file:line"
  std::string thread;                              // "block 0 thread 31"
  std::array<unsigned char, 8> before{}, after{};  // the number's bytes, as in memory
};
/// Changes of one number.
struct AtomicChanges {
  struct OfLine {
    std::string function, line;  // as in AtomicChange
    std::size_t count = 0;
  };
  std::size_t count = 0;
  bool are_all =
      true;  // false if there may have been earlier ones: the last 4096 of all numbers are kept
  std::vector<AtomicChange> last = {};  // two at most, the newest first
  std::vector<OfLine> by_line = {};     // those that are counted; by line
};
/// How atomics of the launches after this many, and after the last copy or memset into its array, have changed the number of `size` bytes, at most 8, at p. Does not wait.
AtomicChanges atomic_changes(const void* p, std::size_t size, std::size_t launches);

/// The first change by these launches to the value of `size` bytes at `number`, at any place of global or shared memory; none if
/// there was none, or if not all changes are kept. Does not wait.
std::optional<AtomicChange> first_change_to(const void* number, std::size_t size,
                                            std::size_t launches);

/// The last atomic of a thread in a launch.
struct LastAtomic {
  std::string function, line, thread;    // as in AtomicChange
  std::size_t count = 0;                 // atomics of this thread in the launch
  std::size_t size = 0;                  // of its object, in bytes
  std::array<unsigned char, 8> found{};  // what that held before
  bool has_changed = false;              // whether that became something else
};
/// Of the thread of this number in its block, in the last of the launches after this many that had an atomic of a thread of this number;
/// none if there was none, or if that of another thread is kept in its place. Does not wait.
std::optional<LastAtomic> last_atomic_of(std::uint64_t block, unsigned thread,
                                         std::size_t launches);

/// True if the launches after this many have written none of these bytes of an array of device memory since the last copy or memset
/// into it; false where that is not known. Does not wait.
bool is_as_filled(const void* p, std::size_t size, std::size_t launches);

/// False if nothing has written any of these bytes of the device's memory since they were allocated; true of bytes that are not
/// in one allocation. Does not wait.
bool has_been_written(const void* p, std::size_t size);

/// Clears the sticky error, everything still queued on any device, and peer access, and makes
/// device 0 current, as a new process would have it. Memory stays allocated. What is queued is dropped and never runs: to run
/// it, wait for each device first.
void reset_device();

// ---- several devices --------------------------------------------------------------------------

/// Lets the program have `count` devices, 1 to 8, instead of the number in SIMT_DEVICES (default
/// 2). Runs what is queued, and then resets. std::invalid_argument for another number;
/// std::logic_error if a device that would go away has memory allocated.
void set_devices(int count);
/// How many the program has.
int device_count();
/// Whether cudaDeviceEnablePeerAccess() is possible: yes, unless SIMT_PEER_ACCESS is 0. Forbidding
/// it also ends what has been enabled.
void set_peer_access(bool allowed);
bool peer_access();
/// Whether the link to the host carries atomics: no, as over PCIe, unless SIMT_HOST_ATOMICS is 1.
/// cudaDevAttrHostNativeAtomicSupported tells programs. Without it, atomics of system scope that
/// two devices make on pinned memory are a race.
void set_host_atomics(bool supported);
bool host_atomics();

// ---- traces -----------------------------------------------------------------------------------

/// What a trace records. The environment variables SIMT_TRACE, SIMT_TRACE_KERNEL and so on set the
/// same; common/simt/README.md tells what is in the file.
struct TraceSettings {
  std::string file = {};
  std::string kernel = {};  // empty: all
  unsigned blocks = 2, events = 2000, launches = 200;
};
/// Waits, then records the launches from here on; ends the program if the file cannot be written. `blocks`, `events` and
/// `launches` are the most that are kept: blocks and events of a launch, launches of the file.
void start_trace(const TraceSettings& settings);
/// Waits for the device and closes the file.
void stop_trace();
/// The test case that runs from here on, for traces.
void name_test(const std::string& name);

// ---- counters ---------------------------------------------------------------------------------

/// What the launches of one kernel did, without the maxima, which are of a whole scope.
struct KernelCounters {
  std::string kernel;  // as launched: "sum<float>"
  Counters counters;
};

/// While one lives, launches run in lockstep: the lanes of a warp take every instruction together,
/// diverge and reconverge as on a GPU, and are counted exactly. Slower; nests. Its beginning and its end wait.
class CountScope {
 public:
  CountScope();
  ~CountScope();
  CountScope(const CountScope&) = delete;
  CountScope& operator=(const CountScope&) = delete;
  /// Waits for the device, then tells what happened since construction.
  Counters counters() const;
  /// The same for each kernel whose launches have ended since the outermost scope began, in the order of
  /// their first launches. Does not wait.
  std::vector<KernelCounters> by_kernel() const;

 private:
  Counters before_;
};

/// The loads, stores and atomics that one line of the program makes on one array, counted as in a KernelCounters; all other
/// counters are 0.
struct LineCounters {
  std::string line;   // "file:line"
  std::string array;  // "x"; empty if it has no name
  Counters counters;
};

/// Those of the launches that have ended since the outermost CountScope began, also after its end, until the next one begins.
/// Does not wait.
std::vector<LineCounters> counted_by_line();

/// What has been counted since the program began, after all queued work. Outside of the scopes nothing runs in lockstep,
/// and of all counters only those of launches, blocks, warps, threads and barriers go on.
Counters counted_so_far();

/// Counts all launches while it lives, in lockstep, too. A CountScope in it is an outermost one: what tests measure
/// with scopes of their own stays as it is. Its beginning and its end wait.
class CountAll {
 public:
  CountAll();
  ~CountAll();
  CountAll(const CountAll&) = delete;
  CountAll& operator=(const CountAll&) = delete;
  /// Waits for the device, then tells what happened since construction. The maxima mean nothing.
  Counters counters() const;

 private:
  Counters before_;
};

// ---- what host code does ------------------------------------------------------------------------

/// Something that the program has taken from the runtime API and not given back.
struct Holding {
  enum class Kind { device_memory, managed_memory, pinned_memory, stream, event } kind;
  const void* handle;     // never that of anything else, also after it was given back
  std::size_t bytes = 0;  // of memory
  std::vector<const void*> made_by = {};  // return addresses, the innermost first
  /// "file:12" of the call that made it.
  std::string line() const;
};
/// All of them, memory, streams and events, each the oldest first, after all queued work:
/// cudaFreeAsync() gives back in the order of its stream.
std::vector<Holding> holdings();

/// Leaves a note for each line of a kernel whose malloc() or new no kernel has freed.
void note_heap_leaks();

/// Where work of a device stands among the operations of all streams.
struct WorkOrder {
  unsigned stream = 0;
  /// How many operations of each stream come before it or are it; [0]: how many calls of the host come
  /// before its own. Empty for allocations and releases.
  std::vector<std::uint32_t> clock = {};
  std::vector<std::uint32_t> known = {};  // those that the host knew to be done when it called it
};

/// Work of a device, and calls that take or give back memory.
struct Work {
  enum class Kind { kernel, copy, memset, allocation, release } kind;
  std::chrono::steady_clock::time_point begin, end;  // on this machine: no GPU's time
  WorkOrder order = {};
  // Of a copy: the first byte of either side, and how many are copied.
  const void* from = nullptr;
  const void* to = nullptr;
  std::size_t bytes = 0;
  /// Of a copy: whether it goes from memory of a device to the host's, pinned or not. Managed memory is neither.
  bool is_to_host = false;

  /// Whether it begins after the end of `earlier` in every run: a stream, an event or the host, which waited, orders
  /// them.
  bool always_after(const Work& earlier) const;
  /// Whether the host had waited for the end of `earlier` when it called this.
  bool called_after(const Work& earlier) const;
};
/// While one lives, what is done is remembered. They nest. Its beginning waits.
class WorkLog {
 public:
  WorkLog();
  ~WorkLog();
  WorkLog(const WorkLog&) = delete;
  WorkLog& operator=(const WorkLog&) = delete;
  /// Waits for the devices, then tells what was done since construction, in that order.
  std::vector<Work> work() const;

 private:
  std::size_t first_;
};

/// Makes one call of the runtime API fail, as any call can: the call numbered `number`, 1 for the
/// next one, does nothing and gives `error`, a launch to cudaGetLastError(). All calls are numbered
/// but those that give something back and those that need no device. If the error `lasts`, as that of an illegal access
/// does, all calls after it fail with it, those that give something back, too. Only one may live at a time: the second is
/// a std::logic_error.
class FailingCall {
 public:
  FailingCall(std::uint64_t number, cudaError_t error, bool lasts = false);
  ~FailingCall();
  FailingCall(const FailingCall&) = delete;
  FailingCall& operator=(const FailingCall&) = delete;
  /// "file:12" of the call that failed; empty while there were fewer calls.
  std::string line() const;
};

// ---- a program that ends early ------------------------------------------------------------------

/// "file:12" of the calls that led here, the innermost first, at most 32, without those of the device's own headers and of the
/// C++ library. It allocates memory: in a signal's handler only for a program that is about to end.
std::vector<std::string> lines_of_calls();
/// The same of the host's calls that led to the launch that runs; none without one. For a signal that comes where one thread's
/// stack is exchanged for another's, which nothing can read.
std::vector<std::string> lines_of_launch();
/// For a signal's handler that ends the program: "kernel<<<9, 128>>>" of the launch that runs, empty if
/// none does. What has been found in it is reported, and no thread of it runs from here on.
std::string give_up_launch();

}  // namespace simt
