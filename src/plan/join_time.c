/* plan/join_time.c: equalities and time bounds of join conditions. */
#include "plan/join_time.h"

#include "base/checked.h"
#include "base/time_text.h"
#include "plan/plan_impl.h"

static bool is_call(const fm_expr *e, const char *name, int32_t n_args)
{
    return e->kind == FM_EXPR_CALL && e->n_args == n_args && strcmp(e->function->name, name) == 0;
}

static bool within(const fm_expr *e, const fm_plan *side)
{
    return fm_expr_has(e, FM_EXPR_ATTRIBUTE) && fm_expr_within(e, side->output, side->n_output);
}

static bool as_key(const fm_plan *join, fm_expr *e, fm_join_key *key)
{
    const fm_plan *l = join->children[0], *r = join->children[1];
    bool null_safe = is_call(e, "<=>", 2);

    if (!null_safe && !is_call(e, "=", 2)) return false;
    if (within(e->args[0], l) && within(e->args[1], r)) *key = (fm_join_key){e->args[0], e->args[1], null_safe};
    else if (within(e->args[1], l) && within(e->args[0], r)) *key = (fm_join_key){e->args[1], e->args[0], null_safe};
    else return false;
    return true;
}

fm_status fm_join_keys(fm_arena *arena, const fm_plan *join, fm_join_key **keys, int32_t *n, fm_expr **rest,
                       fm_error *err)
{
    fm_expr **list = NULL;
    int32_t count = 0, cap = 0, left = 0;

    *n = 0;
    *rest = NULL;
    if (join->n_exprs) FM_TRY(fm_expr_conjuncts(arena, join->exprs[0], &list, &count, &cap, err));
    *keys = fm_arena_array(arena, fm_join_key, count);
    if (!*keys) return fm_no_memory(arena, err);
    for (int32_t i = 0; i < count; i++) {
        if (as_key(join, list[i], &(*keys)[*n])) (*n)++;
        else list[left++] = list[i];
    }
    if (!left) return FM_OK;
    *rest = fm_expr_conjunction(arena, list, left);
    return *rest ? FM_OK : fm_no_memory(arena, err);
}

static bool has_key(const fm_plan *join, fm_expr *e)
{
    fm_join_key key;

    if (e->kind != FM_EXPR_AND) return as_key(join, e, &key);
    for (int32_t i = 0; i < e->n_args; i++) {
        if (has_key(join, e->args[i])) return true;
    }
    return false;
}

bool fm_join_has_key(const fm_plan *join) { return join->n_exprs && has_key(join, join->exprs[0]); }

static bool is_tagged(const fm_expr *e, const fm_plan *side)
{
    const fm_attr *a = e->kind == FM_EXPR_ATTRIBUTE ? fm_attr_find(side->output, side->n_output, e->attr_id) : NULL;

    return a && a->watermark_node;
}

bool fm_join_key_is_tagged(const fm_plan *join, const fm_join_key *keys, int32_t n)
{
    for (int32_t i = 0; i < n; i++) {
        if (is_tagged(keys[i].left, join->children[0]) || is_tagged(keys[i].right, join->children[1])) return true;
    }
    return false;
}

/* low - high as a sum: at most one column of each side, and a constant. */
typedef struct terms {
    const fm_plan *join;
    int side;              /* the side whose state is bounded */
    const fm_expr *mine, *other;
    bool mine_minus, other_minus;
    int64_t constant_us;
    bool usable;
} terms;

static void collect(terms *t, const fm_expr *e, bool minus);

static void add_constant(terms *t, int64_t us, bool minus)
{
    t->usable &= minus ? fm_sub_i64(t->constant_us, us, &t->constant_us) : fm_add_i64(t->constant_us, us, &t->constant_us);
}

