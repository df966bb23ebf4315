#ifndef CQOS_TEST_SUPPORT_H
#define CQOS_TEST_SUPPORT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Takes CAP_SYS_NICE from the calling thread, and so from the threads it makes. Returns 0 or a negated errno.
int cqos_test_drop_sys_nice(void);

// Writes what the calling thread has, and what it would hand down, as text: `cpus … nice … policy … slack … io … mask …`. The nice value is
// left out if `has_nice` is 0. By system calls alone, past every definition in front of the C library's.
void cqos_test_scheduling(char *text, size_t size, int has_nice);

// Makes a thread in one of the ways of C and C++, which writes its scheduling.
void cqos_test_scheduling_of_pthread(char *text, size_t size);
void cqos_test_scheduling_of_std_thread(char *text, size_t size);

// Starts a program in one of the ways of C, and reads the first line that it prints.
enum cqos_test_way { CQOS_TEST_SPAWN, CQOS_TEST_SPAWN_PATH, CQOS_TEST_FORK, CQOS_TEST_SYSTEM, CQOS_TEST_POPEN };
void cqos_test_run(enum cqos_test_way way, const char *program, const char *argument, char *text, size_t size);

// Whether another thread makes the threads of the calling one: they have the maker's name. -1 if it can make none.
int cqos_test_is_handed_over(void);

// Forks a child that makes threads. Returns the child's status; 0 if it made them.
int cqos_test_thread_in_forked_child(void);

// Forks a child that stores a value in a word. Returns the child's status; 0 if it read the value again.
int cqos_test_store_in_forked_child(uint64_t *word, uint64_t value);

// The number of processors that the calling thread is told: by sched_getaffinity(2), pthread_getaffinity_np(3), sysconf(3) and C++.
enum cqos_test_asked { CQOS_TEST_SCHED, CQOS_TEST_PTHREAD, CQOS_TEST_SYSCONF, CQOS_TEST_CPP };
int cqos_test_processors(enum cqos_test_asked asked);
int cqos_test_processors_of_cpp(void);

// Makes the kernel answer clone3(2) of the calling thread with EPERM from now on, as old profiles of containers do.
// Returns 0 or a negated errno.
int cqos_test_refuse_threads(void);

// The bytes that the program has allocated and not freed; 0 where the C library does not say.
size_t cqos_test_allocated(void);

#ifdef __cplusplus
}
#endif

#endif
