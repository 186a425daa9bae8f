// What is wrong on purpose is wrong in the way that the lesson says: lost additions, loops that end
// too late or too early, accesses outside of an array.
#include <catch2/catch_test_macros.hpp>
#include <course/check.cuh>
#include <cstddef>
#include <functional>
#include <string>

#include "rungs.cuh"
#include "testing.cuh"

namespace half_atomics {

__global__ void add_half_once(__half* x, __half v) { atomicAdd(x, v); }
__global__ void add_to_all_once(course::Pack<__half, 2>* x, __half v) { atomic_add_to_all(x, v); }

}  // namespace half_atomics

using namespace half_atomics;

TEST_CASE("a loop that looks at its own half alone loses additions") {
  constexpr std::size_t kN = 1024;
  course::GuardedBuffer<__half> y(2);
  for (const OwnBitsRung& rung : kOwnBitsRungs) {
    const auto run = [&] {
      set_bits(y.data(), {0, 0});
      rung.launch(kN, y.data());
      const std::vector<Bits> sums = get_bits(y.data(), 2);
      return float_of(sums[0]) + float_of(sums[1]);
    };
    float sum = 0.0f;
    course::count([&] { sum = run(); });  // lanes go in step, as on a GPU
    INFO(rung.name << ", " << kN << " times 1 to two halves of a word");
    REQUIRE(sum < static_cast<float>(kN));
    REQUIRE(sum > 0.0f);
  }
}

TEST_CASE("a loop that compares halves ends too late at NaN, and too early at -0.0") {
  constexpr int kMost = 1000;
  course::GuardedBuffer<__half> y(2);
  course::DeviceBuffer<int> turns(1);
  for (const ByValueRung& rung : kByValueRungs) {
    INFO(rung.name << ", one thread, at most " << kMost << " turns");
    const auto run = [&](Bits there, Bits guess, Bits value) {
      set_bits(y.data(), {there, 0});
      rung.launch(half_of(guess), half_of(value), kMost, y.data(), turns.data());
      return get_bits(y.data(), 2)[0];
    };
    REQUIRE(same_bits("2 + 1", run(0x4000, 0x4000, 0x3C00), 0x4200));
    REQUIRE(course::same(turns.front(), 1, "turns at a number"));
    REQUIRE(same_bits("2 + 1 after a wrong guess", run(0x4000, 0x4400, 0x3C00), 0x4200));
    REQUIRE(course::same(turns.front(), 2, "turns after a wrong guess"));
    REQUIRE(is_nan(run(0x7E00, 0x7E00, 0x3C00)));
    REQUIRE(course::same(turns.front(), kMost, "turns at a NaN"));
    // The guess 0.0 equals the -0.0 that is there, so the loop believes that it has stored.
    REQUIRE(same_bits("-0.0 + 1 after the guess 0.0", run(kMinusZero, 0x0000, 0x3C00), kMinusZero));
    REQUIRE(course::same(turns.front(), 1, "turns at -0.0, which stays"));
  }
}

TEST_CASE("the word around the last half of three reaches beyond the array") {
  course::DeviceBuffer<__half> x(3);  // 6 bytes
  set_bits(x.data(), {0, 0, 0x3C00});
  add_half_once<<<1, 1>>>(x.data() + 2, half_of(0x3C00));  // CUDA's function: may be called there
  CUDA_CHECK_LAUNCH();
  REQUIRE(same_bits("x", get_bits(x.data(), 3), {0, 0, 0x4000}));
  course::DeviceBuffer<__half> returned(1);
  add_one_to<<<1, 1>>>(How::cas16, 1, x.data() + 2, returned.data());  // and so may this one
  CUDA_CHECK_LAUNCH();
  REQUIRE(same_bits("x", get_bits(x.data(), 3), {0, 0, 0x4200}));
  course::skip_without_checker();
  INFO("a loop on the 32-bit word around x[2], of 3 halves");
  const course::Findings findings =
      course::find_races([&] { add_one_to<<<1, 1>>>(How::cas, 1, x.data() + 2, returned.data()); });
  REQUIRE(findings.others == 1);
  INFO(findings.texts.front());
  REQUIRE(findings.texts.front().find("OUT OF BOUNDS") != std::string::npos);
}

TEST_CASE("a pack is aligned to all of its bytes, and so must its address be") {
  STATIC_REQUIRE(alignof(course::Pack<__half, 2>) == 4);
  STATIC_REQUIRE(alignof(course::Pack<__half, 8>) == 16);
  STATIC_REQUIRE(alignof(course::Pack<float, 4>) == 16);
  STATIC_REQUIRE(sizeof(course::Pack<__half, 2>) == sizeof(__half2));
  course::skip_without_checker();  // on a GPU both end the program
  const auto text_of = [](const char* const what, const std::function<void()>& work) {
    INFO(what);
    const course::Findings findings = course::find_races(work);
    REQUIRE(findings.others == 1);
    return findings.texts.front();
  };
  auto two = course::DeviceBuffer<__half>::zeros(4);
  const std::string misaligned = text_of("a pack of two halves at an odd half", [&] {
    auto* const pack = reinterpret_cast<course::Pack<__half, 2>*>(two.data() + 1);
    add_to_all_once<<<1, 1>>>(pack, half_of(0x3C00));
  });
  INFO(misaligned);
  REQUIRE(misaligned.find("MISALIGNED") != std::string::npos);
  auto one = course::DeviceBuffer<__half>::zeros(1);  // a result of one half, as the code had first
  const std::string outside = text_of("a pack of two halves at an array of one", [&] {
    auto* const pack = reinterpret_cast<course::Pack<__half, 2>*>(one.data());
    add_to_all_once<<<1, 1>>>(pack, half_of(0x3C00));
  });
  INFO(outside);
  REQUIRE(outside.find("OUT OF BOUNDS") != std::string::npos);
}
