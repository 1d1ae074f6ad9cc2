/* plan/analyze_metadata.c: _metadata, a hidden column of tables that are files: STRUCT<file_path, file_name, ...>; and the functions
 * input_file_name(), input_file_block_start() and input_file_block_length(), which are fields of it.
 *
 * Rule  Spark, FileSourceMetadataAttribute: a column of the table that has the name hides it, * does not show it, a view does not let
 *       it through. InputFileName: '' where no file is read; MULTI_SOURCES_UNSUPPORTED_FOR_EXPRESSION */
#include "plan/analyze_impl.h"

#include "expr/coerce.h"

#define METADATA "_metadata"

static const char *const functions[] = {"input_file_name", "input_file_block_start", "input_file_block_length"};

static int which_function(fm_str name)
{
    for (int i = 0; i < 3; i++) {
        if (fm_str_eq_ci(name, fm_str_c(functions[i]))) return i;
    }
    return -1;
}

/* ---- Whether a query asks for it ---------------------------------------------------------------------------------- */

static bool plan_is_silent(const fm_plan *p, void *ctx);

static bool expr_is_silent(const fm_expr *e, void *ctx)
{
    const bool *calls_only = ctx;

    if (e->kind == FM_EXPR_UNRESOLVED_CALL && which_function(e->name) >= 0) return false;
    for (int32_t i = 0; !*calls_only && i < e->n_parts && (e->kind == FM_EXPR_NAME || e->kind == FM_EXPR_STAR); i++) {
        if (fm_str_eq_ci(e->parts[i], FM_STR(METADATA))) return false;
    }
    return !e->plan || fm_plan_walk(e->plan, plan_is_silent, ctx);
}

static bool plan_is_silent(const fm_plan *p, void *ctx)
{
    for (int32_t i = 0; i < p->n_exprs; i++) {
        if (!fm_expr_walk(p->exprs[i], expr_is_silent, ctx)) return false;
    }
    for (int32_t i = 0; i < p->n_group_exprs; i++) {
        if (!fm_expr_walk(p->group_exprs[i], expr_is_silent, ctx)) return false;
    }
    for (int32_t i = 0; i < p->n_ctes; i++) {
        if (!fm_plan_walk(p->ctes[i].plan, plan_is_silent, ctx)) return false;
    }
    return true;
}

bool fm_wants_metadata(const fm_plan *query)
{
    bool calls_only = false;

    return !fm_plan_walk(query, plan_is_silent, &calls_only);
}

bool fm_wants_input_file(const fm_plan *query)
{
    bool calls_only = true;

    return !fm_plan_walk(query, plan_is_silent, &calls_only);
}

/* ---- The column --------------------------------------------------------------------------------------------------- */

fm_status fm_add_metadata(fm_analyzer *an, fm_plan *read, fm_str qualifier, fm_error *err)
{
    const fm_catalog *catalog = an->a->catalog;
    const fm_type *type = an->wants_metadata && catalog->metadata ? catalog->metadata(catalog->ctx, read->table) : NULL;
    fm_attr *output;

    if (!type) return FM_OK;
    output = fm_arena_array(an->arena, fm_attr, read->n_output + 1);
    if (!output) return fm_no_memory(an->arena, err);
    for (int32_t i = 0; i < read->n_output; i++) output[i] = read->output[i];
    read->metadata_id = an->next_id++;
    output[read->n_output++] = (fm_attr){.id = read->metadata_id, .name = FM_STR(METADATA), .qualifier = qualifier, .type = type, .hidden = true};
    read->output = output;
    return FM_OK;
}

/* ---- Through queries below ---------------------------------------------------------------------------------------- */

static const fm_attr *metadata_of(const fm_plan *p)
{
    for (int32_t i = 0; i < p->n_output; i++) {
        if (p->output[i].hidden && p->output[i].type->id == FM_TYPE_STRUCT && fm_str_eq(p->output[i].name, FM_STR(METADATA))) return &p->output[i];
    }
    return NULL;
}

