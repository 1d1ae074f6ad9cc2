/* plan/analyze_join.c: nodes with several children: joins, unions, INTERSECT and EXCEPT. */
#include "plan/analyze_impl.h"

#include <stdio.h>

#include "expr/coerce.h"

/* --- joins ------------------------------------------------------------------------------------------- */

static fm_status fail_using(fm_str name, const fm_plan *p, const fm_plan *side, const char *which, fm_error *err)
{
    fm_strbuf columns = {0};

    for (int32_t i = 0; i < side->n_output; i++) {
        if (side->output[i].hidden) continue;
        fm_strbuf_printf(&columns, "%s`%.*s`", columns.len ? ", " : "", FM_STR_ARG(side->output[i].name));
    }
    fm_status st = fm_fail_at(err, FM_INVALID, "UNRESOLVED_USING_COLUMN_FOR_JOIN", p->pos.line, p->pos.column,
                              "USING column `%.*s` cannot be resolved on the %s side of the join. The %s-side columns: "
                              "[%s].",
                              FM_STR_ARG(name), which, which, columns.ptr ? columns.ptr : "");
    fm_strbuf_fini(&columns);
    return st;
}

static fm_status using_column(fm_analyzer *an, const fm_plan *p, const fm_plan *side, const char *which, fm_str name,
                              const fm_attr **out, fm_error *err)
{
    *out = NULL;
    for (int32_t i = 0; i < side->n_output; i++) {
        const fm_attr *a = &side->output[i];
        if (a->hidden || !fm_name_eq(an, a->name, name)) continue;
        if (*out && (*out)->id != a->id) {
            return fm_fail_at(err, FM_INVALID, "AMBIGUOUS_REFERENCE", p->pos.line, p->pos.column,
                              "Reference `%.*s` is ambiguous on the %s side of the join.", FM_STR_ARG(name), which);
        }
        *out = a;
    }
    return *out ? FM_OK : fail_using(name, p, side, which, err);
}

/* The columns both sides have, in the left side's order. */
static fm_status natural_names(fm_analyzer *an, const fm_plan *l, const fm_plan *r, fm_str **names, int32_t *n,
                               fm_error *err)
{
    *n = 0;
    *names = fm_arena_array(an->arena, fm_str, l->n_output);
    if (!*names) return fm_no_memory(an->arena, err);
    for (int32_t i = 0; i < l->n_output; i++) {
        for (int32_t j = 0; j < r->n_output && !l->output[i].hidden; j++) {
            if (r->output[j].hidden || !fm_name_eq(an, l->output[i].name, r->output[j].name)) continue;
            (*names)[(*n)++] = l->output[i].name;
            break;
        }
    }
    return FM_OK;
}

typedef struct using_keys {
    const fm_attr **left, **right;
    int32_t n;
} using_keys;

static fm_status using_condition(fm_analyzer *an, const using_keys *k, fm_pos pos, fm_expr **out, fm_error *err)
{
    fm_expr **list = fm_arena_array(an->arena, fm_expr *, k->n);

    if (!list) return fm_no_memory(an->arena, err);
    for (int32_t i = 0; i < k->n; i++) {
        fm_expr **args = fm_arena_array(an->arena, fm_expr *, 2);
        if (!args) return fm_no_memory(an->arena, err);
        args[0] = fm_attr_expr(an->arena, k->left[i]);
        args[1] = fm_attr_expr(an->arena, k->right[i]);
        if (!args[0] || !args[1]) return fm_no_memory(an->arena, err);
        FM_TRY(fm_call_resolve(an->arena, an->conf, FM_STR("="), args, 2, pos, NULL, &list[i], err));
    }
    *out = fm_expr_conjunction(an->arena, list, k->n);
    return *out ? FM_OK : fm_no_memory(an->arena, err);
}

static bool is_key(const using_keys *k, int32_t id)
{
    for (int32_t i = 0; i < k->n; i++) {
        if (k->left[i]->id == id || k->right[i]->id == id) return true;
    }
    return false;
}

