// CUDA's name for the primitives of asynchronous copies.
#pragma once

#include "cuda_pipeline_primitives.h"
