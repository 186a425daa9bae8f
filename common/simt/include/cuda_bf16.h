// CUDA's name for __nv_bfloat16 and __nv_bfloat162 on the CPU device.
#pragma once

#include "simt/bfloat16.hpp"