/* One column that USING makes of two. */
static fm_status joined_key(fm_analyzer *an, const fm_plan *join, const using_keys *k, int32_t i, fm_expr **out,
                            fm_error *err)
{
    const fm_attr *l = fm_attr_find(join->output, join->n_output, k->left[i]->id);
    const fm_attr *r = fm_attr_find(join->output, join->n_output, k->right[i]->id);
    fm_expr **args = fm_arena_array(an->arena, fm_expr *, 2), *e;

    if (!args) return fm_no_memory(an->arena, err);
    if (join->join_type != FM_JOIN_FULL) {
        *out = fm_attr_expr(an->arena, join->join_type == FM_JOIN_RIGHT ? r : l);
        return *out ? FM_OK : fm_no_memory(an->arena, err);
    }
    args[0] = fm_attr_expr(an->arena, l);
    args[1] = fm_attr_expr(an->arena, r);
    if (!args[0] || !args[1]) return fm_no_memory(an->arena, err);
    FM_TRY(fm_call_resolve(an->arena, an->conf, FM_STR("coalesce"), args, 2, join->pos, NULL, &e, err));
    *out = fm_alias_expr(an->arena, e, l->name, an->next_id++);
    return *out ? FM_OK : fm_no_memory(an->arena, err);
}

/* Rule: Spark, commonNaturalJoinProcessing: the keys once, then what else the sides have; the keys that are left out
 * can still be called by their table. */
static fm_status using_project(fm_analyzer *an, fm_plan *join, const using_keys *k, fm_plan **out, fm_error *err)
{
    fm_expr **exprs = fm_arena_array(an->arena, fm_expr *, join->n_output + k->n);
    int32_t n = 0, shown;

    if (!exprs) return fm_no_memory(an->arena, err);
    for (int32_t i = 0; i < k->n; i++) FM_TRY(joined_key(an, join, k, i, &exprs[n++], err));
    for (int32_t i = 0; i < join->n_output; i++) {
        if (!is_key(k, join->output[i].id)) exprs[n++] = fm_attr_expr(an->arena, &join->output[i]);
    }
    shown = n;
    for (int32_t i = 0; i < join->n_output; i++) {
        bool again = false;
        for (int32_t j = 0; j < k->n; j++) again |= exprs[j]->attr_id == join->output[i].id;
        if (is_key(k, join->output[i].id) && !again) exprs[n++] = fm_attr_expr(an->arena, &join->output[i]);
    }
    FM_TRY(fm_plan_project(an->arena, join, exprs, n, join->pos, out, err));
    for (int32_t i = shown; i < n; i++) (*out)->output[i].hidden = true;
    return FM_OK;
}

static fm_status analyze_using(fm_analyzer *an, const fm_plan *p, fm_plan *join, fm_plan **out, fm_error *err)
{
    fm_plan *l = join->children[0], *r = join->children[1];
    fm_str *names = p->column_names;
    using_keys k = {.n = p->n_column_names};

    if (p->natural) FM_TRY(natural_names(an, l, r, &names, &k.n, err));
    k.left = fm_arena_array(an->arena, const fm_attr *, k.n);
    k.right = fm_arena_array(an->arena, const fm_attr *, k.n);
    join->exprs = fm_arena_array(an->arena, fm_expr *, 1);
    if (!k.left || !k.right || !join->exprs) return fm_no_memory(an->arena, err);
    for (int32_t i = 0; i < k.n; i++) {
        FM_TRY(using_column(an, p, l, "left", names[i], &k.left[i], err));
        FM_TRY(using_column(an, p, r, "right", names[i], &k.right[i], err));
    }
    *out = join;
    if (k.n) {
        FM_TRY(using_condition(an, &k, p->pos, &join->exprs[0], err));
        join->n_exprs = 1;
    }
    FM_TRY(fm_plan_finish(an->arena, join, err));
    return k.n ? using_project(an, join, &k, out, err) : FM_OK;
}

