/* source/socket_source.c: socket: lines of text from a TCP server. For trying things out: nothing can be read twice.
 *
 * A thread reads lines as they come and keeps them until the micro-batch that took them is committed. The offset is
 * the number of the last line, counted from 0 since the checkpoint began; -1 before the first.
 *
 * 1. It connects when the first micro-batch runs, so batch 0 of a new checkpoint is empty.
 * 2. Lines are numbered on after a restart. What was sent before it, or belongs to a batch that has to run again, is
 *    lost: the lines are nowhere but in memory.
 * 3. When the server closes, no more lines come; it is not called again.
 *
 * Rule: semantics 9.3; Spark's TextSocketMicroBatchStream. (Spark cannot go on from a checkpoint: it numbers from -1
 * again and then finds its own commits out of order.) */
#include "base/limits.h"
#include "column/builder.h"
#include "format/utf8.h"
#include "os/socket.h"
#include "os/thread.h"
#include "source/sources.h"

#include <inttypes.h>
#include <stdlib.h>

enum {
    CONNECT_TIMEOUT_US = 20 * 1000 * 1000,
    READ_SIZE = 1 << 16,          /* bytes asked of the socket at once */
    WAITING_SIZE_MAX = 256 << 20, /* bytes of lines that no batch took yet; beyond, the server has to wait */
    SPLIT_LINES = 1 << 14         /* lines of one split, whatever the number of workers */
};

static const char *const options[] = {"host", "port", "includeTimestamp", "numPartitions", NULL};

typedef struct socket_line {
    char *bytes;
    size_t len;
    int64_t arrived_ms;
} socket_line;

typedef struct socket_source {
    fm_source base;
    fm_source_env env;
    fm_arena *arena;
    fm_str host; /* NUL-terminated */
    int64_t port;
    bool with_time;
    const fm_type *out_schema; /* wanted columns, and the position */
    const int32_t *wanted;     /* [n_wanted] 0: value, 1: timestamp */
    int32_t n_wanted;
    bool want_position;
    fm_socket *socket; /* NULL: not connected yet */
    fm_thread *thread;
    bool has_target; /* AvailableNow */
    int64_t target;
    /* shared with the thread: */
    fm_mutex *mutex;
    fm_cond *changed;
    socket_line *lines; /* [n] those after base_offset */
    size_t n, cap;
    int64_t base_offset; /* offset of the last line that was given up */
    int64_t planned; /* offset of the last line that a batch took */
    size_t waiting;  /* bytes of lines after it */
    bool closing, ended;
    fm_error failed; /* of the thread */
} socket_source;

/* ---- options and schema ---- */

static fm_status missing(const char *condition, const char *what, fm_error *err)
{
    return fm_fail(err, FM_INVALID, condition,
                   "Set a %s to read from: OPTIONS (host 'localhost', port '9999').", what);
}

static fm_status read_options(const fm_table_def *table, socket_source *s, fm_error *err)
{
    static const char *const *const known[] = {options};
    const fm_options *o = &table->options;
    const fm_option *time = fm_options_find(o, "includeTimestamp");
    int64_t partitions;

    FM_TRY(fm_options_check(o, "source socket", known, 1, err));
    s->host = fm_options_get(o, "host", (fm_str){"", 0});
    if (s->host.len == 0) return missing("_LEGACY_ERROR_TEMP_1295", "host", err);
    if (!fm_options_find(o, "port")) return missing("_LEGACY_ERROR_TEMP_1296", "port", err);
    FM_TRY(fm_options_i64(o, "port", 0, 1, 65535, &s->port, err));
    FM_TRY(fm_options_i64(o, "numPartitions", 1, 1, INT32_MAX, &partitions, err));
    s->with_time = time && fm_str_eq_ci(time->value, FM_STR("true"));
    if (!time || s->with_time || fm_str_eq_ci(time->value, FM_STR("false"))) return FM_OK;
    return fm_fail(err, FM_INVALID, "_LEGACY_ERROR_TEMP_1297",
                   "includeTimestamp must be set to either \"true\" or \"false\", not '%.*s'.",
                   FM_STR_ARG(time->value));
}

