/* tests/plan/fixture.c: see fixture.h. */
#include "fixture.h"

#include <stdio.h>
#include <stdlib.h>

#include "sql/sql.h"

enum { RELATIONS_MAX = 64 };

typedef struct relation {
    fm_str name;
    const fm_plan *view;
    const fm_table_def *table;
    bool is_stream;
} relation;

struct fixture {
    fm_arena *arena;
    fm_session_conf conf;
    fm_catalog catalog;
    relation relations[RELATIONS_MAX];
    int n;
};

static fm_status find(void *ctx, const fm_str *parts, int32_t n_parts, const fm_plan **view, const fm_table_def **table,
                      bool *table_is_stream, fm_error *err)
{
    fixture *f = ctx;

    (void)err;
    for (int i = f->n - 1; i >= 0; i--) {
        if (!fm_str_eq_ci(f->relations[i].name, parts[n_parts - 1])) continue;
        *view = f->relations[i].view;
        *table = f->relations[i].table;
        *table_is_stream = f->relations[i].is_stream;
        return FM_OK;
    }
    return FM_NOT_FOUND;
}

static const char *const *names(void *ctx, fm_arena *arena)
{
    fixture *f = ctx;
    const char **out = fm_arena_array(arena, const char *, f->n + 1);

    for (int i = 0; i < f->n; i++) out[i] = f->relations[i].name.ptr;
    return out;
}

fixture *fixture_new(void)
{
    fixture *f = calloc(1, sizeof *f);

    f->arena = fm_arena_new(0);
    f->conf = (fm_session_conf){.ansi = true, .zone = fm_zone_utc(), .user = FM_STR("tester")};
    f->catalog = (fm_catalog){.ctx = f, .find = find, .names = names};
    return f;
}

void fixture_free(fixture *f)
{
    fm_arena_free(f->arena);
    free(f);
}

fm_arena *fixture_arena(fixture *f) { return f->arena; }
fm_session_conf *fixture_conf(fixture *f) { return &f->conf; }

static relation *add(fixture *f, const char *name)
{
    fm_assert(f->n < RELATIONS_MAX);
    relation *r = &f->relations[f->n++];
    *r = (relation){.name = fm_arena_str(f->arena, fm_str_c(name))};
    return r;
}

void fixture_table(fixture *f, const char *name, const char *columns, bool is_stream)
{
    relation *r = add(f, name);
    fm_table_def *def = fm_arena_one(f->arena, fm_table_def);
    fm_error err = FM_ERROR_INIT;

    def->name = r->name;
    def->format = FM_STR("json");
    fm_status st = fm_type_parse_ddl(f->arena, fm_str_c(columns), &def->schema, &err);
    fm_assert(st == FM_OK);
    r->table = def;
    r->is_stream = is_stream;
}

fm_status fixture_view(fixture *f, const char *name, const char *sql, fm_error *err)
{
    fm_plan *plan;

    FM_TRY(fixture_parse(f, sql, &plan, err));
    fixture_view_plan(f, name, plan);
    return FM_OK;
}

void fixture_view_plan(fixture *f, const char *name, fm_plan *plan) { add(f, name)->view = plan; }

static fm_plan *over(fixture *f, fm_plan_kind kind, fm_plan *child)
{
    fm_plan *p = fm_plan_new(f->arena, kind, (fm_pos){0});

    p->children = fm_arena_array(f->arena, fm_plan *, 1);
    p->children[0] = child;
    p->n_children = 1;
    return p;
}

fm_plan *fixture_relation(fixture *f, const char *name)
{
    fm_plan *p = fm_plan_new(f->arena, FM_PLAN_RELATION, (fm_pos){0});

    p->name_parts = fm_arena_array(f->arena, fm_str, 1);
    p->name_parts[0] = fm_arena_str(f->arena, fm_str_c(name));
    p->n_name_parts = 1;
    return p;
}

fm_plan *fixture_watermark(fixture *f, fm_plan *child, const char *column, const char *delay)
{
    fm_plan *p = over(f, FM_PLAN_WATERMARK, child);
    fm_expr *name = fm_expr_new(f->arena, FM_EXPR_NAME, (fm_pos){0});

    name->parts = fm_arena_array(f->arena, fm_str, 1);
    name->parts[0] = fm_arena_str(f->arena, fm_str_c(column));
    name->n_parts = 1;
    p->exprs = fm_arena_array(f->arena, fm_expr *, 1);
    p->exprs[0] = name;
    p->n_exprs = 1;
    p->delay_text = fm_arena_str(f->arena, fm_str_c(delay));
    p->delay_is_text = true;
    return p;
}

