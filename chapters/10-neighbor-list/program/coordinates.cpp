#include "coordinates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "../distance.cuh"
#include "errors.hpp"
#include "progress.hpp"

namespace {

constexpr std::string_view kBlanks = " \t\v\f";

/// Where a message points to: a word of the text.
struct Place {
  const std::string& path;
  std::size_t line, column;
  [[noreturn]] void fail(const std::string& what) const {
    throw BadInput(fmt::format("{}:{}:{}: {}", path, line, column, what));
  }
};

/// How many bytes of UTF-8 the character at the start of `text` has; 0 if it is none.
std::size_t utf8_length(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text.front());
  const std::size_t length = lead < 0x80   ? 1
                             : lead < 0xc2 ? 0
                             : lead < 0xe0 ? 2
                             : lead < 0xf0 ? 3
                             : lead < 0xf5 ? 4
                                           : 0;
  if (length > text.size()) return 0;
  for (std::size_t k = 1; k < length; ++k) {
    if ((static_cast<unsigned char>(text[k]) & 0xc0) != 0x80) return 0;
  }
  return length;
}

/// A word as a message shows it: short, and without what would upset a terminal.
std::string quoted(std::string_view word) {
  constexpr std::size_t kMost = 40;
  std::string text = "'";
  while (!word.empty() && text.size() <= kMost) {
    const auto byte = static_cast<unsigned char>(word.front());
    const std::size_t length = utf8_length(word);
    if (length == 0 || byte < 0x20 || byte == 0x7f) {
      text += fmt::format("\\x{:02x}", byte);
    } else {
      text += word.substr(0, length);
    }
    word.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return text + (word.empty() ? "'" : "...'");
}

/// Why a word is no number, as helpfully as its look allows.
std::string not_a_number(std::string_view word) {
  std::string hint;
  if (word.front() == '#' || word.substr(0, 2) == "//" || word.front() == '%') {
    hint = "; comments are not part of this format";
  } else if (word.find_first_of(",;") != std::string_view::npos) {
    hint = "; x and y are separated by blanks or tabs, and a decimal point is a point";
  } else if (word.find_first_of("dD") != std::string_view::npos &&
             word.find_first_not_of("+-.0123456789dD") == std::string_view::npos) {
    hint = "; an exponent begins with e or E";
  } else if (static_cast<unsigned char>(word.front()) == 0xff ||
             static_cast<unsigned char>(word.front()) == 0xfe ||
             word.find('\0') != std::string_view::npos) {
    hint = "; the file has to be plain text, in ASCII or UTF-8";
  }
  return quoted(word) + " is not a number" + hint;
}

template <class T>
T parse_number(std::string_view word, const Place& place) {
  const bool has_plus = word.size() > 1 && word[0] == '+' && word[1] != '-' && word[1] != '+';
  const std::string_view digits = word.substr(has_plus ? 1 : 0);
  T value{};
  const char* const end = digits.data() + digits.size();
  const auto [stopped, error] = std::from_chars(digits.data(), end, value);
  if (stopped != end || error == std::errc::invalid_argument) place.fail(not_a_number(word));
  if (error == std::errc::result_out_of_range) {  // too large, or so small that 0 is nearest
    const double magnitude = std::fabs(std::strtod(std::string(digits).c_str(), nullptr));
    if (magnitude > 1) {
      place.fail(quoted(word) + " is too large for " +
                 (sizeof(T) == 8          ? "double precision"
                  : std::isinf(magnitude) ? "single and double precision"
                                          : "single precision; --double takes it"));
    }
    return static_cast<T>(digits.front() == '-' ? -magnitude : magnitude);
  }
  if (!std::isfinite(value)) place.fail(quoted(word) + " is not a finite number");
  return value;
}

}  // namespace

std::string read_bytes(const std::string& name) {
  const std::string path = name == "-" ? "/dev/stdin" : name;
  std::error_code no_size;  // of a pipe
  const std::size_t size = std::filesystem::file_size(path, no_size);
  Progress progress("reading", size);
  std::string bytes;
  std::vector<char> chunk(std::size_t{1} << 20);
  std::ifstream file(path, std::ios::binary);
  while (file.read(chunk.data(), static_cast<std::streamsize>(chunk.size())), file.gcount() > 0) {
    bytes.append(chunk.data(), static_cast<std::size_t>(file.gcount()));
    if (!no_size && bytes.size() <= size) progress(bytes.size());
  }
  if (!file.eof()) {
    throw BadInput(fmt::format("{}: cannot be read: {}", path, std::strerror(errno)));
  }
  return bytes;
}

template <class T>
Coordinates<T> parse_coordinates(std::string_view text, const std::string& path) {
  if (text.substr(0, 3) == "\xef\xbb\xbf") text.remove_prefix(3);
  Coordinates<T> atoms;
  Progress progress("parsing", text.size());
  std::size_t line = 1;
  for (std::size_t begin = 0; begin < text.size(); ++line) {
    const std::size_t end = std::min(text.find_first_of("\r\n", begin), text.size());
    const std::string_view row = text.substr(begin, end - begin);
    begin = end + (text.substr(end, 2) == "\r\n" ? 2 : 1);
    int words = 0;
    std::size_t first_column = 0;
    std::string_view first_word;
    for (std::size_t at = row.find_first_not_of(kBlanks); at < row.size();) {
      const std::size_t stop = std::min(row.find_first_of(kBlanks, at), row.size());
      const std::string_view word = row.substr(at, stop - at);
      const Place place{path, line, at + 1};  // all before it is ASCII: blanks and numbers
      if (words == 2)
        place.fail("a third word, " + quoted(word) + ", where a line has x and y only");
      const T number = parse_number<T>(word, place);
      (words == 0 ? atoms.x : atoms.y).push_back(number);
      if (words++ == 0) {
        first_column = at + 1;
        first_word = word;
      }
      at = std::min(row.find_first_not_of(kBlanks, stop), row.size());
    }
    if (words == 1) {
      Place{path, line, first_column}.fail("one number, " + quoted(first_word) +
                                           ", where a line has x and y");
    }
    if (words == 2) atoms.lines.push_back(line);
    if (line % 4096 == 0) progress(begin);
  }
  if (atoms.x.empty())
    Place{path, 1, 1}.fail(text.empty() ? "the file is empty" : "no atoms: all lines are blank");
  if (atoms.x.size() > kMostAtoms) throw BadInput(path + ": more than 2^31 - 1 atoms");
  return atoms;
}

template Coordinates<float> parse_coordinates(std::string_view, const std::string&);
template Coordinates<double> parse_coordinates(std::string_view, const std::string&);
