// cuda::atomic_ref: its operations and return values, and what its memory orders order.
#include <cuda_runtime.h>
#include <cuda/atomic>
#include <cuda/std/atomic>

#include <catch2/catch_test_macros.hpp>
#include <cstring>
#include <limits>
#include <new>
#include <type_traits>
#include <vector>

#include "hand_over.cuh"
#include "testing.hpp"

namespace atomic_ref_test {

using simt::ReportKind;
using namespace simt_test;

static_assert(cuda::atomic_ref<int>::is_always_lock_free);
static_assert(cuda::atomic_ref<double>::required_alignment == 8);
static_assert(cuda::std::memory_order_relaxed == cuda::memory_order_relaxed);

// ---- what the operations do ---------------------------------------------------------------------

constexpr int kOperations = 11;

/// Operation k on an element of its own: the returned values, and what is left in memory.
template <class T>
__device__ T operate(int k, T& x) {
  const cuda::atomic_ref<T, cuda::thread_scope_device> ref(x);
  T expected = T(13);
  switch (k) {
    case 0:
      return ref.load();
    case 1:
      ref.store(T(5), cuda::memory_order_relaxed);
      return T(0);
    case 2:
      return ref.exchange(T(5), cuda::memory_order_relaxed);
    case 3:
      return ref.fetch_add(T(5));
    case 4:
      return ref.fetch_sub(T(5), cuda::memory_order_acq_rel);
    case 5:
      return ref.compare_exchange_strong(expected, T(5)) ? T(100) : expected;
    case 6:
      expected = T(12);
      while (!ref.compare_exchange_weak(expected, T(5), cuda::memory_order_release,
                                        cuda::memory_order_relaxed)) {
        if (expected != T(12)) return expected;
      }
      return T(100);
    default:
      break;
  }
  if constexpr (std::is_integral_v<T>) {
    if (k == 7) return ref.fetch_and(T(6));
    if (k == 8) return ref.fetch_or(T(6));
    if (k == 9) return ref.fetch_xor(T(6));
    if (k == 10) {
      const T before_max = ref.fetch_max(T(14));
      return before_max * T(100) + ref.fetch_min(T(3));
    }
  }
  return T(13);
}

/// returned[k] and left[k] for global memory, and from kOperations on for shared memory.
template <class T>
__global__ void operate_all(T* x, T* returned, T* left) {
  __shared__ T s_x[kOperations];
  const int k = static_cast<int>(threadIdx.x);
  if (k >= kOperations) return;
  s_x[k] = x[k];
  returned[k] = operate(k, x[k]);
  returned[kOperations + k] = operate(k, s_x[k]);
  left[k] = x[k];
  left[kOperations + k] = s_x[k];
}

template <class T>
void check_operations(const std::vector<T>& returned, const std::vector<T>& left) {
  Array<T> x(std::vector<T>(kOperations, T(13)));
  Array<T> d_returned(2 * kOperations), d_left(2 * kOperations);
  const auto outcome =
      observe([&] { operate_all<T><<<1, 32>>>(x.data(), d_returned.data(), d_left.data()); });
  INFO(outcome.text());
  CHECK(outcome.clean());
  for (int k = 0; k < 2 * kOperations; ++k) {
    INFO("operation " << k % kOperations << (k < kOperations ? " on global" : " on shared")
                      << " memory");
    CHECK(d_returned.values()[k] == returned[k % kOperations]);
    CHECK(d_left.values()[k] == left[k % kOperations]);
  }
}

TEST_CASE("atomic_ref: every operation returns the old value and stores the new one") {
  const std::vector<int> returned{13, 0, 13, 13, 13, 100, 13, 13, 13, 13, 1314};
  const std::vector<int> left{13, 5, 5, 18, 8, 5, 13, 4, 15, 11, 3};
  check_operations<int>(returned, left);
  check_operations<unsigned>({returned.begin(), returned.end()}, {left.begin(), left.end()});
  check_operations<long long>({returned.begin(), returned.end()}, {left.begin(), left.end()});
  check_operations<unsigned long long>({returned.begin(), returned.end()},
                                       {left.begin(), left.end()});
}

TEST_CASE("atomic_ref: floating-point types have all but the integers' operations") {
  const std::vector<float> returned{13, 0, 13, 13, 13, 100, 13, 13, 13, 13, 13};
  const std::vector<float> left{13, 5, 5, 18, 8, 5, 13, 13, 13, 13, 13};
  check_operations<float>(returned, left);
  check_operations<double>({returned.begin(), returned.end()}, {left.begin(), left.end()});
}

/// x[0]: a subnormal on global memory, x[1]: -0.0f that a 0.0f is expected in, x[2]: a NaN.
__global__ void special_values(float* x, float* shared_sum, int* exchanged) {
  __shared__ float s_x;
  s_x = x[0];
  cuda::atomic_ref(x[0]).fetch_add(1e-40f, cuda::memory_order_relaxed);
  cuda::atomic_ref(s_x).fetch_add(1e-40f, cuda::memory_order_relaxed);
  *shared_sum = s_x;
  float zero = 0.0f, nan = x[2];
  exchanged[0] = cuda::atomic_ref(x[1]).compare_exchange_strong(zero, 1.0f);
  exchanged[1] = cuda::atomic_ref(x[2]).compare_exchange_strong(nan, 1.0f);
}

TEST_CASE("atomic_ref: float addition flushes on global memory, and comparison is by bits") {
  Array<float> x(std::vector<float>{1e-40f, -0.0f, std::numeric_limits<float>::quiet_NaN()});
  Array<float> shared_sum(1);
  Array<int> exchanged(2);
  special_values<<<1, 1>>>(x.data(), shared_sum.data(), exchanged.data());
  CHECK(x.values()[0] == 0.0f);
  CHECK(shared_sum.front() == 1e-40f + 1e-40f);
  CHECK(exchanged.values() == std::vector<int>{0, 1});
}

template <cuda::thread_scope scope>
__global__ void count_all(unsigned* count, unsigned* returned) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const cuda::atomic_ref<unsigned, scope> ref(*count);
  returned[i] = ref.fetch_add(1u, cuda::memory_order_relaxed);
}

