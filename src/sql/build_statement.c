/* sql/build_statement.c: statements that are no queries. */
#include "sql/build.h"

static fm_plan *named(fm_parse *p, fm_plan_kind kind, fm_pos pos, fm_names name, fm_plan *child)
{
    fm_plan *node = fm_build_node(p, kind, pos, child);

    if (!node) return NULL;
    node->name_parts = name.items;
    node->n_name_parts = name.n;
    if (name.n) node->name = name.items[name.n - 1];
    return node;
}

fm_plan *fm_build_explain(fm_parse *p, int mode, fm_plan *statement)
{
    fm_plan *node = statement ? fm_build_node(p, FM_PLAN_EXPLAIN, statement->pos, statement) : NULL;

    if (node) node->explain_mode = (fm_explain_mode)mode;
    return node;
}

fm_plan *fm_build_create_table(fm_parse *p, fm_plan_kind kind, const fm_token *t, bool or_replace, bool if_not_exists,
                               fm_names name, fm_token schema, fm_clauses *clauses, fm_plan *query)
{
    fm_plan *node = named(p, kind, t->pos, name, query);
    fm_table_def *def = fm_arena_one(p->arena, fm_table_def);

    if (!node || !def || !clauses) {
        if (!def && p->status == FM_OK) p->status = fm_no_memory(p->arena, p->err);
        return NULL;
    }
    def->name = node->name;
    def->format = clauses->format;
    def->options = clauses->options;
    def->partition_by = clauses->partition_by.items;
    def->n_partition_by = clauses->partition_by.n;
    def->comment = clauses->comment;
    def->pos = t->pos;
    if (schema.text.ptr && fm_str_trim(schema.text).len) {
        fm_status st = fm_type_parse_ddl(p->arena, schema.text, &def->schema, p->err);
        if (st != FM_OK) {
            if (p->err) p->err->line = schema.pos.line, p->err->column = schema.pos.column;
            fm_build_fail(p, st);
            return NULL;
        }
    }
    node->table = def;
    node->or_replace = or_replace;
    node->if_not_exists = if_not_exists;
    return node;
}

fm_plan *fm_build_create_view(fm_parse *p, const fm_token *t, bool or_replace, bool temporary, bool if_not_exists,
                              fm_names name, fm_names column_names, fm_plan *query)
{
    if (query && column_names.n) {
        fm_plan *alias = fm_build_node(p, FM_PLAN_SUBQUERY_ALIAS, t->pos, query);
        if (!alias) return NULL;
        alias->name = name.items[name.n - 1];
        alias->column_names = column_names.items;
        alias->n_column_names = column_names.n;
        query = alias;
    }
    fm_plan *node = named(p, FM_PLAN_CREATE_VIEW, t->pos, name, query);
    if (!node) return NULL;
    node->or_replace = or_replace;
    node->temporary = temporary;
    node->if_not_exists = if_not_exists;
    return node;
}

fm_plan *fm_build_drop(fm_parse *p, const fm_token *t, const char *what, bool if_exists, fm_names name)
{
    fm_plan *node = named(p, FM_PLAN_DROP, t->pos, name, NULL);

    if (!node) return NULL;
    node->what = fm_str_c(what);
    node->if_exists = if_exists;
    return node;
}

fm_plan *fm_build_show(fm_parse *p, const fm_token *t, const char *what, const fm_token *pattern)
{
    fm_plan *node = fm_build_node(p, FM_PLAN_SHOW, t->pos, NULL);

    if (!node) return NULL;
    node->what = fm_str_c(what);
    node->name = pattern->text;
    return node;
}

fm_plan *fm_build_describe(fm_parse *p, const char *what, fm_names name, fm_plan *query)
{
    fm_plan *node = named(p, FM_PLAN_DESCRIBE, name.pos, name, query);

    if (node) node->what = fm_str_c(what);
    return node;
}

fm_clauses *fm_build_clauses(fm_parse *p)
{
    static fm_clauses nowhere; /* for a parse that has failed already */
    fm_clauses *c = fm_arena_one(p->arena, fm_clauses);

    if (c) return c;
    if (p->status == FM_OK) p->status = fm_no_memory(p->arena, p->err);
    nowhere = (fm_clauses){0};
    return &nowhere;
}

fm_clauses *fm_build_add_options(fm_parse *p, fm_clauses *clauses, const fm_options *options)
{
    for (int32_t i = 0; options && i < options->n; i++) {
        const fm_option *o = &options->items[i];
        if (!fm_options_set(p->arena, &clauses->options, o->key, o->value)) {
            if (p->status == FM_OK) p->status = fm_no_memory(p->arena, p->err);
            return clauses;
        }
        fm_option *made = &clauses->options.items[clauses->options.n - 1];
        made->line = o->line;
        made->column = o->column;
    }
    return clauses;
}

fm_clauses *fm_build_add_location(fm_parse *p, fm_clauses *clauses, const fm_token *location)
{
    fm_option o = {.key = FM_STR("path"), .value = location->text, .line = location->pos.line, .column = location->pos.column};

    return fm_build_add_options(p, clauses, &(fm_options){.items = &o, .n = 1, .cap = 1});
}

fm_options *fm_build_option(fm_parse *p, fm_options *list, const fm_token *key, const fm_token *value)
{
    if (!list) list = fm_arena_one(p->arena, fm_options);
    if (!list || !fm_options_set(p->arena, list, key->text, value->text)) {
        if (p->status == FM_OK) p->status = fm_no_memory(p->arena, p->err);
        return list;
    }
    list->items[list->n - 1].line = key->pos.line;
    list->items[list->n - 1].column = key->pos.column;
    return list;
}

fm_token fm_build_join_key(fm_parse *p, const fm_token *a, const fm_token *b)
{
    fm_token joined = *a;

    joined.text = fm_arena_printf(p->arena, "%.*s.%.*s", FM_STR_ARG(a->text), FM_STR_ARG(b->text));
    if (!joined.text.ptr && p->status == FM_OK) p->status = fm_no_memory(p->arena, p->err);
    return joined;
}

fm_token fm_build_negated(fm_parse *p, const fm_token *t)
{
    fm_token negated = *t;

    negated.text = fm_arena_printf(p->arena, "-%.*s", FM_STR_ARG(t->text));
    if (!negated.text.ptr && p->status == FM_OK) p->status = fm_no_memory(p->arena, p->err);
    return negated;
}
