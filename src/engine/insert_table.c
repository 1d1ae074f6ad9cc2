/* engine/insert_table.c: CREATE TABLE ... USING delta, CREATE TABLE AS, INSERT INTO and OVERWRITE: rows through the Delta sink, one
 * commit each. */
#include "engine/tables.h"
#include "sink/delta_sink.h"
#include "sink/sinks.h"
#include "table/delta/delta_commit.h"

/* ---- Rows into a table --------------------------------------------------------------------------------------------------- */

typedef struct loading {
    fm_session *s;
    fm_arena *arena;
    fm_str path;
    fm_output_mode mode;
    const char *operation;
    fm_delta_wish wish;       /* of the table: what CREATE TABLE says */
    bool merge_schema, overwrite_schema;
    const fm_str *names;      /* [n_names] columns by position; NULL: the query's own */
    int32_t n_names;
    fm_pos pos;
    fm_sink *sink;
    fm_sink_writer *writer;
    const fm_type *schema;    /* of the rows, under the table's names */
    int64_t rows;
    fm_status (*check)(struct loading *l, const fm_type *schema, fm_error *err); /* before anything is opened; NULL: none */
} loading;

static fm_status rename_rows(loading *l, const fm_type *schema, fm_error *err)
{
    fm_field *fields = fm_arena_array(l->arena, fm_field, schema->n_fields);

    l->schema = schema;
    if (!l->names) return FM_OK;
    if (l->n_names != schema->n_fields) {
        return fm_fail_at(err, FM_INVALID, l->n_names > schema->n_fields ? "INSERT_COLUMN_ARITY_MISMATCH.NOT_ENOUGH_DATA_COLUMNS" : "INSERT_COLUMN_ARITY_MISMATCH.TOO_MANY_DATA_COLUMNS",
                          l->pos.line, l->pos.column, "Cannot write to the table: it takes %d columns here, and the query gives %d.", (int)l->n_names, (int)schema->n_fields);
    }
    if (!fields) return fm_no_memory(l->arena, err);
    for (int32_t i = 0; i < schema->n_fields; i++) {
        fields[i] = schema->fields[i];
        fields[i].name = l->names[i];
    }
    l->schema = fm_type_struct(l->arena, fields, schema->n_fields);
    return l->schema ? FM_OK : fm_no_memory(l->arena, err);
}

static fm_status begin_rows(void *ctx, const fm_type *schema, fm_error *err)
{
    loading *l = ctx;
    fm_options *options = fm_arena_one(l->arena, fm_options);
    bool skip;

    FM_TRY(rename_rows(l, schema, err));
    if (!options) return fm_no_memory(l->arena, err);
    bool ok = fm_options_set(l->arena, options, FM_STR("path"), l->path);
    if (l->merge_schema) ok &= fm_options_set(l->arena, options, FM_STR("mergeSchema"), FM_STR("true"));
    if (l->overwrite_schema) ok &= fm_options_set(l->arena, options, FM_STR("overwriteSchema"), FM_STR("true"));
    if (!ok) return fm_no_memory(l->arena, err);
    fm_sink_spec spec = {.format = FM_STR("delta"), .options = options, .schema = l->schema, .partition_by = l->wish.partition_by,
                         .n_partition_by = l->wish.n_partition_by, .mode = l->mode};
    FM_TRY(fm_sink_delta.open(&l->s->sink_env, &spec, l->arena, &l->sink, err));
    fm_delta_sink *sink = (fm_delta_sink *)l->sink;
    sink->operation = l->operation;
    sink->wish.properties = l->wish.properties;
    sink->wish.name = l->wish.name;
    sink->wish.description = l->wish.description;
    FM_TRY(fm_sink_delta.begin(l->sink, 0, 1, &skip, err));
    return fm_sink_delta.writer_open(l->sink, 0, &l->writer, err);
}

static fm_status push_rows(void *ctx, const fm_batch *batch, fm_error *err)
{
    loading *l = ctx;
    fm_batch named = {.schema = l->schema, .rows = batch->rows, .columns = batch->columns};

    l->rows += batch->rows;
    return fm_sink_delta.write(l->writer, &named, err);
}

static fm_status load(loading *l, const fm_plan *query, fm_error *err)
{
    fm_rows_to to = {.ctx = l, .begin = begin_rows, .push = push_rows};
    int64_t rows;
    fm_status st = fm_session_query_into(l->s, query, l->arena, &to, err);

    if (st == FM_OK) st = fm_sink_delta.writer_close(l->writer, err);
    if (st == FM_OK) st = fm_sink_delta.commit(l->sink, 0, &rows, err);
    if (l->sink) fm_sink_delta.close(l->sink); /* takes back what was not committed */
    return st;
}

/* ---- INSERT ---------------------------------------------------------------------------------------------------------------- */

