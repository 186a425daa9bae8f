// A ladder runs the rungs of a chapter, checks each against the reference, and prints one table:
// times on a GPU, counts of what the hardware would do on the CPU device. Every chapter has one;
// chapter 01 (01-global-atomic) explains its table.
//
// Example (common/tests/examples_test.cu):
//
//   course::Ladder ladder("01-global-atomic", argc, argv, {}, out, err);
//   const int exit_code = ladder.run([](course::Ladder& rungs) {
//     const auto blocks = static_cast<unsigned>(rungs.n());  // --n, or the default of this device
//     auto d_count = course::DeviceBuffer<int>::zeros(1);
//     rungs.reference("number of blocks", blocks);
//     rungs.rung({.name = "count_up",
//                 .changed = "one atomicAdd per block",
//                 .reset = [&] { d_count.fill_bytes(0); },
//                 .launch = [&] { count_up<<<blocks, 1>>>(d_count.data()); },
//                 .result = [&] { return static_cast<double>(d_count.front()); }});
//   });
#pragma once

#include <course/buffer.cuh>
#include <course/device.cuh>
#include <course/verdict.cuh>

#include <cuda_fp16.h>

#include <cstddef>
#include <functional>
#include <initializer_list>
#include <iosfwd>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace course {

/// What the GPU's L2 cache holds when a launch begins.
enum class L2 {
  cold,  // other data, just written: twice its size
  warm   // what the launch before left there
};

/// How far an answer of many numbers is from the reference: absolute errors.
struct Errors {
  double max = 0;
  double mean = 0;
};

/// One way to compute the answer. Members that do not apply are left out.
struct Rung {
  std::string name = {};     // the function's name; --only asks for it
  std::string changed = {};  // what is new against the rung before, in a few words
  /// Brings the output back to its start. Runs before every launch, is never timed or counted.
  std::function<void()> reset = {};
  /// Starts the kernel. The only part that is timed or counted.
  std::function<void()> launch = {};
  /// Reads the number that the table shows; compared with the reference's value unless `check` is
  /// given.
  std::function<double()> result = {};
  double tolerance = 0;  // how far `result` may be from the reference: 0 asks for equality
  /// Replaces the comparison of `result`: for answers that are more than one number.
  std::function<Verdict()> check = {};
  /// How exact an answer of many numbers is; shown, not judged. Of one number the ladder knows it.
  std::function<Errors()> errors = {};
  std::size_t bytes = 0;  // that the idea has to read and write; 0: GB/s says nothing here
  std::size_t n = 0;      // if not the group's n
  L2 l2 = L2::cold;
  std::size_t operations = 0;  // atomics, say, that a launch makes; shown as operations per ns
  /// Not empty: this rung is a point of a curve, `x` on the axis of the line named `series`. A
  /// group of such rungs becomes a plot in the chapter's README.
  std::string series = {};
  double x = 0;
};

/// What makes a rung wrong that is wrong on purpose.
enum class Expect {
  race,                  // the CPU device reports a race; the value may come out right by luck
  race_and_wrong_value,  // it reports a race, and the value is wrong
  wrong_value            // no race, but a wrong value, as when a sum stagnates
};

/// A rung that is wrong on purpose: it is shown next to the right value, and never timed. The
/// ladder fails if it is not wrong in the declared way.
struct WrongRung {
  std::string name = {};
  std::string changed = {};
  Expect expect = Expect::wrong_value;
  std::string because = {};  // why it is wrong, in one sentence; shown below the values
  std::function<void()> reset = {};
  std::function<void()> launch = {};
  std::function<double()> result = {};
  double tolerance = 0;                 // a result this close to the reference counts as right
  std::function<Verdict()> check = {};  // replaces the comparison, as in Rung
  std::optional<double> exactly = {};   // the wrong value, if it is known and the same everywhere
  std::size_t n = 0;
};

namespace detail {
/// What NumPy calls the type of an array's elements.
template <class T>
inline constexpr const char* kNumpyType = nullptr;
template <>
inline constexpr const char* kNumpyType<__half> = "float16";
template <>
inline constexpr const char* kNumpyType<float> = "float32";
template <>
inline constexpr const char* kNumpyType<double> = "float64";
template <>
inline constexpr const char* kNumpyType<int> = "int32";
template <>
inline constexpr const char* kNumpyType<long long> = "int64";
}  // namespace detail

