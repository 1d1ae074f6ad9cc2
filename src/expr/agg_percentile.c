/* expr/agg_percentile.c: percentile(x, p[, frequency]), percentile_cont(p) and percentile_disc(p) WITHIN GROUP (ORDER BY x),
 * median(x): exact, so all values are kept.
 *
 * State   a distinct bag: each value with how often it came.
 * Rule    Spark, PercentileBase: numbers are looked at as doubles, intervals as they are. With n values sorted, the
 *         place p * (n - 1) is between two values: percentile takes its share of both; percentile_disc takes the first
 *         value that p * n values are not above. ORDER BY x DESC counts from the other end.
 * Cases   tests/golden/functions/percentile.test */
#include <math.h>
#include <stdlib.h>

#include "column/key.h"
#include "expr/agg_bag.h"
#include "expr/agg_percentages.h"
#include "expr/aggregates.h"
#include "expr/call_args.h"
#include "expr/coerce.h"
#include "expr/resolve_text.h"

extern const fm_aggregate fm_agg_percentile, fm_agg_percentile_cont, fm_agg_percentile_disc, fm_agg_median;

typedef struct bound {
    fm_percentages p;
    int32_t x;          /* which argument the values are */
    bool has_frequency; /* argument 2 */
    bool discrete, descending;
} bound;

static const bound *bound_of(const fm_agg_call *call) { return call->bound; }

/* The type values are looked at in. */
static fm_status bind_values(fm_bind *b, int32_t i, const fm_type **out, fm_error *err)
{
    const fm_type *t = b->args[i]->type;
    *out = fm_type_f64();
    if (t->id == FM_TYPE_INTERVAL_YM || t->id == FM_TYPE_INTERVAL_DT) {
        *out = fm_type_simple(t->id);
    } else if (!fm_type_is_numeric(t) && t->id != FM_TYPE_STRING && t->id != FM_TYPE_NULL) {
        return fm_fail_arg_type(b, i, "((\"NUMERIC\" or \"INTERVAL DAY TO SECOND\" or \"INTERVAL YEAR TO MONTH\") or \"TIME\")", err);
    }
    b->cast_args[i] = *out;
    return FM_OK;
}

static fm_status bind_frequency(fm_bind *b, fm_error *err)
{
    const fm_type *t = b->args[2]->type;
    if (!fm_type_is_integer(t) && t->id != FM_TYPE_NULL) return fm_fail_arg_type(b, 2, "\"INTEGRAL\"", err);
    b->cast_args[2] = fm_type_i64();
    return FM_OK;
}

static fm_status bind_as(fm_bind *b, bound want, int32_t percentages, fm_error *err)
{
    bound *own = fm_arena_one(b->arena, bound);
    const fm_type *type;
    static const double half = 0.5;
    if (!own) return fm_no_memory(b->arena, err);
    *own = want;
    FM_TRY(bind_values(b, own->x, &type, err));
    if (own->has_frequency) FM_TRY(bind_frequency(b, err));
    if (percentages < 0) own->p = (fm_percentages){&half, 1, false};
    else FM_TRY(fm_bind_percentages(b, percentages, &own->p, err));
    b->bound = own;
    return fm_percentages_type(b, &own->p, type, &b->returns, err);
}

static fm_status bind_percentile(fm_bind *b, fm_error *err)
{
    return bind_as(b, (bound){.has_frequency = b->n_args == 3}, 1, err);
}

static fm_status bind_median(fm_bind *b, fm_error *err) { return bind_as(b, (bound){.x = 0}, -1, err); }

static fm_status bind_cont(fm_bind *b, fm_error *err)
{
    return bind_as(b, (bound){.x = 1, .descending = b->keys[0]->descending}, 0, err);
}

static fm_status bind_disc(fm_bind *b, fm_error *err)
{
    return bind_as(b, (bound){.x = 1, .descending = b->keys[0]->descending, .discrete = true}, 0, err);
}

