// Races of operations that may run at the same time: kernels and copies of two streams, and the host's own code.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <course/launch.cuh>
#include <cuda/atomic>
#include <string>
#include <vector>

#include "testing.hpp"

using simt::ReportKind;
using namespace simt_test;

namespace {

constexpr int kCount = 64;
constexpr std::size_t kBytes = kCount * sizeof(int);

constexpr int kFillLine = __LINE__ + 1;
__global__ void fill(int* x, int value) { x[threadIdx.x] = value; }
__global__ void fill_bytes(unsigned char* x) { x[threadIdx.x] = 7; }
__global__ void take(const int* from, int* to) { to[threadIdx.x] = from[threadIdx.x]; }
__global__ void add(int* total) { atomicAdd(total, 1); }
__global__ void add_block(int* total) { atomicAdd_block(total, 1); }
__global__ void load_volatile(const volatile int* x, int* y) { *y = *x; }
/// A compare-and-swap loop, which reads plainly first.
__global__ void maximum(int* x, int value) {
  int old = *x, assumed = 0;
  do {
    assumed = old;
    old = atomicCAS(x, assumed, assumed < value ? value : assumed);
  } while (old != assumed);
}
/// Data, then a flag that tells of it; and who waits for the flag without a loop.
__global__ void announce(int* data, int* flag) {
  data[0] = 1;
  __threadfence();
  atomicExch(flag, 1);
}
__global__ void announce_unfenced(int* data, int* flag) {
  data[0] = 1;
  atomicExch(flag, 1);
}
__global__ void take_if_announced(const int* data, int* flag, int* result) {
  if (atomicAdd(flag, 0) == 0) return;
  __threadfence();
  *result = data[0];
}
__global__ void announce_to_host(int* data, volatile int* flag) {
  data[0] = 5;
  __threadfence_system();
  *flag = 1;
}
__global__ void take_from_host(const int* data, const volatile int* flag, int* result) {
  while (*flag == 0) {
  }
  __threadfence_system();
  *result = data[0];
}
__device__ int counter_of_device[kCount];
__global__ void fill_variable() { counter_of_device[threadIdx.x] = 1; }
__global__ void take_variable(int* to) { to[threadIdx.x] = counter_of_device[threadIdx.x]; }
__managed__ int managed_variable;
__global__ void set_managed_variable() { managed_variable = 1; }

// ---- what the programs are made of --------------------------------------------------------------

void ok(cudaError_t error) { static_cast<void>(error); }

struct Stream {
  cudaStream_t handle = nullptr;
  explicit Stream(unsigned flags = cudaStreamNonBlocking) {
    ok(cudaStreamCreateWithFlags(&handle, flags));
  }
  ~Stream() { ok(cudaStreamDestroy(handle)); }
  Stream(const Stream&) = delete;
  operator cudaStream_t() const { return handle; }
};

struct Event {
  cudaEvent_t handle = nullptr;
  Event() { ok(cudaEventCreate(&handle)); }
  ~Event() { ok(cudaEventDestroy(handle)); }
  Event(const Event&) = delete;
  operator cudaEvent_t() const { return handle; }
};

/// Device memory, all 0.
struct Ints {
  int* data = nullptr;
  explicit Ints(std::size_t n = kCount) {
    ok(cudaMalloc(&data, n * sizeof(int)));
    ok(cudaMemset(data, 0, n * sizeof(int)));
    ok(cudaDeviceSynchronize());
  }
  ~Ints() { ok(cudaFree(data)); }
  Ints(const Ints&) = delete;
};

struct Managed {
  int* data = nullptr;
  explicit Managed(std::size_t n = kCount) {
    ok(cudaMallocManaged(&data, n * sizeof(int)));
    std::fill_n(data, n, 0);
  }
  ~Managed() { ok(cudaFree(data)); }
  Managed(const Managed&) = delete;
};

/// Memory of all kinds and two streams that only what the program says orders.
struct World {
  Stream a, b;
  Event event;
  Ints memory_x, memory_y, memory_z;
  int *x = memory_x.data, *y = memory_y.data, *z = memory_z.data;
  Pinned pinned{kCount};
  Managed memory_managed;
  int* managed = memory_managed.data;
  std::vector<int> pageable = std::vector<int>(kCount);

  World() = default;
  ~World() { ok(cudaDeviceSynchronize()); }
  World(const World&) = delete;