template <cuda::thread_scope scope>
bool counts(unsigned blocks) {
  auto count = Array<unsigned>::zeros(1);
  Array<unsigned> returned(blocks * 40);
  count_all<scope><<<blocks, 40>>>(count.data(), returned.data());
  std::vector<unsigned> tickets = returned.values();
  std::sort(tickets.begin(), tickets.end());
  for (unsigned i = 0; i < tickets.size(); ++i) {
    if (tickets[i] != i) return false;
  }
  return count.front() == blocks * 40;
}

TEST_CASE("atomic_ref: no update is lost, and block scope is for one block") {
  CHECK(first_complaint([] { return counts<cuda::thread_scope_device>(4); }, 12) == "");
  CHECK(first_complaint([] { return counts<cuda::thread_scope_system>(4); }, 12) == "");
  CHECK(first_complaint([] { return counts<cuda::thread_scope_block>(1); }, 12) == "");
  CHECK(first_miss(ReportKind::race, [] { counts<cuda::thread_scope_block>(4); }) == "");
}

// ---- what the orders order ----------------------------------------------------------------------

constexpr auto kRelaxed = cuda::memory_order_relaxed, kRelease = cuda::memory_order_release,
               kAcquire = cuda::memory_order_acquire, kDefault = cuda::memory_order_seq_cst;

/// Block 0 hands a value over to block `to`; the flag is in global memory.
template <cuda::thread_scope scope, cuda::memory_order store, cuda::memory_order load>
__global__ void hand_over(int* flag, int* data, unsigned to) {
  const cuda::atomic_ref<int, scope> ready(*flag);
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    data[0] = 42;
    ready.store(1, store);
  }
  if (blockIdx.x == to && threadIdx.x == 32) {
    while (ready.load(load) == 0) {
    }
    data[1] = data[0];
  }
}

template <cuda::thread_scope scope, cuda::memory_order store, cuda::memory_order load>
bool arrives(unsigned to) {
  return value_arrives(hand_over<scope, store, load>, 2, 64, to);
}

