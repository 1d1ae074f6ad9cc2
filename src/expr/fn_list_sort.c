/* expr/fn_list_sort.c: sort_array(array[, ascending]), array_sort(array[, (l, r) -> ...]), shuffle(array[, seed]).
 *
 * Rule   Spark: sort_array puts nulls first when it ascends, array_sort always last. A comparator gives an INT: below 0, l
 *        stands first; null is an error. shuffle is the inside-out one, by a Mersenne Twister as commons-math seeds it; like
 *        every nondeterministic function it begins anew with each batch of rows.
 * Cases  tests/golden/functions/array_sort.test */
#include <stdlib.h>

#include "expr/aggregates.h"
#include "expr/call_args.h"
#include "expr/coerce.h"
#include "expr/eval.h"
#include "expr/fn_list_impl.h"
#include "expr/mersenne.h"
#include "expr/resolve_text.h"

/* ---- by the order of the type ------------------------------------------------------------------------------------- */

typedef struct order_of {
    const fm_vec *v;
    bool descending, nulls_last;
} order_of;

static int compare(const void *a, const void *b, void *ctx)
{
    const order_of *o = ctx;
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    bool x_null = fm_vec_is_null(o->v, x), y_null = fm_vec_is_null(o->v, y);
    int order = 0;
    if (x_null != y_null) return x_null == o->nulls_last ? 1 : -1;
    if (!x_null) order = fm_vec_cmp(o->v, x, o->v, y);
    if (o->descending) order = -order;
    return order ? order : (x > y) - (x < y); /* stable */
}

/* The places of the elements of all lanes, and offsets from 0. */
static fm_status places(fm_call *call, const fm_vec *list, int32_t **from, int32_t **offsets)
{
    int32_t first = list->offsets[0], total = list->offsets[list->len] - first;
    *from = fm_arena_array(call->arena, int32_t, total + 1);
    *offsets = fm_arena_buffer(call->arena, ((size_t)list->len + 1) * sizeof(int32_t), false);
    if (!*from || !*offsets) return fm_no_memory(call->arena, call->err);
    for (int32_t k = 0; k < total; k++) (*from)[k] = first + k;
    for (int32_t i = 0; i <= list->len; i++) (*offsets)[i] = list->offsets[i] - first;
    return FM_OK;
}

static fm_status take_places(fm_call *call, const fm_vec *list, const int32_t *from, const int32_t *offsets, fm_vec *out)
{
    fm_vec *child = fm_arena_one(call->arena, fm_vec);
    if (!child) return fm_no_memory(call->arena, call->err);
    FM_TRY(fm_vec_gather(child, &list->children[0], from, offsets[list->len], call->arena, call->err));
    out->offsets = offsets;
    out->children = child;
    return FM_OK;
}

static fm_status sort_lanes(fm_call *call, const fm_vec *list, order_of o, fm_vec *out)
{
    int32_t *from, *offsets;
    FM_TRY(places(call, list, &from, &offsets));
    o.v = &list->children[0];
    for (int32_t i = 0; i < list->len; i++)
        qsort_r(from + offsets[i], (size_t)(offsets[i + 1] - offsets[i]), sizeof *from, compare, &o);
    return take_places(call, list, from, offsets, out);
}

typedef struct sort_bound {
    bool descending, is_null;
} sort_bound;

static fm_status bind_sort_array(fm_bind *b, fm_error *err)
{
    sort_bound *own = fm_arena_one(b->arena, sort_bound);
    fm_value value;
    if (!own) return fm_no_memory(b->arena, err);
    b->returns = b->args[0]->type;
    b->bound = own;
    FM_TRY(fm_list_bind_ordered(b, 0, err));
    if (b->n_args == 1) return FM_OK;
    if (b->args[1]->type->id != FM_TYPE_BOOL && b->args[1]->type->id != FM_TYPE_NULL) return fm_fail_arg_type(b, 1, "\"BOOLEAN\"", err);
    if (!fm_bind_is_constant(b, 1))
        return fm_fail_bind(b, err, "NON_FOLDABLE_INPUT", "the input `ascendingOrder` should be a foldable %s expression.", fm_type_bool(), NULL);
    FM_TRY(fm_eval_constant_of(b, 1, &value, err));
    own->is_null = fm_vec_is_null(&value, 0);
    own->descending = !own->is_null && !fm_vec_bool(&value)[0];
    return FM_OK;
}

static fm_status sort_array(fm_call *call, const fm_vec *args, fm_vec *out)
{
    const sort_bound *own = call->bound;
    if (own->is_null) return fm_vec_nulls(out, out->type, out->len, call->arena, call->err);
    out->validity = args[0].validity;
    return sort_lanes(call, &args[0], (order_of){.descending = own->descending, .nulls_last = own->descending}, out);
}

/* ---- by a comparator ---------------------------------------------------------------------------------------------- */

