// Construct: atomicAdd on shared and on global memory. Expect: runs.
#include <cstdio>
#include <cstring>

constexpr int kBins = 26;

__global__ void count_letters(const char* text, int length, unsigned int* bins) {
  __shared__ unsigned int s_bins[kBins];
  for (int bin = threadIdx.x; bin < kBins; bin += blockDim.x) s_bins[bin] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < length; i += gridDim.x * blockDim.x) {
    const char letter = text[i];
    if (letter >= 'a' && letter <= 'z') atomicAdd(&s_bins[letter - 'a'], 1u);
  }
  __syncthreads();
  for (int bin = threadIdx.x; bin < kBins; bin += blockDim.x) atomicAdd(&bins[bin], s_bins[bin]);
}

int main() {
  const char text[] =
      "a kernel counts letters: each block has bins of its own in shared memory, and adds them to "
      "the bins of the grid when all of its threads are done";
  const int length = std::strlen(text);
  char* d_text;
  unsigned int* d_bins;
  cudaMalloc(&d_text, length);
  cudaMalloc(&d_bins, kBins * sizeof(unsigned int));
  cudaMemcpy(d_text, text, length, cudaMemcpyHostToDevice);
  cudaMemset(d_bins, 0, kBins * sizeof(unsigned int));
  count_letters<<<2, 48>>>(d_text, length, d_bins);

  unsigned int bins[kBins], expected[kBins] = {};
  cudaMemcpy(bins, d_bins, sizeof(bins), cudaMemcpyDeviceToHost);
  for (const char letter : text) {
    if (letter >= 'a' && letter <= 'z') ++expected[letter - 'a'];
  }
  const bool right = std::memcmp(bins, expected, sizeof(bins)) == 0;
  std::printf("%s\n", right ? "PASSED" : "FAILED");
  cudaFree(d_text);
  cudaFree(d_bins);
  return right ? 0 : 1;
}
