// What host code does: what it does not give back, when its kernels ran, and a call that fails.
#include <course/check.cuh>
#include <course/host_calls.cuh>
#include <course/timing.cuh>

#include <catch2/catch_test_macros.hpp>
#include <cstdint>
#include <string>
#include <vector>

using course::DeviceBuffer;

namespace {

__global__ void add_index(unsigned* d_x, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) d_x[i] += i;
}

constexpr unsigned kCount = 10'000, kBlocks = (kCount + 255) / 256;

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("host code that gives everything back is seen to do so") {
  DeviceBuffer<unsigned> before(10);  // was there before
  const auto run = course::watch_host([] { DeviceBuffer<unsigned>::zeros(100); });
  if (!run) SKIP(course::kNoCounters);
  CHECK(run->not_given_back.empty());
  CHECK(run->kernels == 0);
}

TEST_CASE("what host code does not give back is named, with the line that made it") {
  unsigned *d_x = nullptr, *managed = nullptr, *pinned = nullptr;
  cudaEvent_t event = nullptr;
  cudaStream_t stream = nullptr;
  const int line = __LINE__ + 2;
  const auto run = course::watch_host([&] {
    CUDA_CHECK(cudaMalloc(&d_x, 400));
    CUDA_CHECK(cudaMallocManaged(&managed, 12));
    CUDA_CHECK(cudaMallocHost(&pinned, 8));
    CUDA_CHECK(cudaEventCreate(&event));
    CUDA_CHECK(cudaStreamCreate(&stream));
  });
  CUDA_CHECK(cudaStreamDestroy(stream));
  CUDA_CHECK(cudaEventDestroy(event));
  CUDA_CHECK(cudaFreeHost(pinned));
  CUDA_CHECK(cudaFree(managed));
  CUDA_CHECK(cudaFree(d_x));
  if (!run) SKIP(course::kNoCounters);
  const std::string expected[] = {
      "400 bytes of device memory, allocated at ", "12 bytes of managed memory, allocated at ",
      "8 bytes of pinned memory, allocated at ", "an event, made at ", "a stream, made at "};
  CHECK(run->not_given_back.size() == std::size(expected));
  std::string all;
  for (const std::string& text : run->not_given_back) all += text + "\n";
  for (int i = 0; i < 5; ++i) {
    const std::string text = expected[i] + "common/tests/host_calls_test.cu:";
    INFO(text + std::to_string(line + i) << " in\n" << all);
    CHECK(contains(all, text + std::to_string(line + i) + "\n"));
  }
}

TEST_CASE("a time around the kernel lies between what it took and the room that it has") {
  auto x = DeviceBuffer<unsigned>::zeros(kCount);
  const std::vector<unsigned> h_x(kCount, 1);
  double events = 0, clock = 0, too_early = 0, too_long = 0;
  const auto measure = [&] {
    const course::HostTimer with_copies;
    x.upload(h_x);
    course::EventTimer timer;
    const course::HostTimer host_timer;
    timer.start();
    course::launch(add_index, {kBlocks, 256}, x.data(), kCount);
    too_early = host_timer.microseconds();
    timer.stop();
    events = timer.microseconds();
    clock = host_timer.microseconds();
    x.download();
    too_long = with_copies.microseconds();
  };
  auto run = course::watch_host(measure);
  // Other processes may hold this one up between the launch and the look at the clock.
  for (int again = 0; run && too_early >= run->kernel_microseconds && again < 20; ++again) {
    run = course::watch_host(measure);
  }
  if (!run) SKIP(course::kNoCounters);
  CHECK(run->kernels == 1);
  CHECK(too_early < run->kernel_microseconds);
  CHECK(run->kernel_microseconds <= events * 1.001);
  CHECK(events <= clock * 1.001);
  CHECK(clock <= run->room_microseconds);
  CHECK(run->room_microseconds < too_long);
}

TEST_CASE("with_failing_call lets one call after the other fail, up to the last") {
  const auto work = [] {
    auto x = DeviceBuffer<unsigned>::zeros(kCount);               // 2 calls
    course::launch(add_index, {kBlocks, 256}, x.data(), kCount);  // 1
    CUDA_CHECK(cudaMemset(x.data(), 0, sizeof(unsigned)));        // 1
  };
  std::uint64_t failed = 0;
  for (std::uint64_t number = 1;; ++number) {
    bool threw = false;
    const auto line = course::with_failing_call(number, cudaErrorUnknown, [&] {
      try {
        work();
      } catch (const course::CudaError& error) {
        threw = error.code() == cudaErrorUnknown;
      }
    });
    if (!line) SKIP(course::kNoCounters);
    CHECK(threw == !line->empty());
    CHECK(cudaGetLastError() == cudaSuccess);  // the exception was the error's end
    if (line->empty()) break;
    ++failed;
    CHECK(contains(*line, "common/tests/host_calls_test.cu:"));
  }
  CHECK(failed == 4);
}

TEST_CASE(
    "with_lasting_error lets all calls after one fail, those that give back, too, and ends with the work") {
  std::vector<cudaError_t> errors;
  unsigned *first = nullptr, *second = nullptr;
  const auto line = course::with_lasting_error(2, cudaErrorUnknown, [&] {
    for (unsigned** p : {&first, &second}) errors.push_back(cudaMalloc(p, 400));
    errors.push_back(cudaFree(first));
    errors.push_back(cudaGetLastError());
    errors.push_back(cudaDeviceSynchronize());
  });
  if (!line) SKIP(course::kNoCounters);
  CHECK(errors == std::vector<cudaError_t>{cudaSuccess, cudaErrorUnknown, cudaErrorUnknown,
                                           cudaErrorUnknown, cudaErrorUnknown});
  CHECK(contains(*line, "common/tests/host_calls_test.cu:"));
  CHECK(cudaGetLastError() == cudaSuccess);
  CHECK(cudaMalloc(&second, 400) == cudaSuccess);
  CHECK(cudaFree(second) == cudaSuccess);
}
