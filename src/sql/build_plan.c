/* sql/build_plan.c: queries out of their parts. */
#include "sql/build.h"

void fm_build_fail(fm_parse *p, fm_status st)
{
    if (p->status == FM_OK) p->status = st;
}

static void no_memory(fm_parse *p)
{
    if (p->status == FM_OK) p->status = fm_no_memory(p->arena, p->err);
}

/* An array with room for one more; NULL: memory is out, and p knows. */
static void *grow(fm_parse *p, void *items, int32_t n, int32_t *cap, size_t size, size_t align)
{
    if (n < *cap) return items;
    int32_t more = *cap ? *cap * 2 : 4;
    char *grown = fm_arena_array_bytes(p->arena, size, align, (size_t)more);
    if (!grown) {
        no_memory(p);
        return NULL;
    }
    if (n) memcpy(grown, items, (size_t)n * size);
    *cap = more;
    return grown;
}
#define GROW(p, list, T) grow(p, (list)->items, (list)->n, &(list)->cap, sizeof(T), _Alignof(T))

fm_exprs fm_build_list(fm_parse *p, fm_exprs list, fm_expr *e)
{
    fm_expr **items = GROW(p, &list, fm_expr *);

    if (!items || !e) return (fm_exprs){0};
    list.items = items;
    list.items[list.n++] = e;
    return list;
}

fm_exprs fm_build_concat(fm_parse *p, fm_exprs a, fm_exprs b)
{
    for (int32_t i = 0; i < b.n; i++) a = fm_build_list(p, a, b.items[i]);
    return a;
}

fm_names fm_build_name(fm_parse *p, fm_names list, const fm_token *t)
{
    fm_str *items = GROW(p, &list, fm_str);

    if (!items) return (fm_names){0};
    if (list.n == 0) list.pos = t->pos;
    list.items = items;
    list.items[list.n++] = t->text;
    list.pos.to = t->pos.to;
    return list;
}

fm_plan *fm_build_node(fm_parse *p, fm_plan_kind kind, fm_pos pos, fm_plan *child)
{
    fm_plan *node = fm_plan_new(p->arena, kind, pos);
    fm_plan **children = fm_arena_array(p->arena, fm_plan *, 1);

    if (!node || !children) {
        no_memory(p);
        return NULL;
    }
    if (child) {
        children[0] = child;
        node->children = children;
        node->n_children = 1;
    }
    return node;
}

static fm_plan *with_expr(fm_parse *p, fm_plan *node, fm_expr *e)
{
    fm_exprs one = fm_build_list(p, (fm_exprs){0}, e);

    if (!node || !one.n) return NULL;
    node->exprs = one.items;
    node->n_exprs = 1;
    return node;
}

static fm_plan *two_children(fm_parse *p, fm_plan_kind kind, fm_pos pos, fm_plan *a, fm_plan *b)
{
    fm_plan *node = fm_build_node(p, kind, pos, a);
    fm_plan **children = fm_arena_array(p->arena, fm_plan *, 2);

    if (!node || !children || !a || !b) {
        if (!children) no_memory(p);
        return NULL;
    }
    children[0] = a;
    children[1] = b;
    node->children = children;
    node->n_children = 2;
    return node;
}

fm_plan *fm_build_order_limit(fm_parse *p, fm_plan *query, fm_exprs order, fm_expr *limit, fm_expr *offset)
{
    if (query && order.n) {
        fm_plan *sort = fm_build_node(p, FM_PLAN_SORT, query->pos, query);
        if (!sort) return NULL;
        sort->exprs = order.items;
        sort->n_exprs = order.n;
        query = sort;
    }
    if (query && (limit || offset)) {
        fm_plan *node = fm_build_node(p, FM_PLAN_LIMIT, query->pos, query);
        if (!node) return NULL;
        node->limit = -1;
        node->limit_expr = limit;
        node->offset_expr = offset;
        query = node;
    }
    return query;
}

fm_ctes *fm_build_cte_list(fm_parse *p, fm_ctes *list, fm_cte_clause cte)
{
    if (!list) list = fm_arena_one(p->arena, fm_ctes);
    fm_cte_clause *items = list ? GROW(p, list, fm_cte_clause) : NULL;

    if (!items) {
        no_memory(p);
        return list;
    }
    list->items = items;
    list->items[list->n++] = cte;
    return list;
}

