/* sql/build_write.c: statements that write tables: INSERT, UPDATE, DELETE, MERGE, and what looks after them. */
#include "sql/build.h"

void fm_build_add_properties(fm_parse *p, fm_clauses *clauses, const fm_options *options)
{
    for (int32_t i = 0; options && i < options->n; i++) {
        if (!fm_options_set(p->arena, &clauses->properties, options->items[i].key, options->items[i].value)) fm_parse_no_memory(p);
    }
}

fm_str fm_build_text_of(fm_parse *p, const fm_expr *e)
{
    if (!e) return (fm_str){NULL, 0};
    return (fm_str){p->text.ptr + e->pos.from, (size_t)(e->pos.to - e->pos.from)};
}

/* 'folder' is the Delta table in it. */
fm_names fm_build_folder(fm_parse *p, const fm_token *path)
{
    fm_token format = *path;

    format.text = FM_STR("delta");
    return fm_build_name(p, fm_build_name(p, (fm_names){0}, &format), path);
}

fm_paths fm_build_path(fm_parse *p, fm_paths list, fm_names name)
{
    fm_name_path *items = name.n ? FM_BUILD_GROW(p, &list, fm_name_path) : NULL;

    if (!items) return list;
    list.items = items;
    list.items[list.n++] = (fm_name_path){name.items, name.n, name.pos};
    return list;
}

static fm_plan *named(fm_parse *p, fm_plan_kind kind, fm_pos pos, fm_names name)
{
    fm_plan *node = name.n ? fm_build_node(p, kind, pos, NULL) : NULL;

    if (!node) return NULL;
    node->name_parts = name.items;
    node->n_name_parts = name.n;
    node->name = name.items[name.n - 1];
    return node;
}

fm_plan *fm_build_insert(fm_parse *p, const fm_token *at, fm_names name, fm_insert how, fm_plan *query)
{
    fm_plan *node = name.n && query ? fm_build_node(p, FM_PLAN_INSERT, at->pos, query) : NULL;

    if (!node) return NULL;
    node->name_parts = name.items;
    node->n_name_parts = name.n;
    node->name = name.items[name.n - 1];
    node->column_names = how.columns.items;
    node->n_column_names = how.columns.n;
    node->all = how.overwrite;
    node->by_name = how.by_name;
    if (how.overwrite && how.replace) fm_parse_fail(p, at->pos, FM_INVALID, "PARSE_SYNTAX_ERROR", "REPLACE WHERE goes with INSERT INTO.");
    if (how.partition.columns.n) {
        fm_merge_clauses *list = fm_build_merge_clause(p, NULL, fm_build_clause_of(at, FM_WHEN_MATCHED, NULL, FM_MERGE_INSERT, how.partition));
        if (!list) return NULL;
        node->clauses = list->items;
        node->n_clauses = list->n;
    }
    if (!how.replace) return node;
    if (!fm_options_set(p->arena, &node->options, FM_STR("replaceWhere"), fm_build_text_of(p, how.replace))) fm_parse_no_memory(p);
    return fm_build_with_expr(p, node, how.replace);
}

fm_plan *fm_build_insert_with(fm_parse *p, const fm_token *at, fm_ctes *ctes, fm_plan *insert)
{
    fm_plan *query = insert ? fm_build_with(p, at, ctes, insert->children[0]) : NULL;

    if (query) insert->children[0] = query;
    return query ? insert : NULL;
}

fm_plan *fm_build_target(fm_parse *p, fm_names name, fm_alias_clause alias)
{
    fm_plan *table = fm_build_table(p, name, false, NULL);

    if (!table || !alias.name.len) return table;
    fm_plan *node = fm_build_node(p, FM_PLAN_SUBQUERY_ALIAS, name.pos, table);
    if (!node) return NULL;
    node->name = alias.name;
    node->column_names = alias.column_names.items;
    node->n_column_names = alias.column_names.n;
    return node;
}

fm_assignments fm_build_assignment(fm_parse *p, fm_assignments list, fm_names column, fm_expr *value)
{
    if (!column.n) return list;
    list.columns = fm_build_path(p, list.columns, column);
    fm_expr **items = FM_BUILD_GROW(p, &list.values, fm_expr *);
    if (!items) return list;
    list.values.items = items;
    list.values.items[list.values.n++] = value;
    return list;
}

fm_assignments fm_build_insert_list(fm_parse *p, fm_paths columns, fm_exprs values, const fm_token *at)
{
    if (columns.n != values.n && p->status == FM_OK) {
        fm_parse_fail(p, at->pos, FM_INVALID, "INSERT_COLUMN_ARITY_MISMATCH", "INSERT names %d columns and gives %d values.", (int)columns.n, (int)values.n);
    }
    return (fm_assignments){.columns = columns, .values = values};
}

fm_merge_clause fm_build_clause_of(const fm_token *at, fm_merge_when when, fm_expr *condition, fm_merge_action action, fm_assignments set)
{
    return (fm_merge_clause){.when = when, .action = action, .condition = condition, .star = set.star, .columns = set.columns.items, .values = set.values.items,
                             .n = set.columns.n < set.values.n ? set.columns.n : set.values.n, .pos = at->pos};
}

fm_merge_clauses *fm_build_merge_clause(fm_parse *p, fm_merge_clauses *list, fm_merge_clause clause)
{
    if (!list) list = fm_arena_one(p->arena, fm_merge_clauses);
    fm_merge_clause *items = list ? FM_BUILD_GROW(p, list, fm_merge_clause) : NULL;
    if (!items) {
        fm_parse_no_memory(p);
        return list;
    }
    list->items = items;
    list->items[list->n++] = clause;
    return list;
}

