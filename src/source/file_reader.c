/* source/file_reader.c: reads pieces of files, block by block.
 *
 *     file   ....\n......\n....|..\n.......\n.........|.....\n....
 *                          from                      to
 *     piece                        ^^^^^^^^^^^^^^^^^^^^^^^^^^
 *
 * A piece begins behind the first \n at or after `from` (the first piece: at 0) and ends with the
 * line that holds the byte `to`, or starts there. So pieces of any file meet without gap or
 * overlap, whoever reads them. A block holds whole records; what is behind the last one is moved to
 * the front and read on. */
#include "source/file_source.h"

#include "base/limits.h"
#include "source/decompress.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { TAIL_SIZE = 16 * 1024 }; /* bytes read at a time behind `to`, where one line ends */

typedef fm_status (*push_fn)(void *ctx, const fm_batch *batch, fm_error *err);

typedef struct file_reader {
    fm_split_reader base;
    fm_file_source *source;
    fm_reader *reader;
    fm_arena *batches; /* the format's */
    fm_arena *scratch; /* columns added here */
    char *buf;         /* [cap], then FM_BLOCK_PADDING */
    size_t cap, len;
    int64_t rows, bad;
    /* the split being read: */
    const fm_file_split *split;
    fm_byte_stream *stream;
    int64_t offset; /* of buf[0] in the file */
    int64_t line;   /* of buf[0]; 0: not counted */
    bool at_end;    /* no bytes follow */
    push_fn push;
    void *push_ctx;
    bool push_failed; /* a failure is the receiver's, not the file's */
} file_reader;

fm_status fm_file_missing(const char *path, fm_error *err)
{
    return fm_fail(err, FM_UNAVAILABLE, "FAILED_READ_FILE.FILE_NOT_EXIST",
                   "File '%s' does not exist, but it belongs to this query's input. Put it back, "
                   "or set option "
                   "ignoreMissingFiles to 'true' to go on without it.",
                   path);
}

fm_status fm_file_open_text(const fm_source_env *env, const fm_table_def *table, const char *path, fm_byte_stream **out,
                            fm_error *err)
{
    const fm_options *o = &table->options;
    fm_str encoding = fm_options_get(o, "encoding", fm_options_get(o, "charset", FM_STR("")));
    bool is_json = fm_str_eq_ci(table->format, FM_STR("json")), multi_line = false;
    bool is_utf8 = fm_str_eq_ci(encoding, FM_STR("UTF-8")) || fm_str_eq_ci(encoding, FM_STR("UTF8"));

    FM_TRY(fm_options_bool(o, "multiLine", false, &multi_line, err));
    FM_TRY(fm_byte_stream_open(env->fs, path, out, err));
    if (is_utf8 || (encoding.len == 0 && !(is_json && multi_line)) || fm_str_eq_ci(table->format, FM_STR("text"))) return FM_OK;
    fm_status st = fm_byte_stream_decode(*out, encoding, err);
    if (st != FM_OK) {
        fm_byte_stream_close(*out);
        *out = NULL;
    }
    return st;
}

fm_status fm_file_reader_open(fm_source *source, fm_arena *arena, fm_split_reader **out,
                              fm_error *err)
{
    file_reader *r = calloc(1, sizeof *r);

    if (!r) return fm_no_memory(NULL, err);
    r->base.type = source->type;
    r->source = (fm_file_source *)source;
    r->batches = fm_arena_new(0);
    r->scratch = fm_arena_new(0);
    fm_status st = r->batches && r->scratch ? FM_OK : fm_no_memory(NULL, err);
    if (st == FM_OK) st = r->source->format->reader_new(arena, &r->source->read, &r->reader, err);
    if (st != FM_OK) {
        fm_file_reader_close(&r->base);
        return st;
    }
    *out = &r->base;
    return FM_OK;
}

void fm_file_reader_close(fm_split_reader *reader)
{
    file_reader *r = (file_reader *)reader;

    if (!r) return;
    if (r->reader && r->source->format->reader_free) r->source->format->reader_free(r->reader);
    fm_arena_free(r->batches);
    fm_arena_free(r->scratch);
    free(r->buf);
    free(r);
}

