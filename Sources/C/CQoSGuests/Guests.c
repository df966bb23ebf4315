#define _GNU_SOURCE
#include "Guests.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

// The creator and the spawners: threads of the runtime that are bound to nothing, lowered by nothing, and make threads and processes for those
// that are. The page of the protocol has a picture and the reasons. In short:
//
// - A request is pushed to a list without a lock, and the creator is woken. It makes the thread and writes the result into the request.
// - The creator only makes threads, so no request waits for anything that another one waits for. A process is made by a spawner: posix_spawn
//   sleeps until the child has begun its program, and the child may first open a pipe that waits for another thread of ours.
// - After fork(2) the child has neither. It starts anew.

__thread uint8_t guests_rule;
_Atomic int guests_raised;

/// The raised threads of others; 0 for a free place. Where all places are taken, every thread of others counts as raised.
static _Atomic pid_t raised_threads[64];
static _Atomic int raised_without_place;

static struct {
    /// Whether the switch leaves libraries' threads alone.
    int is_switched_off;
    /// The signal mask and the name with which the program began.
    sigset_t start_mask;
    char name[16];
    /// The signal mask of our own threads, as the last of them was given it.
    sigset_t own_mask;
    _Atomic int knows_own_mask;
} start;

static _Atomic uint64_t threads_made, processes_made, inherited;

// MARK: Sleeping

/// Returns 0 or the error number.
static int sleep_while(_Atomic uint32_t *word, uint32_t value, const struct timespec *limit) {
    return syscall(SYS_futex, word, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, value, limit, NULL, 0) < 0 ? errno : 0;
}

static void wake(_Atomic uint32_t *word, int count) {
    syscall(SYS_futex, word, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, count, NULL, NULL, 0);
}

// MARK: Raised threads of others

/// Puts `thread` in the first place that holds `expected`. Returns 0 if there is none.
static int replace_raised(pid_t expected, pid_t thread) {
    for (unsigned index = 0; index < sizeof raised_threads / sizeof *raised_threads; index++) {
        pid_t present = expected;
        if (atomic_compare_exchange_strong(&raised_threads[index], &present, thread)) return 1;
    }
    return 0;
}

void cqos_guests_note_raised(pid_t thread, int is_raised) {
    if (is_raised) {
        if (!replace_raised(0, thread)) atomic_fetch_add(&raised_without_place, 1);
        atomic_fetch_add(&guests_raised, 1);
    } else {
        atomic_fetch_sub(&guests_raised, 1);
        if (!replace_raised(thread, 0)) atomic_fetch_sub(&raised_without_place, 1);
    }
}

static int is_raised(pid_t thread) {
    if (atomic_load(&raised_without_place) != 0) return 1;
    for (unsigned index = 0; index < sizeof raised_threads / sizeof *raised_threads; index++) {
        if (atomic_load_explicit(&raised_threads[index], memory_order_relaxed) == thread) return 1;
    }
    return 0;
}

int guests_is_raised(void) {
    return atomic_load_explicit(&guests_raised, memory_order_relaxed) != 0 && is_raised((pid_t)syscall(SYS_gettid));
}

// MARK: The start of the program

__attribute__((constructor)) static void program_begins(void) {
    guests_find_real();
    const char *choice = getenv("QOS_LIBRARY_THREADS");
    start.is_switched_off = choice && strcmp(choice, "inherit") == 0;
    pthread_sigmask(SIG_BLOCK, NULL, &start.start_mask);
    prctl(PR_GET_NAME, (unsigned long)start.name, 0, 0, 0);
}

/// The C library's pthread_create; ours where there is no other.
static int create_now(pthread_t *thread, const pthread_attr_t *attributes, void *(*function)(void *), void *argument) {
    if (guests_real.create) return guests_real.create(thread, attributes, function, argument);
    return pthread_create(thread, attributes, function, argument);
}

// MARK: Signal masks

void cqos_guests_thread_mask(sigset_t *mask) {
    // Open are the signals of faults, SIGPIPE, SIGPROF, and those with which Swift's backtracer and the C library stop threads: the
    // mask that Dispatch's workers have.
    static const int open[] = {SIGILL, SIGTRAP, SIGBUS, SIGFPE, SIGSEGV, SIGPIPE, SIGPROF, SIGSYS};
    sigfillset(mask);
    for (unsigned index = 0; index < sizeof open / sizeof *open; index++) sigdelset(mask, open[index]);
}

