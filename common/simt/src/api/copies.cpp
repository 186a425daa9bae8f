// The runtime API: copies and memsets.
#include "api/copies.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "api/captures.hpp"
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

/// What a call would do to a range of device memory.
struct Range {
  const char* function;
  const void* begin;
  Layout layout;
  Shape shape;
  AccessKind access;

  std::size_t size() const { return shape.extent(layout); }
};

std::string advice(const Range& range) {
  if (range.shape.height == 1 && range.shape.depth == 1) {
    return "The count is in bytes: the number of elements times sizeof of one.";
  }
  return fmt::format(
      "It has {} rows of {} bytes, {} bytes apart. Width and pitch are in bytes, the height is in\n"
      "  rows.",
      range.shape.height * range.shape.depth, range.shape.width, range.layout.pitch);
}

cudaError_t report_range(const Range& range, const void* caller) {
  const void* const p = range.begin;
  const SourceLine where = source_line(caller);
  const bool freed = is_freed(p);
  const char* verb = writes(range.access) ? "write" : "read";
  const std::string place = describe_address(reinterpret_cast<std::uintptr_t>(p));
  std::string text;
  if (freed) {
    text = fmt::format("USE AFTER FREE: {}() would {} {} bytes of freed memory at {}\n  at {}",
                       range.function, verb, range.size(), place, where.text());
  } else if (owner_of(reinterpret_cast<std::uintptr_t>(p)) != nullptr &&
             owner_of(reinterpret_cast<std::uintptr_t>(p))->in_heap) {
    text = fmt::format(
        "OUT OF BOUNDS: {}() would {} {} bytes at {}\n  at {}\n"
        "  What a kernel takes by malloc() or new is out of the host's reach. Let a kernel copy it to\n"
        "  memory of cudaMalloc().",
        range.function, verb, range.size(), place, where.text());
  } else {
    text = fmt::format(
        "OUT OF BOUNDS: {}() would {} {} bytes from {} on, where {} bytes are left\n  at {}\n"
        "  {}",
        range.function, verb, range.size(), place, room_at(p), where.text(), advice(range));
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

/// The device whose memory it is, if this device does not reach it; else -1.
int device_out_of_reach(int device, const void* p) {
  const Allocation* a = owner_of(reinterpret_cast<std::uintptr_t>(p));
  if (a == nullptr) return -1;
  return (reachable_from(device) & bit(a->owner)) != 0 ? -1 : a->owner;
}

/// Host memory cannot be checked; device memory must be live, all of it.
cudaError_t check_range(const Range& range, const void* caller) {
  const void* const p = range.begin;
  Space space;
  if (!is_device_address(p)) return p == nullptr ? failed(cudaErrorInvalidValue) : cudaSuccess;
  if (!find_space(p, range.size(), &space)) return report_range(range, caller);
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

/// Calls `row(offset in the first layout, offset in the second)` for each row.
template <class Row>
void for_each_row(const Shape& shape, const Layout& a, const Layout& b, const Row& row) {
  for (std::size_t z = 0; z < shape.depth; ++z) {
    for (std::size_t y = 0; y < shape.height; ++y) {
      row(z * a.slice + y * a.pitch, z * b.slice + y * b.pitch);
    }
  }
}

int run_copy(const Copy& copy) {
  const Shape& shape = copy.shape;
  const TimedWork timed(copy.to, copy.from, shape.width * shape.height * shape.depth);
  bring_variables(copy.device);
  const auto copy_row = [&](std::size_t to_offset, std::size_t from_offset) {
    auto* to = static_cast<unsigned char*>(copy.to) + to_offset;
    const auto* from = static_cast<const unsigned char*>(copy.from) + from_offset;
    std::memmove(to, from, copy.shape.width);
    if (is_device_address(from)) {
      copy_initialised(to, from, copy.shape.width, engine.launch_number);
    } else {
      mark_initialised(to, copy.shape.width, engine.launch_number);
    }
  };
  for_each_row(copy.shape, copy.to_layout, copy.from_layout, copy_row);
  return cudaSuccess;
}

/// The rows of a copy or memset, for the checker.
void add_rows(std::vector<Rows>& list, const void* p, const Layout& layout, const Shape& shape) {
  const auto begin = reinterpret_cast<std::uintptr_t>(p);
  const std::size_t pitch = std::max(layout.pitch, shape.width);  // of one row it may be 0
  if (layout.slice == pitch * shape.height) {
    list.push_back({begin, shape.width, pitch, shape.height * shape.depth});
    return;
  }
  for (std::size_t z = 0; z < shape.depth; ++z) {
    list.push_back({begin + z * layout.slice, shape.width, pitch, shape.height});
  }
}

/// What the copy does to memory when its turn has come.
Transfer transfer_of(const Copy& copy) {
  Transfer transfer{copy.function, copy.caller, {}, {}};
  add_rows(transfer.writes, copy.to, copy.to_layout, copy.shape);
  add_rows(transfer.reads, copy.from, copy.from_layout, copy.shape);
  return transfer;
}

/// CUDA takes a snapshot of pageable memory: the program may change it when the call returns.
void enqueue_with_snapshot(CUstream_st& stream, const Copy& copy) {
  if (host_is_watched) {
    overlap_host_access(reinterpret_cast<std::uintptr_t>(copy.from),
                        copy.shape.extent(copy.from_layout), AccessKind::read, copy.caller);
  }
  Transfer transfer = transfer_of(copy);
  transfer.reads.clear();  // that is done now
  const auto* begin = static_cast<const unsigned char*>(copy.from);
  auto snapshot = std::make_shared<const std::vector<unsigned char>>(
      begin, begin + copy.shape.extent(copy.from_layout));
  const auto work = [copy, snapshot] {
    Copy later = copy;
    later.from = snapshot->data();
    return run_copy(later);
  };
  enqueue(stream, work, &transfer);
}

/// The memory of two devices, of which the default stream is to wait for both.
bool joins_devices(const CUstream_st& stream, const Copy& copy) {
  return stream.kind == CUstream_st::Kind::legacy && on_device(copy.to) && on_device(copy.from) &&
         !on_host(copy.to) && !on_host(copy.from) && device_of(copy.to) != device_of(copy.from);
}

}  // namespace

Copy plain_copy(const char* function, void* to, const void* from, std::size_t count,
                cudaMemcpyKind kind) {
  return {function, to, from, {count, count}, {count, count}, {count}, kind};
}

cudaError_t check_copy(const Copy& copy, const void* caller) {
  const Shape& shape = copy.shape;
  if (shape.width > copy.to_layout.pitch || shape.width > copy.from_layout.pitch) {
    return failed(shape.height > 1 ? cudaErrorInvalidPitchValue : cudaErrorInvalidValue);
  }
  if (copy.kind < cudaMemcpyHostToHost || copy.kind > cudaMemcpyDefault) {
    return failed(cudaErrorInvalidMemcpyDirection);
  }
  if (!fits_kind(copy.kind, copy.to, copy.from)) {
    note(
        "this copy is refused: the destination comes first, and the direction must fit both pointers",
        caller);
    return failed(cudaErrorInvalidValue);
  }
  const cudaError_t error =
      check_range({copy.function, copy.to, copy.to_layout, shape, AccessKind::write}, caller);
  if (error != cudaSuccess) return error;
  return check_range({copy.function, copy.from, copy.from_layout, shape, AccessKind::read}, caller);
}

void enqueue_copy(CUstream_st& stream, const Copy& copy) {
  const Transfer transfer = transfer_of(copy);
  enqueue(
      stream, [copy] { return run_copy(copy); }, &transfer);
}

cudaError_t start_copy(Copy copy, cudaStream_t handle, Wait wait, const void* caller) {
  if (const cudaError_t error = enter(caller)) return error;
  CUstream_st* stream = find_stream(handle);
  if (stream == nullptr) return failed(cudaErrorInvalidResourceHandle);
  if (const cudaError_t error = check_work(*stream)) return error;
  if (wait == Wait::yes) {
    if (const cudaError_t error = check_unsafe()) return error;
  }
  if (copy.shape.empty()) return cudaSuccess;
  if (const cudaError_t error = check_copy(copy, caller)) return error;
  copy.caller = caller;
  if (is_capturing(*stream)) return capture_work(*stream, copy);
  // Between two places that only the device has, no function waits; between two of the host's, all.
  const bool host_only = pageable(copy.to) && pageable(copy.from);
  const bool device_only = !on_host(copy.to) && !on_host(copy.from);
  if (joins_devices(*stream, copy)) {
    const std::uint32_t devices = 1u << device_of(copy.to) | 1u << device_of(copy.from);
    enqueue_between(
        *stream, devices, [copy] { return run_copy(copy); }, transfer_of(copy));
    return cudaSuccess;
  }
  if (host_only || (wait == Wait::yes && !device_only)) {
    WorkOrder order = announce(*stream, transfer_of(copy));
    finish(*stream);
    if (const cudaError_t error = sticky_error()) return error;
    const OrderedWork ordered(std::move(order));
    run_copy(copy);
    return cudaSuccess;
  }
  if (pageable(copy.from)) {
    enqueue_with_snapshot(*stream, copy);
  } else {
    enqueue_copy(*stream, copy);
  }
  return cudaSuccess;
}

namespace {

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

int run_memset(const Memset& memset) {
  const TimedWork timed(Work::Kind::memset);
  bring_variables(memset.device);
  const std::size_t width = memset.shape.width;
  const auto set_row = [&](std::size_t offset, std::size_t) {
    auto* row = static_cast<unsigned char*>(memset.to) + offset;
    if (memset.element_size == 1) {
      std::memset(row, static_cast<int>(memset.value), width);
    } else {
      for (std::size_t i = 0; i < width; i += memset.element_size) {
        std::memcpy(row + i, &memset.value, memset.element_size);  // little-endian
      }
    }
    mark_initialised(row, width, engine.launch_number);
  };
  for_each_row(memset.shape, memset.layout, memset.layout, set_row);
  return cudaSuccess;
}

cudaError_t start_memset(Memset memset, cudaStream_t handle, Wait wait, const void* caller) {
  if (const cudaError_t error = enter(caller)) return error;
  CUstream_st* stream = find_stream(handle);
  if (stream == nullptr) return failed(cudaErrorInvalidResourceHandle);
  if (const cudaError_t error = check_work(*stream)) return error;
  if (memset.shape.empty()) return cudaSuccess;
  if (const cudaError_t error = check_memset(stream->device, memset, caller)) return error;
  memset.caller = caller;
  if (is_capturing(*stream)) return capture_work(*stream, memset);
  enqueue_memset(*stream, memset);
  if (wait == Wait::no || !on_host(memset.to)) return cudaSuccess;
  finish(*stream);
  return sticky_error();
}

Memset plain_memset(const char* function, void* p, int value, std::size_t count) {
  return {function, p, {count, count}, {count}, static_cast<unsigned>(value)};
}

Memset volume_memset(const char* function, const cudaPitchedPtr& p, int value,
                     const cudaExtent& extent) {
  return {function,
          p.ptr,
          {p.pitch, p.pitch * p.ysize},
          {extent.width, extent.height, extent.depth},
          static_cast<unsigned>(value)};
}

}  // namespace

cudaError_t check_memset(int device, const Memset& memset, const void* caller) {
  const Shape& shape = memset.shape;
  if (!on_device(memset.to) || (shape.height > 1 && shape.width > memset.layout.pitch)) {
    return failed(cudaErrorInvalidValue);
  }
  const Range range{memset.function, memset.to, memset.layout, shape, AccessKind::write};
  if (const cudaError_t error = check_range(range, caller)) return error;
  if (const int owner = device_out_of_reach(device, memset.to); owner >= 0) {
    return report_other_device(memset.function, memset.to, range.size(), owner, caller);
  }
  return cudaSuccess;
}

void enqueue_memset(CUstream_st& stream, const Memset& memset) {
  Transfer transfer{memset.function, memset.caller, {}, {}};
  add_rows(transfer.writes, memset.to, memset.layout, memset.shape);
  enqueue(
      stream, [memset] { return run_memset(memset); }, &transfer);
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
  return simt::start_copy(
      {"cudaMemcpy2D", to, from, {to_pitch}, {from_pitch}, {width, height}, kind}, nullptr,
      Wait::yes, SIMT_CALLER);
}

cudaError_t cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from,
                              std::size_t from_pitch, std::size_t width, std::size_t height,
                              cudaMemcpyKind kind, cudaStream_t stream) {
  return simt::start_copy(
      {"cudaMemcpy2DAsync", to, from, {to_pitch}, {from_pitch}, {width, height}, kind}, stream,
      Wait::no, SIMT_CALLER);
}

cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* parameters) {
  if (const cudaError_t error = simt::enter(SIMT_CALLER)) return error;
  if (parameters == nullptr) return simt::failed(cudaErrorInvalidValue);
  simt::Copy copy{};
  if (const cudaError_t error = simt::volume_copy("cudaMemcpy3D", *parameters, &copy)) return error;
  return simt::start_copy(copy, nullptr, Wait::yes, SIMT_CALLER);
}

cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* parameters, cudaStream_t stream) {
  if (const cudaError_t error = simt::enter(SIMT_CALLER)) return error;
  if (parameters == nullptr) return simt::failed(cudaErrorInvalidValue);
  simt::Copy copy{};
  if (const cudaError_t error = simt::volume_copy("cudaMemcpy3DAsync", *parameters, &copy)) {
    return error;
  }
  return simt::start_copy(copy, stream, Wait::no, SIMT_CALLER);
}

cudaError_t cudaMemset(void* pointer, int value, std::size_t count) {
  return simt::start_memset(simt::plain_memset("cudaMemset", pointer, value, count), nullptr,
                            Wait::yes, SIMT_CALLER);
}

cudaError_t cudaMemsetAsync(void* pointer, int value, std::size_t count, cudaStream_t stream) {
  return simt::start_memset(simt::plain_memset("cudaMemsetAsync", pointer, value, count), stream,
                            Wait::no, SIMT_CALLER);
}

cudaError_t cudaMemset2D(void* pointer, std::size_t pitch, int value, std::size_t width,
                         std::size_t height) {
  return simt::start_memset(
      {"cudaMemset2D", pointer, {pitch}, {width, height}, static_cast<unsigned>(value)}, nullptr,
      Wait::yes, SIMT_CALLER);
}

cudaError_t cudaMemset2DAsync(void* pointer, std::size_t pitch, int value, std::size_t width,
                              std::size_t height, cudaStream_t stream) {
  return simt::start_memset(
      {"cudaMemset2DAsync", pointer, {pitch}, {width, height}, static_cast<unsigned>(value)},
      stream, Wait::no, SIMT_CALLER);
}

cudaError_t cudaMemset3D(cudaPitchedPtr pitched, int value, cudaExtent extent) {
  return simt::start_memset(simt::volume_memset("cudaMemset3D", pitched, value, extent), nullptr,
                            Wait::yes, SIMT_CALLER);
}

cudaError_t cudaMemset3DAsync(cudaPitchedPtr pitched, int value, cudaExtent extent,
                              cudaStream_t stream) {
  return simt::start_memset(simt::volume_memset("cudaMemset3DAsync", pitched, value, extent),
                            stream, Wait::no, SIMT_CALLER);
}