/* Columns of a table that an INSERT without a list gives, in order: all. */
static fm_status table_columns(fm_session *s, const fm_table_def *table, loading *l, fm_error *err)
{
    fm_delta_log log;
    fm_delta_snapshot *snapshot;
    fm_str *names;

    FM_TRY(fm_delta_log_of(s, table, l->arena, &log, err));
    fm_status st = fm_delta_snapshot_load(&log, -1, &snapshot, err);
    if (st == FM_NOT_FOUND) return fm_fail(err, FM_INVALID, "DELTA_TABLE_NOT_FOUND", "Delta table '%s' doesn't exist.", log.root.ptr);
    if (st != FM_OK) return st;
    l->n_names = snapshot->schema->type->n_fields;
    names = fm_arena_array(l->arena, fm_str, l->n_names);
    for (int32_t i = 0; names && i < l->n_names; i++) {
        names[i] = fm_arena_str(l->arena, snapshot->schema->type->fields[i].name);
        if (!names[i].ptr) names = NULL;
    }
    l->names = names;
    fm_delta_snapshot_free(snapshot);
    return names ? FM_OK : fm_no_memory(l->arena, err);
}

fm_status fm_session_insert(fm_session *s, const fm_plan *p, fm_result *r, fm_error *err)
{
    const fm_table_def *table;
    bool evolve = false;
    loading l = {.s = s, .arena = r->arena, .mode = p->all ? FM_MODE_COMPLETE : FM_MODE_APPEND, .operation = "WRITE", .pos = p->pos};

    FM_TRY(fm_delta_table_of(s, p->name_parts, p->n_name_parts, p->pos, &table, err));
    FM_TRY(fm_options_bool(&s->settings, "spark.databricks.delta.schema.autoMerge.enabled", false, &evolve, err));
    l.merge_schema = evolve;
    l.path = fm_options_get(&table->options, "path", FM_STR(""));
    if (p->n_column_names) {
        l.names = p->column_names;
        l.n_names = p->n_column_names;
    } else if (!p->by_name) {
        FM_TRY(table_columns(s, table, &l, err));
    }
    return load(&l, p->children[0], err);
}

/* ---- CREATE TABLE ------------------------------------------------------------------------------------------------------------ */

static fm_status properties_of(const fm_options *options, fm_arena *arena, fm_delta_map *out, fm_error *err)
{
    *out = (fm_delta_map){0};
    for (int32_t i = 0; i < options->n; i++) FM_TRY(fm_delta_map_set(arena, out, options->items[i].key, options->items[i].value, err));
    return FM_OK;
}

/* DEFAULT and GENERATED of the columns as Delta keeps them. */
static fm_status column_fields(const fm_table_def *def, fm_arena *arena, fm_delta_field **out, fm_error *err)
{
    *out = NULL;
    if (!def->columns) return FM_OK;
    fm_delta_field *fields = fm_arena_array(arena, fm_delta_field, def->schema->n_fields);
    if (!fields) return fm_no_memory(arena, err);
    for (int32_t i = 0; i < def->schema->n_fields; i++) {
        fm_str generated = def->columns[i].generated_sql, absent = def->columns[i].default_sql;
        fm_strbuf text = {0};
        fields[i] = (fm_delta_field){.metadata = FM_STR("{}"), .id = FM_PARQUET_NO_ID, .physical = def->schema->fields[i].name};
        if (!generated.ptr && !absent.ptr) continue;
        fm_strbuf_printf(&text, "{\"%s\":", generated.ptr ? "delta.generationExpression" : "CURRENT_DEFAULT");
        fm_strbuf_add_json(&text, generated.ptr ? generated : absent);
        fm_strbuf_add_char(&text, '}');
        fields[i].metadata = fm_strbuf_ok(&text) ? fm_arena_str(arena, fm_strbuf_str(&text)) : (fm_str){0};
        fm_strbuf_fini(&text);
        if (!fields[i].metadata.ptr) return fm_no_memory(arena, err);
    }
    *out = fields;
    return FM_OK;
}

static fm_status add_column_features(const fm_table_def *def, fm_arena *arena, fm_delta_plan *plan, fm_error *err)
{
    fm_delta_protocol *p = (fm_delta_protocol *)(uintptr_t)plan->protocol; /* made for us, in arena */
    bool defaults = false, generated = false;

    for (int32_t i = 0; def->columns && i < def->schema->n_fields; i++) {
        defaults |= def->columns[i].default_sql.ptr != NULL;
        generated |= def->columns[i].generated_sql.ptr != NULL;
    }
    if (generated) FM_TRY(fm_delta_add_feature(arena, p, "generatedColumns", false, err));
    return defaults ? fm_delta_add_feature(arena, p, "allowColumnDefaults", false, err) : FM_OK;
}

