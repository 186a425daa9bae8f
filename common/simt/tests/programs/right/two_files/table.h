#ifndef TABLE_H
#define TABLE_H

#define kTableSize 16

extern __device__ int table[kTableSize];
__device__ int scaled(int x);
void fill_table();

#endif
