/* expr/agg_decimal.c: running sums of decimals.
 *
 * Rule  Spark, Sum and Average of DECIMAL: the sum is kept with 10 more digits, 38 at most; once it has left them
 *       it stays lost, which finish reports (ANSI) or gives as NULL. */
#include "expr/agg_decimal.h"

#include "expr/cast.h"

static void set_sum(fm_agg_decimal *s, fm_i128 sum)
{
    s->lo = (uint64_t)(fm_u128)sum;
    s->hi = (uint64_t)((fm_u128)sum >> 64);
}

static void add(fm_agg_decimal *s, fm_i128 x)
{
    fm_i128 sum = fm_agg_decimal_sum(s);
    if (sum == FM_AGG_DECIMAL_OVERFLOWED) return;
    if (x == FM_AGG_DECIMAL_OVERFLOWED || __builtin_add_overflow(sum, x, &sum) ||
        !fm_decimal_fits(sum, 38))
        sum = FM_AGG_DECIMAL_OVERFLOWED;
    set_sum(s, sum);
}

fm_status fm_agg_decimal_update(const fm_agg_call *call, char *const *entries, const fm_vec *x,
                                const uint8_t *keep, int32_t n)
{
    uint8_t buffer[FM_AGG_CHUNK];
    for (int32_t from = 0; from < n; from += FM_AGG_CHUNK) {
        int32_t len = fm_agg_chunk(from, n);
        const uint8_t *live = fm_agg_live(x, 1, keep, from, len, buffer);
        for (int32_t i = 0; i < len; i++) {
            fm_agg_decimal *s = fm_agg_state(call, entries[from + i]);
            if (live && !live[i]) continue;
            add(s, fm_vec_decimal(x)[from + i]);
            s->count++;
        }
    }
    return FM_OK;
}

fm_status fm_agg_decimal_merge(const fm_agg_call *call, char *const *dst, char *const *src,
                               int32_t n)
{
    for (int32_t i = 0; i < n; i++) {
        fm_agg_decimal *d = fm_agg_state(call, dst[i]);
        const fm_agg_decimal *s = fm_agg_state(call, src[i]);
        add(d, fm_agg_decimal_sum(s));
        d->count += s->count;
    }
    return FM_OK;
}

const double *fm_agg_doubles(const fm_vec *x, int32_t from, int32_t n, double *buffer)
{
    if (x->type->id != FM_TYPE_DECIMAL) return fm_agg_f64(x, from, n, buffer);
    for (int32_t i = 0; i < n; i++) {
        char text[FM_DECIMAL_TEXT_SIZE];
        size_t len = fm_decimal_text(fm_vec_decimal(x)[from + i], x->type->scale, text);
        if (!fm_text_to_double((fm_str){text, len}, &buffer[i])) buffer[i] = 0;
    }
    return buffer;
}
