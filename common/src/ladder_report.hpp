// The results of a ladder, and their two forms: a table and JSON.
#pragma once

#include <course/device.cuh>
#include <course/ladder.cuh>
#include <course/timing.cuh>

#include <cstddef>
#include <iosfwd>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace course {

/// One row of the table.
struct Row {
  enum class Kind { reference, rung, wrong, vendor };
  Kind kind = Kind::rung;
  int group = 0;  // rows that answer the same question
  int since = 0;  // the architecture that its instruction needs, such as 90; 0: any
  std::string name;
  std::string changed;
  std::size_t n = 0;
  std::optional<double> expected;  // the reference's value
  std::optional<double> result;
  std::optional<Errors> errors;  // of an answer of many numbers
  double tolerance = 0;
  std::optional<std::string> failure;  // how the row differs from its declaration
  std::size_t bytes = 0;
  std::size_t operations = 0;
  L2 l2 = L2::cold;
  std::string series;
  double x = 0;
  std::optional<Quantiles> microseconds;  // on a GPU
  std::optional<Counters> counters;       // on the CPU device
  // Kind::wrong
  Expect expect = Expect::wrong_value;
  std::string because;
  bool came_out_right = false;
  Findings findings;
};

/// Where and how the rows were measured.
struct Environment {
  std::string chapter;
  std::string device;              // its name
  std::string compute_capability;  // "9.0"; empty on the CPU device, as are the next two
  std::string cuda_version;        // of the runtime the program was linked with
  std::string driver_version;      // the newest CUDA that the driver knows
  std::string compiler;
  std::string date;  // UTC, ISO 8601
  std::size_t n = 0;
  std::string n_means;
  std::string file;  // empty if none was read
  std::size_t file_size = 0;
  std::size_t file_bytes_used = 0;
  std::optional<double> copy_gbs;  // measured in this run
};
/// Fills in the device, the versions and the date. Throws CudaError.
void describe_device(Environment& environment);

/// Prints rows below one heading as they come. Times compare with the row before and with the
/// vendor's of the same group, so on a GPU rows are printed when all are known.
class Table {
 public:
  Table(const Environment& environment, std::ostream& out) : environment_(environment), out_(out) {}
  void print(const Row& row, const Row* before, const Row* vendor);

 private:
  void print_heading();

  const Environment& environment_;
  std::ostream& out_;
  bool headed_ = false;
};

/// GB/s (10^9 bytes per second) of a timed row; nothing if it has no time or no bytes.
std::optional<double> gigabytes_per_second(const Row& row);

/// Operations per nanosecond of a timed row; nothing if it has no time or counts none.
std::optional<double> operations_per_nanosecond(const Row& row);

/// That a GPU of this compute capability ("7.5"; empty: the CPU device) lacks an instruction that exists
/// since an architecture (90, or 0); empty if it does not.
std::string replacement_text(int since, const std::string& compute_capability);

/// "race", "race_and_wrong_value" or "wrong_value".
std::string expect_text(Expect expect);

/// An array that was written for other programs.
struct Input {
  Row reference;  // of its group
  std::string name, file, type;
  std::vector<std::size_t> shape;
};
/// The list of them, by groups; those of a group follow each other.
std::string to_json(const std::vector<Input>& inputs);

/// All of it for programs; `rows` in the order of the ladder.
std::string to_json(const Environment& environment, const std::vector<Row>& rows);

}  // namespace course
