#include "picture.hpp"

#include <fmt/format.h>
#include <fmt/ostream.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "../cpu.cuh"
#include "progress.hpp"

namespace {

constexpr double kSize = 1000, kMargin = 20;  // of a picture, in its own units
constexpr double kLine = 44;                  // height of a line of text
constexpr double kTitle = 64;                 // of the title

constexpr const char* kStyle =
    "<style>.page{fill:#fff;stroke:#d0d7de}text{font:30px system-ui,sans-serif;fill:#1f2328}"
    ".title{font-size:36px;font-weight:600}"
    ".bond{stroke:#818b98;stroke-linecap:round}.a0{fill:#fff;stroke:#59636e}"
    ".a1{fill:#cf222e;stroke:#cf222e}.a2{fill:#ffb454;stroke:#9a4600}"
    ".a3{fill:#59636e;stroke:#59636e}.a4{fill:#fff;stroke:#0969da}"
    ".cell{fill:none;stroke:#afb8c1;stroke-width:2}"
    ".run{fill:#ddf4ff;stroke:#0969da;stroke-width:5}"
    ".cutoff{fill:none;stroke:#9a4600;stroke-width:4;stroke-dasharray:14 10}"
    "@media(prefers-color-scheme:dark){.page{fill:#0d1117;stroke:#3d444d}text{fill:#f0f6fc}"
    ".bond{stroke:#7d8590}.a0{fill:#0d1117;stroke:#a2abb5}.a1{fill:#ff7b72;stroke:#ff7b72}"
    ".a2{fill:#8f4700;stroke:#ffb454}.a3{fill:#a2abb5;stroke:#a2abb5}"
    ".a4{fill:#0d1117;stroke:#4493f8}.cell{stroke:#565d66}"
    ".run{fill:#102a4c;stroke:#4493f8}.cutoff{stroke:#ffb454}}</style>\n";

/// Writes a picture in pieces, below the question that it answers.
class Svg {
 public:
  Svg(std::ostream& out, double width, double height, const std::string& question) : out_(out) {
    add("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.1f} {1:.1f}\" width=\"{2:.0f}\" "
        "height=\"{3:.0f}\">\n",
        width, height + kTitle, 0.6 * width, 0.6 * (height + kTitle));
    out_ << kStyle;
    add("<rect x=\"1\" y=\"1\" width=\"{:.1f}\" height=\"{:.1f}\" rx=\"12\" class=\"page\"/>\n",
        width - 2, height + kTitle - 2);
    add("<text x=\"{:.0f}\" y=\"{:.0f}\" class=\"title\">{}</text>\n", kMargin, kTitle - 12,
        question);
    add("<g transform=\"translate(0 {:.0f})\">\n", kTitle - kMargin / 2);
  }
  ~Svg() { out_ << "</g>\n</svg>\n"; }
  Svg(const Svg&) = delete;
  Svg& operator=(const Svg&) = delete;

  template <class... Values>
  void add(fmt::format_string<Values...> format, Values&&... values) {
    fmt::print(out_, format, std::forward<Values>(values)...);
  }
  void circle(double x, double y, double radius) {
    add("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:.3g}\"/>\n", x, y, radius);
  }
  void label(double x, double y, const std::string& words) {
    add("<text x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", x, y, words);
  }

 private:
  std::ostream& out_;
};

constexpr std::size_t kKinds = 5;  // of atoms: with 0, 1, 2, 3, and 4 or more neighbours

std::size_t kind_of(int neighbors) { return static_cast<std::size_t>(std::clamp(neighbors, 0, 4)); }

/// What the colours mean: the kinds that there are, and how many atoms are of each.
std::vector<std::pair<std::size_t, std::string>> legend_of(
    const std::array<std::size_t, kKinds>& atoms) {
  constexpr const char* kNames[] = {"no neighbour", "1 neighbour", "2 neighbours", "3 neighbours",
                                    "4 or more neighbours"};
  std::vector<std::pair<std::size_t, std::string>> legend;
  for (std::size_t kind = 0; kind < kKinds; ++kind) {
    if (atoms[kind] > 0)
      legend.emplace_back(kind, fmt::format("{}: {}", kNames[kind], atoms[kind]));
  }
  return legend;
}

}  // namespace