static fm_status socket_schema(const fm_source_env *env, const fm_table_def *table, bool is_stream,
                               fm_arena *arena, const fm_type **out, fm_error *err)
{
    fm_field fields[] = {{FM_STR("value"), fm_type_string(), true},
                         {FM_STR("timestamp"), fm_type_timestamp(), true}};
    socket_source s = {0};

    (void)env;
    (void)is_stream;
    FM_TRY(read_options(table, &s, err));
    *out = fm_type_struct(arena, fields, s.with_time ? 2 : 1);
    if (!*out) return fm_no_memory(arena, err);
    if (!table->schema || fm_type_eq(table->schema, *out)) return FM_OK;
    return fm_fail(err, FM_INVALID, "_LEGACY_ERROR_TEMP_2242",
                   "The source socket does not support a user-specified schema: its columns are value STRING "
                   "and, with includeTimestamp, timestamp TIMESTAMP. Leave the columns of %.*s out.",
                   FM_STR_ARG(table->name));
}

static void socket_close(fm_source *source)
{
    socket_source *s = (socket_source *)source;

    if (!s) return;
    if (s->thread) {
        fm_mutex_lock(s->mutex);
        s->closing = true;
        fm_cond_broadcast(s->changed);
        fm_mutex_unlock(s->mutex);
        fm_socket_shutdown(s->socket);
        fm_thread_join(s->thread);
    }
    fm_socket_close(s->socket);
    for (size_t i = 0; i < s->n; i++) free(s->lines[i].bytes);
    free(s->lines);
    fm_cond_free(s->changed);
    fm_mutex_free(s->mutex);
}

static fm_status choose_columns(socket_source *s, const fm_source_spec *spec, fm_error *err)
{
    s->n_wanted = spec->n_wanted;
    s->want_position = spec->want_position;
    return fm_source_columns(spec, s->arena, &s->wanted, &s->out_schema, err);
}

static fm_status socket_open(const fm_source_env *env, const fm_source_spec *spec, fm_arena *arena,
                             fm_source **out, fm_error *err)
{
    socket_source *s = fm_arena_one(arena, socket_source);

    if (!s) return fm_no_memory(arena, err);
    FM_TRY(read_options(spec->table, s, err));
    if (!spec->metadata_dir)
        return fm_fail(err, FM_UNSUPPORTED, "UNSUPPORTED_FEATURE.BATCH_READ",
                       "The source socket has no end: read it as a stream.");
    s->base.type = &fm_source_socket;
    s->env = *env;
    s->arena = arena;
    s->host = fm_arena_str(arena, s->host);
    if (!s->host.ptr) return fm_no_memory(arena, err);
    s->base_offset = s->planned = -1;
    FM_TRY(choose_columns(s, spec, err));
    s->mutex = fm_mutex_new();
    s->changed = fm_cond_new();
    if (!s->mutex || !s->changed) {
        socket_close(&s->base);
        return fm_no_memory(NULL, err);
    }
    *out = &s->base;
    return FM_OK;
}

/* ---- the thread ---- */

/* Keeps one line, waiting while too much lies here unread. False: stop. */
static bool keep_line(socket_source *s, fm_str text)
{
    socket_line line = {malloc(text.len + 1), text.len,
                        fm_clock_now_us(s->env.clock) / 1000};
    bool ok = line.bytes != NULL;

    if (ok && text.len) memcpy(line.bytes, text.ptr, text.len);
    fm_mutex_lock(s->mutex);
    while (s->waiting > WAITING_SIZE_MAX && !s->closing) fm_cond_wait(s->changed, s->mutex);
    if (ok && s->n == s->cap) {
        size_t cap = s->cap ? s->cap * 2 : 256;
        socket_line *more = realloc(s->lines, cap * sizeof *more);
        ok = more != NULL;
        if (more) {
            s->lines = more;
            s->cap = cap;
        }
    }
    if (ok) {
        s->lines[s->n++] = line;
        s->waiting += line.len + sizeof line;
    } else {
        free(line.bytes);
        fm_no_memory(NULL, &s->failed);
    }
    ok = ok && !s->closing;
    fm_mutex_unlock(s->mutex);
    return ok;
}

/* Cuts what came into lines, as Java's readLine does: at \n, \r and \r\n. `skip_nl`: the last byte was a \r. */
static bool keep_lines(socket_source *s, fm_strbuf *open_line, fm_str bytes, bool *skip_nl)
{
    for (size_t at = 0; at < bytes.len;) {
        if (*skip_nl && bytes.ptr[at] == '\n') at++;
        *skip_nl = false;
        size_t stop = at;
        while (stop < bytes.len && bytes.ptr[stop] != '\n' && bytes.ptr[stop] != '\r') stop++;
        if (stop > at) fm_strbuf_add(open_line, (fm_str){bytes.ptr + at, stop - at});
        if (stop < bytes.len) {
            *skip_nl = bytes.ptr[stop] == '\r';
            if (!fm_strbuf_ok(open_line) || !keep_line(s, fm_strbuf_str(open_line))) return false;
            fm_strbuf_clear(open_line);
        }
        at = stop + 1;
    }
    return fm_strbuf_ok(open_line) && open_line->len <= FM_ROW_SIZE_MAX;
}