static fm_status comparator_params(const fm_bind *b, int32_t i, const fm_type **types, bool *nullable, int32_t *n, fm_error *err)
{
    (void)i;
    if (b->args[0]->type->id != FM_TYPE_LIST) return fm_fail_arg_type(b, 0, "\"ARRAY\"", err);
    types[0] = types[1] = fm_list_element(b->args[0]->type);
    nullable[0] = nullable[1] = b->args[0]->type->fields[0].nullable;
    *n = 2;
    return FM_OK;
}

static fm_status bind_array_sort(fm_bind *b, fm_error *err)
{
    if (fm_bind_is_bare_null(b, 0) || b->args[0]->type->id != FM_TYPE_LIST) return fm_fail_arg_type(b, 0, "\"ARRAY\"", err);
    b->returns = b->args[0]->type;
    if (b->n_args == 1) return fm_list_bind_ordered(b, 0, err);
    if (b->args[1]->type->id != FM_TYPE_I32)
        return fm_fail_bind(b, err, "UNEXPECTED_RETURN_TYPE", "The comparator of `array_sort` requires return %s type, but it gives %s.",
                            fm_type_i32(), b->args[1]->type);
    return FM_OK;
}

/* Two runs of one lane that become one: [a, middle) and [b, end) of `in`, to `to` on. */
typedef struct run_pair {
    int32_t row, a, middle, b, end, to;
} run_pair;

/* A merge sort whose runs, of all lanes, are merged side by side, so that the comparator runs over vectors. */
typedef struct merge_sort {
    fm_call *call;
    const fm_vec *elements;
    int32_t *in, *out;      /* places of elements */
    run_pair *pairs;
    int32_t n_pairs;
    int32_t *rows, *lefts, *rights, *active;
} merge_sort;

static fm_status new_sort(merge_sort *s, int32_t total)
{
    fm_arena *arena = s->call->arena;
    int32_t most = total / 2 + 1;
    s->out = fm_arena_array(arena, int32_t, total + 1);
    s->pairs = fm_arena_array(arena, run_pair, most);
    s->rows = fm_arena_array(arena, int32_t, most);
    s->lefts = fm_arena_array(arena, int32_t, most);
    s->rights = fm_arena_array(arena, int32_t, most);
    s->active = fm_arena_array(arena, int32_t, most);
    return s->out && s->pairs && s->rows && s->lefts && s->rights && s->active ? FM_OK : fm_no_memory(arena, s->call->err);
}

/* One comparison for each pair that has elements left on both sides. */
static fm_status step(merge_sort *s, bool *more)
{
    fm_vec params[2], answer;
    int32_t n = 0;
    for (int32_t p = 0; p < s->n_pairs; p++) {
        const run_pair *r = &s->pairs[p];
        if (r->a == r->middle || r->b == r->end) continue;
        s->active[n] = p;
        s->rows[n] = r->row;
        s->lefts[n] = s->in[r->a];
        s->rights[n++] = s->in[r->b];
    }
    *more = n > 0;
    if (n == 0) return FM_OK;
    FM_TRY(fm_vec_gather(&params[0], s->elements, s->lefts, n, s->call->arena, s->call->err));
    FM_TRY(fm_vec_gather(&params[1], s->elements, s->rights, n, s->call->arena, s->call->err));
    FM_TRY(fm_eval_lambda(s->call, 1, params, 2, s->rows, n, &answer, s->call->err));
    for (int32_t k = 0; k < n; k++) {
        run_pair *r = &s->pairs[s->active[k]];
        if (fm_vec_is_null(&answer, k))
            return fm_fail(s->call->err, FM_INVALID, "COMPARATOR_RETURNS_NULL",
                           "The comparator has returned a NULL for a comparison of two elements. It should return a positive integer for "
                           "\"greater than\", 0 for \"equal\" and a negative integer for \"less than\".");
        s->out[r->to++] = fm_vec_i32(&answer)[k] <= 0 ? s->in[r->a++] : s->in[r->b++];
    }
    return FM_OK;
}

/* Merges runs of `width` elements; *again: some lane has several runs left. */
static fm_status pass(merge_sort *s, const int32_t *offsets, int32_t rows, int32_t width, bool *again)
{
    bool more = true;
    *again = false;
    s->n_pairs = 0;
    for (int32_t i = 0; i < rows; i++)
        for (int64_t at = offsets[i]; at < offsets[i + 1]; at += 2 * (int64_t)width) {
            int64_t middle = at + width < offsets[i + 1] ? at + width : offsets[i + 1];
            int64_t end = middle + width < offsets[i + 1] ? middle + width : offsets[i + 1];
            if (middle == end) memcpy(s->out + at, s->in + at, (size_t)(middle - at) * sizeof *s->in);
            else s->pairs[s->n_pairs++] = (run_pair){i, (int32_t)at, (int32_t)middle, (int32_t)middle, (int32_t)end, (int32_t)at};
            *again |= end < offsets[i + 1] || at > offsets[i];
        }
    while (more) FM_TRY(step(s, &more));
    for (int32_t p = 0; p < s->n_pairs; p++) {
        run_pair *r = &s->pairs[p];
        while (r->a < r->middle) s->out[r->to++] = s->in[r->a++];
        while (r->b < r->end) s->out[r->to++] = s->in[r->b++];
    }
    int32_t *swap = s->in;
    s->in = s->out;
    s->out = swap;
    return FM_OK;
}

