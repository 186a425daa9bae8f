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

std::string bytes(std::size_t n) { return fmt::format("{} byte{}", n, n == 1 ? "" : "s"); }

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

/// An index outside of an array, and the numbers of the thread that it may come from.
struct StrayIndex {
  std::ptrdiff_t value, count;                          // so many elements are there
  std::ptrdiff_t of_thread, of_block, in_grid, in_row;  // in_row: of the grid, along x

  StrayIndex(const Allocation& a, std::uintptr_t address, const Thread& t) {
    const auto size = static_cast<std::ptrdiff_t>(a.element.size);
    const auto offset = static_cast<std::ptrdiff_t>(address - a.name_origin);
    const auto threads = static_cast<std::ptrdiff_t>(t.block->threads.size());
    value = (offset - (offset < 0 ? size - 1 : 0)) / size;
    count = static_cast<std::ptrdiff_t>(a.end() - a.name_origin) / size;
    of_thread = t.flat;
    of_block = static_cast<std::ptrdiff_t>(number_in_grid(t.block->linear, engine.launch->grid));
    in_grid = of_block * threads + of_thread;
    in_row = std::ptrdiff_t{t.block->index.x} * engine.launch->block.x + t.index[0];
  }
  bool is_thread_of_grid() const { return value == in_grid || value == in_row; }
};

std::string shared_bounds_hint(const Allocation& a, const StrayIndex& i, const Thread& t) {
  const std::string size =
      &a == t.block->dynamic
          ? fmt::format(" The launch gives it {}, the third number in <<<>>>.", bytes(a.size))
          : "";
  const std::string x = a.name.empty() ? "shared memory" : a.name;
  if (i.value == i.of_thread) {
    return wrapped(
        fmt::format("{} is the number of the thread in its block, which has {} threads.{}", i.value,
                    t.block->threads.size(), size));
  }
  if (i.is_thread_of_grid()) {
    return wrapped(
        fmt::format("{} is the number of the thread in the grid. Each block has its own "
                    "{}: is the index one within the block, such as threadIdx.x?{}",
                    i.value, x, size));
  }
  return wrapped(fmt::format("Each block has its own {}, and this block has {} thread{}.{}", x,
                             t.block->threads.size(), t.block->threads.size() == 1 ? "" : "s",
                             size));
}

/// An access begins in an array and ends after it.
std::string overhang_hint(const Allocation& a, std::size_t size) {
  if (size > a.element.size) {
    return "All bytes of a wide access must lie inside the array. Elements at its end that do not fill\n"
           "  one need accesses of their own size.";
  }
  const std::string by = a.allocated_by.empty() ? "The launch gives it"
                                                : fmt::format("It was allocated at {} with",
                                                              source_line(a.allocated_by).text());
  return fmt::format(
      "{} {}, which is no multiple of\n"
      "  the {} of an element: is `* sizeof(...)` missing in the size?",
      by, bytes(a.size), bytes(a.element.size));
}

/// A question if the launch has as many blocks as a thread for each byte of the array needs, and more than its elements
/// need. Empty otherwise.
std::string size_question(const Allocation& a) {
  const std::size_t in_block =
      engine.launch->block.x * engine.launch->block.y * engine.launch->block.z;
  const auto blocks_for = [&](std::size_t threads) { return (threads + in_block - 1) / in_block; };
  const bool fits = engine.blocks_total == blocks_for(a.size) &&
                    engine.blocks_total > blocks_for(a.size / a.element.size);
  if (!fits || a.allocated_by.empty()) return "";
  return fmt::format("{} was allocated at {} with {}: is `* sizeof(...)` missing in the size?\n  ",
                     name_of(a), source_line(a.allocated_by).text(), bytes(a.size));
}

std::string freed_hint(const Allocation& a) {
  const std::string line =
      a.freed_by.calls.empty() ? "" : " at " + source_line(a.freed_by.calls).text();
  return fmt::format("{}{} released this memory before this access.", a.freed_by.function, line);
}

/// So many bytes away from an array an index is not off by one.
constexpr std::uintptr_t kFar = std::uintptr_t{1} << 30;
constexpr const char* kNoArray =
    "From each array in memory this address is farther than an index of 32 bits reaches: where do\n"
    "  the pointer and the index get their values?";