  /// b goes on when a has come to here.
  void hand_over() {
    ok(cudaEventRecord(event, a));
    ok(cudaStreamWaitEvent(b, event, 0));
  }
  void copy(int* to, const int* from, cudaStream_t stream) {
    ok(cudaMemcpyAsync(to, from, kBytes, cudaMemcpyDefault, stream));
  }
};

using Program = void (*)(World&);

/// Runs a program under several schedules, up to the first that is not as expected, and says what
/// came of that one. Empty if all are.
std::string surprise(Program program, bool (*expected)(const Outcome&)) {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    const Outcome outcome = observe(
        [&] {
          World world;
          program(world);
        },
        seed);
    if (expected(outcome)) continue;
    return "seed " + std::to_string(seed) + ": " + (outcome.clean() ? "nothing" : outcome.text());
  }
  return "";
}

/// Empty if the program is silent under each schedule.
std::string complaint(Program program) {
  return surprise(program, [](const Outcome& outcome) { return outcome.clean(); });
}

/// Empty if it is reported as a race, and as nothing else, under each schedule.
std::string miss(Program program) {
  return surprise(program, [](const Outcome& outcome) {
    const bool only_races = std::all_of(outcome.reports.begin(), outcome.reports.end(),
                                        [](const auto& r) { return r.kind == ReportKind::race; });
    return !outcome.reports.empty() && only_races;
  });
}

volatile int sink = 0;
void read(const int* p) { sink = *p; }

}  // namespace

// ---- two kernels --------------------------------------------------------------------------------

TEST_CASE("two kernels in two streams that nothing orders") {
  CHECK(miss([](World& w) {
          fill<<<1, kCount, 0, w.a>>>(w.x, 1);
          take<<<1, kCount, 0, w.b>>>(w.x, w.y);
        }) == "");
  CHECK(miss([](World& w) {
          take<<<1, kCount, 0, w.a>>>(w.x, w.y);
          fill<<<1, kCount, 0, w.b>>>(w.x, 1);
        }) == "");
  CHECK(miss([](World& w) {
          fill<<<1, kCount, 0, w.a>>>(w.x, 1);
          fill<<<1, kCount, 0, w.b>>>(w.x, 2);
        }) == "");
  CHECK(complaint([](World& w) {
          take<<<1, kCount, 0, w.a>>>(w.x, w.y);
          take<<<1, kCount, 0, w.b>>>(w.x, w.z);
        }) == "");
}

TEST_CASE("two kernels in one stream, or after each other for the host") {
  CHECK(complaint([](World& w) {
          fill<<<1, kCount, 0, w.a>>>(w.x, 1);
          take<<<1, kCount, 0, w.a>>>(w.x, w.y);
        }) == "");
  CHECK(complaint([](World& w) {
          fill<<<1, kCount, 0, w.a>>>(w.x, 1);
          ok(cudaDeviceSynchronize());
          take<<<1, kCount, 0, w.b>>>(w.x, w.y);
        }) == "");
  CHECK(complaint([](World& w) {
          fill<<<1, kCount, 0, w.a>>>(w.x, 1);
          ok(cudaStreamSynchronize(w.a));
          take<<<1, kCount, 0, w.b>>>(w.x, w.y);
        }) == "");
  CHECK(complaint([](World& w) {
          fill<<<1, kCount, 0, w.a>>>(w.x, 1);
          while (cudaStreamQuery(w.a) == cudaErrorNotReady) {
          }
          take<<<1, kCount, 0, w.b>>>(w.x, w.y);
        }) == "");
  CHECK(complaint([](World& w) {
          int* extra = nullptr;
          ok(cudaMalloc(&extra, 4));
          fill<<<1, kCount, 0, w.a>>>(w.x, 1);
          ok(cudaFree(extra));  // waits for the device
          take<<<1, kCount, 0, w.b>>>(w.x, w.y);
        }) == "");
  CHECK(miss([](World& w) {
          fill<<<1, kCount, 0, w.a>>>(w.x, 1);
          ok(cudaStreamSynchronize(w.b));  // the wrong one
          take<<<1, kCount, 0, w.b>>>(w.x, w.y);
        }) == "");
  CHECK(miss([](World& w) {
          fill<<<1, kCount, 0, w.a>>>(w.x, 1);
          ok(cudaStreamQuery(w.a));  // may answer that it is not ready
          take<<<1, kCount, 0, w.b>>>(w.x, w.y);
        }) == "");
}