/// The same inside a block, by a flag in shared memory and read-modify-write operations.
template <cuda::memory_order set, cuda::memory_order get>
__global__ void hand_over_in_block(int* data) {
  __shared__ int s_flag;
  if (threadIdx.x == 0) s_flag = 0;
  __syncthreads();
  const cuda::atomic_ref<int, cuda::thread_scope_block> ready(s_flag);
  if (threadIdx.x == 32) {
    data[0] = 42;
    ready.exchange(1, set);
  }
  if (threadIdx.x == 0) {
    while (ready.load(get) == 0) {
    }
    data[1] = data[0];
  }
}

template <cuda::memory_order set, cuda::memory_order get>
bool arrives_in_block() {
  auto data = Array<int>::zeros(2);
  hand_over_in_block<set, get><<<1, 64>>>(data.data());
  return data.values()[1] == 42;
}

TEST_CASE("atomic_ref: release and acquire hand a value over") {
  constexpr auto device = cuda::thread_scope_device;
  for (const unsigned to : {0u, 1u}) {
    CHECK(first_complaint([=] { return arrives<device, kRelease, kAcquire>(to); }, 12) == "");
    CHECK(first_complaint([=] { return arrives<device, kDefault, kDefault>(to); }, 12) == "");
  }
  CHECK(first_complaint([] { return arrives_in_block<kRelease, kAcquire>(); }, 12) == "");
}

TEST_CASE("atomic_ref: relaxed on either side is a race") {
  constexpr auto device = cuda::thread_scope_device;
  CHECK(first_miss(ReportKind::race, [] { arrives<device, kRelaxed, kAcquire>(1); }) == "");
  CHECK(first_miss(ReportKind::race, [] { arrives<device, kRelease, kRelaxed>(1); }) == "");
  CHECK(first_miss(ReportKind::race, [] { arrives_in_block<kRelaxed, kAcquire>(); }) == "");
  CHECK(first_miss(ReportKind::race, [] { arrives_in_block<kRelease, kRelaxed>(); }) == "");
  CHECK(lacks(observe([] { arrives<device, kRelaxed, kRelaxed>(1); }).text(),
              {"data[0]", "atomic_ref_test.cu"}) == "");
}

TEST_CASE("atomic_ref: block scope orders inside a block only") {
  constexpr auto block = cuda::thread_scope_block;
  CHECK(first_complaint([] { return arrives<block, kRelease, kAcquire>(0); }, 12) == "");
  CHECK(first_miss(ReportKind::race, [] { arrives<block, kRelease, kAcquire>(1); }) == "");
}

/// Relaxed operations between two fences.
template <bool with_fences>
__global__ void hand_over_with_fences(int* flag, int* data) {
  const cuda::atomic_ref<int, cuda::thread_scope_device> ready(*flag);
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    data[0] = 42;
    if (with_fences) cuda::atomic_thread_fence(kRelease, cuda::thread_scope_device);
    ready.store(1, kRelaxed);
  }
  if (blockIdx.x == 1 && threadIdx.x == 0) {
    while (ready.load(kRelaxed) == 0) {
    }
    if (with_fences) cuda::atomic_thread_fence(kAcquire, cuda::thread_scope_device);
    data[1] = data[0];
  }
}

template <bool with_fences>
bool arrives_with_fences() {
  return value_arrives(hand_over_with_fences<with_fences>, 2, 32);
}

TEST_CASE("atomic_thread_fence orders relaxed operations") {
  CHECK(first_complaint([] { return arrives_with_fences<true>(); }, 12) == "");
  CHECK(first_miss(ReportKind::race, [] { arrives_with_fences<false>(); }) == "");
}

// ---- beside other accesses ----------------------------------------------------------------------

/// Every thread looks first, and most find that nothing is left to do.
__global__ void raise(int* highest, const int* x) {
  const int value = x[blockIdx.x * blockDim.x + threadIdx.x];
  const cuda::atomic_ref<int, cuda::thread_scope_device> ref(*highest);
  if (value > ref.load(kRelaxed)) ref.fetch_max(value, kRelaxed);
}

