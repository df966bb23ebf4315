// Calls of Linux that the Glibc module does not have.
#include <sys/xattr.h>

int syncfs(int descriptor);
