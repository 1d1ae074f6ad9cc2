/* plan/analyze_relation.c: leaves and scopes: tables, views, CTEs, table functions, VALUES, aliases. */
#include "plan/analyze_impl.h"

#include "base/limits.h"
#include "expr/coerce.h"
#include "expr/generator.h"

static void add_name(fm_strbuf *out, const fm_str *parts, int32_t n)
{
    for (int32_t i = 0; i < n; i++) fm_strbuf_printf(out, "%s`%.*s`", i ? "." : "", FM_STR_ARG(parts[i]));
}

static fm_status fail_no_table(fm_analyzer *an, const fm_plan *p, fm_error *err)
{
    fm_strbuf name = {0};
    const char *nearest = NULL;
    int n = 0;
    const char *const *names = an->a->catalog->names ? an->a->catalog->names(an->a->catalog->ctx, an->arena) : NULL;

    while (names && names[n]) n++;
    if (n) nearest = fm_str_nearest(p->name_parts[p->n_name_parts - 1], names, n);
    add_name(&name, p->name_parts, p->n_name_parts);
    fm_status st = fm_fail_at(err, FM_INVALID, "TABLE_OR_VIEW_NOT_FOUND", p->pos.line, p->pos.column,
                              "The table or view %s cannot be found. Verify the spelling and correctness of the schema "
                              "and catalog.%s%s%s%s",
                              name.ptr ? name.ptr : "", nearest ? "" : " SHOW TABLES lists what there is; a folder is read as json.`path`, delta.`path`, ...",
                              nearest ? " Did you mean `" : "", nearest ? nearest : "",
                              nearest ? "`?" : "");
    fm_strbuf_fini(&name);
    return st;
}

/* Views and CTEs are analyzed at each use, so views of views can grow without end. */
static fm_status count_use(fm_analyzer *an, fm_pos pos, fm_error *err)
{
    enum { USES_MAX = 10000 };

    if (++an->uses <= USES_MAX) return FM_OK;
    return fm_fail_at(err, FM_LIMIT, "FLOODMARK_PLAN_TOO_LARGE", pos.line, pos.column,
                      "The query uses views and WITH queries more than %d times, those inside them included.",
                      USES_MAX);
}

static fm_status read_node(fm_analyzer *an, const fm_plan *p, const fm_table_def *table, fm_str name, bool streaming,
                           fm_plan **out, fm_error *err)
{
    fm_plan *read = fm_plan_new(an->arena, FM_PLAN_READ, p->pos);
    int32_t n = table->schema ? table->schema->n_fields : 0;

    if (read) read->output = fm_arena_array(an->arena, fm_attr, n);
    if (!read || !read->output) return fm_no_memory(an->arena, err);
    read->table = table;
    read->streaming = streaming;
    read->source_index = -1; /* numbered when the plan is whole */
    read->n_output = n;
    for (int32_t i = 0; i < n; i++) {
        const fm_type *type = fm_type_as_nullable(an->arena, table->schema->fields[i].type);
        if (!type) return fm_no_memory(an->arena, err);
        read->output[i] = (fm_attr){.id = an->next_id++, .name = table->schema->fields[i].name, .qualifier = name,
                                    .type = type, .nullable = true};
    }
    *out = read;
    FM_TRY(fm_add_metadata(an, read, name, err));
    return fm_plan_finish(an->arena, read, err);
}

/* FROM t WITH (key = value): the table with these options over its own. */
static fm_status with_options(fm_analyzer *an, const fm_plan *p, const fm_table_def **table, fm_error *err)
{
    fm_table_def *def;
    const fm_options *lists[2] = {&(*table)->options, &p->options};

    if (!p->options.n) return FM_OK;
    def = fm_arena_one(an->arena, fm_table_def);
    if (!def) return fm_no_memory(an->arena, err);
    *def = **table;
    def->options = (fm_options){0};
    if (fm_str_eq_ci(def->format, FM_STR("delta"))) def->schema = NULL; /* the log's: options choose among versions, or the feed */
    for (int k = 0; k < 2; k++) {
        for (int32_t i = 0; i < lists[k]->n; i++) {
            const fm_option *o = &lists[k]->items[i];
            if (!fm_options_set(an->arena, &def->options, o->key, o->value)) return fm_no_memory(an->arena, err);
        }
    }
    *table = def;
    return FM_OK;
}

