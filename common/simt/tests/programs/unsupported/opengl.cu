// Construct: OpenGL interoperability. Expect: unsupported "cuda_gl_interop.h".
#include <cuda_gl_interop.h>  // unsupported

__global__ void wave(float4* vertices) { vertices[threadIdx.x].y = sinf(0.1f * threadIdx.x); }

int main() {
  cudaGraphicsResource* resource = nullptr;
  cudaGraphicsGLRegisterBuffer(&resource, 1, cudaGraphicsRegisterFlagsNone);
  float4* vertices;
  size_t bytes;
  cudaGraphicsMapResources(1, &resource, 0);
  cudaGraphicsResourceGetMappedPointer((void**)&vertices, &bytes, resource);
  wave<<<1, 32>>>(vertices);
  cudaGraphicsUnmapResources(1, &resource, 0);
  return cudaDeviceSynchronize();
}
