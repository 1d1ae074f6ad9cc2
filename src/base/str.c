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
    return text.len >= suffix.len && fm_str_eq((fm_str){text.ptr + text.len - suffix.len, suffix.len}, suffix);
}

fm_str fm_str_trim(fm_str text)
{
    while (text.len && (unsigned char)text.ptr[0] <= ' ') text.ptr++, text.len--;
    while (text.len && (unsigned char)text.ptr[text.len - 1] <= ' ') text.len--;
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

/* Levenshtein's edit distance, case folded; both texts are short. */
static int edit_distance(fm_str a, fm_str b)
{
    int row[NEAREST_LEN_MAX + 1];

    for (size_t j = 0; j <= b.len; j++) row[j] = (int)j;
    for (size_t i = 1; i <= a.len; i++) {
        int diagonal = row[0];
        row[0] = (int)i;
        for (size_t j = 1; j <= b.len; j++) {
            int replace = diagonal + (fold(a.ptr[i - 1]) != fold(b.ptr[j - 1]));
            int insert = row[j - 1] + 1, removal = row[j] + 1;
            diagonal = row[j];
            int least = replace < insert ? replace : insert;
            row[j] = least < removal ? least : removal;
        }
    }
    return row[b.len];
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

void fm_strbuf_add_json(fm_strbuf *buf, fm_str text)
{
    static const char hex[] = "0123456789ABCDEF";
    size_t from = 0;

    fm_strbuf_add_char(buf, '"');
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.ptr[i];
        if (c >= 0x20 && c != '"' && c != '\\') continue;
        fm_strbuf_add(buf, (fm_str){text.ptr + from, i - from});
        from = i + 1;
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
    fm_strbuf_add(buf, (fm_str){text.ptr ? text.ptr + from : "", text.len - from});
    fm_strbuf_add_char(buf, '"');
}