TEST_CASE(
    "events order two streams if they are recorded late enough, and waited for by the right stream") {
  CHECK(complaint([](World& w) {
          fill<<<1, kCount, 0, w.a>>>(w.x, 1);
          w.hand_over();
          take<<<1, kCount, 0, w.b>>>(w.x, w.y);
        }) == "");
  CHECK(complaint([](World& w) {
          fill<<<1, kCount, 0, w.a>>>(w.x, 1);
          ok(cudaEventRecord(w.event, w.a));
          ok(cudaEventSynchronize(w.event));
          take<<<1, kCount, 0, w.b>>>(w.x, w.y);
        }) == "");
  CHECK(complaint([](World& w) {  // a ring: b tells a when it has read
          const Event taken;
          for (int i = 0; i < 4; ++i) {
            fill<<<1, kCount, 0, w.a>>>(w.x, i);
            w.hand_over();
            take<<<1, kCount, 0, w.b>>>(w.x, w.y);
            ok(cudaEventRecord(taken, w.b));
            ok(cudaStreamWaitEvent(w.a, taken, 0));
          }
        }) == "");
  CHECK(miss([](World& w) {  // the way back is missing
          for (int i = 0; i < 2; ++i) {
            fill<<<1, kCount, 0, w.a>>>(w.x, i);
            w.hand_over();
            take<<<1, kCount, 0, w.b>>>(w.x, w.y);
          }
        }) == "");
  CHECK(miss([](World& w) {  // recorded too early
          w.hand_over();
          fill<<<1, kCount, 0, w.a>>>(w.x, 1);
          take<<<1, kCount, 0, w.b>>>(w.x, w.y);
        }) == "");
  CHECK(miss([](World& w) {  // another stream waits
          const Stream c;
          fill<<<1, kCount, 0, w.a>>>(w.x, 1);
          ok(cudaEventRecord(w.event, w.a));
          ok(cudaStreamWaitEvent(c, w.event, 0));
          take<<<1, kCount, 0, w.b>>>(w.x, w.y);
        }) == "");
  CHECK(miss([](World& w) {  // the wait comes after what should wait
          fill<<<1, kCount, 0, w.a>>>(w.x, 1);
          ok(cudaEventRecord(w.event, w.a));
          take<<<1, kCount, 0, w.b>>>(w.x, w.y);
          ok(cudaStreamWaitEvent(w.b, w.event, 0));
        }) == "");
}

TEST_CASE("the legacy default stream orders blocking streams only") {
  CHECK(complaint([](World& w) {
          const Stream blocking(cudaStreamDefault), other(cudaStreamDefault);
          fill<<<1, kCount, 0, blocking>>>(w.x, 1);
          fill<<<1, kCount>>>(w.x, 2);
          take<<<1, kCount, 0, other>>>(w.x, w.y);
        }) == "");
  CHECK(miss([](World& w) {
          const Stream blocking(cudaStreamDefault), other(cudaStreamDefault);
          fill<<<1, kCount, 0, blocking>>>(w.x, 1);
          take<<<1, kCount, 0, other>>>(w.x, w.y);
        }) == "");
  CHECK(miss([](World& w) {
          fill<<<1, kCount>>>(w.x, 2);
          take<<<1, kCount, 0, w.a>>>(w.x, w.y);
        }) == "");
  CHECK(miss([](World& w) {
          ok(cudaMemset(w.x, 0, kBytes));  // in the default stream, and does not wait
          take<<<1, kCount, 0, w.a>>>(w.x, w.y);
        }) == "");
  CHECK(complaint([](World& w) {
          ok(cudaMemset(w.x, 0, kBytes));
          ok(cudaDeviceSynchronize());
          take<<<1, kCount, 0, w.a>>>(w.x, w.y);
        }) == "");
}

TEST_CASE("a stream that is destroyed does not make the host wait") {
  CHECK(miss([](World& w) {
          for (int i = 0; i < 2; ++i) {
            const Stream own;
            fill<<<1, kCount, 0, own>>>(w.x, i);
          }
        }) == "");
  CHECK(complaint([](World& w) {
          for (int i = 0; i < 2; ++i) {
            const Stream own;
            fill<<<1, kCount, 0, own>>>(w.x, i);
            ok(cudaStreamSynchronize(own));
          }
        }) == "");
  CHECK(complaint([](World& w) {
          {
            const Stream own;
            fill<<<1, kCount, 0, own>>>(w.x, 1);
          }
          ok(cudaDeviceSynchronize());
          fill<<<1, kCount, 0, w.a>>>(w.x, 2);
        }) == "");
  CHECK(complaint([](World& w) {
          {
            const Stream own(cudaStreamDefault);
            fill<<<1, kCount, 0, own>>>(w.x, 1);
          }
          fill<<<1, kCount>>>(w.x, 2);
        }) == "");
}

