#include "CQoSThreadLocal.h"

__thread void *cqos_tls_worker;
__thread void *cqos_tls_lane;
__thread void *cqos_tls_frame;
__thread void *cqos_tls_item;
