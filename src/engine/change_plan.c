/* engine/change_plan.c: statements that change rows, as queries. */
#include "engine/change_plan.h"

#include "engine/change_rows.h"
#include "sql/sql.h"

#define ROW FM_STR("__floodmark_row")
#define FILE_OF FM_STR("__floodmark_file")
#define SOURCE FM_STR("__floodmark_source")

/* A maker keeps its first failure; what it makes of NULL is NULL. */
typedef struct maker {
    fm_arena *arena;
    fm_error *err;
    fm_pos pos;
    fm_str target, source; /* what the two sides are called */
    const fm_change_query *q;
    const fm_plan *statement;
    fm_status st;
    bool failed;           /* out of memory, unless st says other */
    bool may_lack;         /* fields of structs may be missing */
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

fm_str fm_change_name_of(const fm_plan *p)
{
    if (p->kind == FM_PLAN_SUBQUERY_ALIAS) return p->name;
    return p->n_name_parts ? p->name_parts[p->n_name_parts - 1] : FM_STR("__floodmark_unnamed");
}

int32_t fm_change_find_column(const fm_name_path *path, fm_str alias, const fm_type *type, int32_t *skip)
{
    *skip = 0;
    if (path->n > 1 && fm_str_eq_ci(path->parts[0], alias) && fm_delta_schema_find(type, path->parts[1]) >= 0) *skip = 1;
    return fm_delta_schema_find(type, path->parts[*skip]);
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

    fm_plan *marked = over(m, FM_PLAN_PROJECT, &source, 1, list, 2);
    if (marked) marked->rows_seen = m->q->source_rows;
    return named(m, marked, m->source);
}

static bool has_clause(const fm_plan *statement, fm_merge_when when)
{
    for (int32_t i = 0; i < statement->n_clauses; i++) {
        if (statement->clauses[i].when == when) return true;
    }
    return false;
}

static fm_plan *input(maker *m)
{
    fm_plan *target = read_target(m, m->q->target), *sides[2] = {target, NULL};

    if (m->statement->kind != FM_PLAN_MERGE) {
        fm_expr *where = m->statement->clauses[0].condition;
        return where ? over(m, FM_PLAN_FILTER, &target, 1, &where, 1) : target;
    }
    bool inserts = has_clause(m->statement, FM_WHEN_NOT_MATCHED), alone = has_clause(m->statement, FM_WHEN_NOT_MATCHED_BY_SOURCE);
    sides[1] = read_source(m);
    fm_plan *join = over(m, FM_PLAN_JOIN, sides, 2, m->statement->exprs, 1);
    if (join) join->join_type = inserts ? (alone ? FM_JOIN_FULL : FM_JOIN_RIGHT) : (alone ? FM_JOIN_LEFT : FM_JOIN_INNER);
    return join;
}

/* ---- Names that one side has ------------------------------------------------------------------------------------------------ */

/* The same expression with the columns of `type` called by `qualifier`: the other side may have columns of these names. */
static fm_expr *qualified(maker *m, const fm_expr *e, fm_str qualifier, const fm_type *type)
{
    fm_expr *copy = e ? fm_expr_copy_node(m->arena, e) : NULL;

    if (!copy) {
        m->failed |= e != NULL;
        return NULL;
    }
    if (e->kind == FM_EXPR_NAME) {
        bool has_qualifier = e->n_parts > 1 && fm_str_eq_ci(e->parts[0], qualifier);
        if (has_qualifier || fm_delta_schema_find(type, e->parts[0]) < 0) return copy;
        copy->parts = fm_arena_array(m->arena, fm_str, e->n_parts + 1);
        if (!copy->parts) {
            m->failed = true;
            return NULL;
        }
        copy->parts[0] = qualifier;
        for (int32_t i = 0; i < e->n_parts; i++) copy->parts[i + 1] = e->parts[i];
        copy->n_parts = e->n_parts + 1;
        return copy;
    }
    if (e->kind == FM_EXPR_LAMBDA) return copy; /* its parameters are no columns */
    for (int32_t i = 0; i < e->n_args; i++) copy->args[i] = qualified(m, e->args[i], qualifier, type);
    return copy;
}

static fm_expr *of_clause(maker *m, const fm_merge_clause *c, fm_expr *e)
{
    if (!e || m->statement->kind != FM_PLAN_MERGE || c->when == FM_WHEN_MATCHED) return e;
    bool source = c->when == FM_WHEN_NOT_MATCHED;
    return qualified(m, e, source ? m->source : m->target, source ? m->q->source : m->q->have->type);
}

/* ---- The columns ------------------------------------------------------------------------------------------------------------------ */

/* When a clause is the one: whether there was a match, and its own condition. */
static fm_expr *holds(maker *m, const fm_merge_clause *c)
{
    bool merge = m->statement->kind == FM_PLAN_MERGE;
    fm_expr *e = c->when == FM_WHEN_NOT_MATCHED ? negated(m, not_null(m, ROW)) : not_null(m, ROW);

    if (!merge) return e; /* its condition is a filter below */
    if (c->when == FM_WHEN_MATCHED) e = both(m, e, not_null(m, SOURCE));
    if (c->when == FM_WHEN_NOT_MATCHED_BY_SOURCE) e = both(m, e, negated(m, not_null(m, SOURCE)));
    return c->condition ? both(m, e, of_clause(m, c, c->condition)) : e;
}

static bool is_default(const fm_expr *e) { return e && e->kind == FM_EXPR_NAME && e->n_parts == 1 && fm_str_eq_ci(e->parts[0], FM_STR("DEFAULT")); }

static fm_expr *default_of(maker *m, int32_t column)
{
    const fm_delta_field *f = &m->q->want->fields[column];
    fm_expr *e = NULL;

    if (!f->default_sql.ptr) return fm_expr_literal_null(m->arena, m->q->want->type->fields[column].type);
    fm_status st = fm_sql_parse_expr(m->arena, f->default_sql, &e, m->err);
    if (st != FM_OK && m->st == FM_OK) m->st = st;
    m->failed |= st != FM_OK;
    return e;
}

static fm_expr *field_of(maker *m, fm_expr *e, fm_str name)
{
    fm_expr *args[2] = {e, fm_expr_literal_str(m->arena, fm_type_string(), name)};

    return node(m, FM_EXPR_EXTRACT, args, 2);
}

/* named_struct('a', values[0], ...) */
static fm_expr *make_struct(maker *m, const fm_type *type, fm_expr *const *values)
{
    fm_expr **args = fm_arena_array(m->arena, fm_expr *, 2 * (size_t)type->n_fields);

    if (!args) {
        m->failed = true;
        return NULL;
    }
    for (int32_t i = 0; i < type->n_fields; i++) {
        args[2 * i] = fm_expr_literal_str(m->arena, fm_type_string(), type->fields[i].name);
        args[2 * i + 1] = values[i];
        m->failed |= !args[2 * i] || !values[i];
    }
    return m->failed ? NULL : fm_expr_call(m->arena, FM_STR("named_struct"), args, 2 * type->n_fields, m->pos);
}

/* Whether a cast, which goes by position, means the same as one by the names of the fields. */
static bool same_fields(const fm_type *from, const fm_type *to)
{
    if (!fm_type_is_nested(from) || from->id != to->id) return true; /* the cast will say what it thinks */
    if (from->n_fields != to->n_fields) return false;
    for (int32_t i = 0; i < from->n_fields; i++) {
        if (from->id == FM_TYPE_STRUCT && !fm_str_eq_ci(from->fields[i].name, to->fields[i].name)) return false;
        if (!same_fields(from->fields[i].type, to->fields[i].type)) return false;
    }
    return true;
}

static fm_expr *mismatch(maker *m, const fm_type *from, const fm_type *to)
{
    fm_strbuf a = {0}, b = {0};

    fm_type_sql(from, &a);
    fm_type_sql(to, &b);
    m->failed = true;
    if (m->st == FM_OK) {
        m->st = fm_fail_at(m->err, FM_INVALID, "DELTA_UPDATE_SCHEMA_MISMATCH_EXPRESSION", m->pos.line, m->pos.column,
                           "Cannot cast %s to %s. All nested columns must match.", a.ptr ? a.ptr : "", b.ptr ? b.ptr : "");
    }
    fm_strbuf_fini(&a);
    fm_strbuf_fini(&b);
    return NULL;
}

/* A value of type `from` as one of `to`: parts of structs by name. Fields must be the same; under schema evolution one that is missing
 * comes from `base`, or is null. */
static fm_expr *reshape(maker *m, fm_expr *e, const fm_type *from, const fm_type *to, fm_expr *base)
{
    if (fm_type_eq(from, to)) return e;
    if (from->id != FM_TYPE_STRUCT || to->id != FM_TYPE_STRUCT) return same_fields(from, to) ? cast(m, e, to) : mismatch(m, from, to);
    for (int32_t i = 0; i < from->n_fields; i++) {
        if (fm_delta_schema_find(to, from->fields[i].name) < 0) return mismatch(m, from, to);
    }
    if (from->n_fields < to->n_fields && !m->may_lack) return mismatch(m, from, to);
    fm_expr **values = fm_arena_array(m->arena, fm_expr *, to->n_fields), *when[4];
    if (!values) {
        m->failed = true;
        return NULL;
    }
    for (int32_t i = 0; i < to->n_fields; i++) {
        const fm_field *f = &to->fields[i];
        int32_t c = fm_delta_schema_find(from, f->name);
        fm_expr *old = base ? field_of(m, base, f->name) : NULL;
        if (c >= 0) values[i] = reshape(m, field_of(m, e, from->fields[c].name), from->fields[c].type, f->type, old);
        else values[i] = old ? old : fm_expr_literal_null(m->arena, f->type);
    }
    fm_expr **arg = fm_arena_array(m->arena, fm_expr *, 1);
    if (!arg) {
        m->failed = true;
        return NULL;
    }
    arg[0] = e;
    when[0] = fm_expr_call(m->arena, FM_STR("isnull"), arg, 1, m->pos);
    when[1] = fm_expr_literal_null(m->arena, to);
    when[2] = make_struct(m, to, values);
    return node(m, FM_EXPR_CASE, when, 3);
}

/* The column as an UPDATE finds it; fields that the table only gets now are null. */
static fm_expr *old_value(maker *m, int32_t column)
{
    const fm_field *f = &m->q->want->type->fields[column];
    int32_t c = fm_delta_schema_find(m->q->have->type, f->name);
    bool lacks = m->may_lack;

    if (c < 0) return fm_expr_literal_null(m->arena, f->type);
    m->may_lack = true;
    fm_expr *e = reshape(m, name_of(m, m->target, f->name), m->q->have->type->fields[c].type, f->type, NULL);
    m->may_lack = lacks;
    return e;
}

/* A value that SET gives to a column with parts: by the names of its fields, once it is known what it has. */
static fm_expr *stored(maker *m, fm_expr *e, const fm_type *to)
{
    fm_plan *below = fm_type_is_nested(to) && !m->failed ? input(m) : NULL, *analyzed;
    fm_expr *item = below ? alias(m, e, FM_STR("value")) : NULL;
    fm_plan *project = item ? over(m, FM_PLAN_PROJECT, &below, 1, &item, 1) : NULL;

    /* What cannot be resolved is said when the whole is analyzed. */
    if (!project || fm_session_analyze(m->q->s, project, m->arena, &analyzed, NULL) != FM_OK || analyzed->n_output < 1) return cast(m, e, to);
    return reshape(m, e, analyzed->output[0].type, to, NULL);
}

/* Whether the path of assignment i begins with that of `upto` parts of `path`; -1: no; else how many parts it has beyond. */
static int32_t beyond(const maker *m, const fm_merge_clause *c, int32_t i, const fm_str *path, int32_t upto)
{
    int32_t skip;

    fm_change_find_column(&c->columns[i], m->target, m->q->want->type, &skip);
    if (c->columns[i].n - skip < upto) return -1;
    for (int32_t k = 0; k < upto; k++) {
        if (!fm_str_eq_ci(c->columns[i].parts[skip + k], path[k])) return -1;
    }
    return c->columns[i].n - skip - upto;
}

enum { PATH_MAX_PARTS = 64 };

/* What the assignments of a clause make of a column, or of a part of it; base: what it is without them. */
static fm_expr *assigned(maker *m, const fm_merge_clause *c, int32_t column, fm_str *path, int32_t n, const fm_type *type, fm_expr *base)
{
    bool deeper = false;

    for (int32_t i = 0; i < c->n; i++) {
        int32_t more = beyond(m, c, i, path, n);
        if (more == 0) return is_default(c->values[i]) && n == 1 ? cast(m, default_of(m, column), type) : stored(m, of_clause(m, c, c->values[i]), type);
        deeper |= more > 0;
    }
    if (!deeper || n == PATH_MAX_PARTS) return base;
    fm_expr **values = fm_arena_array(m->arena, fm_expr *, type->n_fields);
    if (!values) {
        m->failed = true;
        return NULL;
    }
    for (int32_t i = 0; i < type->n_fields; i++) {
        path[n] = type->fields[i].name;
        values[i] = assigned(m, c, column, path, n + 1, type->fields[i].type, field_of(m, base, type->fields[i].name));
    }
    return make_struct(m, type, values);
}

static fm_expr *value_of(maker *m, const fm_merge_clause *c, int32_t column)
{
    const fm_field *f = &m->q->want->type->fields[column];
    int32_t from = c->star ? fm_delta_schema_find(m->q->source, f->name) : -1;
    fm_str path[PATH_MAX_PARTS + 1] = {f->name};

    if (c->action == FM_MERGE_DELETE) return fm_expr_literal_null(m->arena, f->type);
    bool update = c->action == FM_MERGE_UPDATE;
    fm_expr *base = update ? old_value(m, column) : NULL;
    if (from >= 0) return reshape(m, name_of(m, m->source, f->name), m->q->source->fields[from].type, f->type, base);
    if (!update) base = cast(m, default_of(m, column), f->type);
    return assigned(m, c, column, path, 1, f->type, base);
}

/* CASE WHEN <clause 0> THEN ... END; column -1: the action, -2: the clause. */
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
        args[2 * i + 1] = column >= 0 ? value_of(m, c, column) : fm_expr_literal_i32(m->arena, column == -1 ? actions[c->action] : i);
    }
    return node(m, FM_EXPR_CASE, args, 2 * n);
}