TEST_CASE("two streams may work on parts of one array") {
  CHECK(complaint([](World& w) {
          fill<<<1, kCount / 2, 0, w.a>>>(w.x, 1);
          fill<<<1, kCount / 2, 0, w.b>>>(w.x + kCount / 2, 2);
        }) == "");
  CHECK(miss([](World& w) {
          fill<<<1, kCount / 2 + 1, 0, w.a>>>(w.x, 1);
          fill<<<1, kCount / 2, 0, w.b>>>(w.x + kCount / 2, 2);
        }) == "");
  CHECK(complaint([](World& w) {  // copy, kernel, copy back, of each chunk in a stream of its own
          for (int chunk = 0; chunk < 4; ++chunk) {
            const cudaStream_t stream = chunk % 2 == 0 ? w.a : w.b;
            const int first = chunk * kCount / 4, bytes = kBytes / 4;
            int* const host = w.pinned.data + first;
            ok(cudaMemcpyAsync(w.x + first, host, bytes, cudaMemcpyHostToDevice, stream));
            fill<<<1, kCount / 4, 0, stream>>>(w.x + first, chunk);
            ok(cudaMemcpyAsync(host, w.x + first, bytes, cudaMemcpyDeviceToHost, stream));
          }
          ok(cudaStreamSynchronize(w.a));
          read(w.pinned.data);
          ok(cudaStreamSynchronize(w.b));
          read(w.pinned.data + kCount / 4);
        }) == "");
  CHECK(complaint([](World& w) {  // odd borders between bytes
          auto* const bytes = reinterpret_cast<unsigned char*>(w.x);
          fill_bytes<<<1, 5, 0, w.a>>>(bytes);
          ok(cudaMemsetAsync(bytes + 5, 1, 6, w.b));
          fill_bytes<<<1, 5, 0, w.a>>>(bytes + 11);
        }) == "");
}

TEST_CASE("atomics of two kernels need device scope, and no order") {
  CHECK(complaint([](World& w) {
          add<<<2, 32, 0, w.a>>>(w.x);
          add<<<2, 32, 0, w.b>>>(w.x);
        }) == "");
  CHECK(complaint([](World& w) {
          maximum<<<2, 32, 0, w.a>>>(w.x, 3);
          maximum<<<2, 32, 0, w.b>>>(w.x, 7);
        }) == "");
  CHECK(complaint([](World& w) {
          add<<<1, 32, 0, w.a>>>(w.x);
          load_volatile<<<1, 1, 0, w.b>>>(w.x, w.y);
        }) == "");
  CHECK(miss([](World& w) {
          add<<<1, 32, 0, w.a>>>(w.x);
          take<<<1, 1, 0, w.b>>>(w.x, w.y);
        }) == "");
  CHECK(miss([](World& w) {
          add_block<<<1, 32, 0, w.a>>>(w.x);
          add<<<1, 32, 0, w.b>>>(w.x);
        }) == "");
}

TEST_CASE("a flag with fences orders two kernels of one device") {
  CHECK(complaint([](World& w) {
          announce<<<1, 1, 0, w.a>>>(w.x, w.y);
          take_if_announced<<<1, 1, 0, w.b>>>(w.x, w.y, w.z);
        }) == "");
  bool found = false;
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    found = found || observe(
                         [] {
                           World w;
                           announce_unfenced<<<1, 1, 0, w.a>>>(w.x, w.y);
                           take_if_announced<<<1, 1, 0, w.b>>>(w.x, w.y, w.z);
                         },
                         seed)
                         .found(ReportKind::race);
  }
  CHECK(found);  // in one of the two orders nothing is read
}

TEST_CASE("variables of the device are memory of all streams") {
  CHECK(miss([](World& w) {
          fill_variable<<<1, kCount, 0, w.a>>>();
          take_variable<<<1, kCount, 0, w.b>>>(w.x);
        }) == "");
  CHECK(miss([](World& w) {
          fill_variable<<<1, kCount, 0, w.a>>>();
          ok(cudaMemcpyFromSymbolAsync(w.pinned.data, counter_of_device, kBytes, 0,
                                       cudaMemcpyDeviceToHost, w.b));
        }) == "");
  CHECK(complaint([](World& w) {
          fill_variable<<<1, kCount, 0, w.a>>>();
          w.hand_over();
          take_variable<<<1, kCount, 0, w.b>>>(w.x);
          ok(cudaMemcpyFromSymbolAsync(w.pinned.data, counter_of_device, kBytes, 0,
                                       cudaMemcpyDeviceToHost, w.b));
        }) == "");
  CHECK(complaint([](World& w) {  // each device has its own
          fill_variable<<<1, kCount, 0, w.a>>>();
          const On on(1);
          fill_variable<<<1, kCount>>>();
          ok(cudaMemcpyFromSymbol(w.pageable.data(), counter_of_device, kBytes));
        }) == "");
}

