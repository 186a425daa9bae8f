// Runs the rungs of chapter 03: a block sums in shared memory, and something sums the blocks.
#include <algorithm>
#include <cmath>
#include <course/buffer.cuh>
#include <course/data.cuh>
#include <course/ladder.cuh>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "rungs.cuh"
#include "text_like.cuh"
#if !COURSE_CPU_DEVICE
#include "vendor.cuh"
#endif

namespace {

/// Sums of zeros and ones are exact in float, in any order, up to here.
constexpr std::size_t kExactFloatSums = std::size_t{1} << 24;

template <class T>
std::vector<T> heads_or_tails(std::size_t n) {
  std::vector<T> values = course::position_values<T>(n);
  for (T& value : values) value = value > T(1) ? T(1) : T(0);
  return values;
}

/// A row of the table. No rung needs *d_y to hold anything: each sets it, as part of its time.
template <class T>
course::Rung row(SumInput<T>& input, const SumRung<T>& rung) {
  return {.name = rung.name,
          .changed = rung.changed,
          .reset = [&input] { input.y.fill_bytes(0xFF); },
          .launch = [&input, rung] { input.launch(rung); },
          .result = [&input, rung] { return static_cast<double>(input.result(rung)); },
          .bytes = input.d_x.bytes()};
}

#if !COURSE_CPU_DEVICE
template <class T>
course::Rung cub_row(SumInput<T>& input) {
  const course::Rung cub = cub_sum(input.d_x.data(), input.d_x.size(), input.y.data());
  course::Rung mine = row(input, SumRung<T>{.name = cub.name, .changed = cub.changed});
  mine.launch = cub.launch;
  return mine;
}
#endif

template <class T>
std::string type_name() {
  return sizeof(T) == sizeof(float) ? "float" : "double";
}

template <class T>
void reference(course::Ladder& ladder, const std::vector<T>& x, const std::string& more = "") {
  ladder.reference("sum_reference", sum_reference(x),
                   type_name<T>() + more + "; one CPU thread, in double", x.size());
}

template <class T>
void sums(course::Ladder& ladder, std::size_t n) {
  const std::vector<T> x = heads_or_tails<T>(n);
  SumInput<T> input(x);
  reference(ladder, x);
  for (const SumRung<T>& rung : sum_rungs<T>()) {
    if (!rung.shared_atomics) ladder.rung(row(input, rung));
  }
#if !COURSE_CPU_DEVICE
  ladder.vendor(cub_row(input));
#endif
}

/// The two fastest once more, on input that the launch before left in the L2 cache.
void warm_sums(course::Ladder& ladder, std::size_t n) {
  const std::vector<float> x = heads_or_tails<float>(n);
  SumInput<float> input(x);
  reference(ladder, x, ", x in the L2 cache");
  course::Rung last = row(input, course::rung_named(sum_rungs<float>(), "sum_last_block"));
  last.l2 = course::L2::warm;
  ladder.rung(last);
#if !COURSE_CPU_DEVICE
  course::Rung cub = cub_row(input);
  cub.l2 = course::L2::warm;
  ladder.vendor(cub);
#endif
}

void sums_wrong_on_purpose(course::Ladder& ladder, std::size_t n) {
  const std::vector<float> x = heads_or_tails<float>(n);
  SumInput<float> input(x);
  reference(ladder, x, ", wrong on purpose");
  for (const WrongSum& wrong : wrong_sums()) {
    if (n < wrong.from_n) continue;
    std::optional<double> exactly;
    if (wrong.exactly) exactly = wrong.exactly(x);
    if (exactly == sum_reference(x)) continue;  // it lost nothing
    ladder.wrong(course::wrong_rung(row(input, wrong.rung), wrong.expect, wrong.because, exactly));
  }
}

void inside_a_block(course::Ladder& ladder, std::size_t n) {
  const std::vector<float> x = heads_or_tails<float>(n);
  SumInput<float> input(x);
  reference(ladder, x, ", tree or atomics inside a block");
  for (const SumRung<float>& rung : sum_rungs<float>()) {
    if (rung.shared_atomics) ladder.rung(row(input, rung));
  }
  course::Rung tree = row(input, course::rung_named(sum_rungs<float>(), "sum_shared_tree"));
  tree.changed = "the tree instead";
  ladder.rung(tree);
}

/// The classic steps: each block stores its sum, and the launch alone is timed.
void tree_steps(course::Ladder& ladder, std::size_t n) {
  const std::vector<float> x = heads_or_tails<float>(n);
  SumInput<float> input(x);
  reference(ladder, x, ", the steps of a tree");
  for (const TreeRung<float>& rung : tree_rungs<float>()) {
    const course::Grid grid{blocks_for(n, rung.tile), kBlockSize};
    float* const d_sums = input.workspace.parts.data();
    ladder.rung({.name = rung.name,
                 .changed = rung.changed,
                 .reset = [&input] { input.workspace.parts.fill_bytes(0xFF); },
                 .launch = [&, grid] { rung.launch(grid, input.d_x.data(), n, d_sums); },
                 .result =
                     [&, grid] {
                       const std::vector<float> sums = input.workspace.parts.download();
                       return std::accumulate(sums.begin(), sums.begin() + grid.blocks.x, 0.0);
                     },
                 .bytes = input.d_x.bytes()});
  }
}

/// 1.23 a hundred million times: with the `if`, and without.
template <class T>
void forgotten_if(course::Ladder& ladder) {
  const Experiment<T> e = course::skip_large() ? kExperimentShort<T> : kExperimentFull<T>;
  const std::size_t n = std::size_t{e.blocks} * kExperimentBlock;
  course::DeviceBuffer<T> y(1);
  const double right = add_block_sums_reference(e);
  const double tolerance = 1e-8 * right;  // of double's roundings
  std::string how = type_name<T>() + "; 1.23 " + std::to_string(n) + " times";
  if (e.start > T(0)) how += ", starting at " + std::to_string(static_cast<long long>(e.start));
  ladder.reference("add_block_sums_reference", right, how, n);
  for (const ExperimentRung<T>& rung : experiment_rungs<T>()) {
    const course::Rung row{.name = rung.name,
                           .changed = rung.changed,
                           .reset = [&] { y.upload({e.start}); },
                           .launch = [&] { rung.launch(e, y.data()); },
                           .result = [&] { return static_cast<double>(y.front()); },
                           .tolerance = tolerance,
                           .n = n};
    const auto exactly = static_cast<double>(add_block_sums(e, rung.per_block));
    if (std::abs(exactly - right) <= tolerance) {
      ladder.rung(row);
    } else {
      ladder.wrong(course::wrong_rung(row, course::Expect::wrong_value, rung.because, exactly));
    }
  }
}

void histogram(course::Ladder& ladder, const std::vector<unsigned char>& bytes,
               const std::string& kind, const std::vector<HistogramRung>& rungs) {
  const std::size_t n = bytes.size();
  const auto d_bytes = course::DeviceBuffer<unsigned char>::from(bytes);
  course::DeviceBuffer<unsigned> bins(kBins);
  const std::vector<unsigned> expected = histogram_reference(bytes);
  const auto commonest = std::max_element(expected.begin(), expected.end());
  const auto byte = static_cast<std::size_t>(commonest - expected.begin());
  const auto row = [&](course::Rung rung) {
    rung.reset = [&] { bins.fill_bytes(0x5A); };
    // The row shows one bin, and all are checked.
    rung.result = [&] { return static_cast<double>(bins.download()[byte]); };
    rung.check = [&] { return course::same(bins.download(), expected, "bins"); };
    rung.bytes = n;
    rung.n = n;
    return rung;
  };
  ladder.reference("histogram_reference", *commonest,
                   kind + "; the commonest byte, " + std::to_string(byte), n);
  for (const HistogramRung& rung : rungs) {
    const auto launch = [&] { rung.launch(d_bytes.data(), n, bins.data()); };
    ladder.rung(row({.name = rung.name, .changed = rung.changed, .launch = launch}));
  }
#if !COURSE_CPU_DEVICE
  ladder.vendor(row(cub_histogram(d_bytes.data(), n, bins.data())));
#endif
}

}  // namespace

