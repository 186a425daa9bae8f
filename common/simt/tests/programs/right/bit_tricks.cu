// Construct: integer intrinsics, packed bytes, reinterpretation of bits. Expect: runs.
#include <cstdint>
#include <cstdio>

// Spreads 10 bits over 30: one coordinate of a Morton code.
__host__ __device__ inline uint32_t spread(uint32_t v) {
  v = (v * 0x00010001u) & 0xFF0000FFu;
  v = (v * 0x00000101u) & 0x0F00F00Fu;
  v = (v * 0x00000011u) & 0xC30C30C3u;
  return (v * 0x00000005u) & 0x49249249u;
}

__global__ void bits(uint32_t* codes, int* counts, uint64_t* wide) {
  const uint32_t t = threadIdx.x, key = t * 2654435761u;
  codes[t] = spread(t) * 4 + spread(t + 1) * 2 + spread(t + 2);
  counts[t] = __popc(key) + 100 * __clz(key | 1) + 10000 * (__ffs(key | 0x80000000u) - 1);
  wide[t] = (uint64_t)__umulhi(key, 1000003u) << 32 | __brev(t) | __byte_perm(t, key, 0x0010);
  if (t == 0) {
    wide[32] = __float_as_uint(1.0f) + __double2hiint(2.0);
    wide[33] = __funnelshift_l(0x80000001u, 1u, 4) + __vadd4(0x01020304u, 0xff010101u);
    wide[34] = __dp4a(0x01020304, 0x01010101, 5) + __sad(-3, 4, 10u) + __mul24(3, 5);
  }
}

int main() {
  const int n = 32;
  uint32_t *d_codes, codes[n];
  uint64_t *d_wide, wide[n + 3];
  int *d_counts, counts[n], wrong = 0;
  cudaMalloc(&d_codes, sizeof(codes));
  cudaMalloc(&d_counts, sizeof(counts));
  cudaMalloc(&d_wide, sizeof(wide));
  bits<<<1, n>>>(d_codes, d_counts, d_wide);
  cudaMemcpy(codes, d_codes, sizeof(codes), cudaMemcpyDeviceToHost);
  cudaMemcpy(counts, d_counts, sizeof(counts), cudaMemcpyDeviceToHost);
  cudaMemcpy(wide, d_wide, sizeof(wide), cudaMemcpyDeviceToHost);
  for (uint32_t t = 0; t < n; ++t) {
    const uint32_t key = t * 2654435761u;
    int ones = 0, leading = 0, lowest = 0;
    for (int bit = 0; bit < 32; ++bit) ones += key >> bit & 1;
    while (!((key | 1) >> (31 - leading) & 1)) ++leading;
    while (!((key | 0x80000000u) >> lowest & 1)) ++lowest;
    wrong += counts[t] != ones + 100 * leading + 10000 * lowest;
    wrong += codes[t] != spread(t) * 4 + spread(t + 1) * 2 + spread(t + 2);
    wrong += wide[t] >> 32 != (uint64_t)key * 1000003u >> 32;
  }
  wrong += wide[32] != 0x3f800000u + 0x40000000u;
  wrong += wide[33] != 0x00000018u + 0x00030405u;
  wrong += wide[34] != 15 + 17 + 15;
  std::printf("%s\n", wrong == 0 ? "PASSED" : "FAILED");
  return wrong;
}
