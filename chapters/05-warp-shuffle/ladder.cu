// Runs the rungs of chapter 05: sums by warps, of many sizes and types, and prefix sums.
#include <cuda_fp16.h>

#include <algorithm>
#include <array>
#include <course/buffer.cuh>
#include <course/ladder.cuh>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "rungs.cuh"
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

/// x on the device, and what the rungs that sum it write to.
template <class T, class Accumulator = course::ComputeType<T>>
struct Sums {
  explicit Sums(std::size_t size)
      : x(balanced_values<T>(size)), d_x(course::DeviceBuffer<T>::from(x)), n(size) {
    expected = sum_reference(x);
    x = {};  // of 2^28 elements one copy is enough
  }
  course::Rung rung(const SumRung<T, Accumulator>& rung, course::L2 l2 = course::L2::cold) {
    course::Rung row = setter(
        {.name = rung.name,
         .changed = l2 == course::L2::warm ? rung.warm : rung.changed,
         .launch = [this, launch = rung.launch] { d_sum = launch(data(), n, d_y.data(), memory); }},
        l2);
    if (rung.finish == Finish::adds) row.reset = [this] { d_y.fill_bytes(0); };
    if (rung.finish == Finish::two_cells) row.reset = {};  // the launch before has zeroed its cell
    return row;
  }
  /// Whoever sets *d_y. It is poisoned before: NaN plus anything is NaN.
  course::Rung setter(course::Rung row, course::L2 l2 = course::L2::cold) {
    row.reset = [this] { d_y.fill_bytes(0xFF); };
    row.result = [this] {
      Accumulator sum;
      CUDA_CHECK(cudaMemcpy(&sum, d_sum, sizeof sum, cudaMemcpyDeviceToHost));
      return static_cast<double>(sum);
    };
    row.bytes = n * sizeof(T);
    row.l2 = l2;
    return row;
  }
  const T* data() const { return d_x.data(); }

  std::vector<T> x;
  course::DeviceBuffer<T> d_x;
  course::DeviceBuffer<Accumulator> d_y{1};
  SumMemory<Accumulator> memory;
  const Accumulator* d_sum = nullptr;  // the last sum
  double expected = 0;
  std::size_t n;
};

#if !COURSE_CPU_DEVICE
template <class T>
void vendors(course::Ladder& ladder, Sums<T>& s, course::L2 l2 = course::L2::cold) {
  auto* const y = s.d_y.data();
  s.d_sum = y;
  if constexpr (std::is_same_v<T, __half>) {
    ladder.vendor(s.setter(cub_sum_as_float(s.data(), s.n, y), l2));
  } else {
    ladder.vendor(s.setter(cub_sum(s.data(), s.n, y), l2));
  }
  if constexpr (std::is_same_v<T, float>) {
    if (l2 == course::L2::warm) return;
    float on_the_host = 0.0f;
    course::Rung thrust = s.setter(thrust_sum(s.data(), s.n, &on_the_host));
    thrust.result = [&] { return static_cast<double>(on_the_host); };
    ladder.vendor(thrust);
  }
}
#endif

template <class T>
void sum(course::Ladder& ladder, const std::string& how, std::size_t n) {
  Sums<T> s(n);
  ladder.reference("sum_reference", s.expected, how, n);
  for (const SumRung<T>& rung : sum_rungs<T>()) ladder.rung(s.rung(rung));
#if !COURSE_CPU_DEVICE
  vendors(ladder, s);
#endif
}

/// On the CPU device there is no cache, and nothing to see.
void sum_warm(course::Ladder& ladder, std::size_t n) {
  Sums<float> s(n);
  ladder.reference("sum_reference", s.expected, "one CPU thread, in double; L2 warm", n);
  for (const SumRung<float>& rung : sum_rungs<float>()) {
    if (!rung.warm.empty()) ladder.rung(s.rung(rung, course::L2::warm));
  }
#if !COURSE_CPU_DEVICE
  vendors(ladder, s, course::L2::warm);
#endif
}

/// Three ways to finish in one launch: which of them give the same bits in every run?
void same_bits(course::Ladder& ladder, std::size_t n) {
  Sums<float> s(n);
  ladder.reference("sum_reference", s.expected, "one CPU thread, in double; the same bits?", n);
  course::Rung two_cells = s.rung(course::rung_named(sum_rungs<float>(), "sum_two_cells"));
  two_cells.changed = "float atomics: other bits in another run";
  ladder.rung(two_cells);
  course::Rung last_block = s.rung(course::rung_named(sum_rungs<float>(), "sum_pack_loads"));
  last_block.changed = "a fixed order: the same bits for the same grid";
  ladder.rung(last_block);
  TwoCells<unsigned long long> cells;
  const unsigned long long* d_sum = nullptr;
  for (const FixedPointRung& rung : kFixedPointRungs) {
    ladder.rung({.name = rung.name,
                 .changed = rung.changed,
                 .launch = [&] { d_sum = rung.launch(s.data(), n, cells); },
                 .result = [&] { return fixed_point_sum(d_sum); },
                 .bytes = n * sizeof(float)});
  }
}

