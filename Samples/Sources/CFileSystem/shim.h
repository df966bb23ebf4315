// Calls of Linux that the Glibc module does not have.
#include <sys/types.h>
#include <sys/xattr.h>

int syncfs(int descriptor);
int sync_file_range(int descriptor, off_t offset, off_t count, unsigned int flags);
int renameat2(int old_folder, const char *old_name, int new_folder, const char *new_name, unsigned int flags);
ssize_t copy_file_range(
    int source, off_t *source_offset, int target, off_t *target_offset, size_t count, unsigned int flags);
