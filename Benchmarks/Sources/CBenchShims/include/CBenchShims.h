#ifndef CBENCH_SHIMS_H
#define CBENCH_SHIMS_H
// What the benchmarks need of C: clocks, work measured in the thread's processor time, privileges, the costs of single
// system calls, and the floors. Times are nanoseconds, of CLOCK_MONOTONIC where nothing else is said.
#include <spawn.h>
#include <stdint.h>

uint64_t bench_now(void);
uint64_t bench_thread_cpu(void);
uint64_t bench_process_cpu(void);
// Voluntary and involuntary context switches of all of the process's threads, ended ones included (getrusage(2)).
uint64_t bench_context_switches(void);
// The kernel's id of the calling thread (gettid(2)).
int bench_thread_id(void);
// A pipe that programs started meanwhile do not inherit (pipe2(2)); the ends for reading and writing.
int bench_pipe(int ends[2]);
void bench_sleep_until(uint64_t deadline);
// A connection to a server on this machine: the descriptor, or the negated errno. An exchange sends 64 bytes and waits for as many; it returns 0
// or an errno.
int bench_connect(uint16_t port);
int bench_exchange(int connection);
// Starts the program again with a variable in its environment, unless it has it. Returns if that fails, or if it has.
void bench_restart_with(const char *name, const char *value, char **arguments);
// Opens a file for I/O that passes the page cache (open(2), O_DIRECT), to read or for both. Returns the descriptor or the
// negated errno.
int bench_open_direct(const char *path, int writes);
static inline void bench_spin_hint(void) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#else
    __asm__ volatile("yield");
#endif
}

// Work. `bench_calibrate` finds how many rounds take a microsecond of thread time; call it once, before `bench_work`.
// `bench_work` uses that much thread time: rounds in pieces, the clock read between them, so that a processor shared
// with a sibling or a hypervisor's guest changes the time it takes and not the amount. Returns what it used.
void bench_calibrate(void);
uint64_t bench_work(uint64_t nanoseconds);

// Takes and frees that many blocks of 2 to 10 KiB of the C library's memory: each is left in a place that all threads share, and
// what lay there is freed. Any thread.
void bench_exchange_memory(int blocks);

// Gives the calling thread a real-time policy that children do not inherit, or where that is refused a slice of
// 0.1 ms; for threads of the harness that stand for the outside world. Returns whether it got real time.
int bench_become_outside_world(void);

// Makes the process one that may do nothing (uid and gid 65534, no groups). Returns 0 or the negated errno.
int bench_drop_privileges(void);
// Whether the process may raise priorities (CAP_SYS_NICE in the effective set).
int bench_has_cap_sys_nice(void);

// Attributes by which posix_spawn(3) starts a program as a service manager does: it leads a session of its own, and does not
// inherit the signals that the calling thread blocks or ignores.
void bench_spawn_as_service(posix_spawnattr_t *attributes);

// Costs of single operations, nanoseconds each.
double bench_cost_null_syscall(void);
double bench_cost_futex_wake(void);
double bench_cost_eventfd_write(void);
// A round trip between two threads by futex: on one processor (shared != 0) or on two.
double bench_cost_futex_ping_pong(int shared);

// Floors: what the kernel charges for the same hop without any executor. Each fills `latencies` with `count` values.
// Wake: one thread wakes another by futex, `gap` after that one went to sleep, and stays on its processor.
int bench_floor_wake(uint64_t gap, uint64_t *latencies, uint32_t count);
// Two hops: a timer descriptor wakes a loop thread, which wakes a worker; from the deadline to the worker's first
// instruction, each `interval`, beside `spinners` threads of SCHED_IDLE.
int bench_floor_two_hops(uint64_t interval, int spinners, uint64_t *latencies, uint32_t count);

#endif
