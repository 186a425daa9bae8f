// Check of the exercise overlap_chunks: the sum at every size, then what can run at the same time: who
// waits for whom is known on the CPU device. How long the copies and kernels take, only a GPU can tell.
#include "overlap_chunks.cuh"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <course/check.cuh>
#include <course/host_calls.cuh>
#include <course/host_memory.cuh>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace overlap_chunks_check {

static_assert(std::is_same_v<decltype(Buffers::d_x), unsigned* [2]> &&
                  std::is_same_v<decltype(Buffers::chunk), std::size_t>,
              "Buffers has d_x, two pointers to unsigned, and a chunk that is a std::size_t");

// ---- numbers, and the buffers for two chunks ----------------------------------------------------

constexpr std::size_t kChunkSize = 100;  // of test cases that are about the order
constexpr std::size_t kSmallChunks =
    8;  // so many of them: enough to tell an order from its beginning

/// n numbers in pinned memory; their sum needs 64 bits from the third on.
class Numbers {
 public:
  explicit Numbers(std::size_t n, std::uint32_t seed = 1) : memory_(n) { fill(seed); }
  void fill(std::uint32_t seed) {
    before_ = course::position_values<unsigned>(memory_.size(), seed);
    for (unsigned& x : before_) x = ~x % 0x4000'0000u + 0xC000'0000u;
    std::copy(before_.begin(), before_.end(), memory_.data());
  }
  const unsigned* data() const { return memory_.data(); }
  std::size_t size() const { return memory_.size(); }
  unsigned long long sum() const { return std::accumulate(before_.begin(), before_.end(), 0ull); }
  /// Ok if they are what they were.
  course::Verdict unchanged() const {
    return course::same(std::vector<unsigned>(data(), data() + size()), before_, "h_x",
                        "h_x is only to be read");
  }

 private:
  course::PinnedBuffer<unsigned> memory_;
  std::vector<unsigned> before_;
};

struct TwoChunks {
  explicit TwoChunks(std::size_t chunk) : first(chunk), second(chunk) {
    CUDA_CHECK(
        cudaDeviceSynchronize());  // the answer's streams do not wait for what fills the bands
  }
  Buffers buffers() { return {{first.data(), second.data()}, first.size()}; }
  course::Verdict intact() const {
    const course::Verdict verdict = first.intact("buffers.d_x[0]");
    return verdict ? second.intact("buffers.d_x[1]") : verdict;
  }
  course::GuardedBuffer<unsigned> first, second;
};

std::string call_text(std::size_t n, std::size_t chunk) {
  return "overlap_chunks(h_x, " + std::to_string(n) + ", buffers) with chunks of " +
         std::to_string(chunk);
}

// ---- one call -----------------------------------------------------------------------------------

void check_sum(const Numbers& x, TwoChunks& memory) {
  INFO(call_text(x.size(), memory.first.size()));
  unsigned long long sum = 0;
  try {
    sum = overlap_chunks(x.data(), x.size(), memory.buffers());
  } catch (const course::CudaError& error) {
    FAIL(error.what());
  }
  REQUIRE(course::same(sum, x.sum(), "sum"));
  REQUIRE(x.unchanged());
  CUDA_CHECK(
      cudaDeviceSynchronize());  // the answer's own streams may still write beside the buffers
  REQUIRE(memory.intact());
}

course::Verdict all_given_back(const std::vector<std::string>& kept) {
  if (kept.empty()) return {};
  course::Verdict verdict{false, "overlap_chunks has not given back:"};
  for (const std::string& item : kept) verdict.text += "\n  " + item;
  return verdict;
}

// ---- what was called, and in which order it runs ------------------------------------------------

bool is_within(const void* p, std::size_t bytes, const unsigned* begin, std::size_t n) {
  const auto first = reinterpret_cast<std::uintptr_t>(begin);
  const auto address = reinterpret_cast<std::uintptr_t>(p);
  return address >= first && address + bytes <= first + n * sizeof *begin;
}

