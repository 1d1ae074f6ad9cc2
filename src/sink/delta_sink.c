/* sink/delta_sink.c: results as a Delta table.
 *
 *     append     the rows of each micro-batch are added
 *     complete   they take the place of what is there, in one commit
 *     update     they take the place of rows with the same key: sink/delta_upsert.h
 *
 * 1. A micro-batch is one commit. It carries (query, batch) as a txn action, so a batch that was committed is passed over, also when
 *    the process died before it could say so.
 * 2. Data files are durable before the commit names them. Files of a batch that failed are removed, unless its commit may be there.
 * 3. The table is made by the first micro-batch. */
#include "sink/delta_sink.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/time_text.h"
#include "sink/delta_upsert.h"
#include "sink/sinks.h"
#include "table/delta/delta_compact.h"

enum { GATHERED_SIZE_MAX = 64 << 20 }; /* bytes in memory that rows of one writer wait in */
enum { REPLANS_MAX = 10 }; /* changes of the table's metadata that one micro-batch lives through */

static const char *const delta_options[] = {"path", "mergeSchema", "overwriteSchema", "mergeKeys", "txnAppId", "userMetadata", NULL};

/* ---- Opening ---------------------------------------------------------------------------------------------------- */

static fm_status read_options(fm_delta_sink *s, const fm_sink_spec *spec, fm_arena *arena, fm_error *err)
{
    const char *const *known[] = {delta_options};
    fm_str path = fm_str_trim(fm_options_get(spec->options, "path", FM_STR("")));

    FM_TRY(fm_options_check(spec->options, "The Delta sink", known, 1, err));
    if (path.len == 0) {
        return fm_fail(err, FM_INVALID, "FLOODMARK_PATH_MISSING", "'path' is not specified: name the folder of the table, as in OPTIONS (path 'gold/totals').");
    }
    FM_TRY(fm_options_bool(spec->options, "mergeSchema", false, &s->wish.merge_schema, err));
    FM_TRY(fm_options_bool(spec->options, "overwriteSchema", false, &s->wish.overwrite_schema, err));
    return fm_delta_log_init(&s->log, s->env.fs, s->env.clock, path, arena, err);
}

/* mergeKeys 'a, b', or the grouping keys of the query. */
static fm_status find_keys(fm_delta_sink *s, const fm_sink_spec *spec, fm_arena *arena, fm_error *err)
{
    fm_str text = fm_str_trim(fm_options_get(spec->options, "mergeKeys", FM_STR("")));

    if (s->mode != FM_MODE_UPDATE) return FM_OK;
    s->keys = fm_arena_array(arena, int32_t, spec->schema->n_fields);
    if (!s->keys) return fm_no_memory(arena, err);
    for (size_t at = 0; at < text.len;) {
        const char *comma = memchr(text.ptr + at, ',', text.len - at);
        fm_str name = {text.ptr + at, comma ? (size_t)(comma - text.ptr) - at : text.len - at};
        at += name.len + 1;
        name = fm_str_trim(name);
        int32_t c = fm_delta_schema_find(spec->schema, name);
        bool twice = false;
        for (int32_t k = 0; k < s->n_keys; k++) twice |= s->keys[k] == c;
        if (c < 0 || twice) {
            return fm_fail(err, FM_INVALID, "FLOODMARK_MERGE_KEYS", "mergeKeys names '%.*s', which is %s.", FM_STR_ARG(name), c < 0 ? "no column of the result" : "there twice");
        }
        s->keys[s->n_keys++] = c;
    }
    if (s->n_keys) return FM_OK;
    if (spec->missing_key.len) {
        return fm_fail(err, FM_INVALID, "FLOODMARK_MERGE_KEYS",
                       "Update mode into a Delta table upserts by the grouping keys, but the result has no column for `%.*s`. Select it, or name the columns that "
                       "tell rows apart: OPTIONS (mergeKeys 'a, b').",
                       FM_STR_ARG(spec->missing_key));
    }
    for (int32_t i = 0; i < spec->n_key_columns; i++) s->keys[s->n_keys++] = spec->key_columns[i];
    if (s->n_keys) return FM_OK;
    return fm_fail(err, FM_INVALID, "FLOODMARK_MERGE_KEYS",
                   "Update mode into a Delta table upserts by keys, and this query has no grouping keys. Name the columns that tell rows apart: OPTIONS (mergeKeys "
                   "'a, b'), or use outputMode 'append'.");
}

