// Runs the rungs of chapter 03: a block adds up in shared memory, and somebody adds up the blocks.
#include <algorithm>
#include <cmath>
#include <course/buffer.cuh>
#include <course/data.cuh>
#include <course/ladder.cuh>
#include <string>
#include <vector>

#include "block_scope.cuh"
#include "dynamic_tree.cuh"
#include "forgotten_if.cuh"
#include "grid_stride.cuh"
#include "histogram.cuh"
#include "last_block.cuh"
#include "shared_tree.cuh"
#include "text_like.cuh"
#if !COURSE_CPU_DEVICE
#include "vendor.cuh"
#endif

namespace {

/// Sums of zeros and ones are exact in float, in any order, up to here.
constexpr std::size_t kExactFloatSums = std::size_t{1} << 24;

/// Below this, blocks that race may get away with it.
constexpr std::size_t kEnoughToRace = 32 * kBlockSize;

/// The data of a group of sums, and what its rungs have in common.
template <class T>
struct Sum {
  explicit Sum(std::size_t elements)
      : x(heads_or_tails(elements)),
        d_x(course::DeviceBuffer<T>::from(x)),
        y(1),
        workspace(elements) {}

  static std::vector<T> heads_or_tails(std::size_t elements) {
    std::vector<T> values = course::position_values<T>(elements);
    for (T& value : values) value = value > T(1) ? T(1) : T(0);
    return values;
  }
  std::size_t n() const { return x.size(); }
  const T* in() const { return d_x.data(); }
  T* out() { return y.data(); }
  /// No rung needs *d_y to hold anything: each sets it, and the time of that is part of its time.
  void poison() { y.fill_bytes(0xFF); }
  double result() const { return static_cast<double>(y.front()); }

