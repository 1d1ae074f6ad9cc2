/* table/delta/delta_action.c: actions from JSON. */
#include "table/delta/delta_action.h"

#include <inttypes.h>

#include "table/delta/delta_path.h"

/* ---- Maps -------------------------------------------------------------------------------------------------- */

const fm_str *fm_delta_map_find(const fm_delta_map *map, fm_str key)
{
    for (int32_t i = map->n; i-- > 0;) {
        if (fm_str_eq(map->keys[i], key)) return &map->values[i];
    }
    return NULL;
}

fm_str fm_delta_map_get(const fm_delta_map *map, const char *key, fm_str absent)
{
    const fm_str *v = fm_delta_map_find(map, fm_str_c(key));

    return v && v->ptr ? *v : absent;
}

fm_status fm_delta_map_set(fm_arena *arena, fm_delta_map *map, fm_str key, fm_str value, fm_error *err)
{
    fm_str *keys = fm_arena_array(arena, fm_str, map->n + 1), *values = fm_arena_array(arena, fm_str, map->n + 1);
    int32_t at = 0;

    if (!keys || !values) return fm_no_memory(arena, err);
    for (int32_t i = 0; i < map->n; i++) {
        keys[i] = map->keys[i];
        values[i] = map->values[i];
    }
    while (at < map->n && !fm_str_eq(keys[at], key)) at++;
    keys[at] = fm_arena_str(arena, key);
    values[at] = fm_arena_str(arena, value);
    if (!keys[at].ptr || !values[at].ptr) return fm_no_memory(arena, err);
    *map = (fm_delta_map){keys, values, at == map->n ? map->n + 1 : map->n};
    return FM_OK;
}

/* ---- Members ----------------------------------------------------------------------------------------------- */

static fm_status bad_member(const char *key, const char *wanted, fm_error *err)
{
    return fm_fail(err, FM_CORRUPT, "FLOODMARK_DELTA_LOG_DAMAGED", "The member '%s' of an action of the Delta log is not %s.", key, wanted);
}

/* A member that is not there or null gives NULL. */
static const fm_json *member(const fm_json *o, const char *key)
{
    const fm_json *v = fm_json_get(o, key);

    return v && v->kind != FM_JSON_NULL ? v : NULL;
}

static fm_status read_text(const fm_json *o, const char *key, bool required, fm_str *out, fm_error *err)
{
    const fm_json *v = member(o, key);

    *out = (fm_str){0};
    if (!v && !required) return FM_OK;
    if (!v || v->kind != FM_JSON_STRING) return bad_member(key, "a text", err);
    *out = v->text;
    return FM_OK;
}

static fm_status read_number(const fm_json *o, const char *key, bool required, int64_t absent, int64_t *out, fm_error *err)
{
    const fm_json *v = member(o, key);

    *out = absent;
    if (!v && !required) return FM_OK;
    return fm_json_i64(v, out) ? FM_OK : bad_member(key, "a whole number", err);
}

static fm_status read_bool(const fm_json *o, const char *key, bool absent, bool *out, fm_error *err)
{
    const fm_json *v = member(o, key);

    *out = absent;
    if (!v) return FM_OK;
    if (v->kind != FM_JSON_BOOL) return bad_member(key, "true or false", err);
    *out = v->boolean;
    return FM_OK;
}

static fm_status read_map(fm_arena *arena, const fm_json *o, const char *key, fm_delta_map *out, fm_error *err)
{
    const fm_json *v = member(o, key);

    *out = (fm_delta_map){0};
    if (!v) return FM_OK;
    if (v->kind != FM_JSON_OBJECT) return bad_member(key, "an object", err);
    out->keys = fm_arena_array(arena, fm_str, v->n);
    out->values = fm_arena_array(arena, fm_str, v->n);
    if (!out->keys || !out->values) return fm_no_memory(arena, err);
    for (int32_t i = 0; i < v->n; i++) {
        const fm_json *item = &v->items[i];
        out->keys[i] = v->keys[i];
        if (item->kind == FM_JSON_STRING) out->values[i] = item->text;
        else if (item->kind != FM_JSON_NULL) return bad_member(key, "an object of texts", err);
    }
    out->n = v->n;
    return FM_OK;
}

static fm_status read_list(fm_arena *arena, const fm_json *o, const char *key, fm_str **out, int32_t *n, bool *there,
                           fm_error *err)
{
    const fm_json *v = member(o, key);

    *out = NULL;
    *n = 0;
    *there = v != NULL;
    if (!v) return FM_OK;
    if (v->kind != FM_JSON_ARRAY) return bad_member(key, "an array", err);
    *out = fm_arena_array(arena, fm_str, v->n);
    if (!*out) return fm_no_memory(arena, err);
    for (int32_t i = 0; i < v->n; i++) {
        if (v->items[i].kind != FM_JSON_STRING) return bad_member(key, "an array of texts", err);
        (*out)[i] = v->items[i].text;
    }
    *n = v->n;
    return FM_OK;
}

