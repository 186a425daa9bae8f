// Exercise hash_insert: count how often each key occurs, in a hash table that all threads fill.
//
// keys[s] and counts[s] are one slot. A key is searched from first_slot() on, slot after slot, and
// after the last slot comes the first one again; it is stored in the first slot that is empty.
//
// Try it: ./course check hash_insert
#pragma once

#include <course/error.cuh>
#include <course/exercise.cuh>

NOT_STARTED  // delete this line when you begin

/// What keys[s] holds while slot s is empty. No key has this number; all others may occur, 0 too.
constexpr unsigned kEmptyKey = 0xFFFF'FFFF;

/// The slot where the search for a key begins.
__host__ __device__ inline unsigned first_slot(unsigned key, unsigned capacity) {
  return (key * 2'654'435'769u ^ key >> 15) % capacity;
}

/// Adds `amount` to the count of `key`, which is stored first if the table does not have it: true.
/// If the table does not have it, and all slots have other keys: false, and nothing has changed.
/// - The table has `capacity` slots, 1 to 2^31. Empty ones have the key kEmptyKey and the count 0.
/// - Any thread of the grid may call it at any time, also with the same key.
/// - Each key is stored in one slot: from first_slot() on, the first one that was empty.
/// - Counts wrap. An amount may be 0: the key is stored nevertheless.
__device__ bool add_count(unsigned* keys, unsigned* counts, unsigned capacity, unsigned key,
                          unsigned amount) {
  // TODO(you): find the slot of the key, or store it, and add.
  (void)keys, (void)counts, (void)capacity, (void)key, (void)amount;  // delete this
  return true;
}