/* ---- What the statement names ------------------------------------------------------------------------------------------------------ */

static fm_status unresolved(const fm_name_path *path, fm_str name, fm_error *err)
{
    return fm_fail_at(err, FM_INVALID, "UNRESOLVED_COLUMN.WITH_SUGGESTION", path->pos.line, path->pos.column,
                      "A column, variable, or function parameter with name `%.*s` cannot be resolved: the table has none of that name.", FM_STR_ARG(name));
}

static bool is_no_aggregate(const fm_expr *e, void *ctx)
{
    (void)ctx;
    return e->kind != FM_EXPR_UNRESOLVED_CALL || e->has_over || !fm_aggregate_find(e->name);
}

/* An assignment is to a column of the table, or to a field of a struct in it, and its value is of one row. */
static fm_status check_path(const maker *m, const fm_merge_clause *c, int32_t at, fm_error *err)
{
    const fm_name_path *path = &c->columns[at];
    int32_t skip, column = fm_change_find_column(path, m->target, m->q->want->type, &skip);

    if (column < 0) return unresolved(path, path->parts[skip], err);
    if (c->values && c->values[at] && !fm_expr_walk(c->values[at], is_no_aggregate, NULL))
        return fm_fail_at(err, FM_INVALID, "DELTA_AGGREGATION_NOT_SUPPORTED", path->pos.line, path->pos.column,
                          "Aggregate functions are not supported in the values that are set: each is made of one row. Compute it in a sub-query, "
                          "(SELECT max(x) FROM t).");
    const fm_type *type = m->q->want->type->fields[column].type;
    for (int32_t k = skip + 1; k < path->n; k++) {
        int32_t f = type->id == FM_TYPE_STRUCT ? fm_delta_schema_find(type, path->parts[k]) : -1;
        if (f < 0 || k > PATH_MAX_PARTS) return unresolved(path, path->parts[k], err);
        type = type->fields[f].type;
    }
    if (path->n - skip > 1 && c->action == FM_MERGE_INSERT) {
        return fm_fail_at(err, FM_INVALID, "DELTA_NESTED_FIELD_IN_INSERT", path->pos.line, path->pos.column, "Nested field is not supported in the INSERT clause of MERGE operation: `%.*s`.",
                          FM_STR_ARG(path->parts[path->n - 1]));
    }
    for (int32_t i = 0; i < at; i++) {
        int32_t other;
        if (fm_change_find_column(&c->columns[i], m->target, m->q->want->type, &other) != column) continue;
        int32_t shorter = c->columns[i].n - other < path->n - skip ? c->columns[i].n - other : path->n - skip;
        if (beyond(m, c, i, path->parts + skip, shorter) < 0) continue;
        return fm_fail_at(err, FM_INVALID, "DELTA_CONFLICT_SET_COLUMN", path->pos.line, path->pos.column, "There is a conflict from these SET columns: `%.*s` is set twice.",
                          FM_STR_ARG(path->parts[skip]));
    }
    return FM_OK;
}

