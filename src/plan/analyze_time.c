/* plan/analyze_time.c: watermarks and the removal of duplicates. */
#include "plan/analyze_impl.h"

#include "base/checked.h"
#include "base/time_text.h"
#include "expr/cast.h"

/* Rule: Spark, withWatermark: a month counts 31 days, a day 24 hours; what is below a millisecond is cut off; no
 * negative delay. */
static fm_status read_delay(const fm_plan *p, int64_t *us, fm_error *err)
{
    fm_interval x;
    int64_t days;

    *us = p->delay_us;
    if (p->delay_is_text) {
        FM_TRY(fm_text_to_interval(p->delay_text, &x, err));
        days = (int64_t)x.months * 31 + x.days;
        if (!fm_mul_i64(days, FM_US_PER_DAY, us) || !fm_add_i64(*us, x.us, us)) {
            return fm_fail_at(err, FM_INVALID, "INTERVAL_ARITHMETIC_OVERFLOW", p->pos.line, p->pos.column,
                              "The delay '%.*s' is longer than 64 bits of microseconds hold.",
                              FM_STR_ARG(p->delay_text));
        }
    }
    if (*us < 0) {
        return fm_fail_at(err, FM_INVALID, "FLOODMARK_NEGATIVE_DELAY", p->pos.line, p->pos.column,
                          "requirement failed: delay threshold (%.*s) should not be negative.",
                          FM_STR_ARG(p->delay_text));
    }
    *us -= *us % FM_US_PER_MS;
    return FM_OK;
}

static bool is_event_time(const fm_type *type)
{
    if (fm_type_is_timestamp(type)) return true;
    for (int32_t i = 0; type->id == FM_TYPE_STRUCT && i < type->n_fields; i++) {
        if (fm_str_eq(type->fields[i].name, FM_STR("end"))) return fm_type_is_timestamp(type->fields[i].type);
    }
    return false;
}

static fm_status check_type(const fm_plan *p, const fm_expr *e, fm_error *err)
{
    fm_strbuf type = {0};

    if (is_event_time(e->type)) return FM_OK;
    fm_type_sql(e->type, &type);
    fm_status st = fm_fail_at(err, FM_INVALID, "EVENT_TIME_IS_NOT_ON_TIMESTAMP_TYPE", p->pos.line, p->pos.column,
                              "The event time `%.*s` has the invalid type \"%s\", but expected \"TIMESTAMP\".",
                              FM_STR_ARG(e->name), type.ptr ? type.ptr : "");
    fm_strbuf_fini(&type);
    return st;
}

/* WATERMARK expression AS name: a column more, below the watermark. */
static fm_status add_column(fm_analyzer *an, fm_expr *named, const fm_below *below, fm_plan **child, fm_error *err)
{
    FM_TRY(fm_put_below(an, below, child, err));
    fm_expr **exprs = fm_plan_columns(an->arena, *child, 1);
    if (!exprs) return fm_no_memory(an->arena, err);
    exprs[(*child)->n_output] = named;
    return fm_plan_project(an->arena, *child, exprs, (*child)->n_output + 1, named->pos, child, err);
}

