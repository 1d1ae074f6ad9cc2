/* base/seal.c: see base/seal.h. */
#include "base/seal.h"

#include <string.h>

#include "base/hash.h"
#include "base/status.h"

enum { DIGITS = 16, NAME_LEN = sizeof FM_SEAL_NAME - 1 };

/* Where the digits stand; -1: the text has no such field. */
static ptrdiff_t find_digits(fm_str text)
{
    ptrdiff_t at = fm_str_find(text, FM_STR(FM_SEAL_NAME));

    if (at < 0 || text.len - (size_t)at < NAME_LEN + DIGITS) return -1;
    return at + NAME_LEN;
}

/* What comes before and behind the digits, both by checksum: so the text need not be copied. */
static void digits_of(fm_str text, size_t at, char out[DIGITS])
{
    static const char hex[] = "0123456789abcdef";
    uint64_t before = fm_checksum(text.ptr, at), behind = fm_checksum(text.ptr + at + DIGITS, text.len - at - DIGITS);
    uint64_t sum = fm_hash_u128(before, behind);

    for (int i = 0; i < DIGITS; i++) out[i] = hex[sum >> (60 - 4 * i) & 15];
}

void fm_seal(char *text, size_t len)
{
    ptrdiff_t at = find_digits((fm_str){text, len});

    fm_assert(at >= 0);
    digits_of((fm_str){text, len}, (size_t)at, text + at);
}

bool fm_seal_holds(fm_str text)
{
    ptrdiff_t at = find_digits(text);
    char digits[DIGITS];

    if (at < 0) return true;
    digits_of(text, (size_t)at, digits);
    return memcmp(digits, text.ptr + at, DIGITS) == 0;
}
