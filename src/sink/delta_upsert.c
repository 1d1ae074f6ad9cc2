/* sink/delta_upsert.c: update mode into a Delta table. */
#include "sink/delta_upsert.h"

#include "column/key.h"
#include "table/delta/delta_feed_write.h"
#include "table/delta/delta_rewrite.h"
#include "table/delta/delta_value.h"

enum { TRIES_MAX = 100 };

/* The least and the largest value of a key column in the batch. */
typedef struct key_range {
    const fm_vec *min_vec, *max_vec;
    int32_t min_row, max_row;
    bool has_null;
} key_range;

typedef struct upsert {
    fm_delta_sink *s;
    fm_arena *arena, *scratch;
    const fm_batch **batches;  /* [n_batches] rows of the table */
    int32_t n_batches;
    int64_t rows;
    int32_t *columns;          /* [n_keys] key columns of the table */
    key_range *ranges;         /* [n_keys] */
    int32_t n_keys;
    fm_delta_index keys;       /* keys of the batch */
    int64_t *first_rows;       /* [n_batches] number of each batch's first row among all */
    fm_delta_rewrite *rewrite; /* one try */
    fm_delta_feed_writer *feed; /* one try; NULL: the table records no changes */
    uint64_t *matched;         /* [rows] bits, one try: the row takes the place of another */
    bool any_matched;
    fm_delta_rows hits;        /* one file */
} upsert;

/* ---- The batch --------------------------------------------------------------------------------------------------- */

static fm_status collect(upsert *u, fm_error *err)
{
    const fm_delta_sink *s = u->s;
    int32_t n = 0;

    for (int32_t i = 0; i < s->n_writers; i++) n += s->writers[i].rows.n;
    u->batches = fm_arena_array(u->arena, const fm_batch *, n);
    u->first_rows = fm_arena_array(u->arena, int64_t, n);
    if (!u->batches || !u->first_rows) return fm_no_memory(u->arena, err);
    for (int32_t i = 0; i < s->n_writers; i++) {
        for (int32_t k = 0; k < s->writers[i].rows.n; k++) u->batches[u->n_batches++] = s->writers[i].rows.batches[k];
        u->rows += s->writers[i].rows.rows;
    }
    for (int32_t b = 1; b < n; b++) u->first_rows[b] = u->first_rows[b - 1] + u->batches[b - 1]->rows;
    u->matched = fm_arena_array(u->arena, uint64_t, fm_bit_words(u->rows) + 1);
    return u->matched ? FM_OK : fm_no_memory(u->arena, err);
}

/* Key columns of the result -> of the table. */
static fm_status find_columns(upsert *u, fm_error *err)
{
    const fm_delta_sink *s = u->s;
    int32_t n = s->plan.schema->type->n_fields;

    u->n_keys = s->n_keys;
    u->columns = fm_arena_array(u->arena, int32_t, u->n_keys);
    u->ranges = fm_arena_array(u->arena, key_range, u->n_keys);
    if (!u->columns || !u->ranges) return fm_no_memory(u->arena, err);
    for (int32_t k = 0; k < u->n_keys; k++) {
        int32_t c = 0;
        while (c < n && s->plan.from_row[c] != s->keys[k]) c++;
        fm_assert(c < n); /* the plan takes every column of the result in */
        u->columns[k] = c;
    }
    return FM_OK;
}

static fm_status encode(upsert *u, const fm_vec *const *columns, int32_t rows, fm_arena *arena, fm_key **out, fm_error *err)
{
    *out = fm_arena_array(arena, fm_key, rows);
    if (!*out) return fm_no_memory(arena, err);
    return fm_keys_encode(columns, u->n_keys, rows, arena, *out, err);
}

/* Texts with the empty ones as nulls: so a column that divides the table gives them back. */
static fm_status empty_as_null(upsert *u, const fm_vec *in, const fm_vec **out, fm_error *err)
{
    fm_vec *v = fm_arena_one(u->arena, fm_vec);
    uint64_t *validity = fm_arena_array(u->arena, uint64_t, fm_bit_words(in->len) + 1);

    if (!v || !validity) return fm_no_memory(u->arena, err);
    for (int32_t i = 0; i < in->len; i++) {
        if (!fm_vec_is_null(in, i) && fm_vec_str(in, i).len) fm_bit_set(validity, i);
    }
    *v = *in;
    v->validity = validity;
    *out = v;
    return FM_OK;
}

