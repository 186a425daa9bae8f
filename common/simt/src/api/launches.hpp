// Launches on their way from the program to a queue.
#pragma once

#include "api/queues.hpp"
#include "simt/api.hpp"
#include "simt/launch.hpp"
#include "simt/launch_types.hpp"

namespace simt {

/// Gives a launch its kernel and arguments. `texts` is what messages call the arguments: "a, b.data()".
void bind_values(Launch& launch, const ClosureType& type, const char* texts,
                 const void* const* values);
/// Queues a launch. A bad configuration is returned, and becomes the last error, as with CUDA.
cudaError_t enqueue_launch(Launch launch, cudaStream_t stream, const void* caller);
/// Makes a launch, whose configuration is there, one of the kernel at an address.
cudaError_t bind_kernel(Launch& launch, const void* function, void** arguments);
/// What __cluster_dims__ says of the kernel that is launched by this text; null if it says nothing.
const ClusterDims* declared_cluster(const std::string& launched);
/// Success if a device has room for such a launch. Fills in how many of its blocks are resident at
/// most.
cudaError_t check_configuration(Launch& launch);
/// Queues a launch that has been checked.
void queue_kernel(CUstream_st& stream, Launch launch);

/// No kernel may use more than 48 KiB of dynamic shared memory any more.
void forget_grants();

}  // namespace simt
