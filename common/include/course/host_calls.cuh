// What host code does with the CUDA runtime, for checks of host programs (chapter 00, 00-start-here):
// what it does not give back, when its kernels ran, which copies and kernels can overlap, and what happens
// when one of its calls fails.
// Only the CPU device can tell; on a GPU there is no answer.
//
// Example (common/tests/examples_test.cu):
//
//   int* d_count = nullptr;
//   const auto run = course::watch_host([&] {
//     CUDA_CHECK(cudaMalloc(&d_count, sizeof(int)));
//     CUDA_CHECK(cudaMemset(d_count, 0, sizeof(int)));
//     count_up<<<1, 32>>>(d_count);
//     CUDA_CHECK_LAUNCH();
//   });
//   if (run) {  // nothing is known on a GPU
//     CHECK(run->kernels == 1);
//     CHECK(run->not_given_back.size() == 1);  // "4 bytes of device memory ..."
//   }
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace course {

/// A kernel, or a copy.
struct DeviceWork {
  bool is_kernel = false;
  // Of a copy: the first byte of either side, and how many are copied.
  const void* from = nullptr;
  const void* to = nullptr;
  std::size_t bytes = 0;
  /// Of the run's other work, by index: what always ends before this begins, because a stream, an event
  /// or the host, which waited, orders them. Nothing orders the others: they may run at the same time.
  std::vector<std::size_t> after = {};
  /// What the host had waited for when it called this.
  std::vector<std::size_t> waited_for = {};
};

/// What a piece of host code did. Times are this machine's, in microseconds.
struct HostRun {
  /// What it took from CUDA and did not give back: "an event, made at main.cu:12".
  std::vector<std::string> not_given_back;
  std::size_t kernels = 0;  // how many ran
  /// From the beginning of the first kernel to the end of the last one. No time that was measured
  /// around them can be shorter.
  double kernel_microseconds = 0;
  /// From the end of what was done before the first kernel (a copy, a memset, an allocation) to the
  /// beginning of what was done after the last one. A time that is longer contains one of these.
  double room_microseconds = 0;
  /// How many bytes it copied from memory of a device to the host's, pinned or not. Managed memory is neither.
  std::size_t bytes_to_host = 0;
  /// Its kernels and copies, in the order in which the host called them.
  std::vector<DeviceWork> work;
};

/// In how many steps the device can do a run's kernels and copies, if each of them takes one step, and if
/// one kernel and one copy can run at the same time: what can begin first, and was called first, goes first.
std::size_t steps_of(const std::vector<DeviceWork>& work);

/// Runs `work`, waits for the devices, and tells what it did. On a GPU: runs `work` and returns
/// nothing.
std::optional<HostRun> watch_host(const std::function<void()>& work);

/// Runs `work`, in which the CUDA call numbered `number` (1 is the first) does nothing but fail with
/// `error`. Returns "main.cu:12", the place of that call; "" if there are fewer calls. Calls that
/// give something back, such as cudaFree, are not numbered: they succeed. On a GPU, where no call
/// can be made to fail, returns nothing and does not run `work`.
std::optional<std::string> with_failing_call(std::uint64_t number, cudaError_t error,
                                             const std::function<void()>& work);

/// The same with an error that lasts, as that of a kernel's illegal access: all calls after that one fail with it, too,
/// cudaFree as well.
std::optional<std::string> with_lasting_error(std::uint64_t number, cudaError_t error,
                                              const std::function<void()>& work);

}  // namespace course