static fm_status fail_negative(int64_t frequency, fm_error *err)
{
    return fm_fail(err, FM_INVALID, "NEGATIVE_VALUES_IN_FREQUENCY_EXPRESSION",
                   "Found the negative value %lld in the frequency of percentile(), but expected a positive integral value.",
                   (long long)frequency);
}

static fm_status update(const fm_agg_call *call, char *const *entries, const fm_vec *args,
                        const uint8_t *keep, int32_t n, fm_error *err)
{
    const bound *own = bound_of(call);
    const fm_vec *x = &args[own->x];
    for (int32_t i = 0; i < n; i++) {
        int64_t times = 1;
        if ((keep && !keep[i]) || fm_vec_is_null(x, i)) continue;
        if (own->has_frequency) {
            if (fm_vec_is_null(&args[2], i)) continue;
            times = fm_vec_i64(&args[2])[i];
            if (times < 0) return fail_negative(times, err);
            if (times == 0) continue;
        }
        FM_TRY(fm_agg_bag_count(fm_agg_state(call, entries[i]), x, 1, i, times, err));
    }
    return FM_OK;
}

/* ---- The answer --------------------------------------------------------------------------------------------------- */

typedef struct counted {
    double x;
    int64_t count; /* of it and all before it, once they are sorted */
} counted;

static int by_x(const void *a, const void *b)
{
    double x = ((const counted *)a)->x, y = ((const counted *)b)->x;
    if (isnan(x) || isnan(y)) return (isnan(x) != 0) - (isnan(y) != 0);
    return (x > y) - (x < y);
}

static double number_at(const fm_vec *v, int64_t i)
{
    switch (v->type->id) {
    case FM_TYPE_INTERVAL_YM: return fm_vec_i32(v)[i];
    case FM_TYPE_INTERVAL_DT: return (double)fm_vec_i64(v)[i];
    default: return fm_vec_f64(v)[i];
    }
}

/* The values of a bag, sorted as wanted. */
static fm_status sorted(const fm_agg_call *call, const fm_agg_bag *bag, fm_arena *arena, counted **out, fm_error *err)
{
    const bound *own = bound_of(call);
    int64_t n = bag->n, sum = 0;
    fm_builder *b = fm_builder_new(arena, call->arg_types[own->x], (int32_t)n);
    counted *all = fm_arena_array(arena, counted, n);
    fm_agg_bag_head head;
    fm_str lanes;
    fm_vec values;
    if (!b || !all) return fm_no_memory(arena, err);
    n = 0;
    for (size_t at = 0, from; fm_agg_bag_next(bag, &at, &head, &lanes);) {
        from = 0;
        FM_TRY(fm_lane_decode(lanes, &from, b, err));
        all[n++].count = head.count;
    }
    FM_TRY(fm_builder_finish(b, &values, err));
    for (int64_t i = 0; i < n; i++) all[i].x = number_at(&values, i);
    qsort(all, (size_t)n, sizeof *all, by_x);
    for (int64_t i = 0; own->descending && i < n / 2; i++) {
        counted other = all[i];
        all[i] = all[n - 1 - i];
        all[n - 1 - i] = other;
    }
    for (int64_t i = 0; i < n; i++) all[i].count = sum += all[i].count;
    *out = all;
    return FM_OK;
}

/* The first value that at least `count` values are not behind. */
static int64_t place_of(const counted *all, int64_t n, int64_t count)
{
    int64_t low = 0, high = n - 1;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (all[middle].count < count) low = middle + 1;
        else high = middle;
    }
    return low;
}

static double percentile_of(const counted *all, int64_t n, double p, bool discrete)
{
    int64_t total = all[n - 1].count, lower, upper, i, j;
    double place;
    if (discrete) return all[place_of(all, n, (int64_t)ceil((double)total * p))].x;
    place = (double)(total - 1) * p;
    lower = (int64_t)floor(place);
    upper = (int64_t)ceil(place);
    i = place_of(all, n, lower + 1);
    j = place_of(all, n, upper + 1);
    if (lower == upper || i == j) return all[i].x;
    return ((double)upper - place) * all[i].x + (place - (double)lower) * all[j].x;
}

