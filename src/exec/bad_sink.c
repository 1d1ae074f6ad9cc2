/* exec/bad_sink.c: the sink of records that could not be read: BAD_ROWS('json', 'bad/').
 *
 * Its table: where the record came from (topic, partition, offset of Kafka; file, line of files), value BINARY, text STRING (the value
 * as UTF-8), reason STRING. In a topic of Kafka, BAD_ROWS('kafka', 'dead-letters', ...), the value is the message's, and the rest stands
 * in its headers. Workers write as they find, so a micro-batch of nothing but bad records needs no memory; the first of them
 * begins the sink's batch, so that there is none without bad records. It is committed before the main sink under the same id, so that
 * a replay writes each record once. All BAD_ROWS nodes of one hint share it. */
#include "base/limits.h"
#include "column/builder.h"
#include "exec/bad_rows.h"
#include "format/utf8.h"
#include "os/thread.h"

struct fm_bad_sink {
    int32_t number;         /* of the hint */
    fm_sink *sink;
    const fm_type *schema;
    bool from_kafka, from_files, to_kafka;
    int32_t workers;
    fm_mutex *mutex;        /* guards what follows, but that each worker has its own writer */
    bool begun, skip;
    fm_sink_writer *writers[FM_WORKERS_MAX];
};

/* value BINARY, headers ARRAY<STRUCT<key STRING, value BINARY>> */
static const fm_type *message_type(fm_arena *arena)
{
    fm_field header[] = {{FM_STR("key"), fm_type_string(), true}, {FM_STR("value"), fm_type_simple(FM_TYPE_BINARY), true}};
    const fm_type *one = fm_type_struct(arena, header, 2), *headers = one ? fm_type_list(arena, one, true) : NULL;
    fm_field fields[] = {{FM_STR("value"), fm_type_simple(FM_TYPE_BINARY), true}, {FM_STR("headers"), headers, true}};

    return headers ? fm_type_struct(arena, fields, 2) : NULL;
}

static const fm_type *table_type(fm_arena *arena, const fm_bad_rows *b)
{
    fm_field fields[8];
    int32_t n = 0;

    if (b->from_kafka) {
        fields[n++] = (fm_field){FM_STR("topic"), fm_type_string(), true};
        fields[n++] = (fm_field){FM_STR("partition"), fm_type_i32(), true};
        fields[n++] = (fm_field){FM_STR("offset"), fm_type_i64(), true};
    }
    if (b->from_files) {
        fields[n++] = (fm_field){FM_STR("file"), fm_type_string(), true};
        fields[n++] = (fm_field){FM_STR("line"), fm_type_i64(), true};
    }
    fields[n++] = (fm_field){FM_STR("value"), fm_type_simple(FM_TYPE_BINARY), true};
    fields[n++] = (fm_field){FM_STR("text"), fm_type_string(), true};
    fields[n++] = (fm_field){FM_STR("reason"), fm_type_string(), true};
    return fm_type_struct(arena, fields, n);
}

static fm_status open_sink(fm_tree *tree, const fm_bad_rows *b, fm_bad_sink *s, fm_error *err)
{
    const fm_sink_type *type = fm_sink_lookup(tree->env->sinks, b->format);
    fm_options *options = fm_arena_one(tree->arena, fm_options);
    bool by_name = fm_str_eq_ci(b->format, FM_STR("memory"));
    fm_str id = tree->query_id;

    if (s->to_kafka && id.len) id = fm_arena_printf(tree->arena, "%.*s-bad-%d", FM_STR_ARG(id), (int)b->number); /* transactions of its own */
    if (!id.ptr) return fm_no_memory(tree->arena, err);
    if (!options) return fm_no_memory(tree->arena, err);
    if (!type) return fm_fail(err, FM_INVALID, "DATA_SOURCE_NOT_FOUND", "BAD_ROWS names the sink '%.*s', which there is not.", FM_STR_ARG(b->format));
    for (int32_t i = 0; i < b->options.n; i++)
        if (!fm_options_set(tree->arena, options, b->options.items[i].key, b->options.items[i].value)) return fm_no_memory(tree->arena, err);
    if (!by_name && !fm_options_set(tree->arena, options, s->to_kafka ? FM_STR("topic") : FM_STR("path"), b->path)) return fm_no_memory(tree->arena, err);
    fm_sink_spec spec = {.format = b->format, .query_name = by_name ? b->path : FM_STR("bad"), .query_id = id, .options = options, .schema = s->schema, .mode = FM_MODE_APPEND};
    return type->open(tree->env->sinks, &spec, tree->arena, &s->sink, err);
}

