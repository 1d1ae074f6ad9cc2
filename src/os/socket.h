/* os/socket.h: TCP connections to others.
 *
 * Errors: FM_UNAVAILABLE, naming host and port and what the system said. A connection belongs to one thread, but
 * for fm_socket_shutdown, by which another ends its waiting. */
#ifndef FM_OS_SOCKET_H
#define FM_OS_SOCKET_H

#include "base/arena.h"

typedef struct fm_socket fm_socket;

/* Tries the addresses of host in the resolver's order, IPv4 and IPv6, until one answers.
 *
 * port        1 to 65535
 * timeout_us  for all addresses together, without the look-up of the name
 * out         the caller closes it */
fm_status fm_socket_connect(const char *host, int port, int64_t timeout_us, fm_socket **out, fm_error *err);
/* Waits for at least one byte, reads up to `size`; *got 0: the peer has ended the stream, or it was shut down. */
fm_status fm_socket_read(fm_socket *socket, void *out, size_t size, size_t *got, fm_error *err);
/* Reads that wait, and all later ones, see the end of the stream. Any thread. */
void fm_socket_shutdown(fm_socket *socket);
void fm_socket_close(fm_socket *socket); /* accepts NULL; nobody may be reading any more */

#endif
