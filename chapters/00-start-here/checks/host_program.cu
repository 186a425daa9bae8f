// Check of the exercise host_program: values, launch and time; then CUDA calls that fail, and what a
// call does not give back.
#include "host_program.cuh"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <course/check.cuh>
#include <course/host_calls.cuh>
#include <course/timing.cuh>
#include <course/verdict.cuh>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include "checks/grid_fits.cuh"

namespace host_program_check {

// ---- memory of the host -------------------------------------------------------------------------

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

// ---- a call of host_program ---------------------------------------------------------------------

struct Call {
  std::size_t n;
  unsigned steps, block;
};

std::string text(const Call& call) {
  return "host_program(x, n = " + std::to_string(call.n) + ", steps " + std::to_string(call.steps) +
         ", block " + std::to_string(call.block) + ", y)";
}

constexpr Call kSmall = {1000, 3, 96};
constexpr Call kMuchWork =
    course::kCpuDevice ? Call{1u << 12, 1000, 256} : Call{1u << 16, 1u << 21, 256};
constexpr Call kMuchMemory = {course::kCpuDevice ? 1u << 17 : 1u << 24, 1, 256};
constexpr Call kTooMuchMemory = {std::size_t{1} << 38, 1, 1024};  // 3 TiB
/// Other programs may use the GPU, too. What is true of an answer is true of the quietest attempt.
constexpr int kAttempts = 10;
constexpr const char* kSlowedDown = "compute-sanitizer slows launches down, each by another factor";

/// What a call that is made to fail returns: no program throws it by chance.
constexpr cudaError_t kInjected = cudaErrorECCUncorrectable;

/// How a call ended.
struct Ending {
  std::optional<double> microseconds;      // what it returned, if it did
  std::optional<cudaError_t> thrown;       // the code of the CudaError that it threw, if it did
  cudaError_t left = cudaSuccess;          // what cudaGetLastError() found after it
  std::optional<course::HostRun> run;      // what the CPU device saw
  std::optional<std::string> failed_line;  // where the CUDA call was that was made to fail
};

/// Calls host_program. `failing` is the number of the CUDA call that is to fail, 0 for none. `at_end`
/// runs when it returns, before anything waits for the device.
Ending call(const std::uint32_t* x, const Call& c, std::uint64_t* y, std::uint64_t failing = 0,
            const std::function<void()>& at_end = {}) {
  Ending ending;
  const auto work = [&] {
    try {
      ending.microseconds = host_program(x, c.n, c.steps, c.block, y);
    } catch (const course::CudaError& error) {
      ending.thrown = error.code();
    }
    if (at_end) at_end();
    ending.left = cudaGetLastError();
  };
  try {
    ending.run = course::watch_host([&] {
      if (failing == 0) return work();
      ending.failed_line = course::with_failing_call(failing, kInjected, work);
    });
  } catch (const course::CudaError& error) {  // of what it has not waited for
    if (!ending.thrown) ending.thrown = error.code();
  }
  return ending;
}

course::Verdict gives_everything_back(const Ending& ending) {
  if (!ending.run || ending.run->not_given_back.empty()) return {};
  std::string list;
  for (const std::string& item : ending.run->not_given_back) list += "\n  " + item;
  return {false, "host_program has not given back:" + list +
                     (ending.thrown ? "\nIt threw an exception: what comes after a throw does not "
                                      "run, but destructors do, except that of an object whose "
                                      "constructor threw."
                                    : "")};
}

// ---- values -------------------------------------------------------------------------------------

/// Other numbers in every call: what an earlier call left in the device's memory is wrong.
std::vector<std::uint32_t> fresh_numbers(std::size_t n) {
  static std::uint32_t calls = 0;
  return course::position_values<std::uint32_t>(n, ++calls);
}

std::uint64_t state_after(std::uint32_t x, unsigned steps) {
  std::uint64_t state = x;
  for (unsigned step = 0; step < steps; ++step) {
    state = state * 6364136223846793005u + 1442695040888963407u;
  }
  return state;
}

constexpr std::uint64_t kUntouched = 0x7777'7777'7777'7777;
bool is_partly_untouched(std::uint64_t y) {
  return static_cast<std::uint32_t>(y) == 0x7777'7777 || y >> 32 == 0x7777'7777;
}
constexpr std::size_t kGuard = 64;  // elements before and after y

/// Calls it with fresh numbers, and throws y away.
Ending call_once(const Call& c, std::uint64_t failing = 0) {
  const LastNumbers x(fresh_numbers(c.n));
  std::vector<std::uint64_t> memory(c.n + 2 * kGuard);
  return call(x.data(), c, memory.data() + kGuard, failing);
}

/// Ok if a call writes the states into y, when it returns and nowhere else, and keeps nothing for the next call.
course::Verdict writes_states(const Call& c) {
  const std::vector<std::uint32_t> x = fresh_numbers(c.n), x_before = x;
  std::vector<std::uint64_t> memory(c.n + 2 * kGuard, kUntouched), at_end;
  const Ending ending = call(x.data(), c, memory.data() + kGuard, 0, [&] { at_end = memory; });
  if (ending.thrown) {
    return {false, std::string("expected no exception, found course::CudaError with ") +
                       cudaGetErrorName(*ending.thrown)};
  }
  const auto first = at_end.begin() + kGuard, last = at_end.end() - kGuard;
  const std::vector<std::uint64_t> y(first, last);
  std::vector<std::uint64_t> expected;
  for (const std::uint32_t number : x_before) expected.push_back(state_after(number, c.steps));
  const auto untouched = [](std::uint64_t value) { return value == kUntouched; };
  const auto inputs = [&](std::size_t i) {
    const std::string numbers = "x[" + std::to_string(i) + "] = " + std::to_string(x[i]) + " and " +
                                course::counted(c.steps, "step");
    if (!is_partly_untouched(y[i])) return numbers;
    return numbers +
           ";\nit holds, at least in part, what it held before the call: are all bytes of y "
           "copied back\nbefore host_program returns?";
  };
  if (const auto verdict = course::same(y, expected, "y", inputs); !verdict) return verdict;
  if (!std::all_of(at_end.begin(), first, untouched) ||
      !std::all_of(last, at_end.end(), untouched)) {
    return {false, "y: the host's memory before or after its n elements was overwritten"};
  }
  if (const auto verdict = course::same(x, x_before, "x", "x is the caller's, and only to be read");
      !verdict) {
    return verdict;
  }
  return gives_everything_back(ending);
}

// ---- time ---------------------------------------------------------------------------------------

/// Ok if a time is neither shorter than the kernel nor longer than what lies around it alone; for
/// rounding, a microsecond and a hundred-thousandth are allowed.
course::Verdict time_within(double microseconds, double kernel, double room) {
  const auto rounded = [](double us) { return course::number_text(static_cast<std::int64_t>(us)); };
  const std::string found = ", found " + course::number_text(static_cast<float>(microseconds));
  if (!(microseconds * 1.00001 + 1 >= kernel)) {
    const bool is_milliseconds = microseconds * 1001 >= kernel;
    return {false, "microseconds: expected at least " + rounded(kernel) + found +
                       (is_milliseconds
                            ? "\nAre they milliseconds, as cudaEventElapsedTime gives them?"
                            : "\nThe kernel alone took so long. A launch only starts it: wait for "
                              "its end before the clock is read,\nand look whether the call that "
                              "tells the time fails.")};
  }
  if (!(microseconds <= room * 1.00001 + 1)) {
    return {
        false,
        "microseconds: expected at most " + rounded(room) + found +
            "\nSo long was it from the last copy, memset or allocation before the kernel "
            "to the first one after it:\ndoes the time contain one of them, are the events recorded in "
            "another stream than the kernel's, or has the time another unit?"};
  }
  return {};
}

/// Ok if it returns the time of the kernel alone. On a GPU the shortest of some calls
/// counts, and is compared with launches and copies that are measured here.
course::Verdict returns_kernel_time(const Call& c) {
  if (course::kCpuDevice) {
    const Ending ending = call_once(c);
    if (!ending.microseconds) return {false, "expected a time, found an exception"};
    return time_within(*ending.microseconds, ending.run->kernel_microseconds,
                       ending.run->room_microseconds);
  }
  const std::vector<std::uint32_t> x = fresh_numbers(c.n);
  course::DeviceBuffer<std::uint32_t> d_x(c.n);
  course::DeviceBuffer<std::uint64_t> d_y(c.n);
  double returned = 1e12, kernel = 1e12, copy = 1e12;
  for (int i = 0; i < kAttempts; ++i) {
    const course::HostTimer copying;
    d_x.upload(x);
    copy = std::min(copy, copying.microseconds());
    course::EventTimer timer;
    timer.start();
    course::launch(advance, {course::blocks_for(c.n, c.block), c.block}, d_x.data(), c.n, c.steps,
                   d_y.data());
    timer.stop();
    kernel = std::min(kernel, timer.microseconds());
    returned = std::min(returned, call_once(c).microseconds.value());
  }
  return time_within(returned, kernel / 4, 2 * kernel + copy / 2);
}

// ---- what is given back -------------------------------------------------------------------------

course::Verdict leaves_no_error(const Ending& ending) {
  if (ending.left == cudaSuccess) return {};
  return {false, std::string("CUDA holds an error that host_program left: ") +
                     cudaGetErrorName(ending.left) +
                     ".\nThe next check after a launch would report it: cudaGetLastError() reads "
                     "and clears it."};
}

/// Ok if it told of the error with this code, if there is one, and gave everything
/// back.
course::Verdict tells_of(std::optional<cudaError_t> code, const Ending& ending,
                         const std::string& hint) {
  if (!ending.thrown) return {false, "expected course::CudaError, found no exception\n" + hint};
  if (code && *ending.thrown != *code) {
    return {false, std::string("expected course::CudaError with ") + cudaGetErrorName(*code) +
                       ", found " + cudaGetErrorName(*ending.thrown) + "\n" + hint};
  }
  if (const auto verdict = gives_everything_back(ending); !verdict) return verdict;
  return leaves_no_error(ending);
}

/// The same failure, which also says which CUDA call failed on purpose, and ends so.
course::Verdict on_purpose(const course::Verdict& failure, const std::string& line,
                           const std::string& end) {
  return {false, failure.text + "\nOn purpose, the CUDA call at " + line + " failed with " +
                     cudaGetErrorName(kInjected) + end};
}

/// Ok if it tells of every CUDA call that fails, whichever it is.
course::Verdict tells_of_every_failing_call(const Call& c) {
  for (std::uint64_t number = 1;; ++number) {
    const Ending ending = call_once(c, number);
    if (!ending.failed_line || ending.failed_line->empty()) return {};
    const auto verdict = host_program_check::tells_of(
        kInjected, ending,
        "CUDA_CHECK(...) around every call and CUDA_CHECK_LAUNCH() after "
        "the launch throw it.");
    if (!verdict) return on_purpose(verdict, *ending.failed_line, ".");
  }
}

/// Ok if it tells of an error after which all calls fail, also those of a destructor.
course::Verdict tells_of_lasting_errors(const Call& c) {
  for (std::uint64_t number = 1;; ++number) {
    const LastNumbers x(fresh_numbers(c.n));
    std::vector<std::uint64_t> y(c.n);
    std::optional<cudaError_t> thrown;
    const auto failed_line = course::with_lasting_error(number, kInjected, [&] {
      try {
        host_program(x.data(), c.n, c.steps, c.block, y.data());
      } catch (const course::CudaError& error) {
        thrown = error.code();
      }
    });
    if (!failed_line || failed_line->empty()) return {};
    if (thrown == kInjected) continue;
    return {false, "expected course::CudaError with " + std::string(cudaGetErrorName(kInjected)) +
                       ", found " + (thrown ? cudaGetErrorName(*thrown) : "no exception") +
                       "\nOn purpose, the CUDA call at " + *failed_line +
                       " and all after it failed with that error."};
  }
}

/// Ok if it tells of a launch that was refused, and not of a call after it that fails, too.
course::Verdict tells_of_the_refusal(const Call& c, unsigned too_large) {
  for (std::uint64_t number = 1;; ++number) {
    const Ending launched = call_once(c, number);
    if (!launched.failed_line || launched.failed_line->empty()) return {};
    if (launched.run->kernels == 0) continue;  // the call that fails comes before the launch
    const Ending refused = call_once({c.n, c.steps, too_large}, number);
    const auto verdict = host_program_check::tells_of(
        cudaErrorInvalidConfiguration, refused,
        "CUDA refuses the launch: that is the first error. CUDA_CHECK_LAUNCH() right after the launch "
        "throws it.");
    if (!verdict) return on_purpose(verdict, *launched.failed_line, " after it.");
  }
}

std::size_t free_memory() {
  std::size_t free = 0, total = 0;
  CUDA_CHECK(cudaDeviceSynchronize());
  CUDA_CHECK(cudaMemGetInfo(&free, &total));
  return free;
}

/// Ok if calls leave the GPU as much free memory as there was: only what is lost in each attempt is
/// a leak. The CPU device and compute-sanitizer tell of leaks themselves.
course::Verdict leaves_memory_free(unsigned block) {
  if (course::skip_large()) return {};
  const Call c = {std::size_t{1} << 22, 1, block};
  const std::size_t one_array = c.n * sizeof(std::uint32_t);
  std::size_t lost = 0;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    call_once(c);
    const std::size_t before = free_memory();
    for (int i = 0; i < 3; ++i) call_once(c);
    const std::size_t after = free_memory();
    lost = before - std::min(before, after);
    if (lost < 2 * one_array) return {};
  }
  return {false, "three calls with n = " + std::to_string(c.n) + ", block " +
                     std::to_string(block) + " have taken " + std::to_string(lost >> 20) +
                     " MiB of the GPU's memory and not given them back"};
}

