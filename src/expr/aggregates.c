/* expr/aggregates.c: the table of aggregate functions, and calls of them. A line per function, sorted by name. */
#include "expr/aggregates.h"

#include "expr/call_args.h"
#include "expr/coerce.h"

/* X(entry): fm_agg_<entry>. Sorted by `.name` of the entry, as strcmp has it. */
#define FM_AGGREGATE_LIST(X) \
    X(any_value)               \
    X(approx_count_distinct)   \
    X(avg)                     \
    X(bit_and)                 \
    X(bit_or)                  \
    X(bit_xor)                 \
    X(bool_and)                \
    X(bool_or)                 \
    X(collect_list)            \
    X(collect_set)             \
    X(corr)                    \
    X(count)                   \
    X(count_if)                \
    X(covar_pop)               \
    X(covar_samp)              \
    X(first)                   \
    X(histogram_numeric)       \
    X(kurtosis)                \
    X(last)                    \
    X(listagg)                 \
    X(max)                     \
    X(max_by)                  \
    X(median)                  \
    X(min)                     \
    X(min_by)                  \
    X(mode)                    \
    X(percentile)              \
    X(percentile_approx)       \
    X(percentile_cont)         \
    X(percentile_disc)         \
    X(regr_avgx)               \
    X(regr_avgy)               \
    X(regr_count)              \
    X(regr_intercept)          \
    X(regr_r2)                 \
    X(regr_slope)              \
    X(regr_sxx)                \
    X(regr_sxy)                \
    X(regr_syy)                \
    X(skewness)                \
    X(stddev_pop)              \
    X(stddev_samp)             \
    X(sum)                     \
    X(try_avg)                 \
    X(try_sum)                 \
    X(var_pop)                 \
    X(var_samp)

#define DECLARE(entry) extern const fm_aggregate fm_agg_##entry;
FM_AGGREGATE_LIST(DECLARE)
#undef DECLARE

#define ADDRESS(entry) &fm_agg_##entry,
static const fm_aggregate *const table[] = {FM_AGGREGATE_LIST(ADDRESS)};
#undef ADDRESS

enum { AGGREGATE_COUNT = sizeof table / sizeof table[0] };

const fm_aggregate *const *fm_aggregates(int *n)
{
    *n = AGGREGATE_COUNT;
    return table;
}

const fm_aggregate *fm_aggregate_find(fm_str name)
{
    for (int i = 0; i < AGGREGATE_COUNT; i++) {
        if (fm_str_eq_ci(name, fm_str_c(table[i]->name))) return table[i];
        for (int k = 0; k < 4 && table[i]->aliases[k]; k++)
            if (fm_str_eq_ci(name, fm_str_c(table[i]->aliases[k]))) return table[i];
    }
    return NULL;
}

/* ---- Calls ------------------------------------------------------------------------------------------------- */

static fm_status check_filter(const fm_expr *filter, fm_pos pos, fm_error *err)
{
    fm_strbuf type = {0};
    fm_status st;
    if (!filter || filter->type->id == FM_TYPE_BOOL || filter->type->id == FM_TYPE_NULL) return FM_OK;
    fm_type_sql(filter->type, &type);
    st = fm_fail_at(err, FM_INVALID, "DATATYPE_MISMATCH.FILTER_NOT_BOOLEAN", pos.line, pos.column,
                    "The FILTER (WHERE ...) of an aggregate must be of type \"BOOLEAN\", not \"%s\".",
                    type.ptr ? type.ptr : "");
    fm_strbuf_fini(&type);
    return st;
}

/* What is written around the arguments: WITHIN GROUP and DISTINCT. */
static fm_status check_form(const fm_aggregate *aggregate, const fm_bind *b, fm_error *err)
{
    bool is_within = b->n_keys > 0;
    if (is_within && aggregate->within == FM_WITHIN_NEVER)
        return fm_fail_at(err, FM_INVALID, "INVALID_SQL_SYNTAX.FUNCTION_WITH_UNSUPPORTED_SYNTAX", b->pos.line, b->pos.column,
                          "Invalid SQL syntax: The function `%.*s` does not support WITHIN GROUP (ORDER BY ...).", FM_STR_ARG(b->name));
    if (aggregate->within != FM_WITHIN_ONE) return FM_OK;
    if (!is_within)
        return fm_fail_at(err, FM_INVALID, "INVALID_WITHIN_GROUP_EXPRESSION.WITHIN_GROUP_MISSING", b->pos.line, b->pos.column,
                          "Invalid function `%.*s` with WITHIN GROUP. WITHIN GROUP is required for the function: %s.",
                          FM_STR_ARG(b->name), aggregate->usage);
    if (b->distinct)
        return fm_fail_at(err, FM_INVALID, "INVALID_WITHIN_GROUP_EXPRESSION.DISTINCT_UNSUPPORTED", b->pos.line, b->pos.column,
                          "Invalid function `%.*s` with WITHIN GROUP. The function does not support DISTINCT with WITHIN GROUP.",
                          FM_STR_ARG(b->name));
    if (b->n_keys > 1)
        return fm_fail_at(err, FM_INVALID, "INVALID_WITHIN_GROUP_EXPRESSION.WRONG_NUM_ORDERINGS", b->pos.line, b->pos.column,
                          "Invalid function `%.*s` with WITHIN GROUP. The function requires 1 orderings in WITHIN GROUP but got %d.",
                          FM_STR_ARG(b->name), (int)b->n_keys);
    return FM_OK;
}