fm_status fm_bad_sink_open(fm_tree *tree, const fm_bad_rows *b, fm_bad_sink **out, fm_error *err)
{
    fm_bad_sink *s = fm_exec_bad_sink(tree->exec, b->number);

    *out = s;
    if (s) return FM_OK;
    *out = s = fm_arena_one(tree->arena, fm_bad_sink);
    if (!s) return fm_no_memory(tree->arena, err);
    *s = (fm_bad_sink){.number = b->number, .from_kafka = b->from_kafka, .from_files = b->from_files, .to_kafka = fm_str_eq_ci(b->format, FM_STR("kafka")), .workers = tree->forest->n, .mutex = fm_mutex_new()};
    s->schema = s->to_kafka ? message_type(tree->arena) : table_type(tree->arena, b);
    if (!s->mutex || !s->schema) {
        fm_mutex_free(s->mutex);
        return fm_no_memory(tree->arena, err);
    }
    FM_TRY(fm_exec_add_bad_sink(tree->exec, s, err)); /* closed with the query from here on */
    return open_sink(tree, b, s, err);
}

int32_t fm_bad_sink_number(const fm_bad_sink *s) { return s->number; }

/* ---- records ------------------------------------------------------------------------------------------------ */

/* "topic-3@17", "file:17": what stands in front of the last mark, and the number behind it. */
static bool cut_number(fm_str *text, char mark, int64_t *number)
{
    size_t i = text->len;
    int64_t unit = 1;

    *number = 0;
    while (i > 0 && text->ptr[i - 1] >= '0' && text->ptr[i - 1] <= '9' && unit <= INT64_MAX / 100) {
        *number += (text->ptr[--i] - '0') * unit;
        unit *= 10;
    }
    if (i == 0 || i == text->len || text->ptr[i - 1] != mark) return false;
    text->len = i - 1;
    return true;
}

static void add_kafka(fm_builder *row, fm_str position)
{
    int64_t partition, offset;

    if (position.ptr && cut_number(&position, '@', &offset) && cut_number(&position, '-', &partition)) {
        fm_builder_str(fm_builder_child(row, 0), position);
        fm_builder_i64(fm_builder_child(row, 1), partition);
        fm_builder_i64(fm_builder_child(row, 2), offset);
        return;
    }
    for (int32_t i = 0; i < 3; i++) fm_builder_null(fm_builder_child(row, i));
}

static void add_file(fm_builder *row, int32_t at, fm_str position)
{
    int64_t line;

    if (position.ptr && cut_number(&position, ':', &line)) {
        fm_builder_str(fm_builder_child(row, at), position);
        fm_builder_i64(fm_builder_child(row, at + 1), line);
        return;
    }
    fm_builder_null(fm_builder_child(row, at));
    fm_builder_null(fm_builder_child(row, at + 1));
}

static void add_header(fm_builder *headers, const char *name, fm_str value)
{
    fm_builder *header = fm_builder_child(headers, 0);

    fm_builder_str(fm_builder_child(header, 0), fm_str_c(name));
    fm_builder_str(fm_builder_child(header, 1), value);
    fm_builder_end(header);
}

static void add_message(fm_builder *row, const fm_bad_record *r)
{
    fm_builder *headers = fm_builder_child(row, 1);

    fm_builder_str(fm_builder_child(row, 0), r->bytes);
    if (r->position.ptr) add_header(headers, "source", r->position);
    add_header(headers, "reason", r->reason);
    fm_builder_end(headers);
    fm_builder_end(row);
}

