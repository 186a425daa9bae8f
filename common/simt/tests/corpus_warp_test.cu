// Warp-aggregated atomics, right and in the wrong forms that learners write: a filter that appends,
// and counting by key.
#include <cuda_runtime.h>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <vector>

#include "testing.hpp"

using simt::ReportKind;
using namespace simt_test;

namespace {
__device__ unsigned lane_id() { return threadIdx.x % 32; }
__device__ unsigned lanes_before() { return (1u << lane_id()) - 1; }
__device__ unsigned first_of(unsigned mask) {
  return static_cast<unsigned>(__ffs(static_cast<int>(mask))) - 1;
}
__device__ unsigned number_of(unsigned mask) { return static_cast<unsigned>(__popc(mask)); }
}  // namespace

// ---- a filter: one atomic for all lanes that keep something -------------------------------------

namespace filter {

enum class Form {
  right,            // the group is whoever is here together
  right_by_ballot,  // the group is voted for before the branch
  no_broadcast,
  full_mask_in_branch,
  counts_itself_twice,
  leader_is_lane_zero,
  plain_counter,
  counter_read_again,
  output_too_small,
  ballot_in_branch,
  counter_not_cleared
};

template <Form form>
__device__ unsigned next_slot(unsigned* counter) {
  const unsigned active = __activemask();
  const unsigned leader = form == Form::leader_is_lane_zero ? 0 : first_of(active);
  const unsigned before =
      form == Form::counts_itself_twice ? lanes_before() * 2 + 1 : lanes_before();
  const unsigned rank = number_of(active & before);
  unsigned first = 0;
  if (lane_id() == first_of(active)) first = atomicAdd(counter, number_of(active));
  if (form == Form::full_mask_in_branch) {
    first = __shfl_sync(0xffffffffu, first, static_cast<int>(leader));
  } else if (form != Form::no_broadcast) {
    first = __shfl_sync(active, first, static_cast<int>(leader));
  }
  return first + rank;
}

template <Form form>
__global__ void keep_positive(int* out, unsigned* counter, const int* x, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= n) return;
  if ((form == Form::ballot_in_branch || form == Form::full_mask_in_branch) && x[i] <= 0) {
    __syncwarp();  // the others go on here, and do not take part
    return;
  }
  if (form == Form::right_by_ballot || form == Form::ballot_in_branch) {
    const unsigned kept = __ballot_sync(0xffffffffu, x[i] > 0);
    if (x[i] <= 0) return;
    unsigned first = 0;
    if (lane_id() == first_of(kept)) first = atomicAdd(counter, number_of(kept));
    first = __shfl_sync(kept, first, static_cast<int>(first_of(kept)));
    out[first + number_of(kept & lanes_before())] = x[i];
    return;
  }
  if (x[i] <= 0) return;
  if (form == Form::plain_counter) {
    out[*counter] = x[i];
    atomicAdd(counter, 1u);
  } else if (form == Form::counter_read_again) {
    atomicAdd(counter, 1u);
    out[*counter - 1] = x[i];
  } else {
    out[next_slot<form>(counter)] = x[i];
  }
}

template <Form form>
bool run() {
  constexpr int n = 1007;
  std::vector<int> numbers(n), expected;
  for (int i = 0; i < n; ++i) numbers[static_cast<std::size_t>(i)] = i * 7919 % 211 - 100;
  for (const int v : numbers) {
    if (v > 0) expected.push_back(v);
  }
  const Array<int> x(numbers);
  const Array<int> out(
      std::vector<int>(expected.size() - (form == Form::output_too_small ? 1 : 0)));
  const bool clear = form != Form::counter_not_cleared;
  auto counter = clear ? Array<unsigned>::zeros(1) : Array<unsigned>(1);
  keep_positive<form><<<8, 128>>>(out.data(), counter.data(), x.data(), n);
  std::vector<int> found = out.values();
  std::sort(found.begin(), found.end());
  std::sort(expected.begin(), expected.end());
  return counter.front() == expected.size() && found == expected;
}

}  // namespace filter

TEST_CASE("filter: right") {
  using namespace filter;
  CHECK(first_complaint(run<Form::right>) == "");
  CHECK(first_complaint(run<Form::right_by_ballot>) == "");
}

