// __half and __half2: IEEE 754 binary16, one sign bit, 5 of exponent, 10 of mantissa.
#pragma once

#include <type_traits>

#include "simt/atomics.hpp"
#include "simt/float16.hpp"

struct __nv_bfloat16;

#define SIMT_SCALAR __half
#define SIMT_PAIR __half2
#define SIMT_SCALAR_NAME half
#define SIMT_PAIR_NAME half2
#define SIMT_FORMAT simt::Half
#define SIMT_OTHER_SCALAR __nv_bfloat16
#include "simt/float16_type.hpp"

using half = __half;
using half2 = __half2;
using nv_half = __half;
using nv_half2 = __half2;
using __nv_half = __half;
using __nv_half2 = __half2;
using __nv_half_raw = __half_raw;
using __nv_half2_raw = __half2_raw;

#define CUDART_INF_FP16 __ushort_as_half(0x7C00)
#define CUDART_NAN_FP16 __ushort_as_half(0x7FFF)
#define CUDART_MIN_DENORM_FP16 __ushort_as_half(0x0001)
#define CUDART_MAX_NORMAL_FP16 __ushort_as_half(0x7BFF)
#define CUDART_NEG_ZERO_FP16 __ushort_as_half(0x8000)
#define CUDART_ZERO_FP16 __ushort_as_half(0x0000)
#define CUDART_ONE_FP16 __ushort_as_half(0x3C00)