static fm_status aliased(fm_analyzer *an, fm_plan *child, fm_str name, fm_pos pos, fm_plan **out, fm_error *err)
{
    fm_plan *p = fm_plan_over(an->arena, FM_PLAN_SUBQUERY_ALIAS, child, pos);

    if (!p) return fm_no_memory(an->arena, err);
    p->name = name;
    *out = p;
    return fm_plan_finish(an->arena, p, err);
}

/* AS name(a, b): new names for all columns. */
static fm_status renamed(fm_analyzer *an, fm_plan *child, const fm_str *names, int32_t n, fm_pos pos, fm_plan **out,
                         fm_error *err)
{
    fm_expr **exprs = fm_arena_array(an->arena, fm_expr *, n);
    int32_t k = 0;

    if (!exprs) return fm_no_memory(an->arena, err);
    if (fm_plan_visible(child) != n) {
        return fm_fail_at(err, FM_INVALID, "ASSIGNMENT_ARITY_MISMATCH", pos.line, pos.column,
                          "The number of column aliases does not match the number of columns: %d aliases for %d "
                          "columns.",
                          (int)n, (int)fm_plan_visible(child));
    }
    for (int32_t i = 0; i < child->n_output; i++) {
        if (child->output[i].hidden) continue;
        fm_expr *e = fm_attr_expr(an->arena, &child->output[i]);
        exprs[k] = e ? fm_alias_expr(an->arena, e, names[k], an->next_id++) : NULL;
        k++;
    }
    return fm_plan_project(an->arena, child, exprs, n, pos, out, err);
}

/* A query that is `SELECT * FROM files` is the READ itself, and gave its hidden column out. */
static fm_status hide_metadata(fm_analyzer *an, fm_plan **plan, fm_error *err)
{
    fm_plan *p = *plan;
    fm_expr **exprs = fm_arena_array(an->arena, fm_expr *, p->n_output);
    int32_t n = 0;

    if (!exprs) return fm_no_memory(an->arena, err);
    if (fm_plan_visible(p) == p->n_output) return FM_OK;
    for (int32_t i = 0; i < p->n_output; i++) {
        if (!p->output[i].hidden) exprs[n++] = fm_attr_expr(an->arena, &p->output[i]);
    }
    return fm_plan_project(an->arena, p, exprs, n, p->pos, plan, err);
}

/* A query known by name: a CTE or a view. STREAM before a query without any stream reads its tables as streams. */
static fm_status named_query(fm_analyzer *an, const fm_plan *p, const fm_plan *query, const fm_cte_frame *ctes,
                             fm_str name, fm_plan **out, fm_error *err)
{
    const fm_cte_frame *outside = an->ctes;
    const fm_scope *outer = an->outer;
    bool as_stream = an->read_as_stream, metadata = an->wants_metadata;
    fm_status st = count_use(an, p->pos, err);

    an->ctes = ctes;
    an->outer = NULL;
    an->wants_metadata = an->wants_input_file || fm_wants_metadata(query); /* what stands outside does not see it */
    if (st == FM_OK) st = fm_analyze_plan(an, query, out, err);
    if (st == FM_OK && p->streaming && !(*out)->streaming) {
        an->read_as_stream = true;
        st = fm_analyze_plan(an, query, out, err);
    }
    an->ctes = outside;
    an->outer = outer;
    an->read_as_stream = as_stream;
    an->wants_metadata = metadata;
    if (st == FM_OK && an->wants_metadata) st = hide_metadata(an, out, err);
    return st == FM_OK ? aliased(an, *out, name, p->pos, out, err) : st;
}

static fm_status cte_query(fm_analyzer *an, const fm_plan *p, const fm_cte_frame *frame, fm_plan **out, fm_error *err)
{
    const fm_cte *cte = frame->cte;

    *frame->used = true;
    FM_TRY(named_query(an, p, cte->plan, frame->up, cte->name, out, err));
    if (!cte->n_column_names) return FM_OK;
    FM_TRY(renamed(an, *out, cte->column_names, cte->n_column_names, cte->pos, out, err));
    return aliased(an, *out, cte->name, p->pos, out, err);
}

/* A table that does not say its columns: *table is then a copy that does. */
static fm_status with_schema(fm_analyzer *an, bool streaming, const fm_table_def **table, fm_error *err)
{
    const fm_catalog *catalog = an->a->catalog;

    if ((*table)->schema || !catalog->schema) return FM_OK;
    fm_table_def *copy = fm_arena_one(an->arena, fm_table_def);
    if (!copy) return fm_no_memory(an->arena, err);
    *copy = **table;
    FM_TRY(catalog->schema(catalog->ctx, *table, streaming, an->arena, &copy->schema, err));
    *table = copy;
    return FM_OK;
}

