// Runs the rungs of chapter 06: dot products of halves, in half and in float.
#include <cuda_fp16.h>

#include <cmath>
#include <course/buffer.cuh>
#include <course/host_memory.cuh>
#include <course/ladder.cuh>
#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

#include "dot_float.cuh"
#include "dot_half.cuh"
#include "dot_pack.cuh"
#include "inputs.cuh"
#include "pinned.cuh"
#include "prediction.cuh"
#include "read_both.cuh"
#include "wrong.cuh"
#if !COURSE_CPU_DEVICE
#include "vendor.cuh"
#endif

namespace {

/// Two arrays on the device, what their dot product is, and what the rungs make of it. `unit` is
/// what a 1 among the numbers stands for.
struct Arrays {
  Arrays(SmallNumbers numbers_a, SmallNumbers numbers_b, float unit)
      : a(std::move(numbers_a)),
        b(std::move(numbers_b)),
        n(a.size()),
        product_unit(static_cast<double>(unit) * static_cast<double>(unit)),
        expected(static_cast<double>(exact_dot(a, b)) * product_unit),
        d_a(course::DeviceBuffer<__half>::from(to_halves(a, unit))),
        d_b(course::DeviceBuffer<__half>::from(to_halves(b, unit))) {}

  double value() const { return static_cast<double>(d_y.front()); }

  /// A rung that adds to *d_y, which is zeroed outside the timed region.
  template <class Launch>
  course::Rung adder(const std::string& name, const std::string& changed, Launch launch) {
    return {.name = name,
            .changed = changed,
            .reset = [this] { d_y.fill_bytes(0); },
            .launch = launch,
            .result = [this] { return value(); },
            .bytes = d_a.bytes() + d_b.bytes()};
  }
  /// The same for a rung that adds up in half: it has to give what half arithmetic must give, to
  /// the last bit, which is not the right answer.
  template <class Launch>
  course::Rung half_adder(const std::string& name, const std::string& changed, Launch launch,
                          long long predicted) {
    course::Rung rung = adder(name, changed, launch);
    rung.check = [this, predicted] {
      return course::same(value(), static_cast<double>(predicted) * product_unit, "y",
                          "that is what sums of 11 bits come to");
    };
    return rung;
  }
  /// What a lane of halves adds up to, in blocks of 128 threads.
  long long predicted(std::size_t lanes, unsigned blocks) const {
    return predicted_dot(a, b, lanes, blocks);
  }

