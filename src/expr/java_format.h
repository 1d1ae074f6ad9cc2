/* expr/java_format.h: format strings of java.util.Formatter. */
#ifndef FM_EXPR_JAVA_FORMAT_H
#define FM_EXPR_JAVA_FORMAT_H

#include "base/status.h"
#include "column/vec.h"

/* Appends `format` with its specifiers replaced by lane i of args[n], or by lane 0 of those with one lane only.
 * errors  FM_INVALID, FLOODMARK_FORMAT_STRING: Java would throw; FM_UNSUPPORTED: %a, dates
 * rule    java.util.Formatter of JDK 17, locale US, as Spark calls it: dates and timestamps are whole numbers, decimals go with
 *         %s, %b and %h only */
fm_status fm_java_format(fm_str format, const fm_vec *args, int32_t n, int64_t i, fm_strbuf *out, fm_error *err);

#endif
