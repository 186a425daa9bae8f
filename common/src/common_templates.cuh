// Templates that nearly every check uses. They are compiled once, in the course's library
// (common_templates.cpp); kernel_headers.cu says so to every check, which takes a quarter less time
// to build for it.
#pragma once

#include <cuda_fp16.h>

#include <course/buffer.cuh>
#include <course/data.cuh>
#include <course/guarded.cuh>
#include <course/verdict.cuh>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// `declare` is `template` or `extern template`.
#define COURSE_COMMON_TEMPLATES(declare)          \
  declare class std::basic_string<char>;          \
  declare class std::vector<char>;                \
  declare class std::vector<unsigned char>;       \
  declare class std::vector<std::size_t>;         \
  declare class std::vector<double>;              \
  declare class std::vector<std::string>;         \
  declare class std::vector<course::LaunchShape>; \
  declare class std::vector<unsigned long long>;  \
  COURSE_TEMPLATES_OF(declare, int)               \
  COURSE_TEMPLATES_OF(declare, unsigned)          \
  COURSE_TEMPLATES_OF(declare, float)             \
  COURSE_TEMPLATES_OF(declare, __half)
#define COURSE_TEMPLATES_OF(declare, T)                                              \
  declare class std::vector<T>;                                                      \
  declare class course::DeviceBuffer<T>;                                             \
  declare class course::GuardedBuffer<T>;                                            \
  declare std::vector<T> course::position_values(std::size_t, std::uint32_t);        \
  declare course::Verdict course::same(const std::vector<T>&, const std::vector<T>&, \
                                       std::string_view, const std::string_view&);
