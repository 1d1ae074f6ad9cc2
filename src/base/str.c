/* base/str.c: text. */
#include "base/str.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

static char fold(char c) { return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c; }

bool fm_str_eq_ci(fm_str a, fm_str b)
{
    if (a.len != b.len) return false;
    for (size_t i = 0; i < a.len; i++) {
        if (fold(a.ptr[i]) != fold(b.ptr[i])) return false;
    }
    return true;
}

int fm_str_cmp(fm_str a, fm_str b)
{
    size_t n = a.len < b.len ? a.len : b.len;
    int c = n ? memcmp(a.ptr, b.ptr, n) : 0;

    return c ? c : (a.len > b.len) - (a.len < b.len);
}

bool fm_str_starts(fm_str text, fm_str prefix)
{
    return text.len >= prefix.len && fm_str_eq((fm_str){text.ptr, prefix.len}, prefix);
}

bool fm_str_ends(fm_str text, fm_str suffix)
{
    if (suffix.len == 0) return true;
    return text.len >= suffix.len && memcmp(text.ptr + (text.len - suffix.len), suffix.ptr, suffix.len) == 0;
}

static bool is_blank(char c) { return (unsigned char)c <= ' ' || c == 0x7F; }

fm_str fm_str_trim(fm_str text)
{
    while (text.len && is_blank(text.ptr[0])) text.ptr++, text.len--;
    while (text.len && is_blank(text.ptr[text.len - 1])) text.len--;
    return text;
}

ptrdiff_t fm_str_find(fm_str text, fm_str part)
{
    if (part.len == 0) return 0;
    if (part.len > text.len) return -1;
    const char *at = memmem(text.ptr, text.len, part.ptr, part.len);
    return at ? at - text.ptr : -1;
}

bool fm_str_to_i64(fm_str text, int64_t *out)
{
    size_t i = 0;
    int64_t x = 0;
    bool negative = text.len && text.ptr[0] == '-';

    if (text.len && (text.ptr[0] == '-' || text.ptr[0] == '+')) i = 1;
    if (i == text.len) return false;
    for (; i < text.len; i++) {
        int digit = text.ptr[i] - '0';
        if (digit < 0 || digit > 9) return false;
        if (__builtin_mul_overflow(x, 10, &x)) return false;
        if (negative ? __builtin_sub_overflow(x, digit, &x) : __builtin_add_overflow(x, digit, &x)) return false;
    }
    *out = x;
    return true;
}

enum { NEAREST_LEN_MAX = 64 };

/* Edits that make b of a, case folded: insert, delete, replace, swap neighbours. Both texts are short. */
static int edit_distance(fm_str a, fm_str b)
{
    int rows[3][NEAREST_LEN_MAX + 1];
    int *before = rows[0], *last = rows[1], *now = rows[2];

    for (size_t j = 0; j <= b.len; j++) last[j] = (int)j;
    for (size_t i = 1; i <= a.len; i++) {
        now[0] = (int)i;
        for (size_t j = 1; j <= b.len; j++) {
            char x = fold(a.ptr[i - 1]), y = fold(b.ptr[j - 1]);
            int least = last[j - 1] + (x != y);
            if (last[j] + 1 < least) least = last[j] + 1;
            if (now[j - 1] + 1 < least) least = now[j - 1] + 1;
            bool swapped = i > 1 && j > 1 && x == fold(b.ptr[j - 2]) && y == fold(a.ptr[i - 2]);
            if (swapped && before[j - 2] + 1 < least) least = before[j - 2] + 1;
            now[j] = least;
        }
        int *oldest = before;
        before = last;
        last = now;
        now = oldest;
    }
    return last[b.len];
}

const char *fm_str_nearest(fm_str text, const char *const *names, int n)
{
    const char *best = NULL;
    int best_distance = INT_MAX;

    if (text.len == 0 || text.len > NEAREST_LEN_MAX) return NULL;
    for (int i = 0; i < n; i++) {
        fm_str name = fm_str_c(names[i]);
        if (name.len > NEAREST_LEN_MAX) continue;
        int distance = edit_distance(text, name);
        if (distance < best_distance) {
            best_distance = distance;
            best = names[i];
        }
    }
    int worth = 1 + (int)text.len / 3; /* a third of the letters may be wrong */
    return best_distance <= worth ? best : NULL;
}

const char *fm_str_did_you_mean(fm_str text, const char *const *names, int n, char out[FM_DID_YOU_MEAN_SIZE])
{
    const char *nearest = fm_str_nearest(text, names, n);

    out[0] = 0;
    if (nearest) snprintf(out, FM_DID_YOU_MEAN_SIZE, " Did you mean '%s'?", nearest);
    return out;
}