// ---- a kernel and a copy ------------------------------------------------------------------------

TEST_CASE("a kernel and a copy or memset in another stream") {
  CHECK(miss([](World& w) {
          fill<<<1, kCount, 0, w.a>>>(w.x, 1);
          w.copy(w.pinned.data, w.x, w.b);
        }) == "");
  CHECK(miss([](World& w) {
          w.copy(w.pinned.data, w.x, w.b);
          fill<<<1, kCount, 0, w.a>>>(w.x, 1);
        }) == "");
  CHECK(miss([](World& w) {
          take<<<1, kCount, 0, w.a>>>(w.x, w.y);
          w.copy(w.x, w.pageable.data(), w.b);
        }) == "");
  CHECK(miss([](World& w) {
          ok(cudaMemsetAsync(w.x, 0, kBytes, w.a));
          take<<<1, kCount, 0, w.b>>>(w.x, w.y);
        }) == "");
  CHECK(miss([](World& w) {  // cudaMemcpy waits for the default stream, not for this one
          fill<<<1, kCount, 0, w.a>>>(w.x, 1);
          ok(cudaMemcpy(w.pageable.data(), w.x, kBytes, cudaMemcpyDeviceToHost));
        }) == "");
  CHECK(complaint([](World& w) {
          take<<<1, kCount, 0, w.a>>>(w.x, w.y);
          w.copy(w.pinned.data, w.x, w.b);  // both read
        }) == "");
  CHECK(complaint([](World& w) {
          fill<<<1, kCount, 0, w.a>>>(w.x, 1);
          w.hand_over();
          w.copy(w.pinned.data, w.x, w.b);
        }) == "");
  CHECK(complaint([](World& w) {
          const Stream blocking(cudaStreamDefault);
          fill<<<1, kCount, 0, blocking>>>(w.x, 1);
          ok(cudaMemcpy(w.pageable.data(), w.x, kBytes, cudaMemcpyDeviceToHost));
          fill<<<1, kCount, 0, w.a>>>(w.x, 1);
        }) == "");
}

TEST_CASE("two copies in two streams") {
  CHECK(miss([](World& w) {
          w.copy(w.x, w.y, w.a);
          w.copy(w.z, w.x, w.b);
        }) == "");
  CHECK(miss([](World& w) {
          w.copy(w.pinned.data, w.y, w.a);
          w.copy(w.x, w.pinned.data, w.b);
        }) == "");
  CHECK(complaint([](World& w) {
          w.copy(w.x, w.y, w.a);
          w.hand_over();
          w.copy(w.z, w.x, w.b);
        }) == "");
}

TEST_CASE("columns that two streams copy are apart, or overlap") {
  const auto columns = [](World& w, int first, cudaStream_t stream) {  // 4 of 8 rows of 8 ints
    ok(cudaMemcpy2DAsync(w.x + first, 32, w.pageable.data(), 16, 16, 8, cudaMemcpyHostToDevice,
                         stream));
  };
  static const auto copy_columns = columns;
  CHECK(complaint([](World& w) {
          copy_columns(w, 0, w.a);
          copy_columns(w, 4, w.b);
        }) == "");
  CHECK(miss([](World& w) {
          copy_columns(w, 0, w.a);
          copy_columns(w, 3, w.b);
        }) == "");
  CHECK(complaint([](World& w) {
          copy_columns(w, 0, w.a);
          fill<<<1, 4, 0, w.b>>>(w.x + 12, 1);
        }) == "");
  CHECK(miss([](World& w) {
          copy_columns(w, 0, w.a);
          fill<<<1, 4, 0, w.b>>>(w.x + 13, 1);
          fill<<<1, 1, 0, w.b>>>(w.x + 16, 1);
        }) == "");
}