fm_plan *fixture_deduplicate(fixture *f, fm_plan *child, const char *const *columns, int n, bool within)
{
    fm_plan *p = over(f, FM_PLAN_DEDUPLICATE, child);

    p->column_names = fm_arena_array(f->arena, fm_str, n);
    p->n_column_names = n;
    p->within_watermark = within;
    for (int i = 0; i < n; i++) p->column_names[i] = fm_arena_str(f->arena, fm_str_c(columns[i]));
    return p;
}

fm_plan *fixture_hint(fixture *f, fm_plan *child, const char *name, const char *const *texts, int n)
{
    fm_plan *p = over(f, FM_PLAN_HINT, child);

    p->name = fm_arena_str(f->arena, fm_str_c(name));
    p->exprs = fm_arena_array(f->arena, fm_expr *, n);
    p->n_exprs = n;
    for (int i = 0; i < n; i++) p->exprs[i] = fm_expr_literal_str(f->arena, fm_type_string(), fm_str_c(texts[i]));
    return p;
}

void fixture_events(fixture *f, const char *name, const char *delay)
{
    char source[64];

    if (!delay) {
        fixture_table(f, name, "ts TIMESTAMP, k STRING, v BIGINT", true);
        return;
    }
    snprintf(source, sizeof source, "%s_source", name);
    fixture_table(f, source, "ts TIMESTAMP, k STRING, v BIGINT", true);
    fixture_view_plan(f, name, fixture_watermark(f, fixture_relation(f, source), "ts", delay));
}

fm_status fixture_parse(fixture *f, const char *sql, fm_plan **out, fm_error *err)
{
    return fm_sql_parse(f->arena, fm_str_c(sql), out, err);
}

fm_status fixture_analyze(fixture *f, const char *sql, fm_plan **out, fm_error *err)
{
    fm_analysis a = {.arena = f->arena, .conf = &f->conf, .catalog = &f->catalog};
    fm_plan *plan;

    FM_TRY(fixture_parse(f, sql, &plan, err));
    return fm_analyze(&a, plan, out, err);
}

fm_status fixture_optimize(fixture *f, const char *sql, fm_plan **out, fm_error *err)
{
    FM_TRY(fixture_analyze(f, sql, out, err));
    return fm_optimize(f->arena, &f->conf, *out, out, err);
}

static const char *taken(fixture *f, fm_strbuf *text)
{
    fm_str s = fm_arena_str(f->arena, fm_strbuf_str(text));

    fm_strbuf_fini(text);
    return s.ptr ? s.ptr : "";
}

const char *fixture_schema(fixture *f, const fm_plan *plan)
{
    fm_strbuf text = {0};

    for (int32_t i = 0; i < plan->n_output; i++) {
        const fm_attr *a = &plan->output[i];
        if (a->hidden) continue;
        fm_strbuf_printf(&text, "%s%.*s ", text.len ? ", " : "", FM_STR_ARG(a->name));
        fm_type_sql(a->type, &text);
        if (!a->nullable) fm_strbuf_add_c(&text, " NOT NULL");
    }
    return taken(f, &text);
}

const char *fixture_text(fixture *f, const fm_plan *plan)
{
    fm_strbuf full = {0}, text = {0};

    fm_plan_text(plan, &full);
    for (size_t i = 0; i < full.len; i++) {
        if (full.ptr[i] != '#') {
            fm_strbuf_add_char(&text, full.ptr[i]);
            continue;
        }
        while (i + 1 < full.len && full.ptr[i + 1] >= '0' && full.ptr[i + 1] <= '9') i++;
        if (i + 1 < full.len && full.ptr[i + 1] == 'L') i++;
    }
    fm_strbuf_fini(&full);
    return taken(f, &text);
}

/* --- what must hold ------------------------------------------------------------------------------------ */

typedef struct verifying {
    fixture *f;
    const fm_plan *node;
    const char *wrong;
    bool optimized;
} verifying;

