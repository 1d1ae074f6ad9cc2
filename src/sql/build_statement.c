/* sql/build_statement.c: statements that are no queries. */
#include "sql/build.h"

#include "base/limits.h"

static fm_plan *named(fm_parse *p, fm_plan_kind kind, fm_pos pos, fm_names name, fm_plan *child)
{
    fm_plan *node = fm_build_node(p, kind, pos, child);

    if (!node) return NULL;
    node->name_parts = name.items;
    node->n_name_parts = name.n;
    if (name.n) node->name = name.items[name.n - 1];
    return node;
}

fm_plan *fm_build_explain(fm_parse *p, const fm_token *at, fm_explain_mode mode, fm_plan *statement)
{
    fm_plan *node = statement ? fm_build_node(p, FM_PLAN_EXPLAIN, at->pos, statement) : NULL;

    if (node) node->explain_mode = mode;
    return node;
}

/* ---- CREATE TABLE ---------------------------------------------------------------------------------------------------- */

/* What a column says besides name and type, beside it. */
static bool add_column_def(fm_parse *p, fm_columns *list, const fm_column *column, int32_t old_cap)
{
    if (list->cap != old_cap) {
        fm_column_def *more = fm_arena_array(p->arena, fm_column_def, list->cap);
        if (!more) {
            fm_parse_no_memory(p);
            return false;
        }
        if (list->n) memcpy(more, list->defs, (size_t)list->n * sizeof *more);
        list->defs = more;
    }
    list->defs[list->n] = column->def;
    return true;
}

fm_columns *fm_build_column(fm_parse *p, fm_columns *list, fm_column column)
{
    fm_error why = FM_ERROR_INIT;
    const fm_type *type = NULL;

    if (!list) list = fm_arena_one(p->arena, fm_columns);
    int32_t cap = list ? list->cap : 0;
    fm_field *items = list ? FM_BUILD_GROW(p, list, fm_field) : NULL;
    if (!items) {
        fm_parse_no_memory(p);
        return list;
    }
    fm_status st = fm_type_parse(p->arena, column.type.text, &type, &why);
    if (st != FM_OK) {
        fm_parse_fail(p, column.type.pos, st, why.condition, "%s", why.message);
        return list;
    }
    if (list->n == FM_SCHEMA_FIELDS_MAX) {
        fm_parse_fail(p, column.name.pos, FM_LIMIT, "FLOODMARK_TOO_MANY_COLUMNS", "A table has %d columns at most.", FM_SCHEMA_FIELDS_MAX);
        return list;
    }
    list->items = items;
    if (!add_column_def(p, list, &column, cap)) return list;
    list->items[list->n++] = (fm_field){.name = column.name.text, .type = type, .nullable = !column.not_null};
    return list;
}

fm_clauses *fm_build_clauses(fm_parse *p)
{
    fm_clauses *c = fm_arena_one(p->arena, fm_clauses);

    if (c) return c;
    fm_parse_no_memory(p);
    return &p->spare;
}

fm_clauses *fm_build_clause(fm_parse *p, fm_clauses *clauses, fm_clause which, const fm_token *at)
{
    static const char *const names[] = {"USING", "OPTIONS", "TBLPROPERTIES", "PARTITIONED BY", "COMMENT", "LOCATION"};

    if (clauses->given & 1u << which) {
        fm_parse_fail(p, at->pos, FM_INVALID, "DUPLICATE_CLAUSES", "Found duplicate clauses: %s. Please, remove one of them.", names[which]);
    }
    clauses->given |= 1u << which;
    return clauses;
}

fm_clauses *fm_build_provider(fm_parse *p, fm_clauses *clauses, fm_names format)
{
    char *text;

    if (!format.n) return clauses;
    for (int32_t i = 0; i < format.n; i++) { /* org.apache.spark.sql.json is one name */
        clauses->format = i ? fm_arena_printf(p->arena, "%.*s.%.*s", FM_STR_ARG(clauses->format), FM_STR_ARG(format.items[i])) : fm_arena_str(p->arena, format.items[0]);
    }
    if (!clauses->format.ptr) {
        fm_parse_no_memory(p);
        return clauses;
    }
    text = (char *)(uintptr_t)clauses->format.ptr; /* our own copy */
    for (size_t i = 0; i < clauses->format.len; i++) text[i] = (char)(text[i] >= 'A' && text[i] <= 'Z' ? text[i] + 32 : text[i]);
    return clauses;
}

