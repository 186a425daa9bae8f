// What the tests of the checker share: run a piece of work under a schedule, and look at what the
// CPU device said about it.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <ctime>
#include <functional>
#include <initializer_list>
#include <string>
#include <vector>

#include "simt/testing.hpp"

namespace simt_test {

constexpr int kSeedsForRight = 50;  // right code must stay silent under all of them
constexpr int kSeedsForWrong = 12;  // wrong code must be caught under all of them

/// What a clock says, such as CLOCK_PROCESS_CPUTIME_ID: the time that this process has computed, however busy the
/// machine is.
inline double seconds_of(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// Device memory. Undefined at first, as cudaMalloc leaves it. After an error of the device,
/// values() is all zero.
template <class T>
class Array {
 public:
  explicit Array(std::size_t n) : size_(n) { static_cast<void>(cudaMalloc(&data_, bytes())); }
  explicit Array(const std::vector<T>& values) : Array(values.size()) {
    static_cast<void>(cudaMemcpy(data_, values.data(), bytes(), cudaMemcpyHostToDevice));
  }
  static Array zeros(std::size_t n) { return Array(std::vector<T>(n)); }
  ~Array() { static_cast<void>(cudaFree(data_)); }
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;

  T* data() const { return data_; }
  std::vector<T> values() const {
    std::vector<T> host(size_);
    static_cast<void>(cudaMemcpy(host.data(), data_, bytes(), cudaMemcpyDeviceToHost));
    return host;
  }
  T front() const { return values().front(); }

 private:
  std::size_t bytes() const { return size_ * sizeof(T); }
  T* data_ = nullptr;
  std::size_t size_;
};

// ---- several devices ----------------------------------------------------------------------------

/// Makes a device current as long as it lives.
class On {
 public:
  explicit On(int device) {
    static_cast<void>(cudaGetDevice(&before_));
    static_cast<void>(cudaSetDevice(device));
  }
  ~On() { static_cast<void>(cudaSetDevice(before_)); }
  On(const On&) = delete;
  On& operator=(const On&) = delete;

 private:
  int before_ = 0;
};

/// A stream of a device.
struct DeviceStream {
  cudaStream_t handle = nullptr;
  explicit DeviceStream(int device, unsigned flags = cudaStreamDefault) {
    const On on(device);
    static_cast<void>(cudaStreamCreateWithFlags(&handle, flags));
  }
  ~DeviceStream() { static_cast<void>(cudaStreamDestroy(handle)); }
  DeviceStream(const DeviceStream&) = delete;
  DeviceStream& operator=(const DeviceStream&) = delete;
};

/// An event of a device.
struct DeviceEvent {
  cudaEvent_t handle = nullptr;
  explicit DeviceEvent(int device) {
    const On on(device);
    static_cast<void>(cudaEventCreate(&handle));
  }
  ~DeviceEvent() { static_cast<void>(cudaEventDestroy(handle)); }
  DeviceEvent(const DeviceEvent&) = delete;
  DeviceEvent& operator=(const DeviceEvent&) = delete;
};

/// Ints of pinned memory, all 0.
struct Pinned {
  int* data = nullptr;
  explicit Pinned(std::size_t n) {
    static_cast<void>(
        cudaHostAlloc(&data, n * sizeof(int), cudaHostAllocPortable | cudaHostAllocMapped));
    std::fill_n(data, n, 0);
  }
  ~Pinned() { static_cast<void>(cudaFreeHost(data)); }
  Pinned(const Pinned&) = delete;
  Pinned& operator=(const Pinned&) = delete;
};

/// Collects reports instead of failing the test; leaves the devices without an error.
class Reports {
 public:
  Reports() {
    previous_ = simt::set_report_handler([this](const simt::Report& r) { list.push_back(r); });
  }
  ~Reports() {
    simt::set_report_handler(previous_);
    simt::reset_device();
  }
  Reports(const Reports&) = delete;
  Reports& operator=(const Reports&) = delete;
  std::vector<simt::Report> list;

 private:
  simt::ReportHandler previous_;
};

/// What the CPU device said while a piece of work ran.
struct Outcome {
  std::vector<simt::Report> reports;
  std::vector<std::string> notes;
  cudaError_t error = cudaSuccess;

  bool clean() const { return reports.empty() && error == cudaSuccess; }
  bool found(simt::ReportKind kind) const {
    return std::any_of(reports.begin(), reports.end(),
                       [&](const simt::Report& r) { return r.kind == kind; });
  }
  /// All reports, to be shown when a test fails.
  std::string text() const {
    std::string all;
    for (const simt::Report& report : reports) all += report.text + "\n";
    if (reports.empty() && error != cudaSuccess) all = cudaGetErrorString(error);
    return all;
  }
};

/// Runs `work` and waits for all devices, then leaves them as they were: without an error, with the
/// report handler and the seed of before.
inline Outcome observe(const std::function<void()>& work, std::uint64_t seed = 0) {
  Outcome outcome;
  simt::take_notes();
  const std::uint64_t old_seed = simt::seed();
  simt::set_seed(seed);
  const simt::ReportHandler old_handler = simt::set_report_handler(
      [&](const simt::Report& report) { outcome.reports.push_back(report); });
  work();
  for (int device = 0; device < simt::device_count(); ++device) {
    static_cast<void>(cudaSetDevice(device));
    outcome.error = cudaDeviceSynchronize();  // the same on all: an error is one of all devices
  }
  if (outcome.error == cudaSuccess) outcome.error = cudaGetLastError();
  simt::set_report_handler(old_handler);
  simt::set_seed(old_seed);
  simt::reset_device();
  for (simt::Note& note : simt::take_notes()) outcome.notes.push_back(std::move(note.text));
  return outcome;
}

/// The only report of `work`; of kind `trap` with a text that says so if there is none or another.
inline simt::Report only_report(const std::function<void()>& work, std::uint64_t seed = 0) {
  const Outcome outcome = observe(work, seed);
  if (outcome.reports.size() == 1) return outcome.reports.front();
  simt::Report none;
  none.kind = simt::ReportKind::trap;
  none.text = "(" + std::to_string(outcome.reports.size()) + " reports)\n" + outcome.text();
  return none;
}

/// Empty if `text` has all the parts; otherwise says which is missing.
inline std::string lacks(const std::string& text, std::initializer_list<const char*> parts) {
  for (const char* part : parts) {
    if (text.find(part) == std::string::npos)
      return "\"" + std::string(part) + "\" is not in:\n" + text;
  }
  return "";
}
/// A message, whose lines are broken wherever they are full.
inline std::string one_line(std::string text) {
  for (std::size_t at; (at = text.find("\n  ")) != std::string::npos;) text.replace(at, 3, " ");
  return text;
}
inline std::string lacks(const simt::Report& report, std::initializer_list<const char*> parts) {
  return lacks(report.text, parts);
}

/// Runs work that is right under many schedules. Empty if it always returns true (its values are
/// right) and nothing is reported; otherwise tells of the first failure.
inline std::string first_complaint(const std::function<bool()>& work, int seeds = kSeedsForRight) {
  for (int seed = 0; seed < seeds; ++seed) {
    bool right = false;
    const Outcome outcome = observe([&] { right = work(); }, static_cast<std::uint64_t>(seed));
    const std::string where = "under seed " + std::to_string(seed) + ": ";
    if (!outcome.clean()) return where + outcome.text();
    if (!right) return where + "wrong values";
  }
  return "";
}

/// Runs work that is wrong under several schedules. Empty if a report of this kind comes under
/// each; otherwise tells what came instead.
inline std::string first_miss(simt::ReportKind kind, const std::function<void()>& work,
                              int seeds = kSeedsForWrong) {
  for (int seed = 0; seed < seeds; ++seed) {
    const Outcome outcome = observe(work, static_cast<std::uint64_t>(seed));
    if (outcome.found(kind)) continue;
    return "under seed " + std::to_string(seed) + ": expected \"" + to_string(kind) +
           "\", found: " + (outcome.clean() ? "nothing" : outcome.text());
  }
  return "";
}

/// A wrong form must be rejected under every schedule, by a report or by its values. Empty if it
/// is, and if its report under the default schedule is of this kind.
inline std::string wrong(simt::ReportKind kind, const std::function<bool()>& work) {
  const std::string miss = first_miss(
      kind, [&] { static_cast<void>(work()); }, 1);
  if (!miss.empty()) return miss;
  for (int seed = 1; seed < kSeedsForWrong; ++seed) {
    bool right = false;
    const Outcome outcome = observe([&] { right = work(); }, static_cast<std::uint64_t>(seed));
    if (outcome.clean() && right) return "under seed " + std::to_string(seed) + ": passes";
  }
  return "";
}

/// A wrong form that only its values give away: nothing is reported, and the values are wrong under
/// every schedule.
inline std::string wrong_values(const std::function<bool()>& work) {
  for (int seed = 0; seed < kSeedsForWrong; ++seed) {
    bool right = true;
    const Outcome outcome = observe([&] { right = work(); }, static_cast<std::uint64_t>(seed));
    const std::string where = "under seed " + std::to_string(seed) + ": ";
    if (!outcome.clean()) return where + "unexpected " + outcome.text();
    if (right) return where + "the values are right";
  }
  return "";
}

}  // namespace simt_test
