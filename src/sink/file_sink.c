/* sink/file_sink.c: results as files: json, csv, text, parquet.
 *
 *     out/part-00000-<uuid>-c000.json         data; written in place, under its final name
 *     out/k=a/part-00001-<uuid>.c000.json     the same with partitionBy
 *     out/_spark_metadata/7                   entry of micro-batch 7: the files it made
 *
 * 1. A data file is there for readers once an entry of the log names it, and the entry is written in one step after
 *    the files and their folders are synced. So each batch is visible whole or not at all.
 * 2. A batch that has its entry is skipped: the same batch twice leaves the result of once.
 * 3. What a failed batch left lying is named by no entry; abort removes it, after a crash it stays as garbage.
 * 4. A folder belongs to one query, known by its checkpoint's id (_spark_metadata/.query), and to one run of it at a
 *    time (_spark_metadata/.lock). Without that, the batches of a second query would be taken for written and lost.
 *
 * A micro-batch without rows makes an entry without files. (Spark makes an empty file too.)
 *
 * Rule  Spark, FileStreamSink and its log; docs/spark-semantics.md, 8.5 and 10.2. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/seal.h"
#include "base/time_text.h"
#include "format/json.h"
#include "sink/file_writer.h"
#include "sink/sinks.h"
#include "table/file_log.h"
#include "table/file_uri.h"

#define LOG_WHAT "file sink log"

typedef struct file_sink {
    fm_sink base;
    fm_sink_env env;
    fm_file_target target;
    const char *log_dir, *owner_path;
    fm_str query_id;         /* empty: not known */
    fm_file_log log;
    fm_fs_lock *lock;
    int64_t retention_us;    /* < 0: for ever */
    bool every_batch;        /* a batch without an entry is one that was lost */
    bool owned;              /* the owner's file is written */
    fm_file_writer *writers; /* [FM_SINK_WRITERS_MAX] */
    int32_t n_writers;
} file_sink;

static const char *const file_options[] = {"path", "compression", "retention", NULL};

/* ---- Opening ----------------------------------------------------------------------------------------------- */

static fm_status log_settings(const fm_options *session, fm_file_log_settings *out, fm_error *err)
{
    int64_t delay_us;

    *out = (fm_file_log_settings)FM_FILE_LOG_DEFAULTS;
    if (!session) return FM_OK;
    FM_TRY(fm_options_i64(session, "spark.sql.streaming.fileSink.log.compactInterval", out->compact_interval, 1, INT32_MAX,
                          &out->compact_interval, err));
    FM_TRY(fm_options_duration(session, "spark.sql.streaming.fileSink.log.cleanupDelay",
                               out->cleanup_delay_ms * FM_US_PER_MS, &delay_us, err));
    out->cleanup_delay_ms = delay_us / FM_US_PER_MS;
    FM_TRY(fm_options_bool(session, "spark.sql.streaming.fileSink.log.deletion", out->remove_expired, &out->remove_expired, err));
    return fm_options_i64(session, "spark.sql.streaming.minBatchesToRetain", out->entries_to_keep, 1, INT32_MAX,
                          &out->entries_to_keep, err);
}

/* Whose batches the log has. A folder that another query filled is refused. */
static fm_status check_owner(file_sink *s, fm_error *err)
{
    fm_arena *scratch = fm_arena_new(0);
    fm_str text = {0};

    if (!scratch) return fm_no_memory(NULL, err);
    fm_status st = fm_fs_read_all(s->env.fs, s->owner_path, 4096, scratch, &text, err);
    if (st == FM_NOT_FOUND) st = FM_OK; /* a new folder, or one that Spark wrote */
    fm_str owner = fm_str_trim(text);
    s->owned = st == FM_OK && owner.len && fm_str_eq(owner, s->query_id);
    if (st == FM_OK && owner.len && s->query_id.len && !s->owned && s->log.latest >= 0) {
        st = fm_fail(err, FM_INVALID, "FLOODMARK_OUTPUT_OF_ANOTHER_QUERY",
                     "The folder '%s' holds what another query wrote (checkpoint id %.*s, batches up to %" PRId64
                     "), so batches of this one with the same numbers would be taken for written. Give this query a folder of "
                     "its own, go on with the old checkpoint, or empty the folder.",
                     s->target.dir.ptr, FM_STR_ARG(owner), s->log.latest);
    }
    fm_arena_free(scratch);
    return st;
}

