// Every rung of this chapter is right at every awkward size and start, or wrong by exactly as much
// as half arithmetic makes it.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <course/check.cuh>
#include <course/host_memory.cuh>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "rungs.cuh"

namespace {

/// Launches a rung on two arrays whose numbers are multiples of `unit`.
void check_rung(const DotRung& rung, const SmallNumbers& a, const SmallNumbers& b, float unit,
                unsigned blocks, int launches) {
  INFO(rung.name << ", n = " << a.size() << ", " << blocks << " blocks of 128 threads");
  const auto d_a = course::DeviceBuffer<__half>::from(to_halves(a, unit));
  const auto d_b = course::DeviceBuffer<__half>::from(to_halves(b, unit));
  course::Placed<float> y({0.5f}, 0);
  for (int launch = 0; launch < launches; ++launch) {
    rung.launch(d_a.data(), d_b.data(), a.size(), blocks, y.data());
  }
  const auto sum = static_cast<float>(launches) * static_cast<float>(rung.sum(a, b, blocks));
  REQUIRE(course::same(y.download().front(), sum * unit * unit + 0.5f, "y"));
  REQUIRE(y.intact("y"));
}

/// A rung that sets its sum, on arrays that begin off a multiple of 64 bytes.
void check_pack(const PackRung& rung, std::size_t n, std::size_t offset_a, std::size_t offset_b,
                Workspace& workspace) {
  INFO(rung.name << ", n = " << n << ", a + " << offset_a << ", b + " << offset_b << " halves");
  const SmallNumbers a = balanced_numbers(n, n + 1), b = balanced_numbers(n, n + 2);
  const course::Placed<__half> d_a(to_halves(a, 0.125f), offset_a),
      d_b(to_halves(b, 0.125f), offset_b);
  const auto expected = static_cast<float>(exact_dot(a, b)) / 64;
  course::GuardedBuffer<float> y(1);
  for (int launch = 0; launch < (n < 300 && offset_a == offset_b ? 2 : 1); ++launch) {
    y.fill_bytes(0xFF);  // a NaN, which an addition would keep
    rung.launch(d_a.data(), d_b.data(), n, y.data(), workspace);
    REQUIRE(course::same(y.download().front(), expected, "y"));
    REQUIRE(y.intact("y"));
    REQUIRE(course::same(workspace.ticket.front(), 0u, "ticket after the launch"));
  }
}

/// dot_pack with a Tuning of the test's; n > 0.
template <class TuningT>
void check_pack(std::size_t n, std::size_t offset_a, std::size_t offset_b, Workspace& workspace) {
  const auto launch = [](const __half* d_a, const __half* d_b, std::size_t size, float* d_y,
                         Workspace& memory) {
    launch_dot_pack_tuned<TuningT>(d_a, d_b, shared_packs(d_a, d_b, size), d_y, memory);
  };
  check_pack({"dot_pack", "", launch}, n, offset_a, offset_b, workspace);
}

/// Small blocks: many of them, also on the CPU device.
template <unsigned loads, course::CacheHint hint = course::CacheHint::none>
using Small = Tuning<loads, 32, hint>;

}  // namespace

// ---- rungs -------------------------------------------------------------------------------------

TEST_CASE("products of small integers") {  // a picture of the lesson shows this run
  SmallNumbers a(512), b(512);
  for (std::size_t i = 0; i < a.size(); ++i) {
    a[i] = static_cast<signed char>(i % 4);
    b[i] = static_cast<signed char>(1 + i % 3);
  }
  check_rung(course::rung_named(kDotRungs, "dot_half2_intrinsics"), a, b, 1.0f, 2, 1);
}

TEST_CASE("every rung adds every product once, or what half makes of it") {
  for (const std::size_t n : course::all_sizes()) {
    INFO("multiples of 1/8, from -7/8 to 7/8");
    const SmallNumbers a = balanced_numbers(n, 11), b = balanced_numbers(n, 12);
    REQUIRE(dot_reference(to_halves(a, 0.125f), to_halves(b, 0.125f)) ==
            static_cast<double>(exact_dot(a, b)) / 64);
    for (const DotRung& rung : kDotRungs) {
      check_rung(rung, a, b, 0.125f, rung.blocks(n), n < 300 ? 2 : 1);
    }
  }
}

TEST_CASE("rungs in half are off by exactly as much as 11 bits make them") {
  constexpr std::size_t kN = 20'001;
  const SmallNumbers a = article_numbers(kN, 5), b = article_numbers(kN, 6);
  for (const unsigned blocks : {1u, 2u, 5u}) {
    INFO("numbers from 0 to 3");
    for (const DotRung& rung : kDotRungs) {
      check_rung(rung, a, b, 1.0f, blocks, 1);
      REQUIRE((rung.width == 1 || rung.in_half == (rung.sum(a, b, blocks) != exact_dot(a, b))));
    }
  }
}

