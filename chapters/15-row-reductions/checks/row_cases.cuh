// For the checks of this chapter: rows of every length and start, launches of every shape, comparisons that expect NaN
// where it is right, and limits of what the threads read.
#pragma once

#include <algorithm>
#include <bit>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <course/check.cuh>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace row_checks {

using Launch = course::LaunchShape;

struct Shape {
  std::size_t rows, columns;
  std::size_t start = 0;  // elements after a multiple of 64 bytes
};

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

/// Where an element is, in rows of how many columns; `random` is 1 to 1000.
struct Element {
  std::size_t row, column, columns;
  int random;
};

/// What a message says of the elements, and each of them.
struct Kind {
  std::string text;
  float (*element)(Element);
};

template <class T>
std::vector<T> elements_of(const Shape& s, const Kind& kind) {
  const std::vector<int> random = course::position_values<int>(s.rows * s.columns);
  std::vector<T> x;
  for (std::size_t i = 0; i < random.size(); ++i) {
    x.push_back(T(kind.element({i / s.columns, i % s.columns, s.columns, random[i]})));
  }
  return x;
}

struct Case {
  Shape shape;
  Launch launch;
};

inline std::string text_of(const Shape& s, const std::string& data, const std::string& kernel,
                           Launch launch) {
  return course::counted(s.rows, "row") + " of " + course::counted(s.columns, "column") + ": " +
         data + "; x begins " + course::counted(s.start, "element") +
         " after a multiple of 64 bytes; " + course::launch_text(kernel, launch);
}

/// Rows of every length, with launches that have too few warps, too many, and blocks of every kind. The longest rows have
/// elements for all warps of the largest blocks.
inline std::vector<Case> all_lengths() {
  constexpr Launch kLaunches[] = {{3, 256}, {1, 1024}, {1, 32}, {2, 96}, {40, 32}, {1, 544}};
  std::vector<Case> cases;
  for (const std::size_t columns :
       {1, 2, 7, 8, 9, 31, 32, 33, 63, 64, 65, 127, 129, 255, 256, 257, 500, 1000, 1023, 1025}) {
    const std::size_t turn = cases.size();
    const std::size_t rows = columns > 200 ? 3 : 5 + turn % 9;
    cases.push_back({{rows, columns, turn * 5 % 16}, kLaunches[turn % std::size(kLaunches)]});
  }
  return cases;
}

/// Rows that have elements for all warps of a block.
inline Shape rows_for(Launch launch) {
  return {launch.block > 256 ? 2u : 4u, launch.block > 256 ? 1100u : 150u, launch.block % 7};
}

using CheckRows = void (*)(const Shape&, Launch, const Kind&);

/// Checks rows of every length, with elements of `first` and with those of one of `kinds` in turn.
template <std::size_t number>
void check_all_lengths(CheckRows check, const Kind& first, const Kind (&kinds)[number]) {
  std::size_t turn = 0;
  for (const Case& c : all_lengths()) {
    course::in_launch(c.launch, [&](Launch launch) { check(c.shape, launch, first); });
    const Kind& kind = kinds[++turn % number];
    course::in_launch(c.launch, [&](Launch launch) { check(c.shape, launch, kind); });
  }
}

/// Where a row has three elements more than there are threads, the last warp has the largest ones: a result that leaves it
/// out is wrong.
inline const Kind kAscending{"ascending, but the last three are the smallest", [](Element e) {
                               return e.column + 3 < e.columns ? static_cast<float>(e.column)
                                                               : -static_cast<float>(e.column);
                             }};

/// Checks blocks of every number of warps, with two rows that have elements for all of them.
inline void check_all_blocks(CheckRows check, const Kind& kind) {
  for (unsigned warps = 1; warps <= 32; ++warps) {
    const unsigned block = 32 * warps;
    INFO((warps == 1 ? "no other block was tried before"
                     : "with blocks of " + course::counted(warps - 1, "warp") +
                           (warps == 2 ? "" : " and of fewer") + " the results were right"));
    check({2, block + 3, warps % 5}, {1, block}, kind);
  }
}

/// What a thread keeps from the row before is too large for the next one, or too small. Halves have these numbers, too.
inline const Kind kRowsFall{"each row lies far below the one before", [](Element e) {
                              return static_cast<float>(e.column * 37 % 256) -
                                     250 * static_cast<float>(e.row);
                            }};
