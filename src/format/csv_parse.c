/* format/csv_parse.c: the walk over CSV text. */
#include "format/csv_parse.h"

#include "expr/cast.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    NONE = 0,       /* no character; also what a zero byte is, as in the original */
    DELIMITER = -2, /* a delimiter of any length */
    DEPTH_MAX = 200 /* unescaped quotes of one field that nest */
};

/* How a step ends. */
typedef enum step { GOES_ON, AT_END, FAULT } step;

#define TRY(expr)                             \
    do {                                      \
        step try_step = (expr);               \
        if (try_step != GOES_ON) return try_step; \
    } while (0)

void fm_csv_parser_init(fm_csv_parser *p, const fm_csv_options *options) { p->options = options; }

void fm_csv_parser_fini(fm_csv_parser *p)
{
    fm_strbuf_fini(&p->made);
    free(p->fields);
    p->fields = NULL;
}

static step fail(fm_csv_parser *p, const char *fault)
{
    p->fault = fault;
    return FAULT;
}

/* ---- line ends ---- */

/* What ends lines in the text: the first of \n, \r\n and \r in it. */
static void detect_newline(fm_csv_parser *p)
{
    p->newline = p->sep1 = '\n';
    p->sep2 = -1;
    for (const char *q = p->at; q < p->end; q++) {
        if (*q == '\n') return;
        if (*q != '\r') continue;
        p->sep1 = '\r';
        if (q + 1 < p->end && q[1] == '\n') p->sep2 = '\n';
        return;
    }
}

void fm_csv_parser_start(fm_csv_parser *p, fm_str text, bool whole)
{
    fm_str sep = p->options->line_sep;

    p->at = text.ptr;
    p->end = text.ptr + text.len;
    p->newline = -1;
    p->fault = NULL;
    p->ch = p->prev = NONE;
    if (whole && sep.len) {
        p->newline = p->sep1 = (unsigned char)sep.ptr[0];
        p->sep2 = sep.len > 1 ? (unsigned char)sep.ptr[1] : -1;
    } else if (whole) {
        detect_newline(p);
    }
    /* With a separator of the user's choice, what stands in quotes is left as it is. */
    p->normalize = true;
}

/* ---- characters ---- */

static inline bool is_delimiter(const fm_csv_parser *p) { return p->ch == DELIMITER; }
static inline bool at_stop(const fm_csv_parser *p) { return p->ch == DELIMITER || (p->newline >= 0 && p->ch == p->newline); }
static inline bool is_newline(const fm_csv_parser *p) { return p->newline >= 0 && p->ch == p->newline; }
static inline bool is_blank(int ch) { return ch >= 0 && ch <= ' '; }

static inline step next(fm_csv_parser *p)
{
    fm_str sep = p->options->sep;

    if (p->at == p->end) return AT_END;
    int c = (unsigned char)*p->at++;
    if (p->newline >= 0 && c == p->sep1 && (p->sep2 < 0 || (p->at < p->end && (unsigned char)*p->at == p->sep2))) {
        if (p->normalize) {
            c = p->newline;
            if (p->sep2 >= 0) p->at++;
        }
    } else if (c == (unsigned char)sep.ptr[0] && (size_t)(p->end - p->at) >= sep.len - 1 &&
               memcmp(p->at, sep.ptr + 1, sep.len - 1) == 0) {
        c = DELIMITER;
        p->at += sep.len - 1;
    }
    p->ch = c;
    return GOES_ON;
}

static inline bool is_quote(const fm_csv_parser *p) { return p->ch == p->options->quote; }
static inline bool is_escape(const fm_csv_parser *p) { return p->ch == p->options->escape; }

/* ---- fields ---- */

static void append(fm_csv_parser *p, int ch)
{
    if (ch == DELIMITER)
        fm_strbuf_add(&p->made, p->options->sep);
    else if (ch >= 0)
        fm_strbuf_add_char(&p->made, (char)ch);
}

static void prepend(fm_csv_parser *p, int ch)
{
    append(p, ch);
    if (!fm_strbuf_ok(&p->made)) return;
    char *from = p->made.ptr + p->made_from;
    memmove(from + 1, from, p->made.len - p->made_from - 1);
    *from = (char)ch;
}

