// Values of lanes, and how traces show them: by the names and numbers of their C++ types.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "simt/element_type.hpp"

namespace simt {

/// A lane's value as bytes: it becomes text when the launch has ended. size 0: not known.
struct Value {
  ElementType type;
  std::uint8_t size = 0;
  std::array<unsigned char, 32> bytes{};
};

/// The value of `size` bytes at `bytes`; not known if that is null, or more than a value has.
Value value_at(const void* bytes, std::size_t size, ElementType type);

/// "unsigned long long" for what compilers call "long long unsigned int"; empty if nothing is
/// known.
std::string type_name(ElementType type);

/// "1.5", or "(1, 2)" for a vector; nothing if the value or its type is not known.
std::optional<std::string> text_of(const Value& value);

/// True if the value is one number of a known type.
bool is_number(const Value& value);

}  // namespace simt
