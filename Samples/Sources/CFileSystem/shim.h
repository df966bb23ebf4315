// Calls of Linux that the Glibc module does not have.
#include <sys/types.h>
#include <sys/vfs.h>
#include <sys/xattr.h>

int syncfs(int descriptor);
int sync_file_range(int descriptor, off_t offset, off_t count, unsigned int flags);
int renameat2(int old_folder, const char *old_name, int new_folder, const char *new_name, unsigned int flags);
ssize_t copy_file_range(
    int source, off_t *source_offset, int target, off_t *target_offset, size_t count, unsigned int flags);

// The type of the file system of an open file, as statfs(2) has it; 0 if it is not known.
static inline long file_system_type(int descriptor) {
    struct statfs status;
    return fstatfs(descriptor, &status) == 0 ? (long)status.f_type : 0;
}

// The signals are a sigset_t. Its header would give this module types that belong to Glibc.
int signalfd(int descriptor, const void *signals, int flags);
