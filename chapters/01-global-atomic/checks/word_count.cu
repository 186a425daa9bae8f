// Check of the exercise word_count: texts whose first or last byte matters, neighbours that are not
// the text's, every kind of grid, and a counter that holds something already.
#include "word_count.cuh"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <course/check.cuh>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "checks/loads.cuh"

namespace word_count_check {

using Launch = course::LaunchShape;

// ---- texts, and how many words they have --------------------------------------------------------

constexpr std::string_view kSeparators = " \t\n\v\f\r";

char separator(course::Element e) { return kSeparators[e.random / 3 % kSeparators.size()]; }
char letter(course::Element e) {
  // Neighbours of the separators' codes, the byte 0, and codes that are negative as signed char.
  constexpr std::string_view kLetters("aZ9.!'\x08\x0e\x1f\x7f\x80\xa0\xff\0", 14);
  return kLetters[e.random / 3 % kLetters.size()];
}

const course::DataKind<char> kOneLetterWords{
    "words of one byte: a letter, or another that is no separator",
    [](course::Element e) { return e.i % 2 == 1 ? separator(e) : letter(e); }};
const course::DataKind<char> kMixed{
    "words of all lengths, every separator, and bytes that only look like one",
    [](course::Element e) { return e.random % 3 == 0 ? separator(e) : letter(e); }};
const course::DataKind<char> kKinds[] = {
    kOneLetterWords, {"one long word", letter}, {"separators only", separator}, kMixed};

/// All 256 bytes in turn, separators too.
const course::DataKind<char> kEveryByte{
    "each of the 256 bytes, and a blank after it",
    [](course::Element e) { return e.i % 2 == 0 ? static_cast<char>(e.i / 2) : ' '; }};
const course::DataKind<char> kEveryByteInside{
    "each of the 256 bytes between two letters, and a blank after them", [](course::Element e) {
      return e.i % 4 == 1 ? static_cast<char>(e.i / 4) : e.i % 4 == 3 ? ' ' : 'a';
    }};

/// Counts on the host, with a table of its own.
unsigned long long reference(const std::vector<char>& text) {
  unsigned long long words = 0;
  bool inside = false;
  for (const char c : text) {
    const bool letter = std::string_view(" \t\n\v\f\r").find(c) == std::string_view::npos;
    words += letter && !inside ? 1 : 0;
    inside = letter;
  }
  return words;
}

// ---- launches -----------------------------------------------------------------------------------

/// The text in device memory, with `around` before and after it ("": it is alone there).
class DeviceText {
 public:
  DeviceText(const std::vector<char>& text, const std::string& around)
      : offset_(around.size()), n_(text.size()), memory_(around.size() * 2 + text.size()) {
    std::vector<char> all(around.begin(), around.end());
    all.insert(all.end(), text.begin(), text.end());
    all.insert(all.end(), around.begin(), around.end());
    memory_.upload(all);
  }
  const char* data() const { return memory_.size() > 0 ? memory_.data() + offset_ : nullptr; }
  std::size_t size() const { return n_; }

