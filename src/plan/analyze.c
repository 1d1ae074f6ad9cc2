/* plan/analyze.c: from an unresolved plan to a resolved one: what is done with which node. */
#include "plan/analyze_impl.h"

#include "base/limits.h"
#include "expr/cast.h"

fm_status fm_analyze_child(fm_analyzer *an, const fm_plan *plan, fm_plan **out, fm_error *err)
{
    fm_assert(plan->n_children >= 1);
    return fm_analyze_plan(an, plan->children[0], out, err);
}

/* ONE_ROW and commands: the node over its analyzed children. */
static fm_status analyze_as_is(fm_analyzer *an, const fm_plan *p, fm_plan **out, fm_error *err)
{
    fm_plan *copy = fm_arena_one(an->arena, fm_plan);

    if (!copy) return fm_no_memory(an->arena, err);
    *copy = *p;
    copy->children = fm_arena_array(an->arena, fm_plan *, p->n_children);
    if (!copy->children) return fm_no_memory(an->arena, err);
    for (int32_t i = 0; i < p->n_children; i++) FM_TRY(fm_analyze_plan(an, p->children[i], &copy->children[i], err));
    copy->streaming = false;
    *out = copy;
    return fm_plan_finish(an->arena, copy, err);
}

static bool literal_number(const fm_expr *e, double *out)
{
    fm_strbuf text = {0};

    if (e->kind != FM_EXPR_LITERAL || !fm_type_is_numeric(e->value.type) || fm_vec_is_null(&e->value, 0)) return false;
    fm_value_text(&e->value, 0, fm_zone_utc(), &text);
    bool ok = fm_strbuf_ok(&text) && fm_text_to_double(fm_strbuf_str(&text), out);
    fm_strbuf_fini(&text);
    return ok;
}

/* ROWS is a limit; PERCENT and BUCKET leave each row to chance. */
static fm_status analyze_sample(fm_analyzer *an, const fm_plan *p, fm_plan **out, fm_error *err)
{
    fm_plan copy = *p;
    double size, of = 100;

    if (fm_str_eq(p->what, FM_STR("ROWS"))) {
        copy.kind = FM_PLAN_LIMIT;
        copy.limit = -1;
        copy.limit_expr = p->exprs[0];
        copy.offset_expr = NULL;
        copy.exprs = NULL;
        copy.n_exprs = 0;
        return fm_analyze_plan(an, &copy, out, err);
    }
    if (!literal_number(p->exprs[0], &size) || (p->n_exprs > 1 && (!literal_number(p->exprs[1], &of) || of <= 0)))
        return fm_fail_at(err, FM_INVALID, "PARSE_SYNTAX_ERROR", p->pos.line, p->pos.column,
                          "TABLESAMPLE wants numbers: (10 PERCENT), (100 ROWS) or (BUCKET 1 OUT OF 10).");
    copy.fraction = size / of;
    if (!(copy.fraction >= -1e-6) || copy.fraction > 1 + 1e-6)
        return fm_fail_at(err, FM_INVALID, "INVALID_TABLESAMPLE_FRACTION", p->pos.line, p->pos.column,
                          "Sampling fraction (%g) must be on interval [0, 1].", copy.fraction);
    return analyze_as_is(an, &copy, out, err);
}

/* Of two hints of one name in one place nobody knows which was meant. */
static fm_status check_once(const fm_plan *p, fm_error *err)
{
    for (const fm_plan *c = p->children[0]; c->kind == FM_PLAN_HINT; c = c->children[0]) {
        if (!fm_str_eq_ci(c->name, p->name)) continue;
        return fm_fail_at(err, FM_INVALID, "FLOODMARK_HINT_TWICE", p->pos.line, p->pos.column,
                          "The hint %.*s stands here twice: only one of the two can hold. Take the other out.", FM_STR_ARG(p->name));
    }
    return FM_OK;
}

/* Ours stay in the tree, with their settings, until it is whole; others say nothing to us. */
static fm_status analyze_hint(fm_analyzer *an, const fm_plan *p, fm_plan **out, fm_error *err)
{
    fm_lateness lateness = {0};
    fm_bad_rows bad = {0};
    fm_plan *child;
    bool known, of_bad, outside = an->beyond_spark;

    FM_TRY(fm_hint_read(an, p, &lateness, &known, err));
    FM_TRY(fm_bad_rows_hint(an, p, &bad, &of_bad, err));
    if (known || of_bad) FM_TRY(check_once(p, err));
    an->beyond_spark |= known;
    FM_TRY(fm_analyze_child(an, p, &child, err));
    an->beyond_spark = outside;
    *out = child;
    if (!known && !of_bad) return FM_OK;
    fm_plan *hint = fm_plan_over(an->arena, FM_PLAN_HINT, child, p->pos);
    if (!hint) return fm_no_memory(an->arena, err);
    hint->name = p->name;
    hint->lateness = lateness;
    hint->bad_rows = bad;
    *out = hint;
    return fm_plan_finish(an->arena, hint, err);
}

