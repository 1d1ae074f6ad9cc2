/* sink/console_sink.c: prints each micro-batch, an empty one too, in Spark's layout to the character. */
#include <inttypes.h>
#include <stdlib.h>

#include "sink/held_rows.h"
#include "sink/sink.h"
#include "sink/sinks.h"
#include "sink/table_text.h"

static const char ruler[] = "-------------------------------------------\n";

typedef struct console {
    fm_sink base;
    fm_sink_writer writer;
    const fm_sink_env *env;
    const fm_session_conf *conf;
    fm_held_rows held;
    fm_mutex *mutex;       /* writers of one batch share it */
    int64_t rows_max;
    int truncate;
    int64_t rows;          /* of the micro-batch */
} console;

static fm_status console_open(const fm_sink_env *env, const fm_sink_spec *spec, fm_arena *arena, fm_sink **out, fm_error *err)
{
    const char *const *lists[] = {fm_console_sink.options};
    console *c = fm_arena_one(arena, console);
    bool truncate;

    if (!c) return fm_no_memory(arena, err);
    FM_TRY(fm_options_check(spec->options, "The console sink", lists, 1, err));
    FM_TRY(fm_options_i64(spec->options, "numRows", 20, 0, INT32_MAX, &c->rows_max, err));
    FM_TRY(fm_options_bool(spec->options, "truncate", true, &truncate, err));
    c->base.type = &fm_console_sink;
    c->env = env;
    c->conf = env->conf;
    c->truncate = truncate ? 20 : 0;
    c->held = (fm_held_rows){.arena = fm_arena_new(0), .schema = spec->schema};
    c->mutex = fm_mutex_new();
    c->writer.sink = &c->base;
    *out = &c->base;
    if (c->held.arena && c->mutex) return FM_OK;
    fm_arena_free(c->held.arena);
    fm_mutex_free(c->mutex);
    return fm_no_memory(NULL, err);
}

static fm_status console_begin(fm_sink *sink, int64_t batch_id, int32_t writers, bool *skip, fm_error *err)
{
    console *c = (console *)sink;

    fm_held_rows_clear(&c->held);
    c->rows = 0;
    *skip = false;
    return FM_OK;
}

static fm_status console_writer_open(fm_sink *sink, int32_t index, fm_sink_writer **out, fm_error *err)
{
    *out = &((console *)sink)->writer;
    return FM_OK;
}

/* Once more rows are held than are shown, the others need not be: the last line only says that there are more. */
static fm_status console_write(fm_sink_writer *writer, const fm_batch *batch, fm_error *err)
{
    console *c = (console *)writer->sink;

    fm_mutex_lock(c->mutex);
    fm_status st = c->held.rows <= c->rows_max ? fm_held_rows_add(&c->held, batch, err) : FM_OK;
    if (st == FM_OK) c->rows += batch->rows;
    fm_mutex_unlock(c->mutex);
    return st;
}

static fm_status console_writer_close(fm_sink_writer *writer, fm_error *err) { return FM_OK; }

static fm_status console_commit(fm_sink *sink, int64_t batch_id, int64_t *rows, fm_error *err)
{
    console *c = (console *)sink;
    fm_strbuf text = {0};

    fm_strbuf_printf(&text, "%sBatch: %" PRId64 "\n%s", ruler, batch_id, ruler);
    fm_table_text(c->held.schema, c->held.batches, c->held.n, c->rows_max, c->truncate, c->conf->zone, &text);
    fm_strbuf_add_char(&text, '\n');
    fm_status st = fm_strbuf_ok(&text) ? FM_OK : fm_no_memory(NULL, err);
    if (st == FM_OK) c->env->print(c->env->print_ctx, fm_strbuf_str(&text));
    fm_strbuf_fini(&text);
    *rows = c->rows;
    fm_held_rows_clear(&c->held);
    return st;
}

static void console_abort(fm_sink *sink, int64_t batch_id) { fm_held_rows_clear(&((console *)sink)->held); }
static void console_description(const fm_sink *sink, fm_strbuf *out) { fm_strbuf_add_c(out, "console"); }

static void console_close(fm_sink *sink)
{
    console *c = (console *)sink;

    fm_arena_free(c->held.arena);
    fm_mutex_free(c->mutex);
}

static const char *const console_options[] = {"numRows", "truncate", NULL};
const fm_sink_type fm_console_sink = {
    .name = "console", .options = console_options, .modes = 7, .counts_rows = true, .open = console_open, .begin = console_begin,
    .writer_open = console_writer_open, .write = console_write, .writer_close = console_writer_close, .commit = console_commit,
    .abort = console_abort, .description = console_description, .close = console_close,
};
