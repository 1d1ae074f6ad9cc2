/* engine/describe_table.c: what a Delta table says of itself: DESCRIBE [EXTENDED], DESCRIBE HISTORY, DESCRIBE DETAIL, SHOW TBLPROPERTIES. */
#include <inttypes.h>

#include "base/time_text.h"
#include "column/builder.h"
#include "engine/maintain.h"

/* ---- Rows of any types ------------------------------------------------------------------------------------------------ */

enum { COLUMNS_MAX = 16 };

typedef struct table {
    const fm_type *type;
    fm_builder *b[COLUMNS_MAX];
    int32_t rows;
} table;

static fm_status table_init(table *t, fm_arena *arena, const char *ddl, int32_t rows, fm_error *err)
{
    FM_TRY(fm_type_parse_ddl(arena, fm_str_c(ddl), &t->type, err));
    fm_assert(t->type->n_fields <= COLUMNS_MAX);
    for (int32_t i = 0; i < t->type->n_fields; i++) {
        t->b[i] = fm_builder_new(arena, t->type->fields[i].type, rows);
        if (!t->b[i]) return fm_no_memory(arena, err);
    }
    t->rows = rows;
    return FM_OK;
}

static fm_status table_finish(table *t, fm_result *r, fm_error *err)
{
    fm_vec columns[COLUMNS_MAX];

    for (int32_t i = 0; i < t->type->n_fields; i++) FM_TRY(fm_builder_finish(t->b[i], &columns[i], err));
    r->schema = t->type;
    fm_batch batch = {.schema = t->type, .rows = t->rows, .columns = columns};
    return fm_result_push(r, &batch, err);
}

static void put_text(fm_builder *b, fm_str text)
{
    if (text.ptr) fm_builder_str(b, text);
    else fm_builder_null(b);
}

static void put_texts(fm_builder *b, const fm_str *items, int32_t n)
{
    for (int32_t i = 0; i < n; i++) fm_builder_str(fm_builder_child(b, 0), items[i]);
    fm_builder_end(b);
}

/* ---- DESCRIBE [EXTENDED] -------------------------------------------------------------------------------------------------- */

enum { DESCRIBE_COLUMNS = 3, DETAIL_ROWS = 8 };

typedef struct told {
    fm_arena *arena;
    fm_str *cells;
    int64_t n;
} told;

static void tell(told *t, fm_str name, fm_str type, fm_str comment)
{
    t->cells[t->n++] = name;
    t->cells[t->n++] = type;
    t->cells[t->n++] = comment;
}

static fm_status tell_column(told *t, const fm_delta_schema *schema, int32_t i, fm_error *err)
{
    const fm_json *metadata, *comment = NULL;
    fm_strbuf text = {0};

    fm_type_text(schema->type->fields[i].type, &text);
    fm_str type = fm_strbuf_ok(&text) ? fm_arena_str(t->arena, fm_strbuf_str(&text)) : (fm_str){0};
    fm_strbuf_fini(&text);
    if (!type.ptr) return fm_no_memory(t->arena, err);
    if (fm_json_read(t->arena, schema->fields[i].metadata, &metadata, NULL) == FM_OK) comment = fm_json_get(metadata, "comment");
    tell(t, schema->type->fields[i].name, type, comment && comment->kind == FM_JSON_STRING ? comment->text : (fm_str){0});
    return FM_OK;
}

/* Rule: Spark, DESCRIBE EXTENDED of a table with columns, partitions and properties. */
static fm_status tell_details(told *t, fm_maintenance *m, fm_error *err)
{
    const fm_delta_metadata *d = &m->c.snapshot->metadata;
    fm_str none = FM_STR("");
    fm_strbuf text = {0};

    int32_t *order = fm_arena_array(t->arena, int32_t, d->configuration.n);
    if (!order) return fm_no_memory(t->arena, err);
    for (int32_t i = 0; i < d->configuration.n; i++) { /* by key; few: insertion sort */
        int32_t k = i;
        for (; k > 0 && fm_str_cmp(d->configuration.keys[order[k - 1]], d->configuration.keys[i]) > 0; k--) order[k] = order[k - 1];
        order[k] = i;
    }
    for (int32_t i = 0; i < d->configuration.n; i++) {
        fm_strbuf_printf(&text, "%s%.*s=%.*s", i ? "," : "", FM_STR_ARG(d->configuration.keys[order[i]]), FM_STR_ARG(d->configuration.values[order[i]]));
    }
    fm_str properties = fm_arena_printf(t->arena, "[%.*s]", FM_STR_ARG(fm_strbuf_str(&text)));
    bool ok = fm_strbuf_ok(&text) && properties.ptr;
    fm_strbuf_fini(&text);
    if (!ok) return fm_no_memory(t->arena, err);
    tell(t, none, none, none);
    tell(t, FM_STR("# Detailed Table Information"), none, none);
    tell(t, FM_STR("Name"), m->name, none);
    if (d->description.len) tell(t, FM_STR("Comment"), d->description, none);
    tell(t, FM_STR("Location"), fm_arena_printf(t->arena, "file:%s", m->c.log.root.ptr), none);
    tell(t, FM_STR("Provider"), FM_STR("delta"), none);
    tell(t, FM_STR("Table Properties"), properties, none);
    return FM_OK;
}

