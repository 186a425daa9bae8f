// The texts of failed comparisons, and the test data that they describe.
#include <course/check.cuh>

#include <algorithm>
#include <bit>
#include <catch2/catch_test_macros.hpp>
#include <cstdint>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

using course::close;
using course::same;
using course::same_set;

namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

/// 0, 1, 2, ... as integers.
std::vector<int> counting(int n) {
  std::vector<int> v(static_cast<std::size_t>(n));
  std::iota(v.begin(), v.end(), 0);
  return v;
}

}  // namespace

TEST_CASE("equal arrays have nothing to say") {
  CHECK(same(counting(100), counting(100), "x").text == "");
  CHECK(same(std::vector<int>{}, {}, "x").ok);
  CHECK(same(3.5f, 3.5f, "x").ok);
  CHECK(same_set(std::vector<int>{3, 1, 2, 2}, {2, 1, 2, 3}, "x").ok);
  CHECK(close(1.0, 1.25, 0.25, "x").ok);
}

TEST_CASE("one wrong element is named with what was expected") {
  std::vector<int> found = counting(256);
  found[97] = 12;
  CHECK(same(found, counting(256), "count").text ==
        "count[97]: expected 97, found 12; the other 255 elements are right");
  CHECK(same(std::vector<int>{7}, {8}, "sum").text == "sum[0]: expected 8, found 7");
}

TEST_CASE("many wrong elements are counted, not listed") {
  std::vector<int> found = counting(1000);
  for (const std::size_t i : {100, 107, 300}) found[i] -= 3;
  CHECK(same(found, counting(1000), "count").text ==
        "count[100]: expected 100, found 97; 3 of 1000 elements are wrong (first [100], last [300])"
        "\nAll of these are too small.");
}

TEST_CASE("a wrong end is told without a guess at the launch") {
  std::vector<int> found = counting(300);
  std::fill(found.begin() + 256, found.end(), 0);
  CHECK(same(found, counting(300), "y").text ==
        "y[256]: expected 256, found 0; 44 of 300 elements are wrong (first [256], last [299])\n"
        "Everything from [256] on is wrong, everything before it is right.");
}

TEST_CASE("an element that is left out, or one too many, moves all after it") {
  std::vector<int> found = counting(100);
  found.erase(found.begin() + 32);
  found.push_back(0);
  CHECK(same(found, counting(100), "y").text ==
        "y[32]: expected 32, found 33; 68 of 100 elements are wrong (first [32], last [99])\n"
        "32 is missing at [32]: all elements after it are one index too early.");
  found.erase(found.begin() + 63);  // 64
  found.push_back(0);
  CHECK(same(found, counting(100), "y").text.ends_with("after it are one index too early."));
  found = counting(100);
  found.insert(found.begin() + 32, 7);
  found.pop_back();
  CHECK(same(found, counting(100), "y").text ==
        "y[32]: expected 32, found 7; 68 of 100 elements are wrong (first [32], last [99])\n"
        "7 at [32] is one too many: all elements after it are one index too late.");
}

TEST_CASE("other patterns have a name, too") {
  const std::vector<int> zeros(96, 0);
  const auto hint = [](const course::Verdict& v) { return v.text.substr(v.text.find('\n') + 1); };
  std::vector<int> found = zeros;
  for (const std::size_t i : {31, 63, 95}) found[i] = 1;
  CHECK(hint(same(found, zeros, "y")) == "Every 32nd element from [31] on is wrong.");
  for (const std::size_t i : {31, 63, 95}) found[i] = 0;
  for (const std::size_t i : {30, 51, 72}) found[i] = 1;
  CHECK(hint(same(found, zeros, "y")) == "Every 21st element from [30] on is wrong.");

  found.assign(96, 5);
  CHECK(hint(same(found, zeros, "y")) == "All are too large.");
  found.assign(96, -5);
  CHECK(hint(same(found, zeros, "y")) == "All are too small.");
  found = zeros;
  std::fill(found.begin(), found.begin() + 32, 1);
  CHECK(hint(same(found, zeros, "y")) ==
        "Everything before [32] is wrong, everything from there on is right.");
}

