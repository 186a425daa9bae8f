// Check of the exercise stack_pop: one thread that empties and fills the list, threads of several
// blocks that take one node or two at a time, in lists of few and of many nodes; what is written to
// a node before it is pushed; that a head is not used again for another list; and that calls end
// where other threads have stopped in the middle of theirs.
#include "stack_pop.cuh"

#include <catch2/catch_test_macros.hpp>
#include <course/check.cuh>
#include <cstddef>
#include <map>
#include <numeric>
#include <string>
#include <vector>

namespace stack_pop_check {

using ull = unsigned long long;

constexpr unsigned kEnd = 0xFFFF'FFFF;  // the exercise calls it kNoNode

/// A list of all nodes: 0, 1, 2, ...
struct List {
  explicit List(unsigned count)
      : nodes(count), head(1), next(count), owner(count), payload(count), shared(2) {
    std::vector<unsigned> followers(count);
    for (unsigned k = 0; k < count; ++k) followers[k] = k + 1 < count ? k + 1 : kEnd;
    const ull first = 0;
    CUDA_CHECK(cudaMemcpy(next.data(), followers.data(), count * sizeof(unsigned),
                          cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(head.data(), &first, sizeof first, cudaMemcpyHostToDevice));
    owner.fill_bytes(0);
    payload.fill_bytes(0);
    shared.fill_bytes(0);
  }
  unsigned nodes;
  course::GuardedBuffer<ull> head;
  course::GuardedBuffer<unsigned> next, owner, payload, shared;
};

/// The nodes from the head on; one more than there are if the list does not end.
std::vector<unsigned> walk(const List& list) {
  const std::vector<unsigned> next = list.next.download();
  std::vector<unsigned> met;
  auto node = static_cast<unsigned>(list.head.download().front());
  while (node < list.nodes && met.size() <= list.nodes) {
    met.push_back(node);
    node = next[node];
  }
  return met;
}

/// One thread takes all nodes, and one more; then pushes the even ones, and takes two.
__global__ void alone(ull* head, unsigned* next, unsigned nodes, unsigned* results) {
  unsigned r = 0;
  while (r < nodes + 1) results[r++] = pop(head, next);
  for (unsigned k = 0; k < nodes; k += 2) push(head, next, k);
  results[r++] = pop(head, next);
  results[r++] = pop(head, next);
}

/// One thread changes the list again and again: of two nodes in it node 0 is first, and is followed by node 2 in even
/// turns, by node 1 in odd ones. heads[k] is the head of turn k. *none counts calls that found no node.
/// From an even turn to an odd one there are 12 k + 4 calls, 6 k + 2 of them of pop() and as many of push(): any version of
/// a few bits comes back, whichever calls change it.
__global__ void change_followers(ull* head, unsigned* next, unsigned turns, ull* heads,
                                 unsigned* none) {
  for (unsigned turn = 0; turn < turns; turn += 2) {
    const unsigned first = pop(head, next), second = pop(head, next);
    push(head, next, first);
    heads[turn] = *static_cast<volatile ull*>(head);
    pop(head, next);
    const unsigned third = pop(head, next);
    if (first == kEnd || second == kEnd || third == kEnd) ++*none;
    if (*none != 0) return;
    push(head, next, second);
    push(head, next, first);
    heads[turn + 1] = *static_cast<volatile ull*>(head);
    pop(head, next);
    pop(head, next);
    push(head, next, third);
    push(head, next, second);
    push(head, next, first);
  }
}

/// Calls of pop() before heads[turn] is kept.
constexpr unsigned calls_before(unsigned turn) { return turn / 2 * 6 + (turn % 2 == 0 ? 2 : 4); }

/// Ok if no two turns with different followers have the same head.
course::Verdict each_head_has_one_follower(const std::vector<ull>& heads) {
  std::map<ull, unsigned> turn_of;
  for (unsigned turn = 0; turn < heads.size(); ++turn) {
    const unsigned before = turn_of.try_emplace(heads[turn], turn).first->second;
    if (before % 2 == turn % 2) continue;
    return {
        false,
        "*head was " + std::to_string(heads[turn] >> 32) + " in its upper half and " +
            std::to_string(heads[turn] & 0xFFFF'FFFFu) + " in its lower one when next[0] was " +
            std::to_string(2 - before % 2) + ", and is the same now that it is " +
            std::to_string(2 - turn % 2) + ", after " +
            course::counted(calls_before(turn) - calls_before(before), "call") +
            " of pop().\nBy *head alone, a pop() that has waited meanwhile cannot tell the two lists apart "
            "(ABA). Does something else keep them apart? A lock may not: no pop() waits for another."};
  }
  return {};
}

/// Each thread takes a node, or two, adds 1 to the node's ordinary payload, and puts it back. shared[0]
/// counts nodes that had an owner already, shared[1] calls that found no node.
__global__ void take_and_put(ull* head, unsigned* next, unsigned turns, unsigned* owner,
                             unsigned* payload, unsigned* shared) {
  for (unsigned turn = 0; turn < turns; ++turn) {
    unsigned mine[2];
    for (unsigned& node : mine) {
      node = pop(head, next);
      if (node == kEnd) atomicAdd(&shared[1], 1u);
      if (node == kEnd) continue;
      if (atomicExch(&owner[node], 1u) != 0) atomicAdd(&shared[0], 1u);
      payload[node] += 1;
    }
    for (const unsigned node : mine) {  // the one that was first is pushed first
      if (node == kEnd) continue;
      atomicExch(&owner[node], 0u);
      push(head, next, node);
    }
  }
}

/// Every second thread takes a node and puts it back, and the others wait at a barrier of the block.
__global__ void take_in_halves(ull* head, unsigned* next) {
  for (unsigned half = 0; half < 2; ++half) {
    if (threadIdx.x % 2 == half) push(head, next, pop(head, next));
    __syncthreads();
  }
}

/// Blocks take nodes and put them back, until a thread of block 0 stops them all, wherever they are.
__global__ void take_until_stopped(ull* head, unsigned* next, unsigned looks) {
  if (blockIdx.x == 0) {
    for (unsigned look = 0; look < looks; ++look) __nanosleep(64);
    __trap();
  }
  for (;;) {
    const unsigned node = pop(head, next);
    if (node != kEnd) push(head, next, node);
  }
}

__global__ void take_one_and_put_one(ull* head, unsigned* next, unsigned node) {
  pop(head, next);
  push(head, next, node);
}

void check_users(course::LaunchShape launch, unsigned nodes, unsigned turns) {
  INFO(nodes << " nodes, " << turns << " turns; " << course::launch_text("take_and_put", launch)
             << "\npayload[i] is used only between the pop() that returns i and the push() of i");
  List list(nodes);
  course::launch(take_and_put, {launch.grid, launch.threads()}, list.head.data(), list.next.data(),
                 turns, list.owner.data(), list.payload.data(), list.shared.data());
  const std::vector<unsigned> shared = list.shared.download();
  REQUIRE(course::none(shared[0], "nodes with two users"));
  if (nodes >= 2 * launch.grid * launch.block) {
    REQUIRE(course::none(shared[1], "calls of pop() that returned kNoNode",
                         "there are two nodes for each thread: the list is never empty"));
  }
  std::vector<unsigned> all(nodes);
  std::iota(all.begin(), all.end(), 0u);
  REQUIRE(course::same_set(walk(list), all, "nodes in the list"));
  REQUIRE(list.head.intact("head"));
  REQUIRE(list.next.intact("next"));
}

// Promise: pop() takes the first node of the list, and returns its number;
// kNoNode if the list is empty.
// Promise: push() makes a node the first one of the list.
TEST_CASE("stack_pop: one thread gets the nodes in the order of the list, and then none") {
  for (const unsigned nodes : {1u, 2u, 3u, 40u}) {
    INFO(course::counted(nodes, "node"));
    std::vector<unsigned> expected(nodes);
    std::iota(expected.begin(), expected.end(), 0u);
    expected.push_back(kEnd);
    const unsigned last = (nodes - 1) / 2 * 2;  // the even node that is pushed last
    expected.push_back(last);
    expected.push_back(last == 0 ? kEnd : last - 2);
    List list(nodes);
    course::GuardedBuffer<unsigned> results(expected.size());
    course::launch(alone, {1, 1}, list.head.data(), list.next.data(), nodes, results.data());
    REQUIRE(course::same(results.download(), expected, "results"));
  }
}

// Promise: no thread waits for another one: if a call has to try again, another call has succeeded
// (ENDLESS LOOP of a call that waits for a thread that has stopped; CPU device only).
TEST_CASE("stack_pop: other threads stop in the middle of their calls") {
  course::skip_without_checker();  // __trap() would end this process's use of a GPU
  for (unsigned looks = 1; looks <= 12; ++looks) {
    List list(8);
    const std::uint64_t seed =
        course::seed() == 0 ? looks : course::seed();  // in the first schedule calls are whole
    const course::Findings found = course::find_races([&] {
      course::with_seed(seed, [&] {
        course::launch(take_until_stopped, {4, 1}, list.head.data(), list.next.data(), looks);
        CUDA_CHECK(cudaDeviceSynchronize());
      });
    });
    for (const std::string& text : found.texts) {
      if (text.rfind("KERNEL STOPPED", 0) != 0) FAIL(text);
    }
    INFO(
        "three threads have stopped somewhere in pop() or push(), and will never go on; then "
        "one thread calls pop() and push()");
    course::launch(take_one_and_put_one, {1, 1}, list.head.data(), list.next.data(), 7u);
    CUDA_CHECK(cudaDeviceSynchronize());
  }
}

// Promise: no two threads have the same node, also if a call waits long between its look at *head
// and its compare-and-swap (the same *head must not come back within 72,000 calls of pop()).
TEST_CASE("stack_pop: a pop that has waited for long does not take the head of another list") {
  const unsigned turns = course::has_run_before() ? 400 : 24'000;
  List list(3);
  course::GuardedBuffer<ull> heads(turns);
  course::launch(change_followers, {1, 1}, list.head.data(), list.next.data(), turns, heads.data(),
                 list.shared.data());
  REQUIRE(course::none(list.shared.download().front(), "calls of pop() that returned kNoNode",
                       "the list has three nodes"));
  REQUIRE(each_head_has_one_follower(heads.download()));
}

// Promise: any thread of the grid may call pop() and push() at any time, and no two
// threads have the same node.
// Promise: what a thread wrote with ordinary stores before it pushed a node is seen by the thread
// that pops it (DATA RACE on payload).
TEST_CASE("stack_pop: every node has one user at a time, in lists of few nodes") {
  for (const unsigned nodes : {1u, 2u, 3u, 4u, 7u}) {
    check_users({4, 1}, nodes, 30);
    check_users({3, 8}, nodes, 8);
    check_users({1, 32}, nodes, 6);
  }
}

// Promise: the low 32 bits of *head are the first node's number, or kNoNode, and next[k] is the
// node after node k (the list is walked through).
// Promise: pop() returns kNoNode only if the list is empty (with two nodes
// for each thread it never is).
TEST_CASE("stack_pop: every node has one user at a time, in lists of many nodes") {
  check_users({4, 32}, 300, 3);
  check_users({2, 64}, 33, 3);
  check_users({2, 64, true}, 300, 2);
}

// Promise: any lanes of a warp may call it while the others wait for them at a barrier (DEADLOCK).
TEST_CASE("stack_pop: some lanes of a warp call, and the others wait for them") {
  List list(40);
  course::launch(take_in_halves, {1, 32}, list.head.data(), list.next.data());
  REQUIRE(course::same(walk(list).size(), std::size_t{40}, "nodes in the list"));
}

// Promise: no two threads have the same node where the lanes of a warp go in step.
TEST_CASE("stack_pop: the lanes of a warp go in step") {
  course::count([] {
    check_users({2, 32}, 20, 2);
    check_users({2, 32}, 128, 2);
  });
}

#if !COURSE_CPU_DEVICE  // too many turns for it
// Promise: no two of thousands of threads have the same node (GPU only).
TEST_CASE("stack_pop: thousands of turns") {
  if (course::skip_large()) SKIP("COURSE_SKIP_LARGE is set");
  for (const unsigned nodes : {3u, 100u}) check_users({64, 32}, nodes, 50);
}
#endif

}  // namespace stack_pop_check
