#define _GNU_SOURCE  // secure_getenv(3)

#include "CQoSMapping.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static void *shown;
static size_t shown_size;
static int shown_descriptor = -1;
static struct stat shown_status;
static pid_t shown_by;

// Only for a file: its folder, its name there, and a descriptor with its lock (flock(2)).
static int shown_folder = -1;
static int shown_lock = -1;
static char shown_name[64];

enum { kept_files = 4, seen_files = 64 };

static int is_same(const struct stat *one, const struct stat *other) {
    return one->st_dev == other->st_dev && one->st_ino == other->st_ino;
}

static int is_ours(int descriptor) {
    struct stat now;
    return fstat(descriptor, &now) == 0 && is_same(&now, &shown_status);
}

// A forked child has the shared memory of its parent, and would count into it. It gets a copy of its own at the same address: each page
// shows what the parent has there until the child writes to it. The descriptor may have been closed, and its number be another file's.
static void take_own_copy(void) {
    if (!shown) return;
    int flags = MAP_PRIVATE | MAP_FIXED, access = PROT_READ | PROT_WRITE;
    if (!is_ours(shown_descriptor) || mmap(shown, shown_size, access, flags, shown_descriptor, 0) == MAP_FAILED)
        mmap(shown, shown_size, access, flags | MAP_ANONYMOUS, -1, 0);
    // The lock says that the parent lives.
    if (shown_lock >= 0 && is_ours(shown_lock)) close(shown_lock);
    shown_lock = -1;
}

// Removes a file, unless the name is another file's by now.
static void remove_same(int folder, const char *name, const struct stat *status) {
    struct stat now;
    if (fstatat(folder, name, &now, AT_SYMLINK_NOFOLLOW) == 0 && is_same(&now, status)) unlinkat(folder, name, 0);
}

static void remove_file(void) {
    // exit(3) of a forked child leaves the file of its parent alone.
    if (shown_folder >= 0 && getpid() == shown_by) remove_same(shown_folder, shown_name, &shown_status);
}

// Gives the file its size and maps it. Closes the descriptor if that fails.
//
// `reserves`: whether the file system must have room for all of it now. Where it is full later, a store would be a SIGBUS.
static int show(int descriptor, size_t size, int reserves, void **memory) {
    // A process without standard streams would write its messages into the memory.
    if (descriptor <= 2) {
        int high = fcntl(descriptor, F_DUPFD_CLOEXEC, 3), error = errno;
        close(descriptor);
        if (high < 0) return -error;
        descriptor = high;
    }
    // Beyond the limit of files ftruncate(2) raises SIGXFSZ, also for a file in memory.
    struct rlimit limit;
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < size) {
        close(descriptor);
        return -EFBIG;
    }
    int error = ftruncate(descriptor, (off_t)size) != 0 ? errno : 0;
    if (!error && reserves)
        do error = posix_fallocate(descriptor, 0, (off_t)size);
        while (error == EINTR);
    void *place = error ? MAP_FAILED : mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    if (!error && place == MAP_FAILED) error = errno;
    if (!error && fstat(descriptor, &shown_status) != 0) error = errno;
    if (error) {
        if (place != MAP_FAILED) munmap(place, size);
        close(descriptor);
        return -error;
    }
    *memory = place;
    shown_size = size;
    shown_descriptor = descriptor;
    shown_by = getpid();
    if (pthread_atfork(NULL, NULL, take_own_copy) == 0) shown = *memory;
    return descriptor;
}

int cqos_make_shown_memory(const char *name, size_t size, void **memory) {
    // MFD_CLOEXEC, MFD_ALLOW_SEALING, and MFD_NOEXEC_SEAL, which Linux has since 6.3 and may demand.
    int descriptor = (int)syscall(SYS_memfd_create, name, 1u | 2u | 8u);
    if (descriptor < 0) descriptor = (int)syscall(SYS_memfd_create, name, 1u | 2u);
    if (descriptor < 0) return -errno;
    int made = show(descriptor, size, 0, memory);
    if (made < 0) return made;
    // F_ADD_SEALS: F_SEAL_SEAL, F_SEAL_SHRINK, F_SEAL_GROW, and F_SEAL_FUTURE_WRITE where the kernel has it.
    if (fcntl(made, 1033, 1 | 2 | 4 | 16) == 0 || fcntl(made, 1033, 1 | 2 | 4) == 0) return made;
    int error = errno;
    shown = NULL;
    munmap(*memory, size);
    close(made);
    return -error;
}

