/* source/kafka_reader.c: pieces of topics -> batches.
 *
 * Rows are views of librdkafka's receive buffers: a batch is made of the records of one read, pushed, and given back.
 * Feeds outlive the readers' splits: one that is read to the end of its piece is put back and read on from there by
 * whoever reads the next piece of the partition; meanwhile it fetches ahead, as far as its share of memory goes. */
#include "source/kafka_source.h"

#include "base/limits.h"
#include "column/builder.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    WAIT_MS = 50,      /* of one read, so that a stop is heard */
    RENEW_MS = 10000,  /* librdkafka may sit on a partition after its broker was away; what has been silent so long is read anew */
    WAITING_MAX = 1024 /* feeds of an idle query: more partitions are asked about instead */
};

/* ---- feeds ---- */

/* Where a partition's feed stands in s->feeds. */
typedef struct taken {
    fm_kafka_feed *feed;
    int32_t index;
} taken;

static bool is_feed_of(const fm_kafka_idle *e, const fm_kafka_range *r)
{
    return e->topic && e->partition == r->partition && fm_str_eq(fm_str_c(e->topic), r->topic);
}

/* An idle feed of the partition, best the one that stands where the piece begins; -1: none. */
static int32_t find_idle(const fm_kafka_source *s, const fm_kafka_range *r)
{
    int32_t found = -1;

    for (int32_t i = 0; i < s->n_feeds; i++) {
        const fm_kafka_idle *e = &s->feeds[i];
        if (!e->feed || !is_feed_of(e, r)) continue;
        if (fm_kafka_feed_at(e->feed) == r->from) return i;
        found = i;
    }
    return found;
}

/* A new entry, busy, in the first lane that does not read the partition. */
static fm_status add_entry(fm_kafka_source *s, const fm_kafka_range *r, int32_t *index, fm_error *err)
{
    uint64_t used[(FM_KAFKA_LANES_MAX + 63) / 64] = {0};
    int32_t lane = 0, at = -1;

    for (int32_t i = 0; i < s->n_feeds; i++) {
        if (!s->feeds[i].topic) at = i;
        else if (is_feed_of(&s->feeds[i], r)) used[s->feeds[i].lane / 64] |= UINT64_C(1) << (s->feeds[i].lane % 64);
    }
    while (lane < FM_KAFKA_LANES_MAX && (used[lane / 64] >> (lane % 64) & 1)) lane++;
    fm_assert(lane < FM_KAFKA_LANES_MAX); /* a lane per worker */
    if (!s->lanes[lane]) FM_TRY(fm_kafka_client_new(&s->options.settings, &s->lanes[lane], err));
    if (at < 0 && s->n_feeds == s->cap_feeds) {
        int32_t cap = s->cap_feeds ? s->cap_feeds * 2 : 16;
        fm_kafka_idle *feeds = realloc(s->feeds, (size_t)cap * sizeof *feeds);
        if (!feeds) return fm_no_memory(NULL, err);
        s->feeds = feeds;
        s->cap_feeds = cap;
    }
    char *topic = strdup(r->topic.ptr);
    if (!topic) return fm_no_memory(NULL, err);
    if (at < 0) at = s->n_feeds++;
    s->feeds[at] = (fm_kafka_idle){.topic = topic, .partition = r->partition, .lane = lane};
    *index = at;
    return FM_OK;
}

static void drop_entry(fm_kafka_source *s, int32_t index)
{
    fm_mutex_lock(s->mutex);
    free(s->feeds[index].topic);
    s->feeds[index] = (fm_kafka_idle){0};
    fm_mutex_unlock(s->mutex);
}

/* A feed that stands at r->from. */
static fm_status take_feed(fm_kafka_source *s, const fm_kafka_range *r, taken *out, fm_error *err)
{
    fm_status st = FM_OK;

    *out = (taken){0};
    fm_mutex_lock(s->mutex);
    out->index = find_idle(s, r);
    if (out->index >= 0) {
        out->feed = s->feeds[out->index].feed;
        s->feeds[out->index].feed = NULL; /* busy */
    } else {
        st = add_entry(s, r, &out->index, err);
    }
    fm_kafka_client *client = st == FM_OK ? s->lanes[s->feeds[out->index].lane] : NULL;
    fm_mutex_unlock(s->mutex);
    if (st != FM_OK || (out->feed && fm_kafka_feed_at(out->feed) == r->from)) return st;
    fm_kafka_feed_close(out->feed);
    st = fm_kafka_feed_open(client, r->topic, r->partition, r->from, &out->feed, err);
    if (st != FM_OK) drop_entry(s, out->index);
    return st;
}

static void put_back(fm_kafka_source *s, taken *t)
{
    fm_mutex_lock(s->mutex);
    s->feeds[t->index].feed = t->feed;
    fm_mutex_unlock(s->mutex);
}

