/* sql/sql.h: text -> unresolved plans. The language is docs/sql.md.
 *
 * How what has no node of its own is written in the plan:
 *     TIMESTAMP '...'        FM_EXPR_CAST of a string literal, its name "TIMESTAMP": the session's zone decides, so the
 *                            analyzer folds it. That the text is a timestamp was checked. DATE and TIMESTAMP_NTZ are literals
 *     operators              FM_EXPR_UNRESOLVED_CALL by their sign; a sign in front of x is "-" or "+" with one argument
 *     x BETWEEN a AND b      FM_EXPR_AND named "between" over x >= a, x <= b, which share x
 *     CASE x WHEN a          FM_EXPR_CASE over x = a
 *     (a, b)                 call of struct; * EXCEPT (a): string literals in the star's args
 *     f(a) WITHIN GROUP (ORDER BY x)  f(a, x): the last arguments are FM_EXPR_SORT_KEY
 *     f(key => x)            of table functions: FM_EXPR_ALIAS
 *     (query) in FROM        FM_PLAN_SUBQUERY_ALIAS "__auto_generated_subquery_name", below the alias that is given
 *     DELAY OF INTERVAL      delay_us, a month as 31 days; delay_text as written
 *     TABLESAMPLE            exprs[0]: the size; what: PERCENT or ROWS
 *     RESET                  FM_PLAN_SET with what "RESET"; RESET key: an option without a value
 *     CREATE VIEW v USING    FM_PLAN_CREATE_TABLE, temporary */
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