static fm_plan *change(fm_parse *p, fm_plan_kind kind, const fm_token *at, fm_plan *target, fm_merge_clause clause)
{
    fm_plan *node = target ? fm_build_node(p, kind, at->pos, target) : NULL;
    fm_merge_clauses *list = node ? fm_build_merge_clause(p, NULL, clause) : NULL;

    if (!list) return NULL;
    node->clauses = list->items;
    node->n_clauses = list->n;
    return node;
}

fm_plan *fm_build_update(fm_parse *p, const fm_token *at, fm_plan *target, fm_assignments set, fm_expr *where)
{
    return change(p, FM_PLAN_UPDATE, at, target, fm_build_clause_of(at, FM_WHEN_MATCHED, where, FM_MERGE_UPDATE, set));
}

fm_plan *fm_build_delete(fm_parse *p, const fm_token *at, fm_plan *target, fm_expr *where)
{
    return change(p, FM_PLAN_DELETE, at, target, fm_build_clause_of(at, FM_WHEN_MATCHED, where, FM_MERGE_DELETE, (fm_assignments){0}));
}

/* Only the last clause of a kind may go without a condition: those behind it would never be reached. */
static void check_order(fm_parse *p, const fm_merge_clauses *clauses)
{
    static const char *const conditions[] = {"NON_LAST_MATCHED_CLAUSE_OMIT_CONDITION", "NON_LAST_NOT_MATCHED_BY_TARGET_CLAUSE_OMIT_CONDITION",
                                             "NON_LAST_NOT_MATCHED_BY_SOURCE_CLAUSE_OMIT_CONDITION"};

    for (int32_t i = 0; i < clauses->n; i++) {
        for (int32_t k = i + 1; k < clauses->n; k++) {
            if (clauses->items[i].when != clauses->items[k].when || clauses->items[i].condition) continue;
            fm_parse_fail(p, clauses->items[i].pos, FM_INVALID, conditions[clauses->items[i].when],
                          "When there are more than one WHEN clauses of a kind in a MERGE statement, only the last one can omit the condition.");
            return;
        }
    }
}

fm_plan *fm_build_merge(fm_parse *p, const fm_token *at, bool evolve, fm_plan *target, fm_plan *source, fm_expr *on, fm_merge_clauses *clauses)
{
    fm_plan *node = target && source && on && clauses ? fm_build_node2(p, FM_PLAN_MERGE, at->pos, target, source) : NULL;

    if (!node) return NULL;
    check_order(p, clauses);
    node = fm_build_with_expr(p, node, on);
    if (!node) return NULL;
    node->clauses = clauses->items;
    node->n_clauses = clauses->n;
    node->outer = evolve;
    return node;
}

fm_options *fm_build_maintain_option(fm_parse *p, fm_options *list, const char *key, const fm_token *value)
{
    if (!list) list = fm_arena_one(p->arena, fm_options);
    if (!list || !fm_options_set(p->arena, list, fm_str_c(key), value->text)) fm_parse_no_memory(p);
    return list;
}

fm_plan *fm_build_maintain(fm_parse *p, const fm_token *at, const char *what, fm_names name, fm_options *options, fm_expr *where)
{
    fm_plan *node = named(p, FM_PLAN_MAINTAIN, at->pos, name);

    if (!node) return NULL;
    node->what = fm_str_c(what);
    if (options) node->options = *options;
    if (!where) return node;
    if (!fm_options_set(p->arena, &node->options, FM_STR("where"), fm_build_text_of(p, where))) fm_parse_no_memory(p);
    return fm_build_with_expr(p, node, where);
}

/* ---- ALTER TABLE ------------------------------------------------------------------------------------------------------ */

fm_plan *fm_build_alter(fm_parse *p, const fm_token *at, const char *what, fm_names table, fm_names names, bool if_exists, const fm_options *options)
{
    fm_plan *node = named(p, FM_PLAN_ALTER_TABLE, at->pos, table);

    if (!node) return NULL;
    node->what = fm_str_c(what);
    node->column_names = names.items;
    node->n_column_names = names.n;
    node->if_exists = if_exists;
    if (options) node->options = *options;
    return node;
}

fm_plan *fm_build_add_columns(fm_parse *p, const fm_token *at, fm_names table, fm_columns *columns)
{
    fm_plan *node = columns ? fm_build_alter(p, at, "ADD COLUMNS", table, (fm_names){0}, false, NULL) : NULL;
    fm_table_def *def = node ? fm_arena_one(p->arena, fm_table_def) : NULL;

    if (def) def->schema = fm_type_struct(p->arena, columns->items, columns->n);
    if (!def || !def->schema) {
        if (node) fm_parse_no_memory(p);
        return NULL;
    }
    def->columns = columns->defs;
    node->table = def;
    return node;
}

static fm_options *add_pair(fm_parse *p, fm_options *list, const fm_token *key, fm_str value)
{
    if (!list) list = fm_arena_one(p->arena, fm_options);
    if (!list || !fm_options_set(p->arena, list, key->text, value)) fm_parse_no_memory(p);
    return list;
}

fm_options *fm_build_constraint(fm_parse *p, const fm_token *name, const fm_expr *check) { return check ? add_pair(p, NULL, name, fm_build_text_of(p, check)) : NULL; }
fm_options *fm_build_unset(fm_parse *p, fm_options *list, const fm_token *key) { return add_pair(p, list, key, FM_STR("")); }
