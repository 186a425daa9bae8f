// How messages name addresses.
#include "memory/names.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/mman.h>

#include "memory/address_space.hpp"
#include "report/source_lines.hpp"

namespace simt {
namespace {

const std::vector<PointerArgument>* arguments = nullptr;  // of the launch that runs

/// The argument of the launch that points into host memory, at most a page below the address.
const PointerArgument* host_argument(std::uintptr_t address) {
  if (arguments == nullptr) return nullptr;
  for (const PointerArgument& p : *arguments) {
    const auto value = reinterpret_cast<std::uintptr_t>(p.pointer);
    if (address - value < kPage && !is_device_address(p.pointer)) return &p;
  }
  return nullptr;
}

}  // namespace

bool is_host_memory(std::uintptr_t address) {
  unsigned char resident = 0;
  return mincore(reinterpret_cast<void*>(address / kPage * kPage), 1, &resident) == 0;
}

Allocation* variable_near(std::uintptr_t address) {
  if (Allocation* a = global_at(address)) return a;
  Allocation* below = variable_at_or_before(address);
  const bool near = below != nullptr && address < below->end() + kPage;
  return near && host_argument(address) == nullptr ? below : nullptr;
}

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

/// "(x + 60)", but "counts" and "data.counts": what may come before a subscript.
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

/// The element that an address in an allocation belongs to.
std::string element_at(const Allocation& a, std::uintptr_t address) {
  const std::uintptr_t offset = address - a.name_origin;
  const std::string text = name_of(a) + subscript(a, offset / a.element.size);
  return a.name.empty() ? fmt::format("byte {} of {}", offset, text) : text;
}

std::string describe_inside(const Allocation& a, std::uintptr_t address) {
  const std::size_t rest = (address - a.name_origin) % a.element.size;
  const std::string text = element_at(a, address);
  if (a.name.empty() || rest == 0) return text;
  return fmt::format("{} (byte {} of that element)", text, rest);
}

/// The name of an argument's pointer before a subscript.
std::string name_of_argument(const PointerArgument& p) {
  return in_parentheses(without_suffix(without_suffix(p.text, ".data()"), ".get()"));
}

/// An address in the page that no array has: an element of the argument that is null, if one is.
std::string describe_null(std::uintptr_t address) {
  std::vector<std::string> names;
  std::size_t element_size = 1;
  for (std::size_t i = 0; arguments != nullptr && i < arguments->size(); ++i) {
    const PointerArgument& p = (*arguments)[i];
    if (p.pointer != nullptr || p.text.empty() || p.text == "nullptr") continue;
    names.push_back(name_of_argument(p));
    element_size = p.element.size;
  }
  if (names.empty()) return "the null pointer";
  if (names.size() == 1) {
    return fmt::format("{0}[{1}], and {0} is a null pointer", names[0], address / element_size);
  }
  return fmt::format("the null pointer: {} are null", fmt::join(names, " and "));
}

std::string describe_host_memory(std::uintptr_t address) {
  if (address < kPage) return describe_null(address);
  if (!is_host_memory(address)) return "an address without memory";
  const PointerArgument* argument = host_argument(address);
  if (argument == nullptr) return "memory of the host";
  return fmt::format("memory of the host, through the argument '{}'", argument->text);
}

}  // namespace

Allocation* named_by(std::uintptr_t address) {
  Allocation* a = owner_of(address);
  if (a == nullptr) a = variable_near(address);
  const bool in_arena = address - arena.begin < arena.size;
  return a == nullptr && in_arena ? nearest_allocation(address) : a;
}

std::string object_at(std::uintptr_t address) {
  const Allocation* a = named_by(address);
  return a == nullptr ? "" : a->name;
}

std::string describe_element(std::uintptr_t address) {
  const Allocation* a = named_by(address);
  const bool inside = a != nullptr && address >= a->name_origin && address < a->end();
  return inside ? element_at(*a, address) : describe_address(address);
}

std::string describe_address(std::uintptr_t address) {
  const Allocation* a = named_by(address);
  if (a == nullptr) {
    const bool in_arena = address - arena.begin < arena.size;
    return in_arena ? "an address without memory" : describe_host_memory(address);
  }
  if (address < a->name_origin) {
    const std::size_t distance = a->name_origin - address;
    return fmt::format("{} byte{} before {}", distance, distance == 1 ? "" : "s", name_of(*a));
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

std::string describe_overhang(std::uintptr_t address, std::size_t size) {
  const Allocation* a = named_by(address);
  if (a == nullptr || address < a->name_origin || address >= a->end()) return "";
  if (address + size <= a->end()) return "";
  const std::size_t past = address + size - a->end();
  const std::size_t count = (a->end() - a->name_origin) / a->element.size;
  return fmt::format(": its last {} past the end of {} ({})",
                     past == 1 ? "byte lies" : fmt::format("{} bytes lie", past), name_of(*a),
                     elements(count));
}

namespace {

/// Memory of the host that the program has registered, or null.
Allocation* registered_at(std::uintptr_t address) {
  Allocation* a = global_at(address);
  return a != nullptr && a->space == Space::pinned ? a : nullptr;
}

}  // namespace

void forget_arguments() { arguments = nullptr; }

void name_allocations(const Launch& launch) {
  arguments = &launch.pointers;
  // Backwards: of two arguments in one allocation, the first names it.
  for (auto p = launch.pointers.rbegin(); p != launch.pointers.rend(); ++p) {
    const auto address = reinterpret_cast<std::uintptr_t>(p->pointer);
    Allocation* a = owner_of(address);
    if (a == nullptr) a = registered_at(address);
    if (a == nullptr || p->text.empty() || a->space == Space::shared) continue;
    a->name = name_of_argument(*p);
    a->name_origin = address;
    if (p->element.size > 1 || a->element.size == 1) a->element = p->element;
  }
}

}  // namespace simt
