/* format/json_scan.c: the tokens of JSON, in Jackson's order of things. */
#include "format/json_scan.h"

#include "base/limits.h"
#include "format/utf8.h"

#include <stdlib.h>

enum { NUMBER_LEN_MAX = 1000 }; /* characters of a number: Spark's maxNumLen */

static fm_json_token fail(fm_json_scan *s, const char *fault)
{
    s->fault = fault;
    s->fault_at = s->at;
    return FM_JT_ERROR;
}

enum { LEVELS_FIRST = 16 };

fm_status fm_json_scan_init(fm_json_scan *s, unsigned flags, fm_error *err)
{
    *s = (fm_json_scan){.flags = flags, .levels_cap = LEVELS_FIRST};
    s->levels = malloc(LEVELS_FIRST * sizeof *s->levels);
    return s->levels ? FM_OK : fm_no_memory(NULL, err);
}

void fm_json_scan_fini(fm_json_scan *s)
{
    fm_strbuf_fini(&s->scratch);
    free(s->levels);
    s->levels = NULL;
}

void fm_json_scan_start(fm_json_scan *s, fm_str text, fm_arena *arena)
{
    s->start = s->at = s->value = text.ptr;
    s->end = text.ptr + text.len;
    s->token = s->ahead = FM_JT_NONE;
    s->unread = false;
    s->depth = 0;
    s->levels[0] = (fm_json_level){.kind = 0};
    s->arena = arena;
    s->fault = NULL;
    s->fault_at = NULL;
    if (text.len >= 3 && memcmp(text.ptr, "\xEF\xBB\xBF", 3) == 0) s->at += 3;
}

/* ---- strings ---- */

/* UTF-16 units into UTF-8, as Java does: halves of a pair are joined, a half alone becomes '?'. */
typedef struct units {
    fm_strbuf *out;
    uint32_t high; /* waits for its second half; 0: none */
} units;

static void flush_half(units *u)
{
    if (u->high) fm_strbuf_add_char(u->out, '?');
    u->high = 0;
}

static void put_unit(units *u, uint32_t unit)
{
    char bytes[4];
    uint32_t c = unit;

    if (unit >= 0xDC00 && unit <= 0xDFFF) {
        if (!u->high) {
            fm_strbuf_add_char(u->out, '?');
            return;
        }
        c = 0x10000 + ((u->high - 0xD800) << 10) + (unit - 0xDC00);
        u->high = 0;
    } else {
        flush_half(u);
        if (unit >= 0xD800 && unit <= 0xDBFF) {
            u->high = unit;
            return;
        }
    }
    fm_strbuf_add(u->out, (fm_str){bytes, (size_t)fm_utf8_put(c, bytes)});
}

/* A byte >= 0x80 and what belongs to it; Jackson checks that the following bytes are such, no more.
 * Returns how many bytes were taken, or 0 with *stop where it gave up. */
static int put_multibyte(units *u, const unsigned char *p, const unsigned char *end,
                         const char **stop)
{
    int len = (p[0] & 0xE0) == 0xC0 ? 2 : (p[0] & 0xF0) == 0xE0 ? 3 : (p[0] & 0xF8) == 0xF0 ? 4 : 0;
    static const unsigned char lead_mask[] = {0, 0, 0x1F, 0x0F, 0x07};
    uint32_t c = p[0] & lead_mask[len];

    if (len == 0) {
        *stop = (const char *)p + 1;
        return 0;
    }
    for (int i = 1; i < len; i++) {
        if (p + i >= end || (p[i] & 0xC0) != 0x80) {
            *stop = (const char *)(p + i < end ? p + i + 1 : end);
            return 0;
        }
        c = (c << 6) | (p[i] & 0x3F);
    }
    if (len < 4) {
        put_unit(u, c);
    } else {
        uint32_t rest = c - 0x10000; /* wraps for overlong forms, as Jackson's int does */
        put_unit(u, (0xD800 | (uint32_t)((int32_t)rest >> 10)) & 0xFFFF);
        put_unit(u, 0xDC00 | (rest & 0x3FF));
    }
    return len;
}

