// What a kernel may touch: accesses out of bounds, misaligned, to freed or uninitialised memory,
// and the two sides using each other's pointers.
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <catch2/catch_test_macros.hpp>
#include <string>

#include "testing.hpp"

using simt::Report, simt::ReportKind;
using namespace simt_test;

// ---- out of bounds ------------------------------------------------------------------------------

namespace {

constexpr int kStoreAt = __LINE__ + 1;
__global__ void store_at(float* x, long i) { x[i + static_cast<long>(threadIdx.x)] = 1.0f; }
__global__ void load_at(const float* x, long i, float* y) { *y = x[i]; }
__global__ void add_at(int* counts, int i) { atomicAdd(&counts[i], 1); }

constexpr int kTicketTaken = __LINE__ + 2;
__global__ void append(int* list, int* count) {
  const int ticket = atomicAdd(count, 1);
  list[ticket] = static_cast<int>(threadIdx.x);
}

constexpr int kNoBoundsCheck = __LINE__ + 3;
__global__ void scale(float* x, int n, float factor) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  x[i] *= factor;
  static_cast<void>(n);
}

/// An element of its caller's array, or of what lies beside it.
__device__ __noinline__ void set(long* values, long i, long value) { values[i] = value; }
constexpr int kSet = __LINE__ - 1;
__device__ __noinline__ void clear(void* p, std::size_t n) { memset(p, 0, n); }
__device__ __noinline__ long* of_returned() {
  long gone[400];
  set(gone, 0, 1);
  long* volatile p = gone;
  return p;
}

struct Pair {
  long a[20];
};
/// `i` is in no array of the kernel for 0 and 1: it is where the kernel returns to.
__global__ void store_local(Pair by_value, long i, int what, long* y) {
  long mine[4] = {1, 2, 3, 4};
  auto* const frame = static_cast<long*>(__builtin_frame_address(0));
  set(mine, 3, 5);
  set(by_value.a, 19, 6);  // on the stack of what has called the kernel
  long* const to[] = {mine, frame, of_returned()};
  if (what < 3) {
    set(to[what], i, 7);
  } else {
    clear(frame - 4, static_cast<std::size_t>(i));
  }
  *y = mine[3] + by_value.a[19];
}

__global__ void past_static_array(float* y, int i) {
  __shared__ float s_x[64];
  s_x[threadIdx.x] = 1;
  __syncthreads();
  if (threadIdx.x == 0) y[0] = s_x[i];
}

template <bool grid>
__global__ void store_in_block() {
  __shared__ float s_few[64];
  s_few[threadIdx.x + (grid ? blockIdx.x * blockDim.x : 0)] = 1;
}

__global__ void past_dynamic_array(float* y) {
  extern __shared__ float s_dynamic[];
  s_dynamic[threadIdx.x] = 1;
  if (threadIdx.x == 0) y[0] = s_dynamic[blockDim.x];
}

__global__ void no_dynamic_memory() {
  extern __shared__ float s_missing[];
  s_missing[threadIdx.x] = 1;
}

__global__ void store_of_block(float* x) {
  if (threadIdx.x == 0) x[blockIdx.x] = 1;
}

__global__ void load_four(const float* x, float4* y) {
  *y = *reinterpret_cast<const float4*>(x + 4);
}
__global__ void four_past_shared(float4* y) {
  alignas(16) __shared__ float s_x[7];
  for (float& x : s_x) x = 1.0f;
  *y = *reinterpret_cast<const float4*>(s_x + 4);
}
__global__ void halves_past_end(__half2* h) { h[4] = __floats2half2_rn(1, 2); }

}  // namespace

TEST_CASE("a missing bounds check: one past the end") {
  auto values = Array<float>::zeros(100);
  const Report report = only_report([&] { scale<<<1, 128>>>(values.data(), 100, 2.0f); });
  CHECK(report.kind == ReportKind::out_of_bounds);
  CHECK(report.kernel == "scale");
  CHECK(report.line == kNoBoundsCheck);
  CHECK(
      lacks(report, {"OUT OF BOUNDS in kernel scale: read of 4 bytes at values[100], just past the "
                     "end of values (100 elements)",
                     "by block 0 thread 100",
                     "Is `if (i < n)` missing or off by one? The launch has 128 threads."}) == "");
  for (std::uint64_t seed = 1; seed < 12; ++seed) {
    const Outcome outcome = observe([&] { scale<<<1, 128>>>(values.data(), 100, 2.0f); }, seed);
    CHECK(outcome.found(ReportKind::out_of_bounds));
    CHECK(outcome.error == cudaErrorIllegalAddress);
  }
}

TEST_CASE("an array that is older than the launch: where it was allocated, and how long ago") {
  auto values = Array<float>::zeros(100);
  const auto scale_all = [&](unsigned threads) {
    return observe([&] { scale<<<1, threads>>>(values.data(), 100, 2.0f); }).text();
  };
  CHECK(scale_all(128).find("was allocated") == std::string::npos);
  CHECK(lacks(scale_all(128),
              {"values was allocated at common/simt/tests/", "1 launch before this one."}) == "");
  CHECK(lacks(scale_all(128), {"2 launches before this one."}) == "");
}

