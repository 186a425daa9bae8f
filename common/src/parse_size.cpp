// Sizes as the options of programs have them: 1000000, 1e6, 2^20.
#include <charconv>
#include <course/ladder.cuh>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

namespace course {
namespace {

std::optional<std::uint64_t> parse_digits(std::string_view text) {
  std::uint64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [parsed, error] = std::from_chars(text.data(), end, value);
  if (text.empty() || error != std::errc() || parsed != end) return std::nullopt;
  return value;
}

}  // namespace

std::optional<std::size_t> parse_size(const std::string& text) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::size_t>::max();
  const std::size_t at = text.find_first_of("^eE");
  const auto first = parse_digits(std::string_view(text).substr(0, at));
  if (!first || at == std::string::npos) return first;
  const auto exponent = parse_digits(std::string_view(text).substr(at + 1));
  if (!exponent || *exponent > 64) return std::nullopt;
  const bool power = text[at] == '^';
  const std::uint64_t base = power ? *first : 10;
  std::uint64_t value = power ? 1 : *first;
  for (std::uint64_t i = 0; i < *exponent; ++i) {
    if (base > 0 && value > kMost / base) return std::nullopt;
    value *= base;
  }
  return value;
}

}  // namespace course
