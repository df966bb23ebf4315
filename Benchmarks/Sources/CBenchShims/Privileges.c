#define _GNU_SOURCE
#include "CBenchShims.h"

#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

// glibc has no wrapper for sched_setattr(2) before 2.41; the structure's first version is stable kernel ABI.
struct attributes {
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime, deadline, period;
};

// SCHED_FLAG_RESET_ON_FORK of <linux/sched.h>, which cannot be included beside <sched.h>.
#define RESET_ON_FORK 0x01

static int set_attributes(uint32_t policy, uint32_t priority, uint64_t slice) {
    struct attributes attributes = {
        .size = sizeof attributes,
        .policy = policy,
        .flags = RESET_ON_FORK,
        .priority = priority,
        .runtime = slice,
    };
    return syscall(SYS_sched_setattr, 0, &attributes, 0) == 0 ? 0 : -errno;
}

int bench_become_outside_world(void) {
    if (set_attributes(SCHED_FIFO, 1, 0) == 0) return 1;
    set_attributes(SCHED_OTHER, 0, 100000);
    return 0;
}

int bench_drop_privileges(void) {
    if (setgroups(0, NULL) != 0 || setresgid(65534, 65534, 65534) != 0 || setresuid(65534, 65534, 65534) != 0) {
        return -errno;
    }
    // Changing the uid makes a process undumpable, and its own files in /proc another user's; one that was started by
    // that user is not.
    prctl(PR_SET_DUMPABLE, 1);
    return 0;
}

int bench_has_cap_sys_nice(void) {
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
    struct __user_cap_data_struct data[2];
    memset(data, 0, sizeof data);
    if (syscall(SYS_capget, &header, data) != 0) return 0;
    return (data[0].effective >> CAP_SYS_NICE) & 1;
}

void bench_spawn_as_service(posix_spawnattr_t *attributes) {
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setsigmask(attributes, &none);
    posix_spawnattr_setsigdefault(attributes, &all);
}
