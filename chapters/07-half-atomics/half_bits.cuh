// For tests: halves as their 16 bits, so that nothing on the way changes a NaN or the sign of a
// zero; and a test whether what atomics returned fits together.
#pragma once

#include <cuda_fp16.h>

#include <course/cases.cuh>
#include <course/data.cuh>
#include <course/error.cuh>
#include <course/verdict.cuh>
#include <cstddef>
#include <cstring>
#include <map>
#include <string>
#include <vector>

namespace half_checks {

using Bits = unsigned short;

constexpr Bits kMinusZero = 0x8000, kInfinity = 0x7C00, kMinusInfinity = 0xFC00;

inline float float_of(Bits bits) {
  __half_raw raw;
  raw.x = bits;
  return static_cast<float>(__half(raw));
}
inline Bits bits_of(float x) {
  const __half rounded(x);
  Bits bits;
  std::memcpy(&bits, static_cast<const void*>(&rounded), sizeof bits);
  return bits;
}
inline Bits bits_of(__half x) { return bits_of(static_cast<float>(x)); }
inline bool is_nan(Bits bits) { return (bits & 0x7FFF) > kInfinity; }

/// The position of a half in the order of all: a NaN after everything, -0.0 just below 0.0.
inline int position(Bits bits) {
  if (is_nan(bits)) return 0x10000;
  const int magnitude = bits & 0x7FFF;
  return (bits & 0x8000) != 0 ? -1 - magnitude : magnitude;
}
/// The smaller one: a NaN loses.
inline Bits smaller(Bits a, Bits b) { return position(b) < position(a) ? b : a; }

/// "1.5 (0x3E00)"
inline std::string half_text(Bits bits) {
  std::string hex;
  for (int shift = 12; shift >= 0; shift -= 4) hex += "0123456789ABCDEF"[bits >> shift & 15];
  return (bits == kMinusZero ? "-0" : course::number_text(float_of(bits))) + " (0x" + hex + ")";
}

/// "n = 150 pairs; 3 blocks of 96 threads": a case of a check whose kernel is its own.
inline std::string describe(std::size_t n, const std::string& what, course::LaunchShape launch) {
  return "n = " + std::to_string(n) + what + "; " + course::counted(launch.grid, "block") + " of " +
         course::counted(launch.block, "thread");
}

/// Every bit of `found`, except that a NaN may be any NaN if `any_nan`.
inline course::Verdict same_bits(const std::string& what, Bits found, Bits expected,
                                 bool any_nan = false) {
  if (found == expected || (any_nan && is_nan(found) && is_nan(expected))) {
    return {.figure = {what, half_text(found)}};
  }
  const bool nans = is_nan(found) && is_nan(expected);
  return {false, what + ": expected " + half_text(expected) + ", found " + half_text(found) +
                     (nans ? ": a NaN too, but not the same bits" : "")};
}

/// The same for arrays, element by element.
inline course::Verdict same_bits(const std::string& what, const std::vector<Bits>& found,
                                 const std::vector<Bits>& expected, bool any_nan = false) {
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (found.at(i) == expected[i]) continue;
    const std::string name = what + "[" + std::to_string(i) + "]";
    const course::Verdict verdict = same_bits(name, found[i], expected[i], any_nan);
    if (!verdict) return verdict;
  }
  return {};
}

/// Zeros of both signs, subnormals, numbers, infinities, and NaN of several kinds: 0x7D01 is a
/// signalling one.
inline const std::vector<Bits> kAwkward = {0x0000, 0x8000, 0x0001, 0x8001, 0x03FF, 0x3C00,
                                           0xBC00, 0x3C01, 0x6800, 0x7BFF, 0xFBFF, 0x7C00,
                                           0xFC00, 0x7FFF, 0x7E00, 0xFE00, 0x7D01, 0xFFFF};

inline std::vector<__half> halves(const std::vector<Bits>& bits) {
  std::vector<__half> x(bits.size());
  if (!bits.empty()) std::memcpy(static_cast<void*>(x.data()), bits.data(), 2 * bits.size());
  return x;
}
inline __half half_of(Bits bits) { return halves({bits}).front(); }

/// Copies bits to halves in device memory, and back.
inline void set_bits(__half* d_x, const std::vector<Bits>& bits) {
  if (bits.empty()) return;
  CUDA_CHECK(cudaMemcpy(d_x, bits.data(), bits.size() * sizeof(Bits), cudaMemcpyHostToDevice));
}
inline std::vector<Bits> get_bits(const __half* d_x, std::size_t n) {
  std::vector<Bits> bits(n);
  if (n == 0) return bits;
  CUDA_CHECK(cudaMemcpy(bits.data(), d_x, n * sizeof(Bits), cudaMemcpyDeviceToHost));
  return bits;
}

/// Ok if some order of the threads explains everything: the first one finds `first`, each next one
/// finds what the one before it left, and the last one leaves `last`. Thread i found found[i] and
/// left left[i]. As a graph: values are nodes, threads are edges; is there a path that uses every
/// edge once? There is (Euler) if every node but the two ends is left as often as it is entered, and
/// all edges are connected.
inline course::Verdict one_chain(const std::vector<Bits>& found, const std::vector<Bits>& left,
                                 Bits first, Bits last) {
  std::map<Bits, Bits> parent;   // of a union-find forest: nodes that edges connect
  std::map<Bits, long> balance;  // how often a value was stored, less how often it was found
  const auto root = [&](Bits node) {
    parent.try_emplace(node, node);
    while (parent[node] != node) node = parent[node] = parent[parent[node]];
    return node;
  };
  ++balance[first], --balance[last];  // there at the start; "found" at the end
  for (std::size_t i = 0; i < found.size(); ++i) {
    --balance[found[i]], ++balance[left[i]];
    parent[root(found[i])] = root(left[i]);
  }
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto who = [&] { return "returned[" + std::to_string(i) + "]: " + half_text(found[i]); };
    if (balance[found[i]] != 0) {
      return {false,
              who() + " was returned by " + (balance[found[i]] < 0 ? "more" : "fewer") +
                  " calls than have left it there.\nEach call returns what one other call has "
                  "left. At the end " +
                  half_text(last) + " is there." + course::left_by(found[i], half_text(found[i]))};
    }
    if (root(found[i]) != root(first)) {
      return {false, who() + " was never there: no thread before stored it"};
    }
  }
  if (balance[last] != 0) {
    return {false, "in the end " + half_text(last) + " is there, but no thread left that last"};
  }
  return {};
}

}  // namespace half_checks