static bool is_set(const maker *m, int32_t column)
{
    fm_str name = m->q->want->type->fields[column].name;

    for (int32_t k = 0; k < m->statement->n_clauses; k++) {
        const fm_merge_clause *c = &m->statement->clauses[k];
        if (c->star && fm_delta_schema_find(m->q->source, name) >= 0) return true;
        for (int32_t i = 0; i < c->n; i++) {
            if (beyond(m, c, i, &name, 1) >= 0) return true;
        }
    }
    return false;
}

static fm_status check_clause(const maker *m, const fm_merge_clause *c, fm_error *err)
{
    for (int32_t i = 0; i < c->n; i++) FM_TRY(check_path(m, c, i, err));
    for (int32_t i = 0; c->star && !m->q->evolve && i < m->q->want->type->n_fields; i++) {
        fm_str name = m->q->want->type->fields[i].name;
        if (m->q->want->fields[i].generated.ptr || fm_delta_schema_find(m->q->source, name) >= 0) continue;
        return fm_fail_at(err, FM_INVALID, "DELTA_MERGE_UNRESOLVED_EXPRESSION", c->pos.line, c->pos.column,
                          "Cannot resolve %.*s in %s clause given the columns of the source: it has none of that name. Name the columns, or write MERGE WITH SCHEMA EVOLUTION.",
                          FM_STR_ARG(name), c->action == FM_MERGE_UPDATE ? "UPDATE" : "INSERT");
    }
    return FM_OK;
}

