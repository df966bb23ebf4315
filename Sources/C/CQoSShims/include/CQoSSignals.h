#ifndef CQOS_SIGNALS_H
#define CQOS_SIGNALS_H
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <time.h>
#include <unistd.h>

// Whether the process ignores a signal (sigaction(2)).
static inline int cqos_ignores_signal(int number) {
    struct sigaction action;
    return sigaction(number, NULL, &action) == 0 && !(action.sa_flags & SA_SIGINFO) && action.sa_handler == SIG_IGN;
}

// Writes without SIGPIPE, whatever the process does about that signal: one write(2).
static inline ssize_t cqos_write_without_signal(int descriptor, const void *_Nonnull bytes, size_t count) {
    sigset_t pipe, before, pending;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    sigemptyset(&pending);
    sigpending(&pending);
    pthread_sigmask(SIG_BLOCK, &pipe, &before);
    ssize_t written = write(descriptor, bytes, count);
    ssize_t result = written < 0 ? -errno : written;
    if (result == -EPIPE && !sigismember(&pending, SIGPIPE)) {
        struct timespec none = {0, 0};
        while (sigtimedwait(&pipe, NULL, &none) < 0 && errno == EINTR) {}
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return result;
}

#endif
