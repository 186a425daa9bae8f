// Check of the exercise system_counter: the kernel alone, parts on one to four devices in every
// order, who waits for whom, and how many atomics it takes.
#include "system_counter.cuh"

#include <algorithm>
#include <course/check.cuh>
#include <course/collectives.cuh>
#include <course/host_memory.cuh>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <type_traits>
#include <vector>

#include "checks/errors.cuh"

namespace system_counter_check {

static_assert(std::is_same_v<decltype(DeviceValues::device), int> &&
                  std::is_same_v<decltype(DeviceValues::d_values), const int*> &&
                  std::is_same_v<decltype(DeviceValues::n), std::size_t>,
              "DeviceValues has an int device, a const int* d_values, and a std::size_t n");

// ---- values, and how many of them are on which device ------------------------------------------

constexpr int kKey = 3;
constexpr unsigned long long kBefore = 1000;  // what the counter holds before the call

/// 0 to 9 in no order: a tenth of them equal kKey, and another tenth does so in the lower or the upper
/// half of its bits only.
std::vector<int> make_values(std::size_t n, std::uint32_t seed) {
  constexpr int kNearly[] = {kKey + 256, kKey + (1 << 16), kKey - (1 << 30), ~kKey, -kKey};
  std::vector<int> values = course::position_values<int>(n, seed);
  for (int& value : values) {
    value = value % 10 == 7 ? kNearly[value / 10 % std::size(kNearly)] : value % 10;
  }
  return values;
}

unsigned long long matches(const std::vector<int>& values) {
  return static_cast<unsigned long long>(std::count(values.begin(), values.end(), kKey));
}

/// A part as the test wants it: so many values on that device.
struct Wanted {
  int device;
  std::size_t n;
};

std::string to_string(const std::vector<Wanted>& wanted) {
  std::string text;
  for (const Wanted& part : wanted) {
    text += (text.empty() ? "" : ", ") + std::to_string(part.n) +
            (part.n == 1 ? " value on device " : " values on device ") +
            std::to_string(part.device);
  }
  return text.empty() ? "no parts" : text;
}

/// A copy of h_values in device memory, complete for streams that do not wait for the default one, too.
course::DeviceBuffer<int> uploaded(const std::vector<int>& h_values) {
  auto values = course::DeviceBuffer<int>::from(h_values);
  CUDA_CHECK(cudaDeviceSynchronize());
  return values;
}

/// Parts with their memory, and the right answer.
class Parts {
 public:
  explicit Parts(const std::vector<Wanted>& wanted) {
    std::uint32_t seed = 1;
    for (const Wanted& part : wanted) {
      const course::OnDevice on(part.device);
      const std::vector<int> values = make_values(part.n, seed++);
      memory_.push_back(uploaded(values));
      parts.push_back({part.device, memory_.back().data(), part.n});
      expected += matches(values);
    }
  }
  std::vector<DeviceValues> parts;
  unsigned long long expected = kBefore;

