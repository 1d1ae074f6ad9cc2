/* sink/kafka_sink.c: rows as messages of Kafka.
 *
 * At least once, as in Spark: a batch is done when all its messages have arrived, and a batch that runs again writes them
 * again. With the option transactional, exactly once for those who read committed messages:
 *
 *     begin N      N or a later one is marked: skip it
 *     first row    a transaction begins
 *     commit N     flush; mark N + 1 within the transaction, as an offset of a consumer group of the query; commit
 *
 * 1. Messages and mark of a batch become visible together or not at all, so the mark tells what to skip after a crash.
 * 2. The transactional id is made from the query's id: a new run ends the transaction that a dead one left open, and shuts it
 *    out should it still live.
 *
 * The mark lies with Kafka as long as the brokers keep offsets of groups nobody is in (offsets.retention.minutes, a week).
 *
 * Rule  semantics 10.3; Spark, KafkaWriter, KafkaRowWriter. */
#include "os/thread.h"
#include "remote/kafka_client.h"
#include "sink/sinks.h"

#include <stdlib.h>

typedef struct kafka_writer {
    _Alignas(64) fm_sink_writer base; /* a cache line each: workers count at the same time */
    int64_t rows;
} kafka_writer;

typedef struct kafka_sink {
    fm_sink base;
    fm_arena *arena;
    fm_kafka_client *client;
    fm_str topic;                                  /* the option; empty: a column says it */
    int32_t topic_at, key_at, value_at, headers_at, partition_at; /* columns; -1: none */
    kafka_writer *writers;                         /* [FM_SINK_WRITERS_MAX] */
    int32_t n_writers;
    /* transactional: */
    bool transactional;
    fm_str group;
    int64_t done;                                  /* batches below are in Kafka */
    fm_mutex *mutex;                               /* guards open */
    bool open;                                     /* a transaction is */
} kafka_sink;

static const char *const kafka_options[] = {"topic", "transactional", "includeHeaders", NULL};

/* ---- columns ---- */

static bool is_headers(const fm_type *type)
{
    const fm_type *header = type->id == FM_TYPE_LIST ? type->fields[0].type : NULL;

    return header && header->id == FM_TYPE_STRUCT && header->n_fields == 2 && header->fields[0].type->id == FM_TYPE_STRING &&
           header->fields[1].type->id == FM_TYPE_BINARY && fm_str_eq(header->fields[0].name, FM_STR("key")) &&
           fm_str_eq(header->fields[1].name, FM_STR("value"));
}

static bool fits(const char *name, const fm_type *type)
{
    switch (name[0]) {
    case 't': return type->id == FM_TYPE_STRING;
    case 'p': return type->id == FM_TYPE_I32;
    case 'h': return is_headers(type);
    default: return fm_type_is_view(type); /* key, value */
    }
}

static fm_status find_column(const fm_type *schema, const char *name, const char *wanted, int32_t *out, fm_error *err)
{
    *out = -1;
    for (int32_t i = 0; i < schema->n_fields && *out < 0; i++)
        if (fm_str_eq(schema->fields[i].name, fm_str_c(name))) *out = i;
    if (*out < 0 || fits(name, schema->fields[*out].type)) return FM_OK;
    fm_strbuf text = {0};
    fm_type_text(schema->fields[*out].type, &text);
    fm_status st = fm_fail(err, FM_INVALID, "_LEGACY_ERROR_TEMP_3080", "%s attribute unsupported type %.*s. %s must be a(n) %s.", name,
                           FM_STR_ARG(fm_strbuf_str(&text)), name, wanted);
    fm_strbuf_fini(&text);
    return st;
}

static fm_status find_columns(kafka_sink *s, const fm_type *schema, fm_error *err)
{
    FM_TRY(find_column(schema, "topic", "string", &s->topic_at, err));
    FM_TRY(find_column(schema, "key", "string or binary", &s->key_at, err));
    FM_TRY(find_column(schema, "value", "string or binary", &s->value_at, err));
    FM_TRY(find_column(schema, "headers", "array<struct<key:string,value:binary>>", &s->headers_at, err));
    FM_TRY(find_column(schema, "partition", "int", &s->partition_at, err));
    if (s->topic_at < 0 && s->topic.len == 0)
        return fm_fail(err, FM_INVALID, "_LEGACY_ERROR_TEMP_3080",
                       "topic option required when no 'topic' attribute is present. Use the topic option for setting a topic.");
    if (s->value_at < 0)
        return fm_fail(err, FM_INVALID, "_LEGACY_ERROR_TEMP_3080",
                       "Required attribute 'value' not found. Give the rows a column of that name: to_json(struct(*)) AS value.");
    return FM_OK;
}

