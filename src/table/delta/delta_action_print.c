/* table/delta/delta_action_print.c: actions as lines of JSON. */
#include <inttypes.h>

#include "table/delta/delta_action.h"

void fm_delta_map_print(const fm_delta_map *map, fm_strbuf *out)
{
    fm_strbuf_add_char(out, '{');
    for (int32_t i = 0; i < map->n; i++) {
        if (i) fm_strbuf_add_char(out, ',');
        fm_strbuf_add_json(out, map->keys[i]);
        fm_strbuf_add_char(out, ':');
        if (map->values[i].ptr) fm_strbuf_add_json(out, map->values[i]);
        else fm_strbuf_add_c(out, "null");
    }
    fm_strbuf_add_char(out, '}');
}

static void add_list(const fm_str *items, int32_t n, fm_strbuf *out)
{
    fm_strbuf_add_char(out, '[');
    for (int32_t i = 0; i < n; i++) {
        if (i) fm_strbuf_add_char(out, ',');
        fm_strbuf_add_json(out, items[i]);
    }
    fm_strbuf_add_char(out, ']');
}

/* ,"key":"text" */
static void add_text(const char *key, fm_str text, fm_strbuf *out)
{
    fm_strbuf_printf(out, ",\"%s\":", key);
    fm_strbuf_add_json(out, text);
}

void fm_delta_protocol_print(const fm_delta_protocol *p, fm_strbuf *out)
{
    fm_strbuf_printf(out, "{\"protocol\":{\"minReaderVersion\":%" PRId32 ",\"minWriterVersion\":%" PRId32, p->min_reader, p->min_writer);
    if (p->has_reader_features) {
        fm_strbuf_add_c(out, ",\"readerFeatures\":");
        add_list(p->reader_features, p->n_reader_features, out);
    }
    if (p->has_writer_features) {
        fm_strbuf_add_c(out, ",\"writerFeatures\":");
        add_list(p->writer_features, p->n_writer_features, out);
    }
    fm_strbuf_add_c(out, "}}\n");
}

void fm_delta_metadata_print(const fm_delta_metadata *m, fm_strbuf *out)
{
    fm_strbuf_add_c(out, "{\"metaData\":{\"id\":");
    fm_strbuf_add_json(out, m->id);
    if (m->name.ptr) add_text("name", m->name, out);
    if (m->description.ptr) add_text("description", m->description, out);
    fm_strbuf_add_c(out, ",\"format\":{\"provider\":");
    fm_strbuf_add_json(out, m->provider);
    fm_strbuf_add_c(out, ",\"options\":");
    fm_delta_map_print(&m->format_options, out);
    fm_strbuf_add_char(out, '}');
    add_text("schemaString", m->schema, out);
    fm_strbuf_add_c(out, ",\"partitionColumns\":");
    add_list(m->partition_columns, m->n_partition_columns, out);
    fm_strbuf_add_c(out, ",\"configuration\":");
    fm_delta_map_print(&m->configuration, out);
    if (m->created_ms >= 0) fm_strbuf_printf(out, ",\"createdTime\":%" PRId64, m->created_ms);
    fm_strbuf_add_c(out, "}}\n");
}

static void add_dv(const fm_delta_file *f, fm_strbuf *out)
{
    const fm_delta_dv *dv = f->dv;

    if (!dv) return;
    fm_strbuf_printf(out, ",\"deletionVector\":{\"storageType\":\"%c\"", dv->storage);
    add_text("pathOrInlineDv", dv->path, out);
    if (dv->offset >= 0) fm_strbuf_printf(out, ",\"offset\":%" PRId64, dv->offset);
    fm_strbuf_printf(out, ",\"sizeInBytes\":%" PRId64 ",\"cardinality\":%" PRId64 "}", dv->size, dv->cardinality);
}

static void add_row_ids(const fm_delta_file *f, fm_strbuf *out)
{
    if (f->base_row_id >= 0) fm_strbuf_printf(out, ",\"baseRowId\":%" PRId64, f->base_row_id);
    if (f->row_commit_version >= 0) fm_strbuf_printf(out, ",\"defaultRowCommitVersion\":%" PRId64, f->row_commit_version);
}

