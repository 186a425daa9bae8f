// What a program of the reader's own (./course run) has without an #include, as with nvcc. It is read once,
// as a precompiled header: see common/build/simtcc.py. Nothing of the course is here.
#include <cuda_runtime.h>
