// The runtime API: copies, memset, symbols.
#include <fmt/format.h>

#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "api/errors.hpp"
#include "api/queues.hpp"
#include "api/work_log.hpp"
#include "base/access.hpp"
#include "memory/devices.hpp"
#include "memory/names.hpp"
#include "report/reports.hpp"
#include "report/source_lines.hpp"

namespace simt {
namespace {

// ---- is a range what the call needs? ------------------------------------------------------------

/// Bytes from p to the end of the live allocation or variable it points into; 0 if there is none.
std::size_t room_at(const void* p) {
  const auto address = reinterpret_cast<std::uintptr_t>(p);
  const Allocation* a = owner_of(address);
  if (a == nullptr) a = global_at(address);
  return a != nullptr && a->live && address < a->end() ? a->end() - address : 0;
}

bool is_freed(const void* p) {
  const Allocation* a = owner_of(reinterpret_cast<std::uintptr_t>(p));
  return a != nullptr && !a->live;
}

cudaError_t report_range(const char* function, const void* p, std::size_t n, AccessKind access,
                         const void* caller) {
  const SourceLine where = source_line(caller);
  const bool freed = is_freed(p);
  const char* verb = writes(access) ? "write" : "read";
  const std::string place = describe_address(reinterpret_cast<std::uintptr_t>(p));
  std::string text;
  if (freed) {
    text = fmt::format("USE AFTER FREE: {}() would {} {} bytes of freed memory at {}\n  at {}",
                       function, verb, n, place, where.text());
  } else {
    text = fmt::format(
        "OUT OF BOUNDS: {}() would {} {} bytes from {} on, where {} bytes are left\n  at {}\n"
        "  The count is in bytes: the number of elements times sizeof of one.",
        function, verb, n, place, room_at(p), where.text());
  }
  const ReportKind kind = freed ? ReportKind::use_after_free : ReportKind::out_of_bounds;
  Report report{kind, "", where.file, where.line, std::move(text)};
  report.object = object_at(reinterpret_cast<std::uintptr_t>(p));
  report.accesses.push_back({verb, where.file, where.line, "", "", current_device()});
  deliver(std::move(report));
  return failed(cudaErrorInvalidValue);
}

/// As on GPUs: only a device that has peer access sets another one's memory. A copy needs none.
cudaError_t report_other_device(const char* function, const void* p, std::size_t n, int owner,
                                const void* caller) {
  const SourceLine where = source_line(caller);
  const int current = current_device();
  Report report{
      ReportKind::out_of_bounds, "", where.file, where.line,
      fmt::format("MEMORY OF ANOTHER DEVICE: {0}() would write {1} bytes at {2}\n  at {3}\n"
                  "  They belong to device {4}, and device {5} is current.\n"
                  "  Call cudaSetDevice({4}) before {0}, or cudaDeviceEnablePeerAccess({4}, 0) "
                  "while device\n  {5} is current.",
                  function, n, describe_address(reinterpret_cast<std::uintptr_t>(p)), where.text(),
                  owner, current)};
  report.object = object_at(reinterpret_cast<std::uintptr_t>(p));
  report.accesses.push_back({"write", where.file, where.line, "", "", current});
  deliver(std::move(report));
  return failed(cudaErrorInvalidValue);
}

/// The device whose memory it is, if the device of the stream does not reach it; else -1.
int device_out_of_reach(const CUstream_st& stream, const void* p) {
  const Allocation* a = owner_of(reinterpret_cast<std::uintptr_t>(p));
  if (a == nullptr) return -1;
  return (reachable_from(stream.device) & bit(a->owner)) != 0 ? -1 : a->owner;
}

/// Host memory cannot be checked; device memory must be live, all of it.
cudaError_t check_range(const char* function, const void* p, std::size_t n, AccessKind access,
                        const void* caller) {
  Space space;
  if (!is_device_address(p)) return p == nullptr ? failed(cudaErrorInvalidValue) : cudaSuccess;
  if (!find_space(p, n, &space)) return report_range(function, p, n, access, caller);
  return space == Space::shared ? failed(cudaErrorInvalidValue) : cudaSuccess;
}

// Pinned and managed memory is both the host's and the device's.
bool on_host(const void* p) {
  Space space;
  if (!is_device_address(p)) return true;
  return find_space(p, 1, &space) && (space == Space::pinned || space == Space::managed);
}
bool on_device(const void* p) { return is_device_address(p); }
bool pageable(const void* p) { return !is_device_address(p); }

/// As a GPU with unified addresses sees it: what a kind calls the device's must be within the
/// device's reach; what it calls the host's may be anywhere.
bool fits_kind(cudaMemcpyKind kind, const void* to, const void* from) {
  const bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
  const bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
  return (!to_device || on_device(to)) && (!from_device || on_device(from));
}

// ---- copies -------------------------------------------------------------------------------------

/// Rows of `width` bytes, `pitch` bytes apart; a plain copy is one row.
struct Copy {
  const char* function;
  void* to;
  const void* from;
  std::size_t to_pitch, from_pitch, width, height;
  cudaMemcpyKind kind;
  int device = current_device();  // whose __device__ variables are meant