TEST_CASE("dot_half2_any_block takes blocks of any size") {
  constexpr std::size_t kN = 5'001;
  const SmallNumbers a = article_numbers(kN, 7), b = article_numbers(kN, 8);
  const auto d_a = course::DeviceBuffer<__half>::from(to_halves(a, 1.0f));
  const auto d_b = course::DeviceBuffer<__half>::from(to_halves(b, 1.0f));
  for (const unsigned block : {1u, 2u, 3u, 32u, 96u, 127u, 128u, 1000u, 1024u}) {
    INFO("n = 5001, 2 blocks of " << block);
    course::Placed<float> y({0.0f}, 0);
    launch_any_block(d_a.data(), d_b.data(), kN, 2, block, y.data());
    const auto expected = static_cast<float>(predicted_dot(a, b, 2, 2, block));
    REQUIRE(course::same(y.download().front(), expected, "y"));
    REQUIRE(y.intact("y"));
  }
}

TEST_CASE("a NaN stays") {
  std::vector<__half> a(500, __half(1.0f));
  const auto d_ones = course::DeviceBuffer<__half>::from(a);
  a[333] = __half(std::numeric_limits<float>::quiet_NaN());
  const auto d_a = course::DeviceBuffer<__half>::from(a);
  for (const DotRung& rung : kDotRungs) {
    INFO(rung.name);
    course::Placed<float> y({0.0f}, 0);
    rung.launch(d_a.data(), d_ones.data(), a.size(), rung.blocks(a.size()), y.data());
    REQUIRE(std::isnan(y.download().front()));
  }
  for (const PackRung& rung : kPackRungs) {
    INFO(rung.name);
    Workspace workspace;
    course::GuardedBuffer<float> y(1);
    y.fill_bytes(0);
    rung.launch(d_a.data(), d_a.data(), a.size(), y.data(), workspace);
    REQUIRE(std::isnan(y.download().front()));
  }
}

// ---- dot_pack ----------------------------------------------------------------------------------

TEST_CASE("dot_pack: every size") {
  Workspace workspace;
  // Blocks of 1024 threads are slow on the CPU device; small ones go through more sizes below.
  const std::vector<std::size_t> few = {0, 1, 33, 1025, course::kBigSize};
  for (const std::size_t n : course::kCpuDevice ? few : course::all_sizes()) {
    for (const PackRung& rung : kPackRungs) check_pack(rung, n, 0, 0, workspace);
  }
}

TEST_CASE("dot_pack: every start of either array") {
  Workspace workspace;
  std::size_t turn = 0;  // another size each time
  const std::vector<std::size_t> sizes = {100, 1, 7, 31, 8, 260, 15, 3, 64};
  for (std::size_t offset_a = 0; offset_a < 8; ++offset_a) {
    for (std::size_t offset_b = 0; offset_b < 8; ++offset_b) {
      check_pack<Small<2>>(sizes[turn++ % sizes.size()], offset_a, offset_b, workspace);
    }
  }
  for (const std::size_t offset : {0u, 1u, 2u, 4u}) {  // blocks of 1024 threads, every width
    const std::size_t n = 3'001 * (offset == 0 ? 8 : offset);
    for (const PackRung& rung : kPackRungs) check_pack(rung, n, 3, 3 + offset, workspace);
  }
}

TEST_CASE("dot_pack: every tuning, many blocks, more rounds than blocks") {
  Workspace workspace;
  for (const std::size_t n : {33u, 1'025u, 9'001u}) {
    check_pack<Small<1>>(n, 1, 1, workspace);
    check_pack<Small<2, course::CacheHint::no_allocate>>(n, 3, 3, workspace);
    check_pack<Small<4, course::CacheHint::read_once>>(n, 5, 1, workspace);
  }
  const SmallNumbers a = balanced_numbers(9'001, 1), b = balanced_numbers(9'001, 2);
  const course::Placed<__half> d_a(to_halves(a, 0.125f), 1), d_b(to_halves(b, 0.125f), 1);
  const SharedPacks split = shared_packs(d_a.data(), d_b.data(), a.size());
  for (const unsigned blocks : {1u, 2u, 3u, 7u}) {
    INFO("n = 9001, " << blocks << " blocks");
    course::GuardedBuffer<float> y(1);
    course::launch(dot_pack<Small<2>, 8>, {blocks, 32}, d_a.data(), d_b.data(), split,
                   workspace.partials.data(), workspace.ticket.data(), y.data());
    const auto expected = static_cast<float>(exact_dot(a, b)) / 64;
    REQUIRE(course::same(y.download().front(), expected, "y"));
  }
}

TEST_CASE("shared_packs: as wide as both arrays allow") {
  const auto at = [](std::uintptr_t address) { return reinterpret_cast<const __half*>(address); };
  for (std::uintptr_t a = 0; a < 8; ++a) {
    for (std::uintptr_t b = 0; b < 8; ++b) {
      for (const std::size_t n : {0u, 1u, 5u, 8u, 9u, 40u}) {
        INFO("a + " << a << ", b + " << b << ", n = " << n);
        const SharedPacks s = shared_packs(at(256 + 2 * a), at(512 + 2 * b), n);
        const auto width = static_cast<std::size_t>(s.width);
        REQUIRE(s.head + s.packs * width + s.tail == n);
        REQUIRE((s.head < width && s.tail < width));
        if (s.packs > 0) {
          REQUIRE((a + s.head) % width == 0);
          REQUIRE((b + s.head) % width == 0);
        }
        const std::uintptr_t apart = a > b ? a - b : b - a;
        REQUIRE(width == (apart == 0 ? 8u : apart == 4 ? 4u : apart % 2 == 0 ? 2u : 1u));
      }
    }
  }
}