void fm_file_reader_counts(fm_split_reader *reader, int64_t *rows, int64_t *bad)
{
    file_reader *r = (file_reader *)reader;

    *rows = r->rows;
    *bad = r->bad;
    r->rows = r->bad = 0;
}

/* ---- columns that do not stand in the file ---- */

static fm_status position_column(file_reader *r, const int64_t *lines, int32_t rows, fm_vec *out,
                                 fm_error *err)
{
    FM_TRY(fm_vec_init(out, fm_type_string(), rows, r->scratch, err));
    fm_view *views = fm_vec_view_out(out);
    for (int32_t i = 0; i < rows; i++) {
        fm_str text = fm_arena_printf(r->scratch, "%.*s:%" PRId64, FM_STR_ARG(r->split->path),
                                      lines ? lines[i] : 0);
        if (!text.ptr) return fm_no_memory(r->scratch, err);
        views[i] = fm_view_of(text.ptr, text.len);
    }
    return FM_OK;
}

static fm_status push_full(file_reader *r, const fm_batch *batch, const int64_t *lines,
                           fm_error *err)
{
    const fm_file_source *s = r->source;

    if (s->n_partitions == 0 && !s->want_position && !s->want_metadata) return r->push(r->push_ctx, batch, err);
    fm_arena_reset(r->scratch);
    fm_vec *columns = fm_arena_array(r->scratch, fm_vec, s->out_schema->n_fields);
    if (!columns) return fm_no_memory(r->scratch, err);
    for (int32_t i = 0; i < s->n_wanted; i++) {
        const fm_file_column *c = &s->columns[i];
        if (c->from_path < 0)
            columns[i] = batch->columns[c->from_format];
        else
            FM_TRY(fm_vec_repeat(&columns[i], &r->split->partition_values[c->from_path], 0,
                                 batch->rows, r->scratch, err));
    }
    int32_t n = s->n_wanted;
    if (s->want_metadata) FM_TRY(fm_file_metadata(fm_file_metadata_type(s->table), r->split, lines, batch->rows, r->scratch, &columns[n++], err));
    if (s->want_position) FM_TRY(position_column(r, lines, batch->rows, &columns[n], err));
    fm_batch full = {.schema = s->out_schema, .rows = batch->rows, .columns = columns};
    return r->push(r->push_ctx, &full, err);
}

static fm_status push_batch(void *ctx, const fm_batch *batch, const int64_t *lines, fm_error *err)
{
    file_reader *r = ctx;
    fm_status st = push_full(r, batch, lines, err);

    r->push_failed = st != FM_OK;
    return st;
}

/* ---- bytes ---- */

static fm_status make_room(file_reader *r, size_t more, fm_error *err)
{
    size_t need = r->len + more;

    if (need <= r->cap) return FM_OK;
    if (need > FM_ROW_SIZE_MAX)
        return fm_fail(err, FM_LIMIT, "FLOODMARK_LIMIT",
                       "File '%.*s' has a record longer than %d MiB, at byte %" PRId64
                       ". Is it of the format that the table declares?",
                       FM_STR_ARG(r->split->path), FM_ROW_SIZE_MAX >> 20, r->offset);
    char *buf = realloc(r->buf, need + FM_BLOCK_PADDING);
    if (!buf) return fm_no_memory(NULL, err);
    r->buf = buf;
    r->cap = need;
    return FM_OK;
}

/* Reads on behind what is in the buffer: to a whole block, or doubling a record that is longer; a
 * piece up to its end and a little more, and from there as much again each time: its last record may be long, and is looked
 * through for its end anew after each step. */
