// The queues that the runtime API fills. Nothing in them runs until the host waits: a program that
// forgets to wait reads stale data every time, not once in a thousand runs.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "checker/overlap.hpp"
#include "kernel/engine.hpp"
#include "simt/api.hpp"
#include "simt/testing.hpp"

namespace simt {

/// What an event waits for: a point in a stream.
struct Mark {
  CUstream_st* stream;
  StreamClock clock;  // what has happened when it happens
  bool happened = false;
  std::chrono::steady_clock::time_point when{};
};

struct Capture;  // of a stream: api/captures.hpp

/// A point in a stream that captures: what comes next follows these nodes.
struct CapturePoint {
  std::shared_ptr<Capture> capture;  // null: none
  std::vector<cudaGraphNode_t> after;
};

struct Operation {
  std::uint64_t number = 0;           // of all operations, in the order of the host's calls
  StreamClock clock = {};             // the operation itself, and what happened before it
  StreamClock known = {};             // what the host knew to be done when it called it
  std::function<int()> work;          // returns a cudaError_t; may be empty
  const char* name = "an operation";  // or the kernel's
  bool is_kernel = false;
  std::uint64_t put_off_after = 0;  // see kPutOff: how many operations had been done; 0: never
  std::shared_ptr<const Mark> awaited = {};  // must have happened before; may be null
  std::shared_ptr<Mark> mark = {};           // happens when the operation is done; may be null
};

}  // namespace simt

/// A stream: operations that run when the host waits for them, the first one first.
struct CUstream_st {
  enum class Kind {
    legacy,
    blocking,
    non_blocking,
    of_graph
  } kind;  // of_graph: no program sees it
  int device;
  unsigned number;          // of all streams: its entry in clocks
  simt::StreamClock clock;  // its last operation, and what comes before that one
  std::deque<simt::Operation> queue;
  std::vector<const void*> made_by;  // return addresses, the innermost first
  int priority = 0;                  // as the program asked for it; nothing here follows it
  simt::CapturePoint captured;       // of a stream that captures
  unsigned kernels = 0;              // in the queue
  std::map<int, cudaStreamAttrValue> attributes{};  // as the program asked for them
};

namespace simt {

// ---- streams ------------------------------------------------------------------------------------

/// The stream that a handle stands for, null if it is destroyed or never was one. Null and
/// cudaStreamLegacy are the default stream of the current device.
CUstream_st* find_stream(cudaStream_t handle);
CUstream_st* add_stream(CUstream_st::Kind kind, int device, std::vector<const void*> made_by);
/// True for a stream that the program has made and not destroyed.
bool is_created(cudaStream_t handle);
/// Adds the streams that the program has made to a list.
void list_streams(std::vector<Holding>& list);
/// Runs the stream to its end; its handle stands for nothing any more.
void destroy_stream(CUstream_st& stream);

// ---- putting work into a queue ------------------------------------------------------------------

/// `transfer`: what the work does to memory, if it is a copy or memset: checked now.
void enqueue(CUstream_st& stream, std::function<int()> work, const Transfer* transfer = nullptr);
/// The same for a copy between devices in a default stream: it begins when everything is done that
/// these devices (a bit for each) have been given, and what they are given later waits for it.
void enqueue_between(CUstream_st& stream, std::uint32_t devices, std::function<int()> work,
                     const Transfer& transfer);
/// A function of the host that the stream runs.
void enqueue_host_function(CUstream_st& stream, std::function<void()> function);
/// A copy that the host is about to make itself, once it has waited for the stream. Returns its
/// order.
WorkOrder announce(CUstream_st& stream, const Transfer& transfer);
void enqueue_kernel(CUstream_st& stream, Launch launch);
/// A point in the stream that comes after all that it has been given.
std::shared_ptr<Mark> push_mark(CUstream_st& stream);
/// What the stream is given from here on waits for the mark.
void push_wait(CUstream_st& stream, std::shared_ptr<const Mark> mark);

/// How many devices have a kernel in one of their queues, and how many kernels there are in all.
struct QueuedKernels {
  unsigned devices, kernels;
};
QueuedKernels queued_kernels();

// ---- waiting ------------------------------------------------------------------------------------

/// The host waits for the stream: runs it until nothing is left in it, and whatever else that
/// needs.
void finish(CUstream_st& stream);
/// Runs all streams of the device until nothing is left in them, and whatever else that needs.
void finish_device(int device);
/// Runs streams until the mark has happened.
void finish(const Mark& mark);
/// Asks without waiting, and so runs one operation. True if there was nothing left to run.
bool poll(CUstream_st& stream);
bool poll(const Mark& mark);

/// Runs everything that is queued in every stream of every device.
void drain_all_streams();
/// Forgets everything that is queued on a device.
void drop_queues(int device);
/// As in a new process, but for the streams, which stay.
void reset_queues();

}  // namespace simt
