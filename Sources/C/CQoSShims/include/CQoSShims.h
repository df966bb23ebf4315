#ifndef CQOS_SHIMS_H
#define CQOS_SHIMS_H
// C calls that Swift's importer does not bring in (variadic functions, macros, missing glibc wrappers).
// Everything here is `static inline` and prefixed `cqos_`. Every call that can fail returns 0 (or the value asked
// for, never negative) or the negated errno, so that no caller has to read the thread-local `errno` in time.
// No feature macro is defined here: Swift's own import of the C library sees the same headers, and both must agree.

#include <errno.h>
#include <linux/futex.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

// The kernel's id of the calling thread (gettid(2)).
static inline pid_t cqos_gettid(void) { return (pid_t)syscall(SYS_gettid); }

// Sleeps while *word == expected, without a deadline (futex(2), FUTEX_WAIT_BITSET, process-private).
static inline int cqos_futex_wait(uint32_t *word, uint32_t expected) {
    long result = syscall(SYS_futex, word, FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG, expected, NULL, NULL,
                          FUTEX_BITSET_MATCH_ANY);
    return result < 0 ? -errno : 0;
}

// The same until an absolute point on CLOCK_MONOTONIC, in nanoseconds.
static inline int cqos_futex_wait_until(uint32_t *word, uint32_t expected, uint64_t nanoseconds) {
    struct timespec deadline = {
        .tv_sec = (time_t)(nanoseconds / 1000000000u),
        .tv_nsec = (long)(nanoseconds % 1000000000u),
    };
    long result = syscall(SYS_futex, word, FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG, expected, &deadline, NULL,
                          FUTEX_BITSET_MATCH_ANY);
    return result < 0 ? -errno : 0;
}

// Wakes at most `count` threads that sleep on the word; returns how many.
static inline int cqos_futex_wake(uint32_t *word, int count) {
    long result = syscall(SYS_futex, word, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, count, NULL, NULL, 0);
    return result < 0 ? -errno : (int)result;
}

// The name of the calling thread: at most 15 bytes and a NUL (prctl(2), PR_SET_NAME).
static inline int cqos_set_own_name(const char *name) {
    return prctl(PR_SET_NAME, (unsigned long)name, 0, 0, 0) < 0 ? -errno : 0;
}

#include "CQoSThreadLocal.h"

#endif
