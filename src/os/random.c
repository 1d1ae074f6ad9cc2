/* os/random.c: the kernel's random bytes. */
#include "os/random.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/random.h>

#include "base/status.h"

void fm_random_bytes(void *out, size_t size)
{
    for (size_t done = 0; done < size;) {
        ssize_t n = getrandom((char *)out + done, size - done, 0);
        fm_assert(n > 0 || errno == EINTR); /* the kernel always has some */
        if (n > 0) done += (size_t)n;
    }
}

void fm_uuid(char out[FM_UUID_TEXT_SIZE])
{
    uint8_t b[16];

    fm_random_bytes(b, sizeof b);
    b[6] = (uint8_t)((b[6] & 0x0F) | 0x40); /* version 4 */
    b[8] = (uint8_t)((b[8] & 0x3F) | 0x80); /* variant 1 */
    snprintf(out, FM_UUID_TEXT_SIZE, "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", b[0], b[1], b[2], b[3],
             b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13], b[14], b[15]);
}