/* The keys of a batch as the table will hold them. */
static fm_status stored_keys(upsert *u, const fm_batch *batch, const fm_vec **out, fm_error *err)
{
    const fm_delta_schema *schema = u->s->plan.schema;

    for (int32_t k = 0; k < u->n_keys; k++) {
        int32_t c = u->columns[k];
        out[k] = &batch->columns[c];
        if (schema->is_partition[c] && out[k]->type->id == FM_TYPE_STRING) FM_TRY(empty_as_null(u, out[k], &out[k], err));
    }
    return FM_OK;
}

static void widen_range(key_range *r, const fm_vec *v)
{
    for (int32_t i = 0; i < v->len; i++) {
        if (fm_vec_is_null(v, i)) {
            r->has_null = true;
            continue;
        }
        if (!r->min_vec || fm_vec_cmp(v, i, r->min_vec, r->min_row) < 0) {
            r->min_vec = v;
            r->min_row = i;
        }
        if (!r->max_vec || fm_vec_cmp(v, i, r->max_vec, r->max_row) > 0) {
            r->max_vec = v;
            r->max_row = i;
        }
    }
}

static fm_status index_keys(upsert *u, fm_error *err)
{
    fm_key *keys;

    for (int32_t b = 0; b < u->n_batches; b++) {
        const fm_batch *batch = u->batches[b];
        const fm_vec **columns = fm_arena_array(u->arena, const fm_vec *, u->n_keys);
        if (!columns) return fm_no_memory(u->arena, err);
        FM_TRY(stored_keys(u, batch, columns, err));
        FM_TRY(encode(u, columns, batch->rows, u->arena, &keys, err));
        for (int32_t i = 0; i < batch->rows; i++) {
            fm_str bytes = fm_key_bytes(&keys[i]);
            if (fm_delta_index_find(&u->keys, bytes) >= 0) {
                return fm_fail(err, FM_INVALID, "DELTA_MULTIPLE_SOURCE_ROW_MATCHING_TARGET_ROW_IN_MERGE",
                               "Cannot upsert: two rows of one micro-batch have the same key, and it is not said which of them counts. Choose mergeKeys that "
                               "tell rows apart, or aggregate by them. (In a column that divides the table an empty text is the same as NULL.)");
            }
            int64_t row = u->first_rows[b] + i;
            if (row > INT32_MAX) return fm_fail(err, FM_LIMIT, "FLOODMARK_LIMIT", "An upsert of more than %d rows in one micro-batch.", INT32_MAX);
            FM_TRY(fm_delta_index_set(&u->keys, bytes, (int32_t)row, err));
        }
        for (int32_t k = 0; k < u->n_keys; k++) {
            if (!fm_type_is_nested(columns[k]->type)) widen_range(&u->ranges[k], columns[k]);
        }
    }
    return FM_OK;
}

/* ---- Files ----------------------------------------------------------------------------------------------------------- */

/* Whether values between min and max, or nulls, may be in the range of the batch's keys. */
static bool overlaps(const key_range *r, const fm_vec *min, const fm_vec *max, bool may_null)
{
    if (r->has_null && may_null) return true;
    if (!r->min_vec) return false; /* only nulls */
    if (min && fm_vec_cmp(min, 0, r->max_vec, r->max_row) > 0) return false;
    if (max && (max->type->id == FM_TYPE_F32 || max->type->id == FM_TYPE_F64)) return true; /* NaN is left out of statistics */
    return !max || fm_vec_cmp(max, 0, r->min_vec, r->min_row) >= 0;
}

/* Whether a file may hold one of the keys. What cannot be judged may. */
static bool may_hold(void *ctx, const fm_delta_file *file)
{
    upsert *u = ctx;
    const fm_delta_schema *schema = u->s->plan.schema;
    fm_arena *scratch = fm_arena_new(0);
    const fm_json *stats = NULL;
    bool may = true;

    if (!scratch) return true;
    if (file->stats.len && fm_json_read(scratch, file->stats, &stats, NULL) != FM_OK) stats = NULL;
    for (int32_t k = 0; may && k < u->n_keys; k++) {
        int32_t c = u->columns[k];
        const fm_type *type = schema->type->fields[c].type;
        fm_delta_bounds b;
        if (fm_type_is_nested(type)) continue;
        if (schema->is_partition[c]) {
            const fm_str *text = fm_delta_map_find(&file->partition_values, schema->fields[c].physical);
            fm_vec value;
            if (fm_delta_partition_value(text ? *text : (fm_str){0}, type, u->s->env.conf->zone, scratch, &value, NULL) != FM_OK) continue;
            bool null = fm_vec_is_null(&value, 0);
            may = null ? u->ranges[k].has_null : overlaps(&u->ranges[k], &value, &value, false);
        } else if (fm_delta_stats_bounds(stats, &schema->fields[c].physical, 1, type, scratch, &b, NULL) == FM_OK) {
            if (b.rows >= 0 && b.null_count == b.rows) may = u->ranges[k].has_null || b.rows == 0;
            else may = overlaps(&u->ranges[k], b.min, b.max, b.null_count != 0);
        }
    }
    fm_arena_free(scratch);
    return may;
}

