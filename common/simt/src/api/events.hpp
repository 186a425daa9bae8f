// Events, as queues and graphs use them.
#pragma once

#include <vector>

#include "simt/api.hpp"
#include "simt/testing.hpp"

namespace simt {

bool is_event(cudaEvent_t event);
/// What a node of a graph does: an event that has been destroyed since is left out.
void record_in(CUstream_st& queue, cudaEvent_t event);
void wait_in(CUstream_st& queue, cudaEvent_t event);
/// All events are as before their first cudaEventRecord.
void forget_records();
/// Adds all events to a list.
void list_events(std::vector<Holding>& list);

}  // namespace simt
