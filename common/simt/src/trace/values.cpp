// Prints values of the types that kernels use, and shortens the names of types.
#include "trace/values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <string_view>

#include "simt/float16.hpp"

namespace simt {
namespace {

template <class T>
T read(const unsigned char* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

template <class T>
std::string number(const unsigned char* bytes) {
  return fmt::format("{}", read<T>(bytes));
}
template <class T>
std::string real(T value) {
  return value != value ? "nan" : fmt::format("{}", value);  // a NaN has no sign to speak of
}
template <class Format>
std::string print_16_bits(const unsigned char* bytes) {
  return real(to_float(Format{}, read<std::uint16_t>(bytes)));
}
std::string print_character(const unsigned char* bytes) {
  const auto c = static_cast<char>(*bytes);
  return c >= ' ' && c <= '~' ? fmt::format("'{}'", c) : fmt::format("{}", static_cast<int>(c));
}
std::string print_mask(const unsigned char* bytes) {
  return fmt::format("0x{:08x}", read<std::uint32_t>(bytes));
}

/// A type whose values can be printed.
struct Scalar {
  std::size_t size;
  std::string (*print)(const unsigned char*);
};

const std::map<std::string, Scalar>& scalars() {
  static const auto& map = *new std::map<std::string, Scalar>{
      {"bool", {1, number<std::uint8_t>}},
      {"char", {1, print_character}},
      {"signed char", {1, number<std::int8_t>}},
      {"unsigned char", {1, number<std::uint8_t>}},
      {"short", {2, number<std::int16_t>}},
      {"unsigned short", {2, number<std::uint16_t>}},
      {"int", {4, number<std::int32_t>}},
      {"unsigned", {4, number<std::uint32_t>}},
      {"long", {8, number<std::int64_t>}},
      {"unsigned long", {8, number<std::uint64_t>}},
      {"long long", {8, number<std::int64_t>}},
      {"unsigned long long", {8, number<std::uint64_t>}},
      {"float", {4, [](const unsigned char* b) { return real(read<float>(b)); }}},
      {"double", {8, [](const unsigned char* b) { return real(read<double>(b)); }}},
      {"half", {2, print_16_bits<Half>}},
      {"__nv_bfloat16", {2, print_16_bits<Bfloat16>}},
      {"LaneMask", {4, print_mask}}};
  return map;
}

/// The type of the numbers in a value of this type: float for float4 and float. Null: not known.
const Scalar* scalar_of(std::string name) {
  const auto look_up = [](const std::string& key) {
    const auto it = scalars().find(key);
    return it == scalars().end() ? nullptr : &it->second;
  };
  constexpr std::string_view pairs = "Pairs<";  // of reductions.hpp
  if (name.starts_with(pairs)) {
    name = name.substr(pairs.size(), name.find(',') - pairs.size());
    if (name == "__half2") name = "half2";
  }
  if (const Scalar* scalar = look_up(name)) return scalar;
  if (name.empty() || name.back() < '1' || name.back() > '4') return nullptr;
  name.pop_back();
  static const auto& bases = *new std::map<std::string, std::string>{
      {"uchar", "unsigned char"}, {"ushort", "unsigned short"}, {"uint", "unsigned"},
      {"ulong", "unsigned long"}, {"longlong", "long long"},    {"ulonglong", "unsigned long long"},
      {"char", "signed char"}};
  const auto it = bases.find(name);
  return look_up(it == bases.end() ? name : it->second);
}

}  // namespace

Value value_at(const void* bytes, std::size_t size, ElementType type) {
  Value value;
  if (bytes == nullptr || size > value.bytes.size()) return value;
  value.type = type;
  value.size = static_cast<std::uint8_t>(size);
  std::memcpy(value.bytes.data(), bytes, size);
  return value;
}

std::string type_name(ElementType type) {
  if (type.function == nullptr) return "";
  constexpr std::string_view before = "Element = ";
  const std::string_view text = type.function;
  std::size_t begin = text.find(before);
  if (begin == std::string_view::npos) return "";
  begin += before.size();
  std::string name(text.substr(begin, std::min(text.find(';', begin), text.rfind(']')) - begin));
  // Namespaces without a name are left out, and inside its own namespace gcc leaves that out.
  for (const std::string_view anonymous : {"{anonymous}::", "(anonymous namespace)::"}) {
    for (std::size_t at; (at = name.find(anonymous)) != std::string::npos;) {
      name.erase(at, anonymous.size());
    }
  }
  constexpr std::string_view own = "simt::";
  if (name.starts_with(own)) name.erase(0, own.size());
  static const auto& shorter =
      *new std::map<std::string, std::string>{{"unsigned int", "unsigned"},
                                              {"short int", "short"},
                                              {"short unsigned int", "unsigned short"},
                                              {"long int", "long"},
                                              {"long unsigned int", "unsigned long"},
                                              {"long long int", "long long"},
                                              {"long long unsigned int", "unsigned long long"},
                                              {"__half", "half"},
                                              {"__half2", "half2"}};
  const auto it = shorter.find(name);
  return it == shorter.end() ? name : it->second;
}

std::optional<std::string> text_of(const Value& value) {
  if (value.size == 0) return std::nullopt;
  const Scalar* scalar = scalar_of(type_name(value.type));
  if (scalar == nullptr || value.size % scalar->size != 0) return std::nullopt;
  std::string text;
  for (std::size_t at = 0; at < value.size; at += scalar->size) {
    text += (at == 0 ? "" : ", ") + scalar->print(value.bytes.data() + at);
  }
  return value.size == scalar->size ? text : "(" + text + ")";
}

bool is_number(const Value& value) {
  const Scalar* scalar = scalar_of(type_name(value.type));
  return scalar != nullptr && scalar->size == value.size;
}

}  // namespace simt
