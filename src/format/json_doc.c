/* format/json_doc.c: reads a whole JSON document into a tree: logs, options, offsets.
 *
 * Strict RFC 8259: what a log or an option holds is written by programs. Data files go through
 * json_reader.c, which knows Spark's liberties and is fast; this one is plain. */
#include "base/limits.h"
#include "format/json.h"
#include "format/utf8.h"

#include <inttypes.h>

typedef struct parser {
    fm_arena *arena;
    const char *start, *at, *end;
    fm_error *err;
    int32_t depth;
} parser;

static fm_status bad(parser *p, const char *what)
{
    return fm_fail(p->err, FM_INVALID, "FLOODMARK_INVALID_JSON",
                   "Not JSON: %s at byte %" PRIu64 ".", what, (uint64_t)(p->at - p->start));
}

static void skip_blanks(parser *p)
{
    while (p->at < p->end && (*p->at == ' ' || *p->at == '\t' || *p->at == '\n' || *p->at == '\r'))
        p->at++;
}

/* \uXXXX, with its second half for a surrogate pair; p->at stands behind the 'u'. */
static fm_status read_unicode(parser *p, char out[4], int *len)
{
    int32_t unit = p->end - p->at >= 4 ? fm_hex4(p->at) : -1;

    if (unit < 0) return bad(p, "four hexadecimal digits must follow \\u");
    p->at += 4;
    uint32_t c = (uint32_t)unit;
    if (c >= 0xDC00 && c <= 0xDFFF) return bad(p, "a surrogate without its first half");
    if (c >= 0xD800 && c <= 0xDBFF) {
        int32_t low = -1;
        if (p->end - p->at >= 6 && p->at[0] == '\\' && p->at[1] == 'u') low = fm_hex4(p->at + 2);
        if (low < 0xDC00 || low > 0xDFFF) return bad(p, "a surrogate without its second half");
        p->at += 6;
        c = 0x10000 + ((c - 0xD800) << 10) + ((uint32_t)low - 0xDC00);
    }
    *len = fm_utf8_put(c, out);
    return FM_OK;
}

static fm_status read_escape(parser *p, char out[4], int *len)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";

    if (p->at == p->end) return bad(p, "the text ends within a string");
    char c = *p->at++;
    if (c == 'u') return read_unicode(p, out, len);
    const char *known = c ? strchr(from, c) : NULL;
    if (!known) {
        p->at--;
        return bad(p, "an unknown escape");
    }
    out[0] = to[known - from];
    *len = 1;
    return FM_OK;
}

/* p->at stands behind the opening quote. Without escapes the text stays where it is. */
static fm_status read_string(parser *p, fm_str *out)
{
    const char *start = p->at;
    char *copy = NULL;
    size_t len = 0;

    for (;;) {
        if (p->at == p->end) return bad(p, "the text ends within a string");
        unsigned char c = (unsigned char)*p->at;
        if (c == '"') break;
        if (c < 0x20) return bad(p, "a control character within a string");
        if (c == '\\') {
            if (!copy) { /* escapes only shrink a text */
                const char *close = p->at;
                while (close < p->end && *close != '"') close += *close == '\\' ? 2 : 1;
                if (close >= p->end) return bad(p, "the text ends within a string");
                copy = fm_arena_alloc(p->arena, (size_t)(close - start) + 4, 1);
                if (!copy) return fm_no_memory(p->arena, p->err);
                len = (size_t)(p->at - start);
                memcpy(copy, start, len);
            }
            p->at++;
            char bytes[4];
            int n = 0;
            FM_TRY(read_escape(p, bytes, &n));
            memcpy(copy + len, bytes, (size_t)n);
            len += (size_t)n;
            continue;
        }
        int n = fm_utf8_char_len((const unsigned char *)p->at, (const unsigned char *)p->end);
        if (n == 0) return bad(p, "bytes that are not UTF-8");
        if (copy) {
            memcpy(copy + len, p->at, (size_t)n);
            len += (size_t)n;
        }
        p->at += n;
    }
    *out = copy ? (fm_str){copy, len} : (fm_str){start, (size_t)(p->at - start)};
    p->at++;
    return FM_OK;
}

static bool is_digit(const parser *p)
{
    return p->at < p->end && *p->at >= '0' && *p->at <= '9';
}

static bool skip_digits(parser *p)
{
    if (!is_digit(p)) return false;
    while (is_digit(p)) p->at++;
    return true;
}

static fm_status read_number(parser *p, fm_json *out)
{
    const char *start = p->at;

    if (*p->at == '-') p->at++;
    if (p->at < p->end && *p->at == '0') {
        p->at++;
        if (is_digit(p)) return bad(p, "a number with a leading zero");
    } else if (!skip_digits(p)) {
        return bad(p, "a value was expected");
    }
    if (p->at < p->end && *p->at == '.') {
        p->at++;
        if (!skip_digits(p)) return bad(p, "a digit must follow the point");
    }
    if (p->at < p->end && (*p->at == 'e' || *p->at == 'E')) {
        p->at++;
        if (p->at < p->end && (*p->at == '+' || *p->at == '-')) p->at++;
        if (!skip_digits(p)) return bad(p, "a digit must follow the exponent mark");
    }
    out->kind = FM_JSON_NUMBER;
    out->text = (fm_str){start, (size_t)(p->at - start)};
    return FM_OK;
}