static fm_status open_sink(fm_delta_sink *s, const fm_sink_spec *spec, fm_arena *arena, fm_error *err)
{
    FM_TRY(read_options(s, spec, arena, err));
    s->rows = spec->schema;
    s->mode = spec->mode;
    s->wish.rows = spec->schema;
    s->wish.partition_by = spec->partition_by;
    s->wish.n_partition_by = spec->n_partition_by;
    s->wish.description = spec->comment;
    for (int32_t i = 0; spec->properties && i < spec->properties->n; i++) {
        const fm_option *o = &spec->properties->items[i];
        FM_TRY(fm_delta_map_set(arena, &s->properties, o->key, o->value, err));
    }
    if (s->properties.n) s->wish.properties = &s->properties;
    if (s->mode != FM_MODE_COMPLETE) s->wish.overwrite_schema = false;
    s->operation = "STREAMING UPDATE";
    if (fm_options_find(spec->options, "userMetadata")) {
        s->user_metadata = fm_arena_str(arena, fm_options_get(spec->options, "userMetadata", FM_STR("")));
        if (!s->user_metadata.ptr) return fm_no_memory(arena, err);
    }
    FM_TRY(find_keys(s, spec, arena, err));
    s->query_id = fm_arena_str(arena, spec->query_id);
    fm_str app = fm_options_get(spec->options, "txnAppId", s->query_id);
    if (app.len) s->app_id = fm_arena_str(arena, app);
    s->writers = fm_arena_array(arena, fm_delta_sink_writer, FM_SINK_WRITERS_MAX);
    s->batch = fm_arena_new(0);
    if (!s->query_id.ptr || !s->writers || !s->batch) return fm_no_memory(arena, err);
    fm_status st = fm_delta_snapshot_load(&s->log, -1, &s->snapshot, err);
    if (st == FM_NOT_FOUND) st = fm_delta_snapshot_empty(&s->log, &s->snapshot, err);
    if (st != FM_OK) return st;
    return fm_delta_sink_plan(s, err); /* what is wrong with the schema is said before the first row */
}

static void delta_close(fm_sink *sink)
{
    fm_delta_sink *s = (fm_delta_sink *)sink;

    fm_delta_snapshot_free(s->snapshot);
    fm_arena_free(s->batch);
    s->snapshot = NULL;
    s->batch = NULL;
}

static fm_status delta_open(const fm_sink_env *env, const fm_sink_spec *spec, fm_arena *arena, fm_sink **out, fm_error *err)
{
    fm_delta_sink *s = fm_arena_one(arena, fm_delta_sink);

    *out = NULL;
    if (!s) return fm_no_memory(arena, err);
    s->base.type = &fm_sink_delta;
    s->env = *env;
    fm_status st = open_sink(s, spec, arena, err);
    if (st == FM_OK) *out = &s->base;
    else delta_close(&s->base);
    return fm_context(err, st, "opening the Delta table '%s'", s->log.root.ptr ? s->log.root.ptr : "");
}

/* ---- A micro-batch ------------------------------------------------------------------------------------------------ */

fm_status fm_delta_sink_plan(fm_delta_sink *s, fm_error *err)
{
    fm_arena_reset(s->batch);
    return fm_delta_plan_write(s->snapshot, &s->wish, s->batch, &s->plan, err);
}

static void end_writers(fm_delta_sink *s, bool remove_files)
{
    for (int32_t i = 0; i < s->n_writers; i++) {
        fm_delta_sink_writer *w = &s->writers[i];
        if (w->files && remove_files) fm_delta_writer_abort(w->files);
        fm_delta_writer_free(w->files);
        fm_row_list_fini(&w->rows);
        fm_arena_free(w->arena);
        fm_arena_free(w->scratch);
        *w = (fm_delta_sink_writer){0};
    }
    if (s->gathered && remove_files) fm_delta_writer_abort(s->gathered);
    fm_delta_writer_free(s->gathered);
    s->gathered = NULL;
    s->n_writers = 0;
}

static fm_status open_files(const fm_delta_sink *s, int32_t index, fm_delta_writer **out, fm_error *err)
{
    fm_delta_target target = {.log = &s->log, .schema = s->plan.schema, .metadata = s->plan.written};

    return fm_delta_writer_new(&target, index, out, err);
}

