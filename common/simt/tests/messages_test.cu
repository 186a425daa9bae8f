// How findings reach the program, and how messages name things.
#include <cuda_runtime.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch_test_macros.hpp>
#include <course/collectives.cuh>
#include <course/look_back.cuh>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "testing.hpp"

using simt::Report, simt::ReportKind;
using namespace simt_test;

namespace {

__global__ void add_plain(int* x) { *x += 1; }
__global__ void write_at(int* x, int i) { x[i] = 1; }

}  // namespace

// ---- the handler --------------------------------------------------------------------------------

TEST_CASE("reports arrive when the device is waited for, on the host") {
  auto x = Array<int>::zeros(1);
  int reports = 0;
  const auto old = simt::set_report_handler([&](const Report&) { ++reports; });
  write_at<<<1, 1>>>(x.data(), 1);
  CHECK(reports == 0);
  CHECK(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
  CHECK(reports == 1);
  simt::set_report_handler(old);
  simt::reset_device();
}

TEST_CASE("set_report_handler returns the handler before") {
  auto x = Array<int>::zeros(1);
  int first = 0, second = 0;
  const auto original = simt::set_report_handler([&](const Report&) { ++first; });
  const auto returned = simt::set_report_handler([&](const Report&) { ++second; });
  returned(Report{ReportKind::race, "", "", 0, ""});
  CHECK(first == 1);
  write_at<<<1, 1>>>(x.data(), 1);
  cudaDeviceSynchronize();
  CHECK(second == 1);
  simt::set_report_handler(original);
  simt::reset_device();
}

TEST_CASE("without a handler, findings go to stderr and the program ends with 66") {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  std::fflush(nullptr);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    dup2(ends[1], STDERR_FILENO);
    dup2(open("/dev/null", O_WRONLY), STDOUT_FILENO);
    simt::set_report_handler(nullptr);
    int* x = nullptr;
    cudaMalloc(&x, sizeof(int));
    cudaMemset(x, 0, sizeof(int));
    add_plain<<<2, 1>>>(x);
    cudaDeviceSynchronize();
    std::exit(0);
  }
  close(ends[1]);
  std::string text;
  char buffer[1024];
  for (ssize_t n; (n = read(ends[0], buffer, sizeof buffer)) > 0;) {
    text.append(buffer, static_cast<std::size_t>(n));
  }
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  CHECK(lacks(text, {"DATA RACE in kernel add_plain on x[0]"}) == "");
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 66);
}

TEST_CASE("kinds have names") {
  CHECK(std::string(to_string(ReportKind::race)) == "data race");
  CHECK(std::string(to_string(ReportKind::out_of_bounds)) == "out of bounds");
  CHECK(std::string(to_string(ReportKind::use_after_free)) == "use after free");
  CHECK(std::string(to_string(ReportKind::uninitialised)) == "uninitialised memory");
  CHECK(std::string(to_string(ReportKind::misaligned)) == "misaligned access");
  CHECK(std::string(to_string(ReportKind::host_access)) == "device pointer used by the host");
  CHECK(std::string(to_string(ReportKind::barrier)) == "barrier or mask");
  CHECK(std::string(to_string(ReportKind::hang)) == "endless loop");
  CHECK(std::string(to_string(ReportKind::trap)) == "kernel stopped");
}

// ---- names of threads ---------------------------------------------------------------------------

namespace {

__global__ void write_from_last_thread(int* x) {
  const bool last_block =
      blockIdx.x == gridDim.x - 1 && blockIdx.y == gridDim.y - 1 && blockIdx.z == gridDim.z - 1;
  const bool last_thread = threadIdx.x == blockDim.x - 1 && threadIdx.y == blockDim.y - 1 &&
                           threadIdx.z == blockDim.z - 1;
  if (last_block && last_thread) x[1] = 1;
}

}  // namespace

TEST_CASE("threads and blocks are named by as many coordinates as the launch has") {
  auto x = Array<int>::zeros(1);
  const auto text = [&](dim3 grid, dim3 block) {
    return only_report([&] { write_from_last_thread<<<grid, block>>>(x.data()); }).text;
  };
  CHECK(lacks(text(3, 40), {"by block 2 thread 39\n"}) == "");
  CHECK(lacks(text(dim3(3, 2), dim3(4, 5)), {"by block (2,1) thread (3,4)\n"}) == "");
  CHECK(lacks(text(dim3(1, 1, 2), dim3(2, 2, 2)), {"by block (0,0,1) thread (1,1,1)\n"}) == "");
  CHECK(lacks(text(2, dim3(4, 5)), {"by block 1 thread (3,4)\n"}) == "");
}

// ---- names of memory ----------------------------------------------------------------------------

namespace {

__global__ void race_in_tile() {
  __shared__ float s_tile[4][8];
  s_tile[3][5] = static_cast<float>(threadIdx.x);
}

__global__ void race_in_scalar() {
  __shared__ int s_total;
  s_total = static_cast<int>(threadIdx.x);
}

__global__ void race_in_dynamic() {
  extern __shared__ double s_sums[];
  s_sums[2] = threadIdx.x;
}

__global__ void race_in_struct(float2* pairs) { pairs[7].y = static_cast<float>(threadIdx.x); }

struct Buffers {
  int* counts;
};
__global__ void race_in_hidden_pointer(Buffers buffers) {
  buffers.counts[3] = static_cast<int>(threadIdx.x);
}

__global__ void race_on_first_of_two(int* first, int*) { first[2] = static_cast<int>(threadIdx.x); }

template <class T, int n>
__global__ void templated(T* x) {
  x[n] = static_cast<T>(threadIdx.x);
}

std::string race_text(const std::function<void()>& work) { return only_report(work).text; }

}  // namespace

