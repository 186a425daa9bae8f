// The CUDA runtime for the CPU device. Kernels include this by CUDA's own name.
#pragma once

#include "simt/platform.hpp"
//
#include "simt/vector_types.hpp"
//
#include "simt/api.hpp"
#include "simt/atomics.hpp"
#include "simt/intrinsics.hpp"
#include "simt/launch.hpp"
#include "simt/packed.hpp"
#include "simt/warp.hpp"
