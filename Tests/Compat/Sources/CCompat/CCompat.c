#define _GNU_SOURCE
#include "CCompat.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

typedef int (*main_function)(int, char **, char **);
typedef int (*start_function)(main_function, int, char **, void (*)(void), void (*)(void), void (*)(void), void *);

// Written in Swift: runs `qos_compat_original_main` inside of the process-wide runtime.
extern void qos_compat_run(void);

static main_function original;
static int count;
static char **arguments, **environment;

int qos_compat_original_main(void) { return original(count, arguments, environment); }

// A program with an asynchronous main would run the main actor's executor on its own thread. The runtime has that executor on the main thread
// already, so the program's thread only waits for the program's `exit`.
static void wait_for_exit(void) {
    for (;;) pause();
}

static int main_inside_runtime(int argc, char **argv, char **envp) {
    count = argc;
    arguments = argv;
    environment = envp;
    // What the program starts must not have it as well.
    unsetenv("LD_PRELOAD");
    void **drain = dlsym(RTLD_DEFAULT, "swift_task_asyncMainDrainQueue_hook");
    if (drain) *drain = (void *)wait_for_exit;
    qos_compat_run();
    return 1;
}

// The C library calls this to start a program; being loaded first, this one is found instead.
int __libc_start_main(main_function program, int argc, char **argv, void (*init)(void), void (*fini)(void),
                      void (*loader_fini)(void), void *stack_end) {
    original = program;
    start_function start = (start_function)dlsym(RTLD_NEXT, "__libc_start_main");
    return start(main_inside_runtime, argc, argv, init, fini, loader_fini, stack_end);
}
