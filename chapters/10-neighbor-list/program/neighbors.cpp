// neighbors: reads coordinates of atoms, and writes who is near whom.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <iostream>
#include <map>
#include <new>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "../cpu.cuh"
#include "../graphene.cuh"
#include "coordinates.hpp"
#include "errors.hpp"
#include "on_device.cuh"
#include "output_file.hpp"
#include "picture.hpp"
#include "progress.hpp"
#include "results.hpp"

namespace {

constexpr std::int64_t kMostGenerated = 1'000'000'000;

struct Options {
  std::string file;
  double cutoff = 1.9;
  std::int64_t max_neighbors = 10;
  std::string method;
  bool in_double = false;
  std::string output = "neighbor.txt";
  std::string picture;
  std::optional<std::uint64_t> cells_around;
  std::int64_t generate = 0;
  std::uint64_t seed = 1;
};

constexpr const char* kVersion = "neighbors 1.0";

constexpr const char* kAbout =
    "Finds the neighbours of atoms in a plane: all pairs at a distance strictly below the "
    "cutoff.\n";

constexpr const char* kFormats =
    R"(Input: one atom a line, x and y, separated by blanks or tabs; blank lines are skipped.
Output: one line an atom, in the same order: how many neighbours, their indices (from 0, ascending),
and NaN up to --max-neighbors. An output appears when it is complete: a run that fails leaves the
old file as it was. A file named - is standard input, or standard output.

Methods: cpu         every pair once, on the CPU
         atomic      every pair once, on the device, appended with atomicAdd
         gather      every pair twice, on the device, without atomics
         cells       sorted into cells, on the device: time in proportion to the number of atoms
         cells-cpu   the same on the CPU
All write the same file. Without --method: cells where there is a GPU, else cells-cpu.

Exit codes: 0 done
            1 something failed while running: the device, memory, a full disk
            2 the arguments or the input have to be changed; nothing was written)";

void require_different(const std::string& a, const std::string& b) {
  if (const auto file = file_behind(b); !file.empty() && file == file_behind(a)) {
    throw BadInput(fmt::format("{} and {} are the same file", a, b));
  }
}

template <class T>
NeighborList find(const std::string& method, const Coordinates<T>& atoms, T limit,
                  std::size_t capacity) {
  Progress progress(method, atoms.x.size());
  const Atoms<T> view{atoms.x.data(), atoms.y.data(), atoms.x.size()};
  const auto done = [&](std::size_t n) { progress(n); };
  if (method == "cpu") return neighbors_cpu(view, limit, capacity, done);
  if (method == "cells-cpu") return neighbors_cells_cpu(view, limit, capacity, done);
  const std::map<std::string, DeviceMethod> on_device = {{"atomic", DeviceMethod::atomic},
                                                         {"gather", DeviceMethod::gather},
                                                         {"cells", DeviceMethod::cells}};
  return neighbors_on_device(on_device.at(method), atoms.x, atoms.y, limit, capacity, done);
}

/// BadInput if a list is too short: which atom, and how long lists would have to be.
template <class T>
void check_capacity(const NeighborList& neighbors, const Coordinates<T>& atoms,
                    const Options& options) {
  const std::size_t n = neighbors.first_overflow();
  if (n == neighbors.atoms()) return;
  throw BadInput(
      fmt::format("{}:{}: atom {} has {} neighbours, and there is room for {}; --max-neighbors {} "
                  "is enough for "
                  "all atoms. Nothing was written.",
                  options.file, atoms.lines[n], n, neighbors.counts[n], options.max_neighbors,
                  neighbors.largest_count()));
}

/// "1 atom", "2 atoms".
std::string so_many(long long count, const std::string& of) {
  return fmt::format("{} {}{}", count, of, count == 1 ? "" : "s");
}

