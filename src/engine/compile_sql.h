/* engine/compile_sql.h: an expression in SQL over the columns of a table, for whoever keeps SQL in its files. */
#ifndef FM_ENGINE_COMPILE_SQL_H
#define FM_ENGINE_COMPILE_SQL_H

#include "expr/expr.h"
#include "expr/function.h"

/* *out: resolved, its columns bound to those of `columns` (a STRUCT) by index; in arena. No tables, no aggregates.
 * errors  PARSE_SYNTAX_ERROR, UNRESOLVED_COLUMN and kin */
fm_status fm_compile_sql(const fm_session_conf *conf, fm_str sql, const fm_type *columns, fm_arena *arena, fm_expr **out, fm_error *err);

#endif
