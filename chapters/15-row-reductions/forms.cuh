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
  const std::size_t packs = width / kPack<T>;
  if (packs <= 8) {
    use.template operator()<Form<LaneTeam<4>, 2>>();
  } else if (packs <= 16) {
    use.template operator()<Form<LaneTeam<8>, 2, 2>>();
  } else if (packs <= 64) {
    use.template operator()<Form<LaneTeam<32>, 2>>();
  } else if (packs <= 32 * kMost) {
    use.template operator()<Form<LaneTeam<32>, kMost>>();
  } else if (packs <= 512) {
    use.template operator()<Form<BlockTeam<128>, 4>>();
  } else if (packs <= 1024) {
    use.template operator()<Form<BlockTeam<256>, 4>>();
  } else if (packs <= 4096 && packs < kPacksOfLargestBlock<T>) {
    use.template operator()<Form<BlockTeam<1024>, 4>>();
  } else if (packs < kPacksOfLargestBlock<T>) {
    use.template operator()<Form<BlockTeam<1024>, kMost>>();
  } else if (packs == kPacksOfLargestBlock<T>) {
    // Of 16-bit types a block has half as many bytes in flight: there the next row's loads help.
    if (sizeof(T) == 2 && course::has_clusters()) {
      use.template operator()<Form<BlockTeam<1024>, kMost, 1, kFull, kAhead>>();
    } else {
      use.template operator()<Form<BlockTeam<1024>, kMost, 1, kFull>>();
    }
  } else if (packs < kPacksOfLargestCluster<T>) {
    use.template operator()<Form<BlockTeam<512, 8>, 2 * kMost>>();
  } else {
    use.template operator()<Form<BlockTeam<512, 8>, 2 * kMost, 1, kFull>>();
  }
}

/// The same for rows that are only read, of any length.
template <class T, class Use>
void with_reading_form(std::size_t width, Use use) {
  const std::size_t packs = width / kPack<T>;
  if (packs <= 8) {
    use.template operator()<Form<LaneTeam<4>, 2, 2>>();
  } else if (packs <= 64) {
    use.template operator()<Form<LaneTeam<8>, 2, 2>>();
  } else if (packs <= 512) {
    use.template operator()<Form<LaneTeam<32>, kMostPacks<T>>>();
  } else if (packs <= 2048) {
    use.template operator()<Form<BlockTeam<128>, kMostPacks<T>>>();
  } else {
    use.template operator()<Form<BlockTeam<1024>, 4>>();
  }
}