/* Of a child; of a READ itself, whose expressions are the filters above it. */
static bool is_column_of(const fm_plan *p, int32_t id)
{
    for (int32_t i = 0; p->kind == FM_PLAN_READ && i < p->n_output; i++) {
        if (p->output[i].id == id) return true;
    }
    for (int32_t c = 0; c < p->n_children; c++) {
        for (int32_t i = 0; i < p->children[c]->n_output; i++) {
            if (p->children[c]->output[i].id == id) return true;
        }
    }
    return false;
}

static bool verify_expr(const fm_expr *e, void *ctx)
{
    verifying *v = ctx;

    if (!e->type) v->wrong = "an expression without a type";
    else if (e->kind == FM_EXPR_NAME || e->kind == FM_EXPR_STAR || e->kind == FM_EXPR_EXTRACT) v->wrong = "an unresolved expression";
    else if (e->kind == FM_EXPR_UNRESOLVED_CALL && v->node->kind != FM_PLAN_OVER) v->wrong = "an unresolved call";
    else if (e->kind == FM_EXPR_AGGREGATE && v->node->kind != FM_PLAN_AGGREGATE && v->node->kind != FM_PLAN_OVER) v->wrong = "an aggregate outside of Aggregate";
    else if (e->kind == FM_EXPR_ATTRIBUTE && !is_column_of(v->node, e->attr_id)) {
        v->wrong = fm_arena_printf(v->f->arena, "%.*s is no column of the children", FM_STR_ARG(e->name)).ptr;
    }
    return !v->wrong;
}

static void verify_plain_aggregate(verifying *v, const fm_plan *p)
{
    for (int32_t i = 0; i < p->n_group_exprs; i++) {
        if (p->group_exprs[i]->kind != FM_EXPR_ATTRIBUTE) v->wrong = "a computed group in an optimized plan";
    }
    for (int32_t i = 0; i < p->n_exprs; i++) {
        const fm_expr *e = p->exprs[i];
        bool aggregate = e->kind == FM_EXPR_ALIAS && e->args[0]->kind == FM_EXPR_AGGREGATE;
        if (e->kind != FM_EXPR_ATTRIBUTE && !aggregate) v->wrong = "a computed result in an optimized plan";
    }
}

static bool verify_node(const fm_plan *p, void *ctx)
{
    verifying *v = ctx;

    v->node = p;
    if (!p->resolved) v->wrong = "a node that is not resolved";
    for (int32_t i = 0; i < p->n_output && !v->wrong; i++) {
        if (!p->output[i].id || !p->output[i].type || !p->output[i].name.ptr) v->wrong = "an output column without id, type or name";
    }
    for (int32_t i = 0; i < p->n_exprs && !v->wrong; i++) fm_expr_walk(p->exprs[i], verify_expr, v);
    for (int32_t i = 0; i < p->n_group_exprs && !v->wrong; i++) fm_expr_walk(p->group_exprs[i], verify_expr, v);
    for (int32_t c = 0; p->kind == FM_PLAN_UNION && c < p->n_children && !v->wrong; c++) {
        if (p->children[c]->n_output != p->n_output) v->wrong = "a union of different widths";
        for (int32_t i = 0; i < p->n_output && !v->wrong; i++) {
            if (!fm_type_eq(p->children[c]->output[i].type, p->output[i].type)) v->wrong = "a union of different types";
        }
    }
    if (p->late_row_id && !is_column_of(p, p->late_row_id)) v->wrong = "late_row_id is no column";
    if (p->late_time_id && !is_column_of(p, p->late_time_id)) v->wrong = "late_time_id is no column";
    if (p->kind == FM_PLAN_WATERMARK && !is_column_of(p, p->event_time_id)) v->wrong = "the event time is no column";
    if (v->optimized && p->kind == FM_PLAN_AGGREGATE && !v->wrong) verify_plain_aggregate(v, p);
    if (v->wrong) {
        v->wrong = fm_arena_printf(v->f->arena, "%s, in:\n%s", v->wrong, fixture_text(v->f, p)).ptr;
    }
    return !v->wrong;
}

const char *fixture_verify(fixture *f, const fm_plan *plan, bool optimized)
{
    verifying v = {.f = f, .optimized = optimized};

    fm_plan_walk(plan, verify_node, &v);
    return v.wrong;
}