static fm_status fill(file_reader *r, fm_error *err)
{
    size_t size = r->len < FM_BLOCK_SIZE ? FM_BLOCK_SIZE - r->len : r->len, got;
    int64_t to = r->split->to, left = to - (r->offset + (int64_t)r->len);

    if (to >= 0 && left > -TAIL_SIZE && left < (int64_t)size - TAIL_SIZE)
        size = TAIL_SIZE + (left > 0 ? (size_t)left : 0);
    else if (to >= 0 && left <= -TAIL_SIZE && -left < (int64_t)size)
        size = (size_t)-left;
    if (r->len + size > FM_ROW_SIZE_MAX && r->len < FM_ROW_SIZE_MAX)
        size = FM_ROW_SIZE_MAX - r->len;
    FM_TRY(make_room(r, size, err));
    FM_TRY(fm_byte_stream_read(r->stream, r->buf + r->len, size, &got, err));
    r->len += got;
    r->at_end = got < size;
    return FM_OK;
}

static void drop_front(file_reader *r, size_t n)
{
    r->len -= n;
    memmove(r->buf, r->buf + n, r->len);
    r->offset += (int64_t)n;
}

/* Brings buf[0] to the start of the piece's first line. */
static fm_status find_start(file_reader *r, fm_error *err)
{
    for (;;) {
        FM_TRY(fill(r, err));
        const char *nl = memchr(r->buf, '\n', r->len);
        if (nl || r->at_end) {
            drop_front(r, nl ? (size_t)(nl - r->buf) + 1 : r->len);
            return FM_OK;
        }
        drop_front(r, r->len);
        if (r->split->to >= 0 && r->offset > r->split->to) return FM_OK; /* within a record that goes beyond the piece */
    }
}

/* How much of the buffer is whole records of this piece; 0: more must be read. *last: the piece
 * ends with them. */
static size_t whole_part(file_reader *r, bool *last)
{
    int64_t to = r->split->to;

    *last = true;
    if (to >= 0 && r->offset > to) return 0;
    if (to >= 0 && r->len && to < r->offset + (int64_t)r->len) {
        size_t from = (size_t)(to - r->offset);
        const char *nl = memchr(r->buf + from, '\n', r->len - from);
        if (nl) return (size_t)(nl - r->buf) + 1;
    }
    if (r->at_end) return r->len;
    *last = false;
    return r->len ? r->source->format->whole_records(r->reader, r->buf, r->len) : 0;
}

/* ---- blocks ---- */

static fm_status discard(void *ctx, const fm_batch *batch, const int64_t *lines, fm_error *err)
{
    (void)ctx;
    (void)batch;
    (void)lines;
    (void)err;
    return FM_OK;
}

/* Lines before `offset`, in a file that may be packed; -1: not known. */
static int64_t lines_before(const file_reader *r, int64_t offset)
{
    fm_byte_stream *s = NULL;
    int64_t lines = 0;
    char *buf = malloc(FM_BLOCK_SIZE);

    if (!buf || fm_file_open_text(&r->source->env, r->source->table, r->split->path.ptr, &s, NULL) != FM_OK)
        lines = -1;
    while (lines >= 0 && offset > 0) {
        size_t got, size = offset < FM_BLOCK_SIZE ? (size_t)offset : FM_BLOCK_SIZE;
        if (fm_byte_stream_read(s, buf, size, &got, NULL) != FM_OK || got < size) {
            lines = -1;
            break;
        }
        lines += fm_lines_count(r->source->line_sep, buf, got);
        offset -= (int64_t)got;
    }
    fm_byte_stream_close(s);
    free(buf);
    return lines;
}

/* A bad record ends the query, in a piece whose lines are not numbered: reads the block once more,
 * knowing its first line, so that the message can say where to look. */
static void say_line(file_reader *r, fm_block *block, fm_error *err)
{
    fm_read_counts counts = {0};
    fm_batch_out out = {NULL, discard};
    fm_error again = FM_ERROR_INIT;
    int64_t lines = lines_before(r, block->offset);

    if (lines < 0 || !err) return;
    block->first_line = lines + 1;
    if (r->source->format->read_block(r->reader, block, r->batches, &out, &counts, &again) ==
        FM_INVALID)
        *err = again;
}

