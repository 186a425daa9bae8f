// What the memory model of PTX says of one execution: which of its accesses race. Written from chapter 8 of the PTX
// ISA, "Memory Consistency Model", whose terms it uses, and apart from the checker: nothing of src/ is included here.
#pragma once

#include <algorithm>
#include <bitset>
#include <cstddef>
#include <map>
#include <utility>
#include <vector>

namespace oracle {

enum class Scope { block, device, system };

/// Where the device's model differs from PTX's by decision; README.md, "What orders memory". The defaults are the
/// device's. (The Fence-SC order is left out: which of two fences comes first is chance, so that a race which one
/// order excludes is there in an execution with the other one.)
struct Decisions {
  /// A barrier may lie between the fence and the atomic of a pattern, which are then those of two threads.
  bool patterns_go_through_barriers = true;
  /// A write that an atomic operation has found comes before what follows in that thread, without an acquire.
  bool what_is_observed_is_ordered = false;
  /// A memory order of an operation is a fence beside it, which then holds for all other words, too.
  bool orders_are_fences = true;
};

struct Event {
  enum class Kind { read, write, update, fence, arrive, leave };
  Kind kind;
  unsigned thread = 0, block = 0;
  bool strong = false;
  Scope scope = Scope::device;
  bool releases = false, acquires = false;
  int word = -1;
  int found = 0, stored = 0;  // each write stores another number, and none stores 0
  unsigned barrier = 0;       // of arrive and leave: the same number is the same barrier
  int begin = 0, end = 0;     // the access was made between these times

  bool reads() const { return kind == Kind::read || kind == Kind::update; }
  bool writes() const { return kind == Kind::write || kind == Kind::update; }
};

/// Two accesses that race, by their places in the list of events. `a` was not made after `b`.
struct Race {
  std::size_t a, b;
};

class Execution {
 public:
  /// The events of each thread are in program order.
  Execution(const std::vector<Event>& events, const Decisions& decisions)
      : events_(events), decisions_(decisions) {
    order_threads_and_barriers();
    observe();
    synchronise();
  }

  std::vector<Race> races() const {
    std::vector<Race> found;
    for (std::size_t a = 0; a < size(); ++a) {
      for (std::size_t b = a + 1; b < size(); ++b) {
        if (!conflict(events_[a], events_[b]) || is_ordered(a, b) || is_ordered(b, a)) continue;
        if (events_[a].end < events_[b].end) {
          found.push_back({a, b});
        } else {
          found.push_back({b, a});
        }
      }
    }
    return found;
  }

  /// True if `a` is atomic and `b` plain, and the thread of `b` has had an atomic there after `a`, and then a fence.
  bool is_before_atomic_and_fence(const Race& race) const {
    if (!events_[race.a].strong || events_[race.b].strong) return false;
    for (std::size_t z = 0; z < race.b; ++z) {
      const Event& own = events_[z];
      if (!in_program_order(z, race.b) || own.word != events_[race.b].word || !own.writes())
        continue;
      if (!own.strong || own.end < events_[race.a].begin) continue;
      for (std::size_t f = z; f < race.b; ++f) {
        if (events_[f].kind == Event::Kind::fence) return true;
      }
    }
    return false;
  }

  static constexpr std::size_t kMostEvents = 512;

 private:
  using Set = std::bitset<kMostEvents>;
  using Order = std::vector<Set>;  // for each event those that come after it
  struct Pattern {
    std::size_t first, last;
  };

  std::size_t size() const { return events_.size(); }

  static bool includes(const Event& e, const Event& other) {
    return e.scope != Scope::block || e.block == other.block;
  }
  /// Of events of different threads.
  static bool morally_strong(const Event& a, const Event& b) {
    return a.strong && b.strong && includes(a, b) && includes(b, a);
  }
  static bool conflict(const Event& a, const Event& b) {
    return a.thread != b.thread && a.word >= 0 && a.word == b.word && (a.writes() || b.writes()) &&
           !morally_strong(a, b);
  }
  bool in_program_order(std::size_t a, std::size_t b) const {
    return a < b && events_[a].thread == events_[b].thread;
  }