static fm_status begin_writer(fm_delta_sink *s, fm_delta_sink_writer *w, int32_t index, bool gathers, fm_error *err)
{
    *w = (fm_delta_sink_writer){.base.sink = &s->base, .arena = fm_arena_new(0), .scratch = fm_arena_new(0)};
    if (!w->arena || !w->scratch) return fm_no_memory(NULL, err);
    FM_TRY(fm_delta_shape_new(&s->env, &s->plan, s->rows, w->arena, &w->shape, err));
    w->rows.schema = s->plan.schema->type;
    w->gathers = gathers;
    return s->mode == FM_MODE_UPDATE || gathers ? FM_OK : open_files(s, index, &w->files, err);
}

static fm_status delta_begin(fm_sink *sink, int64_t batch_id, int32_t writers, bool *skip, fm_error *err)
{
    fm_delta_sink *s = (fm_delta_sink *)sink;

    fm_assert(writers >= 0 && writers <= FM_SINK_WRITERS_MAX);
    end_writers(s, !s->uncertain);
    s->uncertain = false;
    FM_TRY(fm_delta_snapshot_update(s->snapshot, err));
    *skip = s->app_id.ptr && fm_delta_snapshot_txn(s->snapshot, s->app_id) >= batch_id;
    /* The run that committed may have died before the name was durable; once we say that it is there, it must be. */
    if (*skip) return fm_fs_sync_dir(s->log.fs, s->log.dir.ptr, err);
    FM_TRY(fm_delta_sink_plan(s, err));
    bool gathers = writers > 1 && s->mode != FM_MODE_UPDATE && fm_delta_optimizes_writes(s->plan.written, s->env.session);
    for (int32_t i = 0; i < writers; i++) {
        s->n_writers = i + 1;
        FM_TRY(begin_writer(s, &s->writers[i], i, gathers, err));
    }
    return FM_OK;
}

static fm_status delta_writer_open(fm_sink *sink, int32_t index, fm_sink_writer **out, fm_error *err)
{
    fm_delta_sink *s = (fm_delta_sink *)sink;

    fm_assert(index >= 0 && index < s->n_writers);
    *out = &s->writers[index].base;
    return FM_OK;
}

/* Rows that waited go to files. */
static fm_status write_gathered(fm_delta_sink_writer *w, fm_delta_writer *to, fm_error *err)
{
    for (int32_t i = 0; i < w->rows.n; i++) FM_TRY(fm_delta_writer_write(to, w->rows.batches[i], err));
    fm_row_list_fini(&w->rows);
    return FM_OK;
}

static fm_status gather(fm_delta_sink_writer *w, const fm_batch *rows, fm_error *err)
{
    const fm_delta_sink *s = (const fm_delta_sink *)w->base.sink;

    FM_TRY(fm_row_list_add(&w->rows, rows, INT64_MAX, err));
    if (fm_arena_used(w->rows.arena) < GATHERED_SIZE_MAX) return FM_OK;
    w->gathers = false; /* enough for files of its own */
    FM_TRY(open_files(s, (int32_t)(w - s->writers), &w->files, err));
    return write_gathered(w, w->files, err);
}

static fm_status delta_write(fm_sink_writer *writer, const fm_batch *batch, fm_error *err)
{
    fm_delta_sink_writer *w = (fm_delta_sink_writer *)writer;
    const fm_batch *shaped;

    if (batch->rows == 0) return FM_OK;
    fm_arena_reset(w->scratch);
    FM_TRY(fm_delta_shape_run(w->shape, batch, w->scratch, &shaped, err));
    if (w->gathers) return gather(w, shaped, err);
    if (!w->files) return fm_row_list_add(&w->rows, shaped, INT64_MAX, err);
    return fm_delta_writer_write(w->files, shaped, err);
}

static fm_status delta_writer_close(fm_sink_writer *writer, fm_error *err)
{
    const fm_delta_sink_writer *w = (const fm_delta_sink_writer *)writer;
    const fm_delta_file *files;
    int32_t n;

    return w->files ? fm_delta_writer_finish(w->files, &files, &n, err) : FM_OK;
}

/* What waited in all writers goes to files together: one for each partition. */
static fm_status write_all_gathered(fm_delta_sink *s, fm_error *err)
{
    for (int32_t i = 0; i < s->n_writers; i++) {
        if (!s->writers[i].gathers || s->writers[i].rows.n == 0) continue;
        if (!s->gathered) FM_TRY(open_files(s, s->n_writers, &s->gathered, err));
        FM_TRY(write_gathered(&s->writers[i], s->gathered, err));
    }
    return FM_OK;
}