static fm_status read_value(parser *p, fm_json *out);

/* Room for one more member; the arrays double, in the arena. */
static fm_status grow(parser *p, fm_json *c, int32_t *cap)
{
    if (c->n < *cap) return FM_OK;
    int32_t more = *cap ? *cap * 2 : 4;
    if (*cap > INT32_MAX / 2)
        return fm_fail(p->err, FM_LIMIT, "FLOODMARK_LIMIT", "JSON with more than %d members.",
                       INT32_MAX / 2);
    fm_json *items = fm_arena_array(p->arena, fm_json, more);
    if (!items) return fm_no_memory(p->arena, p->err);
    if (c->n) memcpy(items, c->items, (size_t)c->n * sizeof *items);
    c->items = items;
    if (c->kind == FM_JSON_OBJECT) {
        fm_str *keys = fm_arena_array(p->arena, fm_str, more);
        if (!keys) return fm_no_memory(p->arena, p->err);
        if (c->n) memcpy(keys, c->keys, (size_t)c->n * sizeof *keys);
        c->keys = keys;
    }
    *cap = more;
    return FM_OK;
}

static fm_status read_member(parser *p, fm_json *c)
{
    if (c->kind == FM_JSON_OBJECT) {
        skip_blanks(p);
        if (p->at == p->end || *p->at != '"') return bad(p, "a key in double quotes was expected");
        p->at++;
        FM_TRY(read_string(p, &c->keys[c->n]));
        skip_blanks(p);
        if (p->at == p->end || *p->at != ':') return bad(p, "':' was expected");
        p->at++;
    }
    FM_TRY(read_value(p, &c->items[c->n]));
    c->n++;
    return FM_OK;
}

static fm_status read_container(parser *p, fm_json *out)
{
    char close = *p->at == '{' ? '}' : ']';
    int32_t cap = 0;

    out->kind = close == '}' ? FM_JSON_OBJECT : FM_JSON_ARRAY;
    if (p->depth == FM_JSON_DEPTH_MAX) return bad(p, "nesting deeper than 1000");
    p->depth++;
    p->at++;
    skip_blanks(p);
    if (p->at < p->end && *p->at == close) {
        p->at++;
    } else {
        for (;;) {
            FM_TRY(grow(p, out, &cap));
            FM_TRY(read_member(p, out));
            skip_blanks(p);
            if (p->at == p->end) return bad(p, "the text ends within an object or array");
            if (*p->at == close) break;
            if (*p->at != ',') return bad(p, "',' was expected");
            p->at++;
        }
        p->at++;
    }
    p->depth--;
    return FM_OK;
}

static bool take_word(parser *p, const char *word)
{
    size_t len = strlen(word);

    if ((size_t)(p->end - p->at) < len || memcmp(p->at, word, len) != 0) return false;
    p->at += len;
    return true;
}

static fm_status read_value(parser *p, fm_json *out)
{
    skip_blanks(p);
    if (p->at == p->end) return bad(p, "the text ends where a value was expected");
    switch (*p->at) {
    case '{':
    case '[': return read_container(p, out);
    case '"':
        p->at++;
        out->kind = FM_JSON_STRING;
        return read_string(p, &out->text);
    case 't':
        out->kind = FM_JSON_BOOL;
        out->boolean = true;
        return take_word(p, "true") ? FM_OK : bad(p, "a value was expected");
    case 'f':
        out->kind = FM_JSON_BOOL;
        return take_word(p, "false") ? FM_OK : bad(p, "a value was expected");
    case 'n':
        out->kind = FM_JSON_NULL;
        return take_word(p, "null") ? FM_OK : bad(p, "a value was expected");
    default: return read_number(p, out);
    }
}

fm_status fm_json_read(fm_arena *arena, fm_str text, const fm_json **out, fm_error *err)
{
    fm_str copy = fm_arena_str(arena, text); /* the tree points into it */
    fm_json *root = fm_arena_one(arena, fm_json);

    if (!copy.ptr || !root) return fm_no_memory(arena, err);
    parser p = {
        .arena = arena, .start = copy.ptr, .at = copy.ptr, .end = copy.ptr + copy.len, .err = err};
    FM_TRY(read_value(&p, root));
    skip_blanks(&p);
    if (p.at != p.end) return bad(&p, "more text follows the value");
    *out = root;
    return FM_OK;
}

const fm_json *fm_json_get(const fm_json *object, const char *key)
{
    if (!object || object->kind != FM_JSON_OBJECT) return NULL;
    fm_str name = fm_str_c(key);
    for (int32_t i = object->n; i-- > 0;) /* the last of equal keys counts */
        if (fm_str_eq(object->keys[i], name)) return &object->items[i];
    return NULL;
}

bool fm_json_i64(const fm_json *v, int64_t *out)
{
    return v && v->kind == FM_JSON_NUMBER && fm_str_to_i64(v->text, out);
}
