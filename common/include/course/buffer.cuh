// Device memory with an owner: freed when its variable goes out of scope. It makes
// the calls of cudaMalloc, cudaMemcpy and cudaFree, and checks each. Every lesson uses it, from
// chapter 00 (00-start-here) on.
//
// Example (common/tests/examples_test.cu):
//
//   const std::vector<float> x = {1, 2, 3};
//   const auto d_x = course::DeviceBuffer<float>::from(x);  // cudaMalloc and cudaMemcpy
//   course::DeviceBuffer<float> d_y(x.size());              // not initialised
//   scale<<<1, 32>>>(d_x.data(), d_x.size(), 2.0f, d_y.data());
//   CUDA_CHECK_LAUNCH();
//   const std::vector<float> y = d_y.download();  // waits for the kernel
#pragma once

#include <course/error.cuh>

#include <cstddef>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace course {

/// n elements of T in device memory. Move-only: two owners would free the same memory twice.
/// Every member throws CudaError if its CUDA call fails.
template <class T>
class DeviceBuffer {
 public:
  DeviceBuffer() = default;
  /// n elements, not initialised. n = 0 is allowed: data() is then a null pointer.
  explicit DeviceBuffer(std::size_t n) : size_(n) {
    if (n > 0) CUDA_CHECK(cudaMalloc(&data_, n * sizeof(T)));
  }
  /// n elements, every byte 0.
  static DeviceBuffer zeros(std::size_t n) {
    DeviceBuffer buffer(n);
    buffer.fill_bytes(0);
    return buffer;
  }
  /// A copy of v.
  static DeviceBuffer from(const std::vector<T>& v) {
    DeviceBuffer buffer(v.size());
    buffer.upload(v);
    return buffer;
  }

  // The error of cudaFree is dropped: a destructor must not throw, and a failed kernel makes
  // cudaFree fail as well, which would hide the first error.
  ~DeviceBuffer() { static_cast<void>(cudaFree(data_)); }
  DeviceBuffer(const DeviceBuffer&) = delete;
  DeviceBuffer& operator=(const DeviceBuffer&) = delete;
  DeviceBuffer(DeviceBuffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  DeviceBuffer& operator=(DeviceBuffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }

  /// A device pointer: pass it to kernels, never dereference it on the host.
  T* data() { return data_; }
  const T* data() const { return data_; }
  std::size_t size() const { return size_; }
  std::size_t bytes() const { return size_ * sizeof(T); }

  /// Sets every byte (cudaMemset). Kernels launched later in the default stream see it.
  void fill_bytes(int byte) {
    if (size_ > 0) CUDA_CHECK(cudaMemset(data_, byte, bytes()));
  }
  /// Copies v to the device; v must have size() elements (std::invalid_argument if not). Kernels
  /// launched later in the default stream see it; for a stream that does not wait for that one,
  /// call cudaDeviceSynchronize() first: CUDA may still be copying when this returns.
  void upload(const std::vector<T>& v) {
    if (v.size() != size_) {
      throw std::invalid_argument("DeviceBuffer::upload: the buffer has " + std::to_string(size_) +
                                  " elements, the vector " + std::to_string(v.size()));
    }
    if (size_ > 0) CUDA_CHECK(cudaMemcpy(data_, v.data(), bytes(), cudaMemcpyHostToDevice));
  }
  /// Waits for the kernels before it and copies everything to the host.
  std::vector<T> download() const {
    std::vector<T> v(size_);
    if (size_ > 0) CUDA_CHECK(cudaMemcpy(v.data(), data_, bytes(), cudaMemcpyDeviceToHost));
    return v;
  }
  /// Waits for the kernels before it and copies the first element to the host.
  /// std::out_of_range if there is none.
  T front() const {
    if (size_ == 0) throw std::out_of_range("DeviceBuffer::front: the buffer is empty");
    T first;
    CUDA_CHECK(cudaMemcpy(&first, data_, sizeof(T), cudaMemcpyDeviceToHost));
    return first;
  }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace course
