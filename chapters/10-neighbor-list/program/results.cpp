#include "results.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cstddef>
#include <iterator>

#include "progress.hpp"

namespace {

void flush(std::string& text, OutputFile& file, std::size_t at_least = OutputFile::kWorthAWrite) {
  if (text.size() < at_least) return;
  file.write(text);
  text.clear();
}

void append_number(std::string& text, long long number) {
  char digits[24];
  text.append(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
}

}  // namespace

void write_neighbors(const NeighborList& neighbors, std::size_t capacity, OutputFile& file) {
  Progress progress("writing", neighbors.atoms());
  std::string text;
  for (std::size_t n = 0; n < neighbors.atoms(); ++n) {
    append_number(text, neighbors.counts[n]);
    for (std::size_t k = 0; k < capacity; ++k) {
      text += ' ';
      if (k < neighbors.listed(n)) {
        append_number(text, neighbors.neighbor(n, k));
      } else {
        text += "NaN";
        flush(text, file);
      }
    }
    text += '\n';
    flush(text, file);
    if (n % 4096 == 0) progress(n);
  }
  flush(text, file, 0);
}

void write_coordinates(const Sheet& sheet, OutputFile& file) {
  Progress progress("writing", sheet.x.size());
  std::string text;
  for (std::size_t n = 0; n < sheet.x.size(); ++n) {
    fmt::format_to(std::back_inserter(text), "{:.4f} {:.4f}\n", sheet.x[n], sheet.y[n]);
    flush(text, file);
    if (n % 4096 == 0) progress(n);
  }
  flush(text, file, 0);
}