TEST_CASE("a scan that counts its own element is a shift, too") {
  const std::vector<int> exclusive = {0, 1, 3, 6, 10}, inclusive = {1, 3, 6, 10, 15};
  CHECK(same(inclusive, exclusive, "y")
            .text.ends_with("0 is missing at [0]: all elements "
                            "after it are one index too early."));
}

TEST_CASE("a grid that is too small for one element per thread is pointed out") {
  CHECK(course::too_few_threads({1, 32}, 33, "atoms") ==
        "; 32 threads for 33 atoms: some take more than one");
  CHECK(course::too_few_threads({2, 32}, 64, "atoms") == "");
}

TEST_CASE("a caller's hint comes last") {
  CHECK(same(1u, 2, "sum", "Did you add the tail?").text ==
        "sum: expected 2, found 1\nDid you add the tail?");
}

TEST_CASE("the first wrong element is shown with what it is computed from") {
  const std::vector<int> x = counting(100);
  const auto inputs = [&](std::size_t i) {
    return course::elements_text("x", x, 10 * i, 10 * i + 10, 5);
  };
  CHECK(same(std::vector<int>{5, 0, 0}, {5, 25, 0}, "y", inputs).text ==
        "y[1]: expected 25, found 0; the other 2 elements are right\n"
        "y[1] is computed from x[10] = 10, x[15] = 15");
  CHECK(close(std::vector<float>{5}, {0}, 0.5, "y", inputs)
            .text.ends_with("\ny[0] is computed from x[0] = 0, x[5] = 5"));
  CHECK(same(std::vector<int>{5}, {5}, "y", inputs).ok);
  CHECK(same(std::vector<int>{5}, {6}, "y", [](std::size_t) { return ""; }).text ==
        "y[0]: expected 6, found 5");
}

TEST_CASE("a long list of elements is cut short, and ends with the array") {
  const std::vector<int> x = counting(100);
  CHECK(course::elements_text("x", x, 3, 50, 8) ==
        "x[3] = 3, x[11] = 11, x[19] = 19, x[27] = 27, x[35] = 35, x[43] = 43");
  CHECK(course::elements_text("x", x, 0, 7) ==
        "x[0] = 0, x[1] = 1, x[2] = 2, x[3] = 3, x[4] = 4, ... (7 elements)");
  CHECK(course::elements_text("x", x, 98, 1000) == "x[98] = 98, x[99] = 99");
  CHECK(course::elements_text("x", x, 100, 1000) == "no element of x");
}

TEST_CASE("arrays of different sizes are not compared") {
  CHECK(same(std::vector<int>(3), std::vector<int>(4), "y").text ==
        "y: expected 4 elements, found 3");
  CHECK(close(std::vector<float>(3), std::vector<double>(4), 1e9, "y").text ==
        "y: expected 4 elements, found 3");
}