static fm_status look_for_keys(void *ctx, const fm_batch *batch, fm_error *err)
{
    upsert *u = ctx;
    fm_arena *arena = fm_arena_new(0);
    const fm_vec **columns = arena ? fm_arena_array(arena, const fm_vec *, u->n_keys) : NULL;
    fm_key *keys = NULL;

    for (int32_t k = 0; columns && k < u->n_keys; k++) columns[k] = &batch->columns[k];
    fm_status st = columns ? encode(u, columns, batch->rows, arena, &keys, err) : fm_no_memory(arena, err);
    for (int32_t i = 0; st == FM_OK && i < batch->rows; i++) {
        int64_t row = fm_vec_i64(&batch->columns[u->n_keys])[i];
        int32_t at = fm_delta_index_find(&u->keys, fm_key_bytes(&keys[i]));
        if (at < 0) continue;
        fm_bit_set(u->matched, at);
        u->any_matched = true;
        fm_assert(row >= 0 && row < u->hits.rows);
        fm_bit_set(u->hits.bits, row);
        u->hits.gone++;
    }
    fm_arena_free(arena);
    return st;
}

static fm_status find_hits(upsert *u, const fm_delta_file *file, fm_arena *arena, fm_error *err)
{
    fm_delta_sink *s = u->s;
    fm_delta_scan_spec spec = {.log = &s->log, .schema = s->plan.schema, .wanted = u->columns, .n_wanted = u->n_keys, .want_row = true, .zone = s->env.conf->zone};
    fm_delta_scan *scan;
    int64_t rows;

    FM_TRY(fm_delta_file_rows(&s->log, file, &rows, err));
    u->hits = (fm_delta_rows){.rows = rows, .bits = fm_arena_array(arena, uint64_t, fm_bit_words(rows) + 1)};
    if (!u->hits.bits) return fm_no_memory(arena, err);
    FM_TRY(fm_delta_scan_new(&spec, arena, &scan, err));
    fm_status st = fm_delta_scan_file(scan, file, NULL, look_for_keys, u, err);
    fm_delta_scan_free(scan);
    return st;
}

static fm_status change_file(upsert *u, const fm_delta_file *file, fm_error *err)
{
    fm_arena *arena = fm_arena_new(0);

    if (!arena) return fm_no_memory(NULL, err);
    fm_status st = find_hits(u, file, arena, err);
    if (st == FM_OK && u->feed && u->hits.gone) st = fm_delta_feed_writer_add_hits(u->feed, FM_DELTA_UPDATE_PREIMAGE, file, &u->hits, err);
    if (st == FM_OK) st = fm_delta_rewrite_file(u->rewrite, file, &u->hits, err);
    fm_arena_free(arena);
    return st;
}

/* ---- A try --------------------------------------------------------------------------------------------------------------- */

/* Rows of the batch that took the place of others, or that did not. */
static fm_status record_some(upsert *u, int32_t b, bool matched, fm_error *err)
{
    const fm_batch *batch = u->batches[b], *some;
    fm_arena *arena = fm_arena_new(0);
    int32_t *rows = arena ? fm_arena_array(arena, int32_t, batch->rows) : NULL, n = 0;
    fm_status st = rows ? FM_OK : fm_no_memory(arena, err);

    for (int32_t i = 0; rows && i < batch->rows; i++) {
        if (fm_bit_get(u->matched, u->first_rows[b] + i) == matched) rows[n++] = i;
    }
    if (st == FM_OK) st = fm_batch_gather(batch, rows, n, arena, &some, err);
    if (st == FM_OK) st = fm_delta_feed_writer_add(u->feed, matched ? FM_DELTA_UPDATE_POSTIMAGE : FM_DELTA_INSERT, some, err);
    fm_arena_free(arena);
    return st;
}