// Promise: it runs the kernel on n numbers (UNINITIALISED MEMORY if x is not copied, or not all of
// it).
// Promise: h_x is only read.
// Promise: h_y is written, all of it before the return, and nothing beside it (OUT OF BOUNDS if
// the array on the device is too small).
// Promise: nothing else of the caller is read (x ends where memory ends: a longer copy crashes at
// its line).
TEST_CASE("host_program: y has all states when it returns, at every size") {
  for (const std::size_t n : course::all_sizes()) {
    for (const unsigned block : {96u, 256u}) {
      const Call c = {n, 3, block};
      INFO(text(c));
      if (n > 0) REQUIRE(writes_states(c));
    }
  }
}

// Promise: the kernel takes `steps` steps, in blocks of `block` threads, at least 1.
TEST_CASE("host_program: the kernel takes the steps that the caller wants, in blocks of any size") {
  for (const unsigned steps : {0u, 1u, 100u}) {
    for (const unsigned block : {1u, 50u, 1000u, 1024u}) {
      const Call c = {kSmall.n, steps, block};
      INFO(text(c));
      REQUIRE(writes_states(c));
    }
  }
}

// Promise: n == 0 launches nothing, returns 0, and is no error.
TEST_CASE("host_program: nothing is launched for no elements, and that is no error") {
  const Call c = {0, 3, 256};
  INFO(text(c));
  REQUIRE(writes_states(c));
  const Ending ending = call_once(c);
  REQUIRE(course::same(ending.microseconds.value(), 0.0, "microseconds"));
  if (ending.run) REQUIRE(course::same(ending.run->kernels, 0, "kernels"));
}