/* Behind a backslash at p. Returns how many bytes were taken, or 0. */
static int put_escape(units *u, const char *p, const char *end, unsigned flags, const char **stop)
{
    static const char from[] = "btnfr\"/\\", to[] = "\b\t\n\f\r\"/\\";

    *stop = p < end ? p + 1 : end;
    if (p >= end) return 0;
    if (*p == 'u') {
        int32_t unit = end - p >= 5 ? fm_hex4(p + 1) : -1;
        if (unit < 0) {
            const char *q = p + 1;
            while (q < end && q < p + 5 && fm_hex_digit(*q)) q++;
            *stop = q < end ? q + 1 : end;
            return 0;
        }
        put_unit(u, (uint32_t)unit);
        return 5;
    }
    const char *known = *p ? strchr(from, *p) : NULL;
    if (known) {
        put_unit(u, (unsigned char)to[known - from]);
        return 1;
    }
    bool any = (flags & FM_JSON_ANY_ESCAPE) || (*p == '\'' && (flags & FM_JSON_SINGLE_QUOTES));
    if (!any) return 0;
    if ((unsigned char)*p < 0x80) {
        put_unit(u, (unsigned char)*p);
        return 1;
    }
    return put_multibyte(u, (const unsigned char *)p, (const unsigned char *)end, stop);
}

const char *fm_json_string(const char *at, const char *end, char quote, unsigned flags, bool *plain,
                           fm_strbuf *out, const char **fault, const char **stop)
{
    const char *p = at;

    /* First as long as nothing needs to be changed. */
    *plain = true;
    for (;;) {
        if (p >= end) {
            *fault = "the text ends within a string";
            *stop = end;
            return NULL;
        }
        unsigned char c = (unsigned char)*p;
        if (c == (unsigned char)quote) return p + 1;
        if (c == '\\') break;
        if (c < 0x20 && !(flags & FM_JSON_CONTROL_CHARS)) break;
        int n = fm_utf8_char_len((const unsigned char *)p, (const unsigned char *)end);
        if (n == 0) break;
        p += n;
    }
    *plain = false;
    fm_strbuf_clear(out);
    fm_strbuf_add(out, (fm_str){at, (size_t)(p - at)});
    units u = {.out = out};
    while (p < end) {
        unsigned char c = (unsigned char)*p;
        if (c == (unsigned char)quote) {
            flush_half(&u);
            return p + 1;
        }
        if (c == '\\') {
            int n = put_escape(&u, p + 1, end, flags, stop);
            if (n == 0) {
                *fault = "an escape that JSON does not know";
                return NULL;
            }
            p += 1 + n;
        } else if (c < 0x20 && !(flags & FM_JSON_CONTROL_CHARS)) {
            *fault = "a control character within a string";
            *stop = p + 1;
            return NULL;
        } else if (c < 0x80) {
            put_unit(&u, c);
            p++;
        } else {
            int n = put_multibyte(&u, (const unsigned char *)p, (const unsigned char *)end, stop);
            if (n == 0) {
                *fault = "bytes that are not UTF-8";
                return NULL;
            }
            p += n;
        }
    }
    *fault = "the text ends within a string";
    *stop = end;
    return NULL;
}

/* s->at stands behind the opening quote. */
static bool read_text(fm_json_scan *s, char quote)
{
    bool plain;
    const char *fault = NULL, *stop = s->at, *start = s->at;
    const char *behind =
        fm_json_string(start, s->end, quote, s->flags, &plain, &s->scratch, &fault, &stop);

    if (!behind) {
        s->at = stop;
        fail(s, fault);
        return false;
    }
    s->at = behind;
    s->text_is_input = plain;
    s->text = plain ? (fm_str){start, (size_t)(behind - 1 - start)} : fm_strbuf_str(&s->scratch);
    return true;
}