static void give_up(fm_kafka_source *s, taken *t)
{
    fm_kafka_feed_close(t->feed);
    drop_entry(s, t->index);
}

/* A feed that has come to the place or beyond and waits there; NULL: none. */
static fm_kafka_feed *waiting_feed(const fm_kafka_source *s, const fm_kafka_partition *p)
{
    const fm_kafka_range r = {p->topic, p->partition, p->offset, p->offset};
    int32_t i = find_idle(s, &r);

    return i >= 0 && fm_kafka_feed_at(s->feeds[i].feed) >= p->offset ? s->feeds[i].feed : NULL;
}

bool fm_kafka_feeds_quiet(fm_kafka_source *s, const fm_kafka_offsets *at)
{
    bool quiet = true;

    fm_mutex_lock(s->mutex);
    for (int32_t i = 0; i < at->n && quiet; i++) {
        fm_kafka_feed *feed = waiting_feed(s, &at->items[i]);
        quiet = feed && !fm_kafka_feed_has_news(feed);
    }
    fm_mutex_unlock(s->mutex);
    return quiet;
}

void fm_kafka_feeds_wait(fm_kafka_source *s, const fm_kafka_offsets *at)
{
    for (int32_t i = 0; i < at->n && at->n <= WAITING_MAX; i++) {
        const fm_kafka_range r = {at->items[i].topic, at->items[i].partition, at->items[i].offset, at->items[i].offset};
        taken t;
        fm_mutex_lock(s->mutex);
        bool waits = waiting_feed(s, &at->items[i]) != NULL;
        fm_mutex_unlock(s->mutex);
        if (!waits && take_feed(s, &r, &t, NULL) == FM_OK) put_back(s, &t);
    }
}

void fm_kafka_feeds_close(fm_kafka_source *s)
{
    for (int32_t i = 0; i < s->n_feeds; i++) {
        fm_kafka_feed_close(s->feeds[i].feed);
        free(s->feeds[i].topic);
    }
    free(s->feeds);
}

/* ---- columns ---- */

typedef struct kafka_reader {
    fm_split_reader base;
    fm_kafka_source *source;
    fm_arena *batch;
    int64_t rows;
    fm_kafka_record records[FM_KAFKA_RECORDS_MAX];
} kafka_reader;

/* Keys or values: views of the messages. */
static fm_status fill_bytes(kafka_reader *r, bool keys, int32_t n, fm_vec *out, fm_error *err)
{
    FM_TRY(fm_vec_init(out, fm_type_simple(FM_TYPE_BINARY), n, r->batch, err));
    fm_view *views = fm_vec_view_out(out);
    uint64_t *valid = NULL;

    for (int32_t i = 0; i < n; i++) {
        fm_str bytes = keys ? r->records[i].key : r->records[i].value;
        if (bytes.ptr) {
            views[i] = fm_view_of(bytes.ptr, bytes.len);
            continue;
        }
        if (!valid) {
            valid = fm_arena_buffer(r->batch, (size_t)fm_bit_words(n) * 8, true);
            if (!valid) return fm_no_memory(r->batch, err);
            for (int32_t k = 0; k < n; k++) fm_bit_set(valid, k);
        }
        valid[i / 64] &= ~(UINT64_C(1) << (i % 64));
    }
    out->validity = valid;
    return FM_OK;
}

static fm_status fill_number(kafka_reader *r, int32_t column, const fm_kafka_range *range, int32_t n, fm_vec *out,
                             fm_error *err)
{
    if (column == FM_KAFKA_OFFSET || column == FM_KAFKA_TIMESTAMP) {
        FM_TRY(fm_vec_init(out, column == FM_KAFKA_OFFSET ? fm_type_i64() : fm_type_timestamp(), n, r->batch, err));
        int64_t *values = fm_vec_i64_out(out);
        for (int32_t i = 0; i < n; i++) {
            int64_t ms = r->records[i].timestamp_ms, limit = INT64_MAX / 1000;
            values[i] = column == FM_KAFKA_OFFSET ? r->records[i].offset : (ms > limit ? limit : ms < -limit ? -limit : ms) * 1000;
        }
        return FM_OK;
    }
    FM_TRY(fm_vec_init(out, fm_type_i32(), n, r->batch, err));
    int32_t *values = fm_vec_i32_out(out);
    for (int32_t i = 0; i < n; i++) values[i] = column == FM_KAFKA_PARTITION ? range->partition : r->records[i].timestamp_type;
    return FM_OK;
}

static fm_status fill_topic(kafka_reader *r, const fm_kafka_range *range, int32_t n, fm_vec *out, fm_error *err)
{
    FM_TRY(fm_vec_init(out, fm_type_string(), n, r->batch, err));
    fm_view *views = fm_vec_view_out(out), view = fm_view_of(range->topic.ptr, range->topic.len);
    for (int32_t i = 0; i < n; i++) views[i] = view;
    return FM_OK;
}

