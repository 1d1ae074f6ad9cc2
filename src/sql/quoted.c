/* sql/quoted.c: what stands in quotes. */
#include "sql/quoted.h"

/* Escapes never make a text longer: \u0041 is six bytes and gives at most three, \U0001F600 ten and four. */
typedef struct unquoting {
    fm_str in;
    size_t at;
    char *out;
    size_t n;
} unquoting;

static void put_utf8(unquoting *u, uint32_t c)
{
    char *out = u->out + u->n;

    if (c < 0x80) {
        out[0] = (char)c;
        u->n += 1;
    } else if (c < 0x800) {
        out[0] = (char)(0xC0 | c >> 6);
        out[1] = (char)(0x80 | (c & 63));
        u->n += 2;
    } else if (c < 0x10000) {
        out[0] = (char)(0xE0 | c >> 12);
        out[1] = (char)(0x80 | (c >> 6 & 63));
        out[2] = (char)(0x80 | (c & 63));
        u->n += 3;
    } else {
        out[0] = (char)(0xF0 | c >> 18);
        out[1] = (char)(0x80 | (c >> 12 & 63));
        out[2] = (char)(0x80 | (c >> 6 & 63));
        out[3] = (char)(0x80 | (c & 63));
        u->n += 4;
    }
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

/* n hex digits at s[at]. */
static bool hex_number(fm_str s, size_t at, size_t n, uint32_t *out)
{
    *out = 0;
    if (at + n > s.len) return false;
    for (size_t i = 0; i < n; i++) {
        int d = hex_digit(s.ptr[at + i]);
        if (d < 0) return false;
        *out = *out * 16 + (uint32_t)d;
    }
    return true;
}

static bool is_octal(char c) { return c >= '0' && c <= '7'; }

/* \uXXXX, two of them for a surrogate pair; half a pair becomes U+FFFD. u->at stands at the 'u'. */
static bool take_unicode(unquoting *u)
{
    uint32_t code, low;

    if (!hex_number(u->in, u->at + 1, 4, &code)) return false;
    u->at += 5;
    bool high = code >= 0xD800 && code < 0xDC00;
    bool pair = high && u->at + 1 < u->in.len && u->in.ptr[u->at] == '\\' && u->in.ptr[u->at + 1] == 'u' &&
                hex_number(u->in, u->at + 2, 4, &low) && low >= 0xDC00 && low < 0xE000;
    if (pair) {
        u->at += 6;
        code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
    } else if (code >= 0xD800 && code < 0xE000) {
        code = 0xFFFD;
    }
    put_utf8(u, code);
    return true;
}

/* What follows a backslash; u->at stands behind it. */
static void take_escape(unquoting *u)
{
    static const char from[] = "0bnrtZ", to[] = "\0\b\n\r\t\x1A";
    uint32_t code;
    fm_str s = u->in;
    char c = s.ptr[u->at];

    if (c == 'u' && take_unicode(u)) return;
    if (c == 'U' && hex_number(s, u->at + 1, 8, &code) && code <= 0x10FFFF && (code < 0xD800 || code > 0xDFFF)) {
        put_utf8(u, code);
        u->at += 9;
        return;
    }
    bool octal = u->at + 2 < s.len && (c == '0' || c == '1') && is_octal(s.ptr[u->at + 1]) && is_octal(s.ptr[u->at + 2]);
    if (octal) {
        put_utf8(u, (uint32_t)((c - '0') * 64 + (s.ptr[u->at + 1] - '0') * 8 + (s.ptr[u->at + 2] - '0')));
        u->at += 3;
        return;
    }
    const char *known = c ? strchr(from, c) : NULL;
    if (c == '%' || c == '_') u->out[u->n++] = '\\'; /* these are escapes of LIKE */
    u->out[u->n++] = known ? to[known - from] : c;
    u->at++;
}

fm_str fm_unquote(fm_arena *arena, fm_str source)
{
    bool raw = (source.ptr[0] | 32) == 'r';
    size_t before = raw ? 2 : 1;
    char quote = source.ptr[before - 1];
    unquoting u = {.in = {source.ptr + before, source.len - before - 1}};

    u.out = fm_arena_alloc(arena, u.in.len + 1, 1);
    if (!u.out) return (fm_str){NULL, 0};
    while (u.at < u.in.len) {
        char c = u.in.ptr[u.at++];
        bool escaped = c == '\\' && !raw && quote != '`' && u.at < u.in.len;
        if (escaped) {
            take_escape(&u);
            continue;
        }
        if (c == quote) u.at++; /* never in r'...' */
        u.out[u.n++] = c;
    }
    u.out[u.n] = 0;
    return (fm_str){u.out, u.n};
}

bool fm_unhex(fm_arena *arena, fm_str digits, fm_str *out)
{
    char *bytes = fm_arena_alloc(arena, digits.len / 2 + 1, 1);
    size_t n = 0, i = digits.len % 2;
    uint32_t x;

    *out = (fm_str){NULL, 0};
    for (size_t k = 0; k < digits.len; k++) {
        if (hex_digit(digits.ptr[k]) < 0) return false;
    }
    if (!bytes) return true;
    if (i && hex_number(digits, 0, 1, &x)) bytes[n++] = (char)x;
    for (; i < digits.len; i += 2) {
        hex_number(digits, i, 2, &x);
        bytes[n++] = (char)x;
    }
    *out = (fm_str){bytes, n};
    return true;
}
