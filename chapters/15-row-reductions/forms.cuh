// Which team for which row? What was measured on an H200, for rows of any length.
#pragma once

#include <course/device.cuh>
#include <cstddef>

#include "teams.cuh"

/// A thread keeps no more than 32 elements, of 16 bytes at a time.
template <class T>
constexpr unsigned kMostPacks = 32 / kPack<T>;

/// The longest row, in packs, that a block keeps, and a cluster of eight.
template <class T>
constexpr std::size_t kPacksOfLargestBlock = std::size_t{1024} * kMostPacks<T>;
template <class T>
constexpr std::size_t kPacksOfLargestCluster =
    course::kMostBlocksOfCluster* kPacksOfLargestBlock<T>;

/// True if a team of this device can keep a row of `width` elements.
template <class T>
bool can_be_kept(std::size_t width) {
  return width / kPack<T> <=
         (course::has_clusters() ? kPacksOfLargestCluster<T> : kPacksOfLargestBlock<T>);
}

/// Calls use.operator()<FormT>() with the form for rows of `width` elements that are kept in registers, of which
/// can_be_kept().
template <class T, class Use>
void with_keeping_form(std::size_t width, Use use) {
  constexpr unsigned kMost = kMostPacks<T>;
  constexpr bool kFull = true, kAhead = true;
  constexpr auto kNoHint = course::CacheHint::none;
  const std::size_t packs = width / kPack<T>;
  if constexpr (sizeof(T) ==
                2) {  // two rows of an SM have as many bytes in flight as one of floats
    if (packs == kPacksOfLargestBlock<T>) {
      return use
          .template operator()<Form<BlockTeam<512>, 2 * kMost, 1, kFull, !kAhead, kNoHint, 2>>();
    }
    if (packs > 1024 && packs < kPacksOfLargestBlock<T>) {
      return use.template operator()<Form<BlockTeam<512>, 2 * kMost>>();
    }
  }
  if (packs <= 8) {
    use.template operator()<Form<LaneTeam<4, 128>, 2, 1, !kFull, !kAhead, kNoHint, 12>>();
  } else if (packs <= 16) {
    use.template operator()<Form<LaneTeam<8>, 2, 2>>();
  } else if (packs <= 64) {
    use.template operator()<Form<LaneTeam<32>, 2>>();
  } else if (packs <= 32 * kMost) {
    use.template operator()<Form<LaneTeam<32, sizeof(T) == 2 ? 64 : 256>, kMost>>();
  } else if (packs <= 512) {
    use.template operator()<Form<BlockTeam<128>, 4>>();
  } else if (packs <= 1024) {
    use.template operator()<Form<BlockTeam<256>, 4>>();
  } else if (packs <= 4096) {
    use.template operator()<Form<BlockTeam<1024>, 4>>();
  } else if (packs < kPacksOfLargestBlock<T>) {
    use.template operator()<Form<BlockTeam<1024>, kMost>>();
  } else if (packs == kPacksOfLargestBlock<T>) {
    use.template operator()<Form<BlockTeam<1024>, kMost, 1, kFull>>();
  } else if (packs < kPacksOfLargestCluster<T>) {
    use.template operator()<Form<BlockTeam<512, 8>, 2 * kMost>>();
  } else {
    use.template operator()<
        Form<BlockTeam<512, 8>, 2 * kMost, 1, kFull, !kAhead, kNoHint, sizeof(T) == 2 ? 2 : 1>>();
  }
}

/// For rows that are only read: what the L2 cache has written to stays there.
template <class Team, unsigned packs, unsigned rows = 1, unsigned per_sm = 1>
using ReadingForm = Form<Team, packs, rows, false, false, course::CacheHint::read_once, per_sm>;

/// The same for rows that are only read, of any length.
template <class T, class Use>
void with_reading_form(std::size_t width, Use use) {
  const std::size_t packs = width / kPack<T>;
  if (packs <= 8) {
    use.template operator()<ReadingForm<LaneTeam<4>, 2, 2>>();
  } else if (packs <= 64) {
    use.template operator()<ReadingForm<LaneTeam<8>, 2, 2>>();
  } else if (packs <= 256) {
    use.template operator()<ReadingForm<LaneTeam<32>, kMostPacks<T>>>();
  } else if (packs <= 512) {
    use.template operator()<ReadingForm<BlockTeam<128>, 4>>();
  } else if (packs <= 2048) {
    use.template operator()<ReadingForm<BlockTeam<256>, 4>>();
  } else if (packs <= 8192) {
    use.template operator()<ReadingForm<BlockTeam<512>, 4>>();
  } else {
    use.template operator()<ReadingForm<BlockTeam<1024>, 4, 1, 2>>();
  }
}
