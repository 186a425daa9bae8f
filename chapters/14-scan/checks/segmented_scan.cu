// Check of the exercise segmented_scan: flags at every awkward place, every size, other data at the same place, and
// whether many threads share the work.
#include "segmented_scan.cuh"

#include <catch2/catch_test_macros.hpp>
#include <course/check.cuh>
#include <course/host_calls.cuh>
#include <cstddef>
#include <string>
#include <vector>

#include "checks/part_ends.cuh"
#include "checks/starts.cuh"

namespace segmented_scan_check {

using Flags = course::DataKind<unsigned char>;
using E = course::Element;

const Flags kSome{
    "one flag in eight is set, with any byte", [](E e) {
      return static_cast<unsigned char>(e.random % 8 == 0 ? 1 + e.random * 37 % 255 : 0);
    }};
const Flags kNone{"no flag is set", [](E) { return static_cast<unsigned char>(0); }};
const Flags kFew{"flags of 1 about every 700 elements", [](E e) {
                   return static_cast<unsigned char>(e.i > 0 && e.random % 700 == 3 ? 1 : 0);
                 }};
const Flags kKinds[] = {
    kSome,
    {"all flags are set", [](E) { return static_cast<unsigned char>(1); }},
    kNone,
    kFew,
    {"the first flag alone is set", [](E e) { return static_cast<unsigned char>(e.i == 0); }},
    {"the last flag alone is set, by the byte 128",
     [](E e) { return static_cast<unsigned char>(e.i + 1 == e.n ? 128 : 0); }},
    {"every 32nd flag is set, by the byte 2, and not the first",
     [](E e) { return static_cast<unsigned char>(e.i % 32 == 31 ? 2 : 0); }},
    {"every 256th flag is set", [](E e) { return static_cast<unsigned char>(e.i % 256 == 0); }},
};

/// Sums of about 20 of them wrap around.
std::vector<unsigned> numbers(std::size_t n, unsigned seed) {
  std::vector<unsigned> x = course::position_values<unsigned>(n, seed);
  for (unsigned& value : x) value = value * 200'003u + 1;
  return x;
}

struct Sums {
  std::vector<unsigned> out;
  std::vector<std::size_t> begin;  // of each element's segment
};

Sums reference(const std::vector<unsigned>& x, const std::vector<unsigned char>& flags) {
  Sums sums;
  unsigned sum = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (flags[i] != 0) sum = 0, begin = i;
    sums.out.push_back(sum += x[i]);
    sums.begin.push_back(begin);
  }
  return sums;
}

void check_output(const std::vector<unsigned>& found, const std::vector<unsigned>& x,
                  const std::vector<unsigned char>& flags) {
  const Sums expected = reference(x, flags);
  REQUIRE(course::same(found, expected.out, "out", [&](std::size_t i) {
    const std::size_t begin = expected.begin[i];
    return course::elements_text("x", x, begin, i + 1) +
           (flags[begin] != 0
                ? "; flags[" + std::to_string(begin) + "] is " + std::to_string(+flags[begin])
                : "; no flag is set up to there");
  }));
}

