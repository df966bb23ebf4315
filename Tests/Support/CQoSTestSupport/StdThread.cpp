#include "CQoSTestSupport.h"

#include <thread>

// What needs C++.

void cqos_test_scheduling_of_std_thread(char *text, size_t size) {
    std::thread([=] { cqos_test_scheduling(text, size, 1); }).join();
}

int cqos_test_processors_of_cpp(void) { return static_cast<int>(std::thread::hardware_concurrency()); }
