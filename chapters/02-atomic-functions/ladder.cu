// Runs the rungs of chapter 02: what atomic functions do, and what they cost.
#include <algorithm>
#include <bit>
#include <course/buffer.cuh>
#include <course/data.cuh>
#include <course/ladder.cuh>
#include <numeric>
#include <string>
#include <vector>

#include "inputs.cuh"
#include "rungs.cuh"
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
  course::DeviceBuffer<unsigned> d_word(1);
  ladder.reference("max_reference", max_reference(x), "one CPU thread, exact", n);
  for (const MaxRung& rung : max_rungs()) {
    ladder.rung({.name = rung.name,
                 .changed = rung.changed,
                 .launch = [&] { rung.launch(d_x.data(), n, d_word.data()); },
                 .result = [&] { return static_cast<double>(rung.value(d_word.front())); },
                 .bytes = d_x.bytes(),
                 .n = n});
  }
#if !COURSE_CPU_DEVICE
  course::DeviceBuffer<float> d_max(1);
  course::Rung cub = cub_max(d_x.data(), n, d_max.data());
  cub.result = [&] { return static_cast<double>(d_max.front()); };
  cub.bytes = d_x.bytes();
  cub.n = n;
  ladder.vendor(cub);
#endif
}

void floats_as_integers(course::Ladder& ladder) {
  const std::size_t n = at_most(ladder, std::size_t{1} << 20, std::size_t{1} << 14);
  const std::vector<float> x = negative_values(n);
  const auto d_x = course::DeviceBuffer<float>::from(x);
  course::DeviceBuffer<float> d_max(1);
  ladder.reference("max_of_negatives_reference", max_reference(x), "all below zero", n);
  if (n < 2) return;  // a single number is its own minimum
  for (const WrongMaxRung& rung : wrong_max_rungs()) {
    ladder.wrong({.name = rung.name,
                  .changed = rung.changed,
                  .expect = course::Expect::wrong_value,
                  .because = rung.because,
                  .reset = [&] { d_max.upload({x.front()}); },
                  .launch = [&] { rung.launch(d_x.data(), n, d_max.data()); },
                  .result = [&] { return static_cast<double>(d_max.front()); },
                  .exactly = static_cast<double>(*std::min_element(x.begin(), x.end())),
                  .n = n});
  }
}

void subnormals(course::Ladder& ladder) {
  course::DeviceBuffer<float> d_y(1);
  ladder.reference("add_subnormal_reference", kSubnormal + kSubnormal, "1e-40f + 1e-40f", 1);
  for (const SubnormalRung& rung : subnormal_rungs()) {
    const course::Rung row{.name = rung.name,
                           .changed = rung.changed,
                           .reset = [&] { d_y.upload({kSubnormal}); },
                           .launch = [&] { rung.launch(kSubnormal, d_y.data()); },
                           .result = [&] { return static_cast<double>(d_y.front()); },
                           .n = 1};
    if (rung.because.empty()) {
      ladder.rung(row);
    } else {
      ladder.wrong(course::wrong_rung(row, course::Expect::wrong_value, rung.because, 0.0));
    }
  }
}

void stale_sum(course::Ladder& ladder) {
  const std::size_t n = at_most(ladder, 4096, 1024);
  const std::vector<double> x = course::position_values<double>(n);
  const auto d_x = course::DeviceBuffer<double>::from(x);
  course::DeviceBuffer<double> d_y(1);
  ladder.reference("sum_double_reference", std::accumulate(x.begin(), x.end(), 0.0),
                   "one CPU thread, exact", n);
  if (n < 512) return;  // so few threads may get away with it
  for (const StaleRung& rung : stale_rungs()) {
    ladder.wrong({.name = rung.name,
                  .changed = rung.changed,
                  .expect = course::Expect::wrong_value,
                  .because = rung.because,
                  .reset = [&] { d_y.fill_bytes(0); },
                  .launch = [&] { rung.launch(d_x.data(), n, d_y.data()); },
                  .result = [&] { return d_y.front(); },
                  .n = n});
  }
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
  for (const ProductRung& rung : product_rungs()) {
    ladder.rung({.name = rung.name,
                 .changed = rung.changed,
                 .reset = [&] { d_y.upload(std::vector<float>(addresses, 1.0f)); },
                 .launch = [&] { rung.launch(d_x.data(), n, addresses, d_y.data()); },
                 .result = [&] { return static_cast<double>(d_y.front()); },
                 .check = [&] { return course::same(d_y.download(), products, "products"); },
                 .n = n,
                 .operations = n});
  }

  const std::vector<float> values = signed_values(n);
  const auto d_values =
      course::DeviceBuffer<double>::from(std::vector<double>(values.begin(), values.end()));
  course::DeviceBuffer<double> d_max(1);
  ladder.reference("max_double_reference", max_reference(values), "one CPU thread, exact", n);
  for (const DoubleMaxRung& rung : double_max_rungs()) {
    ladder.rung({.name = rung.name,
                 .changed = rung.changed,
                 .reset = [&] { d_max.fill_bytes(0xFF); },  // a NaN, which every number beats
                 .launch = [&] { rung.launch(d_values.data(), n, d_max.data()); },
                 .result = [&] { return d_max.front(); },
                 .n = n,
                 .operations = n});
  }
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
  ladder.reference("messages", static_cast<double>(n), "all of them arrive", n);
  for (const MessageRung& rung : message_rungs()) {
    const course::Rung row{
        .name = rung.name,
        .changed = rung.changed,
        .reset = reset,
        .launch = [&] { rung.launch(n, d_message.data(), d_flag.data(), d_received.data()); },
        .result = result,
        .n = n};
    if (rung.because.empty()) {
      ladder.rung(row);
    } else {
      ladder.wrong(course::wrong_rung(row, course::Expect::race, rung.because));
    }
  }
}

