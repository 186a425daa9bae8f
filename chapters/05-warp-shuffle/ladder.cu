// Runs the rungs of chapter 05: sums by warps, of many sizes and types, and prefix sums.
#include <cuda_fp16.h>

#include <array>
#include <course/buffer.cuh>
#include <course/ladder.cuh>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "block_reduce.cuh"
#include "compute_type.cuh"
#include "finish.cuh"
#include "loads_in_flight.cuh"
#include "pack_reduce.cuh"
#include "prefix_sum.cuh"
#include "warp_reduce.cuh"
#include "wrong.cuh"
#if !COURSE_CPU_DEVICE
#include "vendor.cuh"
#endif

namespace {

constexpr std::size_t k2To20 = std::size_t{1} << 20, k2To24 = std::size_t{1} << 24,
                      k2To28 = std::size_t{1} << 28;

/// Below this, what is wrong on purpose may come out right.
constexpr std::size_t kEnoughToBeWrong = 1024;

/// n values k/8 (integers: k), k from -7 to 7, in an order without a pattern. Partial sums stay
/// near 0, below 2^21, in whatever order the rungs of this chapter add; so float sums of 2^28 of
/// them are exact, and one lost element shows.
template <class T>
std::vector<T> balanced_values(std::size_t n) {
  std::array<T, 15> table;
  for (int k = -7; k <= 7; ++k) {
    const float value = std::is_integral_v<T> ? static_cast<float>(k) : static_cast<float>(k) / 8;
    table[static_cast<std::size_t>(k + 7)] = static_cast<T>(value);
  }
  std::vector<T> x(n);
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint64_t mixed = (i + 1) * 0x9E37'79B9'7F4A'7C15u;
    x[i] = table[((mixed ^ mixed >> 29) * 0xBF58'476D'1CE4'E5B9u >> 40) % 15];
  }
  return x;
}

/// x on the device, and the places that rungs write to.
template <class T, class Accumulator = course::ComputeType<T>>
struct Sums {
  explicit Sums(std::size_t size)
      : x(balanced_values<T>(size)), d_x(course::DeviceBuffer<T>::from(x)), expected(0) {
    expected = sum_reference(x);
    x = {};  // of 2^28 elements one copy is enough
    n = size;
  }
  /// A rung that adds to *d_y, which is zeroed outside the timed region.
  template <class Launch>
  course::Rung adder(const std::string& name, const std::string& changed, Launch launch,
                     course::L2 l2 = course::L2::cold) {
    course::Rung rung = setter(name, changed, launch, l2);
    rung.reset = [this] { d_y.fill_bytes(0); };
    return rung;
  }
  /// A rung that sets *d_y. It is poisoned before, and a NaN would stay.
  template <class Launch>
  course::Rung setter(const std::string& name, const std::string& changed, Launch launch,
                      course::L2 l2 = course::L2::cold) {
    return {.name = name,
            .changed = changed,
            .reset = [this] { d_y.fill_bytes(0xFF); },
            .launch = launch,
            .result = [this] { return static_cast<double>(d_y.front()); },
            .bytes = n * sizeof(T),
            .l2 = l2};
  }
  /// The rung that says itself where its sum stands, and zeroes the next one.
  course::Rung two_cells(const std::string& changed, course::L2 l2 = course::L2::cold) {
    course::Rung rung = setter(
        "sum_two_cells", changed, [this] { cell = sum_two_cells(data(), n, cells, nullptr); }, l2);
    rung.reset = {};
    rung.result = [this] {
      Accumulator sum;
      CUDA_CHECK(cudaMemcpy(&sum, cell, sizeof sum, cudaMemcpyDeviceToHost));
      return static_cast<double>(sum);
    };
    return rung;
  }
  const T* data() const { return d_x.data(); }

  std::vector<T> x;
  course::DeviceBuffer<T> d_x;
  course::DeviceBuffer<Accumulator> d_y{1};
  Workspace<Accumulator> workspace;
  TwoCells<Accumulator> cells;
  const Accumulator* cell = nullptr;  // where the last sum stands
  double expected;
  std::size_t n = 0;
};

void sum(course::Ladder& ladder, std::size_t n) {
  Sums<float> s(n);
  float* const y = s.d_y.data();
  ladder.reference("sum_reference", s.expected, "one CPU thread, in double", n);
  ladder.rung(s.adder("sum_syncwarp_tree", "a tree in shared memory, its tail in one warp",
                      [&] { sum_syncwarp_tree(s.data(), n, y, nullptr); }));
  ladder.rung(s.adder("sum_shuffle_down", "__shfl_down_sync, an atomic a warp",
                      [&] { sum_shuffle_down(s.data(), n, y, nullptr); }));
  ladder.rung(s.adder("sum_shuffle_xor", "__shfl_xor_sync: every lane has it",
                      [&] { sum_shuffle_xor(s.data(), n, y, nullptr); }));
  ladder.rung(s.adder("sum_cooperative_groups", "cg::reduce on a tile of 32",
                      [&] { sum_cooperative_groups(s.data(), n, y, nullptr); }));
  ladder.rung(s.adder("sum_two_warp_reduces", "two warp reductions, an atomic a block",
                      [&] { sum_two_warp_reduces(s.data(), n, y, nullptr); }));
  ladder.rung(s.adder("sum_grid_stride", "as many blocks as run at once",
                      [&] { sum_grid_stride(s.data(), n, y, nullptr); }));
  ladder.rung(s.adder("sum_pack", "16 bytes a load", [&] { sum_pack(s.data(), n, y, nullptr); }));
  ladder.rung(s.adder("sum_loads_in_flight", "several loads before the first addition",
                      [&] { sum_loads_in_flight(s.data(), n, y, nullptr); }));
  ladder.rung(s.setter("sum_loads_and_memset", "the same, and its zeroing is timed, too",
                       [&] { sum_loads_and_memset(s.data(), n, y, nullptr); }));
  ladder.rung(s.setter("sum_second_kernel", "no atomics: a second kernel adds up the blocks",
                       [&] { sum_second_kernel(s.data(), n, y, s.workspace, nullptr); }));
  ladder.rung(s.setter("sum_pack_loads", "the last block does it: one launch, nothing to zero",
                       [&] { sum_pack_loads(s.data(), n, y, s.workspace, nullptr); }));
  ladder.rung(s.two_cells("atomics on a cell that the launch before has zeroed"));
#if !COURSE_CPU_DEVICE
  ladder.vendor(s.setter("cub::DeviceReduce::Sum", "CUB", cub_sum(s.data(), n, y)));
  float on_the_host = 0.0f;
  course::Rung thrust = s.setter("thrust::reduce", "Thrust; brings the sum to the host",
                                 thrust_sum(s.data(), n, &on_the_host));
  thrust.result = [&] { return static_cast<double>(on_the_host); };
  ladder.vendor(thrust);
#endif
}

/// On the CPU device there is no cache, and nothing to see.
void sum_warm(course::Ladder& ladder, std::size_t n) {
  Sums<float> s(n);
  float* const y = s.d_y.data();
  ladder.reference("sum_reference", s.expected, "one CPU thread, in double; L2 warm", n);
  ladder.rung(s.adder(
      "sum_grid_stride", "as many blocks as run at once",
      [&] { sum_grid_stride(s.data(), n, y, nullptr); }, course::L2::warm));
  ladder.rung(s.adder(
      "sum_pack", "16 bytes a load", [&] { sum_pack(s.data(), n, y, nullptr); }, course::L2::warm));
  ladder.rung(s.setter(
      "sum_pack_loads", "several loads in flight, finished by the last block",
      [&] { sum_pack_loads(s.data(), n, y, s.workspace, nullptr); }, course::L2::warm));
  ladder.rung(s.two_cells("atomics on a cell that the launch before has zeroed", course::L2::warm));
#if !COURSE_CPU_DEVICE
  ladder.vendor(
      s.setter("cub::DeviceReduce::Sum", "CUB", cub_sum(s.data(), n, y), course::L2::warm));
#endif
}

void sum_of_ints(course::Ladder& ladder, std::size_t n) {
  Sums<int> s(n);
  int* const y = s.d_y.data();
  ladder.reference("sum_reference", s.expected, "of int: exact", n);
  ladder.rung(s.adder("sum_reduce_add_sync", "__reduce_add_sync, an atomic a warp",
                      [&] { sum_reduce_add_sync(s.data(), n, y, nullptr); }));
  ladder.rung(s.setter("sum_pack_loads", "of int",
                       [&] { sum_pack_loads(s.data(), n, y, s.workspace, nullptr); }));
  ladder.rung(s.two_cells("of int"));
#if !COURSE_CPU_DEVICE
  ladder.vendor(s.setter("cub::DeviceReduce::Sum", "CUB", cub_sum(s.data(), n, y)));
#endif
}

void sum_of_doubles(course::Ladder& ladder, std::size_t n) {
  Sums<double> s(n);
  double* const y = s.d_y.data();
  ladder.reference("sum_reference", s.expected, "of double", n);
  ladder.rung(s.setter("sum_pack_loads", "of double",
                       [&] { sum_pack_loads(s.data(), n, y, s.workspace, nullptr); }));
  ladder.rung(s.two_cells("of double"));
#if !COURSE_CPU_DEVICE
  ladder.vendor(s.setter("cub::DeviceReduce::Sum", "CUB", cub_sum(s.data(), n, y)));
#endif
}

void sum_of_halves(course::Ladder& ladder, std::size_t n) {
  Sums<__half> s(n);
  float* const y = s.d_y.data();
  ladder.reference("sum_reference", s.expected, "of half, in double", n);
  ladder.rung(s.setter("sum_pack_loads", "of half, added up in float",
                       [&] { sum_pack_loads(s.data(), n, y, s.workspace, nullptr); }));
  ladder.rung(s.two_cells("of half, added up in float"));
#if !COURSE_CPU_DEVICE
  ladder.vendor(s.setter("cub::DeviceReduce::TransformReduce", "CUB, in float",
                         cub_sum_as_float(s.data(), n, y)));
#endif
}

void floor_of_all(course::Ladder& ladder) {
  ladder.reference("floor", 0, "what no launch gets below", 1);
  ladder.rung({.name = "no_work",
               .changed = "an empty kernel",
               .launch = [] { no_work(nullptr); },
               .check = [] { return course::Verdict{}; }});
}

/// 4096 ones, then 64 times 1024, by one thread.
void compute_type(course::Ladder& ladder) {
  const auto ones = course::DeviceBuffer<__half>::from(std::vector<__half>(4096, __half(1.0f)));
  const auto large = course::DeviceBuffer<__half>::from(std::vector<__half>(64, __half(1024.0f)));
  course::DeviceBuffer<float> d_y(1);
  const auto result = [&] { return static_cast<double>(d_y.front()); };
  ladder.reference("4096 ones", 4096, "halves", 4096);
  ladder.wrong({.name = "sum_in_order<__half>",
                .changed = "one thread adds them up in half",
                .expect = course::Expect::wrong_value,
                .because = "from 2048 on halves are 2 apart, and adding 1 is rounded away",
                .launch = [&] { sum_in_order<__half>(ones.data(), 4096, d_y.data(), nullptr); },
                .result = result,
                .exactly = kHalfStagnatesAt});
  ladder.rung({.name = "sum_in_order<float>",
               .changed = "one thread adds them up in float",
               .launch = [&] { sum_in_order<float>(ones.data(), 4096, d_y.data(), nullptr); },
               .result = result});
  ladder.reference("64 times 1024", 65536, "halves", 64);
  ladder.rung({.name = "sum_in_order<float>",
               .changed = "in float; in half it is infinite, the largest half is 65504",
               .launch = [&] { sum_in_order<float>(large.data(), 64, d_y.data(), nullptr); },
               .result = result});
}

void wrong_on_purpose(course::Ladder& ladder) {
  const std::size_t n = std::min(ladder.n(), k2To20);
  if (n < kEnoughToBeWrong) return;
  const std::vector<float> x = balanced_values<float>(n);
  const auto d_x = course::DeviceBuffer<float>::from(x);
  course::DeviceBuffer<float> d_y(2);
  const auto reset = [&] { d_y.fill_bytes(0); };
  const auto result = [&] { return static_cast<double>(d_y.front()); };
  ladder.reference("sum_reference", sum_reference(x), "one CPU thread, in double", n);
  ladder.wrong({.name = "sum_tail_without_syncwarp",
                .changed = "the tree's tail without __syncwarp()",
                .expect = course::Expect::race,
                .because = "lanes of a warp need not run in step; right values are luck",
                .reset = reset,
                .launch = [&] { sum_tail_without_syncwarp(d_x.data(), n, d_y.data(), nullptr); },
                .result = result});
  ladder.wrong({.name = "sum_down_by_lane_1",
                .changed = "the result of __shfl_down_sync, read in lane 1",
                .expect = course::Expect::wrong_value,
                .because = "lanes behind the end get their own value back: only lane 0 is right",
                .reset = reset,
                .launch = [&] { sum_down_by_lane_1(d_x.data(), n, d_y.data(), nullptr); },
                .result = result});
  ladder.wrong({.name = "sums_without_second_barrier",
                .changed = "two block reductions in a row, one barrier each",
                .expect = course::Expect::race,
                .because = "the second one overwrites what slow warps still read",
                .reset = reset,
                .launch = [&] { sums_without_second_barrier(d_x.data(), n, d_y.data(), nullptr); },
                .result = result});
}

void prefix_sums(course::Ladder& ladder) {
  const std::size_t n = ladder.n(), blocks = blocks_for(n);
  const std::vector<float> x = balanced_values<float>(n);
  const auto d_x = course::DeviceBuffer<float>::from(x);
  std::vector<float> warp_sums(n), before(n), totals(blocks, 0.0f);
  for (std::size_t i = 0; i < n; ++i) {
    warp_sums[i] = x[i] + (i % 32 == 0 ? 0.0f : warp_sums[i - 1]);
    before[i] = totals[i / kBlockSize];
    totals[i / kBlockSize] += x[i];
  }
  course::DeviceBuffer<float> d_sums(n), d_totals(blocks);
  const auto result = [&] {  // the row shows one element, and all are checked
    return n == 0 ? 0.0 : static_cast<double>(d_sums.download()[n - 1]);
  };
  const auto reset = [&] {
    d_sums.fill_bytes(0xFF);
    d_totals.fill_bytes(0xFF);
  };
  const auto check = [&] {
    const course::Verdict verdict = course::same(d_sums.download(), before, "before");
    return verdict ? course::same(d_totals.download(), totals, "totals") : verdict;
  };
  ladder.reference("prefix sums", n == 0 ? 0.0 : static_cast<double>(warp_sums[n - 1]),
                   "of 32 elements each; the last one is shown", n);
  ladder.rung({.name = "prefix_sum_warp",
               .changed = "__shfl_up_sync",
               .reset = reset,
               .launch = [&] { prefix_sum_warp(d_x.data(), n, d_sums.data(), nullptr); },
               .result = result,
               .check = [&] { return course::same(d_sums.download(), warp_sums, "sums"); },
               .bytes = 2 * d_x.bytes()});
  ladder.reference("prefix sums", n == 0 ? 0.0 : static_cast<double>(before[n - 1]),
                   "of 256 elements each, without the own one; the last one is shown", n);
  ladder.rung(
      {.name = "prefix_sum_block",
       .changed = "and a prefix sum of the warps' totals",
       .reset = reset,
       .launch = [&] { prefix_sum_block(d_x.data(), n, d_sums.data(), d_totals.data(), nullptr); },
       .result = result,
       .check = check,
       .bytes = 2 * d_x.bytes()});
  ladder.rung({.name = "prefix_block<Sum>",
               .changed = "the same for any operation",
               .reset = reset,
               .launch =
                   [&] {
                     prefix_block<course::Sum>(d_x.data(), n, d_sums.data(), d_totals.data(),
                                               nullptr);
                   },
               .result = result,
               .check = check,
               .bytes = 2 * d_x.bytes()});
}

}  // namespace

int main(int argc, char** argv) {
  course::Ladder ladder("05-warp-shuffle", argc, argv, {.cpu_n = std::size_t{1} << 14});
  return ladder.run([](course::Ladder& rungs) {
    for (const std::size_t n : rungs.sizes({k2To20, k2To24, k2To28})) sum(rungs, n);
    if (!course::kCpuDevice) {
      for (const std::size_t n : rungs.sizes({k2To20, k2To24})) sum_warm(rungs, n);
    }
    for (const std::size_t n : rungs.sizes({k2To28})) sum_of_ints(rungs, n);
    for (const std::size_t n : rungs.sizes({k2To28})) sum_of_doubles(rungs, n);
    for (const std::size_t n : rungs.sizes({k2To28})) sum_of_halves(rungs, n);
    floor_of_all(rungs);
    compute_type(rungs);
    prefix_sums(rungs);
    wrong_on_purpose(rungs);
  });
}
