// What launches have done to memory, for those who explain a wrong result.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/program.hpp"
#include "kernel/engine.hpp"
#include "memory/allocations.hpp"
#include "memory/shadow.hpp"
#include "report/source_lines.hpp"
#include "simt/testing.hpp"

namespace simt {
namespace {

/// What the launches after a given one have done to the elements of an array, as its name counts them.
class Elements {
 public:
  Elements(const Allocation& a, std::size_t launches)
      : a_(a),
        launches_(std::max<std::size_t>(launches, a.filled)),
        count_((a.end() - a.name_origin) / a.element.size) {}

  std::size_t count() const { return count_; }
  bool is_filled(std::size_t i) const {
    const std::uint8_t* const flag = a_.initialised + (address_of(i) - a_.begin);
    return std::any_of(flag, flag + a_.element.size, [](std::uint8_t f) { return f != 0; });
  }
  /// Where it was read, 0 if it was not.
  std::uint32_t reader(std::size_t i) const {
    return first_pc(i, [](const Cell& cell) { return cell.last_read.pc; });
  }
  bool is_written(std::size_t i) const {
    return first_pc(i, [](const Cell& cell) { return cell.write.pc | cell.atomic.pc; }) != 0;
  }

 private:
  std::uintptr_t address_of(std::size_t i) const { return a_.name_origin + i * a_.element.size; }
  /// The first number that is not 0 and that the function finds in a cell of the element; 0 if there is none.
  template <class Function>
  std::uint32_t first_pc(std::size_t i, Function pc_in) const {
    const std::uintptr_t begin = address_of(i) - a_.begin;
    const Cell* const first = a_.cells + (begin >> a_.granule_shift);
    const Cell* const last = a_.cells + ((begin + a_.element.size - 1) >> a_.granule_shift);
    const Cell* const found = std::find_if(first, last + 1, [&](const Cell& cell) {
      return cell.generation > launches_ && pc_in(cell) != 0;
    });
    return found > last ? 0 : pc_in(*found);
  }

  const Allocation& a_;
  std::size_t launches_, count_;
};

/// The elements of an input that no launch has read; none of an array that is no input.
PartlyRead partly_read(const Allocation& a, std::size_t launches) {
  constexpr std::size_t kMostElements = std::size_t(1) << 20;
  PartlyRead input{.name = a.name};
  if (a.name.empty() || a.cells == nullptr || a.name_origin < a.begin) return input;
  const Elements elements(a, launches);
  input.elements = elements.count();
  if (input.elements > kMostElements) return input;
  std::uint32_t reader = 0;
  for (std::size_t i = 0; i < input.elements; ++i) {
    if (elements.is_written(i)) return {.name = a.name};
    const std::uint32_t pc = elements.reader(i);
    if (reader == 0) reader = pc;
    if (elements.is_filled(i) && pc == 0) input.unread.push_back(i);
  }
  if (reader == 0) input.unread.clear();
  if (!input.unread.empty()) input.reader = source_line(return_address_of(reader)).file;
  return input;
}

}  // namespace

std::size_t launches_that_ran() { return engine.launch_number; }

std::vector<PartlyRead> partly_read_since(std::size_t launches) {
  std::vector<PartlyRead> inputs;
  for (const Allocation* const a : recorded_memory()) {
    PartlyRead input = partly_read(*a, launches);
    if (!input.unread.empty()) inputs.push_back(std::move(input));
  }
  return inputs;
}

std::string line_of_last_write(const void* p, std::size_t launches) {
  const auto address = reinterpret_cast<std::uintptr_t>(p);
  const Allocation* const a = owner_of(address);
  const Cell* const cell = a == nullptr ? nullptr : find_cell(address);
  if (cell == nullptr || cell->generation <= std::max<std::size_t>(launches, a->filled)) return "";
  const std::uint32_t pc = cell->atomic.pc == 0 ? cell->write.pc : cell->atomic.pc;
  const bool is_one_kind = cell->atomic.pc == 0 || cell->write.pc == 0;
  return pc == 0 || !is_one_kind ? "" : source_line(return_address_of(pc)).text();
}

bool is_as_filled(const void* p, std::size_t size, std::size_t launches) {
  const auto address = reinterpret_cast<std::uintptr_t>(p);
  const Allocation* const a = owner_of(address);
  if (a == nullptr || a->space != Space::device || a->initialised == nullptr) return false;
  if (address + size > a->end()) return false;
  if (a->cells == nullptr) return true;
  const std::size_t base = std::max<std::size_t>(launches, a->filled);
  const Cell* const first = a->cells + ((address - a->begin) >> a->granule_shift);
  const Cell* const last = a->cells + ((address + size - 1 - a->begin) >> a->granule_shift);
  return std::all_of(first, last + 1, [&](const Cell& cell) {
    // What a later launch has only read, an earlier one may have written.
    const bool is_whole = cell.generation == base + 1;
    return cell.generation <= base || (is_whole && (cell.write.pc | cell.atomic.pc) == 0);
  });
}

bool has_been_written(const void* p, std::size_t size) {
  const auto address = reinterpret_cast<std::uintptr_t>(p);
  const Allocation* const a = owner_of(address);
  if (a == nullptr || address < a->begin || address + size > a->end()) return true;
  const std::uint8_t* const flag = a->initialised + (address - a->begin);
  return std::any_of(flag, flag + size, [](std::uint8_t f) { return f != 0; });
}

}  // namespace simt
