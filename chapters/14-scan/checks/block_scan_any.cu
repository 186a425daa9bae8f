// Check of the exercise block_scan_any: operations that do not commute and have no identity, on values of 4 to 16
// bytes; blocks of every size, every count of values, and several calls in a row.
#include "block_scan_any.cuh"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <course/check.cuh>
#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

namespace block_scan_any_check {

// ---- operations ---------------------------------------------------------------------------------

// They take values, not references: the answer reads its memory where it calls them, and findings name that line.

/// Numbers `first` to `last`, in which no gap is allowed: if two pieces do not fit, both ends become kWrong.
struct Piece {
  unsigned first, last;
};
constexpr unsigned kWrong = 0xbad'0bad;
struct Concatenate {
  static constexpr const char* kText =
      "pieces, put together: .first and .last of what is put together";
  static constexpr const char* kMembers[] = {".first", ".last"};
  __host__ __device__ Piece operator()(Piece a, Piece b) const {
    return a.last + 1 == b.first && a.last != kWrong ? Piece{a.first, b.last}
                                                     : Piece{kWrong, kWrong};
  }
  static Piece make(unsigned i, unsigned) { return {100 + i, 100 + i}; }
};

/// x -> a x + b modulo p: first the one, then the other.
struct Step {
  unsigned a, b;
};
struct Compose {
  static constexpr const char* kText = "x -> a x + b modulo op.p, one after the other";
  static constexpr const char* kMembers[] = {".a", ".b"};
  unsigned p = 0;  // of no use
  __host__ __device__ Step operator()(Step f, Step g) const {
    return {g.a * f.a % p, (g.a * f.b + g.b) % p};
  }
  static Step make(unsigned i, unsigned random) {
    return {1 + random % 990, (7 * i + random) % 997};
  }
};

/// Products of 2x2 matrices, modulo 2^32.
struct Matrix {
  unsigned a, b, c, d;
};
struct Multiply {
  static constexpr const char* kText = "2x2 matrices ((a, b), (c, d)), multiplied";
  static constexpr const char* kMembers[] = {".a", ".b", ".c", ".d"};
  __host__ __device__ Matrix operator()(Matrix x, Matrix y) const {
    return {x.a * y.a + x.b * y.c, x.a * y.b + x.b * y.d, x.c * y.a + x.d * y.c,
            x.c * y.b + x.d * y.d};
  }
  static Matrix make(unsigned i, unsigned random) {
    return {2 * random + 1, random + i, 2 * i, 2 * (random ^ i) + 1};
  }
};

/// Two sums, and the sum of the products of an x and a later y. 12 bytes.
struct Sums {
  unsigned x, y, products;
};
struct AddUp {
  static constexpr const char* kText = "sums of x, of y, and of each x times each later y";
  static constexpr const char* kMembers[] = {".x", ".y", ".products"};
  __host__ __device__ Sums operator()(Sums a, Sums b) const {
    return {a.x + b.x, a.y + b.y, a.products + b.products + a.x * b.y};
  }
  static Sums make(unsigned i, unsigned random) { return {random, i + 1, random % 3}; }
};

/// Of two with the same key the first one, though == finds them equal.
struct Numbered {
  unsigned key, number;
  friend __host__ __device__ bool operator==(Numbered a, Numbered b) { return a.key == b.key; }
};
struct SmallerKey {
  static constexpr const char* kText =
      "the one with the smaller key, the first of several; == compares keys alone";
  static constexpr const char* kMembers[] = {".key", ".number"};
  __host__ __device__ Numbered operator()(Numbered a, Numbered b) const {
    return b.key < a.key ? b : a;
  }
  static Numbered make(unsigned i, unsigned random) { return {2 + random % 3, i}; }
};

/// The first one: the result of each thread is thread 0's value.
struct First {
  static constexpr const char* kText = "op(a, b) is a";
  static constexpr const char* kMembers[] = {""};
  unsigned block = 0, bits = 0;
  __host__ __device__ unsigned operator()(unsigned a, unsigned) const { return a; }
  unsigned make(unsigned i, unsigned random) const { return i % block == 0 ? bits : 5 + random; }
};

/// The smaller one: whoever begins with 0 has found it.
struct Smaller {
  static constexpr const char* kText = "the smaller one";
  static constexpr const char* kMembers[] = {""};
  __host__ __device__ unsigned operator()(unsigned a, unsigned b) const { return a < b ? a : b; }
  static unsigned make(unsigned i, unsigned random) { return 5000 - 3 * i + random; }
};

/// The smaller one; counts the calls of each thread.
struct CountedSmaller {
  unsigned* calls;  // of the threads of a block
  __device__ unsigned operator()(unsigned a, unsigned b) const {
    ++calls[threadIdx.x];
    return a < b ? a : b;
  }
};

// ---- calls --------------------------------------------------------------------------------------

/// Scans rows of values, one after the other: row r has counts[r] of them, and begins at r * blockDim.x.
template <class T, class Operation>
__global__ void scan_rows(const T* x, const unsigned* counts, unsigned rows, T* out, Operation op) {
  for (unsigned r = blockIdx.x; r < rows; r += gridDim.x) {
    const unsigned count = counts[r], i = r * blockDim.x + threadIdx.x;
    T value;  // of a thread without one: nothing that fits
    memset(static_cast<void*>(&value), 0xee, sizeof value);
    if (threadIdx.x < count) value = x[i];
    const T upto = block_scan_any(value, count, op);
    if (threadIdx.x < count) out[i] = upto;
  }
}

// On the host values are words in one vector: what handles them is compiled once, not for each type.

template <class T>
T value_at(const std::vector<unsigned>& words, std::size_t i) {
  T value;
  std::memcpy(static_cast<void*>(&value), &words[i * (sizeof(T) / 4)], sizeof value);
  return value;
}
template <class T>
void put(std::vector<unsigned>& words, std::size_t i, const T& value) {
  std::memcpy(&words[i * (sizeof(T) / 4)], &value, sizeof value);
}

/// Word k of each value of `size` words.
std::vector<unsigned> member(const std::vector<unsigned>& words, std::size_t size, std::size_t k) {
  std::vector<unsigned> result;
  for (std::size_t i = k; i < words.size(); i += size) result.push_back(words[i]);
  return result;
}

struct Case {
  unsigned grid, block;
  std::vector<unsigned> counts;  // of the rows
};

std::string describe(const char* operation, const Case& c) {
  std::string text = std::string(operation) + "; " +
                     course::launch_text("scan_rows", {c.grid, c.block}) +
                     "; values of the calls: ";
  for (std::size_t r = 0; r < c.counts.size(); ++r) {
    text += (r > 0 ? ", " : "") + std::to_string(c.counts[r]);
  }
  return text;
}

template <class Operation>
void check(const Case& c, Operation op = {}) {
  using T = decltype(op.make(0, 0));
  INFO(describe(Operation::kText, c));
  const auto rows = static_cast<unsigned>(c.counts.size());
  const std::vector<int> random = course::position_values<int>(std::size_t{rows} * c.block);
  constexpr std::size_t kWords = sizeof(T) / 4;
  std::vector<unsigned> x(random.size() * kWords), expected(x.size(), ~0u);
  for (unsigned i = 0; i < random.size(); ++i) {
    put(x, i, op.make(i, static_cast<unsigned>(random[i])));
  }
  for (unsigned r = 0; r < rows; ++r) {
    for (unsigned t = 0; t < c.counts[r]; ++t) {
      const unsigned i = r * c.block + t;
      const T value = value_at<T>(x, i);
      put(expected, i, t == 0 ? value : op(value_at<T>(expected, i - 1), value));
    }
  }
  const auto d_x = course::DeviceBuffer<unsigned>::from(x);
  const auto d_counts = course::DeviceBuffer<unsigned>::from(c.counts);
  course::GuardedBuffer<unsigned> out(x.size());
  out.fill_bytes(0xff);
  course::launch(scan_rows<T, Operation>, {c.grid, c.block}, reinterpret_cast<const T*>(d_x.data()),
                 d_counts.data(), rows, reinterpret_cast<T*>(out.data()), op);
  const std::vector<unsigned> found = out.download();
  for (std::size_t k = 0; k < kWords; ++k) {
    REQUIRE(course::same(member(found, kWords, k), member(expected, kWords, k),
                         std::string("results") + Operation::kMembers[k], [&](std::size_t i) {
                           return "call " + std::to_string(i / c.block) + ", thread " +
                                  std::to_string(i % c.block);
                         }));
  }
  REQUIRE(out.intact("results"));
}

/// Each operation in turn.
void check_any(std::size_t turn, const Case& c) {
  switch (turn % 5) {
    case 0:
      return check<Concatenate>(c);
    case 1:
      return check<Compose>(c, {997});
    case 2:
      return check<Multiply>(c);
    case 3:
      return check<AddUp>(c);
    default:
      return check<Smaller>(c);
  }
}

// Promise: thread t gets op(x[0], ..., x[t]): the operands keep their order.
// Promise: no identity of op is known, and op may have members.
TEST_CASE("block_scan_any: one warp, each operation") {
  for (std::size_t turn = 0; turn < 5; ++turn) check_any(turn, {1, 32, {32}});
}

// Promise: warps are combined in their order as well (DATA RACE where no barrier orders them).
// Promise: T has 4, 8, 12 or 16 bytes.
TEST_CASE("block_scan_any: several warps, each operation") {
  for (std::size_t turn = 0; turn < 5; ++turn) check_any(turn, {1, 128, {128}});
  check<Multiply>({1, 1024, {1024}});
  check<Concatenate>({1, 1024, {1024}});
}

// Promise: any bytes may be a value, and a warp's total: all 0, all 1, and what else could stand for none.
TEST_CASE("block_scan_any: every result is the first value, of many kinds") {
  for (const unsigned bits :
       {0u, 1u, ~0u, 0x7fff'ffffu, 0x8000'0000u, 0x7fc0'0000u, 0xeeee'eeeeu}) {
    INFO("thread 0's value is " << bits);
    check<First>({1, 160, {160, 130}}, {160, bits});
  }
}

// Promise: T is copied as bytes: its == may be another thing.
TEST_CASE("block_scan_any: values that are equal by their own ==") {
  check<SmallerKey>({1, 256, {256, 256}});
  check<SmallerKey>({1, 1024, {1024}});
}

// Promise: the block has 1 to 1024 threads, and need not have whole warps.
TEST_CASE("block_scan_any: blocks of any number of threads") {
  std::size_t turn = 0;
  for (const unsigned block :
       {1u, 2u, 3u, 17u, 31u, 33u, 63u, 65u, 96u, 100u, 511u, 1000u, 1023u}) {
    check_any(turn++, {1, block, {block}});
    if (block < 100) check<Concatenate>({1, block, {block}});
  }
}

// Promise: the block has 1 to 1024 threads: any number (a quarter of them under each schedule).
TEST_CASE("block_scan_any: blocks of every number of threads") {
  for (unsigned block = 1 + course::seed() % 4; block <= 1024; block += 4) {
    check<Concatenate>({1, block, {block}});
  }
}

// Promise: count is any number from 0 to blockDim.x; threads without a value take part (BARRIER DIVERGENCE or DEADLOCK
// if they leave).
TEST_CASE("block_scan_any: fewer values than threads") {
  std::size_t turn = 0;
  for (const unsigned block : {32u, 70u, 160u}) {
    for (const unsigned count : {0u, 1u, 2u, 31u, 32u, 33u, 64u, 65u, 69u, 127u, 159u}) {
      if (count < block) check_any(turn++, {1, block, {count}});
    }
  }
}

// Promise: it may be called several times in a row (DATA RACE where a call overwrites what another reads).
TEST_CASE("block_scan_any: several calls in a row, in several blocks") {
  for (std::size_t turn = 0; turn < 5; ++turn) {
    check_any(turn, {2, 100, {100, 100, 0, 37, 100, 1, 99, 64}});
    check_any(turn, {1, 64, {64, 64, 64}});
  }
}

// Promise: it may be called several times in a row, with any numbers of values, one after the other.
TEST_CASE("block_scan_any: calls with every two numbers of values in a row") {
  const unsigned numbers[] = {0, 1, 31, 32, 33, 64, 65, 100};
  for (std::size_t apart = 0; apart < std::size(numbers); ++apart) {
    Case c{1, 100, {}};
    for (std::size_t k = 0; k < std::size(numbers); ++k) {
      c.counts.push_back(numbers[k]);
      c.counts.push_back(numbers[(k + apart) % std::size(numbers)]);
    }
    check<Concatenate>(c);
  }
}

// Promise: the results are right in every order of the lanes.
TEST_CASE("block_scan_any: the lanes of a warp go in step") {
  course::count([] {
    for (std::size_t turn = 0; turn < 5; ++turn) check_any(turn, {1, 100, {100, 70}});
  });
}

// Promise: the threads share the work (the busiest warp, of shared memory).
// Promise: it uses no global memory.
TEST_CASE("block_scan_any: the threads share the work") {
  course::skip_without_counters();
  for (const unsigned block : {1024u, 1000u}) {
    const Case c{1, block, {block}};
    const auto counters = course::count([&] { check<Concatenate>(c); });
    INFO(describe(Concatenate::kText, c));
    // A value has two words. A warp that scans all takes 32 turns, with some accesses each.
    REQUIRE(course::shared_work_is_shared(*counters, 600));
    REQUIRE(course::same(counters->global_load_lanes, 3 * std::size_t{block},
                         "loads from global memory by threads",
                         "scan_rows loads a count and a value of two words for each thread"));
    REQUIRE(course::same(counters->global_store_lanes, 2 * std::size_t{block},
                         "stores to global memory by threads",
                         "scan_rows stores a result of two words for each thread"));
    REQUIRE(course::none(counters->global_atomics, "atomics on global memory"));
  }
}

/// A warp that scans all values of a block takes 32 turns, with some accesses to each of their words.
template <class Operation>
void check_wide(Operation op = {}) {
  const Case c{1, 1024, {1024}};
  const auto counters = course::count([&] { check<Operation>(c, op); });
  INFO(describe(Operation::kText, c));
  REQUIRE(course::shared_work_is_shared(*counters, 300 * std::size(Operation::kMembers)));
}

// Promise: the threads share the work, whatever T's size.
TEST_CASE("block_scan_any: the threads share the work, with values of 4, 12 and 16 bytes") {
  course::skip_without_counters();
  check_wide<Smaller>();
  check_wide<AddUp>();
  check_wide<Multiply>();
}

// Promise: the threads of small blocks share the work, too.
// Promise: the threads of one warp, too: a lane that scans all 32 values takes four accesses for each of them.
TEST_CASE("block_scan_any: the threads of blocks of 128 and 32 share the work") {
  course::skip_without_counters();
  for (const auto& [block, most] : {std::pair{128u, 150u}, {32u, 80u}}) {
    const Case c{1, block, {block}};
    const auto counters = course::count([&] { check<Concatenate>(c); });
    INFO(describe(Concatenate::kText, c));
    REQUIRE(course::shared_work_is_shared(*counters, most));
  }
}

// Promise: the threads share the calls of op: not one lane makes all of its warp's.
TEST_CASE("block_scan_any: the threads share the calls of op") {
  for (const auto& [block, most] : {std::pair{32u, 24u}, {128u, 64u}, {1024u, 300u}}) {
    std::vector<unsigned> x(block), expected(block);
    for (unsigned t = 0; t < block; ++t) {
      x[t] = 9000 - 7 * (t * 11 % block);
      expected[t] = t == 0 ? x[t] : std::min(expected[t - 1], x[t]);
    }
    const auto d_x = course::DeviceBuffer<unsigned>::from(x);
    const auto d_count = course::DeviceBuffer<unsigned>::from({block});
    course::GuardedBuffer<unsigned> out(block);
    auto d_calls = course::DeviceBuffer<unsigned>::zeros(block);
    INFO(describe(Smaller::kText, {1, block, {block}}));
    course::launch(scan_rows<unsigned, CountedSmaller>, {1, block}, d_x.data(), d_count.data(), 1u,
                   out.data(), CountedSmaller{d_calls.data()});
    REQUIRE(course::same(out.download(), expected, "results"));
    const std::vector<unsigned> calls = d_calls.download();
    const auto busiest = std::max_element(calls.begin(), calls.end());
    REQUIRE(course::at_most(
        *busiest, most, "calls of op by thread " + std::to_string(busiest - calls.begin()),
        "one thread that scans 32 values alone makes 31; over 32 lanes in steps of 1, 2, 4, 8 and 16 each makes 5"));
  }
}

}  // namespace block_scan_any_check
