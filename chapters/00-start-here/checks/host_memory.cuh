// Memory of the host for the check of host_program.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>
#include <vector>

namespace host_runs {

/// Numbers that end where memory ends: a copy that reads past them crashes.
class LastNumbers {
 public:
  explicit LastNumbers(const std::vector<std::uint32_t>& numbers) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const std::size_t bytes = numbers.size() * sizeof(std::uint32_t);
    const std::size_t readable = (bytes + page - 1) / page * page;
    bytes_ = readable + page;
    base_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base_ == MAP_FAILED) throw std::bad_alloc();
    auto* const end = static_cast<std::byte*>(base_) + readable;
    data_ = reinterpret_cast<std::uint32_t*>(end - bytes);
    std::copy(numbers.begin(), numbers.end(), data_);
    mprotect(end, page, PROT_NONE);
  }
  ~LastNumbers() { munmap(base_, bytes_); }
  LastNumbers(const LastNumbers&) = delete;
  LastNumbers& operator=(const LastNumbers&) = delete;
  const std::uint32_t* data() const { return data_; }

 private:
  void* base_;
  std::uint32_t* data_;
  std::size_t bytes_;
};

/// Addresses for n elements that no host has the memory for; they get no memory before they are
/// written. data() is null where there are not so many addresses.
template <class T>
class Addresses {
 public:
  explicit Addresses(std::size_t n) : bytes_(n * sizeof(T)) {
    void* p = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p != MAP_FAILED) data_ = static_cast<T*>(p);
  }
  ~Addresses() {
    if (data_ != nullptr) munmap(data_, bytes_);
  }
  Addresses(const Addresses&) = delete;
  Addresses& operator=(const Addresses&) = delete;
  T* data() { return data_; }

 private:
  T* data_ = nullptr;
  std::size_t bytes_;
};

}  // namespace host_runs
