/* engine/change_plan.c: statements that change rows, as queries. */
#include "engine/change_plan.h"

#define ROW FM_STR("__floodmark_row")
#define FILE_OF FM_STR("__floodmark_file")
#define SOURCE FM_STR("__floodmark_source")

/* A maker keeps its first failure; what it makes of NULL is NULL. */
typedef struct maker {
    fm_arena *arena;
    fm_pos pos;
    fm_str target, source; /* what the two sides are called */
    const fm_delta_schema *schema;
    const fm_plan *statement;
    bool failed;
} maker;

/* ---- Nodes ------------------------------------------------------------------------------------------------------------------ */

static fm_expr *node(maker *m, fm_expr_kind kind, fm_expr *const *args, int32_t n)
{
    fm_expr *e = fm_expr_new(m->arena, kind, m->pos);
    fm_expr **copy = fm_arena_array(m->arena, fm_expr *, n);

    if (!e || !copy) {
        m->failed = true;
        return NULL;
    }
    for (int32_t i = 0; i < n; i++) {
        copy[i] = args[i];
        m->failed |= !args[i];
    }
    e->args = copy;
    e->n_args = n;
    return e;
}

static fm_expr *name_of(maker *m, fm_str qualifier, fm_str name)
{
    fm_expr *e = node(m, FM_EXPR_NAME, NULL, 0);
    fm_str *parts = fm_arena_array(m->arena, fm_str, 2);

    if (!e || !parts) {
        m->failed = true;
        return NULL;
    }
    if (qualifier.len) parts[e->n_parts++] = qualifier;
    parts[e->n_parts++] = name;
    e->parts = parts;
    return e;
}

static fm_expr *not_null(maker *m, fm_str name)
{
    fm_expr *arg = name_of(m, (fm_str){0}, name);
    fm_expr **args = fm_arena_array(m->arena, fm_expr *, 1);

    if (!args || !arg) return NULL;
    args[0] = arg;
    return fm_expr_call(m->arena, FM_STR("isnotnull"), args, 1, m->pos);
}

static fm_expr *negated(maker *m, fm_expr *e) { return node(m, FM_EXPR_NOT, &e, 1); }

static fm_expr *both(maker *m, fm_expr *a, fm_expr *b)
{
    fm_expr *args[2] = {a, b};

    return node(m, FM_EXPR_AND, args, 2);
}

static fm_expr *alias(maker *m, fm_expr *e, fm_str name)
{
    fm_expr *a = node(m, FM_EXPR_ALIAS, &e, 1);

    if (a) a->name = name;
    return a;
}

static fm_expr *cast(maker *m, fm_expr *e, const fm_type *type)
{
    fm_expr *c = node(m, FM_EXPR_CAST, &e, 1);

    if (c) c->cast_type = type;
    return c;
}

static fm_plan *over(maker *m, fm_plan_kind kind, fm_plan *const *children, int32_t n, fm_expr *const *exprs, int32_t n_exprs)
{
    fm_plan *p = fm_plan_new(m->arena, kind, m->pos);
    fm_plan **c = fm_arena_array(m->arena, fm_plan *, n);
    fm_expr **e = fm_arena_array(m->arena, fm_expr *, n_exprs);

    if (!p || !c || !e) {
        m->failed = true;
        return NULL;
    }
    for (int32_t i = 0; i < n; i++) {
        c[i] = children[i];
        m->failed |= !children[i];
    }
    for (int32_t i = 0; i < n_exprs; i++) {
        e[i] = exprs[i];
        m->failed |= !exprs[i];
    }
    p->children = c;
    p->n_children = n;
    p->exprs = e;
    p->n_exprs = n_exprs;
    return p;
}

static fm_plan *named(maker *m, fm_plan *child, fm_str name)
{
    fm_plan *p = over(m, FM_PLAN_SUBQUERY_ALIAS, &child, 1, NULL, 0);

    if (p) p->name = name;
    return p;
}

