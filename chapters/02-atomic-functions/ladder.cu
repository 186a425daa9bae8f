// Runs the rungs of chapter 02: what atomic functions do, and what they cost.
#include <algorithm>
#include <bit>
#include <course/buffer.cuh>
#include <course/data.cuh>
#include <course/ladder.cuh>
#include <numeric>
#include <string>
#include <vector>

#include "contention.cuh"
#include "inputs.cuh"
#include "maximum.cuh"
#include "message.cuh"
#include "missing.cuh"
#include "orders.cuh"
#include "return_value.cuh"
#include "subnormals.cuh"
#if !COURSE_CPU_DEVICE
#include "vendor.cuh"
#endif

namespace {

/// gpu_n on a GPU, cpu_n on the CPU device, and never more than --n asks for.
std::size_t at_most(const course::Ladder& ladder, std::size_t gpu_n, std::size_t cpu_n) {
  return std::min(ladder.n(), course::kCpuDevice ? cpu_n : gpu_n);
}

void maximum(course::Ladder& ladder, std::size_t n) {
  const std::vector<float> x = signed_values(n);
  const auto d_x = course::DeviceBuffer<float>::from(x);
  course::DeviceBuffer<float> d_max(1);
  course::DeviceBuffer<unsigned> d_key(1);
  const auto max = [&] { return static_cast<double>(d_max.front()); };

  ladder.reference("max_reference", max_reference(x), "one CPU thread, exact", n);
  ladder.rung({.name = "max_cas",
               .changed = "an atomicCAS loop per element",
               .launch = [&] { max_cas(d_x.data(), n, d_max.data(), nullptr); },
               .result = max,
               .bytes = d_x.bytes(),
               .n = n});
  const auto by_key = [&](const char* name, const char* changed, auto run) {
    ladder.rung({.name = name,
                 .changed = changed,
                 .launch = [&] { run(d_x.data(), n, d_key.data(), nullptr); },
                 .result = [&] { return static_cast<double>(float_of_key(d_key.front())); },
                 .bytes = d_x.bytes(),
                 .n = n});
  };
  // A launcher has its kernel's name, so the call tells them apart.
  using Words = const float*;
  by_key("max_key", "atomicMax on integer keys, one per element",
         [](Words d, std::size_t k, unsigned* y, cudaStream_t s) { max_key(d, k, y, s); });
  by_key("max_look_first", "a volatile look, and an atomic only if it can help",
         [](Words d, std::size_t k, unsigned* y, cudaStream_t s) { max_look_first(d, k, y, s); });
  by_key("max_per_thread", "a grid-stride loop, one atomic per thread",
         [](Words d, std::size_t k, unsigned* y, cudaStream_t s) { max_per_thread(d, k, y, s); });
  by_key("max_vectorized", "four 16-byte loads on their way at a time",
         [](Words d, std::size_t k, unsigned* y, cudaStream_t s) { max_vectorized(d, k, y, s); });
  by_key("max_block", "the block meets in shared memory, one global atomic a block",
         [](Words d, std::size_t k, unsigned* y, cudaStream_t s) { max_block(d, k, y, s); });
#if !COURSE_CPU_DEVICE
  ladder.vendor({.name = "cub::DeviceReduce::Max",
                 .changed = "CUB",
                 .launch = cub_max(d_x.data(), n, d_max.data()),
                 .result = max,
                 .bytes = d_x.bytes(),
                 .n = n});
#endif
}

void floats_as_integers(course::Ladder& ladder) {
  const std::size_t n = at_most(ladder, std::size_t{1} << 20, std::size_t{1} << 14);
  const std::vector<float> x = negative_values(n);
  const auto d_x = course::DeviceBuffer<float>::from(x);
  course::DeviceBuffer<float> d_max(1);
  ladder.reference("max_of_negatives_reference", max_reference(x), "all below zero", n);
  if (n < 2) return;  // a single number is its own minimum
  ladder.wrong({.name = "max_as_int",
                .changed = "atomicMax on the bits of floats, as an int",
                .expect = course::Expect::wrong_value,
                .because = "bits of negative floats are ordered the other way: this is the minimum",
                .reset = [&] { d_max.upload({x.front()}); },
                .launch = [&] { max_as_int(d_x.data(), n, d_max.data(), nullptr); },
                .result = [&] { return static_cast<double>(d_max.front()); },
                .exactly = static_cast<double>(*std::min_element(x.begin(), x.end())),
                .n = n});
}

void subnormals(course::Ladder& ladder) {
  course::DeviceBuffer<float> d_y(1);
  const auto reset = [&] { d_y.upload({kSubnormal}); };
  const auto result = [&] { return static_cast<double>(d_y.front()); };
  ladder.reference("add_subnormal_reference", kSubnormal + kSubnormal, "1e-40f + 1e-40f", 1);
  ladder.wrong({.name = "add_subnormal_global",
                .changed = "atomicAdd on global memory",
                .expect = course::Expect::wrong_value,
                .because = "the L2 cache's float adder takes and gives 0 for every subnormal",
                .reset = reset,
                .launch = [&] { add_subnormal_global(kSubnormal, d_y.data(), nullptr); },
                .result = result,
                .exactly = 0.0,
                .n = 1});
  ladder.rung({.name = "add_subnormal_shared",
               .changed = "atomicAdd on shared memory",
               .reset = reset,
               .launch = [&] { add_subnormal_shared(kSubnormal, d_y.data(), nullptr); },
               .result = result,
               .n = 1});
}

void stale_sum(course::Ladder& ladder) {
  const std::size_t n = at_most(ladder, 4096, 1024);
  const std::vector<double> x = course::position_values<double>(n);
  const auto d_x = course::DeviceBuffer<double>::from(x);
  course::DeviceBuffer<double> d_y(1);
  ladder.reference("sum_double_reference", std::accumulate(x.begin(), x.end(), 0.0),
                   "one CPU thread, exact", n);
  if (n < 512) return;  // so few threads may get away with it
  ladder.wrong({.name = "sum_double_stale",
                .changed = "a CAS loop whose sum is computed once",
                .expect = course::Expect::wrong_value,
                .because = "it stores a sum of the value that was there before others added theirs",
                .reset = [&] { d_y.fill_bytes(0); },
                .launch = [&] { sum_double_stale(d_x.data(), n, d_y.data(), nullptr); },
                .result = [&] { return d_y.front(); },
                .n = n});
}

void missing(course::Ladder& ladder) {
  const std::size_t n = at_most(ladder, std::size_t{1} << 20, std::size_t{1} << 12);
  const std::size_t addresses = std::bit_floor(std::max<std::size_t>(n / 256, 1));
  const std::vector<float> x = factors(n);
  std::vector<float> products(addresses, 1.0f);
  for (std::size_t i = 0; i < n; ++i) products[i % addresses] *= x[i];
  const auto d_x = course::DeviceBuffer<float>::from(x);
  course::DeviceBuffer<float> d_y(addresses);
  ladder.reference("multiply_reference", products.front(), "the first of many products", n);
  ladder.rung({.name = "multiply_cas",
               .changed = "no hardware multiplies: atomicCAS, 256 factors per address",
               .reset = [&] { d_y.upload(std::vector<float>(addresses, 1.0f)); },
               .launch = [&] { multiply_cas(d_x.data(), n, addresses, d_y.data(), nullptr); },
               .result = [&] { return static_cast<double>(d_y.front()); },
               .check = [&] { return course::same(d_y.download(), products, "products"); },
               .n = n,
               .operations = n});

  const std::vector<float> values = signed_values(n);
  const auto d_values =
      course::DeviceBuffer<double>::from(std::vector<double>(values.begin(), values.end()));
  course::DeviceBuffer<double> d_max(1);
  ladder.reference("max_double_reference", max_reference(values), "one CPU thread, exact", n);
  ladder.rung({.name = "max_double_cas",
               .changed = "nor finds the larger double: atomicCAS, one address",
               .reset = [&] { d_max.fill_bytes(0xFF); },  // a NaN, which every number beats
               .launch = [&] { max_double_cas(d_values.data(), n, d_max.data(), nullptr); },
               .result = [&] { return d_max.front(); },
               .n = n,
               .operations = n});
}

void messages(course::Ladder& ladder) {
  const std::size_t n = at_most(ladder, 4096, 256);
  course::DeviceBuffer<int> d_message(n), d_flag(n), d_received(n);
  std::vector<int> expected(n);
  for (std::size_t i = 0; i < n; ++i) expected[i] = message_number(i);
  const auto reset = [&] {
    d_message.fill_bytes(0);
    d_flag.fill_bytes(0);
    d_received.fill_bytes(0);
  };
  const auto result = [&] {  // how many messages came through
    const std::vector<int> received = d_received.download();
    double right = 0;
    for (std::size_t i = 0; i < n; ++i) right += received[i] == expected[i] ? 1 : 0;
    return right;
  };
  const auto wrong = [&](const char* name, const char* changed, const char* because, auto run) {
    ladder.wrong({.name = name,
                  .changed = changed,
                  .expect = course::Expect::race,
                  .because = because,
                  .reset = reset,
                  .launch = run,
                  .result = result,
                  .n = n});
  };
  const auto right = [&](const char* name, const char* changed, auto run) {
    ladder.rung({.name = name,
                 .changed = changed,
                 .reset = reset,
                 .launch = run,
                 .result = result,
                 .n = n});
  };
  int *const message = d_message.data(), *const flag = d_flag.data();
  int* const received = d_received.data();
  ladder.reference("messages", static_cast<double>(n), "all of them arrive", n);
  wrong("hand_over_no_fence", "an atomic flag, no fence",
        "an atomic orders nothing but itself: the flag may be seen before the message",
        [=] { hand_over<Fences::none>(n, message, flag, received, nullptr); });
  wrong("hand_over_writer_fence", "a fence in the writer only",
        "the reader may have looked at the message before it looked at the flag",
        [=] { hand_over<Fences::writer_only>(n, message, flag, received, nullptr); });
  right("hand_over_fences", "__threadfence() on both sides",
        [=] { hand_over<Fences::both>(n, message, flag, received, nullptr); });
  right("hand_over_release_acquire", "cuda::atomic_ref: release here, acquire there",
        [=] { hand_over_release_acquire(n, message, flag, received, nullptr); });
}

void orders(course::Ladder& ladder) {
  const std::size_t n = at_most(ladder, std::size_t{1} << 22, 1024);
  const std::size_t addresses = course::kCpuDevice ? 64 : 4096;
  course::DeviceBuffer<unsigned> d_y(addresses);
  const std::vector<unsigned> expected = counts_of<unsigned>(n, addresses);
  const auto rung = [&](const char* name, const char* changed, auto run) {
    ladder.rung({.name = name,
                 .changed = changed,
                 .reset = [&] { d_y.fill_bytes(0); },
                 .launch = [&] { run(n, addresses, d_y.data(), cudaStream_t{}); },
                 .result =
                     [&] {
                       const std::vector<unsigned> y = d_y.download();
                       return std::accumulate(y.begin(), y.end(), 0.0);
                     },
                 .check = [&] { return course::same(d_y.download(), expected, "counts"); },
                 .n = n,
                 .l2 = course::L2::warm,
                 .operations = n});
  };
  constexpr auto kDevice = cuda::thread_scope_device;
  constexpr auto kSystem = cuda::thread_scope_system;
  constexpr auto kRelaxed = cuda::std::memory_order_relaxed;
  constexpr auto kSeqCst = cuda::std::memory_order_seq_cst;
  ladder.reference("counts", static_cast<double>(n), "4096 addresses on a GPU", n);
  rung("count_plain", "atomicAdd", [](auto... arguments) { count_plain(arguments...); });
  rung("count_relaxed_device", "cuda::atomic_ref, relaxed, this GPU",
       [](auto... arguments) { count_ref<kDevice, kRelaxed>(arguments...); });
  rung("count_relaxed_system", "relaxed, the host and other GPUs too",
       [](auto... arguments) { count_ref<kSystem, kRelaxed>(arguments...); });
  rung("count_seq_cst_device", "seq_cst, this GPU",
       [](auto... arguments) { count_ref<kDevice, kSeqCst>(arguments...); });
  rung("count_default", "the defaults: seq_cst, system",
       [](auto... arguments) { count_ref<kSystem, kSeqCst>(arguments...); });
}

void return_values(course::Ladder& ladder) {
  const std::size_t n = ladder.n();
  constexpr std::size_t kDoors = 1024;
  course::DeviceBuffer<unsigned> d_count(kDoors), d_last(kDoors);
  const std::vector<unsigned> expected = counts_of<unsigned>(n, kDoors);
  const auto reset = [&] {
    d_count.fill_bytes(0);
    d_last.fill_bytes(0xFF);
  };
  const auto result = [&] {
    const std::vector<unsigned> counts = d_count.download();
    return std::accumulate(counts.begin(), counts.end(), 0.0);
  };
  const auto check = [&] { return course::same(d_count.download(), expected, "counts"); };
  ladder.reference("arrivals", static_cast<double>(n), "1024 doors", n);
  ladder.rung({.name = "count_arrivals",
               .changed = "the result is thrown away: RED",
               .reset = reset,
               .launch = [&] { count_arrivals(n, kDoors, d_count.data(), nullptr); },
               .result = result,
               .check = check,
               .l2 = course::L2::warm,
               .operations = n});
  ladder.rung({.name = "count_and_see",
               .changed = "the result is looked at: ATOM",
               .reset = reset,
               .launch = [&] { count_and_see(n, kDoors, d_count.data(), d_last.data(), nullptr); },
               .result = result,
               .check = check,
               .l2 = course::L2::warm,
               .operations = n});
}

/// One point of a curve: n additions of 1 to `addresses` addresses.
template <class T, class Run>
void point(course::Ladder& ladder, const std::string& name, const std::string& series,
           std::size_t n, std::size_t addresses, Run run) {
  course::DeviceBuffer<T> d_y(addresses);
  ladder.rung(
      {.name = name,
       .changed =
           series + ", " + std::to_string(addresses) + (addresses == 1 ? " address" : " addresses"),
       .reset = [&] { d_y.fill_bytes(0); },
       .launch = [&] { run(n, addresses, d_y.data(), cudaStream_t{}); },
       .result =
           [&] {
             const std::vector<T> y = d_y.download();
             return std::accumulate(y.begin(), y.end(), 0.0);
           },
       .check = [&] { return course::same(d_y.download(), counts_of<T>(n, addresses), "counts"); },
       .n = n,
       .l2 = course::L2::warm,
       .operations = n,
       .series = series,
       .x = static_cast<double>(addresses)});
}

void contention(course::Ladder& ladder) {
  const std::size_t n = at_most(ladder, kExactFloatCounts, std::size_t{1} << 12);
  ladder.reference("contention", static_cast<double>(n),
                   "atomicAdd of 1, by the number of addresses", n);
  for (std::size_t addresses = 1; addresses <= std::size_t{1} << 20; addresses *= 2) {
    if (course::kCpuDevice && addresses != 1 && addresses != 32 && addresses != 1024) continue;
    const std::string to = "_to_" + std::to_string(addresses);
    point<float>(ladder, "add_float" + to, "float", n, addresses,
                 [](auto... arguments) { add_to_addresses<float>(arguments...); });
    point<int>(ladder, "add_int" + to, "int", n, addresses,
               [](auto... arguments) { add_to_addresses<int>(arguments...); });
  }
  point<float>(ladder, "add_float_to_one_known", "float, address known", n, 1,
               [](std::size_t k, std::size_t, float* y, cudaStream_t s) {
                 add_to_one_known<float>(k, y, s);
               });
  point<int>(
      ladder, "add_int_to_one_known", "int, address known", n, 1,
      [](std::size_t k, std::size_t, int* y, cudaStream_t s) { add_to_one_known<int>(k, y, s); });
}

void doubles(course::Ladder& ladder) {
  const std::size_t n = at_most(ladder, std::size_t{1} << 20, std::size_t{1} << 11);
  ladder.reference("double_additions", static_cast<double>(n),
                   "double additions of 1, by the number of addresses", n);
  for (const unsigned power : {8u, 12u, 16u, 20u}) {  // fewer addresses: CAS takes for ever
    if (course::kCpuDevice && power > 12) continue;
    const std::size_t addresses = std::size_t{1} << power;
    const std::string to = "_to_" + std::to_string(addresses);
    point<double>(ladder, "add_double_cas" + to, "atomicCAS loop", n, addresses,
                  [](auto... arguments) { add_double_cas(arguments...); });
    point<double>(ladder, "add_double_native" + to, "atomicAdd(double*)", n, addresses,
                  [](auto... arguments) { add_double_native(arguments...); });
  }
}

}  // namespace

int main(int argc, char** argv) {
  course::Ladder ladder("02-atomic-functions", argc, argv, {.cpu_n = std::size_t{1} << 14});
  return ladder.run([](course::Ladder& rungs) {
    for (const std::size_t n : rungs.sizes({std::size_t{1} << 20, std::size_t{1} << 24})) {
      maximum(rungs, n);
    }
    floats_as_integers(rungs);
    subnormals(rungs);
    stale_sum(rungs);
    missing(rungs);
    messages(rungs);
    return_values(rungs);
    orders(rungs);
    contention(rungs);
    doubles(rungs);
  });
}
