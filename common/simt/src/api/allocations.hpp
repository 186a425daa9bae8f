#pragma once

#include <vector>

#include "simt/testing.hpp"

namespace simt {

/// Gives back all memory that was allocated while this device was current.
void free_everything(int device);
/// Adds what is allocated to an empty list, the oldest first.
void list_memory(std::vector<Holding>& list);

}  // namespace simt
