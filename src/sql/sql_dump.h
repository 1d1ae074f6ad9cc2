/* sql/sql_dump.h: unresolved plans on one line, for tests: what the parser made, and nothing left out. */
#ifndef FM_SQL_SQL_DUMP_H
#define FM_SQL_SQL_DUMP_H

#include "plan/plan.h"

/* project[a, +(b, 1:int) AS c](relation[t]) */
void fm_plan_dump(const fm_plan *plan, fm_strbuf *out);
void fm_expr_dump(const fm_expr *e, fm_strbuf *out);

#endif
