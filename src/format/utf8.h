/* format/utf8.h: UTF-8 as the text formats check and make it. */
#ifndef FM_FORMAT_UTF8_H
#define FM_FORMAT_UTF8_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Length of the well-formed character at p (1..4), or 0 when there is none: overlong forms,
 * surrogates and values above U+10FFFF are not well-formed. end - p >= 1. */
static inline int fm_utf8_char_len(const unsigned char *p, const unsigned char *end)
{
    unsigned char c = p[0];

    if (c < 0x80) return 1;
    if (c < 0xC2) return 0;
    if (c < 0xE0) return end - p >= 2 && (p[1] & 0xC0) == 0x80 ? 2 : 0;
    if (c < 0xF0) {
        if (end - p < 3 || (p[1] & 0xC0) != 0x80 || (p[2] & 0xC0) != 0x80) return 0;
        if (c == 0xE0 && p[1] < 0xA0) return 0;
        if (c == 0xED && p[1] > 0x9F) return 0;
        return 3;
    }
    if (c > 0xF4 || end - p < 4) return 0;
    if ((p[1] & 0xC0) != 0x80 || (p[2] & 0xC0) != 0x80 || (p[3] & 0xC0) != 0x80) return 0;
    if (c == 0xF0 && p[1] < 0x90) return 0;
    if (c == 0xF4 && p[1] > 0x8F) return 0;
    return 4;
}

/* Writes the UTF-8 of a scalar value (<= 0x10FFFF, no surrogate); returns its length. */
static inline int fm_utf8_put(uint32_t c, char out[4])
{
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    if (c < 0x800) {
        out[0] = (char)(0xC0 | (c >> 6));
        out[1] = (char)(0x80 | (c & 0x3F));
        return 2;
    }
    if (c < 0x10000) {
        out[0] = (char)(0xE0 | (c >> 12));
        out[1] = (char)(0x80 | ((c >> 6) & 0x3F));
        out[2] = (char)(0x80 | (c & 0x3F));
        return 3;
    }
    out[0] = (char)(0xF0 | (c >> 18));
    out[1] = (char)(0x80 | ((c >> 12) & 0x3F));
    out[2] = (char)(0x80 | ((c >> 6) & 0x3F));
    out[3] = (char)(0x80 | (c & 0x3F));
    return 4;
}

static inline bool fm_utf8_valid(const char *bytes, size_t len)
{
    const unsigned char *p = (const unsigned char *)bytes, *end = p + len;

    while (p < end) {
        int n = fm_utf8_char_len(p, end);
        if (n == 0) return false;
        p += n;
    }
    return true;
}

static inline bool fm_hex_digit(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/* Value of four hexadecimal digits, or -1. */
static inline int32_t fm_hex4(const char *p)
{
    int32_t value = 0;

    for (int i = 0; i < 4; i++) {
        char c = p[i];
        int digit = c >= '0' && c <= '9'   ? c - '0'
                    : c >= 'a' && c <= 'f' ? c - 'a' + 10
                    : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                           : -1;
        if (digit < 0) return -1;
        value = value * 16 + digit;
    }
    return value;
}

/* The text itself when it is well-formed, else a copy in arena with U+FFFD for what is not, as
 * Java's decoder makes it. ptr NULL: out of memory. */
fm_str fm_utf8_repair(fm_str text, fm_arena *arena);

#endif