__global__ void raise_after_a_plain_look(int* highest, const int* x) {
  const int value = x[blockIdx.x * blockDim.x + threadIdx.x];
  if (value > *highest) cuda::atomic_ref(*highest).fetch_max(value, kRelaxed);
}

/// Loads beside plain reads: no thread writes.
__global__ void all_read(int* x, int* y) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = i % 2 == 0 ? *x : cuda::atomic_ref(*x).load(kRelaxed);
}

template <class Kernel>
bool raises(Kernel kernel) {
  std::vector<int> x(160);
  for (int i = 0; i < 160; ++i) x[i] = (i * 77) % 160;
  const Array<int> d_x(x);
  auto highest = Array<int>::zeros(1);
  kernel<<<4, 40>>>(highest.data(), d_x.data());
  return highest.front() == 159;
}

TEST_CASE("atomic_ref: a relaxed load is no race beside atomics, a plain one is") {
  CHECK(first_complaint([] { return raises(raise); }, 12) == "");
  CHECK(first_miss(ReportKind::race, [] { raises(raise_after_a_plain_look); }) == "");
  CHECK(first_complaint(
            [] {
              auto x = Array<int>::zeros(1);
              Array<int> y(160);
              all_read<<<4, 40>>>(x.data(), y.data());
              return y.values() == std::vector<int>(160, 0);
            },
            12) == "");
}

/// A loop around compare_exchange_weak, which refreshes `expected` by itself.
__global__ void multiply(double* product, const double* x) {
  const double factor = x[blockIdx.x * blockDim.x + threadIdx.x];
  const cuda::atomic_ref<double, cuda::thread_scope_device> ref(*product);
  double old = ref.load(kRelaxed);
  while (!ref.compare_exchange_weak(old, old * factor, kRelaxed)) {
  }
}

TEST_CASE("atomic_ref: a compare_exchange loop") {
  CHECK(first_complaint(
            [] {
              std::vector<double> x(160, 2.0);
              const Array<double> d_x(x);
              Array<double> product(std::vector<double>{1.0});
              multiply<<<4, 40>>>(product.data(), d_x.data());
              return product.front() == 0x1p160;
            },
            12) == "");
}

/// How often one thread's compare_exchange fails although it finds what it expects.
template <bool weak>
__global__ void count_failures(int* failures) {
  int word = 0;
  __shared__ int s_word;
  s_word = 0;
  const cuda::atomic_ref<int, cuda::thread_scope_block> ref(s_word);
  for (int i = 0; i < 100; ++i) {
    word = i;
    const bool done =
        weak ? ref.compare_exchange_weak(word, i + 1) : ref.compare_exchange_strong(word, i + 1);
    if (done) continue;
    *failures += word == i ? 1 : 100;  // it leaves the value that it has found
    ref.store(i + 1);
  }
}

TEST_CASE("atomic_ref: compare_exchange_weak fails without a reason in shuffled schedules") {
  const auto failures = [](auto kernel, std::uint64_t seed) {
    auto count = Array<int>::zeros(1);
    CHECK(observe([&] { kernel<<<1, 1>>>(count.data()); }, seed).text() == "");
    return count.front();
  };
  CHECK(failures(count_failures<true>, 0) == 0);
  CHECK(failures(count_failures<false>, 1) == 0);
  const int found = failures(count_failures<true>, 1);
  CHECK(found > 0);
  CHECK(found < 40);
}

/// One try per thread, whose next atomic is another word's.
__global__ void try_once_and_go_on(int* words, int* others) {
  const cuda::atomic_ref<int, cuda::thread_scope_device> ref(words[threadIdx.x]);
  int expected = 0;
  ref.compare_exchange_weak(expected, 1);
  atomicAdd(&others[threadIdx.x], 1);
}