void fm_delta_add_print(const fm_delta_file *f, fm_strbuf *out)
{
    fm_strbuf_add_c(out, "{\"add\":{\"path\":");
    fm_strbuf_add_json(out, f->path);
    fm_strbuf_add_c(out, ",\"partitionValues\":");
    fm_delta_map_print(&f->partition_values, out);
    fm_strbuf_printf(out, ",\"size\":%" PRId64 ",\"modificationTime\":%" PRId64 ",\"dataChange\":%s", f->size, f->modified_ms,
                     f->data_change ? "true" : "false");
    if (f->stats.ptr) add_text("stats", f->stats, out);
    if (f->has_tags) {
        fm_strbuf_add_c(out, ",\"tags\":");
        fm_delta_map_print(&f->tags, out);
    }
    add_dv(f, out);
    add_row_ids(f, out);
    if (f->clustering_provider.ptr) add_text("clusteringProvider", f->clustering_provider, out);
    fm_strbuf_add_c(out, "}}\n");
}

void fm_delta_remove_print(const fm_delta_file *f, fm_strbuf *out)
{
    fm_strbuf_add_c(out, "{\"remove\":{\"path\":");
    fm_strbuf_add_json(out, f->path);
    if (f->deleted_ms >= 0) fm_strbuf_printf(out, ",\"deletionTimestamp\":%" PRId64, f->deleted_ms);
    fm_strbuf_printf(out, ",\"dataChange\":%s,\"extendedFileMetadata\":true,\"partitionValues\":", f->data_change ? "true" : "false");
    fm_delta_map_print(&f->partition_values, out);
    if (f->size >= 0) fm_strbuf_printf(out, ",\"size\":%" PRId64, f->size);
    add_dv(f, out);
    add_row_ids(f, out);
    fm_strbuf_add_c(out, "}}\n");
}

void fm_delta_cdc_print(const fm_delta_file *f, fm_strbuf *out)
{
    fm_strbuf_add_c(out, "{\"cdc\":{\"path\":");
    fm_strbuf_add_json(out, f->path);
    fm_strbuf_add_c(out, ",\"partitionValues\":");
    fm_delta_map_print(&f->partition_values, out);
    fm_strbuf_printf(out, ",\"size\":%" PRId64 ",\"dataChange\":false}}\n", f->size);
}

void fm_delta_txn_print(const fm_delta_txn *t, fm_strbuf *out)
{
    fm_strbuf_add_c(out, "{\"txn\":{\"appId\":");
    fm_strbuf_add_json(out, t->app_id);
    fm_strbuf_printf(out, ",\"version\":%" PRId64, t->version);
    if (t->updated_ms >= 0) fm_strbuf_printf(out, ",\"lastUpdated\":%" PRId64, t->updated_ms);
    fm_strbuf_add_c(out, "}}\n");
}

void fm_delta_domain_print(const fm_delta_domain *d, fm_strbuf *out)
{
    fm_strbuf_add_c(out, "{\"domainMetadata\":{\"domain\":");
    fm_strbuf_add_json(out, d->domain);
    add_text("configuration", d->configuration, out);
    fm_strbuf_printf(out, ",\"removed\":%s}}\n", d->removed ? "true" : "false");
}

void fm_delta_json_print(const fm_json *v, fm_strbuf *out)
{
    switch (v->kind) {
    case FM_JSON_NULL: fm_strbuf_add_c(out, "null"); return;
    case FM_JSON_BOOL: fm_strbuf_add_c(out, v->boolean ? "true" : "false"); return;
    case FM_JSON_NUMBER: fm_strbuf_add(out, v->text); return;
    case FM_JSON_STRING: fm_strbuf_add_json(out, v->text); return;
    case FM_JSON_ARRAY:
    case FM_JSON_OBJECT: break;
    }
    bool is_object = v->kind == FM_JSON_OBJECT;
    fm_strbuf_add_char(out, is_object ? '{' : '[');
    for (int32_t i = 0; i < v->n; i++) {
        if (i) fm_strbuf_add_char(out, ',');
        if (is_object) {
            fm_strbuf_add_json(out, v->keys[i]);
            fm_strbuf_add_char(out, ':');
        }
        fm_delta_json_print(&v->items[i], out); /* as deep as the reader let it be: FM_JSON_DEPTH_MAX */
    }
    fm_strbuf_add_char(out, is_object ? '}' : ']');
}
