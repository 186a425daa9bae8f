// The runtime API: variables declared __device__, __constant__ or __managed__.
#include <cstddef>
#include <cstdint>

#include "api/copies.hpp"
#include "api/errors.hpp"
#include "memory/allocations.hpp"
#include "simt/api.hpp"

namespace simt {
namespace {

/// The start of the range in device memory, null if there is no such variable or range.
void* locate(const SymbolRange& range, cudaError_t* error) {
  Space space;
  const bool known = find_space(range.symbol, range.symbol_size, &space) &&
                     (space == Space::global || space == Space::constant ||
                      (space == Space::managed &&
                       global_at(reinterpret_cast<std::uintptr_t>(range.symbol)) != nullptr));
  if (!known) {
    *error = failed(cudaErrorInvalidSymbol);
    return nullptr;
  }
  auto* begin = static_cast<unsigned char*>(const_cast<void*>(range.symbol));
  return begin + range.offset;
}

}  // namespace

cudaError_t copy_to_symbol(const SymbolRange& to, const void* from, cudaMemcpyKind kind,
                           cudaStream_t stream, bool wait, const void* caller) {
  cudaError_t error = enter(caller);
  if (error != cudaSuccess) return error;
  void* begin = locate(to, &error);
  if (begin == nullptr) return error;
  return start_copy(plain_copy("cudaMemcpyToSymbol", begin, from, to.count, kind), stream,
                    wait ? Wait::yes : Wait::no, caller);
}

cudaError_t copy_from_symbol(void* to, const SymbolRange& from, cudaMemcpyKind kind,
                             cudaStream_t stream, bool wait, const void* caller) {
  cudaError_t error = enter(caller);
  if (error != cudaSuccess) return error;
  const void* begin = locate(from, &error);
  if (begin == nullptr) return error;
  return start_copy(plain_copy("cudaMemcpyFromSymbol", to, begin, from.count, kind), stream,
                    wait ? Wait::yes : Wait::no, caller);
}

cudaError_t symbol_address(void** address, const void* symbol, const void* caller) {
  cudaError_t error = enter(caller);
  if (error != cudaSuccess) return error;
  if (address == nullptr) return failed(cudaErrorInvalidValue);
  *address = locate({symbol, 1, 0, 0}, &error);
  return error;
}

cudaError_t symbol_size(std::size_t* size, const void* symbol, const void* caller) {
  cudaError_t error = enter(caller);
  if (error != cudaSuccess) return error;
  if (size == nullptr) return failed(cudaErrorInvalidValue);
  if (locate({symbol, 1, 0, 0}, &error) == nullptr) return error;
  *size = global_at(reinterpret_cast<std::uintptr_t>(symbol))->size;
  return cudaSuccess;
}

}  // namespace simt
