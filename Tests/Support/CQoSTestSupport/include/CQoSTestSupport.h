#ifndef CQOS_TEST_SUPPORT_H
#define CQOS_TEST_SUPPORT_H

// Takes CAP_SYS_NICE from the calling thread, and so from the threads it makes. Returns 0 or a negated errno.
int cqos_test_drop_sys_nice(void);

#endif
