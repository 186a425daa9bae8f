// Every rung of this chapter is right at every awkward size, shape and start.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <course/check.cuh>
#include <cstddef>
#include <string>
#include <vector>

#include "rungs.cuh"

// ---- copies ------------------------------------------------------------------------------------

TEST_CASE("the copies copy everything, at every size and from every start that they allow") {
  std::vector<CopyRung> rungs = kCopyRungs;
  rungs.push_back(kCudaCopy);
  for (const CopyRung& rung : rungs) {
    for (const std::size_t n : course::all_sizes()) {
      for (const std::size_t start : {std::size_t{0}, rung.alignment}) {
        INFO(rung.name << ", n = " << n << ", from element " << start << " on");
        const std::vector<float> x = course::position_values<float>(n);
        const course::Placed<float> d_x(x, start);
        course::Placed<float> y(std::vector<float>(n, -1.0f), start);
        rung.launch(d_x.data(), n, y.data());
        REQUIRE(course::same(y.download(), x, "y"));
        REQUIRE(y.intact("y"));
      }
    }
  }
}

TEST_CASE("packs of other types are copied whole, tails included") {
  for (const std::size_t n : course::all_sizes()) {
    INFO("n = " << n);
    const auto bytes = course::position_values<unsigned char>(n);
    const auto d_bytes = course::DeviceBuffer<unsigned char>::from(bytes);
    course::GuardedBuffer<unsigned char> bytes_out(n);
    launch_copy_packs(d_bytes.data(), n, bytes_out.data());
    REQUIRE(course::same(bytes_out.download(), bytes, "bytes"));
    REQUIRE(bytes_out.intact("bytes"));

    const auto doubles = course::position_values<double>(n);
    const auto d_doubles = course::DeviceBuffer<double>::from(doubles);
    course::GuardedBuffer<double> doubles_out(n);
    launch_copy_packs(d_doubles.data(), n, doubles_out.data());
    REQUIRE(course::same(doubles_out.download(), doubles, "doubles"));
    REQUIRE(doubles_out.intact("doubles"));
  }
}

TEST_CASE("words of every width are copied") {
  for (const WidthRung& rung : kWidthRungs) {
    INFO(rung.name);
    const auto x = course::position_values<unsigned char>(64 * rung.bytes);
    const auto d_x = course::DeviceBuffer<unsigned char>::from(x);
    course::GuardedBuffer<unsigned char> y(x.size());
    rung.launch(d_x.data(), 64, y.data());
    REQUIRE(course::same(y.download(), x, "y"));
    REQUIRE(y.intact("y"));
  }
}

TEST_CASE("a chase goes through all of its cells, in one cycle") {
  for (const std::size_t cells : {1, 2, 3, 8, 1000, 1001}) {
    INFO(cells << " cells");
    const std::vector<std::size_t> next = random_cycle(cells);
    std::vector<bool> visited(cells, false);
    std::size_t cell = 0;
    for (std::size_t k = 0; k < cells; ++k) {
      REQUIRE(!visited[cell]);
      visited[cell] = true;
      cell = next[cell];
    }
    REQUIRE(cell == 0);
    Chase chase(cells);
    chase.launch();
    REQUIRE(chase.last() == chase.expected());
  }
}

// ---- strides and starts ------------------------------------------------------------------------

TEST_CASE("sum_strided reads every element once, for every stride") {
  std::vector<StridedRung> rungs = kStridedRungs;
  rungs.push_back(strided_rung(3));
  for (const std::size_t n : course::all_sizes()) {
    const std::vector<float> x = course::position_values<float>(n);
    const auto d_x = course::DeviceBuffer<float>::from(x);
    for (const StridedRung& rung : rungs) {
      INFO(rung.name << ", n = " << n);
      course::GuardedBuffer<float> y(n > 0 ? sums_of_strided(n, rung.stride) : 0);
      rung.launch(d_x.data(), n, y.data());
      if (n > 0) REQUIRE(course::same(y.download(), sum_strided_reference(x, rung.stride), "y"));
      REQUIRE(y.intact("y"));
    }
  }
}