/* ---- Actions ----------------------------------------------------------------------------------------------- */

static fm_status read_protocol(fm_arena *arena, const fm_json *o, fm_delta_protocol *p, fm_error *err)
{
    int64_t reader, writer;

    FM_TRY(read_number(o, "minReaderVersion", true, 0, &reader, err));
    FM_TRY(read_number(o, "minWriterVersion", true, 0, &writer, err));
    if (reader < 0 || reader > INT32_MAX || writer < 0 || writer > INT32_MAX) return bad_member("minReaderVersion", "a version", err);
    p->min_reader = (int32_t)reader;
    p->min_writer = (int32_t)writer;
    FM_TRY(read_list(arena, o, "readerFeatures", &p->reader_features, &p->n_reader_features, &p->has_reader_features, err));
    return read_list(arena, o, "writerFeatures", &p->writer_features, &p->n_writer_features, &p->has_writer_features, err);
}

static fm_status read_metadata(fm_arena *arena, const fm_json *o, fm_delta_metadata *m, fm_error *err)
{
    bool there;

    FM_TRY(read_text(o, "id", true, &m->id, err));
    FM_TRY(read_text(o, "name", false, &m->name, err));
    FM_TRY(read_text(o, "description", false, &m->description, err));
    const fm_json *format = member(o, "format");
    m->provider = FM_STR("parquet");
    if (format) {
        FM_TRY(read_text(format, "provider", true, &m->provider, err));
        FM_TRY(read_map(arena, format, "options", &m->format_options, err));
    }
    FM_TRY(read_text(o, "schemaString", false, &m->schema, err));
    if (!m->schema.ptr) m->schema = FM_STR(FM_DELTA_NO_COLUMNS);
    FM_TRY(read_list(arena, o, "partitionColumns", &m->partition_columns, &m->n_partition_columns, &there, err));
    FM_TRY(read_map(arena, o, "configuration", &m->configuration, err));
    return read_number(o, "createdTime", false, -1, &m->created_ms, err);
}

static fm_status read_dv(fm_arena *arena, const fm_json *o, const fm_delta_dv **out, fm_error *err)
{
    const fm_json *v = member(o, "deletionVector");
    fm_str storage;

    *out = NULL;
    if (!v) return FM_OK;
    fm_delta_dv *dv = fm_arena_one(arena, fm_delta_dv);
    if (!dv) return fm_no_memory(arena, err);
    FM_TRY(read_text(v, "storageType", true, &storage, err));
    if (storage.len != 1 || !strchr("uip", storage.ptr[0])) return bad_member("storageType", "one of u, i, p", err);
    dv->storage = storage.ptr[0];
    FM_TRY(read_text(v, "pathOrInlineDv", true, &dv->path, err));
    FM_TRY(read_number(v, "offset", false, -1, &dv->offset, err));
    FM_TRY(read_number(v, "sizeInBytes", true, 0, &dv->size, err));
    FM_TRY(read_number(v, "cardinality", true, 0, &dv->cardinality, err));
    if (dv->size < 0 || dv->size > INT32_MAX || dv->cardinality < 0 || dv->offset < -1) return bad_member("deletionVector", "within its bounds", err);
    *out = dv;
    return FM_OK;
}

static fm_status read_file(fm_arena *arena, const fm_json *o, fm_delta_kind kind, fm_delta_file *f, fm_error *err)
{
    FM_TRY(read_text(o, "path", true, &f->path, err));
    FM_TRY(read_map(arena, o, "partitionValues", &f->partition_values, err));
    FM_TRY(read_number(o, "size", kind == FM_DELTA_ADD, -1, &f->size, err));
    FM_TRY(read_number(o, "modificationTime", false, 0, &f->modified_ms, err));
    FM_TRY(read_number(o, "deletionTimestamp", false, -1, &f->deleted_ms, err));
    FM_TRY(read_bool(o, "dataChange", kind != FM_DELTA_CDC, &f->data_change, err));
    FM_TRY(read_bool(o, "extendedFileMetadata", false, &f->extended, err));
    FM_TRY(read_text(o, "stats", false, &f->stats, err));
    FM_TRY(read_map(arena, o, "tags", &f->tags, err));
    f->has_tags = member(o, "tags") != NULL;
    FM_TRY(read_dv(arena, o, &f->dv, err));
    FM_TRY(read_number(o, "baseRowId", false, -1, &f->base_row_id, err));
    FM_TRY(read_number(o, "defaultRowCommitVersion", false, -1, &f->row_commit_version, err));
    return read_text(o, "clusteringProvider", false, &f->clustering_provider, err);
}

