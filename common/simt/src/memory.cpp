#include "memory.hpp"

#include <execinfo.h>
#include <fmt/format.h>
#include <link.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>

#include "engine.hpp"
#include "simt/vector_types.hpp"

namespace simt {

Arena arena;

namespace {

constexpr std::size_t kPage = std::size_t(1) << kPageBits;
constexpr std::size_t kGuard = 16 * kPage;  // between allocations
constexpr std::size_t kArenaSize = std::size_t(64) << 30;
constexpr unsigned char kPoison = 0xFF;  // -1 as an integer, NaN as a floating-point number

std::map<std::uintptr_t, std::unique_ptr<Allocation>> allocations;  // by first address
std::map<std::uintptr_t, std::unique_ptr<Allocation>>& globals() {
  // Filled by constructors of static objects, so it must exist before the first of them.
  static std::map<std::uintptr_t, std::unique_ptr<Allocation>> map;
  return map;
}
std::vector<Allocation*> idle_shared;
std::uintptr_t next_free = 0;
std::array<std::size_t, kMostDevices + 1> in_use{};  // by owner
std::uint32_t shared_generation = 0;

/// Zeroed address space that costs memory only where it is touched; null if there is none.
void* reserve(std::size_t size) {
  void* p = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                 -1, 0);
  return p == MAP_FAILED ? nullptr : p;
}

void* reserve_or_die(std::size_t size) {
  void* p = reserve(size);
  if (p == nullptr) {
    std::perror("simt: no address space for the checker");
    std::abort();
  }
  return p;
}

void open_arena() {
  if (arena.page != nullptr) return;
  // Limits on virtual memory are common in containers: take what there is.
  std::size_t size = kArenaSize;
  void* memory = reserve(size);
  while (memory == nullptr && size > kDeviceMemory / 4) memory = reserve(size /= 2);
  if (memory == nullptr) memory = reserve_or_die(size);
  arena.begin = reinterpret_cast<std::uintptr_t>(memory);
  arena.size = size;
  arena.page = static_cast<Allocation**>(reserve_or_die((size >> kPageBits) * sizeof(Allocation*)));
  next_free = arena.begin + kGuard;
}

std::size_t whole_pages(std::size_t size) { return (size + kPage - 1) / kPage * kPage; }

Allocation* place(std::size_t size, Space space, ElementType element) {
  open_arena();
  const std::size_t pages = whole_pages(size);
  if (next_free + pages + kGuard > arena.begin + arena.size) return nullptr;
  auto a = std::make_unique<Allocation>();
  a->begin = next_free;
  a->size = size;
  a->space = space;
  a->element = element;
  a->name_origin = a->begin;
  a->initialised = static_cast<std::uint8_t*>(reserve_or_die(size));
  next_free += pages + kGuard;
  for (std::size_t offset = 0; offset < pages; offset += kPage) {
    arena.page[(a->begin + offset - arena.begin) >> kPageBits] = a.get();
  }
  std::memset(reinterpret_cast<void*>(a->begin), kPoison, size);
  Allocation* result = a.get();
  allocations[a->begin] = std::move(a);
  return result;
}

void drop_shadow(Allocation& a) {
  if (a.cells != nullptr) munmap(a.cells, a.cell_count() * sizeof(Cell));
  a.cells = nullptr;
  for (FarCell*& cells : a.far) {
    if (cells != nullptr) munmap(cells, a.cell_count() * sizeof(FarCell));
    cells = nullptr;
  }
}

Allocation* in_map(const std::map<std::uintptr_t, std::unique_ptr<Allocation>>& map,
                   std::uintptr_t address) {
  auto it = map.upper_bound(address);
  return it == map.begin() ? nullptr : std::prev(it)->second.get();
}

const PointerArgument* host_argument(std::uintptr_t address);

/// The calls that led to `caller`, innermost first: an owner of memory, such as
/// course::DeviceBuffer, is no line of the program's own.
std::vector<const void*> calls_behind(const void* caller) {
  std::array<void*, 12> frames;
  const auto end = frames.begin() + backtrace(frames.data(), static_cast<int>(frames.size()));
  const auto first = std::find(frames.begin(), end, const_cast<void*>(caller));
  if (first == end) return {caller};
  return std::vector<const void*>(first, end);
}

Allocation* live_owner(const void* p, std::size_t n) {
  const auto address = reinterpret_cast<std::uintptr_t>(p);
  Allocation* a = owner_of(address);
  if (a == nullptr) a = global_at(address);
  const bool holds = a != nullptr && a->live && address >= a->begin && address <= a->end() &&
                     n <= a->end() - address;
  return holds ? a : nullptr;
}

}  // namespace

