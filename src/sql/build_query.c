/* sql/build_query.c: queries out of their clauses. */
#include "sql/build.h"

/* ---- Nodes --------------------------------------------------------------------------------------------------------- */

static void measure_child(fm_parse *p, fm_plan *node, const fm_plan *child)
{
    fm_build_measure(p, &node->depth, &node->nodes, child->depth, child->nodes, node->pos);
}

fm_plan *fm_build_node(fm_parse *p, fm_plan_kind kind, fm_pos pos, fm_plan *child)
{
    fm_plan *node = p->status == FM_OK ? fm_plan_new(p->arena, kind, pos) : NULL;
    fm_plan **children = child ? fm_arena_array(p->arena, fm_plan *, 1) : NULL;

    if (!node || (child && !children)) {
        fm_parse_no_memory(p);
        return NULL;
    }
    node->nodes = 1;
    if (!child) return node;
    children[0] = child;
    node->children = children;
    node->n_children = 1;
    measure_child(p, node, child);
    return node;
}

fm_plan *fm_build_node2(fm_parse *p, fm_plan_kind kind, fm_pos pos, fm_plan *a, fm_plan *b)
{
    fm_plan *node = a && b ? fm_build_node(p, kind, pos, NULL) : NULL;
    fm_plan **children = fm_arena_array(p->arena, fm_plan *, 2);

    if (!node || !children) {
        if (!children) fm_parse_no_memory(p);
        return NULL;
    }
    children[0] = a;
    children[1] = b;
    node->children = children;
    node->n_children = 2;
    measure_child(p, node, a);
    measure_child(p, node, b);
    return node;
}

fm_plan *fm_build_with_exprs(fm_parse *p, fm_plan *node, fm_exprs exprs)
{
    if (!node || !exprs.n) return NULL;
    node->exprs = exprs.items;
    node->n_exprs = exprs.n;
    for (int32_t i = 0; i < exprs.n; i++) {
        fm_build_measure(p, &node->depth, &node->nodes, exprs.items[i]->depth, exprs.items[i]->nodes, exprs.items[i]->pos);
    }
    return node;
}

fm_plan *fm_build_with_expr(fm_parse *p, fm_plan *node, fm_expr *e) { return fm_build_with_exprs(p, node, fm_build_list(p, (fm_exprs){0}, e)); }

/* ---- ORDER BY, LIMIT, WITH ------------------------------------------------------------------------------------------- */

fm_plan *fm_build_order_limit(fm_parse *p, fm_plan *query, fm_exprs order, fm_expr *limit, fm_expr *offset)
{
    if (query && order.n) query = fm_build_with_exprs(p, fm_build_node(p, FM_PLAN_SORT, order.items[0]->pos, query), order);
    if (!query || (!limit && !offset)) return query;
    fm_plan *node = fm_build_node(p, FM_PLAN_LIMIT, limit ? limit->pos : offset->pos, query);
    if (!node) return NULL;
    node->limit = -1;
    node->limit_expr = limit;
    node->offset_expr = offset;
    if (limit) fm_build_measure(p, &node->depth, &node->nodes, limit->depth, limit->nodes, limit->pos);
    if (offset) fm_build_measure(p, &node->depth, &node->nodes, offset->depth, offset->nodes, offset->pos);
    return node;
}

fm_cte fm_build_cte(const fm_token *name, fm_names column_names, fm_plan *query)
{
    return (fm_cte){.name = name->text, .plan = query, .column_names = column_names.items, .n_column_names = column_names.n, .pos = name->pos};
}

fm_ctes *fm_build_cte_list(fm_parse *p, fm_ctes *list, fm_cte cte)
{
    if (!list) list = fm_arena_one(p->arena, fm_ctes);
    fm_cte *items = list ? FM_BUILD_GROW(p, list, fm_cte) : NULL;

    if (!items || !cte.plan) {
        if (!items) fm_parse_no_memory(p);
        return list;
    }
    list->items = items;
    list->items[list->n++] = cte;
    return list;
}

