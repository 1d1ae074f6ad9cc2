/* sink/console_sink.c: each batch as a table on the terminal.
 *
 *     -------------------------------------------
 *     Batch: 3
 *     -------------------------------------------
 *     +------+-----+
 *     ...
 *
 * A writer keeps the rows it may have to show and counts the others, so a batch of any size takes little memory; the
 * table is printed at commit, in one piece. A batch that runs again is printed again.
 *
 * Rule  Spark's console sink; docs/spark-semantics.md, 10.1. */
#include <inttypes.h>

#include "sink/row_list.h"
#include "sink/sinks.h"
#include "sink/table_text.h"

enum { TRUNCATE_CHARACTERS = 20, ROWS_DEFAULT = 20 };

typedef struct console_writer {
    fm_sink_writer base;
    fm_row_list kept;
    int64_t rows;
} console_writer;

typedef struct console_sink {
    fm_sink base;
    fm_sink_env env;
    const fm_type *schema;
    int64_t rows_shown;
    bool truncate;
    console_writer *writers; /* [FM_WORKERS_MAX] */
    int32_t n_writers;
} console_sink;

static const char *const console_options[] = {"numRows", "truncate", NULL};

static fm_status console_open(const fm_sink_env *env, const fm_sink_spec *spec, fm_arena *arena, fm_sink **out,
                              fm_error *err)
{
    const char *const *known[] = {console_options};
    console_sink *s = fm_arena_one(arena, console_sink);

    if (!s) return fm_no_memory(arena, err);
    FM_TRY(fm_options_check(spec->options, "The console sink", known, 1, err));
    FM_TRY(fm_options_i64(spec->options, "numRows", ROWS_DEFAULT, 0, INT32_MAX, &s->rows_shown, err));
    FM_TRY(fm_options_bool(spec->options, "truncate", true, &s->truncate, err));
    s->base.type = &fm_sink_console;
    s->env = *env;
    s->schema = spec->schema;
    s->writers = fm_arena_array(arena, console_writer, FM_SINK_WRITERS_MAX);
    if (!s->writers) return fm_no_memory(arena, err);
    *out = &s->base;
    return FM_OK;
}

static fm_status console_begin(fm_sink *sink, int64_t batch_id, int32_t writers, bool *skip, fm_error *err)
{
    console_sink *s = (console_sink *)sink;

    fm_assert(writers >= 0 && writers <= FM_SINK_WRITERS_MAX);
    *skip = false;
    s->n_writers = writers;
    for (int32_t i = 0; i < writers; i++) {
        s->writers[i].base.sink = sink;
        s->writers[i].kept.schema = s->schema;
        s->writers[i].rows = 0;
        fm_row_list_reset(&s->writers[i].kept);
    }
    return FM_OK;
}

static fm_status console_writer_open(fm_sink *sink, int32_t index, fm_sink_writer **out, fm_error *err)
{
    console_sink *s = (console_sink *)sink;

    fm_assert(index >= 0 && index < s->n_writers);
    *out = &s->writers[index].base;
    return FM_OK;
}

static fm_status console_write(fm_sink_writer *writer, const fm_batch *batch, fm_error *err)
{
    console_writer *w = (console_writer *)writer;
    const console_sink *s = (const console_sink *)writer->sink;

    w->rows += batch->rows;
    return fm_row_list_add(&w->kept, batch, s->rows_shown - w->kept.rows, err);
}

static fm_status console_writer_close(fm_sink_writer *writer, fm_error *err) { return FM_OK; }

/* The kept rows of all writers, in their order. */
static fm_status gather(const console_sink *s, fm_arena *arena, const fm_batch ***out, int32_t *n, fm_error *err)
{
    int32_t total = 0;

    for (int32_t i = 0; i < s->n_writers; i++) total += s->writers[i].kept.n;
    *n = 0;
    *out = fm_arena_array(arena, const fm_batch *, total);
    if (!*out) return fm_no_memory(arena, err);
    for (int32_t i = 0; i < s->n_writers; i++) {
        for (int32_t b = 0; b < s->writers[i].kept.n; b++) (*out)[(*n)++] = s->writers[i].kept.batches[b];
    }
    return FM_OK;
}

static fm_status print_batch(console_sink *s, int64_t batch_id, int64_t rows, fm_error *err)
{
    static const char ruler[] = "-------------------------------------------\n";
    fm_arena *scratch = fm_arena_new(0);
    const fm_batch **batches = NULL;
    fm_strbuf text = {0};
    int32_t n = 0;

    if (!scratch) return fm_no_memory(NULL, err);
    fm_status st = gather(s, scratch, &batches, &n, err);
    if (st == FM_OK) {
        fm_strbuf_printf(&text, "%sBatch: %" PRId64 "\n%s", ruler, batch_id, ruler);
        fm_table_text(s->schema, batches, n, s->rows_shown, s->truncate ? TRUNCATE_CHARACTERS : 0, s->env.conf->zone, &text);
        int64_t kept = 0;
        for (int32_t i = 0; i < n; i++) kept += batches[i]->rows;
        if (rows > s->rows_shown && kept <= s->rows_shown) { /* the rest was counted only */
            fm_strbuf_printf(&text, "only showing top %" PRId64 " %s\n", s->rows_shown, s->rows_shown == 1 ? "row" : "rows");
        }
        fm_strbuf_add_char(&text, '\n');
        if (!fm_strbuf_ok(&text)) st = fm_no_memory(NULL, err);
    }
    if (st == FM_OK && s->env.print) s->env.print(s->env.print_ctx, fm_strbuf_str(&text));
    fm_strbuf_fini(&text);
    fm_arena_free(scratch);
    return st;
}

static fm_status console_commit(fm_sink *sink, int64_t batch_id, int64_t *rows, fm_error *err)
{
    console_sink *s = (console_sink *)sink;

    *rows = 0;
    for (int32_t i = 0; i < s->n_writers; i++) *rows += s->writers[i].rows;
    return print_batch(s, batch_id, *rows, err);
}

static void console_abort(fm_sink *sink, int64_t batch_id) {}
static void console_description(const fm_sink *sink, fm_strbuf *out) { fm_strbuf_add_c(out, "console"); }

static void console_close(fm_sink *sink)
{
    console_sink *s = (console_sink *)sink;

    if (!s) return;
    for (int32_t i = 0; i < FM_SINK_WRITERS_MAX; i++) fm_row_list_fini(&s->writers[i].kept);
}

const fm_sink_type fm_sink_console = {
    .name = "console", .options = console_options, .modes = FM_SINK_MODES_ALL, .prints = true, .counts_rows = true,
    .open = console_open, .begin = console_begin, .writer_open = console_writer_open, .write = console_write,
    .writer_close = console_writer_close, .commit = console_commit, .abort = console_abort,
    .description = console_description, .close = console_close,
};
