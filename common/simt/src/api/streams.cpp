// The runtime API: streams and events.
#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>
#include <vector>

#include "api/captures.hpp"
#include "api/errors.hpp"
#include "api/events.hpp"
#include "api/queues.hpp"
#include "base/program.hpp"
#include "memory/devices.hpp"

struct CUevent_st {
  unsigned flags;
  int device;
  std::shared_ptr<simt::Mark> last;  // the latest cudaEventRecord; null before the first
  std::vector<const void*> made_by;  // return addresses, the innermost first
  simt::CapturePoint captured;       // if the latest cudaEventRecord was captured
};

namespace simt {
namespace {

struct Events {
  std::vector<std::unique_ptr<CUevent_st>> live;
  // Destroyed events stay allocated: a stale handle never becomes a valid one again.
  std::vector<std::unique_ptr<CUevent_st>> destroyed;
};

Events& events() {
  static Events& e = *new Events;
  return e;
}

CUevent_st* find_event(cudaEvent_t handle) {
  for (const auto& event : events().live) {
    if (event.get() == handle) return handle;
  }
  return nullptr;
}

// As on an H200: a smaller number is a higher priority.
constexpr int kLeastPriority = 0, kGreatestPriority = -5;

cudaError_t create_stream(cudaStream_t* stream, unsigned flags, int priority, const void* caller) {
  if (stream == nullptr || flags > cudaStreamNonBlocking) return failed(cudaErrorInvalidValue);
  using Kind = CUstream_st::Kind;
  const Kind kind = flags == cudaStreamNonBlocking ? Kind::non_blocking : Kind::blocking;
  note_use(current_device());
  *stream = add_stream(kind, current_device(), calls_behind(caller));
  (*stream)->priority = std::clamp(priority, kGreatestPriority, kLeastPriority);
  return cudaSuccess;
}

/// What a call asks of a stream.
template <class T, class Ask>
cudaError_t ask_stream(cudaStream_t handle, T* answer, const void* caller, const Ask& ask) {
  if (const cudaError_t error = enter(caller)) return error;
  const CUstream_st* stream = find_stream(handle);
  if (stream == nullptr) return failed(cudaErrorInvalidResourceHandle);
  return hand_out(answer, ask(*stream));
}

/// Begins a call that waits for a stream, or asks whether it would have to.
cudaError_t enter_to_wait(cudaStream_t handle, const void* caller) {
  if (const cudaError_t error = enter(caller)) return error;
  CUstream_st* stream = find_stream(handle);
  if (stream == nullptr) return failed(cudaErrorInvalidResourceHandle);
  return check_wait(*stream);
}

/// Queues a function of the host.
template <class Call>
cudaError_t launch_on_host(cudaStream_t handle, bool valid, const Call& call) {
  CUstream_st* stream = find_stream(handle);
  if (stream == nullptr) return failed(cudaErrorInvalidResourceHandle);
  if (!valid) return failed(cudaErrorInvalidValue);
  if (const cudaError_t error = check_work(*stream)) return error;
  if (is_capturing(*stream)) return capture_work(*stream, HostWork{call});
  enqueue_host_function(*stream, [call] { run_host_function(call); });
  return cudaSuccess;
}

cudaError_t record_event(cudaEvent_t event, cudaStream_t handle, unsigned flags) {
  CUstream_st* stream = find_stream(handle);
  if (stream == nullptr || find_event(event) == nullptr || event->device != stream->device) {
    return failed(cudaErrorInvalidResourceHandle);
  }
  if (const cudaError_t error = check_work(*stream)) return error;
  if (flags == cudaEventRecordExternal && is_capturing(*stream)) {
    return capture_work(*stream, EventRecord{event});
  }
  event->captured = stream->captured;
  event->last = is_capturing(*stream) ? nullptr : push_mark(*stream);
  return cudaSuccess;
}

}  // namespace

bool is_event(cudaEvent_t event) { return find_event(event) != nullptr; }

void record_in(CUstream_st& queue, cudaEvent_t event) {
  if (is_event(event)) event->last = push_mark(queue);
}

void wait_in(CUstream_st& queue, cudaEvent_t event) {
  if (is_event(event) && event->last != nullptr) push_wait(queue, event->last);
}

void forget_records() {
  for (const auto& event : events().live) {
    event->last = nullptr;
    event->captured = {};
  }
}

void list_events(std::vector<Holding>& list) {
  for (const auto& event : events().live) {
    list.push_back({Holding::Kind::event, event.get(), 0, event->made_by});
  }
}

}  // namespace simt

