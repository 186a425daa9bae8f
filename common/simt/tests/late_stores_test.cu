// Volatile stores and atomic operations without a fence become visible late, and in another order, and
// loads of an atomic_ref may be done early: code that lacks the writer's or the reader's fence has wrong
// values under some seeds, and right code never.
#include <cuda_runtime.h>

#include <catch2/catch_test_macros.hpp>
#include <cuda/atomic>

#include "testing.hpp"

using namespace simt_test;

namespace {

/// Of the schedules 1 to 12, how many show wrong values; what is reported besides is a failure of the
/// test. The remarks of the last one.
struct Shown {
  int wrong = 0;
  std::string notes;
  std::string reports;
};
Shown shown_by(const std::function<bool()>& work) {
  Shown shown;
  for (std::uint64_t seed = 1; seed <= kSeedsForWrong; ++seed) {
    bool right = true;
    const Outcome outcome = observe([&] { right = work(); }, seed);
    shown.reports += outcome.text();
    if (right) continue;
    ++shown.wrong;
    shown.notes.clear();
    for (const std::string& note : outcome.notes) shown.notes += note + "\n";
  }
  return shown;
}

constexpr unsigned kBlocks = 24;

// ---- the last block sums the parts --------------------------------------------------------------

enum class Part { plain, volatile_store, atomic_exchange, relaxed_store };
enum class Fence { none, by_the_writer, by_another_thread, of_block_scope };

template <Part part>
__device__ void store_part(int* place, int value) {
  if constexpr (part == Part::volatile_store) *static_cast<volatile int*>(place) = value;
  if constexpr (part == Part::atomic_exchange) atomicExch(place, value);
  if constexpr (part == Part::relaxed_store) {
    cuda::atomic_ref<int, cuda::thread_scope_device>(*place).store(value,
                                                                   cuda::memory_order_relaxed);
  }
}

/// The programming guide's threadFenceReduction, with its volatile parts.
template <Part part, Fence fence>
__global__ void last_block_adds_up(int* parts, unsigned* ticket, int* sum) {
  __shared__ bool s_is_last;
  if (threadIdx.x == 1) {
    store_part<part>(&parts[blockIdx.x], 1);
    if (fence == Fence::by_the_writer) __threadfence();
    if (fence == Fence::of_block_scope) __threadfence_block();
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    if (fence == Fence::by_another_thread) __threadfence();  // after the barrier: for the block
    s_is_last = atomicInc(ticket, gridDim.x) == gridDim.x - 1;
  }
  __syncthreads();
  if (s_is_last && threadIdx.x == 0) {
    int mine = 0;
    for (unsigned b = 0; b < gridDim.x; ++b) mine += static_cast<volatile int*>(parts)[b];
    *sum = mine;
  }
}

template <Part part, Fence fence>
bool adds_up() {
  auto parts = Array<int>::zeros(kBlocks);
  auto ticket = Array<unsigned>::zeros(1);
  auto sum = Array<int>::zeros(1);
  last_block_adds_up<part, fence><<<kBlocks, 32>>>(parts.data(), ticket.data(), sum.data());
  return sum.front() == static_cast<int>(kBlocks);
}

}  // namespace

TEST_CASE("late stores: volatile parts without a fence are missed by the last block") {
  const Shown shown = shown_by(adds_up<Part::volatile_store, Fence::none>);
  CHECK(shown.reports == "");
  CHECK(shown.wrong == kSeedsForWrong);
  CHECK(lacks(shown.notes,
              {"late_stores_test.cu:", "this load finds an old value of parts[",
               "thread 1 stores it at ", "and block 0 thread 0 then changes ticket[0] at ",
               "with no __threadfence() between the two"}) == "");
  CHECK(shown_by(adds_up<Part::relaxed_store, Fence::none>).wrong == kSeedsForWrong);
  CHECK(shown_by(adds_up<Part::volatile_store, Fence::of_block_scope>).wrong == kSeedsForWrong);
  // The first launch of all does not know that it will load what atomics have changed.
  CHECK(shown_by(adds_up<Part::atomic_exchange, Fence::none>).wrong >= kSeedsForWrong - 1);
}

