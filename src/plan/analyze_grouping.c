/* plan/analyze_grouping.c: GROUP BY ROLLUP, CUBE, GROUPING SETS, with grouping() and grouping_id().
 *
 * Rows are multiplied below the aggregation (a GENERATE of fm_generator_expand): once for each set, with the columns of
 * the others null. The aggregation groups by those columns and the grouping id. Select items, HAVING and ORDER BY are
 * resolved over the input as ever; then what is grouped by in them becomes those columns. Arguments of aggregates go on
 * seeing the input.
 *
 * Rule  Spark, ResolveGroupingAnalytics. Several elements of GROUP BY are multiplied out. A stream may be grouped so, too: a
 *       group whose window is left out is never closed. */
#include "base/limits.h"
#include "expr/coerce.h"
#include "expr/generator.h"
#include "plan/analyze_impl.h"

enum { SETS_MAX = 4096, COLUMNS_MAX = 63 };

/* ---- Which sets --------------------------------------------------------------------------------------------------- */

typedef enum analytics { PLAIN, CUBE, ROLLUP, SETS, SETS_OF } analytics;

static analytics analytics_of(const fm_expr *e)
{
    static const struct {
        const char *name;
        analytics kind;
    } names[] = {{"cube", CUBE}, {"rollup", ROLLUP}, {"grouping sets", SETS}, {"grouping_sets", SETS}, {FM_SETS_OF, SETS_OF}};
    if (e->kind != FM_EXPR_UNRESOLVED_CALL || e->has_over) return PLAIN;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (fm_str_eq_ci(e->name, fm_str_c(names[i].name))) return names[i].kind;
    return PLAIN;
}

bool fm_has_grouping_sets(fm_expr *const *exprs, int32_t n)
{
    for (int32_t i = 0; i < n; i++)
        if (analytics_of(exprs[i]) != PLAIN) return true;
    return false;
}

/* Sets being gathered, each a mask of columns. */
typedef struct mask_list {
    uint64_t *masks;
    int32_t n, cap;
} mask_list;

typedef struct finder {
    fm_scope *scope;
    fm_group_leaf leaf;   /* ordinals and aliases: given by the caller */
    void *leaf_ctx;
    fm_expr **columns;    /* resolved, each once */
    int32_t n, cap;
} finder;

static fm_status add_mask(finder *f, mask_list *list, uint64_t mask, fm_pos pos, fm_error *err)
{
    if (list->n >= SETS_MAX)
        return fm_fail_at(err, FM_LIMIT, "FLOODMARK_TOO_MANY_GROUPING_SETS", pos.line, pos.column, "GROUP BY gives more than %d grouping sets.", SETS_MAX);
    if (!FM_GROW(f->scope->an->arena, list->masks, list->n, list->cap)) return fm_no_memory(f->scope->an->arena, err);
    list->masks[list->n++] = mask;
    return FM_OK;
}

/* The bit of an expression. */
static fm_status add_column(finder *f, fm_expr *e, uint64_t *mask, fm_error *err)
{
    fm_expr *column;
    FM_TRY(f->leaf(f->leaf_ctx, e, &column, err));
    for (int32_t i = 0; i < f->n; i++)
        if (fm_expr_same(f->columns[i], column)) {
            *mask |= (uint64_t)1 << i;
            return FM_OK;
        }
    if (f->n == COLUMNS_MAX)
        return fm_fail_at(err, FM_LIMIT, "GROUPING_SIZE_LIMIT_EXCEEDED", e->pos.line, e->pos.column, "Grouping sets size cannot be greater than %d.", COLUMNS_MAX);
    if (!FM_GROW(f->scope->an->arena, f->columns, f->n, f->cap)) return fm_no_memory(f->scope->an->arena, err);
    f->columns[f->n] = column;
    *mask |= (uint64_t)1 << f->n++;
    return FM_OK;
}

static bool is_row(const fm_expr *e) { return e->kind == FM_EXPR_UNRESOLVED_CALL && fm_str_eq_ci(e->name, FM_STR("struct")); }

/* (a, b), (), or a. */
static fm_status add_columns(finder *f, fm_expr *e, uint64_t *mask, fm_error *err)
{
    if (!is_row(e)) return add_column(f, e, mask, err);
    for (int32_t i = 0; i < e->n_args; i++) FM_TRY(add_column(f, fm_expr_unalias(e->args[i]), mask, err));
    return FM_OK;
}