fm_status fm_change_plan(const fm_change_query *q, fm_arena *arena, fm_plan **out, int32_t *n_new, fm_error *err)
{
    const fm_plan *statement = q->statement;
    int32_t n = q->want->type->n_fields, at = 0;
    maker m = {.arena = arena, .err = err, .pos = statement->pos, .target = fm_change_name_of(statement->children[0]), .q = q, .statement = statement,
               .may_lack = q->evolve};
    fm_expr **list = fm_arena_array(arena, fm_expr *, 2 * (size_t)n + FM_CHANGE_COLUMNS), **conditions = fm_arena_array(arena, fm_expr *, statement->n_clauses);

    if (!list || !conditions) return fm_no_memory(arena, err);
    if (statement->kind == FM_PLAN_MERGE) m.source = fm_change_name_of(statement->children[1]);
    for (int32_t i = 0; i < statement->n_clauses; i++) FM_TRY(check_clause(&m, &statement->clauses[i], err));
    for (int32_t i = 0; i < statement->n_clauses; i++) conditions[i] = holds(&m, &statement->clauses[i]);
    list[at++] = alias(&m, choose(&m, conditions, -1), FM_STR("__floodmark_action"));
    list[at++] = alias(&m, choose(&m, conditions, -2), FM_STR("__floodmark_clause"));
    list[at++] = name_of(&m, (fm_str){0}, FILE_OF);
    list[at++] = name_of(&m, (fm_str){0}, ROW);
    for (int32_t i = 0; i < n && statement->kind != FM_PLAN_DELETE; i++) {
        if (!q->want->fields[i].generated.ptr || is_set(&m, i)) list[at++] = alias(&m, choose(&m, conditions, i), q->want->type->fields[i].name);
    }
    *n_new = at - FM_CHANGE_COLUMNS;
    for (int32_t i = 0; i < n && q->want_old; i++) list[at++] = alias(&m, old_value(&m, i), fm_arena_printf(arena, "__floodmark_old_%d", (int)i));
    fm_plan *child = input(&m), *project = over(&m, FM_PLAN_PROJECT, &child, 1, list, at);
    fm_expr *changed = not_null(&m, FM_STR("__floodmark_action"));
    fm_plan *inner = named(&m, project, FM_STR("__floodmark_changes"));
    *out = over(&m, FM_PLAN_FILTER, &inner, 1, &changed, 1);
    if (m.st != FM_OK) return m.st;
    return m.failed || !*out ? fm_no_memory(arena, err) : FM_OK;
}
