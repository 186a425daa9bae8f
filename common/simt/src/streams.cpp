// Streams are queues. Nothing in them runs until the host waits: a program that forgets to wait
// reads stale data every time, not once in a thousand runs.
//
// Which stream goes first, where CUDA leaves it open, depends on the seed. Seed 0 runs no more than
// what the host waits for, and the youngest stream first: the opposite of the order in which a
// program usually fills them. Other seeds draw lots.
//
// What CUDA leaves open also decides whether two kernels race, which the checker asks about those
// of different devices. Each operation has a clock: all operations that are done before it begins.
// It is known when the host makes the call, whatever runs when.
#include "streams.hpp"

#include "devices.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <utility>
#include <vector>

namespace simt {
namespace {

using Kind = CUstream_st::Kind;

// ---- state --------------------------------------------------------------------------------------

struct State {
  cudaError_t sticky = cudaSuccess;
  cudaError_t last = cudaSuccess;
  bool in_host_function = false;
  std::uint64_t operations = 0;
  Clock host;                         // what the host knows to be done
  std::vector<CUstream_st*> streams;  // oldest first: those of default_stream(), then the program's
  std::vector<std::unique_ptr<CUevent_st>> events;
  // Destroyed streams and events stay allocated: a stale handle never becomes a valid one again.
  std::vector<std::unique_ptr<CUstream_st>> all_streams;
  std::vector<std::unique_ptr<CUevent_st>> dead_events;

