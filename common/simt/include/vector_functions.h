// CUDA's name for make_float4() and its kin on the CPU device.
#pragma once

#include "simt/vector_types.hpp"
