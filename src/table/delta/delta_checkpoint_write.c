/* table/delta/delta_checkpoint_write.c: writing checkpoints, and removing what they make superfluous. */
#include <inttypes.h>

#include "base/limits.h"
#include "base/time_text.h"
#include "column/builder.h"
#include "format/parquet.h"
#include "os/random.h"
#include "table/delta/delta_checkpoint.h"
#include "table/delta/delta_checkpoint_schema.h"

#define DAY_MS INT64_C(86400000)

typedef struct cp_writer {
    fm_arena *arena, *batch;
    const fm_type *schema;
    fm_parquet_writer *parquet;
    fm_builder *columns[FM_CP_SIDECAR + 1];
    int32_t n_columns;
    int32_t rows;    /* in the builders */
    int64_t actions, adds;
    fm_strbuf out;
} cp_writer;

/* ---- Values ------------------------------------------------------------------------------------------------- */

static void put_text(fm_builder *b, int32_t field, fm_str text)
{
    fm_builder *c = fm_builder_child(b, field);

    if (text.ptr) fm_builder_str_ref(c, text);
    else fm_builder_null(c);
}

static void put_i64(fm_builder *b, int32_t field, int64_t x, int64_t absent)
{
    fm_builder *c = fm_builder_child(b, field);

    if (x != absent) fm_builder_i64(c, x);
    else fm_builder_null(c);
}

static void put_map(fm_builder *b, int32_t field, const fm_delta_map *map, bool there)
{
    fm_builder *c = fm_builder_child(b, field);

    if (!there) {
        fm_builder_null(c);
        return;
    }
    for (int32_t i = 0; i < map->n; i++) {
        fm_builder_str_ref(fm_builder_child(c, 0), map->keys[i]);
        put_text(c, 1, map->values[i]);
    }
    fm_builder_end(c);
}

static void put_list(fm_builder *b, int32_t field, const fm_str *items, int32_t n, bool there)
{
    fm_builder *c = fm_builder_child(b, field);

    if (!there) {
        fm_builder_null(c);
        return;
    }
    for (int32_t i = 0; i < n; i++) fm_builder_str_ref(fm_builder_child(c, 0), items[i]);
    fm_builder_end(c);
}

static void put_dv(fm_builder *b, int32_t field, const fm_delta_dv *dv)
{
    fm_builder *c = fm_builder_child(b, field);

    if (!dv) {
        fm_builder_null(c);
        return;
    }
    fm_builder_str(fm_builder_child(c, 0), (fm_str){&dv->storage, 1});
    put_text(c, 1, dv->path);
    put_i64(c, 2, dv->offset, -1);
    fm_builder_i64(fm_builder_child(c, 3), dv->size);
    fm_builder_i64(fm_builder_child(c, 4), dv->cardinality);
    fm_builder_end(c);
}

/* ---- Rows --------------------------------------------------------------------------------------------------- */

static fm_status begin_batch(cp_writer *w, fm_error *err)
{
    fm_arena_reset(w->batch);
    w->rows = 0;
    for (int32_t i = 0; i < w->n_columns; i++) {
        w->columns[i] = fm_builder_new(w->batch, w->schema->fields[i].type, FM_BATCH_ROWS_DECODE);
        if (!w->columns[i]) return fm_no_memory(w->batch, err);
    }
    return FM_OK;
}

static fm_status flush(cp_writer *w, fm_error *err)
{
    fm_vec *columns = fm_arena_array(w->batch, fm_vec, w->n_columns);

    if (!columns) return fm_no_memory(w->batch, err);
    for (int32_t i = 0; i < w->n_columns; i++) FM_TRY(fm_builder_finish(w->columns[i], &columns[i], err));
    fm_batch batch = {.schema = w->schema, .rows = w->rows, .columns = columns};
    FM_TRY(fm_parquet_writer_write(w->parquet, &batch, &w->out, err));
    return begin_batch(w, err);
}

/* Ends a row of which `column` was filled. */
static fm_status end_row(cp_writer *w, int32_t column, fm_error *err)
{
    for (int32_t i = 0; i < w->n_columns; i++) {
        if (i == column) fm_builder_end(w->columns[i]);
        else fm_builder_null(w->columns[i]);
    }
    w->actions++;
    return ++w->rows < FM_BATCH_ROWS_DECODE ? FM_OK : flush(w, err);
}