static step push(fm_csv_parser *p, fm_csv_field field)
{
    const fm_csv_options *o = p->options;

    if (p->n == p->cap) {
        int32_t cap = p->cap ? p->cap * 2 : 64;
        fm_csv_field *fields = realloc(p->fields, (size_t)cap * sizeof *fields);
        if (!fields) return fail(p, "out of memory");
        p->fields = fields;
        p->cap = cap;
    }
    if (p->n >= o->columns_max) return fail(p, "it has more columns than option maxColumns allows");
    if (o->chars_max >= 0 && field.len > (size_t)o->chars_max) {
        int64_t chars = 0;
        const char *text = field.kind == FM_CSV_MADE ? p->made.ptr + p->made_from : field.ptr;
        for (size_t i = 0; i < field.len; i++) chars += ((unsigned char)text[i] & 0xC0) != 0x80;
        if (chars > o->chars_max) return fail(p, "it has a field longer than option maxCharsPerColumn allows");
    }
    p->fields[p->n++] = field;
    return GOES_ON;
}

static step push_null(fm_csv_parser *p) { return push(p, (fm_csv_field){.kind = FM_CSV_NULL}); }

/* What was appended becomes a field; its place in `made` is settled when the record is complete. */
static step push_made(fm_csv_parser *p)
{
    size_t len = p->made.len - p->made_from;

    while (p->trim && len && is_blank((unsigned char)p->made.ptr[p->made_from + len - 1])) len--;
    step s = push(p, (fm_csv_field){.ptr = (const char *)(uintptr_t)p->made_from, .len = len,
                                    .kind = len ? FM_CSV_MADE : FM_CSV_EMPTY});
    p->made_from = p->made.len;
    return s;
}

/* ---- quotes ---- */

static step append_to_stop(fm_csv_parser *p)
{
    while (!at_stop(p)) {
        append(p, p->ch);
        TRY(next(p));
    }
    return GOES_ON;
}

static step skip_value(fm_csv_parser *p)
{
    p->made.len = p->made_from;
    while (!at_stop(p)) TRY(next(p));
    return GOES_ON;
}

static step value_with_escapes(fm_csv_parser *p);

/* A quote that closes nothing, within a value. */
static step unescaped_in_value(fm_csv_parser *p)
{
    if (p->options->handling == FM_CSV_SKIP_VALUE) return skip_value(p);
    if (p->options->handling == FM_CSV_RAISE_ERROR) return fail(p, "it has a quote within a value that is not escaped");
    if (p->depth == DEPTH_MAX) return fail(p, "it has too many quotes that are not escaped");
    append(p, p->options->quote);
    p->prev = p->ch;
    p->depth++;
    step s = value_with_escapes(p);
    p->depth--;
    return s;
}

/* The character at hand is the quote or the escape. */
static step quote_or_escape(fm_csv_parser *p)
{
    const fm_csv_options *o = p->options;

    if (is_escape(p) && p->prev == o->escape_escape && o->escape_escape != NONE) {
        append(p, o->escape);
        p->ch = NONE;
    } else if (p->prev == o->escape) {
        if (is_quote(p)) {
            append(p, o->quote);
            p->ch = NONE;
        } else {
            append(p, p->prev);
        }
    } else if (is_quote(p) && p->prev == o->quote) {
        append(p, o->quote);
    } else if (p->prev == o->quote) {
        return unescaped_in_value(p);
    }
    return GOES_ON;
}

static step value_with_escapes(fm_csv_parser *p)
{
    while (!at_stop(p)) {
        if (!is_quote(p) && !is_escape(p)) {
            if (p->prev == p->options->quote) return unescaped_in_value(p);
            append(p, p->ch);
        } else {
            TRY(quote_or_escape(p));
        }
        p->prev = p->ch;
        TRY(next(p));
    }
    return GOES_ON;
}

/* BACK_TO_DELIMITER: what was taken for one value are several. */
static step cut_at_delimiters(fm_csv_parser *p)
{
    fm_str sep = p->options->sep;

    while (p->made.len > p->made_from) {
        const char *from = p->made.ptr + p->made_from;
        const char *at = memmem(from, p->made.len - p->made_from, sep.ptr, sep.len);
        if (!at) return GOES_ON;
        size_t len = (size_t)(at - from);
        TRY(push(p, (fm_csv_field){.ptr = (const char *)(uintptr_t)p->made_from, .len = len,
                                   .kind = len ? FM_CSV_MADE : FM_CSV_EMPTY}));
        p->made_from += len + sep.len;
    }
    return GOES_ON;
}

