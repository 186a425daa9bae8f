// What most kernels and checks include. It is read once, as a precompiled header: see
// common/build/simtcc.py. nvcc never reads it, so a file that forgets an #include does not get past
// the gate.
#if defined(__clang__)
// Their functions are not asked for the alignment of objects, which takes time: what they make of addresses is tested.
#pragma clang attribute push(__attribute__((no_sanitize("alignment"))), apply_to = function)
#endif
#include <course/buffer.cuh>
#include <course/cases.cuh>
#include <course/check.cuh>
#include <course/collectives.cuh>
#include <course/data.cuh>
#include <course/device.cuh>
#include <course/error.cuh>
#include <course/exercise.cuh>
#include <course/grid.cuh>
#include <course/guarded.cuh>
#include <course/launch.cuh>
#include <course/pack.cuh>
#include <course/placed.cuh>
#include <course/ptx.cuh>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "common_templates.cuh"
#if defined(__clang__)
#pragma clang attribute pop
#endif

COURSE_COMMON_TEMPLATES(extern template)
