// What <cuda/barrier>, <cuda/pipeline> and <cooperative_groups/memcpy_async.h> have in common.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

namespace cuda {

/// A number of bytes; addresses and number are multiples of the alignment.
template <::std::size_t kAlignment>
struct aligned_size_t {
  static constexpr ::std::size_t align = kAlignment;
  SIMT_TRANSPARENT explicit constexpr aligned_size_t(::std::size_t size) : value(size) {}
  SIMT_TRANSPARENT constexpr operator ::std::size_t() const { return value; }
  ::std::size_t value;
};

enum class async_contract_fulfillment { none, async };

}  // namespace cuda

namespace simt {

template <class Size>
inline constexpr ::std::size_t kAlignmentOf = 0;
template <::std::size_t kAlignment>
inline constexpr ::std::size_t kAlignmentOf<cuda::aligned_size_t<kAlignment>> = kAlignment;

/// One thread copies all.
struct Alone {
  SIMT_UNINSTRUMENTED static unsigned size() { return 1; }
  SIMT_UNINSTRUMENTED static unsigned thread_rank() { return 0; }
};

/// The threads of a group share a copy: pieces of up to 16 bytes go round.
template <class Group, class Size>
SIMT_UNINSTRUMENTED void share_copy(const Group& group, void* to, const void* from, Size bytes,
                                    const void* barrier, const void* caller) {
  const auto size = static_cast<::std::size_t>(bytes);
  ::std::size_t piece = kAlignmentOf<Size>;
  if (piece == 0) {
    piece = reinterpret_cast<::std::size_t>(to) | reinterpret_cast<::std::size_t>(from) | size | 16;
    piece &= -piece;
  }
  if (piece > 16) piece = 16;
  const ::std::size_t step = piece * group.size();
  for (::std::size_t i = piece * group.thread_rank(); i < size; i += step) {
    begin_copy(
        {static_cast<char*>(to) + i, static_cast<const char*>(from) + i, piece, piece, piece},
        barrier, caller);
  }
}

}  // namespace simt