static fm_status sets_of(finder *f, fm_expr *e, mask_list *out, int depth, fm_error *err);

static fm_status cube_or_rollup(finder *f, fm_expr *e, bool cube, mask_list *out, fm_error *err)
{
    uint64_t parts[COLUMNS_MAX] = {0};
    if (e->n_args > (cube ? 12 : COLUMNS_MAX))
        return fm_fail_at(err, FM_LIMIT, "GROUPING_SIZE_LIMIT_EXCEEDED", e->pos.line, e->pos.column, "%.*s has too many columns.", FM_STR_ARG(e->name));
    for (int32_t i = 0; i < e->n_args; i++) FM_TRY(add_columns(f, e->args[i], &parts[i], err));
    for (int32_t k = cube ? (1 << e->n_args) - 1 : e->n_args; k >= 0; k--) {
        uint64_t mask = 0;
        for (int32_t i = 0; i < e->n_args; i++)
            if (cube ? k >> (e->n_args - 1 - i) & 1 : i < k) mask |= parts[i];
        FM_TRY(add_mask(f, out, mask, e->pos, err));
    }
    return FM_OK;
}

/* The sets of one element of GROUP BY. */
static fm_status sets_of(finder *f, fm_expr *e, mask_list *out, int depth, fm_error *err)
{
    uint64_t mask = 0;
    analytics kind = analytics_of(e);
    if (depth > FM_EXPR_DEPTH_MAX) return fm_fail_at(err, FM_LIMIT, "FLOODMARK_EXPRESSION_TOO_DEEP", e->pos.line, e->pos.column, "GROUPING SETS are nested too deep.");
    switch (kind) {
    case PLAIN:
        FM_TRY(add_columns(f, e, &mask, err));
        return add_mask(f, out, mask, e->pos, err);
    case CUBE:
    case ROLLUP: return cube_or_rollup(f, e, kind == CUBE, out, err);
    default: break;
    }
    /* GROUP BY a, b GROUPING SETS (...): a and b come first, whatever the sets hold. */
    if (kind == SETS_OF) FM_TRY(add_columns(f, e->args[0], &mask, err));
    for (int32_t i = kind == SETS_OF; i < e->n_args; i++) FM_TRY(sets_of(f, e->args[i], out, depth + 1, err));
    return FM_OK;
}

fm_status fm_find_grouping_sets(fm_scope *s, fm_expr *const *exprs, int32_t n, fm_group_leaf leaf, void *leaf_ctx, fm_grouping **out, fm_error *err)
{
    fm_analyzer *an = s->an;
    finder f = {.scope = s, .leaf = leaf, .leaf_ctx = leaf_ctx};
    fm_grouping *g = fm_arena_one(an->arena, fm_grouping);
    mask_list all = {0};

    if (!g) return fm_no_memory(an->arena, err);
    FM_TRY(add_mask(&f, &all, 0, (fm_pos){0}, err));
    for (int32_t i = 0; i < n; i++) {
        mask_list own = {0}, product = {0};
        FM_TRY(sets_of(&f, exprs[i], &own, 0, err));
        for (int32_t a = 0; a < all.n; a++)
            for (int32_t b = 0; b < own.n; b++) FM_TRY(add_mask(&f, &product, all.masks[a] | own.masks[b], exprs[i]->pos, err));
        all = product;
    }
    *g = (fm_grouping){.n = f.n, .exprs = f.columns, .masks = all.masks, .n_sets = all.n, .columns = fm_arena_array(an->arena, fm_attr, f.n + 2),
                       .item_ids = fm_arena_array(an->arena, int32_t, f.n + 1)};
    if (!g->columns || !g->item_ids) return fm_no_memory(an->arena, err);
    for (int32_t i = 0; i < all.n; i++)
        for (int32_t k = 0; k < i; k++) g->numbered |= all.masks[i] == all.masks[k];
    *out = g;
    return FM_OK;
}

/* ---- The plan below ------------------------------------------------------------------------------------------------- */

