// What host code does: what it does not give back, when its kernels ran, and a call that fails.
#include <course/check.cuh>
#include <course/host_calls.cuh>
#include <course/host_memory.cuh>
#include <course/timing.cuh>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
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

namespace {

/// Two chunks, each a copy and a kernel. `after_first` is called between them, `streams` has their streams.
template <class AfterFirst>
std::optional<course::HostRun> run_two_chunks(const std::vector<cudaStream_t>& streams,
                                              const AfterFirst& after_first) {
  course::PinnedBuffer<unsigned> x(2 * kCount);
  std::fill_n(x.data(), x.size(), 1u);
  DeviceBuffer<unsigned> d_x[2] = {DeviceBuffer<unsigned>(kCount), DeviceBuffer<unsigned>(kCount)};
  return course::watch_host([&] {
    for (const unsigned i : {0u, 1u}) {
      CUDA_CHECK(cudaMemcpyAsync(d_x[i].data(), x.data() + i * kCount, d_x[i].bytes(),
                                 cudaMemcpyHostToDevice, streams[i]));
      course::launch(add_index, {kBlocks, 256, 0, streams[i]}, d_x[i].data(), kCount);
      if (i == 0) after_first();
    }
    CUDA_CHECK(cudaDeviceSynchronize());
  });
}

using Indices = std::vector<std::size_t>;

}  // namespace

TEST_CASE("the work of a run tells what always ends before it, and what the host waited for") {
  cudaStream_t streams[2] = {};
  for (cudaStream_t& stream : streams) CUDA_CHECK(cudaStreamCreate(&stream));
  const cudaStream_t first = streams[0], second = streams[1];
  cudaEvent_t event = nullptr;
  CUDA_CHECK(cudaEventCreate(&event));
  const auto side_by_side = run_two_chunks({first, second}, [] {});
  const auto one_stream = run_two_chunks({first, first}, [] {});
  const auto by_event = run_two_chunks({first, second}, [&] {
    CUDA_CHECK(cudaEventRecord(event, first));
    CUDA_CHECK(cudaStreamWaitEvent(second, event, 0));
  });
  const auto by_host =
      run_two_chunks({first, second}, [&] { CUDA_CHECK(cudaStreamSynchronize(first)); });
  const auto by_default_stream = run_two_chunks({first, nullptr}, [] {});
  CUDA_CHECK(cudaEventDestroy(event));
  for (const cudaStream_t stream : streams) CUDA_CHECK(cudaStreamDestroy(stream));
  if (!side_by_side) SKIP(course::kNoCounters);

  const auto& work = side_by_side->work;
  REQUIRE(work.size() == 4);
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(work[i].is_kernel == (i % 2 == 1));
    CHECK(work[i].bytes == (i % 2 == 1 ? 0 : kCount * sizeof(unsigned)));
    CHECK(work[i].after == (i % 2 == 1 ? Indices{i - 1} : Indices{}));
    CHECK(work[i].waited_for.empty());
  }
  CHECK(static_cast<const unsigned*>(work[2].from) ==
        static_cast<const unsigned*>(work[0].from) + kCount);
  CHECK(course::steps_of(work) == 3);
  for (const auto& run : {one_stream, by_event, by_host, by_default_stream}) {
    REQUIRE(run->work.size() == 4);
    CHECK(run->work[2].after == Indices{0, 1});
    CHECK(run->work[3].after == Indices{0, 1, 2});
    CHECK(course::steps_of(run->work) == 4);
  }
  CHECK(one_stream->work[2].waited_for.empty());
  CHECK(by_event->work[2].waited_for.empty());
  CHECK(by_host->work[2].waited_for == Indices{0, 1});
  CHECK(by_host->work[3].waited_for == Indices{0, 1});
}

TEST_CASE("neither a query nor the end of a stream waits") {
  cudaStream_t streams[2] = {};
  for (cudaStream_t& stream : streams) CUDA_CHECK(cudaStreamCreate(&stream));
  const auto run = run_two_chunks({streams[0], streams[1]}, [&] {
    static_cast<void>(cudaStreamQuery(streams[0]));
    CUDA_CHECK(cudaStreamDestroy(streams[0]));
  });
  CUDA_CHECK(cudaStreamDestroy(streams[1]));
  if (!run) SKIP(course::kNoCounters);
  REQUIRE(run->work.size() == 4);
  CHECK(run->work[2].after.empty());
  CHECK(run->work[2].waited_for.empty());
}

TEST_CASE("a copy that the host waits for is ordered before all that is called later") {
  const std::vector<unsigned> h_x(kCount, 1);
  DeviceBuffer<unsigned> x(kCount);
  const auto run = course::watch_host([&] {
    x.upload(h_x);
    course::launch(add_index, {kBlocks, 256}, x.data(), kCount);
    x.download();
  });
  if (!run) SKIP(course::kNoCounters);
  REQUIRE(run->work.size() == 3);
  CHECK(run->work[0].after.empty());
  CHECK(run->work[1].after == Indices{0});
  CHECK(run->work[2].after == Indices{0, 1});
  CHECK(run->work[1].waited_for == Indices{0});
  CHECK(run->work[2].waited_for == Indices{0});  // for the kernel it waits itself
  CHECK(run->work[2].to != nullptr);
}

TEST_CASE("the bytes of copies from a device to the host are summed, and no others") {
  const std::vector<unsigned> h_x(kCount, 1);
  const DeviceBuffer<unsigned> source = DeviceBuffer<unsigned>::zeros(kCount);
  DeviceBuffer<unsigned> x(kCount);
  course::PinnedBuffer<unsigned> pinned(kCount);
  course::ManagedBuffer<unsigned> managed(kCount);
  const auto copied = [&](const void* from, void* to, std::size_t bytes, cudaMemcpyKind kind) {
    const auto run = course::watch_host([&] { CUDA_CHECK(cudaMemcpy(to, from, bytes, kind)); });
    return run ? std::optional(run->bytes_to_host) : std::nullopt;
  };
  unsigned first = 0;
  const auto one = copied(source.data(), &first, sizeof first, cudaMemcpyDeviceToHost);
  if (!one) SKIP(course::kNoCounters);
  CHECK(one == 4);
  CHECK(copied(source.data(), pinned.data(), 400, cudaMemcpyDefault) == 400);
  CHECK(copied(source.data(), managed.data(), 400, cudaMemcpyDefault) == 0);
  CHECK(copied(managed.data(), &first, 4, cudaMemcpyDefault) == 0);
  CHECK(copied(source.data(), x.data(), 400, cudaMemcpyDeviceToDevice) == 0);
  CHECK(copied(h_x.data(), x.data(), 400, cudaMemcpyHostToDevice) == 0);
  const auto by_rows = course::watch_host([&] {
    std::vector<unsigned> rows(30);
    CUDA_CHECK(
        cudaMemcpy2DAsync(rows.data(), 40, source.data(), 400, 40, 3, cudaMemcpyDeviceToHost));
    static_cast<void>(x.download());
  });
  CHECK(by_rows->bytes_to_host == 120 + kCount * sizeof(unsigned));
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
