#ifndef CLIBUV_SHIM_H
#define CLIBUV_SHIM_H
#include <uv.h>
/* The loop's timer is a timer descriptor, which the Swift overlay of glibc does not declare. */
#include <sys/timerfd.h>
#endif