/* ---- opening ---- */

static fm_status check_names(const fm_options *o, fm_arena *arena, fm_error *err)
{
    const char *const *known[] = {kafka_options};
    fm_options rest = {fm_arena_array(arena, fm_option, o->n), 0, o->n};

    if (!rest.items) return fm_no_memory(arena, err);
    for (int32_t i = 0; i < o->n; i++)
        if (o->items[i].key.len <= 6 || !fm_str_eq_ci((fm_str){o->items[i].key.ptr, 6}, FM_STR("kafka.")))
            rest.items[rest.n++] = o->items[i];
    return fm_options_check(&rest, "The Kafka sink", known, 1, err);
}

/* Which batch was the last, by a client that only asks. */
static fm_status read_mark(kafka_sink *s, const fm_options *options, fm_error *err)
{
    fm_kafka_settings asking;
    fm_kafka_client *client;
    fm_options readers = {0};

    for (int32_t i = 0; i < options->n; i++) /* what is only for writing would be refused */
        if (fm_str_starts(options->items[i].key, FM_STR("kafka.bootstrap")) || fm_str_starts(options->items[i].key, FM_STR("kafka.s")) ||
            fm_str_starts(options->items[i].key, FM_STR("kafka.client")))
            if (!fm_options_set(s->arena, &readers, options->items[i].key, options->items[i].value)) return fm_no_memory(s->arena, err);
    FM_TRY(fm_kafka_settings_read(&readers, FM_KAFKA_CONSUMER, s->arena, &asking, err));
    FM_TRY(fm_kafka_settings_set(&asking, "group.id", s->group, err));
    asking.read_committed = true;
    FM_TRY(fm_kafka_client_new(&asking, &client, err));
    int64_t mark = FM_KAFKA_NONE;
    fm_status st = fm_kafka_mark(client, s->topic, &mark, err);
    fm_kafka_client_free(client);
    s->done = mark == FM_KAFKA_NONE ? 0 : mark;
    return st;
}

static fm_status open_transactional(kafka_sink *s, const fm_sink_spec *spec, fm_kafka_settings *settings, fm_error *err)
{
    if (s->topic.len == 0)
        return fm_fail(err, FM_INVALID, "FLOODMARK_MISSING_OPTION",
                       "Option transactional needs the option topic: which batch was written last is kept with that topic. "
                       "A column 'topic' cannot be used with it.");
    fm_str id = fm_arena_printf(s->arena, "floodmark-%.*s-0", FM_STR_ARG(spec->query_id));
    s->group = fm_arena_printf(s->arena, "floodmark-%.*s", FM_STR_ARG(spec->query_id));
    if (!id.ptr || !s->group.ptr) return fm_no_memory(s->arena, err);
    FM_TRY(fm_kafka_settings_set(settings, "transactional.id", id, err));
    FM_TRY(fm_kafka_settings_default(settings, "transaction.timeout.ms", FM_STR("600000"), err)); /* brokers allow 15 min */
    FM_TRY(fm_kafka_client_new(settings, &s->client, err));
    FM_TRY(fm_kafka_transactions_start(s->client, err));
    return read_mark(s, spec->options, err);
}

static fm_status init(kafka_sink *s, const fm_sink_env *env, const fm_sink_spec *spec, fm_error *err)
{
    fm_kafka_settings settings;

    FM_TRY(check_names(spec->options, s->arena, err));
    FM_TRY(fm_options_bool(spec->options, "transactional", false, &s->transactional, err));
    s->topic = fm_arena_str(s->arena, fm_str_trim(fm_options_get(spec->options, "topic", FM_STR(""))));
    if (!s->topic.ptr) return fm_no_memory(s->arena, err);
    FM_TRY(find_columns(s, spec->schema, err));
    FM_TRY(fm_kafka_settings_read(spec->options, FM_KAFKA_PRODUCER, s->arena, &settings, err));
    settings.warn = env->warn;
    settings.warn_ctx = env->warn_ctx;
    s->writers = fm_arena_array(s->arena, kafka_writer, FM_SINK_WRITERS_MAX);
    s->mutex = fm_mutex_new();
    if (!s->writers || !s->mutex) return fm_no_memory(s->arena, err);
    return s->transactional ? open_transactional(s, spec, &settings, err) : fm_kafka_client_new(&settings, &s->client, err);
}