static void set_option(fm_parse *p, fm_options *options, const fm_option *o)
{
    if (!fm_options_set(p->arena, options, o->key, o->value)) {
        fm_parse_no_memory(p);
        return;
    }
    for (int32_t i = 0; i < options->n; i++) {
        if (!fm_str_eq_ci(options->items[i].key, o->key)) continue;
        options->items[i].line = o->line;
        options->items[i].column = o->column;
    }
}

void fm_build_add_options(fm_parse *p, fm_clauses *clauses, const fm_options *options)
{
    for (int32_t i = 0; options && i < options->n; i++) set_option(p, &clauses->options, &options->items[i]);
}

/* LOCATION is the option path. */
void fm_build_add_location(fm_parse *p, fm_clauses *clauses, const fm_token *location)
{
    fm_option o = {.key = FM_STR("path"), .value = location->text, .line = location->pos.line, .column = location->pos.column};

    set_option(p, &clauses->options, &o);
}

fm_options *fm_build_option(fm_parse *p, fm_options *list, const fm_token *key, const fm_token *value)
{
    enum { OPTIONS_MAX = 1000 }; /* looked through for each one more */
    fm_option o = {.key = key->text, .value = value->text, .line = key->pos.line, .column = key->pos.column};

    if (!list) list = fm_arena_one(p->arena, fm_options);
    if (!list) {
        fm_parse_no_memory(p);
        return NULL;
    }
    if (list->n == OPTIONS_MAX) {
        fm_parse_fail(p, key->pos, FM_LIMIT, "FLOODMARK_TOO_MANY_OPTIONS", "There are %d options at most.", OPTIONS_MAX);
        return list;
    }
    for (int32_t i = 0; i < list->n; i++) {
        if (!fm_str_eq_ci(list->items[i].key, o.key)) continue;
        fm_parse_fail(p, key->pos, FM_INVALID, "DUPLICATE_KEY", "Found duplicate keys `%.*s`.", FM_STR_ARG(o.key));
        return list;
    }
    set_option(p, list, &o);
    return list;
}

fm_token fm_build_join_key(fm_parse *p, const fm_token *a, const fm_token *b)
{
    enum { KEY_SIZE_MAX = 1000 };
    fm_token joined = *a;

    if (a->text.len > KEY_SIZE_MAX) {
        fm_parse_fail(p, b->pos, FM_LIMIT, "FLOODMARK_TOO_LONG_KEY", "The key of an option has %d bytes at most.", KEY_SIZE_MAX);
        return joined;
    }
    joined.text = fm_arena_printf(p->arena, "%.*s.%.*s", FM_STR_ARG(a->text), FM_STR_ARG(b->text));
    if (!joined.text.ptr) fm_parse_no_memory(p);
    return joined;
}

fm_token fm_build_negated(fm_parse *p, const fm_token *t)
{
    fm_token negated = *t;

    negated.text = fm_arena_printf(p->arena, "-%.*s", FM_STR_ARG(t->text));
    if (!negated.text.ptr) fm_parse_no_memory(p);
    return negated;
}

static fm_plan *create_table(fm_parse *p, fm_plan_kind kind, const fm_create *create, bool if_not_exists, fm_names name, const fm_columns *columns,
                             const fm_clauses *clauses, fm_plan *query)
{
    fm_plan *node = named(p, kind, create->at.pos, name, query);
    fm_table_def *def = fm_arena_one(p->arena, fm_table_def);

    if (!node || !def) {
        if (!def) fm_parse_no_memory(p);
        return NULL;
    }
    def->name = node->name;
    def->format = clauses->format;
    def->options = clauses->options;
    def->partition_by = clauses->partition_by.items;
    def->n_partition_by = clauses->partition_by.n;
    def->comment = clauses->comment;
    def->properties = clauses->properties;
    if (columns) def->columns = columns->defs;
    def->pos = create->at.pos;
    if (columns) def->schema = fm_type_struct(p->arena, columns->items, columns->n);
    if (columns && !def->schema) fm_parse_no_memory(p);
    node->table = def;
    node->or_replace = create->or_replace;
    node->must_exist = create->must_exist;
    node->if_not_exists = if_not_exists;
    if (create->or_replace && if_not_exists) {
        fm_parse_fail(p, create->at.pos, FM_INVALID, "PARSE_SYNTAX_ERROR", "CREATE OR REPLACE and IF NOT EXISTS exclude each other.");
    }
    return node;
}

