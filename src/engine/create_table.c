/* engine/create_table.c: CREATE TABLE ... USING delta, CREATE OR REPLACE, REPLACE, with a query or without. */
#include "engine/insert_table.h"

typedef struct creation {
    fm_session *s;
    const fm_plan *p;
    fm_table_def def;
    fm_str path;              /* where the table lies */
    bool managed, there;
    fm_change *c;
} creation;

static fm_status properties_of(const fm_options *options, fm_arena *arena, fm_delta_map *out, fm_error *err)
{
    *out = (fm_delta_map){0};
    for (int32_t i = 0; i < options->n; i++) FM_TRY(fm_delta_map_set(arena, out, options->items[i].key, options->items[i].value, err));
    return FM_OK;
}

static void add_member(fm_strbuf *out, const char *key, fm_str value)
{
    if (!value.ptr) return;
    fm_strbuf_printf(out, "%s\"%s\":", out->len > 1 ? "," : "", key);
    fm_strbuf_add_json(out, value);
}

fm_status fm_column_fields(const fm_type *type, const fm_column_def *columns, fm_arena *arena, fm_delta_field **out, fm_error *err)
{
    *out = NULL;
    if (!columns) return FM_OK;
    fm_delta_field *fields = fm_arena_array(arena, fm_delta_field, type->n_fields);
    if (!fields) return fm_no_memory(arena, err);
    for (int32_t i = 0; i < type->n_fields; i++) {
        fm_strbuf text = {0};
        fm_strbuf_add_char(&text, '{');
        add_member(&text, "comment", columns[i].comment);
        add_member(&text, "CURRENT_DEFAULT", columns[i].default_sql);
        add_member(&text, "delta.generationExpression", columns[i].generated_sql);
        fm_strbuf_add_char(&text, '}');
        fields[i] = (fm_delta_field){.id = FM_PARQUET_NO_ID, .physical = type->fields[i].name, .generated = columns[i].generated_sql, .default_sql = columns[i].default_sql};
        fields[i].metadata = fm_strbuf_ok(&text) ? fm_arena_str(arena, fm_strbuf_str(&text)) : (fm_str){0};
        fm_strbuf_fini(&text);
        if (!fields[i].metadata.ptr) return fm_no_memory(arena, err);
    }
    *out = fields;
    return FM_OK;
}

/* ---- What the commit says ---------------------------------------------------------------------------------------------- */

static fm_status parameters(const creation *k, const fm_delta_metadata *made, fm_str *out, fm_error *err)
{
    fm_arena *arena = k->c->arena;
    fm_strbuf properties = {0};
    fm_delta_map configuration = {0};

    if (made) configuration = made->configuration;
    else FM_TRY(properties_of(&k->def.properties, arena, &configuration, err));
    fm_delta_map_print(&configuration, &properties);
    fm_pair pairs[] = {{"partitionBy", fm_names_json(arena, k->def.partition_by, k->def.n_partition_by)}, {"clusterBy", FM_STR("[]")},
                       {"description", k->def.comment.len ? k->def.comment : (fm_str){0}}, {"isManaged", k->managed ? FM_STR("true") : FM_STR("false")},
                       {"properties", fm_strbuf_ok(&properties) ? fm_arena_str(arena, fm_strbuf_str(&properties)) : (fm_str){0}}};
    fm_strbuf_fini(&properties);
    *out = fm_pairs_json(arena, pairs, 5);
    return out->ptr ? FM_OK : fm_no_memory(arena, err);
}

static const char *operation(const creation *k)
{
    bool query = k->p->n_children > 0;

    if (k->p->must_exist) return query ? "REPLACE TABLE AS SELECT" : "REPLACE TABLE";
    if (k->p->or_replace) return query ? "CREATE OR REPLACE TABLE AS SELECT" : "CREATE OR REPLACE TABLE";
    return query ? "CREATE TABLE AS SELECT" : "CREATE TABLE";
}

/* ---- Making ---------------------------------------------------------------------------------------------------------------- */

/* One commit with protocol and metadata, in which whatever was there goes. */
static fm_status make_empty(creation *k, fm_delta_wish *wish, fm_error *err)
{
    const fm_type *none = fm_type_struct(k->c->arena, NULL, 0);
    fm_delta_field *fields;
    fm_change_totals totals;
    fm_delta_commit d = {.operation = operation(k), .read_files = k->there, .metrics = FM_STR("{}")};

    if (!none) return fm_no_memory(k->c->arena, err);
    FM_TRY(fm_column_fields(k->def.schema, k->def.columns, k->c->arena, &fields, err));
    wish->rows = k->def.schema;
    wish->fields = fields;
    wish->keep_nullability = true;
    FM_TRY(fm_change_plan_rows(k->c, none, wish, false, err)); /* its expressions are read: what is wrong with them is said now */
    FM_TRY(fm_change_finish(k->c, true, &d, &totals, err));
    FM_TRY(parameters(k, k->c->plan.metadata, &d.parameters, err));
    return fm_change_commit(k->c, &d, err);
}

