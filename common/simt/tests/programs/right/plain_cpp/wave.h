#ifndef WAVE_H
#define WAVE_H

#ifdef __cplusplus
extern "C" {
#endif

int launch_wave(float* d_x, int n);

#ifdef __cplusplus
}
#endif
#endif
