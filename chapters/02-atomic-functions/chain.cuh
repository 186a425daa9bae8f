// Are these returned values possible? Atomics on one address are executed one after another, so the
// values that they return form a chain: each thread finds what another one left.
#pragma once

#include <course/cases.cuh>
#include <course/verdict.cuh>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace chain_checks {

/// "\nIts thread, ..., has made ...": sentences on a line of their own, or nothing.
using OfCall = std::function<std::string(std::size_t call)>;

template <class T>
std::uint64_t bits_of(const T& x) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &x, sizeof x);
  return bits;
}

/// Ok if some order of the threads explains everything: the first one finds `first`, each next one
/// finds what the one before it left, and the last one leaves `last`. Thread i found found[i] and
/// left left[i]. Values are compared bit by bit.
///
/// A thread is an edge from what it found to what it left, and an order is a path that walks every
/// edge once. By Euler's theorem there is one if every value is left as often as it is found, but
/// for the two ends, and if all edges are connected. `text` writes a value for the learner.
/// What `of_call(i)` says of call i goes into the message on a value that no call returned, or that two calls did.
template <class T, class Text>
course::Verdict one_chain(const std::vector<T>& found, const std::vector<T>& left, T first, T last,
                          Text text, const OfCall& of_call = {}) {
  struct Node {
    long found = 0, left = 0;  // how often threads found this value, and stored it
    std::uint64_t parent = 0;  // of a union-find forest
    T value{};
  };
  std::map<std::uint64_t, Node> nodes;
  const auto node = [&](const T& value) {
    const auto [at, is_new] = nodes.try_emplace(bits_of(value));
    if (is_new) at->second.parent = at->first, at->second.value = value;
    return at->first;
  };
  const auto root = [&](std::uint64_t bits) {
    while (nodes[bits].parent != bits) bits = nodes[bits].parent = nodes[nodes[bits].parent].parent;
    return bits;
  };
  const auto edge = [&](const T& from, const T& to) {
    const std::uint64_t a = node(from), b = node(to);
    ++nodes[a].found, ++nodes[b].left;
    nodes[root(a)].parent = root(b);
  };

  for (std::size_t i = 0; i < found.size(); ++i) edge(found[i], left[i]);
  // Of the call that should have left a value which no call returned, or of the last one that returned it.
  const auto tell_of_call = [&](std::uint64_t bits) -> std::string {
    const Node& n = nodes[bits];
    for (std::size_t back = 1; of_call && back <= found.size(); ++back) {
      const std::size_t i = found.size() - back;
      if (bits_of(n.left > n.found ? left[i] : found[i]) != bits) continue;
      const std::string told = of_call(i);
      return told.empty()
                 ? ""
                 : "\nCall " + std::to_string(i) + " returned " + text(found[i]) + "." + told;
    }
    return "";
  };
  edge(last, first);  // closes the circle: the ends are no exception any more
  for (const auto& [bits, n] : nodes) {
    const std::string value = text(n.value);
    const long stored = n.left - (bits == bits_of(first)), read = n.found - (bits == bits_of(last));
    if (n.found != n.left) {
      const auto calls = [](long count) {
        return course::counted(static_cast<std::uint64_t>(count), "call");
      };
      return {false, "returned: after " + calls(stored) + " the cell should hold " + value +
                         ", and " + calls(read) + " returned it" +
                         (bits == bits_of(first) ? "; it is there at the start, too" : "") +
                         (bits == bits_of(last) ? "; it is there at the end, too" : "") +
                         ".\nWhat a call leaves, the next call returns. At the end " + text(last) +
                         " is there." + course::left_by(n.value, value) + tell_of_call(bits)};
    }
    if (root(bits) != root(bits_of(first))) {
      return {false, "returned: " + value + " was never there: no thread before stored it"};
    }
  }
  return {};
}

template <class T>
course::Verdict one_chain(const std::vector<T>& found, const std::vector<T>& left, T first,
                          T last) {
  return one_chain(found, left, first, last, [](const T& x) { return course::number_text(x); });
}

}  // namespace chain_checks