static void put(fm_builder *b, double x)
{
    if (fm_builder_type(b)->id == FM_TYPE_F64) fm_builder_f64(b, x);
    else fm_builder_i64(b, (int64_t)x);
}

static fm_status finish(const fm_agg_call *call, char *const *entries, int32_t n, fm_arena *arena,
                        fm_vec *out, fm_error *err)
{
    const bound *own = bound_of(call);
    fm_builder *b = fm_builder_new(arena, call->returns, n);
    fm_arena *scratch = fm_arena_new(0);
    fm_status st = b && scratch ? FM_OK : fm_no_memory(arena, err);
    for (int32_t i = 0; i < n && st == FM_OK; i++) {
        const fm_agg_bag *bag = *(fm_agg_bag **)fm_agg_state(call, entries[i]);
        counted *all = NULL;
        if (!bag || bag->n == 0 || own->p.n == 0) {
            fm_builder_null(b);
            continue;
        }
        fm_arena_reset(scratch);
        st = sorted(call, bag, scratch, &all, err);
        for (int32_t k = 0; k < own->p.n && st == FM_OK; k++)
            put(own->p.is_list ? fm_builder_child(b, 0) : b, percentile_of(all, bag->n, own->p.values[k], own->discrete));
        if (own->p.is_list) fm_builder_end(b);
    }
    if (st == FM_OK) st = fm_builder_finish(b, out, err);
    fm_arena_free(scratch);
    return st;
}

static fm_status load(const fm_agg_call *call, fm_str bytes, size_t *at, void *state, fm_error *err)
{
    return fm_agg_bag_load(bytes, at, true, &call->arg_types[bound_of(call)->x], 1, state, err);
}

#define COMMON                                                                                               \
    .state_size = fm_agg_bags_size, .update = update, .merge = fm_agg_bags_merge_distinct, .finish = finish, \
    .fini = fm_agg_bags_fini, .save = fm_agg_bags_save, .load = load, .memory = fm_agg_bags_memory

const fm_aggregate fm_agg_percentile = {
    COMMON, .name = "percentile", .args = {FM_ARG_ANY, FM_ARG_ANY, FM_ARG_ANY, FM_ARG_END}, .args_min = 2, .args_max = 3,
    .unread = 1 << 1, .bind = bind_percentile, .usage = "percentile(expr, percentage[, frequency])",
    .doc = "Returns the exact value at a percentage of the values.", .since = "2.1.0",
};
const fm_aggregate fm_agg_percentile_cont = {
    COMMON, .name = "percentile_cont", .args = {FM_ARG_ANY, FM_ARG_END}, .args_min = 1, .args_max = 1,
    .within = FM_WITHIN_ONE, .unread = 1 << 0, .bind = bind_cont,
    .usage = "percentile_cont(percentage) WITHIN GROUP (ORDER BY expr [DESC])",
    .doc = "Returns the value at a percentage, between two values its share of both.", .since = "4.0.0",
};
const fm_aggregate fm_agg_percentile_disc = {
    COMMON, .name = "percentile_disc", .args = {FM_ARG_ANY, FM_ARG_END}, .args_min = 1, .args_max = 1,
    .within = FM_WITHIN_ONE, .unread = 1 << 0, .bind = bind_disc,
    .usage = "percentile_disc(percentage) WITHIN GROUP (ORDER BY expr [DESC])",
    .doc = "Returns the first value that a percentage of the values does not exceed.", .since = "4.0.0",
};
const fm_aggregate fm_agg_median = {
    COMMON, .name = "median", .args = {FM_ARG_ANY, FM_ARG_END}, .args_min = 1, .args_max = 1, .bind = bind_median,
    .usage = "median(expr)", .doc = "Returns the exact median.", .since = "3.4.0",
};
