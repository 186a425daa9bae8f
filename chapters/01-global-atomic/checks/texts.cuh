// Texts for the check of word_count, and how many words they hold.
#pragma once

#include <course/check.cuh>
#include <string_view>
#include <vector>

namespace texts {

constexpr std::string_view kSeparators = " \t\n\v\f\r";

inline char separator(course::Element e) { return kSeparators[e.random / 3 % kSeparators.size()]; }
inline char letter(course::Element e) {
  // Neighbours of the separators' codes, the byte 0, and codes that are negative as signed char.
  constexpr std::string_view kLetters("aZ9.!'\x08\x0e\x1f\x7f\x80\xa0\xff\0", 14);
  return kLetters[e.random / 3 % kLetters.size()];
}

inline const course::DataKind<char> kOneLetterWords{
    "words of one letter, \"a a a\"",
    [](course::Element e) { return e.i % 2 == 1 ? separator(e) : letter(e); }};
inline const course::DataKind<char> kMixed{
    "words of all lengths, every separator, and bytes that only look like one",
    [](course::Element e) { return e.random % 3 == 0 ? separator(e) : letter(e); }};
inline const course::DataKind<char> kKinds[] = {
    kOneLetterWords, {"one long word", letter}, {"separators only", separator}, kMixed};

/// Counts on the host, with a table of its own.
inline unsigned long long reference(const std::vector<char>& text) {
  unsigned long long words = 0;
  bool inside = false;
  for (const char c : text) {
    const bool letter = std::string_view(" \t\n\v\f\r").find(c) == std::string_view::npos;
    words += letter && !inside ? 1 : 0;
    inside = letter;
  }
  return words;
}

}  // namespace texts
