// Races of kernels on different devices: what orders two launches, and which accesses need it.
#include <catch2/catch_test_macros.hpp>
#include <cuda/atomic>
#include <string>
#include <vector>

#include "testing.hpp"

using simt::ReportKind;
using namespace simt_test;

namespace {

// Every kernel takes one thread or more; x is memory of both devices.

__global__ void load(const int* x, int* y) { *y = *x; }
constexpr int kStoreLine = __LINE__ + 1;
__global__ void store(int* x) { x[threadIdx.x] = 1; }
__global__ void store_at(int* x, int i) { x[i] = 1; }
__global__ void store_bytes(char* x, int first) { x[first + threadIdx.x] = 1; }
constexpr int kAddLine = __LINE__ + 1;
__global__ void add(int* x) { atomicAdd(x, 1); }
__global__ void add_block(int* x) { atomicAdd_block(x, 1); }
constexpr int kAddSystemLine = __LINE__ + 1;
__global__ void add_system(int* x) { atomicAdd_system(x, 1); }
__global__ void add_ref_device(int* x) {
  cuda::atomic_ref<int, cuda::thread_scope_device>(*x).fetch_add(1, cuda::memory_order_relaxed);
}
__global__ void add_ref_system(int* x) {
  cuda::atomic_ref<int>(*x).fetch_add(1, cuda::memory_order_relaxed);
}
__global__ void load_ref_device(int* x, int* y) {
  *y = cuda::atomic_ref<int, cuda::thread_scope_device>(*x).load(cuda::memory_order_relaxed);
}
__global__ void load_ref_system(int* x, int* y) {
  *y = cuda::atomic_ref<int>(*x).load(cuda::memory_order_relaxed);
}
__global__ void load_volatile(volatile int* x, int* y) { *y = *x; }

/// A compare-and-swap loop, which reads plainly first.
__global__ void maximum_system(int* x, int value) {
  int old = *x, assumed = 0;
  do {
    assumed = old;
    old = atomicCAS_system(x, assumed, assumed < value ? value : assumed);
  } while (old != assumed);
}
/// The same, but what it has read goes nowhere near the atomicCAS.
__global__ void read_then_swap(int* x, int* y) {
  *y = *x;
  atomicCAS_system(x, -5, 1);
}

/// Each device writes its part; the last one to arrive sums them.
template <class Fence>
__device__ void last_adds_up(int* parts, int* arrived, int* sum, int device, Fence fence) {
  parts[device] = device + 1;
  fence();
  if (atomicAdd_system(arrived, 1) == 1) {
    fence();
    *sum = parts[0] + parts[1];
  }
}
__global__ void last_adds_up_system(int* parts, int* arrived, int* sum, int device) {
  last_adds_up(parts, arrived, sum, device, [] { __threadfence_system(); });
}
__global__ void last_adds_up_device(int* parts, int* arrived, int* sum, int device) {
  last_adds_up(parts, arrived, sum, device, [] { __threadfence(); });
}
__global__ void last_adds_up_unfenced(int* parts, int* arrived, int* sum, int device) {
  last_adds_up(parts, arrived, sum, device, [] {});
}
/// Writes its part too late for the others.
__global__ void arrives_early(int* parts, int* arrived, int* sum, int device) {
  __threadfence_system();
  const int before = atomicAdd_system(arrived, 1);
  parts[device] = device + 1;
  __threadfence_system();
  if (before == 1) *sum = parts[0] + parts[1];
}
/// Arrival alone, for parts that a kernel before has written.
__global__ void last_of_launch_adds_up(const int* parts, int* arrived, int* sum) {
  __threadfence_system();
  if (atomicAdd_system(arrived, 1) == 1) {
    __threadfence_system();
    *sum = parts[0] + parts[1];
  }
}
/// Several blocks: the last one of each device arrives for all of them.
__global__ void last_block_arrives(int* parts, int* of_device, int* arrived, int* sum, int device) {
  const int blocks = static_cast<int>(gridDim.x);
  parts[device * blocks + blockIdx.x] = 1;
  __threadfence();
  if (atomicAdd(of_device, 1) != blocks - 1) return;
  __threadfence_system();
  if (atomicAdd_system(arrived, 1) != 1) return;
  __threadfence_system();
  *sum = 0;
  for (int i = 0; i < 2 * blocks; ++i) *sum += parts[i];
}

// ---- helpers ------------------------------------------------------------------------------------

/// What devices share lies in pinned memory here. Whether it has atomics is one test's question.
const bool pinned_memory_has_atomics = (simt::set_host_atomics(true), true);

/// Launches both on their devices with nothing in between.
template <class First, class Second>
Outcome together(const First& first, const Second& second, std::uint64_t seed = 0) {
  return observe(
      [&] {
        {
          const On on(0);
          first();
        }
        const On on(1);
        second();
      },
      seed);
}

/// The pair in both orders of launching, under several schedules: a race each time, or never.
template <class First, class Second>
std::string always(bool race, const First& first, const Second& second) {
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    for (const bool swapped : {false, true}) {
      const Outcome outcome =
          swapped ? together(second, first, seed) : together(first, second, seed);
      const bool found = outcome.found(ReportKind::race);
      if (found != race || (!race && !outcome.clean())) {
        return "seed " + std::to_string(seed) + (swapped ? ", swapped: " : ": ") +
               (outcome.clean() ? "nothing" : outcome.text());
      }
    }
  }
  return "";
}