void check(const std::vector<unsigned>& x, const Flags& kind, bool in_place = false) {
  const std::size_t n = x.size();
  const auto [start_x, start_flags, start_out, unused] = scan_checks::starts_of(n);
  INFO("n = " << n << ": " << kind.text << "; " << scan_checks::start_text("x", start_x, 4) << ", "
              << scan_checks::start_text("flags", start_flags, 1)
              << (in_place ? "; out is x" : ", " + scan_checks::start_text("out", start_out, 4)));
  const std::vector<unsigned char> flags = kind.values(n);
  course::Placed<unsigned> d_x(x, start_x);
  const course::Placed<unsigned char> d_flags(flags, start_flags);
  course::Placed<unsigned> out(std::vector<unsigned>(n, 0xeeee'eeee), start_out);
  segmented_scan(d_x.data(), d_flags.data(), n, in_place ? d_x.data() : out.data());
  check_output(in_place ? d_x.download() : out.download(), x, flags);
  REQUIRE(out.intact("out"));
  REQUIRE(d_x.intact("x"));
  if (!in_place) REQUIRE(course::same(d_x.download(), x, "x"));
  REQUIRE(course::same(d_flags.download(), flags, "flags"));
}

void check(std::size_t n, const Flags& kind, bool in_place = false) {
  segmented_scan_check::check(numbers(n, 1), kind, in_place);
}

// Promise: out[i] is the sum from the last flag up to i, or from x[0] on if there is none, modulo 2^32.
// Promise: a flag is set if its byte is not 0.
TEST_CASE("segmented_scan: one warp's worth") {
  for (const Flags& kind : kKinds) check(32, kind);
}

// Promise: any flags may be set: all, none, that of x[0] or not.
// Promise: n may be 0. x and flags begin at any element.
TEST_CASE("segmented_scan: every size, every kind of flags") {
  std::size_t turn = course::seed();  // other kinds under each schedule
  for (const std::size_t n : course::kSizes) {
    for (int k = 0; k < 2; ++k) check(n, kKinds[turn++ % std::size(kKinds)]);
  }
}

// Promise: any flags may be set: one alone, wherever a part of the array may begin or end.
TEST_CASE("segmented_scan: one flag alone") {
  if (course::has_run_before()) return;
  constexpr std::size_t n = 2560;
  for (const std::size_t place : scan_checks::part_ends(n)) {
    check(n, {"flags[" + std::to_string(place) + "] alone is set",
              [place](E e) { return static_cast<unsigned char>(e.i == place); }});
  }
}

// Promise: a flag is set if its byte is not 0: each of the 255 other bytes, alone in a part.
TEST_CASE("segmented_scan: flags of every byte") {
  if (course::has_run_before()) return;
  check(255 * 1024 - 1, {"of every 1024 flags one is set, by the bytes 1, 2, ... 255", [](E e) {
                           return static_cast<unsigned char>(
                               e.i % 1024 == 100 + e.i / 1024 * 7 % 800 ? 1 + e.i / 1024 : 0);
                         }});
}

// Promise: any flags may be set: any number of them, whatever their bytes are together.
TEST_CASE("segmented_scan: 256, 512, ... flags in a part, and bytes whose sum is 256") {
  if (course::has_run_before()) return;
  const Flags of_256{"of every 512 flags those from the 101st to the 356th are set", [](E e) {
                       return static_cast<unsigned char>(e.i % 512 >= 100 && e.i % 512 < 356);
                     }};
  const Flags of_128{
      "of every 512 flags the 101st and the 301st are set, by the byte 128", [](E e) {
        return static_cast<unsigned char>(e.i % 512 == 100 || e.i % 512 == 300 ? 128 : 0);
      }};
  for (const std::size_t n : {2047u, 3071u, 4096u}) {
    check(n, of_256);
    check(n, of_128);
  }
  // Wherever a thread's elements begin, some of these flags are its own, and no others.
  const Flags neighbours{
      "of every 37 flags some neighbours are set, by the bytes 255 and 1, 128 and 128, or four 64",
      [](E e) {
        constexpr unsigned char kBytes[37] = {0, 0, 0, 0, 0, 255, 1,  0,  0,  0,   0,   0, 0,
                                              0, 0, 0, 0, 0, 0,   0,  0,  0,  128, 128, 0, 0,
                                              0, 0, 0, 0, 0, 0,   64, 64, 64, 64,  0};
        return kBytes[e.i % 37];
      }};
  for (const std::size_t n : {13u, 777u, 3071u}) check(n, neighbours);
}

// Promise: any number of 32 bits may be a sum.
TEST_CASE("segmented_scan: all sums are the same number, of many kinds") {
  if (course::has_run_before()) return;
  for (const unsigned sum : {0u, 1u, ~0u, ~0u - 1, 0x7fff'ffffu, 0x8000'0000u, 0xeeee'eeeeu}) {
    INFO("x[0] is " << sum << ", all others are 0");
    std::vector<unsigned> x(2560, 0);
    x[0] = sum;
    segmented_scan_check::check(x, kNone);
  }
}

// Promise: a segment may begin in one block and end in another.
TEST_CASE("segmented_scan: many blocks") {
  check(course::kCpuDevice ? 3001 : course::kBigSize, kSome);
  check(2048, kNone);
  if (course::has_run_before()) return;
  check(4097, kFew);
  check(3000, kKinds[5]);
}

// Promise: blocks may start in any order (the CPU device starts the last one first; a GPU may hang).
TEST_CASE("segmented_scan: 150003 numbers without a flag") {
  if (course::has_run_before()) return;
  course::with_seed(2, [] { check(150'003, kNone); });
}

// Promise: n may be any number: more than the 2^20 up to which segmented_scan() gives a block 1024 elements.
TEST_CASE("segmented_scan: parts of more than 1024 elements") {
  if (course::has_run_before()) return;
  check((std::size_t{1} << 20) + 1, kSome);
}

// Promise: out may be x.
TEST_CASE("segmented_scan: the sums replace the numbers") {
  for (const std::size_t n : {1u, 1025u, 10'007u}) check(n, kSome, true);
}

// Promise: each call scans what is in memory then.
TEST_CASE("segmented_scan: other numbers and flags at the same place") {
  constexpr std::size_t n = 1500;
  course::DeviceBuffer<unsigned> d_x(n);
  course::DeviceBuffer<unsigned char> d_flags(n);
  course::GuardedBuffer<unsigned> out(n);
  for (unsigned call = 0; call < 4; ++call) {
    const Flags& kind = call == 1 ? kFew : kSome;
    const std::size_t size = call == 3 ? 1100 : n;
    INFO("call " << call + 1 << " with the same arrays; n = " << size << ": " << kind.text);
    const std::vector<unsigned> x = numbers(n, 1 + call);
    const std::vector<unsigned char> flags = kind.values(n);
    d_x.upload(x);
    d_flags.upload(flags);
    out.fill_bytes(0xff);
    segmented_scan(d_x.data(), d_flags.data(), size, out.data());
    std::vector<unsigned> found = out.download();
    if (size < n)
      REQUIRE(course::same(found[size], 0xffff'ffffu, "the element after the last of out"));
    found.resize(size);
    check_output(found, {x.begin(), x.begin() + size}, {flags.begin(), flags.begin() + size});
  }
}

// Promise: n may be more than 2^32 (GPU only).
TEST_CASE("segmented_scan: more than 2^32 numbers") {
  constexpr std::size_t n = (std::size_t{1} << 32) + 1000;
  course::skip_without_memory(n * 5);
  INFO("n = 2^32 + 1000: all are 1, out is x; a few flags are set");
  course::DeviceBuffer<unsigned> x(n);
  auto flags = course::DeviceBuffer<unsigned char>::zeros(n);
  CUDA_CHECK(cudaMemset2D(x.data(), 4, 0, 4, n));
  CUDA_CHECK(cudaMemset2D(x.data(), 4, 1, 1, n));
  const std::size_t begins[] = {0, 77, 0x7fff'fff0, 0xffff'fff0};
  for (const std::size_t i : begins) CUDA_CHECK(cudaMemset(flags.data() + i, 1, 1));
  segmented_scan(x.data(), flags.data(), n, x.data());
  for (std::size_t s = 0; s < std::size(begins); ++s) {
    const std::size_t last = (s + 1 < std::size(begins) ? begins[s + 1] : n) - 1;
    unsigned found = 0;
    CUDA_CHECK(cudaMemcpy(&found, x.data() + last, sizeof found, cudaMemcpyDeviceToHost));
    INFO("the last element of the segment that begins at " << begins[s]);
    REQUIRE(course::same(found, static_cast<unsigned>(last + 1 - begins[s]), "out"));
  }
}

// Promise: the results are right in every order of the lanes.
TEST_CASE("segmented_scan: the lanes of a warp go in step") {
  course::count([] {
    for (const Flags& kind : {kSome, kFew, kKinds[6]}) check(300, kind);
  });
}

// Promise: kernels read x and flags (CPU device only).
TEST_CASE("segmented_scan: the host reads neither numbers nor flags") {
  course::skip_without_counters();
  if (course::has_run_before()) return;
  constexpr std::size_t n = 24'000;
  INFO("n = " << n << ": " << kSome.text);
  const auto x = course::DeviceBuffer<unsigned>::from(numbers(n, 1));
  const auto flags = course::DeviceBuffer<unsigned char>::from(kSome.values(n));
  course::DeviceBuffer<unsigned> out(n);
  const auto run =
      course::watch_host([&] { segmented_scan(x.data(), flags.data(), n, out.data()); });
  // The host may scan the totals of parts of 32 numbers.
  REQUIRE(course::at_most(run->bytes_to_host, n / 2, "bytes that the call copies to the host",
                          "kernels read x and flags"));
}

// Promise: the threads of many blocks share the work.
TEST_CASE("segmented_scan: the threads share the work") {
  course::skip_without_counters();
  if (course::has_run_before()) return;
  constexpr std::size_t n = 24'000;
  auto counters = course::count([] { check(n, kSome); });
  if (!course::work_is_shared(*counters,
                              60)) {  // blocks may take their tiles by ticket: not in order, then
    counters = course::count_shuffled([] { check(n, kSome); });
  }
  INFO("n = " << n << ": " << kSome.text);
  REQUIRE(course::kernels_load(*counters, n * (sizeof(unsigned) + 1)));
  REQUIRE(course::at_least(counters->global_store_sectors, n * sizeof(unsigned) / 32,
                           "sectors of 32 bytes that kernels store to", "the kernels write out"));
  // A tile of 16 elements per thread takes 48 and more; a block of 1024 threads alone takes 72.
  REQUIRE(course::work_is_shared(*counters, 60));
  REQUIRE(course::shared_work_is_shared(*counters, 1000));
  auto none = course::count([] { check(n, kNone); });  // no block may walk back to a flag
  if (!course::work_is_shared(*none, 60)) none = course::count_shuffled([] { check(n, kNone); });
  INFO("n = " << n << ": " << kNone.text);
  REQUIRE(course::work_is_shared(*none, 60));
}

}  // namespace segmented_scan_check