TEST_CASE("an index that an atomic has returned") {
  auto list = Array<int>::zeros(40);
  const std::string line = "memory_test.cu:" + std::to_string(kTicketTaken);
  for (const std::uint64_t seed : {0, 1, 2, 3}) {
    const Array<int> count(std::vector<int>{3});
    const std::string text =
        observe([&] { append<<<1, 64>>>(list.data(), count.data()); }, seed).text();
    CHECK(lacks(text, {"at list[40]", line.c_str(), ") has returned 40 to this", "and 40 is the",
                       "The last element is list[39]."}) == "");
    CHECK(lacks(text, {"if (i < n)"}) != "");
  }
}

TEST_CASE("an index that is the number of the block, not that of the thread") {
  auto values = Array<float>::zeros(4);
  const auto text = [&] {
    return only_report([&] { store_of_block<<<6, 32>>>(values.data()); }).text;
  };
  CHECK(lacks(text(), {"values[4]", "by block 4 thread 0",
                       "4 is the number of the block. Is values meant to have an element for each "
                       "block?"}) == "");
  CHECK(lacks(text(), {"if (i < n)"}) != "");
  // Blocks of one thread: it may be either.
  CHECK(lacks(only_report([&] { scale<<<6, 1>>>(values.data(), 4, 2.0f); }),
              {"Is `if (i < n)` missing or off by one?"}) == "");
}

TEST_CASE("indices before, after and far from an array") {
  auto values = Array<float>::zeros(64);
  const auto text = [&](long i) {
    return one_line(only_report([&] { store_at<<<1, 1>>>(values.data(), i); }).text);
  };
  CHECK(lacks(text(-1), {"write of 4 bytes at 4 bytes before values",
                         "The index is -1, and the thread is number 0 of the grid: the first "
                         "element has no left neighbour."}) == "");
  CHECK(lacks(text(-9), {"36 bytes before values",
                         "The index is -9: how does it come to be below 0?"}) == "");
  const auto by_two = [&](long i) {
    return only_report([&] { store_at<<<1, 2>>>(values.data(), i); }).text;
  };
  CHECK(lacks(by_two(-1), {"number 0 of the grid"}) == "");
  CHECK(lacks(by_two(-2), {"The index is -2"}) == "");
  CHECK(lacks(text(64), {"values[64], just past the end of values (64 elements)",
                         "The last element is values[63]: how does the index", "come to 64?"}) ==
        "");
  CHECK(lacks(text(64), {"if (i < n)"}) != "");
  CHECK(lacks(text(80), {"The last element is values[63]: how does the index come to 80?"}) == "");
  CHECK(lacks(text(80), {"values[80], 17 elements past the end of values (64 elements)"}) == "");
  CHECK(lacks(text(1L << 31), {"OUT OF BOUNDS"}) == "");
  CHECK(lacks(text(-(1L << 33)), {"OUT OF BOUNDS"}) == "");
  const Report report = only_report([&] { store_at<<<1, 1>>>(values.data(), -1); });
  CHECK(report.line == kStoreAt);
}