bool fm_json_text(fm_json_scan *s)
{
    if (!s->unread) return true;
    s->unread = false;
    return read_text(s, '"');
}

/* ---- blanks and comments ---- */

/* Behind a '/': true when a comment was skipped. */
static bool skip_comment(fm_json_scan *s)
{
    if (!(s->flags & FM_JSON_COMMENTS) || s->at >= s->end) return false;
    if (*s->at == '/') {
        while (s->at < s->end && *s->at != '\n' && *s->at != '\r') s->at++;
        return true;
    }
    if (*s->at != '*') return false;
    for (s->at++; s->end - s->at >= 2; s->at++) {
        if (s->at[0] == '*' && s->at[1] == '/') {
            s->at += 2;
            return true;
        }
    }
    s->at = s->end;
    return false;
}

/* Takes and returns the next byte that is no blank; -1 at the end, -2 on a failure. */
static int next_byte(fm_json_scan *s)
{
    while (s->at < s->end) {
        unsigned char c = (unsigned char)*s->at++;
        if (c == '/') {
            if (skip_comment(s)) continue;
            fail(s, "an unexpected '/'");
            return -2;
        }
        if (c > ' ') return c;
        if (c != ' ' && c != '\n' && c != '\r' && c != '\t') {
            fail(s, "a control character between tokens");
            return -2;
        }
    }
    return -1;
}

/* As next_byte, where the text must go on. */
static int must_next_byte(fm_json_scan *s)
{
    int c = next_byte(s);

    if (c != -1) return c;
    fail(s, "the text ends too early");
    return -2;
}

/* ---- words and numbers ---- */

static bool is_name_part(unsigned char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '$' || c >= 0x80;
}

/* Jackson reads a word it does not know to its end, and one byte more. */
static fm_json_token unknown_word(fm_json_scan *s)
{
    while (s->at < s->end && is_name_part((unsigned char)*s->at++)) {
    }
    return fail(s, "a word that is no JSON value");
}

/* The rest of a word, of which `have` bytes were taken. */
static fm_json_token match_word(fm_json_scan *s, const char *word, int have, fm_json_token token)
{
    for (const char *w = word + have; *w; w++) {
        if (s->at >= s->end || *s->at != *w) return unknown_word(s);
        s->at++;
    }
    if (s->at < s->end && is_name_part((unsigned char)*s->at)) return unknown_word(s);
    return token;
}

/* NaN, Infinity, -INF, ...: value is the first byte. */
static fm_json_token match_special(fm_json_scan *s, const char *word, int have)
{
    fm_json_token t = match_word(s, word, have, FM_JT_FLOAT);

    if (t != FM_JT_FLOAT) return t;
    if (!(s->flags & FM_JSON_NON_NUMERIC)) return fail(s, "a number that JSON does not know");
    s->number = fm_str_c(word);
    return t;
}

static int peek(const fm_json_scan *s)
{
    return s->at < s->end ? (unsigned char)*s->at : -1;
}

static int64_t skip_digits(fm_json_scan *s)
{
    const char *from = s->at;

    while (s->at < s->end && *s->at >= '0' && *s->at <= '9') s->at++;
    return s->at - from;
}

/* Behind a sign: 'I' starts an infinity; all else is wrong. */
static fm_json_token bad_sign(fm_json_scan *s, bool negative)
{
    if (peek(s) == 'I') {
        s->at++;
        int c = peek(s);
        if (c == 'N' || c == 'n') {
            s->at++;
            const char *word =
                c == 'N' ? (negative ? "-INF" : "+INF") : (negative ? "-Infinity" : "+Infinity");
            return match_special(s, word, 3);
        }
    }
    if (s->at < s->end) s->at++;
    return fail(s, "a digit was expected behind the sign");
}