static void kafka_close(fm_sink *sink)
{
    kafka_sink *s = (kafka_sink *)sink;

    if (!s) return;
    fm_kafka_client_free(s->client);
    fm_mutex_free(s->mutex);
    s->client = NULL;
    s->mutex = NULL;
}

static fm_status kafka_open(const fm_sink_env *env, const fm_sink_spec *spec, fm_arena *arena, fm_sink **out, fm_error *err)
{
    kafka_sink *s = fm_arena_one(arena, kafka_sink);

    if (!s) return fm_no_memory(arena, err);
    s->base.type = &fm_sink_kafka;
    s->arena = arena;
    fm_status st = init(s, env, spec, err);
    if (st == FM_OK) *out = &s->base;
    else kafka_close(&s->base);
    return st;
}

/* ---- batches ---- */

static fm_status kafka_begin(fm_sink *sink, int64_t batch_id, int32_t writers, bool *skip, fm_error *err)
{
    kafka_sink *s = (kafka_sink *)sink;

    (void)err;
    fm_assert(writers >= 0 && writers <= FM_SINK_WRITERS_MAX);
    *skip = s->transactional && batch_id < s->done;
    s->n_writers = writers;
    for (int32_t i = 0; i < writers; i++) s->writers[i] = (kafka_writer){.base = {.sink = sink}};
    return FM_OK;
}

static fm_status kafka_writer_open(fm_sink *sink, int32_t index, fm_sink_writer **out, fm_error *err)
{
    kafka_sink *s = (kafka_sink *)sink;

    (void)err;
    fm_assert(index >= 0 && index < s->n_writers);
    *out = &s->writers[index].base;
    return FM_OK;
}

static fm_status begin_transaction(kafka_sink *s, fm_error *err)
{
    fm_status st = FM_OK;

    fm_mutex_lock(s->mutex);
    if (!s->open) st = fm_kafka_transaction_begin(s->client, err);
    s->open = st == FM_OK;
    fm_mutex_unlock(s->mutex);
    return st;
}

/* Room for the headers of one row, growing. */
typedef struct header_room {
    fm_kafka_header *items;
    int32_t cap;
} header_room;

static fm_status read_headers(const fm_vec *lists, int32_t row, header_room *room, fm_kafka_outgoing *out, fm_error *err)
{
    int32_t from = lists->offsets[row], n = lists->offsets[row + 1] - from;
    const fm_vec *header = &lists->children[0];

    if (fm_vec_is_null(lists, row) || n == 0) return FM_OK;
    if (n > room->cap) {
        fm_kafka_header *items = realloc(room->items, (size_t)n * sizeof *items);
        if (!items) return fm_no_memory(NULL, err);
        *room = (header_room){items, n};
    }
    for (int32_t i = 0; i < n; i++) {
        const fm_vec *key = &header->children[0], *value = &header->children[1];
        bool none = fm_vec_is_null(header, from + i);
        room->items[i].name = none || fm_vec_is_null(key, from + i) ? FM_STR("") : fm_vec_str(key, from + i);
        room->items[i].value = none || fm_vec_is_null(value, from + i) ? (fm_str){NULL, 0} : fm_vec_str(value, from + i);
    }
    out->headers = room->items;
    out->n_headers = n;
    return FM_OK;
}

static fm_str bytes_of(const fm_batch *batch, int32_t column, int32_t row)
{
    if (column < 0 || fm_vec_is_null(&batch->columns[column], row)) return (fm_str){NULL, 0};
    return fm_vec_str(&batch->columns[column], row);
}