/// What was found, in a few lines.
std::string summary(const NeighborList& neighbors, const Options& options, double seconds) {
  std::string text = fmt::format(
      "{}: {}\n{}, cutoff {}, {} precision: {} in {:.3f} s\n", options.file,
      so_many(static_cast<long long>(neighbors.atoms()), "atom"), options.method, options.cutoff,
      options.in_double ? "double" : "single", so_many(neighbors.ends() / 2, "bond"), seconds);
  std::map<int, std::size_t> atoms_with;
  for (const int count : neighbors.counts) ++atoms_with[count];
  constexpr std::size_t kMost = 12;  // lines
  if (atoms_with.size() <= kMost) {
    for (const auto& [count, atoms] : atoms_with) {
      text += fmt::format("  {}: {}\n", so_many(count, "neighbour"),
                          so_many(static_cast<long long>(atoms), "atom"));
    }
  } else {
    text += fmt::format("  from {} to {} neighbours\n", atoms_with.begin()->first,
                        atoms_with.rbegin()->first);
  }
  return text;
}

template <class T>
void find_and_write(Options options) {
  T limit{};
  try {
    limit = squared_cutoff<T>(options.cutoff);
  } catch (const std::domain_error& error) {
    throw BadInput(fmt::format("--cutoff {}: {}", options.cutoff, error.what()));
  }
  if (options.method.empty()) options.method = has_gpu() ? "cells" : "cells-cpu";
  if (options.method.find("cpu") == std::string::npos && !has_device()) {
    throw Failure(
        fmt::format("--method {}: there is no GPU; cells-cpu and cpu do without", options.method));
  }
  require_different(options.file, options.output);
  if (!options.picture.empty()) {
    require_different(options.file, options.picture);
    require_different(options.output, options.picture);
  }
  OutputFile output(options.output);
  std::optional<OutputFile> picture;
  if (!options.picture.empty()) picture.emplace(options.picture);

  const Coordinates<T> atoms = parse_coordinates<T>(read_bytes(options.file), options.file);
  const Atoms<T> view{atoms.x.data(), atoms.y.data(), atoms.x.size()};
  if (options.cells_around && *options.cells_around >= view.n) {
    throw BadInput(fmt::format("--cells-around {}: {} has {}, numbered from 0",
                               *options.cells_around, options.file,
                               so_many(static_cast<long long>(view.n), "atom")));
  }
  const auto start = std::chrono::steady_clock::now();
  // No atom has more neighbours than there are others.
  const std::size_t capacity = std::clamp<std::size_t>(
      atoms.x.size() - 1, 1, static_cast<std::size_t>(options.max_neighbors));
  const NeighborList neighbors = find(options.method, atoms, limit, capacity);
  const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;

  check_capacity(neighbors, atoms, options);
  write_neighbors(neighbors, static_cast<std::size_t>(options.max_neighbors), output.stream());
  if (picture && options.cells_around) {
    write_picture_of_cells(neighbors, view, limit, *options.cells_around, picture->stream());
  } else if (picture) {
    write_picture(neighbors, view, picture->stream());
  }
  output.finish();  // both are complete before the first one replaces anything
  if (picture) picture->finish();
  output.commit();
  if (picture) picture->commit();
  const bool to_stdout = output.is_direct() || (picture && picture->is_direct());
  fmt::print(to_stdout ? stderr : stdout, "{}", summary(neighbors, options, time.count()));
}

void generate(const Options& options) {
  OutputFile file(options.file);
  Sheet sheet;
  {
    constexpr std::size_t kParts = 1000;
    Progress progress("atoms", kParts);
    sheet = make_graphene(
        static_cast<std::size_t>(options.generate), options.seed,
        [&](double part) { progress(static_cast<std::size_t>(part * double{kParts})); });
  }
  write_coordinates(sheet, file.stream());
  file.finish();
  file.commit();
  if (!file.is_direct()) fmt::print("{}: {}\n", options.file, so_many(options.generate, "atom"));
}

