/* os/random.h: unpredictable bytes and UUIDs. */
#ifndef FM_OS_RANDOM_H
#define FM_OS_RANDOM_H

#include <stddef.h>

enum { FM_UUID_TEXT_SIZE = 37 };
void fm_random_bytes(void *out, size_t size);
/* A random (version 4) UUID in lower case with its NUL. */
void fm_uuid(char out[FM_UUID_TEXT_SIZE]);

#endif