static fm_status write_protocol(cp_writer *w, const fm_delta_protocol *p, fm_error *err)
{
    fm_builder *b = w->columns[FM_CP_PROTOCOL];

    fm_builder_i64(fm_builder_child(b, FM_CP_PROTOCOL_READER), p->min_reader);
    fm_builder_i64(fm_builder_child(b, FM_CP_PROTOCOL_WRITER), p->min_writer);
    put_list(b, FM_CP_PROTOCOL_READER_FEATURES, p->reader_features, p->n_reader_features, p->has_reader_features);
    put_list(b, FM_CP_PROTOCOL_WRITER_FEATURES, p->writer_features, p->n_writer_features, p->has_writer_features);
    return end_row(w, FM_CP_PROTOCOL, err);
}

static fm_status write_metadata(cp_writer *w, const fm_delta_metadata *m, fm_error *err)
{
    fm_builder *b = w->columns[FM_CP_METADATA], *format = fm_builder_child(b, FM_CP_META_FORMAT);

    put_text(b, FM_CP_META_ID, m->id);
    put_text(b, FM_CP_META_NAME, m->name);
    put_text(b, FM_CP_META_DESCRIPTION, m->description);
    put_text(format, 0, m->provider);
    put_map(format, 1, &m->format_options, true);
    fm_builder_end(format);
    put_text(b, FM_CP_META_SCHEMA, m->schema);
    put_list(b, FM_CP_META_PARTITIONS, m->partition_columns, m->n_partition_columns, true);
    put_map(b, FM_CP_META_CONFIGURATION, &m->configuration, true);
    put_i64(b, FM_CP_META_CREATED, m->created_ms, -1);
    return end_row(w, FM_CP_METADATA, err);
}

static fm_status write_txn(cp_writer *w, const fm_delta_txn *t, fm_error *err)
{
    fm_builder *b = w->columns[FM_CP_TXN];

    put_text(b, FM_CP_TXN_APP, t->app_id);
    fm_builder_i64(fm_builder_child(b, FM_CP_TXN_VERSION), t->version);
    put_i64(b, FM_CP_TXN_UPDATED, t->updated_ms, -1);
    return end_row(w, FM_CP_TXN, err);
}

static fm_status write_domain(cp_writer *w, const fm_delta_domain *d, fm_error *err)
{
    fm_builder *b = w->columns[FM_CP_DOMAIN];

    put_text(b, FM_CP_DOMAIN_NAME, d->domain);
    put_text(b, FM_CP_DOMAIN_CONFIGURATION, d->configuration);
    fm_builder_bool(fm_builder_child(b, FM_CP_DOMAIN_REMOVED), d->removed);
    return end_row(w, FM_CP_DOMAIN, err);
}

static fm_status write_add(cp_writer *w, const fm_delta_file *f, fm_error *err)
{
    fm_builder *b = w->columns[FM_CP_ADD];

    put_text(b, FM_CP_ADD_PATH, f->path);
    put_map(b, FM_CP_ADD_VALUES, &f->partition_values, true);
    fm_builder_i64(fm_builder_child(b, FM_CP_ADD_SIZE), f->size);
    fm_builder_i64(fm_builder_child(b, FM_CP_ADD_MODIFIED), f->modified_ms);
    fm_builder_bool(fm_builder_child(b, FM_CP_ADD_CHANGE), false); /* a checkpoint changes nothing */
    put_text(b, FM_CP_ADD_STATS, f->stats);
    put_map(b, FM_CP_ADD_TAGS, &f->tags, f->has_tags);
    put_dv(b, FM_CP_ADD_DV, f->dv);
    put_i64(b, FM_CP_ADD_ROW_ID, f->base_row_id, -1);
    put_i64(b, FM_CP_ADD_ROW_VERSION, f->row_commit_version, -1);
    put_text(b, FM_CP_ADD_CLUSTERING, f->clustering_provider);
    w->adds++;
    return end_row(w, FM_CP_ADD, err);
}

