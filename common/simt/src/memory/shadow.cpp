// Makes, divides and drops the shadow of an allocation.
#include "memory/shadow.hpp"

#include <sys/mman.h>

#include "memory/address_space.hpp"

namespace simt {

const Cell* find_cell(std::uintptr_t address) {
  const Allocation* a = owner_of(address);
  if (a == nullptr) a = global_at(address);
  if (a == nullptr || a->cells == nullptr || address >= a->end()) return nullptr;
  return &a->cells[(address - a->begin) >> a->granule_shift];
}

void ensure_shadow(Allocation& a) {
  if (a.cells == nullptr) {
    a.cells = static_cast<Cell*>(reserve_or_die(a.cell_count() * sizeof(Cell)));
  }
}

AtomicCell* atomic_cells(Allocation& a) {
  if (a.atomics == nullptr) {
    a.atomics = static_cast<AtomicCell*>(reserve_or_die(a.cell_count() * sizeof(AtomicCell)));
  }
  return a.atomics;
}

ReadOnlyCell* read_only_cells(Allocation& a) {
  if (a.read_only == nullptr) {
    a.read_only = static_cast<ReadOnlyCell*>(reserve_or_die(a.cell_count() * sizeof(ReadOnlyCell)));
  }
  return a.read_only;
}

CrossCell* cross_cells(Allocation& a, unsigned track) {
  if (a.cross.size() <= track) a.cross.resize(track + 1);
  CrossCell*& cells = a.cross[track];
  if (cells == nullptr) {
    cells = static_cast<CrossCell*>(reserve_or_die(a.cell_count() * sizeof(CrossCell)));
  }
  return cells;
}

namespace {

std::uint32_t in_use_mark(const Cell& cell) { return cell.generation; }
std::uint32_t in_use_mark(const AtomicCell& cell) { return cell.generation; }
std::uint32_t in_use_mark(const ReadOnlyCell& cell) { return cell.launch; }
std::uint32_t in_use_mark(const CrossCell& cell) {
  return cell.read.operation | cell.write.operation | cell.device_scope.operation |
         cell.system_read.operation | cell.system_write.operation;
}

/// As many cells as the allocation has now, from those that were `finer` times two as wide.
template <class C>
void split(C*& cells, std::size_t coarse_count, std::size_t count, unsigned finer) {
  if (cells == nullptr) return;
  C* const coarse = cells;
  cells = static_cast<C*>(reserve_or_die(count * sizeof(C)));
  for (std::size_t i = 0; i < count; ++i) {
    const C& from = coarse[i >> finer];
    if (in_use_mark(from) != 0) cells[i] = from;  // leave untouched pages untouched
  }
  munmap(coarse, coarse_count * sizeof(C));
}

}  // namespace

void refine_shadow(Allocation& a, unsigned shift) {
  if (shift >= a.granule_shift) return;
  const std::size_t coarse_count = a.cell_count();
  const unsigned finer = a.granule_shift - shift;
  a.granule_shift = static_cast<std::uint8_t>(shift);
  split(a.cells, coarse_count, a.cell_count(), finer);
  split(a.atomics, coarse_count, a.cell_count(), finer);
  split(a.read_only, coarse_count, a.cell_count(), finer);
  for (CrossCell*& cells : a.cross) split(cells, coarse_count, a.cell_count(), finer);
  ensure_shadow(a);
}

void drop_shadow(Allocation& a) {
  if (a.cells != nullptr) munmap(a.cells, a.cell_count() * sizeof(Cell));
  a.cells = nullptr;
  if (a.atomics != nullptr) munmap(a.atomics, a.cell_count() * sizeof(AtomicCell));
  a.atomics = nullptr;
  a.has_block_scope = false;
  if (a.read_only != nullptr) munmap(a.read_only, a.cell_count() * sizeof(ReadOnlyCell));
  a.read_only = nullptr;
  for (CrossCell*& cells : a.cross) {
    if (cells != nullptr) munmap(cells, a.cell_count() * sizeof(CrossCell));
    cells = nullptr;
  }
}

}  // namespace simt
