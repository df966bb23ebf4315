#ifndef GUESTS_H
#define GUESTS_H
// What the two files of this target share. Include it after _GNU_SOURCE is defined.

#include "CQoSGuests.h"

#include <sched.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define GUESTS_SANITIZED 1
#endif
#endif

/// The C library's functions; null before the program's start, and where they cannot be found.
struct guests_real {
    int (*create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    int (*spawn)(pid_t *, const char *, const posix_spawn_file_actions_t *, const posix_spawnattr_t *, char *const[], char *const[]);
    int (*spawnp)(pid_t *, const char *, const posix_spawn_file_actions_t *, const posix_spawnattr_t *, char *const[], char *const[]);
    int (*run_system)(const char *);
    FILE *(*open_pipe)(const char *, const char *);
    int (*get_thread_affinity)(pthread_t, size_t, cpu_set_t *);
};
extern struct guests_real guests_real;

/// Finds them, if that has not been done. Any thread.
void guests_find_real(void);

/// Whether ours is the pthread_create that the program's libraries call.
int guests_hook_is_first(void);

/// The rule of the calling thread.
extern __thread uint8_t guests_rule;

/// The number of threads of others that are raised now.
extern _Atomic int guests_raised;

/// Whether the calling thread, which is none of ours, is raised now. One system call, and a look at each raised thread.
int guests_is_raised(void);

/// Whether the calling thread's threads and processes are handed over. Nearly all calls end at the first look.
static inline int guests_are_handed_over(void) {
    return __builtin_expect(guests_rule != CQOS_GUEST_RULE_FOREIGN, 0) ||
           (__builtin_expect(atomic_load_explicit(&guests_raised, memory_order_relaxed) != 0, 0) && guests_is_raised());
}

/// The kernel's id of the creator; 0 for none, and while the switch is off.
pid_t guests_reference(void);

/// Lets the creator make a thread of others. Returns 0 if it could not be asked; `result` is pthread_create's else.
int guests_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *argument, int *result);

/// Runs a function on a thread that was never bound or lowered, with the signal mask for children of the calling thread, and waits for its end.
/// Returns 0 if there is no such thread; nothing has run then.
int guests_run_clean(void (*function)(void *), void *argument);

#endif