/// What it takes to have this index in 32 bits; empty if it is none of the ends of an int or unsigned int.
std::string overflow_text(std::ptrdiff_t index) {
  constexpr std::ptrdiff_t kUnsigned = std::ptrdiff_t{1} << 32, kInt = kUnsigned / 2;
  constexpr std::ptrdiff_t kNear = std::ptrdiff_t{1} << 28;
  if (index < kUnsigned && index >= kUnsigned - kNear) {
    return fmt::format(
        "{0} is 2^32 - {1}: an unsigned int has this value where {1} is subtracted\n"
        "  from 0.",
        index, kUnsigned - index);
  }
  if (index >= -kInt && index < -kInt + kNear) {
    return fmt::format(
        "The index is {}, which is {} - 2^32: the largest int is 2^31 - 1, and an int\n"
        "  that grows beyond it is negative.",
        index, index + kUnsigned);
  }
  return "";
}

/// An index that no array has, and no array that comes next.
std::string far_index_hint(std::ptrdiff_t index) {
  if (const std::string text = overflow_text(index); !text.empty()) return text;
  if (index < 0) return fmt::format("The index is {}: how does it come to be below 0?", index);
  return "No array is near this address. The largest int is 2^31 - 1, and an unsigned int starts\n"
         "  again at 0 after 2^32 - 1: does a part of the index leave the range of its type?";
}

/// A question if the address is about as near to a second array, beside the one that is named; empty otherwise.
std::string neighbour_question(std::uintptr_t address) {
  const auto [below, above] = neighbours_of(address);
  if (below == nullptr || above == nullptr) return "";
  const std::size_t past = address - below->end(), before = above->begin - address;
  if (std::max(past, before) / 16 > std::min(past, before)) return "";
  return fmt::format(
      "The address lies between two arrays: {} past the end of {},\n"
      "  and {} before {}. Whose index is wrong?",
      bytes(past), name_of(*below), bytes(before), name_of(*above));
}

/// What 32 bits hold of the number of a thread in the grid; empty if that is all of it.
std::string number_in_32_bits(std::ptrdiff_t n) {
  constexpr std::ptrdiff_t kAll = std::ptrdiff_t{1} << 32;
  if (n < kAll / 2) return "";
  const std::string held =
      n < kAll ? fmt::format("{} in an int", n - kAll) : fmt::format("{} modulo 2^32", n % kAll);
  return fmt::format(" The thread is number {} of the grid, which is {}.", n, held);
}

/// A question if the address is a multiple of 2^32 elements from an element of an array; empty otherwise. `size` is that
/// of the access.
std::string modulo_question(std::uintptr_t address, std::size_t size, const Thread& t) {
  constexpr std::ptrdiff_t kAll = std::ptrdiff_t{1} << 32;
  for (const std::ptrdiff_t times : {1, 2, 3, 4, -1}) {
    for (const std::size_t element : {size, 2 * size, 4 * size}) {
      const std::uintptr_t meant = address + static_cast<std::uintptr_t>(times * kAll) * element;
      if (meant - arena.begin >= arena.size) continue;
      const Allocation* const a = owner_of(meant);
      const bool is_element = a != nullptr && a->live && a->space != Space::shared &&
                              meant >= a->name_origin && meant + size <= a->end() &&
                              (a->element.size == element || size == element);
      if (!is_element) continue;
      return wrapped(fmt::format(
          "{}2^32 elements of {} {} this address is {}: is the index, or a part of it, computed in 32 bits, "
          "which hold it modulo 2^32?{}",
          times > 1 ? fmt::format("{} * ", times) : "", bytes(element),
          times > 0 ? "after" : "before", describe_element(meant),
          number_in_32_bits(StrayIndex(*a, address, t).in_grid)));
    }
  }
  return "";
}