TEST_CASE("filter: wrong forms") {
  using namespace filter;
  CHECK(wrong(ReportKind::race, run<Form::no_broadcast>) == "");
  CHECK(wrong(ReportKind::out_of_bounds, run<Form::counts_itself_twice>) == "");
  CHECK(wrong(ReportKind::out_of_bounds, run<Form::leader_is_lane_zero>) == "");
  CHECK(wrong(ReportKind::race, run<Form::plain_counter>) == "");
  CHECK(wrong(ReportKind::race, run<Form::counter_read_again>) == "");
  CHECK(wrong(ReportKind::out_of_bounds, run<Form::output_too_small>) == "");
  CHECK(wrong(ReportKind::barrier, run<Form::ballot_in_branch>) == "");
  CHECK(wrong(ReportKind::barrier, run<Form::full_mask_in_branch>) == "");
  CHECK(wrong(ReportKind::uninitialised, run<Form::counter_not_cleared>) == "");
}

// ---- counting by key: one atomic for all lanes with the same key --------------------------------

namespace by_key {

enum class Form {
  right,
  full_mask,  // every lane takes part
  leader_of_all,
  counts_all,
  no_broadcast,
  full_mask_in_branch
};

template <Form form>
__global__ void number(const int* key, unsigned* count, unsigned* slot, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= n) return;
  const int k = key[i];
  if (k < 0) return;
  const bool full = form == Form::full_mask || form == Form::full_mask_in_branch;
  const unsigned active = full ? 0xffffffffu : __activemask();
  const unsigned equal = __match_any_sync(active, k);
  const unsigned leader = first_of(form == Form::leader_of_all ? active : equal);
  unsigned first = 0;
  if (lane_id() == leader) {
    first = atomicAdd(&count[k], number_of(form == Form::counts_all ? active : equal));
  }
  if (form != Form::no_broadcast) first = __shfl_sync(equal, first, static_cast<int>(leader));
  slot[i] = first + number_of(equal & lanes_before());
}

/// Every key's elements must have got the numbers 0, 1, 2, ... in any order.
template <Form form>
bool run() {
  constexpr int n = 1007, keys = 10;
  std::vector<int> key(n);
  for (int i = 0; i < n; ++i) {
    const int k = i * 7 + i / 9;
    key[static_cast<std::size_t>(i)] = form == Form::full_mask ? k % keys : k % (keys + 3) - 3;
  }
  const Array<int> d_key(key);
  const Array<unsigned> slot(std::vector<unsigned>(n, 0));
  auto count = Array<unsigned>::zeros(keys);
  number<form><<<8, 128>>>(d_key.data(), count.data(), slot.data(), n);
  const std::vector<unsigned> counts = count.values(), slots = slot.values();
  for (int k = 0; k < keys; ++k) {
    std::vector<unsigned> numbers;
    for (std::size_t i = 0; i < n; ++i) {
      if (key[i] == k) numbers.push_back(slots[i]);
    }
    if (counts[static_cast<std::size_t>(k)] != numbers.size()) return false;
    std::sort(numbers.begin(), numbers.end());
    for (std::size_t j = 0; j < numbers.size(); ++j) {
      if (numbers[j] != j) return false;
    }
  }
  return true;
}

}  // namespace by_key

TEST_CASE("counting by key: right") {
  using namespace by_key;
  CHECK(first_complaint(run<Form::right>) == "");
  CHECK(first_complaint(run<Form::full_mask>) == "");
}

TEST_CASE("counting by key: wrong forms") {
  using namespace by_key;
  CHECK(wrong_values(run<Form::leader_of_all>) == "");
  CHECK(wrong_values(run<Form::counts_all>) == "");
  CHECK(wrong_values(run<Form::no_broadcast>) == "");
}

TEST_CASE(
    "counting by key: a full mask in a branch whose other lanes returned is legal, with a note") {
  using namespace by_key;
  bool is_right = false;
  const auto outcome = simt_test::observe([&] { is_right = run<Form::full_mask_in_branch>(); });
  CHECK(is_right);
  CHECK(outcome.clean());
  CHECK(!outcome.notes.empty());
}
