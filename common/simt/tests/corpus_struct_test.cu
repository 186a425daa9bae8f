// Structs that are assigned, passed and returned by value, and bytes that memcpy and its kin move: each
// way must be checked like a plain load and store, at the line where it stands. Right forms must stay
// silent, though no thread has written the padding of a struct.
#include <cuda_runtime.h>

#include <catch2/catch_test_macros.hpp>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "testing.hpp"

using simt::ReportKind;
using namespace simt_test;

namespace {

constexpr unsigned kThreads = 64;

// ---- the structs: each has members that a kernel sets one by one ----------------------------------

struct Candidate {  // 8 bytes
  float value;
  int where;
  __host__ __device__ void set(int i) { value = static_cast<float>(i), where = -i; }
  __host__ __device__ bool is(int i) const { return value == static_cast<float>(i) && where == -i; }
};

struct Point {  // 12 bytes
  int x, y, z;
  __host__ __device__ void set(int i) { x = i, y = i + 1, z = i + 2; }
  __host__ __device__ bool is(int i) const { return x == i && y == i + 1 && z == i + 2; }
};

struct Sum {  // 16 bytes, of which four are padding
  double value;
  int count;
  __host__ __device__ void set(int i) { value = i, count = i; }
  __host__ __device__ bool is(int i) const { return value == i && count == i; }
};

struct alignas(16) Quad {  // one access of 16 bytes
  float x, y, z, w;
  __host__ __device__ void set(int i) { x = y = z = w = static_cast<float>(i); }
  __host__ __device__ bool is(int i) const { return x == static_cast<float>(i) && w == x; }
};

struct Nested {  // 24 bytes, with padding in the middle and at the end
  char tag;
  Candidate best;
  struct {
    long long key : 40;
    bool used;
  } rest;
  __host__ __device__ void set(int i) {
    tag = static_cast<char>(i);
    best.set(i);
    rest.key = i, rest.used = true;
  }
  __host__ __device__ bool is(int i) const { return best.is(i) && rest.key == i && rest.used; }
};

template <class T, int n>
struct Several {
  T items[n];
  __host__ __device__ void set(int i) {
    for (T& item : items) item = static_cast<T>(i);
  }
  __host__ __device__ bool is(int i) const {
    return items[0] == static_cast<T>(i) && items[n - 1] == static_cast<T>(i);
  }
};

static_assert(sizeof(Candidate) == 8 && sizeof(Point) == 12 && sizeof(Sum) == 16);
static_assert(sizeof(Nested) == 24 && sizeof(Several<double, 3>) == 24);

// ---- the ways to move one: `to` is written, `from` is read, in the lines of the way -----------------

#define BEGIN static constexpr int kBegin = __LINE__
#define END static constexpr int kEnd = __LINE__

struct Assigned {
  BEGIN;
  template <class T>
  __device__ static void move(T& to, const T& from, std::size_t) {
    to = from;
  }
  END;
};

struct Passed {
  template <class T>
  __device__ static T* address(T value, T* copy) {
    *copy = value;
    return copy;
  }
  BEGIN;
  template <class T>
  __device__ static void move(T& to, const T& from, std::size_t) {
    T mine;
    to = *address(from, &mine);
  }
  END;
};

struct Returned {
  template <class T>
  __device__ static T same(const T* value) {
    T result = *value;
    return result;
  }
  BEGIN;
  template <class T>
  __device__ static void move(T& to, const T& from, std::size_t) {
    const T mine = from;
    to = same(&mine);
  }
  END;
};

template <class T>
struct With : T {
  __device__ With larger(With other) const { return other.is(-1) ? *this : other; }
};

struct ByAMemberFunction {
  BEGIN;
  template <class T>
  __device__ static void move(T& to, const T& from, std::size_t) {
    static_cast<With<T>&>(to) = With<T>{from}.larger(static_cast<const With<T>&>(from));
  }
  END;
};

struct InALambda {
  BEGIN;
  template <class T>
  __device__ static void move(T& to, const T& from, std::size_t) {
    to = [](T value) { return value; }(from);
  }
  END;
};

struct InAnArray {
  template <class T>
  struct Pair {
    T items[2];
  };
  BEGIN;
  template <class T>
  __device__ static void move(T& to, const T& from, std::size_t) {
    const Pair<T> pair{{from, from}};
    Pair<T> other = pair;
    to = other.items[1];
  }
  END;
};

struct Chosen {
  BEGIN;
  template <class T>
  __device__ static void move(T& to, const T& from, std::size_t n) {
    const T none{};
    to = n > 0 ? from : none;
  }
  END;
};

struct ByMemcpy {
  BEGIN;
  template <class T>
  __device__ static void move(T& to, const T& from, std::size_t n) {
    memcpy(&to, &from, n);
  }
  END;
};

struct ByMemmove {
  BEGIN;
  template <class T>
  __device__ static void move(T& to, const T& from, std::size_t n) {
    std::memmove(static_cast<void*>(&to), &from, n);
  }
  END;
};

struct Swapped {
  BEGIN;
  template <class T>
  __device__ static void move(T& to, const T& from, std::size_t) {
    T mine = from;
    to = std::exchange(mine, T{});
  }
  END;
};

// ---- two kernels: what is moved is read by another warp, or written by another one -------------------

enum class Form { right, no_barrier, past_the_end, never_written };

/// Each thread takes the element of a thread of the other warp. `scratch`: null for shared memory.
template <class Way, class T>
__global__ void take(T* scratch, T* y, std::size_t n, Form form) {
  __shared__ T s_items[kThreads];
  T* const items = scratch != nullptr ? scratch : s_items;
  const unsigned t = threadIdx.x;
  if (form != Form::never_written) items[t].set(static_cast<int>(t));
  if (form != Form::no_barrier) __syncthreads();
  const unsigned other = form == Form::past_the_end ? t + kThreads : (t + 32) % kThreads;
  Way::move(y[t], items[other], n);
}

/// Each thread gives its element to a thread of the other warp.
template <class Way, class T>
__global__ void give(T* scratch, T* y, std::size_t n, Form form) {
  __shared__ T s_items[kThreads];
  T* const items = scratch != nullptr ? scratch : s_items;
  const unsigned t = threadIdx.x;
  T mine{};
  mine.set(static_cast<int>(t));
  Way::move(items[form == Form::past_the_end ? t + kThreads : (t + 32) % kThreads], mine, n);
  if (form != Form::no_barrier) __syncthreads();
  y[t] = items[t];
}

template <class T>
using Kernel = void (*)(T*, T*, std::size_t, Form);

template <class T>
bool run(Kernel<T> kernel, bool in_shared, Form form) {
  const Array<T> scratch(kThreads);
  Array<T> y(kThreads);
  kernel<<<1, kThreads>>>(in_shared ? nullptr : scratch.data(), y.data(), sizeof(T), form);
  const std::vector<T> values = y.values();
  for (unsigned t = 0; t < kThreads; ++t) {
    if (!values[t].is(static_cast<int>((t + 32) % kThreads))) return false;
  }
  return true;
}

/// Empty if the first report is of this kind and names a line between `begin` and `end`, under each of some schedules.
template <class T>
std::string misses(ReportKind kind, Kernel<T> kernel, bool in_shared, Form form, int begin,
                   int end) {
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    const Outcome outcome = observe([&] { static_cast<void>(run(kernel, in_shared, form)); }, seed);
    const std::string where =
        std::string(in_shared ? "shared" : "global") + " memory, seed " + std::to_string(seed);
    if (outcome.reports.empty()) return where + ": no report, expected " + to_string(kind);
    const simt::Report& report = outcome.reports.front();
    bool is_there = false;
    for (const auto& access : report.accesses)
      is_there |= access.line >= begin && access.line <= end;
    if (report.kind != kind || !is_there) {
      return where + ": not " + to_string(kind) + " in lines " + std::to_string(begin) + " to " +
             std::to_string(end) + ":\n" + report.text;
    }
  }
  return "";
}