/// Whether two masks block the same signals. The kernel takes those out that nothing blocks.
static int same_signals(const sigset_t *one, const sigset_t *other) {
    for (int signal = 1; signal < _NSIG; signal++) {
        if (signal != SIGKILL && signal != SIGSTOP && sigismember(one, signal) != sigismember(other, signal)) return 0;
    }
    return 1;
}

/// The mask for what the calling thread makes: its own, if its code has changed it; otherwise the one given.
static sigset_t mask_for_guest(const sigset_t *usual) {
    sigset_t present;
    pthread_sigmask(SIG_BLOCK, NULL, &present);
    int is_ours = atomic_load_explicit(&start.knows_own_mask, memory_order_acquire) && same_signals(&present, &start.own_mask);
    return is_ours ? *usual : present;
}

// MARK: The creator

enum { REQUEST_WAITS, REQUEST_TAKEN, REQUEST_DONE, REQUEST_WITHDRAWN };

struct request {
    struct request *next;
    _Atomic uint32_t state;
    pthread_t *thread;
    const pthread_attr_t *attributes;
    void *(*function)(void *);
    void *argument;
    sigset_t mask;
    int result;
};

enum { CREATOR_NONE, CREATOR_STARTS, CREATOR_RUNS };

static struct {
    _Atomic uint32_t state;
    _Atomic(struct request *) requests;
    /// Changes with each request, so that the creator cannot sleep over one.
    _Atomic uint32_t arrivals;
    _Atomic pid_t id;
    _Atomic int refusal;
    _Atomic int has_told;
    /// The creator's timer slack, nanoseconds: only the thread itself may read it.
    unsigned long slack;
} creator;

static void set_name(const char *name) { prctl(PR_SET_NAME, (unsigned long)name, 0, 0, 0); }

static void serve(struct request *request) {
    uint32_t waits = REQUEST_WAITS;
    if (!atomic_compare_exchange_strong(&request->state, &waits, REQUEST_TAKEN)) {
        free(request);
        return;
    }
    // A new thread has its maker's mask and name.
    sigset_t own;
    set_name(start.name);
    pthread_sigmask(SIG_SETMASK, &request->mask, &own);
    request->result = create_now(request->thread, request->attributes, request->function, request->argument);
    pthread_sigmask(SIG_SETMASK, &own, NULL);
    set_name("qos-creator");
    atomic_store(&request->state, REQUEST_DONE);
    // The request may be gone by now: then nobody sleeps at this address, or one thread wakes for nothing.
    wake(&request->state, 1);
}

static void *creator_main(void *unused) {
    set_name("qos-creator");
    long slack = syscall(SYS_prctl, PR_GET_TIMERSLACK, 0, 0, 0, 0);
    creator.slack = slack > 0 ? (unsigned long)slack : 0;
    guests_rule = CQOS_GUEST_RULE_FOREIGN;
    atomic_store(&creator.id, (pid_t)syscall(SYS_gettid));
    atomic_store(&creator.state, CREATOR_RUNS);
    wake(&creator.state, INT_MAX);
    while (1) {
        uint32_t seen = atomic_load(&creator.arrivals);
        struct request *taken = atomic_exchange(&creator.requests, NULL), *first = NULL;
        if (!taken) {
            sleep_while(&creator.arrivals, seen, NULL);
            continue;
        }
        while (taken) {
            struct request *next = taken->next;
            taken->next = first;
            first = taken;
            taken = next;
        }
        while (first) {
            struct request *next = first->next;
            serve(first);
            first = next;
        }
    }
    return unused;
}

