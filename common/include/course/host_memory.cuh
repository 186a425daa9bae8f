// Memory that the host and all devices can access, with an owner: pinned (chapter 06, 06-half2-dot)
// and managed (chapter 11, 11-many-gpus).
//
// Example (common/tests/examples_test.cu):
//
//   course::ManagedBuffer<int> count(1);  // the host and every device use the same pointer
//   count[0] = 0;
//   count_up<<<1, 32>>>(count.data());
//   CUDA_CHECK_LAUNCH();
//   CUDA_CHECK(cudaDeviceSynchronize());  // the host reads after the kernel
//   REQUIRE(course::same(count[0], 32, "count"));
#pragma once

#include <course/error.cuh>

#include <cstddef>
#include <utility>

namespace course {

namespace detail {

/// What PinnedBuffer and ManagedBuffer have in common. Move-only: two owners would free twice.
template <class T, class Source>
class SharedBuffer {
 public:
  explicit SharedBuffer(std::size_t n) : size_(n) {
    if (n > 0) data_ = static_cast<T*>(Source::allocate(n * sizeof(T)));
  }
  // The error of freeing is dropped, as in DeviceBuffer.
  ~SharedBuffer() { Source::release(data_); }
  SharedBuffer(const SharedBuffer&) = delete;
  SharedBuffer& operator=(const SharedBuffer&) = delete;
  SharedBuffer(SharedBuffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  SharedBuffer& operator=(SharedBuffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }

  /// One pointer for the host and for kernels on every device. A write must be finished before
  /// another processor reads: synchronise.
  T* data() { return data_; }
  const T* data() const { return data_; }
  std::size_t size() const { return size_; }
  std::size_t bytes() const { return size_ * sizeof(T); }
  T& operator[](std::size_t i) { return data_[i]; }
  const T& operator[](std::size_t i) const { return data_[i]; }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

struct Pinned {
  static void* allocate(std::size_t bytes) {
    void* p = nullptr;
    CUDA_CHECK(cudaMallocHost(&p, bytes));
    return p;
  }
  static void release(void* p) { static_cast<void>(cudaFreeHost(p)); }
};

struct Managed {
  static void* allocate(std::size_t bytes) {
    void* p = nullptr;
    CUDA_CHECK(cudaMallocManaged(&p, bytes));
    return p;
  }
  static void release(void* p) { static_cast<void>(cudaFree(p)); }
};

}  // namespace detail

/// n elements of T in pinned host memory: pages that the operating system neither moves nor swaps
/// out, so that a GPU can read and write them by itself. Not initialised; move-only. Making one
/// throws CudaError if CUDA has no memory. Pinning is slow, and other programs cannot use the
/// pages: pin once what is copied often. Chapter 06 (06-half2-dot) shows what it gains.
template <class T>
using PinnedBuffer = detail::SharedBuffer<T, detail::Pinned>;

/// n elements of T in managed memory: the driver moves its pages to the device that accesses them. Not
/// initialised; move-only. Making one throws CudaError if CUDA has no memory. Chapter 11
/// (11-many-gpus) uses it for counters of several devices.
template <class T>
using ManagedBuffer = detail::SharedBuffer<T, detail::Managed>;

}  // namespace course