 private:
  std::vector<course::DeviceBuffer<int>> memory_;
};

// ---- one call, and one launch ------------------------------------------------------------------

void check_parts(const std::vector<Wanted>& wanted) {
  INFO("count_on_all_devices(parts, " << kKey << ", counter): " << to_string(wanted)
                                      << "; *counter holds " << kBefore << " before");
  const Parts p(wanted);
  course::ManagedBuffer<unsigned long long> counter(1);
  counter[0] = kBefore;
  try {
    count_on_all_devices(p.parts, kKey, counter.data());
  } catch (const course::CudaError& error) {
    FAIL(error.what());
  }
  const char* const hint =
      "Too small: was every device waited for? cudaDeviceSynchronize() waits for the current one.";
  REQUIRE(course::same(counter[0], p.expected, "*counter", counter[0] < p.expected ? hint : ""));
}

course::Verdict throws_error(const std::vector<DeviceValues>& parts) {
  course::ManagedBuffer<unsigned long long> counter(1);
  counter[0] = kBefore;
  return error_checks::throws_error([&] { count_on_all_devices(parts, kKey, counter.data()); });
}

/// One launch of the kernel on the current device.
void check_kernel(std::size_t n, course::LaunchShape launch) {
  INFO("n = " << n << "; " << course::launch_text("count_equal", launch) << "; *counter holds "
              << kBefore << " before");
  const std::vector<int> h_values = make_values(n, 7);
  const course::Placed<int> values(h_values, 1);  // an int may be anywhere
  course::ManagedBuffer<unsigned long long> counter(1);
  counter[0] = kBefore;
  course::launch(count_equal, {launch.grid, launch.block}, values.data(), n, kKey, counter.data());
  CUDA_CHECK(cudaDeviceSynchronize());
  REQUIRE(course::same(counter[0], kBefore + matches(h_values), "*counter"));
}

// Promise: the kernel adds to *counter how many of values[0], ..., values[n-1] equal `key`.
// Promise: the kernel is right for every one-dimensional grid of blocks of 32, 64,
// ..., 1024 threads, and n = 0.
TEST_CASE("system_counter: the kernel at every size and grid") {
  std::size_t turn = 0;
  for (const std::size_t n : course::kSizes) {
    const std::vector<course::LaunchShape> launches = course::launch_shapes(n);
    for (int i = 0; i < 3; ++i) check_kernel(n, launches[turn++ % launches.size()]);
  }
  for (const course::LaunchShape launch : course::launch_shapes(1025)) check_kernel(1025, launch);
}

// Promise: a grid may have more than 2^32 threads.
TEST_CASE("system_counter: the kernel in a grid of more than 2^32 threads") {
  course::in_huge_grids(65, [](course::LaunchShape grid) { check_kernel(65, grid); });
}

// Promise: n is any number that fits in std::size_t (the first values).
TEST_CASE("system_counter: the kernel counts the first of more than 2^32 values") {
  if (!course::kCpuDevice)
    SKIP("a GPU runs all blocks, and counts all values in another test case");
  std::vector<int> h_values = make_values(1000, 7);
  h_values.resize(course::kFrontItems, kKey + 1);
  const auto values = course::DeviceBuffer<int>::from(h_values);
  course::ManagedBuffer<unsigned long long> counter(1);
  counter[0] = kBefore;
  INFO("n = " << course::kHugeItems << "; " << course::launch_text("count_equal", course::kHugeGrid)
              << "; no value from values[1000] on equals the key; *counter holds " << kBefore
              << " before");
  course::at_front_of_huge_grid([&](course::LaunchShape grid, std::size_t items) {
    course::launch(count_equal, {grid.grid, grid.block}, values.data(), items, kKey,
                   counter.data());
    CUDA_CHECK(cudaDeviceSynchronize());
    REQUIRE(course::same(counter[0], kBefore + matches(h_values), "*counter"));
  });
}

// Promise: a thread may count more than 2^16 matches, and a block more than 2^21 (2^32 on a GPU).
TEST_CASE("system_counter: the kernel counts very many matches of a thread, and of a block") {
  if (course::has_run_before()) return;
  constexpr std::size_t n = course::kCpuDevice ? 2'200'000 : (std::size_t{1} << 32) + 1000;
  if (!course::kCpuDevice) course::skip_without_memory(n * sizeof(int));
  const course::LaunchShape launch{1, course::kCpuDevice ? 32u : 1024u};
  INFO("n = " << n << ", all values are 0, and the key is 0; "
              << course::launch_text("count_equal", launch) << "; *counter holds 0 before");
  const auto values = course::DeviceBuffer<int>::zeros(n);
  course::ManagedBuffer<unsigned long long> counter(1);
  counter[0] = 0;
  course::launch(count_equal, {launch.grid, launch.block}, values.data(), n, 0, counter.data());
  CUDA_CHECK(cudaDeviceSynchronize());
  REQUIRE(course::same<unsigned long long>(counter[0], n, "*counter"));
}

// Promise: a block makes at most one atomic.
// Promise: the threads of the grid share the work.
TEST_CASE("system_counter: the kernel makes at most one atomic per block") {
  course::skip_without_counters();
  const auto counters = course::count([] { check_kernel(4096, {4, 256}); });
  INFO("n = 4096; count_equal<<<4, 256>>>; a tenth of the values match");
  REQUIRE(course::at_most(counters->global_atomic_lanes, 4, "atomics on *counter",
                          "sum the block's matches first, with course::block_reduce()"));
  REQUIRE(course::work_is_shared(*counters, 2 * 4 + 4));
}

// Promise: *counter can be read when count_on_all_devices() returns.
// Promise: kernels of other devices add to *counter at the same time (DATA RACE of two devices).
TEST_CASE("system_counter: one to four devices") {
  for (int devices = 1; devices <= 4; ++devices) {
    course::with_devices(devices, [&] {
      for (const std::size_t n : {1u, 257u, 1025u}) {
        std::vector<Wanted> wanted;
        for (int device = 0; device < devices; ++device) wanted.push_back({device, n});
        check_parts(wanted);
      }
    });
  }
}

// Promise: each part is counted by the device that has it (MEMORY OF ANOTHER DEVICE).
// Promise: a device may have several parts, or none, and a part may be empty.
TEST_CASE("system_counter: uneven parts, empty parts, devices without a part") {
  const std::vector<std::vector<Wanted>> all = {
      {},                                    // nothing to do
      {{0, 0}},                              // an empty part
      {{0, 0}, {1, 100}},                    // device 0 has nothing
      {{0, 300}, {1, 0}},                    // device 1 has nothing
      {{1, 333}},                            // device 0 takes no part
      {{1, 40}, {0, 2000}},                  // not in the order of the devices
      {{0, 10}, {1, 20}, {0, 700}, {1, 1}},  // two parts each
      {{0, 5}, {0, 600}, {0, 7}},            // all on one
      {{0, course::kBigSize}, {1, 31}},
  };
  course::on_devices(2, [&] {
    for (const std::vector<Wanted>& wanted : all) check_parts(wanted);
  });
}

// Promise: no value gets lost if many blocks of all devices add at the same time.
TEST_CASE("system_counter: many blocks of all devices add at the same time") {
  constexpr int kRepeats = course::kCpuDevice ? 1 : 50;  // a lost update may not show at once
  course::on_devices(2, [] {
    for (int repeat = 0; repeat < kRepeats; ++repeat) {
      check_parts({{0, 2 * course::kBigSize}, {1, 2 * course::kBigSize}});
    }
  });
}

// Promise: `key` is any int, also one that no value equals.
TEST_CASE("system_counter: every key, also one that is not there") {
  const std::vector<int> h_values = make_values(1000, 5);
  const auto values = uploaded(h_values);
  course::ManagedBuffer<unsigned long long> counter(1);
  for (const int key : {0, 1, 9, 10, -1}) {
    INFO("count_on_all_devices(parts, " << key
                                        << ", counter): 1000 values from 0 to 9 on device 0");
    counter[0] = kBefore;
    count_on_all_devices({{0, values.data(), h_values.size()}}, key, counter.data());
    const auto matching = std::count(h_values.begin(), h_values.end(), key);
    REQUIRE(
        course::same(counter[0], kBefore + static_cast<unsigned long long>(matching), "*counter"));
  }
}

// Promise: *counter has 64 bits, and a call adds to what it holds.
TEST_CASE("system_counter: adds to a counter that is close to 2^32; two calls add twice") {
  const Parts p({{0, 1000}});
  course::ManagedBuffer<unsigned long long> counter(1);
  for (const auto before : {0xffff'fff0ull, kBefore}) {
    INFO("1000 values on device 0, counted twice; *counter holds " << before << " before");
    counter[0] = before;
    for (int call = 1; call <= 2; ++call) {
      count_on_all_devices(p.parts, kKey, counter.data());
      REQUIRE(course::same(counter[0], before + call * (p.expected - kBefore), "*counter"));
    }
  }
}

// Promise: each call counts the values that are there now.
TEST_CASE("system_counter: other values in the same memory are counted anew") {
  constexpr std::size_t n = 1000;
  course::DeviceBuffer<int> values(n);
  course::ManagedBuffer<unsigned long long> counter(1);
  for (const std::uint32_t seed : {5u, 6u, 7u}) {
    const std::vector<int> h_values = make_values(n, seed);
    values.upload(h_values);
    CUDA_CHECK(cudaDeviceSynchronize());
    INFO("count_on_all_devices(parts, " << kKey << ", counter): 1000 values on device 0, call "
                                        << seed - 4 << " for the same memory with other values");
    counter[0] = kBefore;
    count_on_all_devices({{0, values.data(), n}}, kKey, counter.data());
    REQUIRE(course::same(counter[0], kBefore + matches(h_values), "*counter"));
  }
}

// Promise: the device that is current before the call is current after it.
TEST_CASE("system_counter: the current device stays the current one") {
  course::on_devices(2, [] {
    error_checks::check_current_device("count_on_all_devices()", [] {
      check_parts({{0, 100}, {1, 100}});
    });
  });
}

// Promise: all devices get their work before the host waits for any of them, also for
// several parts of one device.
TEST_CASE("system_counter: all devices get their work before the host waits") {
  course::skip_without_counters();
  const std::vector<Wanted> wanted = {{0, 900}, {0, 300}, {1, 900}, {2, 900}, {1, 50}, {0, 40}};
  course::with_devices(3, [&] {
    const auto counters = course::count([&] { check_parts(wanted); });
    INFO(to_string(wanted));
    REQUIRE(course::same(counters->devices_at_once, 3u, "devices with work at the same time",
                         "First give all devices their work, then wait for each."));
    REQUIRE(course::same(counters->kernels_at_once, counters->launches,
                         "launches before the host waits for the first time",
                         "Launch for all parts, also for several of one device, and then wait."));
  });
}

// Promise: the call throws course::CudaError if a device is missing, even that of an empty part,
// and the current device stays the current one.
TEST_CASE("system_counter: a missing device is an error") {
  course::skip_under_sanitizer();
  const int devices = course::device_count(), before = devices > 1 ? 1 : 0;
  const Parts p({{0, 100}, {before, 100}});
  const course::OnDevice on(before);
  for (const std::size_t place : {0u, 1u, 2u}) {
    std::vector<DeviceValues> parts = p.parts;
    const auto at = parts.begin() + static_cast<std::ptrdiff_t>(place);
    parts.insert(at, {devices, p.parts[0].d_values, 100});
    for (const std::size_t n : {100u, 0u}) {
      INFO("parts[" << place << "] has " << n << " values on device " << devices << "; only "
                    << devices << " are there");
      parts[place].n = n;
      REQUIRE(system_counter_check::throws_error(parts));
    }
  }
}

// Promise: the call throws course::CudaError if a device fails, and the current device stays the
// current one (CPU device only).
TEST_CASE("system_counter: a device that fails is an error") {
  course::skip_without_checker();  // it would end this process's use of a GPU
  course::with_devices(2, [] {
    for (const int failing : {0, 1}) {
      course::Verdict verdict;
      static_cast<void>(course::find_races([&] {
        Parts p({{0, 100}, {1, 100}});
        p.parts[static_cast<std::size_t>(failing)].n = 5000;
        verdict = system_counter_check::throws_error(p.parts);
      }));
      INFO("parts[" << failing << "] says 5000 values, and its memory has 100, so that device "
                    << failing << " fails");
      REQUIRE(verdict);
    }
  });
}

// Promise: the call throws course::CudaError if a CUDA call fails without which the count is wrong, also that which waits for
// a device, and the device that is current before is current after the error (CPU device only).
TEST_CASE(
    "system_counter: whichever CUDA call fails, the error is told, and the current device stays the current one") {
  course::skip_without_checker();  // no call of a GPU can be made to fail
  if (course::has_run_before()) return;
  course::with_devices(3, [] {
    const Parts p({{0, 100}, {2, 100}, {1, 100}});
    const course::OnDevice on(1);
    course::ManagedBuffer<unsigned long long> counter(1);
    INFO("100 values on each of 3 devices; device 1 is current before");
    REQUIRE(error_checks::tells_errors([&] {
      counter[0] = kBefore;
      count_on_all_devices(p.parts, kKey, counter.data());
      return course::same(counter[0], p.expected, "*counter");
    }));
  });
}

}  // namespace system_counter_check