// Promise: it launches the kernel once, in as many blocks as n elements need, and no more (0
// launches if the host computes).
TEST_CASE("host_program: one kernel is launched, with the blocks that n elements need") {
  course::skip_without_counters();
  for (const std::size_t n : {1, 32, 257, 1024}) {
    for (const unsigned block : {32u, 50u, 1024u}) {
      const Call c = {n, 1, block};
      INFO(text(c));
      const auto counters = course::count([&] { call_once(c); });
      REQUIRE(grid_checks::grid_fits(*counters, n, block));
      REQUIRE(course::same(counters->global_store_lanes, n, "elements that the kernel stores",
                           "the kernel computes, not the host"));
    }
  }
}

// Promise: it returns the time of all of the kernel, in microseconds (compared with when the CPU
// device ran it, on a GPU with launches that the check times).
TEST_CASE("host_program: the time is that of the whole kernel") {
  course::skip_under_sanitizer(kSlowedDown);
  INFO(text(kMuchWork));
  REQUIRE(returns_kernel_time(kMuchWork));
}

// Promise: the time is of no copy, memset or allocation (on the CPU device it fits between what
// ran before and after the kernel, on a GPU it is less than the kernel and half of a copy of 64
// MiB).
TEST_CASE("host_program: the time has no copy, memset or allocation in it") {
  course::skip_under_sanitizer(kSlowedDown);
  INFO(text(kMuchMemory));
  REQUIRE(returns_kernel_time(kMuchMemory));
}

