// An output for tests that notices writes before its first and after its last element.
//
// Example (common/tests/examples_test.cu):
//
//   course::GuardedBuffer<int> y(1);  // poisoned, and on a GPU between two guard bands
//   write_once<<<1, 1>>>(y.data());
//   CUDA_CHECK_LAUNCH();
//   REQUIRE(course::same(y.download(), {7}, "y"));
//   REQUIRE(y.intact("y"));
#pragma once

#include <course/buffer.cuh>
#include <course/device.cuh>
#include <course/verdict.cuh>

#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace course {

namespace detail {
/// Lets a comparison of the copy know who has written which of its n elements, where the device knows.
void remember_copy(const void* copy, const void* original, std::size_t n, std::size_t bytes);
}  // namespace detail

/// n elements of device memory between two guard bands, all of it poisoned: an element that no
/// kernel wrote reads as kPoison bytes (NaN as float, half and double; a huge unsigned).
///
/// The CPU device has its own guards around every allocation and names the line that crossed
/// them, so there the bands are left out, and a read of an element that was never written is
/// reported. Pass `band` to have them anyway.
/// Without elements data() is no null pointer there, so that an access is reported as one past the
/// end of an array of 0 elements.
template <class T>
class GuardedBuffer {
 public:
  static constexpr int kPoison = 0xFF;
  static constexpr std::size_t kBand = kCpuDevice ? 0 : 64;  // elements on either side

  explicit GuardedBuffer(std::size_t n, std::size_t band = kBand)
      : n_(n),
        band_(band),
        front_(n + band == 0 ? kBeforeNothing : band),
        memory_(front_ + n + band) {
    if (band_ > 0) memory_.fill_bytes(kPoison);
  }

  T* data() { return memory_.data() + front_; }
  const T* data() const { return memory_.data() + front_; }
  std::size_t size() const { return n_; }
  std::size_t bytes() const { return n_ * sizeof(T); }
  /// Sets every byte between the bands.
  void fill_bytes(int byte) {
    if (n_ > 0) CUDA_CHECK(cudaMemset(data(), byte, bytes()));
  }
  /// The elements between the bands; waits for the kernels before it.
  std::vector<T> download() const {
    std::vector<T> v(n_);
    if (n_ > 0) CUDA_CHECK(cudaMemcpy(v.data(), data(), bytes(), cudaMemcpyDeviceToHost));
    detail::remember_copy(v.data(), data(), n_, sizeof(T));
    return v;
  }
  /// Ok if both bands are as they were; else names the first byte that is not.
  Verdict intact(std::string_view name) const {
    if (band_ == 0) return {};
    const std::vector<T> all = memory_.download();
    std::vector<unsigned char> bytes(all.size() * sizeof(T));
    if (!all.empty()) std::memcpy(bytes.data(), all.data(), bytes.size());
    const std::size_t first = band_ * sizeof(T);
    const std::size_t end = first + n_ * sizeof(T);
    for (std::size_t i = first; i-- > 0;) {  // the byte next to the array is the likeliest
      if (bytes[i] != kPoison) return overwritten(name, first - i, "before its first");
    }
    for (std::size_t i = end; i < bytes.size(); ++i) {
      if (bytes[i] != kPoison) return overwritten(name, i - end, "after its last");
    }
    return {};
  }

 private:
  static Verdict overwritten(std::string_view name, std::size_t distance, const char* where) {
    const std::string bytes = std::to_string(distance) + (distance == 1 ? " byte " : " bytes ");
    return {false, std::string(name) + ": a kernel wrote outside the array, " +
                       (distance == 0 ? "right " : bytes) + where + " element"};
  }

  static constexpr std::size_t kBeforeNothing = 32;

  std::size_t n_, band_, front_;  // front_: elements before data()
  DeviceBuffer<T> memory_;
};

}  // namespace course
