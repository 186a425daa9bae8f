// Runs the rungs of chapter 09: a filter that keeps 0, 5, 50 and 100 % of its numbers, places in
// several lists, and a float sum.
#include <algorithm>
#include <course/buffer.cuh>
#include <course/data.cuh>
#include <course/ladder.cuh>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "aggregate.cuh"
#include "filter.cuh"
#include "inputs.cuh"
#include "ordered.cuh"
#include "tiles.cuh"
#include "wrong.cuh"
#if !COURSE_CPU_DEVICE
#include "vendor.cuh"
#endif

namespace {

using course::DeviceBuffer;

void filters(course::Ladder& ladder, unsigned percent) {
  const std::size_t n = ladder.n();
  std::vector<int> x = filter_input(n, percent);
  const auto d_x = DeviceBuffer<int>::from(x);
  const auto expected = DeviceBuffer<int>::from(filter_reference(x));
  x = {};  // a GiB of the host's memory
  DeviceBuffer<int> out(std::max<std::size_t>(n, 1));
  DeviceBuffer<Count> count(1);
  TileCounts counts;
  LookBack memory;
  const std::string kept = std::to_string(percent) + " % kept";
  ladder.reference("filter_reference", static_cast<double>(expected.size()),
                   "one CPU thread, std::copy_if; " + kept);

  const auto rung = [&](const std::string& name, const std::string& changed, bool in_order,
                        std::function<void()> launch) -> course::Rung {
    return {.name = name,
            .changed = changed + "; " + kept,
            .reset =
                [&] {
                  count.fill_bytes(0);
                  out.fill_bytes(0xff);  // or a rung that writes nothing would look right
                },
            .launch = std::move(launch),
            .result = [&] { return static_cast<double>(count.front()); },
            .check =
                [&, in_order] {
                  const course::Verdict size =
                      course::same(count.front(), expected.size(), "count");
                  return size.ok ? kept_is_right(out, expected, in_order) : size;
                },
            .bytes = (n + expected.size()) * sizeof(int)};
  };
  const auto append = [&](const std::string& name, const std::string& changed, auto filter) {
    ladder.rung(rung(name, changed, false,
                     [&, filter] { filter(d_x.data(), n, out.data(), count.data(), nullptr); }));
  };
  using Filter = void (*)(const int*, std::size_t, int*, Count*, cudaStream_t);
  append("filter_plain", "one atomicAdd a kept number", Filter{filter_plain});
  append("filter_block_counter", "the block counts in shared memory", Filter{filter_block_counter});
  append("filter_agg_inc", "one atomic a warp: __activemask()", Filter{filter_agg_inc});
  append("filter_coalesced", "the same by coalesced_threads()", Filter{filter_coalesced});
  append("filter_block_scan", "one atomic a block, by a prefix sum", Filter{filter_block_scan});
  append("filter_tile_direct", "one atomic for 6144 numbers", Filter{filter_tile_direct<>});
  append("filter_tile_staged", "sorted in shared memory, 16-byte stores",
         Filter{filter_tile_staged<>});
  ladder.rung(rung("filter_two_passes", "keeps the order: count, add up, write", true, [&] {
    filter_two_passes(d_x.data(), n, out.data(), count.data(), counts, nullptr);
  }));
  ladder.rung(rung("filter_look_back", "keeps the order in one pass", true, [&] {
    filter_look_back(d_x.data(), n, out.data(), count.data(), memory, nullptr);
  }));
  if (percent == 50 && n >= 1024) {
    ladder.wrong(
        {.name = "filter_all_call",
         .changed = "atomic_agg_inc in front of the if",
         .because = "lanes that want no place get one: the count is n",
         .reset = [&] { count.fill_bytes(0); },
         .launch = [&] { filter_all_call(d_x.data(), n, out.data(), count.data(), nullptr); },
         .result = [&] { return static_cast<double>(count.front()); },
         .exactly = static_cast<double>(n)});
  }
#if !COURSE_CPU_DEVICE
  ladder.vendor(rung("cub::DeviceSelect::If", "CUB, keeps the order", true,
                     cub_filter(d_x.data(), n, out.data(), count.data())));
#endif
}

/// Places in lists: the table shows how many numbers have the commonest key.
void places(course::Ladder& ladder, std::size_t keys) {
  const std::size_t n = std::min(ladder.n(), std::size_t{1} << (course::kCpuDevice ? 12 : 24));
  const std::vector<int> key = random_keys(n, keys);
  const std::vector<Count> expected = count_keys(key, keys), zeros(keys, 0);
  const auto commonest = static_cast<std::size_t>(
      std::max_element(expected.begin(), expected.end()) - expected.begin());
  const auto d_key = DeviceBuffer<int>::from(key);
  DeviceBuffer<Count> counts(keys), where(std::max<std::size_t>(n, 1));
  const std::string lists = std::to_string(keys) + " lists";
  ladder.reference("count_keys", static_cast<double>(expected[commonest]),
                   lists + "; the longest is shown", n);
  const auto reset = [&] {
    counts.fill_bytes(0);
    where.fill_bytes(0xff);
  };
  const auto result = [&] { return static_cast<double>(counts.download()[commonest]); };
  const auto check = [&] {
    const course::Verdict sizes = course::same(counts.download(), expected, "counts");
    return sizes.ok ? places_are_right(where.download(), key, zeros) : sizes;
  };
  const auto rung = [&](const std::string& name, const std::string& changed, auto launch) {
    ladder.rung(
        {.name = name,
         .changed = changed + "; " + lists,
         .reset = reset,
         .launch = [&, launch] { launch(d_key.data(), n, counts.data(), where.data(), nullptr); },
         .result = result,
         .check = check,
         .bytes = n * (sizeof(int) + sizeof(Count)),
         .operations = n});
  };
  using Places = void (*)(const int*, std::size_t, Count*, Count*, cudaStream_t);
  rung("places_plain", "an atomicAdd a number", Places{places_plain});
  rung("places_keyed", "one for each key of a warp", Places{places_keyed});
  rung("places_labeled", "the same by labeled_partition()", Places{places_labeled});
  if (n >= 1024) {
    ladder.wrong(
        {.name = "places_agg_inc",
         .changed = "atomic_agg_inc with a counter for each lane",
         .because = "the leader's counter gets the numbers of all lanes",
         .reset = reset,
         .launch = [&] { places_agg_inc(d_key.data(), n, counts.data(), where.data(), nullptr); },
         .result = result,
         .check = check});
  }
}

/// A sum of the numbers above a limit: eighths, so that it is exact in any order.
void floats(course::Ladder& ladder) {
  const std::size_t n = std::min(ladder.n(), std::size_t{1} << (course::kCpuDevice ? 12 : 22));
  constexpr float kLimit = 1.0f;
  std::vector<float> x = course::position_values<float>(n);
  double expected = 0;
  for (float& value : x) {
    if (value > kLimit) value = 1.5f;  // 2^22 times 1.5, in steps of 0.5: below 2^24 steps
    expected += value > kLimit ? value : 0;
  }
  const auto d_x = DeviceBuffer<float>::from(x);
  DeviceBuffer<float> sum(1);
  ladder.reference("sum above 1", expected, "one CPU thread, in double", n);
  const auto rung = [&](const std::string& name, const std::string& changed, auto launch) {
    ladder.rung({.name = name,
                 .changed = changed,
                 .reset = [&] { sum.fill_bytes(0); },
                 .launch = [&, launch] { launch(d_x.data(), n, kLimit, sum.data(), nullptr); },
                 .result = [&] { return static_cast<double>(sum.front()); },
                 .bytes = d_x.bytes()});
  };
  using Sum = void (*)(const float*, std::size_t, float, float*, cudaStream_t);
  rung("sum_float_plain", "a float atomicAdd for each number above the limit",
       Sum{sum_float_plain});
  rung("sum_float_coalesced", "one a warp: cg::reduce of those that are here",
       Sum{sum_float_coalesced});
  rung("sum_float_warp", "one a warp: all 32 lanes, who has nothing brings 0", Sum{sum_float_warp});
}

}  // namespace

int main(int argc, char** argv) {
  course::Ladder ladder("09-warp-aggregated", argc, argv,
                        {.gpu_n = std::size_t{1} << 28, .cpu_n = std::size_t{1} << 13});
  return ladder.run([](course::Ladder& rungs) {
    for (const unsigned percent : {0u, 5u, 50u, 100u}) filters(rungs, percent);
    for (const std::size_t keys : {4u, 64u}) places(rungs, keys);
    floats(rungs);
  });
}
