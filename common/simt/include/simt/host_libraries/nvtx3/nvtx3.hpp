// The C++ classes of NVTX: ranges that end with their scope, marks, and what they are told by. They have no effect.
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>

#include "nvToolsExt.h"

#define NVTX3_CPP_VERSION_MAJOR 1
#define NVTX3_CPP_VERSION_MINOR 0

namespace nvtx3 {
inline namespace v1 {

class domain {
 public:
  struct global {};
  template <class D = global>
  static const domain& get() {
    static const domain only;
    return only;
  }
  operator nvtxDomainHandle_t() const noexcept { return nullptr; }
};

struct rgb {
  constexpr rgb(std::uint8_t r, std::uint8_t g, std::uint8_t b) noexcept
      : red(r), green(g), blue(b) {}
  std::uint8_t red, green, blue;
};
struct argb final : rgb {
  constexpr argb(std::uint8_t a, std::uint8_t r, std::uint8_t g, std::uint8_t b) noexcept
      : rgb(r, g, b), alpha(a) {}
  std::uint8_t alpha;
};
struct color {
  constexpr explicit color(std::uint32_t) noexcept {}
  constexpr color(argb) noexcept {}
  constexpr color(rgb) noexcept {}
};
struct category {
  constexpr explicit category(std::uint32_t) noexcept {}
};
template <class D = domain::global>
struct named_category_in final : category {
  named_category_in(std::uint32_t id, const char*) noexcept : category(id) {}
  named_category_in(std::uint32_t id, const wchar_t*) noexcept : category(id) {}
  template <class C>
  static const named_category_in& get() {
    static const named_category_in only(C::id, C::name);
    return only;
  }
};
using named_category = named_category_in<>;

template <class D = domain::global>
struct registered_string_in {
  explicit registered_string_in(const char*) noexcept {}
  explicit registered_string_in(const std::string&) noexcept {}
  explicit registered_string_in(const wchar_t*) noexcept {}
  explicit registered_string_in(const std::wstring&) noexcept {}
  template <class M>
  static const registered_string_in& get() {
    static const registered_string_in only(M::message);
    return only;
  }
};
using registered_string = registered_string_in<>;

struct message {
  constexpr message(const char*) noexcept {}
  message(const std::string&) noexcept {}
  constexpr message(const wchar_t*) noexcept {}
  message(const std::wstring&) noexcept {}
  template <class D>
  message(const registered_string_in<D>&) noexcept {}
};
struct payload {
  template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>>
  constexpr explicit payload(T) noexcept {}
};

class event_attributes {
 public:
  constexpr event_attributes() noexcept {}
  template <class First, class... Others,
            class = std::enable_if_t<!std::is_same_v<std::decay_t<First>, event_attributes>>>
  explicit event_attributes(const First& first, const Others&... others) noexcept
      : event_attributes(others...) {
    take(first);
  }

 private:
  // What is no part of an event does not compile.
  static void take(const color&) {}
  static void take(const category&) {}
  static void take(const payload&) {}
  static void take(const message&) {}
};

template <class D = domain::global>
class [[maybe_unused]] scoped_range_in {
 public:
  scoped_range_in() noexcept {}
  explicit scoped_range_in(const event_attributes&) noexcept {}
  template <class First, class... Others,
            class = std::enable_if_t<!std::is_same_v<std::decay_t<First>, event_attributes>>>
  explicit scoped_range_in(const First& first, const Others&... others) noexcept
      : scoped_range_in(event_attributes(first, others...)) {}
  scoped_range_in(const scoped_range_in&) = delete;
  scoped_range_in& operator=(const scoped_range_in&) = delete;
  void* operator new(std::size_t) = delete;
  ~scoped_range_in() {}
};
using scoped_range = scoped_range_in<>;

template <class D = domain::global>
class [[maybe_unused]] unique_range_in {
 public:
  template <class... Parts>
  explicit unique_range_in(const Parts&... parts) noexcept {
    event_attributes(parts...);
  }
  unique_range_in(unique_range_in&&) noexcept = default;
  unique_range_in& operator=(unique_range_in&&) noexcept = default;
  ~unique_range_in() {}
};
using unique_range = unique_range_in<>;

struct range_handle {
  constexpr explicit range_handle(nvtxRangeId_t id = 0) noexcept : id_(id) {}
  constexpr nvtxRangeId_t get_value() const noexcept { return id_; }
  constexpr explicit operator bool() const noexcept { return id_ != 0; }

 private:
  nvtxRangeId_t id_;
};
template <class D = domain::global, class... Parts>
range_handle start_range_in(const Parts&... parts) noexcept {
  event_attributes(parts...);
  return range_handle();
}
template <class... Parts>
range_handle start_range(const Parts&... parts) noexcept {
  return start_range_in<>(parts...);
}
template <class D = domain::global>
void end_range_in(range_handle) noexcept {}
inline void end_range(range_handle) noexcept {}

template <class D = domain::global, class... Parts>
void mark_in(const Parts&... parts) noexcept {
  event_attributes(parts...);
}
template <class... Parts>
void mark(const Parts&... parts) noexcept {
  mark_in<>(parts...);
}

}  // namespace v1
}  // namespace nvtx3

#define NVTX3_FUNC_RANGE() ((void)0)
#define NVTX3_FUNC_RANGE_IN(D) ((void)0)
#define NVTX3_FUNC_RANGE_IF(C) ((void)(C))
#define NVTX3_FUNC_RANGE_IF_IN(D, C) ((void)(C))
