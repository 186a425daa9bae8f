// The rungs of this chapter that sum an array over several devices, each named once. ladder.cu
// times them, selfcheck.cu and counts.cu prove what is said of them.
#pragma once

#include <course/devices.cuh>
#include <course/host_memory.cuh>
#include <course/rungs.cuh>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "counter.cuh"
#include "host_sums.cuh"
#include "parts.cuh"
#include "reproducible.cuh"

/// An array of n floats over devices, which repeats a table, and pinned memory for sums: one for
/// each device or, of shares in whole chunks, for each chunk.
struct Spread {
  Spread(std::size_t n, int devices, const std::vector<float>& table, bool in_chunks = false)
      : parts(make_parts(n, devices, in_chunks ? share_in_chunks : share_of)),
        cells(in_chunks ? chunks_of(n) : parts.size()) {
    fill(parts, table);
  }
  std::vector<Part> parts;
  course::PinnedBuffer<double> cells;
};

/// The devices' sums meet on the host.
struct HostRung {
  std::string name, changed;
  double (*sum)(std::vector<Part>& parts, course::PinnedBuffer<double>& cells);
  bool in_chunks = false;  // shares are whole chunks
};

inline const std::vector<HostRung> kHostRungs = {
    {"sum_chunks_to_host", "the same bits on every number of devices", sum_chunks_to_host, true},
    {"sum_copied_to_host", "each device's sum, copied", sum_copied_to_host},
    {"sum_stored_to_host", "stored there by the kernel", sum_stored_to_host},
};

/// A number that all devices reach, and what keeps it.
struct Counter {
  std::shared_ptr<void> owner;
  double* data;
};

/// sum_one_counter with a counter in some memory.
struct CounterRung {
  std::string name, changed;
  bool (*has_atomics)(int devices);
  std::string why_not;  // where it has none
  Counter (*make)(int devices);

  /// The sum of all parts.
  double sum(const std::vector<Part>& parts, double* counter) const {
    double sum = 0;
    sum_one_counter<Among::system>(parts, counter);
    CUDA_CHECK(cudaMemcpy(&sum, counter, sizeof sum, cudaMemcpyDefault));
    return sum;
  }
};

/// *counter = 0, in any memory. cudaMemcpy may return before the data has arrived, and only the
/// current device's kernels wait for that.
inline void set_to_zero(double* counter) {
  const double zero = 0;
  CUDA_CHECK(cudaMemcpy(counter, &zero, sizeof zero, cudaMemcpyDefault));
  CUDA_CHECK(cudaDeviceSynchronize());
}

template <class Buffer>
Counter counter_in(int) {
  const auto buffer = std::make_shared<Buffer>(1);
  return {buffer, buffer->data()};
}

inline const std::vector<CounterRung> kCounterRungs = {
    {"sum_managed_counter", "one counter, atomicAdd_system; managed", managed_memory_has_atomics,
     "devices cannot use managed memory at the same time here",
     counter_in<course::ManagedBuffer<double>>},
    {"sum_peer_counter", "the counter in device 0's memory",
     [](int devices) { return peer_memory_has_atomics(0, devices); },
     "the links between the devices carry no atomics here",
     [](int devices) -> Counter {
       struct OfDevice0 {
         explicit OfDevice0(int devices) : access(0, devices) {}
         PeerAccess access;
         course::DeviceBuffer<double> buffer{1};
       };
       const auto memory = std::make_shared<OfDevice0>(devices);
       return {memory, memory->buffer.data()};
     }},
    {"sum_pinned_counter", "the counter in pinned host memory", host_memory_has_atomics,
     "the link to the host carries no atomics here: see below",
     counter_in<course::PinnedBuffer<double>>},
};