TEST_CASE("small integers with a stride of 32") {  // a picture of the lesson shows this run
  constexpr std::size_t kStride = 32;
  std::vector<float> x(65'536);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(7 * (i / kStride) % 10);
  const auto d_x = course::DeviceBuffer<float>::from(x);
  course::GuardedBuffer<float> y(sums_of_strided(x.size(), kStride));
  strided_rung(kStride).launch(d_x.data(), x.size(), y.data());
  REQUIRE(course::same(y.download(), sum_strided_reference(x, kStride), "y"));
}

TEST_CASE("negating is right at every size and from every start") {
  for (const std::size_t n : course::all_sizes()) {
    for (std::size_t start = 0; start < 9; ++start) {
      std::vector<float> expected = course::position_values<float>(start + n + 5);
      const std::vector<float> x = expected;
      for (std::size_t i = start; i < start + n; ++i) expected[i] = -expected[i];
      std::vector<NegateRung> rungs = kNegateRungs;
      rungs.insert(rungs.end(), kPackForms.begin(), kPackForms.end());
      for (const NegateRung& rung : rungs) {
        if (start % rung.alignment != 0) continue;
        INFO(rung.name << ", n = " << n << ", from element " << start << " on");
        auto d_x = course::DeviceBuffer<float>::from(x);
        rung.launch(d_x.data() + start, n);
        REQUIRE(course::same(d_x.download(), expected, "x"));
      }
    }
  }
}

namespace coalesced_testing {

/// A functor of one, two or three numbers, of which one has another type.
struct Weighted {
  template <class T>
  __device__ float operator()(T x) const {
    return static_cast<float>(x) * factor;
  }
  template <class T, class U>
  __device__ float operator()(T x, U y) const {
    return static_cast<float>(x) * factor + static_cast<float>(y);
  }
  template <class T, class U>
  __device__ float operator()(T x, U y, float z) const {
    return (*this)(x, y) - z;
  }
  float factor;
};

}  // namespace coalesced_testing

TEST_CASE("max(x + y, 0) by hand and by the template, at every size and from every start") {
  for (const std::size_t n : course::all_sizes()) {
    const std::vector<float> x = course::position_values<float>(n);
    std::vector<float> y(x.rbegin(), x.rend()), expected(n);
    for (std::size_t i = 0; i < n; ++i) {
      if (i % 2 == 0) y[i] = -y[i];
      expected[i] = std::max(x[i] + y[i], 0.0f);
    }
    for (const ElementwiseRung& rung : kElementwiseRungs) {
      for (const std::size_t start : {std::size_t{0}, rung.alignment}) {
        INFO(rung.name << ", n = " << n << ", from element " << start << " on");
        const course::Placed<float> d_x(x, start), d_y(y, start);
        course::Placed<float> z(std::vector<float>(n, -1.0f), start);
        rung.launch(d_x.data(), d_y.data(), n, z.data());
        REQUIRE(course::same(z.download(), expected, "z"));
        REQUIRE(z.intact("z"));
      }
    }
  }
}

TEST_CASE("the template takes one to three arrays of other types, aligned or not") {
  const coalesced_testing::Weighted f{2.0f};
  for (const std::size_t n : course::all_sizes()) {
    for (std::size_t start = 0; start < 5; ++start) {
      INFO("n = " << n << ", from element " << start << " on");
      const std::vector<unsigned char> a = course::position_values<unsigned char>(n);
      const std::vector<double> b = course::position_values<double>(n);
      const std::vector<float> c = course::position_values<float>(n);
      std::vector<float> one(n), two(n), three(n);
      for (std::size_t i = 0; i < n; ++i) {
        one[i] = 2.0f * static_cast<float>(a[i]);
        two[i] = one[i] + static_cast<float>(b[i]);
        three[i] = two[i] - c[i];
      }
      const course::Placed<unsigned char> d_a(a, start);
      const course::Placed<double> d_b(b, start);
      const course::Placed<float> d_c(c, 0);
      course::Placed<float> z(std::vector<float>(n, -1.0f), start);
      launch_elementwise(f, n, z.data(), d_a.data());
      REQUIRE(course::same(z.download(), one, "f(a)"));
      launch_elementwise(f, n, z.data(), d_a.data(), d_b.data());
      REQUIRE(course::same(z.download(), two, "f(a, b)"));
      launch_elementwise(f, n, z.data(), d_a.data(), d_b.data(), d_c.data());
      REQUIRE(course::same(z.download(), three, "f(a, b, c)"));
      REQUIRE(z.intact("z"));
    }
  }
}

TEST_CASE("packs from a misaligned start are an error") {
  course::skip_without_checker();  // on a GPU the process could not go on
  auto d_x = course::DeviceBuffer<float>::zeros(64);
  for (const NegateRung& rung : kNegateRungs) {
    if (rung.alignment == 1) continue;
    const course::Findings findings = course::find_races([&] {
      rung.launch(d_x.data() + 1, 32);
      CUDA_CHECK(cudaDeviceSynchronize());
    });
    REQUIRE(findings.others > 0);
    INFO(findings.texts.front());
    REQUIRE(findings.texts.front().find("MISALIGNED") != std::string::npos);
  }
}

// ---- shared memory -----------------------------------------------------------------------------

TEST_CASE("row sums and transpositions are right for every shape") {
  struct Shape {
    std::size_t rows, cols;
  };
  for (const auto [rows, cols] :
       {Shape{0, 7}, Shape{1, 1}, Shape{1, 1000}, Shape{1000, 1}, Shape{31, 33}, Shape{32, 32},
        Shape{33, 31}, Shape{64, 128}, Shape{257, 100}, Shape{100, 257}}) {
    const std::vector<float> x = course::position_values<float>(rows * cols);
    const auto d_x = course::DeviceBuffer<float>::from(x);
    for (const auto* const rungs : {&kRowSumRungs, &kTransposeRungs}) {
      const std::vector<float> expected = rungs == &kRowSumRungs
                                              ? row_sums_reference(x, rows, cols)
                                              : transpose_reference(x, rows, cols);
      for (const MatrixRung& rung : *rungs) {
        INFO(rung.name << ", " << rows << " x " << cols);
        course::GuardedBuffer<float> y(expected.size());
        rung.launch(d_x.data(), rows, cols, y.data());
        REQUIRE(course::same(y.download(), expected, "y"));
        REQUIRE(y.intact("y"));
      }
    }
  }
}

TEST_CASE("sums of rows of small integers") {  // two pictures of the lesson show this run
  constexpr std::size_t kRows = 32, kCols = 256;
  std::vector<float> x(kRows * kCols);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(7 * (i / kCols) % 10);
  const auto d_x = course::DeviceBuffer<float>::from(x);
  for (const MatrixRung& rung : kRowSumRungs) {
    INFO(rung.name);
    course::GuardedBuffer<float> y(kRows);
    rung.launch(d_x.data(), kRows, kCols, y.data());
    REQUIRE(course::same(y.download(), row_sums_reference(x, kRows, kCols), "y"));
  }
}

TEST_CASE("a row of no columns sums up to 0") {
  for (const MatrixRung& rung : kRowSumRungs) {
    INFO(rung.name);
    course::GuardedBuffer<float> y(33);
    rung.launch(nullptr, 33, 0, y.data());
    REQUIRE(course::same(y.download(), std::vector<float>(33, 0.0f), "y"));
  }
}

// ---- more elements than an int can count -------------------------------------------------------

TEST_CASE("the copies count in 64 bits") {
  constexpr std::size_t kMiddle = std::size_t{1} << 31;
  constexpr std::size_t n = kMiddle + 1027;
  course::skip_without_memory(2 * n * sizeof(float));
  // Zeros, but for the first and the last elements.
  const std::vector<float> ends = course::position_values<float>(2054);
  auto d_x = course::DeviceBuffer<float>::zeros(n);
  course::DeviceBuffer<float> d_y(n);
  float* const last = d_x.data() + (n - ends.size());
  CUDA_CHECK(cudaMemcpy(d_x.data(), ends.data(), ends.size() * 4, cudaMemcpyHostToDevice));
  CUDA_CHECK(cudaMemcpy(last, ends.data(), ends.size() * 4, cudaMemcpyHostToDevice));
  for (const CopyRung& rung : kCopyRungs) {
    INFO(rung.name << ", n = " << n);
    d_y.fill_bytes(0xFF);
    rung.launch(d_x.data(), n, d_y.data());
    std::vector<float> found(ends.size());
    CUDA_CHECK(cudaMemcpy(found.data(), d_y.data(), ends.size() * 4, cudaMemcpyDeviceToHost));
    REQUIRE(course::same(found, ends, "the first elements of y"));
    CUDA_CHECK(cudaMemcpy(found.data(), d_y.data() + (n - ends.size()), ends.size() * 4,
                          cudaMemcpyDeviceToHost));
    REQUIRE(course::same(found, ends, "the last elements of y"));
  }
  kNegateRungs.back().launch(d_x.data() + 1, n - 1);  // negate_peeled
  std::vector<float> found(ends.size());
  CUDA_CHECK(cudaMemcpy(found.data(), last, ends.size() * 4, cudaMemcpyDeviceToHost));
  std::vector<float> negative = ends;
  for (float& value : negative) value = -value;
  REQUIRE(course::same(found, negative, "the last elements of x, negated"));
}