/* Nodes whose rows are still those of the file that was read last. */
static bool lets_through(const fm_plan *p)
{
    return p->kind == FM_PLAN_PROJECT || p->kind == FM_PLAN_FILTER || p->kind == FM_PLAN_SUBQUERY_ALIAS || p->kind == FM_PLAN_HINT ||
           p->kind == FM_PLAN_GENERATE || p->kind == FM_PLAN_WATERMARK || p->kind == FM_PLAN_TIME_WINDOW;
}

/* `plan` with the hidden column of the files below in its output, if it can be had. */
static fm_status reach(fm_analyzer *an, fm_plan *plan, fm_plan **out, fm_error *err)
{
    fm_plan *child;

    *out = plan;
    if (metadata_of(plan) || !lets_through(plan)) return FM_OK;
    FM_TRY(reach(an, plan->children[0], &child, err));
    const fm_attr *column = metadata_of(child);
    if (!column) return FM_OK;
    if (plan->kind != FM_PLAN_PROJECT) return fm_plan_with_children(an->arena, plan, &child, out, err);
    fm_expr **exprs = fm_arena_array(an->arena, fm_expr *, plan->n_exprs + 1);
    if (!exprs) return fm_no_memory(an->arena, err);
    for (int32_t i = 0; i < plan->n_exprs; i++) exprs[i] = plan->exprs[i];
    exprs[plan->n_exprs] = fm_attr_expr(an->arena, column);
    FM_TRY(fm_plan_project(an->arena, child, exprs, plan->n_exprs + 1, plan->pos, out, err));
    for (int32_t i = 0; i <= plan->n_exprs; i++) (*out)->output[i].hidden = i == plan->n_exprs || plan->output[i].hidden;
    return FM_OK;
}

fm_status fm_reach_files(fm_analyzer *an, fm_expr *const *exprs, int32_t n, fm_expr *const *more, int32_t n_more, fm_plan **child, fm_error *err)
{
    bool calls = false;

    for (int32_t i = 0; i < n && an->wants_metadata; i++) calls |= fm_has_input_file_call(exprs[i]);
    for (int32_t i = 0; i < n_more && an->wants_metadata; i++) calls |= fm_has_input_file_call(more[i]);
    return calls ? reach(an, *child, child, err) : FM_OK;
}

/* Rows that were shuffled: Spark's executors do not know any more where they came from. */
static bool is_shuffled(const fm_plan *p)
{
    while (lets_through(p)) p = p->children[0];
    return p->kind == FM_PLAN_AGGREGATE || p->kind == FM_PLAN_SORT || p->kind == FM_PLAN_LIMIT || p->kind == FM_PLAN_DISTINCT || p->kind == FM_PLAN_DEDUPLICATE;
}

/* ---- The functions ------------------------------------------------------------------------------------------------ */

static fm_status field(const fm_scope *s, const fm_attr *column, const char *name, fm_expr **out, fm_error *err)
{
    fm_expr *base = fm_attr_expr(s->an->arena, column), *key = fm_expr_literal_str(s->an->arena, fm_type_string(), fm_str_c(name));
    fm_expr *extract = fm_expr_new(s->an->arena, FM_EXPR_EXTRACT, (fm_pos){0});

    if (!base || !key || !extract) return fm_no_memory(s->an->arena, err);
    extract->n_args = 2;
    return fm_expr_resolve_node(s->an->arena, s->an->conf, extract, (fm_expr *[]){base, key}, out, err);
}

/* "file:/in/a.json" -> "file:///in/a.json", as the function writes it. */
static fm_status with_authority(const fm_scope *s, fm_expr *path, fm_pos pos, fm_expr **out, fm_error *err)
{
    fm_arena *arena = s->an->arena;
    fm_expr *args[] = {path, fm_expr_literal_i32(arena, 6)}, *rest;

    if (!args[1]) return fm_no_memory(arena, err);
    FM_TRY(fm_call_resolve(arena, s->an->conf, FM_STR("substring"), args, 2, pos, NULL, &rest, err));
    fm_expr *parts[] = {fm_expr_literal_str(arena, fm_type_string(), FM_STR("file://")), rest};
    if (!parts[0]) return fm_no_memory(arena, err);
    return fm_call_resolve(arena, s->an->conf, FM_STR("concat"), parts, 2, pos, NULL, out, err);
}