fm_status fm_describe_columns(fm_maintenance *m, fm_error *err)
{
    static const char *const names[DESCRIBE_COLUMNS] = {"col_name", "data_type", "comment"};
    const fm_delta_schema *schema;
    told t = {.arena = m->r->arena};

    FM_TRY(fm_delta_schema_read(t.arena, &m->c.snapshot->metadata, &schema, err));
    t.cells = fm_arena_array(t.arena, fm_str, DESCRIBE_COLUMNS * ((size_t)schema->type->n_fields + (size_t)schema->n_partitions + 2 + DETAIL_ROWS));
    if (!t.cells) return fm_no_memory(t.arena, err);
    for (int32_t i = 0; i < schema->type->n_fields; i++) FM_TRY(tell_column(&t, schema, i, err));
    if (schema->n_partitions) {
        tell(&t, FM_STR("# Partition Information"), FM_STR(""), FM_STR(""));
        tell(&t, FM_STR("# col_name"), FM_STR("data_type"), FM_STR("comment"));
    }
    for (int32_t i = 0; i < schema->n_partitions; i++) FM_TRY(tell_column(&t, schema, schema->partitions[i], err));
    if (fm_str_eq(m->p->what, FM_STR("EXTENDED"))) FM_TRY(tell_details(&t, m, err));
    return fm_result_strings(m->r, names, DESCRIBE_COLUMNS, t.cells, t.n / DESCRIBE_COLUMNS, err);
}

/* ---- DESCRIBE HISTORY --------------------------------------------------------------------------------------------------- */

typedef struct history {
    fm_delta_commit_info info;
    bool found;
} history;

static fm_status visit_info(void *ctx, const fm_delta_action *a, fm_error *err)
{
    history *h = ctx;

    if (a->kind == FM_DELTA_COMMIT_INFO && !h->found) {
        h->info = a->u.commit_info;
        h->found = true;
    }
    return FM_OK;
}

/* An object of the commit as a map of texts. */
static fm_status put_map(fm_builder *b, const fm_json *object, fm_error *err)
{
    if (!object || object->kind != FM_JSON_OBJECT) {
        fm_builder_null(b);
        return FM_OK;
    }
    for (int32_t i = 0; i < object->n; i++) {
        const fm_json *v = &object->items[i];
        fm_strbuf text = {0};
        fm_builder_str(fm_builder_child(b, 0), object->keys[i]);
        if (v->kind == FM_JSON_NULL) {
            fm_builder_null(fm_builder_child(b, 1));
            continue;
        }
        if (v->kind == FM_JSON_STRING) fm_strbuf_add(&text, v->text);
        else fm_delta_json_print(v, &text);
        bool ok = fm_strbuf_ok(&text);
        fm_builder_str(fm_builder_child(b, 1), text.len ? fm_strbuf_str(&text) : FM_STR(""));
        fm_strbuf_fini(&text);
        if (!ok) return fm_no_memory(NULL, err);
    }
    fm_builder_end(b);
    return FM_OK;
}

static fm_str info_text(const history *h, const char *key)
{
    const fm_json *v = h->found ? fm_json_get(h->info.json, key) : NULL;

    return v && v->kind == FM_JSON_STRING ? v->text : (fm_str){0};
}

static void put_bool(fm_builder *b, const fm_json *v)
{
    if (v && v->kind == FM_JSON_BOOL) fm_builder_bool(b, v->boolean);
    else fm_builder_null(b);
}