const char *fm_str_one_of(fm_str text, const char *const *names, int n, char out[FM_ONE_OF_SIZE])
{
    size_t len = 0;

    if (*fm_str_did_you_mean(text, names, n, out)) return out;
    for (int i = 0; i < n && len < FM_ONE_OF_SIZE; i++) {
        const char *before = i == 0 ? " There are " : i == n - 1 ? " and " : ", ";
        len += (size_t)snprintf(out + len, FM_ONE_OF_SIZE - len, "%s%s%s", before, names[i], i == n - 1 ? "." : "");
    }
    return out;
}

void fm_strbuf_fini(fm_strbuf *buf)
{
    free(buf->ptr);
    *buf = (fm_strbuf){0};
}

bool fm_strbuf_reserve(fm_strbuf *buf, size_t more)
{
    if (buf->failed) return false;
    size_t need;
    if (__builtin_add_overflow(buf->len, more, &need) || need >= SIZE_MAX / 2) return buf->failed = true, false;
    if (need < buf->cap) return true; /* one byte is kept for the NUL */
    size_t cap = buf->cap ? buf->cap : 64;
    while (cap <= need) cap *= 2;
    char *ptr = realloc(buf->ptr, cap);
    if (!ptr) return buf->failed = true, false;
    buf->ptr = ptr;
    buf->cap = cap;
    return true;
}

void fm_strbuf_add(fm_strbuf *buf, fm_str text)
{
    if (!fm_strbuf_reserve(buf, text.len)) return;
    if (text.len) memcpy(buf->ptr + buf->len, text.ptr, text.len);
    buf->len += text.len;
    buf->ptr[buf->len] = 0;
}

void fm_strbuf_add_c(fm_strbuf *buf, const char *text) { fm_strbuf_add(buf, fm_str_c(text)); }
void fm_strbuf_add_char(fm_strbuf *buf, char c) { fm_strbuf_add(buf, (fm_str){&c, 1}); }

void fm_strbuf_printf(fm_strbuf *buf, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    int n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (n < 0 || !fm_strbuf_reserve(buf, (size_t)n)) {
        buf->failed = true;
        return;
    }
    va_start(args, format);
    vsnprintf(buf->ptr + buf->len, (size_t)n + 1, format, args);
    va_end(args);
    buf->len += (size_t)n;
}

/* Length of the well-formed UTF-8 character at the front of text, whose first byte is not ASCII; 0: malformed
 * (overlong, a surrogate, beyond U+10FFFF, cut short). */
static size_t utf8_len(fm_str text)
{
    const unsigned char *p = (const unsigned char *)text.ptr;
    size_t len = p[0] >= 0xF0 ? 4 : p[0] >= 0xE0 ? 3 : 2;
    unsigned char low = p[0] == 0xE0 ? 0xA0 : p[0] == 0xF0 ? 0x90 : 0x80; /* bounds of the second byte */
    unsigned char high = p[0] == 0xED ? 0x9F : p[0] == 0xF4 ? 0x8F : 0xBF;

    if (p[0] < 0xC2 || p[0] > 0xF4 || text.len < len || p[1] < low || p[1] > high) return 0;
    for (size_t i = 2; i < len; i++)
        if ((p[i] & 0xC0) != 0x80) return 0;
    return len;
}

static void add_json_escape(fm_strbuf *buf, unsigned char c)
{
    static const char hex[] = "0123456789ABCDEF";

    switch (c) {
    case '"': fm_strbuf_add_c(buf, "\\\""); break;
    case '\\': fm_strbuf_add_c(buf, "\\\\"); break;
    case '\n': fm_strbuf_add_c(buf, "\\n"); break;
    case '\r': fm_strbuf_add_c(buf, "\\r"); break;
    case '\t': fm_strbuf_add_c(buf, "\\t"); break;
    case '\b': fm_strbuf_add_c(buf, "\\b"); break;
    case '\f': fm_strbuf_add_c(buf, "\\f"); break;
    default: {
        char escape[6] = {'\\', 'u', '0', '0', hex[c >> 4], hex[c & 15]};
        fm_strbuf_add(buf, (fm_str){escape, 6});
    }
    }
}

void fm_strbuf_add_json(fm_strbuf *buf, fm_str text)
{
    size_t from = 0, i = 0; /* text[from..i) goes out as it is */

    fm_strbuf_add_char(buf, '"');
    while (i < text.len) {
        unsigned char c = (unsigned char)text.ptr[i];
        size_t plain = c >= 0x80 ? utf8_len((fm_str){text.ptr + i, text.len - i}) : c >= 0x20 && c != '"' && c != '\\';
        if (plain) {
            i += plain;
            continue;
        }
        fm_strbuf_add(buf, (fm_str){text.ptr + from, i - from});
        if (c >= 0x80) fm_strbuf_add_c(buf, "\xEF\xBF\xBD"); /* U+FFFD for a byte that is no text */
        else add_json_escape(buf, c);
        from = ++i;
    }
    if (from < i) fm_strbuf_add(buf, (fm_str){text.ptr + from, i - from});
    fm_strbuf_add_char(buf, '"');
}