TEST_CASE("late stores: the programming guide's form is right, whoever of the block fences") {
  CHECK(first_complaint(adds_up<Part::volatile_store, Fence::by_the_writer>) == "");
  CHECK(first_complaint(adds_up<Part::volatile_store, Fence::by_another_thread>) == "");
  CHECK(first_complaint(adds_up<Part::relaxed_store, Fence::by_the_writer>) == "");
  CHECK(first_complaint(adds_up<Part::atomic_exchange, Fence::by_another_thread>) == "");
}

// ---- a flag, and the data that it announces -----------------------------------------------------

namespace {

/// Each block hands a value to the next one.
template <bool writer_fences>
__global__ void pass_on(volatile int* flag, volatile int* data) {
  const unsigned b = blockIdx.x;
  if (threadIdx.x != 0) return;
  int value = 1;
  if (b > 0) {
    while (flag[b - 1] == 0) {
    }
    value += data[b - 1];
  }
  data[b] = value;
  if (writer_fences) __threadfence();
  flag[b] = 1;
}

/// The same with the writer's fence, and loads of an atomic_ref.
template <bool reader_fences>
__global__ void pass_on_relaxed(int* flag, int* data) {
  using Word = cuda::atomic_ref<int, cuda::thread_scope_device>;
  const unsigned b = blockIdx.x;
  if (threadIdx.x != 0) return;
  int value = 1;
  if (b > 0) {
    while (Word(flag[b - 1]).load(cuda::memory_order_relaxed) == 0) {
    }
    if (reader_fences) __threadfence();
    value += Word(data[b - 1]).load(cuda::memory_order_relaxed);
  }
  Word(data[b]).store(value, cuda::memory_order_relaxed);
  Word(flag[b]).store(1, cuda::memory_order_release);
}

/// A thread of the block waits for the flag, and has the fence; another one reads the data.
__global__ void pass_on_by_barrier(int* flag, int* data) {
  using Word = cuda::atomic_ref<int, cuda::thread_scope_device>;
  const unsigned b = blockIdx.x;
  if (b > 0 && threadIdx.x == 0) {
    while (Word(flag[b - 1]).load(cuda::memory_order_acquire) == 0) {
    }
  }
  __syncthreads();
  if (threadIdx.x != 1) return;
  const int before = b == 0 ? 0 : Word(data[b - 1]).load(cuda::memory_order_relaxed);
  Word(data[b]).store(before + 1, cuda::memory_order_relaxed);
  Word(flag[b]).store(1, cuda::memory_order_release);
}

/// The same in one word: the flag carries the value, and nothing has to be ordered.
__global__ void pass_on_in_one_word(volatile int* word) {
  const unsigned b = blockIdx.x;
  if (threadIdx.x != 0) return;
  int before = 0;
  if (b > 0) {
    while ((before = word[b - 1]) == 0) {
    }
  }
  word[b] = before + 1;
}

/// Looks back over several blocks, which say what they have first by themselves, then in all.
__global__ void look_back(volatile int* state, int* prefix) {
  const int b = static_cast<int>(blockIdx.x);
  if (threadIdx.x != 0) return;
  constexpr int own = 1 << 20, all = 1 << 21, value = own - 1;
  state[b] = (b == 0 ? all : own) | 1;
  int sum = 1;
  for (int i = b - 1; i >= 0; --i) {
    int found;
    while ((found = state[i]) == 0) {
    }
    sum += found & value;
    if ((found & all) != 0) break;
  }
  state[b] = all | sum;
  prefix[b] = sum;
}

template <class Kernel>
bool passes_on(Kernel kernel) {
  auto flag = Array<int>::zeros(kBlocks);
  auto data = Array<int>::zeros(kBlocks);
  kernel<<<kBlocks, 32>>>(flag.data(), data.data());
  return data.values()[kBlocks - 1] == static_cast<int>(kBlocks);
}

bool passes_on_in_one_word() {
  auto word = Array<int>::zeros(kBlocks);
  pass_on_in_one_word<<<kBlocks, 32>>>(word.data());
  return word.values()[kBlocks - 1] == static_cast<int>(kBlocks);
}

}  // namespace

TEST_CASE("late stores: a volatile flag without the writer's fence comes before its data") {
  const Shown shown = shown_by([] { return passes_on(pass_on<false>); });
  CHECK(shown.reports == "");
  CHECK(shown.wrong == kSeedsForWrong);
  CHECK(lacks(shown.notes, {"an old value of data[", "and goes on to flag["}) == "");
}

