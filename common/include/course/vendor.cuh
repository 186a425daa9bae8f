// For the rows of the vendor's library, which only a GPU build has: the last row of every ladder.
//
// Example (common/tests/examples_test.cu):
//
//   const std::function<void()> call = course::with_memory([&](void* memory, std::size_t& size) {
//     ++calls;
//     return fills(memory, size, 0);  // as cub::DeviceReduce::Sum(memory, size, d_x, d_y, n)
//   });
//   call();
#pragma once

#include <course/buffer.cuh>
#include <course/error.cuh>

#include <cstddef>
#include <functional>
#include <memory>

namespace course {

/// Binds a call of CUB to workspace of the size that it asks for, in bytes: called with a null
/// pointer, it only sets the size. `call` is a function of (void* memory, std::size_t& bytes) that
/// returns a cudaError_t. Throws CudaError.
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