static fm_status array_sort(fm_call *call, const fm_vec *args, fm_vec *out)
{
    merge_sort s = {.call = call, .elements = &args[0].children[0]};
    int32_t *offsets;
    bool again = true;
    out->validity = args[0].validity;
    if (call->expr->n_args == 1) return sort_lanes(call, &args[0], (order_of){.nulls_last = true}, out);
    FM_TRY(places(call, &args[0], &s.in, &offsets));
    FM_TRY(new_sort(&s, offsets[out->len]));
    for (int32_t width = 1; again; width *= 2) FM_TRY(pass(&s, offsets, out->len, width, &again));
    return take_places(call, &args[0], s.in, offsets, out);
}

/* ---- shuffle ------------------------------------------------------------------------------------------------------ */

/* Below n, n > 0. */
static int32_t next_below(fm_mersenne *m, int32_t n)
{
    uint32_t bits, x;
    if ((n & (n - 1)) == 0) return (int32_t)((uint64_t)n * (fm_mersenne_u32(m) >> 1) >> 31);
    do {
        bits = (fm_mersenne_u32(m) >> 1);
        x = bits % (uint32_t)n;
    } while (bits - x + (uint32_t)(n - 1) > INT32_MAX);
    return (int32_t)x;
}

static fm_status bind_shuffle(fm_bind *b, fm_error *err)
{
    b->returns = b->args[0]->type;
    if (b->n_args == 2 && !fm_bind_is_constant(b, 1))
        return fm_fail_bind(b, err, "NON_FOLDABLE_INPUT", "the input `seed` should be a foldable %s expression.", fm_type_i64(), NULL);
    return FM_OK;
}

static fm_status shuffle(fm_call *call, const fm_vec *args, fm_vec *out)
{
    int32_t *from, *offsets;
    fm_mersenne *m = fm_arena_one(call->arena, fm_mersenne);
    bool seeded = call->expr->n_args == 2 && out->len && !fm_vec_is_null(&args[1], 0);
    if (!m) return fm_no_memory(call->arena, call->err);
    fm_mersenne_init(m, seeded ? fm_vec_i64(&args[1])[0] : call->expr->n_args == 2 ? 0 : call->run->now_us);
    FM_TRY(places(call, &args[0], &from, &offsets));
    for (int32_t i = 0; i < out->len; i++) {
        for (int32_t k = 0; k < offsets[i + 1] - offsets[i]; k++) { /* inside out: each goes in among those before it */
            int32_t other = next_below(m, k + 1), *lane = from + offsets[i], kept = lane[k];
            lane[k] = lane[other];
            lane[other] = kept;
        }
    }
    out->validity = args[0].validity;
    return take_places(call, &args[0], from, offsets, out);
}

/* ---- Entries ------------------------------------------------------------------------------------------------------ */

#define VARIABLE "namedlambdavariable()"
#define DEFAULT_COMPARATOR                                                                                     \
    "lambdafunction((IF(((" VARIABLE " IS NULL) AND (" VARIABLE " IS NULL)), 0, (IF((" VARIABLE                 \
    " IS NULL), 1, (IF((" VARIABLE " IS NULL), -1, (IF((" VARIABLE " < " VARIABLE "), -1, (IF((" VARIABLE " > "  \
    VARIABLE "), 1, 0)))))))))), " VARIABLE ", " VARIABLE ")"

const fm_function fm_fn_sort_array = {
    .name = "sort_array", .args = {FM_ARG_LIST, FM_ARG_ANY, FM_ARG_END}, .args_min = 1, .args_max = 2, .bind = bind_sort_array,
    .kernel = sort_array, .nulls = FM_NULLS_CUSTOM, .usage = "sort_array(array[, ascending])", .shown = {NULL, "true"},
    .doc = "Returns the elements sorted, nulls first when ascending.", .since = "1.5.0",
};
const fm_function fm_fn_array_sort = {
    .name = "array_sort", .args = {FM_ARG_ANY, FM_ARG_LAMBDA, FM_ARG_END}, .args_min = 1, .args_max = 2, .bind = bind_array_sort,
    .lambda_params = comparator_params, .kernel = array_sort, .nulls = FM_NULLS_CUSTOM, .can_fail = true,
    .usage = "array_sort(array[, (l, r) -> ...])", .shown = {NULL, DEFAULT_COMPARATOR}, .doc = "Returns the elements sorted, by a comparator or nulls last.", .since = "2.4.0",
};
const fm_function fm_fn_shuffle = {
    .name = "shuffle", .args = {FM_ARG_LIST, FM_ARG_I64, FM_ARG_END}, .args_min = 1, .args_max = 2, .bind = bind_shuffle,
    .kernel = shuffle, .nulls = FM_NULLS_CUSTOM, .nondeterministic = true, .usage = "shuffle(array[, seed])",
    .doc = "Returns the elements in random order.", .since = "2.4.0",
};
