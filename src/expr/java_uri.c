/* expr/java_uri.c: the parts of a URI, as java.net.URI reads them. */
#include "expr/java_uri.h"

#include "expr/text.h"

#define MARKS "-_.!~*'()"

static bool is_alpha(char c) { return (c | 32) >= 'a' && (c | 32) <= 'z'; }
static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_alnum(char c) { return is_alpha(c) || is_digit(c); }
static bool is_hex(char c) { return is_digit(c) || ((c | 32) >= 'a' && (c | 32) <= 'f'); }
static bool is_among(char c, const char *set) { return c && strchr(set, c) != NULL; }

/* Bytes of the legal character at `at`: unreserved, of `more`, an escape, or beyond ASCII and neither blank nor control; 0: none. */
static size_t legal_size(fm_str text, size_t at, const char *more)
{
    char c = text.ptr[at];
    size_t size;
    uint32_t point;
    if (is_alnum(c) || is_among(c, MARKS) || is_among(c, more)) return 1;
    if (c == '%') return at + 2 < text.len && is_hex(text.ptr[at + 1]) && is_hex(text.ptr[at + 2]) ? 3 : 0;
    if ((unsigned char)c < 0x80) return 0;
    point = fm_char_decode(text, at, &size);
    if (point < 0xA1 || point == 0x1680 || (point >= 0x2000 && point <= 0x200A) || point == 0x2028 || point == 0x2029 ||
        point == 0x202F || point == 0x205F || point == 0x3000)
        return 0;
    return size;
}

static bool is_legal(fm_str text, const char *more)
{
    for (size_t at = 0, size; at < text.len; at += size)
        if (!(size = legal_size(text, at, more))) return false;
    return true;
}

/* The first place of a character of `set` in [from, text.len), or text.len. */
static size_t find_any(fm_str text, size_t from, const char *set)
{
    while (from < text.len && !is_among(text.ptr[from], set)) from++;
    return from;
}

static fm_str part(fm_str text, size_t from, size_t to) { return (fm_str){text.ptr + from, to - from}; }

/* Dotted numbers below 256, up to the end or a ':'. */
static bool is_ipv4(fm_str host)
{
    int numbers = 0;
    size_t at = 0;
    while (numbers < 4) {
        size_t start = at;
        int value = 0;
        for (; at < host.len && is_digit(host.ptr[at]) && at - start < 3; at++) value = value * 10 + host.ptr[at] - '0';
        if (at == start || value > 255) return false;
        if (++numbers == 4) break;
        if (at >= host.len || host.ptr[at++] != '.') return false;
    }
    return at == host.len;
}

/* Labels of letters, digits and inner '-'; the last of several begins with a letter. */
static bool is_hostname(fm_str host)
{
    size_t last = 0, at = 0;
    if (!host.len) return false;
    while (at < host.len) {
        size_t start = at;
        while (at < host.len && (is_alnum(host.ptr[at]) || host.ptr[at] == '-')) at++;
        if (at == start || host.ptr[start] == '-' || host.ptr[at - 1] == '-') return false;
        last = start;
        if (at < host.len && host.ptr[at++] != '.') return false;
    }
    return last == 0 || is_alpha(host.ptr[last]);
}

static bool is_ipv6(fm_str text)
{
    size_t scope = find_any(text, 0, "%"), colons = 0;
    for (size_t i = 0; i < scope; i++) {
        if (!is_hex(text.ptr[i]) && text.ptr[i] != ':' && text.ptr[i] != '.') return false;
        colons += text.ptr[i] == ':';
    }
    return colons >= 2 && colons <= 8 && (scope == text.len || scope + 1 < text.len);
}

/* [userinfo@]host[:port] */
static bool parse_server(fm_str text, fm_java_uri *out)
{
    size_t at = find_any(text, 0, "@"), end;
    fm_str user = {NULL, 0};
    if (at < text.len) {
        user = part(text, 0, at);
        if (!is_legal(user, ";:&=+$,")) return false;
        at++;
    } else {
        at = 0;
    }
    if (at < text.len && text.ptr[at] == '[') {
        end = find_any(text, at, "]");
        if (end == text.len || !is_ipv6(part(text, at + 1, end))) return false;
        end++;
    } else {
        end = find_any(text, at, ":");
        if (!is_ipv4(part(text, at, end)) && !is_hostname(part(text, at, end))) return false;
    }
    if (end < text.len && text.ptr[end] != ':') return false;
    for (size_t i = end + 1; i < text.len; i++)
        if (!is_digit(text.ptr[i]) || i - end > 10) return false;
    out->user_info = user;
    out->host = part(text, at, end);
    return true;
}

static bool parse_authority(fm_str text, fm_java_uri *out)
{
    out->authority = text;
    if (is_legal(text, find_any(text, 0, "]") < text.len ? ";:&=+$,@[]%" : ";:&=+$,@[]") && parse_server(text, out)) return true;
    return is_legal(text, "$,;:@&=+");
}

static bool parse_hierarchical(fm_str text, size_t at, size_t end, fm_java_uri *out)
{
    size_t to;
    if (at + 1 < end && text.ptr[at] == '/' && text.ptr[at + 1] == '/') {
        at += 2;
        to = find_any(text, at, "/?#");
        if (to > end) to = end;
        if (to == at && to == text.len) return false;
        if (to > at && !parse_authority(part(text, at, to), out)) return false;
        at = to;
    }
    to = find_any((fm_str){text.ptr, end}, at, "?");
    out->path = part(text, at, to);
    if (!is_legal(out->path, ":@&=+$,;/")) return false;
    if (to == end) return true;
    out->query = part(text, to + 1, end);
    return is_legal(out->query, ";/?:@&=+$,[]");
}

bool fm_java_uri_parse(fm_str text, fm_java_uri *out)
{
    size_t colon, hash;
    *out = (fm_java_uri){0};
    if (!text.ptr) text.ptr = "";
    colon = find_any(text, 0, ":/?#");
    hash = find_any(text, 0, "#");
    if (hash < text.len) {
        out->fragment = part(text, hash + 1, text.len);
        if (!is_legal(out->fragment, ";/?:@&=+$,[]")) return false;
    }
    if (colon == text.len || text.ptr[colon] != ':') return parse_hierarchical(text, 0, hash, out);
    out->scheme = part(text, 0, colon);
    if (!colon || !is_alpha(text.ptr[0])) return false;
    for (size_t i = 1; i < colon; i++)
        if (!is_alnum(text.ptr[i]) && !is_among(text.ptr[i], "+-.")) return false;
    if (colon + 1 < hash && text.ptr[colon + 1] == '/') return parse_hierarchical(text, colon + 1, hash, out);
    return hash > colon + 1 && is_legal(part(text, colon + 1, hash), ";/?:@&=+$,[]"); /* mailto:a@b.c */
}