fm_status fm_analyze_watermark(fm_analyzer *an, const fm_plan *p, fm_plan **out, fm_error *err)
{
    fm_below below = {0};
    fm_plan *child;
    fm_expr *e = p->exprs[0], *named;
    int64_t delay_us;

    FM_TRY(fm_analyze_child(an, p, &child, err));
    FM_TRY(read_delay(p, &delay_us, err));
    if (e->kind == FM_EXPR_MULTI_ALIAS) {
        return fm_fail_at(err, FM_INVALID, "CANNOT_USE_MULTI_ALIASES_IN_WATERMARK_CLAUSE", e->pos.line, e->pos.column,
                          "Multiple aliases are not supported in watermark clause.");
    }
    if (e->kind != FM_EXPR_NAME && e->kind != FM_EXPR_ALIAS) {
        return fm_fail_at(err, FM_INVALID, "REQUIRES_EXPLICIT_NAME_IN_WATERMARK_CLAUSE", e->pos.line, e->pos.column,
                          "The watermark clause requires an explicit name if expression is specified: write WATERMARK "
                          "expression AS name DELAY OF INTERVAL ...");
    }
    fm_scope s = fm_scope_of(an, child, "the WATERMARK clause");
    s.below = &below;
    FM_TRY(fm_resolve_named(&s, e, &named, err));
    FM_TRY(check_type(p, named, err));
    if (named->kind == FM_EXPR_ALIAS) FM_TRY(add_column(an, named, &below, &child, err));
    *out = child;
    if (!child->streaming) return FM_OK; /* a batch has no watermark */
    fm_plan *w = fm_plan_over(an->arena, FM_PLAN_WATERMARK, child, p->pos);
    if (w) w->exprs = fm_arena_array(an->arena, fm_expr *, 1);
    if (!w || !w->exprs) return fm_no_memory(an->arena, err);
    w->exprs[0] = fm_attr_expr(an->arena, fm_attr_find(child->output, child->n_output, named->attr_id));
    if (!w->exprs[0]) return fm_no_memory(an->arena, err);
    w->n_exprs = 1;
    w->event_time_id = named->attr_id;
    w->node_id = an->next_node++;
    w->delay_us = delay_us;
    w->delay_text = p->delay_text;
    *out = w;
    return fm_plan_finish(an->arena, w, err);
}

static fm_status fail_key(const fm_plan *child, fm_str name, fm_pos pos, fm_error *err)
{
    fm_strbuf names = {0};

    for (int32_t i = 0; i < child->n_output; i++) {
        if (child->output[i].hidden) continue;
        fm_strbuf_printf(&names, "%s%.*s", names.len ? ", " : "", FM_STR_ARG(child->output[i].name));
    }
    fm_status st = fm_fail_at(err, FM_INVALID, "UNRESOLVED_COLUMN_AMONG_FIELD_NAMES", pos.line, pos.column,
                              "Cannot resolve column name \"%.*s\" among (%s).", FM_STR_ARG(name),
                              names.ptr ? names.ptr : "");
    fm_strbuf_fini(&names);
    return st;
}

/* Rule: Spark, dropDuplicates: every column of that name is a key. */
static fm_status add_keys(fm_analyzer *an, fm_plan *d, const fm_str *name, int32_t *cap, fm_error *err)
{
    const fm_plan *child = d->children[0];
    int32_t before = d->n_exprs;

    for (int32_t i = 0; i < child->n_output; i++) {
        const fm_attr *a = &child->output[i];
        bool known = false;
        if (a->hidden || (name && !fm_name_eq(an, a->name, *name))) continue;
        for (int32_t j = 0; j < d->n_exprs; j++) known |= d->exprs[j]->attr_id == a->id;
        if (known) {
            before = -1;
            continue;
        }
        if (!FM_GROW(an->arena, d->exprs, d->n_exprs, *cap)) return fm_no_memory(an->arena, err);
        d->exprs[d->n_exprs] = fm_attr_expr(an->arena, a);
        if (!d->exprs[d->n_exprs++]) return fm_no_memory(an->arena, err);
    }
    return name && d->n_exprs == before ? fail_key(child, *name, d->pos, err) : FM_OK;
}

fm_status fm_analyze_deduplicate(fm_analyzer *an, const fm_plan *p, fm_plan **out, fm_error *err)
{
    fm_plan *child, *d;
    int32_t cap = 0;

    FM_TRY(fm_analyze_child(an, p, &child, err));
    if (p->within_watermark && !child->streaming) {
        return fm_fail_at(err, FM_INVALID, "_LEGACY_ERROR_TEMP_3102", p->pos.line, p->pos.column,
                          "dropDuplicatesWithinWatermark is not supported with batch DataFrames/DataSets");
    }
    d = fm_plan_over(an->arena, FM_PLAN_DEDUPLICATE, child, p->pos);
    if (!d) return fm_no_memory(an->arena, err);
    d->within_watermark = p->within_watermark;
    d->column_names = p->column_names;
    d->n_column_names = p->n_column_names;
    if (!p->n_column_names) FM_TRY(add_keys(an, d, NULL, &cap, err));
    for (int32_t i = 0; i < p->n_column_names; i++) FM_TRY(add_keys(an, d, &p->column_names[i], &cap, err));
    *out = d;
    return fm_plan_finish(an->arena, d, err);
}