  std::vector<T> x;
  course::DeviceBuffer<T> d_x, y;
  Workspace<T> workspace;
};

/// A rung whose launch leaves the sum in *d_y.
template <class T, class Launch>
course::Rung sum_rung(const char* name, const char* changed, Sum<T>& sum, const Launch& launch) {
  return {.name = name,
          .changed = changed,
          .reset = [&sum] { sum.poison(); },
          .launch = launch,
          .result = [&sum] { return sum.result(); },
          .bytes = sum.d_x.bytes()};
}

template <class T>
course::Rung last_block_rung(Sum<T>& sum) {
  return sum_rung("sum_last_block", "the last block adds up: one launch, nothing to zero", sum,
                  [&] { sum_last_block(sum.in(), sum.n(), sum.out(), sum.workspace, nullptr); });
}

#if !COURSE_CPU_DEVICE
template <class T>
course::Rung cub_rung(Sum<T>& sum) {
  return sum_rung("cub::DeviceReduce::Sum", "CUB", sum, cub_sum(sum.in(), sum.n(), sum.out()));
}
#endif

template <class T>
std::string type_name() {
  return sizeof(T) == sizeof(float) ? "float" : "double";
}

template <class T>
void reference(course::Ladder& ladder, const Sum<T>& sum, const std::string& more = "") {
  ladder.reference("sum_reference", sum_reference(sum.x),
                   type_name<T>() + more + "; one CPU thread, in double", sum.n());
}

template <class T>
void sums(course::Ladder& ladder, std::size_t n) {
  Sum<T> sum(n);
  T on_host = T(0);
  reference(ladder, sum);
  course::Rung host = sum_rung("sum_on_host", "a tree a block; the host adds the blocks' sums", sum,
                               [&] { on_host = sum_on_host(sum.in(), n, sum.workspace, nullptr); });
  host.result = [&] { return static_cast<double>(on_host); };
  ladder.rung(host);
  ladder.rung(sum_rung("sum_shared_tree", "one atomicAdd a block adds them", sum,
                       [&] { sum_shared_tree(sum.in(), n, sum.out(), nullptr); }));
  ladder.rung(sum_rung("sum_dynamic_tree", "shared memory sized by the launch", sum,
                       [&] { sum_dynamic_tree(sum.in(), n, sum.out(), nullptr); }));
  ladder.rung(sum_rung("sum_grid_stride", "a thread adds many elements before the tree", sum,
                       [&] { sum_grid_stride(sum.in(), n, sum.out(), nullptr); }));
  ladder.rung(sum_rung("sum_loads_in_flight", "8 loads a thread before its first addition", sum,
                       [&] { sum_loads_in_flight(sum.in(), n, sum.out(), nullptr); }));
  ladder.rung(sum_rung("sum_two_kernels", "a second kernel adds up: no atomics", sum,
                       [&] { sum_two_kernels(sum.in(), n, sum.out(), sum.workspace, nullptr); }));
  ladder.rung(last_block_rung(sum));
#if !COURSE_CPU_DEVICE
  ladder.vendor(cub_rung(sum));
#endif
}

/// The two fastest once more, on input that the launch before left in the L2 cache.
void warm_sums(course::Ladder& ladder, std::size_t n) {
  Sum<float> sum(n);
  reference(ladder, sum, ", x in the L2 cache");
  course::Rung rung = last_block_rung(sum);
  rung.l2 = course::L2::warm;
  ladder.rung(rung);
#if !COURSE_CPU_DEVICE
  course::Rung cub = cub_rung(sum);
  cub.l2 = course::L2::warm;
  ladder.vendor(cub);
#endif
}

void wrong_sums(course::Ladder& ladder, std::size_t n) {
  Sum<float> sum(n);
  const auto poison = [&] { sum.poison(); };
  const auto result = [&] { return sum.result(); };
  reference(ladder, sum, ", wrong on purpose");
  if (n >= kEnoughToRace) {
    ladder.wrong({.name = "sum_plus_equals",
                  .changed = "thread 0 of every block: d_y[0] += s_y[0]",
                  .expect = course::Expect::race_and_wrong_value,
                  .because = "another block stores between this block's load and its store",
                  .reset = poison,
                  .launch = [&] { sum_plus_equals(sum.in(), n, sum.out(), nullptr); },
                  .result = result,
                  .n = n});
  }
  ladder.wrong({.name = "sum_without_barriers",
                .changed = "the tree without its __syncthreads()",
                .expect = course::Expect::race,
                .because = "a warp may read what another warp has not added up yet",
                .reset = poison,
                .launch = [&] { sum_without_barriers(sum.in(), n, sum.out(), nullptr); },
                .result = result,
                .n = n});
  if (n >= 2 * kBlockSize) {
    ladder.wrong({.name = "sum_scope_too_small",
                  .changed = "atomicAdd_block on an address that all blocks share",
                  .expect = course::Expect::race,
                  .because = "_block promises nothing between blocks",
                  .reset = poison,
                  .launch = [&] { sum_scope_too_small(sum.in(), n, sum.out(), nullptr); },
                  .result = result,
                  .n = n});
  }
  if (sum_of_odd_blocks(sum.x) != sum_reference(sum.x)) {
    ladder.wrong(
        {.name = "sum_dynamic_tree_192",
         .changed = "the tree with blocks of 192 threads",
         .expect = course::Expect::wrong_value,
         .because = "192 halves to 3, and of 3 the tree adds 2: a third is lost",
         .reset = poison,
         .launch = [&] { sum_dynamic_tree(sum.in(), n, sum.out(), nullptr, kOddBlockSize); },
         .result = result,
         .exactly = sum_of_odd_blocks(sum.x),
         .n = n});
  }
}

void block_scope(course::Ladder& ladder, std::size_t n) {
  Sum<float> sum(n);
  reference(ladder, sum, ", tree or atomics inside a block");
  ladder.rung(sum_rung("sum_block_atomic", "atomicAdd_block on one shared number a block", sum,
                       [&] { sum_block_atomic(sum.in(), n, sum.out(), nullptr); }));
  ladder.rung(sum_rung("sum_shared_tree", "the tree instead", sum,
                       [&] { sum_shared_tree(sum.in(), n, sum.out(), nullptr); }));
}

/// 1.23 a hundred million times: with the `if`, and without.
template <class T>
void forgotten_if(course::Ladder& ladder) {
  const Experiment<T> e = course::skip_large() ? kExperimentShort<T> : kExperimentFull<T>;
  const std::size_t n = std::size_t{e.blocks} * kExperimentBlock;
  course::DeviceBuffer<T> y(1);
  const auto reset = [&] { y.upload({e.start}); };
  const auto result = [&] { return static_cast<double>(y.front()); };
  const double right = add_block_sums_reference(e);
  std::string how = type_name<T>() + "; 1.23 " + std::to_string(n) + " times";
  if (e.start > T(0)) how += ", starting at " + std::to_string(static_cast<long long>(e.start));
  ladder.reference("add_block_sums_reference", right, how, n);

  const auto with_if = [&] { add_equal_values<T, false>(e, y.data(), nullptr); };
  const auto without_if = [&] { add_equal_values<T, true>(e, y.data(), nullptr); };
  const auto with_if_gives = static_cast<double>(add_block_sums(e, 1));
  constexpr double kTolerance = 1e-8;  // relative; of double's roundings
  if (std::abs(with_if_gives - right) > kTolerance * right) {
    ladder.wrong({.name = "add_with_if",
                  .changed = "one atomicAdd a block of 128",
                  .expect = course::Expect::wrong_value,
                  .because = "every addition is rounded: float has 24 bits",
                  .reset = reset,
                  .launch = with_if,
                  .result = result,
                  .exactly = with_if_gives,
                  .n = n});
  } else {
    ladder.rung({.name = "add_with_if",
                 .changed = "one atomicAdd a block of 128",
                 .reset = reset,
                 .launch = with_if,
                 .result = result,
                 .tolerance = kTolerance * right});
  }
  const bool stagnates = sizeof(T) == sizeof(float);
  ladder.wrong({.name = "add_without_if",
                .changed = "the `if (threadIdx.x == 0)` forgotten: 128 atomicAdds a block",
                .expect = course::Expect::wrong_value,
                .because = stagnates ? "each block counts 128 times, until the sum stands still at "
                                       "2^32: floats are 512 apart there"
                                     : "each block counts 128 times",
                .reset = reset,
                .launch = without_if,
                .result = result,
                .exactly = static_cast<double>(add_block_sums(e, kExperimentBlock)),
                .n = n});
}

void histogram(course::Ladder& ladder, const std::vector<unsigned char>& bytes,
               const std::string& kind) {
  const std::size_t n = bytes.size();
  const auto d_bytes = course::DeviceBuffer<unsigned char>::from(bytes);
  course::DeviceBuffer<unsigned> bins(kBins);
  const std::vector<unsigned> expected = histogram_reference(bytes);
  const auto commonest = std::max_element(expected.begin(), expected.end());
  const auto place = static_cast<std::size_t>(commonest - expected.begin());
  const auto rung = [&](const char* name, const char* changed, std::function<void()> launch) {
    return course::Rung{.name = name,
                        .changed = changed,
                        .reset = [&] { bins.fill_bytes(0x5A); },
                        .launch = std::move(launch),
                        // The row shows one bin, and all are checked.
                        .result = [&] { return static_cast<double>(bins.download()[place]); },
                        .check = [&] { return course::same(bins.download(), expected, "bins"); },
                        .bytes = n,
                        .n = n};
  };
  ladder.reference("histogram_reference", *commonest,
                   kind + "; the commonest byte, " + std::to_string(place), n);
  ladder.rung(rung("histogram_global", "256 bins for all blocks",
                   [&] { histogram_global(d_bytes.data(), n, bins.data(), nullptr); }));
  ladder.rung(rung("histogram_shared", "256 bins for each block, in shared memory",
                   [&] { histogram_shared(d_bytes.data(), n, bins.data(), nullptr); }));
  ladder.rung(rung("histogram_copies", "256 bins for each lane of a block's warps",
                   [&] { histogram_copies(d_bytes.data(), n, bins.data(), nullptr); }));
  ladder.rung(rung("histogram_words", "four bytes a load, four loads in flight",
                   [&] { histogram_words(d_bytes.data(), n, bins.data(), nullptr); }));
#if !COURSE_CPU_DEVICE
  ladder.vendor(rung("cub::DeviceHistogram::HistogramEven", "CUB",
                     cub_histogram(d_bytes.data(), n, bins.data())));
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
    for (const std::size_t n : rungs.sizes({kSmall})) wrong_sums(rungs, n);
    for (const std::size_t n : rungs.sizes({kSmall})) block_scope(rungs, n);
    forgotten_if<float>(rungs);
    forgotten_if<double>(rungs);
    for (const std::size_t n : rungs.sizes({kLarge})) {
      histogram(rungs, text_like_bytes(n), "text-like");
      histogram(rungs, std::vector<unsigned char>(n, 'e'), "all bytes equal");
    }
  });
}
