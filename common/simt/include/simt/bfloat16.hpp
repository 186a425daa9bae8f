// __nv_bfloat16 and __nv_bfloat162: the upper half of a float, one sign bit, 8 of exponent, 7 of
// mantissa.
#pragma once

#include "simt/half.hpp"

#define SIMT_SCALAR __nv_bfloat16
#define SIMT_PAIR __nv_bfloat162
#define SIMT_SCALAR_NAME bfloat16
#define SIMT_PAIR_NAME bfloat162
#define SIMT_FORMAT simt::Bfloat16
#define SIMT_OTHER_SCALAR __half
#include "simt/float16_type.hpp"

SIMT_PURE __half::__half(__nv_bfloat16 x) : __half(float(x)) {}
SIMT_PURE __nv_bfloat16::__nv_bfloat16(__half x) : __nv_bfloat16(float(x)) {}

using nv_bfloat16 = __nv_bfloat16;
using nv_bfloat162 = __nv_bfloat162;

#define CUDART_INF_BF16 __ushort_as_bfloat16(0x7F80)
#define CUDART_NAN_BF16 __ushort_as_bfloat16(0x7FFF)
#define CUDART_MIN_DENORM_BF16 __ushort_as_bfloat16(0x0001)
#define CUDART_MAX_NORMAL_BF16 __ushort_as_bfloat16(0x7F7F)
#define CUDART_NEG_ZERO_BF16 __ushort_as_bfloat16(0x8000)
#define CUDART_ZERO_BF16 __ushort_as_bfloat16(0x0000)
#define CUDART_ONE_BF16 __ushort_as_bfloat16(0x3F80)
