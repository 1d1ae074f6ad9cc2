/* sql/statements.h: statements that the grammar does not see. */
#ifndef FM_SQL_STATEMENTS_H
#define FM_SQL_STATEMENTS_H

#include "plan/plan.h"
#include "sql/token.h"

/* Refuses statements of Spark that are not built: FM_UNSUPPORTED, by name. */
fm_status fm_statement_check(fm_str text, const fm_tokens *tokens, fm_error *err);

/* SET and RESET at text[from, to), from at a word: values are raw text. *out is NULL when the statement is another. */
fm_status fm_statement_settings(fm_arena *arena, fm_place_counter *counter, size_t from, size_t to, fm_plan **out, fm_error *err);

#endif