/// Starts a detached thread of the runtime with a small stack and the signal mask of our threads. Swift's backtracer stops it by a
/// signal, too.
static int start_helper(int (*make)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *), void *(*function)(void *), void *argument) {
    pthread_attr_t attributes;
    pthread_t thread;
    int error = pthread_attr_init(&attributes);
    if (error) return error;
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, 256 * 1024);
    sigset_t mask, previous;
    cqos_guests_thread_mask(&mask);
    pthread_sigmask(SIG_SETMASK, &mask, &previous);
    error = make(&thread, &attributes, function, argument);
    // Large thread-local variables may not fit.
    if (error == EINVAL) {
        size_t size;
        pthread_attr_t usual;
        if (pthread_attr_init(&usual) == 0) {
            if (pthread_attr_getstacksize(&usual, &size) == 0) pthread_attr_setstacksize(&attributes, size);
            pthread_attr_destroy(&usual);
        }
        error = make(&thread, &attributes, function, argument);
    }
    pthread_sigmask(SIG_SETMASK, &previous, NULL);
    pthread_attr_destroy(&attributes);
    return error;
}

static void before_fork(void);
static void after_fork_in_child(void);

/// Says once that there is no creator, and what follows.
static void tell(int error) {
    if (atomic_exchange(&creator.has_told, 1)) return;
    dprintf(STDERR_FILENO,
            "swift-qos: the thread that makes threads for libraries cannot be started (%s): threads and processes that libraries make from low "
            "work stay low. Allow the process more threads: TasksMax= or LimitNPROC= (systemd), --pids-limit (containers), ulimit -u.\n",
            strerror(error));
}

/// Makes the creator, if there is none. Only a thread that is neither bound, lowered nor raised can.
static int creator_runs(void) {
    static _Atomic int is_registered;
    while (1) {
        uint32_t state = atomic_load(&creator.state);
        if (state == CREATOR_RUNS) return 1;
        if (guests_rule == CQOS_GUEST_RULE_OWN || guests_rule == CQOS_GUEST_RULE_WORKER || guests_is_raised()) return 0;
        if (state == CREATOR_STARTS) {
            sleep_while(&creator.state, CREATOR_STARTS, NULL);
            continue;
        }
        if (!atomic_compare_exchange_strong(&creator.state, &state, CREATOR_STARTS)) continue;
        if (!atomic_exchange(&is_registered, 1)) pthread_atfork(before_fork, NULL, after_fork_in_child);
        int error = start_helper(create_now, creator_main, NULL);
        atomic_store(&creator.refusal, error);
        if (error == 0) continue;
        atomic_store(&creator.state, CREATOR_NONE);
        wake(&creator.state, INT_MAX);
        tell(error);
        return 0;
    }
}

/// Lets the creator make a thread. Returns 0 if it did not take the request.
static int ask_creator(pthread_t *thread, const pthread_attr_t *attributes, const sigset_t *mask, void *(*function)(void *), void *argument,
                       int *result) {
    if (!creator_runs()) return 0;
    struct request *request = calloc(1, sizeof *request);
    if (!request) return 0;
    request->thread = thread;
    request->attributes = attributes;
    request->function = function;
    request->argument = argument;
    request->mask = *mask;
    // No cancellation takes the thread away while the creator writes to its memory.
    int cancellation;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancellation);
    struct request *next = atomic_load(&creator.requests);
    do {
        request->next = next;
    } while (!atomic_compare_exchange_weak(&creator.requests, &next, request));
    atomic_fetch_add(&creator.arrivals, 1);
    wake(&creator.arrivals, 1);
    int is_served = 1;
    while (1) {
        uint32_t state = atomic_load(&request->state);
        if (state == REQUEST_DONE) break;
        // A creator that takes nothing for seconds waits for something that the calling thread may hold.
        struct timespec limit = {.tv_sec = 2};
        int error = sleep_while(&request->state, state, state == REQUEST_WAITS ? &limit : NULL);
        if (state == REQUEST_WAITS && error == ETIMEDOUT && atomic_compare_exchange_strong(&request->state, &state, REQUEST_WITHDRAWN)) {
            is_served = 0;
            break;
        }
    }
    pthread_setcancelstate(cancellation, &cancellation);
    if (!is_served) return 0;
    *result = request->result;
    free(request);
    atomic_fetch_add_explicit(&threads_made, 1, memory_order_relaxed);
    return 1;
}

