#include "CBenchShims.h"

#include <stdatomic.h>
#include <stdlib.h>

static double rounds_per_nanosecond = 1;
static volatile uint64_t sink;

static void rounds(uint64_t count) {
    uint64_t value = sink | 1;
    for (uint64_t i = 0; i < count; i++) value = value * 6364136223846793005u + 1442695040888963407u;
    sink = value;
}

void bench_calibrate(void) {
    double best = 0;
    for (int attempt = 0; attempt < 20; attempt++) {
        uint64_t start = bench_thread_cpu();
        rounds(200000);
        double rate = 200000.0 / (double)(bench_thread_cpu() - start);
        if (rate > best) best = rate;
    }
    rounds_per_nanosecond = best;
}

uint64_t bench_work(uint64_t nanoseconds) {
    // A piece is short against the shortest job and long against a look at the clock, which is a system call.
    const uint64_t piece = 20000;
    uint64_t start = bench_thread_cpu(), used = 0;
    while (used < nanoseconds) {
        uint64_t left = nanoseconds - used;
        if (left > piece) left = piece;
        rounds((uint64_t)((double)left * rounds_per_nanosecond) + 1);
        used = bench_thread_cpu() - start;
    }
    return used;
}

void bench_exchange_memory(int blocks) {
    enum { places = 256 };
    static void *_Atomic shared[places];
    static _Atomic uint32_t turn;
    for (int i = 0; i < blocks; i++) {
        uint32_t number = atomic_fetch_add_explicit(&turn, 1, memory_order_relaxed) * 2654435761u;
        char *block = malloc(2048 + (number >> 19));
        if (block != NULL) block[0] = 1;
        free(atomic_exchange(&shared[number >> 24], block));
    }
}
