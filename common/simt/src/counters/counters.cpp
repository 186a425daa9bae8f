// What one request costs: 32-byte sectors of global memory, wavefronts of shared memory.
#include "counters/counters.hpp"
#include "base/early.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "memory/names.hpp"
#include "report/source_lines.hpp"

namespace simt {

Counters counted;

namespace {

SIMT_EARLY std::vector<KernelCounters> kernels;

/// The requests of one instruction on one array.
struct Instruction {
  const void* pc = nullptr;
  std::string array;
  Counters counters;
};
/// By the address of the instruction and what tells its arrays apart: of the launch that runs, and of those before it.
using Instructions = std::map<std::pair<const void*, std::uintptr_t>, Instruction>;
SIMT_EARLY Instructions instructions_of_launch;
SIMT_EARLY std::vector<Instruction> instructions;

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

/// Where the requests of an instruction on the array at its address are counted.
Counters& counters_of(const Parked& p) {
  // Each block has shared memory of its own, and the instruction is the same.
  const Allocation* const a = p.shared ? nullptr : named_by(p.address);
  Instruction& found = instructions_of_launch[{p.pc, a == nullptr ? 0 : a->begin}];
  if (found.pc == nullptr) found = {p.pc, object_at(p.address), {}};
  return found.counters;
}

/// One request more, of n lanes, that costs so much.
void add_request(Counters& c, const Parked& first, unsigned n, unsigned cost) {
  if (first.kind == AccessKind::atomic) {
    (first.shared ? c.shared_atomics : c.global_atomics) += 1;
    (first.shared ? c.shared_atomic_lanes : c.global_atomic_lanes) += n;
    (first.shared ? c.shared_atomic_addresses : c.global_atomic_addresses) += cost;
    return;
  }
  const bool load = is_load(first.kind);
  if (first.shared) {
    (load ? c.shared_loads : c.shared_stores) += 1;
    (load ? c.shared_load_wavefronts : c.shared_store_wavefronts) += cost;
    return;
  }
  (load ? c.global_loads : c.global_stores) += 1;
  (load ? c.global_load_sectors : c.global_store_sectors) += cost;
  (load ? c.global_load_lanes : c.global_store_lanes) += n;
}

void add_sums(Counters& to, const Counters& more) {
  for (const Counter& counter : kCounters) {
    if (counter.merge == Merge::sum) to.*counter.value += more.*counter.value;
  }
}

/// Adds what instructions of the launch have done to what they did before.
void keep_instructions() {
  for (auto& [key, more] : instructions_of_launch) {
    const auto known = std::find_if(
        instructions.begin(), instructions.end(),
        [&](const Instruction& i) { return i.pc == more.pc && i.array == more.array; });
    if (known == instructions.end()) {
      instructions.push_back(std::move(more));
    } else {
      add_sums(known->counters, more.counters);
    }
  }
  instructions_of_launch.clear();
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
  add_sums(known->counters, difference(counted, before));
  keep_instructions();
}

void forget_launch(const Counters& before) {
  counted = before;
  instructions_of_launch.clear();
}

const std::vector<KernelCounters>& counted_by_kernel() { return kernels; }

void begin_counting() {
  for (const Counter& counter : kCounters) {
    if (counter.merge == Merge::maximum) counted.*counter.value = 0;
  }
  kernels.clear();
  instructions.clear();
}

std::vector<LineCounters> counted_by_line() {
  std::vector<LineCounters> lines;
  for (const Instruction& i : instructions) {
    const std::string line = source_line(i.pc).text();
    const auto known = std::find_if(lines.begin(), lines.end(), [&](const LineCounters& l) {
      return l.line == line && l.array == i.array;
    });
    if (known == lines.end()) {
      lines.push_back({line, i.array, i.counters});
    } else {
      add_sums(known->counters, i.counters);
    }
  }
  return lines;
}

unsigned count_request(Block& block, Warp& warp, const Parked* const* lanes, unsigned n) {
  Counters& c = counted;
  const Parked& first = *lanes[0];
  const bool is_atomic_request = first.kind == AccessKind::atomic;
  const unsigned cost = is_atomic_request ? distinct_addresses(lanes, n)
                        : first.shared    ? wavefronts(lanes, n)
                                          : sectors(lanes, n);
  add_request(c, first, n, cost);
  add_request(counters_of(first), first, n, cost);
  if (first.shared) {
    c.busiest_warp_shared_requests =
        std::max(c.busiest_warp_shared_requests, ++warp.shared_requests);
  } else if (!is_atomic_request) {
    c.busiest_warp_requests = std::max(c.busiest_warp_requests, ++warp.requests);
    c.busiest_block_requests = std::max(c.busiest_block_requests, ++block.requests);
  }
  return cost;
}

void count_at_once(unsigned devices, unsigned kernels) {
  counted.devices_at_once = std::max<std::uint64_t>(counted.devices_at_once, devices);
  counted.kernels_at_once = std::max<std::uint64_t>(counted.kernels_at_once, kernels);
}

}  // namespace simt
