/* engine/host.c: rows from and to the host, through the Arrow C data interface. */
#include "engine/host.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "column/arrow_export.h"
#include "os/thread.h"

/* ---- The list ---------------------------------------------------------------------------------------------- */

static fm_status check_name(const char *name, int n, fm_error *err)
{
    if (strlen(name) < 64 && *name && n < FM_HOST_FORMATS_MAX) return FM_OK;
    return fm_fail(err, FM_INVALID, "FLOODMARK_HOST_FORMAT", "A source or sink of the host needs a name of 1 to 63 bytes, and there can be %d.", FM_HOST_FORMATS_MAX);
}

static fm_status check_callbacks(const char *name, const char *what, bool taken, bool whole, const char *needed, fm_error *err)
{
    if (taken) return fm_fail(err, FM_INVALID, "FLOODMARK_HOST_FORMAT", "There is a %s of the host by the name '%s' already.", what, name);
    if (whole) return FM_OK;
    return fm_fail(err, FM_INVALID, "FLOODMARK_HOST_FORMAT", "The %s '%s' of the host lacks a callback: it needs %s.", what, name, needed);
}

const fm_source_type *fm_host_find_source(void *ctx, fm_str format)
{
    const fm_host_formats *h = ctx;

    for (int i = 0; i < h->n_sources; i++) {
        if (fm_str_eq_ci(format, fm_str_c(h->sources[i]->name))) return &h->sources[i]->type;
    }
    return NULL;
}

const fm_sink_type *fm_host_find_sink(void *ctx, fm_str format)
{
    const fm_host_formats *h = ctx;

    for (int i = 0; i < h->n_sinks; i++) {
        if (fm_str_eq_ci(format, fm_str_c(h->sinks[i]->name))) return &h->sinks[i]->type;
    }
    return NULL;
}

void fm_host_formats_fini(fm_host_formats *h)
{
    for (int i = 0; i < h->n_sources; i++) free(h->sources[i]);
    for (int i = 0; i < h->n_sinks; i++) free(h->sinks[i]);
}

/* ---- Source: rows by number; the offset is how many there are ------------------------------------------------ */

typedef struct host_source {
    fm_source base;
    fm_split_reader reader;
    const fm_host_source_entry *entry;
    const fm_type *schema;
    const int32_t *wanted;
    int32_t n_wanted;
    const fm_type *delivered;
    int64_t target;  /* of AvailableNow; -1: none */
    int64_t rows;
} host_source;

typedef struct host_range {
    int64_t from, to;
} host_range;

static fm_status host_schema(const fm_source_env *env, const fm_table_def *table, bool is_stream, fm_arena *arena, const fm_type **out, fm_error *err)
{
    *out = table->schema;
    if (*out) return FM_OK;
    return fm_fail(err, FM_INVALID, "FLOODMARK_NO_SCHEMA", "The table '%.*s' is read from the host: declare its columns.", FM_STR_ARG(table->name));
}

static const fm_host_source_entry *entry_of(const fm_source_type *type) { return (const fm_host_source_entry *)(const void *)type; }

static fm_status host_open(const fm_source_env *env, const fm_source_spec *spec, fm_arena *arena, fm_source **out, fm_error *err)
{
    host_source *s = fm_arena_one(arena, host_source);
    fm_field *fields = fm_arena_array(arena, fm_field, spec->n_wanted);
    const fm_source_type *type = fm_source_lookup(env, spec->table->format);

    if (!s || !fields) return fm_no_memory(arena, err);
    for (int32_t i = 0; i < spec->n_wanted; i++) fields[i] = spec->schema->fields[spec->wanted[i]];
    s->base.type = s->reader.type = type;
    s->entry = entry_of(type);
    s->schema = spec->schema;
    s->wanted = spec->wanted;
    s->n_wanted = spec->n_wanted;
    s->delivered = fm_type_struct(arena, fields, spec->n_wanted);
    s->target = -1;
    *out = &s->base;
    return s->delivered ? FM_OK : fm_no_memory(arena, err);
}

