#ifndef CLIBUV_SHIM_H
#define CLIBUV_SHIM_H
#include <uv.h>
/* The loop's timer and its wake-up are descriptors, which the Swift overlay of glibc does not declare. */
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#endif