fm_status fm_analyze_relation(fm_analyzer *an, const fm_plan *p, fm_plan **out, fm_error *err)
{
    const fm_catalog *catalog = an->a->catalog;
    const fm_plan *view = NULL;
    const fm_table_def *table = NULL;
    bool is_stream = false;
    fm_str name = p->name_parts[p->n_name_parts - 1];

    for (const fm_cte_frame *f = an->ctes; f && p->n_name_parts == 1; f = f->up) {
        if (fm_name_eq(an, f->cte->name, name)) return cte_query(an, p, f, out, err);
    }
    fm_status st = catalog->find(catalog->ctx, p->name_parts, p->n_name_parts, &view, &table, &is_stream, err);
    if (st == FM_NOT_FOUND) return fail_no_table(an, p, err);
    if (st != FM_OK) return st;
    if (view) return named_query(an, p, view, NULL, name, out, err);
    FM_TRY(with_options(an, p, &table, err));
    bool streaming = p->streaming || is_stream || an->read_as_stream;
    FM_TRY(with_schema(an, streaming, &table, err));
    return read_node(an, p, table, name, streaming, out, err);
}

/* FROM explode(...), range(...): rows without a table. */
static fm_status generator_function(fm_analyzer *an, const fm_plan *p, fm_str generator, fm_plan **out, fm_error *err)
{
    fm_plan *one = fm_plan_new(an->arena, FM_PLAN_ONE_ROW, p->pos);
    fm_plan *view = one ? fm_plan_over(an->arena, FM_PLAN_LATERAL_VIEW, one, p->pos) : NULL;

    if (view) view->exprs = fm_arena_array(an->arena, fm_expr *, 1);
    if (!view || !view->exprs) return fm_no_memory(an->arena, err);
    view->exprs[0] = fm_expr_call(an->arena, generator, p->exprs, p->n_exprs, p->pos);
    if (!view->exprs[0]) return fm_no_memory(an->arena, err);
    view->n_exprs = 1;
    view->name = p->name;
    return fm_analyze_lateral_view(an, view, out, err);
}

/* Arguments that are constant expressions become literals, so that the catalog sees values only. */
static fm_status fold_arguments(fm_analyzer *an, fm_plan *call, fm_error *err)
{
    fm_expr **exprs = fm_arena_array(an->arena, fm_expr *, call->n_exprs);
    fm_scope s = fm_scope_of(an, NULL, "the arguments of a table function");

    if (!exprs) return fm_no_memory(an->arena, err);
    for (int32_t i = 0; i < call->n_exprs; i++) {
        fm_expr *e = call->exprs[i], *value = fm_expr_unalias(e);
        if (value->kind != FM_EXPR_LITERAL) {
            FM_TRY(fm_resolve_expr(&s, value, &value, err));
            FM_TRY(fm_fold(an, value, &value, err));
        }
        exprs[i] = e->kind == FM_EXPR_ALIAS ? fm_alias_expr(an->arena, value, e->name, 0) : value;
        if (!exprs[i]) return fm_no_memory(an->arena, err);
        exprs[i]->pos = e->pos;
    }
    call->exprs = exprs;
    return FM_OK;
}

fm_status fm_analyze_table_function(fm_analyzer *an, const fm_plan *p, fm_plan **out, fm_error *err)
{
    const fm_catalog *catalog = an->a->catalog;
    const fm_table_def *table = NULL;
    bool streaming = p->streaming || an->read_as_stream, outer;
    fm_plan call = *p;
    fm_status st = FM_NOT_FOUND;

    if (fm_generator_find(p->name, &outer)) return generator_function(an, p, p->name, out, err);
    if (fm_str_eq_ci(p->name, FM_STR("range"))) return generator_function(an, p, FM_STR(FM_GENERATOR_RANGE), out, err);
    FM_TRY(fold_arguments(an, &call, err));
    if (catalog->table_function) {
        st = catalog->table_function(catalog->ctx, &call, streaming, an->arena, &table, err);
    }
    if (st == FM_NOT_FOUND) {
        return fm_fail_at(err, FM_INVALID, "UNRESOLVABLE_TABLE_VALUED_FUNCTION", p->pos.line, p->pos.column,
                          "Could not resolve `%.*s` to a table-valued function. Please make sure that it is defined and "
                          "that all required parameters are correctly defined.",
                          FM_STR_ARG(p->name));
    }
    if (st != FM_OK) return st;
    return read_node(an, p, table, p->name, streaming, out, err);
}