TEST_CASE("atomic_ref: who goes on after compare_exchange_weak is not asked for a loop") {
  auto words = Array<int>::zeros(64), others = Array<int>::zeros(64);
  const auto work = [&] { try_once_and_go_on<<<1, 64>>>(words.data(), others.data()); };
  const Outcome outcome = observe(work, 1);
  REQUIRE(outcome.notes.size() == 1);
  CHECK(lacks(outcome.notes.front(), {"fails here although it finds what it expects"}) == "");
  CHECK(outcome.notes.front().find("loop") == std::string::npos);
}

/// One try per thread for a word of its own.
__global__ void try_once(int* words, bool repeats) {
  const cuda::atomic_ref<int, cuda::thread_scope_device> ref(words[threadIdx.x]);
  int expected = 0;
  while (!ref.compare_exchange_weak(expected, 1) && repeats) {
  }
}

TEST_CASE("atomic_ref: who does not repeat compare_exchange_weak is told that it may fail") {
  for (const bool repeats : {false, true}) {
    auto words = Array<int>::zeros(64);
    const Outcome outcome = observe([&] { try_once<<<1, 64>>>(words.data(), repeats); }, 1);
    CHECK(outcome.text() == "");
    if (repeats) {
      CHECK(outcome.notes.empty());
      CHECK(words.values() == std::vector<int>(64, 1));
    } else {
      CHECK(lacks(outcome.notes.empty() ? "" : outcome.notes.front(),
                  {"atomic_ref_test.cu:", "compare_exchange_weak() fails here although",
                   "does not try again"}) == "");
      CHECK(words.values() != std::vector<int>(64, 1));
    }
  }
}

/// Two threads take a lock. It is taken when they come, so that the first attempt fails.
__global__ void take_lock(int* lock, bool sets_again) {
  const cuda::atomic_ref<int, cuda::thread_scope_device> ref(*lock);
  int expected = 0;
  while (!ref.compare_exchange_strong(expected, 1)) {
    if (sets_again) {
      expected = 0;
      ref.store(0);
    }
  }
}
/// The larger number stays: a thread that has failed may store what it has found.
__global__ void keep_larger(int* largest, int value) {
  const cuda::atomic_ref<int, cuda::thread_scope_device> ref(*largest);
  int old = 0;
  while (!ref.compare_exchange_strong(old, old > value ? old : value)) {
  }
}

TEST_CASE(
    "atomic_ref: who expects what a failed compare_exchange_strong has found is told what follows") {
  for (const bool sets_again : {false, true}) {
    Array<int> lock = Array<int>(std::vector<int>{1});
    const Outcome outcome = observe([&] { take_lock<<<1, 1>>>(lock.data(), sets_again); });
    CHECK(outcome.text() == "");
    if (sets_again) {
      CHECK(outcome.notes.empty());
    } else {
      REQUIRE(outcome.notes.size() == 1);
      CHECK(lacks(outcome.notes.front(),
                  {"atomic_ref_test.cu:", "Block 0 thread 0 has called",
                   "on lock[0], which has failed and has found 1. Then it expects 1 and stores 1",
                   "set again before each attempt?"}) == "");
    }
  }
  Array<int> largest = Array<int>(std::vector<int>{7});
  const Outcome outcome = observe([&] { keep_larger<<<1, 1>>>(largest.data(), 5); });
  CHECK(outcome.notes.empty());
}

TEST_CASE("atomic_ref: loads are counted as loads, the others as atomics") {
  const Array<int> x(std::vector<int>(160, 7));
  auto highest = Array<int>::zeros(1);
  simt::Counters counters;
  {
    const simt::CountScope scope;
    raise<<<1, 64>>>(highest.data(), x.data());
    counters = scope.counters();
  }
  CHECK(counters.global_loads == 4);    // of x and of highest, by two warps
  CHECK(counters.global_atomics <= 2);  // the second warp may find 7 there already
  CHECK(counters.global_atomics >= 1);
}

// ---- operators, and numbers of every size -------------------------------------------------------

