// What CUDA leaves open decides whether two operations race (checker/overlap.hpp). Each has a
// clock: all operations that are done before it begins. It is known when the host makes the call,
// whatever runs when.
#include "api/queues.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <utility>
#include <vector>

#include "api/errors.hpp"
#include "api/turns.hpp"
#include "api/work_log.hpp"
#include "checker/overlap.hpp"
#include "memory/allocations.hpp"
#include "memory/devices.hpp"
#include "scheduler/run_launch.hpp"
#include "simt/testing.hpp"

namespace simt {
namespace {

using Kind = CUstream_st::Kind;

/// Each device has two streams that no call creates: cudaStreamLegacy and cudaStreamPerThread.
constexpr unsigned kDefaultStreams = 2 * kMostDevices;

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

void complete(const Operation& operation) {
  if (!operation.mark) return;
  operation.mark->happened = true;
  if (operation.mark->when == Mark{}.when) operation.mark->when = std::chrono::steady_clock::now();
}

/// Runs one operation. A report handler may throw: then the test is over, and its queues with it.
void step(CUstream_st& wanted) {
  CUstream_st& stream = *choose(wanted);
  Operation operation = std::move(stream.queue.front());
  stream.queue.pop_front();
  stream.kernels -= operation.is_kernel;
  complete(operation);
  if (!operation.work) return;
  int error = cudaErrorLaunchFailure;
  const OrderedWork ordered({stream.number, operation.clock, operation.known});
  try {
    error = operation.work();
  } catch (...) {
    stop_devices(cudaErrorLaunchFailure);
    throw;
  }
  if (error == kPutOff) {
    operation.put_off_after = all_queues().done;
    ++stream.kernels;
    stream.queue.push_front(std::move(operation));
    return;
  }
  ++all_queues().done;
  if (error != cudaSuccess) stop_devices(static_cast<cudaError_t>(error));
}

/// The same where the host asks without waiting.
void step_between_questions(CUstream_st& wanted) {
  all_queues().host_asks = true;
  step(wanted);
  all_queues().host_asks = false;
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

std::uint32_t& entry_of(StreamClock& clock, unsigned stream) {
  if (clock.size() <= stream) clock.resize(stream + 1);
  return clock[stream];
}

/// What a stream's default stream, or the other way round, waits for.
void join_ordered(StreamClock& into, const CUstream_st& stream) {
  for (const CUstream_st* other : all_queues().streams) {
    if (orders(stream, *other)) join(into, other->clock);
  }
  if (stream.kind != Kind::legacy) return;
  join(into, all_queues().destroyed[static_cast<unsigned>(stream.device)].blocking);
}

/// The stream's clock moves on to an operation that the host gives it now.
void advance(CUstream_st& stream) {
  StreamClock& host = all_queues().host.clock;
  join(stream.clock, host);
  join_ordered(stream.clock, stream);
  ++entry_of(stream.clock, stream.number);
  ++entry_of(host, kHostEntry);  // what host code does from here on is not before the operation
}

/// What the host knows when it has waited for the stream.
StreamClock end_of(const CUstream_st& stream) {
  StreamClock clock = stream.clock;
  if (stream.kind == Kind::legacy) join_ordered(clock, stream);
  return clock;
}

StreamClock end_of(int device) {
  StreamClock clock = all_queues().destroyed[static_cast<unsigned>(device)].all;
  for (const CUstream_st* stream : all_queues().streams) {
    if (stream->device == device) join(clock, stream->clock);
  }
  return clock;
}

/// What all operations know that run or are called from here on.
StreamClock known_by_all() {
  StreamClock known = all_queues().host.clock;
  for (const CUstream_st* stream : all_queues().streams) {
    if (!busy(stream)) continue;
    const StreamClock& first = stream->queue.front().clock;
    for (unsigned i = 0; i < known.size(); ++i) known[i] = std::min(known[i], entry(first, i));
  }
  return known;
}

/// Host code that goes on now may meet what it has not waited for.
void watch_host() {
  const Queues& s = all_queues();
  bool all_known = true;
  for (unsigned i = 0; i < s.work.size(); ++i) {
    all_known = all_known && s.work[i] <= entry(s.host.clock, i);
  }
  overlap_watch_host(all_known ? nullptr : &s.host);
}

/// From here on the host knows that all this is done.
void host_knows(const StreamClock& clock) {
  join(all_queues().host.clock, clock);
  overlap_forget(known_by_all());
  watch_host();
}

/// While a call of the host runs operations: it will know this when it returns.
class Awaiting {
 public:
  explicit Awaiting(StreamClock clock) { all_queues().awaited = std::move(clock); }
  ~Awaiting() { all_queues().awaited.clear(); }
  Awaiting(const Awaiting&) = delete;
  Awaiting& operator=(const Awaiting&) = delete;
};

/// See Placement::still_to_run. The operation is the last of the stream that has run.
std::uint32_t still_to_run_beside(const CUstream_st& stream, const StreamClock& clock) {
  const Queues& s = all_queues();
  const std::uint32_t mine = entry(clock, stream.number);
  std::uint32_t beside = 0;
  for (const CUstream_st* other : s.streams) {
    if (other == &stream || !busy(other)) continue;
    if (entry(other->queue.front().clock, stream.number) < mine) beside |= bit(other->device);
  }
  if (entry(s.awaited, stream.number) >= mine)
    return beside;  // and what is called later is after it
  if (several_devices()) beside |= ~bit(kEveryDevice);
  if (s.all_streams.size() > kDefaultStreams) beside |= bit(stream.device);
  if (allocated_bytes(kEveryDevice) > 0) beside |= bit(kEveryDevice);
  return beside;
}

/// How often a host that asks for a kernel's end is given the time to change what that kernel waits for.
constexpr unsigned kMostQuestions = 20;

/// What else may run before this kernel, the first one of its stream, has ended.
void look_beside(Placement& place, const CUstream_st& stream, unsigned times_put_off) {
  const std::uint32_t mine = entry(place.clock, stream.number);
  place.still_to_run = still_to_run_beside(stream, place.clock);
  place.queued = nullptr;
  place.may_be_put_off =
      all_queues().host_asks && place.still_to_run != 0 && times_put_off < kMostQuestions;
  for (CUstream_st* other : all_queues().streams) {
    if (other == &stream || !busy(other)) continue;
    const auto is_beside = [&](const Operation& o) {
      return o.work && entry(o.clock, stream.number) < mine;
    };
    const auto it = std::find_if(other->queue.begin(), other->queue.end(), is_beside);
    if (it == other->queue.end()) continue;
    place.queued = it->name;
    place.may_be_put_off |= !finds_the_same(first_to_run(*other)->queue.front());
  }
}

// ---- queues -------------------------------------------------------------------------------------

/// For an operation that the stream's clock has moved on to.
void append(CUstream_st& stream, Operation operation) {
  // A program that ends without waiting has its work done all the same: what is wrong with it shows.
  static const int at_exit = std::atexit(drain_all_streams);
  static_cast<void>(at_exit);
  operation.number = ++all_queues().operations;
  operation.clock = stream.clock;
  operation.known = all_queues().host.clock;
  if (operation.work) {
    entry_of(all_queues().work, stream.number) = entry(stream.clock, stream.number);
    watch_host();
  }
  stream.queue.push_back(std::move(operation));
}

Placement placement_of(const CUstream_st& stream) {
  return {stream.device, reachable_from(stream.device), stream.number, stream.clock,
          stream.kind == Kind::of_graph};
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
  Destroyed& destroyed = all_queues().destroyed[static_cast<unsigned>(stream.device)];
  join(destroyed.all, stream.clock);
  if (stream.kind == Kind::blocking) join(destroyed.blocking, stream.clock);
  auto& streams = all_queues().streams;
  streams.erase(std::find(streams.begin(), streams.end(), &stream));
}

// ---- putting work into a queue ------------------------------------------------------------------

void enqueue(CUstream_st& stream, std::function<int()> work, const Transfer* transfer) {
  push(stream, {.work = std::move(work)});
  if (transfer != nullptr) overlap_transfer(*transfer, placement_of(stream));
}

void enqueue_host_function(CUstream_st& stream, std::function<void()> function) {
  advance(stream);
  Operation operation;
  operation.work = [function = std::move(function), place = placement_of(stream)] {
    overlap_watch_host(&place, Doer::host_function);
    function();
    watch_host();
    return cudaSuccess;
  };
  append(stream, std::move(operation));
}

WorkOrder announce(CUstream_st& stream, const Transfer& transfer) {
  advance(stream);
  entry_of(all_queues().work, stream.number) = entry(stream.clock, stream.number);
  overlap_transfer(transfer, placement_of(stream));
  return {stream.number, stream.clock, all_queues().host.clock};
}

void enqueue_between(CUstream_st& stream, std::uint32_t devices, std::function<int()> work,
                     const Transfer& transfer) {
  const std::vector<CUstream_st*> streams = all_queues().streams;
  const auto takes_part = [&](const CUstream_st* s) {
    return s != &stream && (devices >> s->device & 1) != 0;
  };
  for (CUstream_st* s : streams) {
    if (takes_part(s)) push_wait(stream, push_mark(*s));
  }
  enqueue(stream, std::move(work), &transfer);
  const std::shared_ptr<const Mark> done = push_mark(stream);
  for (CUstream_st* s : streams) {
    if (takes_part(s)) push_wait(*s, done);
  }
}

void enqueue_kernel(CUstream_st& stream, Launch launch) {
  advance(stream);
  Operation operation;
  operation.name = launch.kernel;
  operation.work = [launch = std::move(launch), place = placement_of(stream), of = &stream,
                    times = 0u]() mutable {
    const TimedWork timed(Work::Kind::kernel);
    look_beside(place, *of, times++);
    return run_launch(launch, place);
  };
  operation.is_kernel = true;
  ++stream.kernels;
  append(stream, std::move(operation));
}

std::shared_ptr<Mark> push_mark(CUstream_st& stream) {
  advance(stream);
  Operation record;
  record.mark = std::make_shared<Mark>(Mark{&stream, stream.clock});
  std::shared_ptr<Mark> mark = record.mark;
  // A device without work passes a mark at once; here operations run only when the host waits for them.
  const auto& streams = all_queues().streams;
  if (std::none_of(streams.begin(), streams.end(), busy)) {
    mark->when = std::chrono::steady_clock::now();
  }
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
  unsigned kernels = 0;
  for (const CUstream_st* stream : all_queues().streams) {
    if (stream->kernels > 0) devices |= 1u << stream->device;
    kernels += stream->kernels;
  }
  return {static_cast<unsigned>(std::popcount(devices)), kernels};
}

// ---- waiting ------------------------------------------------------------------------------------

void finish(CUstream_st& stream) {
  const Awaiting awaiting(end_of(stream));
  while (CUstream_st* next = unfinished(stream)) step(*next);
  host_knows(end_of(stream));
}

void drain_all_streams() {
  // The program has not waited, but nearly all that calls this has: the end of it, and of a test.
  StreamClock all;
  for (int device = 0; device < kMostDevices; ++device) join(all, end_of(device));
  const Awaiting awaiting(std::move(all));
  while (CUstream_st* next = youngest(busy)) step(*next);
}

void finish_device(int device) {
  const Awaiting awaiting(end_of(device));
  while (CUstream_st* next = unfinished(device)) step(*next);
  host_knows(end_of(device));
}

void drop_queues(int device) {
  for (CUstream_st* stream : all_queues().streams) {
    if (stream->device != device) continue;
    for (const Operation& operation : stream->queue) complete(operation);
    stream->queue.clear();
    stream->kernels = 0;
  }
  host_knows(end_of(device));
}

void finish(const Mark& mark) {
  const Awaiting awaiting(mark.clock);
  while (!mark.happened) step(*mark.stream);
  host_knows(mark.clock);
}

bool poll(CUstream_st& stream) {
  CUstream_st* next = unfinished(stream);
  if (next != nullptr) {
    step_between_questions(*next);
    watch_host();
    return false;
  }
  host_knows(end_of(stream));
  return true;
}

bool poll(const Mark& mark) {
  if (!mark.happened) {
    step_between_questions(*mark.stream);
    watch_host();
    return false;
  }
  host_knows(mark.clock);
  return true;
}

void reset_queues() {
  drop_all_queues();
  all_queues().operations = 0;  // the priorities of a seed repeat
}

}  // namespace simt
