// The CUDA runtime API: kernels. Launches, attributes, occupancy.
#pragma once

#include <cstddef>
#include <type_traits>

#include "simt/api_types.hpp"
#include "simt/platform.hpp"

namespace simt {

cudaError_t set_function_attribute(const void* function, cudaFuncAttribute attribute, int value,
                                   const void* caller);
cudaError_t function_attributes(cudaFuncAttributes* attributes, const void* function,
                                const void* caller);
cudaError_t set_cache_wish(const void* function, cudaFuncCache wish, const void* caller);
cudaError_t active_blocks(int* blocks, const void* function, int block_size,
                          std::size_t dynamic_shared, unsigned flags, const void* caller);
cudaError_t available_shared(std::size_t* size, const void* function, int blocks, int block_size,
                             const void* caller);
/// How much dynamic shared memory a block of so many threads needs.
struct SharedOfBlock {
  std::size_t (*compute)(const void* context, int block_size);
  const void* context;
};
cudaError_t best_block_size(int* min_grid, int* block_size, const void* function,
                            SharedOfBlock dynamic_shared, int limit, unsigned flags,
                            const void* caller);

/// Any pointer, to objects or to functions, as the plain address that the functions above take.
template <class T>
const void* plain_address(T* p) {
  if constexpr (std::is_function_v<T>) {
    return reinterpret_cast<const void*>(p);
  } else {
    return const_cast<const void*>(static_cast<const volatile void*>(p));
  }
}

inline SharedOfBlock same_for_all_blocks(const std::size_t& size) {
  return {[](const void* context, int) { return *static_cast<const std::size_t*>(context); },
          &size};
}
template <class SizeOfBlock>
SharedOfBlock shared_by(SizeOfBlock& size_of_block) {
  return {[](const void* context, int block_size) -> std::size_t {
            return (*static_cast<SizeOfBlock*>(const_cast<void*>(context)))(block_size);
          },
          &size_of_block};
}

}  // namespace simt

template <class Kernel>
SIMT_API_TEMPLATE inline cudaError_t cudaFuncSetAttribute(Kernel* kernel,
                                                          cudaFuncAttribute attribute, int value) {
  return simt::set_function_attribute(simt::plain_address(kernel), attribute, value, SIMT_CALLER);
}
template <class Kernel>
SIMT_API_TEMPLATE inline cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes,
                                                           Kernel* kernel) {
  return simt::function_attributes(attributes, simt::plain_address(kernel), SIMT_CALLER);
}
/// A wish, not a rule; here it changes nothing.
template <class Kernel>
SIMT_API_TEMPLATE inline cudaError_t cudaFuncSetCacheConfig(Kernel* kernel, cudaFuncCache wish) {
  return simt::set_cache_wish(simt::plain_address(kernel), wish, SIMT_CALLER);
}
template <class Kernel>
SIMT_API_TEMPLATE inline cudaError_t cudaFuncSetSharedMemConfig(Kernel* kernel,
                                                                cudaSharedMemConfig) {
  return simt::set_cache_wish(simt::plain_address(kernel), cudaFuncCachePreferNone, SIMT_CALLER);
}

// ---- occupancy: counts threads, blocks and dynamic shared memory; registers and static shared
// memory are not known --------------------------------------------------------------------------

template <class Kernel>
SIMT_API_TEMPLATE inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(
    int* blocks, Kernel* kernel, int block_size, std::size_t dynamic_shared) {
  return simt::active_blocks(blocks, simt::plain_address(kernel), block_size, dynamic_shared,
                             cudaOccupancyDefault, SIMT_CALLER);
}
template <class Kernel>
SIMT_API_TEMPLATE inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int* blocks, Kernel* kernel, int block_size, std::size_t dynamic_shared, unsigned flags) {
  return simt::active_blocks(blocks, simt::plain_address(kernel), block_size, dynamic_shared, flags,
                             SIMT_CALLER);
}
template <class Kernel>
SIMT_API_TEMPLATE inline cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(
    std::size_t* dynamic_shared, Kernel* kernel, int blocks, int block_size) {
  return simt::available_shared(dynamic_shared, simt::plain_address(kernel), blocks, block_size,
                                SIMT_CALLER);
}
template <class Kernel>
SIMT_API_TEMPLATE inline cudaError_t cudaOccupancyMaxPotentialBlockSize(
    int* min_grid, int* block_size, Kernel* kernel, std::size_t dynamic_shared = 0,
    int block_size_limit = 0) {
  return simt::best_block_size(min_grid, block_size, simt::plain_address(kernel),
                               simt::same_for_all_blocks(dynamic_shared), block_size_limit,
                               cudaOccupancyDefault, SIMT_CALLER);
}
template <class Kernel>
SIMT_API_TEMPLATE inline cudaError_t cudaOccupancyMaxPotentialBlockSizeWithFlags(
    int* min_grid, int* block_size, Kernel* kernel, std::size_t dynamic_shared = 0,
    int block_size_limit = 0, unsigned flags = cudaOccupancyDefault) {
  return simt::best_block_size(min_grid, block_size, simt::plain_address(kernel),
                               simt::same_for_all_blocks(dynamic_shared), block_size_limit, flags,
                               SIMT_CALLER);
}
/// `size_of_block(threads)` is the dynamic shared memory of a block of so many threads.
template <class SizeOfBlock, class Kernel>
SIMT_API_TEMPLATE inline cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMem(
    int* min_grid, int* block_size, Kernel* kernel, SizeOfBlock size_of_block,
    int block_size_limit = 0) {
  return simt::best_block_size(min_grid, block_size, simt::plain_address(kernel),
                               simt::shared_by(size_of_block), block_size_limit,
                               cudaOccupancyDefault, SIMT_CALLER);
}
template <class SizeOfBlock, class Kernel>
SIMT_API_TEMPLATE inline cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(
    int* min_grid, int* block_size, Kernel* kernel, SizeOfBlock size_of_block,
    int block_size_limit = 0, unsigned flags = cudaOccupancyDefault) {
  return simt::best_block_size(min_grid, block_size, simt::plain_address(kernel),
                               simt::shared_by(size_of_block), block_size_limit, flags,
                               SIMT_CALLER);
}
