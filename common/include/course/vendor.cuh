// For the rows of the vendor's library, which only a GPU build has: the last row of every ladder.
//
// Example (common/tests/examples_test.cu):
//
//   const auto call = [&](void* memory, std::size_t& size) {
//     ++calls;
//     return fills(memory, size, 0);  // as cub::DeviceReduce::Sum(memory, size, d_x, d_y, n)
//   };
//   const course::Rung row = course::cub_row("cub::DeviceReduce::Sum", "CUB", call);
//   row.launch();
#pragma once

#include <course/buffer.cuh>
#include <course/error.cuh>
#include <course/ladder.cuh>

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <utility>

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

/// The row of such a call. The ladder says what becomes of the result. Throws CudaError.
template <class Call>
Rung cub_row(std::string name, std::string changed, Call call) {
  return {.name = std::move(name), .changed = std::move(changed), .launch = with_memory(call)};
}

}  // namespace course