static fm_status write_remove(cp_writer *w, const fm_delta_file *f, fm_error *err)
{
    fm_builder *b = w->columns[FM_CP_REMOVE];

    put_text(b, FM_CP_REMOVE_PATH, f->path);
    put_i64(b, FM_CP_REMOVE_DELETED, f->deleted_ms, -1);
    fm_builder_bool(fm_builder_child(b, FM_CP_REMOVE_CHANGE), false);
    fm_builder_bool(fm_builder_child(b, FM_CP_REMOVE_EXTENDED), f->extended);
    put_map(b, FM_CP_REMOVE_VALUES, &f->partition_values, f->extended);
    put_i64(b, FM_CP_REMOVE_SIZE, f->size, -1);
    put_dv(b, FM_CP_REMOVE_DV, f->dv);
    put_i64(b, FM_CP_REMOVE_ROW_ID, f->base_row_id, -1);
    put_i64(b, FM_CP_REMOVE_ROW_VERSION, f->row_commit_version, -1);
    return end_row(w, FM_CP_REMOVE, err);
}

static fm_status write_checkpoint_metadata(cp_writer *w, int64_t version, fm_error *err)
{
    fm_builder *b = w->columns[FM_CP_CHECKPOINT];

    fm_builder_i64(fm_builder_child(b, 0), version);
    fm_builder_null(fm_builder_child(b, 1));
    return end_row(w, FM_CP_CHECKPOINT, err);
}

static fm_status write_state(cp_writer *w, const fm_delta_snapshot *s, bool is_v2, fm_error *err)
{
    int64_t now_ms = fm_clock_now_us(s->log->clock) / FM_US_PER_MS;
    int64_t keep_ms = fm_delta_property_ms(&s->metadata, "delta.deletedFileRetentionDuration", 7 * DAY_MS);

    FM_TRY(begin_batch(w, err));
    if (is_v2) FM_TRY(write_checkpoint_metadata(w, s->version, err));
    FM_TRY(write_protocol(w, &s->protocol, err));
    FM_TRY(write_metadata(w, &s->metadata, err));
    for (int32_t i = 0; i < s->n_txns; i++) FM_TRY(write_txn(w, &s->txns[i], err));
    for (int32_t i = 0; i < s->n_domains; i++) {
        if (!s->domains[i].removed) FM_TRY(write_domain(w, &s->domains[i], err));
    }
    for (int32_t i = 0; i < s->n_entries; i++) {
        const fm_delta_entry *e = &s->entries[i];
        if (e->is_live) FM_TRY(write_add(w, &e->file, err));
        else if (e->file.deleted_ms > now_ms - keep_ms) FM_TRY(write_remove(w, &e->file, err));
    }
    FM_TRY(flush(w, err));
    return fm_parquet_writer_finish(w->parquet, &w->out, err);
}

/* ---- The file ----------------------------------------------------------------------------------------------- */

static fm_status write_last(const fm_delta_snapshot *s, const cp_writer *w, fm_error *err)
{
    fm_str path = fm_arena_printf(w->arena, "%s/_last_checkpoint", s->log->dir.ptr);
    fm_str text = fm_arena_printf(w->arena, "{\"version\":%" PRId64 ",\"size\":%" PRId64 ",\"sizeInBytes\":%zu,\"numOfAddFiles\":%" PRId64 "}",
                                  s->version, w->actions, w->out.len, w->adds);

    if (!path.ptr || !text.ptr) return fm_no_memory(w->arena, err);
    return fm_fs_write_atomic(s->log->fs, path.ptr, text, true, err);
}

static fm_status write_all(cp_writer *w, const fm_delta_snapshot *s, fm_error *err)
{
    bool is_v2 = fm_delta_has_feature(&s->protocol, "v2Checkpoint") &&
                 fm_str_eq_ci(fm_delta_map_get(&s->metadata.configuration, "delta.checkpointPolicy", FM_STR("classic")), FM_STR("v2"));
    fm_parquet_write spec = {.codec = FM_PARQUET_SNAPPY, .no_page_index = true};
    char uuid[FM_UUID_TEXT_SIZE];
    fm_str path;

    FM_TRY(fm_type_parse_ddl(w->arena, is_v2 ? FM_STR(FM_DELTA_CHECKPOINT_DDL FM_DELTA_CHECKPOINT_V2_DDL) : FM_STR(FM_DELTA_CHECKPOINT_DDL),
                             &w->schema, err));
    w->n_columns = w->schema->n_fields;
    spec.schema = w->schema;
    FM_TRY(fm_parquet_writer_new(&spec, &w->parquet, err));
    FM_TRY(write_state(w, s, is_v2, err));
    fm_uuid(uuid);
    path = is_v2 ? fm_arena_printf(w->arena, "%s/%020" PRId64 ".checkpoint.%s.parquet", s->log->dir.ptr, s->version, uuid)
                 : fm_arena_printf(w->arena, "%s/%020" PRId64 ".checkpoint.parquet", s->log->dir.ptr, s->version);
    if (!path.ptr || !fm_strbuf_ok(&w->out)) return fm_no_memory(w->arena, err);
    fm_status st = fm_fs_write_atomic(s->log->fs, path.ptr, fm_strbuf_str(&w->out), false, err);
    if (st == FM_CONFLICT) return FM_OK; /* another writer of the same version was first */
    return st == FM_OK ? write_last(s, w, err) : st;
}

