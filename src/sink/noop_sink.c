/* sink/noop_sink.c: counts rows and drops them: for measuring a query without its output. */
#include "sink/sinks.h"

typedef struct noop_writer {
    _Alignas(64) fm_sink_writer base; /* a cache line each: workers count at the same time */
    int64_t rows;
} noop_writer;

typedef struct noop_sink {
    fm_sink base;
    noop_writer *writers; /* [FM_SINK_WRITERS_MAX] */
    int32_t n_writers;
} noop_sink;

static const char *const noop_options[] = {NULL};

static fm_status noop_open(const fm_sink_env *env, const fm_sink_spec *spec, fm_arena *arena, fm_sink **out,
                           fm_error *err)
{
    const char *const *known[] = {noop_options};
    noop_sink *s = fm_arena_one(arena, noop_sink);

    if (!s) return fm_no_memory(arena, err);
    FM_TRY(fm_options_check(spec->options, "The noop sink", known, 1, err));
    s->base.type = &fm_sink_noop;
    s->writers = fm_arena_array(arena, noop_writer, FM_SINK_WRITERS_MAX);
    if (!s->writers) return fm_no_memory(arena, err);
    *out = &s->base;
    return FM_OK;
}

static fm_status noop_begin(fm_sink *sink, int64_t batch_id, int32_t writers, bool *skip, fm_error *err)
{
    noop_sink *s = (noop_sink *)sink;

    fm_assert(writers >= 0 && writers <= FM_SINK_WRITERS_MAX);
    *skip = false;
    s->n_writers = writers;
    for (int32_t i = 0; i < writers; i++) s->writers[i] = (noop_writer){.base = {.sink = sink}};
    return FM_OK;
}

static fm_status noop_writer_open(fm_sink *sink, int32_t index, fm_sink_writer **out, fm_error *err)
{
    noop_sink *s = (noop_sink *)sink;

    fm_assert(index >= 0 && index < s->n_writers);
    *out = &s->writers[index].base;
    return FM_OK;
}

static fm_status noop_write(fm_sink_writer *writer, const fm_batch *batch, fm_error *err)
{
    ((noop_writer *)writer)->rows += batch->rows;
    return FM_OK;
}

static fm_status noop_writer_close(fm_sink_writer *writer, fm_error *err) { return FM_OK; }

static fm_status noop_commit(fm_sink *sink, int64_t batch_id, int64_t *rows, fm_error *err)
{
    const noop_sink *s = (const noop_sink *)sink;

    *rows = 0;
    for (int32_t i = 0; i < s->n_writers; i++) *rows += s->writers[i].rows;
    return FM_OK;
}

static void noop_abort(fm_sink *sink, int64_t batch_id) {}
static void noop_description(const fm_sink *sink, fm_strbuf *out) { fm_strbuf_add_c(out, "noop"); }
static void noop_close(fm_sink *sink) {}

const fm_sink_type fm_sink_noop = {
    .name = "noop", .options = noop_options, .modes = FM_SINK_MODES_ALL, .counts_rows = true,
    .open = noop_open, .begin = noop_begin, .writer_open = noop_writer_open, .write = noop_write,
    .writer_close = noop_writer_close, .commit = noop_commit, .abort = noop_abort,
    .description = noop_description, .close = noop_close,
};
