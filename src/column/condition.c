/* column/condition.c: whether rows, of which bounds are known, may meet a condition. */
#include "column/condition.h"

#include <math.h>

/* ---- Comparisons ---------------------------------------------------------------------------------------------- */

/* NaN is above all in SQL's order, and writers leave it out of statistics: an upper bound says nothing about it. */
static bool nan_may_hide(const fm_type *type) { return type->id == FM_TYPE_F32 || type->id == FM_TYPE_F64; }

static bool is_nan(const fm_vec *v, int64_t i)
{
    return (v->type->id == FM_TYPE_F64 && isnan(fm_vec_f64(v)[i])) || (v->type->id == FM_TYPE_F32 && isnan(fm_vec_f32(v)[i]));
}

static int cmp_min(const fm_bounds *b, const fm_vec *value, int64_t i) { return fm_vec_cmp(b->min, 0, value, i); }
static int cmp_max(const fm_bounds *b, const fm_vec *value, int64_t i) { return fm_vec_cmp(b->max, 0, value, i); }

static bool may_equal(const fm_bounds *b, const fm_vec *value, int64_t i)
{
    if (is_nan(value, i)) return true;
    if (b->min && cmp_min(b, value, i) > 0) return false;
    return !(b->max && cmp_max(b, value, i) < 0);
}

/* All values are this one: so bounds that meet say, exact or not. */
static bool all_equal(const fm_bounds *b, const fm_vec *value, int64_t i)
{
    return b->min && b->max && !nan_may_hide(value->type) && cmp_min(b, value, i) == 0 && cmp_max(b, value, i) == 0;
}

static bool may_be_in(const fm_bounds *b, const fm_vec *values)
{
    for (int32_t i = 0; i < values->len; i++) {
        if (may_equal(b, values, i)) return true;
    }
    return false;
}

static bool may_differ_from_all(const fm_bounds *b, const fm_vec *values)
{
    for (int32_t i = 0; i < values->len; i++) {
        if (all_equal(b, values, i)) return false;
    }
    return true;
}

/* A bound cut to the prefix's length compares as the prefixes of the values do. */
static int cmp_prefix(const fm_vec *bound, fm_str prefix)
{
    fm_str text = fm_vec_str(bound, 0);

    if (text.len > prefix.len) text.len = prefix.len;
    return fm_str_cmp(text, prefix);
}

static bool may_start_with(const fm_bounds *b, fm_str prefix)
{
    if (b->min && cmp_prefix(b->min, prefix) > 0) return false;
    return !(b->max && cmp_prefix(b->max, prefix) < 0);
}

/* Whether a value that is not null may meet the comparison. */
static bool value_may_meet(const fm_condition *c, const fm_bounds *b)
{
    switch (c->op) {
    case FM_COND_EQ:
    case FM_COND_SAME: return may_equal(b, &c->value, 0);
    case FM_COND_IN: return may_be_in(b, &c->value);
    case FM_COND_LT: return !b->min || cmp_min(b, &c->value, 0) < 0;
    case FM_COND_LE: return !b->min || cmp_min(b, &c->value, 0) <= 0;
    case FM_COND_GT: return nan_may_hide(c->type) || !b->max || cmp_max(b, &c->value, 0) > 0;
    case FM_COND_GE: return nan_may_hide(c->type) || !b->max || cmp_max(b, &c->value, 0) >= 0;
    case FM_COND_STARTS_WITH: return may_start_with(b, fm_vec_str(&c->value, 0));
    case FM_COND_IS_NULL: return false;
    default: return true;
    }
}

static bool value_may_fail(const fm_condition *c, const fm_bounds *b)
{
    switch (c->op) {
    case FM_COND_EQ:
    case FM_COND_SAME:
    case FM_COND_IN: return may_differ_from_all(b, &c->value);
    case FM_COND_LT: return nan_may_hide(c->type) || !b->max || cmp_max(b, &c->value, 0) >= 0;
    case FM_COND_LE: return nan_may_hide(c->type) || !b->max || cmp_max(b, &c->value, 0) > 0;
    case FM_COND_GT: return !b->min || cmp_min(b, &c->value, 0) <= 0;
    case FM_COND_GE: return !b->min || cmp_min(b, &c->value, 0) < 0;
    case FM_COND_NOT_NULL: return false;
    default: return true;
    }
}

bool fm_condition_leaf_may(const fm_condition *c, bool negated, const fm_bounds *b)
{
    bool all_null = b->all_null || (b->rows >= 0 && b->nulls == b->rows), no_null = b->nulls == 0 && !b->all_null;
    bool null_may = false; /* IS NULL, IS NOT NULL and <=> are of two values: null decides them */

    if (c->op == FM_COND_IS_NULL) null_may = !negated;
    if (c->op == FM_COND_NOT_NULL || c->op == FM_COND_SAME) null_may = negated;
    if (null_may && !no_null) return true;
    if (all_null) return false;
    return negated ? value_may_fail(c, b) : value_may_meet(c, b);
}

/* ---- Trees ------------------------------------------------------------------------------------------------------ */

static bool may(const fm_condition *c, bool negated, fm_condition_bounds bounds_of, void *ctx)
{
    fm_bounds b = FM_BOUNDS_UNKNOWN;

    switch (c->op) {
    case FM_COND_AND:
    case FM_COND_OR:
        if ((c->op == FM_COND_AND) != negated) return may(c->left, negated, bounds_of, ctx) && may(c->right, negated, bounds_of, ctx);
        return may(c->left, negated, bounds_of, ctx) || may(c->right, negated, bounds_of, ctx);
    case FM_COND_NOT: return may(c->left, !negated, bounds_of, ctx);
    default: bounds_of(ctx, c, &b); return fm_condition_leaf_may(c, negated, &b);
    }
}

bool fm_condition_may_hold(const fm_condition *c, fm_condition_bounds bounds_of, void *ctx) { return may(c, false, bounds_of, ctx); }

fm_status fm_condition_remap(const fm_condition *c, const int32_t *columns, fm_arena *arena, const fm_condition **out, fm_error *err)
{
    fm_condition *copy = fm_arena_one(arena, fm_condition);

    *out = NULL;
    if (!copy) return fm_no_memory(arena, err);
    *copy = *c;
    if (c->n_path) {
        copy->path[0] = columns[c->path[0]];
        if (copy->path[0] >= 0) *out = copy;
        return FM_OK;
    }
    FM_TRY(fm_condition_remap(c->left, columns, arena, &copy->left, err));
    if (c->right) FM_TRY(fm_condition_remap(c->right, columns, arena, &copy->right, err));
    if (copy->left && (copy->right || !c->right)) *out = copy;
    return FM_OK;
}

bool fm_condition_within(const fm_condition *c, const bool *is)
{
    if (c->n_path) return is[c->path[0]];
    return fm_condition_within(c->left, is) && (!c->right || fm_condition_within(c->right, is));
}
