#ifndef CQOS_MAPPING_H
#define CQOS_MAPPING_H
#include <stddef.h>

// Memory that a process shows to others, which open it through /proc/PID/fd or as a file. One for each process.
//
// Both calls return the descriptor, which must stay open, or the negated errno. The memory is zero.

// Makes it without a file (memfd_create(2)). It is sealed: nobody can cut it short, which would be a SIGBUS, and no other process can
// write to it (F_SEAL_FUTURE_WRITE, Linux 5.1).
int cqos_make_shown_memory(const char *_Nonnull name, size_t size, void *_Nullable *_Nonnull memory);

// Makes it as a new file, which remains if the process is killed. exit(3) removes the file. Its name is the prefix and the id of the
// process. The file is locked (flock(2)) as long as the process lives. All of its room is reserved, so that no store is a SIGBUS.
//
// Removes the files of killed processes, except for the newest four and those of other users. A file of the same name is renamed.
//
// -EPERM: the folder is another user's, or others may write to it. -EBUSY: a living process has a file of that name.
int cqos_make_shown_file(
    const char *_Nonnull folder, const char *_Nonnull prefix, size_t size, void *_Nullable *_Nonnull memory);

// Gives a part of the shown memory its pages now, so that its first use costs nothing. Nothing happens before Linux 5.14.
void cqos_populate(void *_Nonnull memory, size_t size);

// The value of an environment variable; none in a program that runs with other rights than its user's (secure_getenv(3)).
const char *_Nullable cqos_setting(const char *_Nonnull name);

// Copies a text of at most `size` - 1 bytes and a zero.
static inline void cqos_copy_text(char *_Nonnull to, const char *_Nonnull from, size_t size) {
    size_t index = 0;
    for (; index + 1 < size && from[index] != 0; index++) to[index] = from[index];
    to[index] = 0;
}

#endif