TEST_CASE("read_both reads both arrays, and writes nothing") {
  for (const std::size_t n : {0u, 7u, 8u, 1025u, 40'000u}) {
    INFO("n = " << n);
    const auto d_a = course::DeviceBuffer<__half>::from(to_halves(balanced_numbers(n, 1), 0.125f));
    const auto d_b = course::DeviceBuffer<__half>::from(to_halves(balanced_numbers(n, 2), 0.125f));
    for (const ReadRung& rung : kReadRungs) {
      INFO(rung.name);
      course::GuardedBuffer<unsigned> sink(1);
      sink.fill_bytes(0x11);
      const auto counters =
          course::count([&] { rung.launch(d_a.data(), d_b.data(), n, sink.data()); });
      REQUIRE(course::same(sink.download().front(), 0x1111'1111u, "sink"));
      const std::uint64_t sectors = 2 * ((n / 8 + 1) / 2);  // of 32 bytes: two packs
      if (counters) REQUIRE(course::same(counters->global_load_sectors, sectors, "sectors"));
    }
  }
}

// ---- the host's side ---------------------------------------------------------------------------

TEST_CASE("dot_of_host_arrays: from pinned and from ordinary memory") {
  for (const std::size_t n : {0u, 1u, 1025u, 10'007u}) {
    INFO("n = " << n);
    const SmallNumbers a = balanced_numbers(n, 21), b = balanced_numbers(n, 22);
    const std::vector<__half> h_a = to_halves(a, 0.125f), h_b = to_halves(b, 0.125f);
    course::PinnedBuffer<__half> pinned_a(n), pinned_b(n);
    std::copy(h_a.begin(), h_a.end(), pinned_a.data());
    std::copy(h_b.begin(), h_b.end(), pinned_b.data());
    for (const CopyRung& rung : kCopyRungs) {
      INFO(rung.changed);
      course::GuardedBuffer<__half> copy(n);
      rung.launch(rung.pinned ? pinned_a.data() : h_a.data(), n, copy.data());
      REQUIRE(course::same(copy.download(), h_a, "the copy"));
      REQUIRE(copy.intact("the copy"));
    }
    const auto expected = static_cast<float>(exact_dot(a, b)) / 64;
    REQUIRE(course::same(dot_of_host_arrays(h_a.data(), h_b.data(), n, nullptr), expected, "y"));
    cudaStream_t stream;
    CUDA_CHECK(cudaStreamCreate(&stream));
    const float y = dot_of_host_arrays(pinned_a.data(), pinned_b.data(), n, stream);
    CUDA_CHECK(cudaStreamDestroy(stream));
    REQUIRE(course::same(y, expected, "y, from pinned memory"));
  }
  course::PinnedBuffer<int> first(3);
  first[2] = 7;
  course::PinnedBuffer<int> second = std::move(first);
  REQUIRE(second[2] == 7);
  REQUIRE(second.size() == 3);
  REQUIRE(first.data() == nullptr);
}

TEST_CASE("more than 2^31 halves: no index is too short") {
  constexpr std::size_t kHalves = (std::size_t{1} << 31) + 77;
  course::skip_without_memory(kHalves * sizeof(__half));
  auto d_a = course::DeviceBuffer<__half>::zeros(kHalves);
  float expected = 0.0f;
  int k = 0;
  for (const std::size_t place : {std::size_t{0}, kHalves / 2, (std::size_t{1} << 31) - 1,
                                  std::size_t{1} << 31, kHalves - 2, kHalves - 1}) {
    const float root = std::ldexp(1.0f, k++);  // its square is what is added
    const __half value = __float2half(root);
    CUDA_CHECK(cudaMemcpy(static_cast<void*>(d_a.data() + place), &value, sizeof value,
                          cudaMemcpyHostToDevice));
    expected += root * root;
  }
  for (const DotRung& rung : kDotRungs) {
    INFO(rung.name << ", n = 2^31 + 77");
    course::Placed<float> y({0.0f}, 0);
    rung.launch(d_a.data(), d_a.data(), kHalves, rung.blocks(kHalves), y.data());
    CHECK(course::same(y.download().front(), expected, "y"));
  }
  Workspace workspace;
  for (const PackRung& rung : kPackRungs) {
    for (const std::size_t offset : {0u, 1u}) {
      INFO(rung.name << ", from a + " << offset << " on");
      course::GuardedBuffer<float> y(1);
      const __half* const first = d_a.data() + offset;
      rung.launch(first, first, kHalves - offset, y.data(), workspace);
      CHECK(course::same(y.download().front(), offset == 0 ? expected : expected - 1, "y"));
    }
  }
}
