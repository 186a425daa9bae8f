// The texts of failed comparisons, and the test data that they describe.
#include <course/check.cuh>
#include <course/guarded.cuh>

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

__global__ void write_some(int* y, unsigned first, unsigned end, int value) {
  const unsigned i = threadIdx.x;
  if (i >= first && i < end) y[i] = value;
}

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

TEST_CASE("a comparison that holds has a figure") {
  const course::Figure number = same(16u, 16u, "atomics").figure;
  CHECK(number.name == "atomics");
  CHECK(number.value == "16");
  CHECK(same(4294967296.0f, 4294967296.0f, "y").figure.value == "4294967296");  // all of its digits
  CHECK(same(0.1f, 0.1f, "y").figure.value == "0.1");
  CHECK(same(std::vector<int>{1, 2}, {1, 2}, "x").figure.value == "1 2");
  CHECK(same(std::vector<int>(5), std::vector<int>(5), "x").figure.value ==
        "all 5 elements as expected");
  CHECK(course::at_most(3, 4, "atomics").figure.value == "3, at most 4");
  CHECK(course::at_least(3, 2, "atomics").figure.value == "3, at least 2");
  CHECK(course::none(0, "barriers").figure.value == "0");
  CHECK(close(2.5, 2.0, 1.0, "sum").figure.value == "2.5, expected 2 +- 1");
  CHECK(same(1, 2, "x").figure.name.empty());
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
        "\nWrong are [100], [107], [300], no others."
        "\nEach wrong element is smaller than expected, by 3.");
}

TEST_CASE("a wrong end is told without a guess at the launch") {
  std::vector<int> found = counting(300);
  std::fill(found.begin() + 256, found.end(), 0);
  CHECK(same(found, counting(300), "y").text ==
        "y[256]: expected 256, found 0; 44 of 300 elements are wrong (first [256], last [299])\n"
        "Everything from [256] on is wrong, everything before it is right.\n"
        "Each wrong element holds 0.");
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

/// What a message says below its first line.
std::string facts(const course::Verdict& verdict) {
  const std::size_t end = verdict.text.find('\n');
  return end == std::string::npos ? "" : verdict.text.substr(end + 1);
}

/// n zeros with ones at the places that `is_wrong` names, compared with zeros.
template <class IsWrong>
std::string wrong_places(std::size_t n, IsWrong is_wrong) {
  const std::vector<int> zeros(n, 0);
  std::vector<int> found = zeros;
  for (std::size_t i = 0; i < n; ++i) found[i] = is_wrong(i) ? static_cast<int>(1 + i) : 0;
  const std::string text = facts(same(found, zeros, "y"));
  return text.substr(0, text.find('\n'));
}

TEST_CASE("which elements are wrong is told in ranges") {
  CHECK(wrong_places(96, [](std::size_t i) { return i % 32 == 31; }) ==
        "Every 32nd element from [31] on is wrong.");
  CHECK(wrong_places(96, [](std::size_t i) { return i == 30 || i == 51 || i == 72; }) ==
        "Every 21st element from [30] to [72] is wrong.");
  CHECK(wrong_places(96, [](std::size_t i) { return i < 32; }) ==
        "Everything before [32] is wrong, everything from there on is right.");
  CHECK(wrong_places(96, [](std::size_t i) { return i % 24 != 5; }) ==
        "Every 24th element from [5] on is right, the others are wrong.");
  CHECK(wrong_places(100, [](std::size_t i) { return i % 20 >= 17; }) ==
        "Of every 20 elements from [17] on the first 3 are wrong.");
  CHECK(wrong_places(98, [](std::size_t i) { return i % 20 >= 12; }) ==
        "Of every 20 elements from [12] on the first 8 are wrong.");  // the last ones are cut
  CHECK(wrong_places(96, [](std::size_t i) { return (i >= 8 && i < 16) || i == 40; }) ==
        "Wrong are [8] to [15], [40], no others.");
  CHECK(wrong_places(96, [](std::size_t i) { return (i < 50 || i > 60) && i % 2 == 1; }) ==
        "Each wrong element is larger than expected, by 2 to 96.");
  CHECK(wrong_places(96, [](std::size_t i) { return i != 30 && i != 31 && i != 40 && i != 90; }) ==
        "Right are [30] to [31], [40], [90], no others.");
}

TEST_CASE("where the expected value decides which elements are wrong, it is told") {
  std::vector<int> expected(64), found;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    expected[i] = static_cast<int>(i) * (i % 4 < 2 ? -3 : 2) - 1;
  }
  const auto told = [&](auto is_wrong) {
    found = expected;
    for (int& x : found) x = is_wrong(x) ? 7 * x * x + 1 : x;
    const std::string text = facts(same(found, expected, "y"));
    return text.substr(0, text.find('\n'));
  };
  CHECK(told([](int x) { return x < 0; }) ==
        "Wrong are the elements of which at most -1 is expected, no others.");
  CHECK(told([](int x) { return x >= 19; }) ==
        "Wrong are the elements of which at least 19 is expected, no others.");
  expected = counting(60);
  for (int& x : expected) x = x * 7 % 5;
  CHECK(told([](int x) { return x == 4; }) ==
        "Wrong are the elements of which 4 is expected, no others.");
  CHECK(told([](int x) { return x == 3; }) == "Every 5th element from [4] on is wrong.");
}

