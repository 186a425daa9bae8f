// The rungs of this chapter, each named once. ladder.cu times them, selfcheck.cu, races.cu and
// counts.cu prove what is said of them. Of those that need NCCL, a build
// without it has the names alone, and says that it skips them.
#pragma once

#include <course/devices.cuh>
#include <course/host_memory.cuh>
#include <course/rungs.cuh>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "count.cuh"
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

/// The same by the first device alone.
inline const HostRung kOneDeviceRung = {"sum_one_device", "one device has all of it",
                                        sum_copied_to_host};

/// A number that all devices reach, and what keeps it.
struct Counter {
  std::shared_ptr<void> owner;
  double* data;
};

/// What a counter in any memory holds.
inline double value_of(const double* counter) {
  double value = 0;
  CUDA_CHECK(cudaMemcpy(&value, counter, sizeof value, cudaMemcpyDefault));
  return value;
}

/// sum_one_counter with a counter in some memory.
struct CounterRung {
  std::string name, changed;
  bool (*has_atomics)(int devices);
  std::string why_not;  // where it has none
  Counter (*make)(int devices);

  /// The sum of all parts.
  double sum(const std::vector<Part>& parts, double* counter) const {
    sum_one_counter<Among::system>(parts, counter);
    return value_of(counter);
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

/// A counter in device 0's memory, which the other devices may use as long as it lives.
inline Counter counter_of_device_0(int devices) {
  struct OfDevice0 {
    explicit OfDevice0(int devices) : access(0, devices) {}
    PeerAccess access;
    course::DeviceBuffer<double> buffer{1};
  };
  const auto memory = std::make_shared<OfDevice0>(devices);
  return {memory, memory->buffer.data()};
}

inline bool device_0_has_atomics(int devices) { return peer_memory_has_atomics(0, devices); }

inline const std::vector<CounterRung> kCounterRungs = {
    {"sum_managed_counter", "one counter, atomicAdd_system; managed", managed_memory_has_atomics,
     "devices cannot use managed memory at the same time here",
     counter_in<course::ManagedBuffer<double>>},
    {"sum_peer_counter", "the counter in device 0's memory", device_0_has_atomics,
     "the links between the devices carry no atomics here", counter_of_device_0},
    {"sum_pinned_counter", "the counter in pinned host memory", host_memory_has_atomics,
     "the link to the host carries no atomics here: see below",
     counter_in<course::PinnedBuffer<double>>},
};

// ---- with NCCL ---------------------------------------------------------------------------------

struct NcclRung {
  std::string name, changed;
  int chunks = 1;  // of a vector
};

inline const NcclRung kNcclSum = {"sum_nccl",
                                  "ncclAllReduce of the devices' sums: all of them get it"};
inline const NcclRung kNcclAllReduce = {"all_reduce_nccl", "one process"};
inline const NcclRung kNcclInTurn = {"all_reduce_in_turn", "sum the 8, then ncclAllReduce"};
inline const std::vector<NcclRung> kNcclOverlapped = {
    {"all_reduce_overlapped", "2 chunks, in two streams", 2},
    {"all_reduce_overlapped", "4 chunks, in two streams", 4},
    {"all_reduce_overlapped", "8 chunks, in two streams", 8},
    {"all_reduce_overlapped", "16 chunks, in two streams", 16},
};

// ---- one counter, many atomics -----------------------------------------------------------------

/// Every block of the devices adds 1 to a counter, kCountsOfABlock times.
struct CountRung {
  std::string name, changed;
  bool (*is_right)(int devices);  // where it is
  Counter (*make)(int devices);
  void (*launch)(int devices, unsigned blocks, double* counter);
  bool in_host_memory = false;  // is the counter
  bool one_device = false;      // only the first of them counts
  std::string because = {};     // it races where it is not right; empty: it cannot run there
};

inline const std::vector<CountRung> kCountRungs = {
    {.name = "count_pinned_one_device",
     .changed = "pinned host memory, one device",
     .is_right = host_memory_has_atomics,
     .make = counter_in<course::PinnedBuffer<double>>,
     .launch = count_everywhere<Among::system>,
     .in_host_memory = true,
     .one_device = true},
    {.name = "count_managed",
     .changed = "managed memory, all devices",
     .is_right = managed_memory_has_atomics,
     .make = counter_in<course::ManagedBuffer<double>>,
     .launch = count_everywhere<Among::system>},
    {.name = "count_peer",
     .changed = "device 0's memory, all devices",
     .is_right = device_0_has_atomics,
     .make = counter_of_device_0,
     .launch = count_everywhere<Among::system>},
    {.name = "count_device_scope",
     .changed = "managed memory, all devices, but atomicAdd",
     .is_right = [](int devices) { return devices == 1; },
     .make = counter_in<course::ManagedBuffer<double>>,
     .launch = count_everywhere<Among::device>,
     .because = "atomicAdd is atomic among the threads of one device; right values are luck"},
    {.name = "count_pinned",
     .changed = "pinned host memory, all devices",
     .is_right = host_memory_has_atomics,
     .make = counter_in<course::PinnedBuffer<double>>,
     .launch = count_everywhere<Among::system>,
     .in_host_memory = true,
     .because = "cudaDevAttrHostNativeAtomicSupported is 0: the link has no atomics, so a device "
                "loads, adds and stores"},
};

// ---- the same bits on every number of devices --------------------------------------------------

/// The sum of an array in any number of parts.
struct PartsRung {
  std::string name, changed;
  double (*sum)(const std::vector<float>& h_x, int parts);
  std::string because = {};  // not empty: the bits depend on the number of parts
};

inline const std::vector<PartsRung> kPartsRungs = {
    {"sum_in_shares", "a part is n / parts elements", sum_in_shares,
     "which elements meet in a float depends on the number of parts"},
    {"sum_in_chunks", "a part is whole chunks; the chunks' sums in their order; with all copies",
     sum_in_chunks},
};