static fm_status open_log(file_sink *s, fm_arena *arena, fm_error *err)
{
    fm_file_log_settings settings;
    fm_str lock_path = fm_arena_printf(arena, "%s/.lock", s->log_dir);

    if (!lock_path.ptr) return fm_no_memory(arena, err);
    FM_TRY(log_settings(s->env.session, &settings, err));
    FM_TRY(fm_fs_mkdirs(s->env.fs, s->log_dir, err));
    fm_status st = fm_fs_lock_take(s->env.fs, lock_path.ptr, &s->lock, err);
    if (st == FM_CONFLICT) {
        return fm_fail(err, st, "FLOODMARK_OUTPUT_IN_USE",
                       "The folder '%s' is being written by another query, or by another run of this one. Stop that one, or "
                       "give this query a folder of its own.",
                       s->target.dir.ptr);
    }
    if (st != FM_OK) return st;
    FM_TRY(fm_file_log_open(&s->log, s->env.fs, s->env.clock, s->log_dir, LOG_WHAT, &settings, false, arena, err));
    return check_owner(s, err);
}

static fm_status open_sink(file_sink *s, const fm_sink_spec *spec, fm_arena *arena, fm_error *err)
{
    FM_TRY(fm_file_target_init(&s->env, spec, fm_format_find(fm_str_c(s->base.type->name)), &s->target, arena, err));
    FM_TRY(fm_options_duration(spec->options, "retention", -1, &s->retention_us, err));
    const char *dir = s->target.dir.len == 1 ? "" : s->target.dir.ptr;
    s->log_dir = fm_arena_printf(arena, "%s/_spark_metadata", dir).ptr;
    s->owner_path = fm_arena_printf(arena, "%s/_spark_metadata/.query", dir).ptr;
    s->query_id = fm_arena_str(arena, spec->query_id);
    s->every_batch = spec->every_batch;
    s->writers = fm_arena_array(arena, fm_file_writer, FM_SINK_WRITERS_MAX);
    if (!s->log_dir || !s->owner_path || !s->query_id.ptr || !s->writers) return fm_no_memory(arena, err);
    return fm_context(err, open_log(s, arena, err), "opening the output folder '%s'", s->target.dir.ptr);
}

static fm_status open_format(const fm_sink_type *type, const fm_sink_env *env, const fm_sink_spec *spec, fm_arena *arena,
                             fm_sink **out, fm_error *err)
{
    file_sink *s = fm_arena_one(arena, file_sink);

    *out = NULL;
    if (!s) return fm_no_memory(arena, err);
    s->base.type = type;
    s->env = *env;
    fm_status st = open_sink(s, spec, arena, err);
    if (st == FM_OK) *out = &s->base;
    else fm_fs_unlock(s->lock);
    return st;
}

/* ---- A micro-batch ----------------------------------------------------------------------------------------- */

/* Whether the folder has a file for readers, or one that so many levels of partitions below it has. */
static fm_status has_data(const file_sink *s, const char *dir, int32_t levels, fm_arena *scratch, bool *out, fm_error *err)
{
    fm_dir_entry *entries;
    size_t n = 0;

    fm_status st = fm_fs_list(s->env.fs, dir, scratch, &entries, &n, err);
    if (st != FM_OK) return st == FM_NOT_FOUND ? FM_OK : st;
    for (size_t i = 0; i < n && !*out; i++) {
        fm_str name = entries[i].name;
        if (name.ptr[0] == '_' || name.ptr[0] == '.') continue;
        *out = !entries[i].stat.is_dir;
        fm_str path = fm_arena_printf(scratch, "%s/%s", dir, name.ptr);
        if (!path.ptr) return fm_no_memory(scratch, err);
        if (entries[i].stat.is_dir && levels > 0) FM_TRY(has_data(s, path.ptr, levels - 1, scratch, out, err));
    }
    return FM_OK;
}

/* A log without any entry under a query that has committed batches: fine when the folder is empty, as one that was emptied on
 * purpose, or is another one than before. With files in it, readers would see all of them until the first entry is there, and
 * from then on none that is older. */
static fm_status check_log_is_there(const file_sink *s, int64_t batch_id, fm_error *err)
{
    fm_arena *scratch = fm_arena_new(0);
    bool has = false;

    if (!scratch) return fm_no_memory(NULL, err);
    fm_status st = has_data(s, s->target.dir.ptr, s->target.n_partition_columns, scratch, &has, err);
    fm_arena_free(scratch);
    if (st != FM_OK || !has) return st;
    return fm_fail(err, FM_CORRUPT, "FLOODMARK_LOG_HOLE",
                   "Batches up to %" PRId64 " are committed in the checkpoint and there are files in '%s', but the " LOG_WHAT
                   " '%s', which says whose they are, has no entry. Once it had one for the next batch, readers would pass over all "
                   "files that are there. Restore it from a backup, or give the query an empty folder.",
                   batch_id - 1, s->target.dir.ptr, s->log_dir);
}

