/* sql/token.h: the words of SQL text, as the grammar takes them. */
#ifndef FM_SQL_TOKEN_H
#define FM_SQL_TOKEN_H

#include "expr/cast.h"
#include "sql/source_text.h"

/* What INTERVAL ... says: the value and the units of its type. */
typedef struct fm_interval_token {
    fm_interval value;
    bool has_months, has_time;        /* both: taken as a watermark delay only */
    fm_interval_unit unit_from, unit_to; /* unless both */
} fm_interval_token;

/* A word, with its place. What stands in quotes is unescaped into `text`; the source is at `pos`. */
typedef struct fm_token {
    int kind;    /* FM_TK_* of the grammar; 0 ends the tokens */
    fm_str text;
    fm_pos pos;
    bool quoted; /* in backticks or quotes: never a keyword */
    const fm_interval_token *interval; /* INTERVAL, INTERVAL_TEXT */
} fm_token;

typedef struct fm_tokens {
    fm_token *items;
    int32_t n, cap;
} fm_tokens;

/* Cuts text[from, to) into words and settles those that depend on their neighbours (settle.c). The last token is of kind 0
 * and stands at `to`. Memory in arena; places are in the whole text; `counter` goes on from statement to statement.
 * Errors: PARSE_SYNTAX_ERROR and kin, FM_UNSUPPORTED for what is not built. */
fm_status fm_tokens_read(fm_arena *arena, fm_place_counter *counter, size_t from, size_t to, fm_tokens *out, fm_error *err);

#endif
