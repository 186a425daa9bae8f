// __device__, __constant__ and __managed__ variables; and memory of the host that the program has
// registered, which lies between them.
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <vector>

#include "base/early.hpp"
#include "base/program.hpp"
#include "memory/address_space.hpp"
#include "memory/allocations.hpp"
#include "memory/shadow.hpp"
#include "simt/runtime.hpp"

namespace simt {

SIMT_EARLY VariableRange variable_range;

namespace {

AllocationMap& globals() {
  // Filled by constructors of static objects, so it must exist before the first of them. Never
  // destroyed: the destructors of others may still use it.
  static auto& map = *new AllocationMap;
  return map;
}

/// A __device__ or __constant__ variable, and what it holds on the devices whose values are not in
/// place now.
struct Variable {
  Allocation* memory;
  std::vector<unsigned char> initial;
  std::array<std::vector<unsigned char>, kMostDevices> of_device;  // empty: as at the start
};
std::vector<Variable>& variables() {
  static auto& list = *new std::vector<Variable>;  // filled like globals()
  return list;
}
int device_in_place = 0;

}  // namespace

Allocation* variable_at_or_before(std::uintptr_t address) {
  return last_at_or_before(globals(), address);
}

Allocation* global_at(std::uintptr_t address) {
  Allocation* a = variable_at_or_before(address);
  return a != nullptr && address < a->end() ? a : nullptr;
}

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

HostRange register_host(void* p, std::size_t size, int device, const void* caller) {
  const auto begin = reinterpret_cast<std::uintptr_t>(p);
  const Allocation* before = variable_at_or_before(begin + size - 1);
  if (before != nullptr && before->end() > begin) return HostRange::taken;
  auto a = std::make_unique<Allocation>();
  a->begin = a->name_origin = begin;
  a->size = size;
  a->space = Space::pinned;
  a->device = static_cast<std::uint8_t>(device);
  a->allocated_by = calls_behind(caller);
  a->initialised = static_cast<std::uint8_t*>(reserve_or_die(size));
  std::memset(a->initialised, 1, size);  // the host writes it unseen
  globals()[begin] = std::move(a);
  return HostRange::registered;
}

bool unregister_host(void* p) {
  const auto it = globals().find(reinterpret_cast<std::uintptr_t>(p));
  if (it == globals().end() || it->second->space != Space::pinned) return false;
  drop_shadow(*it->second);
  munmap(it->second->initialised, it->second->size);
  globals().erase(it);
  return true;
}

GlobalVariable::GlobalVariable(const char* name, void* address, std::size_t size,
                               ElementType element, GlobalKind kind) {
  if (size == 0) return;  // an array without elements, at whose address another variable may be
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
    VariableRange& range = variable_range;
    const std::uintptr_t end = std::max(range.begin + range.size, a->end());
    range.begin = range.size == 0 ? a->begin : std::min(range.begin, a->begin);
    range.size = end - range.begin;
  }
  globals()[a->begin] = std::move(a);
}

}  // namespace simt
