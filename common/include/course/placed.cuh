// An array in device memory that begins where a test wants it to, for kernels with wide loads
// (chapter 04, 04-coalesced-access), and that notices accesses before and after it.
//
// Example (common/tests/examples_test.cu):
//
//   course::Placed<int> y({1, 2, 3}, 1);  // begins 4 bytes past a multiple of 64
//   write_once<<<1, 1>>>(y.data());
//   CUDA_CHECK_LAUNCH();
//   REQUIRE(course::same(y.download(), {7, 2, 3}, "y"));
//   REQUIRE(y.intact("y"));
#pragma once

#include <course/guarded.cuh>
#include <course/verdict.cuh>
#include <cstddef>
#include <string_view>
#include <vector>

namespace course {

/// n elements that begin `offset` elements past a multiple of 64 bytes. The bytes before them do
/// not belong to the array: on the CPU device they have never been written, and an atomic that
/// touches them reads uninitialised memory, which is reported; an access after the last element is
/// out of bounds there. On a GPU both hold a pattern, which intact() looks for.
template <class T>
class Placed {
 public:
  Placed(const std::vector<T>& values, std::size_t offset)
      : offset_(offset), size_(values.size()), memory_(values.size() + offset) {
    if (!kCpuDevice) memory_.fill_bytes(GuardedBuffer<T>::kPoison);
    upload(values);
  }
  T* data() { return memory_.data() + offset_; }
  const T* data() const { return memory_.data() + offset_; }
  std::size_t size() const { return size_; }
  void upload(const std::vector<T>& values) {
    if (values.empty()) return;
    CUDA_CHECK(
        cudaMemcpy(data(), values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
  }
  /// Waits for the kernels before it.
  std::vector<T> download() const {
    std::vector<T> values(size_);
    if (size_ == 0) return values;
    CUDA_CHECK(cudaMemcpy(values.data(), data(), size_ * sizeof(T), cudaMemcpyDeviceToHost));
    detail::remember_copy(values.data(), data(), size_, sizeof(T));
    return values;
  }
  /// Ok if nothing around the array has changed; else says on which side of it a kernel wrote.
  Verdict intact(std::string_view name) const {
    if (!kCpuDevice && offset_ > 0) {
      std::vector<unsigned char> front(offset_ * sizeof(T));
      CUDA_CHECK(cudaMemcpy(front.data(), memory_.data(), front.size(), cudaMemcpyDeviceToHost));
      for (const unsigned char byte : front) {
        if (byte == GuardedBuffer<T>::kPoison) continue;
        return {false, std::string(name) + ": a kernel wrote before its first element"};
      }
    }
    return memory_.intact(name);
  }

 private:
  std::size_t offset_, size_;
  GuardedBuffer<T> memory_;
};

}  // namespace course
