// Check of the exercise radix_pass: digits of every kind and at every shift, every size, other data at the same place,
// and whether many threads share the work. Values are numbered, so that a pair out of its order shows.
#include "radix_pass.cuh"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <course/check.cuh>
#include <course/host_calls.cuh>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "checks/starts.cuh"

namespace radix_pass_check {

using Keys = course::DataKind<unsigned>;
using E = course::Element;

/// 32 bits in no order, other ones for each element.
unsigned bits(E e) { return static_cast<unsigned>(course::mixed(e.i)); }

const Keys kRandom{"keys of 32 random bits", bits};
const Keys kEqual{"all keys are 0x76543210", [](E) { return 0x7654'3210u; }};
const Keys kKinds[] = {
    kRandom,
    kEqual,
    {"all keys are 0xffffffff", [](E) { return ~0u; }},
    {"keys ascend", [](E e) { return static_cast<unsigned>(e.i) * 0x0001'0101u; }},
    {"keys descend", [](E e) { return static_cast<unsigned>(e.n - e.i) * 0x1111'1111u; }},
    {"all digits of a key are 3 or 12",
     [](E e) { return bits(e) % 2 == 0 ? 0x3333'3333u : 0xcccc'ccccu; }},
    {"the last key alone is 0", [](E e) { return e.i + 1 == e.n ? 0u : 0x8888'8888u | bits(e); }},
    {"runs of 32 equal keys", [](E e) { return static_cast<unsigned>(e.i / 32) * 0x7777'7777u; }},
};

std::vector<unsigned> numbers(std::size_t n, unsigned first) {
  std::vector<unsigned> values(n);
  for (std::size_t i = 0; i < n; ++i) values[i] = first + static_cast<unsigned>(i);
  return values;
}

unsigned digit(unsigned key, unsigned shift) { return key >> shift & 15; }

/// The indices of the keys, in the order in which a pass writes them.
std::vector<std::size_t> order_of(const std::vector<unsigned>& keys, unsigned shift) {
  std::vector<std::size_t> order;
  for (unsigned d = 0; d < 16; ++d) {
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (digit(keys[i], shift) == d) order.push_back(i);
    }
  }
  return order;
}

void check_output(const std::vector<unsigned>& found_keys,
                  const std::vector<unsigned>& found_values, const std::vector<unsigned>& keys,
                  const std::vector<unsigned>& values, unsigned shift) {
  const std::vector<std::size_t> order = order_of(keys, shift);
  std::vector<unsigned> expected_keys, expected_values;
  for (const std::size_t i : order) {
    expected_keys.push_back(keys[i]);
    expected_values.push_back(values[i]);
  }
  const course::Inputs pair = [&](std::size_t k) {
    const std::size_t i = order[k];
    const std::string at = "[" + std::to_string(i) + "]";
    return "keys" + at + " = " + std::to_string(keys[i]) + ", whose digit is " +
           std::to_string(digit(keys[i], shift)) + ", and values" + at + " = " +
           std::to_string(values[i]) + "; the key that was found there has the digit " +
           std::to_string(digit(found_keys[k], shift));
  };
  REQUIRE(course::same(found_keys, expected_keys, "out_keys", pair));
  REQUIRE(course::same(found_values, expected_values, "out_values", pair));
}

void check(std::size_t n, const Keys& kind, unsigned shift) {
  const auto [start_keys, start_values, start_out_keys, start_out_values] =
      scan_checks::starts_of(n);
  INFO("n = " << n << ", shift = " << shift << ": " << kind.text << "; "
              << scan_checks::start_text("keys", start_keys, 4) << ", "
              << scan_checks::start_text("values", start_values, 4) << ",\n"
              << scan_checks::start_text("out_keys", start_out_keys, 4) << ", "
              << scan_checks::start_text("out_values", start_out_values, 4));
  // 2^32 - 1 and 0 are values, too.
  const std::vector<unsigned> keys = kind.values(n),
                              values = numbers(n, 0u - static_cast<unsigned>(n / 2));
  const course::Placed<unsigned> d_keys(keys, start_keys), d_values(values, start_values);
  const std::vector<unsigned> poison(n, 0xeeee'eeee);
  course::Placed<unsigned> out_keys(poison, start_out_keys), out_values(poison, start_out_values);
  radix_pass(d_keys.data(), d_values.data(), n, shift, out_keys.data(), out_values.data());
  check_output(out_keys.download(), out_values.download(), keys, values, shift);
  REQUIRE(out_keys.intact("out_keys"));
  REQUIRE(out_values.intact("out_values"));
  REQUIRE(d_keys.intact("keys"));
  REQUIRE(d_values.intact("values"));
  REQUIRE(course::same(d_keys.download(), keys, "keys"));
  REQUIRE(course::same(d_values.download(), values, "values"));
}

// Promise: the pairs whose digit is 0 are written, then those whose digit is 1, and so on to 15.
// Promise: pairs of the same digit keep their order (their values ascend).
TEST_CASE("radix_pass: one warp's worth") {
  for (const Keys& kind : kKinds) check(32, kind, 0);
}

// Promise: shift is 0 to 31; bits past the key's highest are 0.
TEST_CASE("radix_pass: every shift") {
  for (unsigned shift = 0; shift < 32; ++shift) check(40, kRandom, shift);
  for (const unsigned shift : {1u, 30u, 31u}) check(300, kKinds[2], shift);
  for (const unsigned shift : {3u, 28u, 29u, 30u, 31u}) check(2500, kRandom, shift);
}

// Promise: n may be 0. Arrays begin at any element.
// Promise: the outputs have room for n elements each; nothing else is written (OUT OF BOUNDS; on a GPU the guard bands
// show it).
TEST_CASE("radix_pass: every size, every kind of keys") {
  std::size_t turn = course::seed();  // other kinds under each schedule
  for (const std::size_t n : course::kSizes) {
    for (int k = 0; k < 2; ++k, ++turn) {
      check(n, kKinds[turn % std::size(kKinds)], 4 * static_cast<unsigned>(turn % 8));
    }
  }
}

// Promise: pairs of the same digit keep their order in many blocks, too.
TEST_CASE("radix_pass: many blocks") {
  check(course::kCpuDevice ? 3001 : course::kBigSize, kRandom, 8);
  check(2048, kEqual, 12);
  if (course::has_run_before()) return;
  check(4097, kKinds[5], 28);
  check(33'003, kRandom, 3);
}

// Promise: a part may have one digit only, whatever its size.
TEST_CASE("radix_pass: equal digits in parts of every size") {
  if (course::has_run_before()) return;
  for (const std::size_t whole : {256u, 512u, 1024u, 2048u, 3072u, 4096u}) {
    for (const std::size_t n : {whole - 1, whole, whole + 1}) check(n, kEqual, 4);
  }
}

// Promise: each call orders what is in memory then.
TEST_CASE("radix_pass: other pairs at the same place") {
  constexpr std::size_t n = 1500;
  course::DeviceBuffer<unsigned> d_keys(n), d_values(n), out_keys(n), out_values(n);
  for (unsigned call = 0; call < 4; ++call) {
    const Keys& kind = call == 1 ? kKinds[4] : call == 3 ? kKinds[7] : kRandom;
    const unsigned shift = call < 2 ? 8 : 4;
    const std::size_t size = call == 3 ? 1100 : n;
    INFO("call " << call + 1 << " with the same arrays; n = " << size << ", shift = " << shift
                 << ": " << kind.text);
    std::vector<unsigned> keys = kind.values(n), values = numbers(n, 1000 * call);
    d_keys.upload(keys);
    d_values.upload(values);
    out_keys.fill_bytes(0xee);
    out_values.fill_bytes(0xee);
    radix_pass(d_keys.data(), d_values.data(), size, shift, out_keys.data(), out_values.data());
    std::vector<unsigned> found_keys = out_keys.download(), found_values = out_values.download();
    if (size < n) {
      REQUIRE(
          course::same(found_keys[size], 0xeeee'eeee, "the element after the last of out_keys"));
      REQUIRE(course::same(found_values[size], 0xeeee'eeee,
                           "the element after the last of out_values"));
    }
    for (std::vector<unsigned>* array : {&keys, &values, &found_keys, &found_values})
      array->resize(size);
    check_output(found_keys, found_values, keys, values, shift);
  }
}

// Promise: passes over all digits sort.
TEST_CASE("radix_pass: eight passes sort") {
  if (course::has_run_before()) return;
  constexpr std::size_t n = 1025;
  INFO("n = " << n << ", shift = 0, 4, ... 28, one pass after the other: " << kRandom.text);
  std::vector<unsigned> keys = kRandom.values(n), values = numbers(n, 0);
  auto from_keys = course::DeviceBuffer<unsigned>::from(keys);
  auto from_values = course::DeviceBuffer<unsigned>::from(values);
  course::DeviceBuffer<unsigned> to_keys(n), to_values(n);
  for (unsigned shift = 0; shift < 32; shift += 4) {
    radix_pass(from_keys.data(), from_values.data(), n, shift, to_keys.data(), to_values.data());
    std::swap(from_keys, to_keys);
    std::swap(from_values, to_values);
  }
  std::ranges::stable_sort(values, {}, [&](unsigned i) { return keys[i]; });
  std::ranges::sort(keys);
  REQUIRE(course::same(from_keys.download(), keys, "the keys after eight passes"));
  REQUIRE(course::same(from_values.download(), values, "the values after eight passes"));
}

// Promise: n is at most 2^30 (GPU only).
TEST_CASE("radix_pass: 2^30 pairs") {
  constexpr std::size_t n = std::size_t{1} << 30;
  course::skip_without_memory(4 * n * sizeof(unsigned));
  INFO("n = 2^30, shift = 28: all digits are 0 but for the first 1000 keys, whose digits are 15");
  auto keys = course::DeviceBuffer<unsigned>::zeros(n),
       values = course::DeviceBuffer<unsigned>::zeros(n);
  CUDA_CHECK(cudaMemset(keys.data(), 0xff, 1000 * sizeof(unsigned)));
  const std::vector<unsigned> expected = numbers(1000, 7);
  CUDA_CHECK(cudaMemcpy(values.data(), expected.data(), 4000, cudaMemcpyHostToDevice));
  course::DeviceBuffer<unsigned> out_keys(n), out_values(n);
  radix_pass(keys.data(), values.data(), n, 28, out_keys.data(), out_values.data());
  std::vector<unsigned> found(1001);
  CUDA_CHECK(cudaMemcpy(found.data(), out_keys.data() + n - 1001, 4004, cudaMemcpyDeviceToHost));
  std::vector<unsigned> expected_keys(1001, ~0u);
  expected_keys[0] = 0;
  REQUIRE(course::same(found, expected_keys, "the last 1001 of out_keys"));
  CUDA_CHECK(cudaMemcpy(found.data(), out_values.data() + n - 1001, 4004, cudaMemcpyDeviceToHost));
  found.erase(found.begin());
  REQUIRE(course::same(found, expected, "the last 1000 of out_values"));
}

// Promise: the order is right in every order of the lanes.
TEST_CASE("radix_pass: the lanes of a warp go in step") {
  course::count([] {
    for (const Keys& kind : {kRandom, kEqual, kKinds[4]}) check(300, kind, 4);
  });
}

// Promise: kernels count (CPU device only).
TEST_CASE("radix_pass: the host counts nothing") {
  course::skip_without_counters();
  if (course::has_run_before()) return;
  constexpr std::size_t n = 48'000;
  INFO("n = " << n << ", shift = 4: " << kRandom.text);
  const auto keys = course::DeviceBuffer<unsigned>::from(kRandom.values(n));
  const auto values = course::DeviceBuffer<unsigned>::from(numbers(n, 0));
  course::DeviceBuffer<unsigned> out_keys(n), out_values(n);
  const auto run = course::watch_host(
      [&] { radix_pass(keys.data(), values.data(), n, 4, out_keys.data(), out_values.data()); });
  // The host may scan the counts of parts of 64 keys.
  REQUIRE(course::at_most(run->bytes_to_host, n, "bytes that the call copies to the host",
                          "kernels count the digits"));
}

// Promise: kernels move the pairs, with at most 10 loads per pair, of keys, values and counts.
// Promise: the threads of many blocks share the work, also where all digits are equal.
TEST_CASE("radix_pass: the threads share the work") {
  course::skip_without_counters();
  if (course::has_run_before()) return;
  // The warps of one block of 1024 threads move 47 pairs per thread: two loads and two stores for each.
  constexpr std::size_t n = 48'000;
  constexpr std::uint64_t kMost = 150;
  const auto seldom = [](const course::Counters& some) {
    return course::at_most(some.global_load_lanes, 10 * n, "loads from global memory by threads",
                           "keys, values and counts together, 10 loads per pair");
  };
  for (const std::size_t few : {32u, 256u, 1000u}) {
    const auto some = course::count([few] { check(few, kRandom, 4); });
    INFO("n = " << few << ", shift = 4: " << kRandom.text);
    // A block of 256 threads may load all of its 16 places in each of them.
    REQUIRE(course::at_most(some->global_load_lanes, 10 * few + 16 * 256,
                            "loads from global memory by threads",
                            "keys and values, 10 loads per pair, and counts"));
  }
  {
    const auto random = course::count([] { check(n, kRandom, 4); });
    INFO("n = " << n << ", shift = 4: " << kRandom.text);
    REQUIRE(seldom(*random));
  }
  const auto run = [] { check(n, kEqual, 4); };
  auto counters = course::count(run);
  if (!course::work_is_shared(*counters, kMost)) {
    counters =
        course::count_shuffled(run);  // blocks may take their tiles by ticket: not in order, then
  }
  INFO("n = " << n << ", shift = 4: " << kEqual.text);
  REQUIRE(course::kernels_load(*counters, 2 * n * sizeof(unsigned)));
  REQUIRE(course::at_least(counters->global_store_sectors, 2 * n * sizeof(unsigned) / 32,
                           "sectors of 32 bytes that kernels store to", "kernels move the pairs"));
  REQUIRE(seldom(*counters));
  REQUIRE(course::work_is_shared(*counters, kMost));
  // 16 threads, one for each digit, that go through 1024 keys in shared memory take 2048; one thread takes 4096.
  REQUIRE(course::shared_work_is_shared(*counters, 3000));
}

}  // namespace radix_pass_check
