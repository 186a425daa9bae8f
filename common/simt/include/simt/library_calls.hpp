// Functions of the C library that read through pointers, under names of src/device/library_calls.cpp, which sees what they
// read. In kernels' files only, and before the library's own header: a function has the name of its first declaration.
#pragma once

#if defined(__CUDACC__) && !defined(_STRING_H)
extern "C" int memcmp(const void* a, const void* b, __SIZE_TYPE__ n) noexcept
    __asm__("simt_memcmp");
#endif