/// Each thread also adds to a counter that all share.
template <class T>
__global__ void use_operators(T* x, T* results) {
  const cuda::atomic_ref<T, cuda::thread_scope_device> ref(x[0]), count(x[1]);
  if (threadIdx.x == 0) {
    *results++ = ref++;
    *results++ = ++ref;
    *results++ = ref--;
    *results++ = --ref;
    *results++ = ref += T(9);
    *results++ = ref -= T(2);
    *results++ = ref = T(6);
    *results++ = ref;
    *results++ = ref.fetch_max(T(9));
    *results++ = ref.fetch_max(T(3));
    *results++ = ref.fetch_min(T(4));
    *results++ = ref.load();
    *results++ = ref.is_lock_free() ? T(1) : T(0);
  }
  ++count;
}

template <class T>
bool operators_work() {
  auto x = Array<T>::zeros(2);
  Array<T> results(13);
  use_operators<<<1, 64>>>(x.data(), results.data());
  return results.values() == std::vector<T>{0, 2, 2, 0, 9, 7, 6, 6, 6, 9, 9, 4, 1} &&
         x.values()[1] == T(64);
}

__global__ void extremes(float* x, float nan) {
  const cuda::atomic_ref<float> a(x[0]), b(x[1]);
  a.fetch_max(nan);   // is not larger than 1
  b.fetch_min(1.0f);  // is not smaller than NaN
}

/// Threads count in neighbouring numbers of two bytes, and none loses what the other adds.
__global__ void count_in_halves(unsigned short* x) {
  const cuda::atomic_ref<unsigned short, cuda::thread_scope_device> ref(x[threadIdx.x % 2]);
  ref.fetch_add(1, cuda::memory_order_relaxed);
}

TEST_CASE("atomic_ref: operators, for numbers of every size") {
  CHECK(first_complaint(operators_work<int>, 20) == "");
  CHECK(first_complaint(operators_work<unsigned char>, 20) == "");
  CHECK(first_complaint(operators_work<short>, 20) == "");
  CHECK(first_complaint(operators_work<unsigned long long>, 20) == "");
  CHECK(first_complaint(operators_work<float>, 20) == "");
  CHECK(first_complaint(operators_work<double>, 20) == "");
}

TEST_CASE("atomic_ref: a NaN is neither larger nor smaller; numbers of two bytes are their own") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  Array<float> x(std::vector<float>{1.0f, nan});
  extremes<<<1, 1>>>(x.data(), nan);
  const std::vector<float> found = x.values();
  CHECK(found[0] == 1.0f);
  CHECK(found[1] != found[1]);
  CHECK(first_complaint([] {
          auto counts = Array<unsigned short>::zeros(2);
          count_in_halves<<<4, 64>>>(counts.data());
          return counts.values() == std::vector<unsigned short>{128, 128};
        }) == "");
}

// ---- cuda::atomic ---------------------------------------------------------------------------------

template <class T>
using DeviceAtomic = cuda::atomic<T, cuda::thread_scope_device>;

static_assert(sizeof(DeviceAtomic<int>) == 4 && alignof(cuda::atomic<double>) == 8);
static_assert(!std::is_copy_constructible_v<DeviceAtomic<int>>);

__device__ DeviceAtomic<unsigned> a_tickets{3};

struct Pair {
  int low, high;
};

/// Every thread adds, and one thread tries the rest.
__global__ void use_atomics(DeviceAtomic<unsigned>* total, cuda::std::atomic<int>* zero, int* r) {
  __shared__ cuda::atomic<int, cuda::thread_scope_block> s_count;
  if (threadIdx.x == 0) s_count = 0;
  __syncthreads();
  s_count.fetch_add(2, cuda::memory_order_relaxed);
  ++s_count;
  ++*total;
  a_tickets.fetch_add(1, cuda::memory_order_relaxed);
  __syncthreads();
  if (blockIdx.x != 0 || threadIdx.x != 0) return;
  *r++ = s_count;
  *r++ = zero->fetch_sub(5);
  *r++ = zero->fetch_max(7, cuda::std::memory_order_relaxed);
  *r++ = zero->exchange(8);
  int expected = 9;
  *r++ = zero->compare_exchange_strong(expected, 1);
  *r++ = expected;
  while (!zero->compare_exchange_weak(expected, 12, cuda::memory_order_acq_rel,
                                      cuda::memory_order_relaxed)) {
  }
  *r++ = expected == 8;
  *r++ = *zero |= 3;
  cuda::atomic<Pair, cuda::thread_scope_thread> both(Pair{1, 2});
  *r++ = both.exchange(Pair{3, 4}).high + both.load().low;
  cuda::std::atomic_flag flag = ATOMIC_FLAG_INIT;
  *r++ = 10 * flag.test_and_set() + flag.test_and_set();
  flag.clear();
  *r++ = flag.test();
}