static void read_lines(void *arg)
{
    socket_source *s = arg;
    fm_strbuf open_line = {0};
    char *bytes = malloc(READ_SIZE);
    bool skip_nl = false, more = bytes != NULL;
    size_t got = 0;

    while (more) {
        /* A connection that breaks has ended, as for Spark. */
        if (fm_socket_read(s->socket, bytes, READ_SIZE, &got, NULL) != FM_OK || got == 0) break;
        more = keep_lines(s, &open_line, (fm_str){bytes, got}, &skip_nl);
    }
    if (more && open_line.len) more = keep_line(s, fm_strbuf_str(&open_line));
    fm_mutex_lock(s->mutex);
    s->ended = true;
    if (!more && !s->closing && s->failed.status == FM_OK) {
        if (open_line.len > FM_ROW_SIZE_MAX)
            fm_fail(&s->failed, FM_LIMIT, "FLOODMARK_LIMIT", "%s:%" PRId64 " sent a line of more than %d bytes.",
                    s->host.ptr, s->port, FM_ROW_SIZE_MAX);
        else
            fm_no_memory(NULL, &s->failed);
    }
    fm_mutex_unlock(s->mutex);
    fm_strbuf_fini(&open_line);
    free(bytes);
}

static fm_status ensure_connected(socket_source *s, fm_error *err)
{
    if (s->thread) return FM_OK;
    if (!s->socket)
        FM_TRY(fm_socket_connect(s->host.ptr, (int)s->port, CONNECT_TIMEOUT_US, &s->socket, err));
    return fm_thread_start(read_lines, s, "socket source", &s->thread, err);
}

/* ---- planning ---- */

static fm_status parse_offset(fm_str text, int64_t *out, fm_error *err)
{
    *out = -1;
    if (text.len == 0 || (fm_str_to_i64(text, out) && *out >= -1 && *out < INT64_MAX)) return FM_OK;
    return fm_fail(err, FM_CORRUPT, "FLOODMARK_CORRUPT_LOG",
                   "The checkpoint's offset %.*s is none of a socket source. Was the source of the query changed? "
                   "Use a new checkpointLocation then.",
                   FM_STR_ARG(text));
}

static fm_status socket_restore(fm_source *source, fm_str start, fm_error *err)
{
    socket_source *s = (socket_source *)source;

    FM_TRY(parse_offset(start, &s->base_offset, err));
    s->planned = s->base_offset;
    return FM_OK;
}

static fm_status socket_latest(fm_source *source, fm_str start, fm_read_limit limit, fm_arena *arena,
                               fm_str *end, fm_str *latest, fm_error *err)
{
    socket_source *s = (socket_source *)source;
    fm_error failed;
    int64_t now;

    (void)limit;
    /* With a start, batch 0 is over: after a restart nothing new would be seen without a connection. */
    if (start.len) FM_TRY(ensure_connected(s, err));
    fm_mutex_lock(s->mutex);
    now = s->base_offset + (int64_t)s->n;
    failed = s->failed;
    fm_mutex_unlock(s->mutex);
    if (failed.status != FM_OK) {
        if (err) *err = failed;
        return failed.status;
    }
    if (s->has_target && now > s->target) now = s->target;
    *end = fm_arena_printf(arena, "%" PRId64, now);
    *latest = *end;
    return end->ptr ? FM_OK : fm_no_memory(arena, err);
}

static fm_status socket_fix_target(fm_source *source, fm_error *err)
{
    socket_source *s = (socket_source *)source;

    (void)err;
    s->has_target = true;
    s->target = s->base_offset; /* not connected: there is nothing */
    return FM_OK;
}

