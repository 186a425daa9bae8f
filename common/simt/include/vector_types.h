// CUDA's name for the vector types of the CPU device.
#pragma once

#include "simt/vector_types.hpp"