/// Whether a store on device 0 and then one on device 1 race, with `between` by the host between
/// the two launches. The streams are those in which they run.
std::string between(bool race, const std::function<void()>& act, cudaStream_t first = nullptr,
                    cudaStream_t second = nullptr) {
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    const Pinned x(1), own(1);
    const Outcome outcome = observe(
        [&] {
          {
            const On on(1);  // races are looked for once a second device is in use
            store<<<1, 1>>>(own.data);
          }
          store<<<1, 1, 0, first>>>(x.data);
          act();
          const On on(1);
          store<<<1, 1, 0, second>>>(x.data);
        },
        seed);
    if (outcome.found(ReportKind::race) != race || (!race && !outcome.clean())) {
      return "seed " + std::to_string(seed) + ": " + (outcome.clean() ? "nothing" : outcome.text());
    }
  }
  return "";
}

}  // namespace

// ---- which accesses -----------------------------------------------------------------------------

TEST_CASE("of two kernels that nothing orders, one that writes makes a race") {
  const Pinned x(64), y(1), z(1);
  const auto loads = [&] { load<<<1, 1>>>(x.data, y.data); };
  const auto loads_too = [&] { load<<<1, 1>>>(x.data, z.data); };
  const auto stores = [&] { store<<<1, 32>>>(x.data); };
  const auto stores_elsewhere = [&] { store<<<1, 32>>>(x.data + 32); };
  CHECK(always(false, loads, loads_too) == "");
  CHECK(always(true, loads, stores) == "");
  CHECK(always(true, stores, stores) == "");
  CHECK(always(false, stores, stores_elsewhere) == "");
}

TEST_CASE("neighbouring bytes of two devices are no race") {
  const Pinned x(2);
  auto* const bytes = reinterpret_cast<char*>(x.data);
  const auto first = [&] { store_bytes<<<1, 3>>>(bytes, 0); };
  const auto next = [&] { store_bytes<<<1, 3>>>(bytes, 3); };
  const auto overlapping = [&] { store_bytes<<<1, 3>>>(bytes, 2); };
  CHECK(always(false, first, next) == "");
  CHECK(always(true, first, overlapping) == "");
  for (const bool swapped : {false, true}) {  // what was remembered of a word holds for its bytes
    const Pinned y(1);
    const auto word = [&] { store<<<1, 1>>>(y.data); };
    const auto last_byte = [&] { store_bytes<<<1, 1>>>(reinterpret_cast<char*>(y.data), 3); };
    const Outcome outcome = swapped ? together(last_byte, word) : together(word, last_byte);
    CHECK(outcome.found(ReportKind::race));
  }
}