fm_status fm_analyze_with(fm_analyzer *an, const fm_plan *p, fm_plan **out, fm_error *err)
{
    const fm_cte_frame *outside = an->ctes;
    fm_cte_frame *frames = fm_arena_array(an->arena, fm_cte_frame, p->n_ctes);
    bool *used = fm_arena_array(an->arena, bool, p->n_ctes);
    fm_status st;

    if (!frames || !used) return fm_no_memory(an->arena, err);
    for (int32_t i = 0; i < p->n_ctes; i++) {
        for (int32_t j = 0; j < i; j++) {
            if (!fm_name_eq(an, p->ctes[i].name, p->ctes[j].name)) continue;
            return fm_fail_at(err, FM_INVALID, "DUPLICATED_CTE_NAMES", p->pos.line, p->pos.column,
                              "CTE definition can't have duplicate names: `%.*s`.", FM_STR_ARG(p->ctes[i].name));
        }
        frames[i] = (fm_cte_frame){.cte = &p->ctes[i], .up = i ? &frames[i - 1] : outside, .used = &used[i]};
    }
    if (p->n_ctes) an->ctes = &frames[p->n_ctes - 1];
    st = fm_analyze_child(an, p, out, err);
    for (int32_t i = p->n_ctes - 1; i >= 0 && st == FM_OK; i--) { /* what is wrong with one that nobody names is said, too */
        fm_plan *unused;
        if (!used[i]) st = cte_query(an, p->ctes[i].plan, &frames[i], &unused, err);
    }
    an->ctes = outside;
    return st;
}

static fm_status values_types(fm_analyzer *an, fm_plan *v, fm_pos pos, fm_error *err)
{
    int32_t rows = v->n_columns ? v->n_exprs / v->n_columns : 0;

    for (int32_t c = 0; c < v->n_columns; c++) {
        fm_expr **column = fm_arena_array(an->arena, fm_expr *, rows);
        if (!column) return fm_no_memory(an->arena, err);
        for (int32_t r = 0; r < rows; r++) column[r] = v->exprs[r * v->n_columns + c];
        const fm_type *type = fm_type_common_of(an->arena, an->conf, column, rows);
        if (!type) {
            return fm_fail_at(err, FM_INVALID, "INVALID_INLINE_TABLE.INCOMPATIBLE_TYPES_IN_INLINE_TABLE", pos.line,
                              pos.column, "Found incompatible types in the column `col%d` for inline table.",
                              (int)c + 1);
        }
        v->output[c].type = type;
        for (int32_t r = 0; r < rows; r++) {
            fm_expr **cell = &v->exprs[r * v->n_columns + c];
            FM_TRY(fm_expr_cast(an->arena, an->conf, *cell, type, false, false, cell, err));
            FM_TRY(fm_fold(an, *cell, cell, err));
            v->output[c].nullable |= (*cell)->nullable;
        }
    }
    return FM_OK;
}

fm_status fm_analyze_values(fm_analyzer *an, const fm_plan *p, fm_plan **out, fm_error *err)
{
    fm_scope s = fm_scope_of(an, NULL, "VALUES");
    fm_plan *v = fm_plan_new(an->arena, FM_PLAN_VALUES, p->pos);

    if (v) {
        v->exprs = fm_arena_array(an->arena, fm_expr *, p->n_exprs);
        v->output = fm_arena_array(an->arena, fm_attr, p->n_columns);
    }
    if (!v || !v->exprs || !v->output) return fm_no_memory(an->arena, err);
    v->n_exprs = p->n_exprs;
    v->n_columns = v->n_output = p->n_columns;
    for (int32_t i = 0; i < p->n_exprs; i++) {
        FM_TRY(fm_resolve_expr(&s, fm_expr_unalias(p->exprs[i]), &v->exprs[i], err));
    }
    for (int32_t c = 0; c < p->n_columns; c++) {
        fm_str name = fm_arena_printf(an->arena, "col%d", (int)c + 1);
        if (!name.ptr) return fm_no_memory(an->arena, err);
        v->output[c] = (fm_attr){.id = an->next_id++, .name = name};
    }
    FM_TRY(values_types(an, v, p->pos, err));
    *out = v;
    return fm_plan_finish(an->arena, v, err);
}

fm_status fm_analyze_alias(fm_analyzer *an, const fm_plan *p, fm_plan **out, fm_error *err)
{
    FM_TRY(fm_analyze_child(an, p, out, err));
    if (p->n_column_names) FM_TRY(renamed(an, *out, p->column_names, p->n_column_names, p->pos, out, err));
    return p->name.len ? aliased(an, *out, p->name, p->pos, out, err) : FM_OK;
}
