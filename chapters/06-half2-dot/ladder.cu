// Runs the rungs of chapter 06: dot products of halves, in half and in float.
#include <cuda_fp16.h>

#include <cmath>
#include <course/buffer.cuh>
#include <course/host_memory.cuh>
#include <course/ladder.cuh>
#include <cstddef>
#include <cstring>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "rungs.cuh"
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

  /// A row that adds to *d_y, which is zeroed outside the timed region.
  course::Rung adder(const std::string& name, const std::string& changed,
                     std::function<void()> launch) {
    return {.name = name,
            .changed = changed,
            .reset = [this] { d_y.fill_bytes(0); },
            .launch = std::move(launch),
            .result = [this] { return value(); },
            .bytes = d_a.bytes() + d_b.bytes()};
  }
  /// One that sums in half has to give what half arithmetic must give, to the last bit, which is
  /// not the right answer.
  course::Rung rung(const DotRung& rung, unsigned blocks, const std::string& changed) {
    course::Rung row = adder(rung.name, changed, [this, launch = rung.launch, blocks] {
      launch(d_a.data(), d_b.data(), n, blocks, d_y.data());
    });
    if (rung.in_half) {
      row.check = [this, predicted = rung.sum(a, b, blocks)] {
        return course::same(value(), static_cast<double>(predicted) * product_unit, "y",
                            "that is what sums of 11 bits come to");
      };
    }
    return row;
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
  Workspace workspace;
  course::DeviceBuffer<unsigned> d_sink(1);

  ladder.reference("dot_reference", x.expected, "one CPU thread, exact", n);
  ladder.input("a", x.d_a);
  ladder.input("b", x.d_b);
  for (const DotRung& rung : kDotRungs) {
    ladder.rung(x.rung(rung, rung.blocks(n), rung.changed));
  }
  for (const PackRung& rung : kPackRungs) {
    course::Rung pack =
        x.adder(rung.name, rung.changed, [&] { rung.launch(a, b, n, x.d_y.data(), workspace); });
    pack.reset = [&] { x.d_y.fill_bytes(0xFF); };  // a NaN, which an addition would keep
    ladder.rung(pack);
  }
  for (const ReadRung& rung : kReadRungs) {
    ladder.rung({.name = rung.name,
                 .changed = rung.changed,
                 .launch = [&] { rung.launch(a, b, n, d_sink.data()); },
                 .check = [] { return course::Verdict{}; },
                 .bytes = x.d_a.bytes() + x.d_b.bytes()});
  }
#if COURSE_HAS_CUBLAS
  course::DeviceBuffer<__half> d_half(1);
  course::Rung cublas = cublas_dot(a, b, n, d_half.data());
  cublas.reset = [&] { d_half.fill_bytes(0xFF); };
  cublas.result = [&] { return static_cast<double>(__half2float(d_half.front())); };
  cublas.tolerance = std::fabs(x.expected) * 0x1p-11;  // of the one rounding to half
  cublas.bytes = x.d_a.bytes() + x.d_b.bytes();
  ladder.vendor(cublas);
#endif
}

/// The article's experiment: its numbers, its launch, its index, and the index that it meant.
void article(course::Ladder& ladder) {
  constexpr std::size_t kHalves = 2 * kArticlePairs;
  Arrays x(article_numbers(kHalves, 3), article_numbers(kHalves, 4), 1.0f);
  const auto wrong = static_cast<double>(predicted_dot<ArticleIndex>(x.a, x.b, 2, kArticleBlocks));
  ladder.reference("dot_reference", x.expected, "the article's numbers, 262,144 half2", kHalves);
  ladder.rung(x.rung(course::rung_named(kDotRungs, "dot_half2_intrinsics"), kArticleBlocks,
                     "its launch, 128 blocks; its index mended"));
  for (const WrongIndexRung& rung : kWrongIndexRungs) {
    ladder.wrong({.name = rung.name,
                  .changed = rung.changed,
                  .expect = course::Expect::wrong_value,
                  .because = "it reads 4,080 of 262,144 pairs; two kernels that agree are no proof",
                  .reset = [&] { x.d_y.fill_bytes(0); },
                  .launch = [&] { rung.launch(x.d_a.data(), x.d_b.data(), x.d_y.data()); },
                  .result = [&] { return x.value(); },
                  .exactly = wrong});
  }
}

/// How long can sums in half be? Ones, which are easy to count along.
void limits(course::Ladder& ladder) {
  for (const Limit& limit : kLimits) {
    if (limit.changed.empty()) continue;
    Arrays x(SmallNumbers(limit.n, 1), SmallNumbers(limit.n, 1), limit.value);
    const std::string how = "ones, one block of " + std::to_string(limit.block_size);
    ladder.reference("dot_reference", x.expected, how, limit.n);
    const course::Rung row = x.adder(Limit::kName, limit.changed, [&] {
      limit.launch(x.d_a.data(), x.d_b.data(), x.d_y.data());
    });
    if (limit.because.empty()) {
      ladder.rung(row);
    } else {
      ladder.wrong(course::wrong_rung(row, course::Expect::wrong_value, limit.because, limit.sum));
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
  ladder.reference("a copy", static_cast<double>(n), "to the device; bytes are counted once", n);
  for (const CopyRung& rung : kCopyRungs) {
    const __half* const h_x = rung.pinned ? pinned.data() : ordinary.data();
    ladder.rung({.name = rung.name,
                 .changed = rung.changed,
                 .reset = [&] { d_x.fill_bytes(0); },
                 .launch = [&] { rung.launch(h_x, n, d_x.data()); },
                 .check = [&] { return course::same(d_x.download(), ordinary, "the copy"); },
                 .bytes = d_x.bytes()});
  }
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