typedef enum rounds { ROUND_DONE, ROUND_AGAIN } rounds;

/* Behind a quote that is not escaped, inside quotes: how the rest of the value is read. */
static step unescaped_in_quotes(fm_csv_parser *p, rounds *what)
{
    p->unescaped = true;
    *what = ROUND_AGAIN;
    switch (p->options->handling) {
    case FM_CSV_BACK_TO_DELIMITER:
        TRY(cut_at_delimiters(p));
        append(p, p->ch);
        p->prev = NONE;
        return GOES_ON;
    case FM_CSV_STOP_AT_CLOSING_QUOTE:
    case FM_CSV_STOP_AT_DELIMITER:
        append(p, p->options->quote);
        append(p, p->ch);
        p->prev = p->ch;
        return GOES_ON;
    case FM_CSV_SKIP_VALUE: *what = ROUND_DONE; return skip_value(p);
    default: return fail(p, "it has a quote within a quoted value that is not escaped");
    }
}

/* Blanks behind the closing quote, and what follows them. */
static step behind_quotes(fm_csv_parser *p, rounds *what)
{
    const fm_csv_options *o = p->options;
    const char *blanks = p->at - 1;

    *what = ROUND_DONE;
    do {
        TRY(next(p));
        if (is_newline(p)) return GOES_ON;
    } while (is_blank(p->ch));
    if (is_delimiter(p) || o->handling == FM_CSV_RAISE_ERROR) return GOES_ON;
    append(p, o->quote);
    fm_strbuf_add(&p->made, (fm_str){blanks, (size_t)(p->at - 1 - blanks)});
    bool to_delimiter = o->handling != FM_CSV_STOP_AT_CLOSING_QUOTE;
    if (to_delimiter || (!is_quote(p) && !is_escape(p))) append(p, p->ch);
    p->prev = p->ch;
    *what = ROUND_AGAIN;
    return GOES_ON;
}

static step inside_quotes(fm_csv_parser *p, rounds *what)
{
    const fm_csv_options *o = p->options;

    *what = ROUND_DONE;
    for (;;) {
        if (p->prev == o->quote && (is_blank(p->ch) || at_stop(p))) break;
        if (is_quote(p) || is_escape(p)) {
            TRY(quote_or_escape(p));
            p->prev = p->ch;
            TRY(next(p));
            if (p->unescaped && at_stop(p)) return GOES_ON;
            continue;
        }
        if (p->prev == o->quote) return unescaped_in_quotes(p, what);
        if (p->prev == o->escape && o->escape != NONE) append(p, o->escape);
        while (!is_quote(p) && !is_escape(p) && p->ch != o->escape_escape) {
            append(p, p->ch);
            TRY(next(p));
        }
        p->prev = p->ch;
        TRY(next(p));
    }
    if (!at_stop(p)) TRY(behind_quotes(p, what));
    if (*what == ROUND_DONE && !at_stop(p)) return fail(p, "something other than a separator follows a closing quote");
    return GOES_ON;
}

/* p->ch is the opening quote. */
static step quoted_value(fm_csv_parser *p)
{
    const fm_csv_options *o = p->options;
    rounds what = ROUND_AGAIN;

    while (what == ROUND_AGAIN) {
        if (p->prev != NONE && o->handling != FM_CSV_STOP_AT_CLOSING_QUOTE && o->handling != FM_CSV_RAISE_ERROR) {
            if (o->handling == FM_CSV_SKIP_VALUE) return skip_value(p);
            prepend(p, o->quote);
            TRY(next(p));
            p->trim = o->trim_right;
            return append_to_stop(p);
        }
        TRY(next(p));
        TRY(inside_quotes(p, &what));
    }
    return GOES_ON;
}

/* The usual case: no escapes up to a quote that a separator or the end follows. True when it was taken: the field is pushed, and
 * p->at stands behind the quote. */