TEST_CASE("memory of a stream may be used where it is in order") {
  CHECK(complaint([](World& w) {
          for (int i = 0; i < 3; ++i) {
            int* own = nullptr;
            ok(cudaMallocAsync(&own, kBytes, w.a));
            fill<<<1, kCount, 0, w.a>>>(own, i);
            take<<<1, kCount, 0, w.a>>>(own, w.x);
            ok(cudaFreeAsync(own, w.a));
          }
        }) == "");
  CHECK(miss([](World& w) {
          int* own = nullptr;
          ok(cudaMallocAsync(&own, kBytes, w.a));
          fill<<<1, kCount, 0, w.b>>>(own, 2);  // before the allocation, for all that b knows
          ok(cudaDeviceSynchronize());
          ok(cudaFreeAsync(own, w.a));
        }) == "");
  CHECK(complaint([](World& w) {
          int* own = nullptr;
          ok(cudaMallocAsync(&own, kBytes, w.a));
          w.hand_over();
          fill<<<1, kCount, 0, w.b>>>(own, 2);
          ok(cudaFreeAsync(own, w.b));
        }) == "");
}

// ---- graphs -------------------------------------------------------------------------------------

namespace {

/// fill of x, then take from x in the stream b, which waits for it or does not.
void capture_fork(World& w, bool waits, cudaGraph_t* graph) {
  const Event joined;
  ok(cudaStreamBeginCapture(w.a, cudaStreamCaptureModeGlobal));
  if (!waits) w.hand_over();
  fill<<<1, kCount, 0, w.a>>>(w.x, 1);
  if (waits) w.hand_over();
  take<<<1, kCount, 0, w.b>>>(w.x, w.y);
  ok(cudaEventRecord(joined, w.b));
  ok(cudaStreamWaitEvent(w.a, joined, 0));
  w.copy(w.pinned.data, w.y, w.a);
  ok(cudaStreamEndCapture(w.a, graph));
}

void run_fork(World& w, bool waits) {
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  capture_fork(w, waits, &graph);
  ok(cudaGraphInstantiate(&exec, graph, 0));
  for (int i = 0; i < 2; ++i) ok(cudaGraphLaunch(exec, w.a));
  ok(cudaStreamSynchronize(w.a));
  read(w.pinned.data);
  ok(cudaGraphExecDestroy(exec));
  ok(cudaGraphDestroy(graph));
}

}  // namespace

TEST_CASE(
    "the nodes of a graph are in the order of its edges, and a launch in that of its stream") {
  CHECK(complaint([](World& w) { run_fork(w, true); }) == "");
  CHECK(miss([](World& w) { run_fork(w, false); }) == "");
  CHECK(miss([](World& w) {
          cudaGraph_t graph;
          cudaGraphExec_t exec;
          capture_fork(w, true, &graph);
          ok(cudaGraphInstantiate(&exec, graph, 0));
          ok(cudaGraphLaunch(exec, w.a));
          read(w.pinned.data);
          ok(cudaGraphExecDestroy(exec));
          ok(cudaGraphDestroy(graph));
        }) == "");
}

// ---- the host -----------------------------------------------------------------------------------

TEST_CASE("the host and a kernel on managed or pinned memory") {
  CHECK(miss([](World& w) {
          fill<<<1, kCount>>>(w.managed, 1);
          read(w.managed);
        }) == "");
  CHECK(miss([](World& w) {
          fill<<<1, kCount, 0, w.a>>>(w.pinned.data, 1);
          read(w.pinned.data);
        }) == "");
  CHECK(miss([](World& w) {
          take<<<1, kCount>>>(w.managed, w.x);
          w.managed[3] = 1;
        }) == "");
  CHECK(miss([](World& w) {  // waits for the wrong stream
          fill<<<1, kCount, 0, w.a>>>(w.managed, 1);
          ok(cudaStreamSynchronize(w.b));
          read(w.managed);
        }) == "");
  CHECK(miss([](World& w) {  // has run, but the host cannot know
          fill<<<1, kCount, 0, w.a>>>(w.managed, 1);
          ok(cudaStreamQuery(w.a));
          read(w.managed);
        }) == "");
  CHECK(miss([](World&) {
          set_managed_variable<<<1, 1>>>();
          read(&managed_variable);
        }) == "");
  CHECK(complaint([](World& w) {
          fill<<<1, kCount>>>(w.managed, 1);
          ok(cudaDeviceSynchronize());
          read(w.managed);
          w.managed[0] = 2;
          take<<<1, kCount, 0, w.a>>>(w.managed, w.x);
          ok(cudaStreamSynchronize(w.a));
          w.managed[0] = 3;
        }) == "");
  CHECK(complaint([](World& w) {  // the host has its own half
          fill<<<1, kCount / 2>>>(w.managed, 1);
          w.managed[kCount / 2] = 1;
          read(w.managed + kCount - 1);
        }) == "");
  CHECK(complaint([](World& w) {  // both read
          take<<<1, kCount>>>(w.managed, w.x);
          read(w.managed);
        }) == "");
  CHECK(complaint([](World& w) {
          fill<<<1, kCount, 0, w.a>>>(w.managed, 1);
          while (cudaStreamQuery(w.a) == cudaErrorNotReady) {
          }
          read(w.managed);
        }) == "");
  CHECK(complaint([](World& w) {
          fill<<<1, kCount, 0, w.a>>>(w.managed, 1);
          ok(cudaEventRecord(w.event, w.a));
          fill<<<1, kCount, 0, w.a>>>(w.x, 1);
          ok(cudaEventSynchronize(w.event));
          read(w.managed);
        }) == "");
}

