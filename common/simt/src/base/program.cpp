// The program's own addresses.
#include <elf.h>
#include <execinfo.h>
#include <link.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <utility>
#include <vector>

#include "base/early.hpp"
#include "base/program.hpp"
#include "base/scoped_ignore.hpp"

namespace simt {
namespace {

using Ranges = std::vector<std::pair<std::uintptr_t, std::uintptr_t>>;

bool contains(const Ranges& ranges, std::uintptr_t address) {
  return std::any_of(ranges.begin(), ranges.end(),
                     [&](const auto& r) { return address >= r.first && address < r.second; });
}

struct Segments {
  std::uintptr_t program = 0;  // load address of the executable
  Ranges read_only, writable;  // the latter of the executable
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
    for (int i = 0; i < info.dlpi_phnum; ++i) {
      const auto& h = info.dlpi_phdr[i];
      const std::uintptr_t begin = info.dlpi_addr + h.p_vaddr;
      if (h.p_type == PT_GNU_RELRO || (h.p_type == PT_LOAD && (h.p_flags & PF_W) == 0)) {
        read_only.emplace_back(begin, begin + h.p_memsz);
      } else if (h.p_type == PT_LOAD && first_) {
        writable.emplace_back(begin, begin + h.p_memsz);
      }
    }
    first_ = false;
  }

 private:
  bool first_ = true;
};

const Segments& segments() {
  static const Segments& s = *new Segments;
  return s;
}

/// The variables of the executable, as distances from where it is loaded, sorted; each ends no earlier than those
/// before it. None if there is no table of symbols.
Ranges read_variables() {
  Ranges result;
  std::ifstream file("/proc/self/exe", std::ios::binary);
  const auto read = [&](std::uint64_t at, auto* to, std::size_t count) {
    file.seekg(static_cast<std::streamoff>(at));
    file.read(reinterpret_cast<char*>(to), static_cast<std::streamsize>(count * sizeof *to));
    return static_cast<bool>(file);
  };
  Elf64_Ehdr header;
  if (!read(0, &header, 1)) return result;
  std::vector<Elf64_Shdr> sections(header.e_shnum);
  if (!read(header.e_shoff, sections.data(), sections.size())) return result;
  for (const Elf64_Shdr& section : sections) {
    if (section.sh_type != SHT_SYMTAB) continue;
    std::vector<Elf64_Sym> symbols(section.sh_size / sizeof(Elf64_Sym));
    if (!read(section.sh_offset, symbols.data(), symbols.size())) return {};
    for (const Elf64_Sym& symbol : symbols) {
      if (ELF64_ST_TYPE(symbol.st_info) == STT_OBJECT && symbol.st_shndx != SHN_UNDEF) {
        result.emplace_back(symbol.st_value, symbol.st_value + symbol.st_size);
      }
    }
  }
  std::sort(result.begin(), result.end());
  for (std::size_t i = 1; i < result.size(); ++i) {
    result[i].second = std::max(result[i].second, result[i - 1].second);
  }
  return result;
}

}  // namespace

bool is_read_only_data(std::uintptr_t address) { return contains(segments().read_only, address); }

bool is_initial_value(std::uintptr_t address) {
  const ScopedIgnore
      ignore;  // functions of the C++ library may be those that a kernel's file has compiled
  if (!contains(segments().writable, address)) return false;
  static const Ranges& variables = *new Ranges(read_variables());
  if (variables.empty()) {  // a guess would refuse right programs, or let wrong ones through
    std::fputs(
        "simt: a kernel reads data of the program, and only the program's table of symbols tells a variable from an\n"
        "  initial value of the compiler's: build it without -s (LDFLAGS), and do not strip it\n",
        stderr);
    std::abort();
  }
  const std::uintptr_t place = address - segments().program;
  const auto after = std::upper_bound(variables.begin(), variables.end(), place,
                                      [](std::uintptr_t a, const auto& r) { return a < r.first; });
  return after == variables.begin() || std::prev(after)->second <= place;
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