bool fm_is_metadata(const fm_scope *s, const fm_expr *e)
{
    const fm_attr *a = e->kind == FM_EXPR_ATTRIBUTE ? fm_attr_find(s->attrs, s->n_attrs, e->attr_id) : NULL;

    return a && a->hidden && fm_str_eq(a->name, FM_STR(METADATA));
}

static bool is_no_call(const fm_expr *e, void *ctx)
{
    (void)ctx;
    return !fm_is_input_file_call(e);
}

bool fm_has_input_file_call(const fm_expr *e) { return !fm_expr_walk(e, is_no_call, NULL); }

static bool reads_no_files(const fm_plan *p, void *ctx)
{
    const fm_catalog *catalog = ctx;

    return p->kind != FM_PLAN_READ || !catalog->metadata || !catalog->metadata(catalog->ctx, p->table);
}

typedef struct owner {
    int32_t id;
    bool is_delta;
} owner;

static bool look_for_owner(const fm_plan *p, void *ctx)
{
    owner *o = ctx;

    if (p->kind == FM_PLAN_READ && p->metadata_id == o->id) o->is_delta = fm_str_eq_ci(p->table->format, FM_STR("delta"));
    return true;
}

/* Whether the hidden column of that id is of a Delta table. */
static bool is_of_delta(const fm_plan *plan, int32_t id)
{
    owner o = {.id = id};

    if (plan) fm_plan_walk(plan, look_for_owner, &o);
    return o.is_delta;
}

bool fm_is_input_file_call(const fm_expr *e) { return e->kind == FM_EXPR_UNRESOLVED_CALL && e->n_args == 0 && which_function(e->name) >= 0; }

fm_status fm_resolve_input_file(const fm_scope *s, const fm_expr *e, fm_expr **out, fm_error *err)
{
    static const char *const fields[] = {"file_path", "file_block_start", "file_block_length"};
    int which = which_function(e->name);
    const fm_attr *column = NULL;

    for (int32_t i = 0; i < s->n_attrs; i++) {
        const fm_attr *a = &s->attrs[i];
        if (!a->hidden || a->type->id != FM_TYPE_STRUCT || !fm_str_eq(a->name, FM_STR(METADATA))) continue;
        if (column) {
            return fm_fail_at(err, FM_INVALID, "MULTI_SOURCES_UNSUPPORTED_FOR_EXPRESSION", e->pos.line, e->pos.column,
                              "The expression \"%s()\" does not support more than one source.", functions[which]);
        }
        column = a;
    }
    if (column) {
        FM_TRY(field(s, column, fields[which], out, err));
        /* Spark's reader of Delta tables writes the URI with one slash. */
        return which == 0 && !is_of_delta(s->child, column->id) ? with_authority(s, *out, e->pos, out, err) : FM_OK;
    }
    if (s->n_attrs > 0 && !(s->child && is_shuffled(s->child)) && (!s->child || !fm_plan_walk(s->child, reads_no_files, (void *)(uintptr_t)s->an->a->catalog))) {
        return fm_fail_at(err, FM_UNSUPPORTED, "FLOODMARK_INPUT_FILE", e->pos.line, e->pos.column,
                          "%s() may stand only where rows come from one table of files, not above a join or union of some. Give it a name in the SELECT below, and use that.",
                          functions[which]);
    }
    *out = which == 0 ? fm_expr_literal_str(s->an->arena, fm_type_string(), FM_STR("")) : fm_expr_literal_i64(s->an->arena, fm_type_i64(), -1);
    return *out ? FM_OK : fm_no_memory(s->an->arena, err);
}
