#ifndef CALLOCATION_COUNTER_H
#define CALLOCATION_COUNTER_H
// Counts the process's calls of malloc and its kin. A program that links this has malloc, calloc, realloc,
// posix_memalign and aligned_alloc of its own, which call glibc's; while counting is off that costs a predicted branch.
// `bench_allocation_count_stop` returns the calls since `bench_allocation_count_start`. Any thread.
#include <stdint.h>

void bench_allocation_count_start(void);
uint64_t bench_allocation_count_stop(void);

#endif