/* Copies the lines after `from` up to `to` into arena; the thread may go on meanwhile. */
static fm_status copy_lines(socket_source *s, int64_t from, int64_t to, fm_arena *arena,
                            socket_line **out, int64_t *n, fm_error *err)
{
    bool ok;

    if (from < s->base_offset) from = s->base_offset;
    if (to > s->base_offset + (int64_t)s->n) to = s->base_offset + (int64_t)s->n;
    *n = to > from ? to - from : 0;
    *out = fm_arena_array(arena, socket_line, *n);
    ok = *out != NULL;
    for (int64_t i = 0; ok && i < *n; i++) {
        const socket_line *line = &s->lines[from - s->base_offset + i];
        fm_str copy = fm_arena_str(arena, (fm_str){line->bytes, line->len});
        ok = copy.ptr != NULL;
        if (!ok) break;
        fm_str text = fm_utf8_repair(copy, arena);
        (*out)[i] = (socket_line){(char *)(uintptr_t)text.ptr, text.len, line->arrived_ms};
        ok = text.ptr != NULL;
    }
    return ok ? FM_OK : fm_no_memory(arena, err);
}

typedef struct socket_split {
    const socket_line *lines; /* [n] */
    int64_t n, first;         /* offset of lines[0] */
} socket_split;

/* Everything up to `to` belongs to a batch now: it no longer holds the server up. */
static void mark_planned(socket_source *s, int64_t to)
{
    int64_t there = s->base_offset + (int64_t)s->n;

    if (to > there) { /* a batch that runs again, whose lines are lost */
        fm_assert(s->n == 0);
        s->base_offset = s->planned = to;
        return;
    }
    for (; s->planned < to; s->planned++) {
        if (s->planned < s->base_offset) continue;
        s->waiting -= s->lines[s->planned - s->base_offset].len + sizeof(socket_line);
    }
    fm_cond_broadcast(s->changed);
}

static fm_status socket_plan_splits(fm_source *source, fm_str start, fm_str end, int32_t workers,
                                    fm_arena *arena, fm_split **out, int32_t *n, fm_error *err)
{
    socket_source *s = (socket_source *)source;
    socket_line *lines = NULL;
    int64_t from, to, n_lines = 0;

    (void)workers;
    FM_TRY(parse_offset(start, &from, err));
    FM_TRY(parse_offset(end, &to, err));
    if (!s->thread) mark_planned(s, to);
    FM_TRY(ensure_connected(s, err));
    fm_mutex_lock(s->mutex);
    fm_status st = copy_lines(s, from, to, arena, &lines, &n_lines, err);
    if (st == FM_OK) mark_planned(s, to);
    fm_mutex_unlock(s->mutex);
    FM_TRY(st);
    int64_t count = (n_lines + SPLIT_LINES - 1) / SPLIT_LINES;
    socket_split *splits = fm_arena_array(arena, socket_split, count);
    *out = fm_arena_array(arena, fm_split, count);
    if (!splits || !*out) return fm_no_memory(arena, err);
    for (int64_t i = 0; i < count; i++) {
        int64_t at = i * SPLIT_LINES, left = n_lines - at;
        splits[i] = (socket_split){lines + at, left < SPLIT_LINES ? left : SPLIT_LINES, to - n_lines + 1 + at};
        (*out)[i] = (fm_split){i, splits[i].n, &splits[i]};
    }
    *n = (int32_t)count;
    return FM_OK;
}

static fm_status socket_commit(fm_source *source, fm_str end, fm_error *err)
{
    socket_source *s = (socket_source *)source;
    int64_t to;

    FM_TRY(parse_offset(end, &to, err));
    fm_mutex_lock(s->mutex);
    size_t done = to <= s->base_offset ? 0 : (size_t)(to - s->base_offset);
    if (done > s->n) done = s->n;
    for (size_t i = 0; i < done; i++) free(s->lines[i].bytes);
    if (done) memmove(s->lines, s->lines + done, (s->n - done) * sizeof *s->lines);
    s->n -= done;
    s->base_offset += (int64_t)done;
    fm_mutex_unlock(s->mutex);
    return FM_OK;
}

static void socket_description(const fm_source *source, fm_strbuf *out)
{
    const socket_source *s = (const socket_source *)source;

    fm_strbuf_printf(out, "TextSocketV2[host: %s, port: %" PRId64 "]", s->host.ptr, s->port);
}

/* Spark warns in its log that the stream was closed; here the progress says so. */
static void socket_metrics(const fm_source *source, fm_arena *arena, fm_source_metric **out, int32_t *n)
{
    const socket_source *s = (const socket_source *)source;

    *n = 0;
    fm_mutex_lock(s->mutex);
    bool ended = s->ended;
    fm_mutex_unlock(s->mutex);
    *out = ended ? fm_arena_one(arena, fm_source_metric) : NULL;
    if (!*out) return;
    **out = (fm_source_metric){FM_STR("connection"), FM_STR("closed")};
    *n = 1;
}

