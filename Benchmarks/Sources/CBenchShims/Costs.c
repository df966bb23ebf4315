#define _GNU_SOURCE
#include "CBenchShims.h"
#include "Futex.h"

#include <pthread.h>
#include <sched.h>
#include <sys/eventfd.h>

#define ROUNDS 200000

double bench_cost_null_syscall(void) {
    uint64_t start = bench_now();
    for (int i = 0; i < ROUNDS; i++) syscall(SYS_getppid);
    return (double)(bench_now() - start) / ROUNDS;
}

double bench_cost_futex_wake(void) {
    _Atomic uint32_t word = 0;
    uint64_t start = bench_now();
    for (int i = 0; i < ROUNDS; i++) wake_sleeper(&word);
    return (double)(bench_now() - start) / ROUNDS;
}

double bench_cost_eventfd_write(void) {
    int descriptor = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (descriptor < 0) return -1;
    uint64_t one = 1, start = bench_now();
    long written = 0;
    for (int i = 0; i < ROUNDS; i++) written += write(descriptor, &one, sizeof one);
    double cost = (double)(bench_now() - start) / ROUNDS;
    close(descriptor);
    return written == (long)sizeof one * ROUNDS ? cost : -1;
}

struct court {
    _Atomic uint32_t ball;
    uint32_t rounds;
    int processors[2];
};

static void stand_on(int processor) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(processor, &set);
    sched_setaffinity(0, sizeof set, &set);
}

static void *return_balls(void *argument) {
    struct court *court = argument;
    stand_on(court->processors[1]);
    for (uint32_t i = 0; i < court->rounds; i++) {
        sleep_while(&court->ball, 0);
        atomic_store(&court->ball, 0);
        wake_sleeper(&court->ball);
    }
    return NULL;
}

double bench_cost_futex_ping_pong(int shared) {
    cpu_set_t allowed;
    struct court court = {.rounds = 5000};
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return -1;
    int found = 0;
    for (int i = 0; i < CPU_SETSIZE && found < 2; i++) {
        if (CPU_ISSET(i, &allowed)) court.processors[found++] = i;
    }
    if (found == 0 || (found == 1 && !shared)) return -1;
    if (shared) court.processors[1] = court.processors[0];
    pthread_t other;
    if (pthread_create(&other, NULL, return_balls, &court) != 0) return -1;
    stand_on(court.processors[0]);
    uint64_t start = bench_now();
    for (uint32_t i = 0; i < court.rounds; i++) {
        atomic_store(&court.ball, 1);
        wake_sleeper(&court.ball);
        sleep_while(&court.ball, 1);
    }
    double cost = (double)(bench_now() - start) / court.rounds;
    pthread_join(other, NULL);
    sched_setaffinity(0, sizeof allowed, &allowed);
    return cost;
}
