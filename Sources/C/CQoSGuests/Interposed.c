#define _GNU_SOURCE
#include "Guests.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <threads.h>
#include <unistd.h>

// The definitions in front of the C library's. They are weak: a program that links another definition of its own, such as an allocator with
// threads, or the C library itself, keeps that one, and `qosctl doctor` says so.

struct guests_real guests_real;

#ifdef GUESTS_SANITIZED

void guests_find_real(void) {}
int guests_hook_is_first(void) { return 0; }

#else

// The names by which the C library's functions call one another. A program that is wholly static finds them by no other way: there is no next
// library. Each comes along with the function that `also_linked` names; in a shared C library they cannot be seen, and are null.
extern __typeof(pthread_create) __pthread_create __attribute__((weak));
extern __typeof(posix_spawn) __posix_spawn __attribute__((weak));
extern __typeof(posix_spawnp) __posix_spawnp __attribute__((weak));
extern __typeof(system) __libc_system __attribute__((weak));
extern __typeof(popen) _IO_popen;
extern __typeof(pthread_getaffinity_np) __pthread_getaffinity_np __attribute__((weak));
__attribute__((used)) static void *const also_linked[] = {(void *)thrd_create, (void *)_IO_popen, (void *)pthread_getattr_np};

static void *next(const char *name, void *own) {
    void *found = dlsym(RTLD_NEXT, name);
    return found ? found : own;
}

void guests_find_real(void) {
    if (__builtin_expect(guests_real.create != NULL, 1)) return;
    guests_real.spawn = next("posix_spawn", (void *)__posix_spawn);
    guests_real.spawnp = next("posix_spawnp", (void *)__posix_spawnp);
    guests_real.run_system = next("system", (void *)__libc_system);
    guests_real.open_pipe = next("popen", (void *)_IO_popen);
    guests_real.get_thread_affinity = next("pthread_getaffinity_np", (void *)__pthread_getaffinity_np);
    guests_real.create = next("pthread_create", (void *)__pthread_create);
}

// MARK: Threads

static int hooked_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*function)(void *), void *argument) {
    int result;
    if (guests_are_handed_over() && guests_create(thread, attributes, function, argument, &result)) return result;
    // Constructors of other parts of the program may come before ours.
    if (__builtin_expect(!guests_real.create, 0)) guests_find_real();
    return guests_real.create ? guests_real.create(thread, attributes, function, argument) : ENOSYS;
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*function)(void *), void *argument)
    __attribute__((weak, alias("hooked_create")));

int guests_hook_is_first(void) {
    void *first = dlsym(RTLD_DEFAULT, "pthread_create");
    // A wholly static program has no table of names to ask.
    return first ? first == (void *)hooked_create : (void *)pthread_create == (void *)hooked_create;
}

// MARK: Processes

struct spawn {
    int (*call)(pid_t *, const char *, const posix_spawn_file_actions_t *, const posix_spawnattr_t *, char *const[], char *const[]);
    pid_t *pid;
    const char *path;
    const posix_spawn_file_actions_t *actions;
    const posix_spawnattr_t *attributes;
    char *const *arguments;
    char *const *environment;
    int result;
};

static void make_process(void *argument) {
    struct spawn *spawn = argument;
    spawn->result = spawn->call(spawn->pid, spawn->path, spawn->actions, spawn->attributes, spawn->arguments, spawn->environment);
}

static int spawn_process(struct spawn spawn) {
    if (!spawn.call) return ENOSYS;
    if (!guests_are_handed_over() || !guests_run_clean(make_process, &spawn)) make_process(&spawn);
    return spawn.result;
}

__attribute__((weak)) int posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
                                      const posix_spawnattr_t *attributes, char *const arguments[], char *const environment[]) {
    guests_find_real();
    return spawn_process((struct spawn){guests_real.spawn, pid, path, actions, attributes, arguments, environment, 0});
}

__attribute__((weak)) int posix_spawnp(pid_t *pid, const char *file, const posix_spawn_file_actions_t *actions,
                                       const posix_spawnattr_t *attributes, char *const arguments[], char *const environment[]) {
    guests_find_real();
    return spawn_process((struct spawn){guests_real.spawnp, pid, file, actions, attributes, arguments, environment, 0});
}

// The C library's own calls of posix_spawn do not come through the definition above.

struct shell {
    const char *command;
    const char *mode;
    FILE *pipe;
    int status;
    int error;
};

static void run_shell(void *argument) {
    struct shell *shell = argument;
    errno = shell->error;
    if (shell->mode) {
        shell->pipe = guests_real.open_pipe(shell->command, shell->mode);
    } else {
        shell->status = guests_real.run_system(shell->command);
    }
    shell->error = errno;
}

static void run_shell_clean(struct shell *shell) {
    shell->error = errno;
    if (!guests_are_handed_over() || !guests_run_clean(run_shell, shell)) run_shell(shell);
    errno = shell->error;
}

__attribute__((weak)) int system(const char *command) {
    guests_find_real();
    struct shell shell = {.command = command};
    if (!guests_real.run_system) return errno = ENOSYS, -1;
    run_shell_clean(&shell);
    return shell.status;
}

__attribute__((weak)) FILE *popen(const char *command, const char *mode) {
    guests_find_real();
    struct shell shell = {.command = command, .mode = mode};
    if (!guests_real.open_pipe) return errno = ENOSYS, NULL;
    run_shell_clean(&shell);
    return shell.pipe;
}

// MARK: The processors of the calling thread

// A worker that is bound to one processor for a while is no reason to make a pool of one thread. Asked by a worker for itself, the answer is that
// of the creator, which is bound to nothing.

/// The thread to ask in place of a worker that asks for itself; 0 for the calling one.
static pid_t reference_of_worker(void) { return guests_rule == CQOS_GUEST_RULE_WORKER ? guests_reference() : 0; }

static int get_affinity(pid_t thread, size_t size, cpu_set_t *processors) {
    long written = syscall(SYS_sched_getaffinity, thread, size, processors);
    if (written < 0) return errno;
    memset((char *)processors + written, 0, size - (size_t)written);
    return 0;
}

__attribute__((weak)) int sched_getaffinity(pid_t thread, size_t size, cpu_set_t *processors) {
    pid_t reference = reference_of_worker();
    if (reference && (thread == 0 || thread == (pid_t)syscall(SYS_gettid))) thread = reference;
    int error = get_affinity(thread, size, processors);
    if (error) errno = error;
    return error ? -1 : 0;
}

__attribute__((weak)) int pthread_getaffinity_np(pthread_t thread, size_t size, cpu_set_t *processors) {
    pid_t reference = reference_of_worker();
    if (reference && pthread_equal(thread, pthread_self())) return get_affinity(reference, size, processors);
    guests_find_real();
    return guests_real.get_thread_affinity ? guests_real.get_thread_affinity(thread, size, processors) : ENOSYS;
}

#endif
