#include "results.hpp"

#include <fmt/ostream.h>

#include <cstddef>

#include "progress.hpp"

void write_neighbors(const NeighborList& neighbors, std::size_t capacity, std::ostream& out) {
  Progress progress("writing", neighbors.atoms());
  for (std::size_t n = 0; n < neighbors.atoms(); ++n) {
    out << neighbors.counts[n];
    for (std::size_t k = 0; k < capacity; ++k) {
      if (k < neighbors.listed(n)) {
        out << ' ' << neighbors.neighbor(n, k);
      } else {
        out << " NaN";
      }
    }
    out << '\n';
    if (n % 4096 == 0) progress(n);
  }
}

void write_coordinates(const Sheet& sheet, std::ostream& out) {
  Progress progress("writing", sheet.x.size());
  for (std::size_t n = 0; n < sheet.x.size(); ++n) {
    fmt::print(out, "{:.4f} {:.4f}\n", sheet.x[n], sheet.y[n]);
    if (n % 4096 == 0) progress(n);
  }
}