fm_status fm_delta_sink_files(fm_delta_sink *s, fm_arena *arena, fm_delta_file **out, int32_t *n, int64_t *rows, fm_error *err)
{
    const fm_delta_file *files;
    int32_t total = 0, one;

    *rows = 0;
    *n = 0;
    FM_TRY(write_all_gathered(s, err));
    for (int32_t i = 0; i <= s->n_writers; i++) {
        fm_delta_writer *w = i < s->n_writers ? s->writers[i].files : s->gathered;
        if (!w) continue;
        FM_TRY(fm_delta_writer_finish(w, &files, &one, err));
        total += one;
    }
    *out = fm_arena_array(arena, fm_delta_file, total);
    if (!*out) return fm_no_memory(arena, err);
    for (int32_t i = 0; i <= s->n_writers; i++) {
        fm_delta_writer *w = i < s->n_writers ? s->writers[i].files : s->gathered;
        if (!w) continue;
        FM_TRY(fm_delta_writer_finish(w, &files, &one, err));
        for (int32_t k = 0; k < one; k++) (*out)[(*n)++] = files[k];
        *rows += fm_delta_writer_rows(w);
    }
    return FM_OK;
}

/* ---- Committing ----------------------------------------------------------------------------------------------------- */

static fm_str parameters(const fm_delta_sink *s, int64_t batch_id, fm_arena *arena)
{
    static const char *const modes[] = {"Append", "Update", "Complete"};
    fm_strbuf text = {0};

    fm_strbuf_printf(&text, "{\"outputMode\":\"%s\",\"queryId\":", modes[s->mode]);
    fm_strbuf_add_json(&text, s->query_id);
    fm_strbuf_printf(&text, ",\"epochId\":\"%" PRId64 "\"}", batch_id);
    fm_str out = fm_strbuf_ok(&text) ? fm_arena_str(arena, fm_strbuf_str(&text)) : (fm_str){0};
    fm_strbuf_fini(&text);
    return out;
}

fm_status fm_delta_sink_commit(fm_delta_sink *s, int64_t batch_id, fm_delta_commit *c, int64_t rows, fm_arena *arena, fm_error *err)
{
    int64_t bytes = 0, version;

    for (int32_t i = 0; i < c->n_adds; i++) bytes += c->adds[i].size;
    c->operation = s->operation;
    c->parameters = parameters(s, batch_id, arena);
    c->metrics = fm_arena_printf(arena, "{\"numRemovedFiles\":\"%" PRId32 "\",\"numOutputRows\":\"%" PRId64 "\",\"numOutputBytes\":\"%" PRId64
                                 "\",\"numAddedFiles\":\"%" PRId32 "\"}",
                                 c->n_removes, rows, bytes, c->n_adds);
    if (!c->parameters.ptr || !c->metrics.ptr) return fm_no_memory(arena, err);
    c->protocol = s->plan.protocol;
    c->metadata = s->plan.metadata;
    c->app_id = s->app_id;
    c->user_metadata = s->user_metadata;
    c->app_version = batch_id;
    c->is_serializable = fm_str_eq_ci(fm_delta_map_get(&s->plan.written->configuration, "delta.isolationLevel", FM_STR("WriteSerializable")), FM_STR("Serializable"));
    fm_status st = fm_delta_commit_run(s->snapshot, c, &version, err);
    s->uncertain = st != FM_OK && st != FM_CONFLICT;
    return st;
}

/* All files of the table, as removed. */
static fm_status remove_all(const fm_delta_sink *s, fm_arena *arena, fm_delta_file **out, int32_t *n, fm_error *err)
{
    int64_t now_ms = fm_clock_now_us(s->env.clock) / FM_US_PER_MS;

    *n = 0;
    *out = fm_arena_array(arena, fm_delta_file, s->snapshot->n_live);
    if (!*out) return fm_no_memory(arena, err);
    for (int32_t i = 0; i < s->snapshot->n_entries; i++) {
        if (!s->snapshot->entries[i].is_live) continue;
        (*out)[*n] = s->snapshot->entries[i].file;
        (*out)[*n].deleted_ms = now_ms;
        (*out)[(*n)++].data_change = true;
    }
    return FM_OK;
}