static fm_status fill_headers(kafka_reader *r, const fm_type *type, int32_t n, fm_vec *out, fm_error *err)
{
    fm_builder *lists = fm_builder_new(r->batch, type, n);
    fm_builder *header = lists ? fm_builder_child(lists, 0) : NULL;
    fm_str name, value;

    if (!lists) return fm_no_memory(r->batch, err);
    for (int32_t i = 0; i < n; i++) {
        int32_t k = 0;
        for (; fm_kafka_record_header(&r->records[i], k, &name, &value); k++) {
            fm_builder_str(fm_builder_child(header, 0), name);
            if (value.ptr) fm_builder_str(fm_builder_child(header, 1), value);
            else fm_builder_null(fm_builder_child(header, 1));
            fm_builder_end(header);
        }
        if (k) fm_builder_end(lists);
        else fm_builder_null(lists); /* rule: Spark, no headers are NULL */
    }
    return fm_builder_finish(lists, out, err);
}

/* topic-partition@offset */
static fm_status fill_position(kafka_reader *r, const fm_kafka_range *range, int32_t n, fm_vec *out, fm_error *err)
{
    FM_TRY(fm_vec_init(out, fm_type_string(), n, r->batch, err));
    fm_view *views = fm_vec_view_out(out);
    for (int32_t i = 0; i < n; i++) {
        fm_str text = fm_arena_printf(r->batch, "%s-%" PRId32 "@%" PRId64, range->topic.ptr, range->partition, r->records[i].offset);
        if (!text.ptr) return fm_no_memory(r->batch, err);
        views[i] = fm_view_of(text.ptr, text.len);
    }
    return FM_OK;
}

static fm_status fill_column(kafka_reader *r, int32_t i, const fm_kafka_range *range, int32_t n, fm_vec *out, fm_error *err)
{
    const fm_kafka_source *s = r->source;
    int32_t column = s->wanted[i];

    switch (column) {
    case FM_KAFKA_KEY: return fill_bytes(r, true, n, out, err);
    case FM_KAFKA_VALUE: return fill_bytes(r, false, n, out, err);
    case FM_KAFKA_TOPIC: return fill_topic(r, range, n, out, err);
    case FM_KAFKA_HEADERS: return fill_headers(r, s->out_schema->fields[i].type, n, out, err);
    default: return fill_number(r, column, range, n, out, err);
    }
}

/* ---- reading ---- */

fm_status fm_kafka_reader_open(fm_source *source, fm_arena *arena, fm_split_reader **out, fm_error *err)
{
    kafka_reader *r = fm_arena_one(arena, kafka_reader);

    if (!r) return fm_no_memory(arena, err);
    r->base.type = source->type;
    r->source = (fm_kafka_source *)source;
    r->batch = fm_arena_new(0);
    if (!r->batch) return fm_no_memory(NULL, err);
    *out = &r->base;
    return FM_OK;
}

void fm_kafka_reader_close(fm_split_reader *reader)
{
    if (reader) fm_arena_free(((kafka_reader *)reader)->batch);
}

void fm_kafka_reader_counts(fm_split_reader *reader, int64_t *rows, int64_t *bad)
{
    kafka_reader *r = (kafka_reader *)reader;

    *rows = r->rows;
    *bad = 0;
    r->rows = 0;
}

/* Where the rows go. */
typedef struct target {
    fm_status (*push)(void *ctx, const fm_batch *batch, fm_error *err);
    void *ctx;
} target;

static fm_status push_records(kafka_reader *r, const fm_kafka_range *range, int32_t n, const target *to, fm_error *err)
{
    const fm_kafka_source *s = r->source;

    fm_arena_reset(r->batch);
    fm_vec *columns = fm_arena_array(r->batch, fm_vec, s->out_schema->n_fields);
    if (!columns) return fm_no_memory(r->batch, err);
    for (int32_t i = 0; i < s->n_wanted; i++) FM_TRY(fill_column(r, i, range, n, &columns[i], err));
    if (s->want_position) FM_TRY(fill_position(r, range, n, &columns[s->n_wanted], err));
    fm_batch batch = {.schema = s->out_schema, .rows = n, .columns = columns};
    r->rows += n;
    return to->push(to->ctx, &batch, err);
}