TEST_CASE("a difference is told if it is of one sign in all elements") {
  CHECK(facts(same(std::vector<int>{31, 40, 38}, {0, 9, 7}, "y")) ==
        "Each element is larger than expected, by 31.");
  CHECK(
      facts(same(std::vector<int>{1, 9, 6, 8}, {2, 9, 7, 21}, "y")) ==
      "Wrong are [0], [2] to [3], no others.\nEach wrong element is smaller than expected, by 1 to 13.");
  CHECK(facts(same(std::vector<int>{3, 9, 8, 1}, {2, 9, 7, 5}, "y")) ==
        "Wrong are [0], [2] to [3], no others.");
  CHECK(facts(same(std::vector<float>{3, 7.5f, 0, 48}, {1, 2.5f, 0, 16}, "y")) ==
        "Wrong are [0] to [1], [3], no others.\nEach wrong element is 3 times the expected one.");
  CHECK(facts(same(std::vector<float>{1, 2.5f}, {4, 10}, "y")) ==
        "Each element is 1/4 of the expected one.");
  CHECK(facts(same(93, 31, "y")) == "93 is 3 times 31.");
  CHECK(facts(same(3, 1, "y")) == "");  // of small numbers that says nothing
  CHECK(facts(same(17325u, 18064, "totals")) == "17325 is too small by 739.");
  CHECK(facts(same(17325u, 640, "totals")) == "");
  CHECK(facts(same(std::vector<int>{7, 111, 111}, {7, 110, 112}, "y")) ==
        "Everything from [1] on is wrong, everything before it is right.\n"
        "[1] is too large by 1, and [2] too small by as much.");
  CHECK(facts(same(std::vector<int>{7, 12, 9, 10}, {7, 10, 10, 11}, "y")) ==
        "Everything from [1] on is wrong, everything before it is right.\n"
        "The sum of all elements is right.");
  CHECK(facts(close(std::vector<float>{1.5f, 2.52f}, {1, 2}, 0.05, "y")) ==
        "Each element is larger than expected, by 0.5.");
}