static fm_status ask(const host_source *s, int64_t *rows, fm_error *err)
{
    *rows = 0;
    if (s->entry->callbacks.available(s->entry->callbacks.ctx, rows) == 0 && *rows >= 0) return FM_OK;
    return fm_fail(err, FM_UNAVAILABLE, "FLOODMARK_HOST_SOURCE", "The host's source '%s' failed to say how many rows it has.", s->entry->name);
}

static fm_status host_latest(fm_source *source, fm_str start, fm_read_limit limit, fm_arena *arena, fm_str *end, fm_str *latest, fm_error *err)
{
    host_source *s = (host_source *)source;
    int64_t rows, taken = 0;

    FM_TRY(ask(s, &rows, err));
    if (start.len && !fm_str_to_i64(start, &taken)) return fm_fail(err, FM_CORRUPT, "FLOODMARK_CHECKPOINT_DAMAGED", "The offset '%.*s' is no number.", FM_STR_ARG(start));
    if (rows < taken) { /* to go back would lose the rows up to there, and take those behind it twice */
        return fm_fail(err, FM_INVALID, "FLOODMARK_HOST_SOURCE",
                       "The host's source '%s' has %" PRId64 " rows, but %" PRId64 " were taken already, as the checkpoint says: rows keep their numbers for ever. "
                       "Go on counting where the last run ended, or begin with a new checkpointLocation.",
                       s->entry->name, rows, taken);
    }
    if (s->target >= 0 && rows > s->target) rows = s->target;
    *end = rows == 0 && start.len == 0 ? FM_STR("") : fm_arena_printf(arena, "%" PRId64, rows);
    *latest = *end;
    return end->ptr ? FM_OK : fm_no_memory(arena, err);
}

static fm_status host_fix_target(fm_source *source, fm_error *err)
{
    return ask((host_source *)source, &((host_source *)source)->target, err);
}

static fm_status host_plan(fm_source *source, fm_str start, fm_str end, int32_t workers, fm_arena *arena, fm_split **out, int32_t *n, fm_error *err)
{
    host_range *range = fm_arena_one(arena, host_range);

    *out = fm_arena_one(arena, fm_split);
    if (!*out || !range) return fm_no_memory(arena, err);
    *n = 1;
    (*out)->data = range;
    if (start.len && !fm_str_to_i64(start, &range->from)) return fm_fail(err, FM_CORRUPT, "FLOODMARK_CHECKPOINT_DAMAGED", "The offset '%.*s' is no number.", FM_STR_ARG(start));
    if (end.len == 0) return ask((host_source *)source, &range->to, err);
    if (!fm_str_to_i64(end, &range->to)) return fm_fail(err, FM_CORRUPT, "FLOODMARK_CHECKPOINT_DAMAGED", "The offset '%.*s' is no number.", FM_STR_ARG(end));
    return FM_OK;
}

static fm_status host_reader_open(fm_source *source, fm_arena *arena, fm_split_reader **out, fm_error *err)
{
    *out = &((host_source *)source)->reader;
    return FM_OK;
}

static host_source *of_reader(fm_split_reader *reader) { return (host_source *)(void *)((char *)reader - offsetof(host_source, reader)); }

static fm_status read_range(host_source *s, int64_t from, int64_t to, fm_arena *arena, fm_status (*push)(void *ctx, const fm_batch *batch, fm_error *err), void *ctx, fm_error *err)
{
    struct ArrowArray rows = {0};
    fm_batch batch;

    if (s->entry->callbacks.read(s->entry->callbacks.ctx, from, to, &rows) != 0) {
        return fm_fail(err, FM_UNAVAILABLE, "FLOODMARK_HOST_SOURCE", "The host's source '%s' failed to give the rows %" PRId64 " to %" PRId64 ".", s->entry->name, from, to);
    }
    fm_status st = fm_arrow_import_batch(&rows, s->schema, arena, &batch, err);
    if (rows.release) rows.release(&rows);
    if (st != FM_OK) return st;
    if (batch.rows != to - from) return fm_fail(err, FM_INVALID, "FLOODMARK_HOST_SOURCE", "The host's source '%s' gave %d rows where %" PRId64 " were asked for.", s->entry->name, batch.rows, to - from);
    fm_vec *columns = fm_arena_array(arena, fm_vec, s->n_wanted);
    if (!columns) return fm_no_memory(arena, err);
    for (int32_t i = 0; i < s->n_wanted; i++) columns[i] = batch.columns[s->wanted[i]];
    fm_batch out = {.schema = s->delivered, .rows = batch.rows, .columns = columns};
    s->rows += batch.rows;
    return push(ctx, &out, err);
}