/* The offset that a feed wanted is not in the topic: it was deleted, or never was. Moves left->from behind the hole. */
static fm_status jump_hole(fm_kafka_source *s, fm_kafka_range *left, fm_error *err)
{
    fm_kafka_partition first = {left->topic, left->partition, FM_KAFKA_EARLIEST}, last = {left->topic, left->partition, FM_KAFKA_LATEST};
    char what[512];

    FM_TRY(fm_kafka_client_offsets(s->client, &first, 1, err));
    FM_TRY(fm_kafka_client_offsets(s->client, &last, 1, err));
    int64_t behind = left->from < first.offset && first.offset < left->to ? first.offset : left->to;
    if (left->from >= first.offset && left->from < last.offset) return FM_OK; /* it is there by now */
    snprintf(what, sizeof what,
             "Could not read records in offset [%" PRId64 ", %" PRId64 ") for topic partition %.*s-%" PRId32
             ": the topic has [%" PRId64 ", %" PRId64 ").",
             left->from, behind, FM_STR_ARG(left->topic), left->partition, first.offset, last.offset);
    FM_TRY(fm_kafka_data_loss(s, "KAFKA_DATA_LOSS.COULD_NOT_READ_OFFSET_RANGE", left->topic, left->partition, left->from, behind,
                              fm_str_c(what), err));
    left->from = behind;
    return FM_OK;
}

static fm_status timed_out(const fm_kafka_source *s, const fm_kafka_range *left, fm_error *err)
{
    return fm_fail(err, FM_UNAVAILABLE, "FLOODMARK_KAFKA",
                   "Kafka: nothing came of %.*s-%" PRId32 " from offset %" PRId64 " on within %" PRId64
                   " ms (option kafkaConsumer.pollTimeoutMs), though it should go up to %" PRId64 ". Are the brokers reachable?",
                   FM_STR_ARG(left->topic), left->partition, left->from, s->options.poll_timeout_ms, left->to);
}

/* How long nothing has come of a piece, over all the feeds it was given. */
typedef struct silence {
    int64_t since_us; /* 0: rows are coming */
    int64_t feed_us;  /* when the feed was given, or this one's silence began */
    bool wants_new;   /* the feed has been silent for so long that another shall be tried */
} silence;

static fm_status count_silence(const fm_kafka_source *s, silence *q, const fm_kafka_range *left, fm_error *err)
{
    int64_t now_us = fm_clock_monotonic_us(s->env.clock);

    if (q->since_us == 0) q->since_us = q->feed_us = now_us;
    if ((now_us - q->since_us) / 1000 > s->options.poll_timeout_ms) return timed_out(s, left, err);
    q->wants_new = (now_us - q->feed_us) / 1000 > RENEW_MS;
    return FM_OK;
}

/* Reads until the piece is through, its feed has come upon a hole (FM_NOT_FOUND), or is silent: q->wants_new. */
static fm_status read_feed(kafka_reader *r, taken *t, fm_kafka_range *left, const target *to, silence *q, fm_wake *cancelled, fm_error *err)
{
    fm_kafka_source *s = r->source;
    int64_t max = s->options.settings.rows_max;

    if (max <= 0 || max > FM_KAFKA_RECORDS_MAX) max = FM_KAFKA_RECORDS_MAX;
    while (fm_kafka_feed_at(t->feed) < left->to) {
        int32_t n;
        if (cancelled && fm_wake_is_raised(cancelled))
            return fm_fail(err, FM_CANCELLED, "FLOODMARK_CANCELLED", "The query was stopped.");
        fm_status st = fm_kafka_feed_read(t->feed, left->to, (int32_t)max, WAIT_MS, r->records, &n, err);
        left->from = fm_kafka_feed_at(t->feed);
        if (st == FM_OK && n) st = push_records(r, left, n, to, err);
        if (st != FM_OK) return st;
        if (n) q->since_us = 0;
        else FM_TRY(count_silence(s, q, left, err));
        if (q->wants_new) return FM_OK;
    }
    return FM_OK;
}

fm_status fm_kafka_reader_read(fm_split_reader *reader, const fm_split *split,
                               fm_status (*push)(void *ctx, const fm_batch *batch, fm_error *err), void *ctx,
                               fm_wake *cancelled, fm_error *err)
{
    kafka_reader *r = (kafka_reader *)reader;
    fm_kafka_range left = *(const fm_kafka_range *)split->data;
    const target to = {push, ctx};
    silence q = {0};
    taken t;

    while (left.from < left.to) {
        FM_TRY(take_feed(r->source, &left, &t, err));
        q.wants_new = false;
        q.feed_us = fm_clock_monotonic_us(r->source->env.clock);
        fm_status st = read_feed(r, &t, &left, &to, &q, cancelled, err);
        if (st == FM_OK && !q.wants_new) {
            put_back(r->source, &t);
            return FM_OK;
        }
        bool hole = st == FM_NOT_FOUND && err && fm_str_eq(fm_str_c(err->condition), FM_STR("OFFSET_OUT_OF_RANGE"));
        give_up(r->source, &t);
        if (q.wants_new) continue;
        if (!hole) return st;
        FM_TRY(jump_hole(r->source, &left, err));
    }
    return FM_OK;
}