/// A call with n numbers, of whose copies and kernels only those remain that have to do with chunks: the
/// copies out of h_x, and all kernels.
class OrderedCall {
 public:
  OrderedCall(std::size_t n, std::size_t chunk) : x_(n), memory_(chunk) {
    const auto run = course::watch_host([&] { check_sum(x_, memory_); });
    std::vector<std::size_t> place(run->work.size(), kLeftOut);
    const auto places = [&](const std::vector<std::size_t>& all) {
      std::vector<std::size_t> kept;
      for (const std::size_t i : all) {
        if (place[i] != kLeftOut) kept.push_back(place[i]);
      }
      return kept;
    };
    std::size_t next = 0;
    for (std::size_t i = 0; i < place.size(); ++i) {
      if (is_of_chunk(run->work[i])) place[i] = next++;
    }
    for (std::size_t i = 0; i < place.size(); ++i) {
      if (place[i] == kLeftOut) continue;
      work.push_back(run->work[i]);
      work.back().after = places(run->work[i].after);
      work.back().waited_for = places(run->work[i].waited_for);
    }
  }
  std::vector<course::DeviceWork> work;

  std::size_t kernels() const {
    return static_cast<std::size_t>(
        std::count_if(work.begin(), work.end(), [](const auto& w) { return w.is_kernel; }));
  }
  /// Numbers of h_x that are copied into the two buffers; those copied twice count twice.
  std::size_t numbers_copied() {
    std::size_t bytes = 0;
    for (const course::DeviceWork& w : work) {
      const bool to_first = is_within(w.to, w.bytes, memory_.first.data(), memory_.first.size());
      const bool to_second = is_within(w.to, w.bytes, memory_.second.data(), memory_.second.size());
      if (!w.is_kernel && (to_first || to_second)) bytes += w.bytes;
    }
    return bytes / sizeof(unsigned);
  }
  /// Copies and kernels that were called when the host had waited for another one of them.
  std::size_t called_after_waiting() const {
    return static_cast<std::size_t>(std::count_if(
        work.begin(), work.end(), [](const auto& w) { return !w.waited_for.empty(); }));
  }

 private:
  static constexpr std::size_t kLeftOut = ~std::size_t{0};
  bool is_of_chunk(const course::DeviceWork& w) const {
    return w.is_kernel || is_within(w.from, w.bytes, x_.data(), x_.size());
  }
  Numbers x_;
  TwoChunks memory_;
};

// Promise: overlap_chunks returns h_x[0] + ... + h_x[n-1], exactly; n may be 0 (OUT OF BOUNDS if a copy is too long).
// Promise: h_x is only read.
// Promise: nothing beside the buffers is written.
// Promise: a buffer gets its next chunk when its numbers are summed (DATA RACE of two streams).
TEST_CASE("overlap_chunks: no numbers, less than a chunk, whole chunks, and a rest") {
  for (const std::size_t chunk : {1u, 2u, 31u, 100u, 257u}) {
    for (const std::size_t chunks : {0u, 1u, 2u, 3u, 5u}) {
      for (const std::size_t n : {chunks * chunk, chunks * chunk + 1, (chunks + 1) * chunk - 1}) {
        const Numbers x(n);
        TwoChunks memory(chunk);
        check_sum(x, memory);
      }
    }
  }
}

// Promise: the sum is right for many numbers, which may begin at any number of their memory.
TEST_CASE("overlap_chunks: many numbers") {
  const Numbers all(course::kBigSize);
  TwoChunks memory(course::kBigSize / 7);
  check_sum(all, memory);
  INFO("h_x is the second number of its memory; "
       << call_text(all.size() - 1, memory.first.size()));
  const unsigned long long sum = overlap_chunks(all.data() + 1, all.size() - 1, memory.buffers());
  REQUIRE(course::same(sum, all.sum() - all.data()[0], "sum"));
}

// Promise: each call sums the numbers that are there now.
TEST_CASE("overlap_chunks: other numbers in the same memory are summed anew") {
  Numbers x(5 * kChunkSize + 3);
  TwoChunks memory(kChunkSize);
  for (const std::uint32_t seed : {1u, 2u, 3u}) {
    INFO("call " << seed << " with the same memory, in which the numbers are others");
    x.fill(seed);
    check_sum(x, memory);
  }
}

// Promise: each number is copied once, from h_x into one of the buffers, where a kernel sums it (CPU device only).
TEST_CASE("overlap_chunks: each number is copied once, into one of the two buffers") {
  course::skip_without_counters();
  for (const std::size_t n : {kChunkSize - 1, 4 * kChunkSize, 7 * kChunkSize + 1}) {
    OrderedCall call(n, kChunkSize);
    INFO(call_text(n, kChunkSize));
    REQUIRE(course::same(call.numbers_copied(), n, "numbers copied from h_x into the buffers"));
    const auto counters = course::count([&] {
      TwoChunks memory(kChunkSize);
      check_sum(Numbers(n), memory);
    });
    REQUIRE(course::kernels_load(*counters, n * sizeof(unsigned)));
  }
}