static fm_status topic_of(const kafka_sink *s, const fm_batch *batch, int32_t row, char *buffer, size_t size, fm_str *out,
                          fm_error *err)
{
    *out = s->topic;
    if (s->topic.len) return FM_OK;
    fm_str topic = bytes_of(batch, s->topic_at, row);
    if (!topic.ptr)
        return fm_fail(err, FM_INVALID, "KAFKA_NULL_TOPIC_IN_DATA",
                       "The Kafka message data sent to the producer contains a null topic. Use the `topic` option for setting a "
                       "default topic.");
    if (topic.len == 0 || topic.len >= size || memchr(topic.ptr, 0, topic.len))
        return fm_fail(err, FM_INVALID, "FLOODMARK_KAFKA", "'%.*s' is no name of a Kafka topic.", FM_STR_ARG(topic));
    memcpy(buffer, topic.ptr, topic.len);
    buffer[topic.len] = 0;
    *out = (fm_str){buffer, topic.len};
    return FM_OK;
}

static fm_status write_row(kafka_sink *s, const fm_batch *batch, int32_t row, header_room *room, fm_error *err)
{
    char topic[250]; /* Kafka's names are no longer than 249 */
    fm_kafka_outgoing m = {.key = bytes_of(batch, s->key_at, row), .value = bytes_of(batch, s->value_at, row), .partition = -1};

    FM_TRY(topic_of(s, batch, row, topic, sizeof topic, &m.topic, err));
    if (s->partition_at >= 0 && !fm_vec_is_null(&batch->columns[s->partition_at], row)) {
        m.partition = fm_vec_i32(&batch->columns[s->partition_at])[row];
        if (m.partition < 0)
            return fm_fail(err, FM_INVALID, "FLOODMARK_KAFKA", "Partition %d is none: the column 'partition' counts from 0.",
                           m.partition);
    }
    if (s->headers_at >= 0) FM_TRY(read_headers(&batch->columns[s->headers_at], row, room, &m, err));
    return fm_kafka_send(s->client, &m, err);
}

static fm_status kafka_write(fm_sink_writer *writer, const fm_batch *batch, fm_error *err)
{
    kafka_writer *w = (kafka_writer *)writer;
    kafka_sink *s = (kafka_sink *)writer->sink;
    header_room room = {0};
    fm_status st = FM_OK;

    if (batch->rows && s->transactional) FM_TRY(begin_transaction(s, err));
    for (int32_t i = 0; st == FM_OK && i < batch->rows; i++) st = write_row(s, batch, i, &room, err);
    free(room.items);
    w->rows += batch->rows;
    return st;
}

static fm_status kafka_writer_close(fm_sink_writer *writer, fm_error *err)
{
    (void)writer;
    (void)err;
    return FM_OK; /* commit flushes for all */
}

static fm_status kafka_commit(fm_sink *sink, int64_t batch_id, int64_t *rows, fm_error *err)
{
    kafka_sink *s = (kafka_sink *)sink;

    *rows = 0;
    for (int32_t i = 0; i < s->n_writers; i++) *rows += s->writers[i].rows;
    if (!s->transactional) return fm_kafka_flush(s->client, err);
    if (!s->open) return FM_OK; /* no row: nothing to be exact about */
    FM_TRY(fm_kafka_transaction_commit(s->client, s->group, s->topic, batch_id + 1, err));
    s->open = false;
    s->done = batch_id + 1;
    return FM_OK;
}

static void kafka_abort(fm_sink *sink, int64_t batch_id)
{
    kafka_sink *s = (kafka_sink *)sink;

    (void)batch_id;
    if (s->open) fm_kafka_transaction_abort(s->client, NULL); /* if that fails, too, the next start does it */
    s->open = false;
}

static void kafka_description(const fm_sink *sink, fm_strbuf *out)
{
    const kafka_sink *s = (const kafka_sink *)sink;

    fm_strbuf_printf(out, "KafkaTable%s%.*s", s->topic.len ? " " : "", FM_STR_ARG(s->topic));
}

const fm_sink_type fm_sink_kafka = {
    .name = "kafka", .options = kafka_options, .modes = FM_SINK_MODES_ALL, .needs_checkpoint = true, .counts_rows = true,
    .open = kafka_open, .begin = kafka_begin, .writer_open = kafka_writer_open, .write = kafka_write,
    .writer_close = kafka_writer_close, .commit = kafka_commit, .abort = kafka_abort, .description = kafka_description,
    .close = kafka_close,
};
