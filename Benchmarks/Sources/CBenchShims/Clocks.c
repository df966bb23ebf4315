#define _GNU_SOURCE
#include "CBenchShims.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static uint64_t read_clock(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

uint64_t bench_now(void) { return read_clock(CLOCK_MONOTONIC); }

uint64_t bench_thread_cpu(void) { return read_clock(CLOCK_THREAD_CPUTIME_ID); }

uint64_t bench_process_cpu(void) { return read_clock(CLOCK_PROCESS_CPUTIME_ID); }

uint64_t bench_context_switches(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (uint64_t)usage.ru_nvcsw + (uint64_t)usage.ru_nivcsw;
}

int bench_pipe(int ends[2]) { return pipe2(ends, O_CLOEXEC); }

int bench_thread_id(void) { return gettid(); }

void bench_sleep_until(uint64_t deadline) {
    struct timespec time = {
        .tv_sec = (time_t)(deadline / 1000000000u),
        .tv_nsec = (long)(deadline % 1000000000u),
    };
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL) == EINTR) {
    }
}