// Promise: it gives back all memory, events and streams that it took (a GPU shows memory alone).
TEST_CASE("host_program: memory, events and streams are given back") {
  INFO(text(kSmall));
  REQUIRE(gives_everything_back(call_once(kSmall)));
  REQUIRE(leaves_memory_free(kSmall.block));
}

// Promise: a cudaGetLastError() after it finds no error.
// Promise: device memory of the caller stays as it is (cudaDeviceReset frees it).
TEST_CASE("host_program: no error is left, and memory of the caller stays") {
  INFO(text(kSmall) << "; the caller has device memory of its own");
  const std::vector<int> values = course::position_values<int>(1000);
  const auto of_the_caller = course::DeviceBuffer<int>::from(values);
  REQUIRE(leaves_no_error(call_once(kSmall)));
  std::vector<int> after(values.size());
  const cudaError_t error =
      cudaMemcpy(after.data(), of_the_caller.data(), of_the_caller.bytes(), cudaMemcpyDeviceToHost);
  static_cast<void>(cudaGetLastError());
  INFO("the copy of it after the call: " << cudaGetErrorName(error));
  REQUIRE(course::same(after, values, "the caller's device memory"));
}

// Promise: if CUDA refuses the launch, it throws course::CudaError, and gives everything back.
TEST_CASE("host_program: a launch that CUDA refuses is an exception, and all is given back") {
  course::skip_under_sanitizer();
  for (const unsigned block : {1025u, 2048u}) {
    const Call c = {kSmall.n, 1, block};
    INFO(text(c));
    const Ending ending = call_once(c);
    REQUIRE(host_program_check::tells_of(
        {}, ending,
        "CUDA refuses blocks of more than 1024 threads, and only a check "
        "after the launch tells."));
    const bool is_refusal = *ending.thrown == cudaErrorInvalidConfiguration ||
                            *ending.thrown == cudaErrorInvalidValue;  // CUDA 13 on a GPU
    INFO("thrown: " << cudaGetErrorName(*ending.thrown));
    REQUIRE(is_refusal);
    REQUIRE(leaves_memory_free(block));
    REQUIRE(writes_states(kSmall));
  }
}

