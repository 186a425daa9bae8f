#pragma once

#include <vector>

#include "simt/testing.hpp"

namespace simt {

/// All events are as before their first cudaEventRecord.
void forget_records();
/// Adds all events to a list.
void list_events(std::vector<Holding>& list);

}  // namespace simt
