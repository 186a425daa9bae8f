// The CUDA runtime for the CPU device. simtcc.py includes it in every .cu file, as nvcc does.
#pragma once

#define __CUDA_RUNTIME_H__

#include "simt/library_calls.hpp"
//
#include <limits.h>

#include <cmath>
// nvcc compiles as C++17, in which the global lerp() is the program's own: NVIDIA's helper_math.h
// has one. The headers of C++20 declare it.
#ifdef __GLIBCXX__
#define lerp __lerp
#include <math.h>
#undef lerp
#else
#include <math.h>
#endif
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <new>
#include <utility>

#include "cuda_runtime_api.h"
#include "simt/platform.hpp"
//
#include "simt/vector_types.hpp"
//
#include "simt/api.hpp"
#include "simt/atomics.hpp"
#include "simt/device_heap.hpp"
#include "simt/intrinsics.hpp"
#include "simt/launch.hpp"
#include "simt/launch_calls.hpp"
#include "simt/math.hpp"
#include "simt/packed.hpp"
#include "simt/ptx.hpp"
#include "simt/textures.hpp"
#include "simt/warp.hpp"