template <class T>
void write_picture(const NeighborList& neighbors, Atoms<T> atoms, std::ostream& out) {
  const Box box = box_of(atoms);
  // Halves, because the difference of two large numbers may be too large.
  const double half_width = 0.5 * box.max_x - 0.5 * box.min_x;
  const double half_height = 0.5 * box.max_y - 0.5 * box.min_y;
  const double longer = std::max({half_width, half_height, 1e-300});
  const auto across = [&](std::size_t n) {
    return (0.5 * atoms.x[n] - 0.5 * box.min_x) / longer * kSize + kMargin;
  };
  const auto down = [&](std::size_t n) {
    return (0.5 * box.max_y - 0.5 * atoms.y[n]) / longer * kSize + kMargin;
  };
  const double spacing = kSize / std::sqrt(static_cast<double>(std::max<std::size_t>(atoms.n, 4)));
  const double radius = std::min(0.18 * spacing, 8.0);

  std::array<std::size_t, kKinds> of_kind{};
  for (const int count : neighbors.counts) ++of_kind[kind_of(count)];
  const auto legend = legend_of(of_kind);
  const double below = half_height / longer * kSize + 2 * kMargin;
  const double columns = 2, rows = std::ceil(static_cast<double>(legend.size()) / columns);
  Svg svg(out, kSize + 2 * kMargin, below + rows * kLine + kMargin,
          "How many neighbours has each atom?");

  Progress progress("drawing", (1 + kKinds) * atoms.n);
  svg.add("<g class=\"bond\" stroke-width=\"{:.3g}\">\n", 0.6 * radius);
  for (std::size_t n = 0; n < atoms.n; ++n) {
    for (std::size_t k = 0; k < neighbors.listed(n); ++k) {
      const auto m = static_cast<std::size_t>(neighbors.neighbor(n, k));
      if (m < n) continue;  // each bond once
      svg.add("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\"/>\n", across(n),
              down(n), across(m), down(m));
    }
    if (n % 4096 == 0) progress(n);
  }
  for (std::size_t kind = 0; kind < kKinds; ++kind) {
    if (of_kind[kind] == 0) continue;
    svg.add("</g>\n<g class=\"a{}\" stroke-width=\"{:.3g}\">\n", kind, 0.5 * radius);
    for (std::size_t n = 0; n < atoms.n; ++n) {
      if (kind_of(neighbors.counts[n]) == kind) {
        svg.circle(across(n), down(n), kind == 3 ? radius : 1.3 * radius);
      }
      if (n % 4096 == 0) progress((1 + kind) * atoms.n + n);
    }
  }
  svg.add("</g>\n");
  double x = kMargin, y = below;
  for (const auto& [kind, words] : legend) {
    svg.add(
        "<rect x=\"{:.0f}\" y=\"{:.1f}\" width=\"22\" height=\"22\" rx=\"11\" class=\"a{}\" "
        "stroke-width=\"5\"/>\n",
        x + 5, y + 7, kind);
    svg.label(x + 40, y + 28, words);
    x += kSize / columns;
    if (x > kSize) x = kMargin, y += kLine;
  }
}