static fm_status put_commit(fm_maintenance *m, table *t, const fm_delta_commit_time *time, fm_arena *scratch, fm_error *err)
{
    history h = {0};
    fm_str name = fm_delta_commit_name(scratch, time->version);
    int64_t read_version;
    int i = 0;

    if (!name.ptr) return fm_no_memory(scratch, err);
    FM_TRY(fm_delta_log_read(&m->c.log, name, scratch, visit_info, &h, err));
    const fm_json *json = h.found ? h.info.json : NULL;
    fm_builder_i64(t->b[i++], time->version);
    fm_builder_i64(t->b[i++], time->timestamp_ms * FM_US_PER_MS);
    put_text(t->b[i++], info_text(&h, "userId"));
    put_text(t->b[i++], info_text(&h, "userName"));
    put_text(t->b[i++], info_text(&h, "operation"));
    FM_TRY(put_map(t->b[i++], json ? fm_json_get(json, "operationParameters") : NULL, err));
    fm_builder_null(t->b[i++]); /* job, notebook, clusterId: of another place */
    fm_builder_null(t->b[i++]);
    fm_builder_null(t->b[i++]);
    if (json && fm_json_i64(fm_json_get(json, "readVersion"), &read_version)) fm_builder_i64(t->b[i++], read_version);
    else fm_builder_null(t->b[i++]);
    put_text(t->b[i++], info_text(&h, "isolationLevel"));
    put_bool(t->b[i++], json ? fm_json_get(json, "isBlindAppend") : NULL);
    FM_TRY(put_map(t->b[i++], json ? fm_json_get(json, "operationMetrics") : NULL, err));
    put_text(t->b[i++], info_text(&h, "userMetadata"));
    put_text(t->b[i++], info_text(&h, "engineInfo"));
    return FM_OK;
}

fm_status fm_describe_history(fm_maintenance *m, fm_error *err)
{
    static const char ddl[] = "version BIGINT, timestamp TIMESTAMP, userId STRING, userName STRING, operation STRING, operationParameters MAP<STRING, STRING>, "
                              "job STRUCT<jobId: STRING, jobName: STRING, jobRunId: STRING, runId: STRING, jobOwnerId: STRING, triggerType: STRING>, "
                              "notebook STRUCT<notebookId: STRING>, clusterId STRING, readVersion BIGINT, isolationLevel STRING, isBlindAppend BOOLEAN, "
                              "operationMetrics MAP<STRING, STRING>, userMetadata STRING, engineInfo STRING";
    enum { ROWS_MAX = 1000 }; /* as Delta's spark.databricks.delta.history.maxKeysPerList */
    fm_str limit = fm_options_get(&m->p->options, "limit", FM_STR(""));
    fm_delta_commit_time *times;
    int64_t rows = ROWS_MAX;
    int32_t n;
    table t;

    if (limit.len && (!fm_str_to_i64(limit, &rows) || rows < 0)) rows = ROWS_MAX;
    FM_TRY(fm_delta_commit_times(&m->c.log, m->r->arena, &times, &n, err));
    if (rows > n) rows = n;
    FM_TRY(table_init(&t, m->r->arena, ddl, (int32_t)rows, err));
    fm_arena *scratch = fm_arena_new(0);
    fm_status st = scratch ? FM_OK : fm_no_memory(NULL, err);
    for (int32_t i = n - 1; st == FM_OK && i >= n - rows; i--) {
        fm_arena_reset(scratch);
        st = put_commit(m, &t, &times[i], scratch, err);
    }
    fm_arena_free(scratch);
    return st == FM_OK ? table_finish(&t, m->r, err) : st;
}

/* ---- DESCRIBE DETAIL ----------------------------------------------------------------------------------------------------------- */

/* Those of an older protocol are what its versions imply. */
static void put_features(fm_builder *b, const fm_delta_protocol *p)
{
    static const char *const implied[] = {"appendOnly", "changeDataFeed", "checkConstraints", "columnMapping", "generatedColumns", "identityColumns", "invariants"};

    if (p->min_writer >= 7) {
        put_texts(b, p->writer_features, p->n_writer_features);
        return;
    }
    for (size_t i = 0; i < sizeof implied / sizeof implied[0]; i++) {
        if (fm_delta_has_feature(p, implied[i])) fm_builder_str(fm_builder_child(b, 0), fm_str_c(implied[i]));
    }
    fm_builder_end(b);
}