// Promise: the host calls all copies and kernels before it waits for the first of them (CPU device only).
TEST_CASE("overlap_chunks: the host waits for nothing before the last chunk is queued") {
  course::skip_without_counters();
  for (const auto& [chunks, chunk] : {std::pair{std::size_t{2}, kChunkSize},
                                      {kSmallChunks, kChunkSize},
                                      {std::size_t{300}, std::size_t{4}}}) {
    const OrderedCall call(chunks * chunk, chunk);
    INFO(call_text(chunks * chunk, chunk));
    const std::size_t after = call.called_after_waiting(), all = call.work.size();
    REQUIRE(course::none(after,
                         "of " + course::counted(all, "copy or kernel", "copies and kernels") +
                             ", those that the host called after its first wait",
                         "it waited after the first " + std::to_string(all - after) +
                             ": does a call in the loop wait?"));
  }
}

// Promise: while a chunk is summed, the next one can be copied: neither waits for the other (CPU device only).
TEST_CASE("overlap_chunks: the next chunk is copied while one is summed") {
  course::skip_without_counters();
  const OrderedCall call(kSmallChunks * kChunkSize, kChunkSize);
  const std::size_t kernels = call.kernels(), copies = call.work.size() - kernels;
  INFO(
      call_text(kSmallChunks * kChunkSize, kChunkSize)
      << ": " << course::counted(copies, "copy", "copies") << " and "
      << course::counted(kernels, "kernel")
      << "\nA step is one copy, one kernel, or one of each if streams, events and the host's waits allow it.");
  // One step more for the last kernel, and one for a kernel before or after all chunks.
  REQUIRE(course::at_most(course::steps_of(call.work), std::max(copies, kernels) + 2, "steps",
                          "does a copy wait for a kernel that reads the other buffer?"));
}

// Promise: the call gives back what it takes from CUDA (CPU device only).
TEST_CASE("overlap_chunks: all memory, streams and events are given back") {
  course::skip_without_checker();
  for (const std::size_t n : {std::size_t{0}, 5 * kChunkSize + 1}) {
    const Numbers x(n);
    TwoChunks memory(kChunkSize);
    const auto run = course::watch_host([&] { check_sum(x, memory); });
    INFO(call_text(n, kChunkSize));
    REQUIRE(all_given_back(run->not_given_back));
  }
}

// Promise: the call throws course::CudaError if a CUDA call fails, or its sum is right all the same, as where a destructor's
// call fails; and it gives back what it has taken until then (CPU device only).
TEST_CASE("overlap_chunks: every CUDA call that fails is an error") {
  course::skip_without_checker();  // no call of a GPU can be made to fail
  if (course::has_run_before()) return;
  const Numbers x(4 * kChunkSize);
  TwoChunks memory(kChunkSize);
  for (std::uint64_t number = 1;; ++number) {
    bool threw = false;
    std::string place;
    course::Verdict result, given_back;
    // An answer may leave its copies and kernels at work when it throws: their findings are no matter of this test.
    static_cast<void>(course::find_races([&] {
      const auto run = course::watch_host([&] {
        place = *course::with_failing_call(number, cudaErrorUnknown, [&] {
          try {
            const unsigned long long sum = overlap_chunks(x.data(), x.size(), memory.buffers());
            result = course::same(sum, x.sum(), "the sum");
          } catch (const course::CudaError&) {
            threw = true;
          }
        });
      });
      given_back = all_given_back(run->not_given_back);
      static_cast<void>(cudaGetLastError());
    }));
    if (place.empty()) break;
    INFO(call_text(x.size(), kChunkSize) << "; on purpose, the CUDA call at " << place << " fails");
    if (!threw && !result) FAIL("expected a course::CudaError, but no exception was thrown");
    REQUIRE(given_back);
  }
}

// Promise: the sum is right where copies and kernels overlap in time (GPU only).
TEST_CASE("overlap_chunks: copies and kernels that overlap in time") {
  if (course::kCpuDevice)
    SKIP("here one ends before the next begins: only a GPU shows what overlap saves");
  course::skip_under_sanitizer("compute-sanitizer runs copies and kernels one after the other");
  constexpr std::size_t kNumbers = std::size_t{1} << 18, kChunks = 256;
  Numbers x(kChunks * kNumbers);
  TwoChunks memory(kNumbers);
  for (const std::uint32_t seed : {1u, 2u, 3u}) {
    x.fill(seed);
    check_sum(x, memory);
  }
}

}  // namespace overlap_chunks_check