// Opens a file that a process of this user has left, and locks it. Returns the descriptor, or the negated errno: -EWOULDBLOCK while its
// process is there.
//
// `least`: the size of the smallest file to lock. A process locks its file before it gives it a size, so an empty one may still get its
// process's lock.
static int open_left(int folder, const char *name, off_t least, struct stat *status) {
    int descriptor = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (descriptor < 0) return -errno;
    int error = 0;
    if (fstat(descriptor, status) != 0)
        error = errno;
    else if (!S_ISREG(status->st_mode) || status->st_uid != geteuid())
        error = EPERM;
    else if (status->st_size < least)
        error = EWOULDBLOCK;
    else if (flock(descriptor, LOCK_EX | LOCK_NB) != 0)
        error = errno;
    if (!error) return descriptor;
    close(descriptor);
    return -error;
}

struct left_file {
    struct stat status;
    int descriptor;
    char name[64];
};

static int newer_first(const void *one, const void *other) {
    const struct timespec *first = &((const struct left_file *)one)->status.st_mtim;
    const struct timespec *second = &((const struct left_file *)other)->status.st_mtim;
    if (first->tv_sec != second->tv_sec) return first->tv_sec > second->tv_sec ? -1 : 1;
    return first->tv_nsec > second->tv_nsec ? -1 : first->tv_nsec < second->tv_nsec;
}

// Removes the files of killed processes, except for the newest few: a service that is started again and again would fill the folder.
static void remove_left(int folder, const char *prefix) {
    struct left_file left[seen_files];
    struct dirent *entry;
    size_t count = 0, length = strlen(prefix);
    int again = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *names = again < 0 ? NULL : fdopendir(again);
    if (!names) {
        if (again >= 0) close(again);
        return;
    }
    while (count < seen_files && (entry = readdir(names))) {
        const char *name = entry->d_name;
        if (strncmp(name, prefix, length) != 0 || strlen(name) >= sizeof left->name) continue;
        const char *end = name + length + strspn(name + length, "0123456789");
        if (*end != 0 && strcmp(end, ".old") != 0) continue;
        int descriptor = open_left(folder, name, 1, &left[count].status);
        if (descriptor < 0) continue;
        left[count].descriptor = descriptor;
        strcpy(left[count++].name, name);
    }
    closedir(names);
    qsort(left, count, sizeof *left, newer_first);
    for (size_t index = 0; index < count; index++) {
        if (index >= kept_files) remove_same(folder, left[index].name, &left[index].status);
        close(left[index].descriptor);
    }
}

// Makes the file as one that did not exist. Returns its descriptor, or the negated errno.
static int make_file(int folder, const char *name) {
    int flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    int descriptor = openat(folder, name, flags, 0600);
    if (descriptor >= 0 || errno != EEXIST) return descriptor < 0 ? -errno : descriptor;
    // A killed process with the same id has left it. It is kept once: it may be what somebody looks for.
    struct stat status;
    char old[sizeof shown_name + 4];
    snprintf(old, sizeof old, "%s.old", name);
    int left = open_left(folder, name, 0, &status);
    if (left < 0) return left == -EWOULDBLOCK ? -EBUSY : left;
    int error = renameat(folder, name, folder, old) != 0 ? errno : 0;
    close(left);
    if (error) return -error;
    descriptor = openat(folder, name, flags, 0600);
    return descriptor < 0 ? -errno : descriptor;
}

int cqos_make_shown_file(const char *path, const char *prefix, size_t size, void **memory) {
    // All that follows is relative to this descriptor, so that neither the path nor the working directory can change meanwhile.
    int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0) return -errno;
    struct stat status;
    char name[sizeof shown_name];
    int made = fstat(folder, &status) != 0 ? -errno : 0;
    if (!made && (status.st_uid != geteuid() || (status.st_mode & 022))) made = -EPERM;
    if (!made && (size_t)snprintf(name, sizeof name, "%s%d", prefix, (int)getpid()) >= sizeof name) made = -ENAMETOOLONG;
    if (!made) made = make_file(folder, name);
    if (made >= 0) {
        // Opened again: the memory of a forked child keeps the first opening, and a lock belongs to an opening.
        int lock = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
        // Waits: a reader may look at this moment whether the file has a process.
        if (lock >= 0)
            while (flock(lock, LOCK_EX) != 0 && errno == EINTR) {
            }
        made = show(made, size, 1, memory);
        if (made >= 0) {
            remove_left(folder, prefix);
            strcpy(shown_name, name);
            shown_lock = lock;
            shown_folder = folder;
            atexit(remove_file);
            return made;
        }
        unlinkat(folder, name, 0);
        if (lock >= 0) close(lock);
    }
    close(folder);
    return made;
}

void cqos_populate(void *memory, size_t size) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *first = (char *)((uintptr_t)memory / page * page);
    // MADV_POPULATE_WRITE, Linux 5.14. An older kernel gives each page at its first use.
    madvise(first, (size_t)((char *)memory + size - first), 23);
}

const char *cqos_setting(const char *name) { return secure_getenv(name); }