fm_plan *fm_build_with(fm_parse *p, const fm_token *at, fm_ctes *ctes, fm_plan *body)
{
    fm_plan *node = body && ctes ? fm_build_node(p, FM_PLAN_WITH, at->pos, body) : NULL;

    if (!node) return NULL;
    node->ctes = ctes->items;
    node->n_ctes = ctes->n;
    for (int32_t i = 0; i < ctes->n; i++) measure_child(p, node, ctes->items[i].plan);
    return node;
}

/* ---- Set operations, VALUES, TABLE -------------------------------------------------------------------------------------- */

/* a UNION ALL b UNION ALL c is one node of three. */
static fm_plan *longer_union(fm_parse *p, fm_plan *a, fm_plan *b)
{
    int32_t n = a->n_children;
    bool full = n >= 2 && (n & (n - 1)) == 0; /* the array doubles whenever it holds a power of two */

    if (full) {
        fm_plan **more = fm_arena_array(p->arena, fm_plan *, n * 2);
        if (!more) {
            fm_parse_no_memory(p);
            return NULL;
        }
        memcpy(more, a->children, (size_t)n * sizeof *more);
        a->children = more;
    }
    a->children[a->n_children++] = b;
    measure_child(p, a, b);
    return a;
}

fm_plan *fm_build_union(fm_parse *p, const fm_token *at, fm_plan *a, fm_plan *b, bool all)
{
    if (!a || !b) return NULL;
    /* A union that stands in brackets is flat, too: UNION ALL is associative. */
    bool extends = a->kind == FM_PLAN_UNION && all && a->n_children < INT32_MAX / 4;
    fm_plan *node = extends ? longer_union(p, a, b) : fm_build_node2(p, FM_PLAN_UNION, at->pos, a, b);
    if (!node) return NULL;
    node->all = true;
    return all ? node : fm_build_node(p, FM_PLAN_DISTINCT, at->pos, node);
}

fm_plan *fm_build_set_op(fm_parse *p, const fm_token *at, fm_plan *a, fm_plan *b, const char *op, bool all)
{
    fm_plan *node = fm_build_node2(p, FM_PLAN_SET_OP, at->pos, a, b);

    if (!node) return NULL;
    node->set_op = fm_str_c(op);
    node->all = all;
    return node;
}

static bool is_row(const fm_expr *e)
{
    return e->kind == FM_EXPR_UNRESOLVED_CALL && fm_str_eq_ci(e->name, FM_STR("struct")) && e->n_args > 0;
}

/* Rows of VALUES: (a, b) is a row of two columns, a bare expression one of one. */
fm_plan *fm_build_values(fm_parse *p, const fm_token *at, fm_exprs rows)
{
    fm_plan *node = fm_build_node(p, FM_PLAN_VALUES, at->pos, NULL);
    fm_exprs cells = {0};

    if (!node) return NULL;
    for (int32_t i = 0; i < rows.n; i++) {
        fm_expr *row = rows.items[i];
        int32_t n = is_row(row) ? row->n_args : 1;
        if (i > 0 && n != node->n_columns) {
            fm_parse_fail(p, row->pos, FM_INVALID, "INVALID_INLINE_TABLE.NUM_COLUMNS_MISMATCH",
                          "Inline table expected %d columns but found %d columns in row %d.", (int)node->n_columns, (int)n, (int)i);
            return NULL;
        }
        node->n_columns = n;
        for (int32_t c = 0; c < n; c++) cells = fm_build_list(p, cells, is_row(row) ? row->args[c] : row);
    }
    return fm_build_with_exprs(p, node, cells);
}

fm_plan *fm_build_table_query(fm_parse *p, const fm_token *at, fm_names name)
{
    fm_plan *node = fm_build_node(p, FM_PLAN_PROJECT, at->pos, fm_build_table(p, name, false, NULL));

    return fm_build_with_expr(p, node, fm_build_star(p, NULL, at, (fm_names){0}));
}

/* ---- SELECT -------------------------------------------------------------------------------------------------------- */

fm_expr *fm_build_sets(fm_parse *p, const fm_token *at, const char *name, fm_exprs sets) { return fm_build_call(p, at->pos, fm_str_c(name), sets); }