void run(const Options& options, bool generates) {
  if (generates) {
    if (options.generate < 1 || options.generate > kMostGenerated) {
      throw BadInput(fmt::format("--generate {}: has to be a number from 1 to {}", options.generate,
                                 kMostGenerated));
    }
    return generate(options);
  }
  if (options.max_neighbors < 1 || options.max_neighbors > std::int64_t{kMostAtoms}) {
    throw BadInput(fmt::format("--max-neighbors {}: has to be a number from 1 to {}",
                               options.max_neighbors, kMostAtoms));
  }
  options.in_double ? find_and_write<double>(options) : find_and_write<float>(options);
}

int report(const std::string& what, int code) {
  std::fflush(stdout);
  std::fputs(("neighbors: " + what + "\n").c_str(), stderr);  // which may be closed
  return code;
}

/// Whole numbers in decimal: 010 is ten, and what does not fit is not made to.
template <class Number>
std::string whole_number(std::string& word) {
  Number number{};
  const char* const end = word.data() + word.size();
  const auto [stopped, error] = std::from_chars(word.data(), end, number);
  if (stopped != end || error != std::errc{}) return "'" + word + "' is not a whole number";
  word = std::to_string(number);
  return "";
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app(kAbout, "neighbors");
  app.get_formatter()->column_width(32);
  app.footer(kFormats);
  app.set_version_flag("--version", kVersion);
  app.add_option("FILE", options.file,
                 "The coordinates to read; with --generate, the file to write")
      ->required();
  app.add_option("--cutoff", options.cutoff, "Neighbours are nearer than this")
      ->capture_default_str();
  app.add_option("--max-neighbors", options.max_neighbors, "The most that an atom may have")
      ->transform(CLI::Validator(whole_number<std::int64_t>, ""))
      ->capture_default_str();
  app.add_option("--method", options.method, "How they are found; see below")
      ->check(CLI::IsMember({"cpu", "atomic", "gather", "cells", "cells-cpu"}).description(""))
      ->type_name("METHOD");
  app.add_flag("--double", options.in_double, "Compute in double precision, not in single");
  app.add_option("--output", options.output, "The lists")->capture_default_str()->type_name("FILE");
  app.add_option("--picture", options.picture, "Draws atoms and bonds, as SVG")->type_name("FILE");
  app.add_option("--cells-around", options.cells_around,
                 "The picture shows how the cells find the neighbours of atom N")
      ->transform(CLI::Validator(whole_number<std::uint64_t>, ""))
      ->type_name("N");
  app.add_option("--generate", options.generate,
                 "Makes a sheet of N atoms of graphene, 1.42 apart, with grains and defects")
      ->transform(CLI::Validator(whole_number<std::int64_t>, ""))
      ->type_name("N");
  app.add_option("--seed", options.seed, "Another number, another sheet")
      ->transform(CLI::Validator(whole_number<std::uint64_t>, ""))
      ->capture_default_str();
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) {  // --help, --version
      app.exit(error);
      return std::cout.flush() ? kDone : report("standard output cannot be written", kFailed);
    }
    return report(std::string(error.what()) + "; neighbors --help tells more", kBadInput);
  }
  try {
    const bool generates = app.count("--generate") > 0;
    const std::vector<const char*> others =
        generates
            ? std::vector<const char*>{"--cutoff", "--max-neighbors", "--method",      "--double",
                                       "--output", "--picture",       "--cells-around"}
            : std::vector<const char*>{"--seed"};
    for (const char* const other : others) {
      if (app.count(other) == 0) continue;
      throw BadInput(
          fmt::format("{} {} --generate", other, generates ? "does not go with" : "needs"));
    }
    if (app.count("--picture") > 0 && options.picture.empty()) {
      throw BadInput("--picture: a file to write to has an empty name");
    }
    if (app.count("--cells-around") > 0 && app.count("--picture") == 0) {
      throw BadInput("--cells-around needs --picture");
    }
    run(options, generates);
    if (std::fflush(stdout) == 0) return kDone;
    return report("all files are complete, but standard output cannot be written", kFailed);
  } catch (const BadInput& error) {
    return report(error.what(), kBadInput);
  } catch (const std::bad_alloc&) {
    return report("not enough memory", kFailed);
  } catch (const std::exception& error) {
    return report(error.what(), kFailed);
  }
}