fm_builder *fm_bad_sink_builder(const fm_bad_sink *s, fm_arena *arena, int32_t rows) { return fm_builder_new(arena, s->schema, rows); }

fm_status fm_bad_sink_add(const fm_bad_sink *s, fm_builder *row, const fm_bad_record *r, fm_arena *arena, fm_error *err)
{
    int32_t n = 0;

    if (s->to_kafka) {
        add_message(row, r);
        return FM_OK;
    }
    fm_str text = fm_utf8_repair(r->bytes, arena);
    if (!text.ptr) return fm_no_memory(arena, err);
    if (s->from_kafka) {
        add_kafka(row, r->position);
        n += 3;
    }
    if (s->from_files) {
        add_file(row, n, r->position);
        n += 2;
    }
    fm_builder_str(fm_builder_child(row, n), r->bytes);
    fm_builder_str(fm_builder_child(row, n + 1), text);
    fm_builder_str(fm_builder_child(row, n + 2), r->reason);
    fm_builder_end(row);
    return FM_OK;
}

/* ---- a micro-batch -------------------------------------------------------------------------------------------- */

/* The worker's writer; NULL when the sink has this batch already. */
static fm_status writer_of(fm_bad_sink *s, int32_t worker, int64_t batch_id, fm_sink_writer **out, fm_error *err)
{
    fm_status st = FM_OK;

    fm_mutex_lock(s->mutex);
    if (!s->begun) st = s->sink->type->begin(s->sink, batch_id, s->workers, &s->skip, err);
    s->begun |= st == FM_OK;
    if (st == FM_OK && !s->skip && !s->writers[worker]) st = s->sink->type->writer_open(s->sink, worker, &s->writers[worker], err);
    *out = s->writers[worker];
    fm_mutex_unlock(s->mutex);
    return st;
}

fm_status fm_bad_sink_write(fm_bad_sink *s, int32_t worker, int64_t batch_id, fm_builder *rows, fm_error *err)
{
    fm_sink_writer *writer;
    fm_vec all;
    fm_status st = fm_builder_finish(rows, &all, err);

    if (st == FM_OK) st = writer_of(s, worker, batch_id, &writer, err);
    if (st == FM_OK && writer) {
        fm_batch batch = {.schema = s->schema, .rows = all.len, .columns = all.children};
        st = s->sink->type->write(writer, &batch, err);
    }
    return fm_context(err, st, "keeping bad rows");
}

void fm_bad_sink_begin(fm_bad_sink *s) { s->begun = s->skip = false; }

static fm_status close_writers(fm_bad_sink *s, fm_error *err)
{
    fm_status st = FM_OK;

    for (int32_t i = 0; i < s->workers; i++) {
        if (!s->writers[i]) continue;
        fm_status closed = s->sink->type->writer_close(s->writers[i], st == FM_OK ? err : NULL);
        if (st == FM_OK) st = closed;
        s->writers[i] = NULL;
    }
    return st;
}

void fm_bad_sink_abort(fm_bad_sink *s, int64_t batch_id)
{
    if (!s->begun || s->skip) return;
    close_writers(s, NULL);
    s->sink->type->abort(s->sink, batch_id);
    s->begun = false;
}

fm_status fm_bad_sink_commit(fm_bad_sink *s, int64_t batch_id, fm_error *err)
{
    int64_t rows;

    if (!s->begun || s->skip) return FM_OK;
    fm_status st = close_writers(s, err);
    if (st == FM_OK) st = s->sink->type->commit(s->sink, batch_id, &rows, err);
    if (st != FM_OK) s->sink->type->abort(s->sink, batch_id);
    s->begun = false;
    return fm_context(err, st, "keeping bad rows");
}

void fm_bad_sink_close(fm_bad_sink *s)
{
    if (s->sink) s->sink->type->close(s->sink);
    fm_mutex_free(s->mutex);
}
