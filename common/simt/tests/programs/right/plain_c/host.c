#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

#include "sum.h"

#ifdef __cplusplus
#error "this is C"
#endif

/* C as it was before 1989, which gcc takes with a warning. */
static less_one(n) int n;
{ return n - 1; }

int main(void) {
  enum { n = 100 };
  int* new = malloc(n * sizeof *new); /* a name and a conversion that C++ has not */
#pragma omp parallel for
  for (int i = 0; i < n; ++i) new[i] = i + omp_get_thread_num();
  const int total = sum_of(new, n);
  printf("%d\n", total);
  free(new);
  return omp_get_wtime() > 0 && total == n * less_one(n) / 2 ? 0 : 1;
}