fm_plan *fm_build_with(fm_parse *p, const fm_token *t, fm_ctes *ctes, fm_plan *body)
{
    fm_plan *node = fm_build_node(p, FM_PLAN_WITH, t->pos, body);

    if (!node || !ctes) return NULL;
    node->ctes = fm_arena_array_bytes(p->arena, sizeof *node->ctes, _Alignof(fm_str), (size_t)ctes->n);
    if (!node->ctes) {
        no_memory(p);
        return NULL;
    }
    node->n_ctes = ctes->n;
    for (int32_t i = 0; i < ctes->n; i++) {
        node->ctes[i].name = ctes->items[i].name;
        node->ctes[i].plan = ctes->items[i].plan;
        node->ctes[i].column_names = ctes->items[i].column_names.items;
        node->ctes[i].n_column_names = ctes->items[i].column_names.n;
    }
    return node;
}

fm_plan *fm_build_set_op(fm_parse *p, const fm_token *t, fm_plan *a, fm_plan *b, const char *op, bool all)
{
    bool is_union = strcmp(op, "UNION") == 0;
    fm_plan *node = two_children(p, is_union ? FM_PLAN_UNION : FM_PLAN_SET_OP, t->pos, a, b);

    if (!node) return NULL;
    node->set_op = fm_str_c(op);
    node->all = all;
    return is_union && !all ? fm_build_node(p, FM_PLAN_DISTINCT, t->pos, node) : node;
}

/* Rows of VALUES: (a, b) is a row of two columns, a bare expression one of one. */
fm_plan *fm_build_values(fm_parse *p, const fm_token *t, fm_exprs rows)
{
    fm_plan *node = fm_build_node(p, FM_PLAN_VALUES, t->pos, NULL);
    fm_exprs cells = {0};

    if (!node) return NULL;
    for (int32_t i = 0; i < rows.n; i++) {
        const fm_expr *row = rows.items[i];
        bool is_row = row->kind == FM_EXPR_UNRESOLVED_CALL && (fm_str_eq_ci(row->name, FM_STR("struct")) || fm_str_eq_ci(row->name, FM_STR("named_struct"))) && row->n_args > 0;
        int32_t n = is_row ? row->n_args : 1;
        if (i > 0 && n != node->n_columns) {
            fm_build_fail(p, fm_syntax_error(p->text, row->pos, p->err, "The rows of VALUES have different numbers of columns: %d here, %d in the first", n, node->n_columns));
            return NULL;
        }
        node->n_columns = n;
        for (int32_t c = 0; c < n; c++) cells = fm_build_list(p, cells, is_row ? row->args[c] : rows.items[i]);
    }
    node->exprs = cells.items;
    node->n_exprs = cells.n;
    return node;
}

static fm_plan *add_laterals(fm_parse *p, fm_plan *plan, const fm_laterals *laterals)
{
    for (int32_t i = 0; plan && laterals && i < laterals->n; i++) {
        const fm_lateral *l = &laterals->items[i];
        plan = with_expr(p, fm_build_node(p, FM_PLAN_LATERAL_VIEW, l->pos, plan), l->generator);
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
        fm_plan *hint = fm_build_node(p, FM_PLAN_HINT, hints.items[i]->pos, plan);
        if (!hint) return NULL;
        hint->name = hints.items[i]->name;
        hint->exprs = hints.items[i]->args;
        hint->n_exprs = hints.items[i]->n_args;
        plan = hint;
    }
    return plan;
}

fm_plan *fm_build_select(fm_parse *p, const fm_token *t, fm_exprs hints, bool distinct, fm_exprs list, fm_plan *from,
                         fm_laterals *laterals, fm_expr *where, fm_group group, fm_expr *having)
{
    fm_plan *plan = from ? from : fm_build_node(p, FM_PLAN_ONE_ROW, t->pos, NULL);

    if (group.sets) {
        fm_build_fail(p, fm_fail_at(p->err, FM_UNSUPPORTED, "_LEGACY_ERROR_TEMP_3102", t->pos.line, t->pos.column,
                                    "%s is not available: write a GROUP BY for each grouping, and UNION ALL them.", group.sets));
        return NULL;
    }
    plan = add_laterals(p, plan, laterals);
    if (where) plan = with_expr(p, fm_build_node(p, FM_PLAN_FILTER, where->pos, plan), where);
    plan = fm_build_node(p, group.given ? FM_PLAN_AGGREGATE : FM_PLAN_PROJECT, t->pos, plan);
    if (!plan) return NULL;
    plan->exprs = list.items;
    plan->n_exprs = list.n;
    plan->group_exprs = group.exprs.items;
    plan->n_group_exprs = group.exprs.n;
    plan->all = group.all;
    if (having) {
        plan = with_expr(p, fm_build_node(p, FM_PLAN_FILTER, having->pos, plan), having);
        if (plan) plan->is_having = true;
    }
    if (distinct) plan = fm_build_node(p, FM_PLAN_DISTINCT, t->pos, plan);
    return add_hints(p, plan, hints);
}