static fm_status analyze_distinct(fm_analyzer *an, const fm_plan *p, fm_plan **out, fm_error *err)
{
    fm_plan *child;

    FM_TRY(fm_analyze_child(an, p, &child, err));
    return fm_distinct(an, child, p->pos, out, err);
}

static fm_status analyze_by_kind(fm_analyzer *an, const fm_plan *p, fm_plan **out, fm_error *err)
{
    switch (p->kind) {
    case FM_PLAN_RELATION: return fm_analyze_relation(an, p, out, err);
    case FM_PLAN_TABLE_FUNCTION: return fm_analyze_table_function(an, p, out, err);
    case FM_PLAN_WITH: return fm_analyze_with(an, p, out, err);
    case FM_PLAN_LATERAL_VIEW: return fm_analyze_lateral_view(an, p, out, err);
    case FM_PLAN_HINT: return analyze_hint(an, p, out, err);
    case FM_PLAN_VALUES: return fm_analyze_values(an, p, out, err);
    case FM_PLAN_PROJECT: return fm_analyze_project(an, p, out, err);
    case FM_PLAN_FILTER:
        return p->is_having ? fm_analyze_having(an, p, out, err) : fm_analyze_filter(an, p, out, err);
    case FM_PLAN_AGGREGATE: return fm_analyze_aggregate(an, p, out, err);
    case FM_PLAN_JOIN: return fm_analyze_join(an, p, out, err);
    case FM_PLAN_UNION: return fm_analyze_union(an, p, out, err);
    case FM_PLAN_SET_OP: return fm_analyze_set_op(an, p, out, err);
    case FM_PLAN_DISTINCT: return analyze_distinct(an, p, out, err);
    case FM_PLAN_SORT: return fm_analyze_sort(an, p, out, err);
    case FM_PLAN_LIMIT: return fm_analyze_limit(an, p, out, err);
    case FM_PLAN_SUBQUERY_ALIAS: return fm_analyze_alias(an, p, out, err);
    case FM_PLAN_WATERMARK: return fm_analyze_watermark(an, p, out, err);
    case FM_PLAN_DEDUPLICATE: return fm_analyze_deduplicate(an, p, out, err);
    case FM_PLAN_SAMPLE: return analyze_sample(an, p, out, err);
    case FM_PLAN_CREATE_TABLE:
    case FM_PLAN_DROP:
    case FM_PLAN_SET:
    case FM_PLAN_SHOW:
    case FM_PLAN_ONE_ROW:
    case FM_PLAN_CREATE_VIEW:
    case FM_PLAN_CREATE_STREAMING_TABLE:
    case FM_PLAN_EXPLAIN:
    case FM_PLAN_DESCRIBE: return analyze_as_is(an, p, out, err);
    default: break;
    }
    fm_assert(!"a resolved node where an unresolved one belongs");
    return FM_INVALID;
}

fm_status fm_analyze_plan(fm_analyzer *an, const fm_plan *p, fm_plan **out, fm_error *err)
{
    if (++an->depth > FM_PLAN_DEPTH_MAX) {
        return fm_fail_at(err, FM_LIMIT, "FLOODMARK_PLAN_TOO_DEEP", p->pos.line, p->pos.column,
                          "The query is nested more than %d deep, views and WITH queries included. Does a view use "
                          "itself?",
                          FM_PLAN_DEPTH_MAX);
    }
    fm_status st = analyze_by_kind(an, p, out, err);
    an->depth--;
    return st;
}

static bool number_stream(const fm_plan *plan, void *ctx)
{
    int32_t *next = ctx;

    if (plan->kind == FM_PLAN_READ && plan->streaming) ((fm_plan *)(uintptr_t)plan)->source_index = (*next)++;
    return true;
}

fm_status fm_analyze(const fm_analysis *a, const fm_plan *plan, fm_plan **out, fm_error *err)
{
    fm_analyzer an = {.a = a, .arena = a->arena, .conf = a->conf, .next_id = 1, .next_node = 1, .wants_metadata = fm_wants_metadata(plan),
                      .wants_input_file = fm_wants_input_file(plan)};
    int32_t streams = 0;

    FM_TRY(fm_analyze_plan(&an, plan, out, err));
    FM_TRY(fm_apply_bad_rows(&an, *out, out, err));
    FM_TRY(fm_apply_lateness(&an, *out, out, err));
    fm_plan_walk(*out, number_stream, &streams); /* plan order: sources/<i> of the checkpoint */
    return FM_OK;
}
