#define _GNU_SOURCE
#include "CBenchShims.h"
#include "Futex.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>

// MARK: one wake-up

struct sleeper {
    _Atomic uint32_t turn;
    _Atomic uint32_t asleep;
    _Atomic uint64_t woke_at;
    uint32_t count;
};

static void *sleeper_run(void *argument) {
    struct sleeper *sleeper = argument;
    for (uint32_t i = 0; i < sleeper->count; i++) {
        atomic_store(&sleeper->asleep, i + 1);
        sleep_while(&sleeper->turn, i);
        atomic_store(&sleeper->woke_at, bench_now());
    }
    return NULL;
}

int bench_floor_wake(uint64_t gap, uint64_t *latencies, uint32_t count) {
    struct sleeper sleeper = {.count = count};
    pthread_t thread;
    int error = pthread_create(&thread, NULL, sleeper_run, &sleeper);
    if (error != 0) return -error;
    for (uint32_t i = 0; i < count; i++) {
        while (atomic_load(&sleeper.asleep) != i + 1) bench_spin_hint();
        uint64_t end = bench_now() + gap;
        while (bench_now() < end) bench_spin_hint();
        uint64_t start = bench_now();
        atomic_store(&sleeper.turn, i + 1);
        wake_sleeper(&sleeper.turn);
        while (atomic_load(&sleeper.woke_at) < start) bench_spin_hint();
        latencies[i] = atomic_load(&sleeper.woke_at) - start;
    }
    pthread_join(thread, NULL);
    return 0;
}

// MARK: timer, loop, worker

struct hop {
    _Atomic uint32_t turn;
    // Holds each deadline until the worker puts the latency in its place.
    uint64_t *latencies;
    uint32_t count;
};

static void *hop_worker(void *argument) {
    struct hop *hop = argument;
    for (uint32_t i = 0; i < hop->count; i++) {
        sleep_while(&hop->turn, i);
        hop->latencies[i] = bench_now() - hop->latencies[i];
    }
    return NULL;
}

static atomic_bool stop_spinning;

static void *spin(void *argument) {
    (void)argument;
    struct sched_param none = {0};
    sched_setscheduler(0, SCHED_IDLE, &none);
    while (!atomic_load_explicit(&stop_spinning, memory_order_relaxed)) bench_work(500000);
    return NULL;
}

static void hop_loop(struct hop *hop, int timer, int poll, uint64_t interval) {
    uint64_t deadline = bench_now() + 10 * interval;
    for (uint32_t i = 0; i < hop->count; i++, deadline += interval) {
        struct itimerspec when = {.it_value = {.tv_sec = (time_t)(deadline / 1000000000u),
                                               .tv_nsec = (long)(deadline % 1000000000u)}};
        timerfd_settime(timer, TFD_TIMER_ABSTIME, &when, NULL);
        struct epoll_event event;
        while (epoll_wait(poll, &event, 1, -1) != 1) {
        }
        uint64_t expirations;
        if (read(timer, &expirations, sizeof expirations) < 0) expirations = 0;
        hop->latencies[i] = deadline;
        atomic_store(&hop->turn, i + 1);
        wake_sleeper(&hop->turn);
    }
}

int bench_floor_two_hops(uint64_t interval, int spinners, uint64_t *latencies, uint32_t count) {
    struct hop hop = {.latencies = latencies, .count = count};
    int timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    int poll = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event interest = {.events = EPOLLIN};
    if (timer < 0 || poll < 0 || epoll_ctl(poll, EPOLL_CTL_ADD, timer, &interest) != 0) return -errno;
    pthread_t worker, *idle = calloc((size_t)spinners + 1, sizeof *idle);
    int error = idle == NULL ? ENOMEM : pthread_create(&worker, NULL, hop_worker, &hop);
    if (error != 0) return -error;
    atomic_store(&stop_spinning, 0);
    int started = 0;
    while (started < spinners && pthread_create(&idle[started], NULL, spin, NULL) == 0) started++;
    hop_loop(&hop, timer, poll, interval);
    pthread_join(worker, NULL);
    atomic_store(&stop_spinning, 1);
    for (int i = 0; i < started; i++) pthread_join(idle[i], NULL);
    free(idle);
    close(timer);
    close(poll);
    return started == spinners ? 0 : -EAGAIN;
}