static fm_status host_read(fm_split_reader *reader, const fm_split *split, fm_status (*push)(void *ctx, const fm_batch *batch, fm_error *err),
                           void *ctx, fm_wake *cancelled, fm_error *err)
{
    enum { READ_ROWS = 4096 };
    host_source *s = of_reader(reader);
    const host_range *range = split->data;
    fm_arena *arena = fm_arena_new(0);
    fm_status st = arena ? FM_OK : fm_no_memory(NULL, err);

    for (int64_t from = range->from; st == FM_OK && from < range->to;) {
        int64_t to = range->to - from < READ_ROWS ? range->to : from + READ_ROWS;
        fm_arena_reset(arena);
        if (cancelled && fm_wake_is_raised(cancelled)) st = fm_fail(err, FM_CANCELLED, "FLOODMARK_CANCELLED", "The query was stopped.");
        else st = read_range(s, from, to, arena, push, ctx, err);
        from = to;
    }
    fm_arena_free(arena);
    return st;
}

static void host_counts(fm_split_reader *reader, int64_t *rows, int64_t *bad)
{
    *rows = of_reader(reader)->rows;
    *bad = 0;
    of_reader(reader)->rows = 0;
}

static void host_reader_close(fm_split_reader *reader) {}
static void host_close(fm_source *source) {}
static void host_description(const fm_source *source, fm_strbuf *out) { fm_strbuf_add_c(out, ((const host_source *)source)->entry->name); }

static const char *const no_options[] = {NULL};

fm_status fm_host_add_source(fm_host_formats *h, const char *name, const floodmark_source *source, fm_error *err)
{
    FM_TRY(check_name(name, h->n_sources, err));
    FM_TRY(check_callbacks(name, "source", fm_host_find_source(h, fm_str_c(name)) != NULL, source->available && source->read, "available and read", err));
    fm_host_source_entry *e = calloc(1, sizeof *e);
    if (!e) return fm_no_memory(NULL, err);
    snprintf(e->name, sizeof e->name, "%s", name);
    e->callbacks = *source;
    e->type = (fm_source_type){
        .name = e->name, .options = no_options, .can_stream = true, .can_batch = true, .schema = host_schema, .open = host_open,
        .close = host_close, .latest_offset = host_latest, .fix_target = host_fix_target, .plan_splits = host_plan,
        .description = host_description, .reader_open = host_reader_open, .reader_read = host_read, .reader_counts = host_counts,
        .reader_close = host_reader_close,
    };
    h->sources[h->n_sources++] = e;
    return FM_OK;
}

/* ---- Sink -------------------------------------------------------------------------------------------------- */

typedef struct host_sink {
    fm_sink base;
    fm_sink_writer writer;
    const fm_host_sink_entry *entry;
    fm_mutex *mutex;         /* around the calls that rows are handed over with, and the number below */
    int64_t batch_id, rows;
} host_sink;

static fm_status sink_failed(const host_sink *s, const char *doing, fm_error *err)
{
    return fm_fail(err, FM_UNAVAILABLE, "FLOODMARK_HOST_SINK", "The host's sink '%s' failed to %s.", s->entry->name, doing);
}

