// What the queues share: the streams with what they were given, and which of them goes next.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "api/queues.hpp"
#include "memory/devices.hpp"

namespace simt {

// ---- state --------------------------------------------------------------------------------------

/// What is left of the streams of a device that are destroyed.
struct Destroyed {
  StreamClock all, blocking;
};

struct Queues {
  std::uint64_t operations = 0;
  std::uint64_t done = 1;  // operations, of which a kernel that was put off may notice one
  bool host_asks = false;  // it waits for nothing, and goes on after this operation
  Placement host{kEveryDevice, 0, kHostEntry, {}};  // its clock: what it knows to be done
  StreamClock work;     // of each stream the last operation that touches memory
  StreamClock awaited;  // what the host will know when the call that runs operations returns
  std::array<Destroyed, kMostDevices> destroyed;
  std::vector<CUstream_st*> streams;  // oldest first: those of default_stream(), then the program's
  // Destroyed streams stay allocated: a stale handle never becomes a valid one again.
  std::vector<std::unique_ptr<CUstream_st>> all_streams;

  Queues() {
    for (int device = 0; device < kMostDevices; ++device) {
      add(CUstream_st::Kind::legacy, device);
      add(CUstream_st::Kind::blocking, device);
    }
  }
  CUstream_st* add(CUstream_st::Kind kind, int device) {
    const auto number = kHostEntry + 1 + static_cast<unsigned>(all_streams.size());
    all_streams.push_back(
        std::make_unique<CUstream_st>(CUstream_st{kind, device, number, {}, {}, {}, 0, {}}));
    streams.push_back(all_streams.back().get());
    return streams.back();
  }
};

Queues& all_queues();

// ---- who goes next ------------------------------------------------------------------------------

inline bool busy(const CUstream_st* stream) { return !stream->queue.empty(); }

/// The legacy default stream and all blocking streams of its device wait for each other's earlier
/// operations.
bool orders(const CUstream_st& a, const CUstream_st& b);
/// The stream itself, or the one that must advance first.
CUstream_st* first_to_run(CUstream_st& stream);
/// True if nothing has been done since it was put off: it would find the same.
bool finds_the_same(const Operation& o);
/// A stream whose first operation may run; running it brings `wanted` closer to its end. Kernels that wait for others come
/// after them.
CUstream_st* choose(CUstream_st& wanted);

}  // namespace simt
