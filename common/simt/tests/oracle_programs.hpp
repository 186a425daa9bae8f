// Small programs for the oracle: how they are made, what they are as CUDA and as operations of PTX, and how one
// gets smaller.
#pragma once

#include <array>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "oracle.hpp"

namespace oracle {

enum class Action {
  load,
  store,
  volatile_load,
  volatile_store,
  atomic_load,
  atomic_store,
  exchange,
  fence
};
enum class Order { relaxed, acquire, release, acq_rel, seq_cst };
enum class Boundary { none, syncthreads, syncwarp };

constexpr unsigned kGlobalWords = 4, kSharedWords = 2;  // the shared ones of each block
constexpr unsigned kMostThreads = 6, kMostBlocks = 3, kMostSteps = 16, kMostTries = 8;

struct Step {
  Action action = Action::load;
  Order order = Order::relaxed;
  Scope scope = Scope::device;
  unsigned word = 0;     // kGlobalWords and above: of shared memory
  bool waits = false;    // a load, up to kMostTries times, until it finds something
  bool guarded = false;  // only if the thread's last load that is not plain has found something
};

struct ThreadPlan {
  unsigned block = 0, rank = 0;
  std::vector<std::vector<Step>> phases;
};

struct Program {
  unsigned blocks = 1, block_size = 1;
  std::vector<ThreadPlan> threads;
  std::vector<std::array<Boundary, kMostBlocks>> boundaries;  // after each phase but the last

  std::size_t phases() const { return boundaries.size() + 1; }
};

/// What a step stores: another number for each step of a program.
__host__ __device__ inline int number_of(unsigned thread, std::size_t phase, std::size_t step) {
  return static_cast<int>(1 + (thread * 8 + phase) * kMostSteps + step);
}

// ---- how programs are made ----------------------------------------------------------------------

/// Programs of two styles: steps by lot, and a value that is handed on by flags, in which anything may be missing.
class Generator {
 public:
  explicit Generator(std::uint64_t seed) : random_(seed) {}

  Program program() {
    Program p = threads();
    return one_in(3) ? by_lot(p) : hand_over(p);
  }

 private:
  unsigned below(unsigned n) { return static_cast<unsigned>(random_() % n); }
  bool one_in(unsigned n) { return below(n) == 0; }
  template <class T, std::size_t n>
  T one_of(const std::array<T, n>& values) {
    return values[below(n)];
  }

  Program threads() {
    Program p;
    p.blocks = 1 + below(kMostBlocks);
    const bool has_second_warp = one_in(2);
    p.block_size = has_second_warp ? 33 : 3;
    for (unsigned b = 0; b < p.blocks; ++b) {
      for (const unsigned rank : {0u, 1u, has_second_warp ? 32u : 2u})
        p.threads.push_back({b, rank, {}});
    }
    const unsigned threads = 2 + below(kMostThreads - 1);
    while (p.threads.size() > threads) {
      p.threads.erase(p.threads.begin() + below(static_cast<unsigned>(p.threads.size())));
    }
    return p;
  }

  void set_phases(Program& p, std::size_t phases) {
    p.boundaries.resize(phases - 1);
    for (auto& boundary : p.boundaries) {
      for (Boundary& of_block : boundary) {
        of_block = one_of(std::array{Boundary::none, Boundary::syncthreads, Boundary::syncthreads,
                                     Boundary::syncwarp});
      }
    }
    for (ThreadPlan& thread : p.threads) thread.phases.resize(phases);
  }

  Program by_lot(Program p) {
    set_phases(p, 1 + below(3));
    for (unsigned& word : words_) word = below(kGlobalWords + kSharedWords);
    for (ThreadPlan& thread : p.threads) {
      for (auto& phase : thread.phases) {
        const unsigned steps = below(4);
        while (phase.size() < steps) phase.push_back(step());
      }
    }
    return p;
  }