template <class Way, class T>
void check_a_way() {
  for (const bool in_shared : {true, false}) {
    for (const Kernel<T> kernel : {take<Way, T>, give<Way, T>}) {
      CHECK(first_complaint([&] { return run(kernel, in_shared, Form::right); }, 8) == "");
      CHECK(misses(ReportKind::race, kernel, in_shared, Form::no_barrier, Way::kBegin, Way::kEnd) ==
            "");
      CHECK(misses(ReportKind::out_of_bounds, kernel, in_shared, Form::past_the_end, Way::kBegin,
                   Way::kEnd) == "");
    }
    CHECK(misses(ReportKind::uninitialised, Kernel<T>(take<Way, T>), in_shared, Form::never_written,
                 Way::kBegin, Way::kEnd) == "");
  }
}

template <class Way>
void check_all_structs() {
#ifdef __clang__
  check_a_way<Way, Candidate>();
  check_a_way<Way, Point>();
  check_a_way<Way, Sum>();
  check_a_way<Way, Quad>();
  check_a_way<Way, Nested>();
  check_a_way<Way, Several<double, 3>>();
  check_a_way<Way, Several<short, 5>>();
#else
  SKIP("g++ does not show the checker structs by value: kernels are to be compiled by clang");
#endif
}

}  // namespace

TEST_CASE("a struct that is assigned") { check_all_structs<Assigned>(); }
TEST_CASE("a struct that is passed to a function") { check_all_structs<Passed>(); }
TEST_CASE("a struct that a function returns") { check_all_structs<Returned>(); }
TEST_CASE("a struct that a member function takes and returns") {
  check_all_structs<ByAMemberFunction>();
}
TEST_CASE("a struct that a lambda takes and returns") { check_all_structs<InALambda>(); }
TEST_CASE("structs in an array of a struct") { check_all_structs<InAnArray>(); }
TEST_CASE("a struct or another one") { check_all_structs<Chosen>(); }
TEST_CASE("memcpy of a length that is known at run time") { check_all_structs<ByMemcpy>(); }
TEST_CASE("memmove of a length that is known at run time") { check_all_structs<ByMemmove>(); }
TEST_CASE("a struct that the standard library copies") { check_all_structs<Swapped>(); }