  void close(Order& order) const {
    for (std::size_t k = 0; k < size(); ++k) {
      for (std::size_t i = 0; i < size(); ++i) {
        if (order[i][k]) order[i] |= order[k];
      }
    }
  }

  void order_threads_and_barriers() {
    base_.resize(size());
    for (std::size_t a = 0; a < size(); ++a) {
      for (std::size_t b = 0; b < size(); ++b) {
        const bool met = events_[a].kind == Event::Kind::arrive &&
                         events_[b].kind == Event::Kind::leave &&
                         events_[a].barrier == events_[b].barrier;
        if (in_program_order(a, b) || met) base_[a].set(b);
      }
    }
    close(base_);
  }

  /// The writes that come before each read in observation order.
  void observe() {
    std::map<std::pair<int, int>, std::size_t> writer;
    for (std::size_t i = 0; i < size(); ++i) {
      if (events_[i].writes()) writer[{events_[i].word, events_[i].stored}] = i;
    }
    observed_.resize(size());
    for (std::size_t read = 0; read < size(); ++read) {
      std::size_t reader = read;
      while (events_[reader].reads() && events_[reader].found != 0) {
        const std::size_t write = writer.at({events_[reader].word, events_[reader].found});
        const bool strong = events_[write].thread == events_[reader].thread ||
                            morally_strong(events_[write], events_[reader]);
        if (!strong) break;
        observed_[read].set(write);
        reader = write;  // if it is atomic, it has observed something itself
      }
    }
  }

  /// May the operations a and b be the ends of one pattern?
  bool belong_together(std::size_t a, std::size_t b, const Order& before_patterns) const {
    if (in_program_order(a, b)) return true;
    return decisions_.patterns_go_through_barriers && before_patterns[a][b];
  }

  std::vector<Pattern> release_patterns(const Order& before) const {
    std::vector<Pattern> patterns;
    for (std::size_t w = 0; w < size(); ++w) {
      if (!events_[w].writes() || !events_[w].strong) continue;
      for (std::size_t first = 0; first < size(); ++first) {
        const Event& f = events_[first];
        const bool by_operation =
            f.releases && f.word == events_[w].word && (first == w || in_program_order(first, w));
        const bool by_fence = f.kind == Event::Kind::fence && belong_together(first, w, before);
        if (by_operation || by_fence) patterns.push_back({first, w});
      }
    }
    return patterns;
  }

  std::vector<Pattern> acquire_patterns(const Order& before) const {
    std::vector<Pattern> patterns;
    for (std::size_t r = 0; r < size(); ++r) {
      if (!events_[r].reads() || !events_[r].strong) continue;
      for (std::size_t last = 0; last < size(); ++last) {
        const Event& l = events_[last];
        const bool by_operation =
            l.acquires && l.word == events_[r].word && (last == r || in_program_order(r, last));
        const bool by_fence = l.kind == Event::Kind::fence && belong_together(r, last, before);
        if (by_operation || by_fence) patterns.push_back({r, last});
      }
    }
    return patterns;
  }

  void synchronise() {
    const Order before = base_;
    const std::vector<Pattern> acquires = acquire_patterns(before);
    for (const Pattern& x : release_patterns(before)) {
      for (const Pattern& y : acquires) {
        if (!observed_[y.first][x.last]) continue;
        if (morally_strong(events_[x.first], events_[y.last])) base_[x.first].set(y.last);
      }
    }
    close(base_);
  }

  bool is_ordered(std::size_t a, std::size_t b) const {
    if (base_[a][b]) return true;
    if (!decisions_.what_is_observed_is_ordered) return false;
    for (std::size_t z = 0; z < size(); ++z) {
      if (observed_[z][a] && base_[z][b]) return true;
    }
    return false;
  }

  const std::vector<Event>& events_;
  Decisions decisions_;
  Order base_;      // base causality order
  Order observed_;  // for each read the writes that precede it in observation order
};

}  // namespace oracle