TEST_CASE("atomics of two devices need system scope, both") {
  const Pinned x(1);
  const auto narrow = [&] { add<<<2, 32>>>(x.data); };
  const auto block = [&] { add_block<<<1, 32>>>(x.data); };
  const auto system = [&] { add_system<<<2, 32>>>(x.data); };
  const auto ref_narrow = [&] { add_ref_device<<<1, 32>>>(x.data); };
  const auto ref_system = [&] { add_ref_system<<<1, 32>>>(x.data); };
  CHECK(always(false, system, system) == "");
  CHECK(always(false, system, ref_system) == "");
  CHECK(always(true, narrow, narrow) == "");
  CHECK(always(true, narrow, system) == "");
  CHECK(always(true, block, system) == "");
  CHECK(always(true, ref_narrow, ref_system) == "");
}

TEST_CASE("loads beside atomics of another device") {
  const Pinned x(1), y(1);
  const auto system = [&] { add_system<<<1, 32>>>(x.data); };
  const auto stores = [&] { store<<<1, 1>>>(x.data); };
  CHECK(always(true, system, [&] { load<<<1, 1>>>(x.data, y.data); }) == "");
  CHECK(always(true, system, [&] { load_ref_device<<<1, 1>>>(x.data, y.data); }) == "");
  CHECK(always(false, system, [&] { load_ref_system<<<1, 1>>>(x.data, y.data); }) == "");
  CHECK(always(false, system, [&] { load_volatile<<<1, 1>>>(x.data, y.data); }) == "");
  CHECK(always(true, system, stores) == "");
  CHECK(always(true, stores, [&] { load_ref_system<<<1, 1>>>(x.data, y.data); }) == "");
}

TEST_CASE("a compare-and-swap loop of system scope may read plainly first") {
  const Pinned x(1), y(1);
  const auto loop = [&] { maximum_system<<<2, 32>>>(x.data, 7); };
  const auto zeroed = [&](const auto& work) {
    x.data[0] = 0;
    return work();
  };
  CHECK(zeroed([&] { return always(false, loop, loop); }) == "");
  CHECK(zeroed([&] {
          return always(
              true, [&] { read_then_swap<<<1, 1>>>(x.data, y.data); },
              [&] { add_system<<<1, 1>>>(x.data); });
        }) == "");
}

TEST_CASE("pinned memory has no atomics of two devices if the link to it carries none") {
  const Pinned x(1), y(1);
  int* managed = nullptr;
  REQUIRE(cudaMallocManaged(&managed, 4) == cudaSuccess);
  const auto add_on = [](int* p) { return [p] { add_system<<<1, 1>>>(p); }; };
  for (const bool supported : {false, true}) {
    INFO("the link carries atomics: " << supported);
    simt::set_host_atomics(supported);
    int attribute = -1;
    CHECK(cudaDeviceGetAttribute(&attribute, cudaDevAttrHostNativeAtomicSupported, 1) ==
          cudaSuccess);
    CHECK(attribute == (supported ? 1 : 0));
    CHECK(always(!supported, add_on(x.data), add_on(x.data)) == "");
    CHECK(always(!supported, add_on(x.data), [&] { add_ref_system<<<1, 1>>>(x.data); }) == "");
    CHECK(always(false, add_on(x.data), [&] { load_ref_system<<<1, 1>>>(x.data, y.data); }) == "");
    CHECK(always(false, add_on(managed), add_on(managed)) == "");
    CHECK(always(true, add_on(x.data), [&] { add<<<1, 1>>>(x.data); }) == "");
  }
  simt::set_host_atomics(false);
  const Outcome outcome = together(add_on(x.data), add_on(x.data));
  simt::set_host_atomics(true);
  CHECK(outcome.text().find("cudaDevAttrHostNativeAtomicSupported is 0") != std::string::npos);
  CHECK(cudaFree(managed) == cudaSuccess);
}

