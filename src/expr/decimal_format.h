/* expr/decimal_format.h: numbers by patterns of java.text.DecimalFormat: "#,##0.00", "0.0%", "0.00E0;(0.00E0)". */
#ifndef FM_EXPR_DECIMAL_FORMAT_H
#define FM_EXPR_DECIMAL_FORMAT_H

#include "base/str.h"
#include "column/vec.h"

enum {
    FM_FORMAT_AFFIX_SIZE = 64,        /* bytes of a prefix or suffix */
    FM_FORMAT_DIGITS_MAX = 1000,      /* places of a pattern on either side */
    FM_DIGITS_SIZE = 800              /* of any double, exactly, and any decimal */
};

typedef struct fm_decimal_format {
    char prefix[FM_FORMAT_AFFIX_SIZE], suffix[FM_FORMAT_AFFIX_SIZE];
    char minus_prefix[FM_FORMAT_AFFIX_SIZE], minus_suffix[FM_FORMAT_AFFIX_SIZE];
    int integers_min, integers_max;   /* digits before the point; max only for exponents */
    int fraction_min, fraction_max;
    int group;                        /* digits of a group; 0: none */
    int exponent_min;                 /* digits of the exponent; 0: none is shown */
    int multiplier;                   /* 100 for %, 1000 for per mille */
    bool point_always;
} fm_decimal_format;

/* False: no pattern to Java, or one beyond our bounds. */
bool fm_decimal_format_parse(fm_str pattern, fm_decimal_format *out);
/* "#,###,###,###,###,###,##0" and that many digits behind the point, 0 <= digits. */
void fm_decimal_format_fixed(int digits, fm_decimal_format *out);

/* Rounding is half even, of the exact value. */
void fm_decimal_format_f64(const fm_decimal_format *f, double x, fm_strbuf *out);
void fm_decimal_format_decimal(const fm_decimal_format *f, fm_i128 unscaled, int scale, fm_strbuf *out);

#endif
