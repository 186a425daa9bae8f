// What one request costs: 32-byte sectors of global memory, wavefronts of shared memory.
#include <algorithm>
#include <array>

#include "engine.hpp"

namespace simt {
namespace {

constexpr std::uintptr_t kSectorBytes = 32;
constexpr std::uintptr_t kBankBytes = 4;
constexpr unsigned kBanks = 32;

// The widest request is 32 lanes of 16 bytes: 512 bytes, at most 64 sectors or 128 bank words.
constexpr std::size_t kMostPieces = 512;
using Pieces = std::array<std::uintptr_t, kMostPieces>;

/// Distinct pieces of `bytes` bytes that lanes [first, last) touch, sorted.
std::size_t distinct(const Parked* const* lanes, unsigned first, unsigned last,
                     std::uintptr_t bytes, Pieces& pieces) {
  std::size_t n = 0;
  for (unsigned i = first; i < last; ++i) {
    const Parked& p = *lanes[i];
    for (std::uintptr_t q = p.address / bytes; q <= (p.address + p.size - 1) / bytes; ++q) {
      if (n < pieces.size()) pieces[n++] = q;
    }
  }
  std::sort(pieces.begin(), pieces.begin() + static_cast<std::ptrdiff_t>(n));
  return static_cast<std::size_t>(
      std::unique(pieces.begin(), pieces.begin() + static_cast<std::ptrdiff_t>(n)) -
      pieces.begin());
}

unsigned sectors(const Parked* const* lanes, unsigned n) {
  Pieces pieces;
  return static_cast<unsigned>(distinct(lanes, 0, n, kSectorBytes, pieces));
}

/// Shared memory serves one word of each bank at a time: the fullest bank sets the number of
/// passes. Accesses of 8 bytes are served by half warps, those of 16 by quarter warps.
unsigned wavefronts(const Parked* const* lanes, unsigned n) {
  const std::uint32_t size = lanes[0]->size;
  const unsigned lanes_at_once = size <= 4 ? 32 : size <= 8 ? 16 : 8;
  unsigned total = 0;
  for (unsigned first = 0; first < n; first += lanes_at_once) {
    Pieces words;
    const std::size_t count =
        distinct(lanes, first, std::min(n, first + lanes_at_once), kBankBytes, words);
    std::array<unsigned, kBanks> in_bank{};
    for (std::size_t i = 0; i < count; ++i) ++in_bank[words[i] % kBanks];
    total += *std::max_element(in_bank.begin(), in_bank.end());
  }
  return total;
}

unsigned distinct_addresses(const Parked* const* lanes, unsigned n) {
  Pieces addresses;
  for (unsigned i = 0; i < n; ++i) addresses[i] = lanes[i]->address;
  std::sort(addresses.begin(), addresses.begin() + n);
  return static_cast<unsigned>(std::unique(addresses.begin(), addresses.begin() + n) -
                               addresses.begin());
}

unsigned open_scopes = 0;

}  // namespace

unsigned count_request(Warp& warp, const Parked* const* lanes, unsigned n) {
  Counters& c = engine.counters;
  const Parked& first = *lanes[0];
  if (first.kind == AccessKind::atomic) {
    (first.shared ? c.shared_atomics : c.global_atomics) += 1;
    (first.shared ? c.shared_atomic_lanes : c.global_atomic_lanes) += n;
    const unsigned addresses = distinct_addresses(lanes, n);
    (first.shared ? c.shared_atomic_addresses : c.global_atomic_addresses) += addresses;
    return addresses;
  }
  const bool load = first.kind == AccessKind::read;
  if (first.shared) {
    (load ? c.shared_loads : c.shared_stores) += 1;
    const unsigned passes = wavefronts(lanes, n);
    (load ? c.shared_load_wavefronts : c.shared_store_wavefronts) += passes;
    return passes;
  }
  (load ? c.global_loads : c.global_stores) += 1;
  const unsigned moved = sectors(lanes, n);
  (load ? c.global_load_sectors : c.global_store_sectors) += moved;
  c.busiest_warp_requests = std::max(c.busiest_warp_requests, ++warp.requests);
  return moved;
}

void count_devices_at_once(unsigned devices) {
  std::uint64_t& most = engine.counters.devices_at_once;
  most = std::max<std::uint64_t>(most, devices);
}

CountScope::CountScope() {
  drain_all_streams();
  if (open_scopes++ == 0) {
    engine.lockstep = true;
    engine.counters.busiest_warp_requests = 0;
    engine.counters.devices_at_once = 0;
  }
  before_ = engine.counters;
}

CountScope::~CountScope() {
  drain_all_streams();
  if (--open_scopes == 0) engine.lockstep = false;
}

Counters CountScope::counters() const {
  drain_all_streams();
  Counters now = engine.counters;
  // Counters is all 64-bit counts: subtract them one by one. Only maxima have no difference.
  auto* a = reinterpret_cast<std::uint64_t*>(&now);
  auto* b = reinterpret_cast<const std::uint64_t*>(&before_);
  for (std::size_t i = 0; i < sizeof(Counters) / sizeof(std::uint64_t); ++i) a[i] -= b[i];
  now.busiest_warp_requests = engine.counters.busiest_warp_requests;
  now.devices_at_once = engine.counters.devices_at_once;
  return now;
}

}  // namespace simt