  SmallNumbers a, b;
  std::size_t n;
  double product_unit, expected;
  course::DeviceBuffer<__half> d_a, d_b;
  course::DeviceBuffer<float> d_y{1};
};

void dot(course::Ladder& ladder, std::size_t n) {
  Arrays x(balanced_numbers(n, 1), balanced_numbers(n, 2), 0.125f);
  const __half* const a = x.d_a.data();
  const __half* const b = x.d_b.data();
  float* const y = x.d_y.data();
  Workspace workspace;
  course::DeviceBuffer<unsigned> d_sink(1);
  const long long by_pairs = x.predicted(2, blocks_for(n / 2));

  ladder.reference("dot_reference", x.expected, "one CPU thread, exact", n);
  ladder.input("a", x.d_a);
  ladder.input("b", x.d_b);
  ladder.rung(x.half_adder(
      "dot_half_scalar", "__hfma on single halves, summed up in half",
      [&] { dot_half_scalar(a, b, n, y, nullptr); }, x.predicted(1, blocks_for(n))));
  ladder.rung(x.half_adder(
      "dot_half2_operators", "* and + on two halves at once",
      [&] { dot_half2_operators(a, b, n, y, nullptr); }, by_pairs));
  ladder.rung(x.half_adder(
      "dot_half2_intrinsics", "__hfma2 and __hadd2: the same instructions",
      [&] { dot_half2_intrinsics(a, b, n, y, nullptr); }, by_pairs));
  ladder.rung(x.adder("dot_half2_products", "__hmul2, summed up in float",
                      [&] { dot_half2_products(a, b, n, y, nullptr); }));
  ladder.rung(
      x.adder("dot_float", "products in float, too", [&] { dot_float(a, b, n, y, nullptr); }));
  course::Rung pack = x.adder("dot_pack", "16 bytes a load, several in flight; nothing to zero",
                              [&] { dot_pack(a, b, n, y, workspace, nullptr); });
  pack.reset = [&] { x.d_y.fill_bytes(0xFF); };  // a NaN, which an addition would keep
  ladder.rung(pack);
  ladder.rung({.name = "read_both",
               .changed = "the same loads, and no dot product: the limit",
               .launch = [&] { read_both(a, b, n, d_sink.data(), nullptr); },
               .check = [] { return course::Verdict{}; },
               .bytes = x.d_a.bytes() + x.d_b.bytes()});
#if COURSE_HAS_CUBLAS
  course::DeviceBuffer<__half> d_half(1);
  ladder.vendor({.name = "cublasDotEx",
                 .changed = "cuBLAS; sums in float, the result is a half",
                 .reset = [&] { d_half.fill_bytes(0xFF); },
                 .launch = cublas_dot(a, b, n, d_half.data()),
                 .result = [&] { return static_cast<double>(__half2float(d_half.front())); },
                 .tolerance = std::fabs(x.expected) * 0x1p-11,  // of the one rounding to half
                 .bytes = x.d_a.bytes() + x.d_b.bytes()});
#endif
}

/// The article's experiment: its numbers, its launch, its index, and the index that it meant.
void article(course::Ladder& ladder) {
  constexpr std::size_t kHalves = 2 * kArticlePairs;
  Arrays x(article_numbers(kHalves, 3), article_numbers(kHalves, 4), 1.0f);
  const __half* const a = x.d_a.data();
  const __half* const b = x.d_b.data();
  float* const y = x.d_y.data();
  const auto wrong = static_cast<double>(predicted_dot<ArticleIndex>(x.a, x.b, 2, kArticleBlocks));
  const auto reset = [&] { x.d_y.fill_bytes(0); };
  const auto result = [&] { return x.value(); };
  const char* const because =
      "it reads 4,080 of 262,144 pairs; two kernels that agree are no proof";

  ladder.reference("dot_reference", x.expected, "the article's numbers, 262,144 half2", kHalves);
  ladder.rung(x.half_adder(
      "dot_half2_intrinsics", "its launch, 128 blocks; its index mended",
      [&] { dot_half2_intrinsics(a, b, kHalves, y, nullptr, kArticleBlocks); },
      x.predicted(2, kArticleBlocks)));
  ladder.wrong({.name = "dot_wrong_index_operators",
                .changed = "threadIdx.x + blockDim.x + blockIdx.x",
                .expect = course::Expect::wrong_value,
                .because = because,
                .reset = reset,
                .launch = [&] { dot_wrong_index_operators(a, b, kArticlePairs, y, nullptr); },
                .result = result,
                .exactly = wrong});
  ladder.wrong({.name = "dot_wrong_index_intrinsics",
                .changed = "the same with intrinsics: it agrees",
                .expect = course::Expect::wrong_value,
                .because = because,
                .reset = reset,
                .launch = [&] { dot_wrong_index_intrinsics(a, b, kArticlePairs, y, nullptr); },
                .result = result,
                .exactly = wrong});
}

/// How long can sums in half be? Ones, so that everybody can count along.
void limits(course::Ladder& ladder) {
  struct Case {
    std::size_t n;
    unsigned block_size;
    const char* what;
    double gives;  // n if half can still do it
    const char* because;
  };
  constexpr Case kCases[] = {
      {4096, 128, "2048 in each lane", 4096, ""},
      {4098, 128, "2049 in each lane", 4096, "2049 has 12 bits: it is rounded to 2048"},
      {3 * 4096, 1, "one thread", 4096, "each lane stands still at 2048: 2048 + 1 is 2048"},
      {2 * 128 * 511, 128, "65,408 in each lane; 65,536 would be infinite", 2.0 * 128 * 511, ""},
  };
  for (const Case& c : kCases) {
    Arrays x(SmallNumbers(c.n, 1), SmallNumbers(c.n, 1), 1.0f);
    const auto launch = [&] {
      dot_half2_any_block(x.d_a.data(), x.d_b.data(), c.n, x.d_y.data(), nullptr, 1, c.block_size);
    };
    const std::string how = "ones, one block of " + std::to_string(c.block_size);
    ladder.reference("dot_reference", x.expected, how, c.n);
    if (c.gives == x.expected) {
      ladder.rung(x.adder("dot_half2_any_block", c.what, launch));
    } else {
      ladder.wrong({.name = "dot_half2_any_block",
                    .changed = c.what,
                    .expect = course::Expect::wrong_value,
                    .because = c.because,
                    .reset = [&] { x.d_y.fill_bytes(0); },
                    .launch = launch,
                    .result = [&] { return x.value(); },
                    .exactly = c.gives});
    }
  }
}

/// The way to the device, from ordinary and from pinned memory.
void copies(course::Ladder& ladder) {
  const std::size_t n = ladder.sizes({std::size_t{1} << 25}).front();
  const std::vector<__half> ordinary = to_halves(balanced_numbers(n, 5), 0.125f);
  course::PinnedBuffer<__half> pinned(n);
  if (n > 0) std::memcpy(static_cast<void*>(pinned.data()), ordinary.data(), pinned.bytes());
  course::DeviceBuffer<__half> d_x(n);
  const auto rung = [&](const std::string& changed, const __half* h_x) -> course::Rung {
    return {.name = "copy_to_device",
            .changed = changed,
            .reset = [&] { d_x.fill_bytes(0); },
            .launch = [&, h_x] { copy_to_device(h_x, n, d_x.data(), nullptr); },
            .check = [&] { return course::same(d_x.download(), ordinary, "the copy"); },
            .bytes = d_x.bytes()};
  };
  ladder.reference("a copy", static_cast<double>(n), "to the device; bytes are counted once", n);
  ladder.rung(rung("from ordinary memory", ordinary.data()));
  ladder.rung(rung("from pinned memory", pinned.data()));
}

}  // namespace

int main(int argc, char** argv) {
  course::Ladder ladder("06-half2-dot", argc, argv, {.cpu_n = std::size_t{1} << 16});
  return ladder.run([](course::Ladder& rungs) {
    for (const std::size_t n : rungs.sizes({std::size_t{1} << 25, std::size_t{1} << 28})) {
      dot(rungs, n);
    }
    article(rungs);
    limits(rungs);
    copies(rungs);
  });
}
