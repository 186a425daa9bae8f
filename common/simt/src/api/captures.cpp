// The runtime API: capture of streams into graphs.
//
// A capture begins in one stream. Others join it by waiting for an event that was recorded in it, and must be waited
// for in turn before it ends. A forbidden call makes it invalid; then it still has to be ended.
#include "api/captures.hpp"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "api/errors.hpp"
#include "memory/devices.hpp"

namespace simt {
namespace {

struct Captures {
  std::vector<std::shared_ptr<Capture>> active;  // the invalid ones, too
  unsigned long long begun = 0;
  cudaStreamCaptureMode mode_of_thread = cudaStreamCaptureModeGlobal;
};

Captures& captures() {
  static Captures& c = *new Captures;
  return c;
}

void invalidate(Capture& capture) { capture.invalidated = true; }

/// No stream takes part any more.
void end_capture(const std::shared_ptr<Capture>& capture) {
  for (CUstream_st* stream : capture->streams) stream->captured = {};
  auto& active = captures().active;
  active.erase(std::find(active.begin(), active.end(), capture));
}

bool has_ended(const Capture& capture) {
  const auto& active = captures().active;
  return std::none_of(active.begin(), active.end(),
                      [&](const auto& other) { return other.get() == &capture; });
}

/// A blocking stream that captures, of the device of this legacy stream; null if there is none.
Capture* implied_by(const CUstream_st& legacy) {
  for (const auto& capture : captures().active) {
    for (const CUstream_st* stream : capture->streams) {
      if (stream->kind == CUstream_st::Kind::blocking && stream->device == legacy.device) {
        return capture.get();
      }
    }
  }
  return nullptr;
}

void add_new(Nodes& list, const Nodes& more) {
  for (CUgraphNode_st* node : more) {
    if (std::find(list.begin(), list.end(), node) == list.end()) list.push_back(node);
  }
}

cudaStreamCaptureStatus status_of(const CUstream_st& stream) {
  if (!is_capturing(stream)) return cudaStreamCaptureStatusNone;
  return stream.captured.capture->invalidated ? cudaStreamCaptureStatusInvalidated
                                              : cudaStreamCaptureStatusActive;
}

/// What is wrong with the end of a capture in this stream, or success.
cudaError_t check_end(const CUstream_st& stream, const Capture& capture) {
  if (capture.invalidated) return cudaErrorStreamCaptureInvalidated;
  if (capture.origin != &stream) return cudaErrorStreamCaptureUnmatched;
  const Nodes& joined = stream.captured.after;
  for (const CUgraphNode_st* leaf : leaves(*capture.graph)) {
    if (std::find(joined.begin(), joined.end(), leaf) == joined.end()) {
      return cudaErrorStreamCaptureUnjoined;
    }
  }
  return cudaSuccess;
}

}  // namespace

cudaError_t check_work(const CUstream_st& stream) {
  if (captures().active.empty()) return cudaSuccess;
  if (is_capturing(stream)) {
    const bool invalid = stream.captured.capture->invalidated;
    return invalid ? failed(cudaErrorStreamCaptureInvalidated) : cudaSuccess;
  }
  if (stream.kind != CUstream_st::Kind::legacy) return cudaSuccess;
  Capture* const capture = implied_by(stream);
  if (capture == nullptr) return cudaSuccess;
  invalidate(*capture);
  return failed(cudaErrorStreamCaptureImplicit);
}

cudaError_t capture_work(CUstream_st& stream, NodeWork work) {
  CapturePoint& point = stream.captured;
  CUgraphNode_st* const node = add_node(*point.capture->graph, std::move(work), point.after);
  node->device = stream.device;
  point.after = {node};
  return cudaSuccess;
}

cudaError_t check_unsafe() {
  bool refused = false;
  if (captures().mode_of_thread == cudaStreamCaptureModeRelaxed) return cudaSuccess;
  for (const auto& capture : captures().active) {
    if (capture->mode == cudaStreamCaptureModeRelaxed) continue;
    invalidate(*capture);
    refused = true;
  }
  return refused ? failed(cudaErrorStreamCaptureUnsupported) : cudaSuccess;
}

cudaError_t check_wait(const CUstream_st& stream) {
  if (captures().active.empty()) return cudaSuccess;
  if (is_capturing(stream)) {
    invalidate(*stream.captured.capture);
    return failed(cudaErrorStreamCaptureUnsupported);
  }
  if (const cudaError_t error = check_work(stream)) return error;
  return check_unsafe();
}

cudaError_t check_wait(int device) {
  bool refused = false;
  for (const auto& capture : captures().active) {
    for (const CUstream_st* stream : capture->streams) {
      if (stream->device != device) continue;
      invalidate(*capture);
      refused = true;
    }
  }
  return refused ? failed(cudaErrorStreamCaptureUnsupported) : check_unsafe();
}

cudaError_t check_wait(const CapturePoint& event) {
  if (event.capture == nullptr) return check_unsafe();
  invalidate(*event.capture);
  return failed(cudaErrorCapturedEvent);
}

cudaError_t capture_wait(CUstream_st& stream, const CapturePoint& event) {
  if (event.capture == nullptr) {  // what it waits for is outside the graph
    invalidate(*stream.captured.capture);
    return failed(cudaErrorStreamCaptureIsolation);
  }
  if (has_ended(*event.capture)) return failed(cudaErrorCapturedEvent);
  if (event.capture->invalidated) return failed(cudaErrorStreamCaptureInvalidated);
  if (stream.kind == CUstream_st::Kind::legacy) {
    invalidate(*event.capture);
    return failed(cudaErrorStreamCaptureImplicit);
  }
  if (is_capturing(stream) && stream.captured.capture != event.capture) {
    invalidate(*event.capture);
    invalidate(*stream.captured.capture);
    return failed(cudaErrorStreamCaptureMerge);
  }
  if (!is_capturing(stream)) {
    event.capture->streams.push_back(&stream);
    stream.captured.capture = event.capture;
  }
  add_new(stream.captured.after, event.after);
  return cudaSuccess;
}

void leave_capture(CUstream_st& stream) {
  if (!is_capturing(stream)) return;
  const std::shared_ptr<Capture> capture = stream.captured.capture;
  if (capture->origin == &stream) {  // nothing can end it any more
    destroy_graph(*capture->graph);
    end_capture(capture);
    return;
  }
  auto& streams = capture->streams;
  streams.erase(std::find(streams.begin(), streams.end(), &stream));
  stream.captured = {};
}

void forget_captures() {
  while (!captures().active.empty()) end_capture(std::shared_ptr(captures().active.back()));
  captures().mode_of_thread = cudaStreamCaptureModeGlobal;
}

}  // namespace simt

