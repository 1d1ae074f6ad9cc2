/* format/utf8.c: makes bytes UTF-8. */
#include "format/utf8.h"

/* Bytes that Java's decoder replaces together by one U+FFFD: the longest start of a character, at
 * least one. */
static size_t malformed_len(const unsigned char *p, const unsigned char *end)
{
    unsigned char c = p[0];
    size_t want = c >= 0xC2 && c < 0xE0    ? 2
                  : c >= 0xE0 && c < 0xF0  ? 3
                  : c >= 0xF0 && c <= 0xF4 ? 4
                                           : 1,
           n = 1;

    while (n < want && p + n < end) {
        unsigned char low = 0x80, high = 0xBF, x = p[n];
        if (n == 1 && c == 0xE0) low = 0xA0;
        if (n == 1 && c == 0xED) high = 0x9F;
        if (n == 1 && c == 0xF0) low = 0x90;
        if (n == 1 && c == 0xF4) high = 0x8F;
        if (x < low || x > high) break;
        n++;
    }
    return n;
}

fm_str fm_utf8_repair(fm_str text, fm_arena *arena)
{
    if (fm_utf8_valid(text.ptr, text.len)) return text;
    const unsigned char *p = (const unsigned char *)text.ptr, *end = p + text.len;
    char *copy = fm_arena_alloc(arena, text.len * 3 + 1, 1);
    size_t len = 0;

    if (!copy) return (fm_str){NULL, 0};
    while (p < end) {
        size_t n = (size_t)fm_utf8_char_len(p, end);
        if (n) {
            memcpy(copy + len, p, n);
            len += n;
        } else {
            n = malformed_len(p, end);
            memcpy(copy + len, "\xEF\xBF\xBD", 3);
            len += 3;
        }
        p += n;
    }
    copy[len] = 0;
    return (fm_str){copy, len};
}
