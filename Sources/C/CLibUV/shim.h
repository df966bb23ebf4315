#ifndef CLIBUV_SHIM_H
#define CLIBUV_SHIM_H
#include <uv.h>
/* The loop's timer and its wake-up are descriptors, which the Swift overlay of glibc does not declare. */
#include <sys/eventfd.h>
#include <sys/timerfd.h>

#include <errno.h>
#include <signal.h>
#include <stddef.h>

/* The action of a signal (sigaction(2)), in memory of the caller's. */
static inline size_t cqos_signal_action_size(void) { return sizeof(struct sigaction); }

static inline int cqos_get_signal_action(int number, void *action) {
    return sigaction(number, NULL, (struct sigaction *)action) < 0 ? -errno : 0;
}

static inline int cqos_set_signal_action(int number, const void *action) {
    return sigaction(number, (const struct sigaction *)action, NULL) < 0 ? -errno : 0;
}

static inline int cqos_is_default_action(const void *action) {
    return ((const struct sigaction *)action)->sa_handler == SIG_DFL;
}

static inline int cqos_have_same_handler(const void *first, const void *second) {
    return ((const struct sigaction *)first)->sa_handler == ((const struct sigaction *)second)->sa_handler;
}
#endif