TEST_CASE("memory that one device alone reaches is no matter of two") {
  const Outcome outcome = observe([] {
    int* d_x[2];
    for (const int device : {0, 1}) {
      const On on(device);
      REQUIRE(cudaMalloc(&d_x[device], 128) == cudaSuccess);
      store<<<1, 32>>>(d_x[device]);
    }
    for (int* p : d_x) CHECK(cudaFree(p) == cudaSuccess);
  });
  INFO(outcome.text());
  CHECK(outcome.clean());
}

TEST_CASE("races on peer memory and managed memory are found") {
  int* d_x = nullptr;
  int* managed = nullptr;
  REQUIRE(cudaMalloc(&d_x, 128) == cudaSuccess);
  REQUIRE(cudaMallocManaged(&managed, 128) == cudaSuccess);
  const auto both = [](int* x) {
    return [x] {
      store<<<1, 32>>>(x);
      const On on(1);
      static_cast<void>(cudaDeviceEnablePeerAccess(0, 0));
      store<<<1, 32>>>(x);
    };
  };
  CHECK(first_miss(ReportKind::race, both(d_x)) == "");
  CHECK(first_miss(ReportKind::race, both(managed)) == "");
  CHECK(cudaFree(d_x) == cudaSuccess);
  CHECK(cudaFree(managed) == cudaSuccess);
}

// ---- what orders --------------------------------------------------------------------------------

TEST_CASE("the host orders launches by waiting for the first") {
  CHECK(between(true, [] {}) == "");
  CHECK(between(false, [] { static_cast<void>(cudaDeviceSynchronize()); }) == "");
  CHECK(between(true, [] {
          const On on(1);  // the wrong device
          static_cast<void>(cudaDeviceSynchronize());
        }) == "");
  CHECK(between(false, [] { static_cast<void>(cudaStreamSynchronize(nullptr)); }) == "");
  CHECK(between(false, [] {
          while (cudaStreamQuery(nullptr) == cudaErrorNotReady) {
          }
        }) == "");
  CHECK(between(true, [] { static_cast<void>(cudaStreamQuery(nullptr)); }) == "");
}

TEST_CASE("a copy that waits orders, one that does not wait does not") {
  int* d_x = nullptr;
  REQUIRE(cudaMalloc(&d_x, 4) == cudaSuccess);
  REQUIRE(cudaMemset(d_x, 0, 4) == cudaSuccess);
  int host = 0;
  CHECK(between(false, [&] {
          static_cast<void>(cudaMemcpy(&host, d_x, 4, cudaMemcpyDeviceToHost));
        }) == "");
  CHECK(between(true, [&] {
          static_cast<void>(cudaMemcpyAsync(&host, d_x, 4, cudaMemcpyDeviceToHost));
        }) == "");
  CHECK(between(true, [&] {
          const On on(1);  // in the default stream of device 1
          static_cast<void>(cudaMemcpy(&host, d_x, 4, cudaMemcpyDeviceToHost));
        }) == "");
  CHECK(cudaFree(d_x) == cudaSuccess);
}

