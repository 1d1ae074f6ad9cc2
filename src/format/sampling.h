/* format/sampling.h: which records schema inference looks at: option samplingRatio.
 *
 * Rule: Spark, Dataset.sample without replacement, seed 1, as on one partition; a ratio above 0.99 takes all. */
#ifndef FM_FORMAT_SAMPLING_H
#define FM_FORMAT_SAMPLING_H

#include "base/options.h"
#include "base/xorshift.h"
#include "expr/cast.h"

typedef struct fm_sampling {
    double ratio;
    fm_xorshift random;
} fm_sampling;

static inline fm_status fm_sampling_option(const fm_options *options, fm_sampling *out, fm_error *err)
{
    const fm_option *o = fm_options_find(options, "samplingRatio");

    out->ratio = 1;
    fm_xorshift_init(&out->random, 1);
    if (!o || (fm_text_to_double(o->value, &out->ratio) && out->ratio > 0)) return FM_OK;
    return fm_fail(err, FM_INVALID, "FLOODMARK_INVALID_OPTION",
                   "Option samplingRatio '%.*s' should be a number greater than 0: the part of the records to look at.",
                   FM_STR_ARG(o->value));
}

/* Whether the next record is one. To be asked for every record. */
static inline bool fm_sampling_takes(fm_sampling *s)
{
    return s->ratio > 0.99 || fm_xorshift_double(&s->random) < s->ratio;
}

#endif