fm_status fm_name_grouping(fm_analyzer *an, fm_grouping *g, fm_pos pos, fm_error *err)
{
    FM_TRY(fm_generator_expand(an->arena, g->exprs, g->n, g->masks, g->n_sets, g->numbered, pos, &g->generator, err));
    const fm_type *type = g->generator->type;
    for (int32_t i = 0; i < type->n_fields; i++)
        g->columns[i] = (fm_attr){.id = an->next_id++, .name = type->fields[i].name, .type = type->fields[i].type, .nullable = type->fields[i].nullable, .hidden = true};
    g->n_columns = type->n_fields;
    return FM_OK;
}

/* A column that is grouped by as it is stays the event time it was. */
static void keep_tags(const fm_grouping *g, const fm_plan *child)
{
    for (int32_t i = 0; i < g->n; i++) {
        const fm_attr *from = g->exprs[i]->kind == FM_EXPR_ATTRIBUTE ? fm_attr_find(child->output, child->n_output, g->exprs[i]->attr_id) : NULL;
        if (!from) continue;
        g->columns[i].watermark_node = from->watermark_node;
        g->columns[i].delay_us = from->delay_us;
        g->columns[i].is_session = from->is_session;
    }
}

fm_status fm_put_expand(fm_analyzer *an, const fm_grouping *g, fm_plan **child, fm_error *err)
{
    fm_made_rows rows = {.generator = g->generator, .columns = g->columns, .n = g->n_columns};
    fm_below below = {.generators = &rows, .n_generators = 1};

    keep_tags(g, *child);
    return fm_put_below(an, &below, child, err);
}

/* ---- Expressions above ---------------------------------------------------------------------------------------------- */

fm_status fm_put_groups(fm_analyzer *an, const fm_grouping *g, fm_expr *e, fm_expr **out, fm_error *err)
{
    fm_expr *copy = e;

    *out = e;
    if (!g || e->kind == FM_EXPR_AGGREGATE) return FM_OK;
    for (int32_t i = 0; i < g->n; i++) {
        if (!fm_expr_same(g->exprs[i], e)) continue;
        *out = fm_attr_expr(an->arena, &g->columns[i]);
        if (!*out) return fm_no_memory(an->arena, err);
        if (e->kind != FM_EXPR_ALIAS) return FM_OK;
        *out = fm_alias_expr(an->arena, *out, e->name, e->attr_id);
        return *out ? FM_OK : fm_no_memory(an->arena, err);
    }
    for (int32_t i = 0; i < e->n_args; i++) {
        fm_expr *now;
        FM_TRY(fm_put_groups(an, g, e->args[i], &now, err));
        if (now == e->args[i]) continue;
        if (copy == e) copy = fm_expr_copy_node(an->arena, e);
        if (!copy) return fm_no_memory(an->arena, err);
        copy->args[i] = now;
    }
    *out = copy;
    return FM_OK;
}

/* The column of the node that e is, or -1. */
static int32_t made_column(const fm_grouping *g, const fm_expr *e)
{
    for (int32_t i = 0; i < g->n_columns && e->kind == FM_EXPR_ATTRIBUTE; i++)
        if (g->columns[i].id == e->attr_id) return i;
    return -1;
}

/* A bare column that is grouped by keeps its name; what the node makes is hidden and needs one. */
fm_status fm_put_groups_in_items(fm_analyzer *an, fm_grouping *g, fm_expr **items, int32_t n, fm_error *err)
{
    for (int32_t i = 0; i < n; i++) {
        fm_expr *was = items[i];
        FM_TRY(fm_put_groups(an, g, was, &items[i], err));
        int32_t column = made_column(g, fm_expr_unalias(items[i]));
        if (column < 0) continue;
        if (items[i]->kind == FM_EXPR_ATTRIBUTE) items[i] = fm_alias_expr(an->arena, items[i], was->name, an->next_id++);
        if (!items[i]) return fm_no_memory(an->arena, err);
        if (column < g->n && !g->item_ids[column]) g->item_ids[column] = items[i]->attr_id;
    }
    return FM_OK;
}

/* The text of a call, as its column is named. */
static fm_status call_text(fm_scope *s, const fm_expr *call, fm_expr *const *args, fm_str *out, fm_error *err)
{
    fm_expr shown = *call;
    fm_strbuf text = {0};
    shown.args = (fm_expr **)(uintptr_t)args;
    fm_expr_sql(&shown, &text);
    *out = fm_arena_str(s->an->arena, fm_strbuf_str(&text));
    bool ok = fm_strbuf_ok(&text) && out->ptr;
    fm_strbuf_fini(&text);
    return ok ? FM_OK : fm_no_memory(s->an->arena, err);
}

