/* sql/token.h: the words of SQL text. */
#ifndef FM_SQL_TOKEN_H
#define FM_SQL_TOKEN_H

#include "expr/expr.h"

/* A word, with its place. What stands in quotes is unescaped into `text`; the source is in pos. */
typedef struct fm_token {
    int kind;        /* FM_TK_* of the grammar */
    fm_str text;
    fm_pos pos;
    bool quoted;     /* an identifier in backticks: never a keyword */
    int8_t unit_from, unit_to; /* INTERVAL: fm_interval_unit of its type; text is "1 hour 30 minute" */
} fm_token;

typedef struct fm_tokens {
    fm_token *items;
    int32_t n, cap;
} fm_tokens;

/* Cuts text[from, to) into words and settles those that depend on their neighbours: keywords, typed literals, the types
 * of casts, the columns of CREATE TABLE, INTERVAL, STREAM, lambdas. Memory in arena; positions are in the whole text. */
fm_status fm_tokens_read(fm_arena *arena, fm_str text, size_t from, size_t to, fm_tokens *out, fm_error *err);

/* Line and column of a byte of the text. */
fm_pos fm_text_pos(fm_str text, size_t from, size_t to);
/* A syntax error there: says what, quotes the line and marks the place. */
fm_status fm_syntax_error(fm_str text, fm_pos pos, fm_error *err, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* The keyword nearest to a word, or NULL. */
const char *fm_keyword_nearest(fm_str word);

#endif
