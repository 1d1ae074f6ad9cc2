/* sql/syntax_hint.h: what is said about a token that cannot stand where it stands. */
#ifndef FM_SQL_SYNTAX_HINT_H
#define FM_SQL_SYNTAX_HINT_H

#include "sql/build.h"

/* A statement that was not understood: text[from, to) as tokens, and what the grammar is given before them (JUST_EXPR; kind
 * 0: nothing). */
typedef struct fm_misread {
    fm_arena *arena;
    fm_str text;
    size_t from, to;
    fm_token first;
    const fm_tokens *tokens;
} fm_misread;

/* Its token `at` cannot follow those before it: PARSE_SYNTAX_ERROR with the place and a hint, the keyword that was meant or
 * what could stand there. */
fm_status fm_syntax_error(const fm_misread *m, int32_t at, fm_error *err);

#endif
