// Construct: tensor cores through <mma.h>. Expect: unsupported "mma.h".
#include <cuda_fp16.h>
#include <mma.h>  // unsupported

using namespace nvcuda;

__global__ void multiply(const half* a, const half* b, float* c) {
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a_tile;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> b_tile;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
  wmma::fill_fragment(sum, 0.0f);
  wmma::load_matrix_sync(a_tile, a, 16);
  wmma::load_matrix_sync(b_tile, b, 16);
  wmma::mma_sync(sum, a_tile, b_tile, sum);
  wmma::store_matrix_sync(c, sum, 16, wmma::mem_row_major);
}

int main() {
  half *a, *b;
  float* c;
  cudaMalloc(&a, 256 * sizeof(half));
  cudaMalloc(&b, 256 * sizeof(half));
  cudaMalloc(&c, 256 * sizeof(float));
  multiply<<<1, 32>>>(a, b, c);
  return cudaDeviceSynchronize();
}