inline const Kind kRowsRise{"each row lies far above the one before", [](Element e) {
                              return 250 * static_cast<float>(e.row) -
                                     static_cast<float>(e.column * 37 % 256);
                            }};

/// Three rows for each warp, or six for the block.
constexpr Case kSeveralEach{{6, 700, 1}, {1, 64}};

/// Checks rows of kSeveralEach, each far from the one before.
inline void check_several_each(CheckRows check) {
  check(kSeveralEach.shape, kSeveralEach.launch, kRowsFall);
  check(kSeveralEach.shape, kSeveralEach.launch, kRowsRise);
}

/// One long row. Only under the first schedule: it is slow on the CPU device.
constexpr Case kLongRow{{1, 100'003, 3}, {2, 256}};

/// Two rows of more than 2^16 columns for one block. Only under the first schedule.
constexpr Case kLongRows{{2, 66'000, 3}, {1, 64}};

/// Checks them, the second one far below the first.
inline void check_long_rows(CheckRows check) {
  check(kLongRows.shape, kLongRows.launch, kRowsFall);
}

/// A row for each block of a warp, of more than 2^32 threads and elements.
constexpr Launch kManyRows{(1u << 27) + 1, 32};
/// A row for each of 2^32 warps, a number that is 0 in 32 bits.
constexpr Launch kMostWarps{1u << 27, 1024};

/// The rows of the last two blocks of a huge grid, which are in memory; those before are not.
template <class T>
struct LastRows {
  Launch grid;
  std::size_t rows, before;  // of the whole array, and of those that are not in memory
  Shape shape;               // of those that are
  std::vector<T> x;
  const T* d_x;  // where row 0 would be
};

/// Runs `work` with LastRows of such elements, of a grid of many blocks of a warp, and of kMostWarps. A GPU runs all blocks,
/// and has no memory for the rows.
template <class T, class Work>
void at_last_rows(const Kind& kind, Work work, Launch many = kManyRows) {
  if (!course::kCpuDevice) SKIP("a GPU runs all blocks, and has no memory for the rows");
  for (const Launch huge : {many, kMostWarps}) {
    course::at_end_of_grid(huge, [&](Launch grid) {
      const std::size_t rows = std::size_t{grid.block / 32} * grid.grid;
      const Shape shape{2 * grid.block / 32, 40, 5};
      INFO("a row for each warp of " << grid.grid << " blocks of " << grid.block
                                     << " threads, of which the last two run; memory is there for "
                                        "their rows");
      const std::vector<T> x = elements_of<T>(shape, kind);
      const course::Placed<T> d_x(x, shape.start);
      const std::size_t before = rows - shape.rows;
      work(LastRows<T>{grid, rows, before, shape, x, d_x.data() - before * shape.columns});
    });
  }
}

/// What an element of a result with `of_row` elements for each row is computed from: "row 1: x[300] = 2, x[301] = 5".
inline course::Inputs row_of(const Shape& s, const std::vector<float>& x, std::size_t of_row) {
  return [&s, &x, of_row](std::size_t i) {
    const std::size_t r = i / of_row;
    return "row " + std::to_string(r) + ": " +
           course::elements_text("x", x, r * s.columns, (r + 1) * s.columns);
  };
}

/// Ok if each element is within its tolerance: a NaN where a NaN is expected, and the same infinity.
template <class T>
course::Verdict near(const std::vector<T>& found, const std::vector<double>& expected,
                     const std::vector<double>& tolerance, const std::string& name,
                     const course::Inputs& inputs) {
  if (found.size() != expected.size()) {
    return course::same(found.size(), expected.size(), "elements of " + name);
  }
  std::size_t first = found.size(), last = 0, wrong = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto y = static_cast<double>(found[i]);
    if (std::isnan(expected[i]) ? std::isnan(y)
                                : y == expected[i] || std::fabs(y - expected[i]) <= tolerance[i]) {
      continue;
    }
    first = std::min(first, i), last = i, ++wrong;
  }
  if (wrong == 0) return {};
  const std::string element = name + "[" + std::to_string(first) + "]";
  course::Verdict verdict =
      std::isnan(expected[first])
          ? course::Verdict{false, element + ": expected NaN, found " +
                                       course::number_text(found[first]) + "; " + inputs(first)}
          : course::close(static_cast<double>(found[first]), expected[first], tolerance[first],
                          element, inputs(first));
  if (wrong > 1) {
    verdict.text += "\n" + std::to_string(wrong) + " of " + std::to_string(found.size()) +
                    " elements of " + name + " are wrong, the last of them " + name + "[" +
                    std::to_string(last) + "]";
  }
  return verdict;
}

/// A number, with its bits if it is NaN: "NaN (0x7fc00000)".
template <class T>
std::string with_bits(const T& x) {
  const auto value = static_cast<float>(x);
  if (!std::isnan(value)) return course::number_text(x);
  using Word = std::conditional_t<sizeof(T) == 2, std::uint16_t, std::uint32_t>;
  const auto bits = std::bit_cast<Word>(x);
  std::string hex;
  for (int shift = 8 * sizeof(T) - 4; shift >= 0; shift -= 4) {
    hex += "0123456789abcdef"[bits >> shift & 15u];
  }
  return "NaN (0x" + hex + ")";
}

/// What row r is computed from: "row 1, which is x[300..599]".
inline std::string row_text(const Shape& s, std::size_t r) {
  return "row " + std::to_string(r) + ", which is x[" + std::to_string(r * s.columns) + ".." +
         std::to_string((r + 1) * s.columns - 1) + "]";
}

/// Rows and a launch for counting: whether a row is a block's, a warp's or that of eight lanes, all warps get as much.
constexpr Case kCounted{{64, 512}, {4, 128}};

/// Longer rows, of which no element is loaded again either.
constexpr Case kLonger{{16, 1536}, {4, 128}};

/// Rows that end within a sector, a pack and a warp's load, most of them at no multiple of 16 bytes; some have two columns
/// more than a warp or a block may take at once. One launch has fewer threads than rows.
constexpr Case kUneven[] = {{{64, 68}, {4, 128}}, {{96, 130}, {1, 64}},  {{64, 17}, {4, 128}},
                            {{64, 16}, {4, 128}}, {{64, 9}, {4, 128}},   {{8, 130}, {4, 128}},
                            {{4, 258}, {4, 128}}, {{4, 1026}, {4, 128}}, {{4, 2100}, {4, 64}},
                            {{4, 5000}, {4, 64}}};

/// Short rows: what is loaded once more for each row, by all lanes of a warp, is as much as the row.
constexpr Case kShort{{64, 32}, {4, 128}};

namespace detail {
/// Ok if at most `lanes` single lanes load, and so move at most `sectors`: `times` for each of the elements, and `more`.
inline course::Verdict loads_at_most(const course::Counters& counters, std::uint64_t sectors,
                                     std::uint64_t lanes, std::size_t elements, unsigned times,
                                     const std::string& more) {
  const std::string number = times == 1 ? "one" : "two",
                    all = std::to_string(elements) + " elements";
  const course::Verdict few_sectors =
      course::at_most(counters.global_load_sectors, sectors, "sectors of 32 bytes",
                      "in loads by " + std::to_string(counters.global_load_lanes) +
                          " lanes. Allowed are " + number + " for each of " + all + ", and " +
                          more + ". Do neighbouring lanes read neighbours, and once?");
  if (!few_sectors) return few_sectors;
  const double each =
      static_cast<double>(counters.global_load_lanes) / static_cast<double>(elements);
  return course::at_most(counters.global_load_lanes, lanes, "loads by single lanes, of all arrays",
                         "that is " + course::detail::figure_text(each) + " for each of " + all +
                             ". Allowed are " + number + ", and " + more);
}
}  // namespace detail

/// Ok if each of the elements, which are T, is loaded at most `times` times, and the lanes of a warp load neighbours. A
/// quarter more is allowed, for what an answer needs beside it.
template <class T>
course::Verdict reads_at_most(const course::Counters& counters, std::size_t elements,
                              unsigned times) {
  return detail::loads_at_most(counters, elements * sizeof(T) / 32 * times * 5 / 4,
                               elements * times * 5 / 4, elements, times, "a quarter more");
}

/// The same of rows of kUneven: of eight lanes' loads each may begin within a sector, and eight elements of a row may be
/// loaded once more, in so many sectors.
template <class T>
course::Verdict reads_uneven(const course::Counters& counters, const Shape& s, unsigned times,
                             unsigned again = 0) {
  return detail::loads_at_most(counters,
                               s.rows * (times * (2 * s.columns * sizeof(T) / 32 + 4) + again),
                               s.rows * (s.columns * times * 5 / 4 + 8), s.rows * s.columns, times,
                               "a quarter more and eight for each row");
}

/// Ok if the busiest warp makes at most twice its part of `elements` loads and stores by single lanes.
inline course::Verdict is_shared(const course::Counters& counters, std::size_t elements) {
  constexpr std::size_t kWarps = std::size_t{kCounted.launch.grid} * kCounted.launch.block / 32;
  return course::work_is_shared(counters, elements / 32 / kWarps * 2 + 64);
}

/// What `run`, a launch of kCounted, counts. Where a few warps take most rows, it may be that all take them by ticket: then
/// what it counts in another order of the threads.
template <class Run>
auto count_rows(Run run, std::size_t elements) {
  auto counters = course::count(run);
  if (!is_shared(*counters, elements)) counters = course::count_shuffled(run);
  return counters;
}

/// Counts the loads of a kernel from rows of T.
template <class T>
struct Loads {
  std::string kernel;  // its name
  CheckRows check;     // launches it
  const Kind& kind;    // the elements, where nothing else is said
  unsigned times = 1;  // how often an element may be loaded
  unsigned again = 0;  // sectors that it may load once more for each row

  /// Checks `c`, and then with `judge` what that has counted.
  template <class Judge>
  void check_case(const Case& c, const Kind& of_case, Judge judge) const {
    const auto counters = course::count([&] { check(c.shape, c.launch, of_case); });
    INFO(text_of(c.shape, of_case.text, kernel, c.launch));
    judge(*counters);
  }

  /// Rows with elements of each of `kinds`: what is rare may not be loaded more often either.
  template <std::size_t number>
  void check_kinds(const Kind (&kinds)[number], const Case& c = kUneven[0]) const {
    for (const Kind& rare : kinds) {
      check_case(c, rare, [&](const course::Counters& counters) {
        REQUIRE(reads_uneven<T>(counters, c.shape, times, again));
      });
    }
  }

  /// Rows of kUneven; `also(counters, shape)` may judge more than the loads.
  template <class Also>
  void check_uneven(Also also) const {
    for (const Case& c : kUneven) {
      check_case(c, kind, [&](const course::Counters& counters) {
        REQUIRE(reads_uneven<T>(counters, c.shape, times, again));
        also(counters, c.shape);
      });
    }
  }
  void check_uneven() const {
    check_uneven([](const course::Counters&, const Shape&) {});
  }

  /// Rows of kShort.
  void check_short() const {
    check_case(kShort, kind, [&](const course::Counters& counters) {
      REQUIRE(course::at_most(
          counters.global_load_lanes, times * kShort.shape.rows * kShort.shape.columns,
          "loads by single lanes",
          times == 1 ? "each element is read once" : "each element is read twice at most"));
    });
  }

  /// Rows of kLonger.
  void check_longer() const {
    check_case(kLonger, kind, [&](const course::Counters& counters) {
      REQUIRE(reads_at_most<T>(counters, kLonger.shape.rows * kLonger.shape.columns, times));
    });
  }

  /// Rows of kCounted, which the warps share: with `stores` for each element beside its loads. `also(counters, elements)` may
  /// judge more than the loads.
  template <class Also>
  void check_shared(unsigned stores, Also also) const {
    const std::size_t elements = kCounted.shape.rows * kCounted.shape.columns;
    const std::size_t accesses = (times + stores) * elements;
    const auto counters =
        count_rows([&] { check(kCounted.shape, kCounted.launch, kind); }, accesses);
    INFO(text_of(kCounted.shape, kind.text, kernel, kCounted.launch));
    REQUIRE(reads_at_most<T>(*counters, elements, times));
    also(*counters, elements);
    REQUIRE(is_shared(*counters, accesses));
  }
  void check_shared() const {
    check_shared(0, [](const course::Counters&, std::size_t) {});
  }
};

}  // namespace row_checks
