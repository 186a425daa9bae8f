// Construct: shuffles, votes, matches and reductions of a warp. Expect: runs.
#include <cstdio>

#define FULL 0xffffffffu

__inline__ __device__ int warp_sum(int x) {
  for (int offset = warpSize / 2; offset > 0; offset /= 2) x += __shfl_down_sync(FULL, x, offset);
  return x;
}

__global__ void exchange(int* out) {
  const int lane = threadIdx.x % warpSize;
  const int value = lane * lane;
  const int sum = warp_sum(value);
  int largest = value;
  for (int mask = 16; mask > 0; mask >>= 1)
    largest = max(largest, __shfl_xor_sync(FULL, largest, mask));
  const int from_left = __shfl_up_sync(FULL, value, 1, 8);  // groups of eight lanes
  const unsigned odd = __ballot_sync(FULL, lane & 1);
  const unsigned peers = __match_any_sync(FULL, lane / 4);
  if (lane == 0) {
    out[0] = sum;
    out[1] = largest;
    out[2] = __popc(odd);
    out[3] = __any_sync(1u, value > 0);
  }
  if (lane == 9) {
    out[4] = from_left;
    out[5] = __ffs(peers) - 1;
  }
  const int smallest = __reduce_min_sync(FULL, 100 - lane);
  const int all_small = __all_sync(FULL, value < 962);
  if (lane == 31) {
    out[6] = smallest;
    out[7] = all_small;
  }
}

int main() {
  const int expected[8] = {10416, 961, 16, 0, 64, 8, 69, 1};
  int* d_out;
  int out[8];
  cudaMalloc(&d_out, sizeof(out));
  exchange<<<1, 32>>>(d_out);
  cudaMemcpy(out, d_out, sizeof(out), cudaMemcpyDeviceToHost);
  cudaFree(d_out);
  for (int i = 0; i < 8; ++i) {
    if (out[i] != expected[i]) {
      std::printf("FAILED: out[%d] is %d, not %d\n", i, out[i], expected[i]);
      return 1;
    }
  }
  std::printf("PASSED\n");
  return 0;
}
