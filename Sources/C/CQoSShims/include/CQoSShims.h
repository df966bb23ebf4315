#ifndef CQOS_SHIMS_H
#define CQOS_SHIMS_H
// C calls that Swift's importer does not bring in (variadic functions, macros, missing glibc wrappers).
// Everything here is `static inline` and prefixed `cqos_`.
#endif
