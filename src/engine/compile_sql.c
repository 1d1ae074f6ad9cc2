/* engine/compile_sql.c: constraints, generated and default columns of tables.
 *
 * The expression is analyzed as the select list of a query over a table with these columns. */
#include "engine/compile_sql.h"

#include "expr/eval.h"
#include "plan/analyze.h"
#include "sql/sql.h"

static fm_status find_columns(void *ctx, const fm_str *parts, int32_t n_parts, const fm_plan **view, const fm_table_def **table, bool *is_stream,
                              fm_error *err)
{
    *view = NULL;
    *table = ctx;
    *is_stream = false;
    return n_parts == 1 && fm_str_eq(parts[0], FM_STR("columns")) ? FM_OK : FM_NOT_FOUND;
}

static fm_status no_function(void *ctx, const fm_plan *call, bool streaming, fm_arena *arena, const fm_table_def **table, fm_error *err)
{
    return FM_NOT_FOUND;
}

static const char *const *no_names(void *ctx, fm_arena *arena) { return fm_arena_array(arena, const char *, 1); }

/* SELECT <e> FROM columns */
static fm_plan *select_of(fm_arena *arena, fm_expr *e)
{
    fm_plan *project = fm_plan_new(arena, FM_PLAN_PROJECT, e->pos), *relation = fm_plan_new(arena, FM_PLAN_RELATION, e->pos);

    if (!project || !relation) return NULL;
    relation->name_parts = fm_arena_array(arena, fm_str, 1);
    project->children = fm_arena_array(arena, fm_plan *, 1);
    project->exprs = fm_arena_array(arena, fm_expr *, 1);
    if (!relation->name_parts || !project->children || !project->exprs) return NULL;
    relation->name_parts[0] = FM_STR("columns");
    relation->n_name_parts = 1;
    project->children[0] = relation;
    project->n_children = 1;
    project->exprs[0] = e;
    project->n_exprs = 1;
    return project;
}

static bool find_read(const fm_plan *p, void *ctx)
{
    const fm_plan **out = ctx;

    if (p->kind == FM_PLAN_READ && !*out) *out = p;
    return true;
}

/* The analyzed plan must still be a select list over the columns: no aggregates, windows, subqueries. */
static const fm_expr *result_of(const fm_plan *p)
{
    if (p->kind != FM_PLAN_PROJECT || p->n_exprs != 1) return NULL;
    const fm_expr *e = p->exprs[0];
    return e->kind == FM_EXPR_ALIAS ? e->args[0] : e;
}

fm_status fm_compile_sql(const fm_session_conf *conf, fm_str sql, const fm_type *columns, fm_arena *arena, fm_expr **out, fm_error *err)
{
    fm_table_def def = {.name = FM_STR("columns"), .format = FM_STR("columns"), .schema = columns};
    fm_catalog catalog = {.ctx = &def, .find = find_columns, .table_function = no_function, .names = no_names};
    fm_analysis analysis = {.arena = arena, .conf = conf, .catalog = &catalog};
    const fm_plan *read = NULL;
    const fm_expr *result;
    fm_expr *parsed;
    fm_plan *plan, *analyzed;

    FM_TRY(fm_sql_parse_expr(arena, sql, &parsed, err));
    plan = select_of(arena, parsed);
    if (!plan) return fm_no_memory(arena, err);
    FM_TRY(fm_analyze(&analysis, plan, &analyzed, err));
    fm_plan_walk(analyzed, find_read, &read);
    result = result_of(analyzed);
    if (!read || !result) {
        return fm_fail(err, FM_INVALID, "DELTA_UNSUPPORTED_EXPRESSION_GENERATED_COLUMN", "'%.*s' cannot be used here: an expression over the columns of one row is wanted.", FM_STR_ARG(sql));
    }
    int32_t *ids = fm_arena_array(arena, int32_t, read->n_output);
    if (!ids) return fm_no_memory(arena, err);
    for (int32_t i = 0; i < read->n_output; i++) ids[i] = read->output[i].id;
    return fm_expr_bind(arena, result, ids, read->n_output, out, err);
}