template <class T>
void write_picture_of_cells(const NeighborList& neighbors, Atoms<T> atoms, T limit,
                            std::size_t atom, std::ostream& out) {
  const SortedAtoms<T> sorted(atoms, limit);
  const CellGrid& grid = sorted.grid;
  const Cell middle = cell_at(grid, atoms.x[atom], atoms.y[atom]);
  // Five by five cells are shown. Counted in cells, no coordinate is too large.
  constexpr double kCell = kSize / 5;
  const auto cells = [&](double value, double half_edge) {
    return (0.5 * value - half_edge) * grid.per_half;
  };
  const double first_column = std::floor(cells(atoms.x[atom], grid.half_left)) - 2;
  const double first_row = std::floor(cells(atoms.y[atom], grid.half_bottom)) - 2;
  const auto across = [&](double x) {
    return (cells(x, grid.half_left) - first_column) * kCell + kMargin;
  };
  const auto down = [&](double y) {
    return (5 - cells(y, grid.half_bottom) + first_row) * kCell + kMargin;
  };
  const auto is_shown = [](double place) { return place > kMargin && place < kMargin + kSize; };

  const std::vector<int> near = neighbors.row(atom);
  std::vector<char> seen(atoms.n, 0);
  std::string runs;
  std::size_t looked_at = 0;
  visit_near_cells(grid, sorted.starts.data(), middle, [&](int first, int end) {
    if (first == end) return;
    runs += fmt::format("{}{}", runs.empty() ? "" : ", ", first);
    if (end - first > 1) runs += fmt::format(" to {}", end - 1);
    looked_at += static_cast<std::size_t>(end - first);
    std::fill(seen.begin() + first, seen.begin() + end, 1);
  });

  const double below = kSize + 2 * kMargin;
  Svg svg(out, kSize + 2 * kMargin, below + 3 * kLine + kMargin,
          fmt::format("Where does atom {} look for neighbours?", atom));
  for (int row = -1; row <= 1; ++row) {  // the cells of a row follow each other in memory
    const int at = middle.row + row;
    if (!grid.wraps_y && (at < 0 || at >= grid.rows)) continue;
    const int left = grid.wraps_x || middle.column > 0 ? 1 : 2;
    const int right = grid.wraps_x || middle.column + 1 < grid.columns ? 4 : 3;
    svg.add("<rect x=\"{:.0f}\" y=\"{:.0f}\" width=\"{:.0f}\" height=\"{:.0f}\" class=\"run\"/>\n",
            kMargin + left * kCell + 4, kMargin + (2 - row) * kCell + 4, (right - left) * kCell - 8,
            kCell - 8);
  }
  for (int k = 0; k <= 5; ++k) {
    svg.add("<path d=\"M{0:.0f} {1:.0f}V{2:.0f}M{1:.0f} {0:.0f}H{2:.0f}\" class=\"cell\"/>\n",
            kMargin + k * kCell, kMargin, kMargin + kSize);
  }
  const double x = across(atoms.x[atom]), y = down(atoms.y[atom]);
  svg.add("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:.1f}\" class=\"cutoff\"/>\n", x, y,
          0.5 * std::sqrt(static_cast<double>(limit)) * grid.per_half * kCell);
  for (const int other : near) {
    const auto m = static_cast<std::size_t>(other);
    svg.add(
        "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" class=\"bond\" "
        "stroke-width=\"9\"/>\n",
        x, y, across(atoms.x[m]), down(atoms.y[m]));
  }
  std::size_t place = 0;  // of the atom, in the sorted array
  for (std::size_t j = 0; j < atoms.n; ++j) {
    const double at_x = across(sorted.x[j]), at_y = down(sorted.y[j]);
    if (!is_shown(at_x) || !is_shown(at_y)) continue;
    const int number = sorted.indices[j];
    const bool is_near = std::find(near.begin(), near.end(), number) != near.end();
    const bool is_it = number == static_cast<int>(atom);
    if (is_it) place = j;
    svg.add(
        "<g class=\"a{}\" stroke-width=\"6\"><circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{}\"/></g>\n",
        is_it     ? 1
        : is_near ? 2
        : seen[j] ? 3
                  : 0,
        at_x, at_y, is_it || is_near ? 17 : 10);
    if (seen[j]) svg.label(at_x + 22, at_y - 14, std::to_string(j));
  }
  svg.label(kMargin, below + 28,
            fmt::format("Red: atom {}, at index {}. Dashed: the cutoff.", atom, place));
  svg.label(kMargin, below + kLine + 28, fmt::format("Runs of the sorted array: {}.", runs));
  svg.label(
      kMargin, below + 2 * kLine + 28,
      fmt::format("{} atoms looked at, itself among them; near: {}.", looked_at, near.size()));
}

template void write_picture(const NeighborList&, Atoms<float>, std::ostream&);
template void write_picture(const NeighborList&, Atoms<double>, std::ostream&);
template void write_picture_of_cells(const NeighborList&, Atoms<float>, float, std::size_t,
                                     std::ostream&);
template void write_picture_of_cells(const NeighborList&, Atoms<double>, double, std::size_t,
                                     std::ostream&);
