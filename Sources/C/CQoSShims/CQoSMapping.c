#include "CQoSMapping.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
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
static char *shown_path;

// A forked child has the shared memory of its parent, and would count into it. It gets a copy of its own at the same address: each page
// shows what the parent has there until the child writes to it. The descriptor may have been closed, and its number be another file's.
static void take_own_copy(void) {
    if (!shown) return;
    struct stat now;
    int flags = MAP_PRIVATE | MAP_FIXED, access = PROT_READ | PROT_WRITE;
    int is_ours = fstat(shown_descriptor, &now) == 0 && now.st_dev == shown_status.st_dev && now.st_ino == shown_status.st_ino;
    if (!is_ours || mmap(shown, shown_size, access, flags, shown_descriptor, 0) == MAP_FAILED)
        mmap(shown, shown_size, access, flags | MAP_ANONYMOUS, -1, 0);
}

static void remove_file(void) {
    // exit(3) of a forked child leaves the file of its parent alone.
    if (shown_path && getpid() == shown_by) unlink(shown_path);
}

// Gives the file its size and maps it. Closes the descriptor if that fails.
static int show(int descriptor, size_t size, void **memory) {
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
    *memory = ftruncate(descriptor, (off_t)size) != 0
                  ? MAP_FAILED
                  : mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    if (*memory == MAP_FAILED || fstat(descriptor, &shown_status) != 0) {
        int error = errno;
        if (*memory != MAP_FAILED) munmap(*memory, size);
        close(descriptor);
        return -error;
    }
    shown_size = size;
    shown_descriptor = descriptor;
    shown_by = getpid();
    if (pthread_atfork(NULL, NULL, take_own_copy) == 0) shown = *memory;
    return descriptor;
}

int cqos_make_shown_memory(const char *name, size_t size, void **memory) {
    int descriptor = (int)syscall(SYS_memfd_create, name, 3u /* MFD_CLOEXEC | MFD_ALLOW_SEALING */);
    if (descriptor < 0) return -errno;
    int made = show(descriptor, size, memory);
    if (made < 0) return made;
    // F_ADD_SEALS: F_SEAL_SEAL, F_SEAL_SHRINK, F_SEAL_GROW, and F_SEAL_FUTURE_WRITE where the kernel has it.
    if (fcntl(made, 1033, 1 | 2 | 4 | 16) == 0 || fcntl(made, 1033, 1 | 2 | 4) == 0) return made;
    int error = errno;
    shown = NULL;
    munmap(*memory, size);
    close(made);
    return -error;
}

int cqos_make_shown_file(const char *path, size_t size, void **memory) {
    int descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (descriptor < 0) return -errno;
    int made = show(descriptor, size, memory);
    if (made < 0) {
        unlink(path);
        return made;
    }
    shown_path = strdup(path);
    atexit(remove_file);
    return made;
}
