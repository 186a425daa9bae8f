// Construct: a switch over error codes, as headers of old samples have one, with cudaErrorApiFailureBase. Expect: runs.
#include <cstdio>
#include <cstring>

static const char* name_of(cudaError_t error) {
  switch (error) {
    case cudaSuccess:
      return "cudaSuccess";
    case cudaErrorInvalidValue:
      return "cudaErrorInvalidValue";
    case cudaErrorApiFailureBase:
      return "cudaErrorApiFailureBase";
    default:
      return "another";
  }
}

int main() {
  bool same = true;
  for (const cudaError_t error : {cudaSuccess, cudaErrorInvalidValue, cudaErrorApiFailureBase}) {
    std::printf("%d %s: %s\n", error, cudaGetErrorName(error), cudaGetErrorString(error));
    same = same && std::strcmp(name_of(error), cudaGetErrorName(error)) == 0;
  }
  return same ? 0 : 1;
}