// ---- allocation ---------------------------------------------------------------------------------

void* allocate(std::size_t size, Space space, ElementType element, int device, const void* caller) {
  if (size == 0) return nullptr;
  const int owner = space == Space::device ? device : kEveryDevice;
  std::size_t& owned = in_use[static_cast<unsigned>(owner)];
  if (size > kDeviceMemory - owned) return nullptr;
  Allocation* a = place(size, space, element);
  if (a == nullptr) return nullptr;
  a->device = static_cast<std::uint8_t>(device);
  a->owner = static_cast<std::uint8_t>(owner);
  a->allocated_by = calls_behind(caller);
  if (space == Space::pinned || space == Space::managed) {
    std::memset(a->initialised, 1, size);  // the host writes it unseen
  }
  owned += size;
  return reinterpret_cast<void*>(a->begin);
}

bool release(void* p, bool pinned) {
  auto it = allocations.find(reinterpret_cast<std::uintptr_t>(p));
  if (it == allocations.end() || !it->second->live) return false;
  Allocation& a = *it->second;
  const bool fits =
      pinned ? a.space == Space::pinned : a.space == Space::device || a.space == Space::managed;
  if (!fits) return false;
  a.live = false;
  in_use[a.owner] -= a.size;
  // The addresses stay reserved, so that a use after free is always seen; the memory goes back.
  drop_shadow(a);
  munmap(a.initialised, a.size);
  a.initialised = nullptr;
  madvise(reinterpret_cast<void*>(a.begin), whole_pages(a.size), MADV_DONTNEED);
  return true;
}

std::size_t allocated_bytes(int device) { return in_use[static_cast<unsigned>(device)]; }

int device_of(const void* p) {
  const Allocation* a = live_owner(p, 1);
  if (a == nullptr) return -1;
  const bool is_variable = a->space == Space::global || a->space == Space::constant;
  return is_variable ? current_device() : a->device;
}

Allocation* acquire_shared(std::size_t size, ElementType element, std::string name) {
  auto fits = [&](const Allocation* a) { return a->size == size; };
  auto it = std::find_if(idle_shared.rbegin(), idle_shared.rend(), fits);
  Allocation* a = nullptr;
  if (it != idle_shared.rend()) {
    a = *it;
    idle_shared.erase(std::next(it).base());
    std::memset(a->initialised, 0, size);
    std::memset(reinterpret_cast<void*>(a->begin), kPoison, size);
  } else {
    a = place(size, Space::shared, element);
    if (a == nullptr) {
      std::fputs("simt: the address space for shared memory is used up\n", stderr);
      std::abort();
    }
  }
  a->element = element;
  a->name = std::move(name);
  a->generation = ++shared_generation;
  return a;
}

void release_shared(Allocation* a) { idle_shared.push_back(a); }

// ---- questions
// --------------------------------------------------------------------------------------

bool is_device_address(const void* p) {
  const auto address = reinterpret_cast<std::uintptr_t>(p);
  return address - arena.begin < arena.size || global_at(address) != nullptr;
}

bool find_space(const void* p, std::size_t n, Space* space) {
  const Allocation* a = live_owner(p, n);
  if (a == nullptr) return false;
  *space = a->space;
  return true;
}

bool is_shared(const void* p) {
  const Allocation* a = owner_of(reinterpret_cast<std::uintptr_t>(p));
  return a != nullptr && a->space == Space::shared;
}

void mark_initialised(const void* p, std::size_t n) {
  if (Allocation* a = live_owner(p, n)) {
    std::memset(a->initialised + (reinterpret_cast<std::uintptr_t>(p) - a->begin), 1, n);
  }
}

void copy_initialised(const void* to, const void* from, std::size_t n) {
  Allocation* target = live_owner(to, n);
  const Allocation* source = live_owner(from, n);
  if (target == nullptr || source == nullptr) return;
  std::memmove(target->initialised + (reinterpret_cast<std::uintptr_t>(to) - target->begin),
               source->initialised + (reinterpret_cast<std::uintptr_t>(from) - source->begin), n);
}

Allocation* global_at(std::uintptr_t address) {
  Allocation* a = in_map(globals(), address);
  return a != nullptr && address < a->end() ? a : nullptr;
}

Allocation* variable_near(std::uintptr_t address) {
  if (Allocation* a = global_at(address)) return a;
  Allocation* below = in_map(globals(), address);
  const bool near = below != nullptr && address < below->end() + kPage;
  return near && host_argument(address) == nullptr ? below : nullptr;
}

