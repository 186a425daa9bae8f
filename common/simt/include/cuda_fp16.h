// CUDA's name for __half and __half2 on the CPU device.
#pragma once

#include "simt/half.hpp"