TEST_CASE("where a found value belongs") {
  const std::vector<int> right = {4, 8, 15, 16, 23, 42};
  CHECK(facts(same(std::vector<int>{42, 23, 16, 15, 8, 4}, right, "y")) ==
        "The numbers are in the opposite order.");
  CHECK(facts(same(std::vector<int>{85, -431}, {-431, 85}, "y")) ==
        "The numbers are in the opposite order.");
  CHECK(facts(same(std::vector<int>{1, 5, 2, 7, 3, 1}, {1, 2, 3, 5, 7, 1}, "y"))
            .ends_with(
                "Rows and columns are exchanged: [r * 2 + c] holds what belongs at [c * 3 + r]."));
  CHECK(facts(same(std::vector<int>{15, 8, 4, 16, 42, 23}, right, "y")) ==
        "Wrong are [0], [2], [4] to [5], no others.\n"
        "All 6 numbers are there, in another order: [0] holds what belongs at [2].");
  CHECK(facts(same(std::vector<int>{16, 23, 42, 7, 7, 9}, right, "y")) ==
        "Each element, as far as there is one, holds what belongs 3 elements later.");
  CHECK(facts(same(std::vector<int>{4, 8, 15, 4, 8, 15}, right, "y")) ==
        "Everything from [3] on is wrong, everything before it is right.\n"
        "Each wrong element holds what belongs 3 elements earlier.");
  CHECK(facts(same(std::vector<int>{4, 8, 42, 16, 20, 42}, right, "y")) ==
        "Wrong are [2], [4], no others.\n42 is the value that belongs at [5].");
}

