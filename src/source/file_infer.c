/* source/file_infer.c: guesses the columns of files that declare none: feeds all of them to the format's inferrer.
 *
 * All files are read, to their ends, as Spark does; samplingRatio makes it look at fewer records, not read fewer. Only the block
 * at hand is in memory. */
#include "source/file_source.h"

#include "base/limits.h"
#include "source/decompress.h"

#include <stdlib.h>

typedef struct reading {
    const fm_format *format;
    fm_inferrer *inferrer;
    char *buf; /* [cap], then FM_BLOCK_PADDING */
    size_t cap, len;
} reading;

static fm_status make_room(reading *r, const fm_listed_file *file, fm_error *err)
{
    size_t cap = r->len < FM_BLOCK_SIZE / 2 ? FM_BLOCK_SIZE : r->len * 2;

    if (cap <= r->cap) return FM_OK;
    if (cap > FM_ROW_SIZE_MAX)
        return fm_fail(err, FM_LIMIT, "FLOODMARK_LIMIT",
                       "File '%s' has a record longer than %d MiB. Is it of the format that the table declares?",
                       file->path.ptr, FM_ROW_SIZE_MAX >> 20);
    char *buf = realloc(r->buf, cap + FM_BLOCK_PADDING);
    if (!buf) return fm_no_memory(NULL, err);
    r->buf = buf;
    r->cap = cap;
    return FM_OK;
}

/* The first `len` bytes of the buffer as a block; what follows moves to the front. */
static fm_status give(reading *r, const fm_listed_file *file, size_t len, int64_t *offset, fm_error *err)
{
    char saved[FM_BLOCK_PADDING];
    fm_block block = {.bytes = r->buf, .len = len, .file = file->path, .offset = *offset};

    memcpy(saved, r->buf + len, sizeof saved); /* the block is followed by zeros */
    memset(r->buf + len, 0, sizeof saved);
    fm_status st = r->format->infer_block(r->inferrer, &block, err);
    memcpy(r->buf + len, saved, sizeof saved);
    r->len -= len;
    memmove(r->buf, r->buf + len, r->len);
    *offset += (int64_t)len;
    return st;
}

static bool enough(const reading *r) { return r->format->infer_enough && r->format->infer_enough(r->inferrer); }

static fm_status read_file(reading *r, fm_byte_stream *stream, const fm_listed_file *file, fm_error *err)
{
    int64_t offset = 0;

    r->len = 0;
    for (bool ended = false; !ended && !enough(r);) {
        size_t got;
        FM_TRY(make_room(r, file, err));
        FM_TRY(fm_byte_stream_read(stream, r->buf + r->len, r->cap - r->len, &got, err));
        r->len += got;
        ended = r->len < r->cap;
        size_t whole = ended ? r->len : r->format->infer_whole(r->inferrer, r->buf, r->len);
        if (whole > 0) FM_TRY(give(r, file, whole, &offset, err));
    }
    return FM_OK;
}

static fm_status read_files(reading *r, const fm_source_env *env, const fm_table_def *table, const fm_file_options *o,
                            const fm_listed_file *files, size_t n, fm_error *err)
{
    for (size_t i = 0; i < n && !enough(r); i++) {
        fm_byte_stream *stream = NULL;
        fm_status st = fm_file_open_text(env, table, files[i].path.ptr, &stream, err);
        if (st == FM_NOT_FOUND && o->ignore_missing) continue;
        if (st == FM_NOT_FOUND) return fm_file_missing(files[i].path.ptr, err);
        if (st == FM_OK) st = read_file(r, stream, &files[i], err);
        fm_byte_stream_close(stream);
        if (st == FM_CORRUPT && o->ignore_corrupt) continue;
        if (st != FM_OK) return fm_context(err, st, "inferring the schema from '%s'", files[i].path.ptr);
    }
    return FM_OK;
}

/* Files that say their schema themselves: the first is asked, or all of them. Rule: Spark, mergeSchema. */
static fm_status ask_files(const fm_source_env *env, const fm_format *format, const fm_options *options, const fm_file_options *o,
                           const fm_listed_file *files, size_t n, fm_arena *arena, const fm_type **out, fm_error *err)
{
    const fm_options *all;
    bool merges;

    *out = NULL;
    FM_TRY(fm_format_options(format, options, env->session, arena, &all, err));
    FM_TRY(format->merges(all, &merges, err));
    for (size_t i = 0; i < n && (merges || !*out); i++) {
        fm_status st = format->file_schema(env->fs, files[i].path.ptr, all, arena, out, err);
        if (st == FM_NOT_FOUND && o->ignore_missing) continue;
        if (st == FM_NOT_FOUND) return fm_file_missing(files[i].path.ptr, err);
        if (st == FM_CORRUPT && o->ignore_corrupt) continue;
        if (st != FM_OK) return st;
    }
    if (*out) return FM_OK;
    return fm_fail(err, FM_INVALID, "UNABLE_TO_INFER_SCHEMA", "Unable to infer the schema: no file in '%.*s' can be read. Declare the columns.",
                   FM_STR_ARG(o->listing.path));
}

fm_status fm_file_infer(const fm_source_env *env, const fm_table_def *table, const fm_file_options *o,
                        const fm_listed_file *files, size_t n, fm_arena *arena, const fm_type **out, fm_error *err)
{
    const fm_format *format = fm_format_find(table->format);
    fm_read_spec spec = {.options = &table->options, .zone = env->conf->zone, .corrupt_column = env->corrupt_column};
    reading r = {.format = format};

    if (n == 0 && fm_str_eq_ci(table->name, FM_STR("read_files")))
        return fm_fail(err, FM_INVALID, "UNABLE_TO_INFER_SCHEMA", "Unable to infer the schema: there are no files in '%.*s'. Give read_files() a schema => 'name TYPE, ...'.",
                       FM_STR_ARG(o->listing.path));
    if (n == 0)
        return fm_fail(err, FM_INVALID, "UNABLE_TO_INFER_SCHEMA",
                       "Unable to infer the schema of table %.*s: there are no files in '%.*s'. Declare the columns: "
                       "CREATE TABLE %.*s (name TYPE, ...).",
                       FM_STR_ARG(table->name), FM_STR_ARG(o->listing.path), FM_STR_ARG(table->name));
    if (format->file_schema) return ask_files(env, format, &table->options, o, files, n, arena, out, err);
    FM_TRY(format->infer_new(arena, &spec, &r.inferrer, err));
    fm_status st = read_files(&r, env, table, o, files, n, err);
    if (st == FM_OK) st = format->infer_finish(r.inferrer, arena, out, err);
    format->infer_free(r.inferrer);
    free(r.buf);
    return st;
}