TEST_CASE("an index far past an array does not reach the next one") {
  const auto first = Array<float>::zeros(64), second = Array<float>::zeros(64);
  const auto text = [&](const Array<float>& x, long i) {
    return only_report([&] { store_at<<<1, 1>>>(x.data(), i); }).text;
  };
  CHECK(lacks(text(first, 16'448), {"x[16448], 16385 elements past the end of x (64 elements)"}) ==
        "");
  for (const long i : {20'000L, 1'000'000L, (1L << 31) - 1, (1L << 32) - 1}) {
    CHECK(lacks(text(first, i), {"OUT OF BOUNDS", (std::to_string(i) + "]").c_str()}) == "");
    CHECK(lacks(text(second, i), {"OUT OF BOUNDS", (std::to_string(i) + "]").c_str()}) == "");
  }
  for (const long i : {-20'000L, -(1L << 31)}) {
    CHECK(lacks(text(second, i), {"OUT OF BOUNDS", "bytes before x"}) == "");
  }
}

TEST_CASE("an illegal read or atomic stops the kernel, too") {
  auto values = Array<float>::zeros(64);
  auto counts = Array<int>::zeros(4);
  auto result = Array<float>::zeros(1);
  CHECK(lacks(only_report([&] { load_at<<<1, 1>>>(values.data(), 64, result.data()); }),
              {"OUT OF BOUNDS", "read of 4 bytes at values[64]"}) == "");
  CHECK(lacks(only_report([&] { add_at<<<1, 1>>>(counts.data(), 4); }),
              {"OUT OF BOUNDS", "atomic of 4 bytes at counts[4], just past the end of counts"}) ==
        "");
}

TEST_CASE("a store through the address of a local variable reaches no return address") {
  auto y = Array<long>::zeros(1);
  const auto text = [&](long i, int what) {
    return only_report([&] { store_local<<<1, 1>>>(Pair{}, i, what, y.data()); }).text;
  };
  CHECK(observe([&] { store_local<<<1, 1>>>(Pair{}, 3, 0, y.data()); }).clean());
  const std::string set_at = "memory_test.cu:" + std::to_string(kSet);
  for (const long i : {0L, 1L}) {
    CHECK(
        lacks(text(i, 1), {"OUT OF BOUNDS in kernel store_local: write of 8 bytes on the thread's "
                           "stack, outside of its local variables",
                           set_at.c_str(), "block 0 thread 0",
                           "It is kept there where a function returns to."}) == "");
  }
  std::string beyond;  // of the first one beyond what has called the kernel
  for (long i = 20; beyond.empty(); i += 4) {
    const std::string found = text(i, 1);
    if (found.find("What has called the kernel") != std::string::npos) beyond = found;
    REQUIRE(i < 500);
  }
  CHECK(lacks(beyond, {set_at.c_str(), "has its own variables there."}) == "");
  CHECK(lacks(text(0, 2), {set_at.c_str(), "No function that runs has a variable there."}) == "");
  CHECK(lacks(text(48, 3),
              {"write of 48 bytes", "It is kept there where a function returns to."}) == "");
}

TEST_CASE("a pointer into the middle of an array names the argument") {
  auto values = Array<float>::zeros(64);
  const auto text = [&](long i) {
    return only_report([&] { store_at<<<1, 1>>>(values.data() + 60, i); }).text;
  };
  CHECK(lacks(text(4), {"(values.data() + 60)[4], just past the end"}) == "");
  CHECK(lacks(text(-61), {"244 bytes before (values.data() + 60)"}) == "");
}

TEST_CASE("shared arrays have bounds") {
  auto y = Array<float>::zeros(1);
  CHECK(lacks(only_report([&] { past_static_array<<<1, 64>>>(y.data(), 64); }),
              {"OUT OF BOUNDS", "s_x[64], just past the end of s_x (64 elements)",
               "Each block has its own s_x."}) == "");
  CHECK(lacks(only_report([&] { store_in_block<false><<<1, 96>>>(); }),
              {"s_few[64]",
               "64 is the number of the thread in its block, which has 96 threads."}) == "");
  CHECK(lacks(only_report([&] { store_in_block<true><<<2, 64>>>(); }),
              {"s_few[64]",
               "64 is the number of the thread in the grid. Each block has its own s_few: "
               "is the index"}) == "");
  CHECK(lacks(only_report([&] { past_dynamic_array<<<1, 32, 32 * sizeof(float)>>>(y.data()); }),
              {"OUT OF BOUNDS", "s_dynamic[32], just past the end of s_dynamic (32 elements)",
               "The launch gives it 128 bytes,"}) == "");
  CHECK(lacks(only_report([] { no_dynamic_memory<<<1, 1>>>(); }),
              {"OUT OF BOUNDS", "the null pointer",
               "s_missing is extern __shared__, and this launch gives it no memory"}) == "");
}

TEST_CASE("a wide access across the end says how many of its bytes lie past it") {
  auto values = Array<float>::zeros(6);
  auto y = Array<float4>::zeros(1);
  CHECK(lacks(only_report([&] { load_four<<<1, 1>>>(values.data(), y.data()); }),
              {"OUT OF BOUNDS in kernel load_four: read of 16 bytes at values[4]: its last 8 bytes "
               "lie past the end of values (6 elements)\n",
               "All bytes of a wide access must lie inside the array."}) == "");
  CHECK(
      lacks(
          only_report([&] { four_past_shared<<<1, 1>>>(y.data()); }),
          {"read of 16 bytes at s_x[4]: its last 4 bytes lie past the end of s_x (7 elements)"}) ==
      "");
}

TEST_CASE("an array whose size is too small by * sizeof says so") {
  float* values = nullptr;
  const auto y = Array<float>::zeros(1);
  const int line = __LINE__ + 1;
  cudaMalloc(&values, 101);
  cudaMemset(values, 0, 101);
  const std::string place = "llocated at common/simt/tests/memory_test.cu:" + std::to_string(line);
  const std::string cut = "It was a" + place +
                          " with 101 bytes, which is no multiple of\n  the 4 bytes of an element: "
                          "is `* sizeof(...)` missing in the size?";
  const std::string text = only_report([&] { load_at<<<1, 1>>>(values, 25, y.data()); }).text;
  CHECK(lacks(text, {"values[25]: its last 3 bytes lie past the end of values (25 elements)",
                     cut.c_str()}) == "");
  CHECK(lacks(text, {"wide"}) != "");
  // The launch has a thread for each byte of the array: 4 blocks, where its 25 elements need one.
  const std::string bytes =
      "values was a" + place + " with 101 bytes: is `* sizeof(...)` missing in the size?";
  CHECK(lacks(only_report([&] { store_at<<<4, 32>>>(values, 26); }), {bytes.c_str()}) == "");
  for (const unsigned blocks : {1u, 3u}) {
    CHECK(lacks(only_report([&] { store_at<<<blocks, 32>>>(values, 26); }), {"sizeof"}) != "");
  }
  cudaFree(values);
}

TEST_CASE("elements of structs and half types count as one") {
  auto pairs = Array<__half2>(std::vector<__half2>(4));
  CHECK(lacks(only_report([&] { halves_past_end<<<1, 1>>>(pairs.data()); }),
              {"write of 4 bytes at pairs[4], just past the end of pairs (4 elements)"}) == "");
}

TEST_CASE("after an illegal access the error is sticky, until the device is reset") {
  auto values = Array<float>::zeros(64);
  const Outcome outcome = observe([&] {
    store_at<<<1, 1>>>(values.data(), 64);
    CHECK(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
    CHECK(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
    void* more = nullptr;
    CHECK(cudaMalloc(&more, 4) == cudaErrorIllegalAddress);
  });
  CHECK(outcome.reports.size() == 1);
  CHECK(outcome.error == cudaErrorIllegalAddress);
  CHECK(observe([&] { store_at<<<1, 1>>>(values.data(), 0); }).clean());
}

TEST_CASE("the illegal access itself does not happen") {
  Array<float> first(std::vector<float>(1024, 3.0f));
  const Array<float> second(std::vector<float>(1024, 5.0f));
  observe([&] { store_at<<<1, 1>>>(first.data(), second.data() - first.data() - 16); });
  CHECK(first.values() == std::vector<float>(1024, 3.0f));
  CHECK(second.values() == std::vector<float>(1024, 5.0f));
}

// ---- variables of the program -------------------------------------------------------------------

__device__ int device_counts[4];
__device__ int device_total;
__constant__ float coefficients[4] = {1, 2, 3, 4};
__managed__ int managed_total;
int host_total;
// Followed by memory of the host, so that its first neighbour is no variable of the device.
__device__ int device_last[4];
int host_table[4096];
const int kTable[4] = {1, 2, 3, 4};
// Arrays without elements, as structs and macros make them.
__device__ int device_nothing[0];
__constant__ float constant_nothing[0];

namespace {

__global__ void use_nothing(int* y) {
  __shared__ int s_nothing[0];
  const bool is_there =
      device_nothing != nullptr && constant_nothing != nullptr && s_nothing != nullptr;
  if (threadIdx.x == 0) *y = is_there ? 1 : 0;
}
__global__ void write_nothing(int) {
  __shared__ int s_nothing[0];
  s_nothing[threadIdx.x] = 1;
}

__global__ void add_to_device_variables() {
  atomicAdd(&device_total, 1);
  atomicAdd(&managed_total, 1);
  atomicAdd(&device_counts[threadIdx.x % 4], kTable[threadIdx.x % 4]);
}
__global__ void bump_device_variable() { device_total++; }
__global__ void past_device_variable(int i) { device_last[i] = 1; }
__global__ void read_constants(float* y) { y[threadIdx.x] = coefficients[threadIdx.x % 4]; }
__global__ void write_constant(float* pointer) { pointer[2] = 1; }
__global__ void write_host_variable(int* pointer) { *pointer = 1; }
__global__ void read_host_variable(int* y) { *y = host_table[4000]; }

struct Settings {
  int values[8];
};
__global__ void use_own_memory(Settings settings, int* y) {
  int squares[8];
  for (int i = 0; i < 8; ++i) squares[i] = settings.values[i] * settings.values[i];
  const char* text = "digits";
  int* const p = &squares[threadIdx.x % 8];
  *p += text[0] == 'd' ? 1 : 0;
  y[threadIdx.x] = *p;
}

}  // namespace

TEST_CASE("kernels use device, constant and managed variables, tables, arguments and their stack") {
  Array<float> y(32);
  Array<int> squares(32);
  const Settings settings{{0, 1, 2, 3, 4, 5, 6, 7}};
  managed_total = 0;
  const Outcome outcome = observe([&] {
    add_to_device_variables<<<2, 32>>>();
    read_constants<<<1, 32>>>(y.data());
    use_own_memory<<<1, 32>>>(settings, squares.data());
  });
  INFO(outcome.text());
  CHECK(outcome.clean());
  CHECK(managed_total == 64);
  CHECK(y.values()[7] == 4);
  CHECK(squares.values()[31] == 50);
}

TEST_CASE("races on __device__ variables are found") {
  const Outcome outcome = observe([] { bump_device_variable<<<2, 1>>>(); });
  CHECK(outcome.found(ReportKind::race));
  CHECK(lacks(outcome.text(), {"DATA RACE in kernel bump_device_variable on device_total\n"}) ==
        "");
  CHECK(first_miss(ReportKind::race, [] { bump_device_variable<<<4, 64>>>(); }) == "");
}

TEST_CASE("a write past a __device__ array is out of bounds") {
  CHECK(lacks(only_report([] { past_device_variable<<<1, 1>>>(4); }),
              {"OUT OF BOUNDS", "device_last[4], just past the end of device_last"}) == "");
}

TEST_CASE("arrays without elements are there, and have no element") {
  const Outcome outcome = observe([] {
    auto y = Array<int>::zeros(1);
    use_nothing<<<2, 32>>>(y.data());
    CHECK(y.front() == 1);
  });
  INFO(outcome.text());
  CHECK(outcome.clean());
  CHECK(lacks(only_report([] { write_nothing<<<1, 1>>>(0); }), {"OUT OF BOUNDS", "s_nothing[0]"}) ==
        "");
}

TEST_CASE("a kernel must not write __constant__ memory") {
  CHECK(lacks(only_report([] { write_constant<<<1, 1>>>(coefficients); }),
              {"write of 4 bytes at coefficients[2]",
               "A kernel cannot write a __constant__ variable."}) == "");
}

// ---- pointers of the other side -----------------------------------------------------------------

namespace {
constexpr int kHostRead = __LINE__ + 1;
float first_of(const float* values) { return values[0]; }
constexpr int kHostWrite = __LINE__ + 1;
void set_first(float* values) { values[0] = 1; }
}  // namespace

TEST_CASE("host memory in a kernel") {
  std::vector<float> numbers(64, 1.0f);
  auto y = Array<float>::zeros(1);
  int local = 0;
  CHECK(lacks(only_report([&] { load_at<<<1, 1>>>(numbers.data(), 3, y.data()); }),
              {"OUT OF BOUNDS", "memory of the host, through the argument 'numbers.data()'",
               "A kernel can access device memory only: allocate it with cudaMalloc"}) == "");
  CHECK(lacks(only_report([&] { write_host_variable<<<1, 1>>>(&local); }),
              {"memory of the host, through the argument '&local'"}) == "");
  CHECK(lacks(only_report([&] { write_host_variable<<<1, 1>>>(&host_total); }),
              {"memory of the host, through the argument '&host_total'"}) == "");
  auto out = Array<int>::zeros(1);
  CHECK(lacks(only_report([&] { read_host_variable<<<1, 1>>>(out.data()); }),
              {"OUT OF BOUNDS", "read of 4 bytes at memory of the host"}) == "");
}

namespace {
__global__ void add_neighbour(float* x) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i == gridDim.x * blockDim.x - 1) x[i] += x[i + 1];
}
__global__ void store_double_at(double* x, long i) { x[i] = 1; }
__global__ void store_in_32_bits(float* x) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  x[i] = 1;
}
__global__ void third_to_first(const float* x, float* y) { y[0] = x[2]; }
}  // namespace

TEST_CASE("an index that overflowed is told as one") {
  const auto values = Array<float>::zeros(64);
  constexpr long kFarOff = (long{1} << 31) + (long{1} << 29);
  CHECK(lacks(only_report([&] { store_at<<<1, 1>>>(values.data(), kFarOff); }),
              {"past the end of values (64 elements)",
               "No array is near this address. The largest int is 2^31 - 1, and an unsigned int "
               "starts\n  again at 0 after 2^32 - 1: does a part"}) == "");
  const auto text = [&](long i) {
    return one_line(only_report([&] { store_at<<<1, 1>>>(values.data(), i); }).text);
  };
  CHECK(lacks(text(long{1} << 31), {"2147483648 is 2^31, and the largest int is 2^31 - 1: is"}) ==
        "");
  CHECK(lacks(text((long{1} << 31) + 30),
              {"2147483678 is 2^31 + 30, and the largest int is 2^31 - 1: is it compared, or"}) ==
        "");
  CHECK(lacks(text((long{1} << 32) - 9),
              {"4294967287 is 2^32 - 9: an unsigned int has this value where 9 is subtracted"}) ==
        "");
  CHECK(lacks(text(5 - (long{1} << 31)),
              {"The index is -2147483643, which is 2147483653 - 2^32: the largest int"}) == "");
  CHECK(lacks(text(-(long{1} << 44)), {"write of 4 bytes at an address without memory",
                                       "farther than an index of 32 bits reaches"}) == "");
}

TEST_CASE("an address that is 2^32 elements from an array is of an index in 32 bits") {
  const auto values = Array<float>::zeros(64);
  const auto other = Array<float>::zeros(64);
  auto pairs = Array<double>::zeros(8);
  constexpr long kAll = long{1} << 32;
  const auto text = [&](auto& array, long i) {
    return one_line(only_report([&] { store_at<<<1, 1>>>(array.data(), i); }).text);
  };
  const std::string question =
      ": is the index, or a part of it, computed in 32 bits, which hold it modulo 2^32?";
  CHECK(lacks(text(values, 7 - kAll),
              {("2^32 elements of 4 bytes after this address is array[7]" + question).c_str()}) ==
        "");
  CHECK(lacks(text(other, 9 - 2 * kAll),
              {"2 * 2^32 elements of 4 bytes after this address is array[9]"}) == "");
  CHECK(lacks(text(values, 9 + kAll),
              {"2^32 elements of 4 bytes before this address is array[9]"}) == "");
  CHECK(lacks(text(values, 64 - kAll), {"modulo 2^32?"}) != "");
  CHECK(
      lacks(one_line(only_report([&] { store_double_at<<<1, 1>>>(pairs.data(), 7 - kAll); }).text),
            {"2^32 elements of 8 bytes after this address is pairs[7]"}) == "");
}

TEST_CASE("an index in 32 bits, and the number of the thread that it may come from") {
  const auto values = Array<float>::zeros(64);
  const simt::SomeBlocks last_two(0, 2);
  const Report report = only_report(
      [&] { store_in_32_bits<<<(1u << 27) + 1, 32>>>(values.data() - ((long{1} << 32) - 32)); });
  CHECK(lacks(one_line(report.text),
              {"2^32 elements of 4 bytes after this address is", "modulo 2^32?",
               "The thread is number 4294967264 of the grid, which is -32 in an int."}) == "");
}

TEST_CASE("the last element has no right neighbour") {
  auto values = Array<float>::zeros(64);
  CHECK(lacks(only_report([&] { add_neighbour<<<2, 32>>>(values.data()); }),
              {"values[64]",
               "The thread is number 63 of the grid, and values[63] is the last "
               "element: it has no right"}) == "");
}

TEST_CASE("a null pointer in a kernel") {
  CHECK(lacks(only_report([] { store_at<<<1, 1>>>(nullptr, 3); }),
              {"OUT OF BOUNDS", "at the null pointer\n", "was its memory allocated"}) == "");
  float* const nothing = nullptr;
  const auto y = Array<float>::zeros(1);
  CHECK(
      lacks(only_report([&] { store_at<<<1, 1>>>(nothing, 3); }),
            {"write of 4 bytes at nothing[3], and nothing is a null pointer\n",
             "The pointer of an array without elements may be null: is the size tested before"}) ==
      "");
  CHECK(lacks(only_report([&] { third_to_first<<<1, 1>>>(nothing, y.data()); }),
              {"read of 4 bytes at nothing[2], and nothing is a null pointer\n"}) == "");
  float* const nowhere = nullptr;
  CHECK(lacks(only_report([&] { third_to_first<<<1, 1>>>(nothing, nowhere); }),
              {"at the null pointer: nothing and nowhere are null\n"}) == "");
}

TEST_CASE("device memory in host code") {
  auto values = Array<float>::zeros(64);
  Report report = only_report([&] { static_cast<void>(first_of(values.data())); });
  CHECK(report.kind == ReportKind::host_access);
  CHECK(report.kernel == "");
  CHECK(report.line == kHostRead);
  CHECK(lacks(report, {"DEVICE POINTER USED BY THE HOST: read of 4 bytes",
                       "Copy the data with cudaMemcpy."}) == "");
  report = only_report([&] { set_first(values.data()); });
  CHECK(report.kind == ReportKind::host_access);
  CHECK(report.line == kHostWrite);
}

TEST_CASE("managed and pinned memory belongs to both sides") {
  float *managed = nullptr, *pinned = nullptr;
  const Outcome outcome = observe([&] {
    cudaMallocManaged(&managed, 64 * sizeof(float));
    cudaMallocHost(&pinned, 64 * sizeof(float));
    set_first(managed);
    set_first(pinned);
    load_at<<<1, 1>>>(managed, 0, pinned);
    cudaDeviceSynchronize();
    CHECK(first_of(pinned) == 1);
  });
  INFO(outcome.text());
  CHECK(outcome.clean());
  Report report = only_report([&] { set_first(managed + 64); });
  CHECK(report.kind == ReportKind::out_of_bounds);
  CHECK(lacks(report, {"OUT OF BOUNDS in host code: write of 4 bytes at",
                       "Does the host access more elements than it has allocated?"}) == "");
  cudaFree(managed);
  cudaFreeHost(pinned);
  report = only_report([&] { set_first(managed); });
  CHECK(report.kind == ReportKind::use_after_free);
  CHECK(lacks(report, {"USE AFTER FREE in host code: write of 4 bytes at",
                       "released this memory before this access."}) == "");
}

// ---- freed memory -------------------------------------------------------------------------------

TEST_CASE("freed memory stays out of reach") {
  float* values = nullptr;
  cudaMalloc(&values, 64 * sizeof(float));
  cudaMemset(values, 0, 64 * sizeof(float));
  const int line = __LINE__ + 1;
  cudaFree(values);
  const Report report = only_report([&] { store_at<<<1, 1>>>(values, 5); });
  CHECK(report.kind == ReportKind::use_after_free);
  CHECK(report.line == kStoreAt);
  const std::string by = "cudaFree() at common/simt/tests/memory_test.cu:" + std::to_string(line) +
                         " released this memory before this access.";
  CHECK(lacks(report,
              {"USE AFTER FREE in kernel store_at: write of 4 bytes at freed memory, values[5]",
               by.c_str()}) == "");
  float* again = nullptr;
  cudaMalloc(&again, 64 * sizeof(float));
  CHECK(again != values);
  cudaFree(again);
}

// ---- alignment ----------------------------------------------------------------------------------

namespace {

constexpr int kMisalignedLoad = __LINE__ + 2;
__global__ void load_four(const float* x, int first, float* y) {
  const float4 v = *reinterpret_cast<const float4*>(x + first);
  *y = v.x + v.w;
}
__global__ void store_two(float* x, int first) {
  *reinterpret_cast<float2*>(x + first) = make_float2(1, 2);
}
__global__ void add_two_halves(__half* h, int first) {
  atomicAdd(reinterpret_cast<__half2*>(h + first), __floats2half2_rn(1, 2));
}
__global__ void load_int_from_bytes(const unsigned char* bytes, int first, int* y) {
  *y = *reinterpret_cast<const int*>(bytes + first);
}

}  // namespace

TEST_CASE("vector accesses must be aligned to their size") {
  auto values = Array<float>::zeros(64);
  auto halves = Array<__half>::zeros(64);
  auto bytes = Array<unsigned char>::zeros(64);
  auto y = Array<float>::zeros(1);
  auto n = Array<int>::zeros(1);
  const Report report = only_report([&] { load_four<<<1, 1>>>(values.data(), 1, y.data()); });
  CHECK(report.kind == ReportKind::misaligned);
  CHECK(report.line == kMisalignedLoad);
  CHECK(lacks(report, {"MISALIGNED ACCESS in kernel load_four: float4 at values[1]",
                       "needs an address that is a multiple of 16; this one is 4 bytes past one",
                       "values begins at a multiple of 16: it is the index"}) == "");
  CHECK(
      lacks(
          only_report([&] { load_four<<<1, 1>>>(values.data() + 3, 4, y.data()); }),
          {"(values.data() + 3) itself begins 12 bytes past one: an access of 16 bytes is aligned at",
           "begins, in each call?"}) == "");
  CHECK(observe([&] { load_four<<<1, 1>>>(values.data(), 1, y.data()); }).error ==
        cudaErrorMisalignedAddress);
  CHECK(lacks(only_report([&] { store_two<<<1, 1>>>(values.data(), 3); }),
              {"float2 at values[3]", "a multiple of 8"}) == "");
  CHECK(lacks(only_report([&] { add_two_halves<<<1, 1>>>(halves.data(), 3); }),
              {"MISALIGNED ACCESS", "atomic of 4 bytes at halves[3]"}) == "");
  CHECK(lacks(only_report([&] { load_int_from_bytes<<<1, 1>>>(bytes.data(), 2, n.data()); }),
              {"MISALIGNED ACCESS", "read of 4 bytes at bytes[2]"}) == "");
  CHECK(observe([&] {
          load_four<<<1, 1>>>(values.data(), 4, y.data());
          store_two<<<1, 1>>>(values.data(), 2);
          add_two_halves<<<1, 1>>>(halves.data(), 2);
          load_int_from_bytes<<<1, 1>>>(bytes.data(), 8, n.data());
        }).clean());
}

// ---- initial values -----------------------------------------------------------------------------

namespace {
struct Tile {
  int values[6];
};
/// clang copies the value from data of the program that may be written. test_library.py runs this without symbols.
__global__ void copy_initial_value(int* y) {
  __shared__ Tile s_tile[1];
  s_tile[threadIdx.x] = Tile{{1, 2, 3, 4, 5, 6}};
  y[threadIdx.x] = s_tile[threadIdx.x].values[5];
}
}  // namespace

TEST_CASE("a long initial value is no memory of the host") {
  auto y = Array<int>::zeros(1);
  CHECK(observe([&] { copy_initial_value<<<1, 1>>>(y.data()); }).clean());
  CHECK(y.front() == 6);
}

// ---- uninitialised memory -----------------------------------------------------------------------

namespace {

constexpr int kReadFresh = __LINE__ + 1;
__global__ void copy_element(const float* x, int i, float* y) { *y = x[i]; }

constexpr int kWriteOfSome = __LINE__ + 3;
__global__ void sum_block(const float* x, int n, float* y) {  // idle threads do not clear theirs
  __shared__ float s_x[64];
  if (static_cast<int>(threadIdx.x) < n) s_x[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  if (threadIdx.x != 0) return;
  float total = 0;
  for (int i = 0; i < 64; ++i) total += s_x[i];
  *y = total;
}

__global__ void one_of_four(float* y) {
  __shared__ float4 s_v[2];
  if (threadIdx.x == 0) s_v[0].x = 1;
  __syncthreads();
  const float4 v = s_v[0];
  y[threadIdx.x] = v.y;
}

__global__ void shared_is_fresh_in_every_block(int* y) {
  __shared__ int s_count;
  if (blockIdx.x == 0) s_count = 1;
  y[blockIdx.x] = s_count;
}

__global__ void add_one(int* total) { atomicAdd(total, 1); }
__global__ void exchange_one(int* total) { atomicExch(total, 1); }

}  // namespace

TEST_CASE("a read of memory that has not been written") {
  Array<float> fresh(64);
  auto y = Array<float>::zeros(1);
  const Report report = only_report([&] { copy_element<<<1, 1>>>(fresh.data(), 37, y.data()); });
  CHECK(report.kind == ReportKind::uninitialised);
  CHECK(report.line == kReadFresh);
  CHECK(lacks(report, {"UNINITIALISED MEMORY in kernel copy_element: read of fresh[37]",
                       "It has not been written since cudaMalloc",
                       "Should this kernel have written it before, or cudaMemset or cudaMemcpy"}) ==
        "");
  CHECK(lacks(report, {"Until now"}) != "");
  float* const tail = fresh.data() + 8;
  CHECK(lacks(only_report([&] { copy_element<<<1, 1>>>(tail, -1, y.data()); }),
              {"read of 4 bytes before tail", "do not belong to the array"}) == "");
  store_at<<<1, 16>>>(fresh.data(), 8);
  CHECK(lacks(only_report([&] { copy_element<<<1, 1>>>(fresh.data(), 37, y.data()); }),
              {"Until now this has been written of it: fresh[8] to fresh[23].\n"}) == "");
  cudaMemset(fresh.data(), 0, 37 * sizeof(float));
  CHECK(observe([&] { copy_element<<<1, 1>>>(fresh.data(), 36, y.data()); }).clean());
  CHECK(observe([&] {
          copy_element<<<1, 1>>>(fresh.data(), 37, y.data());
        }).found(ReportKind::uninitialised));
}

TEST_CASE("an atomicAdd reads, an atomicExch does not") {
  Array<int> total(1), other(1);
  CHECK(lacks(only_report([&] { add_one<<<1, 1>>>(total.data()); }),
              {"UNINITIALISED MEMORY", "atomic of total[0]"}) == "");
  CHECK(observe([&] { exchange_one<<<1, 1>>>(other.data()); }).clean());
}

TEST_CASE("shared memory starts undefined, in every block and every byte") {
  const Array<float> x(std::vector<float>(64, 1.0f));
  auto y = Array<float>::zeros(32);
  auto n = Array<int>::zeros(4);
  CHECK(observe([&] { sum_block<<<1, 64>>>(x.data(), 64, y.data()); }).clean());
  const std::string written = "Until now this has been written of it: s_x[0] to s_x[49] (line " +
                              std::to_string(kWriteOfSome) + ", by threads 0 to 49).";
  CHECK(lacks(one_line(observe([&] { sum_block<<<1, 64>>>(x.data(), 50, y.data()); }).text()),
              {"UNINITIALISED MEMORY", "s_x[50]",
               "No thread of this block of 64 threads has written it",
               "also by threads that have no input.", written.c_str()}) == "");
  CHECK(first_miss(ReportKind::uninitialised, [&] { one_of_four<<<1, 32>>>(y.data()); }) == "");
  CHECK(first_miss(ReportKind::uninitialised,
                   [&] { shared_is_fresh_in_every_block<<<4, 1>>>(n.data()); }) == "");
}

TEST_CASE("a kernel's result is initialised for the next kernel") {
  Array<float> middle(1);
  auto y = Array<float>::zeros(1);
  CHECK(first_complaint([&] {
          store_at<<<1, 1>>>(middle.data(), 0);
          copy_element<<<1, 1>>>(middle.data(), 0, y.data());
          return y.front() == 1;
        }) == "");
}

// ---- copies -------------------------------------------------------------------------------------

TEST_CASE("copies and memsets have bounds") {
  auto values = Array<float>::zeros(64);
  std::vector<float> host(100);
  Report report = only_report([&] {
    static_cast<void>(cudaMemcpy(values.data(), host.data(), 400, cudaMemcpyHostToDevice));
  });
  CHECK(report.kind == ReportKind::out_of_bounds);
  CHECK(lacks(report, {"cudaMemcpy() would write 400 bytes", "where 256 bytes are left",
                       "The count is in bytes"}) == "");
  report = only_report([&] { static_cast<void>(cudaMemset(values.data() + 60, 0, 32)); });
  CHECK(lacks(report, {"cudaMemset() would write 32 bytes", "where 16 bytes are left"}) == "");
}

// ---- the read-only path -------------------------------------------------------------------------

namespace {

enum class Order { write_first, load_first, atomic_first, neighbour };

/// A barrier orders the two accesses, which is no help to __ldg().
template <Order order>
__global__ void load_and_write(int* x, int* y) {
  const unsigned t = threadIdx.x;
  const unsigned other = blockDim.x - 1 - t;
  if constexpr (order == Order::write_first) x[t] = 1;
  if constexpr (order == Order::atomic_first) atomicAdd(&x[t], 1);
  if constexpr (order == Order::load_first) y[t] = __ldg(&x[other]);
  __syncthreads();
  if constexpr (order == Order::load_first) x[t] = 2;
  if constexpr (order == Order::neighbour) x[blockDim.x + t] = 3;
  if constexpr (order != Order::load_first) y[t] = __ldg(&x[other]);
}

__global__ void load_bytes_and_write(unsigned char* x, float2* pair, __half* half) {
  if (threadIdx.x == 0) x[1] = __ldg(x);  // the byte beside it
  if (threadIdx.x == 1) pair[1] = __ldg(pair);
  if (threadIdx.x == 2) half[1] = __ldg(half);
}

template <Order order>
void load_read_only() {
  auto x = Array<int>::zeros(64);
  auto y = Array<int>::zeros(32);
  load_and_write<order><<<1, 32>>>(x.data(), y.data());
  cudaDeviceSynchronize();
}

}  // namespace

TEST_CASE("__ldg of memory that the same launch writes is found, whatever orders them") {
  CHECK(first_miss(ReportKind::read_only, load_read_only<Order::write_first>) == "");
  CHECK(first_miss(ReportKind::read_only, load_read_only<Order::load_first>) == "");
  CHECK(first_miss(ReportKind::read_only, load_read_only<Order::atomic_first>) == "");
  const simt::Report report = only_report(load_read_only<Order::write_first>);
  CHECK(lacks(report, {"__LDG OF WRITTEN MEMORY in kernel load_and_write", " on x[0]\n  __ldg  at ",
                       "\n  write  at ", "Use\n  an ordinary load here."}) == "");
  CHECK(report.file == "common/simt/tests/memory_test.cu");
}

TEST_CASE("__ldg of memory that an earlier launch, or no kernel, has written") {
  CHECK(first_complaint(
            [] {
              load_read_only<Order::neighbour>();
              auto x = Array<int>::zeros(64);
              auto y = Array<int>::zeros(32);
              load_and_write<Order::neighbour><<<1, 32>>>(x.data(), y.data());
              auto bytes = Array<unsigned char>::zeros(4);
              auto pair = Array<float2>::zeros(2);
              auto half = Array<__half>::zeros(2);
              load_bytes_and_write<<<1, 32>>>(bytes.data(), pair.data(), half.data());
              return cudaDeviceSynchronize() == cudaSuccess;
            },
            5) == "");
}

// The last one: afterwards no array of this program has many addresses after it.
TEST_CASE("an address between two arrays is told as that") {
  for (int i = 0; i < 15'000; ++i) Array<float> used(1);
  const auto first = Array<float>::zeros(1024), second = Array<float>::zeros(1024);
  const long distance = second.data() - first.data();
  REQUIRE(distance < 100'000);
  const Report between = only_report([&] { store_at<<<1, 1>>>(first.data(), distance - 2000); });
  CHECK(lacks(between, {"The address lies between two arrays: ", "past the end of ",
                        "8000 bytes before", "Whose index is wrong?"}) == "");
  const auto text = [&](long i) {
    return only_report([&] { store_at<<<1, 1>>>(second.data(), i); }).text;
  };
  CHECK(lacks(text(-1), {"the first element has no left\n  neighbour"}) == "");
  CHECK(lacks(text(1024), {"just past the end"}) == "");
}
