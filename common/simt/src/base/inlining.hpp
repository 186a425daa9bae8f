#pragma once

// For the few functions that every access goes through, and for what is rare in one.
#define SIMT_HOT inline __attribute__((always_inline))
#define SIMT_RARE __attribute__((noinline, cold))
