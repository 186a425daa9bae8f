// The texts on uninitialised memory and illegal accesses, with what to try.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/program.hpp"
#include "checker/async_copies.hpp"
#include "checker/messages.hpp"
#include "checker/stray_index.hpp"
#include "memory/devices.hpp"
#include "memory/names.hpp"
#include "report/reports.hpp"
#include "simt/api.hpp"
#include "simt/testing.hpp"

namespace simt {
namespace {

/// The line of an access by the running thread, as a frame of its stack tells it.
SourceLine line_of(const Thread& t, char** frame, const void* caller) {
  return source_line(callers_of(t.fiber, frame, caller));
}

// ---- uninitialised memory -----------------------------------------------------------------------

/// The line that a piece of an array was written at in this launch, if it was one line, and by whom.
struct Writers {
  std::uint32_t pc = 0;
  bool is_one_line = true;
  std::set<std::uint32_t> threads = {};

  void add(const Access& write) {
    is_one_line = is_one_line && write.pc != 0 && (threads.empty() || write.pc == pc);
    pc = write.pc;
    threads.insert(write.thread);
  }
  /// " (line 12, by threads 0 to 95)". Threads are told of shared memory, which one block has.
  std::string text(const Allocation& a, const std::string& file) const {
    if (!is_one_line) return "";
    const SourceLine line = source_line(return_address_of(pc));
    const std::string place = line.file == file ? fmt::format("line {}", line.line) : line.text();
    const std::uint32_t first = *threads.begin(), last = *threads.rbegin();
    if (a.space != Space::shared || last - first + 1 != threads.size()) {
      return fmt::format(" ({})", place);
    }
    return first == last
               ? fmt::format(" ({}, by thread {})", place, rank_of(first))
               : fmt::format(" ({}, by threads {} to {})", place, rank_of(first), rank_of(last));
  }
};

/// A sentence on the elements that have been written until now: "Until now this has been written of it: s_x[0] to s_x[95]
/// (line 12, by threads 0 to 95)." Empty if these are many pieces, or none.
std::string written_elements(const Allocation& a, const SourceLine& where) {
  constexpr std::size_t kMostPieces = 3, kMostElements = std::size_t{1} << 20;
  const std::size_t size = a.element.size;
  const std::size_t count = (a.end() - a.name_origin) / size;
  if (a.name.empty() || a.name_origin < a.begin || count > kMostElements) return "";
  const auto address = [&](std::size_t i) { return a.name_origin + i * size; };
  const auto is_written = [&](std::size_t i) {
    const std::uint8_t* const flag = a.initialised + (address(i) - a.begin);
    return std::all_of(flag, flag + size, [](std::uint8_t f) { return f != 0; });
  };
  const std::uint32_t now = a.space == Space::shared ? a.generation : engine.launch_number;
  std::vector<std::string> pieces;
  for (std::size_t i = 0; i < count && pieces.size() <= kMostPieces; ++i) {
    if (!is_written(i)) continue;
    const std::size_t begin = i;
    Writers writers;
    for (; i < count && is_written(i); ++i) {
      const Cell* const cell = find_cell(address(i));
      writers.add(cell != nullptr && cell->generation == now ? cell->write : Access{});
    }
    std::string piece = describe_element(address(begin));
    if (begin + 1 < i) piece += " to " + describe_element(address(i - 1));
    pieces.push_back(piece + writers.text(a, where.file));
  }
  if (pieces.empty() || pieces.size() > kMostPieces) return "";
  return "\n  " + wrapped(fmt::format("Until now this has been written of it: {}.",
                                      fmt::join(pieces, ", ")));
}

std::string uninitialised_shared_hint(const Block& block, const Allocation& a,
                                      const SourceLine& where) {
  const std::size_t threads = block.threads.size();
  const auto has_returned = [](const Thread& t) { return t.is_excused; };  // before a barrier
  const auto returned = std::count_if(block.threads.begin(), block.threads.end(), has_returned);
  if (returned > 0) {
    return fmt::format(
        "No thread of this block has written it. {} of the {} threads {} returned before a barrier,\n"
        "  which does not wait for {}.{}\n"
        "  Should {} have written it? Let threads without input go on, and write a neutral value,\n"
        "  such as 0 for a sum.",
        returned, threads, returned == 1 ? "has" : "have", returned == 1 ? "it" : "them",
        written_elements(a, where), returned == 1 ? "it" : "one of them");
  }
  return fmt::format(
      "No thread of this block of {} threads has written it. Shared memory has no initial value:\n"
      "  every element must be written before it is read, also by threads that have no input.{}",
      threads, written_elements(a, where));
}

// ---- illegal accesses ---------------------------------------------------------------------------

std::string freed_hint(const Allocation& a) {
  const std::string line =
      a.freed_by.calls.empty() ? "" : " at " + source_line(a.freed_by.calls).text();
  return fmt::format("{}{} released this memory before this access.", a.freed_by.function, line);
}

std::string other_devices_memory(const Allocation& a, std::uintptr_t address, std::size_t size,
                                 AccessKind kind, const SourceLine& where, const Thread& t) {
  const int mine = engine.placement->device, owner = a.owner;
  const std::string try_peers =
      peer_access() ? fmt::format(
                          "\n  If device {0} is meant to access memory of device {1}: call\n"
                          "  cudaDeviceEnablePeerAccess({1}, 0) while device {0} is current.",
                          mine, owner)
                    : "\n  These devices cannot have peer access: copy with cudaMemcpyPeer.";
  return fmt::format(
      "MEMORY OF ANOTHER DEVICE in kernel {}: {} of {} at {}\n  at {} by {}\n"
      "  {} belongs to device {} (allocated at {}), and the kernel runs on device {}.\n"
      "  Call cudaSetDevice({}) before cudaMalloc, or cudaSetDevice({}) before the launch.{}",
      engine.launch->kernel, verb(kind, t.relaxed_name), bytes(size), describe_address(address),
      where.full_text(), thread_name(t), describe_element(address), owner,
      source_line(a.allocated_by).text(), mine, mine, owner, try_peers);
}

/// "x was allocated at FILE:LINE, 3 launches before this one." Empty for memory that is as new as the launch.
std::string age_text(std::uintptr_t address) {
  const Allocation* const a = named_by(address);
  if (a == nullptr || !a->live || a->space != Space::device || a->name.empty()) return "";
  const std::uint32_t launches = engine.launch_began - a->allocated_after - 1;
  if (a->allocated_after >= engine.launch_began || launches == 0) return "";
  return "\n  " + wrapped(fmt::format("{} was allocated at {}, {} launch{} before this one.",
                                      name_of(*a), source_line(a->allocated_by).text(), launches,
                                      launches == 1 ? "" : "es"));
}

/// A finding of one access by the running thread.
Report finding_at(ReportKind kind, std::uintptr_t address, AccessKind access,
                  const SourceLine& where, std::string text, const Thread& t) {
  Report report = finding_by(t.id, verb(access, t.relaxed_name), kind, where, std::move(text));
  report.object = object_at(address);
  return report;
}

}  // namespace

void stop_illegal(std::uintptr_t address, std::size_t size, AccessKind kind, const void* caller) {
  refuse_threads_beside_kernel(caller);
  const Thread& t = *engine.current;
  auto* const frame = static_cast<char**>(__builtin_frame_address(0));
  on_host_stack([&] {
    const SourceLine where = line_of(t, frame, caller);
    const Allocation* a = owner_of(address);
    const bool freed = a != nullptr && !a->live;
    const ReportKind found = freed ? ReportKind::use_after_free : ReportKind::out_of_bounds;
    std::string text;
    if (a != nullptr && a->live && address + size <= a->end()) {
      text = other_devices_memory(*a, address, size, kind, where, t);
    } else {
      const std::string overhang = freed ? "" : describe_overhang(address, size);
      const std::string hint = freed              ? freed_hint(*a)
                               : overhang.empty() ? bounds_hint(address, size, writes(kind), t)
                                                  : overhang_hint(*named_by(address), size);
      text = fmt::format("{} in kernel {}: {} of {} at {}{}{}\n  at {} by {}\n  {}{}",
                         freed ? "USE AFTER FREE" : "OUT OF BOUNDS", engine.launch->kernel,
                         verb(kind, t.relaxed_name), bytes(size), freed ? "freed memory, " : "",
                         describe_address(address), overhang, where.full_text(), thread_name(t),
                         hint, freed ? "" : age_text(address));
    }
    fail_launch(finding_at(found, address, kind, where, std::move(text), t),
                cudaErrorIllegalAddress);
  });
  std::abort();
}

void stop_misaligned(std::uintptr_t address, std::size_t size, AccessKind kind,
                     const void* caller) {
  const Thread& t = *engine.current;
  auto* const frame = static_cast<char**>(__builtin_frame_address(0));
  on_host_stack([&] {
    const SourceLine where = line_of(t, frame, caller);
    std::string text = fmt::format(
        "MISALIGNED ACCESS in kernel {}: {} of {} bytes at {}\n  at {} by {}\n  An access of {} "
        "bytes needs an address that is a multiple of {}; this one is {} past one.\n"
        "  {}",
        engine.launch->kernel, verb(kind, t.relaxed_name), size, describe_address(address),
        where.full_text(), thread_name(t), size, size, bytes(address % size),
        alignment_hint(address, size));
    fail_launch(finding_at(ReportKind::misaligned, address, kind, where, std::move(text), t),
                cudaErrorMisalignedAddress);
  });
  std::abort();
}

void stop_misaligned_object(std::uintptr_t address, std::size_t alignment, const std::string& what,
                            const std::string& why, const void* caller) {
  const Thread& t = *engine.current;
  auto* const frame = static_cast<char**>(__builtin_frame_address(0));
  on_host_stack([&] {
    const SourceLine where = line_of(t, frame, caller);
    Report report = finding_by(
        t.id, "access", ReportKind::misaligned, where,
        fmt::format(
            "MISALIGNED ACCESS in kernel {}: {} at {}\n  at {} by {}\n  {}\n  {}",
            engine.launch->kernel, what, describe_address(address), where.full_text(),
            thread_name(t),
            wrapped(fmt::format("{}; this one is {} past one.", why, bytes(address % alignment))),
            alignment_hint(address, alignment)));
    report.object = object_at(address);
    fail_launch(std::move(report), cudaErrorMisalignedAddress);
  });
  std::abort();
}

void report_uninitialised(std::uintptr_t address, AccessKind kind, const void* caller) {
  const std::uint32_t pc = pc_of(caller);
  const Thread& t = *engine.current;
  if (const AsyncCopy* const copy = copy_under_way(address)) {
    report_copy_race(*copy, AccessKind::write, {{t.id, 0, pc}, kind}, address);
    return;
  }
  if (!is_worth_telling(ReportKind::uninitialised, pc, pc)) return;
  auto* const frame = static_cast<char**>(__builtin_frame_address(0));
  on_host_stack([&] {
    const Allocation* a = owner_of(address);
    const bool shared = a != nullptr && a->space == Space::shared;
    const SourceLine where = line_of(t, frame, caller);
    const bool before = a != nullptr && address < a->name_origin;
    const std::string hint =
        shared   ? uninitialised_shared_hint(*t.block, *a, where)
        : before ? "These bytes come before the first element and do not belong to "
                   "the array: is the\n  address rounded down, or the index negative?"
        : a != nullptr && a->in_heap
            ? "It has not been written since malloc() or new, which leave memory undefined."
            : "It has not been written since cudaMalloc, which leaves memory undefined." +
                  (a == nullptr ? "" : written_elements(*a, where)) +
                  "\n  Should this kernel have written it before, or cudaMemset or cudaMemcpy before the"
                  "\n  launch?";
    std::string text =
        fmt::format("UNINITIALISED MEMORY in kernel {}: {} of {}\n  at {} by {}\n  {}",
                    engine.launch->kernel, verb(kind, t.relaxed_name), describe_address(address),
                    where.full_text(), thread_name(t), hint);
    file_report(finding_at(ReportKind::uninitialised, address, kind, where, std::move(text), t));
  });
}

void report_host_access(std::uintptr_t address, std::size_t size, bool write, const void* caller) {
  const SourceLine where = source_line(caller);
  const char* const access = write ? "write" : "read";
  const Allocation* const a = owner_of(address);
  const bool is_of_both = a != nullptr && (a->space == Space::managed || a->space == Space::pinned);
  ReportKind kind = ReportKind::host_access;
  std::string what, why;
  if (is_of_both) {  // the host may use it, as long as it lives and inside of its bounds
    kind = a->live ? ReportKind::out_of_bounds : ReportKind::use_after_free;
    what = a->live ? "OUT OF BOUNDS in host code" : "USE AFTER FREE in host code";
    why = a->live ? "Does the host access more elements than it has allocated?" : freed_hint(*a);
  } else if (a != nullptr) {
    what = "DEVICE POINTER USED BY THE HOST";
    why = "On a GPU this is a segmentation fault. Copy the data with cudaMemcpy.";
  } else {
    what = "DEVICE VARIABLE USED BY THE HOST";
    why =
        "The host has a variable of its own under this name: kernels neither see nor change it.\n"
        "  Copy the value with cudaMemcpyFromSymbol or cudaMemcpyToSymbol, or declare it\n"
        "  __managed__.";
  }
  Report report{kind, "", where.file, where.line, ""};
  report.text = fmt::format("{}: {} of {} at {}\n  at {}\n  {}", what, access, bytes(size),
                            describe_address(address), where.text(), why);
  report.object = object_at(address);
  report.accesses.push_back({access, where.file, where.line, "", "", current_device()});
  deliver(std::move(report));
}

}  // namespace simt
