// Construct: texture objects over linear and pitched memory: tex1Dfetch, tex2D, address modes, normalised values. Expect: runs.
#include <math.h>
#include <stdio.h>
#include <string.h>

constexpr int kWidth = 40, kHeight = 12, kCount = 100;

__global__ void gather(cudaTextureObject_t x, const int* index, float4* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = tex1Dfetch<float4>(x, index[i]);
}

// A blur of five points, whose neighbours outside are the address mode's business.
__global__ void blur(cudaTextureObject_t image, float* out, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  const float u = x + 0.5f, v = y + 0.5f;
  out[y * width + x] = tex2D<float>(image, u, v) + tex2D<float>(image, u - 1, v) +
                       tex2D<float>(image, u + 1, v) + tex2D<float>(image, u, v - 1) +
                       tex2D<float>(image, u, v + 1);
}

__global__ void sample(cudaTextureObject_t image, float shift, float* out, int width, int height) {
  const int x = threadIdx.x, y = blockIdx.x;
  float value;
  tex2D(&value, image, (x + 0.5f) / width + shift, (y + 0.5f) / height);
  out[y * width + x] = value;
}

cudaTextureObject_t pitched(float* memory, size_t pitch, cudaTextureAddressMode mode,
                            bool normalised) {
  cudaResourceDesc resource;
  memset(&resource, 0, sizeof(resource));
  resource.resType = cudaResourceTypePitch2D;
  resource.res.pitch2D.devPtr = memory;
  resource.res.pitch2D.desc = cudaCreateChannelDesc<float>();
  resource.res.pitch2D.width = kWidth;
  resource.res.pitch2D.height = kHeight;
  resource.res.pitch2D.pitchInBytes = pitch;
  cudaTextureDesc description = {};
  description.addressMode[0] = description.addressMode[1] = mode;
  description.filterMode = cudaFilterModePoint;
  description.readMode = cudaReadModeElementType;
  description.normalizedCoords = normalised;
  cudaTextureObject_t texture = 0;
  cudaCreateTextureObject(&texture, &resource, &description, nullptr);
  return texture;
}

int wrapped(int i, int n) { return (i % n + n) % n; }
int mirrored(int i, int n) {
  return wrapped(i, 2 * n) < n ? wrapped(i, 2 * n) : 2 * n - 1 - wrapped(i, 2 * n);
}

bool linear_is_right() {
  static float4 x[kCount], y[kCount];
  static int index[kCount];
  for (int i = 0; i < kCount; ++i) {
    x[i] = make_float4(i, 2 * i, 3 * i, -i);
    index[i] = i * 37 % kCount;
  }
  float4 *d_x, *d_y;
  int* d_index;
  cudaMalloc(&d_x, sizeof(x));
  cudaMalloc(&d_y, sizeof(y));
  cudaMalloc(&d_index, sizeof(index));
  cudaMemcpy(d_x, x, sizeof(x), cudaMemcpyHostToDevice);
  cudaMemcpy(d_index, index, sizeof(index), cudaMemcpyHostToDevice);
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear.devPtr = d_x;
  resource.res.linear.desc = cudaCreateChannelDesc(32, 32, 32, 32, cudaChannelFormatKindFloat);
  resource.res.linear.sizeInBytes = sizeof(x);
  cudaTextureDesc description = {};
  cudaTextureObject_t texture;
  if (cudaCreateTextureObject(&texture, &resource, &description, nullptr) != cudaSuccess)
    return false;
  gather<<<1, 128>>>(texture, d_index, d_y, kCount);
  cudaDestroyTextureObject(texture);
  cudaMemcpy(y, d_y, sizeof(y), cudaMemcpyDeviceToHost);
  for (int i = 0; i < kCount; ++i) {
    if (y[i].x != index[i] || y[i].w != -index[i]) return false;
  }
  return cudaFree(d_x) == cudaSuccess && cudaFree(d_y) == cudaSuccess &&
         cudaFree(d_index) == cudaSuccess;
}

__global__ void brightness(cudaTextureObject_t pixels, float* y) {
  const float4 p = tex1Dfetch<float4>(pixels, threadIdx.x);
  y[threadIdx.x] = p.x + p.y + p.z - p.w;
}

