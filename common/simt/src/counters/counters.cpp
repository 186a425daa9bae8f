// What one request costs: 32-byte sectors of global memory, wavefronts of shared memory.
#include "counters/counters.hpp"
#include "base/early.hpp"

#include <algorithm>
#include <array>

namespace simt {

Counters counted;

namespace {

SIMT_EARLY std::vector<KernelCounters> kernels;

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
/// wavefronts. Accesses of 8 bytes are served by half warps, those of 16 by quarter warps.
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

}  // namespace

Counters difference(const Counters& now, const Counters& before) {
  Counters result = now;
  for (const Counter& counter : kCounters) {
    if (counter.merge == Merge::sum) result.*counter.value -= before.*counter.value;
  }
  return result;
}

void count_launch(const std::string& kernel, const Counters& before) {
  auto known = std::find_if(kernels.begin(), kernels.end(),
                            [&](const KernelCounters& k) { return k.kernel == kernel; });
  if (known == kernels.end()) known = kernels.insert(known, {kernel, Counters{}});
  for (const Counter& counter : kCounters) {
    if (counter.merge != Merge::sum) continue;
    known->counters.*counter.value += counted.*counter.value - before.*counter.value;
  }
}

const std::vector<KernelCounters>& counted_by_kernel() { return kernels; }

void begin_counting() {
  for (const Counter& counter : kCounters) {
    if (counter.merge == Merge::maximum) counted.*counter.value = 0;
  }
  kernels.clear();
}

unsigned count_request(Block& block, Warp& warp, const Parked* const* lanes, unsigned n) {
  Counters& c = counted;
  const Parked& first = *lanes[0];
  if (first.shared) {
    c.busiest_warp_shared_requests =
        std::max(c.busiest_warp_shared_requests, ++warp.shared_requests);
  }
  if (first.kind == AccessKind::atomic) {
    (first.shared ? c.shared_atomics : c.global_atomics) += 1;
    (first.shared ? c.shared_atomic_lanes : c.global_atomic_lanes) += n;
    const unsigned addresses = distinct_addresses(lanes, n);
    (first.shared ? c.shared_atomic_addresses : c.global_atomic_addresses) += addresses;
    return addresses;
  }
  const bool load = is_load(first.kind);
  if (first.shared) {
    (load ? c.shared_loads : c.shared_stores) += 1;
    const unsigned cost = wavefronts(lanes, n);
    (load ? c.shared_load_wavefronts : c.shared_store_wavefronts) += cost;
    return cost;
  }
  (load ? c.global_loads : c.global_stores) += 1;
  const unsigned moved = sectors(lanes, n);
  (load ? c.global_load_sectors : c.global_store_sectors) += moved;
  (load ? c.global_load_lanes : c.global_store_lanes) += n;
  c.busiest_warp_requests = std::max(c.busiest_warp_requests, ++warp.requests);
  c.busiest_block_requests = std::max(c.busiest_block_requests, ++block.requests);
  return moved;
}

void count_at_once(unsigned devices, unsigned kernels) {
  counted.devices_at_once = std::max<std::uint64_t>(counted.devices_at_once, devices);
  counted.kernels_at_once = std::max<std::uint64_t>(counted.kernels_at_once, kernels);
}

}  // namespace simt