fm_plan *fm_build_join(fm_parse *p, const fm_token *t, fm_plan *a, fm_join_type type, bool natural, fm_plan *b, fm_join_cond cond)
{
    fm_plan *node = two_children(p, FM_PLAN_JOIN, t->pos, a, b);

    if (!node) return NULL;
    node->join_type = type;
    node->natural = natural;
    node->column_names = cond.using_names.items;
    node->n_column_names = cond.using_names.n;
    return cond.on ? with_expr(p, node, cond.on) : node;
}

fm_plan *fm_build_table(fm_parse *p, fm_names name, bool streaming, fm_options *options)
{
    fm_plan *node = fm_build_node(p, FM_PLAN_RELATION, name.pos, NULL);

    if (!node) return NULL;
    node->name_parts = name.items;
    node->n_name_parts = name.n;
    node->streaming = streaming;
    if (options) node->options = *options;
    return node;
}

fm_plan *fm_build_table_function(fm_parse *p, const fm_token *name, fm_exprs args, bool streaming)
{
    fm_plan *node = fm_build_node(p, FM_PLAN_TABLE_FUNCTION, name->pos, NULL);

    if (!node) return NULL;
    node->name = name->text;
    node->exprs = args.items;
    node->n_exprs = args.n;
    node->streaming = streaming;
    return node;
}

/* A query in FROM: what it calls its tables is not seen outside. */
static bool is_query(const fm_plan *p)
{
    switch (p->kind) {
    case FM_PLAN_PROJECT:
    case FM_PLAN_AGGREGATE:
    case FM_PLAN_FILTER:
    case FM_PLAN_DISTINCT:
    case FM_PLAN_SORT:
    case FM_PLAN_LIMIT:
    case FM_PLAN_UNION:
    case FM_PLAN_SET_OP:
    case FM_PLAN_WITH:
    case FM_PLAN_HINT: return true;
    default: return false;
    }
}

/* Rule: Spark gives a query without an alias one that nobody writes. */
static fm_plan *scoped(fm_parse *p, fm_plan *query)
{
    fm_plan *node = fm_build_node(p, FM_PLAN_SUBQUERY_ALIAS, query->pos, query);

    if (node) node->name = FM_STR("__auto_generated_subquery_name");
    return node;
}

fm_plan *fm_build_relation(fm_parse *p, fm_plan *base, bool sample, fm_watermark_clause watermark, fm_alias_clause alias)
{
    if (base && !alias.name.len && is_query(base)) base = scoped(p, base);
    if (base && sample) base = fm_build_node(p, FM_PLAN_SAMPLE, base->pos, base);
    if (base && watermark.expr) {
        fm_plan *node = with_expr(p, fm_build_node(p, FM_PLAN_WATERMARK, watermark.pos, base), watermark.expr);
        if (!node) return NULL;
        node->delay_text = watermark.delay;
        node->delay_is_text = true;
        base = node;
    }
    if (base && (alias.name.len || alias.column_names.n)) {
        fm_plan *node = fm_build_node(p, FM_PLAN_SUBQUERY_ALIAS, base->pos, base);
        if (!node) return NULL;
        node->name = alias.name;
        node->column_names = alias.column_names.items;
        node->n_column_names = alias.column_names.n;
        base = node;
    }
    return base;
}

fm_laterals *fm_build_lateral(fm_parse *p, fm_laterals *list, const fm_token *t, bool outer, fm_expr *generator, fm_alias_clause alias)
{
    if (!list) list = fm_arena_one(p->arena, fm_laterals);
    fm_lateral *items = list ? GROW(p, list, fm_lateral) : NULL;

    if (!items || !generator) {
        if (!items) no_memory(p);
        return list;
    }
    list->items = items;
    list->items[list->n++] = (fm_lateral){generator, alias, outer, t->pos};
    return list;
}