TEST_CASE("NaN is always wrong") {
  CHECK(same(std::vector<float>{1, kNaN}, {1, 2}, "y").text ==
        "y[1]: expected 2, found NaN; the other element is right");
  CHECK_FALSE(same(kNaN, kNaN, "y").ok);
  const auto poison = std::bit_cast<float>(0xFFFF'FFFFu);
  CHECK(same(poison, 1.0f, "y").text ==
        "y: expected 1, found NaN (all bits set: was it ever written?)");
  CHECK(close(kNaN, 1, 100, "sum").text == "sum: expected 1 +- 100, found NaN");
  CHECK_FALSE(close(1, kNaN, 100, "sum").ok);
  CHECK_FALSE(close(1, 1, kNaN, "sum").ok);
  CHECK_FALSE(close(std::vector<float>{kNaN}, {0}, 1e30, "y").ok);
  CHECK(same_set(std::vector<float>{1, kNaN}, {1, 2}, "kept").text ==
        "kept: 1 missing (2), 1 that do not belong there (NaN); "
        "expected 2 elements in any order, found 2");
}

TEST_CASE("close shows the tolerance and the distance") {
  CHECK(close(33554432, 123000000, 0.5, "sum").text ==
        "sum: expected 123000000 +- 0.5, found 33554432 (off by 8.94e+07)");
  CHECK(close(std::vector<float>{1, 2.5f, 3}, {1, 2, 3}, 0.25, "y").text ==
        "y[1]: expected 2 +- 0.25, found 2.5; the other 2 elements are right");
}

TEST_CASE("numbers have the digits that tell them from their neighbours") {
  CHECK(course::number_text(0.1f) == "0.1");
  CHECK(course::number_text(0.1) == "0.1");
  CHECK(course::number_text(16777217.0) == "16777217");
  CHECK(course::number_text(std::uint8_t{65}) == "65");
  CHECK(course::number_text(std::uint64_t{18446744073709551615u}) == "18446744073709551615");
  CHECK(same(1.0f, 1.00000012f, "y").text == "y: expected 1.0000001, found 1");
}

TEST_CASE("limits say which of the two numbers is the found one") {
  CHECK(course::at_most(4, 4, "atomics"));
  CHECK(course::at_most(7, 4, "atomics").text == "atomics: expected at most 4, found 7");
  CHECK(course::at_least(4, 4, "size"));
  CHECK(course::at_least(2, 4, "size", "so it is").text ==
        "size: expected at least 4, found 2; so it is");
  CHECK(course::none(0, "barriers"));
  CHECK(course::none(3, "barriers").text == "barriers: expected none, found 3");
}

TEST_CASE("sets tell what is missing, what is there too often, and what is foreign") {
  CHECK(same_set(std::vector<int>{1, 3, 3, 9}, {1, 2, 3}, "kept").text ==
        "kept: 1 missing (2), 1 too often (3), 1 that do not belong there (9); "
        "expected 3 elements in any order, found 4");
  CHECK(same_set(std::vector<int>{}, counting(100), "kept").text ==
        "kept: 100 missing (0, 1, 2, 3, 4, ...); expected 100 elements in any order, found 0");
}

// ---- data.cuh ----------------------------------------------------------------------------------

TEST_CASE("position values are the same everywhere, and float sums of them exact") {
  const std::vector<float> x = course::position_values<float>(1 << 20);
  // From the first number of mt19937 with seed 1, which the standard fixes: 1791095845.
  CHECK(x[0] == 0.5f);
  CHECK(x != course::position_values<float>(1 << 20, 2));
  const double exact = std::accumulate(x.begin(), x.end(), 0.0);
  CHECK(std::accumulate(x.begin(), x.end(), 0.0f) == exact);
  CHECK(std::accumulate(x.rbegin(), x.rend(), 0.0f) == exact);
  CHECK(*std::min_element(x.begin(), x.end()) == 0.125f);
  CHECK(*std::max_element(x.begin(), x.end()) == 1.875f);

  const std::vector<int> i = course::position_values<int>(1'000'007);
  CHECK(*std::min_element(i.begin(), i.end()) == 1);
  CHECK(*std::max_element(i.begin(), i.end()) == 1000);
  CHECK(std::accumulate(i.begin(), i.end(), 0LL) < std::numeric_limits<int>::max());

  const std::vector<std::uint8_t> bytes = course::position_values<std::uint8_t>(10'000);
  CHECK(*std::min_element(bytes.begin(), bytes.end()) == 0);
  CHECK(*std::max_element(bytes.begin(), bytes.end()) == 255);
}

TEST_CASE("swapped neighbours show in position values") {
  const std::vector<int> x = course::position_values<int>(1000);
  int equal = 0;
  for (std::size_t i = 1; i < x.size(); ++i) equal += x[i] == x[i - 1] ? 1 : 0;
  CHECK(equal < 10);
}

TEST_CASE("a sum's tolerance is Higham's bound") {
  CHECK(course::sum_tolerance(std::vector<float>{}) == 0);
  CHECK(course::sum_tolerance(std::vector<float>{5}) == 0);
  // Two numbers: one rounding, of at most u |a + b|, and hardly more than that.
  const double two = course::sum_tolerance(std::vector<float>{3, -5});
  CHECK(two >= 8 * 0x1p-24);
  CHECK(two < 8.001 * 0x1p-24);
  // Ten times 0.1f, added one after another, stays within the bound.
  const std::vector<float> tenths(10, 0.1f);
  const double exact = std::accumulate(tenths.begin(), tenths.end(), 0.0);
  const float found = std::accumulate(tenths.begin(), tenths.end(), 0.0f);
  CHECK(found != exact);
  CHECK(close(found, exact, course::sum_tolerance(tenths), "sum"));
  CHECK_THROWS_AS(course::sum_tolerance(std::vector<float>(3000, 1), course::kHalfRoundoff),
                  std::domain_error);
}