int guests_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*function)(void *), void *argument, int *result) {
    if (start.is_switched_off) return 0;
    int error = errno;
    sigset_t usual;
    cqos_guests_thread_mask(&usual);
    sigset_t mask = mask_for_guest(&usual);
    int is_made = ask_creator(thread, attributes, &mask, function, argument, result);
    if (!is_made) atomic_fetch_add_explicit(&inherited, 1, memory_order_relaxed);
    errno = error;
    return is_made;
}

// MARK: Our own threads

void cqos_guests_set_rule(enum cqos_guest_rule rule) { guests_rule = (uint8_t)rule; }

int cqos_guests_is_own(void) { return guests_rule != CQOS_GUEST_RULE_FOREIGN; }

int cqos_guests_create_own(pthread_t *thread, const pthread_attr_t *attributes, const sigset_t *mask, void *(*function)(void *),
                           void *argument) {
    if (!atomic_load_explicit(&start.knows_own_mask, memory_order_acquire)) {
        static _Atomic int is_first = 1;
        if (atomic_exchange(&is_first, 0)) {
            start.own_mask = *mask;
            atomic_store_explicit(&start.knows_own_mask, 1, memory_order_release);
        }
    }
    int result;
    int runs = creator_runs();
    if (runs && guests_rule != CQOS_GUEST_RULE_OWN_CLEAN && ask_creator(thread, attributes, mask, function, argument, &result)) return result;
    sigset_t previous;
    pthread_sigmask(SIG_SETMASK, mask, &previous);
    result = create_now(thread, attributes, function, argument);
    pthread_sigmask(SIG_SETMASK, &previous, NULL);
    return result;
}

// MARK: The spawners

struct work {
    void (*function)(void *);
    void *argument;
    sigset_t mask;
    _Atomic uint32_t is_done;
};

enum { SPAWNER_NONE, SPAWNER_IDLE, SPAWNER_CLAIMED, SPAWNER_GIVEN };

struct spawner {
    _Atomic uint32_t state;
    struct work *work;
};

static struct spawner spawners[32];
enum { SPAWNER_COUNT = sizeof spawners / sizeof *spawners };

static void *spawner_main(void *argument) {
    struct spawner *spawner = argument;
    set_name("qos-spawner");
    while (1) {
        uint32_t state = atomic_load(&spawner->state);
        if (state != SPAWNER_GIVEN) {
            sleep_while(&spawner->state, state, NULL);
            continue;
        }
        struct work *work = spawner->work;
        sigset_t own;
        set_name(start.name);
        pthread_sigmask(SIG_SETMASK, &work->mask, &own);
        work->function(work->argument);
        pthread_sigmask(SIG_SETMASK, &own, NULL);
        set_name("qos-spawner");
        atomic_store(&spawner->state, SPAWNER_IDLE);
        atomic_store(&work->is_done, 1);
        wake(&work->is_done, 1);
    }
    return NULL;
}

static int ask_creator_for_helper(pthread_t *thread, const pthread_attr_t *attributes, void *(*function)(void *), void *argument) {
    sigset_t mask;
    cqos_guests_thread_mask(&mask);
    int result;
    return ask_creator(thread, attributes, &mask, function, argument, &result) ? result : EAGAIN;
}

/// Claims a spawner in a state; null for none.
static struct spawner *claim(uint32_t wanted) {
    for (unsigned index = 0; index < SPAWNER_COUNT; index++) {
        uint32_t state = wanted;
        if (atomic_compare_exchange_strong(&spawners[index].state, &state, SPAWNER_CLAIMED)) return &spawners[index];
    }
    return NULL;
}

int guests_run_clean(void (*function)(void *), void *argument) {
    if (start.is_switched_off) return 0;
    struct work work = {.function = function, .argument = argument, .mask = mask_for_guest(&start.start_mask)};
    int cancellation;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancellation);
    struct spawner *spawner = claim(SPAWNER_IDLE);
    int is_new = !spawner;
    if (is_new) spawner = claim(SPAWNER_NONE);
    int is_given = spawner != NULL;
    if (is_given) {
        spawner->work = &work;
        atomic_store(&spawner->state, SPAWNER_GIVEN);
        if (!is_new) {
            wake(&spawner->state, 1);
        } else if (start_helper(ask_creator_for_helper, spawner_main, spawner) != 0) {
            atomic_store(&spawner->state, SPAWNER_NONE);
            is_given = 0;
        }
    }
    while (is_given && !atomic_load(&work.is_done)) sleep_while(&work.is_done, 0, NULL);
    pthread_setcancelstate(cancellation, &cancellation);
    atomic_fetch_add_explicit(is_given ? &processes_made : &inherited, 1, memory_order_relaxed);
    return is_given;
}