TEST_CASE("shared variables are named with their subscripts") {
  CHECK(lacks(race_text([] { race_in_tile<<<1, 2>>>(); }),
              {"DATA RACE in kernel race_in_tile on s_tile[3][5]\n"}) == "");
  CHECK(lacks(race_text([] { race_in_scalar<<<1, 2>>>(); }), {"on s_total\n"}) == "");
  CHECK(lacks(race_text([] { race_in_dynamic<<<1, 2, 64>>>(); }), {"on s_sums[2]\n"}) == "");
}

TEST_CASE("global memory is named after the argument of the launch") {
  Array<int> d_x(8);
  Array<float2> pairs(8);
  CHECK(lacks(race_text([&] { templated<int, 5><<<1, 2>>>(d_x.data()); }),
              {"DATA RACE in kernel templated<int, 5> on d_x[5]\n"}) == "");
  int* const raw = d_x.data();
  CHECK(lacks(race_text([&] { templated<int, 0><<<1, 2>>>(raw); }), {"on raw[0]\n"}) == "");
  CHECK(lacks(race_text([&] { race_in_struct<<<1, 2>>>(pairs.data()); }),
              {"on pairs[7] (byte 4 of that element)\n"}) == "");
  CHECK(lacks(race_text([&] { race_on_first_of_two<<<1, 2>>>(d_x.data(), raw); }),
              {"on d_x[2]\n"}) == "");
  CHECK(only_report([&] { templated<int, 5><<<1, 2>>>(raw); }).kernel == "templated<int, 5>");
}

TEST_CASE("memory that is no argument is named by where it was allocated") {
  int* hidden = nullptr;
  const int line = __LINE__ + 1;
  cudaMalloc(&hidden, 40);
  const std::string place =
      "on byte 12 of the 40 bytes allocated at common/simt/tests/messages_test.cu:" +
      std::to_string(line);
  CHECK(lacks(race_text([&] { race_in_hidden_pointer<<<1, 2>>>(Buffers{hidden}); }),
              {place.c_str()}) == "");
  cudaFree(hidden);
}

// ---- notes --------------------------------------------------------------------------------------

namespace {

__global__ void raise_flag(int* flag) { *flag = 1; }

}  // namespace

TEST_CASE("a note is made once for a line, and taken once") {
  auto flag = Array<int>::zeros(1);
  simt::take_notes();
  for (int i = 0; i < 3; ++i) raise_flag<<<1, 64>>>(flag.data());
  cudaDeviceSynchronize();
  CHECK(simt::take_notes().size() == 1);
  CHECK(simt::take_notes().empty());
}

// ---- lines of headers ---------------------------------------------------------------------------

namespace {

constexpr int kReduces = __LINE__ + 2;
__global__ void reduce_in_one_warp(int* out) {
  if (threadIdx.x < 32) *out = course::block_reduce(1, course::Sum{});
}

constexpr int kLooks = __LINE__ + 2;
__global__ void look_at_tile(course::TileStates<float> states, float* out, unsigned tile) {
  *out = states.look_at(tile).value;
}

constexpr int kCombines = __LINE__ + 5;
__global__ void combine_without_barrier(float* out) {
  __shared__ float s_x[64];
  const unsigned t = threadIdx.x;
  s_x[t] = 1;
  out[t] = course::Max{}(s_x[t], s_x[63 - t]);
}

/// " at common/simt/tests/messages_test.cu:12, in common/include/course/merge.cuh:" of line 12.
std::string at_line(int line, const std::string& header) {
  return " at common/simt/tests/messages_test.cu:" + std::to_string(line) +
         ", in common/include/course/" + header + ":";
}

}  // namespace

TEST_CASE("a line in a header of the course is named beside the line that has called it") {
  auto out = Array<int>::zeros(1);
  auto value = Array<float>::zeros(64);
  auto words = Array<unsigned long long>::zeros(4);

  const Report barrier = only_report([&] { reduce_in_one_warp<<<1, 64>>>(out.data()); });
  CHECK(lacks(barrier.text, {"32 of 64 threads wait in __syncthreads()",
                             at_line(kReduces, "collectives.cuh").c_str()}) == "");
  CHECK(barrier.line == kReduces);

  const course::TileStates<float> states{words.data(), nullptr, 1};
  const Report bounds = only_report([&] { look_at_tile<<<1, 1>>>(states, value.data(), 4u); });
  CHECK(lacks(bounds.text, {"OUT OF BOUNDS", at_line(kLooks, "look_back.cuh").c_str()}) == "");
  CHECK(bounds.line == kLooks);

  const auto fresh = observe([&] {
    Array<unsigned long long> unwritten(4);
    const course::TileStates<float> none{unwritten.data(), nullptr, 1};
    look_at_tile<<<1, 1>>>(none, value.data(), 1u);
  });
  CHECK(lacks(fresh.text(), {"UNINITIALISED", at_line(kLooks, "look_back.cuh").c_str()}) == "");

  const auto race = observe([&] { combine_without_barrier<<<1, 64>>>(value.data()); });
  CHECK(lacks(race.text(), {"DATA RACE", at_line(kCombines, "collectives.cuh").c_str(),
                            "read   at common/simt/tests/messages_test.cu:"}) == "");
}