static fm_status analyze_on(fm_analyzer *an, const fm_plan *p, fm_plan *join, fm_error *err)
{
    fm_plan *l = join->children[0], *r = join->children[1];
    fm_attr *both = fm_arena_array(an->arena, fm_attr, l->n_output + r->n_output);

    join->exprs = fm_arena_array(an->arena, fm_expr *, 1);
    if (!both || !join->exprs) return fm_no_memory(an->arena, err);
    if (l->n_output) memcpy(both, l->output, sizeof *both * (size_t)l->n_output);
    if (r->n_output) memcpy(both + l->n_output, r->output, sizeof *both * (size_t)r->n_output);
    fm_scope s = fm_scope_of(an, NULL, "the JOIN condition");
    s.attrs = both;
    s.n_attrs = l->n_output + r->n_output;
    join->n_exprs = 1;
    return fm_resolve_bool(&s, p->exprs[0], "JOIN_CONDITION_IS_NOT_BOOLEAN_TYPE", &join->exprs[0], err);
}

fm_status fm_analyze_join(fm_analyzer *an, const fm_plan *p, fm_plan **out, fm_error *err)
{
    fm_plan *join = fm_plan_new(an->arena, FM_PLAN_JOIN, p->pos);

    if (join) join->children = fm_arena_array(an->arena, fm_plan *, 2);
    if (!join || !join->children) return fm_no_memory(an->arena, err);
    join->n_children = 2;
    join->join_type = p->join_type;
    for (int i = 0; i < 2; i++) FM_TRY(fm_analyze_plan(an, p->children[i], &join->children[i], err));
    if (p->natural || p->n_column_names) return analyze_using(an, p, join, out, err);
    if (p->n_exprs) FM_TRY(analyze_on(an, p, join, err));
    *out = join;
    return fm_plan_finish(an->arena, join, err);
}

/* --- set operations ---------------------------------------------------------------------------------- */

static const char *ordinal(int32_t i, char text[16])
{
    static const char *const words[] = {"first", "second", "third", "fourth", "fifth", "sixth"};

    if (i < (int32_t)(sizeof words / sizeof *words)) return words[i];
    snprintf(text, 16, "%dth", (int)i + 1);
    return text;
}

static fm_status fail_columns(const fm_plan *p, const char *op, int32_t first, int32_t k, int32_t other, fm_error *err)
{
    char text[16];

    return fm_fail_at(err, FM_INVALID, "NUM_COLUMNS_MISMATCH", p->pos.line, p->pos.column,
                      "%s can only be performed on inputs with the same number of columns, but the first input has %d "
                      "columns and the %s input has %d columns.",
                      op, (int)first, ordinal(k, text), (int)other);
}

static fm_status fail_column_type(const fm_plan *p, const char *op, int32_t column, int32_t k, const fm_type *first,
                                  const fm_type *other, fm_error *err)
{
    fm_strbuf a = {0}, b = {0};
    char column_text[16], table_text[16];

    fm_type_sql(first, &a);
    fm_type_sql(other, &b);
    fm_status st = fm_fail_at(err, FM_INVALID, "INCOMPATIBLE_COLUMN_TYPE", p->pos.line, p->pos.column,
                              "%s can only be performed on tables with compatible column types. The %s column of the %s "
                              "table is \"%s\" type which is not compatible with \"%s\" at the same column of the first "
                              "table. Write a CAST.",
                              op, ordinal(column, column_text), ordinal(k, table_text), b.ptr ? b.ptr : "",
                              a.ptr ? a.ptr : "");
    fm_strbuf_fini(&a);
    fm_strbuf_fini(&b);
    return st;
}

