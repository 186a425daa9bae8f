// CUDA's mathematical constants, with CUDA's names and values.
#pragma once

#include "cuda_runtime.h"

// clang-format off
// float
#define CUDART_INF_F            __int_as_float(0x7f800000)
#define CUDART_NAN_F            __int_as_float(0x7fffffff)
#define CUDART_MIN_DENORM_F     0x1p-149F
#define CUDART_MAX_NORMAL_F     0x1.fffffep127F
#define CUDART_NORM_HUGE_F      0x1.fffffep127F
#define CUDART_NEG_ZERO_F       (-0.0F)
#define CUDART_ZERO_F           0.0F
#define CUDART_ONE_F            1.0F
#define CUDART_SQRT_HALF_F      0.707106781F
#define CUDART_SQRT_TWO_F       1.414213562F
#define CUDART_THIRD_F          0.333333333F
#define CUDART_PI_F             3.141592654F
#define CUDART_PIO2_F           1.570796327F
#define CUDART_PIO4_F           0.785398163F
#define CUDART_3PIO4_F          2.356194490F
#define CUDART_2_OVER_PI_F      0.636619772F
#define CUDART_SQRT_2_OVER_PI_F 0.797884561F
#define CUDART_L2E_F            1.442695041F
#define CUDART_L2T_F            3.321928095F
#define CUDART_LG2_F            0.301029996F
#define CUDART_LGE_F            0.434294482F
#define CUDART_LN2_F            0.693147181F
#define CUDART_LNT_F            2.302585093F
#define CUDART_LNPI_F           1.144729886F
#define CUDART_TWO_TO_M126_F    0x1p-126F
#define CUDART_TWO_TO_126_F     0x1p126F
#define CUDART_TWO_TO_23_F      0x1p23F
#define CUDART_TWO_TO_24_F      0x1p24F
#define CUDART_TWO_TO_31_F      0x1p31F
#define CUDART_TWO_TO_32_F      0x1p32F
// double
#define CUDART_INF              __longlong_as_double(0x7ff0000000000000)
#define CUDART_NAN              __longlong_as_double(static_cast<long long>(0xfff8000000000000))
#define CUDART_MIN_DENORM       0x1p-1074
#define CUDART_NEG_ZERO         (-0.0)
#define CUDART_ZERO             0.0
#define CUDART_ONE              1.0
#define CUDART_SQRT_TWO         1.4142135623730951
#define CUDART_SQRT_HALF        0.70710678118654757
#define CUDART_THIRD            0.33333333333333331
#define CUDART_TWOTHIRD         0.66666666666666663
#define CUDART_PI               3.1415926535897931
#define CUDART_PIO2             1.5707963267948966
#define CUDART_PIO4             0.78539816339744828
#define CUDART_3PIO4            2.3561944901923448
#define CUDART_2_OVER_PI        0.63661977236758138
#define CUDART_SQRT_2PI         2.5066282746310007
#define CUDART_SQRT_PIO2        1.2533141373155003
#define CUDART_SQRT_2OPI        0.79788456080286541
#define CUDART_L2E              1.4426950408889634
#define CUDART_L2T              3.3219280948873622
#define CUDART_LG2              0.30102999566398120
#define CUDART_LGE              0.43429448190325182
#define CUDART_LN2              0.69314718055994529
#define CUDART_LNT              2.3025850929940459
#define CUDART_LNPI             1.1447298858494002
#define CUDART_TWO_TO_23        0x1p23
#define CUDART_TWO_TO_52        0x1p52
#define CUDART_TWO_TO_53        0x1p53
#define CUDART_TWO_TO_54        0x1p54
#define CUDART_TWO_TO_M54       0x1p-54
#define CUDART_TWO_TO_M1022     0x1p-1022
// clang-format on