std::string bounds_hint(std::uintptr_t address, std::size_t size, bool is_write, const Thread& t) {
  const Allocation* a = owner_of(address);
  if (a == nullptr) a = variable_near(address);
  const bool is_in_arena = address - arena.begin < arena.size;
  if (a == nullptr && (is_in_arena || (address >= 4096 && !is_host_memory(address)))) {
    if (const std::string question = modulo_question(address, size, t); !question.empty()) {
      return question;
    }
  }
  if (a == nullptr && !is_in_arena) {
    const char* const array = t.block->without_memory;
    if (address < kSharedOptIn && array != nullptr) {
      return fmt::format(
          "{0} is extern __shared__, and this launch gives it no memory: <<<grid, block, "
          "bytes>>>.\n"
          "  Where you cannot change the launch, give {0} a fixed size, and leave out extern.",
          array);
    }
    if (address >= 4096 && !is_host_memory(address)) return kNoArray;
    return address < 4096
               ? "The pointer of an array without elements may be null: is the size tested before\n"
                 "  the access? If the array should have elements: was its memory allocated, and\n"
                 "  its pointer passed to the kernel?"
               : "A kernel can access device memory only: allocate it with cudaMalloc, copy the\n"
                 "  data with cudaMemcpy, and pass the device pointer.";
  }
  if (a == nullptr) {
    a = nearest_allocation(address);
    if (a == nullptr) return kNoArray;
    const bool is_overflow = !overflow_text(StrayIndex(*a, address, t).value).empty();
    const std::string question = is_overflow ? "" : neighbour_question(address);
    if (!question.empty()) return question;
  }
  if (a->space == Space::constant && is_write) {
    return "A kernel cannot write a __constant__ variable.";
  }
  const StrayIndex i(*a, address, t);
  if (a->space == Space::shared) return shared_bounds_hint(*a, i, t);
  if (address + kFar < a->begin || address > a->end() + kFar) return far_index_hint(i.value);
  if (i.value == -1 && (i.in_row == 0 || i.of_thread == 0)) {
    return fmt::format(
        "The index is -1, and the thread is number 0 of the {}: the first element has no left\n"
        "  neighbour.",
        i.in_row == 0 ? "grid" : "block");
  }
  if (i.value < 0) {
    return fmt::format("The index is {}: how does it come to be below 0?", i.value);
  }
  if (i.of_block != 0 && t.block->threads.size() > 1 && i.value == i.of_block) {
    return fmt::format(
        "{} is the number of the block. Is {} meant to have an element for each block?", i.value,
        name_of(*a));
  }
  if (i.is_thread_of_grid()) {
    const std::size_t threads = engine.blocks_total * t.block->threads.size();
    return size_question(*a) +
           fmt::format("Is `if (i < n)` missing or off by one? The launch has {} thread{}.",
                       threads, threads == 1 ? "" : "s");
  }
  const std::string last = describe_element(a->end() - a->element.size);
  if (i.value == i.in_row + 1 && i.in_row < i.count) {
    return wrapped(fmt::format(
        "The thread is number {} of the grid, and {} is the last element: it has no right neighbour.",
        i.in_row, last));
  }
  return size_question(*a) +
         wrapped(fmt::format("The last element is {}, and the thread is number {} of the grid: how "
                             "does the index come to {}?",
                             last, i.in_row, i.value));
}

std::string alignment_hint(std::uintptr_t address, std::size_t size) {
  const Allocation& a = *named_by(address);
  const std::string x = name_of(a);
  const std::size_t past = a.name_origin % size;
  if (past == 0) {
    return fmt::format(
        "{} begins at a multiple of {}: it is the index that leads to another address.", x, size);
  }
  return wrapped(fmt::format(
      "{} itself begins {} past one. Its elements before the first multiple of {} need accesses of "
      "their own, and another array may begin elsewhere: what is aligned in one may not be in both.",
      x, bytes(past), size));
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

/// A finding of one access by the running thread.
Report finding_at(ReportKind kind, std::uintptr_t address, AccessKind access,
                  const SourceLine& where, std::string text, const Thread& t) {
  Report report = finding(kind, where, std::move(text));
  report.object = object_at(address);
  report.accesses = {access_by(verb(access, t.relaxed_name), where, t.id)};
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
      text =
          fmt::format("{} in kernel {}: {} of {} at {}{}{}\n  at {} by {}\n  {}",
                      freed ? "USE AFTER FREE" : "OUT OF BOUNDS", engine.launch->kernel,
                      verb(kind, t.relaxed_name), bytes(size), freed ? "freed memory, " : "",
                      describe_address(address), overhang, where.full_text(), thread_name(t), hint);
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
