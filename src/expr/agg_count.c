/* expr/agg_count.c: count(*), count(x, ...), count_if(x).
 *
 * State   int64: how many.
 * Rule    Spark, Count: rows where no argument is null; 0 over nothing. CountIf: rows where x is true.
 * Cases   tests/golden/functions/count.test */
#include "expr/agg_lanes.h"

static uint32_t state_size(const fm_agg_call *call)
{
    (void)call;
    return sizeof(int64_t);
}

static void add_ones(char *const *restrict entries, uint32_t offset, int32_t n)
{
    for (int32_t i = 0; i < n; i++) ++*(int64_t *)(void *)(entries[i] + offset);
}

static void add_live(char *const *restrict entries, uint32_t offset, const uint8_t *restrict live,
                     int32_t n)
{
    for (int32_t i = 0; i < n; i++) *(int64_t *)(void *)(entries[i] + offset) += live[i];
}

static fm_status count_update(const fm_agg_call *call, char *const *entries, const fm_vec *args,
                              const uint8_t *keep, int32_t n, fm_error *err)
{
    uint8_t buffer[FM_AGG_CHUNK];
    (void)err;
    for (int32_t from = 0; from < n; from += FM_AGG_CHUNK) {
        int32_t len = fm_agg_chunk(from, n);
        const uint8_t *live = fm_agg_live(args, call->n_args, keep, from, len, buffer);
        if (live)
            add_live(entries + from, call->offset, live, len);
        else
            add_ones(entries + from, call->offset, len);
    }
    return FM_OK;
}

static fm_status count_if_update(const fm_agg_call *call, char *const *entries, const fm_vec *args,
                                 const uint8_t *keep, int32_t n, fm_error *err)
{
    const uint8_t *x = args[0].type->id == FM_TYPE_BOOL ? fm_vec_bool(&args[0]) : NULL;
    uint8_t live[FM_AGG_CHUNK];
    (void)err;
    for (int32_t from = 0; x && from < n; from += FM_AGG_CHUNK) {
        int32_t len = fm_agg_chunk(from, n);
        /* A null lane holds zero: it does not count, as it should. */
        for (int32_t i = 0; i < len; i++)
            live[i] = x[from + i] & (keep ? keep[from + i] != 0 : 1);
        add_live(entries + from, call->offset, live, len);
    }
    return FM_OK;
}

static fm_status count_merge(const fm_agg_call *call, char *const *dst, char *const *src, int32_t n,
                             fm_error *err)
{
    (void)err;
    for (int32_t i = 0; i < n; i++)
        *(int64_t *)fm_agg_state(call, dst[i]) += *(int64_t *)fm_agg_state(call, src[i]);
    return FM_OK;
}

static fm_status count_retract(const fm_agg_call *call, char *const *dst, char *const *src,
                               int32_t n, fm_error *err)
{
    (void)err;
    for (int32_t i = 0; i < n; i++)
        *(int64_t *)fm_agg_state(call, dst[i]) -= *(int64_t *)fm_agg_state(call, src[i]);
    return FM_OK;
}

static fm_status count_finish(const fm_agg_call *call, char *const *entries, int32_t n,
                              fm_arena *arena, fm_vec *out, fm_error *err)
{
    FM_TRY(fm_vec_init(out, call->returns, n, arena, err));
    for (int32_t i = 0; i < n; i++)
        fm_vec_i64_out(out)[i] = *(int64_t *)fm_agg_state(call, entries[i]);
    return FM_OK;
}

const fm_aggregate fm_agg_count = {
    .name = "count", .args = {FM_ARG_ANY, FM_ARG_END}, .args_min = 1, .args_max = -1,
    .returns = fm_type_i64, .state_size = state_size, .never_null = true, .update = count_update,
    .merge = count_merge, .retract = count_retract, .finish = count_finish,
    .usage = "count(*), count(expr[, expr...])",
    .doc = "Returns how many rows there are, or how many where no argument is null.", .since = "1.0.0",
};

const fm_aggregate fm_agg_count_if = {
    .name = "count_if", .args = {FM_ARG_BOOL, FM_ARG_END}, .args_min = 1, .args_max = 1,
    .returns = fm_type_i64, .state_size = state_size, .never_null = true, .update = count_if_update,
    .merge = count_merge, .retract = count_retract, .finish = count_finish,
    .usage = "count_if(condition)", .doc = "Returns how many rows fulfil the condition.", .since = "3.0.0",
};
