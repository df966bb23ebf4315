#include "CQoSThreadLocal.h"

__thread void *cqos_tls_worker;
__thread void *cqos_tls_lane;
__thread void *cqos_tls_frame;
__thread void *cqos_tls_thread;
__thread uint32_t cqos_tls_id;
__thread void *cqos_tls_item;