// Promise: the code that it throws is that of the first error.
TEST_CASE("host_program: too little memory is an exception, and all is given back") {
  course::skip_under_sanitizer();
  Addresses<std::uint32_t> x(kTooMuchMemory.n);
  Addresses<std::uint64_t> y(kTooMuchMemory.n);
  if (x.data() == nullptr || y.data() == nullptr) SKIP("needs 3 TiB of addresses");
  INFO(text(kTooMuchMemory));
  REQUIRE(host_program_check::tells_of(cudaErrorMemoryAllocation,
                                       call(x.data(), kTooMuchMemory, y.data()),
                                       "No device has so much memory."));
  if (course::kCpuDevice) {
    INFO("on purpose, the first CUDA call fails with " << cudaGetErrorName(kInjected));
    REQUIRE(host_program_check::tells_of(kInjected, call(x.data(), kTooMuchMemory, y.data(), 1),
                                         "The first error counts."));
  }
  REQUIRE(writes_states(kSmall));
}

// Promise: if a CUDA call fails, it throws course::CudaError with the code of that error, and
// gives everything back (each call of the CPU device fails in turn, with a code that no program
// throws by chance).
TEST_CASE("host_program: any CUDA call that fails is an exception, and all is given back") {
  if (!course::kCpuDevice) SKIP("a GPU's calls cannot be made to fail: build with -Ddevice=cpu");
  INFO(text(kSmall));
  REQUIRE(tells_of_every_failing_call(kSmall));
}

// Promise: it throws the first error: that of a launch which CUDA refuses, not that of a later call.
TEST_CASE("host_program: a launch that is refused, and a call after it that fails") {
  if (!course::kCpuDevice) SKIP("a GPU's calls cannot be made to fail: build with -Ddevice=cpu");
  constexpr unsigned kTooLarge = 2048;
  INFO(text({kSmall.n, kSmall.steps, kTooLarge}));
  REQUIRE(tells_of_the_refusal(kSmall, kTooLarge));
}

// Promise: it throws the first error, also where every later call fails: those that give something back
// may fail unnoticed (an exception of a destructor ends the program).
TEST_CASE("host_program: an error that lasts is an exception, and no destructor throws another") {
  if (!course::kCpuDevice) SKIP("a GPU's calls cannot be made to fail: build with -Ddevice=cpu");
  INFO(text(kSmall) << "; on purpose, a CUDA call and all calls after it fail");
  REQUIRE(tells_of_lasting_errors(kSmall));
}

}  // namespace host_program_check
