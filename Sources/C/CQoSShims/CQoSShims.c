#include "CQoSShims.h"

typedef __attribute__((swiftcall)) void (*enqueue_function)(void *job);
typedef __attribute__((swiftcall)) void (*enqueue_hook)(void *job, enqueue_function original);

extern enqueue_hook swift_task_enqueueGlobal_hook;

static bool (*watch)(void *job);
static enqueue_hook earlier;

static __attribute__((swiftcall)) void ask_watch(void *job, enqueue_function original) {
    if (watch(job)) return;
    if (earlier) earlier(job, original);
    else original(job);
}

void cqos_watch_enqueues(bool (*takes)(void *job)) {
    if (watch) return;
    watch = takes;
    earlier = __atomic_load_n(&swift_task_enqueueGlobal_hook, __ATOMIC_ACQUIRE);
    __atomic_store_n(&swift_task_enqueueGlobal_hook, ask_watch, __ATOMIC_RELEASE);
}