// ---- the runtime API ----------------------------------------------------------------------------

cudaError_t cudaStreamBeginCapture(cudaStream_t handle, cudaStreamCaptureMode mode) {
  if (const cudaError_t error = simt::enter(SIMT_CALLER)) return error;
  CUstream_st* stream = simt::find_stream(handle);
  if (stream == nullptr) return simt::failed(cudaErrorInvalidResourceHandle);
  if (mode < cudaStreamCaptureModeGlobal || mode > cudaStreamCaptureModeRelaxed) {
    return simt::failed(cudaErrorInvalidValue);
  }
  if (stream->kind == CUstream_st::Kind::legacy) {
    return simt::failed(cudaErrorStreamCaptureUnsupported);
  }
  if (simt::is_capturing(*stream)) return simt::failed(cudaErrorIllegalState);
  auto& captures = simt::captures();
  stream->captured = {std::make_shared<simt::Capture>(simt::Capture{
                          simt::make_graph(), stream, mode, ++captures.begun, false, {stream}}),
                      {}};
  captures.active.push_back(stream->captured.capture);
  return cudaSuccess;
}

cudaError_t cudaStreamEndCapture(cudaStream_t handle, cudaGraph_t* graph) {
  if (const cudaError_t error = simt::enter(SIMT_CALLER)) return error;
  CUstream_st* stream = simt::find_stream(handle);
  if (stream == nullptr) return simt::failed(cudaErrorInvalidResourceHandle);
  if (graph == nullptr) return simt::failed(cudaErrorInvalidValue);
  *graph = nullptr;
  if (!simt::is_capturing(*stream)) return simt::failed(cudaErrorIllegalState);
  const std::shared_ptr<simt::Capture> capture = stream->captured.capture;
  const cudaError_t error = simt::check_end(*stream, *capture);
  if (capture->origin != stream) {  // it goes on, for the stream that began it to end it
    simt::invalidate(*capture);
    return simt::failed(error);
  }
  simt::end_capture(capture);
  if (error == cudaSuccess) {
    *graph = capture->graph;
    return cudaSuccess;
  }
  simt::destroy_graph(*capture->graph);
  return simt::failed(error);
}

cudaError_t cudaStreamIsCapturing(cudaStream_t handle, cudaStreamCaptureStatus* status) {
  return cudaStreamGetCaptureInfo(handle, status);
}

cudaError_t cudaStreamGetCaptureInfo(cudaStream_t handle, cudaStreamCaptureStatus* status,
                                     unsigned long long* id, cudaGraph_t* graph,
                                     const cudaGraphNode_t** dependencies,
                                     const cudaGraphEdgeData** edges, std::size_t* count) {
  if (const cudaError_t error = simt::enter(SIMT_CALLER)) return error;
  const CUstream_st* stream = simt::find_stream(handle);
  if (stream == nullptr) return simt::failed(cudaErrorInvalidResourceHandle);
  if (status == nullptr) return simt::failed(cudaErrorInvalidValue);
  if (stream->kind == CUstream_st::Kind::legacy && simt::implied_by(*stream) != nullptr) {
    return simt::failed(cudaErrorStreamCaptureImplicit);
  }
  *status = simt::status_of(*stream);
  if (edges != nullptr) *edges = nullptr;
  if (*status != cudaStreamCaptureStatusActive) return cudaSuccess;
  const simt::CapturePoint& point = stream->captured;
  if (id != nullptr) *id = point.capture->id;
  if (graph != nullptr) *graph = point.capture->graph;
  if (dependencies != nullptr) *dependencies = point.after.data();
  if (count != nullptr) *count = point.after.size();
  return cudaSuccess;
}

cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  if (const cudaError_t error = simt::enter(SIMT_CALLER)) return error;
  if (mode == nullptr || *mode < cudaStreamCaptureModeGlobal ||
      *mode > cudaStreamCaptureModeRelaxed) {
    return simt::failed(cudaErrorInvalidValue);
  }
  std::swap(*mode, simt::captures().mode_of_thread);
  return cudaSuccess;
}