fm_expr *fm_build_sets_of(fm_parse *p, const fm_token *at, fm_exprs columns, fm_exprs sets)
{
    fm_exprs args = fm_build_one(p, fm_build_sets(p, at, "struct", columns));

    for (int32_t i = 0; i < sets.n; i++) args = fm_build_list(p, args, sets.items[i]);
    return fm_build_sets(p, at, FM_SETS_OF, args);
}

fm_exprs fm_build_one(fm_parse *p, fm_expr *e) { return fm_build_list(p, (fm_exprs){0}, e); }

fm_laterals *fm_build_lateral(fm_parse *p, fm_laterals *list, const fm_token *at, bool outer, fm_expr *generator, fm_alias_clause alias)
{
    if (!list) list = fm_arena_one(p->arena, fm_laterals);
    fm_lateral *items = list ? FM_BUILD_GROW(p, list, fm_lateral) : NULL;

    if (!items || !generator) {
        if (!items) fm_parse_no_memory(p);
        return list;
    }
    list->items = items;
    list->items[list->n++] = (fm_lateral){generator, alias, outer, at->pos};
    return list;
}

fm_laterals *fm_build_all_laterals(fm_parse *p, fm_laterals *a, fm_laterals *b)
{
    for (int32_t i = 0; b && i < b->n; i++) {
        const fm_lateral *l = &b->items[i];
        a = fm_build_lateral(p, a, &(fm_token){.pos = l->pos}, l->outer, l->generator, l->alias);
    }
    return a;
}

static fm_plan *add_laterals(fm_parse *p, fm_plan *plan, const fm_laterals *laterals)
{
    for (int32_t i = 0; plan && laterals && i < laterals->n; i++) {
        const fm_lateral *l = &laterals->items[i];
        plan = fm_build_with_expr(p, fm_build_node(p, FM_PLAN_LATERAL_VIEW, l->pos, plan), l->generator);
        if (!plan) return NULL;
        plan->name = l->alias.name;
        plan->column_names = l->alias.column_names.items;
        plan->n_column_names = l->alias.column_names.n;
        plan->outer = l->outer;
    }
    return plan;
}

static fm_plan *add_hints(fm_parse *p, fm_plan *plan, fm_exprs hints)
{
    for (int32_t i = 0; plan && i < hints.n; i++) {
        const fm_expr *h = hints.items[i];
        plan = fm_build_node(p, FM_PLAN_HINT, h->pos, plan);
        if (!plan) return NULL;
        plan->name = h->name;
        plan->exprs = h->args;
        plan->n_exprs = h->n_args;
        fm_build_measure(p, &plan->depth, &plan->nodes, h->depth, h->nodes, h->pos);
    }
    return plan;
}

/* FROM, WHERE, GROUP BY and the select list, HAVING, DISTINCT, hints: from below to above. */
fm_plan *fm_build_select(fm_parse *p, fm_select select, fm_plan *from, fm_laterals *laterals, fm_expr *where, fm_group group, fm_expr *having)
{
    fm_pos pos = select.at.pos;
    fm_plan *plan = add_laterals(p, from ? from : fm_build_node(p, FM_PLAN_ONE_ROW, pos, NULL), laterals);

    if (plan && where) plan = fm_build_with_expr(p, fm_build_node(p, FM_PLAN_FILTER, where->pos, plan), where);
    if (plan) plan = fm_build_with_exprs(p, fm_build_node(p, group.given ? FM_PLAN_AGGREGATE : FM_PLAN_PROJECT, pos, plan), select.list);
    if (!plan) return NULL;
    plan->group_exprs = group.exprs.items;
    plan->n_group_exprs = group.exprs.n;
    plan->all = group.all;
    for (int32_t i = 0; i < group.exprs.n; i++) {
        const fm_expr *e = group.exprs.items[i];
        fm_build_measure(p, &plan->depth, &plan->nodes, e->depth, e->nodes, e->pos);
    }
    if (having) {
        plan = fm_build_with_expr(p, fm_build_node(p, FM_PLAN_FILTER, having->pos, plan), having);
        if (plan) plan->is_having = true;
    }
    if (plan && select.distinct) plan = fm_build_node(p, FM_PLAN_DISTINCT, pos, plan);
    return add_hints(p, plan, select.hints);
}