bool normalised_is_right() {
  uchar4 pixels[32];
  for (int i = 0; i < 32; ++i) pixels[i] = make_uchar4(i, 8 * i, 255, 255 - i);
  uchar4* d_pixels;
  float y[32], *d_y;
  cudaMalloc(&d_pixels, sizeof(pixels));
  cudaMalloc(&d_y, sizeof(y));
  cudaMemcpy(d_pixels, pixels, sizeof(pixels), cudaMemcpyHostToDevice);
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear.devPtr = d_pixels;
  resource.res.linear.desc = cudaCreateChannelDesc<uchar4>();
  resource.res.linear.sizeInBytes = sizeof(pixels);
  cudaTextureDesc description = {};
  description.readMode = cudaReadModeNormalizedFloat;
  cudaTextureObject_t texture;
  if (cudaCreateTextureObject(&texture, &resource, &description, nullptr) != cudaSuccess)
    return false;
  brightness<<<1, 32>>>(texture, d_y);
  cudaMemcpy(y, d_y, sizeof(y), cudaMemcpyDeviceToHost);
  for (int i = 0; i < 32; ++i) {
    if (fabs(y[i] - (i + 8 * i + 255 - (255 - i)) / 255.0) > 1e-5) return false;
  }
  cudaFree(d_pixels);
  cudaFree(d_y);
  return cudaDestroyTextureObject(texture) == cudaSuccess;
}

int main() {
  static float image[kHeight][kWidth], out[kHeight][kWidth];
  for (int y = 0; y < kHeight; ++y) {
    for (int x = 0; x < kWidth; ++x) image[y][x] = x + 100 * y;
  }
  float *d_image, *d_out;
  size_t pitch;
  cudaMallocPitch(&d_image, &pitch, sizeof(image[0]), kHeight);
  cudaMalloc(&d_out, sizeof(out));
  cudaMemcpy2D(d_image, pitch, image, sizeof(image[0]), sizeof(image[0]), kHeight,
               cudaMemcpyHostToDevice);
  const dim3 block(16, 8), grid((kWidth + 15) / 16, (kHeight + 7) / 8);
  int wrong = 0;
  for (const auto mode : {cudaAddressModeClamp, cudaAddressModeBorder}) {
    const cudaTextureObject_t texture = pitched(d_image, pitch, mode, false);
    blur<<<grid, block>>>(texture, d_out, kWidth, kHeight);
    cudaMemcpy(out, d_out, sizeof(out), cudaMemcpyDeviceToHost);
    cudaDestroyTextureObject(texture);
    const auto at = [&](int x, int y) {
      const int cx = x < 0         ? 0
                     : x >= kWidth ? kWidth - 1
                                   : x,
                cy = y < 0          ? 0
                     : y >= kHeight ? kHeight - 1
                                    : y;
      return mode == cudaAddressModeBorder && (cx != x || cy != y) ? 0 : image[cy][cx];
    };
    for (int y = 0; y < kHeight; ++y) {
      for (int x = 0; x < kWidth; ++x) {
        wrong += out[y][x] != at(x, y) + at(x - 1, y) + at(x + 1, y) + at(x, y - 1) + at(x, y + 1);
      }
    }
  }
  for (const auto mode : {cudaAddressModeWrap, cudaAddressModeMirror}) {
    for (const float shift : {0.0f, 0.25f, 1.5f, -2.75f}) {
      const cudaTextureObject_t texture = pitched(d_image, pitch, mode, true);
      sample<<<kHeight, kWidth>>>(texture, shift, d_out, kWidth, kHeight);
      cudaMemcpy(out, d_out, sizeof(out), cudaMemcpyDeviceToHost);
      cudaDestroyTextureObject(texture);
      for (int y = 0; y < kHeight; ++y) {
        for (int x = 0; x < kWidth; ++x) {
          const int moved = x + static_cast<int>(shift * kWidth);
          wrong += out[y][x] != image[y][mode == cudaAddressModeWrap ? wrapped(moved, kWidth)
                                                                     : mirrored(moved, kWidth)];
        }
      }
    }
  }
  cudaFree(d_image);
  cudaFree(d_out);
  if (wrong > 0 || !linear_is_right() || !normalised_is_right())
    return printf("FAILED: %d\n", wrong), 1;
  printf("PASSED\n");
  return 0;
}
