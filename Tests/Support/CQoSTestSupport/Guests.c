#define _GNU_SOURCE
#include "CQoSTestSupport.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

// The ways in which C makes threads and processes, for the table of what they inherit from a thread of ours.

extern char **environ;

void cqos_test_scheduling(char *text, size_t size, int has_nice) {
    unsigned long processors[64] = {0};
    syscall(SYS_sched_getaffinity, 0, sizeof processors, processors);
    int count = 0;
    for (unsigned word = 0; word < 64; word++) count += __builtin_popcountl(processors[word]);
    uint64_t mask = 0;
    syscall(SYS_rt_sigprocmask, SIG_BLOCK, NULL, &mask, sizeof mask);
    char nice[32] = "";
    if (has_nice) snprintf(nice, sizeof nice, " nice %ld", 20 - syscall(SYS_getpriority, 0, 0));
    snprintf(text, size, "cpus %d (%lx)%s policy %ld slack %ld io %ld mask %lx", count, processors[0], nice,
             syscall(SYS_sched_getscheduler, 0), syscall(SYS_prctl, PR_GET_TIMERSLACK, 0, 0, 0, 0), syscall(SYS_ioprio_get, 1, 0),
             (unsigned long)mask);
}

struct place {
    char *text;
    size_t size;
};

static void *write_scheduling(void *argument) {
    struct place *place = argument;
    cqos_test_scheduling(place->text, place->size, 1);
    return NULL;
}

void cqos_test_scheduling_of_pthread(char *text, size_t size) {
    struct place place = {text, size};
    pthread_t thread;
    int error = pthread_create(&thread, NULL, write_scheduling, &place);
    if (error != 0) {
        snprintf(text, size, "error %d", error);
        return;
    }
    pthread_join(thread, NULL);
}

static void read_line(FILE *from, char *text, size_t size) {
    if (!from || !fgets(text, (int)size, from)) snprintf(text, size, "nothing");
    text[strcspn(text, "\n")] = 0;
}

void cqos_test_run(enum cqos_test_way way, const char *program, const char *argument, char *text, size_t size) {
    char command[4096];
    if (way == CQOS_TEST_POPEN) {
        snprintf(command, sizeof command, "exec %s %s", program, argument);
        FILE *pipe = popen(command, "re");
        read_line(pipe, text, size);
        if (pipe) pclose(pipe);
        return;
    }
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) {
        snprintf(text, size, "no pipe");
        return;
    }
    char *arguments[] = {(char *)program, (char *)argument, NULL};
    pid_t child = 0;
    int error = 0;
    if (way == CQOS_TEST_FORK) {
        child = fork();
        if (child == 0) {
            dup2(ends[1], 1);
            execv(program, arguments);
            _exit(127);
        }
    } else if (way == CQOS_TEST_SYSTEM) {
        snprintf(command, sizeof command, "exec %s %s >/proc/%d/fd/%d", program, argument, getpid(), ends[1]);
        error = system(command);
    } else {
        posix_spawn_file_actions_t actions;
        posix_spawn_file_actions_init(&actions);
        posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
        error = way == CQOS_TEST_SPAWN ? posix_spawn(&child, program, &actions, NULL, arguments, environ)
                                       : posix_spawnp(&child, program, &actions, NULL, arguments, environ);
        posix_spawn_file_actions_destroy(&actions);
    }
    close(ends[1]);
    FILE *output = fdopen(ends[0], "r");
    if (error != 0) {
        snprintf(text, size, "error %d", error);
    } else {
        read_line(output, text, size);
    }
    if (output) fclose(output);
    if (child > 0) waitpid(child, NULL, 0);
}

int cqos_test_processors(enum cqos_test_asked asked) {
    cpu_set_t processors;
    CPU_ZERO(&processors);
    switch (asked) {
    case CQOS_TEST_SCHED: return sched_getaffinity(0, sizeof processors, &processors) == 0 ? CPU_COUNT(&processors) : -1;
    case CQOS_TEST_PTHREAD:
        return pthread_getaffinity_np(pthread_self(), sizeof processors, &processors) == 0 ? CPU_COUNT(&processors) : -1;
    case CQOS_TEST_SYSCONF: return (int)sysconf(_SC_NPROCESSORS_ONLN);
    case CQOS_TEST_CPP: return cqos_test_processors_of_cpp();
    }
    return -1;
}

static void *note_name(void *name) {
    prctl(PR_GET_NAME, (unsigned long)name, 0, 0, 0);
    return NULL;
}

int cqos_test_is_handed_over(void) {
    char own[16] = "", made[16] = "";
    prctl(PR_GET_NAME, (unsigned long)own, 0, 0, 0);
    prctl(PR_SET_NAME, (unsigned long)"a-maker", 0, 0, 0);
    pthread_t thread;
    int error = pthread_create(&thread, NULL, note_name, made);
    if (error == 0) pthread_join(thread, NULL);
    prctl(PR_SET_NAME, (unsigned long)own, 0, 0, 0);
    return error ? -1 : strcmp(made, "a-maker") != 0;
}

int cqos_test_thread_in_forked_child(void) {
    pid_t child = fork();
    if (child == 0) {
        // A child that waits for a thread which only its parent has ends here.
        alarm(30);
        char text[512];
        for (int count = 0; count < 3; count++) cqos_test_scheduling_of_pthread(text, sizeof text);
        _exit(strncmp(text, "cpus", 4) != 0);
    }
    int status = -1;
    return child > 0 && waitpid(child, &status, 0) == child ? status : -1;
}