  std::size_t to_extent() const { return (height - 1) * to_pitch + width; }
  std::size_t from_extent() const { return (height - 1) * from_pitch + width; }
};

cudaError_t check_copy(const Copy& copy, const void* caller) {
  if (copy.width > copy.to_pitch || copy.width > copy.from_pitch) {
    return failed(copy.height > 1 ? cudaErrorInvalidPitchValue : cudaErrorInvalidValue);
  }
  if (copy.kind < cudaMemcpyHostToHost || copy.kind > cudaMemcpyDefault) {
    return failed(cudaErrorInvalidMemcpyDirection);
  }
  if (!fits_kind(copy.kind, copy.to, copy.from)) return failed(cudaErrorInvalidValue);
  const cudaError_t error =
      check_range(copy.function, copy.to, copy.to_extent(), AccessKind::write, caller);
  if (error != cudaSuccess) return error;
  return check_range(copy.function, copy.from, copy.from_extent(), AccessKind::read, caller);
}

int run_copy(const Copy& copy) {
  const TimedWork timed(Work::Kind::copy);
  bring_variables(copy.device);
  for (std::size_t row = 0; row < copy.height; ++row) {
    auto* to = static_cast<unsigned char*>(copy.to) + row * copy.to_pitch;
    const auto* from = static_cast<const unsigned char*>(copy.from) + row * copy.from_pitch;
    std::memmove(to, from, copy.width);
    if (is_device_address(from)) {
      copy_initialised(to, from, copy.width);
    } else {
      mark_initialised(to, copy.width);
    }
  }
  return cudaSuccess;
}

void enqueue_copy(CUstream_st& stream, const Copy& copy) {
  if (!pageable(copy.from)) {
    enqueue(stream, [copy] { return run_copy(copy); });
    return;
  }
  // CUDA takes a snapshot of pageable memory: the program may change it when the call returns.
  const auto* begin = static_cast<const unsigned char*>(copy.from);
  auto snapshot =
      std::make_shared<const std::vector<unsigned char>>(begin, begin + copy.from_extent());
  enqueue(stream, [copy, snapshot] {
    Copy later = copy;
    later.from = snapshot->data();
    return run_copy(later);
  });
}

/// The memory of two devices, of which the default stream is to wait for both.
bool joins_devices(const CUstream_st& stream, const Copy& copy) {
  return stream.kind == CUstream_st::Kind::legacy && on_device(copy.to) && on_device(copy.from) &&
         !on_host(copy.to) && !on_host(copy.from) && device_of(copy.to) != device_of(copy.from);
}

enum class Wait { no, yes };

cudaError_t start_copy(const Copy& copy, cudaStream_t handle, Wait wait, const void* caller) {
  if (const cudaError_t error = enter(caller)) return error;
  CUstream_st* stream = find_stream(handle);
  if (stream == nullptr) return failed(cudaErrorInvalidResourceHandle);
  if (copy.width == 0 || copy.height == 0) return cudaSuccess;
  if (const cudaError_t error = check_copy(copy, caller)) return error;
  // Between two places that only the device has, no function waits; between two of the host's, all.
  const bool host_only = pageable(copy.to) && pageable(copy.from);
  const bool device_only = !on_host(copy.to) && !on_host(copy.from);
  if (joins_devices(*stream, copy)) {
    const std::uint32_t devices = 1u << device_of(copy.to) | 1u << device_of(copy.from);
    enqueue_between(*stream, devices, [copy] { return run_copy(copy); });
    return cudaSuccess;
  }
  if (host_only || (wait == Wait::yes && !device_only)) {
    finish(*stream);
    if (const cudaError_t error = sticky_error()) return error;
    run_copy(copy);
    return cudaSuccess;
  }
  enqueue_copy(*stream, copy);
  return cudaSuccess;
}

Copy plain_copy(const char* function, void* to, const void* from, std::size_t count,
                cudaMemcpyKind kind) {
  return {function, to, from, count, count, count, 1, kind};
}

/// cudaMemcpyPeer and its like: each address must be the named device's.
cudaError_t start_peer_copy(Copy copy, int to_device, int from_device, cudaStream_t stream,
                            const void* caller) {
  if (const cudaError_t error = enter(caller)) return error;
  if (!is_device(to_device) || !is_device(from_device)) return failed(cudaErrorInvalidDevice);
  const auto belongs = [](const void* p, int device) {
    const Allocation* a = owner_of(reinterpret_cast<std::uintptr_t>(p));
    return a == nullptr || a->owner == kEveryDevice || a->owner == device;
  };
  if (!belongs(copy.to, to_device) || !belongs(copy.from, from_device)) {
    return failed(cudaErrorInvalidValue);
  }
  copy.device =
      owner_of(reinterpret_cast<std::uintptr_t>(copy.to)) == nullptr ? to_device : from_device;
  return start_copy(copy, stream, Wait::no, caller);
}

cudaError_t start_memset(const char* function, void* p, int value, std::size_t count,
                         cudaStream_t handle, Wait wait, const void* caller) {
  if (const cudaError_t error = enter(caller)) return error;
  CUstream_st* stream = find_stream(handle);
  if (stream == nullptr) return failed(cudaErrorInvalidResourceHandle);
  if (count == 0) return cudaSuccess;
  if (!on_device(p)) return failed(cudaErrorInvalidValue);
  const cudaError_t error = check_range(function, p, count, AccessKind::write, caller);
  if (error != cudaSuccess) return error;
  if (const int owner = device_out_of_reach(*stream, p); owner >= 0) {
    return report_other_device(function, p, count, owner, caller);
  }
  enqueue(*stream, [=, device = current_device()] {
    const TimedWork timed(Work::Kind::memset);
    bring_variables(device);
    std::memset(p, value, count);
    mark_initialised(p, count);
    return cudaSuccess;
  });
  if (wait == Wait::no || !on_host(p)) return cudaSuccess;
  finish(*stream);
  return sticky_error();
}

// ---- symbols ------------------------------------------------------------------------------------

/// The start of the range in device memory, null if there is no such variable or range.
void* locate(const SymbolRange& range, cudaError_t* error) {
  Space space;
  const bool known = find_space(range.symbol, range.symbol_size, &space) &&
                     (space == Space::global || space == Space::constant ||
                      (space == Space::managed &&
                       global_at(reinterpret_cast<std::uintptr_t>(range.symbol)) != nullptr));
  if (!known) {
    *error = failed(cudaErrorInvalidSymbol);
    return nullptr;
  }
  auto* begin = static_cast<unsigned char*>(const_cast<void*>(range.symbol));
  return begin + range.offset;
}

}  // namespace

cudaError_t copy_to_symbol(const SymbolRange& to, const void* from, cudaMemcpyKind kind,
                           cudaStream_t stream, bool wait, const void* caller) {
  cudaError_t error = enter(caller);
  if (error != cudaSuccess) return error;
  void* begin = locate(to, &error);
  if (begin == nullptr) return error;
  return start_copy(plain_copy("cudaMemcpyToSymbol", begin, from, to.count, kind), stream,
                    wait ? Wait::yes : Wait::no, caller);
}

cudaError_t copy_from_symbol(void* to, const SymbolRange& from, cudaMemcpyKind kind,
                             cudaStream_t stream, bool wait, const void* caller) {
  cudaError_t error = enter(caller);
  if (error != cudaSuccess) return error;
  const void* begin = locate(from, &error);
  if (begin == nullptr) return error;
  return start_copy(plain_copy("cudaMemcpyFromSymbol", to, begin, from.count, kind), stream,
                    wait ? Wait::yes : Wait::no, caller);
}

cudaError_t symbol_address(void** address, const void* symbol, const void* caller) {
  cudaError_t error = enter(caller);
  if (error != cudaSuccess) return error;
  if (address == nullptr) return failed(cudaErrorInvalidValue);
  *address = locate({symbol, 1, 0, 0}, &error);
  return error;
}

}  // namespace simt

