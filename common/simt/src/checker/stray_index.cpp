// Of an address out of bounds: which index leads there, and where the index may come from.
#include "checker/stray_index.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "base/program.hpp"
#include "checker/history.hpp"
#include "checker/messages.hpp"
#include "memory/devices.hpp"
#include "memory/names.hpp"
#include "report/reports.hpp"

namespace simt {
namespace {

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
  const std::size_t threads = t.block->threads.size();
  const bool is_by_thread =
      std::abs(i.value - i.of_thread) <= kWarpSize;  // else its number is no clue
  return wrapped(fmt::format("Each block has its own {}{}.{}", x,
                             is_by_thread ? fmt::format(", and this block has {} thread{}", threads,
                                                        threads == 1 ? "" : "s")
                                          : "",
                             size));
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
  if (index >= kInt && index < kInt + kNear) {
    return fmt::format(
        "{} is 2^31{}, and the largest int is 2^31 - 1: is it compared, or subtracted, as an int?",
        index, index == kInt ? "" : fmt::format(" + {}", index - kInt));
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

/// What the last atomics of the thread have returned, if that is the index: "atomicAdd() (x.cu:12) has returned 64 to
/// this thread, and 64 is the index."; empty otherwise.
std::string returned_index(const Thread& t, std::ptrdiff_t index) {
  if (t.history == nullptr) return "";
  for (std::size_t back = 0; back < t.history->size(); ++back) {
    const SyncEvent& event = t.history->newest(back);
    const bool is_it = event.kind == AccessKind::atomic && event.has_found &&
                       event.found == static_cast<std::uint64_t>(index);
    if (!is_it) continue;
    return fmt::format("{} ({}) has returned {} to this thread, and {} is the index.", event.name,
                       source_line(return_address_of(event.pc)).text(), index, index);
  }
  return "";
}

}  // namespace

std::string bounds_hint(std::uintptr_t address, std::size_t size, bool is_write, const Thread& t) {
  const Allocation* a = owner_of(address);
  if (a == nullptr) a = variable_near(address);
  const bool is_in_arena = address - arena.begin < arena.size;
  if (engine.launch->of_library && is_in_arena) {
    return wrapped(fmt::format(
        "The arguments of {} say which elements it uses: their numbers, and how far the next column "
        "(lda, ldb, ldc) or the next element (incx, incy) is. Are they those of the array?",
        engine.launch->kernel));
  }
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
  if (const std::string text = returned_index(t, i.value); !text.empty()) {
    return wrapped(fmt::format(
        "{} The last element is {}. With which number is the value compared before the access?{}",
        text, describe_element(a->end() - a->element.size),
        i.is_thread_of_grid() ? " The index is the number of the thread in the grid, too." : ""));
  }
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
  // Far from the index the number of the thread is no clue.
  const bool is_near = std::abs(i.value - i.in_row) <= kWarpSize;
  return size_question(*a) +
         wrapped(fmt::format(
             "The last element is {}{}: how does the index come to {}?", last,
             is_near ? fmt::format(", and the thread is number {} of the grid", i.in_row) : "",
             i.value));
}

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

std::string alignment_hint(std::uintptr_t address, std::size_t size) {
  const Allocation& a = *named_by(address);
  const std::string x = name_of(a);
  const std::size_t past = a.name_origin % size;
  if (past == 0) {
    return fmt::format(
        "{} begins at a multiple of {}: it is the index that leads to another address.", x, size);
  }
  const std::string begins = fmt::format("{} itself begins {} past one", x, bytes(past));
  const std::size_t first = (size - past) / a.element.size;
  if ((size - past) % a.element.size != 0 || size % a.element.size != 0) {
    return wrapped(
        fmt::format("{}, and none of its elements begins at a multiple of {}.", begins, size));
  }
  return wrapped(fmt::format(
      "{}: an access of {} is aligned at {}[{}], {}[{}] and so on. Does the code test where {} begins, in each call?",
      begins, bytes(size), x, first, x, first + size / a.element.size, x));
}

}  // namespace simt
