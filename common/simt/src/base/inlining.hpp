// SIMT_HOT and SIMT_RARE: for the few functions that every access goes through, and for what is rare in one.
#pragma once

#define SIMT_HOT inline __attribute__((always_inline))
#define SIMT_RARE __attribute__((noinline, cold))