static bool simple_quoted(fm_csv_parser *p, step *s)
{
    const fm_csv_options *o = p->options;
    const char *from = p->at, *close = memchr(from, o->quote, (size_t)(p->end - from));

    if (!close) return false;
    size_t len = (size_t)(close - from);
    const char *behind = close + 1;
    bool ends = behind == p->end || *behind == o->sep.ptr[0] || (p->newline >= 0 && (unsigned char)*behind == p->sep1);
    if (!ends || (o->escape > 0 && o->escape != o->quote && memchr(from, o->escape, len))) return false;
    if (o->escape_escape > 0 && o->escape_escape != o->escape && memchr(from, o->escape_escape, len)) return false;
    if (p->newline >= 0 && (p->sep1 != p->newline || p->sep2 >= 0) && memchr(from, p->sep1, len)) return false;
    if (o->sep.len > 1 && behind < p->end && *behind == o->sep.ptr[0] &&
        ((size_t)(p->end - behind) < o->sep.len || memcmp(behind, o->sep.ptr, o->sep.len) != 0))
        return false;
    p->at = behind;
    p->prev = NONE;
    *s = push(p, (fm_csv_field){.ptr = from, .len = len, .kind = len ? FM_CSV_TEXT : FM_CSV_EMPTY});
    return true;
}

/* ---- values without quotes ---- */

/* The first line separator of [from, until); a second character of it may stand behind. NULL: none. */
static const char *find_newline(const fm_csv_parser *p, const char *from, const char *until)
{
    while (from < until) {
        const char *at = memchr(from, p->sep1, (size_t)(until - from));
        if (!at || p->sep2 < 0 || (at + 1 < p->end && (unsigned char)at[1] == p->sep2)) return at;
        from = at + 1;
    }
    return NULL;
}

/* Up to a separator; p->ch is the first character, or the end was met and the field pushed (AT_END with *ended). */
static step plain_value(fm_csv_parser *p, bool *ended)
{
    const fm_csv_options *o = p->options;
    const char *from = p->at - 1, *stop, *newline = NULL;
    size_t left = (size_t)(p->end - from);

    stop = o->sep.len == 1 ? memchr(from, o->sep.ptr[0], left) : memmem(from, left, o->sep.ptr, o->sep.len);
    if (p->newline >= 0) {
        const char *until = stop ? stop : p->end;
        newline = find_newline(p, from, until);
        if (p->sep1 != p->newline) { /* the normalized character ends a record, too */
            const char *before = newline ? newline : until, *other = from < before ? memchr(from, p->newline, (size_t)(before - from)) : NULL;
            if (other) newline = other;
        }
    }
    if (newline) stop = newline;
    const char *end = stop ? stop : p->end;
    p->at = end;
    size_t len = (size_t)(end - from);
    while (o->trim_right && len && is_blank((unsigned char)from[len - 1])) len--;
    fm_csv_kind none = stop ? FM_CSV_NULL : FM_CSV_EMPTY; /* blanks only: as the original has it at the end of a text */
    TRY(push(p, (fm_csv_field){.ptr = from, .len = len, .kind = len ? FM_CSV_TEXT : none}));
    *ended = !stop;
    return stop ? next(p) : AT_END;
}

/* ---- records ---- */

static step skip_blanks(fm_csv_parser *p)
{
    while (is_blank(p->ch) && !at_stop(p) && !is_quote(p)) TRY(next(p));
    return GOES_ON;
}

static step one_value(fm_csv_parser *p, bool *ended, bool *advanced)
{
    step s;

    p->unescaped = false;
    p->prev = NONE;
    if (!is_quote(p)) return plain_value(p, ended);
    if (p->made.len == p->made_from && simple_quoted(p, &s)) {
        TRY(s);
        *advanced = true;
        s = next(p);
        if (s != GOES_ON) {
            *ended = true;
            return s;
        }
        if (!is_delimiter(p)) return GOES_ON;
        s = next(p);
        if (s != GOES_ON) {
            *ended = true;
            TRY(push_null(p));
            return s;
        }
        return is_newline(p) ? push_null(p) : GOES_ON;
    }
    fm_str sep = p->options->line_sep;
    p->normalize = sep.len == 0;
    p->trim = false;
    s = quoted_value(p);
    p->normalize = true;
    TRY(s);
    bool back = p->unescaped && p->options->handling == FM_CSV_BACK_TO_DELIMITER && p->made.len == p->made_from;
    return back ? GOES_ON : push_made(p);
}

static step parse_record(fm_csv_parser *p, bool *ended)
{
    bool trim_left = p->options->trim_left;

    while (!is_newline(p)) {
        bool advanced = false;
        if (trim_left && is_blank(p->ch)) TRY(skip_blanks(p));
        if (at_stop(p))
            TRY(push_null(p));
        else
            TRY(one_value(p, ended, &advanced));
        if (advanced || is_newline(p)) continue;
        TRY(next(p));
        if (is_newline(p)) TRY(push_null(p));
    }
    return GOES_ON;
}

