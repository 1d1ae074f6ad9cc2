/* sql/sql.h: text -> unresolved plans. */
#ifndef FM_SQL_SQL_H
#define FM_SQL_SQL_H

#include "plan/plan.h"

/* Parses one statement (a ';' at the end is fine) or a whole script. The text is copied into arena; nodes point into
 * it. Errors: FM_INVALID, PARSE_SYNTAX_ERROR and kin, with line, column and a message that quotes the line, marks
 * the place, and says what was expected there. */
fm_status fm_sql_parse(fm_arena *arena, fm_str text, fm_plan **out, fm_error *err);
fm_status fm_sql_parse_script(fm_arena *arena, fm_str text, fm_plan ***out, int32_t *n, fm_error *err);
/* An expression alone ("k <> 'x'"), for options and the C API. */
fm_status fm_sql_parse_expr(fm_arena *arena, fm_str text, fm_expr **out, fm_error *err);

/* ${env:NAME} and ${key} replaced, outside of comments; inside of quotes too, as Spark does. lookup returns false when
 * unknown: FM_INVALID naming the variable and its place. */
fm_status fm_sql_substitute(fm_arena *arena, fm_str text, bool (*lookup)(void *ctx, fm_str name, fm_str *value),
                            void *ctx, fm_str *out, fm_error *err);

#endif
