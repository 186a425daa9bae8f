// Check of the exercise split_sum: the pieces, every number of elements on one to five devices, and
// whether the devices work at the same time.
#include "split_sum.cuh"

#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <course/check.cuh>
#include <course/host_calls.cuh>
#include <cstddef>
#include <functional>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "checks/errors.cuh"

namespace split_sum_check {

/// The chapter's function, also if the answer has another one of the name.
constexpr void (*kLocalSum)(const float*, std::size_t, double*, double*, cudaStream_t) = local_sum;

__global__ void write_past_the_end(float* one_element) { one_element[1] = 0; }

/// `work`, after which the CPU device takes back what an answer has kept: a test case asks for that, and the others are of
/// something else. An error that lasts keeps what is ordered in streams, too.
std::function<void()> cleared(const std::function<void()>& work) {
  struct Clear {
    ~Clear() {
      const int devices = course::kCpuDevice ? course::device_count() : 0;
      for (int device = 0; device < devices; ++device) {
        const course::OnDevice on(device);
        static_cast<void>(cudaDeviceReset());
      }
    }
  };
  return [work] {
    const Clear clear;
    work();
  };
}

void check_sum(std::size_t n, int devices) {
  INFO("split_sum(h_x, " << n << ", " << devices << ")");
  const std::vector<float> x = course::position_values<float>(n);
  const double expected = std::accumulate(x.begin(), x.end(), 0.0);  // exact
  double sum = 0;
  try {
    sum = split_sum(x.data(), n, devices);
  } catch (const course::CudaError& error) {
    FAIL(error.what());
  }
  const char* const hint = std::isnan(sum) ? "A part of it was never written: does each device "
                                             "write its sum, and does the host wait for each one?"
                                           : "";
  REQUIRE(course::same(sum, expected, "sum", hint));
}

/// Ok if split_sum() of n ones throws as it should; *sum is what it returns otherwise.
course::Verdict throws_error(std::size_t n, int devices, double* sum) {
  const std::vector<float> x(n, 1.0f);
  return error_checks::throws_error([&] { *sum = split_sum(x.data(), n, devices); });
}

course::Verdict all_given_back(const std::vector<std::string>& kept) {
  if (kept.empty()) return {};
  course::Verdict verdict{false, "split_sum has not given back:"};
  for (const std::string& item : kept) verdict.text += "\n  " + item;
  return verdict;
}

/// All pieces of n elements: where they begin and end, and how large they are.
void check_pieces(std::size_t n, int parts) {
  std::size_t begin = 0;
  const std::size_t least = n / static_cast<std::size_t>(parts);
  for (int part = 0; part < parts; ++part) {
    INFO("piece_of(" << n << ", " << part << ", " << parts << ")");
    // The types are the check's: narrower ones of the answer's are not compared in these.
    const Piece piece = piece_of(n, part, parts);
    const std::size_t found = piece.begin, size = piece.size;
    const char* const where = found < begin ? "It overlaps the piece before it."
                                            : "There is a gap between it and the piece before it.";
    REQUIRE(course::same(found, begin, "begin", where));
    REQUIRE(course::at_most(size, least + 1, "size", "sizes differ by one at most"));
    REQUIRE(course::at_least(size, least, "size", "sizes differ by one at most"));
    begin += size;
  }
  INFO("the pieces of piece_of(" << n << ", 0 to " << parts - 1 << ", " << parts << ")");
  REQUIRE(course::same(begin, n, "elements in all pieces together"));
}

/// A few of many pieces, and those beside them.
void check_some_pieces(std::size_t n, int parts) {
  const std::size_t least = n / static_cast<std::size_t>(parts);
  for (const int part : {0, 1, parts / 3, parts / 2, parts - 2}) {
    INFO("piece_of(" << n << ", " << part << ", " << parts << "), and the next piece");
    const Piece piece = piece_of(n, part, parts), next = piece_of(n, part + 1, parts);
    const std::size_t begin = piece.begin, size = piece.size, next_begin = next.begin;
    if (part == 0) REQUIRE(course::same(begin, std::size_t{0}, "begin"));
    REQUIRE(course::same(next_begin, begin + size, "begin of the next piece"));
    REQUIRE(course::at_most(size, least + 1, "size", "sizes differ by one at most"));
    REQUIRE(course::at_least(size, least, "size", "sizes differ by one at most"));
  }
  INFO("piece_of(" << n << ", " << parts - 1 << ", " << parts << ")");
  const Piece last = piece_of(n, parts - 1, parts);
  REQUIRE(course::same(std::size_t{last.begin} + last.size, n, "begin + size"));
}

// Promise: piece 0 begins at 0, and each of the others where the one before it ends;
// together they are all n elements.
// Promise: sizes differ by at most one, and if n < parts, some are 0.
// Promise: pieces are right for every n up to 2^60.
TEST_CASE("split_sum: the pieces are the whole array, once") {
  for (int parts = 1; parts <= 9; ++parts) {
    for (std::size_t n = 0; n <= 40; ++n) check_pieces(n, parts);
  }
  for (const int parts : {65'536, 65'537, 100'003, 2'147'483'647}) {
    const auto many = static_cast<std::size_t>(parts);
    for (const std::size_t n :
         {std::size_t{65'536}, many - 1, many * 5 - 1, std::size_t{1} << 60}) {
      check_some_pieces(n, parts);
    }
  }
  for (const int parts : {1, 2, 7, 100}) {
    for (const std::size_t n : {1000003ull, 1ull << 31, (1ull << 33) + 5, (1ull << 60) - 1}) {
      check_pieces(n, parts);
    }
  }
}

// Promise: the call gives back what it takes from CUDA (CPU device only).
TEST_CASE("split_sum: all memory is given back") {
  course::skip_without_checker();
  course::with_devices(2, cleared([] {
                         const auto run = course::watch_host([] { check_sum(3000, 2); });
                         INFO("split_sum(h_x, 3000, 2)");
                         REQUIRE(all_given_back(run->not_given_back));
                       }));
}

// Promise: split_sum returns h_x[0] + ... + h_x[n-1], for any number of elements and devices.
// Promise: a device reads only memory that it reaches (MEMORY OF ANOTHER DEVICE).
TEST_CASE("split_sum: one to five devices, fewer elements than devices, uneven pieces") {
  for (int devices = 1; devices <= 5; ++devices) {
    course::with_devices(devices, cleared([&] {
                           for (std::size_t n = 0; n <= 7; ++n) check_sum(n, devices);
                           for (const std::size_t n : {255u, 1023u, 1025u}) check_sum(n, devices);
                         }));
  }
}

// Promise: the sum is right for many elements.
TEST_CASE("split_sum: many elements") {
  course::on_devices(2, cleared([] {
                       for (const std::size_t n : {course::kBigSize, std::size_t{70'001}})
                         check_sum(n, 2);
                     }));
}

// Promise: the same where some devices have one element more than whole chunks of local_sum(), and so one chunk more than the
// others (OUT OF BOUNDS if there is no memory for its sum).
TEST_CASE("split_sum: pieces of whole chunks, and of one element more or less") {
  for (const int devices : {1, 2, 3}) {
    course::with_devices(devices, cleared([devices] {
                           const std::size_t whole = static_cast<std::size_t>(devices) * kChunk;
                           for (const std::size_t n : {whole, whole + 1, 2 * whole + 1}) {
                             check_sum(n, devices);
                             check_sum(n - 2, devices);
                           }
                         }));
  }
}

// Promise: each call sums the elements that are there now.
TEST_CASE("split_sum: other elements in the same memory are summed anew") {
  std::vector<float> x(1000);
  for (const int devices : {1, 2}) {
    course::with_devices(devices, cleared([&] {
                           for (const float value : {1.0f, 2.0f, 0.5f}) {
                             x.assign(x.size(), value);
                             INFO("split_sum(h_x, 1000, "
                                  << devices << "): every element is " << value
                                  << ", and was another number in the call before");
                             REQUIRE(course::same(split_sum(x.data(), x.size(), devices),
                                                  1000.0 * static_cast<double>(value), "sum"));
                           }
                         }));
  }
}

// Promise: the devices sum with local_sum(), and the host adds what they have found.
TEST_CASE("split_sum: the sum is that of local_sum()") {
  for (const int devices : {1, 2}) {
    course::with_devices(
        devices, cleared([devices] {
          const std::size_t n = 4000, parts = static_cast<std::size_t>(devices), size = n / parts;
          std::vector<float> x(n, 1.0f);
          double expected = 0;
          for (std::size_t begin = 0; begin < n; begin += size) {
            x[begin] = 16'777'216.0f;  // 2^24: a float cannot hold the sum of it and 1
            const auto first = x.begin() + static_cast<std::ptrdiff_t>(begin);
            const auto d_x = course::DeviceBuffer<float>::from(
                std::vector<float>(first, first + static_cast<std::ptrdiff_t>(size)));
            course::DeviceBuffer<double> d_workspace(chunks_of(size)), d_sum(1);
            kLocalSum(d_x.data(), size, d_sum.data(), d_workspace.data(), nullptr);
            expected += d_sum.front();
          }
          INFO("split_sum(h_x, 4000, "
               << devices
               << "): the first element of each piece is 2^24, the "
                  "others are 1; local_sum() adds floats, and loses a few of the ones");
          REQUIRE(course::same(split_sum(x.data(), n, devices), expected, "sum"));
        }));
  }
}

// Promise: the host adds the devices' sums in double.
TEST_CASE("split_sum: the devices' sums are added in double") {
  course::on_devices(
      2, cleared([] {
        const std::vector<float> x(20'001, 4097.0f);
        INFO("split_sum(h_x, 20001, 2): every element is 4097, the sum needs 27 bits");
        REQUIRE(course::same(split_sum(x.data(), x.size(), 2), 20'001 * 4097.0, "sum"));
      }));
}

// Promise: the call throws course::CudaError if a device is missing, and the current
// device stays the current one.
// Promise: a missing device is found before any other has work (USE AFTER FREE), and what was taken until then
// is given back.
TEST_CASE("split_sum: a device more than there are is an error") {
  course::skip_under_sanitizer();
  const int devices = course::device_count();
  for (const int before : {0, devices - 1}) {
    const course::OnDevice on(before);
    double sum = 0;
    for (const std::size_t n : {100, devices, 0}) {
      INFO("split_sum(h_x, " << n << ", " << devices + 1 << ") with " << devices
                             << " devices; device " << before << " is current");
      course::Verdict verdict;
      std::optional<course::Counters> c;
      const auto run = course::watch_host(
          [&] { c = course::count([&] { verdict = throws_error(n, devices + 1, &sum); }); });
      REQUIRE(verdict);
      if (run) REQUIRE(all_given_back(run->not_given_back));
      if (c) {
        REQUIRE(course::none(c->launches, "launches of kernels",
                             "a missing device is found before any other has work"));
      }
    }
  }
}

// Promise: the device that is current before the call is current after it.
TEST_CASE("split_sum: the current device stays the current one") {
  course::on_devices(2, cleared([] {
                       error_checks::check_current_device("split_sum()",
                                                          [] { check_sum(1000, 2); });
                     }));
}

// Promise: all devices get their work before the host waits for any of them.
TEST_CASE("split_sum: all devices work at the same time") {
  course::skip_without_counters();
  for (const int devices : {2, 4}) {
    course::with_devices(
        devices, cleared([&] {
          const auto counters = course::count([&] { check_sum(3000, devices); });
          INFO("split_sum(h_x, 3000, " << devices << ")");
          REQUIRE(course::same(counters->devices_at_once, static_cast<unsigned>(devices),
                               "devices with work at the same time",
                               "First give all devices their work, then wait for each."));
        }));
  }
}

// Promise: each of the devices 0, ..., devices - 1 sums its piece_of(n) with
// local_sum() (blocks are counted).
TEST_CASE("split_sum: each device adds its own piece, and no more") {
  course::skip_without_counters();
  // A piece of one chunk is one block of local_sum()'s first kernel; its second has one, too.
  course::with_devices(
      4, cleared([] {
        const auto counters = course::count([] { check_sum(4 * kChunk, 4); });
        INFO("split_sum(h_x, " << 4 * kChunk << ", 4)");
        REQUIRE(course::same(counters->blocks, std::uint64_t{4 + 4}, "blocks of all devices",
                             "A device sums its own piece, once."));
      }));
}

// Promise: the call throws course::CudaError if a device fails, and the current device stays the
// current one (CPU device only).
TEST_CASE("split_sum: a device that fails is an error") {
  course::skip_without_checker();  // it would end this process's use of a GPU
  course::with_devices(
      2, cleared([] {
        for (const int failing : {0, 1}) {
          course::Verdict verdict;
          static_cast<void>(course::find_races([&] {
            course::DeviceBuffer<float> d_x;
            {
              const course::OnDevice on(failing);
              d_x = course::DeviceBuffer<float>(1);
              float* const one_element = d_x.data();
              course::launch(write_past_the_end, {1, 1}, one_element);
            }
            double sum = 0;
            verdict = throws_error(1000, 2, &sum);
            // An answer that waits for streams of its own may be done before that kernel runs.
            if (sum == 1000) verdict = {};
          }));
          INFO("split_sum(h_x, 1000, 2); device " << failing << " has a kernel to run that fails");
          REQUIRE(verdict);
        }
      }));
}

// Promise: the call throws course::CudaError if a CUDA call fails without which the sum is wrong, and the device that is
// current before is current after the error (CPU device only).
TEST_CASE(
    "split_sum: whichever CUDA call fails, the error is told, and the current device stays the current one") {
  course::skip_without_checker();  // no call of a GPU can be made to fail
  if (course::has_run_before()) return;
  course::with_devices(3, cleared([] {
                         const std::vector<float> x(300, 1.0f);
                         const course::OnDevice on(1);
                         INFO("split_sum(h_x, 300, 3); device 1 is current before");
                         REQUIRE(error_checks::tells_errors([&] {
                           return course::same(split_sum(x.data(), x.size(), 3), 300.0, "the sum");
                         }));
                       }));
}

}  // namespace split_sum_check
