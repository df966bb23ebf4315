#define _GNU_SOURCE
#include "CBenchShims.h"

#include <errno.h>
#include <fcntl.h>

int bench_open_direct(const char *path, int writes) {
    int descriptor = open(path, (writes ? O_RDWR : O_RDONLY) | O_DIRECT | O_CLOEXEC);
    return descriptor < 0 ? -errno : descriptor;
}