/* What a relation is called: its alias, or the last part of its name. */
static fm_str name_of_relation(const fm_plan *p)
{
    if (p->kind == FM_PLAN_SUBQUERY_ALIAS) return p->name;
    return p->n_name_parts ? p->name_parts[p->n_name_parts - 1] : FM_STR("__floodmark_unnamed");
}

/* ---- The two sides -------------------------------------------------------------------------------------------------------------- */

static fm_plan *read_target(maker *m, fm_str table)
{
    fm_plan *relation = over(m, FM_PLAN_RELATION, NULL, 0, NULL, 0);

    if (!relation) return NULL;
    relation->name_parts = fm_arena_array(m->arena, fm_str, 1);
    if (!relation->name_parts) {
        m->failed = true;
        return NULL;
    }
    relation->name_parts[0] = table;
    relation->n_name_parts = 1;
    return named(m, relation, m->target);
}

/* The source, and beside it a column that is not null: so a row without a match can be told. */
static fm_plan *read_source(maker *m)
{
    fm_plan *source = m->statement->children[1];
    fm_expr *list[2] = {node(m, FM_EXPR_STAR, NULL, 0), alias(m, fm_expr_literal_bool(m->arena, true), SOURCE)};

    return named(m, over(m, FM_PLAN_PROJECT, &source, 1, list, 2), m->source);
}

static bool has_clause(const fm_plan *statement, fm_merge_when when)
{
    for (int32_t i = 0; i < statement->n_clauses; i++) {
        if (statement->clauses[i].when == when) return true;
    }
    return false;
}

static fm_plan *input(maker *m, fm_str table)
{
    fm_plan *target = read_target(m, table), *sides[2] = {target, NULL};

    if (m->statement->kind != FM_PLAN_MERGE) return target;
    bool inserts = has_clause(m->statement, FM_WHEN_NOT_MATCHED), alone = has_clause(m->statement, FM_WHEN_NOT_MATCHED_BY_SOURCE);
    sides[1] = read_source(m);
    fm_plan *join = over(m, FM_PLAN_JOIN, sides, 2, m->statement->exprs, 1);
    if (join) join->join_type = inserts ? (alone ? FM_JOIN_FULL : FM_JOIN_RIGHT) : (alone ? FM_JOIN_LEFT : FM_JOIN_INNER);
    return join;
}

/* ---- The columns ------------------------------------------------------------------------------------------------------------------ */

/* When a clause is the one: whether there was a match, and its own condition. */
static fm_expr *holds(maker *m, const fm_merge_clause *c)
{
    bool merge = m->statement->kind == FM_PLAN_MERGE;
    fm_expr *e = c->when == FM_WHEN_NOT_MATCHED ? negated(m, not_null(m, ROW)) : not_null(m, ROW);

    if (merge && c->when == FM_WHEN_MATCHED) e = both(m, e, not_null(m, SOURCE));
    if (merge && c->when == FM_WHEN_NOT_MATCHED_BY_SOURCE) e = both(m, e, negated(m, not_null(m, SOURCE)));
    return c->condition ? both(m, e, c->condition) : e;
}

static int32_t find_set(const fm_merge_clause *c, fm_str column)
{
    for (int32_t i = 0; i < c->n; i++) {
        if (fm_str_eq_ci(c->columns[i], column)) return i;
    }
    return -1;
}

static fm_expr *value_of(maker *m, const fm_merge_clause *c, int32_t column)
{
    const fm_field *f = &m->schema->type->fields[column];
    int32_t set = find_set(c, f->name);
    fm_expr *e;

    if (c->action == FM_MERGE_DELETE) return fm_expr_literal_null(m->arena, f->type);
    if (c->star) e = name_of(m, m->source, f->name);
    else if (set >= 0) e = c->values[set];
    else if (c->action == FM_MERGE_UPDATE) e = name_of(m, m->target, f->name);
    else return fm_expr_literal_null(m->arena, f->type);
    return cast(m, e, f->type);
}