void floor_of_all(course::Ladder& ladder) {
  ladder.reference("floor", 0, "the least time of a launch", 1);
  for (const FloorRung& rung : kFloorRungs) {
    ladder.rung({.name = rung.name, .changed = rung.changed, .launch = rung.launch, .check = [] {
                   return course::Verdict{};
                 }});
  }
}

/// 4096 ones, then 64 times 1024, by one thread.
void compute_type(course::Ladder& ladder) {
  std::string group;
  for (const ComputeTypeRung& rung : kComputeTypeRungs) {
    const auto d_x = course::DeviceBuffer<__half>::from(rung.values());
    course::DeviceBuffer<float> d_y(1);
    const auto launch = [&] { rung.launch(d_x.data(), rung.count, d_y.data()); };
    const auto result = [&] { return static_cast<double>(d_y.front()); };
    const std::string sum = rung.value == 1.0f ? "4096 ones" : "64 times 1024";
    if (group != sum) ladder.reference(sum, rung.right(), "halves", rung.count);
    group = sum;
    if (rung.because.empty()) {
      ladder.rung({.name = rung.name, .changed = rung.changed, .launch = launch, .result = result});
    } else {
      ladder.wrong({.name = rung.name,
                    .changed = rung.changed,
                    .expect = course::Expect::wrong_value,
                    .because = rung.because,
                    .launch = launch,
                    .result = result,
                    .exactly = rung.sum});
    }
  }
}

void wrong_on_purpose(course::Ladder& ladder) {
  const std::size_t n = std::min(ladder.n(), k2To20);
  if (n < kEnoughToBeWrong) return;
  const std::vector<float> x = balanced_values<float>(n);
  const auto d_x = course::DeviceBuffer<float>::from(x);
  course::DeviceBuffer<float> d_y(2);
  ladder.reference("sum_reference", sum_reference(x), "one CPU thread, in double", n);
  for (const WrongSum& rung : kWrongSums) {
    ladder.wrong({.name = rung.name,
                  .changed = rung.changed,
                  .expect = rung.expect,
                  .because = rung.because,
                  .reset = [&] { d_y.fill_bytes(0); },
                  .launch = [&] { rung.launch(d_x.data(), n, d_y.data()); },
                  .result = [&] { return static_cast<double>(d_y.front()); }});
  }
}

void prefix_sums(course::Ladder& ladder) {
  const std::size_t n = ladder.n();
  const std::vector<float> x = balanced_values<float>(n);
  const PrefixSums warps = prefix_reference(x, course::kWarpSize);
  const PrefixSums blocks = prefix_reference(x, kBlockSize);
  const auto d_x = course::DeviceBuffer<float>::from(x);
  course::DeviceBuffer<float> d_sums(n), d_totals(blocks_for(n));
  const auto begin_group = [&](const std::vector<float>& sums, const char* how) {
    ladder.reference("prefix sums", n == 0 ? 0.0 : static_cast<double>(sums.back()), how, n);
  };
  bool of_warps = false;
  for (const PrefixRung& rung : kPrefixRungs) {
    if (rung.of_warps) {
      begin_group(warps.inclusive, "of 32 elements each; the last one is shown");
    } else if (of_warps) {
      begin_group(blocks.before,
                  "of 256 elements each, without the own one; the last one is shown");
    }
    of_warps = rung.of_warps;
    ladder.rung({.name = rung.name,
                 .changed = rung.changed,
                 .reset =
                     [&] {
                       d_sums.fill_bytes(0xFF);
                       d_totals.fill_bytes(0xFF);
                     },
                 .launch = [&] { rung.launch(d_x.data(), n, d_sums.data(), d_totals.data()); },
                 .result =
                     [&] {  // the row shows one element, and all are checked
                       return n == 0 ? 0.0 : static_cast<double>(d_sums.download()[n - 1]);
                     },
                 .check =
                     [&] {
                       if (rung.of_warps) {
                         return course::same(d_sums.download(), warps.inclusive, "sums");
                       }
                       const auto verdict =
                           course::same(d_sums.download(), blocks.before, "before");
                       return verdict ? course::same(d_totals.download(), blocks.totals, "totals")
                                      : verdict;
                     },
                 .bytes = 2 * d_x.bytes()});
  }
}

}  // namespace

int main(int argc, char** argv) {
  course::Ladder ladder("05-warp-shuffle", argc, argv,
                        {.cpu_n = std::size_t{1} << 14, .since = {{"sum_reduce_add_sync", 80}}});
  return ladder.run([](course::Ladder& rungs) {
    for (const std::size_t n : rungs.sizes({k2To20, k2To24, k2To28})) {
      sum<float>(rungs, "one CPU thread, in double", n);
    }
    if (!course::kCpuDevice) {
      for (const std::size_t n : rungs.sizes({k2To20, k2To24})) sum_warm(rungs, n);
    }
    for (const std::size_t n : rungs.sizes({k2To24, k2To28})) same_bits(rungs, n);
    for (const std::size_t n : rungs.sizes({k2To28})) sum<int>(rungs, "of int: exact", n);
    for (const std::size_t n : rungs.sizes({k2To28})) sum<double>(rungs, "of double", n);
    for (const std::size_t n : rungs.sizes({k2To28})) sum<__half>(rungs, "of half, in double", n);
    floor_of_all(rungs);
    compute_type(rungs);
    prefix_sums(rungs);
    wrong_on_purpose(rungs);
  });
}
