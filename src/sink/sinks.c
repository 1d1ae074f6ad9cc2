/* sink/sinks.c: the table of sinks, and the one that keeps nothing. */
#include "sink/sinks.h"

static fm_sink noop = {&fm_noop_sink};
static fm_sink_writer noop_writer = {&noop};

static fm_status noop_open(const fm_sink_env *env, const fm_sink_spec *spec, fm_arena *arena, fm_sink **out, fm_error *err)
{
    const char *const *lists[] = {fm_noop_sink.options};

    *out = &noop;
    return fm_options_check(spec->options, "The noop sink", lists, 1, err);
}

static fm_status noop_begin(fm_sink *sink, int64_t batch_id, int32_t writers, bool *skip, fm_error *err)
{
    *skip = false;
    return FM_OK;
}

static fm_status noop_writer_open(fm_sink *sink, int32_t index, fm_sink_writer **out, fm_error *err)
{
    *out = &noop_writer;
    return FM_OK;
}

static fm_status noop_write(fm_sink_writer *writer, const fm_batch *batch, fm_error *err) { return FM_OK; }
static fm_status noop_writer_close(fm_sink_writer *writer, fm_error *err) { return FM_OK; }
static fm_status noop_commit(fm_sink *sink, int64_t batch_id, int64_t *rows, fm_error *err)
{
    *rows = 0;
    return FM_OK;
}
static void noop_abort(fm_sink *sink, int64_t batch_id) {}
static void noop_description(const fm_sink *sink, fm_strbuf *out) { fm_strbuf_add_c(out, "noop"); }
static void noop_close(fm_sink *sink) {}

static const char *const noop_options[] = {NULL};
const fm_sink_type fm_noop_sink = {
    .name = "noop", .options = noop_options, .modes = 7, .open = noop_open, .begin = noop_begin, .writer_open = noop_writer_open,
    .write = noop_write, .writer_close = noop_writer_close, .commit = noop_commit, .abort = noop_abort,
    .description = noop_description, .close = noop_close,
};

static const fm_sink_type *const sinks[] = {&fm_console_sink, &fm_memory_sink, &fm_noop_sink};

const fm_sink_type *fm_sink_find(fm_str format)
{
    for (size_t i = 0; i < sizeof sinks / sizeof sinks[0]; i++) {
        if (fm_str_eq_ci(format, fm_str_c(sinks[i]->name))) return sinks[i];
    }
    return NULL;
}

const fm_sink_type *const *fm_sinks(int *n)
{
    *n = (int)(sizeof sinks / sizeof sinks[0]);
    return sinks;
}
