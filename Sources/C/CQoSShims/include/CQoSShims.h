#ifndef CQOS_SHIMS_H
#define CQOS_SHIMS_H
// C calls that Swift's importer does not bring in (variadic functions, macros, missing glibc wrappers).
// Everything here is `static inline` and prefixed `cqos_`. Every call that can fail returns 0 (or the value asked
// for, never negative) or the negated errno, so that no caller has to read the thread-local `errno` in time.
// No feature macro is defined here: Swift's own import of the C library sees the same headers, and both must agree.

#include <errno.h>
#include <linux/futex.h>
#include <malloc.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <fcntl.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

// The kernel's id of the calling thread (gettid(2)).
static inline pid_t cqos_gettid(void) { return (pid_t)syscall(SYS_gettid); }

// A descriptor of a process, which is readable once the process has ended (pidfd_open(2), Linux 5.3).
static inline int cqos_open_process(pid_t process) {
    long descriptor = syscall(SYS_pidfd_open, process, 0u);
    return descriptor < 0 ? -errno : (int)descriptor;
}

// The size of a block of memory that malloc(3) gave, in bytes (malloc_usable_size(3)).
static inline size_t cqos_allocated_size(const void *block) { return malloc_usable_size((void *)block); }

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

// Makes an event descriptor: a write of 8 bytes makes it readable (eventfd(2)).
static inline int cqos_make_event(void) {
    int descriptor = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return descriptor < 0 ? -errno : descriptor;
}

// The name of the calling thread: at most 15 bytes and a NUL (prctl(2), PR_SET_NAME).
static inline int cqos_set_own_name(const char *name) {
    return prctl(PR_SET_NAME, (unsigned long)name, 0, 0, 0) < 0 ? -errno : 0;
}

// The attributes of sched_setattr(2), laid out as the kernel's `struct sched_attr` of 56 bytes. Under a name of its
// own: newer C libraries declare the kernel's.
struct cqos_sched_attr {
    uint32_t size;
    uint32_t policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime;  // the slice of a fair policy, in nanoseconds; 0 is the kernel's own
    uint64_t deadline;
    uint64_t period;
    uint32_t util_min;
    uint32_t util_max;
};

// Sets policy, nice, real-time priority and slice of a thread, without KEEP flags: with them the slice is ignored.
static inline int cqos_sched_set(pid_t thread, uint32_t policy, int32_t nice, uint32_t priority, uint64_t slice) {
    struct cqos_sched_attr attributes = {
        .size = sizeof attributes, .policy = policy, .nice = nice, .priority = priority, .runtime = slice,
    };
    return syscall(SYS_sched_setattr, thread, &attributes, 0) < 0 ? -errno : 0;
}

// Reads the attributes of a thread; fields that the kernel does not know stay zero.
static inline int cqos_sched_get(pid_t thread, struct cqos_sched_attr *attributes) {
    memset(attributes, 0, sizeof *attributes);
    return syscall(SYS_sched_getattr, thread, attributes, sizeof *attributes, 0) < 0 ? -errno : 0;
}

// The nice value of one thread; the manual speaks of processes, the kernel means threads.
static inline int cqos_set_nice(pid_t thread, int nice) {
    return syscall(SYS_setpriority, 0 /* PRIO_PROCESS */, thread, nice) < 0 ? -errno : 0;
}

// Returns 20 - nice, which is 1...40: the system call's own form, that leaves negative numbers to the errors.
static inline int cqos_get_nice(pid_t thread) {
    long result = syscall(SYS_getpriority, 0 /* PRIO_PROCESS */, thread);
    return result < 0 ? -errno : (int)result;
}

// The I/O priority of one thread, class << 13 | level (ioprio_set(2)).
static inline int cqos_set_ioprio(pid_t thread, int value) {
    return syscall(SYS_ioprio_set, 1 /* IOPRIO_WHO_PROCESS */, thread, value) < 0 ? -errno : 0;
}

static inline int cqos_get_ioprio(pid_t thread) {
    long result = syscall(SYS_ioprio_get, 1 /* IOPRIO_WHO_PROCESS */, thread);
    return result < 0 ? -errno : (int)result;
}

// The timer slack of the calling thread in nanoseconds (prctl(2)).
static inline int cqos_set_own_slack(uint64_t nanoseconds) {
    return prctl(PR_SET_TIMERSLACK, (unsigned long)nanoseconds, 0, 0, 0) < 0 ? -errno : 0;
}

// By the bare system call: the C library's `prctl` would cut the value to an int.
static inline int64_t cqos_get_own_slack(void) {
    long result = syscall(SYS_prctl, PR_GET_TIMERSLACK, 0, 0, 0, 0);
    return result < 0 ? -errno : result;
}