static fm_status read_block(file_reader *r, size_t len, fm_error *err)
{
    char saved[FM_BLOCK_PADDING]; /* the block is followed by zeros, in the buffer by the next
                                     record */
    fm_read_counts counts = {0};
    fm_batch_out out = {r, push_batch};
    fm_block block = {r->buf, len, r->split->path, r->offset, r->line};

    memcpy(saved, r->buf + len, sizeof saved);
    memset(r->buf + len, 0, sizeof saved);
    fm_status st = r->source->format->read_block(r->reader, &block, r->batches, &out, &counts, err);
    r->rows += counts.rows;
    r->bad += counts.bad;
    if (st == FM_INVALID && r->line == 0 && !r->push_failed) say_line(r, &block, err);
    memcpy(r->buf + len, saved, sizeof saved);
    if (r->line) r->line += fm_lines_count(r->source->line_sep, r->buf, len);
    return st;
}

static fm_status read_piece(file_reader *r, fm_wake *cancelled, fm_error *err)
{
    bool last = false;

    if (r->split->from > 0) FM_TRY(find_start(r, err));
    while (!last) {
        if (cancelled && fm_wake_is_raised(cancelled))
            return fm_fail(err, FM_CANCELLED, "FLOODMARK_CANCELLED", "The query was stopped.");
        size_t whole = whole_part(r, &last);
        if (whole > 0) {
            FM_TRY(read_block(r, whole, err));
            drop_front(r, whole);
        } else if (!last) {
            FM_TRY(fill(r, err));
        }
    }
    return FM_OK;
}

/* ---- Formats with a footer ---------------------------------------------------------------------------------- */

typedef struct piece_out {
    file_reader *r;
    fm_wake *cancelled;
} piece_out;

static fm_status push_piece(void *ctx, const fm_batch *batch, const int64_t *lines, fm_error *err)
{
    piece_out *p = ctx;

    if (p->cancelled && fm_wake_is_raised(p->cancelled)) {
        p->r->push_failed = true;
        return fm_fail(err, FM_CANCELLED, "FLOODMARK_CANCELLED", "The query was stopped.");
    }
    return push_batch(p->r, batch, lines, err);
}

/* Such a format opens the file itself, and reads the parts that belong to the piece. */
static fm_status read_through_file(file_reader *r, fm_wake *cancelled, fm_error *err)
{
    const fm_file_source *s = r->source;
    piece_out ctx = {r, cancelled};
    fm_batch_out out = {&ctx, push_piece};
    fm_read_counts counts = {0};
    fm_status st = s->format->read_piece(r->reader, s->env.fs, r->split->path, r->split->from, r->split->to, s->want_position || s->want_metadata, r->batches, &out,
                                         &counts, err);

    r->rows += counts.rows;
    if (r->push_failed) return st;
    if (st == FM_NOT_FOUND) return s->options.ignore_missing ? FM_OK : fm_file_missing(r->split->path.ptr, err);
    return st == FM_CORRUPT && s->options.ignore_corrupt ? FM_OK : st;
}

fm_status fm_file_reader_read(fm_split_reader *reader, const fm_split *split, push_fn push,
                              void *ctx, fm_wake *cancelled, fm_error *err)
{
    file_reader *r = (file_reader *)reader;
    const fm_file_options *o = &r->source->options;

    r->split = split->data;
    r->push = push;
    r->push_ctx = ctx;
    r->push_failed = false;
    r->len = 0;
    r->at_end = false;
    r->offset = r->split->from;
    r->line = r->source->want_position ? 1 : 0;
    if (r->source->format->read_piece) return read_through_file(r, cancelled, err);
    fm_status st = fm_file_open_text(&r->source->env, r->source->table, r->split->path.ptr, &r->stream, err);
    if (st == FM_NOT_FOUND)
        return o->ignore_missing ? FM_OK : fm_file_missing(r->split->path.ptr, err);
    if (st != FM_OK) return st;
    if (r->split->from > 0) fm_byte_stream_seek(r->stream, r->split->from);
    st = read_piece(r, cancelled, err);
    fm_byte_stream_close(r->stream);
    r->stream = NULL;
    if (st == FM_CORRUPT && o->ignore_corrupt && !r->push_failed) return FM_OK;
    return st;
}