/* Splits the keys of WITHIN GROUP off: e->args gets their expressions, b->keys the nodes with the directions. */
static fm_status split_keys(fm_expr *const *args, int32_t n_args, fm_expr *e, fm_bind *b, fm_error *err)
{
    while (b->n_keys < n_args && args[n_args - 1 - b->n_keys]->kind == FM_EXPR_SORT_KEY) b->n_keys++;
    if (b->n_keys > FM_EXPR_KEYS_MAX)
        return fm_fail_at(err, FM_LIMIT, "FLOODMARK_TOO_MANY_ARGUMENTS", b->pos.line, b->pos.column,
                          "WITHIN GROUP takes at most %d keys to order by.", FM_EXPR_KEYS_MAX);
    fm_expr **keys = fm_arena_array(b->arena, fm_expr *, b->n_keys + 1);
    if (!keys) return fm_no_memory(b->arena, err);
    for (int32_t i = 0; i < n_args; i++) {
        int32_t key = i - (n_args - b->n_keys);
        e->args[i] = args[i];
        if (key < 0) continue;
        keys[key] = args[i];
        e->args[i] = args[i]->args[0];
        e->index |= (args[i]->descending * FM_EXPR_KEY_DESCENDING | args[i]->nulls_first * FM_EXPR_KEY_NULLS_FIRST) << (2 * key);
    }
    e->index |= b->n_keys << FM_EXPR_KEYS_SHIFT;
    b->keys = keys;
    return FM_OK;
}

static fm_status new_aggregate(fm_bind *b, fm_expr *const *args, bool ignore_nulls, fm_expr *filter, fm_expr **out, fm_error *err)
{
    fm_expr *e = fm_expr_new(b->arena, FM_EXPR_AGGREGATE, b->pos);
    if (!e) return fm_no_memory(b->arena, err);
    e->name = fm_arena_str(b->arena, b->name);
    e->ansi = b->conf->ansi;
    e->distinct = b->distinct;
    e->ignore_nulls = ignore_nulls;
    e->filter = filter;
    e->n_args = b->n_args;
    e->args = fm_arena_array(b->arena, fm_expr *, b->n_args);
    b->cast_args = fm_arena_array(b->arena, const fm_type *, b->n_args);
    if (!e->args || !b->cast_args || !e->name.ptr) return fm_no_memory(b->arena, err);
    *out = e;
    return split_keys(args, b->n_args, e, b, err);
}

fm_status fm_aggregate_resolve(fm_arena *arena, const fm_session_conf *conf, fm_str name,
                               fm_expr **args, int32_t n_args, bool distinct, bool ignore_nulls,
                               fm_expr *filter, fm_pos pos, fm_expr **out, fm_error *err)
{
    const fm_aggregate *aggregate = fm_aggregate_find(name);
    fm_bind b = {.arena = arena, .conf = conf, .name = name, .pos = pos, .n_args = n_args, .distinct = distinct, .ignore_nulls = ignore_nulls};
    fm_function shape;
    fm_expr *e = NULL;

    if (!aggregate)
        return fm_fail_at(err, FM_INVALID, "UNRESOLVED_ROUTINE", pos.line, pos.column,
                          "Cannot resolve routine `%.*s`: there is no aggregate of this name.",
                          FM_STR_ARG(name));
    FM_TRY(check_filter(filter, pos, err));
    FM_TRY(new_aggregate(&b, args, ignore_nulls, filter, &e, err));
    shape = (fm_function){.name = aggregate->name, .args_min = aggregate->args_min,
                          .args_max = aggregate->args_max, .usage = aggregate->usage};
    memcpy(shape.args, aggregate->args, sizeof shape.args);
    FM_TRY(fm_args_check(arena, conf, &shape, name, pos, e->args, n_args - b.n_keys, err));
    FM_TRY(check_form(aggregate, &b, err));
    b.args = e->args;
    b.nullable = !aggregate->never_null;
    if (aggregate->returns) b.returns = aggregate->returns();
    if (aggregate->bind) FM_TRY(aggregate->bind(&b, err));
    for (int32_t i = 0; i < n_args; i++)
        if (b.cast_args[i])
            FM_TRY(fm_expr_cast(arena, conf, e->args[i], b.cast_args[i], false, false, &e->args[i],
                                err));
    fm_assert(b.returns);
    e->aggregate = aggregate->choose ? aggregate->choose(&b) : aggregate;
    e->type = b.returns;
    e->nullable = b.nullable;
    e->bound = b.bound;
    if (distinct) FM_TRY(fm_agg_make_distinct(arena, e, err));
    e->deterministic = !aggregate->order_dependent;
    for (int32_t i = 0; i < n_args; i++) e->deterministic &= e->args[i]->deterministic;
    *out = e;
    return FM_OK;
}

fm_status fm_agg_call_init(fm_agg_call *call, const fm_session_conf *conf, const fm_expr *node,
                           fm_arena *arena, fm_error *err)
{
    const fm_type **types = fm_arena_array(arena, const fm_type *, node->n_args);
    if (!types) return fm_no_memory(arena, err);
    fm_assert(node->kind == FM_EXPR_AGGREGATE && node->aggregate);
    for (int32_t i = 0; i < node->n_args; i++) types[i] = node->args[i]->type;
    *call = (fm_agg_call){
        .aggregate = node->aggregate, .conf = conf, .bound = node->bound, .expr = node,
        .arg_types = types, .n_args = node->n_args, .returns = node->type, .ansi = node->ansi,
    };
    return FM_OK;
}