static fm_status host_sink_open(const fm_sink_env *env, const fm_sink_spec *spec, fm_arena *arena, fm_sink **out, fm_error *err)
{
    host_sink *s = fm_arena_one(arena, host_sink);
    struct ArrowSchema schema;

    if (!s) return fm_no_memory(arena, err);
    s->base.type = fm_sink_lookup(env, spec->format);
    s->entry = (const fm_host_sink_entry *)(const void *)s->base.type;
    s->writer.sink = &s->base;
    s->mutex = fm_mutex_new();
    *out = &s->base;
    if (!s->mutex) return fm_no_memory(NULL, err);
    if (!s->entry->callbacks.open) return FM_OK;
    fm_str name = fm_arena_str(arena, spec->query_name);
    if (!name.ptr) return fm_no_memory(arena, err);
    FM_TRY(fm_arrow_export_schema(spec->schema, &schema, err));
    int failed = s->entry->callbacks.open(s->entry->callbacks.ctx, name.ptr, &schema);
    if (schema.release) schema.release(&schema);
    return failed ? sink_failed(s, "open", err) : FM_OK;
}

static fm_status host_sink_begin(fm_sink *sink, int64_t batch_id, int32_t writers, bool *skip, fm_error *err)
{
    host_sink *s = (host_sink *)sink;

    s->batch_id = batch_id;
    s->rows = 0;
    *skip = false; /* the host tells by the id */
    return FM_OK;
}

static fm_status host_writer_open(fm_sink *sink, int32_t index, fm_sink_writer **out, fm_error *err)
{
    *out = &((host_sink *)sink)->writer;
    return FM_OK;
}

/* All workers write at the same time; the host is called by one after the other. */
static fm_status host_write(fm_sink_writer *writer, const fm_batch *batch, fm_error *err)
{
    host_sink *s = (host_sink *)writer->sink;
    struct ArrowArray rows;

    FM_TRY(fm_arrow_export_batch(batch, &rows, err));
    fm_mutex_lock(s->mutex);
    s->rows += batch->rows;
    int failed = s->entry->callbacks.write(s->entry->callbacks.ctx, s->batch_id, &rows);
    fm_mutex_unlock(s->mutex);
    return failed ? sink_failed(s, "take rows", err) : FM_OK;
}

static fm_status host_writer_close(fm_sink_writer *writer, fm_error *err) { return FM_OK; }

static fm_status host_commit(fm_sink *sink, int64_t batch_id, int64_t *rows, fm_error *err)
{
    host_sink *s = (host_sink *)sink;

    *rows = s->rows;
    if (!s->entry->callbacks.commit) return FM_OK;
    return s->entry->callbacks.commit(s->entry->callbacks.ctx, batch_id) ? sink_failed(s, "commit", err) : FM_OK;
}

static void host_abort(fm_sink *sink, int64_t batch_id) {}
static void host_sink_description(const fm_sink *sink, fm_strbuf *out) { fm_strbuf_add_c(out, ((const host_sink *)sink)->entry->name); }
static void host_sink_close(fm_sink *sink) { fm_mutex_free(((host_sink *)sink)->mutex); }

fm_status fm_host_add_sink(fm_host_formats *h, const char *name, const floodmark_sink *sink, fm_error *err)
{
    FM_TRY(check_name(name, h->n_sinks, err));
    FM_TRY(check_callbacks(name, "sink", fm_host_find_sink(h, fm_str_c(name)) != NULL, sink->write != NULL, "write", err));
    fm_host_sink_entry *e = calloc(1, sizeof *e);
    if (!e) return fm_no_memory(NULL, err);
    snprintf(e->name, sizeof e->name, "%s", name);
    e->callbacks = *sink;
    e->type = (fm_sink_type){
        .name = e->name, .options = no_options, .modes = 7, .counts_rows = true, .open = host_sink_open, .begin = host_sink_begin,
        .writer_open = host_writer_open, .write = host_write, .writer_close = host_writer_close, .commit = host_commit,
        .abort = host_abort, .description = host_sink_description, .close = host_sink_close,
    };
    h->sinks[h->n_sinks++] = e;
    return FM_OK;
}