template <class T>
double sum_of(const course::DeviceBuffer<T>& d_y) {
  const std::vector<T> y = d_y.download();
  return std::accumulate(y.begin(), y.end(), 0.0);
}

/// The row of a rung that adds n ones to d_y.
template <class T>
course::Rung row(const AddRung<T>& rung, std::size_t n, course::DeviceBuffer<T>& d_y) {
  return {
      .name = rung.name,
      .changed = rung.changed,
      .reset = [&d_y] { d_y.fill_bytes(0); },
      .launch = [rung, n, &d_y] { rung.launch(n, d_y.size(), d_y.data()); },
      .result = [&d_y] { return sum_of(d_y); },
      .check =
          [n, &d_y] { return course::same(d_y.download(), counts_of<T>(n, d_y.size()), "counts"); },
      .n = n,
      .l2 = course::L2::warm,
      .operations = n};
}

void orders(course::Ladder& ladder) {
  const std::size_t n = at_most(ladder, std::size_t{1} << 22, 1024);
  course::DeviceBuffer<unsigned> d_y(course::kCpuDevice ? 64 : 4096);
  ladder.reference("counts", static_cast<double>(n), "4096 addresses on a GPU", n);
  for (const AddRung<unsigned>& rung : order_rungs()) ladder.rung(row(rung, n, d_y));
}

void return_values(course::Ladder& ladder) {
  const std::size_t n = ladder.n();
  constexpr std::size_t kDoors = 1024;
  course::DeviceBuffer<unsigned> d_count(kDoors), d_last(kDoors);
  ladder.reference("arrivals", static_cast<double>(n), "1024 counters", n);
  for (const ArrivalRung& rung : arrival_rungs()) {
    ladder.rung({.name = rung.name,
                 .changed = rung.changed,
                 .reset =
                     [&] {
                       d_count.fill_bytes(0);
                       d_last.fill_bytes(0xFF);
                     },
                 .launch = [&] { rung.launch(n, kDoors, d_count.data(), d_last.data()); },
                 .result = [&] { return sum_of(d_count); },
                 .check =
                     [&] {
                       return course::same(d_count.download(), counts_of<unsigned>(n, kDoors),
                                           "counts");
                     },
                 .l2 = course::L2::warm,
                 .operations = n});
  }
}

/// One point of a curve: n additions of 1 to `addresses` addresses.
template <class T>
void point(course::Ladder& ladder, const AddRung<T>& rung, std::size_t n, std::size_t addresses) {
  if (rung.one_address && addresses > 1) return;
  course::DeviceBuffer<T> d_y(addresses);
  course::Rung point = row(rung, n, d_y);
  point.series = rung.changed;
  point.x = static_cast<double>(addresses);
  if (!rung.one_address) point.name += "_to_" + std::to_string(addresses);
  point.changed += ", " + std::to_string(addresses) + (addresses == 1 ? " address" : " addresses");
  ladder.rung(point);
}

void contention(course::Ladder& ladder) {
  const std::size_t n = at_most(ladder, kExactFloatCounts, std::size_t{1} << 12);
  const std::vector<AddRung<float>> floats = contention_rungs<float>("float");
  const std::vector<AddRung<int>> ints = contention_rungs<int>("int");
  ladder.reference("contention", static_cast<double>(n),
                   "atomicAdd of 1, by the number of addresses", n);
  for (std::size_t addresses = 1; addresses <= std::size_t{1} << 20; addresses *= 2) {
    if (course::kCpuDevice && addresses != 1 && addresses != 32 && addresses != 1024) continue;
    point(ladder, floats.front(), n, addresses);
    point(ladder, ints.front(), n, addresses);
  }
  point(ladder, floats.back(), n, 1);
  point(ladder, ints.back(), n, 1);
}

void doubles(course::Ladder& ladder) {
  const std::size_t n = at_most(ladder, std::size_t{1} << 20, std::size_t{1} << 11);
  ladder.reference("double_additions", static_cast<double>(n),
                   "double additions of 1, by the number of addresses", n);
  for (const unsigned power : {8u, 12u, 16u, 20u}) {  // with fewer addresses CAS takes minutes
    if (course::kCpuDevice && power > 12) continue;
    for (const AddRung<double>& rung : double_rungs()) {
      point(ladder, rung, n, std::size_t{1} << power);
    }
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
