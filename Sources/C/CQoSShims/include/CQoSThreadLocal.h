#ifndef CQOS_THREAD_LOCAL_H
#define CQOS_THREAD_LOCAL_H
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

// What a thread of the runtime knows about itself. Swift has no thread-local storage; these are plain TLS words, read
// on every enqueue, so they are inline and cost one load.

extern __thread void *_Nullable cqos_tls_worker;
extern __thread void *_Nullable cqos_tls_lane;
extern __thread void *_Nullable cqos_tls_frame;
extern __thread void *_Nullable cqos_tls_thread;
extern __thread uint32_t cqos_tls_id;
extern __thread void *_Nullable cqos_tls_item;

/// The worker that the calling thread is, or null.
static inline void *_Nullable cqos_current_worker(void) { return cqos_tls_worker; }
static inline void cqos_set_current_worker(void *_Nullable worker) { cqos_tls_worker = worker; }

/// The serial lane whose item the calling thread runs, or null.
static inline void *_Nullable cqos_current_lane(void) { return cqos_tls_lane; }
static inline void cqos_set_current_lane(void *_Nullable lane) { cqos_tls_lane = lane; }

/// What the calling thread runs a synchronous body of, or null.
static inline void *_Nullable cqos_current_frame(void) { return cqos_tls_frame; }
static inline void cqos_set_current_frame(void *_Nullable frame) { cqos_tls_frame = frame; }

/// The thread with a level of its own that the calling thread is, or null.
static inline void *_Nullable cqos_current_thread(void) { return cqos_tls_thread; }
static inline void cqos_set_current_thread(void *_Nullable thread) { cqos_tls_thread = thread; }

/// The kernel's id of the calling thread, asked for once (gettid(2)): cheap enough for each lock.
static inline uint32_t cqos_own_id(void) {
    if (cqos_tls_id == 0) cqos_tls_id = (uint32_t)syscall(SYS_gettid);
    return cqos_tls_id;
}

/// The innermost work queue's item that the calling thread runs, or null.
static inline void *_Nullable cqos_current_item(void) { return cqos_tls_item; }
static inline void cqos_set_current_item(void *_Nullable item) { cqos_tls_item = item; }

// From then on the object is not counted and never freed: what the standard library calls for constants that it makes itself
// (`RuntimeShims.h` of the Swift toolchain). `swift_initStaticObject` is not for this: it takes the word in front of the object for a
// token of its own, which in front of an allocated object belongs to the allocator or to somebody else.
extern void _swift_stdlib_immortalize(void *_Nonnull object);
static inline void cqos_make_immortal(void *_Nonnull object) { _swift_stdlib_immortalize(object); }

/// The Swift task that runs on the calling thread, or null: an exported entry of the concurrency library (`Concurrency.h`), which neither
/// retains the task nor gives a reference away. Swift refuses to name it.
__attribute__((swiftcall)) extern void *_Nullable swift_task_getCurrent(void);
static inline void *_Nullable cqos_current_task(void) { return swift_task_getCurrent(); }

/// The object of the serial executor that the calling code runs on; null for none. The library's own function, which returns the two words
/// of an executor's reference.
typedef struct {
    void *_Nullable object;
    void *_Nullable implementation;
} cqos_executor_reference;
__attribute__((swiftcall)) extern cqos_executor_reference swift_task_getCurrentExecutor(void);
static inline void *_Nullable cqos_current_serial_executor(void) { return swift_task_getCurrentExecutor().object; }

/// Tells the processor that this is a spin loop (x86 `pause`, arm `yield`).
static inline void cqos_spin_hint(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ __volatile__("yield");
#endif
}
// Each job that the concurrency library gives to the process's default executor passes a hook of the library first
// (`swift_task_enqueueGlobal_hook` in its sources). From the first call on, `takes` is asked about each of them; it returns
// whether it has taken the job. Never undone: a hook must not be removed while others may have put theirs before it.
void cqos_watch_enqueues(bool (*_Nonnull takes)(void *_Nonnull job));

// The main queue of libdispatch, as `dispatch_get_main_queue()` gives it, and the submission of a call to it.
extern char _dispatch_main_q[];
extern void dispatch_async_f(void *_Nonnull queue, void *_Nullable context, void (*_Nonnull work)(void *_Nullable));

static inline void *_Nonnull cqos_dispatch_main_queue(void) { return _dispatch_main_q; }
static inline void cqos_dispatch_main_async(void *_Nullable context, void (*_Nonnull work)(void *_Nullable)) {
    dispatch_async_f(_dispatch_main_q, context, work);
}

#endif
