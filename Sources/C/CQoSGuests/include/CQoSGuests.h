#ifndef CQOS_GUESTS_H
#define CQOS_GUESTS_H
// Threads and children of others, made from a thread of ours (`Docs/Inside/Protocols/library-threads.md`).
//
// A thread or a process inherits affinity, policy, nice value, timer slack, I/O priority and signal mask from the thread that makes it. So
// whatever a library makes on one of our threads would be bound or lowered as that thread is. The functions that make threads and processes
// are therefore defined here, in the program, in front of the C library's: on a thread of ours they hand the call to a thread that was never
// bound or lowered. On every other thread they go straight on to the C library.

#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <sys/types.h>

/// How the calling thread makes threads and processes.
enum cqos_guest_rule {
    /// A thread of others, and the main thread: as the C library does.
    CQOS_GUEST_RULE_FOREIGN = 0,
    /// A thread of ours that is, or may be, lowered or raised: through the creator.
    CQOS_GUEST_RULE_OWN = 1,
    /// A thread of ours that is neither bound nor lowered: our own threads directly, everything else through the creator.
    CQOS_GUEST_RULE_OWN_CLEAN = 2,
    /// A worker, which is bound to processors, too: through the creator. Asked for its processors, it names those of the process.
    CQOS_GUEST_RULE_WORKER = 3,
};

/// Sets the rule of the calling thread.
void cqos_guests_set_rule(enum cqos_guest_rule rule);

/// Whether the calling thread is one of ours, or is scheduled as one.
int cqos_guests_is_own(void);

/// Makes one of our own threads, with this signal mask. It inherits nothing from the calling thread, except where the creator cannot be made.
/// The first call makes the creator. Returns 0 or an error number, as pthread_create(3).
int cqos_guests_create_own(pthread_t *_Nonnull thread, const pthread_attr_t *_Nullable attributes, const sigset_t *_Nonnull mask,
                           void *_Nullable (*_Nonnull start)(void *_Nullable), void *_Nullable argument);

/// Notes that a thread of others, by its kernel id, is raised (1) or no longer (0). What it makes meanwhile goes through the creator. Each
/// note of a raise is followed by one of its end. Some compare-and-exchanges.
void cqos_guests_note_raised(pid_t thread, int is_raised);

/// The signal mask of Dispatch's threads: what a library's thread gets that is made on one of ours.
void cqos_guests_thread_mask(sigset_t *_Nonnull mask);

/// Why threads and children of libraries inherit from our threads; 0 if they do not.
enum cqos_guests_obstacle {
    CQOS_GUESTS_EFFECTIVE = 0,
    /// QOS_LIBRARY_THREADS=inherit.
    CQOS_GUESTS_SWITCHED_OFF = 1,
    /// The program was built for a sanitizer, which has definitions of its own.
    CQOS_GUESTS_SANITIZER = 2,
    /// Another definition of pthread_create comes before ours.
    CQOS_GUESTS_SHADOWED = 3,
    /// The C library's own function cannot be found: a static program.
    CQOS_GUESTS_NO_REAL = 4,
    /// The system refuses the thread that would make the others.
    CQOS_GUESTS_NO_CREATOR = 5,
};

/// What has happened so far in this process.
struct cqos_guests_report {
    enum cqos_guests_obstacle obstacle;
    /// The error number of the refused creator; 0 for none.
    int refusal;
    /// The kernel's id of the creator; 0 before there is one.
    pid_t creator;
    /// Threads and processes that the creator or a spawner made for a thread of ours, our own threads included.
    uint64_t threads;
    uint64_t processes;
    /// Those that had to be made on the calling thread, and so inherited from it.
    uint64_t inherited;
};
struct cqos_guests_report cqos_guests_report(void);

#endif
