// Construct: compilation at run time (NVRTC). Expect: unsupported "nvrtc.h".
#include <cuda_runtime.h>
#include <nvrtc.h>  // unsupported

int main() {
  nvrtcProgram program;
  nvrtcCreateProgram(&program, "__global__ void f() {}", "f.cu", 0, nullptr, nullptr);
  const nvrtcResult result = nvrtcCompileProgram(program, 0, nullptr);
  return result != NVRTC_SUCCESS;
}