// ---- streams -------------------------------------------------------------------

cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  if (const cudaError_t error = simt::enter(SIMT_CALLER)) return error;
  return simt::create_stream(stream, cudaStreamDefault, simt::kLeastPriority, SIMT_CALLER);
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  if (const cudaError_t error = simt::enter(SIMT_CALLER)) return error;
  return simt::create_stream(stream, flags, simt::kLeastPriority, SIMT_CALLER);
}

cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  if (const cudaError_t error = simt::enter(SIMT_CALLER)) return error;
  if (least != nullptr) *least = simt::kLeastPriority;
  if (greatest != nullptr) *greatest = simt::kGreatestPriority;
  return cudaSuccess;
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int priority) {
  if (const cudaError_t error = simt::enter(SIMT_CALLER)) return error;
  return simt::create_stream(stream, flags, priority, SIMT_CALLER);
}

cudaError_t cudaStreamDestroy(cudaStream_t handle) {
  const cudaError_t error = simt::enter_to_give_back(SIMT_CALLER);
  if (!simt::is_created(handle)) {
    return error != cudaSuccess ? error : simt::failed(cudaErrorInvalidResourceHandle);
  }
  simt::leave_capture(*handle);
  simt::destroy_stream(*handle);
  return simt::sticky_error();
}

cudaError_t cudaStreamSynchronize(cudaStream_t handle) {
  if (const cudaError_t error = simt::enter_to_wait(handle, SIMT_CALLER)) return error;
  simt::finish(*simt::find_stream(handle));
  return simt::sticky_error();
}

cudaError_t cudaStreamQuery(cudaStream_t handle) {
  if (const cudaError_t error = simt::enter_to_wait(handle, SIMT_CALLER)) return error;
  if (simt::poll(*simt::find_stream(handle))) return cudaSuccess;
  if (const cudaError_t error = simt::sticky_error()) return error;
  return cudaErrorNotReady;  // no error that cudaGetLastError() would know
}

cudaError_t cudaStreamWaitEvent(cudaStream_t handle, cudaEvent_t event, unsigned flags) {
  if (const cudaError_t error = simt::enter(SIMT_CALLER)) return error;
  if (flags > cudaEventWaitExternal) return simt::failed(cudaErrorInvalidValue);
  CUstream_st* stream = simt::find_stream(handle);
  if (stream == nullptr || simt::find_event(event) == nullptr) {
    return simt::failed(cudaErrorInvalidResourceHandle);
  }
  if (const cudaError_t error = simt::check_work(*stream)) return error;
  if (flags == cudaEventWaitExternal && simt::is_capturing(*stream)) {
    return simt::capture_work(*stream, simt::EventWait{event});
  }
  const bool recorded = event->last != nullptr;
  if (event->captured.capture != nullptr || (recorded && simt::is_capturing(*stream))) {
    return simt::capture_wait(*stream, event->captured);
  }
  if (recorded) simt::push_wait(*stream, event->last);
  return cudaSuccess;
}

cudaError_t cudaStreamSetAttribute(cudaStream_t handle, cudaStreamAttrID attribute,
                                   const cudaStreamAttrValue* value) {
  if (const cudaError_t error = simt::enter(SIMT_CALLER)) return error;
  CUstream_st* stream = simt::find_stream(handle);
  if (stream == nullptr) return simt::failed(cudaErrorInvalidResourceHandle);
  if (value == nullptr) return simt::failed(cudaErrorInvalidValue);
  stream->attributes[attribute] = *value;
  return cudaSuccess;
}

cudaError_t cudaStreamGetAttribute(cudaStream_t handle, cudaStreamAttrID attribute,
                                   cudaStreamAttrValue* value) {
  if (const cudaError_t error = simt::enter(SIMT_CALLER)) return error;
  CUstream_st* stream = simt::find_stream(handle);
  if (stream == nullptr) return simt::failed(cudaErrorInvalidResourceHandle);
  if (value == nullptr) return simt::failed(cudaErrorInvalidValue);
  *value = stream->attributes[attribute];  // zero, if nothing was asked for
  return cudaSuccess;
}

cudaError_t cudaCtxResetPersistingL2Cache() { return simt::enter(SIMT_CALLER); }

cudaError_t cudaStreamGetFlags(cudaStream_t handle, unsigned* flags) {
  return simt::ask_stream(handle, flags, SIMT_CALLER, [](const CUstream_st& stream) {
    return stream.kind == CUstream_st::Kind::non_blocking ? cudaStreamNonBlocking
                                                          : cudaStreamDefault;
  });
}