TEST_CASE("the result of an asynchronous copy is read too early") {
  CHECK(miss([](World& w) {
          w.copy(w.pinned.data, w.x, w.a);
          read(w.pinned.data);
        }) == "");
  CHECK(miss([](World& w) {
          w.copy(w.pageable.data(), w.x, w.a);
          read(w.pageable.data() + 7);
        }) == "");
  CHECK(miss([](World& w) {
          w.copy(w.pinned.data, w.x, w.a);
          ok(cudaStreamSynchronize(w.b));
          read(w.pinned.data);
        }) == "");
  CHECK(miss([](World& w) {  // by a copy that takes it along when it is called
          w.copy(w.pageable.data(), w.x, w.a);
          w.copy(w.y, w.pageable.data(), w.a);
        }) == "");
  CHECK(complaint([](World& w) {
          w.copy(w.pinned.data, w.x, w.a);
          w.copy(w.pageable.data(), w.y, w.a);
          ok(cudaStreamSynchronize(w.a));
          read(w.pinned.data);
          read(w.pageable.data());
        }) == "");
  CHECK(complaint([](World& w) {
          ok(cudaMemcpyAsync(w.pageable.data(), w.x, kBytes / 2, cudaMemcpyDeviceToHost, w.a));
          read(w.pageable.data() + kCount / 2);
        }) == "");
}

TEST_CASE("the source of an asynchronous copy is changed too early") {
  CHECK(miss([](World& w) {
          w.copy(w.x, w.pinned.data, w.a);
          w.pinned.data[0] = 1;
        }) == "");
  CHECK(complaint([](World& w) {
          w.copy(w.x, w.pinned.data, w.a);
          read(w.pinned.data);
          ok(cudaStreamSynchronize(w.a));
          w.pinned.data[0] = 1;
        }) == "");
  CHECK(complaint([](World& w) {  // pageable memory has been read when the call returns
          w.copy(w.x, w.pageable.data(), w.a);
          w.pageable[0] = 1;
        }) == "");
}

TEST_CASE("host functions are in the order of their stream") {
  static int* shared_with_host = nullptr;
  static const auto increment = [](void*) { ++*shared_with_host; };
  CHECK(complaint([](World& w) {
          shared_with_host = w.pinned.data;
          fill<<<1, kCount, 0, w.a>>>(w.pinned.data, 1);
          ok(cudaLaunchHostFunc(w.a, increment, nullptr));
          w.copy(w.x, w.pinned.data, w.a);
          ok(cudaStreamSynchronize(w.a));
          read(w.pinned.data);
        }) == "");
  CHECK(miss([](World& w) {
          shared_with_host = w.pinned.data;
          fill<<<1, kCount, 0, w.a>>>(w.pinned.data, 1);
          ok(cudaLaunchHostFunc(w.b, increment, nullptr));
        }) == "");
  CHECK(miss([](World& w) {
          shared_with_host = w.pinned.data;
          ok(cudaLaunchHostFunc(w.a, increment, nullptr));
          read(w.pinned.data);
        }) == "");
}

TEST_CASE("flags between the host and a kernel") {
  CHECK(complaint([](World& w) {  // the kernel's data, then its flag
          announce_to_host<<<1, 1, 0, w.a>>>(w.managed, w.managed + 8);
          volatile int* const flag = w.managed + 8;
          while (*flag == 0) ok(cudaStreamQuery(w.a));
          read(w.managed);
        }) == "");
  CHECK(complaint([](World& w) {  // the host's
          take_from_host<<<1, 1, 0, w.a>>>(w.managed, w.managed + 8, w.x);
          w.managed[0] = 1;
          *static_cast<volatile int*>(w.managed + 8) = 1;
        }) == "");
  CHECK(miss([](World& w) {  // the flag is an ordinary variable
          announce_to_host<<<1, 1, 0, w.a>>>(w.managed, w.managed + 8);
          while (w.managed[8] == 0) ok(cudaStreamQuery(w.a));
        }) == "");
}