Allocation* nearest_allocation(std::uintptr_t address) {
  Allocation* below = in_map(allocations, address);
  auto above = allocations.upper_bound(address);
  if (above == allocations.end()) return below;
  if (below == nullptr) return above->second.get();
  const std::uintptr_t past_below = address - below->end();
  return past_below <= above->second->begin - address ? below : above->second.get();
}

namespace {

/// A __device__ or __constant__ variable, and what it holds on the devices whose values are not in
/// place now.
struct Variable {
  Allocation* memory;
  std::vector<unsigned char> initial;
  std::array<std::vector<unsigned char>, kMostDevices> of_device;  // empty: as at the start
};
std::vector<Variable>& variables() {
  static std::vector<Variable> list;  // filled like globals()
  return list;
}
int device_in_place = 0;

}  // namespace

void bring_variables(int device) {
  if (device == device_in_place) return;
  for (Variable& v : variables()) {
    auto* begin = reinterpret_cast<unsigned char*>(v.memory->begin);
    v.of_device[static_cast<unsigned>(device_in_place)].assign(begin, begin + v.memory->size);
    const auto& kept = v.of_device[static_cast<unsigned>(device)];
    const auto& values = kept.empty() ? v.initial : kept;
    std::copy(values.begin(), values.end(), begin);
  }
  device_in_place = device;
}

GlobalVariable::GlobalVariable(const char* name, void* address, std::size_t size,
                               ElementType element, GlobalKind kind) {
  auto a = std::make_unique<Allocation>();
  a->begin = a->name_origin = reinterpret_cast<std::uintptr_t>(address);
  a->size = size;
  a->element = element;
  a->name = name;
  a->space = kind == GlobalKind::constant  ? Space::constant
             : kind == GlobalKind::managed ? Space::managed
                                           : Space::global;
  a->initialised = static_cast<std::uint8_t*>(reserve_or_die(size));
  std::memset(a->initialised, 1, size);  // C++ zero-initialises it
  if (kind != GlobalKind::managed) {
    const auto* begin = static_cast<const unsigned char*>(address);
    variables().push_back({a.get(), {begin, begin + size}, {}});
  }
  globals()[a->begin] = std::move(a);
}

// ---- shadow
// ---------------------------------------------------------------------------------------------

void ensure_shadow(Allocation& a) {
  if (a.cells == nullptr) {
    a.cells = static_cast<Cell*>(reserve_or_die(a.cell_count() * sizeof(Cell)));
  }
}

FarCell* far_cells(Allocation& a, int device) {
  FarCell*& cells = a.far[static_cast<unsigned>(device)];
  if (cells == nullptr) {
    cells = static_cast<FarCell*>(reserve_or_die(a.cell_count() * sizeof(FarCell)));
  }
  return cells;
}