/* s->value is the first byte, which was taken. */
static fm_json_token read_number(fm_json_scan *s)
{
    bool negative = *s->value == '-', is_float = false;
    int64_t digits;

    if (!negative) s->at--;
    int first = peek(s);
    if (first < '0' || first > '9') return bad_sign(s, negative);
    s->at++;
    if (first == '0' && peek(s) >= '0' && peek(s) <= '9' && !(s->flags & FM_JSON_LEADING_ZEROS))
        return fail(s, "a number with a leading zero");
    digits = 1 + skip_digits(s);
    if (peek(s) == '.') {
        s->at++;
        int64_t n = skip_digits(s);
        if (n == 0) {
            if (s->at < s->end) s->at++;
            return fail(s, "a digit was expected behind the decimal point");
        }
        digits += n;
        is_float = true;
    }
    if (peek(s) == 'e' || peek(s) == 'E') {
        s->at++;
        if (peek(s) == '+' || peek(s) == '-') s->at++;
        int64_t n = skip_digits(s);
        if (n == 0) {
            if (s->at < s->end) s->at++;
            return fail(s, "a digit was expected in the exponent");
        }
        digits += n;
        is_float = true;
    }
    if (digits > NUMBER_LEN_MAX) return fail(s, "a number longer than 1000 digits");
    int next = peek(s);
    if (s->depth == 0 && next >= 0 && next != ' ' && next != '\t' && next != '\n' && next != '\r')
        return fail(s, "a blank was expected behind the number");
    s->number = (fm_str){s->value, (size_t)(s->at - s->value)};
    return is_float ? FM_JT_FLOAT : FM_JT_INT;
}

/* The token that starts with byte c, which was taken. Does not open levels. */
static fm_json_token read_value(fm_json_scan *s, int c)
{
    s->value = s->at - 1;
    switch (c) {
    case '"': s->unread = true; return FM_JT_STRING;
    case '{': return FM_JT_OBJECT;
    case '[': return FM_JT_ARRAY;
    case 't': return match_word(s, "true", 1, FM_JT_TRUE);
    case 'f': return match_word(s, "false", 1, FM_JT_FALSE);
    case 'n': return match_word(s, "null", 1, FM_JT_NULL);
    case 'N': return match_special(s, "NaN", 1);
    case 'I': return match_special(s, "Infinity", 1);
    case '+': return bad_sign(s, false);
    case '\'':
        if (!(s->flags & FM_JSON_SINGLE_QUOTES)) break;
        return read_text(s, '\'') ? FM_JT_STRING : FM_JT_ERROR;
    default:
        if (c == '-' || (c >= '0' && c <= '9')) return read_number(s);
        if (is_name_part((unsigned char)c)) return unknown_word(s);
        break;
    }
    return fail(s, "a value was expected");
}

static fm_json_token open_level(fm_json_scan *s, fm_json_token token)
{
    if (token != FM_JT_OBJECT && token != FM_JT_ARRAY) return token;
    if (s->depth == FM_JSON_DEPTH_MAX) return fail(s, "nesting deeper than 1000");
    if (s->depth + 1 == s->levels_cap) {
        fm_json_level *levels = realloc(s->levels, (size_t)s->levels_cap * 2 * sizeof *levels);
        if (!levels) return fail(s, "out of memory");
        s->levels = levels;
        s->levels_cap *= 2;
    }
    s->levels[++s->depth] = (fm_json_level){.kind = token == FM_JT_OBJECT ? '{' : '['};
    return token;
}

static fm_json_token close_level(fm_json_scan *s, char kind, fm_json_token token)
{
    if (s->levels[s->depth].kind != kind) return fail(s, "a bracket that closes nothing");
    s->depth--;
    return s->token = token;
}

/* ---- names ---- */

static bool unquoted_part(int c)
{
    return c > 0 && (is_name_part((unsigned char)c) || strchr("@#*-+", c) != NULL);
}