static fm_status fill(creation *k, const fm_delta_wish *wish, fm_error *err)
{
    fm_insertion in = {.mode = k->there ? FM_INSERT_OVERWRITE : FM_INSERT_APPEND, .query = k->p->children[0], .wish = *wish, .operation = operation(k), .makes_table = true, .pos = k->p->pos};

    if (k->def.schema) {
        return fm_fail_at(err, FM_INVALID, "PARSE_SYNTAX_ERROR", k->p->pos.line, k->p->pos.column, "A schema may not be specified in a Create Table As Select (CTAS) statement.");
    }
    FM_TRY(parameters(k, NULL, &in.parameters, err));
    return fm_insert_rows(k->c, &in, err);
}

static fm_status already(const creation *k, fm_error *err)
{
    return fm_fail_at(err, FM_INVALID, "TABLE_OR_VIEW_ALREADY_EXISTS", k->p->pos.line, k->p->pos.column,
                      "Cannot create table or view `%.*s` because it already exists. Choose a different name, drop it, or add IF NOT EXISTS or OR REPLACE.", FM_STR_ARG(k->def.name));
}

/* A folder with a table may be named again, by what it is. */
static fm_status check_same(const creation *k, fm_error *err)
{
    const fm_delta_snapshot *s = k->c->snapshot;

    if (!k->def.schema || fm_type_eq(k->def.schema, s->schema->type)) return FM_OK;
    return fm_fail(err, FM_INVALID, "DELTA_CREATE_TABLE_SCHEME_MISMATCH",
                   "The specified schema does not match the existing schema at '%s'. Leave the columns out to take the table as it is.", s->log->root.ptr);
}

static fm_status run(creation *k, fm_error *err)
{
    fm_delta_map properties;
    bool query = k->p->n_children > 0, replaces = k->p->or_replace;

    k->there = k->c->snapshot->version >= 0;
    FM_TRY(properties_of(&k->def.properties, k->c->arena, &properties, err));
    fm_delta_wish wish = {.partition_by = k->def.partition_by, .n_partition_by = k->def.n_partition_by, .properties = &properties, .description = k->def.comment,
                          .replace = k->there};
    if (k->there && k->p->if_not_exists) return check_same(k, err);
    if (!k->there && k->p->must_exist) {
        return fm_fail_at(err, FM_INVALID, "TABLE_OR_VIEW_NOT_FOUND", k->p->pos.line, k->p->pos.column, "The table or view `%.*s` cannot be found: REPLACE TABLE replaces one that is there.",
                          FM_STR_ARG(k->def.name));
    }
    if (k->there && !replaces && (query || k->managed)) return already(k, err);
    if (query) return fill(k, &wish, err);
    if (k->there && !replaces) return check_same(k, err);
    if (!k->def.schema) return FM_OK; /* a table that somebody makes later */
    return make_empty(k, &wish, err);
}

/* The name is the session's from now on; a reader's options stay with it. */
static fm_status declare(const creation *k, fm_error *err)
{
    fm_table_def def = k->def;
    fm_options written = def.options;
    bool ok = true;

    def.schema = NULL; /* the log's, at each use */
    def.columns = NULL;
    def.properties = def.options = (fm_options){0};
    for (int32_t i = 0; i < written.n; i++) ok = ok && fm_options_set(k->s->arena, &def.options, written.items[i].key, written.items[i].value);
    if (!ok || !fm_options_set(k->s->arena, &def.options, FM_STR("path"), k->path)) return fm_no_memory(k->s->arena, err);
    return fm_session_add_table(k->s, &def, false, true, err);
}

fm_status fm_session_create_delta(fm_session *s, const fm_plan *p, fm_result *r, fm_error *err)
{
    bool by_path = p->n_name_parts == 2 && fm_str_eq_ci(p->name_parts[0], FM_STR("delta"));
    fm_change c;
    creation k = {.s = s, .p = p, .def = *p->table, .c = &c};
    fm_status st = FM_CONFLICT;

    k.def.name = p->name_parts[p->n_name_parts - 1];
    if (by_path) k.path = p->name_parts[1];
    else FM_TRY(fm_location_of(&k.def.options, &k.path, err));
    k.managed = k.path.len == 0;
    const fm_relation *r0 = by_path ? NULL : fm_session_find(s, k.def.name);
    if (r0 && p->if_not_exists) return FM_OK;
    if (r0 && (r0->view || !p->or_replace)) return already(&k, err);
    if (k.managed) FM_TRY(fm_warehouse_path(s, k.def.name, &k.path, err));
    for (int tries = 0; st == FM_CONFLICT && tries < FM_CHANGE_TRIES_MAX; tries++) {
        st = fm_change_begin_new(&c, s, k.path, err);
        if (st == FM_OK) st = run(&k, err);
        fm_change_end(&c, st);
    }
    return st == FM_OK && !by_path ? declare(&k, err) : st;
}