/// What a chapter chooses for its ladder.
struct LadderOptions {
  std::size_t gpu_n = std::size_t(1) << 24;  // default of --n on a GPU
  std::size_t cpu_n = std::size_t(1) << 16;  // and on the CPU device: a few seconds for all rungs
  std::size_t max_n = std::size_t(1) << 31;  // larger values of --n are refused
  std::string n_means = "elements";          // what --n counts
  /// Not empty: the ladder has --file, and reads this file, whose path is relative to the top of
  /// the repository, if it is not given.
  std::string default_file = {};
  /// The CPU device reads no more than this of a file, unless --n says how much.
  std::size_t cpu_file_bytes = std::size_t(1) << 18;
  /// Rungs whose idea is an instruction that older GPUs lack, and the first architecture that has it,
  /// such as {"red_half8", 90}. On an older GPU the table says that the row is of its replacement.
  std::map<std::string, int> since = {};
};

/// Parses the options, runs, checks and prints. The members that take a rung run it at once: what
/// its functions refer to has to live no longer than the call.
///   --n N            problem size: 1000000, 1e6 or 2^20
///   --only A,B       only these rungs
///   --list           list the rungs, run nothing
///   --file PATH      the input, where the chapter reads one
///   --json FILE      also write the results to FILE; '-' is standard output
///   --inputs FOLDER  writes the arrays named by input() there, for programs that time other
///                    libraries on them; runs nothing
class Ladder {
 public:
  Ladder(std::string chapter, int argc, const char* const* argv, LadderOptions options = {});
  /// The same with its output somewhere else.
  Ladder(std::string chapter, int argc, const char* const* argv, LadderOptions options,
         std::ostream& out, std::ostream& err);
  ~Ladder();
  Ladder(const Ladder&) = delete;
  Ladder& operator=(const Ladder&) = delete;

  /// Runs `body`, which makes the data and calls the members below, and returns main's exit code:
  /// 0 every rung behaves as declared, 1 one does not, a CUDA call failed, or the output cannot be
  /// written, 2 the options are wrong, 77 there is no GPU.
  int run(const std::function<void(Ladder&)>& body);

  /// The problem size: --n, or the default of this device.
  std::size_t n() const;
  /// The sizes to run a group at: these on a GPU; n() alone on the CPU device or with --n.
  std::vector<std::size_t> sizes(std::initializer_list<std::size_t> gpu_sizes) const;
  /// The bytes of --file; with --n at most n() of them.
  const std::vector<unsigned char>& file_bytes() const;

  /// Begins a group of rungs that answer the same question; `value` is the right answer, computed
  /// on the CPU, exactly or in double. `n` is the group's problem size; 0: the ladder's.
  void reference(const std::string& name, double value, const std::string& how = "",
                 std::size_t n = 0);
  /// With --inputs, writes an array of the running group, row by row, as a file that NumPy and
  /// PyTorch can read; common/tools/measure/torch_timing.py times PyTorch on it. `shape` is {size()} if
  /// left out. Otherwise it does nothing.
  template <class T>
  void input(const std::string& name, const DeviceBuffer<T>& data,
             std::vector<std::size_t> shape = {}) {
    if (shape.empty()) shape = {data.size()};
    save_input(name, detail::kNumpyType<T>, data.data(), data.bytes(), shape);
  }
  /// Checks a rung; then times it on a GPU, counts it on the CPU device, and prints its row.
  void rung(const Rung& rung);
  /// Shows a rung that is wrong on purpose.
  void wrong(const WrongRung& rung);
  /// The vendor's library on the same question: a rung that the others are compared with. Lives
  /// in files that only a GPU build compiles.
  void vendor(const Rung& rung);
  /// Says why a rung cannot run here, where its row would be. Nothing else happens.
  void skip(const std::string& name, const std::string& why);

 private:
  int run_to_end(const std::function<void(Ladder&)>& body);
  void save_input(const std::string& name, const char* type, const void* d_data, std::size_t bytes,
                  const std::vector<std::size_t>& shape);
  struct State;
  std::unique_ptr<State> state_;
};

/// The size that a text like 1000000, 1e6 or 2^20 means; nothing if it means none.
std::optional<std::size_t> parse_size(const std::string& text);

}  // namespace course
