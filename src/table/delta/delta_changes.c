/* table/delta/delta_changes.c: the change data feed, out of commits. */
#include "table/delta/delta_changes.h"

#include <inttypes.h>

#include "table/delta/delta_index.h"

/* ---- A commit --------------------------------------------------------------------------------------------------- */

/* Actions of a commit that change data. */
typedef struct file_list {
    fm_delta_file *items;
    int32_t n, cap;
} file_list;

typedef struct commit {
    fm_arena *arena;
    fm_delta_changes *out;
    file_list adds, removes, cdcs;
    int64_t in_commit_ms;
    bool nothing_changed; /* says a MERGE that rewrote files all the same */
} commit;

static fm_status add_file(commit *c, file_list *l, const fm_delta_file *file, fm_error *err)
{
    if (!FM_GROW(c->arena, l->items, l->n, l->cap)) return fm_no_memory(c->arena, err);
    l->items[l->n++] = *file;
    return FM_OK;
}

static bool is_zero(const fm_json *metrics, const char *name)
{
    const fm_json *v = fm_json_get(metrics, name);

    return v && fm_str_eq(v->text, FM_STR("0"));
}

static bool changed_nothing(const fm_delta_commit_info *info)
{
    const fm_json *metrics = info->json ? fm_json_get(info->json, "operationMetrics") : NULL;

    return fm_str_eq(info->operation, FM_STR("MERGE")) && metrics && is_zero(metrics, "numTargetRowsInserted") &&
           is_zero(metrics, "numTargetRowsUpdated") && is_zero(metrics, "numTargetRowsDeleted");
}

static fm_status visit(void *ctx, const fm_delta_action *a, fm_error *err)
{
    commit *c = ctx;

    switch (a->kind) {
    case FM_DELTA_ADD: return a->u.file.data_change ? add_file(c, &c->adds, &a->u.file, err) : FM_OK;
    case FM_DELTA_REMOVE: return a->u.file.data_change ? add_file(c, &c->removes, &a->u.file, err) : FM_OK;
    case FM_DELTA_CDC: return add_file(c, &c->cdcs, &a->u.file, err);
    case FM_DELTA_METADATA:
        c->out->has_metadata = true;
        c->out->metadata = a->u.metadata;
        return FM_OK;
    case FM_DELTA_PROTOCOL:
        c->out->has_protocol = true;
        c->out->protocol = a->u.protocol;
        return FM_OK;
    case FM_DELTA_COMMIT_INFO:
        c->in_commit_ms = a->u.commit_info.in_commit_ms;
        c->nothing_changed = changed_nothing(&a->u.commit_info);
        return FM_OK;
    default: return FM_OK;
    }
}

/* ---- Pieces ------------------------------------------------------------------------------------------------------- */

static void add_piece(fm_delta_changes *out, fm_delta_change_kind kind, const fm_delta_file *file, const fm_delta_dv *gone, const fm_delta_dv *only)
{
    fm_delta_change *c = &out->items[out->n++];

    fm_assert(out->n <= out->cap);
    *c = (fm_delta_change){.kind = kind, .file = *file, .only = only};
    c->file.dv = gone;
}

/* One data file with another deletion vector. */
static void add_difference(fm_delta_changes *out, const fm_delta_file *before, const fm_delta_file *after)
{
    if (after->dv) add_piece(out, FM_DELTA_DELETED, after, before->dv, after->dv);
    if (before->dv) add_piece(out, FM_DELTA_INSERTED, after, after->dv, before->dv);
}

/* A remove says what partition it was of, since files of a feed have their partition columns there. */
static fm_status check_removed(const fm_delta_file *file, fm_error *err)
{
    if (file->extended || file->partition_values.n > 0) return FM_OK;
    return fm_fail(err, FM_INVALID, "DELTA_REMOVE_FILE_CDC_MISSING_EXTENDED_METADATA", "RemoveFile created without extended metadata is ineligible for CDC: %.*s",
                   FM_STR_ARG(file->path));
}

static fm_status pieces(commit *c, fm_error *err)
{
    fm_delta_changes *out = c->out;
    fm_delta_index removed = {0};
    fm_status st = FM_OK;

    out->cap = (c->adds.n + c->removes.n) * 2 + c->cdcs.n;
    out->items = fm_arena_array(c->arena, fm_delta_change, out->cap);
    if (!out->items) return fm_no_memory(c->arena, err);
    for (int32_t i = 0; i < c->cdcs.n; i++) add_piece(out, FM_DELTA_CHANGE_FILE, &c->cdcs.items[i], NULL, NULL);
    if (c->cdcs.n || c->nothing_changed) return FM_OK;
    for (int32_t i = 0; st == FM_OK && i < c->removes.n; i++) st = fm_delta_index_set(&removed, c->removes.items[i].path, i, err);
    for (int32_t i = 0; st == FM_OK && i < c->adds.n; i++) {
        const fm_delta_file *add = &c->adds.items[i];
        int32_t at = fm_delta_index_find(&removed, add->path);
        if (at < 0) {
            add_piece(out, FM_DELTA_INSERTED, add, add->dv, NULL);
        } else {
            add_difference(out, &c->removes.items[at], add);
            st = fm_delta_index_set(&removed, add->path, -1, err);
        }
    }
    for (int32_t i = 0; st == FM_OK && i < c->removes.n; i++) {
        const fm_delta_file *remove = &c->removes.items[i];
        if (fm_delta_index_find(&removed, remove->path) != i) continue;
        st = check_removed(remove, err);
        if (st == FM_OK) add_piece(out, FM_DELTA_DELETED, remove, remove->dv, NULL);
    }
    fm_delta_index_fini(&removed);
    return st;
}

