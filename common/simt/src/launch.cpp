// The parts of launch.hpp that need no template.
#include "simt/launch.hpp"

#include <cstring>

#include "engine.hpp"

namespace simt {
namespace {

std::string trimmed(const std::string& text) {
  const std::size_t first = text.find_first_not_of(' ');
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

}  // namespace

std::shared_ptr<const void> own(const void* closure, void (*destroy)(const void* closure)) {
  return {closure, destroy};
}

std::vector<std::string> split_arguments(const char* text) {
  std::vector<std::string> parts(1);
  int depth = 0;
  for (const char* c = text; *c != '\0'; ++c) {
    if (std::strchr("([{<", *c) != nullptr) ++depth;
    if (std::strchr(")]}>", *c) != nullptr) --depth;
    if (*c == ',' && depth == 0) {
      parts.emplace_back();
    } else {
      parts.back() += *c;
    }
  }
  for (std::string& part : parts) part = trimmed(part);
  return parts;
}

void* block_shared(const void* key, const SharedVariable& variable) {
  const OutOfSight guard;
  Block& block = *engine.current->block;
  for (const SharedInstance& s : block.shared) {
    if (s.key == key) return reinterpret_cast<void*>(s.memory->begin);
  }
  Allocation* a = acquire_shared(variable.size, variable.element, variable.name);
  a->extents.clear();
  for (std::size_t extent : variable.extents) {
    if (extent > 0) a->extents.push_back(extent);
  }
  block.shared.push_back({key, a});
  return reinterpret_cast<void*>(a->begin);
}

void* dynamic_shared(const char* name, ElementType element) {
  const OutOfSight guard;
  Block& block = *engine.current->block;
  Allocation* a = block.dynamic;
  if (a == nullptr) {
    block.without_memory = name;
    return nullptr;
  }
  a->name = name;
  a->element = element;
  a->extents.clear();
  return reinterpret_cast<void*>(a->begin);
}

}  // namespace simt
