// Which stream goes first, where CUDA leaves it open, depends on the seed. Seed 0 runs no more than
// what the host waits for, and the youngest stream first: the opposite of the order in which a
// program usually fills them. Other seeds draw a priority for each operation.
//
// What CUDA leaves open also decides whether two kernels race, which the checker asks about those
// of different devices. Each operation has a clock: all operations that are done before it begins.
// It is known when the host makes the call, whatever runs when.
#include "api/queues.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <utility>
#include <vector>

#include "api/errors.hpp"
#include "api/work_log.hpp"
#include "memory/devices.hpp"
#include "scheduler/run_launch.hpp"
#include "simt/testing.hpp"

namespace simt {
namespace {

using Kind = CUstream_st::Kind;

// ---- state --------------------------------------------------------------------------------------

struct Queues {
  std::uint64_t operations = 0;
  StreamClock host;                   // what the host knows to be done
  std::vector<CUstream_st*> streams;  // oldest first: those of default_stream(), then the program's
  // Destroyed streams stay allocated: a stale handle never becomes a valid one again.
  std::vector<std::unique_ptr<CUstream_st>> all_streams;

  Queues() {
    for (int device = 0; device < kMostDevices; ++device) {
      add(Kind::legacy, device);
      add(Kind::blocking, device);
    }
  }
  CUstream_st* add(Kind kind, int device) {
    const auto number = static_cast<unsigned>(all_streams.size());
    all_streams.push_back(
        std::make_unique<CUstream_st>(CUstream_st{kind, device, number, {}, {}, {}, 0, {}}));
    streams.push_back(all_streams.back().get());
    return streams.back();
  }
};

/// Each device has two streams that no call creates: cudaStreamLegacy and cudaStreamPerThread.
constexpr unsigned kDefaultStreams = 2 * kMostDevices;

Queues& all_queues() {
  // Never destroyed: objects with static storage free their memory after main has returned.
  static Queues& s = *new Queues;
  return s;
}

CUstream_st* default_stream(Kind kind, int device) {
  const unsigned of_device = 2 * static_cast<unsigned>(device);
  return all_queues().all_streams[of_device + (kind == Kind::legacy ? 0 : 1)].get();
}

void drop_all_queues() {
  for (int device = 0; device < kMostDevices; ++device) drop_queues(device);
}

/// An error that leaves the devices unusable: nothing that is queued will run.
void stop_devices(cudaError_t error) {
  set_sticky_error(error);
  drop_all_queues();
}

// ---- who goes next ------------------------------------------------------------------------------

bool busy(const CUstream_st* stream) { return !stream->queue.empty(); }

/// The legacy default stream and all blocking streams of its device wait for each other's earlier
/// operations.
bool orders(const CUstream_st& a, const CUstream_st& b) {
  return a.device == b.device && ((a.kind == Kind::legacy && b.kind == Kind::blocking) ||
                                  (a.kind == Kind::blocking && b.kind == Kind::legacy));
}

/// A stream that must advance before the first operation of `stream` may run; null if it may run.
/// The operation it waits for is always an earlier one, so a chain of blockers ends.
CUstream_st* blocker(const CUstream_st& stream) {
  const Operation& first = stream.queue.front();
  if (first.awaited && !first.awaited->happened) return first.awaited->stream;
  const auto& streams = all_queues().streams;
  const auto goes_first = [&](const CUstream_st* other) {
    return orders(stream, *other) && busy(other) && other->queue.front().number < first.number;
  };
  const auto it = std::find_if(streams.rbegin(), streams.rend(), goes_first);
  return it == streams.rend() ? nullptr : *it;
}

/// Drawn by the seed.
std::uint64_t priority(const CUstream_st& stream) {
  std::uint64_t x = seed() * 0x9E3779B97F4A7C15u + stream.queue.front().number;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

/// A stream whose first operation may run; running it brings `wanted` closer to its end.
CUstream_st* choose(CUstream_st& wanted) {
  CUstream_st* choice = &wanted;
  if (seed() == 0) {
    while (CUstream_st* other = blocker(*choice)) choice = other;
    return choice;
  }
  choice = nullptr;
  for (CUstream_st* s : all_queues().streams) {
    if (s->queue.empty() || blocker(*s) != nullptr) continue;
    if (choice == nullptr || priority(*s) > priority(*choice)) choice = s;
  }
  return choice;
}

void complete(const Operation& operation) {
  if (!operation.mark) return;
  operation.mark->happened = true;
  operation.mark->when = std::chrono::steady_clock::now();
}

/// Runs one operation. A report handler may throw: then the test is over, and its queues with it.
void step(CUstream_st& wanted) {
  CUstream_st& stream = *choose(wanted);
  const Operation operation = std::move(stream.queue.front());
  stream.queue.pop_front();
  complete(operation);
  if (!operation.work) return;
  int error = cudaErrorLaunchFailure;
  try {
    error = operation.work();
  } catch (...) {
    stop_devices(cudaErrorLaunchFailure);
    throw;
  }
  if (error != cudaSuccess) stop_devices(static_cast<cudaError_t>(error));
}

/// The youngest stream that is as `condition` says, or null.
template <class Condition>
CUstream_st* youngest(const Condition& condition) {
  const auto& streams = all_queues().streams;
  const auto it = std::find_if(streams.rbegin(), streams.rend(), condition);
  return it == streams.rend() ? nullptr : *it;
}

/// A stream to run for `stream` to be finished, null if it is. Whoever waits for the legacy stream
/// waits for all blocking streams.
CUstream_st* unfinished(CUstream_st& stream) {
  if (!stream.queue.empty()) return &stream;
  return youngest([&](const CUstream_st* s) {
    return busy(s) && stream.kind == Kind::legacy && orders(stream, *s);
  });
}

/// A stream of the device that has something to do, or null.
CUstream_st* unfinished(int device) {
  return youngest([&](const CUstream_st* s) { return busy(s) && s->device == device; });
}

// ---- what happens before what -------------------------------------------------------------------

void join(StreamClock& into, const StreamClock& from) {
  if (into.size() < from.size()) into.resize(from.size());
  for (std::size_t i = 0; i < from.size(); ++i) into[i] = std::max(into[i], from[i]);
}

/// The stream's clock moves on to an operation that the host gives it now.
void advance(CUstream_st& stream) {
  join(stream.clock, all_queues().host);
  for (const CUstream_st* other : all_queues().streams) {
    if (orders(stream, *other)) join(stream.clock, other->clock);
  }
  if (stream.clock.size() <= stream.number) stream.clock.resize(stream.number + 1);
  ++stream.clock[stream.number];
}

/// From here on the host knows that the stream is done.
void host_waited_for(const CUstream_st& stream) {
  join(all_queues().host, stream.clock);
  for (const CUstream_st* other : all_queues().streams) {
    if (stream.kind == Kind::legacy && orders(stream, *other))
      join(all_queues().host, other->clock);
  }
}

// ---- queues -------------------------------------------------------------------------------------

/// For an operation that the stream's clock has moved on to.
void append(CUstream_st& stream, Operation operation) {
  // A program that ends without waiting has its work done all the same: what is wrong with it shows.
  static const int at_exit = std::atexit(drain_all_streams);
  static_cast<void>(at_exit);
  operation.number = ++all_queues().operations;
  stream.queue.push_back(std::move(operation));
}

void push(CUstream_st& stream, Operation operation) {
  advance(stream);
  append(stream, std::move(operation));
}

}  // namespace

// ---- streams ------------------------------------------------------------------------------------

CUstream_st* find_stream(cudaStream_t handle) {
  Queues& s = all_queues();
  if (handle == nullptr || handle == cudaStreamLegacy) {
    return default_stream(Kind::legacy, current_device());
  }
  if (handle == cudaStreamPerThread) return default_stream(Kind::blocking, current_device());
  const auto it = std::find(s.streams.begin(), s.streams.end(), handle);
  return it == s.streams.end() ? nullptr : handle;
}

CUstream_st* add_stream(Kind kind, int device, std::vector<const void*> made_by) {
  CUstream_st* stream = all_queues().add(kind, device);
  stream->made_by = std::move(made_by);
  return stream;
}

void list_streams(std::vector<Holding>& list) {
  const auto& streams = all_queues().streams;
  for (auto it = streams.begin() + kDefaultStreams; it != streams.end(); ++it) {
    if ((*it)->kind == Kind::of_graph) continue;
    list.push_back({Holding::Kind::stream, *it, 0, (*it)->made_by});
  }
}

bool is_created(cudaStream_t handle) {
  const auto& streams = all_queues().streams;
  return std::find(streams.begin() + kDefaultStreams, streams.end(), handle) != streams.end();
}

void destroy_stream(CUstream_st& stream) {
  while (CUstream_st* next = unfinished(stream)) step(*next);
  auto& streams = all_queues().streams;
  streams.erase(std::find(streams.begin(), streams.end(), &stream));
}

// ---- putting work into a queue ------------------------------------------------------------------

void enqueue(CUstream_st& stream, std::function<int()> work) {
  Operation operation;
  operation.work = std::move(work);
  push(stream, std::move(operation));
}

void enqueue_between(CUstream_st& stream, std::uint32_t devices, std::function<int()> work) {
  const std::vector<CUstream_st*> streams = all_queues().streams;
  const auto takes_part = [&](const CUstream_st* s) {
    return s != &stream && (devices >> s->device & 1) != 0;
  };
  for (CUstream_st* s : streams) {
    if (takes_part(s)) push_wait(stream, push_mark(*s));
  }
  enqueue(stream, std::move(work));
  const std::shared_ptr<const Mark> done = push_mark(stream);
  for (CUstream_st* s : streams) {
    if (takes_part(s)) push_wait(*s, done);
  }
}

void enqueue_kernel(CUstream_st& stream, Launch launch) {
  advance(stream);
  const int device = stream.device;
  Operation operation;
  operation.work = [launch = std::move(launch), place = Placement{device, reachable_from(device),
                                                                  stream.number, stream.clock}] {
    const TimedWork timed(Work::Kind::kernel);
    return run_launch(launch, place);
  };
  operation.is_kernel = true;
  append(stream, std::move(operation));
}

std::shared_ptr<Mark> push_mark(CUstream_st& stream) {
  advance(stream);
  Operation record;
  record.mark = std::make_shared<Mark>(Mark{&stream, stream.clock});
  std::shared_ptr<Mark> mark = record.mark;
  append(stream, std::move(record));
  return mark;
}

void push_wait(CUstream_st& stream, std::shared_ptr<const Mark> mark) {
  join(stream.clock, mark->clock);
  if (mark->happened) return;
  Operation wait;
  wait.awaited = std::move(mark);
  push(stream, std::move(wait));
}

QueuedKernels queued_kernels() {
  std::uint32_t devices = 0;
  std::ptrdiff_t kernels = 0;
  for (const CUstream_st* stream : all_queues().streams) {
    const auto& queue = stream->queue;
    const auto is_kernel = [](const Operation& operation) { return operation.is_kernel; };
    const std::ptrdiff_t here = std::count_if(queue.begin(), queue.end(), is_kernel);
    if (here > 0) devices |= 1u << stream->device;
    kernels += here;
  }
  return {static_cast<unsigned>(std::popcount(devices)), static_cast<unsigned>(kernels)};
}

// ---- waiting ------------------------------------------------------------------------------------

void finish(CUstream_st& stream) {
  while (CUstream_st* next = unfinished(stream)) step(*next);
  host_waited_for(stream);
}

void host_waited_for(int device) {
  for (const CUstream_st* stream : all_queues().streams) {
    if (stream->device == device) join(all_queues().host, stream->clock);
  }
}

void drain_all_streams() {
  while (CUstream_st* next = youngest(busy)) step(*next);
}

void finish_device(int device) {
  while (CUstream_st* next = unfinished(device)) step(*next);
  host_waited_for(device);
}

void drop_queues(int device) {
  for (CUstream_st* stream : all_queues().streams) {
    if (stream->device != device) continue;
    for (const Operation& operation : stream->queue) complete(operation);
    stream->queue.clear();
  }
}

void finish(const Mark& mark) {
  while (!mark.happened) step(*mark.stream);
  join(all_queues().host, mark.clock);
}

bool poll(CUstream_st& stream) {
  CUstream_st* next = unfinished(stream);
  if (next != nullptr) {
    step(*next);
    return false;
  }
  host_waited_for(stream);
  return true;
}

bool poll(const Mark& mark) {
  if (!mark.happened) {
    step(*mark.stream);
    return false;
  }
  join(all_queues().host, mark.clock);
  return true;
}

void reset_queues() {
  drop_all_queues();
  for (int device = 0; device < kMostDevices; ++device) host_waited_for(device);
  all_queues().operations = 0;  // the priorities of a seed repeat
}

}  // namespace simt
