// What a program of the reader's own (./course run) has without an #include, as with nvcc. It is read once,
// as a precompiled header: see common/build/simtcc.py. Nothing of the course is here.
#if defined(__clang__)
// Their functions are not asked for the alignment of objects, which takes time: what they make of addresses is tested.
#pragma clang attribute push(__attribute__((no_sanitize("alignment"))), apply_to = function)
#endif
#include <cuda_runtime.h>
#if defined(__clang__)
#pragma clang attribute pop
#endif
