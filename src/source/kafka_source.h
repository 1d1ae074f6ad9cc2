/* source/kafka_source.h: what the files of the Kafka source share: planning in kafka_source.c and kafka_bounds.c, reading
 * in kafka_reader.c, notes for people in kafka_group.c. */
#ifndef FM_SOURCE_KAFKA_SOURCE_H
#define FM_SOURCE_KAFKA_SOURCE_H

#include "base/limits.h"
#include "expr/regex.h"
#include "os/thread.h"
#include "source/kafka_options.h"
#include "source/source.h"

enum {
    FM_KAFKA_KEY,
    FM_KAFKA_VALUE,
    FM_KAFKA_TOPIC,
    FM_KAFKA_PARTITION,
    FM_KAFKA_OFFSET,
    FM_KAFKA_TIMESTAMP,
    FM_KAFKA_TIMESTAMP_TYPE,
    FM_KAFKA_HEADERS,
    FM_KAFKA_COLUMNS
};

/* A feed that no reader has at the moment: it goes on where it stopped. */
typedef struct fm_kafka_idle {
    fm_kafka_feed *feed;
    char *topic;
    int32_t partition;
    int32_t lane; /* which of the clients it is of */
} fm_kafka_idle;

typedef struct fm_kafka_group fm_kafka_group;

enum { FM_KAFKA_LANES_MAX = FM_WORKERS_MAX };

typedef struct fm_kafka_source {
    fm_source base;
    fm_source_env env;
    fm_arena *arena;            /* the query's */
    fm_kafka_options options;
    const char *metadata_dir;   /* NULL: a batch read */
    const fm_type *out_schema;
    const int32_t *wanted;      /* [n_wanted] FM_KAFKA_KEY ... */
    int32_t n_wanted;
    bool want_position;

    /* coordinator only */
    fm_regex *pattern;          /* of subscribePattern; or NULL */
    fm_regex_run *matching;
    fm_kafka_client *client;    /* asks; a question on a connection that reads would wait until something comes */
    fm_arena *initial_arena;
    fm_kafka_offsets initial;   /* where a query without offsets starts */
    bool has_initial;
    fm_arena *target_arena;
    fm_kafka_offsets target;    /* AvailableNow: where this run ends */
    bool has_target;
    fm_arena *latest_arena;
    fm_kafka_offsets latest;    /* what latest_offset was told last */
    fm_kafka_offsets consumed;  /* where the batch in flight ends; in latest_arena */
    fm_kafka_group *group;      /* NULL: offsets are noted with none */
    fm_arena *assigned_arena;
    fm_kafka_offsets assigned;  /* the partitions that are read, as they were at assigned_us; offsets unset */
    int64_t assigned_us, asked_us; /* when Kafka was asked for partitions, for offsets */
    bool is_idle;               /* the last answer: nothing new */
    int64_t last_trigger_ms;    /* of a batch that minOffsetsPerTrigger let go; 0: none yet */

    /* guarded by mutex */
    fm_mutex *mutex;
    fm_kafka_client *lanes[FM_KAFKA_LANES_MAX]; /* one partition is read once by a client: several splits of one
                                                   partition at a time take several */
    fm_kafka_idle *feeds;       /* [n_feeds] idle or busy (feed NULL) */
    int32_t n_feeds, cap_feeds;
    int64_t losses;             /* holes that were jumped over: failOnDataLoss false */
    fm_strbuf last_losses;      /* JSON objects, comma between, of this batch */
} fm_kafka_source;

/* ---- kafka_bounds.c: asking Kafka ---- */

/* The partitions that the options choose, as they are now. */
fm_status fm_kafka_assigned(fm_kafka_source *s, fm_arena *arena, fm_kafka_offsets *out, fm_error *err);
/* Offsets of `partitions` at FM_KAFKA_LATEST or FM_KAFKA_EARLIEST, into themselves. */
fm_status fm_kafka_ask(fm_kafka_source *s, fm_kafka_offsets *partitions, int64_t which, fm_error *err);
/* A bound of the options, made definite. */
fm_status fm_kafka_resolve(fm_kafka_source *s, const fm_kafka_bound *bound, bool starting, fm_arena *arena,
                           fm_kafka_offsets *out, fm_error *err);
/* How far all chosen partitions go. known: offsets they went to before: less than that is asked for again, option
 * fetchOffset.numRetries times. */
fm_status fm_kafka_latest(fm_kafka_source *s, const fm_kafka_offsets *known, fm_arena *arena, fm_kafka_offsets *out,
                          fm_error *err);
/* Something is gone: fails, unless failOnDataLoss is false; then it is noted and FM_OK. from .. to - 1 are not there
 * (-1: not known); both of no partition when topic is empty. */
fm_status fm_kafka_data_loss(fm_kafka_source *s, const char *condition, fm_str topic, int32_t partition, int64_t from,
                             int64_t to, fm_str what, fm_error *err);

/* Whether nothing came since all partitions were read up to these offsets, as far as feeds know that wait there for what comes next:
 * no question is needed. */
bool fm_kafka_feeds_quiet(fm_kafka_source *s, const fm_kafka_offsets *at);
/* Lets feeds wait at these offsets where none do. */
void fm_kafka_feeds_wait(fm_kafka_source *s, const fm_kafka_offsets *at);

/* ---- kafka_group.c: the coordinator only ---- */

fm_status fm_kafka_group_open(fm_kafka_source *s, fm_error *err);
void fm_kafka_group_committed(fm_source *source, fm_str end);
void fm_kafka_group_tick(fm_kafka_source *s); /* now and then: what waits may be due */
void fm_kafka_group_close(fm_kafka_source *s);

/* ---- kafka_reader.c ---- */

fm_status fm_kafka_reader_open(fm_source *source, fm_arena *arena, fm_split_reader **out, fm_error *err);
fm_status fm_kafka_reader_read(fm_split_reader *reader, const fm_split *split,
                               fm_status (*push)(void *ctx, const fm_batch *batch, fm_error *err), void *ctx,
                               fm_wake *cancelled, fm_error *err);
void fm_kafka_reader_counts(fm_split_reader *reader, int64_t *rows, int64_t *bad);
void fm_kafka_reader_close(fm_split_reader *reader);
void fm_kafka_feeds_close(fm_kafka_source *s);

#endif