  State() {
    for (int device = 0; device < kMostDevices; ++device) {
      add_stream(Kind::legacy, device);
      add_stream(Kind::blocking, device);
    }
  }
  CUstream_st* add_stream(Kind kind, int device) {
    const auto number = static_cast<unsigned>(all_streams.size());
    all_streams.push_back(std::make_unique<CUstream_st>(CUstream_st{kind, device, number, {}, {}}));
    streams.push_back(all_streams.back().get());
    return streams.back();
  }
};

/// Each device has two streams that nobody creates: cudaStreamLegacy and cudaStreamPerThread.
constexpr unsigned kDefaultStreams = 2 * kMostDevices;

State& state() {
  // Never destroyed: objects with static storage free their memory after main has returned.
  static State& s = *new State;
  return s;
}

CUstream_st* default_stream(Kind kind, int device) {
  const unsigned of_device = 2 * static_cast<unsigned>(device);
  return state().all_streams[of_device + (kind == Kind::legacy ? 0 : 1)].get();
}

CUevent_st* find_event(cudaEvent_t handle) {
  for (const auto& event : state().events) {
    if (event.get() == handle) return handle;
  }
  return nullptr;
}

void drop_all_queues() {
  for (int device = 0; device < kMostDevices; ++device) drop_queues(device);
}

/// An error that leaves the devices unusable: nothing that is queued will run.
void stop_devices(cudaError_t error) {
  if (state().sticky == cudaSuccess) state().sticky = error;
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
  const auto& streams = state().streams;
  const auto goes_first = [&](const CUstream_st* other) {
    return orders(stream, *other) && busy(other) && other->queue.front().number < first.number;
  };
  const auto it = std::find_if(streams.rbegin(), streams.rend(), goes_first);
  return it == streams.rend() ? nullptr : *it;
}

std::uint64_t lot(const CUstream_st& stream) {
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
  for (CUstream_st* s : state().streams) {
    if (s->queue.empty() || blocker(*s) != nullptr) continue;
    if (choice == nullptr || lot(*s) > lot(*choice)) choice = s;
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
  const auto& streams = state().streams;
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

void join(Clock& into, const Clock& from) {
  if (into.size() < from.size()) into.resize(from.size());
  for (std::size_t i = 0; i < from.size(); ++i) into[i] = std::max(into[i], from[i]);
}

/// The stream's clock moves on to an operation that the host gives it now.
void advance(CUstream_st& stream) {
  join(stream.clock, state().host);
  for (const CUstream_st* other : state().streams) {
    if (orders(stream, *other)) join(stream.clock, other->clock);
  }
  if (stream.clock.size() <= stream.number) stream.clock.resize(stream.number + 1);
  ++stream.clock[stream.number];
}

/// From here on the host knows that the stream is done.
void learn_from(const CUstream_st& stream) {
  join(state().host, stream.clock);
  for (const CUstream_st* other : state().streams) {
    if (stream.kind == Kind::legacy && orders(stream, *other)) join(state().host, other->clock);
  }
}

// ---- queues -------------------------------------------------------------------------------------

/// For an operation that the stream's clock has moved on to.
void append(CUstream_st& stream, Operation operation) {
  // A program that ends without waiting has its work done all the same: what is wrong with it
  // shows.
  static const int at_exit = std::atexit(drain_all_streams);
  static_cast<void>(at_exit);
  operation.number = ++state().operations;
  stream.queue.push_back(std::move(operation));
}

void push(CUstream_st& stream, Operation operation) {
  advance(stream);
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

// ---- launches -----------------------------------------------------------------------------------

/// How many devices have a kernel in one of their queues.
unsigned devices_with_kernels() {
  std::uint32_t devices = 0;
  for (const CUstream_st* stream : state().streams) {
    const auto& queue = stream->queue;
    const auto is_kernel = [](const Operation& operation) { return operation.is_kernel; };
    if (std::any_of(queue.begin(), queue.end(), is_kernel)) devices |= 1u << stream->device;
  }
  return static_cast<unsigned>(std::popcount(devices));
}

bool fits(const dim3& size, const int (&limit)[3]) {
  const auto ok = [](unsigned n, int most) { return n >= 1 && n <= static_cast<unsigned>(most); };
  return ok(size.x, limit[0]) && ok(size.y, limit[1]) && ok(size.z, limit[2]);
}

cudaError_t check_configuration(const Launch& launch) {
  const dim3& block = launch.block;
  if (!fits(block, kMaxBlockDim) || !fits(launch.grid, kMaxGridDim) ||
      block.x * block.y * block.z > kMaxThreadsPerBlock) {
    return cudaErrorInvalidConfiguration;
  }
  const std::size_t limit = std::max(kSharedPerBlock, shared_opt_in());
  return launch.shared_bytes > limit ? cudaErrorInvalidValue : cudaSuccess;
}

}  // namespace

// ---- errors -------------------------------------------------------------------------------------

cudaError_t enter(const void* caller) {
  if (in_kernel()) {
    trap("a kernel calls a function of the CUDA runtime that only the host has",
         cudaErrorLaunchFailure, caller);
  }
  if (state().in_host_function) return failed(cudaErrorNotPermitted);
  return sticky_error();
}

cudaError_t failed(cudaError_t error) { return state().last = error; }

cudaError_t sticky_error() {
  return state().sticky == cudaSuccess ? cudaSuccess : failed(state().sticky);
}

// ---- queues -------------------------------------------------------------------------------------

CUstream_st* find_stream(cudaStream_t handle) {
  State& s = state();
  if (handle == nullptr || handle == cudaStreamLegacy) {
    return default_stream(Kind::legacy, current_device());
  }
  if (handle == cudaStreamPerThread) return default_stream(Kind::blocking, current_device());
  const auto it = std::find(s.streams.begin(), s.streams.end(), handle);
  return it == s.streams.end() ? nullptr : handle;
}

void enqueue(CUstream_st& stream, std::function<int()> work) {
  Operation operation;
  operation.work = std::move(work);
  push(stream, std::move(operation));
}

void enqueue_between(CUstream_st& stream, std::uint32_t devices, std::function<int()> work) {
  const std::vector<CUstream_st*> streams = state().streams;
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

void finish(CUstream_st& stream) {
  while (CUstream_st* next = unfinished(stream)) step(*next);
  learn_from(stream);
}

void host_waited_for(int device) {
  for (const CUstream_st* stream : state().streams) {
    if (stream->device == device) join(state().host, stream->clock);
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
  for (CUstream_st* stream : state().streams) {
    if (stream->device != device) continue;
    for (const Operation& operation : stream->queue) complete(operation);
    stream->queue.clear();
  }
}

void reset_device() {
  drop_all_queues();
  for (int device = 0; device < kMostDevices; ++device) host_waited_for(device);
  reset_devices();
  fences_forget();
  State& s = state();
  s.sticky = s.last = cudaSuccess;
  s.in_host_function = false;
  s.operations = 0;  // the seed's lots repeat
  for (const auto& event : s.events) event->last = nullptr;
}

void enqueue_launch(Launch launch, cudaStream_t handle) {
  if (in_kernel()) {
    trap("a kernel launches a kernel, which the CPU device cannot do (dynamic parallelism)",
         cudaErrorLaunchFailure, SIMT_CALLER);
  }
  if (enter(SIMT_CALLER) != cudaSuccess) return;
  CUstream_st* stream = find_stream(handle);
  const int device = current_device();
  const bool known = stream != nullptr && stream->device == device;
  const cudaError_t error = known ? check_configuration(launch) : cudaErrorInvalidResourceHandle;
  if (error != cudaSuccess) {
    failed(error);
    return;
  }
  note_use(device);
  advance(*stream);
  Operation operation;
  operation.work = [launch = std::move(launch), place = Placement{device, reachable_from(device),
                                                                  stream->number, stream->clock}] {
    return run_launch(launch, place);
  };
  operation.is_kernel = true;
  append(*stream, std::move(operation));
  count_devices_at_once(several_devices() ? devices_with_kernels() : 1);
}

namespace {

cudaError_t create_stream(cudaStream_t* stream, unsigned flags) {
  if (stream == nullptr || flags > cudaStreamNonBlocking) return failed(cudaErrorInvalidValue);
  const Kind kind = flags == cudaStreamNonBlocking ? Kind::non_blocking : Kind::blocking;
  note_use(current_device());
  *stream = state().add_stream(kind, current_device());
  return cudaSuccess;
}

}  // namespace
}  // namespace simt

// ---- the runtime API: errors --------------------------------------------------------------------

cudaError_t cudaPeekAtLastError() { return simt::state().last; }

cudaError_t cudaGetLastError() { return std::exchange(simt::state().last, cudaSuccess); }

cudaError_t cudaDeviceSynchronize() {
  if (const cudaError_t error = simt::enter(SIMT_CALLER)) return error;
  simt::finish_device(simt::current_device());
  return simt::sticky_error();
}

// ---- the runtime API: streams -------------------------------------------------------------------

cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  if (const cudaError_t error = simt::enter(SIMT_CALLER)) return error;
  return simt::create_stream(stream, cudaStreamDefault);
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  if (const cudaError_t error = simt::enter(SIMT_CALLER)) return error;
  return simt::create_stream(stream, flags);
}

cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  if (const cudaError_t error = simt::enter(SIMT_CALLER)) return error;
  if (least != nullptr) *least = 0;
  if (greatest != nullptr) *greatest = -5;  // as on an H200: higher is smaller
  return cudaSuccess;
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int) {
  if (const cudaError_t error = simt::enter(SIMT_CALLER)) return error;
  return simt::create_stream(stream, flags);
}

cudaError_t cudaStreamDestroy(cudaStream_t handle) {
  const cudaError_t error = simt::enter(SIMT_CALLER);
  auto& streams = simt::state().streams;
  const auto it = std::find(streams.begin() + simt::kDefaultStreams, streams.end(), handle);
  if (it == streams.end()) {
    return error != cudaSuccess ? error : simt::failed(cudaErrorInvalidResourceHandle);
  }
  while (CUstream_st* next = simt::unfinished(*handle)) simt::step(*next);
  streams.erase(std::find(streams.begin(), streams.end(), handle));
  return simt::sticky_error();
}

cudaError_t cudaStreamSynchronize(cudaStream_t handle) {
  if (const cudaError_t error = simt::enter(SIMT_CALLER)) return error;
  CUstream_st* stream = simt::find_stream(handle);
  if (stream == nullptr) return simt::failed(cudaErrorInvalidResourceHandle);
  simt::finish(*stream);
  return simt::sticky_error();
}

cudaError_t cudaStreamQuery(cudaStream_t handle) {
  if (const cudaError_t error = simt::enter(SIMT_CALLER)) return error;
  CUstream_st* stream = simt::find_stream(handle);
  if (stream == nullptr) return simt::failed(cudaErrorInvalidResourceHandle);
  CUstream_st* next = simt::unfinished(*stream);
  if (next == nullptr) {
    simt::learn_from(*stream);
    return cudaSuccess;
  }
  simt::step(*next);
  if (const cudaError_t error = simt::sticky_error()) return error;
  return cudaErrorNotReady;  // no error that cudaGetLastError() would know
}

cudaError_t cudaStreamWaitEvent(cudaStream_t handle, cudaEvent_t event, unsigned flags) {
  if (const cudaError_t error = simt::enter(SIMT_CALLER)) return error;
  if (flags != cudaEventWaitDefault) return simt::failed(cudaErrorInvalidValue);
  CUstream_st* stream = simt::find_stream(handle);
  if (stream == nullptr || simt::find_event(event) == nullptr) {
    return simt::failed(cudaErrorInvalidResourceHandle);
  }
  if (event->last != nullptr) simt::push_wait(*stream, event->last);
  return cudaSuccess;
}

cudaError_t cudaStreamGetFlags(cudaStream_t handle, unsigned* flags) {
  if (const cudaError_t error = simt::enter(SIMT_CALLER)) return error;
  const CUstream_st* stream = simt::find_stream(handle);
  if (stream == nullptr) return simt::failed(cudaErrorInvalidResourceHandle);
  if (flags == nullptr) return simt::failed(cudaErrorInvalidValue);
  *flags =
      stream->kind == CUstream_st::Kind::non_blocking ? cudaStreamNonBlocking : cudaStreamDefault;
  return cudaSuccess;
}

cudaError_t cudaLaunchHostFunc(cudaStream_t handle, cudaHostFn_t function, void* user_data) {
  if (const cudaError_t error = simt::enter(SIMT_CALLER)) return error;
  CUstream_st* stream = simt::find_stream(handle);
  if (stream == nullptr) return simt::failed(cudaErrorInvalidResourceHandle);
  if (function == nullptr) return simt::failed(cudaErrorInvalidValue);
  simt::enqueue(*stream, [=] {
    simt::state().in_host_function = true;
    function(user_data);
    simt::state().in_host_function = false;
    return cudaSuccess;
  });
  return cudaSuccess;
}

// ---- the runtime API: events --------------------------------------------------------------------

cudaError_t cudaEventCreate(cudaEvent_t* event) {
  return cudaEventCreateWithFlags(event, cudaEventDefault);
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  if (const cudaError_t error = simt::enter(SIMT_CALLER)) return error;
  constexpr unsigned known = cudaEventBlockingSync | cudaEventDisableTiming;
  if (event == nullptr || (flags & ~known) != 0) return simt::failed(cudaErrorInvalidValue);
  auto& events = simt::state().events;
  const int device = simt::current_device();
  events.push_back(std::make_unique<CUevent_st>(CUevent_st{flags, device, nullptr}));
  *event = events.back().get();
  return cudaSuccess;
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  const cudaError_t error = simt::enter(SIMT_CALLER);
  auto& events = simt::state().events;
  const auto it = std::find_if(events.begin(), events.end(),
                               [&](const auto& owned) { return owned.get() == event; });
  if (it == events.end()) {
    return error != cudaSuccess ? error : simt::failed(cudaErrorInvalidResourceHandle);
  }
  simt::state().dead_events.push_back(std::move(*it));
  events.erase(it);
  return error;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t handle) {
  if (const cudaError_t error = simt::enter(SIMT_CALLER)) return error;
  CUstream_st* stream = simt::find_stream(handle);
  if (stream == nullptr || simt::find_event(event) == nullptr || event->device != stream->device) {
    return simt::failed(cudaErrorInvalidResourceHandle);
  }
  event->last = simt::push_mark(*stream);
  return cudaSuccess;
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  if (const cudaError_t error = simt::enter(SIMT_CALLER)) return error;
  if (simt::find_event(event) == nullptr) return simt::failed(cudaErrorInvalidResourceHandle);
  const std::shared_ptr<const simt::Mark> mark = event->last;
  while (mark && !mark->happened) simt::step(*mark->stream);
  if (mark) simt::join(simt::state().host, mark->clock);
  return simt::sticky_error();
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
  if (const cudaError_t error = simt::enter(SIMT_CALLER)) return error;
  if (simt::find_event(event) == nullptr) return simt::failed(cudaErrorInvalidResourceHandle);
  const std::shared_ptr<const simt::Mark> mark = event->last;
  if (!mark) return cudaSuccess;
  if (mark->happened) {
    simt::join(simt::state().host, mark->clock);
    return cudaSuccess;
  }
  simt::step(*mark->stream);
  if (const cudaError_t error = simt::sticky_error()) return error;
  return cudaErrorNotReady;  // no error that cudaGetLastError() would know
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t stop) {
  if (const cudaError_t error = simt::enter(SIMT_CALLER)) return error;
  if (milliseconds == nullptr) return simt::failed(cudaErrorInvalidValue);
  for (const cudaEvent_t event : {start, stop}) {
    if (simt::find_event(event) == nullptr || event->last == nullptr ||
        (event->flags & cudaEventDisableTiming) != 0) {
      return simt::failed(cudaErrorInvalidResourceHandle);
    }
  }
  if (start->device != stop->device) return simt::failed(cudaErrorInvalidResourceHandle);
  if (!start->last->happened || !stop->last->happened) return cudaErrorNotReady;
  const std::chrono::duration<float, std::milli> elapsed = stop->last->when - start->last->when;
  *milliseconds = elapsed.count();
  return cudaSuccess;
}
