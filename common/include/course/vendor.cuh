// For the rows of the vendor's library, which only a GPU build has.
#pragma once

#include <course/buffer.cuh>
#include <course/error.cuh>

#include <cstddef>
#include <functional>
#include <memory>

namespace course {

/// Binds a call of CUB to memory of the size that it asks for: called without memory, it tells.
/// `call` is a function of (memory, size) that returns a cudaError_t. Throws CudaError.
template <class Call>
std::function<void()> with_memory(Call call) {
  std::size_t size = 0;
  CUDA_CHECK(call(nullptr, size));
  const auto memory = std::make_shared<DeviceBuffer<unsigned char>>(size);
  return [call, memory] {
    std::size_t given = memory->size();
    CUDA_CHECK(call(memory->data(), given));
  };
}

}  // namespace course