TEST_CASE("late stores: a relaxed load that no fence precedes is done before that of the flag") {
  const Shown shown = shown_by([] { return passes_on(pass_on_relaxed<false>); });
  CHECK(shown.reports == "");
  CHECK(shown.wrong >= kSeedsForWrong - 1);
  CHECK(lacks(shown.notes, {"an old value of data[", "and goes on to flag[",
                            "with a fence between the two. But the reader has none"}) == "");
  CHECK(first_complaint([] { return passes_on(pass_on_relaxed<true>); }) == "");
  CHECK(first_complaint([] { return passes_on(pass_on_by_barrier); }) == "");
}

TEST_CASE("late stores: a flag with a fence, and one that carries its value, are right") {
  CHECK(first_complaint([] { return passes_on(pass_on<true>); }) == "");
  CHECK(first_complaint(passes_on_in_one_word) == "");
  CHECK(first_complaint([] { return passes_on(look_back); }) == "");
}

// ---- locks, counters ----------------------------------------------------------------------------

namespace {

template <bool release>
__global__ void count_volatile(int* lock, volatile int* count) {
  bool done = false;
  while (!done) {
    if (atomicCAS(lock, 0, 1) != 0) continue;
    *count = *count + 1;
    if (release) __threadfence();
    atomicExch(lock, 0);
    done = true;
  }
}

/// The first who comes sets a value, under a lock; all others see that it is set, or ask again.
__global__ void set_once(int* lock, volatile int* is_set, volatile int* value, int* times, int* y) {
  if (*is_set == 0) {
    while (atomicCAS(lock, 0, 1) != 0) {
    }
    if (*is_set == 0) {
      *value = 42;
      *times += 1;
      __threadfence();
      *is_set = 1;
    }
    __threadfence();
    atomicExch(lock, 0);
  }
  y[blockIdx.x] = *value;
}

/// Two counters that have nothing to do with each other, and a look at them.
__global__ void count_two(int* a, int* b, int* most) {
  atomicAdd(a, 1);
  atomicAdd(b, 1);
  const int seen = *static_cast<volatile int*>(a) + *static_cast<volatile int*>(b);
  atomicMax(most, seen);
}

/// A volatile look at the largest so far saves atomics; an old value only saves fewer.
__global__ void largest(const int* x, int* best) {
  const int mine = x[blockIdx.x * blockDim.x + threadIdx.x];
  if (*static_cast<volatile int*>(best) < mine) atomicMax(best, mine);
}

}  // namespace

TEST_CASE("late stores: a lock without a fence before it is released loses updates") {
  const auto counts = [](auto kernel) {
    auto lock = Array<int>::zeros(1);
    auto count = Array<int>::zeros(1);
    kernel<<<kBlocks, 4>>>(lock.data(), count.data());
    return count.front() == static_cast<int>(kBlocks) * 4;
  };
  CHECK(shown_by([&] { return counts(count_volatile<false>); }).wrong >= kSeedsForWrong - 1);
  CHECK(first_complaint([&] { return counts(count_volatile<true>); }) == "");
}

TEST_CASE("late stores: looks that nothing depends on are right") {
  CHECK(first_complaint([] {
          auto lock = Array<int>::zeros(1), is_set = Array<int>::zeros(1);
          auto value = Array<int>::zeros(1), times = Array<int>::zeros(1);
          auto y = Array<int>::zeros(kBlocks);
          set_once<<<kBlocks, 1>>>(lock.data(), is_set.data(), value.data(), times.data(),
                                   y.data());
          return times.front() == 1 && y.values() == std::vector<int>(kBlocks, 42);
        }) == "");
  CHECK(first_complaint([] {
          auto a = Array<int>::zeros(1), b = Array<int>::zeros(1), most = Array<int>::zeros(1);
          count_two<<<kBlocks, 32>>>(a.data(), b.data(), most.data());
          return a.front() == 768 && b.front() == 768 && most.front() <= 1536;
        }) == "");
  CHECK(first_complaint([] {
          std::vector<int> x(kBlocks * 32);
          for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<int>(i * 37 % 768);
          const Array<int> values(x);
          auto best = Array<int>::zeros(1);
          largest<<<kBlocks, 32>>>(values.data(), best.data());
          return best.front() == 767;
        }) == "");
}
