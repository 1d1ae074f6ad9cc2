/* sink/memory_sink.c: rows kept in the session, to be queried by the query's name: SELECT * FROM name.
 *
 * Append and update add the rows of each batch, complete replaces them. A batch id that the table has is passed over.
 * For tests and looking around: the rows live in memory and go with the session.
 *
 * Rule  Spark's memory sink; docs/spark-semantics.md, 10.4. */
#include "sink/memory_table_impl.h"
#include "sink/sinks.h"

typedef struct memory_writer {
    fm_sink_writer base;
    fm_row_list rows;
} memory_writer;

typedef struct memory_sink {
    fm_sink base;
    fm_memory_stream *stream;
    bool replaces;
    memory_writer *writers; /* [FM_SINK_WRITERS_MAX] */
    int32_t n_writers;
} memory_sink;

static const char *const memory_options[] = {NULL};

static fm_status memory_open(const fm_sink_env *env, const fm_sink_spec *spec, fm_arena *arena, fm_sink **out,
                             fm_error *err)
{
    const char *const *known[] = {memory_options};
    memory_sink *s = fm_arena_one(arena, memory_sink);

    if (!s) return fm_no_memory(arena, err);
    FM_TRY(fm_options_check(spec->options, "The memory sink", known, 1, err));
    if (spec->query_name.len == 0) {
        return fm_fail(err, FM_INVALID, "FLOODMARK_QUERY_NAME_MISSING",
                       "queryName must be specified for the memory sink: it is the name of the table to query.");
    }
    if (!env->memory) {
        return fm_fail(err, FM_UNSUPPORTED, "FLOODMARK_NO_SESSION", "The memory sink needs a session that keeps its tables.");
    }
    s->base.type = &fm_sink_memory;
    s->replaces = spec->mode == FM_MODE_COMPLETE;
    s->writers = fm_arena_array(arena, memory_writer, FM_SINK_WRITERS_MAX);
    if (!s->writers) return fm_no_memory(arena, err);
    *out = &s->base;
    return fm_memory_stream_open(env->memory, spec->query_name, spec->query_id, spec->schema, &s->stream, err);
}

static fm_status memory_begin(fm_sink *sink, int64_t batch_id, int32_t writers, bool *skip, fm_error *err)
{
    memory_sink *s = (memory_sink *)sink;

    fm_assert(writers >= 0 && writers <= FM_SINK_WRITERS_MAX);
    s->n_writers = writers;
    for (int32_t i = 0; i < writers; i++) {
        s->writers[i].base.sink = sink;
        s->writers[i].rows.schema = fm_memory_stream_schema(s->stream);
        fm_row_list_reset(&s->writers[i].rows);
    }
    *skip = fm_memory_stream_has(s->stream, batch_id);
    return FM_OK;
}

static fm_status memory_writer_open(fm_sink *sink, int32_t index, fm_sink_writer **out, fm_error *err)
{
    memory_sink *s = (memory_sink *)sink;

    fm_assert(index >= 0 && index < s->n_writers);
    *out = &s->writers[index].base;
    return FM_OK;
}

static fm_status memory_write(fm_sink_writer *writer, const fm_batch *batch, fm_error *err)
{
    return fm_row_list_add(&((memory_writer *)writer)->rows, batch, INT64_MAX, err);
}

static fm_status memory_writer_close(fm_sink_writer *writer, fm_error *err) { return FM_OK; }

static fm_status memory_commit(fm_sink *sink, int64_t batch_id, int64_t *rows, fm_error *err)
{
    memory_sink *s = (memory_sink *)sink;
    const fm_row_list *lists[FM_SINK_WRITERS_MAX];

    *rows = 0;
    for (int32_t i = 0; i < s->n_writers; i++) {
        lists[i] = &s->writers[i].rows;
        *rows += lists[i]->rows;
    }
    fm_status st = fm_memory_stream_add(s->stream, batch_id, lists, s->n_writers, s->replaces, err);
    for (int32_t i = 0; i < s->n_writers; i++) fm_row_list_reset(&s->writers[i].rows);
    return st;
}

static void memory_abort(fm_sink *sink, int64_t batch_id) {} /* begin empties the lists */
static void memory_description(const fm_sink *sink, fm_strbuf *out) { fm_strbuf_add_c(out, "MemorySink"); }

static void memory_close(fm_sink *sink)
{
    memory_sink *s = (memory_sink *)sink;

    if (!s) return;
    fm_memory_stream_close(s->stream);
    for (int32_t i = 0; i < FM_SINK_WRITERS_MAX; i++) fm_row_list_fini(&s->writers[i].rows);
}

const fm_sink_type fm_sink_memory = {
    .name = "memory", .options = memory_options, .modes = FM_SINK_MODES_ALL, .counts_rows = true,
    .open = memory_open, .begin = memory_begin, .writer_open = memory_writer_open, .write = memory_write,
    .writer_close = memory_writer_close, .commit = memory_commit, .abort = memory_abort,
    .description = memory_description, .close = memory_close,
};