static fm_status read_commit_info(const fm_json *o, fm_delta_commit_info *c, fm_error *err)
{
    const fm_json *operation = member(o, "operation");

    c->json = o;
    if (operation && operation->kind == FM_JSON_STRING) c->operation = operation->text;
    if (!fm_json_i64(member(o, "timestamp"), &c->timestamp_ms)) c->timestamp_ms = -1; /* free text, by the protocol */
    return read_number(o, "inCommitTimestamp", false, -1, &c->in_commit_ms, err);
}

static fm_status read_body(fm_arena *arena, const fm_json *o, fm_delta_action *a, fm_error *err)
{
    switch (a->kind) {
    case FM_DELTA_PROTOCOL: return read_protocol(arena, o, &a->u.protocol, err);
    case FM_DELTA_METADATA: return read_metadata(arena, o, &a->u.metadata, err);
    case FM_DELTA_ADD:
    case FM_DELTA_REMOVE:
    case FM_DELTA_CDC: return read_file(arena, o, a->kind, &a->u.file, err);
    case FM_DELTA_TXN:
        FM_TRY(read_text(o, "appId", true, &a->u.txn.app_id, err));
        FM_TRY(read_number(o, "version", true, 0, &a->u.txn.version, err));
        return read_number(o, "lastUpdated", false, -1, &a->u.txn.updated_ms, err);
    case FM_DELTA_DOMAIN:
        FM_TRY(read_text(o, "domain", true, &a->u.domain.domain, err));
        FM_TRY(read_text(o, "configuration", false, &a->u.domain.configuration, err));
        return read_bool(o, "removed", false, &a->u.domain.removed, err);
    case FM_DELTA_SIDECAR:
        FM_TRY(read_text(o, "path", true, &a->u.sidecar.path, err));
        FM_TRY(read_number(o, "sizeInBytes", false, -1, &a->u.sidecar.size, err));
        return read_number(o, "modificationTime", false, 0, &a->u.sidecar.modified_ms, err);
    case FM_DELTA_COMMIT_INFO: return read_commit_info(o, &a->u.commit_info, err);
    case FM_DELTA_CHECKPOINT_METADATA:
    case FM_DELTA_OTHER: return FM_OK;
    }
    return FM_OK;
}

static const struct {
    const char *name;
    fm_delta_kind kind;
} kinds[] = {
    {"add", FM_DELTA_ADD}, {"remove", FM_DELTA_REMOVE}, {"commitInfo", FM_DELTA_COMMIT_INFO}, {"txn", FM_DELTA_TXN},
    {"metaData", FM_DELTA_METADATA}, {"protocol", FM_DELTA_PROTOCOL}, {"cdc", FM_DELTA_CDC},
    {"domainMetadata", FM_DELTA_DOMAIN}, {"checkpointMetadata", FM_DELTA_CHECKPOINT_METADATA}, {"sidecar", FM_DELTA_SIDECAR},
};

fm_status fm_delta_action_parse(fm_arena *arena, fm_str line, fm_delta_action *out, fm_error *err)
{
    const fm_json *root;

    *out = (fm_delta_action){.kind = FM_DELTA_OTHER};
    fm_status st = fm_json_read(arena, line, &root, err);
    if (st == FM_INVALID) return fm_fail(err, FM_CORRUPT, "FLOODMARK_DELTA_LOG_DAMAGED", "A line of the Delta log is not JSON: '%.*s'.",
                                         (int)(line.len > 200 ? 200 : line.len), line.ptr);
    if (st != FM_OK) return st;
    if (root->kind != FM_JSON_OBJECT) return fm_fail(err, FM_CORRUPT, "FLOODMARK_DELTA_LOG_DAMAGED", "A line of the Delta log is not an object.");
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        const fm_json *body = member(root, kinds[k].name);
        if (!body) continue;
        if (body->kind != FM_JSON_OBJECT) return bad_member(kinds[k].name, "an object", err);
        out->kind = kinds[k].kind;
        return read_body(arena, body, out, err);
    }
    return FM_OK;
}

fm_status fm_delta_file_key(const fm_delta_file *f, fm_strbuf *key, fm_error *err)
{
    fm_delta_path_decode(f->path, key);
    fm_strbuf_add_char(key, 0);
    if (f->dv) {
        fm_strbuf_add_char(key, f->dv->storage);
        fm_strbuf_add(key, f->dv->path);
        if (f->dv->offset >= 0) fm_strbuf_printf(key, "@%" PRId64, f->dv->offset);
    }
    return fm_strbuf_ok(key) ? FM_OK : fm_no_memory(NULL, err);
}