/* The child with its visible columns only, cast to types[]. */
static fm_status align(fm_analyzer *an, fm_plan *child, const fm_type *const *types, fm_plan **out, fm_error *err)
{
    fm_expr **exprs = fm_arena_array(an->arena, fm_expr *, child->n_output);
    int32_t n = 0;
    bool changed = false;

    if (!exprs) return fm_no_memory(an->arena, err);
    for (int32_t i = 0; i < child->n_output; i++) {
        const fm_attr *a = &child->output[i];
        fm_expr *e = fm_attr_expr(an->arena, a);
        if (!e) return fm_no_memory(an->arena, err);
        changed |= a->hidden;
        if (a->hidden) continue;
        if (!fm_type_eq(a->type, types[n])) {
            FM_TRY(fm_expr_cast(an->arena, an->conf, e, types[n], false, false, &e, err));
            e = fm_alias_expr(an->arena, e, a->name, an->next_id++);
            changed = true;
        }
        exprs[n++] = e;
    }
    *out = child;
    return changed ? fm_plan_project(an->arena, child, exprs, n, child->pos, out, err) : FM_OK;
}

/* Analyzes the children of a set operation and brings their columns to common types. */
static fm_status aligned_children(fm_analyzer *an, const fm_plan *p, const char *op, fm_plan *set, fm_error *err)
{
    int32_t n = 0;
    const fm_type **types = NULL;

    set->children = fm_arena_array(an->arena, fm_plan *, p->n_children);
    if (!set->children) return fm_no_memory(an->arena, err);
    set->n_children = p->n_children;
    for (int32_t k = 0; k < p->n_children; k++) {
        FM_TRY(fm_analyze_plan(an, p->children[k], &set->children[k], err));
        const fm_plan *child = set->children[k];
        if (!k) {
            n = fm_plan_visible(child);
            types = fm_arena_array(an->arena, const fm_type *, n);
            if (!types) return fm_no_memory(an->arena, err);
        }
        if (fm_plan_visible(child) != n) return fail_columns(p, op, n, k, fm_plan_visible(child), err);
        for (int32_t i = 0, column = 0; i < child->n_output; i++) {
            const fm_type *type = child->output[i].type;
            if (child->output[i].hidden) continue;
            const fm_type *wider = k ? fm_type_common(an->arena, an->conf, types[column], type) : type;
            if (!wider) return fail_column_type(p, op, column, k, types[column], type, err);
            if (!k || !fm_type_eq(wider, types[column])) types[column] = wider;
            column++;
        }
    }
    for (int32_t k = 0; k < p->n_children; k++) {
        FM_TRY(align(an, set->children[k], types, &set->children[k], err));
    }
    return FM_OK;
}

/* Rule: Spark, Union.output: names and event-time tags of the first child. */
fm_status fm_analyze_union(fm_analyzer *an, const fm_plan *p, fm_plan **out, fm_error *err)
{
    fm_plan *u = fm_plan_new(an->arena, FM_PLAN_UNION, p->pos);

    if (!u) return fm_no_memory(an->arena, err);
    FM_TRY(aligned_children(an, p, "UNION", u, err));
    const fm_plan *first = u->children[0];
    u->n_output = first->n_output;
    u->output = fm_arena_array(an->arena, fm_attr, u->n_output);
    if (!u->output) return fm_no_memory(an->arena, err);
    for (int32_t i = 0; i < u->n_output; i++) {
        u->output[i] = first->output[i];
        u->output[i].id = an->next_id++;
        for (int32_t k = 1; k < u->n_children; k++) u->output[i].nullable |= u->children[k]->output[i].nullable;
    }
    *out = u;
    return fm_plan_finish(an->arena, u, err);
}

fm_status fm_analyze_set_op(fm_analyzer *an, const fm_plan *p, fm_plan **out, fm_error *err)
{
    fm_plan *set = fm_plan_new(an->arena, FM_PLAN_SET_OP, p->pos);

    if (!set) return fm_no_memory(an->arena, err);
    set->set_op = p->set_op;
    set->all = p->all;
    FM_TRY(aligned_children(an, p, fm_str_eq_ci(p->set_op, FM_STR("EXCEPT")) ? "EXCEPT" : "INTERSECT", set, err));
    *out = set;
    return fm_plan_finish(an->arena, set, err);
}