// ---- the runtime API ----------------------------------------------------------------------------

using simt::Wait;

cudaError_t cudaMemcpy(void* to, const void* from, std::size_t count, cudaMemcpyKind kind) {
  return simt::start_copy(simt::plain_copy("cudaMemcpy", to, from, count, kind), nullptr, Wait::yes,
                          SIMT_CALLER);
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t count, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  return simt::start_copy(simt::plain_copy("cudaMemcpyAsync", to, from, count, kind), stream,
                          Wait::no, SIMT_CALLER);
}

cudaError_t cudaMemcpyPeer(void* to, int to_device, const void* from, int from_device,
                           std::size_t count) {
  return simt::start_peer_copy(
      simt::plain_copy("cudaMemcpyPeer", to, from, count, cudaMemcpyDeviceToDevice), to_device,
      from_device, nullptr, SIMT_CALLER);
}

cudaError_t cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device,
                                std::size_t count, cudaStream_t stream) {
  return simt::start_peer_copy(
      simt::plain_copy("cudaMemcpyPeerAsync", to, from, count, cudaMemcpyDeviceToDevice), to_device,
      from_device, stream, SIMT_CALLER);
}

cudaError_t cudaMemcpy2D(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                         std::size_t width, std::size_t height, cudaMemcpyKind kind) {
  return simt::start_copy({"cudaMemcpy2D", to, from, to_pitch, from_pitch, width, height, kind},
                          nullptr, Wait::yes, SIMT_CALLER);
}

cudaError_t cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from,
                              std::size_t from_pitch, std::size_t width, std::size_t height,
                              cudaMemcpyKind kind, cudaStream_t stream) {
  return simt::start_copy(
      {"cudaMemcpy2DAsync", to, from, to_pitch, from_pitch, width, height, kind}, stream, Wait::no,
      SIMT_CALLER);
}

cudaError_t cudaMemset(void* pointer, int value, std::size_t count) {
  return simt::start_memset("cudaMemset", pointer, value, count, nullptr, Wait::yes, SIMT_CALLER);
}

cudaError_t cudaMemsetAsync(void* pointer, int value, std::size_t count, cudaStream_t stream) {
  return simt::start_memset("cudaMemsetAsync", pointer, value, count, stream, Wait::no,
                            SIMT_CALLER);
}
