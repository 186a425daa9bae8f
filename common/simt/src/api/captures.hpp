// Streams that capture: what they are given becomes nodes of a graph.
#pragma once

#include <memory>
#include <vector>

#include "api/graphs.hpp"
#include "api/queues.hpp"

namespace simt {

/// From cudaStreamBeginCapture to cudaStreamEndCapture, with the streams that have joined it.
struct Capture {
  CUgraph_st* graph;
  CUstream_st* origin;
  cudaStreamCaptureMode mode;
  unsigned long long id;
  bool invalidated = false;
  std::vector<CUstream_st*> streams;
};

inline bool is_capturing(const CUstream_st& stream) { return stream.captured.capture != nullptr; }

/// May the stream be given work? Refused to a capture that has failed, and to the legacy default
/// stream while a blocking stream captures; that invalidates the capture.
cudaError_t check_work(const CUstream_st& stream);
/// Makes it a node, after all that the stream has captured so far.
cudaError_t capture_work(CUstream_st& stream, NodeWork work);
/// For calls that a capture forbids while it lasts, such as cudaMalloc and cudaMemcpy, unless its
/// mode is relaxed: an error, and the capture is invalid.
cudaError_t check_unsafe();
/// For calls that wait for a stream, or ask whether it has ended.
cudaError_t check_wait(const CUstream_st& stream);
cudaError_t check_wait(int device);
cudaError_t check_wait(const CapturePoint& event);
/// Makes the stream wait for an event that a capture knows, which may make it part of the capture.
cudaError_t capture_wait(CUstream_st& stream, const CapturePoint& event);
/// A destroyed stream leaves its capture: at the end its work must have been waited for. The one that
/// began it takes the capture along.
void leave_capture(CUstream_st& stream);

void forget_captures();

}  // namespace simt
