// What launches did, in numbers: the counters of counters.def as a struct, and as a table. It is plain C++ and
// needs no other header of this folder: course/device.cuh includes it for a GPU, too, where nothing is counted.
#pragma once

#include <cstdint>

namespace simt {

/// What the launches inside a CountScope did.
struct Counters {
#define SIMT_COUNTER(name, unit, merge, reported_as, what, costs) std::uint64_t name = 0;
#include "counters.def"
#undef SIMT_COUNTER

  /// 32-byte sectors that one load or store of global memory touches, on average: 4 when 32 lanes
  /// read consecutive floats, 32 when they are far apart. 0 if there was no access.
  double sectors_per_request() const {
    const std::uint64_t requests = global_loads + global_stores;
    return requests == 0 ? 0.0
                         : static_cast<double>(global_load_sectors + global_store_sectors) /
                               static_cast<double>(requests);
  }
  /// Wavefronts of shared memory beyond the first of each request: 0 means no bank conflict.
  std::uint64_t bank_conflicts() const {
    return shared_load_wavefronts + shared_store_wavefronts - shared_loads - shared_stores;
  }
};

/// How the values of several launches become one.
enum class Merge { sum, maximum };

/// An entry of counters.def. The pointer's type has a name: nvcc would warn of its parentheses.
using CounterValue = std::uint64_t Counters::*;
struct Counter {
  const char* name;
  CounterValue value;
  Merge merge;
  const char* reported_as;
  const char* what;
  const char* costs;
};

inline constexpr Counter kCounters[] = {
#define SIMT_COUNTER(name, unit, merge, reported_as, what, costs) \
  {#name, &Counters::name, Merge::merge, reported_as, what, costs},
#include "counters.def"
#undef SIMT_COUNTER
};

}  // namespace simt
