// What a trace keeps of the launch that runs, until it has ended.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "kernel/thread.hpp"
#include "trace/values.hpp"

namespace simt {

enum class Op : unsigned char {
  load,
  store,
  atomic,
  shuffle,
  vote,
  reduce,
  match,
  activemask,
  syncwarp,
  barrier,
  cluster_barrier,
  fence,
  leave
};
constexpr std::array<const char*, 13> kOpNames = {
    "load",       "store",    "atomic",  "shuffle",         "vote",  "reduce", "match",
    "activemask", "syncwarp", "barrier", "cluster_barrier", "fence", "return"};
constexpr const char* name_of(Op op) { return kOpNames[static_cast<std::size_t>(op)]; }

using Column = std::vector<Value>;  // a value per lane of an event, or nothing

/// An element of an array that an event touched.
struct Place {
  std::uint32_t array;
  std::int64_t offset;  // bytes from the array's first element
};

constexpr int kNoSource = -1;

/// One instruction of one warp.
struct Event {
  Op op;
  std::uint32_t block, warp, lanes;
  const char* name;
  std::vector<const void*> callers;  // return addresses, the innermost first
  std::uint32_t mask = 0;            // 0: none
  std::vector<Place> places;
  std::uint32_t bytes = 0, cost = 0;
  bool shared = false;
  Column values, old, given, expected;
  std::vector<int> sources;

  /// The index of a lane's values in the columns.
  unsigned slot(unsigned lane) const {
    return static_cast<unsigned>(__builtin_popcount(lanes & ((1u << lane) - 1)));
  }
};

constexpr std::uint32_t kEveryBlock = ~std::uint32_t{0};

/// Something in memory that an event touched. A __shared__ variable is one array, although every
/// block has its own; in a launch with clusters, whose blocks reach each other's, it is one per block.
struct Array {
  const void* key;
  std::uint32_t block;       // whose shared memory; kEveryBlock for all other arrays
  const Allocation* memory;  // null for shared memory, which other blocks will use
  std::string name;
  ElementType element;
  std::size_t elements;
  unsigned offset;  // of the first element, from a multiple of 128 bytes on
};

struct Recording {
  std::vector<Event> events;
  std::vector<Array> arrays;
  unsigned blocks_ended = 0;
  bool active = false;  // until the launch ends
  bool full = false;    // there were more events than the settings allow

  // The store that the running lane makes next. Its value is in memory afterwards.
  std::uint32_t store_event = kNoEvent;
  unsigned store_slot = 0;
  std::uintptr_t store_address = 0;
  std::size_t store_size = 0;
  Value before_store;
};

}  // namespace simt
