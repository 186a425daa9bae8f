// SIMT_EARLY: for an object at namespace scope that is there before the program's own static objects, and after
// them. Their constructors and destructors may call the API, and even launch kernels.
#pragma once

#define SIMT_EARLY __attribute__((init_priority(101)))
