#include "results.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <iterator>

#include "progress.hpp"

namespace {

constexpr std::size_t kEnough = std::size_t{1} << 16;  // bytes that are worth a write

void flush(std::string& text, OutputFile& file, std::size_t at_least = kEnough) {
  if (text.size() < at_least) return;
  file.write(text);
  text.clear();
}

void append_number(std::string& text, long long number) {
  char digits[24];
  text.append(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
}

const char* color_of(int neighbors) {
  constexpr const char* kColors[] = {"#999999", "#d62728", "#ff9f1c", "#333333", "#1f77b4"};
  return kColors[std::clamp(neighbors, 0, 4)];
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

template <class T>
void write_picture(const NeighborList& neighbors, const std::vector<T>& x, const std::vector<T>& y,
                   OutputFile& file) {
  constexpr double kSize = 1000, kMargin = 20;  // of the picture, in its own units
  const auto [left, right] = std::minmax_element(x.begin(), x.end());
  const auto [bottom, top] = std::minmax_element(y.begin(), y.end());
  // Halves, because the difference of two large numbers may be too large.
  const double half_width = 0.5 * *right - 0.5 * *left, half_height = 0.5 * *top - 0.5 * *bottom;
  const double longer = std::max({half_width, half_height, 1e-300});
  const auto across = [&](T value) {
    return (0.5 * value - 0.5 * *left) / longer * kSize + kMargin;
  };
  const auto down = [&](T value) { return (0.5 * *top - 0.5 * value) / longer * kSize + kMargin; };
  const double width = half_width / longer * kSize + 2 * kMargin;
  const double height = half_height / longer * kSize + 2 * kMargin;
  const double spacing = kSize / std::sqrt(static_cast<double>(std::max<std::size_t>(x.size(), 4)));
  const double radius = std::min(0.18 * spacing, 8.0), line = 0.6 * radius;

  Progress progress("drawing", 2 * neighbors.atoms());
  std::string text = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.2f} {1:.2f}\" width=\"{0:.0f}\" "
      "height=\"{1:.0f}\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
      "<g stroke=\"#777777\" stroke-width=\"{2:.3g}\" stroke-linecap=\"round\">\n",
      width, height, line);
  auto out = std::back_inserter(text);
  for (std::size_t n = 0; n < neighbors.atoms(); ++n) {
    for (std::size_t k = 0; k < neighbors.listed(n); ++k) {
      const auto m = static_cast<std::size_t>(neighbors.neighbor(n, k));
      if (m < n) continue;  // each bond once
      fmt::format_to(out, "<line x1=\"{:.2f}\" y1=\"{:.2f}\" x2=\"{:.2f}\" y2=\"{:.2f}\"/>\n",
                     across(x[n]), down(y[n]), across(x[m]), down(y[m]));
    }
    flush(text, file);
    if (n % 4096 == 0) progress(n);
  }
  text += "</g>\n<g>\n";
  for (std::size_t n = 0; n < neighbors.atoms(); ++n) {
    fmt::format_to(out, "<circle cx=\"{:.2f}\" cy=\"{:.2f}\" r=\"{:.3g}\" fill=\"{}\"/>\n",
                   across(x[n]), down(y[n]), radius, color_of(neighbors.counts[n]));
    flush(text, file);
    if (n % 4096 == 0) progress(neighbors.atoms() + n);
  }
  text += "</g>\n</svg>\n";
  flush(text, file, 0);
}

template void write_picture(const NeighborList&, const std::vector<float>&,
                            const std::vector<float>&, OutputFile&);
template void write_picture(const NeighborList&, const std::vector<double>&,
                            const std::vector<double>&, OutputFile&);

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
