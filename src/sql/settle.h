/* sql/settle.h: between words and grammar; see settle.c. */
#ifndef FM_SQL_SETTLE_H
#define FM_SQL_SETTLE_H

#include "sql/token.h"

/* The words of a statement while they are settled. */
typedef struct fm_settling {
    fm_arena *arena;
    fm_str text;
    fm_error *err;
    fm_tokens *tokens;
    const int32_t *match; /* [n] of a parenthesis: the index of the other one; without another: n */
} fm_settling;

/* Changes kinds in place. Tokens that were taken into another have kind FM_TOKEN_TAKEN. */
enum { FM_TOKEN_TAKEN = -1 };
fm_status fm_settle(fm_settling *s);

/* For the parts: */
/* The token at i, or an empty one beyond the ends. */
const fm_token *fm_settle_peek(const fm_settling *s, int32_t i);
/* An unquoted word, any case. */
bool fm_token_is_word(const fm_token *t, const char *word);
/* Tokens i..last become one of the given kind, its text what stands between. */
void fm_settle_join(fm_settling *s, int32_t i, int32_t last, int kind);
fm_status fm_settle_fail(const fm_settling *s, fm_pos pos, fm_status st, const char *condition, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* INTERVAL at i and what belongs to it become one token (interval_literal.c); when no interval follows, a name. */
fm_status fm_settle_interval(fm_settling *s, int32_t i);
/* The columns of CREATE TABLE (settle_columns.c). */
fm_status fm_settle_columns(fm_settling *s);
/* Columns from i, which may be their '(', to `end`. */
fm_status fm_settle_column_list(fm_settling *s, int32_t i, int32_t end);
/* Statements that write tables (settle_write.c). */
fm_status fm_settle_write(fm_settling *s);
/* VERSION AS OF and TIMESTAMP AS OF at i become one token; false: they are something else. */
bool fm_settle_travel(fm_settling *s, int32_t i);

#endif