fm_plan *fm_build_create_table(fm_parse *p, fm_create create, bool temporary, bool if_not_exists, fm_names name, fm_columns *columns, fm_clauses *clauses,
                               fm_plan *query)
{
    if (create.refresh) fm_parse_fail(p, create.at.pos, FM_INVALID, "PARSE_SYNTAX_ERROR", "OR REFRESH is for CREATE STREAMING TABLE: write CREATE OR REPLACE.");
    fm_plan *node = create_table(p, FM_PLAN_CREATE_TABLE, &create, if_not_exists, name, columns, clauses, query);
    if (node) node->temporary = temporary;
    return node;
}

fm_plan *fm_build_create_streaming_table(fm_parse *p, fm_create create, bool if_not_exists, fm_names name, fm_columns *columns, fm_clauses *clauses,
                                         fm_plan *query)
{
    if (!query && p->status == FM_OK) {
        fm_parse_fail(p, create.at.pos, FM_UNSUPPORTED, "FLOODMARK_STREAMING_TABLE_WITHOUT_QUERY",
                      "CREATE STREAMING TABLE needs its query: CREATE STREAMING TABLE name USING format OPTIONS (...) AS SELECT ... FROM STREAM ... .");
    }
    return create_table(p, FM_PLAN_CREATE_STREAMING_TABLE, &create, if_not_exists, name, columns, clauses, query);
}

/* ---- The others ---------------------------------------------------------------------------------------------------------- */

fm_plan *fm_build_create_view(fm_parse *p, fm_create create, bool temporary, bool if_not_exists, fm_names name, fm_names column_names, fm_plan *query)
{
    if (create.refresh) fm_parse_fail(p, create.at.pos, FM_INVALID, "PARSE_SYNTAX_ERROR", "OR REFRESH is for CREATE STREAMING TABLE: write CREATE OR REPLACE.");
    if (query && column_names.n) {
        query = fm_build_node(p, FM_PLAN_SUBQUERY_ALIAS, create.at.pos, query);
        if (!query) return NULL;
        query->name = name.items[name.n - 1];
        query->column_names = column_names.items;
        query->n_column_names = column_names.n;
    }
    fm_plan *node = query ? named(p, FM_PLAN_CREATE_VIEW, create.at.pos, name, query) : NULL;
    if (!node) return NULL;
    node->or_replace = create.or_replace;
    node->temporary = temporary;
    node->if_not_exists = if_not_exists;
    return node;
}

fm_plan *fm_build_drop(fm_parse *p, const fm_token *at, const char *what, bool if_exists, fm_names name)
{
    fm_plan *node = named(p, FM_PLAN_DROP, at->pos, name, NULL);

    if (!node) return NULL;
    node->what = fm_str_c(what);
    node->if_exists = if_exists;
    return node;
}

fm_plan *fm_build_show(fm_parse *p, const fm_token *at, const char *what, const fm_token *pattern)
{
    fm_plan *node = fm_build_node(p, FM_PLAN_SHOW, at->pos, NULL);

    if (!node) return NULL;
    node->what = fm_str_c(what);
    node->name = pattern->text;
    return node;
}

fm_plan *fm_build_show_columns(fm_parse *p, const fm_token *at, fm_names table)
{
    fm_plan *node = table.n ? named(p, FM_PLAN_SHOW, at->pos, table, NULL) : NULL;

    if (node) node->what = FM_STR("COLUMNS");
    return node;
}

fm_plan *fm_build_describe(fm_parse *p, const fm_token *at, const char *what, fm_names name, fm_plan *query)
{
    bool complete = name.n || query;
    fm_plan *node = complete ? named(p, FM_PLAN_DESCRIBE, at->pos, name, query) : NULL;

    if (node) node->what = fm_str_c(what);
    return node;
}
