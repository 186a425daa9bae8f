// How far the past of others has become visible, as fences and atomics pass it on.
#pragma once

#include <cstdint>
#include <unordered_map>

namespace simt {

/// For each thread or block (a key; those that are not there are at 0) a clock: all its accesses with
/// a smaller one came before.
class VectorClock {
 public:
  bool empty() const { return clocks_.empty(); }
  auto begin() const { return clocks_.begin(); }
  auto end() const { return clocks_.end(); }

  /// True if an access with this clock came before.
  bool is_after(std::uint64_t key, std::uint32_t clock) const {
    const auto it = clocks_.find(key);
    return it != clocks_.end() && clock < it->second;
  }
  void raise(std::uint64_t key, std::uint32_t clock) {
    std::uint32_t& mine = clocks_[key];
    if (mine < clock) mine = clock;
  }
  /// The later of both, entry by entry.
  void join(const VectorClock& other) {
    for (const auto& [key, clock] : other) raise(key, clock);
  }

 private:
  std::unordered_map<std::uint64_t, std::uint32_t> clocks_;
};

}  // namespace simt