/* Numbers mean seconds. */
static void add_literal(terms *t, const fm_expr *e, bool minus)
{
    double seconds = 0;
    int64_t us;

    if (fm_vec_is_null(&e->value, 0)) {
        t->usable = false;
        return;
    }
    switch (e->type->id) {
    case FM_TYPE_INTERVAL_DT: add_constant(t, fm_vec_i64(&e->value)[0], minus); return;
    case FM_TYPE_I32:
        add_constant(t, fm_vec_i32(&e->value)[0] * FM_US_PER_SECOND, minus);
        return;
    case FM_TYPE_I64:
        t->usable &= fm_mul_i64(fm_vec_i64(&e->value)[0], FM_US_PER_SECOND, &us);
        if (t->usable) add_constant(t, us, minus);
        return;
    case FM_TYPE_F64: seconds = fm_vec_f64(&e->value)[0]; break;
    case FM_TYPE_F32: seconds = fm_vec_f32(&e->value)[0]; break;
    default: t->usable = false; return;
    }
    t->usable &= seconds > -9e12 && seconds < 9e12;
    if (t->usable) add_constant(t, (int64_t)(seconds * (double)FM_US_PER_SECOND), minus);
}

static void add_column(terms *t, const fm_expr *e, bool minus)
{
    const fm_plan *mine = t->join->children[t->side];
    bool is_mine = fm_attr_find(mine->output, mine->n_output, e->attr_id) != NULL;
    const fm_expr **slot = is_mine ? &t->mine : &t->other;

    t->usable &= !*slot;
    *slot = e;
    *(is_mine ? &t->mine_minus : &t->other_minus) = minus;
}

static void collect(terms *t, const fm_expr *e, bool minus)
{
    if (is_call(e, "+", 2) || is_call(e, "-", 2)) {
        collect(t, e->args[0], minus);
        collect(t, e->args[1], strcmp(e->function->name, "-") == 0 ? !minus : minus);
    } else if (is_call(e, "negative", 1)) {
        collect(t, e->args[0], !minus);
    } else if (e->kind == FM_EXPR_CAST && (fm_type_is_numeric(e->type) || e->type->id == FM_TYPE_TIMESTAMP)) {
        collect(t, e->args[0], minus);
    } else if (e->kind == FM_EXPR_ATTRIBUTE) {
        add_column(t, e, minus);
    } else if (e->kind == FM_EXPR_LITERAL) {
        add_literal(t, e, minus);
    } else {
        t->usable = false;
    }
}

/* low < high (or <=): with low - high = other + c - mine, future others are above E, so mine <= E + c has no partner. */
static bool bound(const fm_plan *join, int side, const fm_expr *low, const fm_expr *high, bool closed, int32_t *time_id,
                  int64_t *offset_ms)
{
    terms t = {.join = join, .side = side, .usable = true};

    collect(&t, low, false);
    collect(&t, high, true);
    if (!t.usable || !t.mine || !t.other || !t.mine_minus || t.other_minus) return false;
    if (!is_tagged(t.other, join->children[1 - side])) return false;
    *time_id = t.mine->attr_id;
    *offset_ms = fm_floor_div(t.constant_us, FM_US_PER_MS) - closed;
    return true;
}

static bool conjunct_bound(const fm_plan *join, int side, const fm_expr *e, int32_t *time_id, int64_t *offset_ms)
{
    if (is_call(e, "<", 2)) return bound(join, side, e->args[0], e->args[1], false, time_id, offset_ms);
    if (is_call(e, "<=", 2)) return bound(join, side, e->args[0], e->args[1], true, time_id, offset_ms);
    if (is_call(e, ">", 2)) return bound(join, side, e->args[1], e->args[0], false, time_id, offset_ms);
    if (is_call(e, ">=", 2)) return bound(join, side, e->args[1], e->args[0], true, time_id, offset_ms);
    return false;
}

static bool condition_bound(const fm_plan *join, int side, const fm_expr *e, int32_t *time_id, int64_t *offset_ms)
{
    bool found = false;

    if (e->kind != FM_EXPR_AND) return conjunct_bound(join, side, e, time_id, offset_ms);
    for (int32_t i = 0; i < e->n_args; i++) {
        int32_t id;
        int64_t offset;
        if (!condition_bound(join, side, e->args[i], &id, &offset)) continue;
        if (!found || offset < *offset_ms) {
            *time_id = id;
            *offset_ms = offset;
        }
        found = true;
    }
    return found;
}

bool fm_join_state_offset(const fm_plan *join, int side, int32_t *time_id, int64_t *offset_ms)
{
    return join->n_exprs && condition_bound(join, side, join->exprs[0], time_id, offset_ms);
}
