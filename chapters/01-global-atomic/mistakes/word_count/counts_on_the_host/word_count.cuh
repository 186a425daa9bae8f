// Hands the kernel the address of a variable of the host, which a GPU does not reach: reported as
// out of bounds.
//
// GPU: may slip through: some systems let a GPU reach all of the host's memory.
#pragma once

#include <course/buffer.cuh>
#include <course/error.cuh>
#include <course/exercise.cuh>
#include <cstddef>
#include <vector>

__host__ __device__ inline bool is_separator(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}

__global__ void word_count(const char* text, std::size_t n, unsigned long long* words) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += stride) {
    const bool begins = !is_separator(text[i]) && (i == 0 || is_separator(text[i - 1]));
    if (begins) atomicAdd(words, 1ull);
  }
}

inline unsigned long long word_count(const std::vector<char>& text) {
  if (text.empty()) return 0;
  const auto d_text = course::DeviceBuffer<char>::from(text);
  unsigned long long words = 0;
  const auto blocks = static_cast<unsigned>((text.size() + 255) / 256);
  word_count<<<blocks, 256>>>(d_text.data(), text.size(), &words);
  CUDA_CHECK_LAUNCH();
  CUDA_CHECK(cudaDeviceSynchronize());
  return words;
}
