// The type of an array's elements: messages count in its size, traces print its name and values.
#pragma once

#include <cstddef>
#include <type_traits>

#include "simt/platform.hpp"

namespace simt {

/// int for `int`, `int[3]` and `int[3][4]`.
template <class T>
using element_t = std::remove_cv_t<std::remove_all_extents_t<std::remove_reference_t<T>>>;

/// `function` is the compiler's text for a function that has the type as its template argument; the
/// trace takes the type's name from it. Null: nothing is known of the type.
struct ElementType {
  std::size_t size = 1;
  const char* function = nullptr;
  std::size_t alignment = 1;
};

template <class Element>
SIMT_UNINSTRUMENTED consteval const char* text_of_type() {
  return __PRETTY_FUNCTION__;
}

/// The elements of a T; of `void` only bytes.
template <class T>
SIMT_UNINSTRUMENTED consteval ElementType type_of() {
  if constexpr (std::is_void_v<element_t<T>>) {
    return {};
  } else {
    constexpr std::size_t size = sizeof(element_t<T>);  // 0 for int[0], which no trait takes apart
    return {size == 0 ? 1 : size, text_of_type<element_t<T>>(), alignof(element_t<T>)};
  }
}

/// A value somewhere in memory, with its type.
struct TypedValue {
  const void* bytes;
  ElementType type;
};
template <class T>
SIMT_UNINSTRUMENTED TypedValue typed(const T& value) {
  return {&value, type_of<T>()};
}

}  // namespace simt