fm_status fm_delta_changes_read(const fm_delta_log *log, int64_t version, fm_arena *arena, fm_delta_changes *out, fm_error *err)
{
    commit c = {.arena = arena, .out = out, .in_commit_ms = -1};
    fm_str name = fm_delta_commit_name(arena, version), path = fm_delta_commit_path(log, arena, version);
    fm_file_stat stat;

    *out = (fm_delta_changes){0};
    if (!name.ptr || !path.ptr) return fm_no_memory(arena, err);
    FM_TRY(fm_delta_log_read(log, name, arena, visit, &c, err));
    out->timestamp_ms = c.in_commit_ms;
    if (c.in_commit_ms < 0) {
        FM_TRY(fm_fs_stat(log->fs, path.ptr, &stat, err));
        out->timestamp_ms = stat.modified_ms;
    }
    FM_TRY(fm_context(err, pieces(&c, err), "commit %" PRId64 " of '%s'", version, log->root.ptr));
    for (int32_t i = 0; i < out->n; i++) {
        out->items[i].version = version;
        out->items[i].timestamp_ms = out->timestamp_ms;
    }
    return FM_OK;
}

/* ---- Tables --------------------------------------------------------------------------------------------------------- */

bool fm_delta_feed_is_on(const fm_delta_metadata *m)
{
    return fm_str_eq_ci(fm_delta_map_get(&m->configuration, "delta.enableChangeDataFeed", FM_STR("false")), FM_STR("true"));
}

fm_status fm_delta_feed_is_off(int64_t start, int64_t end, int64_t version, fm_error *err)
{
    return fm_fail(err, FM_INVALID, "DELTA_MISSING_CHANGE_DATA",
                   "Error getting change data for range [%" PRId64 ", %" PRId64 "] as change data was not recorded for version [%" PRId64
                   "]. If you've enabled change data feed on this table, use `DESCRIBE HISTORY` to see when it was first enabled. Otherwise, to start "
                   "recording change data, set the table property delta.enableChangeDataFeed to true.",
                   start, end, version);
}

fm_status fm_delta_schema_of_changes(const fm_delta_schema *schema, fm_arena *arena, const fm_delta_schema **out, fm_error *err)
{
    int32_t n = schema->type->n_fields;
    fm_delta_schema *s = fm_arena_one(arena, fm_delta_schema);
    fm_field *names = fm_arena_array(arena, fm_field, n + 1), *physical = fm_arena_array(arena, fm_field, n + 1);
    fm_delta_field *fields = fm_arena_array(arena, fm_delta_field, n + 1);
    fm_parquet_ids *ids = fm_arena_array(arena, fm_parquet_ids, n + 1);
    bool *is_partition = fm_arena_array(arena, bool, n + 1);

    if (!s || !names || !physical || !fields || !ids || !is_partition) return fm_no_memory(arena, err);
    for (int32_t i = 0; i < n; i++) {
        names[i] = schema->type->fields[i];
        physical[i] = schema->physical->fields[i];
        fields[i] = schema->fields[i];
        if (schema->ids) ids[i] = schema->ids[i];
        is_partition[i] = schema->is_partition[i];
    }
    names[n] = physical[n] = (fm_field){FM_STR(FM_DELTA_CHANGE_TYPE), fm_type_string(), true};
    fields[n] = (fm_delta_field){.metadata = FM_STR("{}"), .physical = FM_STR(FM_DELTA_CHANGE_TYPE), .id = FM_PARQUET_NO_ID};
    ids[n].id = FM_PARQUET_NO_ID;
    *s = *schema;
    s->type = fm_type_struct(arena, names, n + 1);
    s->physical = fm_type_struct(arena, physical, n + 1);
    s->fields = fields;
    s->ids = schema->ids ? ids : NULL;
    s->is_partition = is_partition;
    *out = s;
    return s->type && s->physical ? FM_OK : fm_no_memory(arena, err);
}

/* ---- Rows ----------------------------------------------------------------------------------------------------------- */

/* The rows that a vector does not mark. */
static fm_status all_but(const fm_delta_log *log, const fm_delta_change *c, fm_arena *arena, fm_delta_rows *out, fm_error *err)
{
    int64_t rows;

    FM_TRY(fm_delta_file_rows(log, &c->file, &rows, err));
    FM_TRY(fm_delta_dv_read(log, c->only, rows, arena, out, err));
    for (int64_t w = 0; w < fm_bit_words(rows); w++) out->bits[w] = ~out->bits[w];
    if (rows % 64) out->bits[rows / 64] &= ((uint64_t)1 << (rows % 64)) - 1;
    out->gone = rows - out->gone;
    return FM_OK;
}

fm_status fm_delta_scan_change(fm_delta_scan *scan, const fm_delta_log *log, const fm_delta_change *c, fm_delta_push push, void *ctx, fm_error *err)
{
    fm_delta_rows others;

    if (!c->only) return fm_delta_scan_file(scan, &c->file, NULL, push, ctx, err);
    fm_arena *arena = fm_arena_new(0);
    if (!arena) return fm_no_memory(NULL, err);
    fm_status st = all_but(log, c, arena, &others, err);
    if (st == FM_OK) st = fm_delta_scan_file(scan, &c->file, &others, push, ctx, err);
    fm_arena_free(arena);
    return st;
}
