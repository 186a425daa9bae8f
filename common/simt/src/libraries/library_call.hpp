// Calls of CUDA's libraries: each computes by a launch, whose accesses are those of the line that calls it.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "api/launches.hpp"
#include "device/access.hpp"
#include "kernel/engine.hpp"
#include "simt/api.hpp"
#include "simt/launch_types.hpp"

namespace simt {

/// A call of a function of a library, and where it works.
struct LibraryCall {
  const char* name;    // of the function, which its kernel has, too
  const void* caller;  // the return address in the program
  cudaStream_t stream;
};

/// Reads of the running thread of a kernel, or of the host between launches.
template <class T>
T load(const T* p, const void* caller) {
  check_any_access(reinterpret_cast<std::uintptr_t>(p), sizeof(T), false, caller);
  return *p;
}
template <class T>
void store(T* p, std::type_identity_t<T> value, const void* caller) {
  check_any_access(reinterpret_cast<std::uintptr_t>(p), sizeof(T), true, caller);
  *p = value;
}

/// An argument that is a pointer to elements, under the name that the library's documentation has for it.
template <class T>
PointerArgument named(const char* name, const T* p) {
  return {p, name, type_of<T>()};
}

constexpr unsigned kThreadsOfLibrary = 256;
/// The number of the running thread in a launch of one dimension.
inline long long index_in_grid() {
  return static_cast<long long>(running_block_index.x) * running_block_dim.x +
         running_thread_index.x;
}

/// Queues a launch whose threads each run `body`.
template <class Body>
cudaError_t launch_body(const LibraryCall& call, std::vector<PointerArgument> pointers,
                        unsigned blocks, unsigned threads, Body body) {
  Launch launch;
  launch.kernel = call.name;
  launch.of_library = true;
  launch.grid = blocks;
  launch.block = threads;
  launch.body = [](const void* closure) { (*static_cast<const Body*>(closure))(); };
  launch.closure = std::make_shared<const Body>(std::move(body));
  launch.pointers = std::move(pointers);
  return enqueue_launch(std::move(launch), call.stream, call.caller);
}

/// Queues a launch that runs `body(i)` for each i below n, each in a thread of its own. Nothing for n <= 0.
template <class Body>
cudaError_t launch_each(const LibraryCall& call, std::vector<PointerArgument> pointers, long long n,
                        Body body) {
  if (n <= 0) return cudaSuccess;
  const auto blocks = static_cast<unsigned>((n + kThreadsOfLibrary - 1) / kThreadsOfLibrary);
  return launch_body(call, std::move(pointers), blocks, kThreadsOfLibrary, [=] {
    const long long i = index_in_grid();
    if (i < n) body(i);
  });
}

}  // namespace simt