namespace {

std::uint32_t in_use_mark(const Cell& cell) { return cell.generation; }
std::uint32_t in_use_mark(const FarCell& cell) {
  return cell.read.launch | cell.write.launch | cell.narrow.launch | cell.system_read.launch |
         cell.system_write.launch;
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
  for (FarCell*& cells : a.far) split(cells, coarse_count, a.cell_count(), finer);
  ensure_shadow(a);
}

// ---- names
// ------------------------------------------------------------------------------------------------

std::string name_of(const Allocation& a) {
  if (!a.name.empty()) return a.name;
  if (a.space == Space::shared) return "dynamic shared memory";
  return fmt::format("the {} bytes allocated at {}", a.size, source_line(a.allocated_by).text());
}

namespace {

std::string without_suffix(std::string text, const std::string& suffix) {
  if (text.size() > suffix.size() && text.ends_with(suffix)) {
    text.resize(text.size() - suffix.size());
  }
  return text;
}

/// "(x + 60)", but "counts" and "data.counts": what may stand before a subscript.
std::string in_parentheses(std::string text) {
  return text.find_first_of(" +-*&?") == std::string::npos ? text : "(" + text + ")";
}

std::string elements(std::size_t n) { return fmt::format("{} element{}", n, n == 1 ? "" : "s"); }

/// "[3][5]" for an element of a variable; empty for a scalar.
std::string subscript(const Allocation& a, std::size_t index) {
  if (a.name.empty()) return "";
  if (a.size == a.element.size && a.allocated_by.empty()) return "";
  if (a.extents.size() < 2) return fmt::format("[{}]", index);
  std::string text;
  for (std::size_t d = a.extents.size(); d-- > 0;) {
    text = fmt::format("[{}]", d == 0 ? index : index % a.extents[d]) + text;
    index /= a.extents[d];
  }
  return text;
}

std::string describe_inside(const Allocation& a, std::uintptr_t address) {
  const std::uintptr_t offset = address - a.name_origin;
  const std::size_t index = offset / a.element.size, rest = offset % a.element.size;
  std::string text = name_of(a) + subscript(a, index);
  if (a.name.empty()) return fmt::format("byte {} of {}", offset, text);
  if (rest != 0) text += fmt::format(" (byte {} of that element)", rest);
  return text;
}

/// The argument of the launch that points into host memory, at most a page below the address.
const PointerArgument* host_argument(std::uintptr_t address) {
  if (engine.launch == nullptr) return nullptr;
  for (const PointerArgument& p : engine.launch->pointers) {
    const auto value = reinterpret_cast<std::uintptr_t>(p.pointer);
    if (address - value < kPage && !is_device_address(p.pointer)) return &p;
  }
  return nullptr;
}

std::string describe_host_memory(std::uintptr_t address) {
  if (address < kPage) return "the null pointer";
  const PointerArgument* argument = host_argument(address);
  if (argument == nullptr) return "memory of the host";
  return fmt::format("memory of the host, through the argument '{}'", argument->text);
}

}  // namespace

std::string describe_address(std::uintptr_t address) {
  Allocation* a = owner_of(address);
  if (a == nullptr) a = variable_near(address);
  const bool in_arena = address - arena.begin < arena.size;
  if (a == nullptr && !in_arena) return describe_host_memory(address);
  if (a == nullptr) a = nearest_allocation(address);
  if (a == nullptr) return "device memory that nobody allocated";
  if (address < a->name_origin) {
    return fmt::format("{} bytes before {}", a->name_origin - address, name_of(*a));
  }
  if (address < a->end()) return describe_inside(*a, address);
  const std::uintptr_t past = address - a->end();
  const std::size_t count = (a->end() - a->name_origin) / a->element.size;
  const std::string whole = fmt::format("{} ({})", name_of(*a), elements(count));
  if (a->name.empty()) return fmt::format("{} bytes past the end of {}", past, name_of(*a));
  if (past == 0) return fmt::format("{}[{}], just past the end of {}", a->name, count, whole);
  return fmt::format("{}[{}], {} past the end of {}", a->name,
                     (address - a->name_origin) / a->element.size,
                     elements(past / a->element.size + 1), whole);
}

void name_allocations(const Launch& launch) {
  // Backwards: of two arguments in one allocation, the first names it.
  for (auto p = launch.pointers.rbegin(); p != launch.pointers.rend(); ++p) {
    const auto address = reinterpret_cast<std::uintptr_t>(p->pointer);
    Allocation* a = owner_of(address);
    if (a == nullptr || p->text.empty() || a->space == Space::shared) continue;
    a->name = in_parentheses(without_suffix(without_suffix(p->text, ".data()"), ".get()"));
    a->name_origin = address;
    if (p->element.size > 1 || a->element.size == 1) a->element = p->element;
  }
}

// ---- the program's own addresses
// ---------------------------------------------------------------------------

namespace {

struct Segments {
  std::uintptr_t program = 0;  // load address of the executable
  std::vector<std::pair<std::uintptr_t, std::uintptr_t>> read_only;
  Segments() {
    dl_iterate_phdr(
        [](dl_phdr_info* info, std::size_t, void* self) {
          static_cast<Segments*>(self)->add(*info);
          return 0;
        },
        this);
  }
  void add(const dl_phdr_info& info) {
    if (first_) program = info.dlpi_addr;
    first_ = false;
    for (int i = 0; i < info.dlpi_phnum; ++i) {
      const auto& h = info.dlpi_phdr[i];
      const bool constant = h.p_type == PT_LOAD && (h.p_flags & PF_W) == 0;
      if (!constant && h.p_type != PT_GNU_RELRO) continue;
      const std::uintptr_t begin = info.dlpi_addr + h.p_vaddr;
      read_only.emplace_back(begin, begin + h.p_memsz);
    }
  }

 private:
  bool first_ = true;
};

const Segments& segments() {
  static const Segments s;
  return s;
}

}  // namespace

bool is_read_only_data(std::uintptr_t address) {
  const auto& list = segments().read_only;
  return std::any_of(list.begin(), list.end(),
                     [&](const auto& r) { return address >= r.first && address < r.second; });
}

const std::uintptr_t program_begin = segments().program;

}  // namespace simt