/* The text ended within a record. */
static step end_record(fm_csv_parser *p, const char *start)
{
    bool value = false;

    if (is_quote(p) && p->prev == p->options->quote) {
        value = true;
    } else {
        if (is_quote(p) && !p->unescaped) append(p, p->options->quote);
        value = p->prev != NONE && !at_stop(p);
        p->ch = p->prev = NONE;
    }
    if (value || p->made.len > p->made_from) return push_made(p);
    return p->at > start ? push_null(p) : GOES_ON;
}

static void settle_fields(fm_csv_parser *p)
{
    for (int32_t i = 0; i < p->n; i++)
        if (p->fields[i].kind == FM_CSV_MADE) p->fields[i].ptr = p->made.ptr + (uintptr_t)p->fields[i].ptr;
}

static step skip_line(fm_csv_parser *p)
{
    while (!is_newline(p)) TRY(next(p));
    return GOES_ON;
}

int fm_csv_parser_next(fm_csv_parser *p)
{
    for (;;) {
        const char *start = p->at;
        bool ended = false;
        p->n = 0;
        p->depth = 0;
        fm_strbuf_clear(&p->made);
        p->made_from = 0;
        if (next(p) != GOES_ON) return 0;
        if (p->newline >= 0 && p->options->comment > 0 && p->ch == p->options->comment) {
            if (skip_line(p) != GOES_ON) return 0;
            continue;
        }
        step s = parse_record(p, &ended);
        if (s == AT_END && !ended) s = end_record(p, start) == FAULT ? FAULT : AT_END;
        if (!fm_strbuf_ok(&p->made)) s = fail(p, "out of memory");
        p->record = (fm_str){start, (size_t)(p->at - start)};
        if (s == GOES_ON) p->record.len -= p->sep2 >= 0 && p->record.len > 1 ? 2 : 1;
        if (s == FAULT) return -1;
        settle_fields(p);
        if (p->n > 0) return 1;
        if (s == AT_END) return 0;
    }
}

size_t fm_csv_parser_whole(fm_csv_parser *p, const char *bytes, size_t len)
{
    const char *whole = bytes;

    fm_csv_parser_start(p, (fm_str){bytes, len}, true);
    for (;;) {
        const char *start = p->at;
        /* A record that ends before the last byte does so whatever follows. */
        if (start < p->end) whole = start;
        if (start == p->end || fm_csv_parser_next(p) != 1) return (size_t)(whole - bytes);
    }
}

/* ---- around the walk ---- */

bool fm_csv_line_is_blank(const fm_csv_options *o, fm_str line)
{
    if (o->comment && line.len && (unsigned char)line.ptr[0] == o->comment) return true;
    for (size_t i = 0; i < line.len; i++)
        if ((unsigned char)line.ptr[i] > ' ') return false;
    return true;
}

fm_status fm_csv_refused(const fm_csv_parser *p, const fm_block *block, int64_t line, fm_error *err)
{
    char where[32] = "";
    fm_str shown = {p->record.ptr, p->record.len < 200 ? p->record.len : 200};

    if (line > 0) snprintf(where, sizeof where, " line %" PRId64 ",", line);
    return fm_fail(err, FM_INVALID, "FAILED_READ_FILE.NO_HINT",
                   "Encountered an error while reading file %.*s,%s byte %" PRId64 ": the CSV record cannot be read: %s: %.*s",
                   FM_STR_ARG(block->file), where, block->offset + (int64_t)(p->record.ptr - block->bytes), p->fault,
                   FM_STR_ARG(shown));
}

bool fm_csv_double(fm_str text, const fm_csv_options *o, double *out)
{
    if (fm_str_eq(text, o->nan_value)) return *out = NAN, true;
    if (fm_str_eq(text, o->positive_inf)) return *out = INFINITY, true;
    if (fm_str_eq(text, o->negative_inf)) return *out = -INFINITY, true;
    fm_str word = fm_str_trim(text);
    if (word.len && (*word.ptr == '-' || *word.ptr == '+')) word = (fm_str){word.ptr + 1, word.len - 1};
    if (!word.len || ((*word.ptr | 32) >= 'a' && (*word.ptr | 32) <= 'z' && !fm_str_eq(word, FM_STR("NaN")) &&
                      !fm_str_eq(word, FM_STR("Infinity"))))
        return false;
    return fm_text_to_double(text, out);
}