  /// A write in the first phase, one or two flags in the second one, and an access in the third.
  Program hand_over(Program p) {
    set_phases(p, 3);
    for (unsigned& word : words_) word = below(kGlobalWords + (one_in(3) ? kSharedWords : 0));
    const unsigned threads = static_cast<unsigned>(p.threads.size());
    const unsigned from = below(threads);
    unsigned at = one_in(2) ? from : mate_of(p, from);
    p.threads[from].phases[0].push_back(data(false));
    if (!one_in(3)) p.threads[from].phases[0].push_back(fence());
    for (unsigned links = 1 + below(2), k = 0; k < links; ++k) {
      const unsigned next = below(threads);
      auto& sender = p.threads[at].phases[1];
      if (one_in(3)) sender.push_back(fence());
      Step flag = flag_step(1 + k);
      flag.action =
          one_of(std::array{Action::volatile_store, Action::atomic_store, Action::exchange});
      flag.guarded = k > 0 && !one_in(3);
      sender.push_back(fitting(flag));
      if (one_in(4)) p.threads[below(threads)].phases[1].push_back(fitting(flag_step(1 + k)));
      auto& receiver = p.threads[next].phases[1];
      flag = flag_step(1 + k);
      flag.action =
          one_of(std::array{Action::volatile_load, Action::atomic_load, Action::exchange});
      flag.waits = flag.action != Action::exchange;
      receiver.push_back(fitting(flag));
      if (one_in(2)) receiver.push_back(fence());
      at = next;
    }
    const unsigned to = one_in(2) ? at : mate_of(p, at);
    auto& last = p.threads[to].phases[2];
    if (one_in(2)) last.push_back(fence());
    last.push_back(data(to == at));
    for (unsigned more = below(3); more > 0; --more) {
      p.threads[below(threads)].phases[below(3)].push_back(step());
    }
    return p;
  }

  /// A thread of the same block.
  unsigned mate_of(const Program& p, unsigned thread) {
    std::vector<unsigned> mates;
    for (unsigned t = 0; t < p.threads.size(); ++t) {
      if (p.threads[t].block == p.threads[thread].block) mates.push_back(t);
    }
    return mates[below(static_cast<unsigned>(mates.size()))];
  }

  Scope scope() {
    return one_of(
        std::array{Scope::block, Scope::device, Scope::device, Scope::device, Scope::system});
  }
  Step fence() { return {.action = Action::fence, .scope = scope()}; }
  Step data(bool guarded) {
    Step s{
        .action = one_in(2) ? Action::store : Action::load, .word = words_[0], .guarded = guarded};
    if (!guarded) s.action = one_in(4) ? Action::load : Action::store;
    return s;
  }
  Step flag_step(unsigned word) {
    return {.action = static_cast<Action>(2 + below(5)),
            .order = one_in(2) ? Order::relaxed : static_cast<Order>(below(5)),
            .scope = scope(),
            .word = words_[word]};
  }
  /// Loads have no release, and stores no acquire.
  static Step fitting(Step s) {
    const bool both = s.order == Order::acq_rel;
    if (s.action == Action::atomic_load && (both || s.order == Order::release))
      s.order = Order::acquire;
    if (s.action == Action::atomic_store && (both || s.order == Order::acquire))
      s.order = Order::release;
    return s;
  }
  Step step() {
    if (one_in(5)) return fence();
    const unsigned word = below(static_cast<unsigned>(words_.size()));
    const bool plain = (word == 0) != one_in(10);
    Step s = plain ? data(true) : fitting(flag_step(word));
    s.word = words_[word];
    s.guarded = one_in(3);
    return s;
  }

