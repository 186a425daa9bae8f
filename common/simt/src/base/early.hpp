#pragma once

// An object at namespace scope that is there before the program's own static objects, and after them:
// their constructors and destructors may call the API, and even launch kernels.
#define SIMT_EARLY __attribute__((init_priority(101)))