/* Whether files written for the old plan fit the new one. */
static bool same_files(const fm_delta_schema *a, const fm_delta_schema *b)
{
    if (!fm_type_eq(a->physical, b->physical) || a->n_partitions != b->n_partitions) return false;
    for (int32_t i = 0; i < a->n_partitions; i++) {
        if (a->partitions[i] != b->partitions[i]) return false;
    }
    return true;
}

/* Another writer changed the table's metadata (or made the table): if the files fit it all the same, the commit is tried again. */
static fm_status plan_again(fm_delta_sink *s, const fm_delta_schema *written, fm_error *err)
{
    fm_error conflict = err ? *err : (fm_error)FM_ERROR_INIT;

    if (s->app_id.ptr && strcmp(conflict.condition, "DELTA_CONCURRENT_TRANSACTION") == 0) return FM_CONFLICT;
    FM_TRY(fm_delta_sink_plan(s, err));
    if (same_files(written, s->plan.schema)) return FM_OK;
    if (err) *err = conflict;
    return FM_CONFLICT;
}

static fm_status commit_files(fm_delta_sink *s, int64_t batch_id, int64_t *rows, fm_arena *arena, fm_error *err)
{
    fm_delta_file *adds, *removes = NULL;
    int32_t n_adds, n_removes = 0;
    fm_arena *kept = fm_arena_new(0); /* the schema that the files were written by; planning again takes its memory back */
    const fm_delta_schema *written;
    fm_status st = kept ? fm_delta_schema_read(kept, s->plan.written, &written, err) : fm_no_memory(NULL, err);

    if (st == FM_OK) st = fm_delta_sink_files(s, arena, &adds, &n_adds, rows, err);
    for (int tries = 0; st == FM_OK; tries++) {
        if (s->mode == FM_MODE_COMPLETE) st = remove_all(s, arena, &removes, &n_removes, err);
        if (st != FM_OK) break;
        fm_delta_commit c = {.adds = adds, .n_adds = n_adds, .removes = removes, .n_removes = n_removes, .read_files = s->mode == FM_MODE_COMPLETE};
        st = fm_delta_sink_commit(s, batch_id, &c, *rows, arena, err);
        if (st != FM_CONFLICT || tries == REPLANS_MAX) break;
        st = plan_again(s, written, err);
    }
    fm_arena_free(kept);
    return st;
}

static fm_status delta_commit(fm_sink *sink, int64_t batch_id, int64_t *rows, fm_error *err)
{
    fm_delta_sink *s = (fm_delta_sink *)sink;
    fm_arena *arena = fm_arena_new(0);

    if (!arena) return fm_no_memory(NULL, err);
    fm_status st = s->mode == FM_MODE_UPDATE ? fm_delta_upsert_commit(s, batch_id, rows, arena, err) : commit_files(s, batch_id, rows, arena, err);
    fm_arena_free(arena);
    if (st != FM_OK) return fm_context(err, st, "committing batch %" PRId64 " to the Delta table '%s'", batch_id, s->log.root.ptr);
    end_writers(s, false);
    fm_delta_maintain(s->snapshot);
    int64_t version = s->snapshot->version;
    fm_delta_auto_compact(s->snapshot, s->env.session, s->env.conf->zone);
    if (s->snapshot->version > version) fm_delta_maintain(s->snapshot);
    return FM_OK;
}

static void delta_abort(fm_sink *sink, int64_t batch_id)
{
    fm_delta_sink *s = (fm_delta_sink *)sink;

    end_writers(s, !s->uncertain);
    s->uncertain = false;
}

static void delta_close_all(fm_sink *sink)
{
    delta_abort(sink, -1);
    delta_close(sink);
}

static void delta_description(const fm_sink *sink, fm_strbuf *out)
{
    fm_strbuf_printf(out, "DeltaSink[%s]", ((const fm_delta_sink *)sink)->log.root.ptr);
}

const fm_sink_type fm_sink_delta = {
    .name = "delta", .options = delta_options, .modes = FM_SINK_MODES_ALL, .needs_checkpoint = true, .open = delta_open,
    .begin = delta_begin, .writer_open = delta_writer_open, .write = delta_write, .writer_close = delta_writer_close, .commit = delta_commit,
    .abort = delta_abort, .description = delta_description, .close = delta_close_all,
};