// MARK: fork

/// Attributes of sched_setattr(2), as the kernel lays them out.
struct scheduling {
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t slice, deadline, period;
    uint32_t clamp_low, clamp_high;
};

/// Gives the child's only thread what the parent's creator has, as far as the kernel lets it. Without a privilege, the nice value stays.
static void take_after(pid_t reference) {
    unsigned long processors[16384 / sizeof(unsigned long)];
    long size = guests_rule != CQOS_GUEST_RULE_WORKER ? 0 : syscall(SYS_sched_getaffinity, reference, sizeof processors, processors);
    if (size > 0) syscall(SYS_sched_setaffinity, 0, size, processors);
    struct scheduling wanted = {0}, present = {0};
    if (syscall(SYS_sched_getattr, reference, &wanted, sizeof wanted, 0) == 0 &&
        syscall(SYS_sched_getattr, 0, &present, sizeof present, 0) == 0) {
        wanted.size = sizeof wanted;
        if (syscall(SYS_sched_setattr, 0, &wanted, 0) != 0) {
            wanted.nice = present.nice;
            syscall(SYS_sched_setattr, 0, &wanted, 0);
        }
    }
    long priority = syscall(SYS_ioprio_get, 1, reference);
    if (priority >= 0) syscall(SYS_ioprio_set, 1, 0, priority);
    if (creator.slack > 0) syscall(SYS_prctl, PR_SET_TIMERSLACK, creator.slack, 0, 0, 0);
    // Code that has blocked signals around the fork means it.
    if (!atomic_load(&start.knows_own_mask)) return;
    sigset_t mask;
    pthread_sigmask(SIG_BLOCK, NULL, &mask);
    if (same_signals(&mask, &start.own_mask)) pthread_sigmask(SIG_SETMASK, &start.start_mask, NULL);
}

/// Whether the thread that forks makes over what it has. The child cannot ask: its thread has another number.
static __thread int fork_is_handed_over;

static void before_fork(void) { fork_is_handed_over = guests_are_handed_over(); }

/// System calls and stores only: a child of a process with threads may call nothing else.
static void after_fork_in_child(void) {
    pid_t reference = atomic_load(&creator.id);
    atomic_store(&creator.id, 0);
    atomic_store(&creator.requests, NULL);
    atomic_store(&creator.state, CREATOR_NONE);
    atomic_store(&guests_raised, 0);
    atomic_store(&raised_without_place, 0);
    memset((void *)raised_threads, 0, sizeof raised_threads);
    for (unsigned index = 0; index < SPAWNER_COUNT; index++) atomic_store(&spawners[index].state, SPAWNER_NONE);
    if (!fork_is_handed_over) return;
    if (reference > 0 && !start.is_switched_off) take_after(reference);
    guests_rule = CQOS_GUEST_RULE_FOREIGN;
}

// MARK: Reports

pid_t guests_reference(void) { return start.is_switched_off ? 0 : atomic_load_explicit(&creator.id, memory_order_relaxed); }

struct cqos_guests_report cqos_guests_report(void) {
    struct cqos_guests_report report = {
        .refusal = atomic_load(&creator.refusal),
        .creator = atomic_load(&creator.id),
        .threads = atomic_load(&threads_made),
        .processes = atomic_load(&processes_made),
        .inherited = atomic_load(&inherited),
    };
#ifdef GUESTS_SANITIZED
    report.obstacle = CQOS_GUESTS_SANITIZER;
#else
    report.obstacle = !guests_real.create        ? CQOS_GUESTS_NO_REAL
                      : !guests_hook_is_first()   ? CQOS_GUESTS_SHADOWED
                      : start.is_switched_off     ? CQOS_GUESTS_SWITCHED_OFF
                      : report.refusal != 0       ? CQOS_GUESTS_NO_CREATOR
                                                  : CQOS_GUESTS_EFFECTIVE;
#endif
    return report;
}