/* CASE WHEN <clause 0> THEN ... END; column -1: the action. */
static fm_expr *choose(maker *m, fm_expr *const *conditions, int32_t column)
{
    static const int32_t actions[] = {FM_CHANGE_UPDATED, FM_CHANGE_DELETED, FM_CHANGE_INSERTED};
    int32_t n = m->statement->n_clauses;
    fm_expr **args = fm_arena_array(m->arena, fm_expr *, 2 * (size_t)n);

    if (!args) {
        m->failed = true;
        return NULL;
    }
    for (int32_t i = 0; i < n; i++) {
        const fm_merge_clause *c = &m->statement->clauses[i];
        args[2 * i] = conditions[i];
        args[2 * i + 1] = column < 0 ? fm_expr_literal_i32(m->arena, actions[c->action]) : value_of(m, c, column);
    }
    return node(m, FM_EXPR_CASE, args, 2 * n);
}

/* Every name that is set must be one of the table's, and once. */
static fm_status check_names(const maker *m, fm_error *err)
{
    for (int32_t k = 0; k < m->statement->n_clauses; k++) {
        const fm_merge_clause *c = &m->statement->clauses[k];
        for (int32_t i = 0; i < c->n; i++) {
            if (fm_delta_schema_find(m->schema->type, c->columns[i]) < 0) {
                return fm_fail_at(err, FM_INVALID, "UNRESOLVED_COLUMN.WITHOUT_SUGGESTION", c->pos.line, c->pos.column,
                                  "A column with name `%.*s` cannot be resolved: the table has none of that name.", FM_STR_ARG(c->columns[i]));
            }
            if (find_set(c, c->columns[i]) != i) {
                return fm_fail_at(err, FM_INVALID, "DELTA_CONFLICT_SET_COLUMN", c->pos.line, c->pos.column, "There is a conflict from these SET columns: `%.*s` is set twice.",
                                  FM_STR_ARG(c->columns[i]));
            }
        }
    }
    return FM_OK;
}

static bool is_set(const fm_plan *statement, fm_str column)
{
    for (int32_t k = 0; k < statement->n_clauses; k++) {
        if (statement->clauses[k].star || find_set(&statement->clauses[k], column) >= 0) return true;
    }
    return false;
}

fm_status fm_change_plan(const fm_plan *statement, fm_str target, const fm_delta_schema *schema, fm_arena *arena, fm_plan **out, int32_t **columns,
                         int32_t *n_columns, fm_error *err)
{
    int32_t n = schema->type->n_fields, at = 0;
    maker m = {.arena = arena, .pos = statement->pos, .target = name_of_relation(statement->children[0]), .schema = schema, .statement = statement};
    fm_expr **list = fm_arena_array(arena, fm_expr *, n + FM_CHANGE_COLUMNS), **conditions = fm_arena_array(arena, fm_expr *, statement->n_clauses);

    *columns = fm_arena_array(arena, int32_t, n);
    *n_columns = 0;
    if (!list || !conditions || !*columns) return fm_no_memory(arena, err);
    if (statement->kind == FM_PLAN_MERGE) m.source = name_of_relation(statement->children[1]);
    FM_TRY(check_names(&m, err));
    for (int32_t i = 0; i < statement->n_clauses; i++) conditions[i] = holds(&m, &statement->clauses[i]);
    list[at++] = alias(&m, choose(&m, conditions, -1), FM_STR("__floodmark_action"));
    list[at++] = name_of(&m, (fm_str){0}, FILE_OF);
    list[at++] = name_of(&m, (fm_str){0}, ROW);
    for (int32_t i = 0; i < n; i++) {
        if (schema->fields[i].generated.ptr && !is_set(statement, schema->type->fields[i].name)) continue;
        list[at++] = alias(&m, choose(&m, conditions, i), schema->type->fields[i].name);
        (*columns)[(*n_columns)++] = i;
    }
    fm_plan *child = input(&m, target), *project = over(&m, FM_PLAN_PROJECT, &child, 1, list, at);
    fm_expr *changed = not_null(&m, FM_STR("__floodmark_action"));
    fm_plan *inner = named(&m, project, FM_STR("__floodmark_changes"));
    *out = over(&m, FM_PLAN_FILTER, &inner, 1, &changed, 1);
    return m.failed || !*out ? fm_no_memory(arena, err) : FM_OK;
}
