// CUDA's name for __host__ and similar keywords on the CPU device.
#pragma once

#include "simt/platform.hpp"