TEST_CASE("what a found value is") {
  const auto low = std::numeric_limits<float>::lowest();
  CHECK(facts(same(low, 3.0f, "y")) == "-3.4028235e+38 is -FLT_MAX.");
  CHECK(facts(same(std::numeric_limits<int>::min(), 3, "y")) == "-2147483648 is INT_MIN.");
  CHECK(facts(same(4294967287u, 3, "y")) == "4294967287 is -9 modulo 2^32.");
  CHECK(
      facts(same(4294967295u, 3, "y")) ==
      "4294967295 is -1 modulo 2^32, and has all bits set: was it never written, or did a search find nothing?");
  CHECK(facts(same(0xeeee'eeeeu, 3, "y")) ==
        "4008636142 is 0xeeeeeeee: is that what was there before?");
  CHECK(facts(same(0x7a7a'7a7a'7a7a'7a7aull, 3, "y"))
            .ends_with(" is 0x7a7a7a7a7a7a7a7a: is that what was there before?"));
  CHECK(facts(same(4464ull, 70000, "count")) ==
        "4464 is 70000 modulo 2^16: it lacks 65536, 2^16 or 256 times 2^8.");
  CHECK(facts(same(0ull, std::uint64_t{1} << 32, "count")) == "0 is 4294967296 modulo 2^32.");
  CHECK(facts(same(0ull, std::uint64_t{1} << 60, "count")).find("modulo") ==
        std::string::npos);  // 2^32, and 2^16, and 2^52
  CHECK(facts(same(-25536, 40000, "count")) ==
        "-25536 is the low 16 bits of 40000, read as a signed number.");
  CHECK(facts(same(std::uint64_t{18446744069414584320u}, 0, "*d_count")) ==
        "The low 32 bits are right, the high ones are not.");
  CHECK(facts(same(std::uint64_t{0}, std::uint64_t{3} << 40, "*d_count"))
            .find("low 32 bits are right") == std::string::npos);  // 0 has no bits to be right
  CHECK(facts(same(std::uint64_t{4999949824}, 4999950000, "pairs")) ==
        "4999949824 is 4999950000 rounded to float.");
  CHECK(facts(same(260.0f, 259, "y")) == "260 is 259 rounded to bfloat16.");
  CHECK(facts(same(-5.5f, 5.5f, "y")) == "The sign is the opposite one.");
  CHECK(facts(same(std::vector<int>{0, 1, 2, 3}, {9, 8, 7, 6}, "y")) ==
        "Each element holds its own index.");
  CHECK(facts(same(std::vector<int>{5, 5, 6, 5}, {9, 2, 6, 7}, "y")) ==
        "Wrong are [0] to [1], [3], no others.\nEach wrong element holds 5.");
  std::vector<int> lanes = counting(96), sevens(96, 77);
  for (std::size_t i = 0; i < lanes.size(); ++i) lanes[i] %= 32;
  CHECK(facts(same(lanes, sevens, "y")) == "Each element holds its own index modulo 32.");
}

TEST_CASE("words and keys are told in hexadecimal where that shows how they differ") {
  CHECK(facts(same(0x9000'0001u, 0x1000'0001u, "keys[2]"))
            .ends_with(
                "In hexadecimal: expected 0x10000001, found 0x90000001, which differ in bit 31."));
  CHECK(facts(same(std::uint64_t{0x8000'0000'dead'beef}, 0xc000'0001'dead'beef, "word"))
            .ends_with("In hexadecimal: expected 0xc0000001deadbeef, found 0x80000000deadbeef."));
  CHECK(facts(same(0x9abc'def1u, 0x8765'4321u, "keys[2]"))
            .ends_with("In hexadecimal: expected 0x87654321, found 0x9abcdef1."));
  CHECK(facts(same(17325u, 18064, "totals")) == "17325 is too small by 739.");
  CHECK(facts(same(117325u, 118064, "totals")) == "117325 is too small by 739.");
}

TEST_CASE("what nothing has written is told as that") {
  if (!course::kCpuDevice) SKIP("a GPU does not know");
  const std::vector<int> ones(40, 1);
  course::GuardedBuffer<int> y(40);
  const auto told = [&] { return facts(same(y.download(), ones, "y")); };
  CHECK(told() == "Nothing has written any wrong element since the array was allocated.");
  write_some<<<1, 64>>>(y.data(), 0, 39, 1);
  CHECK(told() == "Nothing has written [39] since the array was allocated.");
  write_some<<<1, 64>>>(y.data(), 0, 30, 1);
  write_some<<<1, 64>>>(y.data(), 5, 10, 2);
  CHECK(told() ==
        "Wrong are [5] to [9], [39], no others.\nNothing has written [39] since the array was "
        "allocated.");
  // What is known is known of the copy itself; and a -1 that was written is no sign of anything.
  const std::vector<int> copy = y.download(), other = copy;
  CHECK(facts(same(copy, ones, "y")).find("Nothing has written") != std::string::npos);
  CHECK(facts(same(other, ones, "y")).find("Nothing has written") == std::string::npos);
  // A check may look at the first elements alone.
  course::GuardedBuffer<int> z(40);
  write_some<<<1, 64>>>(z.data(), 0, 10, 1);
  std::vector<int> part = z.download();
  part.resize(12);
  CHECK(facts(same(part, std::vector<int>(12, 1), "z")) ==
        "Everything from [10] on is wrong, everything before it is right.\nNothing has written any "
        "wrong element since the array was allocated.");
  write_some<<<1, 64>>>(y.data(), 39, 40, -1);
  CHECK(told().find("Nothing has written") == std::string::npos);
}

TEST_CASE("what no kernel has written is told as that") {
  if (!course::kCpuDevice) SKIP("a GPU does not know");
  const std::vector<int> ones(40, 1);
  course::GuardedBuffer<int> y(40), total(1);
  const auto told = [&] { return facts(same(y.download(), ones, "y")); };
  y.fill_bytes(0xFF);
  CHECK(told() == "No kernel has written any wrong element.");
  write_some<<<1, 64>>>(y.data(), 0, 30, 1);
  CHECK(told().ends_with("\nNo kernel has written any wrong element."));
  write_some<<<1, 64>>>(y.data(), 30, 38, 5);
  CHECK(told().find("\nNo kernel has written [38] to [39].") != std::string::npos);
  y.fill_bytes(0);
  CHECK(told() == "No kernel has written any wrong element.");
  total.fill_bytes(0);
  CHECK(facts(same(total.download()[0], 7, "total")) == "No kernel has written it.");
  write_some<<<1, 1>>>(total.data(), 0, 1, 9);
  CHECK(facts(same(total.download()[0], 7, "total")) == "");
}

__global__ void write_by_two_lines(int* y) {
  if (threadIdx.x % 3 == 0) {
    y[threadIdx.x] = 3;
  } else {
    y[threadIdx.x] = 1;
  }
}

TEST_CASE("the line that has written the wrong elements, and no others, is told") {
  if (!course::kCpuDevice) SKIP("a GPU does not know");
  course::GuardedBuffer<int> y(40);
  write_by_two_lines<<<1, 40>>>(y.data());
  const std::vector<int> found = y.download();
  CHECK(facts(same(found, std::vector<int>(40, 1), "y"))
            .find("The wrong elements were written last at common/tests/verdict_test.cu:") !=
        std::string::npos);
  CHECK(facts(same(found, std::vector<int>(40, 3), "y")).find("written last") != std::string::npos);
  std::vector<int> one_wrong = found;
  one_wrong[3] = 7;
  CHECK(facts(same(found, one_wrong, "y")).find("written last") == std::string::npos);
}

__global__ void change_by_atomics(float* y) {
  for (int i = 0; threadIdx.x == 7 && i < 3; ++i) atomicAdd(y, 1.5f);
  if (threadIdx.x == 3) atomicExch(y + 1, -2.f);
}

TEST_CASE("what a counter lacks, and the next one has, is told as a carry") {
  const auto told = [](unsigned first, unsigned second) {
    return facts(same(std::vector<unsigned>{first, second, 7}, {66'536, 5, 7}, "counts"));
  };
  const std::string carry =
      "[0] lacks 65536 and [1] has 2048 too many, as if 32 in [0] became 1 in [1].";
  CHECK(told(1000, 2053).find(carry) != std::string::npos);
  CHECK(told(1000, 2053).find("modulo") == std::string::npos);
  CHECK(told(1000, 2052).find("as if") == std::string::npos);  // 32.02 times
  CHECK(told(66'530, 8).find("lacks 6 and [1] has 3 too many, as if 2") != std::string::npos);
  CHECK(told(66'530, 3).find("as if") == std::string::npos);  // both lack some
}

/// More changes than are kept, and then one of the next number.
__global__ void change_often(float* y) {
  for (int i = 0; threadIdx.x == 0 && i < 5000; ++i) atomicAdd(y, 1.f);
  if (threadIdx.x == 0) atomicExch(y + 1, -2.f);
}

/// Two attempts of thread 1 of block 1, the second of which finds what it expects.
__global__ void attempt_twice(unsigned* y) {
  if (blockIdx.x != 1 || threadIdx.x != 1) return;
  atomicCAS(y, 1u, 2u);
  atomicCAS(y, 0x00030007u, 5u);
}

TEST_CASE("the last atomic of a thread, and those of an element, are told") {
  if (!course::kCpuDevice) SKIP("a GPU does not know");
  course::GuardedBuffer<unsigned> y(1);
  const unsigned start = 0x00030007;
  CUDA_CHECK(cudaMemcpy(y.data(), &start, sizeof start, cudaMemcpyHostToDevice));
  attempt_twice<<<2, 32>>>(y.data());
  const std::vector<unsigned> found = y.download();
  const auto plain = [](auto value) { return std::to_string(value); };
  const std::string of_words = course::last_atomic_of<unsigned>(33, 32, plain);
  CHECK(of_words.starts_with(
      "\nIts thread, block 1 thread 1, has made 2 atomics, the last of them atomicCAS at "
      "common/tests/verdict_test.cu:"));
  CHECK(of_words.ends_with(". It found 196615 and changed it."));
  CHECK(course::last_atomic_of<std::uint16_t>(33, 32, plain)
            .ends_with(". It found 7 and 3 and changed it."));
  CHECK(course::last_atomic_of<unsigned>(32, 32, plain).empty());
  CHECK(course::last_atomic_of<unsigned long long>(33, 32, plain).empty());
  CHECK(course::atomics_of(found, 0, "y[0]")
            .starts_with("\nAtomics have changed y[0] once: from 196615 to 5 by atomicCAS of "
                         "block 1 thread 1 at common/tests/verdict_test.cu:"));
  CHECK(course::atomics_of(std::vector<unsigned>{6}, 0, "y[0]").empty());  // no copy
}

TEST_CASE("the last changes of a wrong number by atomics are told") {
  if (!course::kCpuDevice) SKIP("a GPU does not know");
  course::GuardedBuffer<float> y(2);
  y.fill_bytes(0);
  change_by_atomics<<<1, 32>>>(y.data());
  const std::vector<float> found = y.download();
  const std::string text = facts(same(found, {4.f, -2.f}, "y"));
  CHECK(text.find("Atomics have changed [0] last from 1.5 to 3 by atomicAdd of block 0 thread 7 at "
                  "common/tests/verdict_test.cu:") != std::string::npos);
  CHECK(text.find(", then to 4.5 by atomicAdd of block 0 thread 7 at ") != std::string::npos);
  CHECK(text.find(" All 3 changes: 3 by atomicAdd at :") != std::string::npos);
  CHECK(course::left_by(3.f, "3").starts_with(
      "\nThe first atomic that has left 3 anywhere is atomicAdd of block 0 thread 7 at "));
  CHECK(course::left_by(7.f, "7").empty());
  CHECK(
      facts(same(found, {4.5f, -3.f}, "y"))
          .find(
              "Atomics have changed [1] once: from 0 to -2 by atomicExch of block 0 thread 3 at ") !=
      std::string::npos);
  // Where earlier changes may be forgotten.
  course::GuardedBuffer<float> z(2);
  z.fill_bytes(0);
  change_often<<<1, 32>>>(z.data());
  CHECK(
      facts(same(z.download(), {5000.f, -3.f}, "z"))
          .find(
              "Atomics have changed [1] last from 0 to -2 by atomicExch of block 0 thread 0 at ") !=
      std::string::npos);
  // What something else has changed afterwards.
  y.fill_bytes(0x40);
  CHECK(facts(same(y.download(), {4.f, 1.f}, "y")).find("Atomics") == std::string::npos);
}

TEST_CASE("a verdict has what is known of the values beside its text") {
  const course::Verdict verdict = same(std::vector<int>{1, 9, 6}, {2, 9, 7}, "y", "Mind the gap.");
  REQUIRE(verdict.values);
  const course::WrongValues& values = *verdict.values;
  CHECK((values.name == "y" && values.expected == "2" && values.found == "1"));
  CHECK((values.size == 3 && values.wrong == 2 && values.first == 0 && values.last == 2));
  REQUIRE(values.facts.size() == 2);
  CHECK(values.facts[0].kind == "elements");
  CHECK(values.facts[1].kind == "difference");
  CHECK(verdict.text ==
        "y[0]: expected 2, found 1; 2 of 3 elements are wrong (first [0], last [2])\n" +
            values.facts[0].text + "\n" + values.facts[1].text + "\nMind the gap.");
  CHECK_FALSE(same(counting(3), counting(3), "y").values);
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
  CHECK(course::elements_text("x", x, 0, 8).ends_with("x[4] = 4, x[5] = 5, x[6] = 6, x[7] = 7"));
  CHECK(course::elements_text("x", x, 0, 9) ==
        "x[0] = 0, x[1] = 1, x[2] = 2, x[3] = 3, x[4] = 4, ... x[8] = 8 (9 elements)");
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
        "kept: 100 missing (0 to 99); expected 100 elements in any order, found 0");
  CHECK(same_set(std::vector<int>{4, 4}, {1, 2, 4, 6, 7, 8, 4}, "kept").text ==
        "kept: 5 missing (1, 2, 6 to 8); expected 7 elements in any order, found 2");
}

// ---- data.cuh ----------------------------------------------------------------------------------

TEST_CASE("position values are the same everywhere, and float sums of them exact") {
  if (course::has_run_before()) return;  // no kernel runs
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