TEST_CASE("cuda::atomic in shared, global and __device__ memory") {
  const auto work = [] {
    auto total = Array<unsigned>::zeros(1);
    auto zero = Array<int>::zeros(1), r = Array<int>::zeros(11);
    unsigned tickets = 3;
    static_cast<void>(cudaMemcpyToSymbol(a_tickets, &tickets, sizeof tickets));
    use_atomics<<<3, 40>>>(reinterpret_cast<DeviceAtomic<unsigned>*>(total.data()),
                           reinterpret_cast<cuda::std::atomic<int>*>(zero.data()), r.data());
    static_cast<void>(cudaMemcpyFromSymbol(&tickets, a_tickets, sizeof tickets));
    return total.front() == 120 && tickets == 123 &&
           r.values() == std::vector<int>{120, 0, -5, 7, 0, 8, 1, 15, 5, 1, 0};
  };
  CHECK(first_complaint(work, 10) == "");
}

__global__ void without_first_value(int* r) {
  __shared__ cuda::atomic<int, cuda::thread_scope_block> s_count;
  s_count.fetch_add(1);
  *r = 0;
}

TEST_CASE("cuda::atomic in shared memory needs a first value") {
  Array<int> r(1);
  CHECK(only_report([&] { without_first_value<<<1, 1>>>(r.data()); }).kind ==
        ReportKind::uninitialised);
}

/// Block 0 hands 32 numbers to block 1; the flag's orders are what is tested.
template <cuda::memory_order release, cuda::memory_order acquire>
__global__ void hand_over(int* data, DeviceAtomic<int>* flag, int* sum) {
  if (blockIdx.x == 0) {
    data[threadIdx.x] = static_cast<int>(threadIdx.x);
    __syncthreads();
    if (threadIdx.x == 0) {
      flag->store(1, release);
      flag->notify_all();
    }
  } else if (threadIdx.x == 0) {
    flag->wait(0, acquire);
    int total = 0;
    for (int i = 0; i < 32; ++i) total += data[i];
    *sum = total;
  }
}

template <cuda::memory_order release, cuda::memory_order acquire>
bool hands_over() {
  Array<int> data(32), sum(1);
  auto flag = Array<int>::zeros(1);
  hand_over<release, acquire>
      <<<2, 32>>>(data.data(), reinterpret_cast<DeviceAtomic<int>*>(flag.data()), sum.data());
  return sum.front() == 31 * 16;
}

TEST_CASE("cuda::atomic: wait, and what its orders order") {
  using cuda::memory_order_acquire, cuda::memory_order_relaxed, cuda::memory_order_release;
  CHECK(first_complaint(hands_over<memory_order_release, memory_order_acquire>) == "");
  const auto relaxed = [](auto run) { return wrong(ReportKind::race, run); };
  CHECK(relaxed(hands_over<memory_order_relaxed, memory_order_acquire>) == "");
  CHECK(relaxed(hands_over<memory_order_release, memory_order_relaxed>) == "");
}

TEST_CASE("cuda::atomic in host code, on managed memory") {
  cuda::atomic<int>* count = nullptr;
  REQUIRE(cudaMallocManaged(&count, sizeof *count) == cudaSuccess);
  const Outcome outcome = observe(
      [&] {
        new (count) cuda::atomic<int>(4);
        count->fetch_add(5);
        *count += 1;
        CHECK(count->load() == 10);
        cuda::atomic<long long> local(1);
        CHECK(local.fetch_add(2) == 1);
        CHECK(local == 3);
      },
      3);
  CHECK(outcome.clean());
  static_cast<void>(cudaFree(count));
}

}  // namespace atomic_ref_test
