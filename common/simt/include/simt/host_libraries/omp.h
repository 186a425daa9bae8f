// OpenMP with one thread, as the OpenMP standard's appendix of stubs has it: the compiler ignores `#pragma omp`, a parallel
// region is run by the thread that comes to it, and what sets a number of threads has no effect. More threads of the host may
// not call the CPU device.
#pragma once

#include <chrono>

enum omp_sched_t {
  omp_sched_static = 1,
  omp_sched_dynamic = 2,
  omp_sched_guided = 3,
  omp_sched_auto = 4,
};
enum omp_proc_bind_t {
  omp_proc_bind_false = 0,
  omp_proc_bind_true = 1,
  omp_proc_bind_master = 2,
  omp_proc_bind_primary = 2,
  omp_proc_bind_close = 3,
  omp_proc_bind_spread = 4,
};

inline void omp_set_num_threads(int) {}
inline int omp_get_num_threads() { return 1; }
inline int omp_get_max_threads() { return 1; }
inline int omp_get_thread_num() { return 0; }
inline int omp_get_num_procs() { return 1; }
inline int omp_get_thread_limit() { return 1; }
inline int omp_in_parallel() { return 0; }
inline int omp_in_final() { return 1; }

inline void omp_set_dynamic(int) {}
inline int omp_get_dynamic() { return 0; }
inline void omp_set_nested(int) {}
inline int omp_get_nested() { return 0; }
inline int omp_get_cancellation() { return 0; }
inline void omp_set_schedule(omp_sched_t, int) {}
inline void omp_get_schedule(omp_sched_t* kind, int* chunk) {
  *kind = omp_sched_static;
  *chunk = 0;
}
inline omp_proc_bind_t omp_get_proc_bind() { return omp_proc_bind_false; }
inline void omp_set_max_active_levels(int) {}
inline int omp_get_max_active_levels() { return 0; }
inline int omp_get_level() { return 0; }
inline int omp_get_active_level() { return 0; }
inline int omp_get_ancestor_thread_num(int level) { return level == 0 ? 0 : -1; }
inline int omp_get_team_size(int level) { return level == 0 ? 1 : -1; }

inline void omp_set_default_device(int) {}
inline int omp_get_default_device() { return 0; }
inline int omp_get_num_devices() { return 0; }
inline int omp_get_num_teams() { return 1; }
inline int omp_get_team_num() { return 0; }
inline int omp_is_initial_device() { return 1; }

struct omp_lock_t {
  bool is_set;
};
inline void omp_init_lock(omp_lock_t* lock) { lock->is_set = false; }
inline void omp_destroy_lock(omp_lock_t*) {}
inline void omp_set_lock(omp_lock_t* lock) { lock->is_set = true; }
inline void omp_unset_lock(omp_lock_t* lock) { lock->is_set = false; }
inline int omp_test_lock(omp_lock_t* lock) {
  if (lock->is_set) return 0;
  lock->is_set = true;
  return 1;
}

struct omp_nest_lock_t {
  int depth;
};
inline void omp_init_nest_lock(omp_nest_lock_t* lock) { lock->depth = 0; }
inline void omp_destroy_nest_lock(omp_nest_lock_t*) {}
inline void omp_set_nest_lock(omp_nest_lock_t* lock) { ++lock->depth; }
inline void omp_unset_nest_lock(omp_nest_lock_t* lock) { --lock->depth; }
inline int omp_test_nest_lock(omp_nest_lock_t* lock) { return ++lock->depth; }

inline double omp_get_wtime() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}
inline double omp_get_wtick() {
  using Period = std::chrono::steady_clock::period;
  return static_cast<double>(Period::num) / Period::den;
}