// The processors of a thread, as a mask of any size; by the bare call, which tells how many bytes the kernel has.
static inline int cqos_set_affinity(pid_t thread, const uint64_t *mask, size_t words) {
    return syscall(SYS_sched_setaffinity, thread, words * sizeof *mask, mask) < 0 ? -errno : 0;
}

// Returns the number of bytes written, or -EINVAL if the mask is too short for this kernel.
static inline int cqos_get_affinity(pid_t thread, uint64_t *mask, size_t words) {
    long result = syscall(SYS_sched_getaffinity, thread, words * sizeof *mask, mask);
    return result < 0 ? -errno : (int)result;
}

// The flags of preadv2(2) and pwritev2(2): fail with EAGAIN instead of waiting for the disk; keep nothing in the page
// cache that was not there before (Linux 6.14).
enum { CQOS_RWF_NOWAIT = 0x8, CQOS_RWF_DONTCACHE = 0x80 };

// Reads or writes at an offset, with flags; by the bare call, because older C libraries lack a wrapper. Returns the
// number of bytes.
static inline ssize_t cqos_read_at(int descriptor, void *bytes, size_t count, int64_t offset, int flags) {
    struct iovec part = {bytes, count};
    long result = syscall(SYS_preadv2, descriptor, &part, 1UL, (unsigned long)offset, 0UL, flags);
    return result < 0 ? -errno : result;
}

static inline ssize_t cqos_write_at(int descriptor, const void *bytes, size_t count, int64_t offset, int flags) {
    struct iovec part = {(void *)bytes, count};
    long result = syscall(SYS_pwritev2, descriptor, &part, 1UL, (unsigned long)offset, 0UL, flags);
    return result < 0 ? -errno : result;
}

// Starts the write-back of a range; with `waits` not zero, waits for its end, too (sync_file_range(2)).
static inline int cqos_write_back(int descriptor, int64_t offset, int64_t count, int waits) {
    unsigned flags = waits ? 7 /* WAIT_BEFORE | WRITE | WAIT_AFTER */ : 2 /* WRITE */;
    return syscall(SYS_sync_file_range, descriptor, offset, count, flags) < 0 ? -errno : 0;
}

// Copies a range from one file to another inside of the kernel (copy_file_range(2)). Returns the number of bytes.
static inline ssize_t cqos_copy_range(int from, int64_t from_offset, int to, int64_t to_offset, size_t count) {
    int64_t from_place = from_offset, to_place = to_offset;
    long result = syscall(SYS_copy_file_range, from, &from_place, to, &to_place, count, 0);
    return result < 0 ? -errno : result;
}

// Writes all of the file system of an open file to the disk (syncfs(2)).
static inline int cqos_synchronize_file_system(int descriptor) {
    return syscall(SYS_syncfs, descriptor) < 0 ? -errno : 0;
}

// Renames unless the new name is taken (renameat2(2), RENAME_NOREPLACE).
static inline int cqos_rename_new(const char *from, const char *to) {
    return syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 1) < 0 ? -errno : 0;
}

// The number of futex(2), as /proc shows it.
static inline long cqos_futex_number(void) { return SYS_futex; }

// The processor on which the calling thread runs (getcpu(2)).
static inline int cqos_current_processor(void) {
    unsigned processor = 0;
    return syscall(SYS_getcpu, &processor, NULL, NULL) < 0 ? -errno : (int)processor;
}

// ThreadSanitizer's own calls, there only in a build with it (sanitizer/tsan_interface.h). They tell it of an order that code which it
// does not see has made: what a thread did before its release of an address comes before what another does after its acquire.
extern void __tsan_acquire(void *address) __attribute__((weak));
extern void __tsan_release(void *address) __attribute__((weak));

static inline void cqos_tsan_acquire(void *address) {
    if (__tsan_acquire) __tsan_acquire(address);
}

static inline void cqos_tsan_release(void *address) {
    if (__tsan_release) __tsan_release(address);
}

// Reads memory of the process at an address that may be none (process_vm_readv(2)): the number of bytes, or -1.
static inline ssize_t cqos_read_memory(uintptr_t address, void *buffer, size_t length) {
    struct iovec own = {buffer, length};
    struct iovec other = {(void *)address, length};
    return syscall(SYS_process_vm_readv, getpid(), &own, 1UL, &other, 1UL, 0UL);
}

#include "CQoSMapping.h"
#include "CQoSSignals.h"
#include "CQoSThreadLocal.h"

#endif
