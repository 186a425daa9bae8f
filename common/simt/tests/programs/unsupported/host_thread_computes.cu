// Construct: a second thread of the host that computes while a kernel runs. Expect: unsupported "second thread of the host that computes".
#include <stdio.h>

#include <thread>

__global__ void count(int* x) {
  for (int i = 0; i < 1000; ++i) atomicAdd(x, 1);
}

void work(const volatile bool* stop, volatile long long* rounds) {
  while (!*stop) *rounds = *rounds + 1;  // unsupported
}

int main() {
  volatile bool stop = false;
  volatile long long rounds = 0;
  int *d_x, x;
  cudaMalloc(&d_x, sizeof(int));
  cudaMemset(d_x, 0, sizeof(int));
  std::thread thread(work, &stop, &rounds);
  while (rounds == 0) {
  }
  count<<<1000, 256>>>(d_x);
  cudaDeviceSynchronize();
  stop = true;
  thread.join();
  cudaMemcpy(&x, d_x, sizeof(int), cudaMemcpyDeviceToHost);
  printf("%d %lld\n", x, rounds);
  cudaFree(d_x);
  return 0;
}
