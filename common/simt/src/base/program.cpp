// The program's own addresses.
#include <execinfo.h>
#include <link.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "base/early.hpp"
#include "base/program.hpp"

namespace simt {
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
  static const Segments& s = *new Segments;
  return s;
}

}  // namespace

bool is_read_only_data(std::uintptr_t address) {
  const auto& list = segments().read_only;
  return std::any_of(list.begin(), list.end(),
                     [&](const auto& r) { return address >= r.first && address < r.second; });
}

std::uintptr_t program_begin = 0;

namespace {

struct Start {
  Start() { program_begin = segments().program; }
};
SIMT_EARLY Start at_start_of_program;

}  // namespace

std::vector<const void*> calls_behind(const void* caller) {
  std::array<void*, 12> frames;
  const auto end = frames.begin() + backtrace(frames.data(), static_cast<int>(frames.size()));
  const auto first = std::find(frames.begin(), end, const_cast<void*>(caller));
  if (first == end) return {caller};
  return std::vector<const void*>(first, end);
}

}  // namespace simt