 private:
  std::size_t offset_, n_;
  course::DeviceBuffer<char> memory_;
};

/// What the counter holds after the launch if it held `before`.
unsigned long long run(const DeviceText& text, Launch launch, unsigned long long before = 0) {
  course::GuardedBuffer<unsigned long long> words(1);
  CUDA_CHECK(cudaMemcpy(words.data(), &before, sizeof before, cudaMemcpyHostToDevice));
  word_count<<<launch.grid, launch.block>>>(text.data(), text.size(), words.data());
  CUDA_CHECK_LAUNCH();  // no course::launch: the wrapper has the kernel's name
  const unsigned long long after = words.download().front();
  CHECK(words.intact("words"));
  return after;
}

/// Ok if the wrapper gives the right number. A grid that CUDA refuses is a wrong answer, too: an
/// invalid configuration, which CUDA 13 on a GPU calls an invalid value.
course::Verdict wrapper_counts(const std::vector<char>& text) {
  try {
    // The type is the check's: an answer that returns a narrower one is not compared in that.
    const std::vector<char> before = text;
    const course::Verdict words =
        course::same<unsigned long long>(word_count(text), reference(before), "words");
    if (text != before) return {false, "the text is another one after the call than before it"};
    return words;
  } catch (const course::CudaError& error) {
    const bool refused =
        error.code() == cudaErrorInvalidConfiguration || error.code() == cudaErrorInvalidValue;
    if (!refused) throw;
    return {false, error.what()};
  }
}

std::string case_text(std::size_t n, Launch launch, const std::string& data) {
  return course::case_text(n, data, "word_count", launch);
}

/// "'a', '\n', byte 133": as in C++, and what is not to be seen by its number.
std::string shown_bytes(const std::vector<char>& bytes) {
  constexpr std::string_view kEscaped = "\t\n\v\f\r\\'", kLetters = "tnvfr\\'";
  std::string shown;
  for (const char byte : bytes) {
    const auto number = static_cast<unsigned char>(byte);
    const std::size_t escaped = kEscaped.find(byte);
    if (!shown.empty()) shown += ", ";
    if (escaped != std::string_view::npos) {
      shown += std::string{'\'', '\\', kLetters[escaped], '\''};
    } else if (number >= ' ' && number < 0x7f) {
      shown += std::string{'\'', byte, '\''};
    } else {
      shown += "byte " + std::to_string(number);
    }
  }
  return shown;
}

/// Which beginning of a text is counted wrongly, where one that is a byte shorter is counted rightly.
std::string first_wrong_end(const std::vector<char>& text, const std::string& around,
                            Launch launch) {
  const auto beginning = [&](std::size_t n) {
    return std::vector<char>(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(n));
  };
  const auto count = [&](std::size_t n) { return run(DeviceText(beginning(n), around), launch); };
  if (count(0) != 0) return "";
  std::size_t right = 0, wrong = text.size();
  while (wrong - right > 1) {
    const std::size_t middle = right + (wrong - right) / 2;
    (count(middle) == reference(beginning(middle)) ? right : wrong) = middle;
  }
  const unsigned long long words = reference(beginning(wrong)), found = count(wrong);
  if (found == words) return "";  // another time it is right
  const std::size_t shown = std::min<std::size_t>(wrong, 8);
  return "The words of text[0.." + std::to_string(wrong - 1) + "] alone: expected " +
         std::to_string(words) + ", found " + std::to_string(found) +
         "; without its last byte they are counted rightly.\nIts last " +
         course::counted(shown, "byte") + ": " +
         shown_bytes({text.begin() + static_cast<std::ptrdiff_t>(wrong - shown),
                      text.begin() + static_cast<std::ptrdiff_t>(wrong)});
}

/// One launch on a text of this kind, with `around` before and after it.
void check_kind(const course::DataKind<char>& kind, std::size_t n, Launch launch,
                const std::string& around = "") {
  const std::vector<char> text = kind.values(n);
  INFO(case_text(n, launch, kind.text));
  INFO("before and after the text: " << (around.empty() ? "nothing" : '"' + around + '"'));
  const unsigned long long found = run(DeviceText(text, around), launch), words = reference(text);
  REQUIRE(course::same(
      found, words, "words",
      found == words || text.size() > 10'000 ? "" : first_wrong_end(text, around, launch)));
}

// Promise: a word goes on until a separator, or the end of the text.
TEST_CASE("word_count counts the words of short texts") {
  struct Example {
    std::string text;
    unsigned long long words;
  };
  const std::vector<Example> examples = {
      {"", 0},
      {"a", 1},
      {" ", 0},
      {"one", 1},
      {" one", 1},
      {"one ", 1},
      {" one ", 1},
      {"one two", 2},
      {"one  two", 2},
      {" \t\n\v\f\r", 0},
      {"a\tb\nc\vd\fe\rf", 6},
      {"don't panic", 2},
      {"x y", 2},
      {"\n\nlast", 1},
  };
  for (const Example& example : examples) {
    const std::vector<char> text(example.text.begin(), example.text.end());
    INFO(case_text(text.size(), {1, 32}, Catch::StringMaker<std::string>::convert(example.text)));
    REQUIRE(course::same(run(DeviceText(text, ""), {1, 32}), example.words, "words"));
  }
}

// Promise: text[-1] and text[n] are not part of the text, even where they can be read (OUT OF
// BOUNDS where nothing is around it).
TEST_CASE("word_count counts the words of every text, at every size") {
  std::size_t turn = 0;  // another grid each time
  for (const std::size_t n : course::kSizes) {
    const std::vector<Launch> launches = course::launch_shapes(n);
    for (const course::DataKind<char>& kind : kKinds) {
      for (const std::string around : {"", "xyz", "   "}) {
        course::in_launch(launches[turn++ % launches.size()],
                          [&](Launch launch) { check_kind(kind, n, launch, around); });
      }
    }
  }
}

// Promise: separators are the six characters that is_separator() names, and every other byte
// belongs to a word: each of them alone, and inside of a word.
TEST_CASE("word_count: every byte, as a word and inside of one") {
  check_kind(kEveryByte, 512, {2, 96});
  check_kind(kEveryByteInside, 1024, {2, 96});
}

// Promise: the kernel is right for every grid: threads take several bytes each, or none.
TEST_CASE("word_count is right for every grid") {
  for (const Launch launch : load_checks::all_grids()) check_kind(kMixed, 1025, launch);
}

// Promise: a thread counts any number of words.
TEST_CASE("word_count: a thread finds more than 65,535 words") {
  if (course::has_run_before()) return;
  check_kind(kOneLetterWords, 32 * 65'600, {1, 32});
}

// Promise: no word is lost when many threads count at the same time (DATA RACE in every test
// case).
TEST_CASE("word_count counts a long text") {
  // What goes wrong may not show at once. (On a GPU a lock in every thread takes microseconds each.)
  constexpr int kRepeats = course::kCpuDevice ? 1 : 20;
  constexpr std::size_t n = course::kCpuDevice ? course::kBigSize : 200'003;
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    check_kind(kMixed, n, {static_cast<unsigned>((n + 255) / 256), 256});
    check_kind(kMixed, n, {7, 96});
  }
}

// Promise: the kernel adds: *words may hold something, and the caller initialises it.
TEST_CASE("word_count adds to what the counter holds") {
  constexpr unsigned long long kBefore = (1ull << 32) - 3;  // 32 bits are not enough
  constexpr Launch kLaunch{8, 128};
  const DeviceText text(kOneLetterWords.values(1023), "");
  INFO(case_text(1023, kLaunch, kOneLetterWords.text));
  INFO("the counter holds " << kBefore << " before the launch");
  REQUIRE(course::same(run(text, kLaunch, kBefore), kBefore + 512, "words"));
}

// Promise: the wrapper counts a text in host memory, whatever is in the memory that it gets.
// Promise: an empty text has no words.
// Promise: each call counts its own text (another one of the same size, at the same place).
TEST_CASE("word_count: the wrapper counts a text in host memory") {
  for (const std::size_t n : course::all_sizes()) {
    INFO("word_count(text), n = " << n << ": " << kMixed.text);
    // Memory that the wrapper gets is rarely fresh: leave something in it.
    course::DeviceBuffer<unsigned long long>(1).fill_bytes(0x5A);
    course::DeviceBuffer<char>(n).fill_bytes('x');
    std::vector<char> text = kMixed.values(n);
    REQUIRE(wrapper_counts(text));
    INFO("another text in the same vector");
    text.assign(n, 'a');
    REQUIRE(wrapper_counts(text));
  }
}

// Promise: the wrapper launches the kernel.
TEST_CASE("word_count: the wrapper counts on the device") {
  course::skip_without_counters();
  const std::vector<char> text = kMixed.values(1025);
  const auto counters = course::count([&] { word_count(text); });
  INFO("word_count(text), n = 1025");
  REQUIRE(course::at_least(counters->global_load_sectors, text.size() / 32,
                           "sectors that the wrapper's kernels load", "the device has to count"));
}

// Promise: the wrapper copies the kernel's result back, and counts nothing itself.
TEST_CASE("word_count: the wrapper returns what the kernel has counted") {
  if (!course::kCpuDevice) SKIP("a GPU runs all blocks of the kernel");
  const std::vector<char> text = kMixed.values(1025);
  INFO("word_count(text), n = 1025, where no block of the kernel runs, and it counts nothing");
  course::with_some_blocks(
      0, 0, [&] { REQUIRE(course::same<unsigned long long>(word_count(text), 0, "words")); });
}

// Promise: the threads share the work (loads, the busiest warp, lanes that load).
TEST_CASE("word_count: the threads share the work") {
  course::skip_without_counters();
  constexpr std::size_t n = 16'384;
  for (const Launch launch : load_checks::kManyWarps) {
    const auto counters = course::count([&] { check_kind(kMixed, n, launch); });
    INFO(case_text(n, launch, kMixed.text));
    REQUIRE(load_checks::work_is_shared(*counters, n, "bytes"));
    // A lock, or a compare-and-swap loop, may read the result by one lane before each atomic.
    const std::uint64_t loads =
        counters->global_loads - std::min(counters->global_loads, counters->global_atomics);
    REQUIRE(course::at_least(counters->global_load_lanes, 12 * loads, "lanes that load",
                             "a warp reads 32 bytes with one load if all of its lanes have work"));
  }
  for (const auto& [few, launch, most] : load_checks::kFew) {
    if (launch.grid > 1000 && course::has_run_before()) continue;  // many blocks take long
    const auto counters =
        course::count([&, n = few, shape = launch] { check_kind(kMixed, n, shape); });
    INFO(case_text(few, launch, kMixed.text));
    REQUIRE(course::work_is_shared(*counters, most));
  }
}

// Promise: a grid may have more than 2^32 threads.
TEST_CASE("word_count is right in a grid of more than 2^32 threads") {
  course::in_huge_grids(600, [](Launch grid) { check_kind(kOneLetterWords, 600, grid); });
}

// Promise: n is any number that fits in std::size_t (its first bytes; on a GPU all of them).
TEST_CASE("word_count counts the first words of more than 2^32 bytes") {
  if (!course::kCpuDevice) SKIP("a GPU runs all blocks, and counts all words in another test case");
  std::vector<char> text = kOneLetterWords.values(1000);
  text.resize(course::kFrontItems, ' ');
  const auto d_text = course::DeviceBuffer<char>::from(text);
  auto words = course::DeviceBuffer<unsigned long long>::zeros(1);
  INFO(case_text(course::kHugeItems, course::kHugeGrid,
                 kOneLetterWords.text + ", and blanks from text[1000] on"));
  course::at_front_of_huge_grid([&](Launch grid, std::size_t items) {
    word_count<<<grid.grid, grid.block>>>(d_text.data(), items, words.data());
    CUDA_CHECK_LAUNCH();
    REQUIRE(course::same(words.front(), 500ull, "words"));
  });
}

// Promise: n is any number that fits in std::size_t (GPU only).
TEST_CASE("word_count counts the words of more than 2^32 bytes") {
  constexpr std::size_t n = (std::size_t{1} << 32) + 1000;
  course::skip_without_memory(n);
  course::DeviceBuffer<char> text(n);
  text.fill_bytes('x');
  for (const std::size_t i : {std::size_t{1000}, n / 2, (std::size_t{1} << 32) - 1, n - 2}) {
    CUDA_CHECK(cudaMemset(text.data() + i, ' ', 1));
  }
  auto words = course::DeviceBuffer<unsigned long long>::zeros(1);
  word_count<<<1056, 256>>>(text.data(), n, words.data());
  CUDA_CHECK_LAUNCH();
  INFO("n = 2^32 + 1000: five words; word_count<<<1056, 256>>>");
  REQUIRE(course::same(words.front(), 5ull, "words"));
}

}  // namespace word_count_check