  std::mt19937_64 random_;
  std::array<unsigned, 3> words_{};  // data, and two flags
};

// ---- what they are in PTX -----------------------------------------------------------------------

/// A step that was done, and when.
struct Done {
  unsigned thread;
  std::size_t phase, step;
  int begin, end, found;
};

inline bool releases(Order o) {
  return o == Order::release || o == Order::acq_rel || o == Order::seq_cst;
}
inline bool acquires(Order o) {
  return o == Order::acquire || o == Order::acq_rel || o == Order::seq_cst;
}
inline bool is_atomic(Action a) {
  return a == Action::atomic_load || a == Action::atomic_store || a == Action::exchange;
}

/// Adds the operations that the step is in PTX.
inline void add_events(std::vector<Event>& events, const ThreadPlan& plan, const Step& step,
                       const Done& done, const Decisions& decisions) {
  Event access;
  access.thread = done.thread;
  access.block = plan.block;
  access.begin = done.begin;
  access.end = done.end;
  access.strong = step.action != Action::load && step.action != Action::store;
  const bool is_volatile =
      step.action == Action::volatile_load || step.action == Action::volatile_store;
  access.scope = is_volatile ? Scope::system : step.scope;
  Event fence = access;
  fence.kind = Event::Kind::fence;
  if (step.action == Action::fence) {
    events.push_back(fence);
    return;
  }
  const bool is_load = step.action == Action::load || step.action == Action::volatile_load ||
                       step.action == Action::atomic_load;
  access.kind = step.action == Action::exchange ? Event::Kind::update
                : is_load                       ? Event::Kind::read
                                                : Event::Kind::write;
  access.word = static_cast<int>(step.word);
  if (step.word >= kGlobalWords) access.word += static_cast<int>(plan.block * kSharedWords);
  if (access.reads()) access.found = done.found;
  if (access.writes()) access.stored = number_of(done.thread, done.phase, done.step);
  const bool has_order = is_atomic(step.action);
  const bool is_last =
      has_order && step.order == Order::seq_cst;  // a fence.sc, and an acquire if it reads
  if (has_order && decisions.orders_are_fences) {
    if (releases(step.order)) events.push_back(fence);
    events.push_back(access);
    if (acquires(step.order)) events.push_back(fence);
    return;
  }
  if (is_last) events.push_back(fence);
  access.releases = has_order && releases(step.order) && !is_last;
  access.acquires = has_order && acquires(step.order) && access.reads();
  events.push_back(access);
}

/// The operations of an execution, of which `done` is the log.
inline std::vector<Event> events_of(const Program& p, const std::vector<Done>& done,
                                    const Decisions& decisions) {
  std::vector<Event> events;
  for (unsigned t = 0; t < p.threads.size(); ++t) {
    const ThreadPlan& plan = p.threads[t];
    for (std::size_t phase = 0; phase < p.phases(); ++phase) {
      for (const Done& d : done) {
        if (d.thread == t && d.phase == phase) {
          add_events(events, plan, plan.phases[phase][d.step], d, decisions);
        }
      }
      if (phase == p.boundaries.size() || p.boundaries[phase][plan.block] == Boundary::none)
        continue;
      Event e{.kind = Event::Kind::arrive, .thread = t, .block = plan.block};
      const bool of_warp = p.boundaries[phase][plan.block] == Boundary::syncwarp;
      e.barrier = static_cast<unsigned>(phase * kMostBlocks + plan.block) * 3 +
                  (of_warp ? 1 + plan.rank / 32 : 0);
      events.push_back(e);
      e.kind = Event::Kind::leave;
      events.push_back(e);
    }
  }
  return events;
}

// ---- what they are in CUDA ----------------------------------------------------------------------

inline std::string name_of_word(unsigned word) {
  if (word < kGlobalWords) return "words[" + std::to_string(word) + "]";
  return word == kGlobalWords ? "s_a" : "s_b";
}

inline std::string source_of(const Step& s, int number) {
  static const std::array scopes = {"block", "device", "system"};
  static const std::array fences = {"__threadfence_block()", "__threadfence()",
                                    "__threadfence_system()"};
  static const std::array orders = {"relaxed", "acquire", "release", "acq_rel", "seq_cst"};
  const auto scope = static_cast<std::size_t>(s.scope);
  const std::string word = name_of_word(s.word), value = std::to_string(number);
  const std::string ref =
      "cuda::atomic_ref<int, cuda::thread_scope_" + std::string(scopes[scope]) + ">(" + word + ").";
  const std::string order =
      std::string("cuda::memory_order_") + orders[static_cast<std::size_t>(s.order)] + ");";
  std::string text = s.guarded ? "if (found != 0) " : "";
  if (s.waits) {
    const std::string tries = std::to_string(kMostTries);
    text += "found = 0;\n    for (int i = 0; i < " + tries + " && found == 0; ++i) ";
  }
  switch (s.action) {
    case Action::load:
      return text + "plain = " + word + ";";
    case Action::store:
      return text + word + " = " + value + ";";
    case Action::volatile_load:
      return text + "found = static_cast<volatile int&>(" + word + ");";
    case Action::volatile_store:
      return text + "static_cast<volatile int&>(" + word + ") = " + value + ";";
    case Action::atomic_load:
      return text + "found = " + ref + "load(" + order;
    case Action::atomic_store:
      return text + ref + "store(" + value + ", " + order;
    case Action::exchange:
      return text + "found = " + ref + "exchange(" + value + ", " + order;
    default:
      return text + fences[scope] + ";";
  }
}

/// A whole program, for `./course run`.
inline std::string source_of(const Program& p) {
  std::string text =
      "#include <cuda/atomic>\n\n"
      "__global__ void kernel(int* words) {\n"
      "  __shared__ int s_a, s_b;\n"
      "  if (threadIdx.x == 0) s_a = s_b = 0;\n"
      "  __syncthreads();\n"
      "  [[maybe_unused]] int found = 0, plain = 0;\n";
  for (std::size_t phase = 0; phase < p.phases(); ++phase) {
    for (unsigned t = 0; t < p.threads.size(); ++t) {
      const ThreadPlan& plan = p.threads[t];
      if (plan.phases[phase].empty()) continue;
      text += "  if (blockIdx.x == " + std::to_string(plan.block) +
              " && threadIdx.x == " + std::to_string(plan.rank) + ") {\n";
      for (std::size_t i = 0; i < plan.phases[phase].size(); ++i) {
        text += "    " + source_of(plan.phases[phase][i], number_of(t, phase, i)) + "\n";
      }
      text += "  }\n";
    }
    if (phase == p.boundaries.size()) break;
    for (unsigned b = 0; b < p.blocks; ++b) {
      if (p.boundaries[phase][b] == Boundary::none) continue;
      const bool of_warp = p.boundaries[phase][b] == Boundary::syncwarp;
      text += "  if (blockIdx.x == " + std::to_string(b) +
              (of_warp ? ") __syncwarp();\n" : ") __syncthreads();\n");
    }
  }
  return text +
         "}\n\n"
         "int main() {\n"
         "  int* words;\n"
         "  cudaMalloc(&words, " +
         std::to_string(kGlobalWords) +
         " * sizeof(int));\n"
         "  cudaMemset(words, 0, " +
         std::to_string(kGlobalWords) +
         " * sizeof(int));\n"
         "  kernel<<<" +
         std::to_string(p.blocks) + ", " + std::to_string(p.block_size) +
         ">>>(words);\n"
         "  cudaDeviceSynchronize();\n"
         "  cudaFree(words);\n"
         "}\n";
}

// ---- how one gets smaller -----------------------------------------------------------------------

/// All programs that lack one step, or one barrier, of this one, or a guard.
inline std::vector<Program> smaller_than(const Program& p) {
  std::vector<Program> all;
  for (std::size_t t = 0; t < p.threads.size(); ++t) {
    for (std::size_t phase = 0; phase < p.phases(); ++phase) {
      for (std::size_t i = 0; i < p.threads[t].phases[phase].size(); ++i) {
        Program without = p;
        std::vector<Step>& steps = without.threads[t].phases[phase];
        steps.erase(steps.begin() + static_cast<std::ptrdiff_t>(i));
        all.push_back(without);
        if (!p.threads[t].phases[phase][i].guarded) continue;
        without = p;
        without.threads[t].phases[phase][i].guarded = false;
        all.push_back(without);
      }
    }
  }
  for (std::size_t phase = 0; phase < p.boundaries.size(); ++phase) {
    for (unsigned b = 0; b < p.blocks; ++b) {
      if (p.boundaries[phase][b] == Boundary::none) continue;
      Program without = p;
      without.boundaries[phase][b] = Boundary::none;
      all.push_back(without);
    }
  }
  return all;
}

/// The program without what can go while `differs` is true.
template <class Differs>
Program shrink(Program p, const Differs& differs) {
  for (bool smaller = true; smaller;) {
    smaller = false;
    for (const Program& q : smaller_than(p)) {
      if (!differs(q)) continue;
      p = q;
      smaller = true;
      break;
    }
  }
  return p;
}

}  // namespace oracle