// ---- what is said -------------------------------------------------------------------------------

TEST_CASE("a race of two streams names both operations and what to do") {
  const std::string file = "common/simt/tests/overlap_test.cu:";
  int first = 0, second = 0;
  const simt::Report kernels = only_report([&] {
    World w;
    int* const d_x = w.x;
    first = __LINE__ + 1;
    fill<<<1, kCount, 0, w.a>>>(d_x, 1);
    take<<<1, kCount, 0, w.b>>>(d_x, w.y);
    ok(cudaDeviceSynchronize());
  });
  CHECK(kernels.kind == ReportKind::race);
  CHECK(kernels.object == "d_x");
  CHECK(kernels.accesses.size() == 2);
  CHECK(lacks(kernels, {"DATA RACE of two streams on d_x[0]\n",
                        ("  write  at " + file + std::to_string(kFillLine) +
                         " by block 0 thread 0 in kernel fill (launched at " + file +
                         std::to_string(first) + ")\n")
                            .c_str(),
                        "Two streams, and nothing orders them.", "cudaStreamWaitEvent",
                        "cudaDeviceSynchronize"}) == "");
  const simt::Report copy = only_report([&] {
    World w;
    int* const d_x = w.x;
    fill<<<1, kCount, 0, w.a>>>(d_x, 1);
    second = __LINE__ + 1;
    ok(cudaMemcpyAsync(w.pinned.data, d_x, kBytes, cudaMemcpyDeviceToHost, w.b));
    ok(cudaDeviceSynchronize());
  });
  CHECK(copy.kernel == "fill");
  CHECK(lacks(copy, {"DATA RACE of two streams on d_x[0]\n",
                     ("  read   at " + file + std::to_string(second) + " by cudaMemcpyAsync()\n")
                         .c_str()}) == "");
}

TEST_CASE("a launch that a function of a header makes is told at the line that calls it") {
  const std::string file = "launched at common/simt/tests/overlap_test.cu:";
  int first = 0, second = 0, value = 1;
  const simt::Report report = only_report([&] {
    World w;
    int* const d_x = w.x;
    first = __LINE__ + 1;
    course::launch(fill, {1, kCount, 0, w.a}, d_x, value);
    cudaLaunchConfig_t config{};
    config.gridDim = 1;
    config.blockDim = kCount;
    config.stream = w.b;
    second = __LINE__ + 1;
    ok(cudaLaunchKernelEx(&config, fill, d_x, value));
    ok(cudaDeviceSynchronize());
  });
  CHECK(lacks(report, {(file + std::to_string(first) + ")").c_str(),
                       (file + std::to_string(second) + ")").c_str()}) == "");
}

TEST_CASE("an early access of the host names it, and the wait that is missing") {
  const std::string file = "common/simt/tests/overlap_test.cu:";
  int line = 0;
  const simt::Report kernel = only_report([&] {
    World w;
    int* const values = w.managed;
    fill<<<1, kCount>>>(values, 1);
    line = __LINE__ + 1;
    if (values[2] == 1) sink = 1;
    ok(cudaDeviceSynchronize());
  });
  CHECK(lacks(kernel, {"DATA RACE of the host and a kernel on values[2]\n",
                       ("  read   at " + file + std::to_string(line) + " by the host\n").c_str(),
                       "A launch returns before the kernel has run: call cudaDeviceSynchronize",
                       "before the host reads"}) == "");
  const simt::Report copy = only_report([&] {
    World w;
    w.copy(w.pageable.data(), w.x, w.a);
    line = __LINE__ + 1;
    if (w.pageable[1] == 1) sink = 1;
    ok(cudaDeviceSynchronize());
  });
  CHECK(lacks(copy, {"DATA RACE of the host and cudaMemcpyAsync() on memory of the host\n",
                     (" by the host\n"), "  write  at ", "call cudaStreamSynchronize",
                     "before the host reads the result"}) == "");
}

TEST_CASE("a pointer of the device that the host dereferences is no race") {
  const simt::Report report = only_report([] {
    World w;
    fill<<<1, kCount, 0, w.a>>>(w.x, 1);
    read(w.x);
    ok(cudaDeviceSynchronize());
  });
  CHECK(report.kind == ReportKind::host_access);
}

TEST_CASE("a loop of the host that comes too early is one finding") {
  const Outcome outcome = observe([] {
    World w;
    fill<<<1, kCount>>>(w.managed, 1);
    int sum = 0;
    for (int i = 0; i < kCount; ++i) sum += w.managed[i];
    sink = sum;
  });
  CHECK(outcome.reports.size() == 1);
}