TEST_CASE("an event orders two streams of different devices") {
  const DeviceStream first(0), second(1), other(1);
  const DeviceEvent event(0);
  const auto record = [&] { static_cast<void>(cudaEventRecord(event.handle, first.handle)); };
  const auto wait = [&](const DeviceStream& stream) {
    static_cast<void>(cudaStreamWaitEvent(stream.handle, event.handle));
  };
  const auto run = [&](bool race, const std::function<void()>& act) {
    return between(race, act, first.handle, second.handle);
  };
  CHECK(run(true, record) == "");
  CHECK(run(false, [&] { record(), wait(second); }) == "");
  CHECK(run(true, [&] { record(), wait(other); }) == "");
  CHECK(run(false, [&] {
          record();
          static_cast<void>(cudaEventSynchronize(event.handle));
        }) == "");
  CHECK(run(false, [&] {
          record();
          while (cudaEventQuery(event.handle) == cudaErrorNotReady) {
          }
        }) == "");
  // An event that has happened already orders, too.
  CHECK(run(false, [&] {
          record();
          while (cudaEventQuery(event.handle) == cudaErrorNotReady) {
          }
          wait(second);
        }) == "");
}

TEST_CASE("order is transitive, over a third stream") {
  const DeviceStream first(0), middle(0), second(1);
  const DeviceEvent one(0), two(0);
  const auto chain = [&](bool whole) {
    static_cast<void>(cudaEventRecord(one.handle, first.handle));
    if (whole) static_cast<void>(cudaStreamWaitEvent(middle.handle, one.handle));
    static_cast<void>(cudaEventRecord(two.handle, middle.handle));
    static_cast<void>(cudaStreamWaitEvent(second.handle, two.handle));
  };
  CHECK(between(
            false, [&] { chain(true); }, first.handle, second.handle) == "");
  CHECK(between(
            true, [&] { chain(false); }, first.handle, second.handle) == "");
}

TEST_CASE("default streams order within their device only") {
  const DeviceStream blocking(0), non_blocking(0, cudaStreamNonBlocking);
  const DeviceEvent event(0);
  const auto hand_over = [&] {  // the default stream's event comes after all blocking streams
    static_cast<void>(cudaEventRecord(event.handle, nullptr));
    const On on(1);
    static_cast<void>(cudaStreamWaitEvent(nullptr, event.handle));
  };
  CHECK(between(
            true, [] {}, blocking.handle) == "");  // that is the default stream of device 1
  CHECK(between(false, hand_over, blocking.handle) == "");
  CHECK(between(true, hand_over, non_blocking.handle) == "");
}

TEST_CASE("cudaMemcpyPeer orders what both devices did before with what they do after it") {
  int* d_x[2];
  for (const int device : {0, 1}) {
    const On on(device);
    REQUIRE(cudaMalloc(&d_x[device], 4) == cudaSuccess);
    REQUIRE(cudaMemset(d_x[device], 0, 4) == cudaSuccess);
  }
  const DeviceStream first(0, cudaStreamNonBlocking), second(1, cudaStreamNonBlocking), own(0);
  CHECK(between(
            false, [&] { static_cast<void>(cudaMemcpyPeer(d_x[1], 1, d_x[0], 0, 4)); },
            first.handle, second.handle) == "");
  CHECK(between(
            false, [&] { static_cast<void>(cudaMemcpy(d_x[1], d_x[0], 4, cudaMemcpyDefault)); },
            first.handle, second.handle) == "");
  CHECK(between(
            true,
            [&] { static_cast<void>(cudaMemcpyPeerAsync(d_x[1], 1, d_x[0], 0, 4, own.handle)); },
            first.handle, second.handle) == "");
  for (int* p : d_x) CHECK(cudaFree(p) == cudaSuccess);
}

// ---- fences of system scope ---------------------------------------------------------------------

TEST_CASE("the last device to arrive may read what the others wrote before their fence") {
  const auto run = [](auto kernel) {
    return [kernel] {
      const Pinned parts(2), arrived(1), sum(1);
      for (const int device : {0, 1}) {
        const On on(device);
        kernel<<<1, 1>>>(parts.data, arrived.data, sum.data, device);
      }
      for (const int device : {0, 1}) {
        const On on(device);
        static_cast<void>(cudaDeviceSynchronize());
      }
      return sum.data[0] == 3;
    };
  };
  CHECK(first_complaint(run(last_adds_up_system), 12) == "");
  CHECK(first_miss(ReportKind::race, [&] { run(last_adds_up_device)(); }) == "");
  CHECK(first_miss(ReportKind::race, [&] { run(last_adds_up_unfenced)(); }) == "");
  CHECK(first_miss(ReportKind::race, [&] { run(arrives_early)(); }) == "");
  CHECK(lacks(observe([&] { run(last_adds_up_device)(); }).text(),
              {"__threadfence() orders the memory of one device's threads",
               "__threadfence_system()"}) == "");
}

