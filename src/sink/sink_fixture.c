/* sink/sink_fixture.c: helpers of the tests of sinks. */
#include "sink/sink_fixture.h"

#include "column/builder.h"
#include "expr/cast.h"

static void print(void *ctx, fm_str text) { fm_strbuf_add(ctx, text); }

void sink_fixture_init(sink_fixture *f, const char *ddl, fm_fs *fs)
{
    *f = (sink_fixture){.arena = fm_arena_new(0)};
    fm_assert(f->arena);
    f->conf = (fm_session_conf){.ansi = true, .zone = fm_zone_utc()};
    f->env = (fm_sink_env){.fs = fs ? fs : fm_fs_real(), .clock = fm_clock_real(), .conf = &f->conf, .session = &f->session,
                           .print = print, .print_ctx = &f->printed};
    f->spec = (fm_sink_spec){.options = &f->options, .query_id = FM_STR("q1"), .mode = FM_MODE_APPEND};
    fm_assert(fm_type_parse_ddl(f->arena, fm_str_c(ddl), &f->spec.schema, &f->err) == FM_OK);
}

void sink_fixture_fini(sink_fixture *f)
{
    fm_strbuf_fini(&f->printed);
    fm_arena_free(f->arena);
}

void sink_fixture_option(sink_fixture *f, const char *key, const char *value)
{
    fm_assert(fm_options_set(f->arena, &f->options, fm_str_c(key), fm_str_c(value)));
}

static void cast_column(sink_fixture *f, const char *const *cells, int32_t rows, int32_t column, fm_vec *out)
{
    int32_t n = f->spec.schema->n_fields;
    fm_builder *texts = fm_builder_new(f->arena, fm_type_string(), rows);
    fm_vec in;

    fm_assert(texts);
    for (int32_t i = 0; i < rows; i++) {
        const char *cell = cells[i * n + column];
        if (cell) fm_builder_str(texts, fm_str_c(cell));
        else fm_builder_null(texts);
    }
    fm_assert(fm_builder_finish(texts, &in, &f->err) == FM_OK);
    fm_assert(fm_cast_run(&in, f->spec.schema->fields[column].type, FM_CAST_ANSI, &f->conf, f->arena, out, &f->err) == FM_OK);
}

const fm_batch *sink_fixture_batch(sink_fixture *f, const char *const *cells, int32_t rows)
{
    int32_t n = f->spec.schema->n_fields;
    fm_vec *columns = fm_arena_array(f->arena, fm_vec, n);
    fm_batch *batch = fm_arena_one(f->arena, fm_batch);

    fm_assert(columns && batch);
    for (int32_t c = 0; c < n; c++) cast_column(f, cells, rows, c, &columns[c]);
    *batch = (fm_batch){.schema = f->spec.schema, .rows = rows, .columns = columns};
    fm_assert(fm_batch_verify(batch, &f->err) == FM_OK);
    return batch;
}

static fm_status write_part(sink_fixture *f, fm_sink *sink, int32_t index, const fm_batch *part)
{
    fm_sink_writer *writer;

    FM_TRY(sink->type->writer_open(sink, index, &writer, &f->err));
    FM_TRY(sink->type->write(writer, part, &f->err));
    return sink->type->writer_close(writer, &f->err);
}

fm_status sink_fixture_write(sink_fixture *f, fm_sink *sink, int64_t batch_id, const fm_batch *const *parts,
                             int32_t writers, int64_t *rows)
{
    bool skip;

    *rows = 0;
    FM_TRY(sink->type->begin(sink, batch_id, writers, &skip, &f->err));
    if (skip) return FM_OK;
    fm_status st = FM_OK;
    for (int32_t i = 0; i < writers && st == FM_OK; i++) st = write_part(f, sink, i, parts[i]);
    if (st == FM_OK) st = sink->type->commit(sink, batch_id, rows, &f->err);
    if (st != FM_OK) sink->type->abort(sink, batch_id);
    return st;
}
