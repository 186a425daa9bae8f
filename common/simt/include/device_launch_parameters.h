// CUDA's name for threadIdx and the other built-in variables of a kernel on the CPU device.
#pragma once
#include "simt/vector_types.hpp"
