// The CUDA runtime for the CPU device. simtcc.py includes it in every .cu file, as nvcc does.
#pragma once

#define __CUDA_RUNTIME_H__

#include <limits.h>
#include <math.h>
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
#include "simt/intrinsics.hpp"
#include "simt/launch.hpp"
#include "simt/launch_calls.hpp"
#include "simt/math.hpp"
#include "simt/packed.hpp"
#include "simt/ptx.hpp"
#include "simt/warp.hpp"