/* Each batch makes an entry, so a log that ends before the last batch has lost some, and with them rows that nobody will
 * write again: the batches are committed. */
static fm_status check_no_hole(const file_sink *s, int64_t batch_id, fm_error *err)
{
    if (!s->every_batch || batch_id == 0) return FM_OK;
    if (s->log.latest < 0) return check_log_is_there(s, batch_id, err);
    if (batch_id == s->log.latest + 1) return fm_file_log_check_latest(&s->log, err);
    return fm_fail(err, FM_CORRUPT, "FLOODMARK_LOG_HOLE",
                   "Batches up to %" PRId64 " are committed in the checkpoint, but the " LOG_WHAT " in '%s' ends with batch %" PRId64
                   ", so the files of the batches between are named nowhere. Restore its last entries from a backup, or give the "
                   "query an empty folder.",
                   batch_id - 1, s->log_dir, s->log.latest);
}

static fm_status file_begin(fm_sink *sink, int64_t batch_id, int32_t writers, bool *skip, fm_error *err)
{
    file_sink *s = (file_sink *)sink;

    fm_assert(writers >= 0 && writers <= FM_SINK_WRITERS_MAX);
    *skip = batch_id <= s->log.latest;
    s->n_writers = 0;
    /* The run that wrote the entry may have died before its name was durable; once we say that it is there, it must be. */
    if (*skip) return fm_fs_sync_dir(s->env.fs, s->log_dir, err);
    FM_TRY(check_no_hole(s, batch_id, err));
    for (int32_t i = 0; i < writers; i++) {
        s->writers[i].base.sink = sink;
        s->writers[i].target = &s->target;
        s->writers[i].index = i;
        FM_TRY(fm_file_writer_begin(&s->writers[i], err));
        s->n_writers = i + 1;
    }
    return FM_OK;
}

static fm_status file_writer_open(fm_sink *sink, int32_t index, fm_sink_writer **out, fm_error *err)
{
    file_sink *s = (file_sink *)sink;

    fm_assert(index >= 0 && index < s->n_writers);
    *out = &s->writers[index].base;
    return FM_OK;
}

static fm_status file_write(fm_sink_writer *writer, const fm_batch *batch, fm_error *err)
{
    return fm_file_writer_write((fm_file_writer *)writer, batch, err);
}

static fm_status file_writer_close(fm_sink_writer *writer, fm_error *err)
{
    return fm_file_writer_finish((fm_file_writer *)writer, err);
}

static int by_dir(const void *a, const void *b)
{
    return fm_str_cmp((*(const fm_written_file *const *)a)->dir, (*(const fm_written_file *const *)b)->dir);
}

/* Makes the names of the new files durable: each folder once. */
static fm_status sync_folders(file_sink *s, fm_arena *scratch, fm_error *err)
{
    int32_t n = 0;

    for (int32_t i = 0; i < s->n_writers; i++) n += s->writers[i].n_files;
    const fm_written_file **files = fm_arena_array(scratch, const fm_written_file *, n);
    if (!files) return fm_no_memory(scratch, err);
    n = 0;
    for (int32_t i = 0; i < s->n_writers; i++) {
        for (int32_t k = 0; k < s->writers[i].n_files; k++) files[n++] = &s->writers[i].files[k];
    }
    qsort(files, (size_t)n, sizeof *files, by_dir);
    for (int32_t i = 0; i < n; i++) {
        if (i && fm_str_eq(files[i]->dir, files[i - 1]->dir)) continue;
        FM_TRY(fm_fs_sync_dir(s->env.fs, files[i]->dir.ptr, err));
    }
    return FM_OK;
}

/* Rule: Spark, SinkFileStatus; replication and block size are those of Hadoop's local file system. */
static void add_log_line(const fm_written_file *f, fm_strbuf *out)
{
    fm_strbuf uri = {0};

    fm_file_uri(f->path, &uri);
    if (out->len) fm_strbuf_add_char(out, '\n');
    size_t line = out->len;
    fm_strbuf_add_c(out, "{\"path\":");
    fm_strbuf_add_json(out, fm_strbuf_str(&uri));
    fm_strbuf_printf(out,
                     ",\"size\":%" PRId64 ",\"isDir\":false,\"modificationTime\":%" PRId64
                     ",\"blockReplication\":1,\"blockSize\":33554432,\"action\":\"add\"" FM_SEAL_FIELD "}",
                     f->stat.size, f->stat.modified_ms);
    if (fm_strbuf_ok(out)) fm_seal(out->ptr + line, out->len - line);
    out->failed |= uri.failed;
    fm_strbuf_fini(&uri);
}

