// The program's own addresses.
#pragma once

#include <cstdint>
#include <vector>

namespace simt {

/// Read-only data of the program and its libraries: constants and string literals.
bool is_read_only_data(std::uintptr_t address);
/// An initial value of the compiler's: data of the program that may be written, and that is no variable. clang keeps
/// the value of `Tile{{1, 2, 3, 4, 5}}` there if it is longer than 16 bytes, and copies it from there.
bool is_initial_value(std::uintptr_t address);

/// Where the executable is loaded. A code address is remembered as its distance from there.
extern std::uintptr_t program_begin;
inline std::uint32_t pc_of(const void* return_address) {
  return static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(return_address) -
                                    program_begin);
}
inline const void* return_address_of(std::uint32_t pc) {
  return reinterpret_cast<const void*>(program_begin + pc);
}

/// The calls that led to the return address `caller`, the innermost first: an owner, such as
/// course::DeviceBuffer, is no line of the program's own.
std::vector<const void*> calls_behind(const void* caller);

}  // namespace simt
