// The runtime library's own interfaces: memory, checker, scheduler and streams see each other here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "simt/launch_types.hpp"
#include "simt/runtime.hpp"
#include "simt/testing.hpp"
#include "simt/vector_types.hpp"

namespace simt {

// ---- memory.cpp: the device's address space ---------------------------------------------------

enum class Space : unsigned char {
  device,    // cudaMalloc
  managed,   // cudaMallocManaged, __managed__: host and device
  pinned,    // cudaMallocHost, cudaHostAlloc: host and device
  shared,    // __shared__, one per block
  global,    // __device__ variables
  constant,  // __constant__ variables: the device only reads
};

constexpr std::size_t kDeviceMemory = std::size_t(4) << 30;  // bytes that cudaMalloc can hand out
constexpr std::size_t kSharedPerBlock = 48 * 1024;           // without an opt-in
constexpr std::size_t kSharedOptIn = 227 * 1024;             // with cudaFuncSetAttribute, as sm_90
constexpr unsigned kMaxThreadsPerBlock = 1024;

/// A block of device, managed or pinned memory, aligned to 256 bytes, poisoned with 0xFF; null when
/// the device is full or size is 0. `caller` is where the program asked for it, for messages.
void* allocate(std::size_t size, Space space, ElementType element, int device, const void* caller);
/// Gives memory back; false if `p` is not the start of a live allocation of that kind.
bool release(void* p, bool pinned);
/// Bytes of a device's memory handed out.
std::size_t allocated_bytes(int device);
/// The device that was current when the live allocation at p was made, or is now, for a
/// __device__ variable; -1 if there is neither.
int device_of(const void* p);
/// __device__ and __constant__ variables exist once for each device, all at the same addresses:
/// from here on they have the values of this device.
void bring_variables(int device);
/// True if p points into (or just past) device memory of any space, live or freed.
bool is_device_address(const void* p);
/// The space of the live allocation that holds all of [p, p + n); false if there is none.
bool find_space(const void* p, std::size_t n, Space* space);
/// Marks [p, p + n) as written (by a copy, a memset or the host).
void mark_initialised(const void* p, std::size_t n);
/// After a copy from device to device: the target is as initialised as the source.
void copy_initialised(const void* to, const void* from, std::size_t n);

// ---- scheduler.cpp: kernels ---------------------------------------------------------------------

/// Happened-before among the operations of all streams: entry s says how many of stream s there
/// are. Missing entries are 0.
using Clock = std::vector<std::uint32_t>;

/// Where and when a launch runs.
struct Placement {
  int device = 0;
  std::uint32_t reachable = 0;  // see reachable_from()
  unsigned stream = 0;          // the entry of its stream in clocks
  Clock clock;                  // the launch itself, and what happened before it
};

/// Runs every thread of a launch to its end, then hands its reports to the handler. Returns a
/// cudaError_t: 0, or the sticky error of what stopped the kernel. Must not be called from a
/// kernel.
int run_launch(const Launch& launch, const Placement& placement);

/// Forgets what launches have passed on by fences: later ones are ordered behind them anyway.
void fences_forget();

// ---- report.cpp
// -----------------------------------------------------------------------------------

/// Hands a finding to the installed handler now. Call on the host's stack only.
void deliver(Report report);
/// file, line and function of a return address, skipping the course's and the compiler's headers.
struct SourceLine {
  std::string file;
  int line = 0;
  std::string text() const;  // "file:line"
};
SourceLine source_line(const void* return_address);
/// Finds all these lines at once, which is faster than one by one, for source_line to know.
void look_up_lines(const std::vector<const void*>& return_addresses);
/// The line of the first of several calls, the innermost first, that stands in the program itself;
/// the first one's, if none does.
SourceLine source_line(const std::vector<const void*>& return_addresses);

// ---- counters.cpp
// ---------------------------------------------------------------------------------

/// So many devices have a kernel to run now.
void count_devices_at_once(unsigned devices);

// ---- streams.cpp: the runtime API's queues
// ----------------------------------------------------------

/// Runs everything that is queued in every stream of every device.
void drain_all_streams();

}  // namespace simt
