// Exercise word_count: how many words are in a text? Count them on the GPU, with atomics.
//
// Separators are ' ', '\t', '\n', '\v', '\f' and '\r': is_separator() knows them. Every other byte
// belongs to a word, and a word ends before a separator or with the text:
//   "" and " \n " have no word, "one" and " one " have one, "don't panic" has two.
//
// Try it: ./course check word_count
#pragma once

#include <course/buffer.cuh>
#include <course/error.cuh>
#include <course/exercise.cuh>
#include <cstddef>
#include <vector>

NOT_STARTED  // delete this line when you begin

/// True for the six separators.
__host__ __device__ inline bool is_separator(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}

/// Adds the number of words in text[0..n-1] to *words.
/// - It adds: *words may count the words of other texts already. The caller initialises it.
/// - text[-1] and text[n] are not part of the text, even where that memory can be read.
/// - Right for every one-dimensional grid: with fewer threads than bytes, threads take several
///   bytes each, and with more, some take none. The threads share the work.
__global__ void word_count(const char* text, std::size_t n, unsigned long long* words) {
  // TODO(you): count the words.
  (void)text, (void)n, (void)words;  // not used yet: delete this line when they are
}

/// The number of words in a text in host memory: allocates device memory, copies the text, launches
/// the kernel above, and copies the result back. An empty text has no words. (Chapter 00 has what
/// that takes: course::DeviceBuffer and CUDA_CHECK_LAUNCH().)
inline unsigned long long word_count(const std::vector<char>& text) {
  // TODO(you): count the words of `text` on the device.
  (void)text;
  return 0;
}
