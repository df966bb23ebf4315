#ifndef CSCRYPT_H
#define CSCRYPT_H
// The memory-hard part of scrypt (RFC 7914, section 5), with half of its usual memory.

#include <stddef.h>
#include <stdint.h>

// Mixes one block of 128 * size bytes in place (scryptROMix).
// `rounds` is a power of two, 2 or more. Returns 0, or the errno of an allocation that failed.
int cscrypt_mix(uint8_t *block, size_t size, uint64_t rounds);

#endif