fm_status fm_describe_detail(fm_maintenance *m, fm_error *err)
{
    static const char ddl[] = "format STRING, id STRING, name STRING, description STRING, location STRING, createdAt TIMESTAMP, lastModified TIMESTAMP, "
                              "partitionColumns ARRAY<STRING>, clusteringColumns ARRAY<STRING>, numFiles BIGINT, sizeInBytes BIGINT, properties MAP<STRING, STRING>, "
                              "minReaderVersion INT, minWriterVersion INT, tableFeatures ARRAY<STRING>";
    const fm_delta_snapshot *s = m->c.snapshot;
    bool by_path = m->p->n_name_parts == 2 && fm_str_eq_ci(m->p->name_parts[0], FM_STR("delta"));
    int64_t bytes = 0;
    table t;
    int i = 0;

    for (int32_t k = 0; k < s->n_entries; k++) bytes += s->entries[k].is_live ? s->entries[k].file.size : 0;
    FM_TRY(table_init(&t, m->r->arena, ddl, 1, err));
    put_text(t.b[i++], FM_STR("delta"));
    put_text(t.b[i++], s->metadata.id);
    put_text(t.b[i++], by_path ? s->metadata.name : m->name);
    put_text(t.b[i++], s->metadata.description);
    put_text(t.b[i++], fm_arena_printf(m->r->arena, "file:%s", m->c.log.root.ptr));
    if (s->metadata.created_ms >= 0) fm_builder_i64(t.b[i++], s->metadata.created_ms * FM_US_PER_MS);
    else fm_builder_null(t.b[i++]);
    fm_builder_i64(t.b[i++], s->timestamp_ms * FM_US_PER_MS);
    put_texts(t.b[i++], s->metadata.partition_columns, s->metadata.n_partition_columns);
    put_texts(t.b[i++], NULL, 0);
    fm_builder_i64(t.b[i++], s->n_live);
    fm_builder_i64(t.b[i++], bytes);
    for (int32_t k = 0; k < s->metadata.configuration.n; k++) {
        fm_builder_str(fm_builder_child(t.b[i], 0), s->metadata.configuration.keys[k]);
        put_text(fm_builder_child(t.b[i], 1), s->metadata.configuration.values[k]);
    }
    fm_builder_end(t.b[i++]);
    fm_builder_i64(t.b[i++], s->protocol.min_reader);
    fm_builder_i64(t.b[i++], s->protocol.min_writer);
    put_features(t.b[i++], &s->protocol);
    return table_finish(&t, m->r, err);
}

/* ---- SHOW TBLPROPERTIES -------------------------------------------------------------------------------------------------------- */

typedef struct properties {
    fm_str *cells;
    int64_t n;
    fm_str key; /* the only one wanted; no ptr: all */
} properties;

static void add_property(properties *list, fm_str key, fm_str value)
{
    if (list->key.ptr && !fm_str_eq(list->key, key)) return;
    list->cells[list->n++] = key;
    list->cells[list->n++] = value;
}

fm_status fm_show_properties(fm_maintenance *m, fm_error *err)
{
    static const char *const names[] = {"key", "value"};
    const fm_delta_protocol *p = &m->c.snapshot->protocol;
    const fm_delta_map *c = &m->c.snapshot->metadata.configuration;
    const fm_option *key = fm_options_find(&m->p->options, "key");
    properties list = {.cells = fm_arena_array(m->r->arena, fm_str, 2 * ((size_t)c->n + (size_t)p->n_writer_features + 2)), .key = key ? key->value : (fm_str){0}};

    if (!list.cells) return fm_no_memory(m->r->arena, err);
    for (int32_t i = 0; i < c->n; i++) add_property(&list, c->keys[i], c->values[i]);
    for (int32_t i = 0; i < p->n_writer_features; i++) {
        add_property(&list, fm_arena_printf(m->r->arena, "delta.feature.%.*s", FM_STR_ARG(p->writer_features[i])), FM_STR("supported"));
    }
    add_property(&list, FM_STR("delta.minReaderVersion"), fm_number_text(m->r->arena, p->min_reader));
    add_property(&list, FM_STR("delta.minWriterVersion"), fm_number_text(m->r->arena, p->min_writer));
    if (key && list.n == 0) {
        add_property(&list, key->value, fm_arena_printf(m->r->arena, "Table %.*s does not have property: %.*s", FM_STR_ARG(m->name), FM_STR_ARG(key->value)));
    }
    return fm_result_strings(m->r, names, 2, list.cells, list.n / 2, err);
}