fm_status fm_delta_checkpoint_write(const fm_delta_snapshot *s, fm_error *err)
{
    cp_writer w = {.arena = fm_arena_new(0), .batch = fm_arena_new(0)};
    fm_status st = w.arena && w.batch ? write_all(&w, s, err) : fm_no_memory(NULL, err);

    fm_parquet_writer_free(w.parquet);
    fm_strbuf_fini(&w.out);
    fm_arena_free(w.arena);
    fm_arena_free(w.batch);
    return fm_context(err, st, "writing the checkpoint of version %" PRId64, s->version);
}

/* ---- Cleaning ----------------------------------------------------------------------------------------------- */

static void remove_below(const fm_delta_snapshot *s, const fm_delta_listing *l, int64_t version, fm_arena *arena)
{
    const fm_delta_log *log = s->log;

    for (int32_t i = 0; i < l->n_checkpoints && l->checkpoints[i].version < version; i++) {
        for (int32_t k = 0; k < l->checkpoints[i].n; k++) {
            fm_str path = fm_arena_printf(arena, "%s/%.*s", log->dir.ptr, FM_STR_ARG(l->checkpoints[i].names[k]));
            if (path.ptr) fm_fs_remove(log->fs, path.ptr, NULL);
        }
    }
    for (int32_t i = 0; i < l->n_compactions && l->compactions[i].from <= version; i++) {
        fm_str path = fm_arena_printf(arena, "%s/%.*s", log->dir.ptr, FM_STR_ARG(l->compactions[i].name));
        if (path.ptr) fm_fs_remove(log->fs, path.ptr, NULL);
    }
    for (int32_t i = 0; i < l->n_commits && l->commits[i].version < version; i++) {
        fm_str path = fm_delta_commit_path(log, arena, l->commits[i].version);
        fm_str crc = fm_arena_printf(arena, "%s/%020" PRId64 ".crc", log->dir.ptr, l->commits[i].version);
        if (!path.ptr || fm_fs_remove(log->fs, path.ptr, NULL) != FM_OK) return; /* the oldest first: never a hole */
        if (crc.ptr) fm_fs_remove(log->fs, crc.ptr, NULL);
    }
}

fm_status fm_delta_log_clean(const fm_delta_snapshot *s, fm_error *err)
{
    int64_t keep_ms = fm_delta_property_ms(&s->metadata, "delta.logRetentionDuration", 30 * DAY_MS);
    int64_t now_ms = fm_clock_now_us(s->log->clock) / FM_US_PER_MS, cutoff_ms = fm_floor_div(now_ms - keep_ms, DAY_MS) * DAY_MS;
    int64_t cutoff = -1, checkpoint = -1;
    fm_delta_commit_time *times;
    fm_delta_listing l;
    int32_t n;

    if (!fm_delta_property(&s->metadata, "delta.enableExpiredLogCleanup", true) || fm_delta_has_feature(&s->protocol, "checkpointProtection")) {
        return FM_OK;
    }
    fm_arena *arena = fm_arena_new(0);
    if (!arena) return fm_no_memory(NULL, err);
    fm_status st = fm_delta_log_list(s->log, arena, &l, err);
    /* The listing's own times say whether anything can be old; reading in-commit times is for then. */
    if (st == FM_OK && l.n_commits && l.commits[0].modified_ms <= cutoff_ms) {
        st = fm_delta_commit_times(s->log, arena, &times, &n, err);
        for (int32_t i = 0; st == FM_OK && i < n && times[i].timestamp_ms <= cutoff_ms; i++) cutoff = times[i].version;
        for (int32_t i = 0; i < l.n_checkpoints && l.checkpoints[i].version <= cutoff; i++) checkpoint = l.checkpoints[i].version;
        if (st == FM_OK && checkpoint >= 0) remove_below(s, &l, checkpoint, arena);
    }
    fm_arena_free(arena);
    return st;
}