/* ---- reading ---- */

typedef struct socket_reader {
    fm_split_reader base;
    const socket_source *source;
    fm_arena *batch;
    int64_t rows;
} socket_reader;

static fm_status socket_reader_open(fm_source *source, fm_arena *arena, fm_split_reader **out,
                                    fm_error *err)
{
    socket_reader *r = fm_arena_one(arena, socket_reader);

    if (!r) return fm_no_memory(arena, err);
    r->base.type = source->type;
    r->source = (const socket_source *)source;
    r->batch = fm_arena_new(0);
    if (!r->batch) return fm_no_memory(NULL, err);
    *out = &r->base;
    return FM_OK;
}

static void socket_reader_close(fm_split_reader *reader)
{
    if (reader) fm_arena_free(((socket_reader *)reader)->batch);
}

static void socket_reader_counts(fm_split_reader *reader, int64_t *rows, int64_t *bad)
{
    socket_reader *r = (socket_reader *)reader;

    *rows = r->rows;
    *bad = 0;
    r->rows = 0;
}

/* column: 0 value, 1 timestamp, -1 the position. */
static fm_status fill_column(const socket_reader *r, int32_t column, const socket_split *split,
                             int64_t from, int32_t rows, fm_vec *out, fm_error *err)
{
    fm_builder *b =
        fm_builder_new(r->batch, column == 1 ? fm_type_timestamp() : fm_type_string(), rows);

    if (!b) return fm_no_memory(r->batch, err);
    for (int64_t i = from; i < from + rows; i++) {
        const socket_line *line = &split->lines[i];
        if (column == 1) {
            fm_builder_i64(b, line->arrived_ms * 1000);
        } else if (column == 0) {
            fm_builder_str_ref(b, (fm_str){line->bytes, line->len});
        } else {
            fm_str text = fm_arena_printf(r->batch, "%s:%" PRId64 "@%" PRId64, r->source->host.ptr,
                                          r->source->port, split->first + i);
            if (!text.ptr) return fm_no_memory(r->batch, err);
            fm_builder_str_ref(b, text);
        }
    }
    return fm_builder_finish(b, out, err);
}

static fm_status socket_reader_read(fm_split_reader *reader, const fm_split *split,
                                    fm_status (*push)(void *ctx, const fm_batch *batch, fm_error *err),
                                    void *ctx, fm_wake *cancelled, fm_error *err)
{
    socket_reader *r = (socket_reader *)reader;
    const socket_source *s = r->source;
    const socket_split *range = split->data;

    for (int64_t from = 0; from < range->n; from += FM_BATCH_ROWS_DECODE) {
        int64_t left = range->n - from;
        int32_t rows = left < FM_BATCH_ROWS_DECODE ? (int32_t)left : FM_BATCH_ROWS_DECODE;
        if (cancelled && fm_wake_is_raised(cancelled))
            return fm_fail(err, FM_CANCELLED, "FLOODMARK_CANCELLED", "The query was stopped.");
        fm_arena_reset(r->batch);
        fm_vec *columns = fm_arena_array(r->batch, fm_vec, s->out_schema->n_fields);
        if (!columns) return fm_no_memory(r->batch, err);
        for (int32_t i = 0; i < s->n_wanted; i++)
            FM_TRY(fill_column(r, s->wanted[i], range, from, rows, &columns[i], err));
        if (s->want_position)
            FM_TRY(fill_column(r, -1, range, from, rows, &columns[s->n_wanted], err));
        fm_batch batch = {.schema = s->out_schema, .rows = rows, .columns = columns};
        r->rows += rows;
        FM_TRY(push(ctx, &batch, err));
    }
    return FM_OK;
}

const fm_source_type fm_source_socket = {
    .name = "socket",
    .options = options,
    .can_stream = true,
    .schema = socket_schema,
    .open = socket_open,
    .close = socket_close,
    .restore = socket_restore,
    .latest_offset = socket_latest,
    .fix_target = socket_fix_target,
    .plan_splits = socket_plan_splits,
    .commit = socket_commit,
    .description = socket_description,
    .metrics = socket_metrics,
    .reader_open = socket_reader_open,
    .reader_read = socket_reader_read,
    .reader_counts = socket_reader_counts,
    .reader_close = socket_reader_close,
};
