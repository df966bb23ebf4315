#define _GNU_SOURCE
#include "CBenchShims.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

int bench_connect(uint16_t port) {
    int connection = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connection < 0) return -errno;
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int one = 1;
    if (connect(connection, (struct sockaddr *)&address, sizeof address) != 0 ||
        setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one) != 0) {
        int error = errno;
        close(connection);
        return -error;
    }
    return connection;
}

int bench_exchange(int connection) {
    char bytes[64];
    memset(bytes, 1, sizeof bytes);
    if (send(connection, bytes, sizeof bytes, MSG_NOSIGNAL) != (ssize_t)sizeof bytes) return errno ? errno : EIO;
    size_t received = 0;
    while (received < sizeof bytes) {
        ssize_t count = recv(connection, bytes + received, sizeof bytes - received, 0);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return count < 0 ? errno : ECONNRESET;
        received += (size_t)count;
    }
    return 0;
}

void bench_restart_with(const char *name, const char *value, char **arguments) {
    if (getenv(name)) return;
    setenv(name, value, 1);
    execv("/proc/self/exe", arguments);
}