static fm_status grouping_id(fm_scope *s, const fm_expr *call, fm_expr *const *args, fm_expr **out, fm_error *err)
{
    fm_attr id = s->grouping->columns[s->grouping->n];
    FM_TRY(call_text(s, call, args, &id.name, err));
    *out = fm_attr_expr(s->an->arena, &id);
    return *out ? FM_OK : fm_no_memory(s->an->arena, err);
}

/* CASE WHEN (id & bit) <> 0 THEN 1Y ELSE 0Y END, which reads as the call it was written as. */
static fm_status one_bit(fm_scope *s, const fm_expr *call, fm_expr *const *args, int32_t column, fm_expr **out, fm_error *err)
{
    const fm_grouping *g = s->grouping;
    fm_arena *arena = s->an->arena;
    fm_expr *id = fm_attr_expr(arena, &g->columns[g->n]), *masked, *is_clear;
    fm_expr *bit = fm_expr_literal_i64(arena, fm_type_i64(), (int64_t)((uint64_t)1 << (g->n - 1 - column)));
    fm_expr *zero = fm_expr_literal_i64(arena, fm_type_i64(), 0), *node = fm_expr_new(arena, FM_EXPR_CASE, call->pos);
    fm_expr *no = fm_expr_literal_i64(arena, fm_type_simple(FM_TYPE_I8), 0), *yes = fm_expr_literal_i64(arena, fm_type_simple(FM_TYPE_I8), 1);

    if (!id || !bit || !zero || !node || !no || !yes) return fm_no_memory(arena, err);
    FM_TRY(fm_call_resolve(arena, s->an->conf, FM_STR("&"), (fm_expr *[]){id, bit}, 2, call->pos, NULL, &masked, err));
    FM_TRY(fm_call_resolve(arena, s->an->conf, FM_STR("="), (fm_expr *[]){masked, zero}, 2, call->pos, NULL, &is_clear, err));
    FM_TRY(call_text(s, call, args, &node->name, err));
    node->n_args = 3;
    return fm_expr_resolve_node(arena, s->an->conf, node, (fm_expr *[]){is_clear, no, yes}, out, err);
}

/* Which grouping column e is: as it was written, or as the select item it became. */
static int32_t column_of(const fm_grouping *g, const fm_expr *e)
{
    for (int32_t i = 0; i < g->n; i++)
        if (fm_expr_same(g->exprs[i], e) || (e->kind == FM_EXPR_ATTRIBUTE && e->attr_id == g->item_ids[i])) return i;
    return -1;
}

bool fm_is_grouping_call(const fm_expr *e)
{
    return e->kind == FM_EXPR_UNRESOLVED_CALL && !e->has_over && (fm_str_eq_ci(e->name, FM_STR("grouping")) || fm_str_eq_ci(e->name, FM_STR("grouping_id")));
}

fm_status fm_resolve_grouping(fm_scope *s, const fm_expr *e, fm_expr *const *args, fm_expr **out, fm_error *err)
{
    const fm_grouping *g = s->grouping;
    bool whole = fm_str_eq_ci(e->name, FM_STR("grouping_id"));

    if (!g)
        return fm_fail_at(err, FM_INVALID, "UNSUPPORTED_GROUPING_EXPRESSION", e->pos.line, e->pos.column,
                          "grouping()/grouping_id() can only be used with GroupingSets/Cube/Rollup.");
    if (!whole) {
        int32_t column = e->n_args == 1 ? column_of(g, args[0]) : -1;
        if (column < 0)
            return fm_fail_at(err, FM_INVALID, "GROUPING_COLUMN_MISMATCH", e->pos.line, e->pos.column, "The column of grouping() can't be found in the grouping columns.");
        return one_bit(s, e, args, column, out, err);
    }
    bool same = e->n_args == 0 || e->n_args == g->n;
    for (int32_t i = 0; i < e->n_args && same; i++) same = column_of(g, args[i]) == i;
    if (!same)
        return fm_fail_at(err, FM_INVALID, "GROUPING_ID_COLUMN_MISMATCH", e->pos.line, e->pos.column, "The columns of grouping_id() do not match the grouping columns.");
    return grouping_id(s, e, args, out, err);
}
