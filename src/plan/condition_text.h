/* plan/condition_text.h: conditions in the words of Spark's data source filters. */
#ifndef FM_PLAN_CONDITION_TEXT_H
#define FM_PLAN_CONDITION_TEXT_H

#include "column/condition.h"
#include "expr/zone.h"

/* Appends "Or(EqualTo(a,1),IsNull(s.b))". schema: the columns that paths index; zone: of timestamps. Rule: Spark, sources.Filter */
void fm_condition_text(const fm_condition *c, const fm_type *schema, const fm_zone *zone, fm_strbuf *out);

#endif
