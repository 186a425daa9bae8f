// How fast can n pairs of a key and a value be stored in a hash table?
// Rungs: cas_anywhere (the limit: no probing, so no table), insert_linear, insert_tiles.
// A pair is one 64-bit word, so that one atomicCAS stores key and value together.
#pragma once

#include <cooperative_groups.h>

#include <cstddef>

#include "grid.cuh"

using ull = unsigned long long;

/// What a slot holds before a pair is stored there. No pair has this key.
constexpr ull kEmptyPair = ~0ull;

__host__ __device__ inline unsigned key_of(ull pair) { return static_cast<unsigned>(pair >> 32); }
__host__ __device__ inline unsigned value_of(ull pair) { return static_cast<unsigned>(pair); }
__host__ __device__ inline ull pair_of(unsigned key, unsigned value) {
  return static_cast<ull>(key) << 32 | value;
}

/// Different keys have different numbers, without a pattern (the finalizer of MurmurHash3).
__host__ __device__ inline unsigned mixed(unsigned key) {
  key = (key ^ key >> 16) * 0x85EB'CA6Bu;
  key = (key ^ key >> 13) * 0xC2B2'AE35u;
  return key ^ key >> 16;
}

/// The slot of 0 to capacity - 1 where a key's search begins. Larger mixed keys have larger slots.
__host__ __device__ inline unsigned slot_of(unsigned key, unsigned capacity) {
  return static_cast<unsigned>(static_cast<ull>(mixed(key)) * capacity >> 32);
}

// Question: how many compare-and-swaps per second at random addresses, if none is repeated?
// Changes:  the limit, not a table: pairs whose slot is taken are dropped.
// Cost:     one 64-bit compare-and-swap per pair, at a random address.
__global__ void cas_anywhere(const ull* d_pairs, std::size_t n, ull* d_table, unsigned capacity) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) atomicCAS(&d_table[slot_of(key_of(d_pairs[i]), capacity)], kEmptyPair, d_pairs[i]);
}

/// Stores `pair` unless its key is there: in the key's slot, or in the next one that is empty. The
/// table must have an empty slot for it.
__device__ inline void insert(ull pair, ull* d_table, unsigned capacity) {
  unsigned slot = slot_of(key_of(pair), capacity);
  for (;;) {
    const ull found = atomicCAS(&d_table[slot], kEmptyPair, pair);
    if (found == kEmptyPair || key_of(found) == key_of(pair)) return;
    slot = slot + 1 < capacity ? slot + 1 : 0;
  }
}

// Question: and with probing?
// Changes:  a pair whose slot has another key goes on to the next slot, usually in the same sector.
// Cost:     at load 0.5 on average 1.5 compare-and-swaps per pair; the warp waits for its slowest lane.
__global__ void insert_linear(const ull* d_pairs, std::size_t n, ull* d_table, unsigned capacity) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) insert(d_pairs[i], d_table, capacity);
}

// Question: can several lanes look for one pair's slot together?
// Changes:  a tile of kTile lanes takes its lanes' pairs one after the other: it loads kTile
//           neighbouring slots in one access, votes, and one lane tries the first empty slot.
// Cost:     one load and one compare-and-swap per pair even where many slots are taken; but each
//           pair occupies kTile lanes.
template <unsigned kTile>
__global__ void insert_tiles(const ull* d_pairs, std::size_t n, ull* d_table, unsigned capacity) {
  namespace cg = cooperative_groups;
  const auto tile = cg::tiled_partition<kTile>(cg::this_thread_block());
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const ull mine = i < n ? d_pairs[i] : kEmptyPair;
  for (unsigned turn = 0; turn < kTile; ++turn) {
    const ull pair = tile.shfl(mine, static_cast<int>(turn));
    if (pair == kEmptyPair) continue;  // past the end: all lanes of the tile agree
    // The tile's slots begin at a multiple of kTile where they can, so that they share a sector.
    const unsigned begin = slot_of(key_of(pair), capacity);
    unsigned window = begin - begin % kTile, first = begin % kTile;
    for (bool done = false; !done;) {
      const unsigned lane = tile.thread_rank(), slot = window + lane;
      const bool is_ours = slot < capacity && lane >= first;
      const ull found = is_ours ? *static_cast<volatile ull*>(&d_table[slot]) : 0;
      if (tile.any(is_ours && found != kEmptyPair && key_of(found) == key_of(pair))) break;
      const unsigned empty = tile.ballot(is_ours && found == kEmptyPair);
      if (empty == 0) {
        first = 0;
        window = window + kTile < capacity ? window + kTile : 0;
        continue;
      }
      const int leader = __ffs(static_cast<int>(empty)) - 1;
      ull before = 0;
      if (lane == static_cast<unsigned>(leader)) {
        before = atomicCAS(&d_table[slot], kEmptyPair, pair);
      }
      before = tile.shfl(before, leader);
      done = before == kEmptyPair || key_of(before) == key_of(pair);
    }
  }
}

// Question: is every pair where a search finds it?
// Changes:  nothing is stored: looks from the key's slot on until the key or an empty slot comes.
// Cost:     loads instead of atomics.
__global__ void count_found(const ull* d_pairs, std::size_t n, const ull* d_table,
                            unsigned capacity, ull* d_found) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned slot = slot_of(key_of(d_pairs[i]), capacity);
  for (unsigned step = 0; step < capacity && d_table[slot] != kEmptyPair; ++step) {
    if (key_of(d_table[slot]) == key_of(d_pairs[i])) {
      if (d_table[slot] == d_pairs[i]) atomicAdd(d_found, 1ull);
      return;
    }
    slot = slot + 1 < capacity ? slot + 1 : 0;
  }
}