TEST_CASE("what a device did in kernels before the one with the fence is known, too") {
  CHECK(first_complaint(
            [] {
              const Pinned parts(2), arrived(1), sum(1);
              for (const int device : {0, 1}) {
                const On on(device);
                store_at<<<1, 1>>>(parts.data, device);
                last_of_launch_adds_up<<<1, 1>>>(parts.data, arrived.data, sum.data);
              }
              for (const int device : {0, 1}) {
                const On on(device);
                static_cast<void>(cudaDeviceSynchronize());
              }
              return sum.data[0] == 2;
            },
            12) == "");
}

TEST_CASE("the last block of a device arrives for all its blocks") {
  CHECK(first_complaint(
            [] {
              const Pinned parts(16), arrived(1), sum(1);
              int* of_device[2];
              for (const int device : {0, 1}) {
                const On on(device);
                static_cast<void>(cudaMalloc(&of_device[device], 4));
                static_cast<void>(cudaMemset(of_device[device], 0, 4));
                last_block_arrives<<<8, 1>>>(parts.data, of_device[device], arrived.data, sum.data,
                                             device);
              }
              for (const int device : {0, 1}) {
                const On on(device);
                static_cast<void>(cudaDeviceSynchronize());
              }
              for (int* p : of_device) static_cast<void>(cudaFree(p));
              return sum.data[0] == 16;
            },
            12) == "");
}

// ---- what the report says -----------------------------------------------------------------------

TEST_CASE("a race of two devices names both kernels, devices and lines") {
  const std::string place = "common/simt/tests/across_test.cu:";
  const Pinned x(32);
  int* const d_x = x.data;
  const auto both = [](const auto& first, const auto& second) {
    return only_report([&] {
      first();
      const On on(1);
      second();
    });
  };
  const simt::Report stores = both([&] { store<<<1, 32>>>(d_x); }, [&] { store<<<1, 32>>>(d_x); });
  CHECK(stores.kind == ReportKind::race);
  CHECK(stores.kernel == "store");
  CHECK(lacks(stores, {"DATA RACE of two devices on d_x[0]\n",
                       ("  write  at " + place + std::to_string(kStoreLine) +
                        " by device 1 block 0 thread 0 in kernel store\n")
                           .c_str(),
                       " by device 0 block 0 thread 0 in kernel store\n",
                       "Nothing orders the two kernels: both devices may run at the same time.",
                       "cudaStreamWaitEvent"}) == "");
  const simt::Report adds = both([&] { add<<<1, 1>>>(d_x); }, [&] { add_system<<<1, 1>>>(d_x); });
  CHECK(lacks(adds, {("  atomic at " + place + std::to_string(kAddLine) +
                      " by device 0 block 0 thread 0 in kernel add\n")
                         .c_str(),
                     (place + std::to_string(kAddSystemLine)).c_str(), "in kernel add_system\n",
                     "atomicAdd() is atomic among the threads of one device, atomicAdd_system() "
                     "among those of all devices."}) == "");
}

TEST_CASE("a program of one device hears nothing of devices") {
  const simt::Report report = only_report([] {
    const Pinned x(1);
    store<<<2, 1>>>(x.data);
    static_cast<void>(cudaDeviceSynchronize());
    store_at<<<2, 1>>>(x.data, 0);
    static_cast<void>(cudaDeviceSynchronize());
  });
  CHECK(report.text.find("device") == std::string::npos);
}
