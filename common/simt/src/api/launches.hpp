#pragma once

#include "api/queues.hpp"
#include "simt/api.hpp"

namespace simt {

/// Makes a launch, whose configuration is there, one of the kernel at an address.
cudaError_t bind_kernel(Launch& launch, const void* function, void** arguments);
/// Success if a device has room for such a launch. Fills in how many of its blocks are resident at
/// most.
cudaError_t check_configuration(Launch& launch);
/// Queues a launch that has been checked.
void queue_kernel(CUstream_st& stream, Launch launch);

/// No kernel may use more than 48 KiB of dynamic shared memory any more.
void forget_grants();

}  // namespace simt
