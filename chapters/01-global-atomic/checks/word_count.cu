// Check of the exercise word_count: texts whose first or last byte matters, neighbours that are not
// the text's, every kind of grid, and a counter that holds something already.
#include "word_count.cuh"

#include <catch2/catch_test_macros.hpp>
#include <course/check.cuh>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace {

using Launch = course::LaunchShape;

enum class Kind { one_letter_words, one_long_word, separators, mixed };
constexpr Kind kKinds[] = {Kind::one_letter_words, Kind::one_long_word, Kind::separators,
                           Kind::mixed};

std::string to_string(Kind kind) {
  switch (kind) {
    case Kind::one_letter_words:
      return "words of one letter, \"a a a\"";
    case Kind::one_long_word:
      return "one long word";
    case Kind::separators:
      return "separators only";
    case Kind::mixed:
      return "words of all lengths, every separator, and bytes that only look like one";
  }
  return "";
}

std::vector<char> make_text(Kind kind, std::size_t n) {
  constexpr std::string_view kSeparators = " \t\n\v\f\r";
  // Neighbours of the separators' codes, the byte 0, and codes that are negative as signed char.
  constexpr std::string_view kLetters("aZ9.!'\x08\x0e\x1f\x7f\x80\xa0\xff\0", 14);
  const std::vector<unsigned> random = course::position_values<unsigned>(n);
  std::vector<char> text(n);
  for (std::size_t i = 0; i < n; ++i) {
    const unsigned r = random[i];
    const bool separator = kind == Kind::separators ||
                           (kind == Kind::one_letter_words && i % 2 == 1) ||
                           (kind == Kind::mixed && r % 3 == 0);
    const std::string_view alphabet = separator ? kSeparators : kLetters;
    text[i] = alphabet[r / 3 % alphabet.size()];
  }
  return text;
}

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

/// The text in device memory, with `around` before and behind it ("" leaves it alone there).
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
  CUDA_CHECK_LAUNCH();
  const unsigned long long after = words.download().front();
  CHECK(words.intact("words"));
  return after;
}

/// Ok if the wrapper gives the right number. A grid that CUDA refuses is a wrong answer, too: an
/// invalid configuration, which CUDA 13 on a GPU calls an invalid value.
course::Verdict wrapper_counts(const std::vector<char>& text) {
  try {
    return course::same(word_count(text), reference(text), "words");
  } catch (const course::CudaError& error) {
    const bool refused =
        error.code() == cudaErrorInvalidConfiguration || error.code() == cudaErrorInvalidValue;
    if (!refused) throw;
    return {false, error.what()};
  }
}

/// Ok if kernels made enough loads to have read n bytes, 32 with each.
course::Verdict read_by_kernels(std::uint64_t loads, std::uint64_t n) {
  if (loads >= n / 32) return {};
  return {false, "loads of the wrapper's kernels: expected at least " + std::to_string(n / 32) +
                     ", found " + std::to_string(loads) + "; the device has to count"};
}

/// Ok if the loads of n bytes can come from warps that read 32 of them with one load.
course::Verdict shared_by_warps(std::uint64_t loads, std::uint64_t n) {
  if (loads <= n / 4) return {};
  return {false, "loads: expected at most " + std::to_string(n / 4) +
                     " for the whole grid, found " + std::to_string(loads) +
                     "; a warp reads 32 bytes with one load if its lanes share the work"};
}

std::string describe(std::size_t n, Launch launch, const std::string& text) {
  return "n = " + std::to_string(n) + ": " + text + "; word_count<<<" +
         std::to_string(launch.grid) + ", " + std::to_string(launch.block) + ">>>";
}

}  // namespace

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
    INFO(describe(text.size(), {1, 32}, Catch::StringMaker<std::string>::convert(example.text)));
    REQUIRE(course::same(run(DeviceText(text, ""), {1, 32}), example.words, "words"));
  }
}

TEST_CASE("word_count counts the words of every text, at every size") {
  std::size_t turn = 0;  // another grid each time
  for (const std::size_t n : course::kSizes) {
    const std::vector<Launch> launches = course::launch_shapes(n);
    for (const Kind kind : kKinds) {
      const std::vector<char> text = make_text(kind, n);
      for (const std::string around : {"", "xyz", "   "}) {
        const Launch launch = launches[turn++ % launches.size()];
        INFO(describe(n, launch, to_string(kind)));
        INFO("before and behind the text: " << (around.empty() ? "nothing" : '"' + around + '"'));
        REQUIRE(course::same(run(DeviceText(text, around), launch), reference(text), "words"));
      }
    }
  }
}

TEST_CASE("word_count is right for every grid") {
  const std::vector<char> text = make_text(Kind::mixed, 1025);
  const DeviceText d_text(text, "");
  for (const Launch launch : course::launch_shapes(text.size())) {
    INFO(describe(text.size(), launch, to_string(Kind::mixed)));
    REQUIRE(course::same(run(d_text, launch), reference(text), "words"));
  }
}

TEST_CASE("word_count counts a long text") {
  const std::vector<char> text = make_text(Kind::mixed, course::kBigSize);
  const DeviceText d_text(text, "");
  const auto exact = static_cast<unsigned>((text.size() + 255) / 256);
  constexpr int kRepeats = course::kCpuDevice ? 1 : 20;  // a lost update may not show at once
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    for (const Launch launch : {Launch{exact, 256}, Launch{7, 96}}) {
      INFO(describe(text.size(), launch, to_string(Kind::mixed)));
      REQUIRE(course::same(run(d_text, launch), reference(text), "words"));
    }
  }
}

TEST_CASE("word_count adds to what the counter holds") {
  const std::vector<char> text = make_text(Kind::one_letter_words, 1023);
  constexpr unsigned long long kBefore = (1ull << 32) - 3;  // 32 bits are not enough
  constexpr Launch kLaunch{8, 128};
  INFO(describe(text.size(), kLaunch, to_string(Kind::one_letter_words)));
  INFO("the counter holds " << kBefore << " before the launch");
  REQUIRE(course::same(run(DeviceText(text, ""), kLaunch, kBefore), kBefore + 512, "words"));
}

TEST_CASE("word_count: the wrapper counts a text in host memory") {
  for (const std::size_t n : course::all_sizes()) {
    const std::vector<char> text = make_text(Kind::mixed, n);
    INFO("word_count(text), n = " << n << ": " << to_string(Kind::mixed));
    // Memory that the wrapper gets is rarely fresh: leave something in it.
    course::DeviceBuffer<unsigned long long>(1).fill_bytes(0x5A);
    course::DeviceBuffer<char>(n).fill_bytes('x');
    REQUIRE(wrapper_counts(text));
  }
}

TEST_CASE("word_count: the wrapper counts on the device") {
  course::skip_without_counters();
  const std::vector<char> text = make_text(Kind::mixed, 1025);
  const auto counters = course::count([&] { word_count(text); });
  INFO("word_count(text), n = 1025");
  REQUIRE(read_by_kernels(counters->global_loads, text.size()));
}

TEST_CASE("word_count: the threads share the work") {
  course::skip_without_counters();
  const std::vector<char> text = make_text(Kind::mixed, 4096);
  const DeviceText d_text(text, "");
  const auto counters = course::count([&] { run(d_text, {32, 128}); });
  INFO(describe(text.size(), {32, 128}, to_string(Kind::mixed)));
  REQUIRE(shared_by_warps(counters->global_loads, text.size()));
  REQUIRE(course::work_is_shared(*counters, 16));  // one turn of a loop is enough for each warp
}