/* An empty table: one commit with protocol and metadata. */
static fm_status make_empty(fm_session *s, fm_delta_log *log, const fm_table_def *def, fm_delta_wish *wish, fm_arena *arena, fm_error *err)
{
    fm_delta_snapshot *snapshot;
    fm_delta_plan plan;
    fm_delta_field *fields;
    int64_t version;

    FM_TRY(column_fields(def, arena, &fields, err));
    wish->rows = def->schema;
    wish->fields = fields;
    wish->keep_nullability = true;
    FM_TRY(fm_delta_snapshot_empty(log, &snapshot, err));
    fm_status st = fm_delta_plan_write(snapshot, wish, arena, &plan, err);
    if (st == FM_OK) st = add_column_features(def, arena, &plan, err);
    fm_delta_commit c = {.operation = "CREATE TABLE", .protocol = plan.protocol, .metadata = plan.metadata};
    if (st == FM_OK) st = fm_delta_commit_run(snapshot, &c, &version, err);
    fm_delta_snapshot_free(snapshot);
    return st;
}

static fm_status exists(fm_delta_log *log, fm_delta_snapshot **out, bool *there, fm_error *err)
{
    fm_status st = fm_delta_snapshot_load(log, -1, out, err);

    *there = st == FM_OK;
    return st == FM_NOT_FOUND ? FM_OK : st;
}

static fm_status check_same(const fm_delta_snapshot *snapshot, const fm_table_def *def, fm_error *err)
{
    if (!def->schema || fm_type_eq(def->schema, snapshot->schema->type)) return FM_OK;
    return fm_fail(err, FM_INVALID, "DELTA_CREATE_TABLE_SCHEME_MISMATCH",
                   "The specified schema does not match the existing schema at '%s'. Leave the columns out to take the table as it is.", snapshot->log->root.ptr);
}

static fm_status declare(fm_session *s, fm_table_def def, fm_str path, fm_error *err)
{
    fm_options written = def.options;
    bool ok = true;

    def.schema = NULL; /* the log's, at each use */
    def.options = (fm_options){0};
    for (int32_t i = 0; i < written.n; i++) ok = ok && fm_options_set(s->arena, &def.options, written.items[i].key, written.items[i].value);
    if (!ok || !fm_options_set(s->arena, &def.options, FM_STR("path"), path)) return fm_no_memory(s->arena, err);
    return fm_session_add_table(s, &def, false, true, err);
}

fm_status fm_session_create_delta(fm_session *s, const fm_plan *p, fm_result *r, fm_error *err)
{
    fm_table_def def = *p->table;
    fm_arena *arena = r->arena;
    bool by_path = p->n_name_parts == 2 && fm_str_eq_ci(p->name_parts[0], FM_STR("delta")), there;
    fm_str path = by_path ? p->name_parts[1] : fm_str_trim(fm_options_get(&def.options, "path", FM_STR("")));
    bool managed = path.len == 0;
    fm_delta_map properties;
    fm_delta_log log;
    fm_delta_snapshot *snapshot = NULL;

    def.name = p->name_parts[p->n_name_parts - 1];
    if (managed) FM_TRY(fm_warehouse_path(s, def.name, &path, err));
    FM_TRY(fm_delta_log_init(&log, s->env.fs, s->env.clock, path, arena, err));
    FM_TRY(properties_of(&def.properties, arena, &properties, err));
    fm_delta_wish wish = {.partition_by = def.partition_by, .n_partition_by = def.n_partition_by, .properties = &properties, .description = def.comment};
    FM_TRY(exists(&log, &snapshot, &there, err));
    fm_status st = FM_OK;
    if (there && managed && !p->if_not_exists && !p->or_replace) {
        st = fm_fail_at(err, FM_INVALID, "TABLE_OR_VIEW_ALREADY_EXISTS", p->pos.line, p->pos.column,
                        "Cannot create table or view `%.*s` because it already exists. Choose a different name, drop it, or add IF NOT EXISTS or OR REPLACE.",
                        FM_STR_ARG(def.name));
    } else if (p->n_children && !(there && p->if_not_exists)) {
        loading l = {.s = s, .arena = arena, .path = log.root, .mode = there ? FM_MODE_COMPLETE : FM_MODE_APPEND, .operation = "CREATE TABLE AS SELECT", .wish = wish, .pos = p->pos,
                     .overwrite_schema = there};
        if (there && !p->or_replace) {
            st = fm_fail_at(err, FM_INVALID, "TABLE_OR_VIEW_ALREADY_EXISTS", p->pos.line, p->pos.column,
                            "There is a Delta table at '%s' already: write CREATE OR REPLACE TABLE, or INSERT INTO it.", log.root.ptr);
        } else {
            st = load(&l, p->children[0], err);
        }
    } else if (there && p->or_replace) {
        st = fm_fail_at(err, FM_UNSUPPORTED, "FLOODMARK_REPLACE_TABLE", p->pos.line, p->pos.column,
                        "CREATE OR REPLACE TABLE without AS SELECT is not available for a Delta table that is there: DROP it first.");
    } else if (there) {
        st = check_same(snapshot, &def, err);
    } else if (def.schema) {
        st = make_empty(s, &log, &def, &wish, arena, err);
    } /* else: a table that somebody makes later */
    fm_delta_snapshot_free(snapshot);
    return st == FM_OK && !by_path ? declare(s, def, path, err) : st;
}
