// What the CPU device takes from the environment. This is the only place that reads it.
#pragma once

#include <cstdint>
#include <optional>

#include "simt/testing.hpp"

namespace simt {

struct Environment {
  std::optional<std::uint64_t> seed;  // SIMT_SEED
  int devices = 2;                    // SIMT_DEVICES
  bool peer_access = true;            // SIMT_PEER_ACCESS
  bool host_atomics = false;          // SIMT_HOST_ATOMICS
  TraceSettings trace;  // SIMT_TRACE, which may be empty, and SIMT_TRACE_KERNEL and so on
};

/// Reads the variables at the first call. One that cannot be used, or whose name begins with SIMT_
/// and is no setting, ends the program with a message.
const Environment& environment();

}  // namespace simt
