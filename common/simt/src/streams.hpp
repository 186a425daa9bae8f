// The queues behind the runtime API. streams.cpp runs them; api.cpp and transfer.cpp fill them.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>

#include "device.hpp"
#include "simt/api.hpp"

namespace simt {

// ---- errors -------------------------------------------------------------------------------------

/// How every call of the API begins: ends the kernel if one makes the call, refuses host functions
/// that a stream runs, and returns the sticky error if there is one. Questions that need no device
/// (how many are there? what are its properties?) do without.
cudaError_t enter(const void* caller);
/// Remembers an error for cudaGetLastError() and returns it.
cudaError_t failed(cudaError_t error);
/// The error that every call that needs the device returns from now on, or cudaSuccess.
/// cudaGetLastError() resets it like any other, as on a GPU; the next call brings it back.
cudaError_t sticky_error();

// ---- queues -------------------------------------------------------------------------------------

/// What an event waits for: a point in a stream.
struct Mark {
  CUstream_st* stream;
  Clock clock;  // what has happened when it happens
  bool happened = false;
  std::chrono::steady_clock::time_point when{};
};

struct Operation {
  std::uint64_t number = 0;   // of all operations, in the order of the host's calls
  std::function<int()> work;  // returns a cudaError_t; may be empty
  bool is_kernel = false;
  std::shared_ptr<const Mark> awaited;  // must have happened before; may be null
  std::shared_ptr<Mark> mark;           // happens when the operation is done; may be null
};

}  // namespace simt

/// A stream: operations that run when somebody waits for them, the first one first.
struct CUstream_st {
  enum class Kind { legacy, blocking, non_blocking } kind;
  int device;
  unsigned number;    // of all streams: its entry in clocks
  simt::Clock clock;  // its last operation, and what comes before that one
  std::deque<simt::Operation> queue;
};

struct CUevent_st {
  unsigned flags;
  int device;
  std::shared_ptr<simt::Mark> last;  // the latest cudaEventRecord; null before the first
};

namespace simt {

/// The stream that a handle stands for, null if it is destroyed or never was one. Null and
/// cudaStreamLegacy are the default stream of the current device.
CUstream_st* find_stream(cudaStream_t handle);
void enqueue(CUstream_st& stream, std::function<int()> work);
/// The same for a copy between devices in a default stream: it begins when everything is done that
/// these devices (a bit for each) have been given, and what they are given later waits for it.
void enqueue_between(CUstream_st& stream, std::uint32_t devices, std::function<int()> work);
/// The host waits for the stream: runs it until nothing is left in it, and whatever else that
/// needs.
void finish(CUstream_st& stream);
/// Runs all streams of the device until nothing is left in them, and whatever else that needs.
void finish_device(int device);
/// From here on the host knows that everything is done that the device has been given.
void host_waited_for(int device);
/// Forgets everything that is queued on a device.
void drop_queues(int device);

// ---- memory, for cudaDeviceReset() --------------------------------------------------------------

/// Gives back all memory that was allocated while this device was current.
void free_everything(int device);

// ---- limits -------------------------------------------------------------------------------------

constexpr int kMaxBlockDim[3] = {1024, 1024, 64};
constexpr int kMaxGridDim[3] = {2147483647, 65535, 65535};
/// The most dynamic shared memory that any kernel has asked for with cudaFuncSetAttribute.
std::size_t shared_opt_in();

}  // namespace simt
