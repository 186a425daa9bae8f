// OpenMP with one thread, as the OpenMP standard's appendix of stubs has it: the compiler ignores `#pragma omp`, a parallel
// region is run by the thread that comes to it, and what sets a number of threads has no effect. More threads of the host may
// not call the CPU device. It is C, as well as C++.
#pragma once

#include <time.h>

typedef enum omp_sched_t {
  omp_sched_static = 1,
  omp_sched_dynamic = 2,
  omp_sched_guided = 3,
  omp_sched_auto = 4,
} omp_sched_t;
typedef enum omp_proc_bind_t {
  omp_proc_bind_false = 0,
  omp_proc_bind_true = 1,
  omp_proc_bind_master = 2,
  omp_proc_bind_primary = 2,
  omp_proc_bind_close = 3,
  omp_proc_bind_spread = 4,
} omp_proc_bind_t;

static inline void omp_set_num_threads(int n) {}
static inline int omp_get_num_threads(void) { return 1; }
static inline int omp_get_max_threads(void) { return 1; }
static inline int omp_get_thread_num(void) { return 0; }
static inline int omp_get_num_procs(void) { return 1; }
static inline int omp_get_thread_limit(void) { return 1; }
static inline int omp_in_parallel(void) { return 0; }
static inline int omp_in_final(void) { return 1; }

static inline void omp_set_dynamic(int is_dynamic) {}
static inline int omp_get_dynamic(void) { return 0; }
static inline void omp_set_nested(int is_nested) {}
static inline int omp_get_nested(void) { return 0; }
static inline int omp_get_cancellation(void) { return 0; }
static inline void omp_set_schedule(omp_sched_t kind, int chunk) {}
static inline void omp_get_schedule(omp_sched_t* kind, int* chunk) {
  *kind = omp_sched_static;
  *chunk = 0;
}
static inline omp_proc_bind_t omp_get_proc_bind(void) { return omp_proc_bind_false; }
static inline void omp_set_max_active_levels(int n) {}
static inline int omp_get_max_active_levels(void) { return 0; }
static inline int omp_get_level(void) { return 0; }
static inline int omp_get_active_level(void) { return 0; }
static inline int omp_get_ancestor_thread_num(int level) { return level == 0 ? 0 : -1; }
static inline int omp_get_team_size(int level) { return level == 0 ? 1 : -1; }

static inline void omp_set_default_device(int device) {}
static inline int omp_get_default_device(void) { return 0; }
static inline int omp_get_num_devices(void) { return 0; }
static inline int omp_get_num_teams(void) { return 1; }
static inline int omp_get_team_num(void) { return 0; }
static inline int omp_is_initial_device(void) { return 1; }

typedef struct omp_lock_t {
  int is_set;
} omp_lock_t;
static inline void omp_init_lock(omp_lock_t* lock) { lock->is_set = 0; }
static inline void omp_destroy_lock(omp_lock_t* lock) {}
static inline void omp_set_lock(omp_lock_t* lock) { lock->is_set = 1; }
static inline void omp_unset_lock(omp_lock_t* lock) { lock->is_set = 0; }
static inline int omp_test_lock(omp_lock_t* lock) {
  if (lock->is_set) return 0;
  lock->is_set = 1;
  return 1;
}

typedef struct omp_nest_lock_t {
  int depth;
} omp_nest_lock_t;
static inline void omp_init_nest_lock(omp_nest_lock_t* lock) { lock->depth = 0; }
static inline void omp_destroy_nest_lock(omp_nest_lock_t* lock) {}
static inline void omp_set_nest_lock(omp_nest_lock_t* lock) { ++lock->depth; }
static inline void omp_unset_nest_lock(omp_nest_lock_t* lock) { --lock->depth; }
static inline int omp_test_nest_lock(omp_nest_lock_t* lock) { return ++lock->depth; }

static inline double omp_get_wtime(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
static inline double omp_get_wtick(void) { return 1e-9; }
