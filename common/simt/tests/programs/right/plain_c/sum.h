#ifndef SUM_H
#define SUM_H

#ifdef __cplusplus
extern "C" {
#endif

int sum_of(const int* x, int n);

#ifdef __cplusplus
}
#endif
#endif