cudaError_t cudaStreamGetPriority(cudaStream_t handle, int* priority) {
  return simt::ask_stream(handle, priority, SIMT_CALLER,
                          [](const CUstream_st& stream) { return stream.priority; });
}

cudaError_t cudaStreamGetId(cudaStream_t handle, unsigned long long* id) {
  return simt::ask_stream(handle, id, SIMT_CALLER,
                          [](const CUstream_st& stream) { return stream.number; });
}

cudaError_t cudaStreamGetDevice(cudaStream_t handle, int* device) {
  return simt::ask_stream(handle, device, SIMT_CALLER,
                          [](const CUstream_st& stream) { return stream.device; });
}

cudaError_t cudaLaunchHostFunc(cudaStream_t handle, cudaHostFn_t function, void* user_data) {
  if (const cudaError_t error = simt::enter(SIMT_CALLER)) return error;
  return simt::launch_on_host(handle, function != nullptr, [=] { function(user_data); });
}

cudaError_t cudaStreamAddCallback(cudaStream_t handle, cudaStreamCallback_t callback,
                                  void* user_data, unsigned flags) {
  if (const cudaError_t error = simt::enter(SIMT_CALLER)) return error;
  return simt::launch_on_host(handle, callback != nullptr && flags == 0,
                              [=] { callback(handle, cudaSuccess, user_data); });
}

// ---- events --------------------------------------------------------------------

cudaError_t cudaEventCreate(cudaEvent_t* event) {
  return cudaEventCreateWithFlags(event, cudaEventDefault);
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  if (const cudaError_t error = simt::enter(SIMT_CALLER)) return error;
  constexpr unsigned known = cudaEventBlockingSync | cudaEventDisableTiming | cudaEventInterprocess;
  const bool timed = (flags & cudaEventDisableTiming) == 0;
  const bool shared = (flags & cudaEventInterprocess) != 0;
  if (event == nullptr || (flags & ~known) != 0 || (shared && timed)) {
    return simt::failed(cudaErrorInvalidValue);
  }
  auto& events = simt::events().live;
  const int device = simt::current_device();
  events.push_back(std::make_unique<CUevent_st>(
      CUevent_st{flags, device, nullptr, simt::calls_behind(SIMT_CALLER), {}}));
  *event = events.back().get();
  return cudaSuccess;
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  const cudaError_t error = simt::enter_to_give_back(SIMT_CALLER);
  auto& events = simt::events().live;
  const auto it = std::find_if(events.begin(), events.end(),
                               [&](const auto& owned) { return owned.get() == event; });
  if (it == events.end()) {
    return error != cudaSuccess ? error : simt::failed(cudaErrorInvalidResourceHandle);
  }
  simt::events().destroyed.push_back(std::move(*it));
  events.erase(it);
  return error;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t handle) {
  if (const cudaError_t error = simt::enter(SIMT_CALLER)) return error;
  return simt::record_event(event, handle, cudaEventRecordDefault);
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t handle, unsigned flags) {
  if (const cudaError_t error = simt::enter(SIMT_CALLER)) return error;
  if (flags > cudaEventRecordExternal) return simt::failed(cudaErrorInvalidValue);
  return simt::record_event(event, handle, flags);
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  if (const cudaError_t error = simt::enter(SIMT_CALLER)) return error;
  if (simt::find_event(event) == nullptr) return simt::failed(cudaErrorInvalidResourceHandle);
  if (const cudaError_t error = simt::check_wait(event->captured)) return error;
  const std::shared_ptr<const simt::Mark> mark = event->last;
  if (mark) simt::finish(*mark);
  return simt::sticky_error();
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
  if (const cudaError_t error = simt::enter(SIMT_CALLER)) return error;
  if (simt::find_event(event) == nullptr) return simt::failed(cudaErrorInvalidResourceHandle);
  if (const cudaError_t error = simt::check_wait(event->captured)) return error;
  const std::shared_ptr<const simt::Mark> mark = event->last;
  if (!mark || simt::poll(*mark)) return cudaSuccess;
  if (const cudaError_t error = simt::sticky_error()) return error;
  return cudaErrorNotReady;  // no error that cudaGetLastError() would know
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t stop) {
  if (const cudaError_t error = simt::enter(SIMT_CALLER)) return error;
  if (milliseconds == nullptr) return simt::failed(cudaErrorInvalidValue);
  for (const cudaEvent_t event : {start, stop}) {
    if (simt::find_event(event) != nullptr && event->captured.capture != nullptr) {
      return simt::failed(cudaErrorCapturedEvent);
    }
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