/* Whether a line survives compaction: not older than the retention. */
static bool keep_line(void *ctx, fm_str line)
{
    const file_sink *s = ctx;
    fm_arena *scratch = fm_arena_new(0);
    const fm_json *entry;
    int64_t modified_ms;
    bool keep = true;

    if (scratch && fm_json_read(scratch, line, &entry, NULL) == FM_OK && entry->kind == FM_JSON_OBJECT &&
        fm_json_i64(fm_json_get(entry, "modificationTime"), &modified_ms)) {
        keep = fm_clock_now_us(s->env.clock) / FM_US_PER_MS - modified_ms <= s->retention_us / FM_US_PER_MS;
    }
    fm_arena_free(scratch);
    return keep;
}

static fm_status write_log(file_sink *s, int64_t batch_id, fm_error *err)
{
    fm_strbuf lines = {0};

    for (int32_t i = 0; i < s->n_writers; i++) {
        for (int32_t k = 0; k < s->writers[i].n_files; k++) add_log_line(&s->writers[i].files[k], &lines);
    }
    fm_status st = fm_strbuf_ok(&lines) ? FM_OK : fm_no_memory(NULL, err);
    if (st == FM_OK && !s->owned && s->query_id.len) {
        st = fm_fs_write_atomic(s->env.fs, s->owner_path, s->query_id, true, err);
        s->owned = st == FM_OK;
    }
    if (st == FM_OK) {
        st = fm_file_log_add(&s->log, batch_id, fm_strbuf_str(&lines), s->retention_us >= 0 ? keep_line : NULL, s, err);
    }
    fm_strbuf_fini(&lines);
    return st;
}

static fm_status file_commit(fm_sink *sink, int64_t batch_id, int64_t *rows, fm_error *err)
{
    file_sink *s = (file_sink *)sink;
    fm_arena *scratch = fm_arena_new(0);

    if (!scratch) return fm_no_memory(NULL, err);
    *rows = 0;
    for (int32_t i = 0; i < s->n_writers; i++) *rows += s->writers[i].rows;
    fm_status st = sync_folders(s, scratch, err);
    if (st == FM_OK) st = write_log(s, batch_id, err);
    if (st == FM_OK) s->n_writers = 0; /* the files are the log's now */
    fm_arena_free(scratch);
    return fm_context(err, st, "committing batch %" PRId64 " to '%s'", batch_id, s->target.dir.ptr);
}

static void file_abort(fm_sink *sink, int64_t batch_id)
{
    file_sink *s = (file_sink *)sink;

    /* An entry may be there although writing it failed, at the last sync: then the files are the log's. */
    if (fm_file_log_refresh(&s->log, NULL) != FM_OK || batch_id <= s->log.latest) s->n_writers = 0;
    for (int32_t i = 0; i < s->n_writers; i++) fm_file_writer_abort(&s->writers[i]);
    s->n_writers = 0;
}

static void file_description(const fm_sink *sink, fm_strbuf *out)
{
    const file_sink *s = (const file_sink *)sink;

    fm_strbuf_add_c(out, "FileSink[file:");
    fm_strbuf_add(out, s->target.dir);
    fm_strbuf_add_char(out, ']');
}

static void file_close(fm_sink *sink)
{
    file_sink *s = (file_sink *)sink;

    if (!s) return;
    for (int32_t i = 0; i < FM_SINK_WRITERS_MAX; i++) fm_file_writer_fini(&s->writers[i]);
    fm_fs_unlock(s->lock);
}

/* ---- One sink for each format ------------------------------------------------------------------------------ */

#define FILE_SINK(format)                                                                                             \
    static fm_status open_##format(const fm_sink_env *env, const fm_sink_spec *spec, fm_arena *arena, fm_sink **out,  \
                                   fm_error *err)                                                                     \
    {                                                                                                                 \
        return open_format(&fm_sink_##format, env, spec, arena, out, err);                                            \
    }                                                                                                                 \
    const fm_sink_type fm_sink_##format = {                                                                           \
        .name = #format, .options = file_options, .modes = 1 << FM_MODE_APPEND, .needs_checkpoint = true,             \
        .open = open_##format, .begin = file_begin, .writer_open = file_writer_open, .write = file_write,             \
        .writer_close = file_writer_close, .commit = file_commit, .abort = file_abort,                                \
        .description = file_description, .close = file_close,                                                         \
    };
FILE_SINK(csv)
FILE_SINK(json)
FILE_SINK(parquet)
FILE_SINK(text)
#undef FILE_SINK
