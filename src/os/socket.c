/* os/socket.c: TCP over the system's sockets. */
#include "os/socket.h"

#include "os/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { HOST_SIZE = 256 }; /* bytes of a host name that errors show; DNS allows 253 */

struct fm_socket {
    int fd;
    int port;
    char host[HOST_SIZE];
};

static fm_status no_connection(const char *host, int port, const char *why, fm_error *err)
{
    return fm_fail(err, FM_UNAVAILABLE, "FLOODMARK_NO_CONNECTION",
                   "Cannot connect to %s, port %d: %s. Is a server listening there? (To try one by hand: nc -lk %d)",
                   host, port, why, port);
}

/* Waits until the connection stands or is refused: 0 or an errno. */
static int wait_connected(int fd, int64_t deadline_us)
{
    struct pollfd p = {.fd = fd, .events = POLLOUT};
    int code = 0, n;
    socklen_t size = sizeof code;

    do {
        int64_t left_us = deadline_us - fm_clock_monotonic_us(fm_clock_real());
        if (left_us <= 0) return ETIMEDOUT;
        n = poll(&p, 1, (int)(left_us / 1000) + 1);
    } while (n == 0 || (n < 0 && errno == EINTR));
    if (n < 0) return errno;
    return getsockopt(fd, SOL_SOCKET, SO_ERROR, &code, &size) == 0 ? code : errno;
}

/* One address: 0 and *out, or an errno. */
static int connect_to(const struct addrinfo *address, int64_t deadline_us, int *out)
{
    int fd = socket(address->ai_family, address->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, address->ai_protocol);
    int code = 0;

    if (fd < 0) return errno;
    if (connect(fd, address->ai_addr, address->ai_addrlen) != 0) {
        code = errno == EINPROGRESS || errno == EINTR ? wait_connected(fd, deadline_us) : errno;
    }
    if (code == 0 && fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK) != 0) code = errno;
    if (code != 0) {
        close(fd);
        return code;
    }
    *out = fd;
    return 0;
}

fm_status fm_socket_connect(const char *host, int port, int64_t timeout_us, fm_socket **out, fm_error *err)
{
    struct addrinfo wanted = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM}, *found = NULL;
    int64_t deadline_us = fm_clock_monotonic_us(fm_clock_real()) + timeout_us;
    fm_socket *s = calloc(1, sizeof *s);
    char service[16];
    int fd = -1, code = ENOENT;

    if (!s) return fm_no_memory(NULL, err);
    snprintf(service, sizeof service, "%d", port);
    snprintf(s->host, sizeof s->host, "%s", host);
    s->port = port;
    int no_name = getaddrinfo(host, service, &wanted, &found);
    if (no_name != 0) {
        free(s);
        return no_connection(host, port, no_name == EAI_SYSTEM ? strerror(errno) : gai_strerror(no_name), err);
    }
    for (const struct addrinfo *a = found; a && fd < 0; a = a->ai_next) code = connect_to(a, deadline_us, &fd);
    freeaddrinfo(found);
    if (fd < 0) {
        free(s);
        return no_connection(host, port, strerror(code), err);
    }
    s->fd = fd;
    *out = s;
    return FM_OK;
}

fm_status fm_socket_read(fm_socket *s, void *out, size_t size, size_t *got, fm_error *err)
{
    ssize_t n;

    do {
        n = recv(s->fd, out, size, 0);
    } while (n < 0 && errno == EINTR);
    *got = n > 0 ? (size_t)n : 0;
    if (n >= 0) return FM_OK;
    return fm_fail(err, FM_UNAVAILABLE, "FLOODMARK_CONNECTION_LOST", "The connection to %s, port %d is lost: %s.",
                   s->host, s->port, strerror(errno));
}

void fm_socket_shutdown(fm_socket *s) { shutdown(s->fd, SHUT_RDWR); }

void fm_socket_close(fm_socket *s)
{
    if (!s) return;
    close(s->fd);
    free(s);
}
