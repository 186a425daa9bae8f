// A launch from its first thread to its last.
#pragma once

#include "kernel/engine.hpp"

namespace simt {

/// Runs every thread of a launch to its end, then hands its reports to the handler. Returns a
/// cudaError_t: 0, or the sticky error of what stopped the kernel; or kPutOff. Must not be called from a
/// kernel.
int run_launch(const Launch& launch, const Placement& placement);

}  // namespace simt