static bool read_name(fm_json_scan *s, int c, fm_str *out)
{
    if (c == '"' || (c == '\'' && (s->flags & FM_JSON_SINGLE_QUOTES))) {
        if (!read_text(s, (char)c)) return false;
        *out = s->text;
        if (!s->text_is_input) {
            *out = fm_arena_str(s->arena, s->text);
            if (!out->ptr) {
                fail(s, "out of memory");
                return false;
            }
        }
        return true;
    }
    if ((s->flags & FM_JSON_UNQUOTED_NAMES) && unquoted_part(c)) {
        const char *from = s->at - 1;
        while (unquoted_part(peek(s))) s->at++;
        *out = (fm_str){from, (size_t)(s->at - from)};
        return true;
    }
    fail(s, "a field name in double quotes was expected");
    return false;
}

/* ---- the walk ---- */

static fm_json_token next_field(fm_json_scan *s, int c)
{
    fm_str name;

    if (!read_name(s, c, &name)) return FM_JT_ERROR;
    s->levels[s->depth].name = name;
    s->token = FM_JT_FIELD;
    s->ahead = FM_JT_NONE;
    c = must_next_byte(s);
    if (c == -2) return FM_JT_ERROR;
    if (c != ':') return fail(s, "':' was expected behind the field name");
    c = must_next_byte(s);
    if (c == -2) return FM_JT_ERROR;
    fm_json_token t = read_value(s, c);
    if (t == FM_JT_ERROR) return t;
    s->ahead = t;
    return FM_JT_FIELD;
}

fm_json_token fm_json_next(fm_json_scan *s)
{
    if (s->token == FM_JT_FIELD) {
        fm_json_token t = s->ahead;
        s->ahead = FM_JT_NONE;
        s->token = t;
        return open_level(s, t);
    }
    if (s->unread) { /* nobody asked for this string, but it must be one */
        s->unread = false;
        if (!read_text(s, '"')) return FM_JT_ERROR;
    }
    int c = next_byte(s);
    if (c == -2) return FM_JT_ERROR;
    if (c == -1) {
        if (s->depth > 0) return fail(s, "the text ends within an object or array");
        return s->token = FM_JT_NONE;
    }
    if (c == ']') return close_level(s, '[', FM_JT_ARRAY_END);
    if (c == '}') return close_level(s, '{', FM_JT_OBJECT_END);
    fm_json_level *level = &s->levels[s->depth];
    bool comma = level->kind && level->has_entry;
    level->has_entry = true;
    if (comma) {
        if (c != ',') return fail(s, "',' was expected");
        c = must_next_byte(s);
        if (c == -2) return FM_JT_ERROR;
    }
    if (level->kind == '{') return next_field(s, c);
    fm_json_token t = read_value(s, c);
    if (t == FM_JT_ERROR) return t;
    t = open_level(s, t);
    if (t != FM_JT_ERROR) s->token = t;
    return t;
}

bool fm_json_skip_children(fm_json_scan *s)
{
    if (s->token != FM_JT_OBJECT && s->token != FM_JT_ARRAY) return true;
    for (int64_t open = 1; open > 0;) {
        fm_json_token t = fm_json_next(s);
        if (t == FM_JT_ERROR) return false;
        if (t == FM_JT_NONE) {
            if (s->depth == 0) return true;
            fail(s, "the text ends within an object or array");
            return false;
        }
        if (t == FM_JT_OBJECT || t == FM_JT_ARRAY) open++;
        if (t == FM_JT_OBJECT_END || t == FM_JT_ARRAY_END) open--;
    }
    return true;
}

fm_str fm_json_name(const fm_json_scan *s)
{
    int32_t level = s->depth;

    if ((s->token == FM_JT_OBJECT || s->token == FM_JT_ARRAY) && level > 0) level--;
    return s->levels[level].name;
}
