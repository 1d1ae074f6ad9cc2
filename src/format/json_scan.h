/* format/json_scan.h: cuts JSON text into tokens as Jackson does, since Spark reads JSON with it.
 *
 * Which records count as bad, and what is kept of a bad one, follows from how Jackson walks: the
 * token behind a field name is looked at together with the name (so a bad number fails there),
 * strings are only read when asked for, and after a failure a walk may go on from where it stopped.
 * The scanner keeps to that order of things; json_convert.c on top of it keeps to that of Spark's
 * converter. It is the exact path, not the fast one (json_template.h). */
#ifndef FM_FORMAT_JSON_SCAN_H
#define FM_FORMAT_JSON_SCAN_H

#include "base/arena.h"

typedef enum fm_json_token {
    FM_JT_ERROR = -1,
    FM_JT_NONE, /* end of the text; or nothing behind a name, after a failure */
    FM_JT_FIELD,
    FM_JT_OBJECT,
    FM_JT_OBJECT_END,
    FM_JT_ARRAY,
    FM_JT_ARRAY_END,
    FM_JT_STRING,
    FM_JT_INT,
    FM_JT_FLOAT, /* also NaN and the infinities */
    FM_JT_TRUE,
    FM_JT_FALSE,
    FM_JT_NULL
} fm_json_token;

/* Spark's allow... options; FM_JSON_DEFAULTS is what it starts from. */
enum {
    FM_JSON_COMMENTS = 1,
    FM_JSON_UNQUOTED_NAMES = 2,
    FM_JSON_SINGLE_QUOTES = 4,
    FM_JSON_LEADING_ZEROS = 8,
    FM_JSON_NON_NUMERIC = 16,
    FM_JSON_ANY_ESCAPE = 32,
    FM_JSON_CONTROL_CHARS = 64,
    FM_JSON_DEFAULTS = FM_JSON_SINGLE_QUOTES | FM_JSON_NON_NUMERIC
};

typedef struct fm_json_level {
    fm_str name; /* of the field being read; ptr NULL in arrays and at the root */
    char kind;   /* '{', '[' or 0 at the root */
    bool has_entry;
} fm_json_level;

typedef struct fm_json_scan {
    const char *start, *at, *end;
    fm_json_token token; /* the current one */
    fm_json_token ahead; /* behind a FIELD */
    bool unread;         /* a string whose opening quote was seen, but no more */
    unsigned flags;
    const char *value; /* first byte of the current value */
    fm_str number;     /* text of the last number */
    fm_str text;       /* of the last string, unescaped: a piece of the input, or in `scratch` */
    bool text_is_input;
    int32_t depth;
    fm_json_level *levels; /* [levels_cap], on the heap */
    int32_t levels_cap;
    fm_strbuf scratch;
    fm_arena *arena;   /* names with escapes; must live as long as a record is read */
    const char *fault; /* what the last failure was */
    const char *fault_at;
} fm_json_scan;

fm_status fm_json_scan_init(fm_json_scan *s, unsigned flags, fm_error *err);
void fm_json_scan_fini(fm_json_scan *s);
/* Starts on a text, which is borrowed until the next; names with escapes go to arena. */
void fm_json_scan_start(fm_json_scan *s, fm_str text, fm_arena *arena);

/* The next token, which becomes s->token. */
fm_json_token fm_json_next(fm_json_scan *s);
/* Behind an OBJECT or ARRAY: to its end. Else nothing. False on a failure. */
bool fm_json_skip_children(fm_json_scan *s);
/* The name that goes with the current token; ptr NULL when there is none. */
fm_str fm_json_name(const fm_json_scan *s);
/* Reads the current STRING into s->text. False on a failure. */
bool fm_json_text(fm_json_scan *s);

/* Reads the rest of a string that starts at `at`, behind its quote: returns the place behind the
 * closing quote, or NULL. *plain: the value is the text itself, pure ASCII or well-formed UTF-8
 * without escapes; else it was unescaped into out. Used by the template, too. */
const char *fm_json_string(const char *at, const char *end, char quote, unsigned flags, bool *plain,
                           fm_strbuf *out, const char **fault, const char **stop);

#endif
