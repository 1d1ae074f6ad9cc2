/* expr/number_template.h: the templates of to_number and to_char: '$99,999.99MI'. */
#ifndef FM_EXPR_NUMBER_TEMPLATE_H
#define FM_EXPR_NUMBER_TEMPLATE_H

#include "column/vec.h"

typedef struct fm_number_template fm_number_template;

/* text  as written, in any case
 * out   immutable, in arena
 * errors  FM_INVALID, INVALID_FORMAT.*: no template; FM_UNSUPPORTED: more than 38 digits
 * rule  Spark, ToNumberParser: [MI|S] [$] [0|9|G|,]... [.|D] [0|9]... [$] [PR|MI|S] */
fm_status fm_number_template_new(fm_arena *arena, fm_str text, const fm_number_template **out, fm_error *err);
/* Digits of the numbers it reads, and how many of them stand behind the point. */
void fm_number_template_digits(const fm_number_template *t, int *precision, int *scale);
fm_str fm_number_template_text(const fm_number_template *t); /* in capitals */
/* The number a text spells, times ten to the power of the scale; false: it does not fit the template. */
bool fm_number_template_read(const fm_number_template *t, fm_str text, fm_i128 *out);
/* Appends a number by the template; '#' for all digits when it has more than the template. */
void fm_number_template_print(const fm_number_template *t, fm_i128 unscaled, int scale, fm_strbuf *out);

#endif
