// An array in device memory that begins where a test wants it to, and notices what reaches beyond.
#pragma once

#include <course/guarded.cuh>
#include <course/verdict.cuh>
#include <cstddef>
#include <string_view>
#include <vector>

namespace course {

/// n elements that begin `offset` elements behind a multiple of 64 bytes. What lies in front of
/// them is not theirs: on the CPU device nobody has ever written it, and an atomic that touches it
/// reads uninitialised memory, which is reported; what lies behind is out of bounds there. On a GPU
/// both hold a pattern, which intact() looks for.
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
    return values;
  }
  /// Ok if nobody changed anything around the array.
  Verdict intact(std::string_view name) const {
    if (!kCpuDevice && offset_ > 0) {
      std::vector<unsigned char> front(offset_ * sizeof(T));
      CUDA_CHECK(cudaMemcpy(front.data(), memory_.data(), front.size(), cudaMemcpyDeviceToHost));
      for (const unsigned char byte : front) {
        if (byte == GuardedBuffer<T>::kPoison) continue;
        return {false, std::string(name) + ": a kernel wrote in front of its first element"};
      }
    }
    return memory_.intact(name);
  }

 private:
  std::size_t offset_, size_;
  GuardedBuffer<T> memory_;
};

}  // namespace course