/* A batch of new keys only is an append: its files say all. */
static fm_status record_new_rows(upsert *u, fm_error *err)
{
    if (!u->feed || !u->any_matched) return FM_OK;
    for (int32_t b = 0; b < u->n_batches; b++) {
        FM_TRY(record_some(u, b, true, err));
        FM_TRY(record_some(u, b, false, err));
    }
    return FM_OK;
}

static fm_status merge(upsert *u, fm_error *err)
{
    const fm_delta_snapshot *table = u->s->snapshot;

    for (int32_t i = 0; i < table->n_entries; i++) {
        if (table->entries[i].is_live && may_hold(u, &table->entries[i].file)) FM_TRY(change_file(u, &table->entries[i].file, err));
    }
    for (int32_t b = 0; b < u->n_batches; b++) FM_TRY(fm_delta_writer_write(fm_delta_rewrite_writer(u->rewrite), u->batches[b], err));
    return record_new_rows(u, err);
}

static fm_status commit(upsert *u, int64_t batch_id, fm_error *err)
{
    fm_delta_commit c = {.read_files = true, .would_read = may_hold, .ctx = u};

    FM_TRY(fm_delta_rewrite_finish(u->rewrite, &c.adds, &c.n_adds, &c.removes, &c.n_removes, err));
    if (u->feed) FM_TRY(fm_delta_feed_writer_finish(u->feed, &c.cdcs, &c.n_cdcs, err));
    /* Another upsert has read the table, too, and so is no blind append: of two that add one key at once, one tries again. */
    return fm_delta_sink_commit(u->s, batch_id, &c, u->rows, u->scratch, err);
}

static fm_status try_once(upsert *u, int64_t batch_id, fm_error *err)
{
    fm_delta_sink *s = u->s;
    const fm_delta_protocol *protocol = s->plan.protocol ? s->plan.protocol : &s->snapshot->protocol;
    fm_delta_rewrite_spec spec = {.log = &s->log, .schema = s->plan.schema, .metadata = s->plan.written, .zone = s->env.conf->zone, .files_max = s->snapshot->n_live};

    spec.use_vectors = fm_delta_property(s->plan.written, "delta.enableDeletionVectors", false) && fm_delta_has_feature(protocol, "deletionVectors");
    fm_arena_reset(u->scratch);
    memset(u->matched, 0, sizeof(uint64_t) * ((size_t)fm_bit_words(u->rows) + 1));
    u->any_matched = false;
    FM_TRY(fm_delta_rewrite_new(&spec, &u->rewrite, err));
    fm_status st = FM_OK;
    if (fm_delta_feed_is_on(s->plan.written)) st = fm_delta_feed_writer_new(&s->log, s->plan.schema, s->plan.written, s->env.conf->zone, &u->feed, err);
    if (st == FM_OK) st = merge(u, err);
    if (st == FM_OK) st = commit(u, batch_id, err);
    fm_delta_rewrite_free(u->rewrite, st == FM_OK || s->uncertain);
    fm_delta_feed_writer_free(u->feed, st == FM_OK || s->uncertain);
    u->rewrite = NULL;
    u->feed = NULL;
    return st;
}

static fm_status prepare(upsert *u, fm_error *err)
{
    u->scratch = fm_arena_new(0);
    if (!u->scratch) return fm_no_memory(NULL, err);
    FM_TRY(collect(u, err));
    FM_TRY(find_columns(u, err));
    return index_keys(u, err);
}

/* Another schema since the rows were shaped: they do not fit any more, and the batch runs again after a restart. */
static bool is_metadata_conflict(const fm_error *err)
{
    return strcmp(err->condition, "DELTA_METADATA_CHANGED") == 0 || strcmp(err->condition, "DELTA_PROTOCOL_CHANGED") == 0 ||
           strcmp(err->condition, "DELTA_CONCURRENT_TRANSACTION") == 0;
}

fm_status fm_delta_upsert_commit(fm_delta_sink *s, int64_t batch_id, int64_t *rows, fm_arena *arena, fm_error *err)
{
    upsert u = {.s = s, .arena = arena};
    fm_error own = FM_ERROR_INIT;
    fm_status st;

    if (!err) err = &own;
    st = prepare(&u, err);
    for (int tries = 0; st == FM_OK; tries++) {
        st = try_once(&u, batch_id, err);
        if (st == FM_OK || st != FM_CONFLICT || is_metadata_conflict(err) || tries == TRIES_MAX) break;
        st = FM_OK;
    }
    *rows = u.rows;
    fm_delta_index_fini(&u.keys);
    fm_arena_free(u.scratch);
    return st;
}