int main(int argc, char** argv) {
  constexpr std::size_t kSmall = std::size_t{1} << 20, kLarge = std::size_t{1} << 24;
  course::Ladder ladder("03-shared-reduce", argc, argv,
                        {.gpu_n = kLarge, .cpu_n = 1 << 14, .max_n = kExactFloatSums});
  return ladder.run([](course::Ladder& rungs) {
    for (const std::size_t n : rungs.sizes({kSmall, kLarge})) sums<float>(rungs, n);
    for (const std::size_t n : rungs.sizes({kSmall})) warm_sums(rungs, n);
    for (const std::size_t n : rungs.sizes({kLarge})) sums<double>(rungs, n);
    for (const std::size_t n : rungs.sizes({kSmall})) sums_wrong_on_purpose(rungs, n);
    for (const std::size_t n : rungs.sizes({kSmall})) inside_a_block(rungs, n);
    for (const std::size_t n : rungs.sizes({kLarge})) tree_steps(rungs, n);
    forgotten_if<float>(rungs);
    forgotten_if<double>(rungs);
    for (const std::size_t n : rungs.sizes({kLarge})) {
      histogram(rungs, text_like_bytes(n), "text-like", histogram_rungs());
      histogram(rungs, std::vector<unsigned char>(n, 'e'), "all bytes equal", histogram_rungs());
      histogram(rungs, text_like_bytes(n), "a text, one change per row", histogram_cross_rungs());
    }
  });
}
